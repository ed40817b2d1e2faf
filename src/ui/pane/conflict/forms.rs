//! Conflicts that are no text: a few choices, each for the whole path.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::words;
use crate::api::hand_back::{Sided, Sides};
use crate::law::hand_back::tree::{Obstacle, Version};
use crate::law::merge::resolution::Choice;
use crate::ui::action::Action;
use crate::ui::keymap::Keymap;
use crate::ui::theme::Theme;
use crate::ui::widget::row::put;
use crate::ui::widget::text::{ellipsis, width};

/// Columns of a version's name.
const NAME: usize = 8;

/// What can be chosen.
#[derive(Debug, PartialEq)]
pub(super) struct Form {
    facts: Vec<(&'static str, String)>,
    options: Vec<Way>,
    chosen: Option<usize>,
}

/// One choice.
#[derive(Debug, PartialEq)]
struct Way {
    action: Action,
    choice: Choice,
    words: String,
    /// What the path gets; none: it cannot be, `words` says why.
    version: Option<Version>,
}

impl Form {
    /// The choices for a path.
    pub fn new(sides: &Sides) -> Form {
        let facts = [("base", &sides.base), ("parent", &sides.parent), ("child", &sides.theirs)]
            .map(|(name, sided)| (name, words::fact(sided)));
        let mut options = vec![
            way(Action::ConflictParent, Choice::Parent, &sides.parent, sides, "the parent's"),
            way(Action::ConflictChild, Choice::Child, &sides.theirs, sides, "the child's"),
        ];
        let others = [sides.parent.version.tracked(), sides.theirs.version.tracked()];
        if !others.contains(&sides.base.version.tracked()) {
            options.push(way(Action::ConflictBase, Choice::Base, &sides.base, sides, "the base's"));
        }
        Form { facts: facts.to_vec(), options, chosen: None }
    }

    /// Chooses; in words what cannot be.
    pub fn choose(&mut self, action: Action) -> Result<(), String> {
        let Some(at) = self.options.iter().position(|way| way.action == action) else {
            return Err("this is no text: it is chosen for the whole path".to_owned());
        };
        let way = &self.options[at];
        if way.version.is_none() {
            return Err(way.words.clone());
        }
        self.chosen = Some(at);
        Ok(())
    }

    /// Takes the choice back; whether there was one.
    pub fn undo(&mut self) -> bool {
        self.chosen.take().is_some()
    }

    pub fn is_chosen(&self) -> bool {
        self.chosen.is_some()
    }

    /// What is chosen, in a word.
    pub fn stands(&self) -> String {
        match self.chosen.and_then(|at| self.options.get(at)) {
            Some(way) => words::choice(&way.choice).to_owned(),
            None => "open".to_owned(),
        }
    }

    /// What the path gets.
    pub fn take(&self) -> Option<Version> {
        self.options.get(self.chosen?)?.version.clone()
    }

    /// The choice, as it is kept for later.
    pub fn choice(&self) -> Option<&Choice> {
        Some(&self.options.get(self.chosen?)?.choice)
    }

    /// Goes on with a choice that was kept; whether it can be.
    pub fn resume(&mut self, choice: &Choice) -> bool {
        self.chosen = self.options.iter().position(|way| way.choice == *choice && way.version.is_some());
        self.chosen.is_some()
    }

    /// What there is and what can be chosen, as lines.
    pub fn spoken(&self) -> Vec<String> {
        let facts = self.facts.iter().map(|(name, fact)| format!("{name}: {fact}"));
        let ways =
            self.options.iter().map(|way| format!("{} would {}", words::choice(&way.choice), way.words));
        facts.chain(ways).collect()
    }

    /// Rows that it wants.
    pub fn rows(&self) -> u16 {
        (self.facts.len() + self.options.len() + 2) as u16
    }
}

fn way(action: Action, choice: Choice, of: &Sided, sides: &Sides, whose: &str) -> Way {
    let stays = of.version == sides.parent.version;
    let here = match sides.parent.version {
        Version::InTheWay(Obstacle::Directory) => Some("a directory"),
        Version::InTheWay(Obstacle::Above) => Some("a file or link in place of one of its directories"),
        Version::InTheWay(Obstacle::Special) => Some("something that is no file"),
        Version::Absent | Version::File { .. } | Version::Link { .. } => None,
    };
    let (words, version) = match (here, &of.version) {
        (Some(what), Version::File { .. } | Version::Link { .. }) => {
            (format!("{whose} has no room: {what} is there; move that away first"), None)
        }
        (Some(_), _) if stays => ("leave what is there".to_owned(), Some(of.version.clone())),
        (None, Version::File { executable, .. }) if only_mode(sides) => {
            let mode = if *executable { "executable" } else { "not executable" };
            (format!("{mode}, as {whose}"), Some(of.version.clone()))
        }
        (_, Version::Absent) if stays => ("leave it removed".to_owned(), Some(Version::Absent)),
        (_, version) if *version.tracked() == Version::Absent => {
            (format!("remove it, as {whose}"), Some(Version::Absent))
        }
        (_, Version::InTheWay(_)) => (format!("{whose} is no file: it cannot be taken"), None),
        (_, version) if stays => (format!("keep {whose}: {}", words::fact(of)), Some(version.clone())),
        (_, version) => (format!("take {whose}: {}", words::fact(of)), Some(version.clone())),
    };
    Way { action, choice, words, version }
}

/// Whether parent and child differ in nothing but who may run it.
fn only_mode(sides: &Sides) -> bool {
    match (&sides.parent.version, &sides.theirs.version) {
        (Version::File { hash: one, .. }, Version::File { hash: other, .. }) => one == other,
        _ => false,
    }
}

/// Draws the facts and the choices.
pub(super) fn view(form: &Form, area: Rect, buf: &mut Buffer, theme: &Theme, keymap: &Keymap) {
    let wide = usize::from(area.width);
    let mut y = area.y;
    let mut line = |parts: &[(String, ratatui::style::Style)], buf: &mut Buffer| {
        if y < area.bottom() {
            let mut x = 0;
            for (text, style) in parts {
                let text = ellipsis(text, wide - x).into_owned();
                x += put(buf, area.x + x as u16, y, &text, wide - x, *style);
            }
            y += 1;
        }
    };
    // where there is little room, what can be done comes first
    let facts = usize::from(area.height) >= form.facts.len() + form.options.len();
    for (name, fact) in form.facts.iter().filter(|_| facts) {
        line(&[(format!("{name:NAME$}"), theme.dim), (fact.clone(), theme.text)], buf);
    }
    if usize::from(area.height) > form.facts.len() + form.options.len() {
        line(&[], buf);
    }
    for (at, way) in form.options.iter().enumerate() {
        let chosen = form.chosen == Some(at);
        let mark = if chosen { "● " } else { "○ " };
        let key = keymap.hint(way.action);
        let style = match (&way.version, chosen) {
            (None, _) => theme.dim,
            (Some(_), true) => theme.ok,
            (Some(_), false) => theme.text,
        };
        let pad = " ".repeat(NAME.saturating_sub(width(&key) + 2).min(2));
        line(
            &[
                (mark.to_owned(), style),
                (key, theme.text.patch(theme.key)),
                (pad, theme.text),
                (way.words.clone(), theme.text.patch(style)),
            ],
            buf,
        );
    }
}
