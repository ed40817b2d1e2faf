//! The command line from outside: each command that needs no engine, and bad input to it.

use std::fs;
use std::path::Path;

use assert_cmd::Command;

/// A home of its own, with none of the person's variables.
struct Home {
    tmp: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        let tmp = tempfile::tempdir().unwrap();
        for dir in ["work", "config/windlass", "state"] {
            fs::create_dir_all(tmp.path().join(dir)).unwrap();
        }
        Self { tmp }
    }
    fn path(&self) -> &Path {
        self.tmp.path()
    }
    fn run(&self, arguments: &[&str]) -> Ran {
        let out = Command::new(env!("CARGO_BIN_EXE_windlass"))
            .args(arguments)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path())
            .env("XDG_CONFIG_HOME", self.path().join("config"))
            .env("XDG_STATE_HOME", self.path().join("state"))
            .env("TMPDIR", self.path())
            .env("EDITOR", "sh")
            .env("PAGER", "cat")
            .current_dir(self.path().join("work"))
            .timeout(std::time::Duration::from_secs(60))
            .output()
            .unwrap();
        Ran {
            code: out.status.code(),
            out: String::from_utf8(out.stdout).unwrap(),
            err: String::from_utf8(out.stderr).unwrap(),
        }
    }
    fn settings(&self, text: &str) -> &Self {
        fs::write(self.path().join("config/windlass/settings.json"), text).unwrap();
        self
    }
}

#[derive(Debug)]
struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

#[test]
fn help_names_every_command_and_the_version_is_the_packages() {
    let home = Home::new();
    let help = home.run(&["--help"]);
    assert_eq!(help.code, Some(0));
    for word in [
        "exec",
        "resume",
        "sessions",
        "export",
        "doctor",
        "config",
        "completions",
        "--rehearsal",
        "--approve",
    ] {
        assert!(help.out.contains(word), "{word} is not in\n{}", help.out);
    }
    for verb in ["exec", "resume", "sessions", "export", "doctor", "config", "completions"] {
        assert_eq!(home.run(&[verb, "--help"]).code, Some(0), "{verb}");
    }
    assert_eq!(home.run(&["--version"]).out, format!("windlass {}\n", env!("CARGO_PKG_VERSION")));
    assert_eq!(fs::read_dir(home.path().join("state")).unwrap().count(), 0, "help makes no directory");
}

#[test]
fn usage_errors_exit_2_and_say_what_is_meant() {
    let home = Home::new();
    for (line, word) in [
        (&["--no-such-flag"][..], "--no-such-flag"),
        (&["--approve", "always"], "ask"),
        (&["exec"], "PROMPT"),
        (&["export", "no-such-session"], "no session no-such-session"),
        (&["export", "no-such-session", "--jsonl"], "windlass sessions"),
        (&["sessions", "--cwd", "/no/such/directory"], "/no/such/directory"),
        (&["completions", "tcsh"], "tcsh"),
        (&["config", "shwo"], "shwo"),
    ] {
        let ran = home.run(line);
        assert_eq!(ran.code, Some(2), "{line:?}: {ran:?}");
        assert!(ran.err.contains(word), "{line:?} does not say {word}: {}", ran.err);
        assert_eq!(ran.out, "", "{line:?}");
    }
}

#[test]
fn completions_are_printed_for_each_shell() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = home.run(&["completions", shell]);
        assert_eq!(ran.code, Some(0));
        assert!(ran.out.contains("windlass") && ran.out.contains("sessions"), "{shell}");
    }
}

#[test]
fn config_check_names_file_line_and_key_and_exits_2() {
    let home = Home::new();
    let fine = home.run(&["config", "check"]);
    assert_eq!((fine.code, fine.err.as_str()), (Some(0), ""));
    home.settings("{\n  \"theme\": \"light\",\n  \"mouse\": \"yes\"\n}\n");
    let check = home.run(&["config", "check"]);
    assert_eq!(check.code, Some(2));
    assert!(
        check.err.contains(
            "config/windlass/settings.json:3: mouse: expected `true` or `false`, found the text \"yes\""
        ),
        "{}",
        check.err
    );
    let shown = home.run(&["config", "show"]);
    assert_eq!(shown.code, Some(0));
    assert!(shown.out.contains("theme = \"light\"") && shown.out.contains("mouse = true"), "{}", shown.out);
    assert!(shown.err.contains("settings.json:3"));
    let schema = home.run(&["config", "schema"]);
    let schema: serde_json::Value = serde_json::from_str(&schema.out).unwrap();
    assert_eq!(schema["properties"]["theme"]["default"], "dark");
}

