//! `jobs`: lists the session's jobs, reads their output, waits for them, ends them, types into them.
//!
//! Not here: the jobs themselves (`tool::desk`, the engine behind it), the wait (`tool::wait`). What the person
//! keeps from the model (`!!`) is not there for it.
//!
//! Keeps `call_blocks_at_most_budget`, `call_settles_with_job`.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::api::access::{Class, Preview, Wish};
use crate::api::command::{JobAsk, SecretBytes};
use crate::api::entry::{CallStatus, Details};
use crate::api::job::{JobOutcome, JobRow, JobState, Starter};
use crate::api::message::ToolSpec;
use crate::base::{JobId, Millis};
use crate::law::job::{By, Stage};
use crate::law::wait::Waited;
use crate::process::read_bounded;
use crate::tool::bash_end::{line, text};
use crate::tool::input::{Input, one_line};
use crate::tool::wait::{Until, wait};
use crate::tool::{CallContext, Later, Tool, ToolEnd};

const FIELDS: [&str; 4] = ["action", "job", "text", "timeout_ms"];
const ACTIONS: [&str; 5] = ["list", "wait", "output", "kill", "input"];
const SHAPE: &str = "{\"action\": \"list\" | \"wait\" | \"output\" | \"kill\" | \"input\", \"job\": \"j1\"}";
/// Most characters of a command or a line in the list.
const LINE_MAX: usize = 120;
/// Most bytes that are typed at once.
const TEXT_MAX: usize = 64 * 1024;

/// The tool.
pub struct Jobs;

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
enum Asked<'a> {
    List,
    Wait(JobId, Option<Millis>),
    Output(JobId),
    Kill(JobId),
    Input(JobId, &'a str),
}

impl<'a> Asked<'a> {
    fn read(input: &'a Value) -> Result<Self, String> {
        let fields = Input::read("jobs", input, &FIELDS, SHAPE)?;
        let job = || -> Result<JobId, String> {
            let text = fields.text("job")?;
            text.parse()
                .map_err(|_| fields.error("job", &format!("must be a job's id such as `j1`, not {text:?}")))
        };
        let timeout = fields.count_opt("timeout_ms", 1)?.map(Millis);
        Ok(match fields.text("action")? {
            "list" => Asked::List,
            "wait" => Asked::Wait(job()?, timeout),
            "output" => Asked::Output(job()?),
            "kill" => Asked::Kill(job()?),
            "input" => {
                let text = fields.text("text")?;
                if text.is_empty() || text.len() > TEXT_MAX {
                    return Err(fields.error("text", &format!("must hold 1 to {TEXT_MAX} bytes")));
                }
                Asked::Input(job()?, text)
            }
            other => {
                let known = ACTIONS.map(|name| format!("`{name}`")).join(", ");
                return Err(fields.error("action", &format!("must be one of {known}, not {other:?}")));
            }
        })
    }
}

