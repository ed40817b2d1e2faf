//! What the session tells the viewer, and what the viewer asks for by itself.

use super::carried::{Carried, Counted};
use super::list;
use super::said::Said;
use super::work::{Made, Then, Wanted};
use super::{Asked, Done, Focus, Out, State};
use crate::api::event::Reply;
use crate::api::hand_back::{ByHand, HandBack, HandBackAsk, HandBackPath, HandBackReply, Sides};
use crate::law::hand_back::tree::TreePath;
use crate::ui::action::Action;

fn open_of(all: &[HandBack]) -> usize {
    all.iter().flat_map(|one| &one.paths).filter(|path| path.is_open()).count()
}

impl State {
    /// Asks what there is, unless that is on its way.
    pub(super) fn refresh(&mut self, out: &mut Vec<Out>) {
        if self.shown && !self.asked.iter().any(|(_, asked)| *asked == Asked::List) {
            out.push(self.ask(Asked::List, HandBackAsk::List));
        }
    }

    /// Asks for the path that is selected, unless it is there or another one is on its way.
    pub(super) fn load(&mut self, out: &mut Vec<Out>) {
        let compared = self.wanted().is_some_and(|(child, path)| self.worker.is_at(&child, &path));
        if self.is_open_selected() || compared {
            return;
        }
        self.leave_path(out);
        self.put_away();
        (self.trouble, self.stale) = (None, false);
        let Some((child, path)) = self.wanted() else { return };
        if let Some(at) = self.kept.iter().position(|open| open.is(&child, &path)) {
            self.open = Some(self.kept.remove(at));
        }
        self.look_again(out);
    }

    /// Asks for the path that is selected, also where it is there: it may be another one now.
    pub(super) fn look_again(&mut self, out: &mut Vec<Out>) {
        let under_way = self.asked.iter().any(|(_, asked)| matches!(asked, Asked::Sides(..)));
        if let Some((child, path)) = self.wanted().filter(|_| !under_way) {
            let ask = HandBackAsk::Sides { child: child.clone(), path: path.clone() };
            out.push(self.ask(Asked::Sides(child, path), ask));
        }
    }

    /// What was chosen and is not written is kept for later.
    pub(super) fn leave_path(&mut self, out: &mut Vec<Out>) {
        if let Some(text) = self.text_mut() {
            text.fold();
        }
        self.drop_proposal(out);
        self.keep_now(out);
        self.worker.cancel();
    }

    /// Selects the first path that waits; without one the first.
    pub(super) fn first_open(&mut self) {
        let first = self.hand_back().and_then(|one| one.paths.iter().position(HandBackPath::is_open));
        self.selected = first.unwrap_or(0);
        self.focus = if first.is_some() { Focus::Versions } else { Focus::Paths };
        self.top = 0;
    }

    pub(super) fn answered(&mut self, token: u64, reply: Reply, out: &mut Vec<Out>) {
        let Some(at) = self.asked.iter().position(|(asked, _)| *asked == token) else { return };
        let (_, asked) = self.asked.remove(at);
        match (asked, reply) {
            (Asked::List, Reply::HandBack(HandBackReply::List(all))) => self.told(all, out),
            (Asked::Stamp(child, path), Reply::HandBack(HandBackReply::Stamp(stamp))) => {
                self.stamped(&child, &path, stamp, out);
            }
            // what cannot be asked now is asked again, and told when it is looked at
            (Asked::Stamp(..), _) => {}
            (Asked::Sides(child, path), reply) => self.sides(&child, &path, reply, out),
            (Asked::Write(child, path, done), Reply::HandBack(HandBackReply::Written(one))) => {
                self.written(&child, &path, done, *one, out);
            }
            (Asked::Write(_, path, done), Reply::HandBack(HandBackReply::Changed(sides))) => {
                self.changed(&path, done, *sides, out);
            }
            (Asked::Propose(child, path), Reply::HandBack(HandBackReply::Proposal(result))) => {
                self.proposal_came(&child, &path, result, out);
            }
            (Asked::Draft(child, path), Reply::Failed(why)) => self.not_kept(&child, &path, &why, out),
            (asked, Reply::Failed(why)) => {
                if asked == Asked::List {
                    self.trouble = Some(why.clone());
                }
                self.stumbled = true;
                out.push(Out::Say(why.into()));
            }
            (_, _) => {}
        }
    }

