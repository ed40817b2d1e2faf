//! `spawn`: asks for a subagent, which works beside the session, in its directory or in a copy of it.
//!
//! The call is settled when the agent's copy stands, or at the blocking budget; one that has to wait for a place is
//! told at once. Interrupting the call while the copy is made leaves nothing behind.
//!
//! Not here: the agents themselves (`tool::crew`, the engine behind it). Keeps `call_blocks_at_most_budget`.

use std::path::Path;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::api::access::{Class, Preview, Wish};
use crate::api::agent::{Workspace, copied};
use crate::api::entry::CallStatus;
use crate::api::message::ToolSpec;
use crate::law::wait::Waited;
use crate::tool::crew::{NewAgent, Stands, Stood};
use crate::tool::input::{Input, one_line, peek};
use crate::tool::wait::{Until, wait};
use crate::tool::{CallContext, Later, Tool, ToolEnd};

const FIELDS: [&str; 6] = ["name", "prompt", "workspace", "model", "tools", "budget"];
const SHAPE: &str = "{\"name\": \"lexer\", \"prompt\": \"…\", \"workspace\": \"shared\" | \"isolated\"}";
const WORKSPACES: [&str; 2] = ["shared", "isolated"];
/// Most characters of a title.
const LINE_MAX: usize = 120;

/// The tool.
pub struct Spawn;

fn read(input: &Value) -> Result<NewAgent, String> {
    let fields = Input::read("spawn", input, &FIELDS, SHAPE)?;
    let name = fields.text("name")?;
    if !crate::law::children::fits(name) {
        return Err(fields.error("name", "must be 1 to 40 letters, digits, `-` or `_`"));
    }
    let prompt = fields.text("prompt")?;
    if prompt.trim().is_empty() {
        return Err(fields.error("prompt", "must say what the agent is to do: it knows nothing else"));
    }
    let workspace = match fields.text_opt("workspace")? {
        None | Some("shared") => Workspace::Shared,
        Some("isolated") => Workspace::Isolated,
        Some(other) => {
            return Err(fields.error("workspace", &format!("must be `shared` or `isolated`, not {other:?}")));
        }
    };
    Ok(NewAgent {
        name: name.to_owned(),
        prompt: prompt.to_owned(),
        workspace,
        model: fields.text_opt("model")?.map(str::to_owned),
        tools: fields.texts_opt("tools")?,
        budget: fields.count_opt("budget", 1)?,
    })
}

impl Tool for Spawn {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "spawn",
            description: "Starts a subagent: another conversation with a model that works beside you on a task of \
                its own, with the same tools. It knows nothing but its `prompt`, so say all that it needs. With the \
                workspace `shared` it works in this directory, among your own changes. With `isolated` it works in \
                a copy of the directory as it is now, uncommitted changes included; at its end what it changed is \
                handed back: what nobody else changed meanwhile is taken, the rest are conflicts that the person \
                resolves. Use `isolated` when several agents, or you, may change the same files. The call returns \
                when the agent works; its report comes by itself at its end, or to `agents` with `wait`. Do not \
                end your turn before you have waited for agents whose results you need.",
            schema: json!({
                "type": "object",
                "properties": {
                    "name": {
                        "type": "string",
                        "description": "A short name of its own: letters, digits, `-` and `_`."
                    },
                    "prompt": {"type": "string", "description": "What it is to do, and what it is to report."},
                    "workspace": {
                        "type": "string",
                        "enum": WORKSPACES,
                        "description": "Where it works. `shared` unless you say so."
                    },
                    "model": {"type": "string", "description": "Another model than yours."},
                    "tools": {
                        "type": "array",
                        "items": {"type": "string"},
                        "description": "The only tools that it may use. All of yours unless you say so."
                    },
                    "budget": {
                        "type": "integer",
                        "minimum": 1,
                        "description": "Most tokens that it may use (what it reads and what it writes, over all its \
                            requests); it is stopped when they are used up."
                    }
                },
                "required": ["name", "prompt"],
                "additionalProperties": false
            }),
        }
    }

    fn title(&self, input: &Value) -> String {
        let workspace = peek(input, "workspace");
        let workspace = if workspace.is_empty() { "shared" } else { workspace };
        one_line(&format!("{} {workspace}", peek(input, "name")), LINE_MAX)
    }

    fn parallel(&self) -> bool {
        false
    }

    fn wish(&self, _: &Path, input: &Value) -> Result<Wish, String> {
        let new = read(input)?;
        let text = format!("Start the agent {} ({}):\n{}", new.name, new.workspace.word(), new.prompt);
        // it changes nothing by itself: each thing that the agent does is allowed or asked for on its own
        let (class, preview) = (Class::Read, Preview::Text { text });
        Ok(Wish { tool: "spawn".to_owned(), class, paths: Vec::new(), command: None, preview })
    }

    fn run<'a>(&'a self, context: &'a CallContext, input: &'a Value) -> Later<'a, ToolEnd> {
        Box::pin(async move {
            let new = match read(input) {
                Ok(new) => new,
                Err(why) => return ToolEnd::text(CallStatus::Error, why),
            };
            let name = new.name.clone();
            if let Err(why) = context.crew.ask(new) {
                return ToolEnd::text(CallStatus::Error, why);
            }
            let until = Until {
                began: Instant::now(),
                budget: Some(context.budget),
                detach: context.detach.clone(),
                cancel: context.cancel.clone(),
            };
            match wait(&until, stood(context, &name)).await {
                Waited::Settled(end) => end,
                Waited::Detached { .. } => ToolEnd::text(
                    CallStatus::Ok,
                    format!("The copy of {name} is still being made; it begins by itself when that is done."),
                ),
                Waited::Cancelled => {
                    context.crew.withdraw(&name);
                    gone(context, &name).await;
                    ToolEnd::text(CallStatus::Cancelled, cancelled(context, &name))
                }
            }
        })
    }
}

