//! What happens to the viewer.

use super::open::Open;
use super::text::Text;
use super::{Asked, Done, Focus, Msg, One, Out, State, list};
use crate::api::hand_back::{ByHand, HandBackAsk, Take};
use crate::law::hand_back::merge1::Verdict;
use crate::law::merge::markers;
use crate::law::merge::regions::{Side, Whitespace};
use crate::law::merge::resolution::Choice;
use crate::ui::action::Action;
use crate::ui::pane::conflict::edit::Editor;

/// Columns of a step to the side.
const ASIDE: usize = 8;

/// Changes the state by a message; what is to be done.
pub fn update(state: &mut State, msg: Msg) -> Vec<Out> {
    let mut out = Vec::new();
    match msg {
        Msg::Enter => {
            (state.shown, state.entered) = (true, true);
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
        Msg::Do(action) => {
            if state.edits() {
                state.edit(action, &mut out);
            } else {
                state.act(action, &mut out);
            }
        }
        Msg::Insert(c) => state.insert(c.encode_utf8(&mut [0; 4])),
        Msg::Paste(text) => state.insert(&text),
        Msg::Scroll(rows) => {
            let height = state.drawn.rows;
            if let Some(text) = state.text_mut() {
                text.scroll(i64::from(rows), height);
            }
        }
        Msg::Click { column, row } => state.click(column, row, &mut out),
        Msg::Write(choice) => {
            state.change(|resolution| resolution.choose_open(&choice));
            state.write(&mut out);
        }
        Msg::Edited(bytes) => state.edited(bytes, &mut out),
        Msg::Answered { token, reply } => state.answered(token, reply, &mut out),
        Msg::NotAsked(token) => state.asked.retain(|(asked, _)| *asked != token),
    }
    out
}

impl State {
    fn act(&mut self, action: Action, out: &mut Vec<Out>) {
        use Action as A;
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
            let why = match (self.hand_back(), self.item()) {
                (None, _) => "choose a child first",
                (_, Some(list::Item::LeftOut(_))) => "it is still in the copy, and was not brought over",
                (_, _) => "it is not here yet",
            };
            return out.push(Out::Say(why.to_owned()));
        }
        if self.asked.iter().any(|(_, asked)| matches!(asked, Asked::Write(..))) {
            return out.push(Out::Say("it is being written".to_owned()));
        }
        match action {
            A::ConflictWrite => return self.ask_write(out),
            A::ConflictRevert => return self.revert(out),
            A::ConflictUndo => return self.undo(out),
            _ => {}
        }
        if !self.drawn.versions {
            return out.push(Out::Say("nothing is chosen unseen: Enter shows the path".to_owned()));
        }
        if let Some(form) = self.open.as_mut().and_then(|open| open.form.as_mut()) {
            let done = form.choose(action);
            return out.extend(done.err().map(Out::Say));
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
                    text.executable = !text.executable;
                    let words = if text.executable { "executable" } else { "not executable" };
                    out.push(Out::Say(format!("the file is written {words}")));
                }
            }
            _ => self.choose(action, out),
        }
    }

    fn nothing(&self) -> String {
        let verdict = self.open.as_ref().map(|open| open.sides.verdict);
        match verdict {
            Some(Verdict::Taken) => "it is taken: `r` puts it back as it was".to_owned(),
            _ => "there is nothing to choose".to_owned(),
        }
    }

    fn choose(&mut self, action: Action, out: &mut Vec<Out>) {
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
            return out.push(Out::Say("no change is in sight: `n` goes to the next".to_owned()));
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
            return out.push(Out::Say("nothing is open here any more".to_owned()));
        }
        self.change(
            |resolution| {
                if all { resolution.choose_all(&choice) } else { resolution.choose_open(&choice) }
            },
        );
        let what = if all { "the whole file".to_owned() } else { hunks(open) };
        out.push(Out::Say(format!("{what}: {} · `u` takes it back", super::words::choice(&choice))));
    }

    pub(super) fn change(
        &mut self,
        what: impl FnOnce(&mut crate::law::merge::resolution::Resolution),
    ) -> bool {
        self.text_mut().filter(|text| text.fixed.is_none()).is_some_and(|text| text.change(what))
    }

    fn whitespace(&mut self, out: &mut Vec<Out>) {
        let (next, words) = match self.look.whitespace {
            Whitespace::Counts => (Whitespace::SetAside, "whitespace is set aside in what is shown"),
            Whitespace::SetAside => (Whitespace::Counts, "whitespace counts again"),
        };
        self.look.whitespace = next;
        out.push(Out::Say(words.to_owned()));
    }

    /// A key that moves; whether it was one.
    fn moves(&mut self, action: Action, out: &mut Vec<Out>) -> bool {
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
                        None => out.push(Out::Say(no_further(forward).to_owned())),
                    },
                    None => {
                        out.push(Out::Say("this is no text: there are no changes to go through".to_owned()))
                    }
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

    fn select_by(&mut self, by: i64, out: &mut Vec<Out>) {
        let Some(last) = self.hand_back().map(|one| list::len(one).saturating_sub(1)) else { return };
        self.selected = moved(self.selected, by).min(last);
        self.load(out);
    }

    /// The next thing that waits for a decision: in this path, else in the next.
    fn next_open(&mut self, out: &mut Vec<Out>) {
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
                    out.push(Out::Say("all is chosen here: `w` writes it".to_owned()));
                }
                (self.selected, self.focus) = (next, Focus::Versions);
                self.load(out);
            }
            None => out.push(Out::Say("nothing is open any more".to_owned())),
        }
    }

    fn enter(&mut self, out: &mut Vec<Out>) {
        if self.hand_back().is_some() {
            self.focus = Focus::Versions;
        } else if let Some(picked) = self.all.as_ref().and_then(|all| all.get(self.picked)) {
            self.child = Some(picked.child.clone());
            self.first_open();
            self.load(out);
        }
    }

    /// A step back: from the versions to the paths, to the children, out.
    fn back(&mut self, out: &mut Vec<Out>) {
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

    fn close(&mut self, out: &mut Vec<Out>) {
        self.leave_path(out);
        self.shown = false;
        out.push(Out::Close);
    }

    fn click(&mut self, column: u16, row: u16, out: &mut Vec<Out>) {
        let (list, versions) = (self.drawn.list_area, self.drawn.versions_area);
        if list.contains((column, row).into()) {
            let at = self.top + usize::from(row - list.y);
            if self.hand_back().is_some_and(|one| at < list::len(one)) {
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

    /// A key while the result is edited.
    fn edit(&mut self, action: Action, out: &mut Vec<Out>) {
        let height = self.drawn.rows;
        let Some(text) = self.text_mut() else { return };
        let Some(editor) = &mut text.editor else { return };
        match action {
            Action::ConflictEditDrop => {
                let touched = editor.touched;
                text.editor = None;
                if touched {
                    out.push(Out::Say("the edit is dropped".to_owned()));
                }
            }
            Action::ConflictEditDone => {
                let result = editor.text();
                text.editor = None;
                text.change(|resolution| resolution.edit(&result));
                if let Some(at) = text.current {
                    text.show(at, height);
                }
                out.push(Out::Say(stands(text)));
            }
            Action::ConflictKeys => out.push(Out::Keys),
            action => {
                editor.act(action);
            }
        }
    }

    fn insert(&mut self, typed: &str) {
        if let Some(editor) = self.text_mut().and_then(|text| text.editor.as_mut()) {
            editor.insert(typed);
        }
    }

    fn begin_edit(&mut self, out: &mut Vec<Out>) {
        let Some(text) = self.text_mut() else { return };
        let at = text.current.and_then(|at| text.starts.get(at)).copied().unwrap_or(0);
        match Editor::open(&text.resolution.result(), at) {
            Some(editor) => text.editor = Some(editor),
            None => out.push(Out::Say("it is not UTF-8: `E` opens it in your editor".to_owned())),
        }
    }

    /// Opens the result with markers in the person's editor; what came back half is gone on with.
    fn editor(&mut self, out: &mut Vec<Out>) {
        let Some(open) = &self.open else { return };
        let Some(text) = &open.text else { return };
        let bytes = text.half.clone().unwrap_or_else(|| markers::out(&text.resolution).text);
        let name = String::from_utf8_lossy(open.sides.path.name()).into_owned();
        out.push(Out::Edit { name, bytes });
    }

    fn edited(&mut self, bytes: Vec<u8>, out: &mut Vec<Out>) {
        let height = self.drawn.rows;
        let Some(text) = self.text_mut().filter(|text| text.fixed.is_none()) else { return };
        let mut left = None;
        text.change(|resolution| left = markers::back(resolution, &bytes).err());
        match left {
            None => out.push(Out::Say(stands(text))),
            Some(left) => {
                text.show(left.region, height);
                text.half = Some(bytes);
                out.push(Out::Say(format!(
                    "line {} still has a marker of a hunk that was changed: nothing is taken yet, `E` goes on",
                    left.line
                )));
            }
        }
    }

    fn earlier(&mut self, out: &mut Vec<Out>) {
        match self.open.as_ref().and_then(|open| open.sides.earlier.clone()) {
            Some(result) => self.adopt(&result, "as it was resolved before", out),
            None => out.push(Out::Say("these three versions were not resolved before".to_owned())),
        }
    }

    /// Shows a whole result as a proposal.
    pub(super) fn adopt(&mut self, result: &[u8], from: &'static str, out: &mut Vec<Out>) {
        let changed = self.change(|resolution| resolution.adopt(result));
        if let Some(text) = self.text_mut() {
            text.proposal = Some(from);
        }
        let words = if changed {
            "look at it · `w` writes it · `u` takes it back"
        } else {
            "it is what stands here"
        };
        out.push(Out::Say(format!("a proposal, {from}: {words}")));
    }

    fn propose(&mut self, out: &mut Vec<Out>) {
        let Some(Open { sides, .. }) = &self.open else { return };
        if !sides.can_propose {
            return out
                .push(Out::Say("mergiraf, which could propose a merge, is not on the PATH".to_owned()));
        }
        let (child, path) = (sides.child.clone(), sides.path.clone());
        if self.asked.iter().any(|(_, asked)| matches!(asked, Asked::Propose(..))) {
            return out.push(Out::Say("mergiraf is at work".to_owned()));
        }
        let ask = HandBackAsk::Propose { child: child.clone(), path: path.clone() };
        out.push(self.ask(Asked::Propose(child, path), ask));
    }

    fn undo(&mut self, out: &mut Vec<Out>) {
        let height = self.drawn.rows;
        let Some(open) = &mut self.open else { return };
        if matches!(open.by_hand, ByHand::Resolved | ByHand::Reverted) {
            let (child, path) = (open.sides.child.clone(), open.sides.path.clone());
            let ask = HandBackAsk::Undo { child: child.clone(), path: path.clone() };
            return out.push(self.ask(Asked::Write(child, path, Done::TakenBack), ask));
        }
        let undone = match (&mut open.form, &mut open.text) {
            (Some(form), _) => form.undo(),
            (None, Some(text)) if text.fixed.is_none() => match text.undo() {
                Some(hunk) => {
                    text.show(hunk, height);
                    true
                }
                None => false,
            },
            (None, _) => false,
        };
        if !undone {
            out.push(Out::Say("nothing was chosen that could be taken back".to_owned()));
        }
    }

    fn revert(&mut self, out: &mut Vec<Out>) {
        let Some(open) = &self.open else { return };
        match (open.sides.verdict, open.by_hand) {
            (Verdict::Taken, ByHand::Nothing | ByHand::Outside) => {
                let take = Take::Version(open.sides.parent_then.clone());
                let ask = self.writes(take, None);
                out.extend(
                    ask.map(|(child, path, ask)| self.ask(Asked::Write(child, path, Done::Reverted), ask)),
                );
            }
            (_, ByHand::Resolved | ByHand::Reverted) => self.undo(out),
            (Verdict::Conflict(_), _) => {
                out.push(Out::Say("it is not written yet: `u` takes a choice back".to_owned()));
            }
            (_, _) => out.push(Out::Say("nothing was taken here that could be put back".to_owned())),
        }
    }

    fn writes(
        &self,
        take: Take,
        choices: Option<Vec<Choice>>,
    ) -> Option<(String, crate::law::hand_back::tree::TreePath, HandBackAsk)> {
        let sides = &self.open.as_ref()?.sides;
        let (child, path) = (sides.child.clone(), sides.path.clone());
        let seen = sides.parent.version.clone();
        let ask = HandBackAsk::Write { child: child.clone(), path: path.clone(), seen, take, choices };
        Some((child, path, ask))
    }

    /// `w`: hunks that are open are asked about first.
    fn ask_write(&mut self, out: &mut Vec<Out>) {
        let Some(open) = &self.open else { return };
        if !open.is_merge() {
            let why = open.text.as_ref().and_then(|text| text.fixed.clone());
            return out.push(Out::Say(why.unwrap_or_else(|| self.nothing())));
        }
        match open.text.as_ref().filter(|_| open.form.is_none()).map_or(0, Text::open) {
            0 => self.write(out),
            waiting => out.push(Out::AskOpen(waiting)),
        }
    }

    fn write(&mut self, out: &mut Vec<Out>) {
        let Some((take, choices)) = self.open.as_ref().and_then(Open::take) else {
            return out.push(Out::Say("nothing is chosen yet: the keys stand before the choices".to_owned()));
        };
        let ask = self.writes(take, choices);
        out.extend(ask.map(|(child, path, ask)| self.ask(Asked::Write(child, path, Done::Resolved), ask)));
    }
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

fn moved(at: usize, by: i64) -> usize {
    usize::try_from((at as i64).saturating_add(by)).unwrap_or(0)
}

fn no_further(forward: bool) -> &'static str {
    if forward { "no further change below" } else { "no further change above" }
}

fn hunks(count: usize) -> String {
    if count == 1 { "1 hunk".to_owned() } else { format!("{count} hunks") }
}

/// What is left to do in a text.
fn stands(text: &Text) -> String {
    match text.open() {
        0 => "all is chosen: `w` writes it".to_owned(),
        open => format!("{} still open", hunks(open)),
    }
}
