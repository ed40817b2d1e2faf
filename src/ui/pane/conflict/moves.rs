//! Keys that move: in a list, in the versions, between paths and children, and out.

use super::said::Said;
use super::{Focus, Out, State, list, paths};
use crate::ui::action::Action;

/// Columns of a step to the side.
const ASIDE: usize = 8;

impl State {
    /// A key that moves; whether it was one.
    pub(super) fn moves(&mut self, action: Action, out: &mut Vec<Out>) -> bool {
        use Action as A;
        let lists = self.hand_back().is_none() || self.focus == Focus::Paths;
        let (rows, page) = if lists {
            (1, self.drawn.list.saturating_sub(1).max(1) as i64)
        } else {
            (1, self.drawn.rows.saturating_sub(1).max(1) as i64)
        };
        let by = match action {
            A::ConflictDown => rows,
            A::ConflictUp => -rows,
            A::ConflictHalfDown => (page / 2).max(1),
            A::ConflictHalfUp => -(page / 2).max(1),
            A::ConflictPageDown => page,
            A::ConflictPageUp => -page,
            A::ConflictFirst => i64::MIN / 4,
            A::ConflictLast => i64::MAX / 4,
            A::ConflictLeft | A::ConflictRight => {
                if let Some(text) = self.text_mut() {
                    let right = action == A::ConflictRight;
                    text.left = if right { text.left + ASIDE } else { text.left.saturating_sub(ASIDE) };
                }
                return true;
            }
            A::ConflictNext | A::ConflictPrevious => {
                let (height, forward) = (self.drawn.rows, action == A::ConflictNext);
                match self.text_mut() {
                    Some(text) => match text.step(forward) {
                        Some(hunk) => text.show(hunk, height),
                        None => out.push(Out::Say(no_further(forward).into())),
                    },
                    None => out.push(Out::Say("this is no text: there are no changes to go through".into())),
                }
                return true;
            }
            _ => return false,
        };
        if self.hand_back().is_none() {
            let last = self.all.as_ref().map_or(0, Vec::len).saturating_sub(1);
            self.picked = moved(self.picked, by).min(last);
        } else if lists {
            self.select_by(by, out);
        } else {
            let height = self.drawn.rows;
            if let Some(text) = self.text_mut() {
                text.scroll(by, height);
            }
        }
        true
    }

    pub(super) fn select_by(&mut self, by: i64, out: &mut Vec<Out>) {
        let Some(last) = self.hand_back().map(|one| list::len(one).saturating_sub(1)) else { return };
        self.selected = moved(self.selected, by).min(last);
        self.load(out);
    }

    /// The next thing that waits for a decision: in this path, else in the next.
    pub(super) fn next_open(&mut self, out: &mut Vec<Out>) {
        let height = self.drawn.rows;
        let here = self.is_open_selected();
        if let Some(text) = self.text_mut().filter(|_| here)
            && let Some(next) = text.next_open()
        {
            text.show(next, height);
            self.focus = Focus::Versions;
            return;
        }
        match self.next_open_path() {
            Some(next) => {
                if next == self.selected && here {
                    let chosen = Said::from("all is chosen here: ").key(Action::ConflictWrite);
                    out.push(Out::Say(chosen.and(" writes it")));
                }
                (self.selected, self.focus) = (next, Focus::Versions);
                self.load(out);
            }
            None => out.push(Out::Say("nothing is open any more".into())),
        }
    }

    pub(super) fn enter(&mut self, out: &mut Vec<Out>) {
        if self.hand_back().is_some() {
            self.focus = Focus::Versions;
        } else if let Some(picked) = self.all.as_ref().and_then(|all| all.get(self.picked)) {
            self.child = Some(picked.child.clone());
            self.first_open();
            self.load(out);
        }
    }

    /// A step back: from the versions to the paths, to the agents, out.
    pub(super) fn back(&mut self, out: &mut Vec<Out>) {
        if self.stop_proposal(out) {
            return;
        }
        let many = self.all.as_ref().is_some_and(|all| all.len() > 1);
        if self.hand_back().is_some() && self.focus == Focus::Versions && !self.alone {
            self.focus = Focus::Paths;
        } else if self.hand_back().is_some() && many {
            self.leave_path(out);
            self.put_away();
            let at = self.all.iter().flatten().position(|one| Some(&one.child) == self.child.as_ref());
            (self.child, self.picked) = (None, at.unwrap_or(0));
        } else {
            self.close(out);
        }
    }

    /// Whether something is chosen and not written.
    pub fn is_unwritten(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.decided().is_some())
    }

    pub(super) fn close(&mut self, out: &mut Vec<Out>) {
        // a session keeps what is chosen; one merge alone has nothing that would
        if self.alone && !self.warned && self.is_unwritten() {
            self.warned = true;
            let said = Said::from("what was chosen is not written: ").key(Action::ConflictWrite);
            let said = said.and(" writes it, ").key(Action::ConflictLeave).and(" again leaves without it");
            return out.push(Out::Say(said));
        }
        self.leave_path(out);
        self.colours.rest();
        self.shown = false;
        out.push(Out::Close);
    }

    pub(super) fn click(&mut self, column: u16, row: u16, out: &mut Vec<Out>) {
        let (list, versions) = (self.drawn.list_area, self.drawn.versions_area);
        if list.contains((column, row).into()) {
            let at = self.top + usize::from(row - list.y);
            let path = self.hand_back().and_then(|one| paths::at_row(one, self.top, row - list.y, list));
            if let Some(at) = path {
                (self.selected, self.focus) = (at, Focus::Paths);
                self.load(out);
            } else if self.hand_back().is_none() && self.all.as_ref().is_some_and(|all| at < all.len()) {
                self.picked = at;
            }
        } else if versions.contains((column, row).into()) {
            self.focus = Focus::Versions;
            if let Some(text) = self.text_mut() {
                let at = text.table.rows.get(text.top + usize::from(row - versions.y));
                let hunk = at.map(|row| row.region as usize).filter(|hunk| text.hunks().contains(hunk));
                text.current = hunk.or(text.current);
            }
        }
    }
}

fn moved(at: usize, by: i64) -> usize {
    usize::try_from((at as i64).saturating_add(by)).unwrap_or(0)
}

fn no_further(forward: bool) -> &'static str {
    if forward { "no further change below" } else { "no further change above" }
}