impl Tool for Jobs {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "jobs",
            description: "Looks after the commands that go on in the background: those that `bash` started with \
                `background`, those that took longer than its blocking budget, and processes that a command left \
                behind. `list` shows each job with its state; `output` shows what a job has printed, the newest \
                part when it is long; `wait` returns when the job ends, or after the blocking budget at the latest \
                (call it again to wait on); `kill` ends the job's whole tree of processes and says what became of \
                it; `input` types `text` into a job that has a terminal. You are told of a job's end without \
                asking: do not poll for it. Kill what is no longer needed.",
            schema: json!({
                "type": "object",
                "properties": {
                    "action": {"type": "string", "enum": ACTIONS, "description": "What to do."},
                    "job": {"type": "string", "description": "The job's id, such as `j1`. Needed but for `list`."},
                    "text": {
                        "type": "string",
                        "description": "For `input`: the keys to type. Enter is \\n, and is not added by itself; \
                            control keys are their characters (\\u0003 is Ctrl-C, \\u001b is Esc)."
                    },
                    "timeout_ms": {
                        "type": "integer",
                        "minimum": 1,
                        "description": "For `wait`: return after this many milliseconds though the job still runs."
                    }
                },
                "required": ["action"],
                "additionalProperties": false
            }),
        }
    }

    fn title(&self, input: &Value) -> String {
        let field = |name: &str| input.get(name).and_then(Value::as_str).unwrap_or_default();
        one_line(&format!("{} {}", field("action"), field("job")), LINE_MAX)
    }

    fn parallel(&self) -> bool {
        false
    }

    fn wish(&self, cwd: &Path, input: &Value) -> Result<Wish, String> {
        let _ = cwd;
        let (class, words) = match Asked::read(input)? {
            Asked::List => (Class::Read, "List the jobs".to_owned()),
            Asked::Wait(job, _) => (Class::Read, format!("Wait for job {job}")),
            Asked::Output(job) => (Class::Read, format!("Read the output of job {job}")),
            Asked::Kill(job) => (Class::Execute, format!("Stop job {job} with all its processes")),
            Asked::Input(job, text) => (Class::Execute, format!("Type into job {job}:\n{text}")),
        };
        let preview = Preview::Text { text: words };
        Ok(Wish { tool: "jobs".to_owned(), class, paths: Vec::new(), command: None, preview })
    }

    fn run<'a>(&'a self, context: &'a CallContext, input: &'a Value) -> Later<'a, ToolEnd> {
        Box::pin(async move {
            let end = match Asked::read(input) {
                Err(why) => Err(why),
                Ok(Asked::List) => Ok(ToolEnd::text(CallStatus::Ok, list(context))),
                Ok(Asked::Wait(job, timeout)) => wait_for(context, job, timeout).await,
                Ok(Asked::Output(job)) => output(context, job).await,
                Ok(Asked::Kill(job)) => kill(context, job).await,
                Ok(Asked::Input(job, text)) => type_into(context, job, text),
            };
            end.unwrap_or_else(|why| ToolEnd::text(CallStatus::Error, why))
        })
    }
}

/// The jobs that the model may know of.
fn shown(context: &CallContext) -> Vec<JobRow> {
    context.desk.rows().into_iter().filter(|row| !row.node.hidden).collect()
}

/// One of them; else which there are.
fn find(context: &CallContext, job: JobId) -> Result<JobRow, String> {
    context.desk.row(job).filter(|row| !row.node.hidden).ok_or_else(|| {
        let known: Vec<String> = shown(context).iter().map(|row| row.node.id.to_string()).collect();
        let known = if known.is_empty() {
            "there are none".to_owned()
        } else {
            format!("there are {}", known.join(", "))
        };
        format!("there is no job {job}: {known}")
    })
}

fn list(context: &CallContext) -> String {
    let rows = shown(context);
    if rows.is_empty() {
        return "No jobs.".to_owned();
    }
    let mut out = String::new();
    for row in rows {
        line(&mut out, &row_in_words(&row, context.began));
        if let Some(last) = last_line(&row.tail) {
            line(&mut out, &format!("    {last}"));
        }
    }
    out
}

/// The newest line of an output that says something.
fn last_line(tail: &str) -> Option<String> {
    tail.lines().rev().find(|line| !line.trim().is_empty()).map(|line| one_line(line, LINE_MAX))
}

/// A job in a line: `j1 runs since 4:10, 210 bytes of output, process 4711: npm run dev`.
pub fn row_in_words(row: &JobRow, now: Millis) -> String {
    let age = now.since(row.node.began).length();
    let state = match &row.state {
        JobState::Sought => "is of an earlier program and is being looked up".to_owned(),
        JobState::Running if row.stopped => format!("runs since {age}, stopped (SIGCONT lets it go on)"),
        JobState::Running if row.waiting => format!("runs since {age}, seems to wait for input"),
        JobState::Running => format!("runs since {age}"),
        JobState::Ending { stage, .. } => format!("runs since {age}, {}", stage_in_words(*stage)),
        JobState::Ended(outcome) => ended_in_words(outcome),
    };
    let process = if row.runs() && row.pid > 0 { format!(", process {}", row.pid) } else { String::new() };
    let kept = if row.runs() && row.kept { ", kept" } else { "" };
    let terminal = if row.node.terminal { ", has a terminal" } else { "" };
    let what = match row.node.by {
        Starter::Model => String::new(),
        Starter::Person => "the person's ".to_owned(),
        Starter::Left => "left behind by ".to_owned(),
    };
    let command = one_line(&row.node.command, LINE_MAX);
    format!(
        "{} {state}, {} bytes of output{process}{kept}{terminal}: {what}{command}",
        row.node.id, row.bytes
    )
}

