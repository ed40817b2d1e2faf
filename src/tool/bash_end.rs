//! The words of a command's result: how it ended, what goes on as a job, where it ran. Pure.

use std::path::Path;

use crate::api::entry::{CallStatus, Details};
use crate::base::{JobId, plain};
use crate::law::job::{By, End, JobLimits, signal_name};
use crate::law::output::{Kept, render};
use crate::process::record::{Named, OUTPUT_FILE, Record};
use crate::tool::site::runs_in;
use crate::tool::{CallContext, ToolEnd};

/// Processes that a result names; more are counted.
const NAMED_MAX: usize = 10;

/// Why a call returns before its command has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It was asked for.
    Background,
    /// The budget of so many milliseconds has passed.
    Budget(u64),
    /// The person sent it to the background after so many milliseconds.
    ByHand(u64),
    /// After so many milliseconds it seemed to wait for input from its terminal.
    Waits(u64),
}

/// The result of a command that goes on as a job, with its output so far.
pub fn detached(
    context: &CallContext,
    command: &str,
    job: JobId,
    kept: &Kept,
    spool: &Path,
    why: Why,
) -> ToolEnd {
    let mut output = text(kept, Some(spool));
    let so_far = if output.is_empty() { "; it has printed nothing yet" } else { "" };
    let what = match why {
        Why::Background => format!("[started in the background as job {job}"),
        Why::Budget(ms) => format!("[detached after {ms} ms: it goes on as job {job}{so_far}"),
        Why::ByHand(ms) => {
            format!("[detached by the person after {ms} ms: it goes on as job {job}{so_far}")
        }
        Why::Waits(ms) => {
            format!(
                "[after {ms} ms it seems to wait for input: it goes on as job {job}{so_far}; `jobs` with `input` types into it"
            )
        }
    };
    let path = spool.display();
    line(
        &mut output,
        &format!(
            "{what}; all of its output goes to {path}. You are told when it ends; `jobs` reads it, waits for it, \
             kills it]"
        ),
    );
    if changes_directory(command) {
        line(&mut output, &stays(context));
    }
    let details = Details::Command {
        end: "detached".to_owned(),
        exit_code: None,
        survivors: Vec::new(),
        job: Some(job),
        left: 0,
        told: None,
    };
    let artifact = Some(spool.to_owned());
    ToolEnd { artifact, details, ..ended(CallStatus::Detached, output, kept) }
}

/// What the words of an end need to know.
pub struct Words<'a> {
    /// The call.
    pub context: &'a CallContext,
    /// The command line.
    pub command: &'a str,
    /// Its limits.
    pub limits: JobLimits,
    /// The job of the processes that it left behind.
    pub left: Option<JobId>,
}

