//! The versions of one text beside each other: where one is, which hunk keys are for, and the choices.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::edit::Editor;
use super::said::Said;
use super::{Look, words};
use crate::law::merge::back::Back;
use crate::law::merge::decision::Decision;
use crate::law::merge::regions::{Changed, Ending, Side, Whitespace};
use crate::law::merge::resolution::{Choice, Resolution};
use crate::ui::widget::align::{Table, table, until};

/// Rows above a hunk that is brought into sight.
const ABOVE: usize = 3;

/// The versions, and what was chosen.
#[derive(Debug)]
pub(super) struct Text {
    pub resolution: Resolution,
    /// The versions that have a column.
    pub sides: Vec<Side>,
    /// They are looked at only: why nothing can be chosen.
    pub fixed: Option<Said>,
    /// Whether the file that is written may be run by its owner.
    pub executable: bool,
    /// Whether line ends are of several kinds, so that they are shown.
    pub mixed: bool,
    pub table: Table,
    /// The hunk that keys are for: a region.
    pub current: Option<usize>,
    /// The first row and the first column that are seen.
    pub top: usize,
    pub left: usize,
    /// The first row of the result of each region, and the end: a hunk that leaves nothing has a row, too.
    pub starts: Vec<usize>,
    /// The first line of the result of each region, from 0, and the end.
    pub lines: Vec<usize>,
    pub editor: Option<Editor>,
    /// What came back from the editor of some hunks and could not be taken.
    pub halves: BTreeMap<usize, Vec<u8>>,
    /// The person said whether the file may be run.
    pub mode_made: bool,
    /// What was chosen when a merge program was asked that is not heard of yet.
    pub asked_at: Option<Vec<Choice>>,
    /// What it made, where something was chosen or written since.
    pub offered: Option<Arc<[u8]>>,
    /// What was chosen when a merge program's merge was taken last.
    pub made: Vec<Choice>,
    /// Where the whole result is from, while it is a proposal.
    pub proposal: Option<&'static str>,
    /// Rows that it was drawn in last; none: it was laid anew, and the hunk at hand is brought into sight.
    pub drawn: Option<usize>,
    hunks: Vec<usize>,
    laid: (bool, Whitespace),
}

impl Text {
    /// A text that is opened; none: `stop` said so meanwhile.
    pub fn of(
        resolution: Resolution,
        sides: &[Side],
        fixed: Option<Said>,
        stop: &dyn Fn() -> bool,
    ) -> Option<Text> {
        let kinds: Vec<Ending> = [Side::Base, Side::Parent, Side::Child]
            .into_iter()
            .map(|side| resolution.three().bytes(side))
            .filter(|bytes| bytes.contains(&b'\n'))
            .map(Ending::of)
            .collect();
        let odd = |side: Side| {
            let bytes = resolution.three().bytes(side);
            let all = bytes.iter().filter(|byte| **byte == b'\n').count();
            let pairs = bytes.windows(2).filter(|pair| *pair == b"\r\n").count();
            pairs != 0 && pairs != all
        };
        let mixed = kinds.windows(2).any(|two| two[0] != two[1])
            || [Side::Base, Side::Parent, Side::Child].into_iter().any(odd);
        let hunks: Vec<usize> = resolution.hunks().collect();
        let first = resolution.open().next().or(hunks.first().copied());
        let laid = (false, Whitespace::Counts);
        let mut new = Text {
            table: until(resolution.three(), resolution.regions(), laid.1, sides, stop)?,
            resolution,
            sides: sides.to_vec(),
            fixed,
            executable: false,
            mixed,
            current: first,
            top: 0,
            left: 0,
            starts: Vec::new(),
            lines: Vec::new(),
            editor: None,
            halves: BTreeMap::new(),
            mode_made: false,
            asked_at: None,
            offered: None,
            made: Vec::new(),
            proposal: None,
            drawn: None,
            hunks,
            laid,
        };
        new.count();
        Some(new)
    }

    /// The versions that are seen.
    pub fn seen(&self, two: bool) -> &[Side] {
        match self.sides[..] {
            [Side::Base, ref rest @ ..] if two && rest.len() == 2 => rest,
            ref all => all,
        }
    }

