//! A real crate, six scripted agents on it, and the program that runs them.
//!
//! The crate is `percent-encoding`, which our own lock file has by way of `reqwest`: small, its tests in it, and nothing
//! that it needs, also for its tests. What is changed is put before its files or after them, so that it fits any
//! version of it. All that waits waits for a file in `beside`.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::agents::{bash, calls, says, script, spawn};
use crate::outside::{Home, Ran, until};
use crate::terminal::Program;

const CRATE: &str = "percent-encoding";
/// The agents. The first three come back clean.
const NAMES: [&str; 6] = ["roundtrip", "licenses", "guide", "upper", "lower", "sets"];
/// Where two of them clash.
pub const CLASH: &str = "src/lib.rs";
/// Where one of them clashes with the person.
pub const MINE: &str = "src/ascii_set.rs";
/// All that they and the person change.
pub const THEIRS: [&str; 10] = [
    "Cargo.toml",
    "tests",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "licenses",
    "docs",
    "check.sh",
    "Cargo.lock",
    CLASH,
    MINE,
];

/// A function of one of the two that clash, with its test.
fn digit(name: &str, letter: char) -> String {
    format!(
        "
/// The {name} case digit of a number below 16.
pub fn {name}_digit(number: u8) -> u8 {{
    match number {{
        0..=9 => b'0' + number,
        _ => b'{letter}' + (number - 10),
    }}
}}

#[cfg(test)]
mod {name}_tests {{
    #[test]
    fn {name}_digits() {{
        assert_eq!(super::{name}_digit(10), b'{letter}');
    }}
}}
"
    )
}

