//! The table of mounts, as the system tells it (`/proc/self/mountinfo`): pure.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// One mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// The device, `8:1`.
    pub device: String,
    /// What of the filesystem is mounted: a path in it.
    pub root: PathBuf,
    /// Where.
    pub at: PathBuf,
    /// The filesystem's type.
    pub kind: String,
    /// The filesystem's own options, with commas between them.
    pub options: String,
}

/// All mounts of a table, in their order: of several at one place the last one is on top.
pub fn mounts(table: &[u8]) -> impl Iterator<Item = Mount> {
    table.split(|byte| *byte == b'\n').filter_map(mount)
}

fn mount(line: &[u8]) -> Option<Mount> {
    let text = |field: &[u8]| String::from_utf8_lossy(field).into_owned();
    let mut fields = line.split(|byte| *byte == b' ').skip(2);
    let (device, root, at) = (text(fields.next()?), unescaped(fields.next()?), unescaped(fields.next()?));
    // a field that is a dash alone ends those of which there is any number
    let mut system = fields.skip_while(|field| *field != b"-").skip(1);
    let (kind, options) = (text(system.next()?), text(system.nth(1)?));
    Some(Mount { device, root, at, kind, options })
}

/// Spaces and the like stand there as `\040`.
fn unescaped(field: &[u8]) -> PathBuf {
    let mut out = Vec::new();
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        let octal = after.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()).filter(|_| *first == b'\\') {
            Some(byte) => {
                out.push(byte);
                rest = &after[3..];
            }
            None => {
                out.push(*first);
                rest = after;
            }
        }
    }
    OsString::from_vec(out).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_whole_line_is_a_mount() {
        let table =
            b"25 20 0:22 /a\\040- /m\\134x rw,nosuid shared:4 master:2 - cgroup2 none rw,nsdelegate\n\
            26 20 0:23 / /p rw - proc proc rw\n26 20 0:23 / /cut\n";
        let text = |text: &str| text.to_owned();
        let first = Mount {
            device: text("0:22"),
            root: "/a -".into(),
            at: "/m\\x".into(),
            kind: text("cgroup2"),
            options: text("rw,nsdelegate"),
        };
        let all: Vec<Mount> = mounts(table).collect();
        assert_eq!((&all[0], all[1].kind.as_str(), all.len()), (&first, "proc", 2));
    }
}
