//! `todo`: the model's list of things to do, shown to the person. It touches nothing.

use std::path::Path;

use serde_json::{Value, json};

use crate::api::access::{Class, Preview, Wish};
use crate::api::entry::{CallStatus, Details, TodoItem, TodoState};
use crate::api::message::ToolSpec;
use crate::tool::input::Input;
use crate::tool::{CallContext, Later, Tool, ToolEnd};

const SHAPE: &str = "{\"items\": [{\"text\": …, \"state\": \"open\" | \"active\" | \"done\"}]}";
const STATES: [(&str, TodoState); 3] =
    [("open", TodoState::Open), ("active", TodoState::Active), ("done", TodoState::Done)];
/// Most items of a list.
const ITEMS_MAX: usize = 100;

/// The tool.
pub struct TodoTool;

impl Tool for TodoTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "todo",
            description: "Shows the person your list of things to do for a task of several steps. Send the whole list \
                each time; at most one item should be active.",
            schema: json!({
                "type": "object",
                "properties": {
                    "items": {
                        "type": "array",
                        "maxItems": ITEMS_MAX,
                        "description": "All items, in order.",
                        "items": {
                            "type": "object",
                            "properties": {
                                "text": {"type": "string", "description": "What is to be done, in a few words."},
                                "state": {"type": "string", "enum": STATES.map(|(word, _)| word)},
                            },
                            "required": ["text", "state"],
                            "additionalProperties": false,
                        },
                    },
                },
                "required": ["items"],
                "additionalProperties": false,
            }),
        }
    }

    fn title(&self, input: &Value) -> String {
        items(input).map(|items| summary(&items)).unwrap_or_default()
    }

    fn parallel(&self) -> bool {
        false
    }

    fn wish(&self, _: &Path, input: &Value) -> Result<Wish, String> {
        let text = summary(&items(input)?);
        Ok(Wish {
            tool: "todo".to_owned(),
            class: Class::Read,
            paths: Vec::new(),
            command: None,
            preview: Preview::Text { text },
        })
    }

    fn run<'a>(&'a self, _: &'a CallContext, input: &'a Value) -> Later<'a, ToolEnd> {
        Box::pin(async move {
            match items(input) {
                Ok(items) => {
                    let output = format!("The list is shown: {}.", summary(&items));
                    ToolEnd { details: Details::Todo { items }, ..ToolEnd::text(CallStatus::Ok, output) }
                }
                Err(why) => ToolEnd::text(CallStatus::Error, why),
            }
        })
    }
}

fn items(input: &Value) -> Result<Vec<TodoItem>, String> {
    let input = Input::read("todo", input, &["items"], SHAPE)?;
    let objects = input.objects("items", &["text", "state"])?;
    if objects.len() > ITEMS_MAX {
        return Err(input.error("items", &format!("holds {} items; at most {ITEMS_MAX} fit", objects.len())));
    }
    objects
        .iter()
        .map(|item| {
            let word = item.text("state")?;
            let state = STATES.iter().find(|(known, _)| *known == word).map(|(_, state)| *state);
            let state = state.ok_or_else(|| {
                item.error("state", &format!("must be `open`, `active` or `done`, not the string {word:?}"))
            })?;
            Ok(TodoItem { text: item.text("text")?.to_owned(), state })
        })
        .collect()
}

fn summary(items: &[TodoItem]) -> String {
    let count = |state| items.iter().filter(|item| item.state == state).count();
    let (done, active) = (count(TodoState::Done), count(TodoState::Active));
    match items.len() {
        0 => "nothing to do".to_owned(),
        all => format!("{done} of {all} done, {active} active"),
    }
}
