//! The tree by typed words: a number goes back there, `fork` and a number forks there.

use crate::base::Millis;
use crate::ui::action::Action;
use crate::ui::model::Model;
use crate::ui::msg::Effect;
use crate::ui::pane::PaneId;
use crate::ui::pane::tree::Msg;
use crate::ui::tree_update::to_tree;

/// Lines that are said unasked, the newest.
const LINES: usize = 30;

/// The lines of the tree, if it is told.
pub fn hear(model: &Model) -> Vec<String> {
    if !model.tree.told() {
        return Vec::new();
    }
    let all = model.tree.spoken();
    let earlier = all.len().saturating_sub(LINES);
    let mut out = vec!["The tree:".to_owned()];
    if earlier > 0 {
        out.push(format!("{earlier} earlier lines: all says them."));
    }
    out.extend(all.into_iter().skip(earlier));
    out.push("Type a number to go back there, fork and a number, calls, or nothing to leave.".to_owned());
    out
}

/// A typed line; the words that it is answered with.
pub fn typed(model: &mut Model, text: &str, now: Millis, out: &mut Vec<Effect>) -> Vec<String> {
    let word = text.trim().to_lowercase();
    let (fork, number) = match word.strip_prefix("fork") {
        Some(rest) => (true, rest.trim().to_owned()),
        None => (false, word.clone()),
    };
    match word.as_str() {
        "" | "leave" => model.focus = PaneId::Composer,
        "all" => return model.tree.spoken(),
        "calls" => to_tree(model, Msg::Do(Action::TreeToggleAll), now, out),
        _ => match number.parse::<usize>().ok().and_then(|n| n.checked_sub(1)) {
            Some(at) if model.tree.pick(at) => {
                let action = if fork { Action::TreeFork } else { Action::TreeRewind };
                to_tree(model, Msg::Do(action), now, out);
            }
            _ => {
                return vec![
                    "There is no such line: type a number of the list, or nothing to leave.".to_owned(),
                ];
            }
        },
    }
    Vec::new()
}
