//! The last lines of a job's output, and what follows until it ends: read from its spool, where every byte is.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;

use crate::process::record::{END_FILE, LEFT_FILE, LEFT_OUTPUT_FILE};
use crate::process::visit::kept_alive;

use super::{Refused, failed, written};

/// How often a followed file is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// Bytes that are read at once.
const PIECE: usize = 64 * 1024;

/// Prints the last lines of this spool, and with `follow` what comes until its job ends; the exit code.
pub fn print(spool: &Path, lines: usize, follow: bool, out: &mut dyn Write) -> Result<u8, Refused> {
    let unreadable = |error: io::Error| failed(format!("{} cannot be read: {error}", spool.display()));
    let mut file = loop {
        // asked first: what it wrote before its end is read then
        let over = !follow || over(spool);
        match File::open(spool) {
            Ok(file) => break file,
            Err(error) if error.kind() == io::ErrorKind::NotFound && over => return Ok(0),
            Err(error) if error.kind() == io::ErrorKind::NotFound => std::thread::sleep(LOOK),
            Err(error) => return Err(unreadable(error)),
        }
    };
    let from = last_lines(&mut file, lines).map_err(unreadable)?;
    file.seek(SeekFrom::Start(from)).map_err(unreadable)?;
    let mut buffer = vec![0; PIECE];
    loop {
        let over = !follow || over(spool);
        loop {
            let count = file.read(&mut buffer).map_err(unreadable)?;
            if count == 0 {
                break;
            }
            if let Err(error) = out.write_all(&buffer[..count]).and_then(|()| out.flush()) {
                return written(Err(error)).map(|()| 0);
            }
        }
        if over {
            return Ok(0);
        }
        std::thread::sleep(LOOK);
    }
}

/// Whether nothing more comes: the record of its end is there, or its keeper is gone.
fn over(spool: &Path) -> bool {
    let dir = spool.parent().unwrap_or(Path::new("/"));
    let left = spool.file_name().is_some_and(|name| name == LEFT_OUTPUT_FILE);
    let record = if left { LEFT_FILE } else { END_FILE };
    !kept_alive(dir) || dir.join(record).exists()
}

/// Where the last lines of a file begin.
fn last_lines(file: &mut File, lines: usize) -> io::Result<u64> {
    let size = file.metadata()?.len();
    if lines == 0 {
        return Ok(size);
    }
    let (mut from, mut found) = (size, 0);
    let mut buffer = vec![0; PIECE];
    while from > 0 {
        let begin = from.saturating_sub(PIECE as u64);
        let piece = &mut buffer[..(from - begin) as usize];
        file.seek(SeekFrom::Start(begin))?;
        file.read_exact(piece)?;
        for (at, _) in piece.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n') {
            let place = begin + at as u64 + 1;
            if place < size {
                found += 1;
            }
            if found == lines && place < size {
                return Ok(place);
            }
        }
        from = begin;
    }
    Ok(0)
}
