//! The questions at leaving: what runs, and what becomes of it.

use super::catalog::NAMED_MAX;
use super::list::{Kind, Pick, Row, State};
use crate::base::JobId;
use crate::ui::msg::Exit;

/// Whether to leave while the model works, or while a draft stands.
pub fn leave(exit: Exit, works: bool, draft: bool) -> State {
    let (title, lost) = match (works, draft) {
        (true, true) => ("Leave while the model works?", "what runs is ended; your draft is kept"),
        (true, false) => ("Leave while the model works?", "what runs is ended; the session can be resumed"),
        (false, _) => ("Leave your draft?", "it is not sent; it is kept for the next time"),
    };
    let rows = vec![Row::new("Stay", "", Pick::Close), Row::new("Leave", lost, Pick::Leave(exit))];
    let mut state = State::new(Kind::Quit, title, rows);
    state.hint = "↑ ↓ choose · Enter takes it".to_owned();
    state
}

/// A job that runs while the screen is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningJob {
    /// Which.
    pub job: JobId,
    /// Its command line.
    pub command: String,
    /// Whether it goes on anyway.
    pub kept: bool,
}

/// So many of something, in words.
fn many(count: usize, name: &str) -> String {
    match count {
        1 if name.starts_with('a') => format!("an {name}"),
        1 => format!("a {name}"),
        count => format!("{count} {name}s"),
    }
}

/// Whether to leave while jobs or agents run: end all, leave the jobs running, or stay. `agents`: their paths.
pub fn running(exit: Exit, jobs: &[RunningJob], agents: &[String], works: bool) -> State {
    let what: Vec<String> = [(jobs.len(), "job"), (agents.len(), "agent")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| many(count, name))
        .collect();
    let runs = if jobs.len() + agents.len() == 1 { "runs" } else { "run" };
    let kept = jobs.iter().filter(|job| job.kept).count();
    let mut rows = vec![Row::new("Stay", "", Pick::Close)];
    if jobs.is_empty() {
        rows.push(Row::new("Leave", "", Pick::Leave(exit.clone())));
    } else {
        rows.push(Row::new(
            "Kill all and leave",
            "each with all its processes",
            Pick::KillAndLeave(exit.clone()),
        ));
        let on = "they go on and are found again at the next open";
        rows.push(Row::new("Leave them running", on, Pick::LeaveJobs(exit.clone())));
    }
    if kept > 0 && kept < jobs.len() {
        rows.push(Row::new("Leave those that are kept", "the others end", Pick::Leave(exit)));
    }
    let mut state = State::new(Kind::Quit, &format!("Leave while {} {runs}?", what.join(" and ")), rows);
    state.intro = intro(jobs, agents, works);
    state.hint = "↑ ↓ choose · Enter takes it".to_owned();
    state
}

/// What runs, each on a line, and what becomes of what no answer decides.
fn intro(jobs: &[RunningJob], agents: &[String], works: bool) -> Vec<String> {
    let name = |job: &RunningJob| {
        let line = job.command.trim().lines().next().unwrap_or_default();
        format!("{} {line}{}", job.job, if job.kept { " (kept)" } else { "" })
    };
    let mut out: Vec<String> = jobs.iter().take(NAMED_MAX).map(name).collect();
    if jobs.len() > NAMED_MAX {
        out.push(format!("and {} more", jobs.len() - NAMED_MAX));
    }
    if !agents.is_empty() {
        let mut names: Vec<&str> = agents.iter().take(NAMED_MAX).map(String::as_str).collect();
        let more = format!("{} more", agents.len().saturating_sub(NAMED_MAX));
        if agents.len() > NAMED_MAX {
            names.push(&more);
        }
        let (word, cut) = match agents.len() {
            1 => ("Agent", "It is cut off, and keeps its copy; a message lets it go on at the next open."),
            _ => (
                "Agents",
                "They are cut off, and keep their copies; a message lets each go on at the next open.",
            ),
        };
        out.push(format!("{word}: {}", names.join(", ")));
        out.push(cut.to_owned());
    }
    if works {
        out.push("The model works: its turn is ended in any case.".to_owned());
    }
    out
}
