//! A stamp of what is at a path: whether a file was changed is asked every second, and it is not read for that.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;

use crate::api::hand_back::Stamp;

/// The stamp of what was found, or not.
pub fn stamp(found: io::Result<Metadata>) -> Stamp {
    let of = |meta: Metadata| {
        // no program can set the time of the last change of a file's state
        let (changed, nanos) = (meta.ctime().cast_unsigned(), meta.ctime_nsec().cast_unsigned());
        [meta.dev(), meta.ino(), meta.len(), u64::from(meta.mode()), changed, nanos]
    };
    Stamp(found.ok().map(of))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_file_and_none_have_another_stamp() {
        let tmp = tempfile::tempdir().unwrap();
        let path = tmp.path().join("a");
        let now = || stamp(path.symlink_metadata());
        let none = now();
        std::fs::write(&path, "one").unwrap();
        let one = now();
        assert_eq!((none, one), (Stamp(None), now()));
        std::fs::write(&path, "more").unwrap();
        let more = now();
        assert_ne!(one, more);
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert_ne!(more, now());
    }
}
