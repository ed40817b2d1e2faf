//! A job's row for other programs and for people: one JSON object, and one line made from it. Both ways to a row (the
//! record of a running program; a job's own directory) end here, so both say the same.

use serde_json::{Map, Value, json};

use crate::api::job::{JobRow, JobState, Starter};
use crate::base::{JobId, Millis, SessionId};
use crate::law::job::{Stage, signal_name};
use crate::store::codec::stamp;

/// Widest column of a state in a list.
const STATE_MAX: usize = 44;

/// The row as JSON; its keys are a contract.
pub fn json(session: &SessionId, row: &JobRow, now: Millis) -> Value {
    let mut out = Map::new();
    let mut put = |key: &str, value: Value| drop(out.insert(key.to_owned(), value));
    put("session", json!(session));
    put("job", json!(row.node.id));
    let duration = match &row.state {
        JobState::Sought => {
            put("state", "sought".into());
            Some(now.since(row.node.began))
        }
        JobState::Running => {
            put("state", "running".into());
            Some(now.since(row.node.began))
        }
        JobState::Ending { stage: how, .. } => {
            let (stage, processes) = stage(*how);
            put("state", "ending".into());
            put("stage", stage.into());
            put("processes", processes.into());
            Some(now.since(row.node.began))
        }
        JobState::Ended(outcome) => {
            put("state", "ended".into());
            outcome.lasted()
        }
    };
    put("words", row.state.words().into());
    put("command", row.node.command.clone().into());
    put("pid", row.pid.into());
    put("began", stamp(row.node.began).into());
    put("duration_ms", duration.map(|ms| ms.0).into());
    if let JobState::Ended(outcome) = &row.state {
        put("cause", outcome.end.cause().into());
        if let Some(code) = outcome.exit_code {
            put("exit_code", code.into());
        }
        if let Some(signal) = outcome.exit_signal {
            put("signal", signal.into());
        }
        if !outcome.survivors.is_empty() {
            put("survivors", json!(outcome.survivors));
        }
    }
    put("bytes", row.bytes.into());
    put("lines", row.lines.into());
    put("kept", (row.kept && row.runs()).into());
    put("left", (row.node.by == Starter::Left).into());
    put("terminal", row.node.terminal.into());
    put("waiting", row.waiting.into());
    put("stopped", row.stopped.into());
    Value::Object(out)
}

/// The word of a stage and to how many processes a signal went.
pub fn stage(stage: Stage) -> (&'static str, u32) {
    match stage {
        Stage::Asked { processes } => ("asked", processes),
        Stage::Destroyed { processes } => ("destroyed", processes),
    }
}

fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn holds(row: &Value, key: &str) -> bool {
    row.get(key).and_then(Value::as_bool).unwrap_or_default()
}

/// How it stands, for people.
fn state(row: &Value) -> String {
    let mut words = text(row, "words").to_owned();
    if text(row, "state") == "running" {
        if holds(row, "kept") {
            words.push_str(", kept");
        }
        if holds(row, "stopped") {
            words.push_str(", stopped");
        } else if holds(row, "waiting") {
            words.push_str(", waits for input");
        }
    }
    // of a command that somebody ended the words say who; how its own process took it stands behind them
    if !matches!(text(row, "cause"), "" | "exit" | "signal" | "lost") {
        let number = |key: &str| row.get(key).and_then(Value::as_i64).and_then(|n| i32::try_from(n).ok());
        if let Some(signal) = number("signal") {
            words.push_str(&format!(" ({})", signal_name(signal)));
        } else if let Some(code) = number("exit_code") {
            words.push_str(&format!(" (exit {code})"));
        }
    }
    words
}

/// The rows as lines: name, how it stands, how long, the command.
pub fn lines(rows: &[Value]) -> String {
    let states: Vec<String> = rows.iter().map(state).collect();
    let width = states.iter().map(|state| state.chars().count()).max().unwrap_or(0).min(STATE_MAX);
    let mut out = String::new();
    for (row, state) in rows.iter().zip(states) {
        let duration = row.get("duration_ms").and_then(Value::as_u64).map(|ms| ms / 1000);
        let duration = duration.map_or_else(String::new, |all| format!("{}:{:02}", all / 60, all % 60));
        let command: String =
            text(row, "command").chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        out.push_str(&format!("{:<5} {state:<width$} {duration:>7}  {command}\n", text(row, "job"),));
    }
    out
}

