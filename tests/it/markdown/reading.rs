//! What a Markdown text says, leaf by leaf: as our blocks have it, and as pulldown-cmark has it.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use windlass::ui::widget::markdown::{Container, Doc, Kind, Mark, lay};
use windlass::ui::widget::row::Role;

/// A leaf: what it stands in, what it is, and its characters without white space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// `>` for a quote, `-` and `1` for an item of a list, `x` and `o` for one of a list of things to do.
    pub place: String,
    /// `p`, `h1`, `code`, `rule`, `table`, `html`.
    pub kind: String,
    /// Its characters.
    pub text: String,
}

fn solid(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// As our blocks have it.
pub fn ours(src: &str) -> Vec<Leaf> {
    let mut doc = Doc::default();
    doc.finish(src);
    let mut out: Vec<Leaf> = Vec::new();
    for block in doc.blocks() {
        let place = block
            .place
            .iter()
            .map(|container| match container {
                Container::Quote => '>',
                Container::Note { .. } => '^',
                Container::Item { mark: Mark::Bullet, .. } => '-',
                Container::Item { mark: Mark::Number(_), .. } => '1',
                Container::Item { mark: Mark::Task(true), .. } => 'x',
                Container::Item { mark: Mark::Task(false), .. } => 'o',
            })
            .collect();
        let kind = match &block.kind {
            Kind::Paragraph => "p".to_owned(),
            Kind::Heading(level) => format!("h{level}"),
            Kind::Rule => "rule".to_owned(),
            Kind::Code { .. } => "code".to_owned(),
            Kind::Literal | Kind::Fold | Kind::FoldEnd => "html".to_owned(),
            Kind::Table { .. } | Kind::Held(_) | Kind::Unread(_) => "table".to_owned(),
            Kind::Empty => "empty".to_owned(),
        };
        let mut text = String::new();
        for row in lay(&doc, src, block, 10_000, Role::Text, &|_| None) {
            let mut prefix = row.indent as usize;
            for (piece, look) in row.pieces() {
                let own = &piece[prefix.min(piece.len())..];
                prefix -= prefix.min(piece.len());
                let mark = look.role == Role::Border || look.role == Role::Dim && kind != "html";
                if !mark {
                    text.push_str(own);
                }
            }
        }
        let text = if kind.starts_with('h') && kind != "html" {
            text.trim_start().trim_start_matches('#').to_owned()
        } else {
            text
        };
        out.push(Leaf { place, kind, text: solid(&text) });
    }
    out
}

/// As pulldown-cmark has it.
pub fn theirs(src: &str) -> Vec<Leaf> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut reader = Reader::default();
    for event in Parser::new_ext(src, options) {
        reader.event(event);
    }
    reader.end();
    reader.out
}

#[derive(Default)]
struct Reader {
    out: Vec<Leaf>,
    place: Vec<char>,
    lists: Vec<char>,
    /// The open leaf: kind and text.
    leaf: Option<(String, String)>,
    /// Leaves before the item that is open now.
    before: Vec<usize>,
}

impl Reader {
    fn begin(&mut self, kind: &str) {
        self.end();
        self.leaf = Some((kind.to_owned(), String::new()));
    }
    fn end(&mut self) {
        if let Some((kind, text)) = self.leaf.take() {
            self.out.push(Leaf { place: self.place.iter().collect(), kind, text: solid(&text) });
        }
    }
    fn text(&mut self, text: &str) {
        self.leaf.get_or_insert_with(|| ("p".to_owned(), String::new())).1.push_str(text);
    }
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(Tag::BlockQuote(_)) => {
                self.end();
                self.place.push('>');
                self.before.push(self.out.len());
            }
            Event::Start(Tag::List(first)) => {
                self.end();
                self.lists.push(if first.is_some() { '1' } else { '-' });
            }
            Event::Start(Tag::Item) => {
                self.end();
                self.place.push(self.lists.last().copied().unwrap_or('-'));
                self.before.push(self.out.len());
            }
            Event::End(TagEnd::Item | TagEnd::BlockQuote(_)) => {
                self.end();
                if self.before.pop() == Some(self.out.len()) {
                    self.begin("empty");
                    self.end();
                }
                self.place.pop();
            }
            Event::End(TagEnd::List(_)) => {
                self.end();
                self.lists.pop();
            }
            Event::Start(Tag::Paragraph) => self.begin("p"),
            Event::Start(Tag::Heading { level, .. }) => self.begin(&format!("h{}", level as u8)),
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_) | CodeBlockKind::Indented)) => {
                self.begin("code")
            }
            Event::Start(Tag::HtmlBlock) => self.begin("html"),
            Event::Start(Tag::Table(_)) => self.begin("table"),
            Event::Rule => {
                self.begin("rule");
                self.end();
            }
            Event::End(
                TagEnd::Paragraph
                | TagEnd::Heading(_)
                | TagEnd::CodeBlock
                | TagEnd::HtmlBlock
                | TagEnd::Table,
            ) => self.end(),
            Event::TaskListMarker(done) => {
                if let Some(last) = self.place.last_mut() {
                    *last = if done { 'x' } else { 'o' };
                }
            }
            Event::Text(text) | Event::Code(text) | Event::Html(text) => self.text(&text),
            // the picture's mark, and a tag inside a line, are dim with us
            Event::InlineHtml(_) => {}
            _ => {}
        }
    }
}
