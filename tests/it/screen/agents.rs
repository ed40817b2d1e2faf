//! The agents on the screen: the pane, its keys, the strip of counts, the transcript of one, and leaving while they run.

use std::sync::Arc;

use windlass::api::agent::{AgentEnd, AgentNode, AgentRow, AgentState, HandBackReport, Hold, Workspace};
use windlass::api::board::Record;
use windlass::api::command::{AgentAsk, Command};
use windlass::api::entry::EntryBody;
use windlass::api::message::Usage;
use windlass::base::{Millis, SessionId};
use windlass::law::children::{By, End};
use windlass::law::hand_back::tree::TreePath;
use windlass::link::{AgentRecords, Shared};
use windlass::ui::input::{Input, Mouse, MouseDid};
use windlass::ui::pace::Motion;
use windlass::ui::{Effect, Exit, Msg, agent_view};

use super::{Screen, record};

fn node(path: &str, workspace: Workspace) -> AgentNode {
    AgentNode {
        name: path.rsplit('/').next().unwrap_or(path).into(),
        session: SessionId::new(format!("s-{path}")),
        workspace,
        room: (workspace == Workspace::Isolated).then(|| format!("/srv/rooms/{path}").into()),
        model: (path == "manual").then(|| "anthropic/claude-haiku".into()),
        tools: None,
        budget: None,
        run: 1,
        after: None,
        asked: Millis(900_000),
        told: Millis(0),
    }
}

/// An agent that works in a copy of its own.
pub fn agent(record: &mut Record, path: &str, state: AgentState) {
    let row = AgentRow {
        node: node(path, Workspace::Isolated),
        held: Some(Hold::Held),
        lacks: None,
        state,
        calls: 12,
        usage: Usage { input: 3000, output: 400, ..Usage::default() },
        cost: Some(0.03),
        now: "bash cargo test lexer".into(),
        asks: 0,
        began: Some(Millis(968_000)),
    };
    record.agents.begin(path.into(), row);
}

/// What came back from one: so many taken, so many in conflict.
fn report(taken: &[&str], conflicts: &[&str]) -> HandBackReport {
    let paths =
        |names: &[&str]| names.iter().map(|name| TreePath::new(*name).expect("a path of a tree")).collect();
    HandBackReport { taken: paths(taken), conflicts: paths(conflicts), ..HandBackReport::default() }
}

/// The end of one.
pub fn end(path: &str, end: End, hand_back: Option<HandBackReport>) -> AgentEnd {
    AgentEnd {
        node: node(path, Workspace::Isolated),
        end,
        answer: "The **manual** tells of nested comments now.\n\n- `docs/lex.md` has a section of its own\n- the table of contents names it\n".into(),
        calls: 7,
        usage: Usage { input: 9000, output: 800, ..Usage::default() },
        cost: Some(0.02),
        hand_back,
        trouble: None,
        again: false,
        ended: Millis(985_000),
        duration: Millis(85_000),
    }
}

/// Agents in every state, and what they came to.
pub(super) fn some() -> Record {
    let mut record = record::full();
    let ended = |end| AgentState::Ended(Arc::new(end));
    let back = report(&["docs/lex.md", "docs/toc.md", "src/main.rs"], &["src/lexer.rs"]);
    agent(&mut record, "lexer", AgentState::Working);
    agent(&mut record, "lexer/tests", AgentState::Preparing { files: 120, of: 428 });
    agent(&mut record, "lexer/more", AgentState::Waiting { number: 2 });
    agent(&mut record, "manual", ended(end("manual", End::Answered, Some(back))));
    agent(&mut record, "bench-文書", AgentState::Working);
    agent(&mut record, "fmt", AgentState::Stopping);
    agent(&mut record, "net", ended(end("net", End::Failed { why: "no network".into() }, None)));
    agent(&mut record, "old", AgentState::Cut);
    record.agents.report(&"bench-文書".into(), |row| row.held = Some(Hold::NotHeld));
    record.agents.report(&"fmt".into(), |row| row.now = String::new());
    record::status(&mut record, |status| {
        status.open_conflicts = 1;
        status.conflicted = [("manual".to_owned(), 1)].into();
        status.counted = 1;
    });
    record
}

