//! Where a tool writes its result text: bounded by the call's limits, with the artifact begun when
//! the bound is passed. Keeps law O for tools that run inside the program.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::api::entry::CallStatus;
use crate::base::chain;
use crate::law::output::{Bounded, Kept, Truncation, render};
use crate::store::private;
use crate::tool::ToolEnd;
use crate::tool::blocking::BlockingCall;

/// Name of the artifact in the call's directory.
pub const ARTIFACT: &str = "output";

/// A result text being written.
pub struct Sink<'a> {
    call: &'a BlockingCall,
    bounded: Bounded,
    /// What came while everything still fits.
    pending: Vec<u8>,
    artifact: Option<(PathBuf, File)>,
    trouble: Option<String>,
}

impl<'a> Sink<'a> {
    /// Nothing is written yet.
    pub fn new(call: &'a BlockingCall) -> Self {
        Self {
            call,
            bounded: Bounded::new(call.truncation),
            pending: Vec::new(),
            artifact: None,
            trouble: None,
        }
    }

    /// Writes on. False: the artifact's own limit is reached or it cannot be written; the work should
    /// stop, the end will say why.
    pub fn push(&mut self, bytes: &[u8]) -> bool {
        if self.trouble.is_some() {
            return false;
        }
        self.bounded.push(bytes);
        let Truncation::On(limits) = self.call.truncation else { return true };
        let written = match &mut self.artifact {
            Some((_, file)) => file.write_all(bytes).map_err(|error| error.to_string()),
            None => {
                self.pending.extend_from_slice(bytes);
                if self.bounded.bytes() <= limits.bytes && self.bounded.lines() <= limits.lines {
                    return true;
                }
                let pending = std::mem::take(&mut self.pending);
                create(&self.call.call_dir).and_then(|(path, mut file)| {
                    file.write_all(&pending).map_err(|error| error.to_string())?;
                    self.artifact = Some((path, file));
                    Ok(())
                })
            }
        };
        if let Err(error) = written {
            self.trouble = Some(format!("the whole output could not be kept: {error}"));
        } else if self.bounded.bytes() >= self.call.spool_max {
            self.trouble =
                Some(format!("stopped at the limit of {} bytes (output.spool_max)", self.call.spool_max));
        }
        self.trouble.is_none()
    }

    /// Tells the board how far the result is; `newest` is its newest part.
    pub fn tell(&self, newest: &str) {
        self.call.report.output(newest, self.bounded.bytes(), self.bounded.lines());
    }

    /// The end of the call: the bounded text, then the tool's words about it.
    pub fn finish(self, status: CallStatus, notes: impl FnOnce(&Kept) -> Vec<String>) -> ToolEnd {
        let artifact = self.artifact.map(|(path, _)| path);
        let kept = self.bounded.finish();
        let notes = notes(&kept);
        let mut output = render(&kept, artifact.as_deref());
        let trouble = self.trouble.map(|trouble| format!("({trouble})"));
        for note in notes.iter().chain(&trouble) {
            if !output.is_empty() && !output.ends_with('\n') {
                output.push('\n');
            }
            output.push_str(note);
        }
        if let Some(trouble) = &trouble {
            self.call.report.warn(trouble.clone());
        }
        ToolEnd { kept: kept.kept, dropped: kept.dropped, artifact, ..ToolEnd::text(status, output) }
    }
}

/// Makes the call's directory and the artifact in it, each private from its first moment.
fn create(dir: &Path) -> Result<(PathBuf, File), String> {
    private::dir_all(dir).map_err(|error| chain(&error))?;
    let path = dir.join(ARTIFACT);
    let file = private::create(&path).map_err(|error| chain(&error))?;
    Ok((path, file))
}
