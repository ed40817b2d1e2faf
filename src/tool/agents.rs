//! `agents`: lists the session's subagents, waits for them, tells them something, stops them.
//!
//! Not here: the agents themselves (`tool::crew`, the engine behind it), the wait (`tool::wait`).
//!
//! Keeps `call_blocks_at_most_budget`, and the tool's half of `waiting_parent_holds_no_place`.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::api::access::{Class, Preview, Wish};
use crate::api::agent::{AgentEnd, AgentRow, AgentRun, AgentState};
use crate::api::entry::{CallStatus, Details};
use crate::api::message::ToolSpec;
use crate::base::Millis;
use crate::law::wait::Waited;
use crate::tool::agent_words::{end_in_words, row_in_words};
use crate::tool::bash_end::line;
use crate::tool::input::{Input, one_line, peek};
use crate::tool::wait::{Until, wait};
use crate::tool::{CallContext, Later, Tool, ToolEnd};

const FIELDS: [&str; 4] = ["action", "name", "text", "timeout_ms"];
const ACTIONS: [&str; 4] = ["list", "wait", "message", "stop"];
const SHAPE: &str = "{\"action\": \"list\" | \"wait\" | \"message\" | \"stop\", \"name\": \"lexer\"}";
/// Most characters of a title.
const LINE_MAX: usize = 120;

/// The tool.
pub struct Agents;

#[derive(Debug, PartialEq, Eq)]
enum Asked<'a> {
    List,
    /// For one, or for all that run.
    Wait(Option<&'a str>, Option<Millis>),
    Message(&'a str, &'a str),
    Stop(&'a str),
}

impl<'a> Asked<'a> {
    fn read(input: &'a Value) -> Result<Self, String> {
        let fields = Input::read("agents", input, &FIELDS, SHAPE)?;
        let timeout = fields.count_opt("timeout_ms", 1)?.map(Millis);
        Ok(match fields.text("action")? {
            "list" => Asked::List,
            "wait" => Asked::Wait(fields.text_opt("name")?, timeout),
            "message" => {
                let text = fields.text("text")?;
                if text.trim().is_empty() {
                    return Err(fields.error("text", "must say something"));
                }
                Asked::Message(fields.text("name")?, text)
            }
            "stop" => Asked::Stop(fields.text("name")?),
            other => {
                let known = ACTIONS.map(|name| format!("`{name}`")).join(", ");
                return Err(fields.error("action", &format!("must be one of {known}, not {other:?}")));
            }
        })
    }
}

impl Tool for Agents {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "agents",
            description: "Looks after the subagents that `spawn` started. `list` shows each with its state; `wait` \
                returns the report of `name` when it ends (without a name: of all that run, when all have ended), or \
                after the blocking budget at the latest (call it again to wait on); `message` tells one something: \
                while it works it reads it between two steps, and one that has ended begins to work again; `stop` \
                ends one and says what came of it. You are told of each end without asking: do not poll with `list`.",
            schema: json!({
                "type": "object",
                "properties": {
                    "action": {"type": "string", "enum": ACTIONS, "description": "What to do."},
                    "name": {
                        "type": "string",
                        "description": "The agent's name. Needed for `message` and `stop`."
                    },
                    "text": {"type": "string", "description": "For `message`: what it is told."},
                    "timeout_ms": {
                        "type": "integer",
                        "minimum": 1,
                        "description": "For `wait`: return after this many milliseconds though it has not ended."
                    }
                },
                "required": ["action"],
                "additionalProperties": false
            }),
        }
    }

    fn title(&self, input: &Value) -> String {
        one_line(&format!("{} {}", peek(input, "action"), peek(input, "name")), LINE_MAX)
    }

    fn parallel(&self) -> bool {
        false
    }

    fn wish(&self, _: &Path, input: &Value) -> Result<Wish, String> {
        let words = match Asked::read(input)? {
            Asked::List => "List the agents".to_owned(),
            Asked::Wait(Some(name), _) => format!("Wait for the agent {name}"),
            Asked::Wait(None, _) => "Wait for the agents".to_owned(),
            Asked::Message(name, text) => format!("Tell the agent {name}:\n{text}"),
            Asked::Stop(name) => format!("Stop the agent {name}"),
        };
        let (class, preview) = (Class::Read, Preview::Text { text: words });
        Ok(Wish { tool: "agents".to_owned(), class, paths: Vec::new(), command: None, preview })
    }

    fn run<'a>(&'a self, context: &'a CallContext, input: &'a Value) -> Later<'a, ToolEnd> {
        Box::pin(async move {
            let end = match Asked::read(input) {
                Err(why) => Err(why),
                Ok(Asked::List) => Ok(ToolEnd::text(CallStatus::Ok, list(context))),
                Ok(Asked::Wait(name, timeout)) => wait_for(context, name, timeout).await,
                Ok(Asked::Message(name, text)) => message(context, name, text),
                Ok(Asked::Stop(name)) => stop(context, name).await,
            };
            end.unwrap_or_else(|why| ToolEnd::text(CallStatus::Error, why))
        })
    }
}

