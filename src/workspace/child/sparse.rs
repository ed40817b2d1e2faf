//! Files with holes, copied so that they keep them.
//!
//! A hole is what the filesystem says is one; bytes that are zero and stand on the disk are copied as they are.

use std::fs::File;
use std::io::{self, Read, Seek, Write};

use rustix::fs::{SeekFrom, Stat, fstat, seek};
use rustix::io::Errno;

/// Bytes that the system counts as one of a file's blocks.
const BLOCK_BYTES: u64 = 512;

/// Least bytes of a hole that counts.
const HOLE_BYTES_MIN: usize = 64 * 1024;

/// Whether a file has less on the disk than it says it is long. One that a filesystem compresses seems so too.
pub(super) fn is_sparse(stat: &Stat) -> bool {
    let len = u64::try_from(stat.st_size).unwrap_or(0);
    on_disk(stat).saturating_add(HOLE_BYTES_MIN as u64) <= len
}

/// How many bytes a file has on the disk.
pub(super) fn on_disk(stat: &Stat) -> u64 {
    u64::try_from(stat.st_blocks).unwrap_or(0).saturating_mul(BLOCK_BYTES)
}

/// Copies a file, from its beginning, to one that is empty, with its holes if it has any.
pub(super) fn copy_any(from: &mut File, to: &mut File) -> io::Result<()> {
    match is_sparse(&fstat(&*from)?) {
        true => copy(from, to),
        false => io::copy(from, to).map(drop),
    }
}

/// Copies a file, from its beginning, to one that is empty: only what is no hole.
pub(super) fn copy(from: &mut File, to: &mut File) -> io::Result<()> {
    let mut at = 0;
    loop {
        let data = match seek(&*from, SeekFrom::Data(at)) {
            Ok(data) => data,
            // only a hole is left, or nothing
            Err(Errno::NXIO) => break,
            // a filesystem that does not tell
            Err(Errno::INVAL | Errno::OPNOTSUPP) if at == 0 => {
                seek(&*from, SeekFrom::Start(0))?;
                return io::copy(from, to).map(drop);
            }
            Err(error) => return Err(error.into()),
        };
        let hole = seek(&*from, SeekFrom::Hole(data))?;
        seek(&*from, SeekFrom::Start(data))?;
        to.seek(io::SeekFrom::Start(data))?;
        let copied = io::copy(&mut Read::by_ref(from).take(hole - data), to)?;
        at = data + copied;
        if copied < hole - data {
            // it was cut meanwhile
            break;
        }
    }
    to.flush()?;
    to.set_len(from.metadata()?.len())
}

/// Writes pieces of a file to the end of another that is open for appending: where a piece is nothing but zeros, a hole
/// is left. `end` makes the last one.
#[derive(Debug)]
pub(super) struct Appending<'a> {
    to: &'a mut File,
    len: u64,
    written: u64,
}

impl<'a> Appending<'a> {
    /// To a file that is empty.
    pub(super) fn to(to: &'a mut File) -> Appending<'a> {
        Appending { to, len: 0, written: 0 }
    }

    /// Takes the next piece. Only one of `HOLE_BYTES_MIN` or more is left out.
    pub(super) fn put(&mut self, piece: &[u8]) -> io::Result<()> {
        if piece.len() < HOLE_BYTES_MIN || piece.iter().any(|byte| *byte != 0) {
            self.end()?;
            self.to.write_all(piece)?;
            self.written += piece.len() as u64;
        }
        self.len += piece.len() as u64;
        Ok(())
    }

    /// Makes the file as long as all pieces are.
    pub(super) fn end(&mut self) -> io::Result<()> {
        if self.written < self.len {
            self.to.set_len(self.len)?;
            self.written = self.len;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{FileExt, MetadataExt};

    use super::*;

    const LEN: u64 = 64 * 1024 * 1024;

    fn sparse(dir: &std::path::Path) -> File {
        let path = dir.join("sparse");
        let file = File::create_new(&path).unwrap();
        file.set_len(LEN).unwrap();
        for at in [0, LEN / 2 + 7, LEN - 3] {
            file.write_all_at(b"abc", at).unwrap();
        }
        File::open(path).unwrap()
    }

    fn bytes(file: &File) -> Vec<u8> {
        let mut bytes = vec![0; usize::try_from(file.metadata().unwrap().len()).unwrap()];
        file.read_exact_at(&mut bytes, 0).unwrap();
        bytes
    }

    #[test]
    fn a_copy_has_the_holes_and_the_bytes() {
        let tmp = tempfile::tempdir().unwrap();
        let mut from = sparse(tmp.path());
        let room = from.metadata().unwrap().blocks();
        if !is_sparse(&fstat(&from).unwrap()) {
            eprintln!("not tested: this filesystem has no holes");
            return;
        }
        let to =
            |name: &str| File::options().read(true).append(true).create_new(true).open(tmp.path().join(name));
        let mut copied =
            File::options().read(true).write(true).create_new(true).open(tmp.path().join("1")).unwrap();
        copy(&mut from, &mut copied).unwrap();
        let mut appended = to("2").unwrap();
        let (all, mut appending) = (bytes(&from), Appending::to(&mut appended));
        all.chunks(HOLE_BYTES_MIN).try_for_each(|piece| appending.put(piece)).unwrap();
        appending.end().unwrap();
        for (file, most) in [(&copied, room), (&appended, room + 3 * (HOLE_BYTES_MIN as u64 / 512))] {
            assert!(bytes(file) == all, "the same bytes");
            assert!(
                file.metadata().unwrap().blocks() <= most,
                "{} blocks",
                file.metadata().unwrap().blocks()
            );
        }
    }

    #[test]
    fn one_that_ends_in_a_hole_and_one_that_is_nothing_else_are_as_long() {
        let tmp = tempfile::tempdir().unwrap();
        for (name, written) in [("end", true), ("all", false)] {
            let path = tmp.path().join(name);
            let file = File::create_new(&path).unwrap();
            if written {
                file.write_all_at(b"abc", 5).unwrap();
            }
            file.set_len(LEN).unwrap();
            let mut to = File::options()
                .read(true)
                .write(true)
                .create_new(true)
                .open(path.with_extension("to"))
                .unwrap();
            copy(&mut File::open(&path).unwrap(), &mut to).unwrap();
            assert!(bytes(&to) == bytes(&File::open(&path).unwrap()), "{name}");
        }
    }
}
