//! `windlass merge` as git's merge tool, by keys in a pseudo-terminal; and without one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::terminal::Program;

const LINES: &str = "git config merge.tool windlass
git config mergetool.windlass.cmd 'windlass merge \"$BASE\" \"$LOCAL\" \"$REMOTE\" -o \"$MERGED\"'
git config mergetool.windlass.trustExitCode true";

struct Repository {
    dir: tempfile::TempDir,
}

impl Repository {
    /// A repository in which a merge stopped at `src/skip.rs`, configured as the page of settings says.
    fn clashed() -> Repository {
        let dir = tempfile::tempdir().unwrap();
        let repository = Repository { dir };
        let top = repository.top();
        fs::create_dir_all(top.join("src")).unwrap();
        fs::create_dir_all(repository.dir.path().join("bin")).unwrap();
        let link = repository.dir.path().join("bin/windlass");
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_windlass"), link).unwrap();
        let save = |text: &str| fs::write(top.join("src/skip.rs"), text).unwrap();
        repository.git(&["init", "-q", "-b", "main"]);
        save("fn skip() {\n    one();\n}\n");
        repository.git(&["add", "."]);
        repository.git(&["commit", "-qm", "base"]);
        repository.git(&["checkout", "-qb", "theirs"]);
        save("fn skip() {\n    theirs();\n}\n");
        repository.git(&["commit", "-qam", "theirs"]);
        repository.git(&["checkout", "-q", "main"]);
        save("fn skip() {\n    ours();\n}\n");
        repository.git(&["commit", "-qam", "ours"]);
        assert!(!repository.command("git", &["merge", "-q", "theirs"]).output().unwrap().status.success());
        assert!(repository.command("sh", &["-ec", LINES]).status().unwrap().success());
        repository
    }
    fn top(&self) -> PathBuf {
        self.dir.path().join("project")
    }
    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let home = self.dir.path();
        let path = std::env::var("PATH").unwrap();
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(self.top())
            .env_clear()
            .env("HOME", home)
            .env("PATH", format!("{}:{path}", home.join("bin").display()))
            .env("TERM", "xterm-256color")
            .env("GIT_CONFIG_NOSYSTEM", "1");
        for (name, value) in [("AUTHOR", "t"), ("COMMITTER", "t")] {
            command
                .env(format!("GIT_{name}_NAME"), value)
                .env(format!("GIT_{name}_EMAIL"), "t@example.invalid");
        }
        command
    }
    fn git(&self, arguments: &[&str]) -> String {
        let done = self.command("git", arguments).output().unwrap();
        assert!(done.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    }
    /// git asks its merge tool.
    fn mergetool(&self) -> Program {
        let mut program = Program::start(&self.command("git", &["mergetool", "--no-prompt"]));
        program.wait_for("theirs();");
        program
    }
    fn merged(&self) -> String {
        fs::read_to_string(self.top().join("src/skip.rs")).unwrap()
    }
}

#[test]
fn git_takes_what_the_viewer_wrote() {
    let repository = Repository::clashed();
    let mut program = repository.mergetool();
    // the tab says what it is about, and nothing of a session
    program
        .until("the title", |p| String::from_utf8_lossy(&p.bytes).contains("\x1b]2;merge · src/skip.rs\x07"));
    let screen = program.screen();
    assert!(screen.contains("ours();") && screen.contains("src/skip.rs"), "{screen}");
    program.send("b");
    program.wait_for("all chosen");
    program.send("w");
    assert_eq!(program.end(), 0, "{}", program.screen());
    program.assert_clean();
    assert_eq!(repository.merged(), "fn skip() {\n    ours();\n    theirs();\n}\n");
    assert_eq!(repository.git(&["ls-files", "--unmerged"]), "");
    repository.git(&["commit", "-qm", "merged"]);
}

#[test]
fn git_is_told_when_a_merge_was_left_unwritten() {
    let repository = Repository::clashed();
    let before = repository.merged();
    let mut program = repository.mergetool();
    program.send("c");
    program.wait_for("all chosen");
    program.send("q");
    program.wait_for("what was chosen is not written: w writes it, q again leaves without it");
    program.send("q");
    assert_eq!(program.end(), 1, "{}", program.screen());
    program.assert_clean();
    let screen = program.screen();
    assert!(screen.contains("skip.rs was not written and is as it was; ended with exit code 1"), "{screen}");
    assert_eq!(repository.merged(), before);
    assert!(before.contains("<<<<<<<"));
    assert_ne!(repository.git(&["ls-files", "--unmerged"]), "");
}

