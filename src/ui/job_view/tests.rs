//! The states of the view: what keys do when, what goes to the job, and what is recorded of it.

use std::path::PathBuf;

use super::*;
use crate::api::access::Mode;
use crate::api::board::{Context, Live, Phase, Status};
use crate::api::command::SecretBytes;
use crate::api::event::{Event, Reply};
use crate::api::job::{JobNode, JobOutcome, Starter};
use crate::api::message::Usage;
use crate::api::screen::Modes;
use crate::base::{CallId, SessionId};
use crate::law::board::Board;
use crate::law::job::End;
use crate::ui::input::{Input, parse_key};
use crate::ui::update::update;
use crate::ui::{Msg, UiOptions};

fn row(id: u32, terminal: bool) -> JobRow {
    JobRow {
        node: JobNode {
            id: JobId(id),
            call: CallId::new("c1"),
            command: "python3 -i".into(),
            cwd: PathBuf::from("/srv"),
            by: Starter::Model,
            hidden: false,
            terminal,
            after: None,
            began: Millis(0),
        },
        pid: 40,
        state: JobState::Running,
        kept: false,
        bytes: 6,
        lines: 1,
        tail: String::new(),
        waiting: false,
        stopped: false,
        screen: None,
        spool: PathBuf::from("/srv/out"),
    }
}

fn record() -> Record {
    let status = Status {
        session: SessionId::new("s"),
        title: String::new(),
        cwd: PathBuf::from("/srv"),
        branch: None,
        model: String::new(),
        scripted: false,
        rehearsal: false,
        mode: Mode::Ask,
        profile: String::new(),
        trusted: None,
        read_only: None,
        phase: Phase::Idle,
        turn_began: None,
        context: Context::default(),
        usage: Usage::default(),
        cost: None,
        pending: Vec::new(),
        open_conflicts: 0,
        conflicted: std::collections::BTreeMap::new(),
        counted: 0,
        untold_ends: 0,
    };
    let mut jobs = Board::default();
    jobs.begin(JobId(1), row(1, true));
    jobs.begin(JobId(2), row(2, false));
    Record {
        path: Vec::new(),
        epoch: 0,
        live: Live::default(),
        calls: Board::default(),
        jobs,
        agents: crate::law::board::Board::default(),
        approvals: Arc::default(),
        status: Arc::new(status),
        revision: 1,
    }
}

struct Desk {
    model: Model,
    record: Record,
    now: Millis,
}

impl Desk {
    fn new() -> Self {
        let record = record();
        let (model, _) = Model::new(&UiOptions::default(), &record, Arc::new(|| {}));
        Self { model, record, now: Millis(1000) }
    }
    fn tell(&mut self, msg: Msg) -> Vec<Effect> {
        update(&mut self.model, msg, self.now)
    }
    fn keys(&mut self, names: &str) -> Vec<Effect> {
        let key = |name: &str| Msg::Input(Input::Key(parse_key(name).expect("a key")));
        names.split(' ').flat_map(|name| self.tell(key(name))).collect()
    }
    fn change(&mut self, job: u32, change: impl FnOnce(&mut JobRow)) {
        self.record.revision += 1;
        self.record.jobs.report(&JobId(job), change);
        self.draw();
    }
    fn draw(&mut self) -> Option<(u16, u16)> {
        self.model.sync(&self.record);
        let area = ratatui::layout::Rect::new(0, 0, self.model.size.0, self.model.size.1);
        let mut buf = ratatui::buffer::Buffer::empty(area);
        crate::ui::view::view(&mut self.model, &mut buf, self.now)
    }
    fn end(&mut self, job: u32) {
        let outcome = JobOutcome {
            end: End::Exited { code: 0 },
            exit_code: Some(0),
            exit_signal: None,
            ended: Millis(2000),
            duration: Millis(2000),
            bytes: 6,
            lines: 1,
            last: String::new(),
            gone: 0,
            survivors: Vec::new(),
            trouble: None,
        };
        self.change(job, |row| row.state = JobState::Ended(Arc::new(outcome)));
    }
    fn attached(&self) -> bool {
        self.model.job_view.as_ref().is_some_and(State::attached)
    }
}

