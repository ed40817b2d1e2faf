//! The tree on the screen: how it reads, its keys, and what is asked before a rewind.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use windlass::api::board::Record;
use windlass::api::command::{Command, JobAsk, Query};
use windlass::api::event::{Event, Reply, RewindPlan, Rewound, TreeEntry};
use windlass::base::{EntryId, JobId, Millis, SessionId};
use windlass::ui::input::{Input, Mouse, MouseDid};
use windlass::ui::{Effect, Exit, Msg};

use super::{Screen, record};

fn id(n: usize) -> EntryId {
    EntryId::new(format!("e{n}"))
}

fn entry(n: usize, parent: Option<usize>, who: &'static str, text: &str, open: bool) -> TreeEntry {
    TreeEntry {
        id: id(n),
        parent: parent.map(id),
        at: Millis(n as u64 * 60_000),
        who,
        text: text.into(),
        open,
        message: (who == "you").then(|| (id(n), parent.map(id))),
    }
}

/// A conversation with two branches that were left.
pub(super) fn entries() -> Vec<TreeEntry> {
    vec![
        entry(1, None, "you", "make the lexer skip nested comments", true),
        entry(2, Some(1), "model", "I'll look at the lexer first.", true),
        entry(3, Some(2), "call", "read src/lexer.rs", true),
        entry(4, Some(3), "call", "edit src/lexer.rs", true),
        entry(5, Some(4), "model", "", true),
        entry(6, Some(5), "call", "bash cargo test lexer · failed", true),
        entry(7, Some(6), "model", "One test fails: \u{202e}eof inside 文書 is not counted.", true),
        entry(8, Some(7), "you", "try it with a stack of positions instead", false),
        entry(9, Some(8), "model", "A stack keeps where each comment began.", false),
        entry(10, Some(9), "you", "no, that is too much", false),
        entry(11, Some(9), "you", "and name the line of an unclosed one", false),
        entry(12, Some(11), "end", "the turn ended: interrupted", false),
        entry(13, Some(7), "you", "count the depth", true),
        entry(14, Some(13), "call", "edit src/lexer.rs", true),
        entry(15, Some(14), "model", "Done: the depth is counted.", true),
        entry(16, Some(15), "job", "j1 stopped by a rewind · npm run dev", true),
    ]
}

/// Answers the question among the effects.
fn answer(screen: &mut Screen, effects: &[Effect], reply: Reply) {
    let number = effects.iter().find_map(|effect| match effect {
        Effect::Send(Command::Ask { number, .. }) => Some(*number),
        _ => None,
    });
    let number = number.unwrap_or_else(|| panic!("nothing was asked: {effects:?}"));
    screen.tell(Msg::Event(Event::Answered { number, reply }));
}

/// The tree of these entries over a record.
pub(super) fn opened(columns: u16, rows: u16, record: Record, entries: Vec<TreeEntry>) -> Screen {
    let mut screen = Screen::new(columns, rows, record);
    let effects = screen.keys("ctrl-x t");
    answer(&mut screen, &effects, Reply::Tree(entries));
    screen
}

pub(super) fn plan() -> RewindPlan {
    let path = |name: &str| PathBuf::from("/srv/parser").join(name);
    RewindPlan {
        stops: vec![JobId(3)],
        agents: Vec::new(),
        restores: vec![path("src/lexer.rs"), path("src/depth.rs")],
        conflicts: vec![(path("README.md"), "was changed by someone else since".into())],
        commands: 2,
    }
}

/// A screen of this size that asks whether to go back, with all that such a question can say.
pub(super) fn asks_to_rewind(columns: u16, rows: u16) -> Screen {
    let mut screen = opened(columns, rows, with_job(), entries());
    let effects = screen.keys("k k k enter");
    answer(&mut screen, &effects, Reply::RewindPlan(plan()));
    screen
}

/// The full record, and a job.
pub(super) fn with_job() -> Record {
    let mut record = record::full();
    super::jobs::job(&mut record, 3, "npm run dev");
    record
}

#[test]
fn the_tree_draws_at_every_size_and_is_clean() {
    for columns in (1..=26).chain([40, 44, 69, 70, 109, 110, 130]) {
        for rows in (1..=14).chain([40]) {
            let mut screen = opened(columns, rows, with_job(), entries());
            screen.draw();
            let effects = screen.keys("k k k space enter");
            screen.draw();
            answer(&mut screen, &effects, Reply::RewindPlan(plan()));
            screen.draw();
            screen.keys("esc g");
            let (seen, clean) = screen.clean();
            assert_eq!(seen, clean, "{columns}x{rows}");
        }
    }
}

