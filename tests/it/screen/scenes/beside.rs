//! Jobs, agents, the tree and the conflict viewer: lists, and what is shown over the whole screen.

use std::sync::Arc;

use windlass::api::agent::AgentState;
use windlass::api::board::Record;

use windlass::api::job::JobState;
use windlass::base::JobId;

use windlass::law::job::{By, End, Stage};
use windlass::link::{AgentRecords, Shared};
use windlass::ui::agent_view;

use super::super::desk::{Desk, file};
use super::super::{Screen, agents, conflict, job_view, jobs, record, tree};
use super::{Scene, after};

/// All of them.
pub const SCENES: &[Scene] = &[
    ("jobs", |c, r| after(Screen::new(c, r, some_jobs()), "ctrl-x j j")),
    ("jobs-ended", |c, r| after(Screen::new(c, r, some_jobs()), "ctrl-x j G")),
    ("jobs-beside", |c, r| Screen::new(c, r, some_jobs())),
    ("jobs-empty", |c, r| after(Screen::new(c, r, record::empty()), "ctrl-x j")),
    ("jobs-searched", |c, r| after(Screen::new(c, r, some_jobs()), "ctrl-x j / n p m enter")),
    ("job-log", |c, r| job_log(c, r, "")),
    ("job-log-hit", job_log_hit),
    ("job-log-above", |c, r| job_log(c, r, "g")),
    ("job-log-selecting", |c, r| job_log(c, r, "v up v right right right")),
    ("job-ending", job_ending),
    ("job-terminal", |c, r| job_terminal(c, r, "ctrl-x j j enter")),
    ("job-attached", |c, r| job_terminal(c, r, "ctrl-x j j enter a")),
    ("job-over", |c, r| {
        let mut screen = job_terminal(c, r, "ctrl-x j j enter a");
        screen.change(|record| jobs::end(record, 4, End::Exited { code: 3 }));
        screen
    }),
    ("agents", |c, r| after(Screen::new(c, r, some_agents()), "ctrl-x a j")),
    ("agents-ended", |c, r| after(Screen::new(c, r, some_agents()), "ctrl-x a G k")),
    ("agents-beside", |c, r| Screen::new(c, r, some_agents())),
    ("agents-empty", |c, r| after(Screen::new(c, r, record::empty()), "ctrl-x a")),
    ("agent-reports", |c, r| Screen::new(c, r, agents::reported())),
    ("agent-reports-opened", |c, r| after(Screen::new(c, r, agents::reported()), "ctrl-o k k k enter")),
    ("agent-looked-for", |c, r| after(Screen::new(c, r, some_agents()), "ctrl-x a g enter")),
    ("agent-transcript", agent_transcript),
    ("agent-asks", |c, r| {
        let mut record = some_agents();
        record::ask(&mut record, "lexer/c3", "rm -r target");
        Arc::make_mut(&mut record.approvals)[0].agent = Some("lexer".into());
        after(Screen::new(c, r, record), "ctrl-x a g")
    }),
    ("tree", |c, r| tree::opened(c, r, tree::with_job(), tree::entries())),
    ("tree-opened", |c, r| after(tree::opened(c, r, tree::with_job(), tree::entries()), "a g j j")),
    ("tree-empty", |c, r| tree::opened(c, r, record::empty(), Vec::new())),
    ("tree-searched", |c, r| after(tree::opened(c, r, record::full(), tree::entries()), "/ s t a c k enter")),
    ("hand-back-none", |c, r| conflict::open(&mut Desk::default(), c, r)),
    ("hand-backs", |c, r| {
        let mut desk = conflict::desk();
        desk.put("docs", "a.md", file("a\n"), file("a\n"), file("b\n"));
        conflict::open(&mut desk, c, r)
    }),
    ("conflict", |c, r| at(c, r, "src/lexer.rs", "")),
    ("conflict-chosen", |c, r| at(c, r, "src/lexer.rs", "enter c")),
    ("conflict-both", |c, r| at(c, r, "src/lexer.rs", "enter b")),
    ("conflict-edited", |c, r| at(c, r, "src/lexer.rs", "enter c e x")),
    ("conflict-one-column", |c, r| at(c, r, "src/lexer.rs", "enter d")),
    ("conflict-paths", |c, r| at(c, r, "src/lexer.rs", "enter tab")),
    ("conflict-bytes", |c, r| at(c, r, "assets/logo.png", "")),
    ("conflict-may-be-run", |c, r| at(c, r, "run.sh", "")),
    ("conflict-removed", |c, r| at(c, r, "old.rs", "")),
    ("conflict-link", |c, r| at(c, r, "link", "enter c")),
    ("conflict-directory", |c, r| at(c, r, "target", "")),
    ("conflict-taken", |c, r| at(c, r, "docs/lex.md", "")),
    ("conflict-resolved", |c, r| at(c, r, "src/lexer.rs", "P w")),
    ("conflict-toast", |c, r| at(c, r, "docs/lex.md", "p")),
];