    /// Lays the rows anew if it is looked at otherwise; the place stays.
    pub fn lay(&mut self, look: Look) {
        let wanted = (look.two, look.whitespace);
        if self.laid == wanted {
            return;
        }
        let here = self.table.rows.get(self.top).map(|row| row.region as usize);
        let seen = self.seen(look.two).to_vec();
        self.table = table(self.resolution.three(), self.resolution.regions(), look.whitespace, &seen);
        (self.laid, self.drawn) = (wanted, None);
        if let Some(region) = here {
            self.top = self.table.of(region).start;
        }
    }

    /// Counts the rows and lines of the result: something was chosen.
    pub fn count(&mut self) {
        (self.starts, self.lines) = (Vec::new(), Vec::new());
        let (mut row, mut line) = (0, 0);
        for (at, region) in self.resolution.regions().iter().enumerate() {
            self.starts.push(row);
            self.lines.push(line);
            let lines = self.resolution.lines_of(at).count();
            (row, line) = (row + lines.max(usize::from(region.is_hunk())), line + lines);
        }
        self.starts.push(row);
        self.lines.push(line);
    }

    /// The region that a line of the result is of.
    pub fn region_of(&self, line: usize) -> usize {
        self.lines.partition_point(|first| *first <= line).clamp(1, self.lines.len() - 1) - 1
    }

    /// Which hunk it is of how many, counted from 1.
    pub fn number(&self) -> Option<(usize, usize)> {
        let current = self.current?;
        Some((self.hunks.iter().position(|hunk| *hunk == current)? + 1, self.hunks.len()))
    }

    pub fn hunks(&self) -> &[usize] {
        &self.hunks
    }

    pub fn open(&self) -> usize {
        if self.fixed.is_some() { 0 } else { self.resolution.open().count() }
    }

    /// Whether a hunk differs in whitespace only, while that is set aside.
    pub fn is_blank(&self, at: usize, whitespace: Whitespace) -> bool {
        let squeeze = |side: Side| {
            crate::ui::widget::align::key(
                self.resolution.three().of(side, &self.resolution.regions()[at]),
                Whitespace::SetAside,
            )
        };
        whitespace == Whitespace::SetAside
            && squeeze(Side::Base) == squeeze(Side::Parent)
            && squeeze(Side::Base) == squeeze(Side::Child)
    }

    /// Makes a hunk the current one and brings it into sight.
    pub fn show(&mut self, region: usize, height: usize) {
        self.current = Some(region);
        let rows = self.table.of(region);
        let whole = rows.start >= self.top && rows.end <= self.top + height;
        if !whole {
            self.top = rows.start.saturating_sub(ABOVE.min(height / 4));
        }
        self.bound(height);
    }

    /// Scrolls; the hunk that keys are for is one in sight.
    pub fn scroll(&mut self, rows: i64, height: usize) {
        self.top = usize::try_from(self.top as i64 + rows).unwrap_or(0);
        self.bound(height);
        let sight = self.top..self.top + height;
        let seen = |region: &usize| {
            let rows = self.table.of(*region);
            rows.start < sight.end && rows.end.max(rows.start + 1) > sight.start
        };
        if !self.current.is_some_and(|current| seen(&current)) {
            // the first below the edge, where one is
            let from = self.hunks.partition_point(|region| self.table.of(*region).end <= self.top);
            self.current = self.hunks.get(from).copied().filter(seen);
        }
    }

    fn bound(&mut self, height: usize) {
        self.top = self.top.min(self.table.rows.len().saturating_sub(height.max(1)));
    }

    /// The hunk after or before the current one, or the place where one is.
    pub fn step(&self, forward: bool) -> Option<usize> {
        let at = match self.current {
            Some(current) => current as f64,
            // between the hunks: after the region that is on top
            None => self.table.rows.get(self.top).map_or(0.0, |row| f64::from(row.region)) + 0.5,
        };
        if forward {
            self.hunks.iter().copied().find(|hunk| *hunk as f64 > at)
        } else {
            self.hunks.iter().copied().rev().find(|hunk| (*hunk as f64) < at)
        }
    }

