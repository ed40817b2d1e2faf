//! `bash`: runs a command in the session's directory, under a keeper. A command that outlives the blocking
//! budget, and processes that outlive their command, go to the session's desk as jobs.
//!
//! Not here: confinement (`sandbox`), the kill of a tree and the record of the end (`process`), the bound
//! of the output (`law::output`), the wait (`tool::wait`), the words of a result (`bash_end`). Each command
//! starts a shell of its own: a `cd` does not persist.
//!
//! Keeps `call_blocks_at_most_budget`, `call_settles_with_job`.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::api::access::{Class, Preview, Wish};
use crate::api::entry::CallStatus;
use crate::api::job::Starter;
use crate::api::message::ToolSpec;
use crate::api::screen::Size;
use crate::base::{JobId, Millis, chain};
use crate::law::job::{By, JobLimits};
use crate::law::output::Kept;
use crate::law::wait::Waited;
use crate::process::record::{OUTPUT_FILE, Record, SCRIPT_FILE};
use crate::process::{News, Running, read_bounded};
use crate::sandbox::{Profile, Wanted, spawn};
use crate::tool::bash_end::{Why, Words, detached};
use crate::tool::desk::{NewJob, Place};
use crate::tool::site::{Site, runs_in};
use crate::tool::wait::{Until, wait};
use crate::tool::{CallContext, Later, Tool, ToolEnd};

/// A longer command goes through a file: the system takes no argument of 128 KiB.
const ARGUMENT_MAX: usize = 100 * 1024;

/// The tool.
#[derive(Default)]
pub struct Bash {
    profile: Profile,
}

/// What a command has told so far.
#[derive(Default)]
struct Told {
    /// Bytes, lines, newest part.
    output: (u64, u64, String),
    /// It has a terminal.
    terminal: bool,
    /// It seems to wait for input from it.
    waiting: bool,
    /// Its own process is stopped.
    stopped: bool,
}

impl Bash {
    /// Commands run under this profile.
    pub fn new(profile: Profile) -> Self {
        Self { profile }
    }

    async fn carry_out(&self, context: &CallContext, input: &Value) -> Result<ToolEnd, String> {
        let input = Input::read(input)?;
        // a start is refused at the limit; a command that is waited for runs already when it becomes a job
        let place = if input.background { Some(context.desk.hold()?) } else { None };
        let limits =
            JobLimits::new(context.spool_max, input.timeout).with_processes_max(context.processes_max);
        // the person's own command is one that may ask
        let terminal = input.terminal || context.by == Starter::Person;
        let wanted = Wanted {
            argv: argv(context, &input.command)?,
            environment: context.environment.clone(),
            cwd: runs_in(&context.cwd, context.held.as_ref()).to_owned(),
            dir: context.call_dir.clone(),
            limits,
            truncation: context.truncation,
            kept: context.kept && input.background,
            terminal: terminal.then(Size::default),
            held: context.held.clone(),
        };
        let mut running = spawn(self.profile, wanted).await.map_err(|error| chain(&error))?;
        let mut told = Told { terminal, ..Told::default() };
        // the person's wish; or the command waits for input, which comes only to a job
        let asked = context.detach.child_token();
        let mut until = Until {
            began: Instant::now(),
            budget: Some(if input.background { Millis(0) } else { context.budget }),
            detach: asked.clone(),
            cancel: context.cancel.clone(),
        };
        let (record, kept) = loop {
            match wait(&until, follow(&mut running, context, &mut told, &asked)).await {
                Waited::Settled(end) => break end?,
                Waited::Cancelled => {
                    running.kill(By::User).await;
                    until = Until { budget: None, detach: never(), cancel: never(), ..until };
                }
                Waited::Detached { budget_ms } => {
                    let why = if input.background {
                        Why::Background
                    } else if context.detach.is_cancelled() {
                        Why::ByHand(budget_ms)
                    } else if told.waiting {
                        Why::Waits(budget_ms)
                    } else {
                        Why::Budget(budget_ms)
                    };
                    return Ok(self.detach(context, &input, running, told, (why, place)).await);
                }
            }
        };
        let mut words = Words { context, command: &input.command, limits, left: None };
        if !record.left.is_empty() {
            let told = Told::default();
            words.left = Some(hand_over(context, &input.command, running, Starter::Left, told, None).await);
        }
        Ok(words.end(&record, &kept))
    }

    /// The command goes on as a job; the call settles with what came so far.
    async fn detach(
        &self,
        context: &CallContext,
        input: &Input,
        running: Running,
        told: Told,
        (why, place): (Why, Option<Place>),
    ) -> ToolEnd {
        let job = hand_over(context, &input.command, running, context.by, told, place).await;
        let (spool, truncation) = (context.call_dir.join(OUTPUT_FILE), context.truncation);
        let file = spool.clone();
        let kept =
            tokio::task::spawn_blocking(move || read_bounded(&file, truncation)).await.unwrap_or_default();
        detached(context, &input.command, job, &kept, &spool, why)
    }
}

