//! What stands inside a paragraph, a heading or a cell: pulldown-cmark reads it, looks come out.
//!
//! The block structure is decided already (`machine`), so a line that could begin a block is given to
//! the parser behind a character that none can begin with, and which counts as white space around emphasis.

use pulldown_cmark::{BrokenLink, CodeBlockKind, CowStr, Event, Options, Parser, Tag, TagEnd};

use crate::ui::widget::link::Link;
use crate::ui::widget::row::{EMPHASIS, Look, Role, STRIKE, STRONG};
use crate::ui::widget::text::tame;
use crate::ui::widget::wrap::Piece;

/// Stands before a line: white space to the rules of emphasis, and no block begins with it.
const GUARD: char = '\u{2028}';

/// The lines (split at hard breaks only) of some source lines, in looks.
pub(super) fn inline<'a>(lines: impl Iterator<Item = &'a str> + Clone, base: Look) -> Vec<Vec<Piece>> {
    if lines.clone().all(plain) {
        let mut text = String::new();
        for line in lines {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(&tame(line.trim_end()));
        }
        return vec![vec![(text, base)]];
    }
    let mut src = String::new();
    for line in lines {
        if !src.is_empty() {
            src.push('\n');
        }
        if src.is_empty() || !goes_on(line) {
            src.push(GUARD);
        }
        src.push_str(line);
    }
    let mut reader = Reader { lines: vec![Vec::new()], looks: vec![base], links: Vec::new() };
    let parser = Parser::new_with_broken_link_callback(&src, Options::ENABLE_STRIKETHROUGH, Some(note));
    for event in parser {
        reader.event(event);
    }
    reader.lines
}

/// The title by which a note's mark is known.
const NOTE: &str = "note";

/// What refers to nothing: a note's mark is one whether its note has come or not.
fn note<'a>(link: BrokenLink<'a>) -> Option<(CowStr<'a>, CowStr<'a>)> {
    let name = link.reference.strip_prefix('^')?;
    let fine = !name.is_empty() && !name.contains(char::is_whitespace);
    fine.then_some((CowStr::Borrowed(""), CowStr::Borrowed(NOTE)))
}

/// Whether a line can only go on with a paragraph. The destination of a link may stand on such a line, where a
/// guard would become part of it.
fn goes_on(line: &str) -> bool {
    let first = |c: char| c.is_ascii_alphabetic() || matches!(c, '"' | '\'' | '(' | ')' | '/' | '.');
    match line.as_bytes() {
        [b'`', ..] => !line.starts_with("```"),
        [b'_', next, ..] => next.is_ascii_alphanumeric(),
        _ => line.starts_with(first),
    }
}

/// Whether a line holds nothing that the parser would read as more than text.
fn plain(line: &str) -> bool {
    let mark = |byte: u8| {
        matches!(byte, b'*' | b'_' | b'`' | b'[' | b']' | b'<' | b'&' | b'\\' | b'~' | b'!')
            || byte < 0x20
            || byte == 0x7f
    };
    !line.bytes().any(mark) && !line.ends_with("  ")
}

struct Reader {
    lines: Vec<Vec<Piece>>,
    looks: Vec<Look>,
    links: Vec<Open>,
}

/// An open link.
#[derive(Default)]
struct Open {
    /// Where it goes.
    target: String,
    /// Its text so far.
    shown: String,
    link: Option<Link>,
    /// It is the mark of a note.
    note: bool,
}

impl Reader {
    fn look(&self) -> Look {
        self.looks.last().copied().unwrap_or_default()
    }
    fn push(&mut self, text: &str, look: Look) {
        // a tag or a comment may go over lines
        let text = text.replace(GUARD, "").replace('\n', " ");
        let text = tame(&text);
        if text.is_empty() {
            return;
        }
        if let Some(open) = self.links.last_mut() {
            open.shown.push_str(&text);
        }
        let line = match self.lines.last_mut() {
            Some(line) => line,
            None => return,
        };
        match line.last_mut() {
            Some((last, same)) if *same == look => last.push_str(&text),
            Some(_) | None => line.push((text.into_owned(), look)),
        }
    }
    fn nest(&mut self, look: Look) {
        self.looks.push(look);
    }
    fn unnest(&mut self) {
        if self.looks.len() > 1 {
            self.looks.pop();
        }
    }
    fn event(&mut self, event: Event<'_>) {
        let look = self.look();
        match event {
            Event::Text(text) => {
                let note = self.links.last().is_some_and(|open| open.note && open.shown == "[");
                self.push(text.strip_prefix('^').filter(|_| note).unwrap_or(&text), look);
            }
            Event::Code(text) => self.push(&text, Look { role: Role::Code, ..look }),
            Event::InlineHtml(text) | Event::Html(text) => {
                let tag = text.trim_matches(['<', '>', '/', ' ']);
                if tag.eq_ignore_ascii_case("br") {
                    self.lines.push(Vec::new());
                } else {
                    self.push(&text, Look { role: Role::Dim, ..look });
                }
            }
            Event::SoftBreak => self.push(" ", look),
            Event::HardBreak => self.lines.push(Vec::new()),
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => {
                self.push(&text, look);
            }
            Event::Rule | Event::TaskListMarker(_) => {}
        }
    }
    fn start(&mut self, tag: Tag<'_>) {
        let look = self.look();
        match tag {
            Tag::Emphasis => self.nest(look.with(EMPHASIS)),
            Tag::Strong => self.nest(look.with(STRONG)),
            Tag::Strikethrough => self.nest(look.with(STRIKE)),
            Tag::Link { dest_url, title, .. } if dest_url.is_empty() && &*title == NOTE => {
                let look = Look { role: Role::Accent, ..look };
                self.nest(look);
                self.links.push(Open { note: true, ..Open::default() });
                self.push("[", look);
            }
            Tag::Link { dest_url, .. } => self.open(&dest_url, look),
            Tag::Image { dest_url, .. } => {
                self.push("🖼 ", Look { role: Role::Dim, ..look });
                self.open(&dest_url, look);
            }
            Tag::CodeBlock(CodeBlockKind::Fenced(info)) => self.push(&info, look),
            _ => {}
        }
    }
    fn open(&mut self, target: &str, look: Look) {
        let link = Link::to(target);
        self.nest(Look { role: Role::Link, link, ..look });
        self.links.push(Open { target: target.to_owned(), link, ..Open::default() });
    }
    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => self.unnest(),
            TagEnd::Link | TagEnd::Image => {
                self.unnest();
                if let Some(Open { note: true, .. }) = self.links.last() {
                    self.push("]", Look { role: Role::Accent, ..self.look() });
                }
                let Some(Open { target, shown, link, .. }) = self.links.pop() else { return };
                let same = target == shown || target.strip_prefix("mailto:") == Some(shown.as_str());
                if !same && !target.is_empty() {
                    let look = Look { role: Role::Dim, ..self.look() };
                    self.push(" (", look);
                    self.push(&target, Look { link, ..look });
                    self.push(")", look);
                }
            }
            _ => {}
        }
    }
}
