//! Texts and tokens: those of a file that the environment names, else ones made here that are like them.

use std::time::Duration;

pub use crate::sample::answer;

/// Lines of a long conversation.
pub const LINES: usize = 100_000;
/// Messages it is cut into.
pub const MESSAGES: usize = 2_000;
/// Bytes of the longest line.
const LONGEST: usize = 120_000;

/// A log of chats as some programs keep it: what was said, what commands printed as quotes, whole files as code, and one
/// line of 120 000 bytes.
pub fn chat() -> String {
    if let Ok(path) = std::env::var("WINDLASS_BENCH_CHAT") {
        return std::fs::read_to_string(path).unwrap();
    }
    let page = "#### why does the test fail?  \n\n> check....................................Failed  \n> - exit code: 1  \n\
>  \n> src/main.py:22:1: E402 module level import not at top of file  \n\nThe import stands **below** code. I would \
move it:\n\n```python\nfrom part.dump import dump\nfrom part.utils import Spinner\n\n\ndef main(args):\n    for arg in \
args:\n        dump(arg)\n```\n\n1. moved the import\n2. removed what nobody used\n\n";
    let count = page.lines().count();
    let mut text = page.repeat(LINES / 2 / count);
    text.push_str(&"x0 ".repeat(LONGEST / 3));
    text.push('\n');
    text.push_str(&page.repeat(LINES / 2 / count));
    text
}

/// A text cut at lines into so many parts of about the same length.
pub fn parts(text: &str, count: usize) -> Vec<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    lines.chunks(lines.len().div_ceil(count)).map(<[&str]>::concat).collect()
}

/// Tokens, each with the time since the one before.
pub fn tokens() -> Vec<(Duration, String)> {
    if let Ok(path) = std::env::var("WINDLASS_BENCH_TOKENS") {
        return recorded(&std::fs::read_to_string(path).unwrap());
    }
    let text = answer(220);
    let words = text.split_inclusive(' ').enumerate();
    // some come in bursts, some after a pause
    let pause = |n: usize| match n % 17 {
        0 => 90,
        1..=4 => 0,
        _ => 26,
    };
    words.map(|(n, word)| (Duration::from_millis(pause(n)), word.to_owned())).collect()
}

fn recorded(lines: &str) -> Vec<(Duration, String)> {
    let (mut out, mut before) = (Vec::new(), None);
    for line in lines.lines() {
        let Ok(value) = serde_json::from_str::<serde_json::Value>(line) else { continue };
        let delta = value.pointer("/payload/msg/delta").and_then(serde_json::Value::as_str);
        let at = value.get("ts").and_then(serde_json::Value::as_str);
        let (Some(delta), Some(at)) = (delta, at.and_then(|at| at.parse::<jiff::Timestamp>().ok())) else {
            continue;
        };
        let at = at.as_millisecond();
        let since = at - before.unwrap_or(at);
        before = Some(at);
        out.push((Duration::from_millis(since.max(0) as u64), delta.to_owned()));
    }
    assert!(!out.is_empty(), "no token in WINDLASS_BENCH_TOKENS");
    out
}
