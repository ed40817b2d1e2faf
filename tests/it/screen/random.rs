//! Whatever happens in whatever order: the interpreted screen equals a clean redraw.

use std::sync::Arc;

use proptest::prelude::*;
use windlass::api::agent::AgentState;
use windlass::api::command::{Command, Query};
use windlass::api::event::{Event, Reply};
use windlass::ui::input::{Input, Mouse, MouseDid};
use windlass::ui::{Effect, Msg};

use super::desk::{Desk, file};
use super::{Screen, agents, conflict, record, scenes, tree};

#[derive(Clone, Debug)]
enum Step {
    Resize(u16, u16),
    Keys(&'static str),
    Type(String),
    Paste(String),
    Stream(String),
    Answer,
    Run,
    Job,
    JobEnd(u32),
    Ask,
    Agent(usize),
    AgentEnd(usize),
    Mouse(MouseDid, u16, u16),
    Search(String),
    Later(u64),
    Draw,
}

/// Paths of agents, some below others.
const AGENTS: [&str; 4] = ["lexer", "lexer/tests", "manual", "bench-文書"];

fn step() -> impl Strategy<Value = Step> {
    let keys = vec![
        "pageup",
        "pagedown",
        "ctrl-home",
        "ctrl-end",
        "ctrl-up",
        "ctrl-down",
        "up",
        "down",
        "tab",
        "enter",
        "esc",
        "ctrl-p",
        "?",
        "ctrl-x c",
        "ctrl-u",
        "alt-enter",
        "ctrl-o",
        "a",
        "y",
        "n",
        "backspace",
        "ctrl-x l",
        "alt-a",
        "ctrl-x j",
        "j",
        "G",
        "x",
        "s",
        "/",
        "ctrl-d",
        "q",
        "g",
        "ctrl-]",
        "n",
    ];
    prop_oneof![
        1 => (1..130u16, 1..42u16).prop_map(|(c, r)| Step::Resize(c, r)),
        4 => proptest::sample::select(keys).prop_map(Step::Keys),
        2 => "[a-z 日é/@]{1,10}".prop_map(Step::Type),
        1 => "[a-z\n]{1,40}".prop_map(Step::Paste),
        4 => "[a-z `*|#\n文-]{1,40}".prop_map(Step::Stream),
        1 => Just(Step::Answer),
        1 => Just(Step::Run),
        1 => Just(Step::Job),
        1 => (0..40u32).prop_map(Step::JobEnd),
        1 => Just(Step::Ask),
        1 => (1..3000u64).prop_map(Step::Later),
        3 => Just(Step::Draw),
    ]
}

/// With what the other panes, the mouse and a search do too.
fn wide_step() -> impl Strategy<Value = Step> {
    let keys = vec![
        // the panes of agents, the tree and the conflict viewer, and what is done in them
        "ctrl-x a",
        "ctrl-x t",
        "ctrl-x h",
        "ctrl-x h enter",
        "m",
        "k",
        "p",
        "c",
        "b",
        "u",
        "e",
        "d",
        "P",
        "[",
        "]",
        "space",
        "f",
        "r",
        // themes, pages and lists
        "ctrl-x c down down",
        "ctrl-x x",
        "ctrl-x v",
        "ctrl-r",
        "v",
        "t",
        "alt-a y",
    ];
    let did = vec![
        MouseDid::Press,
        MouseDid::Release,
        MouseDid::Drag,
        MouseDid::WheelUp,
        MouseDid::WheelDown,
        MouseDid::Other,
    ];
    let other = prop_oneof![
        4 => proptest::sample::select(keys).prop_map(Step::Keys),
        1 => (0..AGENTS.len()).prop_map(Step::Agent),
        1 => (0..AGENTS.len()).prop_map(Step::AgentEnd),
        2 => (proptest::sample::select(did), 0..130u16, 0..42u16).prop_map(|(did, x, y)| Step::Mouse(did, x, y)),
        1 => "[a-e]{1,2}".prop_map(Step::Search),
    ];
    prop_oneof![2 => step(), 1 => other]
}

/// What the session answers to what the screen asks, and does of what it wants.
fn settle(screen: &mut Screen, desk: &mut Desk, effects: Vec<Effect>) {
    for effect in desk.settle(screen, effects) {
        match effect {
            Effect::Send(Command::Ask { number, query }) => {
                let reply = match query {
                    Query::Tree => Reply::Tree(tree::entries()),
                    Query::RewindPlan { .. } => Reply::RewindPlan(tree::plan()),
                    Query::Prompts => Reply::Prompts(vec!["an earlier one".into(), "two\nlines 文書".into()]),
                    Query::PromptsOfAll => Reply::PromptsOfAll(Vec::new()),
                    _ => Reply::Failed("there is none".into()),
                };
                let more = screen.tell(Msg::Event(Event::Answered { number, reply }));
                drop(desk.settle(screen, more));
            }
            Effect::Send(Command::Decide { call, .. }) => {
                screen.change(|r| Arc::make_mut(&mut r.approvals).retain(|approval| approval.call != call));
            }
            _ => {}
        }
    }
}

fn apply(screen: &mut Screen, desk: &mut Desk, step: Step, number: usize) {
    match step {
        Step::Resize(columns, rows) => screen.resize(columns, rows),
        Step::Keys(names) => {
            for name in names.split(' ') {
                let effects = screen.keys(name);
                settle(screen, desk, effects);
            }
        }
        Step::Type(text) => {
            let effects = screen.write(&text);
            settle(screen, desk, effects);
        }
        Step::Paste(text) => drop(screen.tell(Msg::Input(Input::Paste(text)))),
        Step::Agent(which) => screen.change(|r| agents::agent(r, AGENTS[which], AgentState::Working)),
        Step::AgentEnd(which) => screen.change(|r| {
            let path = AGENTS[which];
            let ended = agents::end(path, windlass::law::children::End::Answered, None);
            agents::agent(r, path, AgentState::Ended(Arc::new(ended)));
        }),
        Step::Mouse(did, column, row) => {
            let button = match did {
                MouseDid::Press | MouseDid::Release => 0,
                MouseDid::Drag => 32,
                MouseDid::WheelUp => 64,
                MouseDid::WheelDown => 65,
                MouseDid::Other => 2,
            };
            let up = did == MouseDid::Release;
            let effects = screen.tell(Msg::Input(Input::Mouse(Mouse { did, column, row, button, up })));
            settle(screen, desk, effects);
        }
        Step::Search(text) => {
            screen.keys("tab /");
            screen.write(&text);
            screen.keys("enter");
        }
        Step::Stream(text) => screen.change(|r| record::stream(r, &text)),
        Step::Answer => screen.change(|r| {
            let text = r.live.parts.first().map(|p| p.text.clone()).unwrap_or_default();
            r.live.parts.clear();
            record::answer(r, &text);
        }),
        Step::Run => screen.change(|r| record::running(r, &format!("r{number}"), "make", "a\nb\n")),
        Step::Job => screen.change(|r| {
            super::jobs::job(r, number as u32, "npm run dev");
            r.jobs.report(&windlass::base::JobId(number as u32), |row| {
                row.node.terminal = number.is_multiple_of(2);
                row.screen = row.node.terminal.then(|| std::sync::Arc::new(super::job_view::picture(40, 10)));
            });
        }),
        Step::JobEnd(id) => {
            screen.change(|r| super::jobs::end(r, id, windlass::law::job::End::Exited { code: 0 }));
        }
        Step::Ask => screen.change(|r| record::ask(r, &format!("q{number}"), "rm x")),
        Step::Later(ms) => screen.now += ms,
        Step::Draw => {
            screen.draw();
            screen.tell(Msg::Flushed);
        }
    }
}

/// Does all of it, and looks.
fn ends_clean(mut screen: Screen, steps: Vec<Step>) -> Result<(), TestCaseError> {
    let mut desk = conflict::desk();
    desk.put("docs", "a.md", file("a\n"), file("a\n"), file("b\n"));
    for (number, step) in steps.into_iter().enumerate() {
        apply(&mut screen, &mut desk, step, number);
    }
    let (seen, clean) = screen.clean();
    prop_assert_eq!(seen, clean);
    // colours of code come by themselves, once
    let rests = (0..100).any(|_| screen.draw() == 0);
    prop_assert!(rests, "nothing changes, and bytes come");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: crate::cases(300),
        max_shrink_iters: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_screen_equals_a_clean_redraw(steps in proptest::collection::vec(step(), 1..40)) {
        ends_clean(Screen::new(80, 24, record::full()), steps)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: crate::cases(60),
        max_shrink_iters: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_screen_with_every_pane_and_overlay_equals_a_clean_redraw(
        scene in 0..scenes::count(),
        steps in proptest::collection::vec(wide_step(), 1..30),
    ) {
        let (_, open) = scenes::all().nth(scene).expect("a scene");
        ends_clean(open(80, 24), steps)?;
    }
}
