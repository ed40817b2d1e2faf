//! What the screen asks of the program around it: the editor, the pager, a stop, a dump, an image.
//!
//! The screen has left the terminal before it calls, so these processes get the terminal itself. They are
//! the person's own programs and are not confined.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use base64::Engine as _;

use crate::api::message::Image;
use crate::cli::person::wait;
use crate::link::{Host, Leave};

/// Most bytes of an image.
const IMAGE_BYTES_MAX: u64 = 20 << 20;

/// The host of a terminal program.
pub struct TerminalHost {
    /// Where dumps are kept.
    state_dir: PathBuf,
    /// What a relative path of an image is relative to: known once the session is open.
    cwd: Box<dyn Fn() -> PathBuf>,
    /// The person's editor, as a command line.
    editor: String,
    /// The person's pager, as a command line.
    pager: String,
    /// Variables that hold keys: no program that is started here gets them.
    secrets: Vec<String>,
    /// Where the person's settings are; none: nothing is kept there.
    config_dir: Option<PathBuf>,
}

impl TerminalHost {
    /// A host that keeps dumps in `state_dir` and finds images from `cwd`. Editor and pager are those of
    /// `$VISUAL`, `$EDITOR` and `$PAGER`.
    pub fn new(state_dir: impl Into<PathBuf>, cwd: impl Fn() -> PathBuf + 'static) -> Self {
        let editor = variable(&["VISUAL", "EDITOR"]).unwrap_or_else(|| "vi".into());
        let pager = variable(&["PAGER"]).unwrap_or_else(|| "less -R".into());
        Self::with_programs(state_dir, cwd, editor, pager)
    }

    /// A host with these programs.
    pub fn with_programs(
        state_dir: impl Into<PathBuf>,
        cwd: impl Fn() -> PathBuf + 'static,
        editor: impl Into<String>,
        pager: impl Into<String>,
    ) -> Self {
        Self {
            state_dir: state_dir.into(),
            cwd: Box::new(cwd),
            editor: editor.into(),
            pager: pager.into(),
            secrets: Vec::new(),
            config_dir: None,
        }
    }

    /// Keeps what is chosen on the screen in the settings of this directory.
    pub fn keeping_in(mut self, config_dir: impl Into<PathBuf>) -> Self {
        self.config_dir = Some(config_dir.into());
        self
    }

    /// Keeps these variables from every program that it starts.
    pub fn without(mut self, secrets: Vec<String>) -> Self {
        self.secrets = secrets;
        self
    }

    /// Opens bytes in the editor, in a private file whose name ends so.
    fn edit_file(&self, end: &str, bytes: &[u8], what: &str, leave: Leave<'_>) -> Result<Vec<u8>, String> {
        let editor = &self.editor;
        let mut file = tempfile::Builder::new()
            .prefix("windlass")
            .suffix(end)
            .tempfile()
            .map_err(|error| format!("{what} cannot be written for the editor: {error}"))?;
        file.write_all(bytes)
            .and_then(|()| file.flush())
            .map_err(|error| format!("{what} cannot be written for the editor: {error}"))?;
        let status = self
            .shell(editor)
            .arg(file.path())
            .spawn()
            .and_then(|child| wait(child, leave))
            .map_err(|error| format!("{editor} cannot be started: {error}; set $VISUAL or $EDITOR"))?;
        if !status.success() {
            return Err(format!("{editor} ended with {status}; {what} is as it was"));
        }
        // editors replace the file, so it is read by its name
        std::fs::read(file.path())
            .map_err(|error| format!("what {editor} wrote cannot be read: {error}; {what} is as it was"))
    }

    /// A command of the person's (`code --wait`), run by the shell so that its words are split as they
    /// expect.
    fn shell(&self, command: &str) -> Command {
        let mut shell = self.program("sh");
        shell.arg("-c").arg(format!("{command} \"$@\"")).arg("sh");
        shell
    }