#[test]
fn a_rewind_says_what_it_does_before_it_is_done() {
    let target = || (Some(id(7)), Some(id(13)));
    let open = || {
        let mut screen = opened(140, 36, with_job(), entries());
        let effects = screen.keys("k k k enter");
        let wanted = Query::RewindPlan { to: target().0 };
        let asked = |e: &Effect| matches!(e, Effect::Send(Command::Ask { query, .. }) if *query == wanted);
        assert!(effects.iter().any(asked), "{effects:?}");
        answer(&mut screen, &effects, Reply::RewindPlan(plan()));
        screen
    };
    let shown = open().shown();
    for wanted in [
        "Back before “count the depth”",
        "What runs is ended first.",
        "Ends j3 npm run dev",
        "Can put back 2 files: src/lexer.rs, src/depth.rs",
        "Stays as it is: README.md was changed by someone else since",
        "Commands ran since: what they changed is not known, and stays.",
        "Rewind and put the files back",
        "Rewind only",
        "Stay",
    ] {
        assert!(shown.contains(wanted), "{wanted} is not in\n{shown}");
    }
    let (to, take_back) = target();
    let rewind =
        |restore| Effect::Send(Command::Rewind { to: to.clone(), restore, take_back: take_back.clone() });
    // a job ends and a file stays as it is: a key by reflex does nothing of it
    assert_eq!(open().keys("enter"), []);
    assert_eq!(open().keys("up enter"), [rewind(false)]);
    assert_eq!(open().keys("up up enter"), [rewind(true)]);
    assert_eq!(open().keys("esc"), []);
    // and what came of it; the message comes back before the draft that stands
    let mut screen = open();
    screen.keys("up up enter");
    screen.write("mine");
    screen.tell(Msg::Event(Event::TakenBack { text: "count the depth".into(), images: Vec::new() }));
    screen.tell(Msg::Event(Event::Rewound(Rewound {
        stopped: vec![JobId(3)],
        stopping: vec![JobId(4)],
        agents: Vec::new(),
        restored: plan().restores,
        conflicts: plan().conflicts,
    })));
    let said = "rewound · stopped j3 · still stopping j4 · 2 files put back · 1 file left alone · /undo";
    let shown = screen.shown();
    assert!(shown.contains(said), "{shown}");
    assert_eq!(screen.model.composer.draft.whole().0, "count the depth\nmine");
}

#[test]
fn where_all_of_it_can_be_undone_the_rewind_is_at_hand() {
    let mut screen = opened(80, 24, record::empty(), entries());
    let effects = screen.keys("g enter");
    let plan = RewindPlan { stops: Vec::new(), conflicts: Vec::new(), ..plan() };
    answer(&mut screen, &effects, Reply::RewindPlan(plan));
    let rewind = Command::Rewind { to: None, restore: true, take_back: Some(id(1)) };
    assert_eq!(screen.keys("enter"), [Effect::Send(rewind)]);
}

#[test]
fn on_a_small_screen_what_has_no_room_is_said_to_be_there_and_is_reached() {
    for (columns, rows) in [(50, 12), (40, 12), (80, 24), (40, 9)] {
        let mut screen = opened(columns, rows, with_job(), entries());
        let effects = screen.keys("k k k enter");
        answer(&mut screen, &effects, Reply::RewindPlan(plan()));
        let mut seen = String::new();
        for _ in 0..12 {
            let shown = screen.shown();
            for choice in ["Rewind and put", "Rewind only", "Stay"] {
                assert!(shown.contains(choice), "{columns}x{rows}: {choice} is not in\n{shown}");
            }
            seen += &shown;
            if !shown.contains("PageDown") {
                break;
            }
            screen.keys("pagedown");
        }
        for wanted in ["Ends j3", "Can put back 2", "README.md", "Commands ran"] {
            assert!(seen.contains(wanted), "{columns}x{rows}: {wanted} is never shown:\n{seen}");
        }
        assert!(!screen.shown().contains("PageDown"), "{columns}x{rows}: its end is reached");
        if rows < 24 {
            assert_eq!(screen.keys("pageup enter"), [], "moving in the words chooses nothing");
        }
    }
}

#[test]
fn a_plan_without_files_offers_none() {
    let mut screen = opened(80, 24, record::empty(), entries());
    let effects = screen.keys("g enter");
    answer(&mut screen, &effects, Reply::RewindPlan(RewindPlan::default()));
    let shown = screen.shown();
    assert!(shown.contains("Rewind  ") && !shown.contains("put the files back"), "{shown}");
    let rewind = Command::Rewind { to: None, restore: false, take_back: Some(id(1)) };
    assert_eq!(screen.keys("enter"), [Effect::Send(rewind)]);
}

