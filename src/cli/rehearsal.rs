//! The rehearsal: a scripted model that drives the real program in a scratch copy of a small project.
//!
//! Here: the script and the sample, and the scratch copy, which is private and removed at the end. The
//! script steers by what the tools really answer, so another sample would need another script.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// The scripted model (`contracts`, "Scripted models").
pub const SCRIPT: &str = include_str!("../../assets/rehearsal/script.json");
/// How the script is called in titles and errors.
pub const NAME: &str = "rehearsal";
/// The message that begins it.
pub const PROMPT: &str = "Some tests of this small project fail. Find out why, and mend it.";

/// The sample project: name, text, permission bits.
const SAMPLE: &[(&str, &str, u32)] = &[
    ("NOTES.md", include_str!("../../assets/rehearsal/project/NOTES.md"), 0o600),
    ("README.md", include_str!("../../assets/rehearsal/project/README.md"), 0o600),
    ("greet", include_str!("../../assets/rehearsal/project/greet"), 0o700),
    ("report", include_str!("../../assets/rehearsal/project/report"), 0o700),
    ("runaway", include_str!("../../assets/rehearsal/project/runaway"), 0o700),
    ("serve", include_str!("../../assets/rehearsal/project/serve"), 0o700),
    ("test", include_str!("../../assets/rehearsal/project/test"), 0o700),
    ("wordcount", include_str!("../../assets/rehearsal/project/wordcount"), 0o700),
];

/// How the scratch copies' directories begin.
const PREFIX: &str = "windlass-rehearsal-";
/// The file in one that its process holds locked. It gets its name when it is.
const LOCK: &str = "lock";

/// A scratch copy of the sample. Dropping it removes it.
#[derive(Debug)]
pub struct Scratch {
    dir: tempfile::TempDir,
    project: std::path::PathBuf,
    /// Locked for as long as this process lives: whoever gets the lock knows it is gone.
    _lock: File,
}

impl Scratch {
    /// Makes the copy under the directory for temporary files. `Err` says what failed and what to do.
    pub fn make() -> Result<Self, String> {
        Self::make_in(&std::env::temp_dir())
    }

    fn make_in(place: &Path) -> Result<Self, String> {
        let said = |error: std::io::Error| {
            let place = place.display();
            format!(
                "the rehearsal's scratch copy cannot be made in {place}: {error}; set TMPDIR to a directory that can be written"
            )
        };
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        let dir =
            tempfile::Builder::new().prefix(PREFIX).permissions(private).tempdir_in(place).map_err(said)?;
        let early = dir.path().join("lock.new");
        let lock = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&early).map_err(said)?;
        lock.lock().and_then(|()| std::fs::rename(&early, dir.path().join(LOCK))).map_err(said)?;
        let project = dir.path().join("wordcount");
        std::fs::create_dir(&project).map_err(said)?;
        for (name, text, mode) in SAMPLE {
            let mut file = OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(*mode)
                .open(project.join(name))
                .map_err(said)?;
            file.write_all(text.as_bytes()).map_err(said)?;
        }
        Ok(Self { dir, project, _lock: lock })
    }

    /// The project's directory: where the session works.
    pub fn project(&self) -> &Path {
        &self.project
    }

    /// A state directory of its own, so that the rehearsal's session goes with it. Not made yet.
    pub fn state_dir(&self) -> std::path::PathBuf {
        self.dir.path().join("state")
    }

    /// Removes it now; `Err` says what stays.
    pub fn remove(self) -> Result<(), String> {
        let path = self.dir.path().to_path_buf();
        self.dir
            .close()
            .map_err(|error| format!("the rehearsal's scratch copy {} stays: {error}", path.display()))
    }
}

/// Removes the copies that killed rehearsals left in the directory for temporary files.
pub fn sweep() {
    sweep_in(&std::env::temp_dir());
}

