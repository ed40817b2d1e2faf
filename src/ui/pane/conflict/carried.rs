//! What was decided of a path, on its way from what was there to what is there now.
//!
//! What fits is put in, the rest waits: choices of a text for the text to come back, one for the whole path for the
//! version that it was made of.

use super::open::{Open, Versions};
use super::said::Said;
use super::text::Text;
use crate::api::hand_back::Draft;
use crate::law::merge::again::Again;
use crate::law::merge::regions::Side;
use crate::law::merge::resolution::Resolution;
use crate::ui::action::Action;

/// What was decided before.
#[derive(Debug, Default)]
pub(super) struct Carried {
    /// Of a text that was open, with its steps.
    resolution: Option<Resolution>,
    /// What was kept, and what did not fit.
    draft: Draft,
    was: Was,
}

/// What was looked at.
#[derive(Clone, Copy, Debug, Default)]
enum Was {
    /// Nothing.
    #[default]
    Nothing,
    /// What is no text to be merged.
    Form,
    /// A text.
    Text {
        /// The hunk that keys were for, and the rows above it that were in sight.
        hunk: Option<(usize, usize)>,
        /// The first row and column that were seen.
        top: usize,
        left: usize,
    },
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
    /// What keys are for is not what was looked at: in words.
    pub turned: Option<&'static str>,
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
        let was = match text {
            None if open.form.is_some() => Was::Form,
            None => Was::Nothing,
            Some(text) => {
                let above = |hunk: usize| text.table.of(hunk).start.saturating_sub(text.top);
                let hunk = text.current.map(|hunk| (hunk, above(hunk)));
                Was::Text { hunk, top: text.top, left: text.left }
            }
        };
        let resolution = text.map(|text| &text.resolution).or(open.waits.as_ref()).cloned();
        Carried { resolution, draft, was }
    }
}

impl Open {
    /// What a person decided of it and did not write.
    pub fn decided(&self) -> Option<Draft> {
        let chosen = self.form.as_ref().and_then(|form| form.choice().cloned());
        let text = self.text.as_ref().filter(|text| text.fixed.is_none());
        let (decisions, backs) = match (text, &self.waits) {
            (Some(text), _) => text.decided(),
            (None, Some(resolution)) => (resolution.kept(), resolution.kept_backs()),
            (None, None) => (self.rest.decisions.clone(), self.rest.backs.clone()),
        };
        let made = text.filter(|text| text.mode_made).map(|text| text.executable);
        let draft = Draft {
            whole: chosen
                .map(|choice| (self.sides.parent.version.clone(), choice))
                .or_else(|| self.rest.whole.clone()),
            decisions,
            executable: made.or(self.rest.executable),
            backs,
        };
        (!draft.is_empty()).then_some(draft)
    }

    /// Takes up what was decided: what fits what is there now, and the rest for later. None: `stop` said so meanwhile.
    pub(super) fn take_up(
        &mut self,
        versions: Option<Versions>,
        carried: Carried,
        stop: &dyn Fn() -> bool,
    ) -> Option<Counted> {
        let Carried { resolution, draft: Draft { whole, decisions, executable, backs }, was } = carried;
        self.rest.whole = whole.filter(|(version, choice)| {
            let form = self.form.as_mut().filter(|_| *version == self.sides.parent.version);
            !form.is_some_and(|form| form.resume(choice))
        });
        match versions {
            Some(Versions { three, seen: sides, fixed: None, executable: mode }) => {
                let Again { resolution: now, kept, lost, by_hand } = match &resolution {
                    Some(resolution) => resolution.again(three),
                    None => Resolution::resumed(three, decisions, &backs),
                };
                let mut text = Text::of(now, &sides, None, stop)?;
                let turned = match (was, &resolution) {
                    (Was::Text { .. }, Some(old)) if go_on(&mut text, old, was) => {
                        Some("the hunk that you looked at is another one now")
                    }
                    (Was::Nothing | Was::Text { .. }, _) => None,
                    (Was::Form, _) => Some("it is chosen by hunk now"),
                };
                (text.executable, text.mode_made) = (executable.unwrap_or(mode), executable.is_some());
                self.text = Some(text);
                Some(Counted { kept, lost, by_hand, waiting: 0, turned })
            }
            looked_at => {
                let text = match looked_at {
                    Some(of) => Some(Text::of(Resolution::new(of.three), &of.seen, of.fixed, stop)?),
                    None => None,
                };
                self.text = text.filter(|text| !text.hunks().is_empty());
                let waiting = decisions.len();
                (self.waits, self.rest.executable) = (resolution, executable);
                (self.rest.decisions, self.rest.backs) = (decisions, backs);
                let turned = match was {
                    Was::Text { .. } => Some("it is chosen for the whole path now"),
                    Was::Form => Some("what you looked at is another one now"),
                    Was::Nothing => None,
                };
                let turned = turned.filter(|_| self.form.is_some());
                Some(Counted { waiting, turned, ..Counted::default() })
            }
        }
    }
}

/// Goes to the hunk that keys were for, or to what is in its place; whether it is another one now.
fn go_on(text: &mut Text, old: &Resolution, was: Was) -> bool {
    let Was::Text { hunk, top, left } = was else { return false };
    text.left = left;
    let Some((hunk, above)) = hunk else {
        (text.current, text.top) = (None, top);
        return false;
    };
    let of_same = |side: Side| old.three().bytes(side) == text.resolution.three().bytes(side);
    let same = text.resolution.same_hunk(old, hunk).filter(|_| of_same(Side::Base) && of_same(Side::Child));
    let from = old.regions()[hunk].base.start;
    let beside = || {
        let after = text.hunks().partition_point(|at| text.resolution.regions()[*at].base.end < from);
        text.hunks().get(after).or(text.hunks().last()).copied()
    };
    text.current = same.or_else(beside);
    text.top = text.current.map_or(0, |at| text.table.of(at).start.saturating_sub(above));
    same.is_none()
}

impl Counted {
    /// Whether something does not stand as it was decided.
    pub fn is_less(self) -> bool {
        self.lost > 0 || self.waiting > 0
    }

    /// In words.
    pub fn said(self, before: String) -> Said {
        let count = |n: usize| if n == 1 { "1 choice".to_owned() } else { format!("{n} choices") };
        let Counted { kept, lost, by_hand, waiting, turned } = self;
        let said = match (kept, lost, waiting) {
            (.., waiting @ 1..) => {
                let are = if waiting == 1 { "is" } else { "are" };
                format!("{before}{} {are} kept for when the text is back", count(waiting))
            }
            (0, 0, 0) => format!("{before}nothing was chosen yet"),
            (kept, 0, 0) => format!("{before}{} kept", count(kept)),
            (kept, lost, 0) => format!("{before}{} kept, {lost} to be made again", count(kept)),
        };
        let said = if by_hand {
            Said::from(format!("{said}; ")).key(Action::ConflictUndo).and(" shows what was written by hand")
        } else {
            said.into()
        };
        match turned {
            Some(words) => said.and(format!("; {words}")),
            None => said,
        }
    }
}
