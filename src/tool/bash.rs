//! `bash`: runs a command in the session's directory, under a keeper.
//!
//! Not here: confinement (`sandbox`), the kill of a tree and the record of the end (`process`), the bound
//! of the output (`law::output`). Each command starts a shell of its own: a `cd` does not persist.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tokio::sync::Mutex;

use crate::api::access::{Class, Preview, Wish};
use crate::api::entry::{CallStatus, Details};
use crate::api::message::ToolSpec;
use crate::base::{Millis, chain, plain};
use crate::law::job::{By, End, JobLimits, signal_name};
use crate::law::output::{Kept, render};
use crate::process::record::{Named, OUTPUT_FILE, Record, SCRIPT_FILE};
use crate::process::{News, Running};
use crate::sandbox::{Profile, Wanted, spawn};
use crate::tool::{CallContext, Later, Tool, ToolEnd};

/// A longer command goes through a file: the system takes no argument of 128 KiB.
const ARGUMENT_MAX: usize = 100 * 1024;
/// Processes that a result names; more are counted.
const NAMED_MAX: usize = 10;

/// The tool. It holds the commands that left processes behind: these end when it is dropped.
#[derive(Default)]
pub struct Bash {
    profile: Profile,
    left: Mutex<Vec<Running>>,
}

impl Bash {
    /// Commands run under this profile.
    pub fn new(profile: Profile) -> Self {
        Self { profile, left: Mutex::default() }
    }

    async fn carry_out(&self, context: &CallContext, input: &Value) -> Result<ToolEnd, String> {
        let input = Input::read(input)?;
        let limits = JobLimits::new(context.spool_max, input.timeout);
        let wanted = Wanted {
            argv: argv(context, &input.command)?,
            environment: context.environment.clone(),
            cwd: context.cwd.clone(),
            dir: context.call_dir.clone(),
            limits,
            truncation: context.truncation,
            kept: false,
        };
        let mut running = spawn(self.profile, wanted).await.map_err(|error| chain(&error))?;
        let mut asked = false;
        let (record, kept) = loop {
            let news = tokio::select! {
                news = running.next() => news,
                () = context.cancel.cancelled(), if !asked => {
                    asked = true;
                    running.kill(By::User).await;
                    continue;
                }
            };
            match news {
                Some(News::Output { bytes, lines, tail }) => context.report.output(&tail, bytes, lines),
                Some(News::Ended { record, kept }) => break (record, kept),
                // the end is always told before the keeper is gone; what is lost is told as lost
                Some(_) => {}
                None => return Err("the command's keeper is gone".to_owned()),
            }
        };
        let mut left = self.left.lock().await;
        left.retain_mut(|earlier| !earlier.over());
        if !record.left.is_empty() {
            left.push(running);
        }
        drop(left);
        Ok(end(context, &input, &record, &kept, limits))
    }
}

impl Tool for Bash {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "bash",
            description: "Runs a command with bash in the session's directory and returns what it printed \
                (stdout and stderr in order) and how it ended. Every call starts a new shell in the same \
                directory: a `cd` or a variable does not persist. There is no terminal and no stdin: use \
                flags that keep commands from asking. Long output is shown by its beginning and end; the \
                whole of it is in the file that the result names. Processes that a command leaves running \
                in the background end with the session.",
            schema: json!({
                "type": "object",
                "properties": {
                    "command": {"type": "string", "description": "The command line, as typed into bash."},
                    "timeout_ms": {
                        "type": "integer",
                        "minimum": 1,
                        "description": "Ends the command, with everything it started, after this many milliseconds."
                    }
                },
                "required": ["command"],
                "additionalProperties": false
            }),
        }
    }

    fn title(&self, input: &Value) -> String {
        let command = input.get("command").and_then(Value::as_str).unwrap_or_default();
        let mut lines = command.trim().lines();
        let first = lines.next().unwrap_or_default().to_owned();
        if lines.next().is_some() { first + " …" } else { first }
    }

    fn parallel(&self) -> bool {
        false
    }

    fn wish(&self, cwd: &Path, input: &Value) -> Result<Wish, String> {
        let command = Input::read(input)?.command;
        Ok(Wish {
            tool: "bash".to_owned(),
            class: Class::Execute,
            paths: Vec::new(),
            command: Some(command.clone()),
            preview: Preview::Command { command, cwd: cwd.to_owned() },
        })
    }

    fn run<'a>(&'a self, context: &'a CallContext, input: &'a Value) -> Later<'a, ToolEnd> {
        Box::pin(async move {
            if context.cancel.is_cancelled() {
                return ToolEnd::text(CallStatus::Cancelled, "Cancelled before the command started.");
            }
            self.carry_out(context, input).await.unwrap_or_else(|why| ToolEnd::text(CallStatus::Error, why))
        })
    }
}

