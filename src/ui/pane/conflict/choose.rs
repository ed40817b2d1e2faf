//! Choices for hunks: for the one at hand, for all that are open, for the whole file.

use super::said::Said;
use super::text::Text;
use super::{Out, State, words};
use crate::law::merge::resolution::{Choice, Resolution};
use crate::ui::action::Action;

impl State {
    pub(super) fn choose(&mut self, action: Action, out: &mut Vec<Out>) {
        use Action as A;
        let one = match action {
            A::ConflictParent => Choice::Parent,
            A::ConflictChild => Choice::Child,
            A::ConflictBoth => Choice::Both,
            A::ConflictBothChildFirst => Choice::BothChildFirst,
            A::ConflictBase => Choice::Base,
            _ => return self.choose_many(action, out),
        };
        let height = self.drawn.rows;
        let Some(text) = self.text_mut() else { return };
        let Some(at) = text.current else {
            let none = Said::from("no change is in sight: ").key(A::ConflictNext);
            return out.push(Out::Say(none.and(" goes to the next")));
        };
        let waited = text.resolution.choices()[at] == Choice::Open;
        text.change(|resolution| resolution.choose(at, one));
        // one key a hunk: what waits next is shown at once
        if waited && let Some(next) = text.next_open() {
            text.show(next, height);
        } else {
            text.show(at, height);
        }
    }

    fn choose_many(&mut self, action: Action, out: &mut Vec<Out>) {
        use Action as A;
        let (choice, all) = match action {
            A::ConflictOpenParent => (Choice::Parent, false),
            A::ConflictOpenChild => (Choice::Child, false),
            A::ConflictOpenBoth => (Choice::Both, false),
            A::ConflictOpenBothChildFirst => (Choice::BothChildFirst, false),
            A::ConflictOpenBase => (Choice::Base, false),
            A::ConflictFileParent => (Choice::Parent, true),
            A::ConflictFileChild => (Choice::Child, true),
            A::ConflictFileBase => (Choice::Base, true),
            _ => return,
        };
        let open = self.text().map_or(0, Text::open);
        if !all && open == 0 {
            return out.push(Out::Say("nothing is open here any more".into()));
        }
        self.change(
            |resolution| {
                if all { resolution.choose_all(&choice) } else { resolution.choose_open(&choice) }
            },
        );
        let what = if all { "the whole file".to_owned() } else { hunks(open) };
        let done = Said::from(format!("{what}: {} · ", words::choice(&choice)));
        out.push(Out::Say(done.key(A::ConflictUndo).and(" takes it back")));
    }

    pub(super) fn change(&mut self, what: impl FnOnce(&mut Resolution)) -> bool {
        self.text_mut().filter(|text| text.fixed.is_none()).is_some_and(|text| text.change(what))
    }
}

pub(super) fn hunks(count: usize) -> String {
    if count == 1 { "1 hunk".to_owned() } else { format!("{count} hunks") }
}