impl Words<'_> {
    /// The result of a command that has ended.
    pub fn end(&self, record: &Record, kept: &Kept) -> ToolEnd {
        let status = match &record.end {
            End::Killed { by: By::User } => CallStatus::Cancelled,
            End::Exited { code: 0 } => CallStatus::Ok,
            End::Exited { .. } | End::Signalled { .. } | End::Killed { .. } | End::Ended | End::Lost => {
                CallStatus::Error
            }
        };
        let artifact = (kept.dropped > 0).then(|| self.context.call_dir.join(OUTPUT_FILE));
        let mut output = text(kept, artifact.as_deref());
        for remark in self.remarks(record) {
            line(&mut output, &remark);
        }
        let details = Details::Command {
            end: record.end.words(),
            exit_code: record.exit_code,
            survivors: record.survivors.iter().map(Named::words).collect(),
            job: self.left,
            left: self.left.map_or(0, |_| u32::try_from(record.left.len()).unwrap_or(u32::MAX)),
            told: None,
        };
        ToolEnd { artifact, details, ..ended(status, output, kept) }
    }

    /// Lines below the output: how it ended, what is still there, where it ran.
    fn remarks(&self, record: &Record) -> Vec<String> {
        let mut lines: Vec<String> = self.how(record).into_iter().collect();
        lines.extend(record.trouble.iter().map(|trouble| format!("[{trouble}]")));
        if let Some((named, noun)) = processes(&record.survivors) {
            lines.push(format!(
                "[{} {noun} could not be ended and may still run: {named}]",
                record.survivors.len()
            ));
        }
        if let Some((named, noun)) = processes(&record.left) {
            let goes = if record.left.len() == 1 { "it goes" } else { "they go" };
            let job = self.left.map_or_else(String::new, |job| format!("; {goes} on as job {job}"));
            lines.push(format!("[left {} {noun} behind: {named}{job}]", record.left.len()));
        }
        if changes_directory(self.command) {
            lines.push(stays(self.context));
        }
        lines
    }

    fn how(&self, record: &Record) -> Option<String> {
        Some(match &record.end {
            End::Exited { code: 0 } if record.bytes > 0 => return None,
            End::Exited { code: 0 } => "[no output, exit 0]".to_owned(),
            End::Exited { code } => format!("[exit {code}]"),
            End::Signalled { signal } => format!("[ended by signal {}]", signal_name(*signal)),
            End::Killed { by: By::TimeLimit } => {
                let limit = self.limits.time_limit.unwrap_or_default().0;
                format!("[killed after {limit} ms: the time limit of this call (timeout_ms)]")
            }
            End::Killed { by: By::OutputLimit } => match &record.trouble {
                Some(_) => "[killed: its output could not be kept]".to_owned(),
                None => format!(
                    "[killed: it printed more than {} bytes, the limit of a command's output (output.spool_max); \
                     {} of {} bytes are in the file]",
                    self.limits.spool_max, record.spooled, record.bytes
                ),
            },
            End::Killed { by: By::User } => "[stopped by the user]".to_owned(),
            End::Killed { by: By::ProcessLimit } => {
                let most = self.limits.processes_max.unwrap_or_default();
                format!("[killed: it had more than {most} processes at once, the limit (jobs.processes_max)]")
            }
            End::Killed { by: by @ (By::Model | By::Rewind | By::ProgramGone) } => {
                format!("[{}]", by.words())
            }
            End::Ended => return None,
            End::Lost => {
                "[lost: the process that watched the command was killed, so how it ended is not known; \
                its processes were ended]"
                    .to_owned()
            }
        })
    }
}

/// What is shown of an output: plain text, with the gap where something was dropped.
pub fn text(kept: &Kept, artifact: Option<&Path>) -> String {
    let shown = Kept { head: plain(&kept.head), tail: plain(&kept.tail), ..kept.clone() };
    render(&shown, artifact)
}

fn ended(status: CallStatus, output: String, kept: &Kept) -> ToolEnd {
    ToolEnd { kept: kept.kept, dropped: kept.dropped, ..ToolEnd::text(status, output) }
}

/// Puts a line below a text.
pub fn line(text: &mut String, line: &str) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(line);
}

/// Where a command ran that changed the directory.
fn stays(context: &CallContext) -> String {
    let cwd = runs_in(&context.cwd, context.held.as_ref()).display();
    format!("[ran in {cwd}; the next command starts there again: a cd does not persist]")
}

/// Names processes, and the noun for so many; none where there are none.
fn processes(named: &[Named]) -> Option<(String, &'static str)> {
    let some: Vec<String> = named.iter().take(NAMED_MAX).map(Named::words).collect();
    let more = named.len().saturating_sub(NAMED_MAX);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let noun = if named.len() == 1 { "process" } else { "processes" };
    (!named.is_empty()).then(|| (format!("{}{more}", some.join("; ")), noun))
}

/// Whether a word of the command changes the directory.
fn changes_directory(command: &str) -> bool {
    command
        .split(|c: char| c.is_whitespace() || ";&|(){}`".contains(c))
        .any(|word| matches!(word, "cd" | "pushd" | "popd"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_directory_is_seen() {
        for command in ["cd x", "(cd x && ls)", "a;cd ..", "pushd y"] {
            assert!(changes_directory(command), "{command}");
        }
        for command in ["ls cdrom", "cdparanoia", "echo abcd"] {
            assert!(!changes_directory(command), "{command}");
        }
    }

    #[test]
    fn many_processes_are_named_and_counted() {
        let named = |pid| Named {
            id: crate::process::record::ProcessId { pid, start: 1 },
            command: "sleep 9".into(),
        };
        assert_eq!(processes(&[]), None);
        assert_eq!(processes(&[named(4)]).unwrap(), ("4 sleep 9".to_owned(), "process"));
        let many: Vec<Named> = (0..12).map(named).collect();
        assert!(processes(&many).unwrap().0.ends_with("; and 2 more"));
    }
}
