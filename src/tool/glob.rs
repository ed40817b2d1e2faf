//! `glob`: the files that git would see, by a pattern of their paths, the newest first.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::{Value, json};

use crate::api::access::{Class, Preview, Wish};
use crate::api::entry::CallStatus;
use crate::api::message::ToolSpec;
use crate::tool::blocking::{self, BlockingCall};
use crate::tool::input::{Input, one_line, peek};
use crate::tool::sink::Sink;
use crate::tool::site::Site;
use crate::tool::walk::{self, Filter, Unread};
use crate::tool::{CallContext, Later, Tool, ToolEnd};

const SHAPE: &str = "{\"pattern\": …, \"path\": …}";
/// Files after which a listing ends.
const FILES_MAX: usize = 100_000;

/// The tool.
pub struct GlobTool;

impl Tool for GlobTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "glob",
            description: "Lists files by a pattern of their paths, the most recently changed first. `*.rs` matches at \
                any depth, `src/*.rs` only there, `**` crosses directories, `{a,b}` either. Files that git ignores \
                are left out, hidden ones are listed.",
            schema: json!({
                "type": "object",
                "properties": {
                    "pattern": {"type": "string", "description": "The pattern, relative to `path`."},
                    "path": {"type": "string", "description": "Directory to look in. Default: the working directory."},
                },
                "required": ["pattern"],
                "additionalProperties": false,
            }),
        }
    }

    fn title(&self, input: &Value) -> String {
        let pattern = one_line(peek(input, "pattern"), 80);
        match peek(input, "path") {
            "" => pattern,
            path => format!("{pattern} in {}", one_line(path, 60)),
        }
    }

    fn parallel(&self) -> bool {
        true
    }

    fn wish(&self, cwd: &Path, input: &Value) -> Result<Wish, String> {
        self.wish_in(&Site::at(cwd), input)
    }

    fn wish_in(&self, site: &Site, input: &Value) -> Result<Wish, String> {
        let asked = Asked::of(site, input)?;
        let text = format!("list {} in {}", asked.pattern, site.show(&asked.root));
        Ok(Wish {
            tool: "glob".to_owned(),
            class: Class::Read,
            paths: vec![asked.root],
            command: None,
            preview: Preview::Text { text },
        })
    }

    fn run<'a>(&'a self, context: &'a CallContext, input: &'a Value) -> Later<'a, ToolEnd> {
        blocking::run(context, input, list)
    }
}

struct Asked<'a> {
    pattern: &'a str,
    root: PathBuf,
    filter: Filter,
}

impl<'a> Asked<'a> {
    fn of(site: &Site, input: &'a Value) -> Result<Self, String> {
        let input = Input::read("glob", input, &["pattern", "path"], SHAPE)?;
        let pattern = input.text("pattern")?;
        if pattern.trim().is_empty() {
            return Err(input.error("pattern", "is empty; `*` lists every file"));
        }
        let root = walk::root(site, input.text_opt("path")?)?;
        let disk = site.disk(&root);
        if !disk.is_dir() {
            return Err(input.error("path", &format!("must be a directory; {} is a file", site.show(&root))));
        }
        let filter = Filter::new(&disk, pattern).map_err(|why| format!("glob: {why}"))?;
        Ok(Self { pattern, root, filter })
    }
}

fn list(call: &BlockingCall, input: &Value) -> Result<ToolEnd, String> {
    let asked = Asked::of(&call.site, input)?;
    call.check(&asked.root)?;
    let mut files: Vec<(Reverse<SystemTime>, PathBuf)> = Vec::new();
    let mut unread = Unread::default();
    let mut hidden = 0;
    for entry in walk::files(&call.site, &asked.root, false) {
        if call.cancelled() || files.len() >= FILES_MAX {
            break;
        }
        match entry {
            Ok(entry) if is_listed(&entry) && asked.filter.wants(entry.path()) => {
                let seen = call.site.seen(entry.path());
                if call.sight.hides(&asked.root, &seen) {
                    hidden += 1;
                    continue;
                }
                let changed = entry.metadata().ok().and_then(|meta| meta.modified().ok());
                files.push((Reverse(changed.unwrap_or(SystemTime::UNIX_EPOCH)), seen));
            }
            Ok(_) => {}
            Err(error) => unread.add(call.site.say(error)),
        }
    }
    let cut = files.len() >= FILES_MAX;
    files.sort();
    let mut sink = Sink::new(call);
    for (_, file) in &files {
        if !sink.push(format!("{}\n", call.site.show(file)).as_bytes()) {
            break;
        }
    }
    let status = if call.cancelled() { CallStatus::Cancelled } else { CallStatus::Ok };
    Ok(sink.finish(status, |_| {
        let place = call.site.show(&asked.root);
        let mut notes = match files.len() {
            0 => vec![format!(
                "(no file like {} in {place}; files that git ignores are not listed)",
                asked.pattern
            )],
            1 => Vec::new(),
            count => vec![format!("({count} files)")],
        };
        if cut {
            notes.push(format!("(the listing ended after {FILES_MAX} files; narrow the pattern)"));
        }
        notes.extend(walk::hidden_note(hidden));
        notes.extend(unread.note());
        if status == CallStatus::Cancelled {
            notes.push("(cancelled)".to_owned());
        }
        notes
    }))
}

/// Files, and links to files.
fn is_listed(entry: &ignore::DirEntry) -> bool {
    walk::is_file(entry) || (entry.path_is_symlink() && entry.path().is_file())
}
