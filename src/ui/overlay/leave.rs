//! The questions at leaving: what runs, and what becomes of it.

use super::catalog::NAMED_MAX;
use super::list::{Goal, Jobs, Kind, Pick, Row, State};
use crate::base::JobId;

/// Whether to leave while the model works, or while a draft stands.
pub fn leave(goal: Goal, works: bool, draft: bool) -> State {
    let verb = verb(&goal);
    let (title, lost) = match (works, draft) {
        (true, true) => (format!("{verb} while the model works?"), "what runs is ended; your draft is kept"),
        (true, false) => {
            (format!("{verb} while the model works?"), "what runs is ended; the session can be resumed")
        }
        (false, _) => ("Leave your draft?".to_owned(), "it is not sent; it is kept for the next time"),
    };
    let rows = vec![Row::new("Stay", "", Pick::Close), Row::new(verb, lost, Pick::Leave(goal, Jobs::End))];
    let mut state = State::new(Kind::Quit, &title, rows);
    state.hint = "↑ ↓ choose · Enter takes it".to_owned();
    state
}

fn verb(goal: &Goal) -> &'static str {
    match goal {
        Goal::Exit(_) => "Leave",
        Goal::Fork(_) => "Fork",
    }
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

/// Whether to leave while jobs or agents run: end all, leave the jobs running, or stay. `agents`: their paths. `session_stays`:
/// whether the session is there afterwards, so that jobs can be found again; that of the rehearsal is not.
pub fn running(
    goal: Goal,
    jobs: &[RunningJob],
    agents: &[String],
    works: bool,
    session_stays: bool,
) -> State {
    let what: Vec<String> = [(jobs.len(), "job"), (agents.len(), "agent")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| many(count, name))
        .collect();
    let runs = if jobs.len() + agents.len() == 1 { "runs" } else { "run" };
    let kept = jobs.iter().filter(|job| job.kept).count();
    let forks = matches!(goal, Goal::Fork(_));
    let (stays, kills, on) = if forks {
        ("no fork is made", "Kill all and fork", "they go on with this session, not with the fork")
    } else {
        ("", "Kill all and leave", "they go on and are found again at the next open")
    };
    let leave = |jobs| Pick::Leave(goal.clone(), jobs);
    let mut rows = vec![Row::new("Stay", stays, Pick::Close)];
    if jobs.is_empty() {
        rows.push(Row::new(verb(&goal), "", leave(Jobs::End)));
    } else {
        rows.push(Row::new(kills, "each with all its processes", leave(Jobs::EndAll)));
        if session_stays {
            rows.push(Row::new("Leave them running", on, leave(Jobs::GoOn)));
        }
    }
    if session_stays && kept > 0 && kept < jobs.len() {
        rows.push(Row::new("Leave those that are kept", "the others end", leave(Jobs::End)));
    }
    let title = format!("{} while {} {runs}?", verb(&goal), what.join(" and "));
    let mut state = State::new(Kind::Quit, &title, rows);
    if forks {
        let stay = match jobs.len() + agents.len() {
            1 => "It stays with this session: the fork does not have it.",
            _ => "They stay with this session: the fork has none of them.",
        };
        state.intro.push(stay.to_owned());
    }
    state.intro.extend(intro(jobs, agents, works));
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
            1 => ("Agent", "It is cut off as it is; a message lets it go on at the next open."),
            _ => ("Agents", "They are cut off as they are; a message lets each go on at the next open."),
        };
        out.push(format!("{word}: {}", names.join(", ")));
        out.push(cut.to_owned());
    }
    if works {
        out.push("The model works: its turn is ended in any case.".to_owned());
    }
    out
}
