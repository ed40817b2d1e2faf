//! `write`: a whole file, new or replaced.

use std::path::Path;

use serde_json::{Value, json};

use crate::api::access::Wish;
use crate::api::message::ToolSpec;
use crate::law::output::line_count;
use crate::tool::change::{Before, Change};
use crate::tool::input::{Input, one_line, peek};
use crate::tool::site::Site;
use crate::tool::{CallContext, Later, Tool, ToolEnd, change_call};

const SHAPE: &str = "{\"path\": …, \"content\": …}";

/// The tool.
pub struct WriteTool;

impl Tool for WriteTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "write",
            description: "Writes a whole file: makes it (and its directories) or replaces all that is in it. The \
                content is written exactly as given. An existing file keeps its mode. To change parts of a file \
                use edit.",
            schema: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "The file, relative to the working directory or absolute."},
                    "content": {"type": "string", "description": "Everything that shall stand in the file."},
                },
                "required": ["path", "content"],
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
        Ok(change_call::wish("write", site.cwd(), &[plan(site, input)?]))
    }

    fn run<'a>(&'a self, context: &'a CallContext, input: &'a Value) -> Later<'a, ToolEnd> {
        change_call::run(context, input, |call, input| {
            let change = plan(&call.site, input)?;
            let shown = call.site.show(&change.path);
            let after = change.after.as_deref().unwrap_or_default();
            let size = format!("{} lines, {} bytes", line_count(after), after.len());
            let verb = match &change.before {
                None => "Created",
                Some(before) if before.bytes == after => "Wrote the same content to",
                Some(_) => "Replaced",
            };
            change_call::end(call, std::slice::from_ref(&change), |_| format!("{verb} {shown} ({size})."))
        })
    }
}

fn plan(site: &Site, input: &Value) -> Result<Change, String> {
    let input = Input::read("write", input, &["path", "content"], SHAPE)?;
    let (written, content) = (input.text("path")?, input.text("content")?);
    let file = site.resolve(written)?;
    if written.ends_with('/') {
        return Err(format!("{written} names a directory; name a file in it"));
    }
    let before = Before::read(site, &file)?;
    Ok(Change { path: file, before, after: Some(content.as_bytes().to_vec()), mode: None })
}