    fn told(&mut self, all: Vec<HandBack>, out: &mut Vec<Out>) {
        let first = self.all.is_none();
        let here = self.item().map(|item| item.path().clone());
        if std::mem::take(&mut self.entered) {
            self.turn_to_who_waits(&all, out);
        }
        let known = self.child.as_ref().is_some_and(|child| all.iter().any(|one| one.child == *child));
        let one = match &all[..] {
            [only] => Some(only.child.clone()),
            _ => None,
        };
        if self.all.as_ref().is_some_and(|old| open_of(old) != open_of(&all)) {
            // how many are open was said, perhaps
            out.push(Out::Unsay);
        }
        self.all = Some(all);
        self.trouble = None;
        if let Some(child) = self.child.take_if(|_| !known) {
            // not another one's in its place
            let said = match child.rsplit_once('/') {
                Some((parent, _)) => {
                    format!("what came back from {child} came back to {parent}, not to here")
                }
                None => format!("nothing that came back from {child} is here any more"),
            };
            out.push(Out::Say(said.into()));
        } else if !known {
            self.child = one;
            self.first_open();
        } else if let (Some(here), Some(hand_back)) = (here, self.hand_back()) {
            let at = (0..list::len(hand_back))
                .find(|at| list::item(hand_back, *at).is_some_and(|item| *item.path() == here));
            self.selected = at.unwrap_or(0);
        }
        if first && known {
            self.first_open();
        }
        if self.is_open_selected() {
            self.look_again(out);
        } else {
            self.load(out);
        }
    }

    /// To the first child that something waits of, from the list or from a child that nothing does.
    fn turn_to_who_waits(&mut self, all: &[HandBack], out: &mut Vec<Out>) {
        let waits = |one: &HandBack| one.paths.iter().any(HandBackPath::is_open);
        let done = |child: &String| all.iter().any(|one| one.child == *child && !waits(one));
        let leaves = self.child.as_ref().is_none_or(done);
        if let Some(at) = all.iter().position(waits).filter(|_| leaves) {
            self.leave_path(out);
            self.put_away();
            (self.child, self.picked) = (None, at);
        }
    }

    fn by_hand(&self, path: &TreePath) -> ByHand {
        let of = self.hand_back().and_then(|one| one.paths.iter().find(|of| of.path == *path));
        of.map_or(ByHand::Nothing, |of| of.by_hand)
    }

    fn sides(&mut self, child: &str, path: &TreePath, reply: Reply, out: &mut Vec<Out>) {
        if self.wanted().is_none_or(|(of, at)| of != child || at != *path) {
            return self.look_again(out);
        }
        match reply {
            Reply::HandBack(HandBackReply::Sides(sides)) => {
                self.trouble = None;
                self.watch.seen = Some(sides.stamp);
                let by_hand = self.by_hand(path);
                self.last_id += 1;
                let id = self.last_id;
                match &mut self.open {
                    Some(open) if open.is(child, path) && open.is_edited() => {
                        if open.differs(&sides, by_hand) && !std::mem::replace(&mut self.stale, true) {
                            let said = format!("{path} was changed outside: that is seen when you are done");
                            out.push(Out::Say(said.into()));
                        }
                    }
                    Some(open) if open.is(child, path) => {
                        // resolved, and changed since: it is being resolved anew
                        let by_hand = match (open.by_hand, by_hand) {
                            (ByHand::Outside, ByHand::Resolved) => ByHand::Outside,
                            (_, by_hand) => by_hand,
                        };
                        let moved = open.sides.parent.version != sides.parent.version;
                        if let Some(wanted) = open.again(id, *sides, by_hand, Then::Again { moved }) {
                            self.open_up(wanted, out);
                        }
                    }
                    _ => {
                        let carried = Carried::kept(sides.draft.as_ref());
                        self.open_up(Wanted { id, sides: *sides, by_hand, carried, then: Then::Opened }, out);
                    }
                }
            }
            other => {
                let why = match other {
                    Reply::Failed(why) => why,
                    _ => "the session did not answer; open the path again".to_owned(),
                };
                // what was decided is gone on with when it can be read again
                self.leave_path(out);
                self.put_away();
                self.stumbled = true;
                self.trouble = Some(why);
            }
        }
    }

