//! `windlass exec` from outside: bad input to it, and the rehearsal's script through the real engine.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;

use assert_cmd::Command;
use windlass::cli::rehearsal::{PROMPT, SCRIPT, Scratch};

/// A home of its own, with none of the person's variables.
struct Home {
    tmp: tempfile::TempDir,
}

struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Home {
    fn new() -> Self {
        let tmp = tempfile::tempdir().unwrap();
        fs::create_dir(tmp.path().join("work")).unwrap();
        fs::write(tmp.path().join("hello.json"), r#"{"turns": [{"say": "hello"}]}"#).unwrap();
        Self { tmp }
    }
    fn script(&self) -> String {
        format!("scripted:{}", self.tmp.path().join("hello.json").display())
    }
    fn run(&self, arguments: &[&str], input: &str) -> Ran {
        let out = Command::new(env!("CARGO_BIN_EXE_windlass"))
            .args(arguments)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.tmp.path())
            .env("XDG_CONFIG_HOME", self.tmp.path().join("config"))
            .env("XDG_STATE_HOME", self.tmp.path().join("state"))
            .env("TMPDIR", self.tmp.path())
            .current_dir(self.tmp.path().join("work"))
            .write_stdin(input)
            .timeout(std::time::Duration::from_secs(60))
            .output()
            .unwrap();
        Ran {
            code: out.status.code(),
            out: String::from_utf8(out.stdout).unwrap(),
            err: String::from_utf8(out.stderr).unwrap(),
        }
    }
    fn path(&self, name: &str) -> PathBuf {
        self.tmp.path().join(name)
    }
}

#[test]
fn an_unknown_model_provider_or_session_is_a_usage_error() {
    let home = Home::new();
    let script = home.script();
    for (line, word) in [
        (&["exec", "--model", "nobody/x", "hello"][..], "nobody"),
        (&["exec", "--model", "no-such-model", "hello"], "no-such-model"),
        (&["exec", "--model", "scripted:/no/such/script.json", "hello"], "/no/such/script.json"),
        (&["exec", "--model", "anthropic/claude-x", "hello"], "ANTHROPIC_API_KEY"),
        (&["exec", "hello"], "doctor"),
        (&["exec", "--model", &script, "--session", "no-such-session", "hello"], "no-such-session"),
        (&["exec", "--model", &script, ""], "empty"),
        (&["resume", "no-such-session"], "no-such-session"),
    ] {
        let ran = home.run(line, "");
        assert_eq!(ran.code, Some(2), "{line:?}: {}", ran.err);
        assert!(ran.err.contains(word), "{line:?} does not say {word}: {}", ran.err);
        assert_eq!(ran.out, "", "{line:?}");
    }
}

#[test]
fn a_directory_that_is_missing_or_a_file_is_a_usage_error() {
    let home = Home::new();
    let file = home.path("hello.json").display().to_string();
    for (dir, word) in [("/no/such/directory", "gone"), (file.as_str(), "is not a directory")] {
        let ran = home.run(&["exec", "--cwd", dir, "--model", &home.script(), "hello"], "");
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        assert!(ran.err.contains(word) && ran.err.contains(dir), "{}", ran.err);
    }
}

#[test]
fn a_malformed_setting_is_named_and_the_run_goes_on() {
    let home = Home::new();
    fs::create_dir_all(home.path("config/windlass")).unwrap();
    fs::write(home.path("config/windlass/settings.json"), "{\n\"mouse\": 3\n}").unwrap();
    let ran = home.run(&["exec", "--model", &home.script(), "hello"], "");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("settings.json:2: mouse: expected `true` or `false`"), "{}", ran.err);
    assert!(ran.out.contains("hello"));
    let ran = home.run(&["exec", "--json", "--model", &home.script(), "hello"], "");
    assert!(ran.err.contains("settings.json:2: mouse: expected `true` or `false`"), "{}", ran.err);
    assert!(ran.out.lines().all(|line| line.starts_with('{')), "{}", ran.out);
}

#[test]
fn standard_input_is_read_for_a_dash_alone() {
    let home = Home::new();
    fs::write(
        home.path("hello.json"),
        r#"{"turns": [{"say": "hello", "expect": {"contains": "from stdin"}}]}"#,
    )
    .unwrap();
    assert_eq!(home.run(&["exec", "--model", &home.script(), "-"], "from stdin").code, Some(0));
    assert_eq!(home.run(&["exec", "--model", &home.script(), "typed"], "from stdin").code, Some(1));
}