    fn program(&self, name: &str) -> Command {
        let mut command = Command::new(name);
        for secret in &self.secrets {
            command.env_remove(secret);
        }
        command
    }
}

/// The first variable that is set and not blank.
fn variable(names: &[&str]) -> Option<String> {
    names.iter().filter_map(|name| std::env::var(name).ok()).find(|value| !value.trim().is_empty())
}

impl Host for TerminalHost {
    fn keep_theme(&mut self, name: &str) -> Result<String, String> {
        let dir = self.config_dir.as_ref().ok_or("nothing is kept here")?;
        crate::config::keep::keep_text(dir, "theme", name).map(|file| file.display().to_string())
    }

    fn edit_text(&mut self, text: &str, leave: Leave<'_>) -> Result<String, String> {
        let bytes = self.edit_file(".md", text.as_bytes(), "the draft", leave)?;
        let mut text = String::from_utf8_lossy(&bytes).into_owned();
        if text.ends_with('\n') {
            text.pop();
        }
        Ok(text)
    }

    fn edit_bytes(&mut self, name: &str, bytes: &[u8], leave: Leave<'_>) -> Result<Vec<u8>, String> {
        // the name is only for the editor's colours: nothing of it may lead elsewhere
        let name: String = name.chars().filter(|c| c.is_alphanumeric() || "._-".contains(*c)).collect();
        let cut = name.char_indices().rev().nth(63).map_or(0, |(at, _)| at);
        self.edit_file(&format!("-{}", &name[cut..]), bytes, "the merge", leave)
    }

    fn page_text(&mut self, text: &str, leave: Leave<'_>) -> Result<(), String> {
        let pager = &self.pager;
        let mut child = self
            .shell(pager)
            .stdin(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{pager} cannot be started: {error}; set $PAGER"))?;
        if let Some(mut stdin) = child.stdin.take() {
            let text = text.to_owned();
            // it takes the text as the person pages; one that is left early closes the pipe: no failure
            std::thread::spawn(move || drop(stdin.write_all(text.as_bytes())));
        }
        let status = wait(child, leave).map_err(|error| format!("{pager}: {error}"))?;
        match status.code() {
            Some(126 | 127) => Err(format!("{pager} cannot be run; set $PAGER")),
            _ => Ok(()),
        }
    }

    fn suspend(&mut self) {
        // The whole foreground group, as the terminal itself does it. Not SIGTSTP: the screen listens to
        // that, so it would not stop us. SIGSTOP does, also where nobody could continue us: there, nothing.
        if has_shell() {
            let group = nix::unistd::Pid::from_raw(0);
            let _ = nix::sys::signal::kill(group, nix::sys::signal::Signal::SIGSTOP);
        }
    }

    fn keep_dump(&mut self, text: &str) -> Result<String, String> {
        let dir = self.state_dir.join("log");
        let said = |error: std::io::Error| format!("the dump cannot be kept in {}: {error}", dir.display());
        std::os::unix::fs::DirBuilderExt::mode(std::fs::DirBuilder::new().recursive(true), 0o700)
            .create(&dir)
            .map_err(said)?;
        // tempfile makes it 0600
        let mut file =
            tempfile::Builder::new().prefix("messages-").suffix(".txt").tempfile_in(&dir).map_err(said)?;
        file.write_all(text.as_bytes()).map_err(said)?;
        let (_, path) = file.keep().map_err(|error| said(error.error))?;
        Ok(path.display().to_string())
    }

    fn notify(&mut self, text: &str) -> Result<(), String> {
        let mut program = self.program("notify-send");
        program.args(["--app-name=Windlass", "--", "Windlass", text]);
        program.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = program.spawn().map_err(|error| {
            format!("notify-send, which tells the desktop, could not be started: {error}; the bell rings in its place")
        })?;
        // it is waited for by nobody who matters
        std::thread::spawn(move || drop(child.wait()));
        Ok(())
    }

    fn read_image(&mut self, path: Option<&str>) -> Result<Image, String> {
        let (bytes, name) = match path {
            Some(path) => {
                let path = (self.cwd)().join(expand(path));
                (file_bytes(&path)?, path.display().to_string())
            }
            None => (clipboard(|name| self.program(name))?, "pasted".to_string()),
        };
        let media_type = media_type(&bytes)
            .ok_or_else(|| format!("{name} is no PNG, JPEG, GIF or WebP image; save it as one of these"))?;
        let data = base64::engine::general_purpose::STANDARD.encode(&bytes);
        Ok(Image { media_type: media_type.into(), data, blob: None, name })
    }
}

/// Whether a shell with job control started our process group and can continue it.
fn has_shell() -> bool {
    use nix::unistd::{Pid, getpgid, getpgrp, getppid, getsid};
    let (group, session) = (getpgrp(), getsid(None));
    let mut parent = getppid();
    // our group may hold a script between us and the shell
    while parent.as_raw() > 1 && getsid(Some(parent)) == session {
        if getpgid(Some(parent)) != Ok(group) {
            return true;
        }
        let stat = std::fs::read_to_string(format!("/proc/{parent}/stat")).unwrap_or_default();
        let above = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1));
        let Some(above) = above.and_then(|pid| pid.parse().ok()) else { return false };
        parent = Pid::from_raw(above);
    }
    false
}

