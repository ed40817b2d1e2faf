//! What a stream costs the terminal, without a clock: bytes for a token, and nothing for a frame in which
//! nothing changed.

use super::{Screen, record};

/// A part of an answer: headings, prose, lists, a table, code.
const PAGE: &str = "## A heading of a part\n\nSome **bold** text with `code`, a [link](https://example.org) and \
enough words to be wrapped at any width that a terminal has, and then some more of them.\n\n- one thing\n\
- another, *stressed*\n  - nested\n\n| name | value |\n|---|---:|\n| a | 1 |\n| b | 22 |\n\n```rust\n\
fn main() {\n    let answer = 42;\n    println!(\"{answer}\");\n}\n```\n\n";
/// Tokens of a frame: a hundred a second, thirty frames.
const TOKENS_A_FRAME: usize = 3;

/// Pieces as models send them: a word with the space before it.
fn tokens(text: &str) -> Vec<&str> {
    let starts = text.char_indices().filter(|(_, c)| c.is_whitespace()).map(|(at, _)| at);
    let mut cuts: Vec<usize> = std::iter::once(0).chain(starts).collect();
    cuts.push(text.len());
    cuts.dedup();
    cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]).collect()
}

/// Bytes of each frame of a stream of so many pages.
fn stream(columns: u16, rows: u16, pages: usize) -> (Vec<usize>, usize) {
    let text = PAGE.repeat(pages);
    let tokens = tokens(&text);
    let mut screen = Screen::new(columns, rows, record::empty());
    screen.draw();
    let frames = tokens
        .chunks(TOKENS_A_FRAME)
        .map(|some| {
            screen.change(|r| record::stream(r, &some.concat()));
            screen.now += 33;
            screen.draw()
        })
        .collect();
    (frames, tokens.len())
}

#[test]
fn a_token_costs_few_bytes_at_every_width() {
    for (columns, rows, most) in [(120, 40, 250), (80, 24, 250), (50, 15, 250)] {
        let (frames, tokens) = stream(columns, rows, 12);
        let each = frames.iter().sum::<usize>() / tokens;
        assert!(each <= most, "{each} bytes for a token at {columns}×{rows}");
    }
}

#[test]
fn no_frame_of_a_stream_costs_more_than_the_screen_has() {
    let (frames, _) = stream(120, 40, 12);
    let most = frames.iter().max().copied().unwrap();
    assert!(most <= 120 * 40 * 2, "a frame of {most} bytes");
}

#[test]
fn a_token_late_in_an_answer_costs_what_an_early_one_does() {
    let (frames, _) = stream(120, 40, 60);
    let part = frames.len() / 6;
    // the first part fills the screen: it does not scroll yet
    let early: usize = frames[part..2 * part].iter().sum();
    let late: usize = frames[5 * part..6 * part].iter().sum();
    assert!(late <= early + early / 5, "early {early}, late {late}");
}

#[test]
fn a_frame_in_which_nothing_changed_costs_nothing() {
    let mut screen = Screen::new(120, 40, record::full());
    assert!(screen.draw() > 0);
    assert_eq!(screen.draw(), 0);
}