fn ask(job: u32, ask: JobAsk) -> Effect {
    Effect::Send(Command::Job { job: JobId(job), ask })
}

fn typed(job: u32, bytes: &[u8]) -> Effect {
    ask(job, JobAsk::Input(SecretBytes(bytes.to_vec())))
}

fn picture() -> Screen {
    Screen { size: Size { rows: 22, cols: 80 }, cursor: Some((0, 4)), ..Screen::default() }
}

#[test]
fn a_terminals_picture_is_watched_while_the_view_is_open_and_has_its_size() {
    let mut desk = Desk::new();
    let size = |rows, cols| ask(1, JobAsk::Resize(Size { rows, cols }));
    assert_eq!(desk.keys("ctrl-x j enter"), [ask(1, JobAsk::Watch(true)), size(22, 80)]);
    assert_eq!(desk.tell(Msg::Resize(80, 24)), [], "nothing changed");
    assert_eq!(desk.tell(Msg::Resize(100, 30)), [size(28, 100)]);
    assert_eq!(desk.tell(Msg::Resize(1, 1)), [size(1, 1)]);
    assert_eq!(desk.keys("a"), [], "attaching changes no size");
    assert_eq!(desk.keys("ctrl-]"), []);
    assert_eq!(desk.keys("q"), [ask(1, JobAsk::Watch(false))]);
    assert!(desk.model.job_view.is_none());
    // a job without a terminal is not watched
    assert_eq!(desk.keys("j enter q"), []);
}

#[test]
fn every_key_goes_to_the_job_but_the_one_that_leaves() {
    let mut desk = Desk::new();
    desk.keys("ctrl-x j enter");
    let modes = Modes { application_cursor: true, bracketed_paste: true, ..Modes::default() };
    desk.change(1, |row| row.screen = Some(Arc::new(Screen { modes, ..picture() })));
    assert_eq!(desk.draw(), None, "the cursor is the job's only while one types into it");
    assert_eq!(desk.keys("a"), []);
    assert_eq!(desk.draw(), Some((4, 1)));
    for (name, bytes) in [
        ("q", &b"q"[..]),
        ("x", b"x"),
        ("ctrl-c", b"\x03"),
        ("ctrl-d", b"\x04"),
        ("ctrl-z", b"\x1a"),
        ("ctrl-x", b"\x18"),
        ("esc", b"\x1b"),
        ("up", b"\x1bOA"),
        ("f1", b"\x1bOP"),
        ("enter", b"\r"),
    ] {
        assert_eq!(desk.keys(name), [typed(1, bytes)], "{name}");
    }
    let pasted = desk.tell(Msg::Input(Input::Paste("a\nb".into())));
    assert_eq!(pasted, [typed(1, b"\x1b[200~a\rb\x1b[201~")]);
    for leaves in ["ctrl-]", "ctrl-5", "f12"] {
        desk.keys(leaves);
        assert!(!desk.attached(), "{leaves}");
        desk.keys("a");
    }
    assert_eq!(desk.keys("ctrl-alt-]"), [typed(1, b"\x1b")], "an Escape just before it is the job's");
    assert!(!desk.attached());
    desk.keys("a");
    let long = desk.tell(Msg::Input(Input::Paste("x".repeat(100_000))));
    assert!(long.len() > 2, "in pieces");
    assert_eq!(desk.tell(Msg::Input(Input::Paste("x".repeat(PASTE)))), [], "too long for a terminal");
}

const PASTE: usize = 1 << 20;