#[test]
fn doctor_says_what_to_do_and_fails_only_for_what_is_needed() {
    let home = Home::new();
    let ran = home.run(&["doctor"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for word in [
        "Terminal",
        "Directories",
        "control sockets: ",
        "Settings",
        "Models",
        "Tools",
        "export ANTHROPIC_API_KEY",
        "--rehearsal",
    ] {
        assert!(ran.out.contains(word), "{word} is not in\n{}", ran.out);
    }
    fs::remove_dir_all(home.path().join("state")).unwrap();
    fs::write(home.path().join("state"), "a file in the way").unwrap();
    let ran = home.run(&["doctor"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.out.contains("FAIL  sessions: ") && ran.out.contains("XDG_STATE_HOME"), "{}", ran.out);
}

#[test]
fn doctor_tells_a_key_as_present_and_never_shows_it() {
    let home = Home::new();
    home.settings(
        r#"{"providers": {"local": {"wire": "openai-chat", "base_url": "http://h/v1", "key_env": "PATH"}}}"#,
    );
    windlass::config::keys::store(
        &home.path().join("config/windlass"),
        "openai",
        &windlass::api::command::Secret("sk-very-secret".into()),
    )
    .unwrap();
    let ran = home.run(&["doctor"]);
    assert!(ran.out.contains("openai: a key is in keys.json"), "{}", ran.out);
    assert!(ran.out.contains("local: a key is in PATH"), "{}", ran.out);
    assert!(!ran.out.contains("secret") && !ran.err.contains("secret"));
}

#[test]
fn without_sessions_the_list_is_empty() {
    let home = Home::new();
    let ran = home.run(&["sessions"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""));
    assert!(ran.err.contains("no sessions yet"));
    let json = home.run(&["sessions", "--json"]);
    assert_eq!((json.code, json.out.as_str(), json.err.as_str()), (Some(0), "", ""));
}

#[test]
fn sessions_are_listed_and_exported() {
    use windlass::api::entry::{Entry, EntryBody, UserMessage};
    use windlass::store::{Dirs, Durability, Session, now};
    let home = Home::new();
    let dirs = Dirs::at(home.path().join("state/windlass"), home.path().join("config/windlass"));
    let mut session = Session::create(&dirs, &home.path().join("work")).unwrap();
    let id = session.mint_entry();
    let body = EntryBody::User(UserMessage { text: "mend the lexer\nplease".into(), ..Default::default() });
    session.begin().unwrap();
    session.commit(&Entry { id, parent: None, at: now(), body }, Durability::Synced).unwrap();
    let id = session.id().to_string();

    let held = home.run(&["sessions"]);
    assert!(held.out.contains(&id) && held.out.contains("mend the lexer"), "{held:?}");
    assert!(held.out.contains("open in"), "{held:?}");
    drop(session);
    let json = home.run(&["sessions", "--json", "--cwd", "."]);
    let line: serde_json::Value = serde_json::from_str(json.out.trim()).unwrap();
    assert_eq!(line["id"], id.as_str());
    assert_eq!(line["title"], "mend the lexer");
    assert!(line.get("open_in").is_none());
    assert_eq!(home.run(&["sessions", "--cwd", "/"]).out, "");

    let markdown = home.run(&["export", &id[..20]]);
    assert_eq!(markdown.code, Some(0));
    assert!(markdown.out.contains("mend the lexer\nplease"), "{}", markdown.out);
    let jsonl = home.run(&["export", &id, "--jsonl"]);
    assert_eq!(jsonl.out.lines().count(), 2);
    for line in jsonl.out.lines() {
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    }
}

#[test]
fn the_rehearsals_script_is_one_that_the_scripted_model_takes() {
    use windlass::cli::rehearsal::{NAME, PROMPT, SCRIPT};
    windlass::provider::scripted::Scripted::parse(NAME, SCRIPT).unwrap();
    let script: serde_json::Value = serde_json::from_str(SCRIPT).unwrap();
    assert!(PROMPT.contains(script["turns"][0]["expect"]["contains"].as_str().unwrap()));
}

#[test]
fn doctor_says_why_a_chosen_model_cannot_be_used() {
    let home = Home::new();
    home.settings(r#"{"model": "nobody/nothing", "theme": "sea"}"#);
    let ran = home.run(&["doctor"]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.out.contains("there is no provider \"nobody\""), "{}", ran.out);
    assert!(ran.out.contains("there is no theme \"sea\""), "{}", ran.out);
    assert_eq!(home.run(&["config", "check"]).code, Some(2));
}