/// Waits until it stands, or not.
async fn stood(context: &CallContext, name: &str) -> ToolEnd {
    let mut since = None;
    loop {
        let now = context.crew.stands(name, since).await;
        match &now {
            Stands::Waiting { number } => {
                return ToolEnd::text(
                    CallStatus::Ok,
                    format!(
                        "{name} waits for a place: as many agents work as may (agents.at_once). It is number {number} \
                         in the line, and begins by itself."
                    ),
                );
            }
            Stands::Preparing => {}
            Stands::Copying { of: 0, .. } => {}
            Stands::Copying { files, of } => {
                let line = format!("copying {}\n", copied(*files, *of));
                context.report.output(&line, line.len() as u64, 1);
            }
            Stands::Works(Stood { words, warnings, .. }) => {
                for warning in warnings {
                    context.report.warn(warning.clone());
                }
                return ToolEnd::text(CallStatus::Ok, format!("{name} works: {words}"));
            }
            Stands::Failed(why) => {
                return ToolEnd::text(CallStatus::Error, format!("{name} did not begin: {why}"));
            }
            Stands::Gone => {
                return ToolEnd::text(
                    CallStatus::Cancelled,
                    format!("{name} did not begin; nothing of it is left."),
                );
            }
        }
        since = Some(now);
    }
}

/// Waits until what was made of it is gone, or it works all the same.
async fn gone(context: &CallContext, name: &str) {
    let mut since = None;
    loop {
        let now = context.crew.stands(name, since).await;
        match &now {
            Stands::Preparing | Stands::Copying { .. } => since = Some(now),
            Stands::Waiting { .. } | Stands::Works(_) | Stands::Failed(_) | Stands::Gone => return,
        }
    }
}

fn cancelled(context: &CallContext, name: &str) -> String {
    if context.crew.row(name).is_some_and(|row| row.runs()) {
        format!("The call was stopped by the person; {name} works already.")
    } else {
        format!("Stopped by the person before {name} began; nothing of it is left.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_spawn_is_said() {
        let why = |input: Value| Spawn.wish(Path::new("/"), &input).unwrap_err();
        insta::assert_snapshot!(
            [
                json!({}),
                json!({"name": "../x", "prompt": "p"}),
                json!({"name": "x", "prompt": " "}),
                json!({"name": "x", "prompt": "p", "workspace": "mine"}),
                json!({"name": "x", "prompt": "p", "tools": "read"}),
                json!({"name": "x", "prompt": "p", "budget": 0}),
            ]
            .map(why)
            .join("\n")
        );
    }
}