/// What the person or the agent writes at the top of the sets, and at their end.
fn sets(whose: &str, letter: char) -> (String, String) {
    let top = format!("// The sets of the {whose}.\n");
    let end = format!(
        "
#[cfg(test)]
mod sets_of_the_{whose} {{
    const SET: &super::AsciiSet = &crate::CONTROLS.add(b'{letter}');

    #[test]
    fn the_set_of_the_{whose}() {{
        assert_eq!(crate::utf8_percent_encode(\"{letter}\", SET).next(), Some(\"%{:02X}\"));
    }}
}}
",
        u32::from(letter)
    );
    (top, end)
}

/// The sets with what both wrote: the agent's top, and both ends.
pub fn joined(base: &str) -> String {
    let (top, end) = sets("agent", 'B');
    [&top, base, &sets("person", 'A').1, &end].concat()
}

const ROUNDTRIP: &str = "\
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

#[test]
fn there_and_back() {
    let text = \"a b/ü%\";
    let encoded = utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    assert_eq!(percent_decode_str(&encoded).decode_utf8().unwrap(), text);
}
";

/// Whose path this is in these rows of `handback list`: the child to whom it is open.
pub fn child_of(rows: &[Value], path: &str) -> String {
    let open = |row: &&Value| row["open"].as_array().unwrap().iter().any(|one| one == path);
    let row = rows.iter().find(open).unwrap_or_else(|| panic!("{path} is open to nobody: {rows:?}"));
    row["child"].as_str().unwrap().to_owned()
}

/// What is at a path: its mode, its bytes or where it leads, and for files what would tell that it was written anew.
pub type There = (u32, Vec<u8>, Option<(u64, i64, i64)>);
/// Everything in a directory.
pub type All = BTreeMap<PathBuf, There>;

/// A copy of the crate in a home of its own, and the script of those who work on it.
pub struct Scene {
    pub home: Home,
    model: String,
}

impl Scene {
    pub fn new() -> Self {
        let home = Home::new();
        copy(&source(), &home.path("work"));
        fs::create_dir(home.path("beside")).unwrap();
        let spawned: Vec<(&str, Value)> = NAMES.iter().map(|name| spawn(name, "isolated")).collect();
        let stand = bash(format!("touch '{}'", home.path("beside/stand").display()));
        let agents: Vec<(&str, Vec<Value>)> = NAMES
            .iter()
            .map(|name| {
                let (at, go) = (home.path(&format!("beside/at-{name}")), home.path("beside/go"));
                let (at, go) = (at.display(), go.display());
                let wait = bash(format!("touch '{at}'; until [ -e '{go}' ]; do sleep 0.02; done"));
                (*name, vec![work(name), wait, says(&format!("{name} is done"))])
            })
            .collect();
        let script = script(&[calls(&spawned), stand, says("asked")], &agents);
        let model = home.script(&serde_json::from_str(&script).unwrap());
        Self { home, model }
    }

    pub fn work(&self) -> PathBuf {
        self.home.path("work")
    }
    pub fn path(&self, name: &str) -> PathBuf {
        self.work().join(name)
    }
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }
    pub fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }
    /// A file of the crate as it came from the registry.
    pub fn base(&self, name: &str) -> String {
        fs::read_to_string(source().join(name)).unwrap()
    }

    pub fn git(&self, arguments: &[&str]) {
        let who = ["-c", "user.name=A", "-c", "user.email=a@localhost", "-c", "commit.gpgsign=false"];
        let out = self.home.of_program("git", &[&who, arguments].concat()).output().unwrap();
        assert!(out.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&out.stderr));
    }
    pub fn commit(&self) {
        self.git(&["init", "-q"]);
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", "as it came"]);
    }

    /// The program on its screen, at work.
    pub fn shown(&self) -> Program {
        let command = self.home.command(&["--model", &self.model, "--approve", "auto", "go"]);
        Program::sized(&command, 140, 45)
    }
    /// The program without a screen, at work.
    pub fn executed(&self) -> Executed {
        let out = self.home.path("out.jsonl");
        let mut command =
            self.home.command(&["exec", "--json", "--model", &self.model, "--approve", "auto", "go"]);
        command.stdin(Stdio::null()).stdout(fs::File::create(&out).unwrap());
        Executed { child: command.spawn().unwrap(), out }
    }

    /// Waits until all six are at work in their copies; then the person edits, and they may end.
    pub fn meet(&self) {
        until("six at work", || {
            let at = |name: &&str| self.home.path(&format!("beside/at-{name}")).exists();
            self.home.path("beside/stand").exists() && NAMES.iter().all(at)
        });
        for name in [CLASH, MINE] {
            assert_eq!(self.read(name), self.base(name), "an agent wrote into the parent's directory");
        }
        let (top, end) = sets("person", 'A');
        self.write(MINE, &[&top, &*self.base(MINE), &end].concat());
        fs::write(self.home.path("beside/go"), "").unwrap();
    }

    fn handback(&self, words: &[&str]) -> Ran {
        self.home.run(&[&["handback"], words].concat())
    }
    /// What `windlass handback` says of this, which works.
    pub fn done(&self, words: &[&str]) -> String {
        let ran = self.handback(words);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{words:?}: {}", ran.out);
        ran.out
    }
    /// What `handback list` knows of each child.
    pub fn rows(&self) -> Vec<Value> {
        self.handback(&["list", "--json"]).events()
    }
    pub fn until_all_came_back(&self) {
        until("six hand-backs", || {
            let rows = self.rows();
            rows.len() == 6 && rows.iter().all(|row| row["state"] == "handed_back")
        });
    }
    /// Two conflicts wait, the others came back whole, and what is in conflict has the bytes of who was here first.
    pub fn assert_waits(&self) {
        let rows = self.rows();
        let open: usize = rows.iter().map(|row| row["open"].as_array().unwrap().len()).sum();
        assert_eq!(open, 2, "{rows:?}");
        assert_eq!(child_of(&rows, MINE), "sets");
        assert!(["upper", "lower"].contains(&child_of(&rows, CLASH).as_str()), "{rows:?}");
        for name in ["roundtrip", "licenses", "guide"] {
            let row = rows.iter().find(|row| row["child"] == name).unwrap();
            assert_eq!(row["conflicts"], json!([]), "{row}");
        }
        let (upper, lower) = (digit("upper", 'A'), digit("lower", 'a'));
        let now = self.read(CLASH);
        assert!(now.contains(&upper) != now.contains(&lower), "one was first");
        let (top, end) = sets("person", 'A');
        assert_eq!(self.read(MINE), [&top, &*self.base(MINE), &end].concat());
    }

    /// All that the six and the person wrote is here.
    pub fn assert_all_came_back(&self) {
        let clash = self.read(CLASH);
        assert!(clash.starts_with(&self.base(CLASH)));
        assert!(clash.contains(&digit("upper", 'A')) && clash.contains(&digit("lower", 'a')), "{clash}");
        assert_eq!(self.read(MINE), joined(&self.base(MINE)));
        assert_eq!(self.read("tests/roundtrip.rs"), ROUNDTRIP);
        assert!(self.read("Cargo.toml").starts_with(&self.base("Cargo.toml")));
        assert!(self.read("Cargo.toml").ends_with("path = \"tests/roundtrip.rs\"\n"));
        for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
            assert!(!self.path(name).exists() && self.path("licenses").join(name).exists(), "{name}");
        }
        assert_eq!(self.read("licenses/LICENSE-APACHE"), self.base("LICENSE-APACHE"));
        assert_eq!(fs::read_link(self.path("docs/README")).unwrap(), Path::new("guide.md"));
        assert_eq!(self.read("docs/guide.md"), "# Guide\n");
        assert_eq!(fs::metadata(self.path("check.sh")).unwrap().mode() & 0o111, 0o111);
    }

    /// The crate builds, and its tests pass, those of all who worked on it among them.
    pub fn assert_builds(&self, test: &[&str]) {
        let cargo = |arguments: &[&str]| {
            let mut command = Command::new(cargo());
            command.args(arguments).arg("--offline").current_dir(self.work());
            command.env("CARGO_TARGET_DIR", self.home.path("target")).env("TMPDIR", self.home.path("tmp"));
            let out = command.output().unwrap();
            let said = [out.stdout, out.stderr].concat();
            let said = String::from_utf8_lossy(&said).into_owned();
            assert!(out.status.success(), "cargo {arguments:?}\n{said}");
            said
        };
        cargo(&["build"]);
        let said = cargo(test);
        for name in [
            "upper_digits",
            "lower_digits",
            "the_set_of_the_agent",
            "the_set_of_the_person",
            "there_and_back",
        ] {
            assert!(said.contains(&format!("{name} ... ok")), "{name} did not run:\n{said}");
        }
    }

    /// Everything in the directory, the repository too.
    pub fn all(&self) -> All {
        let (work, mut all) = (self.work(), All::new());
        let mut dirs = vec![work.clone()];
        while let Some(dir) = dirs.pop() {
            for entry in fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                let meta = fs::symlink_metadata(&path).unwrap();
                let there = if meta.is_symlink() {
                    (meta.mode(), fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec(), None)
                } else if meta.is_dir() {
                    dirs.push(path.clone());
                    (meta.mode(), Vec::new(), None)
                } else {
                    let written = (meta.ino(), meta.mtime(), meta.mtime_nsec());
                    (meta.mode(), fs::read(&path).unwrap(), Some(written))
                };
                all.insert(path.strip_prefix(&work).unwrap().to_owned(), there);
            }
        }
        all
    }
}