/// Listens to a command until its end. Cancel safe.
async fn follow(
    running: &mut Running,
    context: &CallContext,
    told: &mut Told,
    waits: &CancellationToken,
) -> Result<(Box<Record>, Kept), String> {
    loop {
        match running.next().await {
            Some(News::Output { bytes, lines, tail }) => {
                context.report.output(&tail, bytes, lines);
                told.output = (bytes, lines, tail);
            }
            Some(News::Ended { record, kept }) => return Ok((record, kept)),
            Some(News::Waiting(waiting)) => {
                told.waiting = waiting;
                if waiting {
                    waits.cancel();
                }
            }
            Some(News::Stopped(stopped)) => told.stopped = stopped,
            Some(News::Stage(_) | News::Screen(_) | News::Kept(_) | News::Left(_)) => {}
            // the end is always told before the keeper is gone; what is lost is told as lost
            None => return Err("the command's keeper is gone".to_owned()),
        }
    }
}

/// Gives a command, or what it left behind, to the session's desk.
async fn hand_over(
    context: &CallContext,
    command: &str,
    mut running: Running,
    by: Starter,
    told: Told,
    place: Option<Place>,
) -> JobId {
    if context.kept {
        running.keep(true).await;
    }
    let job = NewJob {
        call: context.call.clone(),
        command: command.to_owned(),
        cwd: runs_in(&context.cwd, context.held.as_ref()).to_owned(),
        by,
        hidden: context.hidden,
        terminal: told.terminal,
        after: context.after.clone(),
        began: context.began,
        told: told.output,
        waiting: told.waiting,
        stopped: told.stopped,
    };
    context.desk.take(running, job, place).await
}

/// Nobody asks any more.
fn never() -> CancellationToken {
    CancellationToken::new()
}

impl Tool for Bash {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "bash",
            description: "Runs a command with bash in the session's directory and returns what it printed \
                (stdout and stderr in order) and how it ended. Every call starts a new shell in the same \
                directory: a `cd` or a variable does not persist. There is no terminal (but with `terminal`) and no stdin: \
                use flags that keep commands from asking. Long output is shown by its beginning and end; the \
                whole of it is in the file that the result names. A command that takes long is not ended: \
                after the session's blocking budget (usually 30 s) the call returns with the output so far, \
                and the command goes on as a job, as do processes that a command leaves running behind it. \
                The `jobs` tool lists, reads, waits for and kills jobs, and you are told when one ends. \
                Start what does not end by itself (a server, a watcher) with `background`: no `&`, no nohup.",
            schema: json!({
                "type": "object",
                "properties": {
                    "command": {"type": "string", "description": "The command line, as typed into bash."},
                    "timeout_ms": {
                        "type": "integer",
                        "minimum": 1,
                        "description": "Ends the command, with everything it started, after this many milliseconds; \
                            also when it goes on as a job by then."
                    },
                    "background": {
                        "type": "boolean",
                        "description": "Starts the command as a job and returns at once."
                    },
                    "terminal": {
                        "type": "boolean",
                        "description": "Gives the command a terminal of its own (24 by 80), for programs that ask or \
                            draw. When it seems to wait for input it goes on as a job: type into it with `jobs`, \
                            or let the person do so."
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

    fn wish_in(&self, site: &Site, input: &Value) -> Result<Wish, String> {
        self.wish(site.runs_in(), input)
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
    background: bool,
    terminal: bool,
}

/// The fields of an input.
const FIELDS: [&str; 4] = ["command", "timeout_ms", "background", "terminal"];

impl Input {
    fn read(input: &Value) -> Result<Self, String> {
        let fields = input.as_object().ok_or("bash takes an object: {\"command\": \"…\"}")?;
        if let Some(other) = fields.keys().find(|key| !FIELDS.contains(&key.as_str())) {
            let known = FIELDS.map(|name| format!("`{name}`")).join(", ");
            return Err(format!("bash does not know `{other}`: it takes {known}"));
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
        let flag = |name: &str| match fields.get(name) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(value) => Err(format!("`{name}` of bash must be true or false, not {value}")),
        };
        Ok(Self { command, timeout, background: flag("background")?, terminal: flag("terminal")? })
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
        assert!(why(json!({"command": "ls", "background": 1})).contains("`background` of bash must be true"));
        assert!(why(json!({"command": "ls", "shell": true})).contains("does not know `shell`"));
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
}
