//! The colours of code, in blocks and in diffs: asked for when it is drawn, kept while it is near.

use std::ops::Range;

use super::item::{Body, Item};
use super::lay::CALL_BLOCKS;
use crate::link::Wake;
use crate::ui::widget::colours;
use crate::ui::widget::diff::{Diff, Stream};
use crate::ui::widget::highlight::{BLOCK_LINES, CodeId};
use crate::ui::widget::markdown::Kind;
use crate::ui::widget::row::Role;

/// Coloured lines kept before those of blocks far away go.
const LINES_MAX: usize = 20_000;
/// Jobs asked for at one time for one block.
const JOBS_AT_ONCE: usize = 4;

/// Colours by block.
#[derive(Debug)]
pub(super) struct Colours(colours::Colours);

impl Colours {
    pub fn new(wake: Wake) -> Self {
        Self(colours::Colours::new(wake))
    }
    /// Forgets all, as for another branch.
    pub fn clear(&mut self) {
        self.0.clear();
    }
    /// The colours of a line, if they are known.
    pub fn line(&self, id: CodeId, line: u32) -> Option<&[(u32, Role)]> {
        self.0.line(id, line as usize)
    }
    /// Whether colours that were asked for have not come yet.
    pub fn owes(&self) -> bool {
        self.0.owes()
    }
    /// Takes what has come; for each, the item, the first block, and the lines.
    pub fn take(&mut self) -> Vec<(CodeId, Range<u32>)> {
        self.0.take()
    }
    /// A block of code is drawn: asks for the colours of its lines up to its end.
    pub fn want(&mut self, item: &Item, block: usize) {
        let (source, doc, head) = match &item.body {
            Body::Prose { source, doc, head } => (source, doc, head),
            Body::Call(call) => {
                if let (Some(diff), Some(piece)) = (&call.diff, block.checked_sub(CALL_BLOCKS)) {
                    self.want_diff(item.id, diff, call.shown(), piece);
                }
                return;
            }
            Body::User { .. } | Body::Ended(_) | Body::Report(_) | Body::Words { .. } => return,
        };
        // the blocks of a text that is being read have other numbers soon
        if doc.unread() {
            return;
        }
        let Some(block) = block.checked_sub(usize::from(head.is_some())) else { return };
        let Some(of) = doc.blocks().get(block) else { return };
        let Kind::Code { lang, first, .. } = of.kind else { return };
        let text = source.text();
        let Some(lang) = text.get(lang.0 as usize..lang.1 as usize).filter(|lang| !lang.is_empty()) else {
            return;
        };
        let Some(begin) = doc.blocks().get(first as usize).map(|block| block.lines.start) else { return };
        let asked = self.0.asked((item.id, first));
        let mut end = (of.lines.end - begin).min(BLOCK_LINES);
        // the last line of an open block may still grow
        if !doc.finished() && block >= doc.settled() && end > asked {
            let last = doc.line(text, begin + end - 1);
            let until = last.as_ptr() as usize - text.as_ptr() as usize + last.len();
            end -= u32::from(until >= doc.whole());
        }
        let line = |line: u32| doc.line(text, begin + line).to_owned();
        self.ask((item.id, first), lang, end, &|lines| lines.map(line).collect());
    }
    /// A piece of a diff is drawn: asks for the colours of each side of its hunks.
    pub fn want_diff(&mut self, id: u64, diff: &Diff, text: &str, piece: usize) {
        for (stream, end) in diff.wanted(piece) {
            let lang = diff.language(text, stream);
            let lines = |lines| diff.stream(text, stream, lines).into_iter().map(str::to_owned).collect();
            self.ask((id, stream.number()), lang, end.min(BLOCK_LINES), &lines);
        }
    }
    /// The colours of a line of a diff, if they are known.
    pub fn of_diff(&self, id: u64, stream: Stream, line: u32) -> Option<&[(u32, Role)]> {
        self.line((id, stream.number()), line)
    }
    /// Asks for the colours of the lines up to `end` that were not asked for.
    fn ask(&mut self, id: CodeId, lang: &str, end: u32, lines: &dyn Fn(Range<u32>) -> Vec<String>) {
        self.0.ask(id, lang, end, JOBS_AT_ONCE, lines);
    }
    /// A frame was drawn: the colours of what is far away go when there are too many.
    pub fn drawn(&mut self) {
        self.0.drawn(LINES_MAX);
    }
}