/// That there is no such job, and which there are.
pub fn no_job(session: &SessionId, job: JobId, there: impl Iterator<Item = JobId>) -> String {
    let names: Vec<String> = there.map(|id| id.to_string()).collect();
    let has = if names.is_empty() { "no jobs".to_owned() } else { names.join(", ") };
    format!("the session {session} has no job {job}; it has {has}")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::api::job::{JobNode, JobOutcome};
    use crate::base::CallId;
    use crate::law::job::{By, End};

    fn row(state: JobState) -> JobRow {
        let node = JobNode {
            id: JobId(3),
            call: CallId::new("c7"),
            command: "make\n\tall".into(),
            cwd: "/project".into(),
            by: Starter::Model,
            hidden: false,
            terminal: false,
            after: None,
            began: Millis(1_000),
        };
        JobRow {
            node,
            pid: 77,
            state,
            kept: true,
            bytes: 12,
            lines: 2,
            tail: "secret".into(),
            waiting: true,
            stopped: false,
            screen: None,
            spool: "/state/output".into(),
        }
    }

    fn ended(end: End, gone: u32, survivors: Vec<String>) -> JobState {
        JobState::Ended(Arc::new(JobOutcome {
            end,
            exit_code: None,
            exit_signal: Some(15),
            ended: Millis(4_000),
            duration: Millis(3_000),
            bytes: 12,
            lines: 2,
            last: String::new(),
            gone,
            survivors,
            trouble: None,
        }))
    }

    #[test]
    fn a_row_says_what_the_pane_says() {
        let session = SessionId::new("s");
        let at = |state| json(&session, &row(state), Millis(62_500));
        assert_eq!(
            at(JobState::Running).to_string(),
            r#"{"session":"s","job":"j3","state":"running","words":"running","command":"make\n\tall","pid":77,"began":"1970-01-01T00:00:01.000Z","duration_ms":61500,"bytes":12,"lines":2,"kept":true,"left":false,"terminal":false,"waiting":true,"stopped":false}"#
        );
        let ending = at(JobState::Ending { by: By::User, stage: Stage::Destroyed { processes: 2 } });
        assert_eq!((&ending["stage"], &ending["processes"]), (&json!("destroyed"), &json!(2)));
        let killed = at(ended(End::Killed { by: By::User }, 3, Vec::new()));
        assert_eq!((&killed["cause"], &killed["signal"]), (&json!("user"), &json!(15)));
        let named = at(ended(End::Killed { by: By::Model }, 3, vec!["9 sudo".into()]));
        assert_eq!(named["survivors"], json!(["9 sudo"]));
        let code = json!({"words": "stopped by you, 2 processes gone", "cause": "user", "exit_code": 3});
        assert_eq!(super::state(&code), "stopped by you, 2 processes gone (exit 3)");
        let signal = json!({"words": "signal SIGHUP", "cause": "signal", "signal": 1});
        assert_eq!(super::state(&signal), "signal SIGHUP", "once is enough");
        assert_eq!(
            lines(&[at(JobState::Running), ending, killed, named, at(ended(End::Lost, 0, Vec::new()))]),
            "j3    running, kept, waits for input                1:01  make  all\n\
             j3    KILL sent to 2                                1:01  make  all\n\
             j3    stopped by you, 3 processes gone (SIGTERM)    0:03  make  all\n\
             j3    killed by the model, 1 not ended (SIGTERM)    0:03  make  all\n\
             j3    lost                                          0:03  make  all\n"
        );
        assert_eq!(
            no_job(&session, JobId(9), [JobId(1), JobId(2)].into_iter()),
            "the session s has no job j9; it has j1, j2"
        );
    }
}
