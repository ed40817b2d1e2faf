//! The agents pane by itself: the tree, selection by path, what each key is for.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::api::agent::{AgentEnd, AgentNode, HandBackReport, Hold, Workspace};
use crate::api::message::Usage;
use crate::base::{Millis, SessionId};
use crate::law::board::Board;
use crate::law::children::{By, End};
use crate::law::hand_back::tree::TreePath;

fn node(path: &str, asked: u64) -> AgentNode {
    AgentNode {
        name: path.rsplit('/').next().unwrap_or(path).to_owned(),
        session: SessionId::new(format!("s-{}", path.replace('/', "-"))),
        workspace: Workspace::Isolated,
        room: Some(format!("/srv/{}", path.rsplit('/').next().unwrap_or(path)).into()),
        model: None,
        tools: None,
        budget: None,
        run: 1,
        after: None,
        asked: Millis(asked),
        told: Millis(0),
    }
}

fn row(path: &str, asked: u64) -> AgentRow {
    AgentRow {
        node: node(path, asked),
        held: Some(Hold::Held),
        lacks: None,
        state: AgentState::Working,
        calls: 12,
        usage: Usage { input: 3000, output: 400, ..Usage::default() },
        cost: None,
        now: "bash cargo test".into(),
        asks: 0,
        began: Some(Millis(asked)),
    }
}

fn over(path: &str, end: End, at: u64) -> AgentState {
    AgentState::Ended(Arc::new(AgentEnd {
        node: node(path, 0),
        end,
        answer: "It is **done**.\n".into(),
        calls: 12,
        usage: Usage::default(),
        cost: None,
        hand_back: Some(HandBackReport {
            taken: paths(&["a.rs", "b.rs", "c.rs"]),
            conflicts: paths(&["src/lexer.rs"]),
            ..HandBackReport::default()
        }),
        trouble: None,
        again: false,
        ended: Millis(at),
        duration: Millis(52_000),
    }))
}

fn paths(names: &[&str]) -> Vec<TreePath> {
    names.iter().map(|name| TreePath::new(*name).expect("a path")).collect()
}

fn board(all: &[&str]) -> Board<String, AgentRow> {
    let mut board = Board::default();
    for (at, path) in all.iter().enumerate() {
        board.begin((*path).to_owned(), row(path, at as u64));
    }
    board
}

fn taken(state: &mut State, board: &Board<String, AgentRow>) {
    state.picture.update(board);
    state.arrange();
}

fn listed(state: &State) -> Vec<(u16, &str)> {
    state.listed().iter().map(|listed| (listed.depth, listed.name.as_str())).collect()
}

#[test]
fn each_stands_under_its_parent_and_what_ended_below_what_has_not() {
    let mut board =
        board(&["manual", "lexer", "lexer/tests", "lexer-2", "lexer/docs", "old", "lexer/tests/deep"]);
    board.report(&"old".to_owned(), |row| row.state = over("old", End::Answered, 5));
    board.report(&"lexer".to_owned(), |row| row.state = over("lexer", End::Answered, 9));
    board.report(&"lexer/tests".to_owned(), |row| row.state = over("lexer/tests", End::Answered, 8));
    let mut state = State::default();
    taken(&mut state, &board);
    let tree =
        [(0, "manual"), (0, "lexer"), (1, "tests"), (2, "deep"), (1, "docs"), (0, "lexer-2"), (0, "old")];
    assert_eq!(listed(&state), tree, "lexer has ended, but not all that it asked for");
    board.end(&"lexer/tests".to_owned());
    taken(&mut state, &board);
    assert_eq!(listed(&state)[..4], [(0, "manual"), (0, "lexer"), (1, "docs"), (1, "tests/deep")]);
}

#[test]
fn a_key_after_the_selected_agent_left_the_list_hits_no_other() {
    let mut board = board(&["a", "b", "c"]);
    let mut state = State::default();
    taken(&mut state, &board);
    state.list.choose(1);
    board.end(&"b".to_owned());
    taken(&mut state, &board);
    assert!(matches!(update(&mut state, Msg::Do(Action::AgentStop), Millis(0))[..], [Out::Say(_)]));
    update(&mut state, Msg::List(list::Msg::Move(1)), Millis(0));
    assert_eq!(state.selected(), Some("c"), "one goes on from where it was");
}