fn some_jobs() -> Record {
    let mut record = jobs::some();
    jobs::job(&mut record, 7, "tail -f log");
    record.jobs.report(&JobId(7), |row| row.state = JobState::Sought);
    record
}

fn some_agents() -> Record {
    let mut record = agents::some();
    agents::agent(&mut record, "rest", AgentState::Resting);
    agents::agent(&mut record, "back", AgentState::HandingBack);
    record
}

fn job_log(columns: u16, rows: u16, keys: &str) -> Screen {
    let mut screen = after(Screen::new(columns, rows, job_view::some(80, 20)), "ctrl-x j k enter");
    job_view::settle(&mut screen, &job_view::output());
    if !keys.is_empty() {
        screen.keys(keys);
        job_view::settle(&mut screen, &job_view::output());
    }
    screen
}

fn job_log_hit(columns: u16, rows: u16) -> Screen {
    let mut screen = job_log(columns, rows, "");
    screen.write("/error");
    let effects = screen.keys("enter");
    let log = job_view::output();
    let at = log.windows(6).position(|found| found == b"Error:").expect("an error") as u64;
    job_view::found(&mut screen, &effects, Some(at));
    job_view::settle(&mut screen, &log);
    screen
}

fn job_ending(columns: u16, rows: u16) -> Screen {
    let mut screen = job_log(columns, rows, "");
    screen.change(|record| {
        record.jobs.report(&JobId(3), |row| {
            row.state = JobState::Ending { by: By::User, stage: Stage::Asked { processes: 3 } };
        });
    });
    screen
}

fn job_terminal(columns: u16, rows: u16, keys: &str) -> Screen {
    let picture = (columns, rows.saturating_sub(2).max(1));
    after(Screen::new(columns, rows, job_view::some(picture.0, picture.1)), keys)
}

fn agent_transcript(columns: u16, rows: u16) -> Screen {
    let records = AgentRecords::default();
    let mut child = record::empty();
    record::user(&mut child, "write the manual");
    record::command(&mut child, "c1", "ls docs", "lex.md\n", true);
    record::answer(&mut child, "The **manual** tells of comments now.\n\n- one\n- two");
    records.put("bench-文書".into(), Shared::new(child, Arc::new(|| ())));
    let mut screen = after(Screen::new(columns, rows, some_agents()), "ctrl-x a g");
    while screen.model.agents.selected() != Some("bench-文書") {
        screen.keys("j");
    }
    screen.keys("enter");
    agent_view::sync(&mut screen.model, &records);
    screen
}

/// The paths of the hand-back, as they are listed.
const PATHS: [&str; 11] = [
    "README.md",
    "assets/logo.png",
    "docs/lex.md",
    "docs/toc.md",
    "gone.rs",
    "link",
    "old.rs",
    "run.sh",
    "src/lexer.rs",
    "target",
    "tool.sh",
];

/// The conflict viewer at a path of a hand-back, after these keys.
fn at(columns: u16, rows: u16, path: &str, keys: &str) -> Screen {
    let mut desk = conflict::desk();
    let mut screen = conflict::open(&mut desk, columns, rows);
    // to the first, and on from there: no frame is looked at
    let at = PATHS.iter().position(|known| *known == path).expect("a path of the hand-back");
    for key in std::iter::repeat_n("[", PATHS.len()).chain(std::iter::repeat_n("]", at)) {
        let effects = screen.keys(key);
        desk.settle(&mut screen, effects);
    }
    if !keys.is_empty() {
        desk.keys(&mut screen, keys);
    }
    screen
}
