//! Keys that come before what they are for: they wait for it, and mean then what they would have meant.
//!
//! Not here: the keys themselves (`ui::conflict_update` keeps them, since a chord and a dialog are none of the viewer's).

use ratatui::layout::Rect;

use super::{Asked, Focus, State, view};
use crate::ui::action::Action;

impl State {
    /// Whether an action is for something that is on its way: the list, the path that is selected, or what comes after
    /// a path that is being written.
    pub fn waits_for(&self, action: Action) -> bool {
        use Action as A;
        let asked = |what: fn(&Asked) -> bool| self.asked.iter().any(|(_, asked)| what(asked));
        let lists = self.all.is_none() && asked(|asked| *asked == Asked::List);
        let reads = self.compares()
            || !self.is_open_selected()
                && self.wanted().is_some()
                && asked(|asked| matches!(asked, Asked::Sides(..)));
        let writes = asked(|asked| matches!(asked, Asked::Write(..)));
        let in_list = self.hand_back().is_none() || self.focus == Focus::Paths;
        match action {
            A::ConflictLeave
            | A::ConflictBack
            | A::ConflictKeys
            | A::ConflictTwo
            | A::ConflictPaths
            | A::ConflictWhitespace
            | A::ConflictVersion => false,
            A::ConflictNextPath | A::ConflictPreviousPath | A::ConflictFocus | A::ConflictOpen => lists,
            A::ConflictDown
            | A::ConflictUp
            | A::ConflictHalfDown
            | A::ConflictHalfUp
            | A::ConflictPageDown
            | A::ConflictPageUp
            | A::ConflictFirst
            | A::ConflictLast
                if in_list =>
            {
                lists
            }
            _ => self.shown && (lists || reads || writes),
        }
    }

    /// Whether what was asked last could not be done; told once.
    pub fn stumbled(&mut self) -> bool {
        std::mem::take(&mut self.stumbled)
    }

    /// Looks at what has come as it will be drawn, so that keys that waited find it seen.
    pub fn look(&mut self, area: Rect) {
        view::arrange(self, area);
    }
}
