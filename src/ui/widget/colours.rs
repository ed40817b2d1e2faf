//! Colours of texts: asked for piece by piece in the background, and kept.
//!
//! Not here: which text has which lines, and how far it is seen (those who draw it tell).

use std::collections::HashMap;
use std::ops::Range;

use super::highlight::{CodeId, Coloured, Highlighter, JOB_LINES, Runs};
use super::row::Role;
use crate::link::Wake;

#[derive(Debug, Default)]
struct Lines {
    lines: Vec<Runs>,
    asked: u32,
    stopped: bool,
    /// The frame in which it was asked for last.
    used: u64,
}

/// The colours of some texts.
#[derive(Debug)]
pub struct Colours {
    highlighter: Highlighter,
    texts: HashMap<CodeId, Lines>,
    frame: u64,
}

impl Colours {
    /// None yet. `wake` makes the screen look when some have come.
    pub fn new(wake: Wake) -> Self {
        Self { highlighter: Highlighter::new(wake), texts: HashMap::new(), frame: 0 }
    }

    /// The colours of a line, counted from 0, once they are known.
    pub fn line(&self, id: CodeId, line: usize) -> Option<&[(u32, Role)]> {
        self.texts.get(&id)?.lines.get(line).map(|runs| &**runs)
    }

    /// How many lines of a text were asked for.
    pub fn asked(&self, id: CodeId) -> u32 {
        self.texts.get(&id).map_or(0, |known| known.asked)
    }

    /// Whether colours that were asked for have not come yet.
    pub fn owes(&self) -> bool {
        self.highlighter.owes()
    }

    /// Takes what has come: of which texts, and which lines.
    pub fn take(&mut self) -> Vec<(CodeId, Range<u32>)> {
        let mut out = Vec::new();
        for Coloured { id, from, lines, stopped } in self.highlighter.take() {
            let Some(text) = self.texts.get_mut(&id).filter(|text| text.lines.len() as u32 == from) else {
                continue;
            };
            let to = from + lines.len() as u32;
            text.lines.extend(lines);
            text.stopped |= stopped;
            out.push((id, from..to));
        }
        out
    }

    /// Asks for the lines up to `end` that were not asked for, in so many pieces at a time at most.
    pub fn ask(
        &mut self,
        id: CodeId,
        lang: &str,
        end: u32,
        pieces: usize,
        lines: &dyn Fn(Range<u32>) -> Vec<String>,
    ) {
        let known = self.texts.entry(id).or_default();
        known.used = self.frame;
        for _ in 0..pieces {
            // no more than these are on their way
            let waits = known.asked - known.lines.len() as u32;
            let enough = waits as usize >= pieces * JOB_LINES;
            if known.stopped || known.asked >= end || enough || !self.highlighter.has_room() {
                break;
            }
            let to = end.min(known.asked + JOB_LINES as u32);
            if !self.highlighter.ask(id, lang, known.asked, lines(known.asked..to)) {
                break;
            }
            known.asked = to;
        }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.texts.clear();
    }

    /// Forgets the texts of this number.
    pub fn forget(&mut self, text: u64) {
        self.highlighter.forget(|(of, _)| of == text);
        self.texts.retain(|(of, _), _| *of != text);
    }

    /// Nobody looks any more: what is not coloured yet is begun anew when somebody does.
    pub fn rest(&mut self) {
        self.texts.retain(|_, text| text.stopped || text.asked as usize == text.lines.len());
        let texts = &self.texts;
        self.highlighter.forget(|id| !texts.contains_key(&id));
    }

    /// A frame was drawn: with more than so many lines, those go that it did not ask for.
    pub fn drawn(&mut self, lines_max: usize) {
        if self.texts.values().map(|text| text.lines.len()).sum::<usize>() > lines_max {
            let now = self.frame;
            self.texts.retain(|_, text| text.used >= now);
        }
        self.frame += 1;
    }
}