#[test]
fn open_conflicts_are_counted_over_the_composer_until_none_is_open() {
    let row = |screen: &mut Screen, wanted: &str| {
        let shown = screen.shown();
        let title = shown.lines().next().unwrap_or_default().to_owned();
        let found = shown.lines().skip(1).find(|line| line.contains(wanted)).map(str::to_owned);
        (title, found)
    };
    let open = |screen: &mut Screen, count: usize| {
        screen.change(|record| record::status(record, |status| status.open_conflicts = count));
    };
    for (columns, wanted) in
        [(109, "⚑ 12 conflicts · ^X h"), (80, "^X a  ⚑ 12"), (40, "5 agents  ⚑ 12"), (29, "⚑ 12")]
    {
        let mut screen = Screen::new(columns, 24, some());
        open(&mut screen, 12);
        let (_, found) = row(&mut screen, wanted);
        assert!(found.is_some(), "{columns}: {}", screen.shown());
        // the list of agents says nothing of them
        screen.keys("ctrl-x a");
        assert!(row(&mut screen, "⚑ 12").1.is_some(), "{columns}: {}", screen.shown());
        screen.keys("esc");
        open(&mut screen, 0);
        assert_eq!(row(&mut screen, "⚑").1, None, "{columns}");
    }
    // also where nothing else is to be counted
    let mut screen = Screen::new(80, 24, record::empty());
    open(&mut screen, 1);
    assert!(row(&mut screen, "⚑ 1 conflict · ^X h").1.is_some(), "{}", screen.shown());
}

#[test]
fn an_agent_whose_conflicts_are_resolved_has_its_mark_while_those_of_another_are_open() {
    let mut record = some();
    let back = report(&[], &["src/lexer.rs"]);
    agent(&mut record, "lexer-2", AgentState::Ended(Arc::new(end("lexer-2", End::Answered, Some(back)))));
    let mut screen = Screen::new(130, 36, record);
    let shown = screen.shown();
    let line = |name: &str| shown.lines().find(|line| line.contains(name)).expect("its row").to_owned();
    assert!(line("manual ").contains('⚑') && line("lexer-2 ").contains('✓'), "{shown}");
}

#[test]
fn conflicts_are_counted_as_they_stand() {
    let mut record = some();
    let back = report(&["a"], &["src/lexer.rs", "b"]);
    agent(&mut record, "lexer-2", AgentState::Ended(Arc::new(end("lexer-2", End::Answered, Some(back)))));
    let mut screen = Screen::new(100, 50, record);
    screen.draw();
    screen.keys("ctrl-x a");
    assert!(screen.shown().contains("2 conflicts (both resolved), 1 taken"), "{}", screen.shown());
    screen.change(|record| {
        record::status(record, |status| {
            status.conflicted.insert("lexer-2".to_owned(), 1);
            status.counted += 1;
        });
    });
    assert!(screen.shown().contains("2 conflicts (1 open), 1 taken"), "{}", screen.shown());
    // those in the copy of an agent that works are not the session's yet
    let back = report(&[], &["src/lexer.rs", "b"]);
    let ended = AgentState::Ended(Arc::new(end("lexer/more", End::Answered, Some(back))));
    screen.change(|record| agent(record, "lexer/more", ended));
    let title = screen.shown().lines().next().unwrap_or_default().to_owned();
    assert!(title.contains("2 in a copy"), "{title}");
}

/// Two agents were asked for, and both have ended.
pub(super) fn reported() -> Record {
    let mut record = record::empty();
    record::user(&mut record, "nested comments, and the manual");
    for (call, name, workspace) in [("c1", "lexer", "isolated"), ("c2", "manual", "isolated")] {
        let input = serde_json::json!({"name": name, "prompt": "work", "workspace": workspace});
        let output = format!("{name} works: {workspace} · 214 files · cloned");
        record::settled(&mut record, call, "spawn", input, &output);
    }
    let back = report(&["docs/lex.md", "docs/toc.md", "src/main.rs"], &["src/lexer.rs"]);
    record::push(&mut record, EntryBody::AgentEnd(end("manual", End::Answered, Some(back))));
    let back = HandBackReport { same: report(&["README.md"], &[]).taken, ..report(&["src/lexer.rs"], &[]) };
    record::push(&mut record, EntryBody::AgentEnd(end("lexer", End::Answered, Some(back))));
    let mut cut = end("bench", End::Stopped { by: By::User }, None);
    cut.trouble = Some("its copy was kept as it is: the disk is full".into());
    cut.answer = String::new();
    record::push(&mut record, EntryBody::AgentEnd(cut));
    record
}

#[test]
fn reports_and_spawns_read_well_in_the_conversation() {
    for (columns, rows) in [(130, 36), (80, 24), (40, 30)] {
        insta::assert_snapshot!(format!("agent-reports-{columns}x{rows}"), {
            let mut screen = Screen::new(columns, rows, reported());
            screen.shown()
        });
    }
    let mut screen = Screen::new(80, 24, reported());
    screen.draw();
    screen.keys("ctrl-o k k k enter");
    insta::assert_snapshot!("agent-report-opened-80x24", screen.shown());
    assert!(matches!(&screen.keys("y")[..], [Effect::Copy(text)] if text.contains("section of its own")));
    screen.keys("enter / c o n f l i c t enter");
    let (seen, clean) = screen.clean();
    assert_eq!(seen, clean);
}