#[test]
fn what_ended_is_not_stopped_and_what_has_not_is_not_dismissed() {
    let mut board = board(&["a"]);
    let mut state = State::default();
    taken(&mut state, &board);
    state.entered();
    let one = |state: &mut State, action| update(state, Msg::Do(action), Millis(0)).remove(0);
    let ask = |ask| Out::Ask("a".to_owned(), ask);
    assert!(matches!(one(&mut state, Action::AgentDismiss), Out::Say(_)));
    assert!(matches!(one(&mut state, Action::AgentDismissAll), Out::Say(_)));
    assert!(matches!(one(&mut state, Action::AgentHandBack), Out::Say(_)));
    assert!(matches!(one(&mut state, Action::AgentCopy), Out::Say(_)));
    assert_eq!(one(&mut state, Action::AgentStop), ask(AgentAsk::Stop));
    assert_eq!(one(&mut state, Action::AgentDelete), ask(AgentAsk::Delete));
    board.report(&"a".to_owned(), |row| row.state = AgentState::Stopping);
    taken(&mut state, &board);
    assert!(matches!(one(&mut state, Action::AgentStop), Out::Say(_)));
    assert!(matches!(one(&mut state, Action::AgentMessage), Out::Say(_)));
    board.report(&"a".to_owned(), |row| row.state = AgentState::Cut);
    taken(&mut state, &board);
    assert_eq!(one(&mut state, Action::AgentStop), ask(AgentAsk::Stop), "what was cut can be ended");
    assert_eq!(one(&mut state, Action::AgentMessage), Out::Message("a".into()));
    board.report(&"a".to_owned(), |row| row.state = over("a", End::Answered, 3));
    taken(&mut state, &board);
    for action in [Action::AgentStop, Action::AgentDelete] {
        assert!(matches!(one(&mut state, action), Out::Say(_)));
    }
    assert_eq!(one(&mut state, Action::AgentMessage), Out::Message("a".into()));
    assert_eq!(one(&mut state, Action::AgentHandBack), Out::HandBack("a".into()));
    // told more than once it came back more than once: the newest is meant
    board.report(&"a".to_owned(), |row| row.node.room = Some("/srv/a.2".into()));
    taken(&mut state, &board);
    assert_eq!(one(&mut state, Action::AgentHandBack), Out::HandBack("a.2".into()));
    assert_eq!(one(&mut state, Action::AgentCopy), Out::Copy("It is **done**.".into()));
    assert_eq!(one(&mut state, Action::AgentDismissAll), ask(AgentAsk::Dismiss));
}

#[test]
fn what_an_agents_agent_left_is_opened_by_its_name_once_that_has_risen() {
    let mut board = board(&["lexer", "lexer/x"]);
    board.report(&"lexer/x".to_owned(), |row| row.state = over("lexer/x", End::Answered, 2));
    let mut state = State::default();
    taken(&mut state, &board);
    let hand_back = |state: &State| one(state, "lexer/x", Action::AgentHandBack).remove(0);
    assert!(matches!(hand_back(&state), Out::Say(_)), "it is lexer's as long as that works");
    let open = |state: &State, names: &[&str]| {
        let names = names.iter().map(|name| ((*name).to_owned(), 1)).collect();
        state.get("lexer/x").is_some_and(|row| super::open("lexer/x", row, Some(&names)))
    };
    assert!(open(&state, &[]), "it is counted elsewhere");
    let in_copy = |state: &State| state.get("lexer/x").map(|row| super::in_copy("lexer/x", row));
    assert_eq!(in_copy(&state), Some(1));
    board.report(&"lexer/x".to_owned(), |row| {
        row.node.room = Some("/srv/lexer+x".into());
        let AgentState::Ended(end) = &mut row.state else { return };
        Arc::make_mut(end).node.room.clone_from(&row.node.room);
    });
    taken(&mut state, &board);
    assert_eq!(hand_back(&state), Out::HandBack("lexer/x".into()));
    assert_eq!(in_copy(&state), Some(0));
    assert!(open(&state, &["lexer/x"]) && !open(&state, &["x"]) && !open(&state, &[]));
}

#[test]
fn a_hand_back_is_tried_again_only_where_it_failed() {
    let mut board = board(&["a"]);
    let mut state = State::default();
    for failed in [false, true] {
        let mut ended = over("a", End::Answered, 3);
        if let (true, AgentState::Ended(end)) = (failed, &mut ended) {
            let end = Arc::make_mut(end);
            (end.hand_back, end.trouble) = (None, Some("no space".into()));
        }
        board.report(&"a".to_owned(), |row| row.state = ended);
        taken(&mut state, &board);
        let out = one(&state, "a", Action::AgentRetry).remove(0);
        assert_eq!(out == Out::Ask("a".into(), AgentAsk::HandBack), failed, "{out:?}");
    }
    assert!(says(state.get("a").expect("it is there"), None).contains("its hand-back failed"));
}

