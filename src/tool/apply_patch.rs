//! `apply_patch`: a patch over several files, all or nothing.
//!
//! Operations are worked out in order over the files as they would be, so that a patch may add a
//! file and change it further down; only when every one has its place is anything written.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::api::access::Wish;
use crate::api::message::ToolSpec;
use crate::api::title::patched;
use crate::tool::change::{Before, Change};
use crate::tool::input::{Input, one_line, peek};
use crate::tool::patch::{self, Operation};
use crate::tool::site::Site;
use crate::tool::{CallContext, Later, Tool, ToolEnd, change_call, patch_text, path};

const SHAPE: &str = "{\"patch\": …}";

/// The tool.
pub struct ApplyPatchTool;

impl Tool for ApplyPatchTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "apply_patch",
            description: "Applies a patch to one or several files, all of it or nothing. The patch begins with the \
                line `*** Begin Patch` and ends with `*** End Patch`. Between them stand file parts:\n\
                `*** Add File: PATH`, then every line of the new file after a `+`;\n\
                `*** Delete File: PATH`;\n\
                `*** Update File: PATH`, perhaps `*** Move to: NEW PATH`, then changes. A change begins with `@@` \
                or `@@ LINE`, where LINE is a line that stands before it (a function or class head), then lines \
                after a space (they stay), `-` (they go) or `+` (they come), with about three lines of context \
                around; `*** End of File` after a change at the end of the file.",
            schema: json!({
                "type": "object",
                "properties": {
                    "patch": {"type": "string", "description": "The whole patch, markers included."},
                },
                "required": ["patch"],
                "additionalProperties": false,
            }),
        }
    }

    fn title(&self, input: &Value) -> String {
        one_line(&patched(peek(input, "patch")), 120)
    }

    fn parallel(&self) -> bool {
        false
    }

    fn wish(&self, cwd: &Path, input: &Value) -> Result<Wish, String> {
        self.wish_in(&Site::at(cwd), input)
    }

    fn wish_in(&self, site: &Site, input: &Value) -> Result<Wish, String> {
        Ok(change_call::wish("apply_patch", site.cwd(), &plan(site, input)?.changes))
    }

    fn run<'a>(&'a self, context: &'a CallContext, input: &'a Value) -> Later<'a, ToolEnd> {
        change_call::run(context, input, |call, input| {
            let plan = plan(&call.site, input)?;
            change_call::end(call, &plan.changes, |diff| {
                format!("Patched (+{} −{} lines):\n{}", diff.added, diff.removed, plan.words.join("\n"))
            })
        })
    }
}

/// A patch worked out.
struct Plan {
    changes: Vec<Change>,
    /// One line for each operation.
    words: Vec<String>,
}

fn plan(site: &Site, input: &Value) -> Result<Plan, String> {
    let input = Input::read("apply_patch", input, &["patch"], SHAPE)?;
    let operations = patch::parse(input.text("patch")?).map_err(|why| format!("apply_patch: {why}"))?;
    let mut draft = Draft { site, files: BTreeMap::new() };
    let mut words = Vec::new();
    for operation in &operations {
        words.push(draft.step(operation).map_err(|why| format!("{why}\nNothing was changed."))?);
    }
    let changes = draft.changes();
    if changes.is_empty() {
        return Err("the patch changes nothing: the files hold its result already".to_owned());
    }
    Ok(Plan { changes, words })
}

/// The files as they would be.
struct Draft<'a> {
    site: &'a Site,
    files: BTreeMap<PathBuf, Drafted>,
}

struct Drafted {
    before: Option<Before>,
    now: Option<Vec<u8>>,
    mode: Option<u32>,
}

impl Draft<'_> {
    fn file(&mut self, path: &Path) -> Result<&mut Drafted, String> {
        if !self.files.contains_key(path) {
            let before = Before::read(self.site, path)?;
            let now = before.as_ref().map(|before| before.bytes.clone());
            self.files.insert(path.to_owned(), Drafted { before, now, mode: None });
        }
        self.files.get_mut(path).ok_or_else(|| format!("{} is not known", path.display()))
    }

    /// The bytes that stand in a file now.
    fn bytes(&mut self, path: &Path) -> Result<Vec<u8>, String> {
        let now = self.file(path)?.now.clone();
        now.ok_or_else(|| path::missing(self.site, path))
    }

    /// Works out one operation; its words.
    fn step(&mut self, operation: &Operation) -> Result<String, String> {
        match operation {
            Operation::Add { path, content } => {
                let file = self.site.resolve(path)?;
                let drafted = self.file(&file)?;
                let sign = if drafted.now.is_some() { 'M' } else { 'A' };
                drafted.now = Some(content.as_bytes().to_vec());
                Ok(format!("{sign} {}", self.site.show(&file)))
            }
            Operation::Delete { path } => {
                let file = self.own_file(path)?;
                self.bytes(&file)?;
                self.file(&file)?.now = None;
                Ok(format!("D {}", self.site.show(&file)))
            }
            Operation::Update { path, to, chunks } => {
                let file = if to.is_some() { self.own_file(path)? } else { self.site.resolve(path)? };
                let shown = self.site.show(&file);
                let bytes = self.bytes(&file)?;
                let after = patch_text::apply(&bytes, chunks).map_err(|why| format!("{shown}: {why}"))?;
                match to {
                    None => {
                        self.file(&file)?.now = Some(after);
                        Ok(format!("M {shown}"))
                    }
                    Some(to) => self.move_to(&file, &self.site.resolve(to)?, after),
                }
            }
        }
    }

    fn move_to(&mut self, file: &Path, to: &Path, after: Vec<u8>) -> Result<String, String> {
        let source = self.file(file)?;
        let mode = source.mode.or(source.before.as_ref().map(|before| before.mode));
        source.now = None;
        let target = self.file(to)?;
        target.now = Some(after);
        target.mode = mode;
        Ok(format!("R {} → {}", self.site.show(file), self.site.show(to)))
    }

    /// The path of a file that goes or moves: a link itself would go then, not what it points to.
    fn own_file(&self, written: &str) -> Result<PathBuf, String> {
        let file = self.site.resolve(written)?;
        if self.site.is_link(written)? {
            return Err(format!(
                "{written} is a link to {}; remove or rename links with bash",
                self.site.show(&file)
            ));
        }
        Ok(file)
    }

    fn changes(self) -> Vec<Change> {
        self.files
            .into_iter()
            .filter(|(_, file)| {
                let was = file.before.as_ref().map(|before| &before.bytes);
                was != file.now.as_ref()
                    || file.mode.is_some_and(|m| file.before.as_ref().is_some_and(|b| b.mode != m))
            })
            .map(|(path, file)| Change { path, before: file.before, after: file.now, mode: file.mode })
            .collect()
    }
}
