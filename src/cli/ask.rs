//! A question to the person at the terminal.

use std::io::{BufRead, IsTerminal};

use crate::base::visible::{Form, Visible};

/// Whether there is a person to ask: what is written is seen, and what is typed is read.
pub fn can() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks; only a yes is a yes.
pub fn yes(question: &str) -> bool {
    use std::io::Write;
    let mut errors = Visible::new(std::io::stderr().lock(), Form::Text);
    if errors.write_all(question.as_bytes()).and_then(|()| errors.flush()).is_err() {
        return false;
    }
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    read.is_ok() && matches!(line.trim(), "y" | "Y" | "yes" | "Yes")
}
