//! The choices of a person for one text, and the text that comes of them.
//!
//! What only one side changed is chosen already; what both changed differently waits. The result is always a whole
//! text: an open hunk stands in it as the parent has it, since that is what stays while nothing is decided. An edit by
//! hand is spread over the hunks, so that each stays known and can be chosen again.
//!
//! "Both" is the parent's and the child's lines, never the base's.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::decision::Decision;
use super::regions::{Changed, Ending, Region, Side, Three, Whitespace, lines};
use super::spread::{Beside, Piece, spread};

/// How many steps can be taken back.
const UNDO_MAX: usize = 500;

/// What a region of the result is made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// Nothing was chosen yet.
    Open,
    /// The parent's lines.
    Parent,
    /// The child's lines.
    Child,
    /// The parent's, then the child's.
    Both,
    /// The child's, then the parent's.
    BothChildFirst,
    /// The base's.
    Base,
    /// These bytes.
    Edited(Arc<[u8]>),
}

impl Choice {
    /// What was written by hand, if it was.
    pub fn by_hand(&self) -> Option<&[u8]> {
        match self {
            Choice::Edited(text) => Some(text),
            Choice::Open
            | Choice::Parent
            | Choice::Child
            | Choice::Both
            | Choice::BothChildFirst
            | Choice::Base => None,
        }
    }
}

/// Where a line of the result is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// All have it.
    Unchanged,
    /// The parent's.
    Parent,
    /// The child's.
    Child,
    /// The parent's and the child's: both made the same change.
    Both,
    /// The base's.
    Base,
    /// Written by hand.
    Hand,
}

/// A line of the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Its bytes, with its end.
    pub bytes: &'a [u8],
    /// Where it is from.
    pub origin: Origin,
    /// The region that it is in.
    pub region: usize,
}

/// What an open hunk takes of what is put beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ByOpen {
    /// Nothing.
    Nothing,
    /// All.
    All,
    /// What has a line of its versions.
    Own,
}

/// What a step changed: the places, and what was chosen there before.
pub(super) type Step = Vec<(usize, Choice)>;

/// A text that is being resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolution {
    three: Three,
    regions: Vec<Region>,
    choices: Vec<Choice>,
    /// What the result has of each region.
    texts: Vec<Arc<[u8]>>,
    undo: Vec<Step>,
    /// What was decided for lines that are others now, the newest first.
    aside: Vec<Decision>,
}

impl Resolution {
    /// Begins, with nothing decided but what only one side changed.
    pub fn new(three: Three) -> Resolution {
        let regions = three.regions(Whitespace::Counts);
        let choices: Vec<Choice> = regions.iter().map(before).collect();
        let mut new = Resolution {
            texts: vec![Arc::default(); regions.len()],
            three,
            regions,
            choices,
            undo: Vec::new(),
            aside: Vec::new(),
        };
        (0..new.regions.len()).for_each(|at| new.texts[at] = new.text_of(at));
        new
    }

    /// The three versions.
    pub fn three(&self) -> &Three {
        &self.three
    }

    /// The regions, in order.
    pub fn regions(&self) -> &[Region] {
        &self.regions
    }

    /// What was chosen for each region.
    pub fn choices(&self) -> &[Choice] {
        &self.choices
    }

    /// The hunks: places in `regions`.
    pub fn hunks(&self) -> impl Iterator<Item = usize> {
        self.regions.iter().enumerate().filter(|(_, region)| region.is_hunk()).map(|(at, _)| at)
    }

    /// The hunks that wait for a choice.
    pub fn open(&self) -> impl Iterator<Item = usize> {
        self.choices.iter().enumerate().filter(|(_, choice)| **choice == Choice::Open).map(|(at, _)| at)
    }

    /// Whether nothing waits.
    pub fn is_decided(&self) -> bool {
        self.open().next().is_none()
    }

    /// Chooses for one hunk. A region that is none stays as it is.
    pub fn choose(&mut self, at: usize, choice: Choice) {
        if self.regions.get(at).is_some_and(Region::is_hunk) {
            let mut choices = self.choices.clone();
            choices[at] = choice;
            self.step(choices);
        }
    }

    /// Chooses for every hunk that waits.
    pub fn choose_open(&mut self, choice: &Choice) {
        let all = self.choices.iter();
        let choices =
            all.map(|old| if *old == Choice::Open { choice.clone() } else { old.clone() }).collect();
        self.step(choices);
    }

