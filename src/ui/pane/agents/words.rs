//! How an agent stands, in a mark and in words. For the pane, for the transcript of one agent, and for whatever else
//! tells of agents.

use std::collections::BTreeMap;

use crate::api::agent::{AgentEnd, AgentRow, AgentState, HandBackReport, Hold, copied, stand};
use crate::base::Millis;
use crate::law::children::End;
use crate::law::hand_back::tree::{TreePath, named};
use crate::ui::pane::conversation::count;
use crate::ui::pane::live::elapsed;
use crate::ui::widget::row::Role;
use crate::ui::widget::text::tame;

/// How many conflicts are open of each child that left some.
pub type Conflicted = BTreeMap<String, usize>;

/// Most paths of one outcome that are named in a line.
const NAMED_MAX: usize = 12;

/// Whether a spinner turns for it: it works, and waits for nobody.
pub fn spins(row: &AgentRow) -> bool {
    match row.state {
        AgentState::Working => row.asks == 0,
        AgentState::Preparing { .. } | AgentState::HandingBack => true,
        AgentState::Waiting { .. }
        | AgentState::Resting
        | AgentState::Stopping
        | AgentState::Cut
        | AgentState::Ended(_) => false,
    }
}

/// The mark of an agent and its look: the spinner works, `◌` waits, `?` asks the person, `◐` is being stopped, the rest
/// as of `ended`. `open`: whether a conflict of it is open.
pub fn mark(row: &AgentRow, spinner: &'static str, open: bool) -> (&'static str, Role) {
    match &row.state {
        _ if spins(row) => (spinner, Role::Accent),
        AgentState::Waiting { .. } | AgentState::Resting => ("◌", Role::Dim),
        AgentState::Stopping => ("◐", Role::Warning),
        AgentState::Ended(end) => ended(end, open),
        AgentState::Cut | AgentState::Working | AgentState::Preparing { .. } | AgentState::HandingBack => {
            ("?", Role::Warning)
        }
    }
}

/// Its name among the hand-backs of the session; none: it has no copy, or what came back went to another agent, which
/// has not ended.
pub fn hand_back_of(path: &str, row: &AgentRow) -> Option<String> {
    let parts = |name: &str| name.split('/').count();
    row.node.hand_back_name().filter(|name| parts(name) == parts(path))
}

/// Whether a conflict of it is open, or one that its agents left, where the session has open ones of these agents. What
/// came back to another agent is counted by that one's session: it counts as open here, and so does what was not counted
/// yet.
pub fn open(path: &str, row: &AgentRow, conflicted: Option<&Conflicted>) -> bool {
    is_elsewhere(path, row) || row.end().is_some_and(|end| conflicted.is_none_or(|of| end.is_open(of)))
}

/// How many of its own conflicts are open; none: that is not known here.
pub fn own_open(path: &str, row: &AgentRow, conflicted: Option<&Conflicted>) -> Option<usize> {
    let name = hand_back_of(path, row)?;
    conflicted.map(|open| open.get(&name).copied().unwrap_or(0))
}

/// Conflicts that it left in the copy of the agent that it worked for: they are open until that one has ended.
pub fn in_copy(path: &str, row: &AgentRow) -> usize {
    let report = row.end().and_then(|end| end.hand_back.as_ref());
    report.filter(|_| is_elsewhere(path, row)).map_or(0, |report| report.conflicts.len())
}

fn is_elsewhere(path: &str, row: &AgentRow) -> bool {
    row.node.room.is_some() && hand_back_of(path, row).is_none()
}

/// The mark of an end and its look: `⚑` conflicts that may be open, `✓` went well, `✗` did not.
pub fn ended(end: &AgentEnd, open: bool) -> (&'static str, Role) {
    let conflicts = end.hand_back.as_ref().is_some_and(HandBackReport::has_conflicts);
    match &end.end {
        _ if conflicts && open => ("⚑", Role::Warning),
        End::Answered if end.trouble.is_some() => ("✗", Role::Warning),
        End::Answered => ("✓", Role::Ok),
        End::Failed { .. } => ("✗", Role::Error),
        End::Stalled { .. } | End::Stopped { .. } | End::Deleted => ("✗", Role::Warning),
    }
}

/// `1st`, `2nd`, `3rd`, `11th`.
fn ordinal(number: usize) -> String {
    let end = match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{number}{end}")
}

/// How it stands, in words, tame and on one line. `open`: how many of its own conflicts are; none: that is not known.
pub fn says(row: &AgentRow, open: Option<usize>) -> String {
    match &row.state {
        AgentState::Waiting { number } => format!("waits for a place ({})", ordinal(*number)),
        AgentState::Preparing { files, of } => format!("copying {}", copied(*files, *of)).trim().to_owned(),
        AgentState::Working if row.asks > 0 => "waits for your answer".to_owned(),
        AgentState::Working if row.now.trim().is_empty() => "works".to_owned(),
        AgentState::Working => tame(row.now.trim().lines().next().unwrap_or_default()).into_owned(),
        AgentState::Resting => "waits for its agents".to_owned(),
        AgentState::Stopping => "stopping".to_owned(),
        AgentState::HandingBack => "hands back".to_owned(),
        AgentState::Cut => "was cut off: it can go on".to_owned(),
        AgentState::Ended(end) => told(end, open),
    }
}