/// What the model asked for.
struct Input {
    command: String,
    timeout: Option<Millis>,
}

impl Input {
    fn read(input: &Value) -> Result<Self, String> {
        let fields = input.as_object().ok_or("bash takes an object: {\"command\": \"…\"}")?;
        if let Some(other) = fields.keys().find(|key| !matches!(key.as_str(), "command" | "timeout_ms")) {
            return Err(format!("bash does not know `{other}`: it takes `command` and `timeout_ms`"));
        }
        let command = match fields.get("command") {
            Some(Value::String(command)) => command.clone(),
            Some(_) => return Err("`command` of bash must be a string".to_owned()),
            None => return Err("bash needs a `command`".to_owned()),
        };
        if command.trim().is_empty() {
            return Err("the `command` of bash is empty".to_owned());
        }
        if command.contains('\0') {
            return Err("the `command` of bash holds a NUL character: no command line can".to_owned());
        }
        let timeout = match fields.get("timeout_ms") {
            None | Some(Value::Null) => None,
            Some(value) => match value.as_u64() {
                Some(limit) if limit > 0 => Some(Millis(limit)),
                _ => return Err(format!("`timeout_ms` of bash must be a whole number from 1, not {value}")),
            },
        };
        Ok(Self { command, timeout })
    }
}

/// The shell's argv. A command too long for an argument goes through a file of the call's directory.
fn argv(context: &CallContext, command: &str) -> Result<Vec<OsString>, String> {
    let shell = shell(&context.environment);
    if command.len() <= ARGUMENT_MAX {
        return Ok(vec![shell, "-c".into(), command.into()]);
    }
    let path = context.call_dir.join(SCRIPT_FILE);
    write_script(&context.call_dir, &path, command)
        .map_err(|error| format!("cannot write the command to {}: {error}", path.display()))?;
    Ok(vec![shell, path.into()])
}

fn write_script(dir: &Path, path: &Path, command: &str) -> std::io::Result<()> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    crate::process::record::make_dir(dir)?;
    std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?
        .write_all(command.as_bytes())
}

/// The first `bash` of the command's own `PATH`; `sh` where there is none.
fn shell(environment: &[(OsString, OsString)]) -> OsString {
    let path = environment.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str());
    let find = |name: &str| -> Option<PathBuf> {
        std::env::split_paths(path.unwrap_or(OsStr::new("/usr/local/bin:/usr/bin:/bin")))
            .filter(|dir| dir.is_absolute())
            .map(|dir| dir.join(name))
            .find(|file| {
                file.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
            })
    };
    find("bash").or_else(|| find("sh")).map_or_else(|| "/bin/sh".into(), Into::into)
}

fn end(context: &CallContext, input: &Input, record: &Record, kept: &Kept, limits: JobLimits) -> ToolEnd {
    let status = match &record.end {
        End::Killed { by: By::User } => CallStatus::Cancelled,
        End::Exited { code: 0 } => CallStatus::Ok,
        End::Exited { .. } | End::Signalled { .. } | End::Killed { .. } | End::Ended | End::Lost => {
            CallStatus::Error
        }
    };
    let artifact = (kept.dropped > 0).then(|| context.call_dir.join(OUTPUT_FILE));
    let shown = Kept { head: plain(&kept.head), tail: plain(&kept.tail), ..kept.clone() };
    let mut output = render(&shown, artifact.as_deref());
    for line in remarks(context, input, record, limits) {
        if !output.is_empty() && !output.ends_with('\n') {
            output.push('\n');
        }
        output.push_str(&line);
    }
    ToolEnd {
        status,
        output,
        kept: kept.kept,
        dropped: kept.dropped,
        artifact,
        images: Vec::new(),
        details: Details::Command {
            end: record.end.words(),
            exit_code: record.exit_code,
            survivors: record.survivors.iter().map(Named::words).collect(),
            job: None,
        },
        touched: Vec::new(),
    }
}

