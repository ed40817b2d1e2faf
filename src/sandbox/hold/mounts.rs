//! Other names of a directory, from the table of mounts: pure.

use std::path::{Path, PathBuf};

use crate::process::mounts::{Mount, mounts};

/// Another name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    /// The name.
    pub at: PathBuf,
    /// What of the directory is there, relative to it; empty: all of it.
    pub of: PathBuf,
}

/// Where else `dir` (a real path) or a directory in it can be reached. What is told may lie under another mount.
pub fn other_names(table: &[u8], dir: &Path) -> Vec<Other> {
    let mounts: Vec<Mount> = mounts(table).collect();
    // of several at one place the last one is on top
    let own = mounts.iter().filter(|mount| dir.starts_with(&mount.at));
    let Some(own) = own.max_by_key(|mount| mount.at.components().count()) else { return Vec::new() };
    let Ok(below) = dir.strip_prefix(&own.at) else { return Vec::new() };
    let real = plain_join(&own.root, below);
    let others = mounts.iter().filter(|mount| mount.device == own.device).filter_map(|mount| {
        if let Ok(below) = real.strip_prefix(&mount.root) {
            Some(Other { at: plain_join(&mount.at, below), of: PathBuf::new() })
        } else {
            let of = mount.root.strip_prefix(&real).ok()?.to_owned();
            Some(Other { at: mount.at.clone(), of })
        }
    });
    let mut others: Vec<Other> = others.filter(|other| !other.at.starts_with(dir)).collect();
    others.sort_by(|a, b| a.at.cmp(&b.at));
    others.dedup();
    others
}

/// Joined, without the slash that an empty path would leave at the end.
fn plain_join(above: &Path, below: &Path) -> PathBuf {
    if below.as_os_str().is_empty() { above.to_owned() } else { above.join(below) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[u8] = b"1 0 8:1 / / rw - ext4 /dev/a rw\n\
        2 1 8:2 / /home rw - ext4 /dev/b rw\n\
        3 1 8:2 / /mnt/all rw - ext4 /dev/b rw\n\
        4 1 8:2 /u/my\\040work /mnt/w rw - ext4 /dev/b rw\n\
        5 1 8:2 /u/my\\040work/p/target /fast rw - ext4 /dev/b rw\n\
        6 1 8:2 /v /mnt/v rw - ext4 /dev/b rw\n\
        7 1 0:9 / /proc rw - proc proc rw\n";

    fn names(dir: &str) -> Vec<(String, String)> {
        let words = |path: PathBuf| path.into_os_string().into_string().unwrap();
        let others = other_names(TABLE, Path::new(dir)).into_iter();
        others.map(|other| (words(other.at), words(other.of))).collect()
    }

    #[test]
    fn each_other_name_of_a_directory_is_found() {
        let pair = |at: &str, of: &str| (at.to_owned(), of.to_owned());
        let found = names("/home/u/my work/p");
        assert_eq!(found, [pair("/fast", "target"), pair("/mnt/all/u/my work/p", ""), pair("/mnt/w/p", "")]);
        assert_eq!(names("/home/v"), [pair("/mnt/all/v", ""), pair("/mnt/v", "")]);
        assert_eq!(names("/srv/x"), []);
    }
}
