//! The colours of the versions: asked for up to what is seen, piece by piece, in the background.

use std::collections::HashMap;

use super::line::shown;
use crate::law::merge::regions::{Side, Three};
use crate::link::Wake;
use crate::ui::widget::highlight::{BLOCK_LINES, CodeId, Coloured, Highlighter, JOB_LINES, Runs};
use crate::ui::widget::row::Role;

/// Pieces asked for at one time for one version.
const JOBS_AT_ONCE: usize = 6;
/// Lines below what is seen that are coloured with it.
const AHEAD: usize = 100;

#[derive(Debug, Default)]
struct Lines {
    lines: Vec<Runs>,
    asked: u32,
    stopped: bool,
}

/// The colours of the texts that are open.
#[derive(Debug)]
pub(super) struct Colours {
    highlighter: Highlighter,
    texts: HashMap<CodeId, Lines>,
}

fn id(text: u64, side: Side) -> CodeId {
    (text, side as u32)
}

impl Colours {
    pub fn new(wake: Wake) -> Self {
        Self { highlighter: Highlighter::new(wake), texts: HashMap::new() }
    }

    /// Whether colours that were asked for have not come yet.
    pub fn owes(&self) -> bool {
        self.highlighter.owes()
    }

    /// Takes what has come; whether something has.
    pub fn take(&mut self) -> bool {
        let mut any = false;
        for Coloured { id, from, lines, stopped } in self.highlighter.take() {
            let Some(text) = self.texts.get_mut(&id).filter(|text| text.lines.len() as u32 == from) else {
                continue;
            };
            any |= !lines.is_empty();
            text.lines.extend(lines);
            text.stopped |= stopped;
        }
        any
    }

    /// The colours of a line, once they are known.
    pub fn line(&self, text: u64, side: Side, line: usize) -> Option<&[(u32, Role)]> {
        self.texts.get(&id(text, side))?.lines.get(line).map(|runs| &**runs)
    }

    /// A version is seen up to this line: asks for its colours.
    pub fn want(&mut self, text: u64, side: Side, lang: &str, three: &Three, until: usize) {
        if lang.is_empty() {
            return;
        }
        let all = u32::try_from(three.len(side)).unwrap_or(u32::MAX).min(BLOCK_LINES);
        let end = all.min(u32::try_from(until + AHEAD).unwrap_or(u32::MAX));
        let known = self.texts.entry(id(text, side)).or_default();
        for _ in 0..JOBS_AT_ONCE {
            // no more than a few pieces are on their way
            let waits = known.asked - known.lines.len() as u32;
            let enough = waits as usize >= JOBS_AT_ONCE * JOB_LINES;
            if known.stopped || known.asked >= end || enough || !self.highlighter.has_room() {
                break;
            }
            let to = all.min(known.asked + JOB_LINES as u32);
            let lines = (known.asked..to)
                .map(|line| shown(three.part(side, line as usize..line as usize + 1), false).text)
                .collect();
            if !self.highlighter.ask(id(text, side), lang, known.asked, lines) {
                break;
            }
            known.asked = to;
        }
    }

    /// Forgets the colours of a text.
    pub fn forget(&mut self, text: u64) {
        self.highlighter.forget(|(of, _)| of == text);
        self.texts.retain(|(of, _), _| *of != text);
    }

    /// No text is looked at any more: what is not coloured yet is begun anew when it is looked at again.
    pub fn rest(&mut self) {
        self.texts.retain(|_, text| text.stopped || text.asked as usize == text.lines.len());
        let texts = &self.texts;
        self.highlighter.forget(|id| !texts.contains_key(&id));
    }
}
