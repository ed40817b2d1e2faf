//! One job over the whole screen: its log, its search, its terminal's picture, attached and after the end.

use std::sync::Arc;

use windlass::api::board::Record;
use windlass::api::command::{Command, JobAsk, Query};
use windlass::api::event::{Event, Reply};
use windlass::api::screen::{Colour, Run, Screen as Picture, Size, Style};
use windlass::base::JobId;
use windlass::law::job::End;
use windlass::ui::input::{Input, Mouse, MouseDid};
use windlass::ui::{Effect, Msg};

use super::{Screen, jobs, record};

/// A log with all that programs write.
pub(super) fn output() -> Vec<u8> {
    let mut out = Vec::new();
    for n in 1..=60 {
        out.extend_from_slice(format!("[{n:02}] GET /docs/page{n}.html 200\n").as_bytes());
    }
    out.extend_from_slice(b"\x1b[32mready\x1b[m in \x1b[1m312 ms\x1b[m\n");
    out.extend_from_slice(b"building 10%\rbuilding 50%\rbuilding 100%\n");
    out.extend_from_slice("文書の検索 é \u{202e}evil\n".as_bytes());
    out.extend_from_slice(b"binary \0\x01\xff\xfe\x1b[2J\x1b[H\n");
    out.extend_from_slice(format!("Error: {} is too long\n", "very ".repeat(30)).as_bytes());
    out.extend_from_slice(b"[61] error: no such page\n> ");
    out
}

/// A terminal's picture.
pub fn picture(columns: u16, rows: u16) -> Picture {
    let run = |text: &str, style: Style| Run { text: text.into(), style };
    let plain = Style::default();
    let prompt = Style { front: Colour::Index(2), bold: true, ..plain };
    let lines: Vec<Vec<Run>> = vec![
        vec![run("Python 3.11.2 (main) on linux", plain)],
        vec![run(">>> ", prompt), run("6 * 7", plain)],
        vec![run("42", plain)],
        vec![run(">>> ", prompt), run("'文書'", Style { back: Colour::Rgb(40, 0, 0), ..plain })],
        vec![run(" status ", Style { inverse: true, ..plain }), run(&"-".repeat(200), plain)],
    ];
    Picture {
        size: Size { rows, cols: columns },
        lines: lines.into_iter().map(Arc::new).collect(),
        cursor: Some((3, 10)),
        ..Picture::default()
    }
}

/// A job with a log, j3, and one with a terminal of this size, j4.
pub(super) fn some(columns: u16, rows: u16) -> Record {
    let mut record = record::empty();
    jobs::job(&mut record, 3, "npm run dev");
    jobs::job(&mut record, 4, "python3 -i");
    record.jobs.report(&JobId(3), |row| (row.kept, row.bytes) = (true, output().len() as u64));
    record.jobs.report(&JobId(4), |row| {
        row.node.terminal = true;
        row.waiting = true;
        row.screen = Some(Arc::new(picture(columns, rows)));
    });
    record
}

/// Draws, and answers what is wanted of the log.
pub(super) fn settle(screen: &mut Screen, log: &[u8]) -> String {
    let mut shown = screen.shown();
    while let Some(Command::Ask { number, query: Query::JobLog { offset, limit, .. } }) = screen.model.wants()
    {
        let size = log.len() as u64;
        let offset = if offset >= size { size.saturating_sub(limit) } else { offset };
        let bytes = log[offset as usize..(offset + limit).min(size) as usize].to_vec();
        screen.tell(Msg::Event(Event::Answered { number, reply: Reply::JobLog { bytes, offset, size } }));
        shown = screen.shown();
    }
    shown
}

/// Answers a search of the log.
pub(super) fn found(screen: &mut Screen, effects: &[Effect], at: Option<u64>) -> Vec<Effect> {
    let [Effect::Send(Command::Ask { number, query: Query::JobSearch { .. } })] = effects else {
        panic!("{effects:?}")
    };
    screen.tell(Msg::Event(Event::Answered { number: *number, reply: Reply::JobFound(at) }))
}