#[test]
fn one_who_attached_from_the_list_is_back_in_the_list() {
    let mut desk = Desk::new();
    assert_eq!(desk.keys("ctrl-x j a").len(), 2);
    assert!(desk.attached());
    assert_eq!(desk.keys("ctrl-]"), [ask(1, JobAsk::Watch(false))]);
    assert!(desk.model.job_view.is_none());
    assert_eq!(desk.keys("j a"), [], "without a terminal there is nothing to type into");
    assert!(desk.model.job_view.is_none());
}

#[test]
fn the_key_that_leads_back_is_on_the_screen_when_the_job_has_ended() {
    for (columns, rows) in [(80, 24), (40, 12), (24, 8)] {
        let mut desk = Desk::new();
        desk.tell(Msg::Resize(columns, rows));
        desk.keys("ctrl-x j a");
        desk.change(1, |row| row.screen = Some(Arc::new(picture())));
        desk.end(1);
        desk.now = Millis(desk.now.0 + 5000);
        desk.keys("enter");
        let area = ratatui::layout::Rect::new(0, 0, columns, rows);
        let mut buf = ratatui::buffer::Buffer::empty(area);
        crate::ui::view::view(&mut desk.model, &mut buf, desk.now);
        let last: String = (0..columns).map(|x| buf[(x, rows - 1)].symbol().to_owned()).collect();
        assert!(last.contains("q back"), "{columns}x{rows}: {last}");
        desk.keys("q");
        assert!(desk.model.job_view.is_none());
    }
}

