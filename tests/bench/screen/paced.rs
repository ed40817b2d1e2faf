//! An answer that streams in as it was recorded, ten times as fast, and as fast as frames go.

use std::thread::sleep;
use std::time::{Duration, Instant};

use super::data;
use super::record;
use super::stage::{Stage, Times};

/// Longest that a frame may take, in milliseconds.
const BOUND: u64 = 16;
/// Least time between two frames of what streams, as the program has it.
const FRAME: Duration = Duration::from_millis(33);
/// How much of the recording is played at its own pace, and the longest pause of it.
const SHORTENED: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(500);

pub fn all() {
    let tokens = data::tokens();
    let count = tokens.len();
    replay(&tokens, 1).row("tokens as they were recorded, the first 10 s", BOUND);
    replay(&tokens, 10).row("tokens ten times as fast, 10 s", BOUND);
    let texts = || tokens.iter().map(|(_, text)| text.as_str());
    thrice(|| stream(texts())).row(&format!("{count} tokens, a frame for each"), BOUND);
    // the same again and again, as one long answer
    let long = || texts().cycle().take(30_000);
    thrice(|| stream(long())).row("30 000 tokens, a frame for each", BOUND);
    let all: String = long().collect();
    thrice(|| stream(pieces(&all))).row("… 16 KiB a frame", BOUND);
    let chat = data::chat();
    thrice(|| stream(pieces(&chat))).row("the log of chats, 16 KiB a frame", BOUND);
}

/// A text in pieces of 16 KiB.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        let long = rest.floor_char_boundary(16 * 1024);
        at += long;
        Some(&rest[..long])
    })
}

/// Made three times: of each frame the fastest counts.
fn thrice(frames: impl Fn() -> Times) -> Times {
    let mut times = Times::default();
    (0..3).for_each(|_| times.faster(frames()));
    times
}

/// The stage of an answer that streams.
fn begun() -> Stage {
    let mut record = record::empty();
    record::user(&mut record, "go");
    Stage::open(record).0
}

fn stream<'a>(texts: impl Iterator<Item = &'a str>) -> Times {
    let (mut stage, mut times) = (begun(), Times::default());
    for text in texts {
        record::stream(&mut stage.record, text);
        stage.record.revision += 1;
        times.0.push(stage.frame());
    }
    times
}

/// Frames at the program's pace while tokens come at theirs.
fn replay(tokens: &[(Duration, String)], faster: u32) -> Times {
    let (mut stage, mut times) = (begun(), Times::default());
    let (began, mut due, mut drawn) = (Instant::now(), Duration::ZERO, Duration::ZERO);
    for (pause, text) in tokens {
        due += (*pause).min(PAUSE) / faster;
        if due > SHORTENED {
            break;
        }
        // frames that are due before the token comes
        if drawn + FRAME <= due {
            drawn = due.max(drawn + FRAME);
            sleep(drawn.saturating_sub(began.elapsed()));
            times.0.push(stage.frame());
        }
        record::stream(&mut stage.record, text);
        stage.record.revision += 1;
    }
    times.0.push(stage.frame());
    times
}
