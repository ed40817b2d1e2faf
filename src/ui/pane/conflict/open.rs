//! One path that is open: what is shown of it, and what can be done with it.

use super::carried::{Carried, Counted};
use super::forms::Form;
use super::said::Said;
use super::text::Text;
use super::work::{Then, Wanted};
use crate::api::hand_back::{ByHand, Draft, HandBackAsk, Sided, Sides, Take};
use crate::law::hand_back::merge1::{Clash, Verdict};
use crate::law::hand_back::tree::{TreePath, Version};
use crate::law::merge::regions::{Side, Three, is_binary};
use crate::law::merge::resolution::{Choice, Resolution};
use crate::ui::action::Action;

/// A path.
#[derive(Debug)]
pub(super) struct Open {
    /// Names its texts, for colours.
    pub id: u64,
    pub sides: Sides,
    pub by_hand: ByHand,
    /// What is chosen of a conflict that is no text.
    pub form: Option<Form>,
    /// The versions, where they are text: to be merged, or only looked at.
    pub text: Option<Text>,
    /// What was decided of a text while none is there.
    pub waits: Option<Resolution>,
    /// What was decided and fits nothing that is there.
    pub rest: Draft,
}

impl Open {
    /// Opens a path, with what was decided of it; none: `stop` said so meanwhile.
    pub fn new(
        id: u64,
        sides: Sides,
        by_hand: ByHand,
        carried: Carried,
        stop: &dyn Fn() -> bool,
    ) -> Option<(Open, Counted)> {
        let (form, text) = parts(&sides, by_hand);
        let mut new = Open { id, sides, by_hand, form, text: None, waits: None, rest: Draft::default() };
        let counted = new.take_up(text, carried, stop)?;
        Some((new, counted))
    }

    /// That one side of a merge is empty, and was not, in words: it may stand for a removal.
    pub fn empty_side(&self) -> Option<&'static str> {
        self.text.as_ref().filter(|text| text.fixed.is_none())?;
        let is = |sided: &Sided| sided.bytes.as_ref().is_some_and(|bytes| bytes.is_empty());
        match (is(&self.sides.base), is(&self.sides.parent), is(&self.sides.theirs)) {
            (false, true, false) => Some("the parent's is empty, the child changed it"),
            (false, false, true) => Some("the child's is empty, the parent changed it"),
            _ => None,
        }
    }

    /// Whether it is this path of this child.
    pub fn is(&self, child: &str, path: &TreePath) -> bool {
        self.sides.child == child && self.sides.path == *path
    }

    /// Whether something can be chosen and written.
    pub fn is_merge(&self) -> bool {
        self.form.is_some() || self.text.as_ref().is_some_and(|text| text.fixed.is_none())
    }

    /// Whether the versions differ in who may run them.
    pub fn modes_differ(&self) -> bool {
        let [base, parent, theirs] =
            [&self.sides.base, &self.sides.parent, &self.sides.theirs].map(executable);
        base != parent || base != theirs
    }

    /// Whether it was taken, and is another one now.
    pub fn is_changed_since(&self) -> bool {
        changed_since(&self.sides, self.by_hand)
    }

    fn versions(&self) -> [&Version; 3] {
        [&self.sides.base.version, &self.sides.parent.version, &self.sides.theirs.version]
    }

    /// Whether the result is being written by hand.
    pub fn is_edited(&self) -> bool {
        self.text.as_ref().is_some_and(|text| text.editor.is_some())
    }

    /// Whether what is there now is something else.
    pub fn differs(&self, sides: &Sides, by_hand: ByHand) -> bool {
        let other: [&Version; 3] = [&sides.base.version, &sides.parent.version, &sides.theirs.version];
        self.versions() != other || self.by_hand != by_hand || self.sides.verdict != sides.verdict
    }

    /// The same path with what is there now, to be opened; none: nothing is another.
    pub fn again(&mut self, id: u64, sides: Sides, by_hand: ByHand, then: Then) -> Option<Wanted> {
        // what is kept of it is as this one keeps it
        let sides = Sides { draft: self.sides.draft.clone(), ..sides };
        if !self.differs(&sides, by_hand) {
            self.sides = sides;
            return None;
        }
        Some(Wanted { id, sides, by_hand, carried: Carried::of(self), then })
    }

    /// What keeps the choices for later; none: there is nothing to keep, and nothing was.
    pub fn draft(&self) -> Option<HandBackAsk> {
        let draft = self.is_merge().then(|| self.decided())?;
        if draft == self.sides.draft {
            return None;
        }
        let sides = &self.sides;
        Some(HandBackAsk::KeepDraft {
            child: sides.child.clone(),
            path: sides.path.clone(),
            of: Box::new([sides.base.version.clone(), sides.theirs.version.clone()]),
            draft: draft.map(Box::new),
        })
    }

    /// The draft is kept.
    pub fn kept(&mut self) {
        self.sides.draft = self.decided();
    }

    /// What is written, and the choices that say so; none: a form in which nothing is chosen.
    pub fn take(&self) -> Option<(Take, Option<Vec<Choice>>)> {
        if let Some(form) = &self.form {
            return form.take().map(|version| (Take::Version(version), None));
        }
        let text = self.text.as_ref().filter(|text| text.fixed.is_none())?;
        let result = text.resolution.result();
        let executable = text.executable;
        let whole = [&self.sides.parent, &self.sides.theirs, &self.sides.base].into_iter().find(|sided| {
            let mode = matches!(sided.version, Version::File { executable: mode, .. } if mode == executable);
            mode && sided.bytes.as_deref() == Some(&result[..])
        });
        let take = match whole {
            Some(sided) => Take::Version(sided.version.clone()),
            None => Take::Bytes { bytes: result.into(), executable },
        };
        Some((take, Some(text.resolution.choices().to_vec())))
    }
}