#[test]
fn every_state_is_said_in_words() {
    let mut agent = row("a", 0);
    let said = |agent: &AgentRow| (mark(agent, "*", true).0, says(agent, None));
    assert_eq!(said(&agent), ("*", "bash cargo test".to_owned()));
    agent.asks = 1;
    assert_eq!(said(&agent), ("?", "waits for your answer".to_owned()));
    assert!(!spins(&agent));
    for (number, words) in [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (12, "12th"), (23, "23rd")] {
        agent.state = AgentState::Waiting { number };
        assert_eq!(said(&agent), ("◌", format!("waits for a place ({words})")));
    }
    agent.state = AgentState::Preparing { files: 120, of: 428 };
    assert_eq!(said(&agent), ("*", "copying 28% of 214 files".to_owned()));
    agent.state = AgentState::Preparing { files: 0, of: 0 };
    assert_eq!(said(&agent), ("*", "copying".to_owned()));
    agent.state = AgentState::Stopping;
    assert_eq!(said(&agent), ("◐", "stopping".to_owned()));
    agent.state = over("a", End::Answered, 1);
    assert_eq!(said(&agent), ("⚑", "1 conflict, 3 taken".to_owned()));
    assert_eq!(mark(&agent, "*", false).0, "✓", "no conflict of the session is open any more");
    agent.state = over("a", End::Stopped { by: By::User }, 1);
    assert_eq!(said(&agent), ("⚑", "1 conflict, 3 taken · stopped by you".to_owned()));
    agent.state = over("a", End::Failed { why: "no\nnetwork".into() }, 1);
    assert_eq!(mark(&agent, "*", false).0, "✗");
    assert_eq!(says(&agent, None), "1 conflict, 3 taken · failed: no network");
    agent.state = over("a", End::Answered, 1);
    assert_eq!(says(&agent, Some(1)), "1 conflict, 3 taken");
    assert_eq!(says(&agent, Some(0)), "1 conflict (resolved), 3 taken");
}

#[derive(Clone, Debug)]
enum Step {
    Begin(&'static str),
    End(&'static str),
    Gone(&'static str),
    Move(i32),
    Page(i32),
    Key(Action),
}

fn step() -> impl Strategy<Value = Step> {
    let names = || proptest::sample::select(vec!["a", "a/x", "a/x/q", "a/y", "b", "b/z", "c", "d"]);
    let keys = vec![Action::AgentStop, Action::AgentOpen, Action::AgentMessage, Action::AgentDismiss];
    prop_oneof![
        3 => names().prop_map(Step::Begin),
        2 => names().prop_map(Step::End),
        2 => names().prop_map(Step::Gone),
        3 => (-3..4i32).prop_map(Step::Move),
        1 => (-2..3i32).prop_map(Step::Page),
        4 => proptest::sample::select(keys).prop_map(Step::Key),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever moves and ends: a key is for the agent that was marked when it was last moved there, or for none; and
    /// every agent is listed once.
    #[test]
    fn a_key_is_for_the_marked_agent_or_for_none(steps in proptest::collection::vec(step(), 1..60)) {
        let (mut board, mut state) = (Board::default(), State::default());
        let mut marked: Option<String> = None;
        for (at, step) in steps.into_iter().enumerate() {
            let moved = matches!(step, Step::Move(_) | Step::Page(_));
            match step {
                Step::Begin(path) => board.begin(path.to_owned(), row(path, at as u64)),
                Step::End(path) => board.report(&path.to_owned(), |row| {
                    row.state = over(path, End::Answered, at as u64);
                }),
                Step::Gone(path) => drop(board.end(&path.to_owned())),
                Step::Move(by) => drop(update(&mut state, Msg::List(list::Msg::Move(by)), Millis(0))),
                Step::Page(by) => drop(update(&mut state, Msg::List(list::Msg::Page(by)), Millis(0))),
                Step::Key(action) => {
                    for out in update(&mut state, Msg::Do(action), Millis(0)) {
                        match out {
                            Out::Ask(path, _) | Out::Open(path) | Out::Message(path) => {
                                prop_assert_eq!(Some(path), marked.clone());
                            }
                            Out::Say(_) => {}
                            other => prop_assert!(false, "{:?}", other),
                        }
                    }
                    continue;
                }
            }
            taken(&mut state, &board);
            let mut names: Vec<&str> = state.listed().iter().map(|listed| listed.path.as_str()).collect();
            names.sort_unstable();
            let all: Vec<&str> = board.iter().map(|(path, _)| path.as_str()).collect();
            prop_assert_eq!(names, all);
            if moved {
                marked = state.selected().map(str::to_owned);
            } else {
                prop_assert!(state.selected().is_none() || state.selected() == marked.as_deref());
            }
        }
    }
}
