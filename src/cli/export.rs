//! `windlass export`: a session as Markdown, or as the records of its journal.

use std::io::ErrorKind;

use crate::base::chain;
use crate::base::visible::Form;
use crate::cli::out::{output, print, say};
use crate::store::{self, Dirs, Error};

/// Prints it; the exit code: 2 when no session has this id.
pub fn run(dirs: &Dirs, id: &str, as_jsonl: bool) -> u8 {
    let id = match store::find(dirs, id) {
        Ok(id) => id,
        Err(error) => {
            say(format_args!("windlass: {}", chain(&error)));
            return 2;
        }
    };
    if as_jsonl {
        return match store::jsonl(dirs, &id, &mut output(Form::Json)) {
            Ok(()) => 0,
            // a reader that went away (`| head`) is no error
            Err(Error::Io { source, .. }) if source.kind() == ErrorKind::BrokenPipe => 0,
            Err(error) => failed(&error),
        };
    }
    match store::session::view(dirs, &id) {
        Ok(opened) => {
            for report in &opened.reports {
                say(format_args!("windlass: {report}"));
            }
            u8::from(!print(store::markdown(&opened).as_bytes()))
        }
        Err(error) => failed(&error),
    }
}

fn failed(error: &Error) -> u8 {
    say(format_args!("windlass: {}", chain(error)));
    1
}
