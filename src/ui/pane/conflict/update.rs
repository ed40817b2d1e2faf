//! What happens to the viewer: each message and each key goes to its part.
//!
//! Not here: what a key does (`choose`, `moves`, `by_hand`, `write`), and what the session tells (`answer`).

use super::said::Said;
use super::{Asked, Focus, Msg, One, Out, State, list};
use crate::law::hand_back::merge1::Verdict;
use crate::law::merge::regions::{Side, Whitespace};
use crate::ui::action::Action;

/// Changes the state by a message; what is to be done.
pub fn update(state: &mut State, msg: Msg) -> Vec<Out> {
    let mut out = Vec::new();
    match msg {
        Msg::Enter => {
            (state.shown, state.entered) = (true, true);
            state.keeping.failed = false;
            state.refresh(&mut out);
        }
        Msg::EnterChild(child) => {
            state.leave_path(&mut out);
            state.put_away();
            (state.shown, state.entered) = (true, false);
            (state.child, state.all) = (Some(child), None);
            state.refresh(&mut out);
        }
        Msg::Refresh => state.refresh(&mut out),
        Msg::Pick(at) => state.pick(at, &mut out),
        Msg::Time(now) => state.on_time(now, &mut out),
        Msg::Compared => {
            if let Some(made) = state.worker.take() {
                out.push(Out::Unsay);
                state.made(made, &mut out);
            }
        }
        Msg::Do(action) => {
            if state.edits() {
                state.edit(action, &mut out);
            } else {
                state.act(action, &mut out);
            }
        }
        Msg::Insert(c) => state.write_in(|editor| editor.insert(c)),
        Msg::Paste(text) => state.write_in(|editor| editor.paste(&text)),
        Msg::Scroll(rows) => {
            let height = state.drawn.rows;
            if let Some(text) = state.text_mut() {
                text.scroll(i64::from(rows), height);
            }
        }
        Msg::Click { column, row } => {
            state.turned = false;
            state.click(column, row, &mut out);
        }
        Msg::Write(choice) => state.write_open(&choice, &mut out),
        Msg::Edited(bytes) => state.edited(bytes, &mut out),
        Msg::Answered { token, reply } => state.answered(token, reply, &mut out),
        Msg::NotAsked(token) => state.asked.retain(|(asked, _)| *asked != token),
    }
    out
}

impl State {
    fn act(&mut self, action: Action, out: &mut Vec<Out>) {
        use Action as A;
        self.warned &= matches!(action, A::ConflictLeave | A::ConflictBack);
        if std::mem::take(&mut self.turned) && chooses(action) {
            let said = "it was changed outside, and this is not what you looked at: nothing was chosen; look, and press it again";
            return out.push(Out::Say(said.into()));
        }
        match action {
            A::ConflictKeys => out.push(Out::Keys),
            A::ConflictLeave => self.close(out),
            A::ConflictBack => self.back(out),
            A::ConflictTwo => self.look.two = !self.look.two,
            A::ConflictPaths => self.look.wide = !self.look.wide,
            A::ConflictWhitespace => self.whitespace(out),
            A::ConflictVersion => self.look.one = next(self.look.one),
            A::ConflictFocus if self.hand_back().is_some() => {
                self.focus = if self.focus == Focus::Paths { Focus::Versions } else { Focus::Paths };
            }
            A::ConflictOpen => self.enter(out),
            A::ConflictNextPath => self.select_by(1, out),
            A::ConflictPreviousPath => self.select_by(-1, out),
            A::ConflictNextOpen => self.next_open(out),
            _ if self.moves(action, out) => {}
            _ => self.on_path(action, out),
        }
    }

    /// A key for the path that is open.
    fn on_path(&mut self, action: Action, out: &mut Vec<Out>) {
        use Action as A;
        if !self.is_open_selected() {
            let why = match (self.hand_back(), self.item(), &self.trouble) {
                (None, ..) => Said::from("choose an agent first: ").key(A::ConflictOpen).and(" opens it"),
                (_, Some(list::Item::LeftOut(_)), _) => {
                    "it is still in the copy, and was not brought over".into()
                }
                (_, None, _) => "the child changed nothing".into(),
                (.., Some(why)) => why.clone().into(),
                (.., None) => "it is not here yet".into(),
            };
            return out.push(Out::Say(why));
        }
        if self.asked.iter().any(|(_, asked)| matches!(asked, Asked::Write(..))) {
            return out.push(Out::Say("it is being written".into()));
        }
        match action {
            A::ConflictWrite => return self.ask_write(out),
            A::ConflictRevert => return self.revert(out),
            A::ConflictUndo => {
                self.keeping.owed = true;
                return self.undo(out);
            }
            _ => {}
        }
        self.keeping.owed = true;
        if !self.drawn.versions {
            let unseen = Said::from("nothing is chosen unseen: ").key(A::ConflictOpen);
            return out.push(Out::Say(unseen.and(" shows the path")));
        }
        if let Some(form) = self.open.as_mut().and_then(|open| open.form.as_mut()) {
            let done = form.choose(action);
            return out.extend(done.err().map(|why| Out::Say(why.into())));
        }
        let Some(text) = self.text() else { return out.push(Out::Say(self.nothing())) };
        if let Some(why) = &text.fixed {
            return out.push(Out::Say(why.clone()));
        }
        match action {
            A::ConflictEdit => self.begin_edit(out),
            A::ConflictEditor => self.editor(out),
            A::ConflictEarlier => self.earlier(out),
            A::ConflictPropose => self.propose(out),
            A::ConflictExecutable => {
                if let Some(text) = self.text_mut() {
                    (text.executable, text.mode_made) = (!text.executable, true);
                    let words = if text.executable { "executable" } else { "not executable" };
                    out.push(Out::Say(format!("the file is written {words}").into()));
                }
            }
            _ => self.choose(action, out),
        }
    }

    pub(super) fn nothing(&self) -> Said {
        match self.open.as_ref().map(|open| open.sides.verdict) {
            Some(Verdict::Taken) => {
                Said::from("it is taken: ").key(Action::ConflictRevert).and(" puts it back as it was")
            }
            _ => "there is nothing to choose".into(),
        }
    }

    fn whitespace(&mut self, out: &mut Vec<Out>) {
        let (next, words) = match self.look.whitespace {
            Whitespace::Counts => (Whitespace::SetAside, "whitespace is set aside in what is shown"),
            Whitespace::SetAside => (Whitespace::Counts, "whitespace counts again"),
        };
        self.look.whitespace = next;
        out.push(Out::Say(words.into()));
    }
}

/// Whether an action chooses something.
fn chooses(action: Action) -> bool {
    use Action as A;
    matches!(
        action,
        A::ConflictParent
            | A::ConflictChild
            | A::ConflictBoth
            | A::ConflictBothChildFirst
            | A::ConflictBase
            | A::ConflictOpenParent
            | A::ConflictOpenChild
            | A::ConflictOpenBoth
            | A::ConflictOpenBothChildFirst
            | A::ConflictOpenBase
            | A::ConflictFileParent
            | A::ConflictFileChild
            | A::ConflictFileBase
    )
}

/// What can be seen next where there is room for one.
fn next(one: One) -> One {
    match one {
        One::Version(Side::Parent) => One::Version(Side::Child),
        One::Version(Side::Child) => One::Version(Side::Base),
        One::Version(Side::Base) => One::Result,
        One::Result => One::Version(Side::Parent),
    }
}