/// Only what is ours beyond doubt goes: by its name, its owner, and a lock that its process would hold.
fn sweep_in(place: &Path) {
    let us = nix::unistd::geteuid().as_raw();
    for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
        let named = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        let ours = || {
            entry.metadata().is_ok_and(|meta| meta.is_dir() && meta.uid() == us && meta.mode() & 0o77 == 0)
        };
        if !named || !ours() {
            continue;
        }
        let Ok(lock) = OpenOptions::new().write(true).open(entry.path().join(LOCK)) else { continue };
        if lock.try_lock().is_ok() {
            // what cannot be removed stays for the next start
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn tests_of(project: &Path) -> String {
        let out = Command::new("sh").arg("./test").current_dir(project).output().unwrap();
        String::from_utf8(out.stdout).unwrap()
    }

    #[test]
    fn what_a_killed_rehearsal_left_is_swept_and_nothing_else() {
        let tmp = tempfile::tempdir().unwrap();
        let lives = Scratch::make_in(tmp.path()).unwrap();
        let Scratch { dir, _lock, .. } = Scratch::make_in(tmp.path()).unwrap();
        // as after a kill: the directory stays, the lock is free
        let left = dir.keep();
        // (a child that another test just forks shares it until it runs its program)
        _lock.unlock().unwrap();
        let others =
            [format!("{PREFIX}of-a-person"), "windlass-other".to_owned()].map(|name| tmp.path().join(name));
        for other in &others {
            std::fs::create_dir(other).unwrap();
        }
        sweep_in(tmp.path());
        assert!(!left.exists(), "it stays");
        assert!(lives.project().join("wordcount").exists(), "one that is in use was swept");
        assert!(others.iter().all(|other| other.exists()), "something else was swept");
    }

    #[test]
    fn what_the_script_starts_is_in_the_sample_and_ends_by_itself() {
        let script: serde_json::Value = serde_json::from_str(SCRIPT).unwrap();
        let calls = script["turns"].as_array().unwrap().iter().flat_map(|turn| turn["calls"].as_array());
        let commands = calls.flatten().filter_map(|call| call["input"]["command"].as_str());
        let names: Vec<&str> =
            commands.filter_map(|command| command.split_once("./")).map(|(_, name)| name).collect();
        assert_eq!(names, ["test", "test", "serve", "runaway", "greet", "report README.md"]);
        for command in names {
            let name = command.split(' ').next().unwrap_or(command);
            let (_, text, mode) =
                SAMPLE.iter().find(|(file, ..)| *file == name).expect("it is in the sample");
            assert_eq!(mode & 0o100, 0o100, "{name}");
            let loops = text.matches("while ").count();
            assert_eq!(
                loops,
                text.matches("while [ \"$n\" -lt ").count(),
                "{name} has a loop without an end"
            );
            assert!(!text.contains("read -r name"), "{name} waits for an answer without an end");
        }
    }

    #[test]
    fn the_sample_fails_its_tests_until_the_scripts_edit_is_made() {
        let tmp = tempfile::tempdir().unwrap();
        let scratch = Scratch::make_in(tmp.path()).unwrap();
        let before = tests_of(scratch.project());
        let script: serde_json::Value = serde_json::from_str(SCRIPT).unwrap();
        let turns = script["turns"].as_array().unwrap();
        let expects = |text: &str| {
            turns.iter().any(|turn| turn["expect"]["contains"].as_str().is_some_and(|e| text.contains(e)))
        };
        assert!(expects(&before), "{before}");
        let edit = turns
            .iter()
            .flat_map(|turn| turn["calls"].as_array().into_iter().flatten())
            .find(|call| call["tool"] == "edit")
            .unwrap();
        let path = scratch.project().join(edit["input"]["path"].as_str().unwrap());
        let change = &edit["input"]["edits"][0];
        let text = std::fs::read_to_string(&path).unwrap();
        let old = change["old"].as_str().unwrap();
        assert_eq!(text.matches(old).count(), 1, "the script's edit must fit the sample");
        std::fs::write(&path, text.replace(old, change["new"].as_str().unwrap())).unwrap();
        let after = tests_of(scratch.project());
        assert!(expects(&after) && after != before, "{after}");
        scratch.remove().unwrap();
        assert_eq!(std::fs::read_dir(tmp.path()).unwrap().count(), 0);
    }
}
