//! Subagents in words, for the model: a line for each that is there, and the report of an end.

use crate::api::agent::{AgentEnd, AgentRow, AgentState, Hold, LeftOpen, Workspace, copied};
use crate::base::Millis;
use crate::law::hand_back::tree::named;
use crate::tool::bash_end::line;
use crate::tool::input::one_line;

/// Most bytes of an answer that a report repeats; the agent's own session has all of it.
const ANSWER_MAX: usize = 50 * 1024;
/// Most paths of one outcome that are named; the record of the hand-back names all.
const PATHS_MAX: usize = 200;
/// Most characters of what one does now.
const NOW_MAX: usize = 80;

/// An agent in a line: `lexer (isolated) works since 4:10, 12 calls, 3400 tokens: bash cargo test`.
pub fn row_in_words(path: &str, row: &AgentRow, now: Millis) -> String {
    let age = now.since(row.began.unwrap_or(row.node.asked)).length();
    let state = match &row.state {
        AgentState::Waiting { number } => format!("waits for a place, number {number} in the line"),
        AgentState::Preparing { of: 0, .. } => "its copy is being made".to_owned(),
        AgentState::Preparing { files, of } => format!("its copy is being made, {}", copied(*files, *of)),
        AgentState::Working if row.asks > 0 => format!("waits for the person's approval, since {age}"),
        AgentState::Working => format!("works since {age}"),
        AgentState::Resting => format!("waits for its own agents, since {age}"),
        AgentState::Stopping => "is being stopped".to_owned(),
        AgentState::HandingBack => "hands back what it changed".to_owned(),
        AgentState::Cut => {
            "was cut by the end of the program: `message` lets it go on, `stop` ends it and hands back"
                .to_owned()
        }
        AgentState::Ended(end) => {
            let back = end.hand_back.as_ref().map(|report| format!(", {}", report.words()));
            format!("has ended: {}{}", end.end.words(), back.unwrap_or_default())
        }
    };
    let held = match row.held {
        Some(hold @ (Hold::NoCommands | Hold::NotHeld)) => format!(", {}", hold.word()),
        Some(Hold::Held) | None => String::new(),
    };
    let does = if row.now.is_empty() { String::new() } else { format!(": {}", one_line(&row.now, NOW_MAX)) };
    let used = row.usage.total();
    format!("{path} ({}{held}) {state}, {} calls, {used} tokens{does}", row.node.workspace.word(), row.calls)
}

/// An end, whole: how, what came back and what was said.
pub fn end_in_words(path: &str, end: &AgentEnd) -> String {
    let mut out = format!("agent {path} ({}) ", end.node.workspace.word());
    if end.again {
        out.push_str("has ended before; its hand-back, which had failed, was done now");
        hand_back(&mut out, end);
        return out;
    }
    out.push_str(&format!(
        "{} after {}, {} calls, {} tokens",
        end.end.words(),
        end.duration.length(),
        end.calls,
        end.usage.total()
    ));
    if let Some(trouble) = &end.trouble {
        line(&mut out, trouble);
    }
    hand_back(&mut out, end);
    match end.answer.trim_end() {
        "" => line(&mut out, "It said nothing."),
        answer => {
            let cut = answer.floor_char_boundary(ANSWER_MAX.min(answer.len()));
            line(&mut out, "Its answer:");
            line(&mut out, &answer[..cut]);
            if cut < answer.len() {
                let left = answer.len() - cut;
                line(&mut out, &format!("[{left} bytes more: in its session {}]", end.node.session));
            }
        }
    }
    out
}

fn hand_back(out: &mut String, end: &AgentEnd) {
    let Some(report) = &end.hand_back else {
        if end.node.workspace == Workspace::Shared {
            line(out, "It worked in this directory: what it changed is there.");
        }
        return;
    };
    match end.node.workspace {
        Workspace::Shared => line(out, "It worked in this directory: what it changed is there."),
        Workspace::Isolated => line(out, &format!("What came back from its copy: {}.", report.words())),
    }
    let lists = [
        ("Taken into this directory", &report.taken),
        ("The same on both sides", &report.same),
        (
            "CONFLICTS (this directory has what it had; the person resolves them; you may propose how)",
            &report.conflicts,
        ),
        ("Not brought over, since the ignore rules leave it out or it is no file", &report.left_out),
        ("Saved by somebody meanwhile; what was saved is kept with the versions", &report.kept),
    ];
    for (what, paths) in lists.into_iter().filter(|(_, paths)| !paths.is_empty()) {
        line(out, &format!("{what}: {}", named(paths, PATHS_MAX)));
    }
    for below in &report.below {
        let LeftOpen { name, conflicts, handed } = below;
        match handed {
            true => line(
                out,
                &format!(
                    "CONFLICTS that its own agent {name} left (this directory has what it had; the person resolves \
                     them; you may propose how): {}",
                    named(conflicts, PATHS_MAX)
                ),
            ),
            false => {
                line(out, &format!("Its own agent {name} has not handed back: its work is in its copy only."))
            }
        }
    }
    if let Some(room) = &end.node.room {
        line(
            out,
            &format!(
                "The versions of all of them are kept in {} until the person drops them.",
                room.display()
            ),
        );
    }
}
