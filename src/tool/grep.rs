//! `grep`: lines that match a regular expression, in the files that git would see.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, SinkContext, SinkContextKind, SinkFinish, SinkMatch,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::api::access::{Class, Preview, Wish};
use crate::api::entry::CallStatus;
use crate::api::message::ToolSpec;
use crate::law::output::shown;
use crate::tool::blocking::{self, BlockingCall};
use crate::tool::input::{Input, one_line, peek};
use crate::tool::sink::Sink;
use crate::tool::site::Site;
use crate::tool::walk::{self, Filter, Unread};
use crate::tool::{CallContext, Later, Tool, ToolEnd};

const SHAPE: &str = "{\"pattern\": …, \"path\": …, \"glob\": …, \"context\": lines}";
/// Matching lines after which a search ends.
const MATCHES_MAX: u64 = 10_000;
/// Most lines of context on each side.
const CONTEXT_MAX: u64 = 50;
/// Bytes of a line that are shown.
const LINE_BYTES_MAX: usize = 400;
/// Bytes shown before a match that stands far in a line.
const BEFORE_MATCH: usize = 100;

/// The tool.
pub struct GrepTool;

impl Tool for GrepTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "grep",
            description: "Searches file contents for a regular expression (Rust syntax, line by line; `(?i)` at its \
                start ignores case). Files that git ignores and binary files are left out, hidden ones are \
                searched. Shows each file's path, then its matching lines as `number:line`, context lines as \
                `number-line`.",
            schema: json!({
                "type": "object",
                "properties": {
                    "pattern": {"type": "string", "description": "The regular expression."},
                    "path": {"type": "string", "description": "Directory or file to search. Default: the working directory."},
                    "glob": {"type": "string", "description": "Only files like this, e.g. `*.rs` or `src/**/*.ts`; with a leading `!` all but these."},
                    "context": {"type": "integer", "minimum": 0, "maximum": CONTEXT_MAX, "description": "Lines to show before and after each match. Default: 0."},
                },
                "required": ["pattern"],
                "additionalProperties": false,
            }),
        }
    }

    fn title(&self, input: &Value) -> String {
        let mut title = one_line(peek(input, "pattern"), 80);
        for (word, name) in [(" in ", "path"), (" · ", "glob")] {
            let value = peek(input, name);
            if !value.is_empty() {
                title.push_str(word);
                title.push_str(&one_line(value, 60));
            }
        }
        title
    }

    fn parallel(&self) -> bool {
        true
    }

    fn wish(&self, cwd: &Path, input: &Value) -> Result<Wish, String> {
        self.wish_in(&Site::at(cwd), input)
    }

    fn wish_in(&self, site: &Site, input: &Value) -> Result<Wish, String> {
        let asked = Asked::of(input)?;
        matcher(asked.pattern)?;
        let root = walk::root(site, asked.path)?;
        let text = format!("search {} for {}", site.show(&root), asked.pattern);
        Ok(Wish {
            tool: "grep".to_owned(),
            class: Class::Read,
            paths: vec![root],
            command: None,
            preview: Preview::Text { text },
        })
    }

    fn run<'a>(&'a self, context: &'a CallContext, input: &'a Value) -> Later<'a, ToolEnd> {
        blocking::run(context, input, search)
    }
}

struct Asked<'a> {
    pattern: &'a str,
    path: Option<&'a str>,
    glob: Option<&'a str>,
    context: usize,
}

impl<'a> Asked<'a> {
    fn of(input: &'a Value) -> Result<Self, String> {
        let input = Input::read("grep", input, &["pattern", "path", "glob", "context"], SHAPE)?;
        let pattern = input.text("pattern")?;
        if pattern.is_empty() {
            return Err(input.error("pattern", "is empty; it would match every line"));
        }
        let context = input.count_opt("context", 0)?.unwrap_or(0);
        if context > CONTEXT_MAX {
            return Err(input.error("context", &format!("must be at most {CONTEXT_MAX}, not {context}")));
        }
        Ok(Self {
            pattern,
            path: input.text_opt("path")?,
            glob: input.text_opt("glob")?.filter(|glob| !glob.is_empty()),
            context: usize::try_from(context).unwrap_or(0),
        })
    }
}

fn matcher(pattern: &str) -> Result<RegexMatcher, String> {
    RegexMatcherBuilder::new().line_terminator(Some(b'\n')).build(pattern).map_err(|error| {
        format!("grep: the pattern {pattern:?} cannot be used: {error}\n(a literal bracket or brace needs a backslash; a match lies within one line)")
    })
}

/// What a search has seen.
#[derive(Default)]
struct Tally {
    searched: u64,
    matching: u64,
    lines: u64,
    binary: u64,
    hidden: u64,
    unread: Unread,
}