#[test]
fn the_rehearsal_runs_through_the_real_engine() {
    let home = Home::new();
    let scratch = Scratch::make().unwrap();
    let project = scratch.project().to_path_buf();
    fs::write(home.path("rehearsal.json"), SCRIPT).unwrap();
    let model = format!("scripted:{}", home.path("rehearsal.json").display());
    let cwd = project.display().to_string();
    let line = ["exec", "--json", "--approve", "auto", "--cwd", &cwd, "--model", &model, PROMPT];
    let ran = home.run(&line, "");
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.out, ran.err);
    let events: Vec<serde_json::Value> =
        ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let settled: Vec<&str> = events
        .iter()
        .filter(|event| event["type"] == "call.settled" && event["agent"].is_null())
        .map(|event| event["status"].as_str().unwrap())
        .collect();
    assert_eq!(settled.len(), 17, "{}", ran.out);
    assert_eq!(ran.out.matches(r#"{"type":"handback""#).count(), 2, "both agents came back: {}", ran.out);
    let count = |wanted: &str| settled.iter().filter(|status| **status == wanted).count();
    assert_eq!(count("detached"), 3, "a server, a runaway and one that asks: {settled:?}");
    let bad: Vec<_> = settled.iter().filter(|status| !["ok", "detached"].contains(status)).collect();
    assert!(bad.len() <= 1, "only the failing test may be an error: {settled:?}");
    assert!(ran.out.contains("ended: killed by the model after"), "{}", ran.out);
    assert!(ran.out.contains("2 passed, 3 failed") && ran.out.contains("5 passed, 0 failed"));
    assert!(fs::read_to_string(project.join("wordcount")).unwrap().contains("wc -w"));
    assert_eq!(events.last().unwrap()["type"], "session.ended");
}

#[test]
fn another_process_of_the_same_person_cannot_read_the_programs_environment() {
    let home = Home::new();
    // The directory is open to the other user that root runs the program as.
    fs::set_permissions(home.tmp.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let program = home.path("windlass");
    crate::executable(&program, &fs::read(env!("CARGO_BIN_EXE_windlass")).unwrap());
    let mut command = std::process::Command::new(&program);
    command
        .args(["exec", "--model", &home.script()])
        .env_clear()
        .env("HOME", home.tmp.path())
        .env("ANTHROPIC_API_KEY", "sk-ant-0123456789")
        .current_dir(home.path("work"))
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null());
    let root = nix::unistd::geteuid().is_root();
    if root {
        command.uid(65534).gid(65534);
    }
    let mut child = command.spawn().unwrap();
    let files = PathBuf::from(format!("/proc/{}/environ", child.id()));
    // What nobody but root may look into belongs to root there.
    let closed = (0..2000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(5));
        fs::metadata(&files).is_ok_and(|meta| meta.uid() == 0)
    });
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(closed, "the environment of the program is open to its user's other processes");
}

#[test]
fn a_session_whose_journal_others_can_read_is_not_opened_and_not_hidden_in_silence() {
    let home = Home::new();
    let script = home.script();
    assert_eq!(home.run(&["exec", "--model", &script, "hello"], "").code, Some(0));
    let dir = fs::read_dir(home.path("state/windlass/sessions")).unwrap().next().unwrap().unwrap().path();
    let id = dir.file_name().unwrap().to_str().unwrap();
    let journal = dir.join("journal.jsonl");
    fs::set_permissions(&journal, fs::Permissions::from_mode(0o644)).unwrap();
    let before = fs::read(&journal).unwrap();
    for line in [
        &["exec", "--model", &script, "--session", id, "hello"][..],
        &["export", id, "--jsonl"],
        &["sessions"],
    ] {
        let ran = home.run(line, "");
        assert!(ran.err.contains("is open to others (mode 0644)"), "{line:?}: {}", ran.err);
        assert!(ran.err.contains("run `chmod 600 "), "{line:?}: {}", ran.err);
        assert_eq!(ran.out, "", "{line:?}");
    }
    assert_eq!(fs::read(&journal).unwrap(), before);
}

#[test]
fn no_tool_shows_the_file_of_keys_or_what_a_rule_denies_also_in_the_mode_that_allows_all() {
    let home = Home::new();
    fs::create_dir_all(home.path("config/windlass")).unwrap();
    let keys = home.path("config/windlass/keys.json");
    fs::write(&keys, r#"{"anthropic": "sk-ant-HIDDEN"}"#).unwrap();
    fs::set_permissions(&keys, fs::Permissions::from_mode(0o600)).unwrap();
    let settings = r#"{"permissions": {"deny": ["read(link)", "read(priv/**)"]}}"#;
    fs::write(home.path("config/windlass/settings.json"), settings).unwrap();
    fs::create_dir(home.path("work/priv")).unwrap();
    for name in ["real.txt", "priv/a.txt"] {
        fs::write(home.path("work").join(name), "needle HIDDEN\n").unwrap();
    }
    fs::write(home.path("work/open.txt"), "needle seen\n").unwrap();
    std::os::unix::fs::symlink("real.txt", home.path("work/link")).unwrap();
    let call = |tool: &str, input: serde_json::Value| serde_json::json!({"tool": tool, "input": input});
    let calls = [
        call("grep", serde_json::json!({"pattern": "needle|HIDDEN"})),
        call("grep", serde_json::json!({"pattern": "HIDDEN", "path": home.path("config")})),
        call("read", serde_json::json!({"path": "real.txt"})),
        call("read", serde_json::json!({"path": keys})),
        call("grep", serde_json::json!({"pattern": "HIDDEN", "path": keys})),
    ];
    let script = serde_json::json!({"turns": [{"calls": calls}, {"say": "done"}]});
    fs::write(home.path("hello.json"), script.to_string()).unwrap();
    let ran = home.run(&["exec", "--json", "--approve", "auto", "--model", &home.script(), "go"], "");
    assert_eq!(ran.code, Some(0), "{} {}", ran.out, ran.err);
    assert!(ran.out.contains("needle seen"), "{}", ran.out);
    assert!(!ran.out.contains("needle HIDDEN") && !ran.out.contains("sk-ant"), "{}", ran.out);
    assert_eq!(ran.out.matches("which no call may see").count(), 2, "{}", ran.out);
}