/// A side as text: what is not there is empty, what is no text is none.
fn text_of(sided: &Sided) -> Option<&[u8]> {
    match (&sided.version, &sided.bytes) {
        (Version::File { .. }, Some(bytes)) if !is_binary(bytes) => Some(bytes),
        (Version::Absent, _) => Some(&[]),
        (Version::File { .. } | Version::Link { .. } | Version::InTheWay(_), _) => None,
    }
}

/// Whether a path that was taken is not any more as the child left it, nor as it was put back: that work is somebody's.
fn changed_since(sides: &Sides, by_hand: ByHand) -> bool {
    let now = sides.parent.version.tracked();
    let left = match by_hand {
        ByHand::Reverted => &sides.parent_then,
        ByHand::Nothing | ByHand::Resolved | ByHand::Outside => &sides.theirs.version,
    };
    sides.verdict == Verdict::Taken && now != left.tracked()
}

/// Versions to be shown as text.
#[derive(Debug)]
pub(super) struct Versions {
    pub three: Three,
    pub seen: Vec<Side>,
    /// They are looked at only: why nothing can be chosen.
    pub fixed: Option<Said>,
    /// Whether the result may be run by its owner.
    pub executable: bool,
}

impl Versions {
    fn looked_at(three: Three, seen: &[Side], why: Said) -> Versions {
        Versions { three, seen: seen.to_vec(), fixed: Some(why), executable: false }
    }
}

fn parts(sides: &Sides, by_hand: ByHand) -> (Option<Form>, Option<Versions>) {
    use Side::{Base, Child, Parent};
    let by_hand = if changed_since(sides, by_hand) { ByHand::Outside } else { by_hand };
    let (base, parent, theirs) = (text_of(&sides.base), text_of(&sides.parent), text_of(&sides.theirs));
    let look = |one: Option<&[u8]>, other: Option<&[u8]>, third: Option<&[u8]>, seen: &[Side], why: Said| {
        Some(Versions::looked_at(Three::new(one?, other?, third?), seen, why))
    };
    let keyed = |before: &str, key: Action, after: &str| Said::from(before).key(key).and(after);
    match (sides.verdict, by_hand) {
        (Verdict::Conflict(_), ByHand::Resolved) => {
            let why = keyed("it is resolved: ", Action::ConflictUndo, " takes that back");
            (None, look(base, parent, theirs, &[Base, Parent, Child], why))
        }
        // a base that is no text is not one that is not there: no lines can be taken from it
        (Verdict::Conflict(Clash::Content), _) if base.is_some() && parent.is_some() && theirs.is_some() => {
            let file = |sided: &Sided| matches!(sided.version, Version::File { .. });
            if !file(&sides.parent) || !file(&sides.theirs) {
                // one of them went meanwhile
                return (Some(Form::new(sides)), removal(sides, base, parent, theirs));
            }
            let three =
                Three::new(base.unwrap_or_default(), parent.unwrap_or_default(), theirs.unwrap_or_default());
            let seen = vec![Base, Parent, Child];
            (None, Some(Versions { three, seen, fixed: None, executable: mode(sides) }))
        }
        (Verdict::Conflict(_), _) => (Some(Form::new(sides)), removal(sides, base, parent, theirs)),
        (Verdict::Taken, ByHand::Nothing) => {
            let why = keyed("it is taken: ", Action::ConflictRevert, " puts it back as it was");
            (None, look(base, base, theirs, &[Base, Child], why))
        }
        (Verdict::Taken, ByHand::Reverted) => {
            let why = keyed("it was put back: ", Action::ConflictUndo, " takes it again");
            (None, look(base, base, theirs, &[Base, Child], why))
        }
        (Verdict::Taken, ByHand::Outside | ByHand::Resolved) => {
            let why = "it was taken, and changed outside since: look at it in your editor";
            (None, look(base, parent, theirs, &[Base, Parent, Child], why.into()))
        }
        (Verdict::Same | Verdict::Kept | Verdict::Special, _) => (
            None,
            look(
                base,
                base,
                theirs,
                &[Base, Child],
                "both made this change: there is nothing to choose".into(),
            ),
        ),
    }
}

/// Where one removed what the other changed: the change.
fn removal(
    sides: &Sides,
    base: Option<&[u8]>,
    parent: Option<&[u8]>,
    theirs: Option<&[u8]>,
) -> Option<Versions> {
    let gone = |sided: &Sided| *sided.version.tracked() == Version::Absent;
    let (three, seen) = match (gone(&sides.parent), gone(&sides.theirs)) {
        (true, false) => (Three::new(base?, base?, theirs?), [Side::Base, Side::Child]),
        (false, true) => (Three::new(base?, parent?, base?), [Side::Base, Side::Parent]),
        (true, true) | (false, false) => return None,
    };
    Some(Versions::looked_at(three, &seen, "it is chosen for the whole file".into()))
}

/// Whether the result may be run by its owner: who changed that, has it.
fn mode(sides: &Sides) -> bool {
    let [base, parent, theirs] = [&sides.base, &sides.parent, &sides.theirs].map(executable);
    if parent == base { theirs.unwrap_or(false) } else { parent.unwrap_or(false) }
}

/// Whether a file may be run by its owner; none: it is no file.
fn executable(sided: &Sided) -> Option<bool> {
    match sided.version {
        Version::File { executable, .. } => Some(executable),
        Version::Absent | Version::Link { .. } | Version::InTheWay(_) => None,
    }
}