    /// Chooses for every region, edited or decided ones too: with a side, the result is that side's text.
    pub fn choose_all(&mut self, choice: &Choice) {
        let all = self.regions.iter();
        let choices =
            all.map(|region| if region.is_hunk() { choice.clone() } else { before(region) }).collect();
        self.step(choices);
    }

    /// Takes a result that was edited by hand, whole.
    pub fn edit(&mut self, result: &[u8]) {
        self.edit_as(result, ByOpen::Own);
    }

    /// The same, where open hunks take this of what is put beside them.
    pub(super) fn edit_as(&mut self, result: &[u8], by_open: ByOpen) {
        let pieces = self.pieces(|at| Cow::Borrowed(&*self.texts[at]), |_| by_open);
        let choices =
            spread(&pieces, result).into_iter().enumerate().map(|(at, text)| self.edited(at, &text));
        let choices = choices.collect();
        self.step(choices);
    }

    /// Takes back the last step; whether there was one.
    pub fn undo(&mut self) -> bool {
        let Some(step) = self.undo.pop() else { return false };
        for (at, choice) in step {
            self.choices[at] = choice;
            self.texts[at] = self.text_of(at);
        }
        true
    }

    /// The result as it would be written.
    pub fn result(&self) -> Vec<u8> {
        self.texts.concat()
    }

    /// The result's bytes of a region.
    pub fn text(&self, at: usize) -> &[u8] {
        self.texts.get(at).map_or(&[], |text| text)
    }

