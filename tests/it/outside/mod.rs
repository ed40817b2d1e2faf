//! The built binary from outside: in a pseudo-terminal and over `exec --json`. Nothing here looks into
//! the program: only at its bytes, its files, its processes, and what the model's server was asked.

mod attach;
mod bad_input;
mod copying;
mod ends;
mod events;
pub mod field;
mod linear;
mod looks;
mod notify;
pub mod rehearsal;
mod rest;
mod secrets;
mod steering;
mod unheld;
mod wires;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::terminal::Program;

/// The four wires.
pub const WIRES: [&str; 4] = ["anthropic", "openai-responses", "openai-chat", "gemini"];

/// A home and a project of their own, with none of the person's variables.
pub struct Home {
    tmp: tempfile::TempDir,
    more: Vec<(String, String)>,
}

/// How a run without a screen ended.
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// Its events.
    pub fn events(&self) -> Vec<Value> {
        self.out
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}\n{}", self.err)))
            .collect()
    }
    /// The events of a type.
    pub fn of(&self, kind: &str) -> Vec<Value> {
        self.events().into_iter().filter(|event| event["type"] == kind).collect()
    }
}

impl Home {
    /// An empty one.
    pub fn new() -> Self {
        let tmp = tempfile::tempdir().unwrap();
        for dir in ["work", "tmp", "config/windlass"] {
            fs::create_dir_all(tmp.path().join(dir)).unwrap();
        }
        Self { tmp, more: Vec::new() }
    }
    /// A variable more.
    pub fn set(&mut self, name: &str, value: &str) {
        self.more.push((name.into(), value.into()));
    }
    /// A variable less.
    pub fn unset(&mut self, name: &str) {
        self.more.retain(|(known, _)| known != name);
    }
    /// A path in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.tmp.path().canonicalize().unwrap().join(name)
    }
    /// Writes a file of it.
    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    /// Reads a file of it.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }
    /// Keeps a script; the model that plays it.
    pub fn script(&self, script: &Value) -> String {
        self.write("script.json", &script.to_string());
        format!("scripted:{}", self.path("script.json").display())
    }
    /// Settings with a server on this wire as the model.
    pub fn serve(&mut self, wire: &str, url: &str) {
        let settings = json!({
            "providers": {"loop": {"wire": wire, "base_url": url, "key_env": "LOOP_KEY"}},
            "model": "loop/m",
        });
        self.write("config/windlass/settings.json", &settings.to_string());
        self.set("LOOP_KEY", "sk-loop-dummy-key");
    }
    /// The command line, ready to run.
    pub fn command(&self, arguments: &[&str]) -> Command {
        self.of_program(env!("CARGO_BIN_EXE_windlass"), arguments)
    }
    /// Another program in the same surroundings.
    pub fn of_program(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).env_clear();
        for (name, value) in [
            ("PATH", std::env::var("PATH").unwrap_or_default()),
            ("HOME", self.path("").display().to_string()),
            ("XDG_CONFIG_HOME", self.path("config").display().to_string()),
            ("XDG_STATE_HOME", self.path("state").display().to_string()),
            ("TMPDIR", self.path("tmp").display().to_string()),
            ("TERM", "xterm-256color".into()),
            ("COLORTERM", "truecolor".into()),
            ("LANG", "C.UTF-8".into()),
        ] {
            command.env(name, value);
        }
        for (name, value) in &self.more {
            command.env(name, value);
        }
        command.current_dir(self.path("work"));
        command
    }
    /// Runs it to its end, without a terminal.
    pub fn run(&self, arguments: &[&str]) -> Ran {
        let out = assert_cmd::Command::from_std(self.command(arguments))
            .timeout(Duration::from_secs(60))
            .output()
            .unwrap();
        Ran {
            code: out.status.code(),
            out: String::from_utf8(out.stdout).unwrap(),
            err: String::from_utf8(out.stderr).unwrap(),
        }
    }
    /// Shows its screen.
    pub fn show(&self, arguments: &[&str]) -> Program {
        Program::start(&self.command(arguments))
    }
    /// The sessions' directories.
    pub fn sessions(&self) -> Vec<PathBuf> {
        let read = fs::read_dir(self.path("state/windlass/sessions"));
        read.map(|all| all.map(|e| e.unwrap().path()).collect()).unwrap_or_default()
    }
    /// The one journal.
    pub fn journal(&self) -> String {
        let sessions = self.sessions();
        assert_eq!(sessions.len(), 1, "{sessions:?}");
        fs::read_to_string(sessions[0].join("journal.jsonl")).unwrap()
    }
}

/// Every file beneath a directory.
pub fn files(dir: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    let mut dirs = vec![dir.to_path_buf()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => dirs.push(path),
                Ok(kind) if kind.is_file() => out.push(path),
                _ => {}
            }
        }
    }
    out
}

/// Waits until it holds, without reading a terminal; how long that took.
pub fn until(what: &str, mut look: impl FnMut() -> bool) -> Duration {
    let begin = Instant::now();
    while !look() {
        assert!(begin.elapsed() < crate::terminal::PATIENCE, "{what} did not come");
        std::thread::park_timeout(Duration::from_millis(5));
    }
    begin.elapsed()
}