#[test]
fn a_key_of_ones_own_leaves_and_its_first_half_is_not_lost() {
    let mut desk = Desk::new();
    desk.model.keymap.merge(r#"{"attached": {"ctrl-]": null, "ctrl-a d": "leave-terminal"}}"#, "keymap.json");
    desk.keys("ctrl-x j enter a");
    assert_eq!(desk.keys("ctrl-]"), [typed(1, b"\x1d")]);
    assert_eq!(desk.keys("ctrl-a"), []);
    assert_eq!(desk.keys("x"), [typed(1, b"\x01x")]);
    desk.keys("ctrl-a d");
    assert!(!desk.attached());
}

#[test]
fn what_was_meant_for_a_job_that_has_ended_does_nothing_else() {
    let mut desk = Desk::new();
    desk.keys("ctrl-x j enter a");
    // before the end was drawn
    desk.record.revision += 1;
    desk.end(1);
    assert!(desk.attached());
    assert_eq!(desk.keys("x d q"), []);
    assert!(desk.attached(), "a person who types on has not read it");
    desk.now = Millis(desk.now.0 + 5000);
    assert_eq!(desk.keys("d"), [], "the key that goes on does nothing else");
    assert!(!desk.attached());
    assert_eq!(desk.keys("d"), [ask(1, JobAsk::Dismiss)]);
    assert!(desk.model.job_view.is_none());
    let mut desk = Desk::new();
    desk.keys("ctrl-x j enter a");
    desk.end(1);
    desk.keys("ctrl-]");
    assert!(!desk.attached(), "the key that leaves does at once");
}

#[test]
fn what_is_typed_into_a_job_is_recorded_nowhere() {
    let mut desk = Desk::new();
    desk.keys("ctrl-x j enter a h u n t e r 2 ctrl-s alt-z enter");
    desk.tell(Msg::Input(Input::Paste("swordfish".into())));
    let effects = desk.keys("q");
    for told in [desk.model.ring.dump(), format!("{effects:?}")] {
        for secret in ["'h'", "'u'", "'2'", "'q'", "'s'", "'z'", "swordfish", "104", "113"] {
            assert!(!told.contains(secret), "{secret} in\n{told}");
        }
    }
    desk.keys("ctrl-] j");
    assert!(desk.model.ring.dump().contains("'j'"), "after it keys are told again");
}

fn piece(desk: &mut Desk, wanted: (u64, u64), text: &str) {
    let Some(Command::Ask { number, query }) = desk.model.wants() else { panic!("nothing is wanted") };
    let Query::JobLog { offset, limit, .. } = query else { panic!("{query:?}") };
    assert_eq!((offset, limit), wanted);
    let (bytes, size) = (text.as_bytes().to_vec(), text.len() as u64);
    desk.tell(Msg::Event(Event::Answered { number, reply: Reply::JobLog { bytes, offset: 0, size } }));
}

#[test]
fn a_log_is_asked_for_once_and_again_only_when_it_grew() {
    let mut desk = Desk::new();
    desk.keys("ctrl-x j j enter");
    desk.draw();
    piece(&mut desk, (u64::MAX, 64 * 1024), "hello\n");
    desk.draw();
    assert_eq!(desk.model.wants(), None);
    desk.change(2, |row| row.bytes = 12);
    assert!(matches!(desk.model.wants(), Some(Command::Ask { .. })));
    assert_eq!(desk.model.wants(), None, "one at a time");
}

#[test]
fn a_picture_needs_no_log_until_it_is_looked_at() {
    let mut desk = Desk::new();
    desk.keys("ctrl-x j enter");
    desk.draw();
    assert_eq!(desk.model.wants(), None);
    desk.change(1, |row| row.screen = Some(Arc::new(picture())));
    assert_eq!(desk.model.wants(), None);
    desk.keys("tab");
    desk.draw();
    piece(&mut desk, (u64::MAX, 64 * 1024), "hello\n");
    desk.keys("tab");
    desk.draw();
    assert!(desk.model.job_view.as_ref().is_some_and(|view| !view.raw));
    // its last picture stays after the end
    desk.end(1);
    assert_eq!(desk.model.wants(), None);
}

#[test]
fn a_search_looks_below_then_above_and_says_when_there_is_no_more() {
    let mut desk = Desk::new();
    desk.keys("ctrl-x j j enter");
    desk.draw();
    piece(&mut desk, (u64::MAX, 64 * 1024), "hello\nworld\n");
    desk.draw();
    let asked = |effects: Vec<Effect>| match effects.as_slice() {
        [Effect::Send(Command::Ask { number, query: Query::JobSearch { text, from, back, .. } })] => {
            (*number, text.clone(), *from, *back)
        }
        other => panic!("{other:?}"),
    };
    let found = |desk: &mut Desk, number, at| {
        desk.tell(Msg::Event(Event::Answered { number, reply: Reply::JobFound(at) }))
    };
    let (number, text, from, back) = asked(desk.keys("/ w o enter"));
    assert_eq!((text.as_str(), from, back), ("wo", 0, false));
    let (number, _, from, back) = asked(found(&mut desk, number, None));
    assert_eq!((from, back), (0, true));
    assert_eq!(found(&mut desk, number, Some(6)), []);
    assert!(desk.model.toast.as_ref().is_some_and(|toast| toast.text.contains("50%: none below")));
    let (number, _, from, back) = asked(desk.keys("n"));
    assert_eq!((from, back), (7, false));
    assert_eq!(desk.keys("n"), [], "one at a time");
    found(&mut desk, number, None);
    assert!(desk.model.toast.as_ref().is_some_and(|toast| toast.text.contains("no further hit below")));
    let (number, _, from, back) = asked(desk.keys("N"));
    assert_eq!((from, back), (6, true));
    found(&mut desk, number, Some(2));
    assert_eq!(desk.model.toast, None, "the head tells of it");
    let (number, text, from, back) = asked(desk.keys("/ enter"));
    assert_eq!((text.as_str(), from, back), ("wo", 3, false), "without a text it goes on");
    found(&mut desk, number, Some(6));
    assert_eq!(desk.keys("esc"), []);
    assert!(desk.model.job_view.is_some(), "first the search ends");
    desk.keys("esc");
    assert!(desk.model.job_view.is_none());
}

#[test]
fn a_job_that_is_taken_off_the_list_leaves_no_view_but_for_who_types_into_it() {
    for attached in [false, true] {
        let mut desk = Desk::new();
        desk.keys("ctrl-x j enter");
        if attached {
            desk.keys("a");
        }
        desk.record.revision += 1;
        desk.record.jobs.end(&JobId(1));
        desk.draw();
        assert_eq!(desk.model.job_view.is_some(), attached);
        if attached {
            assert_eq!(desk.keys("x d"), [], "what was meant for it does not hit its neighbour");
            desk.now = Millis(desk.now.0 + 5000);
            assert_eq!(desk.keys("x"), []);
            desk.record.revision += 1;
            desk.draw();
            assert!(desk.model.job_view.is_none());
        }
    }
}

/// The view of a job without a terminal, its whole output here.
fn logged(text: &str) -> Desk {
    let mut desk = Desk::new();
    desk.keys("ctrl-x j j enter");
    desk.change(2, |row| row.bytes = text.len() as u64);
    while let Some(Command::Ask { number, query: Query::JobLog { offset, .. } }) = desk.model.wants() {
        let size = text.len() as u64;
        let from = offset.min(size.saturating_sub(offset.min(size)));
        let from = if offset == u64::MAX { 0 } else { from };
        let bytes = text.as_bytes()[from as usize..].to_vec();
        desk.tell(Msg::Event(Event::Answered { number, reply: Reply::JobLog { bytes, offset: from, size } }));
        desk.draw();
    }
    desk
}

fn mouse(desk: &mut Desk, did: crate::ui::input::MouseDid, column: u16, row: u16) -> Vec<Effect> {
    let mouse = crate::ui::input::Mouse { did, column, row, button: 0, up: false };
    desk.tell(Msg::Input(Input::Mouse(mouse)))
}

#[test]
fn the_log_is_selected_by_mouse_and_keys_over_its_wraps_and_is_taken_as_it_was_written() {
    use crate::ui::input::MouseDid::{Drag, Press, Release};
    let long = format!("{}\tx\u{301}", "wide 日本 ".repeat(20));
    let text = format!("first\n{long}\n\x1b[31mred\x1b[0m last\n");
    let mut desk = logged(&text);
    mouse(&mut desk, Press, 0, 1);
    mouse(&mut desk, Drag, 79, 9);
    let all = mouse(&mut desk, Release, 79, 9);
    assert_eq!(all, [Effect::Copy(format!("first\n{long}\nred last"))]);
    // once more at another width, line by line with keys
    desk.tell(Msg::Resize(23, 24));
    desk.draw();
    assert_eq!(desk.keys("v V G y"), [Effect::Copy(format!("first\n{long}\nred last"))]);
    assert_eq!(desk.keys("v v w w y"), [Effect::Copy("first\nwide 日".to_owned())]);
    assert_eq!(desk.keys("v esc"), []);
    // Esc drops a selection before it leaves
    desk.now = Millis(9_000);
    mouse(&mut desk, Press, 2, 1);
    mouse(&mut desk, Drag, 3, 1);
    assert_eq!(mouse(&mut desk, Release, 3, 1), [Effect::Copy("rs".to_owned())]);
    desk.keys("esc");
    assert!(desk.model.job_view.is_some());
    desk.keys("esc");
    assert!(desk.model.job_view.is_none());
}

#[test]
fn a_view_that_was_left_stands_where_it_was() {
    let text: String = (0..500).map(|n| format!("line {n}\n")).collect();
    let mut desk = logged(&text);
    desk.keys("g j j j");
    desk.draw();
    let first = |desk: &Desk| desk.model.job_view.as_ref().map(|view| view.log.first());
    let before = first(&desk);
    assert!(before.is_some_and(|at| at > 0));
    desk.keys("q enter");
    desk.draw();
    assert_eq!(first(&desk), before);
    // and what has come since can be read
    desk.keys("G");
    desk.draw();
    assert!(desk.model.job_view.as_ref().is_some_and(|view| view.log.follows()));
}
