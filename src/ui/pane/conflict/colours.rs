//! The colours of the versions: asked for up to what is seen.

use super::line::shown;
use crate::law::merge::regions::{Side, Three};
use crate::link::Wake;
use crate::ui::widget::colours;
use crate::ui::widget::highlight::{BLOCK_LINES, CodeId};
use crate::ui::widget::row::Role;

/// Pieces asked for at one time for one version.
const JOBS_AT_ONCE: usize = 6;
/// Lines below what is seen that are coloured with it.
const AHEAD: usize = 100;

/// The colours of the texts that are open.
#[derive(Debug)]
pub(super) struct Colours(colours::Colours);

fn id(text: u64, side: Side) -> CodeId {
    (text, side as u32)
}

impl Colours {
    pub fn new(wake: Wake) -> Self {
        Self(colours::Colours::new(wake))
    }

    /// Whether colours that were asked for have not come yet.
    pub fn owes(&self) -> bool {
        self.0.owes()
    }

    /// Takes what has come; whether something has.
    pub fn take(&mut self) -> bool {
        self.0.take().iter().any(|(_, lines)| !lines.is_empty())
    }

    /// The colours of a line, once they are known.
    pub fn line(&self, text: u64, side: Side, line: usize) -> Option<&[(u32, Role)]> {
        self.0.line(id(text, side), line)
    }

    /// A version is seen up to this line: asks for its colours.
    pub fn want(&mut self, text: u64, side: Side, lang: &str, three: &Three, until: usize) {
        if lang.is_empty() {
            return;
        }
        let all = u32::try_from(three.len(side)).unwrap_or(u32::MAX).min(BLOCK_LINES);
        let end = all.min(u32::try_from(until + AHEAD).unwrap_or(u32::MAX));
        let one = |line: u32| shown(three.part(side, line as usize..line as usize + 1), false).text;
        self.0.ask(id(text, side), lang, end, JOBS_AT_ONCE, &|lines| lines.map(one).collect());
    }

    /// Forgets the colours of a text.
    pub fn forget(&mut self, text: u64) {
        self.0.forget(text);
    }

    /// No text is looked at any more: what is not coloured yet is begun anew when it is looked at again.
    pub fn rest(&mut self) {
        self.0.rest();
    }
}
