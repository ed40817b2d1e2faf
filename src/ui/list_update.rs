//! The lists of the main screen (jobs, agents, the tree): the keys and the mouse that move in them, the same in each.

use ratatui::layout::Rect;

use crate::base::Millis;
use crate::ui::action::Action;
use crate::ui::agents_update::{self, to_agents};
use crate::ui::input::{Mouse, MouseDid};
use crate::ui::jobs_update::{self, to_jobs};
use crate::ui::model::Model;
use crate::ui::msg::Effect;
use crate::ui::pane::list::Msg;
use crate::ui::pane::{PaneId, agents, jobs, tree};
use crate::ui::tree_update::to_tree;

/// Rows that a turn of the wheel scrolls.
const WHEEL_ROWS: i32 = 3;

/// The keys that move, in the order of `MOVES`.
const KEYS: [(PaneId, [Action; 6]); 3] = [
    (
        PaneId::Jobs,
        [
            Action::JobNext,
            Action::JobPrevious,
            Action::JobPageDown,
            Action::JobPageUp,
            Action::JobFirst,
            Action::JobLast,
        ],
    ),
    (
        PaneId::Agents,
        [
            Action::AgentNext,
            Action::AgentPrevious,
            Action::AgentPageDown,
            Action::AgentPageUp,
            Action::AgentFirst,
            Action::AgentLast,
        ],
    ),
    (
        PaneId::Tree,
        [
            Action::TreeNext,
            Action::TreePrevious,
            Action::TreePageDown,
            Action::TreePageUp,
            Action::TreeFirst,
            Action::TreeLast,
        ],
    ),
];
const MOVES: [Msg; 6] = [Msg::Move(1), Msg::Move(-1), Msg::Page(1), Msg::Page(-1), Msg::First, Msg::Last];

/// How an action moves, and in which list; none: it does not.
pub fn moves(action: Action) -> Option<(PaneId, Msg)> {
    KEYS.iter().find_map(|(pane, keys)| {
        let at = keys.iter().position(|key| *key == action)?;
        Some((*pane, MOVES[at]))
    })
}

/// Moves in a list.
pub fn to_list(model: &mut Model, pane: PaneId, msg: Msg, now: Millis, out: &mut Vec<Effect>) {
    match pane {
        PaneId::Jobs => to_jobs(model, jobs::Msg::List(msg), now, out),
        PaneId::Agents => to_agents(model, agents::Msg::List(msg), now, out),
        PaneId::Tree => to_tree(model, tree::Msg::List(msg), now, out),
        PaneId::Conversation | PaneId::Composer | PaneId::Live => {}
    }
}

/// The mouse over a list that nothing covers: a click chooses, the wheel scrolls. Whether it was over one.
pub fn on_mouse(model: &mut Model, mouse: Mouse, now: Millis, out: &mut Vec<Effect>) -> bool {
    if model.covered() || !model.approvals.is_empty() {
        return false;
    }
    let areas = [
        (PaneId::Jobs, model.jobs_area),
        (PaneId::Agents, model.agents_area),
        (PaneId::Tree, model.tree_area),
    ];
    let over = |area: &Rect| area.contains((mouse.column, mouse.row).into());
    let Some((pane, area)) = areas.into_iter().find(|(_, area)| over(area)) else { return false };
    let msg = match mouse.did {
        MouseDid::WheelUp => Msg::Scroll(-WHEEL_ROWS),
        MouseDid::WheelDown => Msg::Scroll(WHEEL_ROWS),
        MouseDid::Press => Msg::Click(mouse.row - area.y),
        // what was selected elsewhere may end here
        MouseDid::Release | MouseDid::Drag | MouseDid::Other => return false,
    };
    match (pane, mouse.did) {
        (PaneId::Jobs, MouseDid::Press) => jobs_update::enter(model),
        (PaneId::Agents, MouseDid::Press) => agents_update::enter(model),
        (_, _) => {}
    }
    to_list(model, pane, msg, now, out);
    true
}

/// What is said of a letter that means nothing in a list: what is typed on there must not end what it does not mean.
/// None: the focus is on no list.
pub fn not_a_key(model: &Model, c: char) -> Option<String> {
    let (keys, back) = match model.focus {
        PaneId::Jobs => (Action::JobKeys, Action::JobLeave),
        PaneId::Agents => (Action::AgentKeys, Action::AgentLeave),
        PaneId::Tree => (Action::TreeKeys, Action::TreeLeave),
        PaneId::Conversation | PaneId::Composer | PaneId::Live => return None,
    };
    let (keys, back) = (model.keymap.hint(keys), model.keymap.hint(back));
    let missed = jobs_update::missed(model, Action::JobAttach).filter(|_| model.focus == PaneId::Jobs);
    let says = || format!("`{c}` does nothing here: {keys} shows the keys, {back} goes back to your draft");
    Some(missed.unwrap_or_else(says))
}
