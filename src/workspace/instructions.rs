//! The instructions a directory gives: `AGENTS.md` from the root down to the directory, and the user's own
//! (`CLAUDE.md` where a directory has no `AGENTS.md`). Bounded, and each with where it came from.
//!
//! The root is the git work tree's; without git the walk goes up to the home directory, or, outside of it,
//! as far as the directories belong to the user. A project's file that is a link out of the root is left out:
//! a repository must not be able to send the user's other files to a model.
//!
//! An agent that works in a copy is told what its copy says: what is in the directory that it sees is read there, and
//! named as it sees it.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::law::path_map::{Fact, View, map};

/// Most bytes of one file that the model reads.
pub const FILE_BYTES_MAX: usize = 32 * 1024;
/// Most directories that are looked into.
const DEPTH_MAX: usize = 64;

/// One file of instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The file.
    pub path: PathBuf,
    /// Its text, at most [`FILE_BYTES_MAX`] bytes.
    pub text: String,
    /// Its whole size, when it was cut.
    pub cut_of: Option<u64>,
}

/// All instructions, the general ones first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instructions {
    /// The files, in the order they are read.
    pub parts: Vec<Part>,
    /// What was left out and why, for the person.
    pub notes: Vec<String>,
}

impl Instructions {
    /// The text for the model; empty when there are none.
    pub fn render(&self) -> String {
        let mut out = String::new();
        for part in &self.parts {
            out.push_str(&format!("<instructions from=\"{}\">\n{}", part.path.display(), part.text));
            if !part.text.ends_with('\n') {
                out.push('\n');
            }
            if let Some(size) = part.cut_of {
                out.push_str(&format!("[cut: {} of {size} bytes are shown]\n", part.text.len()));
            }
            out.push_str("</instructions>\n");
        }
        out
    }
}

/// Reads them; `view`: for an agent that works in a copy of `cwd`. Blocking.
pub fn read(cwd: &Path, config_dir: &Path, home: Option<&Path>, view: Option<&View>) -> Instructions {
    let mut out = Instructions::default();
    let eyes = Eyes { view };
    eyes.one_of(&mut out, config_dir, None);
    let (root, dirs) = eyes.places(cwd, home);
    for dir in dirs {
        if dir != config_dir {
            eyes.one_of(&mut out, &dir, Some(&root));
        }
    }
    out
}

/// Who reads: where the paths of a session are on the disk.
#[derive(Clone, Copy)]
struct Eyes<'a> {
    view: Option<&'a View>,
}

impl Eyes<'_> {
    fn disk(self, seen: &Path) -> PathBuf {
        self.view.map_or_else(|| seen.to_owned(), |view| view.disk(seen))
    }

    /// The root, and the directories from it down to `cwd`.
    fn places(self, cwd: &Path, home: Option<&Path>) -> (PathBuf, Vec<PathBuf>) {
        let ancestors = || cwd.ancestors().take(DEPTH_MAX);
        let top = ancestors().find(|dir| self.disk(dir).join(".git").exists()).or_else(|| {
            let home = home.filter(|home| cwd.starts_with(home));
            home.or_else(|| ancestors().take_while(|dir| is_ours(&self.disk(dir))).last())
        });
        let top = top.unwrap_or(cwd);
        let mut dirs: Vec<PathBuf> =
            ancestors().take_while(|dir| dir.starts_with(top)).map(Path::to_path_buf).collect();
        dirs.reverse();
        (top.to_path_buf(), dirs)
    }

    /// The first file of a directory that is there.
    fn one_of(self, out: &mut Instructions, dir: &Path, root: Option<&Path>) {
        for name in ["AGENTS.md", "CLAUDE.md"] {
            let path = dir.join(name);
            if std::fs::symlink_metadata(self.disk(&path)).is_err() {
                continue;
            }
            match self.part(&path, root) {
                Ok(Some(part)) => out.parts.push(part),
                Ok(None) => {}
                Err(why) => out.notes.push(format!("{} is left out: {why}", path.display())),
            }
            return;
        }
    }

    /// What a path leads to: as the session sees it, and on the disk.
    fn target(self, path: &Path) -> Result<(PathBuf, PathBuf), String> {
        if let Some(view) = self.view.filter(|view| path.starts_with(&view.parent)) {
            let look = |at: &Path| std::fs::read_link(view.copy.join(at)).map_or(Fact::NoLink, Fact::Link);
            let mapped = map(view, path, look).map_err(|refusal| format!("it {}", refusal.words()))?;
            return Ok((view.seen(&mapped.absolute), mapped.absolute));
        }
        let target = std::fs::canonicalize(path).map_err(|error| error.to_string())?;
        Ok((target.clone(), self.disk(&target)))
    }

    fn part(self, path: &Path, root: Option<&Path>) -> Result<Option<Part>, String> {
        let (target, disk) = self.target(path)?;
        if let Some(root) = root {
            let root = std::fs::canonicalize(root).map_err(|error| error.to_string())?;
            if !target.starts_with(&root) {
                return Err(format!("it is a link to {}, outside of {}", target.display(), root.display()));
            }
        }
        Ok(text(&disk)?.map(|(text, cut_of)| Part { path: path.to_path_buf(), text, cut_of }))
    }
}