#[test]
fn an_interrupt_says_that_nothing_was_written() {
    let tmp = tempfile::tempdir().unwrap();
    for name in ["base", "local", "remote", "merged"] {
        fs::write(tmp.path().join(name), format!("{name}\n")).unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_windlass"));
    command.args(["merge", "base", "local", "remote", "-o", "merged"]).current_dir(tmp.path());
    command.env("HOME", tmp.path()).env_remove("XDG_STATE_HOME").env_remove("XDG_CONFIG_HOME");
    let mut program = Program::start(&command);
    program.wait_for("local");
    program.signal(nix::sys::signal::Signal::SIGINT);
    assert_eq!(program.end(), 130, "{}", program.screen());
    let screen = program.screen();
    assert!(screen.contains("merged was not written and is as it was; ended with exit code 130"), "{screen}");
    assert_eq!(fs::read(tmp.path().join("merged")).unwrap(), b"merged\n");
}

/// Without a terminal of its own, and outside of ours.
fn beside(arguments: &[&str], dir: &Path) -> std::process::Output {
    Command::new("setsid")
        .arg("--wait")
        .arg(env!("CARGO_BIN_EXE_windlass"))
        .args(arguments)
        .current_dir(dir)
        .env("HOME", dir)
        .env_remove("XDG_STATE_HOME")
        .env_remove("XDG_CONFIG_HOME")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

#[test]
fn without_a_terminal_or_a_file_it_says_so_and_ends_with_2() {
    let tmp = tempfile::tempdir().unwrap();
    for name in ["base", "local", "remote", "merged"] {
        fs::write(tmp.path().join(name), format!("{name}\n")).unwrap();
    }
    let told = beside(&["merge", "base", "local", "remote", "-o", "merged"], tmp.path());
    let words = String::from_utf8(told.stderr).unwrap();
    assert_eq!((told.status.code(), words.contains("there is no terminal")), (Some(2), true), "{words}");
    assert_eq!(fs::read(tmp.path().join("merged")).unwrap(), b"merged\n");
    let told = beside(&["merge", "base", "nowhere", "remote", "-o", "merged"], tmp.path());
    let words = String::from_utf8(told.stderr).unwrap();
    assert_eq!((told.status.code(), words.contains("nowhere cannot be read")), (Some(2), true), "{words}");
}

#[test]
fn the_page_of_settings_has_the_lines_that_are_tried_here() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/CONFIG.md")).unwrap();
    assert!(page.contains(LINES));
}

#[test]
fn a_screen_reader_hears_the_versions_and_a_word_chooses() {
    let repository = Repository::clashed();
    let top = repository.top();
    for (name, text) in [("base", "a\nb\nc\n"), ("ours", "a\nours\nc\n"), ("theirs", "a\ntheirs\nc\n")] {
        fs::write(top.join(name), text).unwrap();
    }
    let arguments = ["merge", "--screen-reader", "base", "ours", "theirs", "-o", "merged"];
    let mut program = Program::start(&repository.command("windlass", &arguments));
    program.wait_for("for all of a version");
    let screen = program.screen();
    for words in [
        "Hunk 1 of 1, both changed it, chosen: open.",
        "base, 1 line:",
        "parent (local), 1 line:",
        "ours",
        "theirs",
    ] {
        assert!(screen.contains(words), "{words:?} in {screen}");
    }
    program.send("nonsense\r");
    program.wait_for("nonsense is no answer here");
    program.send("both\r");
    program.wait_for("The result, 2 lines:");
    program.send("undo\r");
    program.wait_for("merged, 1 hunk open.");
    program.send("child\r");
    program.wait_for("chosen: child.");
    program.send("write\r");
    assert_eq!(program.end(), 0, "{}", program.screen());
    assert_eq!(fs::read_to_string(top.join("merged")).unwrap(), "a\ntheirs\nc\n");
}