fn list(context: &CallContext) -> String {
    let rows = context.crew.rows();
    if rows.is_empty() {
        return "No agents.".to_owned();
    }
    let mut out = String::new();
    for (path, row) in &rows {
        line(&mut out, &row_in_words(path, row, context.began));
    }
    out
}

/// One of them; else which there are.
fn find(context: &CallContext, name: &str) -> Result<AgentRow, String> {
    context.crew.row(name).ok_or_else(|| {
        let known: Vec<String> = context.crew.rows().into_iter().map(|(path, _)| path).collect();
        let known = if known.is_empty() {
            "there are none".to_owned()
        } else {
            format!("there are {}", known.join(", "))
        };
        format!("there is no agent {name}: {known}")
    })
}

fn message(context: &CallContext, name: &str, text: &str) -> Result<ToolEnd, String> {
    find(context, name)?;
    let means = context.crew.message(name, text.to_owned())?;
    Ok(ToolEnd::text(CallStatus::Ok, format!("{name} {means}")))
}

async fn stop(context: &CallContext, name: &str) -> Result<ToolEnd, String> {
    find(context, name)?;
    context.crew.stop(name);
    wait_for(context, Some(name), None).await
}

async fn wait_for(
    context: &CallContext,
    name: Option<&str>,
    timeout: Option<Millis>,
) -> Result<ToolEnd, String> {
    let names: Vec<String> = match name {
        Some(name) => find(context, name).map(|_| vec![name.to_owned()])?,
        None => {
            let own = |(path, row): (String, AgentRow)| (row.runs() && !path.contains('/')).then_some(path);
            context.crew.rows().into_iter().filter_map(own).collect()
        }
    };
    if names.is_empty() {
        return Ok(ToolEnd::text(CallStatus::Ok, "No agent runs."));
    }
    let until = Until {
        began: Instant::now(),
        budget: Some(timeout.map_or(context.budget, |timeout| timeout.min(context.budget))),
        detach: context.detach.clone(),
        cancel: context.cancel.clone(),
    };
    // one that was cut has no end to come before somebody lets it go on or ends it
    let to_end: Vec<&String> =
        names.iter().filter(|name| context.crew.row(name).is_some_and(|row| row.runs())).collect();
    let ends = async {
        for name in &to_end {
            context.crew.ended(name).await;
        }
    };
    let waited = {
        let _rest = context.crew.rest();
        wait(&until, ends).await
    };
    let now =
        context.began.plus(Millis(u64::try_from(until.began.elapsed().as_millis()).unwrap_or(u64::MAX)));
    let (mut out, mut told) = (String::new(), Vec::new());
    match waited {
        Waited::Settled(()) => {}
        Waited::Detached { budget_ms } => line(&mut out, &format!("Waited {budget_ms} ms.")),
        Waited::Cancelled => {
            let text = "The wait was stopped by the person; the agents go on.";
            return Ok(ToolEnd::text(CallStatus::Cancelled, text));
        }
    }
    for name in &names {
        match context.crew.row(name) {
            Some(AgentRow { state: AgentState::Ended(end), .. }) => report(name, &end, &mut out, &mut told),
            Some(row) => line(&mut out, &row_in_words(name, &row, now)),
            None => line(&mut out, &format!("{name} is gone from the list")),
        }
    }
    Ok(ToolEnd { details: Details::Agents { told }, ..ToolEnd::text(CallStatus::Ok, out) })
}

/// The report of an end, which the model is told by this call. One further down was told to its own parent.
fn report(path: &str, end: &Arc<AgentEnd>, out: &mut String, told: &mut Vec<AgentRun>) {
    line(out, &end_in_words(path, end));
    if !path.contains('/') {
        told.push(AgentRun { name: end.node.name.clone(), run: end.node.run });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_an_action_is_said() {
        let why = |input: Value| Agents.wish(Path::new("/"), &input).unwrap_err();
        insta::assert_snapshot!(
            [
                json!({}),
                json!({"action": "kill"}),
                json!({"action": "message", "name": "x"}),
                json!({"action": "message", "name": "x", "text": "\n"}),
                json!({"action": "stop"}),
                json!({"action": "wait", "timeout_ms": 0}),
            ]
            .map(why)
            .join("\n")
        );
    }
}
