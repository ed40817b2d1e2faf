//! A job's whole output, piece by piece, and searches in it: answered from its spool, on a blocking thread.
//!
//! A spool may be a gigabyte: nothing here reads more of it than was asked for, and a search reads it in pieces.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::api::event::Reply;

/// Most bytes of one reply.
const PIECE_MAX: u64 = 1 << 20;
/// Bytes that a search reads at once.
const SEARCH_PIECE: usize = 1 << 20;
/// Longest text that is looked for.
const TEXT_MAX: usize = 4096;

/// Bytes of a spool from `offset` on, at most `limit`; from the end when the offset is past it.
pub fn piece(spool: &Path, offset: u64, limit: u64) -> Reply {
    let read = || -> io::Result<Reply> {
        let file = match File::open(spool) {
            Ok(file) => file,
            // nothing was printed yet
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Reply::JobLog { bytes: Vec::new(), offset: 0, size: 0 });
            }
            Err(error) => return Err(error),
        };
        let size = file.metadata()?.len();
        let limit = limit.min(PIECE_MAX);
        let offset = if offset >= size { size.saturating_sub(limit) } else { offset };
        let mut bytes = vec![0; limit.min(size - offset) as usize];
        let read = read_at(&file, &mut bytes, offset)?;
        bytes.truncate(read);
        Ok(Reply::JobLog { bytes, offset, size })
    };
    read().unwrap_or_else(|error| failed(spool, &error))
}

/// The first place at or after `from` (with `back`: the last one before it) that holds the text. A text without a
/// capital is found in letters of either case (of ASCII).
pub fn search(spool: &Path, text: &str, from: u64, back: bool) -> Reply {
    if text.is_empty() || text.len() > TEXT_MAX {
        return Reply::JobFound(None);
    }
    let fold = !text.chars().any(char::is_uppercase);
    let needle = if fold { text.to_ascii_lowercase() } else { text.to_owned() };
    let find = || -> io::Result<Option<u64>> {
        let file = File::open(spool)?;
        let size = file.metadata()?.len();
        let looked = Looked { file: &file, size, needle: needle.as_bytes(), fold };
        if back { looked.back(from.min(size)) } else { looked.on(from) }
    };
    match find() {
        Ok(found) => Reply::JobFound(found),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Reply::JobFound(None),
        Err(error) => failed(spool, &error),
    }
}

fn failed(spool: &Path, error: &io::Error) -> Reply {
    Reply::Failed(format!("The output in {} cannot be read: {error}", spool.display()))
}

fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut done = 0;
    while done < bytes.len() {
        match file.read_at(&mut bytes[done..], offset + done as u64) {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

struct Looked<'a> {
    file: &'a File,
    size: u64,
    needle: &'a [u8],
    fold: bool,
}

impl Looked<'_> {
    /// Pieces overlap by the needle, so that none is cut in two.
    fn load(&self, from: u64, to: u64) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; (to - from) as usize];
        let read = read_at(self.file, &mut bytes, from)?;
        bytes.truncate(read);
        if self.fold {
            bytes.make_ascii_lowercase();
        }
        Ok(bytes)
    }

    fn on(&self, mut from: u64) -> io::Result<Option<u64>> {
        let overlap = self.needle.len() as u64 - 1;
        while from < self.size {
            let to = (from + SEARCH_PIECE as u64 + overlap).min(self.size);
            let bytes = self.load(from, to)?;
            if let Some(at) = memchr::memmem::find(&bytes, self.needle) {
                return Ok(Some(from + at as u64));
            }
            from += SEARCH_PIECE as u64;
        }
        Ok(None)
    }

    fn back(&self, before: u64) -> io::Result<Option<u64>> {
        let overlap = self.needle.len() as u64 - 1;
        let mut to = before;
        while to > 0 {
            let from = to.saturating_sub(SEARCH_PIECE as u64);
            // a match begins before `to`, and may reach past it
            let bytes = self.load(from, (to + overlap).min(self.size))?;
            if let Some(at) = memchr::memmem::rfind(&bytes, self.needle) {
                return Ok(Some(from + at as u64));
            }
            to = from;
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spool(bytes: &[u8]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        file
    }

    fn places(hay: &[u8], needle: &[u8]) -> Vec<u64> {
        memchr::memmem::find_iter(hay, needle).map(|at| at as u64).collect()
    }

    #[test]
    fn a_search_finds_what_stands_across_two_pieces() {
        let mut bytes = vec![b'.'; 3 * SEARCH_PIECE];
        for at in [SEARCH_PIECE - 3, SEARCH_PIECE, 2 * SEARCH_PIECE - 1] {
            bytes[at..at + 2].copy_from_slice(b"AB");
        }
        let file = spool(&bytes);
        let expected = places(&bytes, b"AB");
        let mut found = Vec::new();
        let mut from = 0;
        while let Reply::JobFound(Some(at)) = search(file.path(), "AB", from, false) {
            found.push(at);
            from = at + 1;
        }
        assert_eq!(found, expected);
        let mut from = bytes.len() as u64;
        while let Reply::JobFound(Some(at)) = search(file.path(), "ab", from, true) {
            assert_eq!(Some(at), found.pop());
            from = at;
        }
        assert!(found.is_empty());
        assert_eq!(search(file.path(), "aB", 0, false), Reply::JobFound(None));
    }

    #[test]
    fn a_gigabyte_opens_at_its_end_at_once() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(1 << 30).unwrap();
        file.as_file().write_all_at(b"the end\n", (1 << 30) - 8).unwrap();
        let Reply::JobLog { bytes, offset, size } = piece(file.path(), u64::MAX, 64) else { panic!() };
        assert_eq!((offset, size), ((1 << 30) - 64, 1 << 30));
        assert!(bytes.ends_with(b"the end\n"));
        let Reply::JobLog { bytes, offset, .. } = piece(file.path(), 5, 10) else { panic!() };
        assert_eq!((bytes.len(), offset), (10, 5));
    }

    #[test]
    fn a_job_that_printed_nothing_has_an_empty_log() {
        let dir = tempfile::tempdir().unwrap();
        let none = dir.path().join("output");
        assert_eq!(piece(&none, 0, 10), Reply::JobLog { bytes: vec![], offset: 0, size: 0 });
        assert_eq!(search(&none, "x", 0, false), Reply::JobFound(None));
    }
}