fn search(call: &BlockingCall, input: &Value) -> Result<ToolEnd, String> {
    let asked = Asked::of(input)?;
    let matcher = matcher(asked.pattern)?;
    let root = walk::root(&call.site, asked.path)?;
    call.check(&root)?;
    let disk = call.site.disk(&root);
    let filter = asked.glob.map(|glob| Filter::new(&disk, glob)).transpose()?;
    let mut searcher = SearcherBuilder::new()
        .line_number(true)
        .before_context(asked.context)
        .after_context(asked.context)
        .binary_detection(BinaryDetection::quit(0))
        .build();
    let mut sink = Sink::new(call);
    let mut tally = Tally::default();
    for entry in walk::files(&call.site, &root, true) {
        if call.cancelled() || tally.lines >= MATCHES_MAX {
            break;
        }
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                tally.unread.add(call.site.say(error));
                continue;
            }
        };
        if !walk::is_file(&entry) || filter.as_ref().is_some_and(|filter| !filter.wants(entry.path())) {
            continue;
        }
        let seen = call.site.seen(entry.path());
        if call.sight.hides(&root, &seen) {
            tally.hidden += 1;
            continue;
        }
        tally.searched += 1;
        let mut page = Page::new(&matcher, &call.cancel, MATCHES_MAX - tally.lines);
        let shown = call.site.show(&seen);
        let read = call
            .site
            .open(entry.path())
            .and_then(|file| searcher.search_reader(&matcher, Interruptible(file, &call.cancel), &mut page));
        match read {
            Ok(()) => {}
            Err(_) if call.cancelled() => break,
            Err(error) => tally.unread.add(format!("{shown}: {error}")),
        }
        if page.binary {
            tally.binary += 1;
        } else if page.matches > 0 {
            tally.matching += 1;
            tally.lines += page.matches;
            let gap = if tally.matching > 1 { "\n" } else { "" };
            if !sink.push(format!("{gap}{shown}\n{}", page.text).as_bytes()) {
                break;
            }
            sink.tell(&shown);
        }
    }
    let status = if call.cancelled() { CallStatus::Cancelled } else { CallStatus::Ok };
    let place = call.site.show(&root);
    Ok(sink.finish(status, |_| tally.notes(status, &asked, &place)))
}

impl Tally {
    fn notes(&self, status: CallStatus, asked: &Asked<'_>, place: &str) -> Vec<String> {
        let plural = |count: u64, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
        let mut notes = Vec::new();
        if self.lines == 0 {
            let only = asked.glob.map(|glob| format!(" like {glob}")).unwrap_or_default();
            notes.push(format!(
                "(no match for {} in {place}; {}{only} searched)",
                asked.pattern,
                plural(self.searched, "file")
            ));
        } else {
            notes.push(format!(
                "({} in {})",
                plural(self.lines, "matching line"),
                plural(self.matching, "file")
            ));
        }
        if self.lines >= MATCHES_MAX {
            notes.push(format!(
                "(the search ended after {MATCHES_MAX} lines; narrow it by pattern, path or glob)"
            ));
        }
        if self.binary > 0 {
            notes.push(format!("({} skipped)", plural(self.binary, "binary file")));
        }
        notes.extend(walk::hidden_note(self.hidden));
        notes.extend(self.unread.note());
        if status == CallStatus::Cancelled {
            notes.push("(cancelled)".to_owned());
        }
        notes
    }
}

/// A file whose reading ends when the call is cancelled.
struct Interruptible<'a>(File, &'a CancellationToken);

impl Read for Interruptible<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.1.is_cancelled() {
            return Err(std::io::Error::other("cancelled"));
        }
        self.0.read(buffer)
    }
}

/// The matches of one file, as text.
struct Page<'a> {
    matcher: &'a RegexMatcher,
    cancel: &'a CancellationToken,
    most: u64,
    matches: u64,
    binary: bool,
    text: String,
}

impl<'a> Page<'a> {
    fn new(matcher: &'a RegexMatcher, cancel: &'a CancellationToken, most: u64) -> Self {
        Self { matcher, cancel, most, matches: 0, binary: false, text: String::new() }
    }

    fn line(&mut self, number: Option<u64>, sign: char, bytes: &[u8]) {
        let number = number.unwrap_or(0);
        let line = trim_end(bytes);
        self.text.push_str(&format!("{number}{sign}{}\n", window(line, self.matcher)));
    }
}

fn trim_end(bytes: &[u8]) -> &[u8] {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    bytes.strip_suffix(b"\r").unwrap_or(bytes)
}

/// A line as shown: whole, or the part around its first match.
fn window(line: &[u8], matcher: &RegexMatcher) -> String {
    if line.len() <= LINE_BYTES_MAX {
        return shown(line);
    }
    let at = matcher.find(line).ok().flatten().map_or(0, |found| found.start());
    let mut start = at.saturating_sub(BEFORE_MATCH);
    let mut end = (start + LINE_BYTES_MAX).min(line.len());
    // not inside a character: its following bytes are 10xxxxxx
    let follows = |at: usize| line.get(at).is_some_and(|byte| byte & 0b1100_0000 == 0b1000_0000);
    for _ in 0..3 {
        start += usize::from(start > 0 && follows(start));
        end -= usize::from(end < line.len() && end > start && follows(end));
    }
    let (before, after) = (if start > 0 { "… " } else { "" }, if end < line.len() { " …" } else { "" });
    format!("{before}{}{after} (line cut: it has {} bytes)", shown(&line[start..end]), line.len())
}

impl grep_searcher::Sink for Page<'_> {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, Self::Error> {
        self.matches += 1;
        self.line(found.line_number(), ':', found.bytes());
        Ok(self.matches < self.most && !self.cancel.is_cancelled())
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, Self::Error> {
        let sign = match context.kind() {
            SinkContextKind::Before | SinkContextKind::After | SinkContextKind::Other => '-',
        };
        self.line(context.line_number(), sign, context.bytes());
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, Self::Error> {
        self.text.push_str("--\n");
        Ok(true)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> Result<(), Self::Error> {
        self.binary = finish.binary_byte_offset().is_some();
        Ok(())
    }
}