/// What came of it, the conflicts first: `1 conflict, 3 taken`; how it ended, where that was not an answer.
pub fn told(end: &AgentEnd, open: Option<usize>) -> String {
    let back = end.hand_back.as_ref().map(|report| report.words_now(open));
    let failed = end.hand_back_failed().then(|| "its hand-back failed".to_owned());
    let how = (end.end != End::Answered || back.is_none()).then(|| end.end.words());
    let words: Vec<String> = back.into_iter().chain(failed).chain(how).collect();
    tame(&words.join(" · ").replace('\n', " ")).into_owned()
}

/// The lists of what came back, one line each, those that matter most first: mark, words, look. `conflicted`: whose
/// conflicts are open; none: that is not known, so all may be.
pub fn lists(end: &AgentEnd, conflicted: Option<&Conflicted>) -> Vec<(&'static str, String, Role)> {
    let Some(report) = &end.hand_back else { return Vec::new() };
    let open = |name: &str| conflicted.map_or(usize::MAX, |open| open.get(name).copied().unwrap_or(0));
    let own = end.node.hand_back_name().map_or(usize::MAX, |name| open(&name));
    let conflicts = conflict_list(own, None, &report.conflicts);
    let below = report.below.iter().map(|below| match below.handed {
        true => conflict_list(open(&below.name), Some(&below.name), &below.conflicts),
        false => Some(("!", below.words(), Role::Warning)),
    });
    let all = [
        ("✓", "taken", &report.taken, Role::Ok),
        ("=", "the same on both sides", &report.same, Role::Dim),
        ("!", "saved meanwhile, kept with the versions", &report.kept, Role::Warning),
        ("-", "not brought over: ignored, or no files", &report.left_out, Role::Dim),
    ];
    let line = |(mark, word, paths, role): (&'static str, &str, &Vec<TreePath>, Role)| {
        (mark, format!("{} {word}: {}", paths.len(), named(paths, NAMED_MAX)), role)
    };
    let others = all.into_iter().filter(|(_, _, paths, _)| !paths.is_empty()).map(line);
    conflicts.into_iter().chain(below.flatten()).chain(others).collect()
}

/// A line for conflicts, of an agent's own agent where that is named; none without any.
fn conflict_list(open: usize, of: Option<&str>, paths: &[TreePath]) -> Option<(&'static str, String, Role)> {
    let conflicts = if paths.len() == 1 { "conflict" } else { "conflicts" };
    let of = of.map(|name| format!(" of {}", tame(name))).unwrap_or_default();
    let (mark, role) = if open > 0 { ("⚑", Role::Warning) } else { ("✓", Role::Ok) };
    let stands = stand(paths.len(), open);
    let resolved = if stands.is_empty() { stands } else { format!(", {stands}") };
    let words = format!("{} {conflicts}{of}{resolved}: {}", paths.len(), named(paths, NAMED_MAX));
    (!paths.is_empty()).then_some((mark, words, role))
}

/// How it is held inside its copy, in words; empty: it has no copy, it has ended, or that is not known yet.
pub fn held(row: &AgentRow) -> &'static str {
    row.held.filter(|_| row.end().is_none()).map_or("", Hold::word)
}

/// Whether it is not held as agents in copies are, which is said first.
pub fn is_less_held(row: &AgentRow) -> bool {
    row.end().is_none() && row.held.is_some_and(|hold| hold != Hold::Held)
}

/// `1 call`, `12 calls`; empty when none.
pub fn calls(count: u64) -> String {
    match count {
        0 => String::new(),
        1 => "1 call".to_owned(),
        more => format!("{more} calls"),
    }
}

/// Tokens that it used: `3.4K`; empty when none.
pub fn tokens(row: &AgentRow) -> String {
    match row.usage.total() {
        0 => String::new(),
        tokens => count(tokens),
    }
}

/// Since when it works, or how long it took.
pub fn time(row: &AgentRow, now: Millis) -> String {
    match &row.state {
        AgentState::Ended(end) => elapsed(end.duration),
        AgentState::Cut => String::new(),
        AgentState::Waiting { .. }
        | AgentState::Preparing { .. }
        | AgentState::Working
        | AgentState::Resting
        | AgentState::Stopping
        | AgentState::HandingBack => elapsed(now.since(row.began.unwrap_or(row.node.asked))),
    }
}

/// The title of the pane: how many work, and how many do not any more.
pub fn title(state: &super::State) -> String {
    let count = |what: fn(&AgentRow) -> bool| state.iter().filter(|(_, row)| what(row)).count();
    let (work, ended) = (count(AgentRow::runs), count(super::over));
    let cut = state.iter().count() - work - ended;
    let many = [(work, ""), (ended, " ended"), (cut, " cut off")];
    let many: Vec<String> =
        many.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count}{word}")).collect();
    if many.is_empty() { " Agents ".to_owned() } else { format!(" Agents ({}) ", many.join(" · ")) }
}