    /// The result, line by line.
    pub fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        (0..self.regions.len()).flat_map(|region| self.lines_of(region))
    }

    /// The result's lines of one region.
    pub fn lines_of(&self, region: usize) -> Box<dyn Iterator<Item = Line<'_>> + '_> {
        let (Some(of), Some(choice)) = (self.regions.get(region), self.choices.get(region)) else {
            return Box::new(std::iter::empty());
        };
        // one version's: no need to look for its lines
        if let Some((side, origin)) = whole(of, choice) {
            let one = move |at: usize| Line { bytes: self.three.part(side, at..at + 1), origin, region };
            return Box::new(of.lines(side).map(one));
        }
        let bytes = lines(&self.texts[region]).into_iter();
        Box::new(bytes.zip(self.origins(region)).map(move |(bytes, origin)| Line { bytes, origin, region }))
    }

    /// The pieces of a text that has this of each region, and of which open hunks take this.
    pub(super) fn pieces<'a>(
        &'a self,
        text: impl Fn(usize) -> Cow<'a, [u8]>,
        by_open: impl Fn(usize) -> ByOpen,
    ) -> Vec<Piece<'a>> {
        let beside = |at: usize, region: &Region| match (&self.choices[at], by_open(at)) {
            (Choice::Open, ByOpen::Nothing) => Beside::Nothing,
            (Choice::Open, ByOpen::Own) => {
                let sides = [Side::Base, Side::Parent, Side::Child].into_iter();
                Beside::With(sides.flat_map(|side| lines(self.three.of(side, region))).collect())
            }
            _ => Beside::All,
        };
        let all = self.regions.iter().enumerate();
        let piece = |(at, region): (usize, &Region)| Piece {
            text: text(at),
            hunk: region.is_hunk(),
            beside: beside(at, region),
        };
        all.map(piece).collect()
    }

    /// What a region is after an edit by hand: as before if nothing changed, a choice if it is just that.
    pub(super) fn edited(&self, at: usize, text: &[u8]) -> Choice {
        // what was not touched is the very same bytes
        if std::ptr::eq(text, &*self.texts[at]) || *text == *self.texts[at] {
            return self.choices[at].clone();
        }
        let plain = [Choice::Parent, Choice::Child, Choice::Both, Choice::BothChildFirst, Choice::Base];
        let same = plain.into_iter().find(|choice| self.chosen(at, choice) == text);
        same.unwrap_or_else(|| Choice::Edited(text.into()))
    }

    /// One step further, which can be taken back.
    pub(super) fn step(&mut self, choices: Vec<Choice>) {
        if choices != self.choices {
            if self.undo.len() == UNDO_MAX {
                self.undo.remove(0);
            }
            let all = self.choices.iter().zip(&choices).enumerate();
            let changed = all.filter(|(_, (old, new))| old != new).map(|(at, (old, _))| (at, old.clone()));
            self.undo.push(changed.collect());
            self.put(choices);
        }
    }

    /// The places that the last step changed.
    pub(super) fn last_step(&self) -> Option<Vec<usize>> {
        Some(self.undo.last()?.iter().map(|(at, _)| *at).collect())
    }

    /// Gives it these steps in place of its own.
    pub(super) fn set_steps(&mut self, steps: Vec<Step>) {
        self.undo = steps;
    }

    /// What was decided for lines that are others now: it fits again when they are back.
    pub fn aside(&self) -> &[Decision] {
        &self.aside
    }

    pub(super) fn put_aside(&mut self, aside: Vec<Decision>) {
        self.aside = aside;
    }

    pub(super) fn put(&mut self, choices: Vec<Choice>) {
        for (at, choice) in choices.into_iter().enumerate() {
            if choice != self.choices[at] {
                self.choices[at] = choice;
                self.texts[at] = self.text_of(at);
            }
        }
    }

    fn text_of(&self, at: usize) -> Arc<[u8]> {
        self.chosen(at, &self.choices[at]).into()
    }

    /// The bytes that a choice gives for a region.
    fn chosen(&self, at: usize, choice: &Choice) -> Vec<u8> {
        let of = |side| self.three.of(side, &self.regions[at]);
        match choice {
            Choice::Open | Choice::Parent => of(Side::Parent).to_vec(),
            Choice::Child => of(Side::Child).to_vec(),
            Choice::Base => of(Side::Base).to_vec(),
            Choice::Both => self.joined(of(Side::Parent), of(Side::Child)),
            Choice::BothChildFirst => self.joined(of(Side::Child), of(Side::Parent)),
            Choice::Edited(text) => text.to_vec(),
        }
    }

    /// One after the other; a last line without an end gets one, so that two lines stay two.
    fn joined(&self, first: &[u8], second: &[u8]) -> Vec<u8> {
        let open = first.last().is_some_and(|byte| !matches!(byte, b'\n' | b'\r')) && !second.is_empty();
        let ending = Ending::of(self.three.bytes(Side::Parent)).as_bytes();
        [first, if open { ending } else { b"" }, second].concat()
    }

    /// Where the lines of a region are from, of which the result has more than one version's.
    fn origins(&self, at: usize) -> Vec<Origin> {
        let region = &self.regions[at];
        let all = |origin, side| std::iter::repeat_n(origin, region.lines(side).len());
        let (parent, child) = (all(Origin::Parent, Side::Parent), all(Origin::Child, Side::Child));
        match &self.choices[at] {
            Choice::BothChildFirst => child.chain(parent).collect(),
            Choice::Edited(text) => {
                let of = |side| lines(self.three.of(side, region)).into_iter().collect::<HashSet<&[u8]>>();
                let (base, parent, child) = (of(Side::Base), of(Side::Parent), of(Side::Child));
                let origin =
                    |line: &[u8]| match (parent.contains(line), child.contains(line), base.contains(line)) {
                        (true, true, true) => Origin::Unchanged,
                        (true, true, false) => Origin::Both,
                        (true, false, _) => Origin::Parent,
                        (false, true, _) => Origin::Child,
                        (false, false, true) => Origin::Base,
                        (false, false, false) => Origin::Hand,
                    };
                lines(text).into_iter().map(origin).collect()
            }
            Choice::Open | Choice::Parent | Choice::Child | Choice::Base | Choice::Both => {
                parent.chain(child).collect()
            }
        }
    }
}

/// The version that a choice takes whole, and where its lines are from; none: there is more in it than one version.
fn whole(region: &Region, choice: &Choice) -> Option<(Side, Origin)> {
    let (side, origin) = match choice {
        Choice::Open | Choice::Parent => (Side::Parent, Origin::Parent),
        Choice::Child => (Side::Child, Origin::Child),
        Choice::Base => return Some((Side::Base, Origin::Base)),
        Choice::Both | Choice::BothChildFirst | Choice::Edited(_) => return None,
    };
    Some(match region.changed {
        Changed::Nobody => (side, Origin::Unchanged),
        Changed::Same => (side, Origin::Both),
        Changed::Parent | Changed::Child | Changed::Both => (side, origin),
    })
}

/// What a region is before anyone chose.
pub(super) fn before(region: &Region) -> Choice {
    match region.changed {
        Changed::Nobody | Changed::Parent | Changed::Same => Choice::Parent,
        Changed::Child => Choice::Child,
        Changed::Both => Choice::Open,
    }
}
