//! Writes the private files of this layer: whole or not at all, 0600 from the first moment.

use std::fs::DirBuilder;
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

/// Replaces (or makes) a file that only its owner may read. Its directory is made (0700) where it is
/// missing. The text says what failed, and on what.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), String> {
    replace_with_mode(path, bytes, None)
}

/// Replaces a file of the user's own; its permissions stay as they are.
pub fn replace_keeping_mode(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let mode = std::fs::metadata(path).ok().map(|meta| meta.permissions());
    replace_with_mode(path, bytes, mode)
}

fn replace_with_mode(path: &Path, bytes: &[u8], mode: Option<std::fs::Permissions>) -> Result<(), String> {
    let said = |error: std::io::Error| format!("{} cannot be written: {error}", path.display());
    // a link (settings kept in a repository of dot-files) stays, and what it names is replaced
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let dir = target.parent().unwrap_or(Path::new("/"));
    DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(said)?;
    // tempfile makes its files 0600
    let mut file = tempfile::NamedTempFile::new_in(dir).map_err(said)?;
    file.write_all(bytes).and_then(|()| file.as_file().sync_all()).map_err(said)?;
    if let Some(mode) = mode {
        file.as_file().set_permissions(mode).map_err(said)?;
    }
    file.persist(&target).map_err(|error| said(error.error))?;
    std::fs::File::open(dir).and_then(|dir| dir.sync_all()).map_err(said)
}

/// Why a file is not private: it must be ours, and closed to everyone else.
pub fn not_private(path: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let meta = std::fs::metadata(path).ok()?;
    let me = nix::unistd::geteuid().as_raw();
    if meta.uid() != me {
        return Some(format!("belongs to uid {}, not to you (uid {me})", meta.uid()));
    }
    let open = meta.mode() & 0o077;
    (open != 0).then(|| {
        format!(
            "can be read or written by others (mode {:04o}); run: chmod 600 {}",
            meta.mode() & 0o7777,
            path.display()
        )
    })
}