/// Lines below the output: how it ended, what is still there, where it ran.
fn remarks(context: &CallContext, input: &Input, record: &Record, limits: JobLimits) -> Vec<String> {
    let mut lines = Vec::new();
    match &record.end {
        End::Exited { code: 0 } if record.bytes > 0 => {}
        End::Exited { code: 0 } => lines.push("[no output, exit 0]".to_owned()),
        End::Exited { code } => lines.push(format!("[exit {code}]")),
        End::Signalled { signal } => lines.push(format!("[ended by signal {}]", signal_name(*signal))),
        End::Killed { by: By::TimeLimit } => {
            let limit = limits.time_limit.unwrap_or_default().0;
            lines.push(format!("[killed after {limit} ms: the time limit of this call (timeout_ms)]"));
        }
        End::Killed { by: By::OutputLimit } => match &record.trouble {
            Some(_) => lines.push("[killed: its output could not be kept]".to_owned()),
            None => lines.push(format!(
                "[killed: it printed more than {} bytes, the limit of a command's output (output.spool_max); \
                 {} of {} bytes are in the file]",
                limits.spool_max, record.spooled, record.bytes
            )),
        },
        End::Killed { by: By::User } => lines.push("[stopped by the user]".to_owned()),
        End::Killed { by: by @ (By::Model | By::Rewind | By::ProcessLimit | By::ProgramGone) } => {
            lines.push(format!("[{}]", by.words()));
        }
        End::Ended => {}
        End::Lost => lines.push(
            "[lost: the process that watched the command was killed, so how it ended is not known; its processes were ended]"
                .to_owned(),
        ),
    }
    lines.extend(record.trouble.iter().map(|trouble| format!("[{trouble}]")));
    lines.extend(processes("could not be ended and may still run", &record.survivors));
    lines.extend(processes("still running in the background; ended with the session", &record.left));
    if changes_directory(&input.command) {
        let cwd = context.cwd.display();
        lines.push(format!("[ran in {cwd}; the next command starts there again: a cd does not persist]"));
    }
    lines
}

/// A line that names processes.
fn processes(what: &str, named: &[Named]) -> Option<String> {
    let some: Vec<String> = named.iter().take(NAMED_MAX).map(Named::words).collect();
    let more = named.len().saturating_sub(NAMED_MAX);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let noun = if named.len() == 1 { "process" } else { "processes" };
    (!named.is_empty()).then(|| format!("[{} {noun} {what}: {}{more}]", named.len(), some.join("; ")))
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
    fn bash_schema() {
        let schema = serde_json::to_string_pretty(&Bash::default().spec().schema).unwrap();
        insta::assert_snapshot!(schema);
    }

    #[test]
    fn what_is_wrong_with_an_input_is_said() {
        let cwd = Path::new("/");
        let why = |input: Value| Bash::default().wish(cwd, &input).unwrap_err();
        assert_eq!(why(json!({})), "bash needs a `command`");
        assert_eq!(why(json!({"command": 1})), "`command` of bash must be a string");
        assert_eq!(why(json!({"command": " \n"})), "the `command` of bash is empty");
        assert!(why(json!({"command": "a\0b"})).contains("NUL"));
        assert!(why(json!({"command": "ls", "timeout_ms": 0})).contains("from 1, not 0"));
        assert!(why(json!({"command": "ls", "background": true})).contains("does not know `background`"));
        assert!(why(json!("ls")).contains("takes an object"));
    }

    #[test]
    fn a_wish_shows_the_exact_command() {
        let wish = Bash::default().wish(Path::new("/x"), &json!({"command": " ls  -l "})).unwrap();
        assert_eq!(wish.class, Class::Execute);
        assert_eq!(wish.command.as_deref(), Some(" ls  -l "));
        let preview = Preview::Command { command: " ls  -l ".into(), cwd: "/x".into() };
        assert_eq!(wish.preview, preview);
    }

    #[test]
    fn titles_are_one_line() {
        let title = |command: &str| Bash::default().title(&json!({"command": command}));
        assert_eq!(title("ls -l\n"), "ls -l");
        assert_eq!(title("cat <<E\nx\nE"), "cat <<E …");
        assert_eq!(Bash::default().title(&Value::Null), "");
    }

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
        assert_eq!(processes("x", &[]), None);
        assert_eq!(processes("are left", &[named(4)]).unwrap(), "[1 process are left: 4 sleep 9]");
        let many: Vec<Named> = (0..12).map(named).collect();
        assert!(processes("x", &many).unwrap().ends_with("; and 2 more]"));
    }
}