#[test]
fn the_agents_draw_at_every_size_and_are_clean() {
    for columns in (1..=20).chain([40, 69, 70, 109, 110, 130]) {
        for rows in (1..=14).chain([40]) {
            let mut screen = Screen::new(columns, rows, some());
            screen.keys("ctrl-x a j j");
            screen.draw();
            screen.keys("G");
            let (seen, clean) = screen.clean();
            assert_eq!(seen, clean, "{columns}x{rows}");
            screen.keys("enter");
            let (seen, clean) = screen.clean();
            assert_eq!(seen, clean, "{columns}x{rows}: the transcript");
        }
    }
}

fn ask(path: &str, ask: AgentAsk) -> Effect {
    Effect::Send(Command::Agent { path: path.into(), ask })
}

#[test]
fn every_key_does_what_it_says_to_the_selected_agent() {
    let mut screen = Screen::new(130, 40, some());
    screen.keys("ctrl-x a g");
    assert_eq!(screen.keys("x"), [ask("bench-文書", AgentAsk::Stop)]);
    assert_eq!(screen.keys("j x"), []);
    assert!(screen.shown().contains("about to end"), "it is being stopped");
    assert_eq!(screen.keys("X"), [ask("fmt", AgentAsk::Delete)], "it can still go off the list");
    assert_eq!(screen.keys("j x"), [ask("lexer", AgentAsk::Stop)]);
    assert_eq!(screen.keys("X"), [ask("lexer", AgentAsk::Delete)]);
    assert_eq!(screen.keys("d h"), [], "it has not ended");
    assert_eq!(screen.keys("m g o enter"), [ask("lexer", AgentAsk::Message("go".into()))]);
    assert_eq!(screen.keys("m esc"), []);
    assert_eq!(screen.keys("m enter"), [], "nothing was written");
    assert_eq!(screen.keys("j x"), [ask("lexer/more", AgentAsk::Stop)], "one below it is another one");
    assert_eq!(screen.keys("enter"), [ask("lexer/more", AgentAsk::Look)]);
    assert_eq!(screen.keys("x"), [ask("lexer/more", AgentAsk::Stop)], "in its transcript too");
    assert_eq!(screen.keys("m g o enter"), [ask("lexer/more", AgentAsk::Message("go".into()))]);
    screen.keys("q");
    assert!(screen.model.agent_view.is_none());
    assert_eq!(screen.keys("G k d"), [ask("manual", AgentAsk::Dismiss)]);
    assert!(matches!(&screen.keys("y")[..], [Effect::Copy(text)] if text.starts_with("The **manual**")));
    assert_eq!(screen.keys("D").len(), 2);
    assert_eq!(screen.keys("z"), [], "a letter without a meaning begins no draft");
    assert!(screen.model.composer.draft.is_empty());
    screen.keys("esc");
    screen.write("hello");
    assert!(!screen.model.composer.draft.is_empty());
}

#[test]
fn a_click_selects_an_agent_and_a_stopped_one_says_so_alone() {
    let mut screen = Screen::new(130, 40, some());
    let shown = screen.shown();
    let row = shown.lines().position(|line| line.contains("└ tests")).expect("the agent's row") as u16;
    let press = Mouse { did: MouseDid::Press, column: 110, row, button: 0, up: false };
    screen.tell(Msg::Input(Input::Mouse(press)));
    assert_eq!(screen.keys("x"), [ask("lexer/tests", AgentAsk::Stop)]);
    assert_eq!(screen.tell(Msg::Input(Input::Mouse(press))), [ask("lexer/tests", AgentAsk::Look)]);
    screen.keys("esc");
    screen.change(|record| {
        record.agents.report(&"lexer/tests".into(), |row| row.state = AgentState::Stopping);
    });
    let shown = screen.shown();
    assert_eq!(shown.lines().filter(|line| line.contains("stopping")).count(), 2, "{shown}");
    assert!(shown.contains("bash cargo test"), "its parent goes on\n{shown}");
}

#[test]
fn nothing_moves_at_rest_and_a_spinner_turns_only_for_one_that_works() {
    let motion = |state: AgentState| {
        let mut record = record::empty();
        agent(&mut record, "lexer", state);
        let mut screen = Screen::new(130, 36, record);
        screen.draw();
        screen.model.motion()
    };
    assert_eq!(motion(AgentState::Working), Motion::Spin);
    assert_eq!(motion(AgentState::Waiting { number: 1 }), Motion::Clock);
    assert_eq!(motion(AgentState::Resting), Motion::Clock);
    assert_eq!(motion(AgentState::Cut), Motion::Still);
    assert_eq!(motion(AgentState::Ended(Arc::new(end("lexer", End::Answered, None)))), Motion::Still);
    let mut record = record::empty();
    agent(&mut record, "lexer", AgentState::Working);
    let mut screen = Screen::new(80, 24, record);
    screen.draw();
    assert_eq!(screen.model.motion(), Motion::Still, "a count has nothing that moves");
}