#[test]
fn the_view_draws_at_every_size_and_is_clean() {
    for columns in (1..=20).chain([40, 69, 70, 130]) {
        for rows in (1..=8).chain([24, 40]) {
            let mut screen = Screen::new(columns, rows, some(60, 20));
            screen.keys("ctrl-x j k enter");
            settle(&mut screen, &output());
            screen.keys("k");
            screen.draw();
            screen.keys("q j enter a");
            screen.draw();
            let (seen, clean) = screen.clean();
            assert_eq!(seen, clean, "{columns}x{rows}");
            assert_eq!(screen.draw(), 0, "{columns}x{rows}: nothing changed, and bytes came");
        }
    }
}

#[test]
fn nothing_of_a_log_but_its_text_reaches_the_terminal() {
    let mut screen = Screen::new(80, 24, some(80, 22));
    screen.keys("ctrl-x j k enter");
    let shown = settle(&mut screen, &output());
    for wanted in ["ready in 312 ms", "building 100%", "⟨U+202E⟩evil", "binary ␀␁"] {
        assert!(shown.contains(wanted), "{wanted} is not in\n{shown}");
    }
    assert!(!shown.contains("50%"), "{shown}");
}

#[test]
fn the_keys_of_the_list_are_the_views_too() {
    let mut screen = Screen::new(120, 40, some(120, 38));
    screen.keys("ctrl-x j k enter");
    settle(&mut screen, &output());
    let ask = |ask: JobAsk| Effect::Send(Command::Job { job: JobId(3), ask });
    assert_eq!(screen.keys("x"), [ask(JobAsk::Kill)]);
    assert_eq!(screen.keys("P"), [ask(JobAsk::Keep(false))]);
    assert_eq!(screen.keys("y"), [Effect::Copy("npm run dev".into())]);
    assert_eq!(screen.keys("s h u p enter"), [ask(JobAsk::Signal(1))]);
    assert_eq!(screen.keys("d"), [], "it runs");
    assert_eq!(screen.keys("a"), [], "it has no terminal");
    assert!(screen.shown().contains("no terminal"));
    assert_eq!(screen.keys("z"), []);
    assert!(screen.model.composer.draft.is_empty());
    screen.keys("?");
    assert!(screen.shown().contains("In the view of a job"));
    screen.keys("esc");
    screen.change(|record| jobs::end(record, 3, End::Exited { code: 0 }));
    screen.draw();
    assert_eq!(screen.keys("d"), [ask(JobAsk::Dismiss)]);
    assert!(screen.shown().contains("Conversation"));
}

#[test]
fn the_wheel_and_the_keys_scroll_and_the_end_is_followed_again() {
    let mut screen = Screen::new(80, 24, some(80, 22));
    screen.keys("ctrl-x j k enter");
    let log = output();
    assert!(settle(&mut screen, &log).contains("follow"));
    let wheel = |did| Msg::Input(Input::Mouse(Mouse { did, column: 5, row: 5, button: 64, up: false }));
    screen.tell(wheel(MouseDid::WheelUp));
    assert!(!settle(&mut screen, &log).contains("follow\n"));
    screen.tell(wheel(MouseDid::WheelDown));
    assert!(settle(&mut screen, &log).lines().next().unwrap().ends_with("follow"));
    for (keys, first) in
        [("g", "[01]"), ("space", "[22]"), ("ctrl-d", "[32]"), ("b", "[11]"), ("j k k", "[10]")]
    {
        screen.keys(keys);
        let shown = settle(&mut screen, &log);
        assert!(shown.lines().nth(1).unwrap().starts_with(first), "{keys}:\n{shown}");
    }
    screen.keys("G");
    assert!(settle(&mut screen, &log).lines().next().unwrap().ends_with("follow"));
}

#[test]
fn an_approval_is_told_of_and_takes_no_key_while_it_is_covered() {
    let mut screen = Screen::new(80, 24, some(80, 22));
    screen.keys("ctrl-x j k enter");
    screen.change(|record| record::ask(record, "q1", "rm x"));
    assert!(screen.shown().contains("waiting for your answer"));
    screen.tell(Msg::Flushed);
    screen.now += 10_000;
    assert_eq!(screen.keys("y"), [Effect::Copy("npm run dev".into())]);
    screen.keys("alt-a");
    assert!(screen.shown().contains("rm x"));
}