    fn written(&mut self, child: &str, path: &TreePath, done: Done, one: HandBack, out: &mut Vec<Out>) {
        let open = one.paths.iter().filter(|path| path.is_open()).count();
        if let Some(old) = self.all.iter_mut().flatten().find(|old| old.child == one.child) {
            *old = one;
        }
        let left = match open {
            0 => "nothing is open any more".to_owned(),
            1 => "1 conflict is open".to_owned(),
            n => format!("{n} conflicts are open"),
        };
        let what = match done {
            Done::Resolved => "written",
            Done::Reverted => "put back as it was",
            Done::TakenBack => "taken back",
        };
        let mut said = Said::from(format!("{path}: {what} · {left}"));
        let other = (done == Done::Reverted).then(|| self.other_half(child, path)).flatten();
        if let Some(other) = other {
            self.selected = other;
            let half = " · this is the other half of its rename: ";
            said = said.and(half).key(Action::ConflictRevert).and(" puts it back too");
        }
        out.push(Out::Say(said));
        // its choices are written: no draft of them
        self.kept.retain(|kept| !kept.is(child, path));
        if self.open.as_ref().is_some_and(|open| open.is(child, path)) {
            self.drop_proposal(out);
            if let Some(old) = self.open.take() {
                self.colours.forget(old.id);
            }
            if done == Done::Resolved && self.alone {
                self.shown = false;
                return out.push(Out::Close);
            }
            if done == Done::Resolved
                && let Some(next) = self.next_open_path()
            {
                self.selected = next;
            }
        }
        self.load(out);
    }

    fn changed(&mut self, path: &TreePath, done: Done, sides: Sides, out: &mut Vec<Out>) {
        // what was written is not there any more: there is nothing to take back, and it can be resolved anew
        let by_hand = if done == Done::TakenBack { ByHand::Outside } else { self.by_hand(path) };
        self.stumbled = true;
        self.watch.seen = Some(sides.stamp);
        self.last_id += 1;
        let id = self.last_id;
        let Some(open) = self.open.as_mut().filter(|open| open.is(&sides.child, path)) else {
            return out.push(Out::Say(format!("{path} changed meanwhile: nothing was written").into()));
        };
        let then = Then::Changed(done);
        match open.again(id, sides, by_hand, then) {
            Some(wanted) => self.open_up(wanted, out),
            None => self.say_became(then, path, by_hand, Counted::default(), out),
        }
    }

    /// Opens a path: at once, or when its texts are compared.
    fn open_up(&mut self, wanted: Wanted, out: &mut Vec<Out>) {
        match self.worker.begin(wanted) {
            Some(made) => self.made(made, out),
            // what is shown is of before, and takes no key
            None if self.open.is_some() => out.push(Out::Say("comparing…".into())),
            None => {}
        }
    }

    /// A path is opened.
    pub(super) fn made(&mut self, made: Made, out: &mut Vec<Out>) {
        let Made { open, counted, then } = made;
        let (path, by_hand) = (open.sides.path.clone(), open.by_hand);
        if counted.turned.is_some() && matches!(then, Then::Again { moved: true } | Then::Changed(_)) {
            // keys that waited were for what was seen before
            (self.turned, self.stumbled) = (true, true);
        }
        if let Some(old) = self.open.replace(open) {
            self.colours.forget(old.id);
        }
        self.say_became(then, &path, by_hand, counted, out);
    }

    /// What became of a path and its choices, in words.
    fn say_became(&self, then: Then, path: &TreePath, by_hand: ByHand, counted: Counted, out: &mut Vec<Out>) {
        let resolved = matches!(by_hand, ByHand::Resolved | ByHand::Reverted);
        let said: Said = match then {
            Then::Opened if counted.is_less() => {
                counted.said(format!("{path} was changed outside since it was looked at: "))
            }
            Then::Opened if by_hand == ByHand::Outside => {
                format!("{path} was changed outside since the hand-back: it is shown as it is now").into()
            }
            Then::Again { moved: true } if !resolved => counted.said(format!("{path} was changed outside: ")),
            Then::Opened | Then::Again { .. } => return,
            Then::Changed(Done::TakenBack) => format!(
                "{path} was changed outside since it was written: that stays, and it is shown as it is now"
            )
            .into(),
            Then::Changed(Done::Resolved | Done::Reverted) => counted
                .said(format!("{path} changed meanwhile: nothing was written, it is shown as it is now; ")),
        };
        out.push(Out::Say(said));
    }
}
