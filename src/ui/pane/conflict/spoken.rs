//! The viewer in words, for a screen reader: the children, the paths, and a hunk with its versions one after the other.
//!
//! Deliberately not here: what is typed (`ui::linear::merge`), and choosing: the words do what the keys do.

use super::text::Text;
use super::{Focus, Out, State, list, words};
use crate::law::merge::regions::Side;
use crate::law::merge::resolution::Choice;
use crate::ui::widget::text::visible;

/// Lines of a version that are said unasked.
const LINES: usize = 40;

impl State {
    /// What is at hand, as lines; empty while it is on its way.
    pub fn spoken(&mut self) -> Vec<String> {
        // what was said was seen
        self.drawn.versions = self.focus == Focus::Versions || self.alone;
        self.drawn.rows = usize::MAX / 4;
        let Some(all) = &self.all else { return Vec::new() };
        let Some(hand_back) = self.hand_back() else {
            if all.is_empty() {
                return vec!["Nothing came back from subagents. Type leave to go back.".to_owned()];
            }
            let line = |(at, one): (usize, &crate::api::hand_back::HandBack)| {
                format!("{}. {}, {}", at + 1, visible(&one.child), spaced(&words::counts(one)))
            };
            let mut out = vec!["What came back:".to_owned()];
            out.extend(all.iter().enumerate().map(line));
            out.push("Type a number, or leave.".to_owned());
            return out;
        };
        if self.focus == Focus::Paths && !self.alone {
            let line = |at: usize| match list::item(hand_back, at)? {
                list::Item::Path(path) => {
                    Some(format!("{}. {}, {}", at + 1, name(&path.path), spaced(&words::outcome(path))))
                }
                list::Item::LeftOut(path) => Some(format!("{}. {}, not brought over", at + 1, name(path))),
            };
            let mut out = vec![format!("Paths of {}:", visible(&hand_back.child))];
            out.extend((0..list::len(hand_back)).filter_map(line));
            out.push("Type a number, skip for the next that waits, back, or leave.".to_owned());
            return out;
        }
        if !self.is_open_selected() {
            return self.trouble.clone().into_iter().collect();
        }
        self.path()
    }

    fn path(&self) -> Vec<String> {
        let Some(open) = &self.open else { return Vec::new() };
        let at = name(&open.sides.path);
        if let Some(form) = &open.form {
            let mut out = vec![format!("{at}, chosen: {}.", form.stands())];
            out.extend(form.spoken());
            out.push("Type parent, child or base; undo, write, back, or leave.".to_owned());
            return out;
        }
        let Some(text) = &open.text else { return vec![format!("{at}: it is no text.")] };
        if text.fixed.is_some() {
            let stands = self.hand_back().and_then(|one| list::item(one, self.selected));
            let how = match stands {
                Some(list::Item::Path(path)) => spaced(&words::outcome(path)),
                _ => String::new(),
            };
            let mut out = vec![format!("{at}: {how}.")];
            out.extend(hunk(text, &open.sides.child, self.alone));
            out.push("Type next, previous, revert, undo, skip, back, or leave.".to_owned());
            return out;
        }
        let mut out = vec![format!("{at}, {} open.", super::choose::hunks(text.open()))];
        out.extend(hunk(text, &open.sides.child, self.alone));
        out.push(
            "Type parent, child, both, child first, or base; edit, next, skip, undo, write, back, or leave; say parent \
             for all of a version."
                .to_owned(),
        );
        out
    }

    /// All of a version of the hunk at hand.
    pub fn whole(&self, side: Side) -> Vec<String> {
        let Some(text) = self.text() else { return vec!["It is no text.".to_owned()] };
        let Some(at) = text.current else { return vec!["There is no change.".to_owned()] };
        let resolution = &text.resolution;
        said(resolution.three().of(side, &resolution.regions()[at]), usize::MAX)
    }

    /// A number of a list, or of a hunk.
    pub(super) fn pick(&mut self, at: usize, out: &mut Vec<Out>) {
        let none = |out: &mut Vec<Out>| out.push(Out::Say("there is no such number".into()));
        let paths = self.hand_back().map(list::len);
        match paths {
            None if self.all.as_ref().is_some_and(|all| at < all.len()) => {
                self.picked = at;
                self.enter(out);
            }
            Some(len) if self.focus == Focus::Paths && !self.alone && at < len => {
                (self.selected, self.focus) = (at, Focus::Versions);
                self.load(out);
            }
            Some(_) if self.focus == Focus::Versions || self.alone => {
                let Some(text) = self.text_mut() else { return none(out) };
                match text.hunks().get(at).copied() {
                    Some(hunk) => text.current = Some(hunk),
                    None => none(out),
                }
            }
            _ => none(out),
        }
    }
}

/// The hunk at hand, its versions one after the other.
fn hunk(text: &Text, child: &str, alone: bool) -> Vec<String> {
    let Some(at) = text.current else { return vec!["There is no change in it.".to_owned()] };
    let resolution = &text.resolution;
    let region = &resolution.regions()[at];
    let number = text.hunks().iter().position(|hunk| *hunk == at).map_or(0, |at| at + 1);
    let choice = &resolution.choices()[at];
    let chosen =
        if text.fixed.is_some() { String::new() } else { format!(", chosen: {}", words::choice(choice)) };
    let who = words::changed(region.changed);
    let mut out = vec![format!("Hunk {number} of {}, {who}{chosen}.", text.hunks().len())];
    for side in text.seen(false) {
        let bytes = resolution.three().of(*side, region);
        out.push(format!("{}, {}:", words::side(*side, child, alone), count(bytes)));
        out.extend(said(bytes, LINES));
    }
    if text.fixed.is_none() && *choice != Choice::Open {
        let result = resolution.text(at);
        out.push(format!("The result, {}:", count(result)));
        out.extend(said(result, LINES));
    }
    out
}

fn count(bytes: &[u8]) -> String {
    match String::from_utf8_lossy(bytes).lines().count() {
        0 => "no lines".to_owned(),
        1 => "1 line".to_owned(),
        more => format!("{more} lines"),
    }
}

fn said(bytes: &[u8], most: usize) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let mut out: Vec<String> = text.lines().take(most).map(|line| visible(line).into_owned()).collect();
    let more = text.lines().count().saturating_sub(most);
    if more > 0 {
        out.push(format!("and {more} lines more"));
    }
    out
}

fn name(path: &crate::law::hand_back::tree::TreePath) -> String {
    visible(&path.to_string()).into_owned()
}

fn spaced(words: &str) -> String {
    words.replace(" · ", ", ")
}