/// Whether nobody else can have put a file there.
fn is_ours(dir: &Path) -> bool {
    let me = nix::unistd::geteuid().as_raw();
    std::fs::metadata(dir).is_ok_and(|meta| meta.uid() == me && meta.mode() & 0o002 == 0)
}

/// The text of a file, without links in its path, and its whole size if it was cut; none: it says nothing.
fn text(path: &Path) -> Result<Option<(String, Option<u64>)>, String> {
    // without NONBLOCK, a FIFO of that name would hold the program up
    let flags = (nix::fcntl::OFlag::O_NONBLOCK | nix::fcntl::OFlag::O_NOFOLLOW).bits();
    let open = std::fs::OpenOptions::new().read(true).custom_flags(flags).open(path);
    let file: File = open.map_err(|error| error.to_string())?;
    let meta = file.metadata().map_err(|error| error.to_string())?;
    if !meta.is_file() {
        return Err("it is not a file".into());
    }
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX as u64 + 4).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    let cut = bytes.len() > FILE_BYTES_MAX;
    if cut {
        let mut end = FILE_BYTES_MAX;
        // back to the first byte of a character
        while end > 0 && bytes.get(end).is_some_and(|byte| byte & 0xC0 == 0x80) {
            end -= 1;
        }
        bytes.truncate(end);
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_string();
    if text.trim().is_empty() {
        return Ok(None);
    }
    Ok(Some((text, cut.then_some(meta.len()))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn files_are_read_from_the_root_down_and_claude_only_without_agents() {
        let tmp = tempfile::tempdir().unwrap();
        let root = tmp.path().join("repo");
        write(&tmp.path().join("AGENTS.md"), "above the root");
        write(&tmp.path().join("config/AGENTS.md"), "mine");
        write(&root.join(".git/HEAD"), "");
        write(&root.join("AGENTS.md"), "root");
        write(&root.join("CLAUDE.md"), "not read");
        write(&root.join("a/CLAUDE.md"), "a");
        write(&root.join("a/b/AGENTS.md"), "b");
        let read = read(&root.join("a/b"), &tmp.path().join("config"), None, None);
        let texts: Vec<&str> = read.parts.iter().map(|part| part.text.as_str()).collect();
        assert_eq!(texts, ["mine", "root", "a", "b"]);
        assert!(read.render().contains("a/CLAUDE.md\">\na\n</instructions>"));
    }

    #[test]
    fn without_git_the_walk_ends_at_the_home_directory() {
        let tmp = tempfile::tempdir().unwrap();
        let home = tmp.path().join("home");
        write(&tmp.path().join("AGENTS.md"), "above");
        write(&home.join("AGENTS.md"), "home");
        write(&home.join("x/AGENTS.md"), "x");
        let read = read(&home.join("x"), &tmp.path().join("none"), Some(&home), None);
        let texts: Vec<&str> = read.parts.iter().map(|part| part.text.as_str()).collect();
        assert_eq!(texts, ["home", "x"]);
    }

    #[test]
    fn a_long_file_is_cut_on_a_character_and_says_so() {
        let tmp = tempfile::tempdir().unwrap();
        let text = format!("x{}", "é".repeat(FILE_BYTES_MAX));
        write(&tmp.path().join("AGENTS.md"), &text);
        let read = read(tmp.path(), &tmp.path().join("none"), Some(tmp.path()), None);
        assert_eq!(read.parts[0].text.len(), FILE_BYTES_MAX - 1);
        assert_eq!(read.parts[0].cut_of, Some(text.len() as u64));
        assert!(text.starts_with(&read.parts[0].text));
        assert!(read.render().contains("[cut: "));
    }

    #[test]
    fn a_link_out_of_the_root_and_a_fifo_are_left_out() {
        let tmp = tempfile::tempdir().unwrap();
        let root = tmp.path().join("repo");
        write(&tmp.path().join("secret"), "secret");
        write(&root.join(".git/HEAD"), "");
        write(&root.join("a/x"), "");
        std::os::unix::fs::symlink(tmp.path().join("secret"), root.join("AGENTS.md")).unwrap();
        nix::unistd::mkfifo(&root.join("a/AGENTS.md"), nix::sys::stat::Mode::S_IRUSR).unwrap();
        let read = read(&root.join("a"), &tmp.path().join("none"), None, None);
        assert!(read.parts.is_empty());
        assert_eq!(read.notes.len(), 2);
        assert!(read.notes[0].contains("outside of"), "{:?}", read.notes);
        assert!(read.notes[1].contains("not a file"), "{:?}", read.notes);
    }

    #[test]
    fn in_a_copy_its_own_files_are_read_and_named_as_they_are_seen() {
        let tmp = tempfile::tempdir().unwrap();
        let top = tmp.path().canonicalize().unwrap();
        let (root, copy) = (top.join("repo"), top.join("copy"));
        let seen = root.join("part");
        let view = View { parent: seen.clone(), copy: copy.clone(), from: PathBuf::new() };
        write(&root.join(".git/HEAD"), "");
        write(&root.join("AGENTS.md"), "of the whole");
        write(&seen.join("AGENTS.md"), "the parent's");
        write(&copy.join("AGENTS.md"), "the copy's");
        let none = top.join("none");
        let texts = || -> Vec<(PathBuf, String)> {
            let parts = read(&seen, &none, None, Some(&view)).parts;
            parts.into_iter().map(|part| (part.path, part.text)).collect()
        };
        let whole = (root.join("AGENTS.md"), "of the whole".to_owned());
        let own = |text: &str| (seen.join("AGENTS.md"), text.to_owned());
        assert_eq!(texts(), [whole.clone(), own("the copy's")]);
        // a link is followed in the copy, however it is written, and nowhere else
        write(&copy.join("docs/own.md"), "linked");
        write(&seen.join("docs/own.md"), "the parent's, linked");
        for target in [PathBuf::from("docs/own.md"), seen.join("docs/own.md")] {
            std::fs::remove_file(copy.join("AGENTS.md")).unwrap();
            std::os::unix::fs::symlink(target, copy.join("AGENTS.md")).unwrap();
            assert_eq!(texts(), [whole.clone(), own("linked")]);
        }
        std::fs::remove_file(copy.join("AGENTS.md")).unwrap();
        std::os::unix::fs::symlink("../secret", copy.join("AGENTS.md")).unwrap();
        write(&top.join("secret"), "secret");
        let read = read(&seen, &none, None, Some(&view));
        assert_eq!(read.parts.len(), 1);
        assert!(
            read.notes[0].contains("is outside of the directory that this agent works in"),
            "{:?}",
            read.notes
        );
        std::fs::remove_file(copy.join("AGENTS.md")).unwrap();
        assert_eq!(texts(), [whole]);
    }
}
