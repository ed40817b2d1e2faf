//! Writing to standard output and standard error. A reader that went away (`| head`) is no error, and a
//! terminal that is gone is told nothing: neither ends the program.
//!
//! What goes to a terminal has its controls made visible: titles, paths and errors come from others, too.

use std::fmt::Display;
use std::io::{ErrorKind, IsTerminal, Write};

use crate::base::visible::{Form, Visible};

/// Writes all of it; false when it could not be written (a full disk), which is said on stderr.
pub fn print(bytes: &[u8]) -> bool {
    let mut out = output(Form::Text);
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Ok(()) => true,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => true,
        Err(error) => {
            say(format_args!("windlass: standard output cannot be written: {error}"));
            false
        }
    }
}

/// Says a line on standard error. Where that is gone nobody can be told, which is no reason to end.
pub fn say(line: impl Display) {
    let _ = errors().write_all(format!("{line}\n").as_bytes());
}

/// Standard output, by whoever writes to it for long.
pub fn output(form: Form) -> Box<dyn Write> {
    let out = std::io::stdout();
    if out.is_terminal() { Box::new(Visible::new(out.lock(), form)) } else { Box::new(out.lock()) }
}

/// Standard error, likewise.
pub fn errors() -> Box<dyn Write> {
    let errors = std::io::stderr();
    if errors.is_terminal() {
        Box::new(Visible::new(errors.lock(), Form::Text))
    } else {
        Box::new(errors.lock())
    }
}
