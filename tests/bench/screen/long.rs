//! Long conversations: opened, resized, scrolled from end to end.

use super::data;
use super::record;
use super::stage::{Stage, Times};
use windlass::api::board::Record;

/// Longest that a frame after a resize may take, in milliseconds, and one of a scroll.
const RESIZE: u64 = 16;
const SCROLL: u64 = 8;
/// Each is done so often, from the opening on.
const PASSES: usize = 3;
/// Lines scrolled one by one.
const BY_LINES: usize = 3_000;

/// 100 000 lines: as one answer, as one message of the person, as 2 000 of both in turn.
pub fn lines() {
    let text = data::answer(data::LINES);
    each("100 000 lines", &text);
}

/// The log of chats.
pub fn chat() {
    let text = data::chat();
    each("the log of chats", &text);
}

fn each(name: &str, text: &str) {
    let mut one = record::empty();
    record::answer(&mut one, text);
    scenario(&format!("{name}, one answer"), &one);
    let mut own = record::empty();
    record::user(&mut own, text);
    scenario(&format!("{name}, one message of the person"), &own);
    let mut many = record::empty();
    for (n, part) in data::parts(text, data::MESSAGES).iter().enumerate() {
        if n % 2 == 0 {
            record::answer(&mut many, part);
        } else {
            record::user(&mut many, part);
        }
    }
    scenario(&format!("{name}, {} messages", many.path.len()), &many);
}

/// The rows of a scenario, with their bounds.
const ROWS: [(&str, u64); 10] = [
    ("opened, to its first frame", RESIZE),
    ("… the rest, while idle", RESIZE),
    ("resized, at the end", RESIZE),
    ("a page up, to the beginning", SCROLL),
    ("resized, at the beginning", RESIZE),
    ("a line down, 3 000 times", SCROLL),
    ("resized, within", RESIZE),
    ("a page down, to the end", SCROLL),
    ("to the beginning, to the end", SCROLL),
    ("… and what is left then", SCROLL),
];

fn scenario(name: &str, record: &Record) {
    let mut all: [Times; ROWS.len()] = Default::default();
    for _ in 0..PASSES {
        all.iter_mut()
            .zip(pass(Record { path: record.path.clone(), ..record::empty() }))
            .for_each(|(all, times)| all.faster(times));
    }
    println!("{name}");
    for (times, (what, bound)) in all.into_iter().zip(ROWS) {
        times.row(&format!("    {what}"), bound);
    }
}

fn pass(record: Record) -> [Times; ROWS.len()] {
    let (mut stage, first) = Stage::open(record);
    let rest = stage.idle();
    let at_the_end = resizes(&mut stage);
    let up = until_still(&mut stage, "pageup", usize::MAX);
    let at_the_beginning = resizes(&mut stage);
    let lines = until_still(&mut stage, "ctrl-down", BY_LINES);
    let within = resizes(&mut stage);
    let down = until_still(&mut stage, "pagedown", usize::MAX);
    let mut ends = Times::default();
    for _ in 0..10 {
        ends.0.push(stage.key("ctrl-home"));
        ends.0.push(stage.key("ctrl-end"));
    }
    let left = stage.idle();
    [Times(vec![first]), rest, at_the_end, up, at_the_beginning, lines, within, down, ends, left]
}

fn resizes(stage: &mut Stage) -> Times {
    let sizes = [(60, 30), (200, 60), (80, 24), (120, 40)];
    let mut times = Times::default();
    for _ in 0..5 {
        times.0.extend(sizes.iter().map(|(columns, rows)| stage.resize(*columns, *rows)));
    }
    times
}

/// A key again and again until it changes nothing more.
fn until_still(stage: &mut Stage, key: &str, most: usize) -> Times {
    let mut times = Times::default();
    while times.0.len() < most {
        times.0.push(stage.key(key));
        if stage.bytes.is_empty() {
            break;
        }
    }
    times
}