/// A path as dropped or typed: `~`, `file://`, and quotes or escapes that terminals put around it.
fn expand(path: &str) -> PathBuf {
    let path = path.trim();
    let unquoted = path
        .strip_prefix('\'')
        .and_then(|p| p.strip_suffix('\''))
        .or_else(|| path.strip_prefix('"').and_then(|p| p.strip_suffix('"')))
        .map_or_else(|| path.replace("\\ ", " "), str::to_string);
    let plain = unquoted.strip_prefix("file://").unwrap_or(&unquoted);
    match (plain.strip_prefix("~/"), std::env::var_os("HOME")) {
        (Some(rest), Some(home)) => Path::new(&home).join(rest),
        _ => PathBuf::from(plain),
    }
}

fn file_bytes(path: &Path) -> Result<Vec<u8>, String> {
    let said = |error: std::io::Error| format!("{} cannot be read: {error}", path.display());
    let meta = std::fs::metadata(path).map_err(said)?;
    if !meta.is_file() {
        return Err(format!("{} is not a file", path.display()));
    }
    let file = std::fs::File::open(path).map_err(said)?;
    bounded(file, &path.display().to_string())
}

fn bounded(source: impl Read, name: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    source
        .take(IMAGE_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("{name} cannot be read: {error}"))?;
    if bytes.len() as u64 > IMAGE_BYTES_MAX {
        return Err(format!("{name} is larger than {} MiB; make it smaller", IMAGE_BYTES_MAX >> 20));
    }
    Ok(bytes)
}

/// The image of the clipboard, by the first program that has one.
fn clipboard(start: impl Fn(&str) -> Command) -> Result<Vec<u8>, String> {
    let programs: [(&str, &[&str]); 2] = [
        ("wl-paste", &["--no-newline", "--type", "image/png"]),
        ("xclip", &["-selection", "clipboard", "-target", "image/png", "-out"]),
    ];
    let mut found = false;
    for (program, arguments) in programs {
        let spawned = start(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut child) = spawned else { continue };
        found = true;
        let bytes = child.stdout.take().map(|out| bounded(out, "the clipboard"));
        let _ = child.kill();
        let _ = child.wait();
        match bytes {
            Some(Ok(bytes)) if !bytes.is_empty() => return Ok(bytes),
            Some(Err(why)) => return Err(why),
            Some(Ok(_)) | None => {}
        }
    }
    Err(if found {
        "the clipboard holds no image".into()
    } else {
        "the clipboard cannot be read: install wl-clipboard (Wayland) or xclip (X11), or give a file's path"
            .into()
    })
}

