//! What was decided of a path, on its way from what was there to what is there now.
//!
//! What fits is put in, the rest waits: choices of a text for the text to come back, one for the whole path for the
//! version that it was made of.

use super::open::{Open, Versions};
use super::said::Said;
use super::text::Text;
use crate::api::hand_back::Draft;
use crate::law::merge::again::Again;
use crate::law::merge::resolution::Resolution;
use crate::ui::action::Action;

/// What was decided before.
#[derive(Debug, Default)]
pub(super) struct Carried {
    /// Of a text that was open, with its steps.
    resolution: Option<Resolution>,
    /// What was kept, and what did not fit.
    draft: Draft,
    /// The first row and column that were seen.
    seen: (usize, usize),
}

/// What became of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counted {
    /// Choices that stand.
    kept: usize,
    /// Choices whose lines are others now.
    lost: usize,
    /// What was written by hand and is lost is one step back.
    by_hand: bool,
    /// Choices of a text that is not there.
    waiting: usize,
}

impl Carried {
    /// What was kept for later.
    pub fn kept(draft: Option<&Draft>) -> Carried {
        Carried { draft: draft.cloned().unwrap_or_default(), ..Carried::default() }
    }

    /// What is decided of a path that is open.
    pub fn of(open: &Open) -> Carried {
        let draft = open.decided().unwrap_or_default();
        let text = open.text.as_ref().filter(|text| text.fixed.is_none());
        let seen = text.map_or((0, 0), |text| (text.top, text.left));
        let resolution = text.map(|text| &text.resolution).or(open.waits.as_ref()).cloned();
        Carried { resolution, draft, seen }
    }
}

impl Open {
    /// What a person decided of it and did not write.
    pub fn decided(&self) -> Option<Draft> {
        let chosen = self.form.as_ref().and_then(|form| form.choice().cloned());
        let text = self.text.as_ref().filter(|text| text.fixed.is_none());
        let decisions = match (text, &self.waits) {
            (Some(text), _) => text.decided(),
            (None, Some(resolution)) => resolution.kept(),
            (None, None) => self.rest.decisions.clone(),
        };
        let made = text.filter(|text| text.mode_made).map(|text| text.executable);
        let draft = Draft {
            whole: chosen
                .map(|choice| (self.sides.parent.version.clone(), choice))
                .or_else(|| self.rest.whole.clone()),
            decisions,
            executable: made.or(self.rest.executable),
        };
        (draft != Draft::default()).then_some(draft)
    }

    /// Takes up what was decided: what fits what is there now, and the rest for later.
    pub(super) fn take_up(&mut self, versions: Option<Versions>, carried: Carried) -> Counted {
        let Carried { resolution, draft: Draft { whole, decisions, executable }, seen } = carried;
        self.rest.whole = whole.filter(|(version, choice)| {
            let form = self.form.as_mut().filter(|_| *version == self.sides.parent.version);
            !form.is_some_and(|form| form.resume(choice))
        });
        match versions {
            Some(Versions { three, seen: sides, fixed: None, executable: mode }) => {
                let Again { resolution, kept, lost, by_hand } = match resolution {
                    Some(resolution) => resolution.again(three),
                    None => Resolution::resumed(three, decisions),
                };
                let mut text = Text::of(resolution, &sides, None);
                (text.top, text.left) = seen;
                (text.executable, text.mode_made) = (executable.unwrap_or(mode), executable.is_some());
                self.text = Some(text);
                Counted { kept, lost, by_hand, waiting: 0 }
            }
            looked_at => {
                self.text = looked_at
                    .map(|of| Text::of(Resolution::new(of.three), &of.seen, of.fixed))
                    .filter(|text| !text.hunks().is_empty());
                let waiting = decisions.len();
                (self.waits, self.rest.executable) = (resolution, executable);
                self.rest.decisions = decisions;
                Counted { waiting, ..Counted::default() }
            }
        }
    }
}

impl Counted {
    /// Whether something does not stand as it was decided.
    pub fn is_less(self) -> bool {
        self.lost > 0 || self.waiting > 0
    }

    /// In words.
    pub fn said(self, before: String) -> Said {
        let count = |n: usize| if n == 1 { "1 choice".to_owned() } else { format!("{n} choices") };
        let Counted { kept, lost, by_hand, waiting } = self;
        let said = match (kept, lost, waiting) {
            (.., waiting @ 1..) => {
                let are = if waiting == 1 { "is" } else { "are" };
                format!("{before}{} {are} kept for when the text is back", count(waiting))
            }
            (0, 0, 0) => format!("{before}nothing was chosen yet"),
            (kept, 0, 0) => format!("{before}{} kept", count(kept)),
            (kept, lost, 0) => format!("{before}{} kept, {lost} to be made again", count(kept)),
        };
        if by_hand {
            Said::from(format!("{said}; ")).key(Action::ConflictUndo).and(" shows what was written by hand")
        } else {
            said.into()
        }
    }
}