#[test]
fn a_transcript_is_live_keeps_its_place_and_is_read_only() {
    let records = AgentRecords::default();
    let mut child = record::empty();
    record::user(&mut child, "write the manual");
    for number in 0..60 {
        record::answer(&mut child, &format!("paragraph {number} of the manual"));
    }
    let shared = Shared::new(child, Arc::new(|| ()));
    let mut screen = Screen::new(80, 24, some());
    screen.keys("ctrl-x a g enter");
    assert!(screen.shown().contains("Looking for what it said"));
    records.refuse("bench-文書".into(), "there is no session 01J to open".into());
    assert!(agent_view::sync(&mut screen.model, &records));
    assert!(screen.shown().contains("What it said cannot be shown: there is no session 01J to open"));
    records.put("bench-文書".into(), shared.clone());
    assert!(agent_view::sync(&mut screen.model, &records));
    assert!(!agent_view::sync(&mut screen.model, &records), "nothing is new");
    assert!(screen.shown().contains("paragraph 59"), "{}", screen.shown());
    for (columns, rows) in [(130, 36), (80, 24), (40, 12)] {
        screen.resize(columns, rows);
        insta::assert_snapshot!(format!("agent-transcript-{columns}x{rows}"), screen.shown());
    }
    screen.resize(80, 24);
    screen.keys("g");
    assert!(screen.shown().contains("write the manual"));
    shared.change(|record| record::answer(record, "one more"));
    assert!(agent_view::sync(&mut screen.model, &records));
    let shown = screen.shown();
    assert!(shown.contains("write the manual") && shown.contains("new output"), "{shown}");
    screen.keys("G");
    assert!(screen.shown().contains("one more"));
    screen.keys("/ 1 7 enter");
    assert!(screen.shown().contains("paragraph 17"));
    assert_eq!(screen.keys("esc"), []);
    assert!(screen.model.agent_view.is_some(), "the first one ends the search");
    screen.tell(Msg::Input(Input::Paste("text".into())));
    assert!(screen.model.composer.draft.is_empty(), "it is read only");
    screen.keys("esc");
    assert!(screen.model.agent_view.is_none());
    screen.keys("enter");
    screen.change(|record| drop(record.agents.end(&"bench-文書".into())));
    screen.draw();
    assert!(screen.model.agent_view.is_none(), "it is off the list");
}

#[test]
fn leaving_asks_while_agents_run() {
    let open = |jobs: bool| {
        let mut record = record::empty();
        agent(&mut record, "lexer", AgentState::Working);
        agent(&mut record, "manual", AgentState::Waiting { number: 1 });
        let stopped = end("old", End::Stopped { by: By::User }, None);
        agent(&mut record, "old", AgentState::Ended(Arc::new(stopped)));
        if jobs {
            super::jobs::job(&mut record, 1, "npm run dev");
        }
        let mut screen = Screen::new(100, 20, record);
        assert_eq!(screen.keys("ctrl-d"), []);
        screen
    };
    let shown = open(false).shown();
    for wanted in ["2 agents run", "Agents: lexer, manual", "cut off", "Stay", "Leave"] {
        assert!(shown.contains(wanted), "{wanted} is not in\n{shown}");
    }
    assert_eq!(open(false).keys("enter"), [], "one stays unless one says otherwise");
    assert_eq!(open(false).keys("down enter"), [Effect::Leave(Exit::Quit)]);
    let shown = open(true).shown();
    assert!(shown.contains("a job and 2 agents run") && shown.contains("j1 npm run dev"), "{shown}");
    assert_eq!(open(true).keys("down down enter"), [Effect::LeaveJobs(Exit::Quit)]);
}

#[test]
fn an_approval_says_whose_it_is() {
    let mut record = some();
    record::ask(&mut record, "lexer/c3", "rm -r target");
    Arc::make_mut(&mut record.approvals)[0].agent = Some("lexer".into());
    let mut screen = Screen::new(100, 30, record);
    assert!(screen.shown().contains("agent lexer: bash wants to run a command"), "{}", screen.shown());
    // beside the question stand the keys of the list that has the focus
    screen.keys("ctrl-x a g");
    let shown = screen.shown();
    let keys = shown.lines().last().unwrap_or_default();
    assert!(keys.contains("answer") && keys.contains("x stop"), "{shown}");
}
