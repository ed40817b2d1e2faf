//! What frames cost in bytes, over the shortest that there are.

use ratatui::buffer::Buffer;

use super::data;
use super::record;
use super::shortest::shortest;
use super::stage::Stage;
use super::state::state;

/// The marks of a frame: it begins and ends as one.
const MARKS: usize = 16;
/// Frames of each row.
const FRAMES: usize = 40;

pub fn all() {
    println!(
        "{:<58} {:>7} {:>9} {:>9} {:>9} {:>9}",
        "bytes", "frames", "written", "shortest", "times", "most"
    );
    let text = data::answer(2_000);
    let tokens: Vec<&str> = text.split_inclusive(' ').collect();
    let mut record = record::empty();
    record::user(&mut record, "go");
    let mut stage = Stage::open(record).0;
    measured("a token", &mut stage, |stage, n| {
        record::stream(&mut stage.record, tokens[n % tokens.len()]);
        stage.record.revision += 1;
        stage.frame();
    });
    let mut record = record::empty();
    record::answer(&mut record, &data::answer(10_000));
    let mut stage = Stage::open(record).0;
    stage.idle();
    measured("a line up", &mut stage, |stage, _| stage.pressed("ctrl-up"));
    measured("a page up", &mut stage, |stage, _| stage.pressed("pageup"));
    let keys = ["a", "space", "w", "o", "r", "d", "backspace", "left", "x", "right"];
    measured("a key typed", &mut stage, |stage, n| stage.pressed(keys[n % keys.len()]));
    measured("the help, there and away", &mut stage, |stage, n| stage.pressed(["f1", "esc"][n % 2]));
}

fn measured(what: &str, stage: &mut Stage, mut step: impl FnMut(&mut Stage, usize)) {
    let mut terminal = vt100::Parser::new(40.try_into().unwrap(), 120.try_into().unwrap(), 0);
    terminal.process(&stage.bytes);
    stage.resize(120, 39);
    stage.resize(120, 40);
    terminal.process(&stage.bytes);
    let (mut written, mut least, mut most) = (0, 0, 0.0_f64);
    for n in 0..FRAMES {
        let before: Buffer = stage.buffer.clone();
        let start = state(&terminal);
        step(stage, n);
        terminal.process(&stage.bytes);
        let shortest = shortest(&before, &stage.buffer, start, stage.cursor);
        let bytes = stage.bytes.len().saturating_sub(MARKS);
        (written, least) = (written + bytes, least + shortest);
        if shortest > 0 {
            most = most.max(bytes as f64 / shortest as f64);
        }
    }
    let times = written as f64 / least.max(1) as f64;
    println!("{what:<58} {FRAMES:>7} {written:>9} {least:>9} {times:>9.3} {most:>9.3}");
}