/// What kind of image the bytes are, by their beginning.
fn media_type(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        Some("image/png")
    } else if bytes.starts_with(b"\xff\xd8\xff") {
        Some("image/jpeg")
    } else if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") {
        Some("image/gif")
    } else if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        Some("image/webp")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// Nobody tells the program to end.
    fn stay(ms: u32) -> bool {
        std::thread::park_timeout(std::time::Duration::from_millis(u64::from(ms.min(5))));
        false
    }

    #[test]
    fn an_image_is_known_by_its_bytes_and_anything_else_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let here = dir.path().to_owned();
        let mut host = TerminalHost::new(dir.path(), move || here.clone());
        std::fs::write(dir.path().join("a b.png"), b"\x89PNG\r\n\x1a\nrest").unwrap();
        std::fs::write(dir.path().join("c.png"), b"text").unwrap();
        assert_eq!(host.read_image(Some("'a b.png'")).unwrap().media_type, "image/png");
        assert_eq!(host.read_image(Some("a\\ b.png")).unwrap().media_type, "image/png");
        assert!(host.read_image(Some("c.png")).unwrap_err().contains("no PNG"));
        assert!(host.read_image(Some("d.png")).unwrap_err().contains("cannot be read"));
        assert!(host.read_image(Some(".")).unwrap_err().contains("not a file"));
    }

    #[test]
    fn the_editor_changes_the_text_or_leaves_it_and_says_why() {
        let dir = tempfile::tempdir().unwrap();
        let host = |editor: &str| TerminalHost::with_programs(dir.path(), PathBuf::new, editor, "cat");
        let script = dir.path().join("my editor");
        std::fs::write(&script, "#!/bin/sh\n[ \"$1\" = --wait ] && sed -i 's/a/b/' \"$2\"\n").unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&script, mode).unwrap();
        let quoted = format!("'{}' --wait", script.display());
        assert_eq!(host(&quoted).edit_text("a draft\nof two", &mut stay).unwrap(), "b draft\nof two");
        assert!(host("false").edit_text("x", &mut stay).unwrap_err().contains("the draft is as it was"));
        assert!(host("no-such-editor 2>/dev/null").edit_text("x", &mut stay).is_err());
    }

    #[test]
    fn a_pager_that_is_left_early_is_no_failure_and_a_missing_one_is() {
        let dir = tempfile::tempdir().unwrap();
        let host = |pager: &str| TerminalHost::with_programs(dir.path(), PathBuf::new, "vi", pager);
        let long = "line\n".repeat(1 << 20);
        assert_eq!(host("head -n 1 >/dev/null").page_text(&long, &mut stay), Ok(()));
        assert!(
            host("no-such-pager 2>/dev/null").page_text("x", &mut stay).unwrap_err().contains("set $PAGER")
        );
    }

    #[test]
    fn a_dump_is_private() {
        let dir = tempfile::tempdir().unwrap();
        let path = TerminalHost::new(dir.path(), PathBuf::new).keep_dump("messages").unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(std::fs::read_to_string(path).unwrap(), "messages");
    }

    #[test]
    fn a_variable_that_holds_a_key_does_not_reach_the_editor() {
        let dir = tempfile::tempdir().unwrap();
        // Any variable that this test has stands for a key.
        let editor = "sh -c 'printf %s \"${PATH:-none}\" > \"$1\"' sh";
        let host = || TerminalHost::with_programs(dir.path(), PathBuf::new, editor, "cat");
        assert_ne!(host().edit_text("x", &mut stay).unwrap(), "none");
        let without = host().without(vec!["PATH".into()]).edit_text("x", &mut stay).unwrap();
        assert!(!without.contains(&std::env::var("PATH").unwrap()), "{without}");
    }
}
