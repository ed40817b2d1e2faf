//! A problem of something written: which file, line and key, and what was expected.

use std::fmt;
use std::path::PathBuf;

/// One problem. The rest of the file is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file; none for the environment or a flag.
    pub file: Option<PathBuf>,
    /// The line, from 1; 0 where there is none.
    pub line: usize,
    /// The key, as a dotted path; empty where there is none.
    pub key: String,
    /// What is wrong and what was expected.
    pub text: String,
}

impl Problem {
    /// A problem of a whole file.
    pub fn of_file(file: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        Self { file: Some(file.into()), line: 0, key: String::new(), text: text.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}", file.display())?;
            if self.line > 0 {
                write!(f, ":{}", self.line)?;
            }
            f.write_str(": ")?;
        }
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.text)
    }
}
