//! `edit`: exact replacements in one file, all or nothing.

use std::path::Path;

use serde_json::{Value, json};

use crate::api::access::Wish;
use crate::api::message::ToolSpec;
use crate::tool::change::{Before, Change};
use crate::tool::edit_text::{self, Edit};
use crate::tool::input::{Input, one_line, peek};
use crate::tool::site::Site;
use crate::tool::{CallContext, Later, Tool, ToolEnd, change_call, path};

const SHAPE: &str = "{\"path\": …, \"edits\": [{\"old\": …, \"new\": …}]}";

/// The tool.
pub struct EditTool;

impl Tool for EditTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "edit",
            description: "Replaces exact pieces of text in one existing file. Each `old` must stand in the file \
                exactly once (white space counts), unless `all` is true; give enough lines around it to make it \
                unique, without the line numbers that read shows. The edits apply in order, all or none. Line \
                ends, a BOM, the mode and every byte outside the edits stay as they are. To make a new file or \
                replace a whole one use write.",
            schema: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "The file, relative to the working directory or absolute."},
                    "edits": {
                        "type": "array",
                        "minItems": 1,
                        "description": "The replacements, applied one after the other.",
                        "items": {
                            "type": "object",
                            "properties": {
                                "old": {"type": "string", "description": "The text that is there, exactly."},
                                "new": {"type": "string", "description": "The text to put in its place; empty removes it."},
                                "all": {"type": "boolean", "description": "Replace it everywhere. Default: false."},
                            },
                            "required": ["old", "new"],
                            "additionalProperties": false,
                        },
                    },
                },
                "required": ["path", "edits"],
                "additionalProperties": false,
            }),
        }
    }

    fn title(&self, input: &Value) -> String {
        one_line(peek(input, "path"), 120)
    }

    fn parallel(&self) -> bool {
        false
    }

    fn wish(&self, cwd: &Path, input: &Value) -> Result<Wish, String> {
        self.wish_in(&Site::at(cwd), input)
    }

    fn wish_in(&self, site: &Site, input: &Value) -> Result<Wish, String> {
        Ok(change_call::wish("edit", site.cwd(), &plan(site, input)?.0))
    }

    fn run<'a>(&'a self, context: &'a CallContext, input: &'a Value) -> Later<'a, ToolEnd> {
        change_call::run(context, input, |call, input| {
            let (changes, places) = plan(&call.site, input)?;
            let word = if places == 1 { "1 place".to_owned() } else { format!("{places} places") };
            let shown = call.site.show(&changes[0].path);
            change_call::end(call, &changes, |diff| {
                format!("Edited {shown} in {word} (+{} −{} lines).", diff.added, diff.removed)
            })
        })
    }
}

/// The change, and in how many places.
fn plan(site: &Site, input: &Value) -> Result<(Vec<Change>, usize), String> {
    let input = Input::read("edit", input, &["path", "edits"], SHAPE)?;
    let written = input.text("path")?;
    let mut edits = Vec::new();
    for edit in input.objects("edits", &["old", "new", "all"])? {
        edits.push(Edit {
            old: edit.text("old")?.to_owned(),
            new: edit.text("new")?.to_owned(),
            all: edit.flag("all")?,
        });
    }
    if edits.is_empty() {
        return Err(input.error("edits", "is empty; give at least one {old, new}"));
    }
    let file = site.resolve(written)?;
    let before = Before::read(site, &file)?.ok_or_else(|| path::missing(site, &file))?;
    let (after, places) = edit_text::apply(&before.bytes, &edits)
        .map_err(|why| format!("{}: {why}. Nothing was changed.", site.show(&file)))?;
    Ok((vec![Change { path: file, before: Some(before), after: Some(after), mode: None }], places))
}