#[test]
fn every_key_does_what_it_says() {
    let mut screen = opened(130, 36, record::empty(), entries());
    assert_eq!(screen.keys("r"), [], "the conversation stands there already");
    assert!(screen.shown().contains("stands there already"));
    let fork = |to, take_back| Effect::Send(Command::Fork { to, take_back });
    assert_eq!(screen.keys("f"), [fork(Some(id(16)), None)]);
    assert_eq!(screen.keys("g f"), [fork(None, Some(id(1)))]);
    assert_eq!(screen.keys("y"), [Effect::Copy("make the lexer skip nested comments".into())]);
    assert_eq!(screen.keys("z"), [], "a letter without a meaning begins no draft");
    assert!(screen.model.composer.draft.is_empty());
    screen.keys("/ s t a c k enter");
    let shown = screen.shown();
    assert!(shown.contains("Tree /stack") && shown.contains("try it with a stack"), "{shown}");
    assert!(!shown.contains("count the depth"));
    assert_eq!(screen.keys("f"), [fork(Some(id(7)), Some(id(8)))]);
    screen.keys("esc");
    assert!(screen.shown().contains("count the depth"));
    screen.keys("esc");
    assert!(!screen.shown().contains(" Tree "));
    // a click chooses
    let effects = screen.keys("ctrl-x t");
    assert_eq!(effects, [], "nothing is new");
    let row = screen.shown().lines().position(|line| line.contains("no, that is too much")).unwrap();
    screen.tell(Msg::Input(Input::Mouse(Mouse {
        did: MouseDid::Press,
        column: 20,
        row: row as u16,
        button: 0,
        up: false,
    })));
    assert_eq!(screen.keys("f"), [fork(Some(id(9)), Some(id(10)))]);
}

#[test]
fn the_commands_do_the_same_and_a_fork_is_opened() {
    let mut screen = Screen::new(80, 24, record::full());
    screen.write("/undo");
    assert_eq!(screen.keys("enter"), [Effect::Send(Command::UndoRestore)]);
    screen.write("/fork");
    let newest = screen.record.path.last().map(|entry| entry.id.clone());
    assert_eq!(screen.keys("enter"), [], "the model works: it is asked first");
    assert!(screen.shown().contains("Fork while the model works?"));
    let fork = |to: &Option<EntryId>| Effect::Send(Command::Fork { to: to.clone(), take_back: None });
    assert_eq!(screen.keys("down enter"), [fork(&newest)]);
    let forked = || Msg::Event(Event::Forked(SessionId::new("s2")));
    let switch = Exit::Switch(SessionId::new("s2"));
    assert_eq!(screen.tell(forked()), [Effect::Leave(switch.clone())]);
    screen.write("/rewind");
    let effects = screen.keys("enter");
    answer(&mut screen, &effects, Reply::Tree(entries()));
    assert!(screen.shown().contains("count the depth"));
    let mut screen = Screen::new(80, 24, record::empty());
    screen.write("/fork");
    assert_eq!(screen.keys("enter"), []);
    // what becomes of the jobs is asked before anything is made
    let open = |keys: &str| {
        let mut again = record::empty();
        super::jobs::job(&mut again, 3, "npm run dev");
        super::jobs::job(&mut again, 4, "cargo watch");
        again.jobs.report(&JobId(4), |row| row.kept = true);
        let mut screen = opened(80, 24, again, entries());
        assert_eq!(screen.keys("f"), []);
        let shown = screen.shown();
        for wanted in ["Fork while 2 jobs run?", "They stay with this session: the fork has none of them."] {
            assert!(shown.contains(wanted), "{wanted} is not in\n{shown}");
        }
        let effects = screen.keys(keys);
        (screen, effects)
    };
    assert_eq!(open("enter").1, [], "who stays has made nothing");
    let kill = Effect::Send(Command::Job { job: JobId(4), ask: JobAsk::Kill });
    for (keys, then) in [
        ("down enter", vec![kill, Effect::Leave(switch.clone())]),
        ("down down enter", vec![Effect::LeaveJobs(switch.clone())]),
        ("down down down enter", vec![Effect::Leave(switch.clone())]),
    ] {
        let (mut screen, effects) = open(keys);
        assert_eq!(effects, [fork(&Some(id(16)))]);
        assert_eq!(screen.tell(forked()), then);
        assert_eq!(screen.tell(forked()), [], "a fork of somebody else is only told of");
    }
}

#[test]
fn a_tree_that_is_looked_at_follows_the_conversation() {
    let mut screen = opened(80, 24, record::full(), entries());
    screen.draw();
    assert_eq!(screen.tell(Msg::Flushed), []);
    screen.change(|record| record::user(record, "more"));
    screen.draw();
    let effects = screen.tell(Msg::Flushed);
    let mut more = entries();
    more.push(entry(17, Some(16), "you", "more of it", true));
    answer(&mut screen, &effects, Reply::Tree(more));
    assert!(screen.shown().contains("more of it"));
    assert_eq!(screen.tell(Msg::Flushed), []);
}

#[test]
fn ten_thousand_entries_are_shown_and_moved_through_at_once() {
    let many: Vec<TreeEntry> = (1..=10_000)
        .map(|n| {
            let who = ["you", "model", "call", "call", "call"][n % 5];
            let (back, open) = if n % 50 == 0 { (7, false) } else { (1 + usize::from(n % 50 == 1), true) };
            let parent = n.saturating_sub(back);
            entry(n, (n > 1).then_some(parent.max(1)), who, "words of it", open)
        })
        .collect();
    let begin = Instant::now();
    let mut screen = opened(130, 36, record::empty(), many);
    screen.draw();
    for key in ["g", "G", "pageup", "a", "g", "pagedown", "space", "/ w o r enter", "k", "esc"] {
        screen.keys(key);
        screen.draw();
    }
    // generous: a debug build on a loaded machine
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
}