fn stage_in_words(stage: Stage) -> String {
    let many = |count: u32| if count == 1 { "1 process".to_owned() } else { format!("{count} processes") };
    match stage {
        Stage::Asked { processes } => format!("being ended: SIGTERM sent to {}", many(processes)),
        Stage::Destroyed { processes } => format!("being ended: SIGKILL sent to {}", many(processes)),
    }
}

/// The end of a job: `ended: exit 0 after 4:10`; of one that was lost, how long it is known to have run.
pub fn ended_in_words(outcome: &JobOutcome) -> String {
    let mut words = format!("ended: {}", outcome.end.words());
    if let Some(lasted) = outcome.lasted() {
        words.push_str(&format!(" after {}", lasted.length()));
    }
    if !outcome.survivors.is_empty() {
        words.push_str(&format!("; could not be ended and may still run: {}", outcome.survivors.join("; ")));
    }
    if let Some(trouble) = &outcome.trouble {
        words.push_str(&format!("; {trouble}"));
    }
    words
}

/// Waits for a job's end as this call may.
async fn wait_here(context: &CallContext, job: JobId, most: Millis) -> Waited<Option<Arc<JobOutcome>>> {
    let until = Until {
        began: Instant::now(),
        budget: Some(most),
        detach: context.detach.clone(),
        cancel: context.cancel.clone(),
    };
    wait(&until, context.desk.ended(job)).await
}

async fn wait_for(context: &CallContext, job: JobId, timeout: Option<Millis>) -> Result<ToolEnd, String> {
    let row = find(context, job)?;
    let most = timeout.map_or(context.budget, |timeout| timeout.min(context.budget));
    Ok(match wait_here(context, job, most).await {
        Waited::Settled(Some(outcome)) => told_end(&row, &outcome),
        Waited::Settled(None) => return Err(format!("job {job} is gone from the list")),
        Waited::Detached { budget_ms } => {
            let row = find(context, job).unwrap_or(row);
            let now = context.began.plus(Millis(budget_ms));
            let mut out = format!("Waited {budget_ms} ms.");
            line(&mut out, &row_in_words(&row, now));
            tail(&mut out, &row.tail);
            ToolEnd::text(CallStatus::Ok, out)
        }
        Waited::Cancelled => ToolEnd::text(
            CallStatus::Cancelled,
            format!("The wait was stopped by the person; job {job} goes on."),
        ),
    })
}

fn tail(out: &mut String, tail: &str) {
    let tail = tail.trim_end();
    if !tail.is_empty() {
        line(out, "Its newest output:");
        line(out, tail);
    }
}

/// The end of a job, as the result of a call that waited for it.
fn told_end(row: &JobRow, outcome: &JobOutcome) -> ToolEnd {
    let mut out = format!(
        "Job {} ({}) {}.",
        row.node.id,
        one_line(&row.node.command, LINE_MAX),
        ended_in_words(outcome)
    );
    tail(&mut out, &outcome.last);
    line(&mut out, &format!("[{} bytes; the whole output: {}]", outcome.bytes, row.spool.display()));
    let details = Details::Command {
        end: outcome.end.words(),
        exit_code: outcome.exit_code,
        survivors: outcome.survivors.clone(),
        job: None,
        left: 0,
        told: Some(row.node.id),
    };
    ToolEnd { details, ..ToolEnd::text(CallStatus::Ok, out) }
}

