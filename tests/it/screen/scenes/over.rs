//! Lists, lines and pages over the panes.

use std::sync::Arc;

use windlass::api::agent::AgentState;
use windlass::api::board::Phase;
use windlass::api::event::Reply;
use windlass::ui::Msg;

use super::super::{Screen, agents, conflict, job_view, jobs, overlays, record, tree};
use super::{Scene, after, seen};

/// All of them.
pub const SCENES: &[Scene] = &[
    ("palette", |c, r| open(c, r, "palette")),
    ("palette-narrowed", |c, r| after(open(c, r, "palette"), "t h e m e")),
    ("palette-no-hit", |c, r| after(open(c, r, "palette"), "z z z q")),
    ("help", |c, r| open(c, r, "help")),
    ("help-searched", |c, r| after(open(c, r, "help"), "c o p y")),
    ("help-no-hit", |c, r| after(open(c, r, "help"), "z z z q")),
    ("help-of-lists", |c, r| after(open(c, r, "palette"), "f1")),
    ("models", |c, r| open(c, r, "models")),
    ("models-none", |c, r| answered(c, r, "ctrl-x m", Reply::Models(Vec::new()))),
    ("models-looked-for", |c, r| after(Screen::new(c, r, record::empty()), "ctrl-x m")),
    ("levels-of-thinking", |c, r| open(c, r, "thinking")),
    ("sessions", |c, r| open(c, r, "sessions")),
    ("sessions-none", |c, r| answered(c, r, "ctrl-x s", Reply::Sessions(Vec::new()))),
    ("sessions-of-all", |c, r| {
        let mut screen = open(c, r, "sessions");
        let effects = screen.keys("ctrl-a");
        overlays::reply(&mut screen, &effects, Reply::Sessions(Vec::new()));
        screen
    }),
    ("rename-of-a-list", |c, r| after(open(c, r, "sessions"), "ctrl-r b e t t e r")),
    ("themes", |c, r| after(open(c, r, "themes"), "down down")),
    ("earlier-prompts", |c, r| {
        let prompts = ["make the lexer skip nested comments", "two\nlines 文書", "go on"].map(str::to_owned);
        answered(c, r, "ctrl-r", Reply::Prompts(prompts.to_vec()))
    }),
    ("earlier-prompts-none", |c, r| answered(c, r, "ctrl-r", Reply::Prompts(Vec::new()))),
    ("welcome", |c, r| open(c, r, "welcome")),
    ("welcome-before-servers", |c, r| {
        let mut screen = Screen::new(c, r, record::empty());
        screen.draw();
        screen.tell(Msg::Welcome);
        screen
    }),
    ("key", |c, r| after(open(c, r, "welcome"), "down down enter s k - a b c")),
    ("trust", |c, r| open(c, r, "trust")),
    ("leave-a-draft", |c, r| {
        let mut screen = Screen::new(c, r, record::empty());
        screen.draw();
        screen.write("half a thought");
        after(screen, "ctrl-x n")
    }),
    ("leave-while-it-works", |c, r| {
        let mut record = record::empty();
        record::status(&mut record, |status| status.phase = Phase::Streaming);
        after(Screen::new(c, r, record), "ctrl-d")
    }),
    ("leave-jobs-and-agents", |c, r| {
        let mut record = jobs::some();
        agents::agent(&mut record, "lexer", AgentState::Working);
        agents::agent(&mut record, "manual", AgentState::Waiting { number: 1 });
        after(Screen::new(c, r, record), "ctrl-d")
    }),
    ("fork-while-a-job-runs", |c, r| after(tree::opened(c, r, tree::with_job(), tree::entries()), "f")),
    ("signals", |c, r| after(Screen::new(c, r, jobs::some()), "ctrl-x j s")),
    ("rewind", tree::asks_to_rewind),
    ("write-while-open", |c, r| {
        let (mut desk, mut screen) = conflict::at_lexer();
        desk.keys(&mut screen, "enter p w");
        screen.resize(c, r);
        screen
    }),
    ("take", |c, r| after(Screen::new(c, r, record::full()), "ctrl-o t")),
    ("tour-1", |c, r| tour(c, r, 0)),
    ("tour-2", |c, r| tour(c, r, 1)),
    ("tour-3", |c, r| tour(c, r, 2)),
    ("tour-4", |c, r| tour(c, r, 3)),
    ("tour-5", |c, r| tour(c, r, 4)),
    ("context", |c, r| open(c, r, "context")),
    ("usage", |c, r| open(c, r, "usage")),
    ("timeline", |c, r| open(c, r, "timeline")),
    ("timeline-of-nothing", |c, r| {
        let mut screen = Screen::new(c, r, record::empty());
        screen.draw();
        screen.write("/timeline");
        let effects = screen.keys("enter");
        overlays::reply(&mut screen, &effects, Reply::Timeline(Vec::new()));
        screen
    }),
    ("rename", |c, r| after(open(c, r, "rename"), "a space n a m e")),
    ("reason", |c, r| {
        let mut record = record::full();
        record::ask(&mut record, "c2", "rm -rf target");
        after(seen(Screen::new(c, r, record)), "r u s e space c l e a n")
    }),
    ("find", |c, r| after(Screen::new(c, r, record::full()), "ctrl-o / l e x e r")),
    ("find-no-hit", |c, r| after(Screen::new(c, r, record::full()), "ctrl-o / z z z")),
    ("find-job", |c, r| after(Screen::new(c, r, jobs::some()), "ctrl-x j / n p m")),
    ("find-log", |c, r| {
        let mut screen = after(Screen::new(c, r, job_view::some(80, 20)), "ctrl-x j k enter");
        job_view::settle(&mut screen, &job_view::output());
        after(screen, "/ e r r")
    }),
    ("find-tree", |c, r| after(tree::opened(c, r, record::full(), tree::entries()), "/ s t a c k")),
    ("find-transcript", |c, r| after(Screen::new(c, r, agents::some()), "ctrl-x a g enter / m a n")),
    ("message-to-an-agent", |c, r| after(Screen::new(c, r, agents::some()), "ctrl-x a m a n d space t h e")),
    ("reason-beside-others", |c, r| {
        let mut record = record::full();
        record::ask(&mut record, "c2", "rm -rf target");
        record::ask(&mut record, "c3", "ls");
        Arc::make_mut(&mut record.approvals)[0].agent = Some("lexer".into());
        after(seen(Screen::new(c, r, record)), "r")
    }),
];

/// An overlay over a session in which nothing was said.
fn open(columns: u16, rows: u16, what: &str) -> Screen {
    let mut screen = Screen::new(columns, rows, record::empty());
    screen.draw();
    overlays::open(what, &mut screen);
    screen
}

/// What a key asks is answered.
fn answered(columns: u16, rows: u16, keys: &str, reply: Reply) -> Screen {
    let mut screen = Screen::new(columns, rows, record::empty());
    screen.draw();
    let effects = screen.keys(keys);
    overlays::reply(&mut screen, &effects, reply);
    screen
}

fn tour(columns: u16, rows: u16, card: usize) -> Screen {
    let mut screen = open(columns, rows, "tour");
    for _ in 0..card {
        screen.keys("enter");
    }
    screen
}
