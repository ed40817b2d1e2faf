//! The conflict viewer by typed words: each does what its key does on the full screen.

use crate::base::Millis;
use crate::law::merge::regions::Side;
use crate::ui::action::Action;
use crate::ui::conflict_update::to_conflict;
use crate::ui::model::Model;
use crate::ui::msg::Effect;
use crate::ui::pane::conflict::Msg;
use crate::ui::widget::text::tame;

/// What can be typed: the words, and what they do.
const WORDS: &[(&[&str], Action)] = &[
    (&["parent", "p"], Action::ConflictParent),
    (&["child", "c"], Action::ConflictChild),
    (&["both", "b"], Action::ConflictBoth),
    (&["child first", "both child first"], Action::ConflictBothChildFirst),
    (&["base", "o"], Action::ConflictBase),
    (&["all parent"], Action::ConflictOpenParent),
    (&["all child"], Action::ConflictOpenChild),
    (&["all both"], Action::ConflictOpenBoth),
    (&["all base"], Action::ConflictOpenBase),
    (&["file parent"], Action::ConflictFileParent),
    (&["file child"], Action::ConflictFileChild),
    (&["file base"], Action::ConflictFileBase),
    (&["edit", "e"], Action::ConflictEditor),
    (&["earlier"], Action::ConflictEarlier),
    (&["propose"], Action::ConflictPropose),
    (&["executable"], Action::ConflictExecutable),
    (&["next", "n"], Action::ConflictNext),
    (&["previous"], Action::ConflictPrevious),
    (&["skip"], Action::ConflictNextOpen),
    (&["undo", "u"], Action::ConflictUndo),
    (&["write", "w"], Action::ConflictWrite),
    (&["revert"], Action::ConflictRevert),
    (&["back"], Action::ConflictBack),
    (&["leave", "quit", "q", "/quit"], Action::ConflictLeave),
];

/// A typed line; the words that it is answered with.
pub fn typed(model: &mut Model, text: &str, now: Millis, out: &mut Vec<Effect>) -> Vec<String> {
    let word = text.trim().to_lowercase();
    if word.is_empty() {
        return Vec::new();
    }
    if let Some(side) = word.strip_prefix("say ") {
        let side = match side.trim() {
            "base" => Side::Base,
            "parent" => Side::Parent,
            "child" => Side::Child,
            _ => return vec!["Type say base, say parent or say child.".to_owned()],
        };
        return model.conflict.whole(side);
    }
    if matches!(word.as_str(), "help" | "/help" | "?") {
        let all: Vec<&str> = WORDS.iter().map(|(words, _)| words[0]).collect();
        return vec![format!("Type a number, say parent, or one of: {}.", all.join(", "))];
    }
    if let Some(at) = word.parse::<usize>().ok().and_then(|n| n.checked_sub(1)) {
        to_conflict(model, Msg::Pick(at), now, out);
        return Vec::new();
    }
    match WORDS.iter().find(|(words, _)| words.contains(&word.as_str())) {
        Some((_, action)) => {
            to_conflict(model, Msg::Do(*action), now, out);
            Vec::new()
        }
        None => vec![format!("{} is no answer here: help says what is, leave goes back.", tame(text.trim()))],
    }
}
