//! The keys of vi beside vim itself: `vim.jsonl` holds what vim 9.0 (`vim -N -u NONE -s`, one of its own for each) made of
//! random commands on small texts, and where its cursor was.

use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation as _;

use super::*;

/// A text of lines, and what they say again.
pub(super) fn text(vi: &mut Vi, lines: &[&str]) -> Text {
    let line = |line: &&str| line.graphemes(true).map(|cluster| vi.names.unit(cluster)).collect();
    Text { lines: lines.iter().map(line).collect(), at: (0, 0) }
}

fn said(vi: &Vi, text: &Text) -> Vec<String> {
    text.lines.iter().map(|line| vi.names.say(line)).collect()
}

/// A machine in normal mode at the text's begin.
fn begun(lines: &[&str]) -> (Vi, Text) {
    let mut vi = Vi::default();
    let mut text = text(&mut vi, lines);
    vi.begin_step(&text);
    vi.leave(&mut text);
    (vi, text)
}

/// Presses keys; what is typed in insert mode is written.
fn press(vi: &mut Vi, text: &mut Text, keys: &str) {
    for c in keys.chars() {
        match (vi.mode(), c) {
            (Mode::Insert, '\u{1b}') => vi.leave(text),
            (Mode::Insert, c) => text.at = text.insert(text.at, &[vec![Unit::One(c)]]),
            (_, '\u{1b}') => drop(vi.press(text, Press::Escape)),
            (_, '\u{12}') => drop(vi.press(text, Press::Redo)),
            (_, c) => drop(vi.press(text, Press::Typed(c))),
        }
    }
}

#[test]
fn the_keys_of_vi_do_what_vim_does() {
    let mut wrong = Vec::new();
    let all: Vec<&str> = include_str!("vim.jsonl").lines().collect();
    for line in &all {
        let case: serde_json::Value = serde_json::from_str(line).expect("a case");
        let strings = |key: &str| -> Vec<String> {
            case[key]
                .as_array()
                .expect("lines")
                .iter()
                .map(|l| l.as_str().expect("a line").to_owned())
                .collect()
        };
        let lines = strings("text");
        let keys = case["keys"].as_str().expect("keys");
        let (mut vi, mut text) = begun(&lines.iter().map(String::as_str).collect::<Vec<_>>());
        press(&mut vi, &mut text, keys);
        press(&mut vi, &mut text, "\u{1b}\u{1b}");
        let at = (case["at"][0].as_u64().unwrap_or(0) as usize, case["at"][1].as_u64().unwrap_or(0) as usize);
        if (said(&vi, &text), text.at) != (strings("then"), at) {
            wrong.push(format!(
                "{lines:?} {keys:?}\n  vim {:?} {at:?}\n  us  {:?} {:?}",
                strings("then"),
                said(&vi, &text),
                text.at
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), all.len(), wrong.join("\n"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_keys_leave_a_text_and_u_brings_all_of_it_back(
        lines in prop::collection::vec("([a-c(\" ]|日|e\u{301}){0,8}", 1..4),
        keys in "([hjklwbeWBE0$^gGxXdcyDCYSpPJuvViaoOIA~rftFT;,%{}._+ \u{1b}\u{12}23\"(]|iw|ap|gu){0,30}",
    ) {
        let (mut vi, mut text) = begun(&lines.iter().map(String::as_str).collect::<Vec<_>>());
        press(&mut vi, &mut text, &keys);
        press(&mut vi, &mut text, "\u{1b}\u{1b}");
        prop_assert!(text.at.0 < text.lines.len() && text.at.1 <= text.len(text.at.0).saturating_sub(1));
        press(&mut vi, &mut text, "999u");
        prop_assert_eq!(said(&vi, &text), lines);
    }
}
