//! Writing to standard output: a reader that went away (`| head`) is no error.

use std::io::{ErrorKind, Write};

/// Writes all of it; false when it could not be written (a full disk), which is said on stderr.
pub fn print(bytes: &[u8]) -> bool {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Ok(()) => true,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => true,
        Err(error) => {
            eprintln!("windlass: standard output cannot be written: {error}");
            false
        }
    }
}