async fn output(context: &CallContext, job: JobId) -> Result<ToolEnd, String> {
    let row = find(context, job)?;
    let (file, truncation) = (row.spool.clone(), context.truncation);
    let kept = tokio::task::spawn_blocking(move || read_bounded(&file, truncation))
        .await
        .map_err(|_| format!("the output of job {job} could not be read: {}", row.spool.display()))?;
    let mut out = text(&kept, Some(&row.spool));
    if out.is_empty() {
        out.push_str("(no output yet)");
    }
    line(&mut out, &format!("[{}]", row_in_words(&row, context.began)));
    let artifact = (kept.dropped > 0).then(|| row.spool.clone());
    Ok(ToolEnd { kept: kept.kept, dropped: kept.dropped, artifact, ..ToolEnd::text(CallStatus::Ok, out) })
}

async fn kill(context: &CallContext, job: JobId) -> Result<ToolEnd, String> {
    let row = find(context, job)?;
    if let JobState::Ended(outcome) = &row.state {
        return Ok(told_end(&row, outcome));
    }
    context.desk.ask(job, JobAsk::Kill, By::Model);
    Ok(match wait_here(context, job, context.budget).await {
        Waited::Settled(Some(outcome)) => told_end(&row, &outcome),
        Waited::Settled(None) => return Err(format!("job {job} is gone from the list")),
        Waited::Detached { .. } => {
            let row = find(context, job).unwrap_or(row);
            let state = match &row.state {
                JobState::Ending { stage, .. } => stage_in_words(*stage),
                JobState::Sought | JobState::Running => "not being ended yet".to_owned(),
                JobState::Ended(outcome) => ended_in_words(outcome),
            };
            ToolEnd::text(
                CallStatus::Ok,
                format!("Job {job} has not ended yet: {state}. You are told when it has."),
            )
        }
        Waited::Cancelled => ToolEnd::text(
            CallStatus::Cancelled,
            format!("The wait was stopped by the person; job {job} is being ended all the same."),
        ),
    })
}

fn type_into(context: &CallContext, job: JobId, text: &str) -> Result<ToolEnd, String> {
    let row = find(context, job)?;
    if let JobState::Ended(outcome) = &row.state {
        return Err(format!("job {job} reads nothing any more: it {}", ended_in_words(outcome)));
    }
    if !row.node.terminal {
        return Err(format!(
            "job {job} has no terminal, so nothing can be typed into it: start the command with `terminal` for that"
        ));
    }
    // the Enter key is a carriage return; a terminal in its usual mode makes a newline of it
    let keys = text.replace("\r\n", "\r").replace('\n', "\r");
    context.desk.ask(job, JobAsk::Input(SecretBytes(keys.into_bytes())), By::Model);
    Ok(ToolEnd::text(
        CallStatus::Ok,
        format!("Typed {} bytes into job {job}. What it answers is in its `output`.", text.len()),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_schema() {
        insta::assert_snapshot!(serde_json::to_string_pretty(&Jobs.spec().schema).unwrap());
    }

    #[test]
    fn what_is_wrong_with_an_input_is_said() {
        let why = |input: Value| Jobs.wish(Path::new("/"), &input).unwrap_err();
        insta::assert_snapshot!(
            [
                json!({}),
                json!({"action": "stop"}),
                json!({"action": "wait"}),
                json!({"action": "wait", "job": "3"}),
                json!({"action": "wait", "job": "j3", "timeout_ms": 0}),
                json!({"action": "input", "job": "j3"}),
                json!({"action": "input", "job": "j3", "text": ""}),
                json!({"action": "list", "all": true}),
            ]
            .map(why)
            .join("\n")
        );
    }

    #[test]
    fn looking_is_free_and_the_rest_is_as_a_command() {
        let class = |input: Value| Jobs.wish(Path::new("/"), &input).unwrap().class;
        for input in [
            json!({"action": "list"}),
            json!({"action": "wait", "job": "j1"}),
            json!({"action": "output", "job": "j1"}),
        ] {
            assert_eq!(class(input.clone()), Class::Read, "{input}");
        }
        for input in
            [json!({"action": "kill", "job": "j1"}), json!({"action": "input", "job": "j1", "text": "y\n"})]
        {
            assert_eq!(class(input.clone()), Class::Execute, "{input}");
        }
    }
}