/// A run without a screen. Dropping it ends it.
pub struct Executed {
    child: Child,
    out: PathBuf,
}

impl Executed {
    /// Its events, once it has ended well.
    pub fn events(&mut self) -> Vec<Value> {
        until("the end of the run", || self.child.try_wait().unwrap().is_some());
        let out = fs::read_to_string(&self.out).unwrap();
        assert!(self.child.wait().unwrap().success(), "{out}");
        out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Drop for Executed {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What an agent does in its copy.
fn work(name: &str) -> Value {
    let append = |file: &str, text: &str| bash(format!("cat >>{file} <<'END'\n{text}END"));
    match name {
        "roundtrip" => calls(&[
            ("write", json!({"path": "tests/roundtrip.rs", "content": ROUNDTRIP})),
            (
                "bash",
                json!({"command": "printf '\\n[[test]]\\nname = \"roundtrip\"\\npath = \"tests/roundtrip.rs\"\\n' >>Cargo.toml"}),
            ),
        ]),
        "licenses" => bash("mkdir licenses && mv LICENSE-APACHE LICENSE-MIT licenses/".into()),
        "guide" => calls(&[
            ("write", json!({"path": "docs/guide.md", "content": "# Guide\n"})),
            ("write", json!({"path": "check.sh", "content": "#!/bin/sh\ncargo test\n"})),
            ("bash", json!({"command": "chmod 755 check.sh && ln -s guide.md docs/README"})),
        ]),
        "upper" => append(CLASH, &digit("upper", 'A')),
        "lower" => append(CLASH, &digit("lower", 'a')),
        _ => {
            let (top, end) = sets("agent", 'B');
            bash(format!("sed -i '1i {}' {MINE}; cat >>{MINE} <<'END'\n{end}END", top.trim_end()))
        }
    }
}

fn cargo() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Where the crate's source is: with what we were built from.
fn source() -> PathBuf {
    static SOURCE: std::sync::LazyLock<PathBuf> = std::sync::LazyLock::new(|| {
        let said = |program: &mut Command| {
            let out = program.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
            assert!(out.status.success(), "{program:?}: {}", String::from_utf8_lossy(&out.stderr));
            String::from_utf8(out.stdout).unwrap()
        };
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let version = said(Command::new(rustc).arg("-vV"));
        let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
        let words = ["metadata", "--offline", "--locked", "--format-version", "1", "--filter-platform", host];
        let metadata: Value = serde_json::from_str(&said(Command::new(cargo()).args(words))).unwrap();
        let packages = metadata["packages"].as_array().unwrap();
        let found = packages.iter().find(|package| package["name"] == CRATE).unwrap_or_else(|| {
            panic!("Cargo.lock has no {CRATE} any more: choose another small crate that needs none, also for its tests")
        });
        assert_eq!(found["dependencies"], json!([]), "{CRATE} needs other crates now: choose another one");
        Path::new(found["manifest_path"].as_str().unwrap()).parent().unwrap().to_owned()
    });
    SOURCE.clone()
}

/// The files of a directory, but for what cargo itself left in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let there = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &there);
        } else if entry.file_name() != ".cargo-ok" {
            fs::write(&there, fs::read(entry.path()).unwrap()).unwrap();
        }
    }
}