    /// The next hunk that waits, from the current one on and then from the beginning.
    pub fn next_open(&self) -> Option<usize> {
        let from = self.current.map_or(0, |current| current + 1);
        let after = self.resolution.open().find(|hunk| *hunk >= from);
        after.or_else(|| self.resolution.open().next()).filter(|_| self.fixed.is_none())
    }

    /// Does something to the choices; whether they changed.
    pub fn change(&mut self, what: impl FnOnce(&mut Resolution)) -> bool {
        let before = self.resolution.choices().to_vec();
        what(&mut self.resolution);
        let changed = before != self.resolution.choices();
        if changed {
            // what was chosen otherwise is not gone on with
            let choices = self.resolution.choices();
            self.halves.retain(|at, _| before[*at] == choices[*at]);
            self.proposal = None;
            self.count();
        }
        changed
    }

    /// What is decided, with what is being written by hand, and the steps.
    pub fn decided(&self) -> (Vec<Decision>, Vec<Back>) {
        match self.editor.as_ref().filter(|editor| editor.is_touched()) {
            Some(editor) => {
                let mut with = self.resolution.clone();
                with.edit(&editor.text());
                (with.kept(), with.kept_backs())
            }
            None => (self.resolution.kept(), self.resolution.kept_backs()),
        }
    }

    /// Takes what is being written by hand; whether something was.
    pub fn fold(&mut self) -> bool {
        let Some(editor) = self.editor.take() else { return false };
        let result = editor.text();
        self.change(|resolution| resolution.edit(&result));
        true
    }

    /// Takes a step back; the hunk that it changed, if there was a step.
    pub fn undo(&mut self) -> Option<usize> {
        let before = self.resolution.choices().to_vec();
        let mut done = false;
        self.change(|resolution| done = resolution.undo());
        let changed = before.iter().zip(self.resolution.choices()).position(|(old, new)| old != new);
        changed.filter(|_| done)
    }

    /// Whether what a region has is a merge program's, and of none of the versions.
    pub fn is_made_by_program(&self, at: usize) -> bool {
        match (self.resolution.choices().get(at), self.made.get(at)) {
            (Some(Choice::Edited(now)), Some(Choice::Edited(made))) => Arc::ptr_eq(now, made),
            (_, _) => false,
        }
    }

    /// How a hunk stands, in words.
    pub fn stands(&self, at: usize) -> String {
        if self.fixed.is_some() {
            return words::changed(self.resolution.regions()[at].changed).to_owned();
        }
        let choice = if self.is_made_by_program(at) {
            words::PROGRAMS
        } else {
            words::choice(&self.resolution.choices()[at])
        };
        match self.resolution.regions()[at].changed {
            Changed::Both | Changed::Nobody => choice.to_owned(),
            changed if !self.resolution.is_made(at) => words::changed(changed).to_owned(),
            _ => choice.to_owned(),
        }
    }

    /// Whether a version is what a region of the result is made of.
    pub fn gives(&self, at: usize, side: Side) -> bool {
        match (&self.resolution.choices()[at], side) {
            (Choice::Parent | Choice::Both | Choice::BothChildFirst, Side::Parent) => true,
            (Choice::Child | Choice::Both | Choice::BothChildFirst, Side::Child) => true,
            (Choice::Base, Side::Base) => true,
            (Choice::Open, Side::Parent | Side::Child) => true,
            (_, Side::Base | Side::Parent | Side::Child) => false,
        }
    }

    /// The first row of the result that is drawn so that what the versions show is seen in it.
    pub fn result_top(&self, rows: usize, height: usize) -> usize {
        let total = self.starts.last().copied().unwrap_or(0);
        let start = |region: usize| self.starts.get(region).copied().unwrap_or(total);
        let seen = self.current.filter(|current| {
            let of = self.table.of(*current);
            of.start >= self.top && of.start < self.top + rows
        });
        let top = match seen {
            Some(current) => start(current).saturating_sub(1),
            None => self.table.rows.get(self.top).map_or(0, |row| {
                let region = row.region as usize;
                let inside = self.top - self.table.of(region).start;
                start(region) + inside.min((start(region + 1) - start(region)).saturating_sub(1))
            }),
        };
        top.min(total.saturating_sub(height))
    }
}
