//! The log: what went wrong on the side and nobody had to be told at once. Private, bounded, made for
//! the first line only. Nothing but our own words goes there: a library could name a key.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

use tracing::Level;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::prelude::*;

use crate::store::{Dirs, private};

/// Past this many bytes the log begins anew; the one before stays as `log.old`.
const LOG_MAX: u64 = 1 << 20;

/// Begins to log. A second call does nothing.
pub fn begin(dirs: &Dirs) {
    let layer = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(Log(dirs.log()));
    let ours = Targets::new().with_target(env!("CARGO_CRATE_NAME"), Level::WARN);
    // Only tests begin twice.
    let _ = tracing_subscriber::registry().with(layer.with_filter(ours)).try_init();
}

/// The log's place.
struct Log(PathBuf);

impl Log {
    fn open(&self) -> Option<File> {
        let dir = self.0.parent()?;
        private::dir_all(dir).ok()?;
        if std::fs::metadata(&self.0).is_ok_and(|meta| meta.len() > LOG_MAX) {
            let _ = std::fs::rename(&self.0, self.0.with_extension("old"));
        }
        private::append(&self.0).ok()
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Line;
    fn make_writer(&'a self) -> Line {
        Line(self.open())
    }
}

/// Where a line goes. A log that cannot be written is no reason to disturb anyone.
struct Line(Option<File>);

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Some(file) => file.write(bytes),
            None => Ok(bytes.len()),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_log_is_private_begins_with_its_first_line_and_is_bounded() {
        let place = tempfile::tempdir().unwrap();
        let log = Log(place.path().join("state/log"));
        assert!(!log.0.exists());
        log.make_writer().write_all(&vec![b'x'; LOG_MAX as usize + 1]).unwrap();
        assert_eq!(std::fs::metadata(&log.0).unwrap().permissions().mode() & 0o777, 0o600);
        log.make_writer().write_all(b"anew\n").unwrap();
        assert_eq!(std::fs::read(&log.0).unwrap(), b"anew\n");
        assert!(log.0.with_extension("old").exists());
    }
}
