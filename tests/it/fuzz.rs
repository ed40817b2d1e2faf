//! Bytes that nobody meant, for what reads bytes of others: the keys of a terminal, the output of commands, an
//! answer in Markdown, a diff. Each has a budget of time: 2 s, or `WINDLASS_FUZZ_S`, and ten minutes in the long run.
//!
//! The cases are those of `WINDLASS_FUZZ_SEED` (1, where it is not set), so a short run is the same each time. What
//! fails is cut down to the least that fails before it is told.

mod inputs;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use inputs::Source;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use windlass::api::screen::Size;
use windlass::base::plain;
use windlass::base::visible::{Form, Visible};
use windlass::process::terminal::Terminal;
use windlass::ui::input::{Code, Decoder, Input, Key, Reader};
use windlass::ui::widget::diff::{Diff, Shape};
use windlass::ui::widget::row::Role;
use windlass::ui::widget::text::width;

use crate::markdown::{rows, streams_to_the_whole, whole};

/// How long each of the tests here goes on.
fn budget() -> Duration {
    let named = std::env::var("WINDLASS_FUZZ_S").ok().and_then(|seconds| seconds.parse().ok());
    let long = std::env::var_os("WINDLASS_LONG").is_some();
    Duration::from_secs(named.unwrap_or(if long { 600 } else { 2 }))
}

fn seed() -> u64 {
    std::env::var("WINDLASS_FUZZ_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1)
}

/// Whether the check fails for this input.
fn fails(input: &[u8], check: &dyn Fn(&[u8])) -> bool {
    catch_unwind(AssertUnwindSafe(|| check(input))).is_err()
}

/// The least of an input that still fails, as far as leaving parts out finds it.
fn least(input: &[u8], check: &dyn Fn(&[u8])) -> Vec<u8> {
    let (mut least, mut size) = (input.to_vec(), input.len() / 2);
    let until = Instant::now() + Duration::from_secs(20);
    while size > 0 && Instant::now() < until {
        let mut at = 0;
        while at < least.len() && Instant::now() < until {
            let mut shorter = least.clone();
            shorter.drain(at..(at + size).min(shorter.len()));
            if fails(&shorter, check) {
                least = shorter;
            } else {
                at += size;
            }
        }
        size /= 2;
    }
    least
}

/// Checks what the source makes until the time is over.
fn fuzz(name: &str, pieces: &[&[u8]], text: bool, check: &dyn Fn(&[u8])) {
    let (begin, budget) = (Instant::now(), budget());
    let mut source = Source::new(seed(), pieces, text);
    let (mut cases, mut bytes) = (0u64, 0u64);
    // what is caught is told at the end, once
    while cases < 50 || begin.elapsed() < budget {
        let input = source.next();
        (cases, bytes) = (cases + 1, bytes + input.len() as u64);
        if fails(&input, check) {
            let least = least(&input, check);
            let shown = String::from_utf8_lossy(&least).into_owned();
            eprintln!("{name}: case {cases} fails; the least of it: {least:?}\n{shown:?}");
            check(&least);
            check(&input);
            panic!("{name}: case {cases} failed once and not again: {input:?}");
        }
    }
    let took = begin.elapsed().as_secs_f64();
    eprintln!("{name}: {cases} cases, {bytes} bytes, {took:.0} s, no finding");
}

/// A sum of the bytes: what is random in a check must be the same for the same input.
fn sum(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

/// The bytes in pieces whose sizes follow from the seed.
fn cut(mut bytes: &[u8], seed: u64, most: u64) -> Vec<&[u8]> {
    let (mut pieces, mut state) = (Vec::new(), seed | 1);
    while !bytes.is_empty() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let size = usize::try_from(1 + state % most).unwrap().min(bytes.len());
        pieces.push(&bytes[..size]);
        bytes = &bytes[size..];
    }
    pieces
}

fn decoded(pieces: &[&[u8]]) -> Vec<Input> {
    let mut decoder = Decoder::default();
    let mut out = Vec::new();
    pieces.iter().for_each(|bytes| decoder.feed(bytes, &mut out));
    decoder.time_out(&mut out);
    assert!(decoder.at_rest() && decoder.wait_ms().is_none());
    out
}

/// No control is a character, and no event comes out of nothing.
fn are_tame(inputs: &[Input], bytes: usize) {
    assert!(inputs.len() <= bytes + 1, "{} events of {bytes} bytes", inputs.len());
    for input in inputs {
        match input {
            Input::Key(Key { code: Code::Char(c), .. }) => assert!(!c.is_control(), "{c:?}"),
            Input::Paste(text) => assert!(text.len() <= 3 * bytes && !text.contains('\r'), "{text:?}"),
            Input::Key(_) | Input::Mouse(_) | Input::Focus(_) | Input::Reply(_) => {}
        }
    }
}

#[test]
fn fuzzed_keys_are_the_same_however_they_are_cut() {
    fuzz("keys", inputs::KEYS, false, &|bytes| {
        let all = decoded(&[bytes]);
        are_tame(&all, bytes.len());
        for most in [1, 3, 40, 5000] {
            assert_eq!(decoded(&cut(bytes, sum(bytes), most)), all, "in reads of at most {most}");
        }
        // with times, nothing is certain but that it ends
        let (mut reader, mut out, mut now) = (Reader::default(), Vec::new(), 1000);
        for piece in cut(bytes, sum(bytes), 9) {
            reader.read(piece, now, &mut out);
            let waits = reader.wait_ms();
            now += sum(piece) % 80;
            if waits.is_some_and(|ms| sum(piece) % 80 >= ms) {
                reader.time_out(&mut out);
            }
        }
        reader.time_out(&mut out);
        assert_eq!(reader.wait_ms(), None);
        are_tame(&out, 2 * bytes.len() + 1);
    });
}

/// Whether a text could move a cursor or worse.
fn is_plain(text: &str) -> bool {
    text.chars().all(|c| !c.is_control() || matches!(c, '\n' | '\t'))
}

#[test]
fn fuzzed_output_is_plain_and_keeps_its_lines() {
    fuzz("output", inputs::OUTPUT, false, &|bytes| {
        let all = plain(bytes);
        assert!(is_plain(&String::from_utf8_lossy(&all)), "{:?}", String::from_utf8_lossy(&all));
        assert_eq!(plain(&all), all, "what is plain stays");
        let ends = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(ends(&all), ends(bytes), "lines");
        let by_line: Vec<u8> = bytes.split_inclusive(|byte| *byte == b'\n').flat_map(plain).collect();
        assert_eq!(by_line, all, "line by line");
        for form in [Form::Text, Form::Json] {
            let shown = |pieces: &[&[u8]]| {
                use std::io::Write as _;
                let mut out = Vec::new();
                let mut writer = Visible::new(&mut out, form);
                pieces.iter().for_each(|bytes| writer.write_all(bytes).unwrap());
                out
            };
            let whole = shown(&[bytes]);
            assert!(is_plain(&String::from_utf8_lossy(&whole)));
            assert_eq!(shown(&cut(bytes, sum(bytes), 7)), whole);
        }
    });
}

/// What a terminal of these sizes shows in the end.
fn pictured(pieces: &[&[u8]], sizes: &[Size]) -> std::sync::Arc<windlass::api::screen::Screen> {
    let (mut terminal, _slave) = Terminal::open(sizes[0]).unwrap();
    for bytes in pieces {
        terminal.feed(bytes);
    }
    for size in &sizes[1..] {
        terminal.resize(*size);
    }
    terminal.picture()
}

#[test]
fn fuzzed_output_of_a_terminal_has_one_picture() {
    fuzz("terminal", inputs::OUTPUT, false, &|bytes| {
        // two sizes by its first bytes: what is left out behind them leaves them as they are
        let size = |at: usize| {
            let byte = u16::from(bytes.get(at).copied().unwrap_or(200));
            Size { rows: 1 + byte % 12, cols: 1 + byte / 12 * 2 }
        };
        let sizes = [size(0), size(1)];
        let all = pictured(&[bytes], &sizes);
        for most in [1, 30] {
            assert_eq!(pictured(&cut(bytes, sum(bytes), most), &sizes), all, "in pieces of at most {most}");
        }
        assert_eq!(all.lines.len(), usize::from(sizes[1].rows));
        for line in &all.lines {
            let text: String = line.iter().map(|run| run.text.as_str()).collect();
            assert!(text.chars().all(|c| !c.is_control()), "{text:?}");
        }
        for (columns, rows) in [(1, 1), (7, 3), (60, 20)] {
            let area = Rect::new(0, 0, columns, rows);
            let mut buffer = Buffer::empty(area);
            windlass::ui::widget::terminal::draw(&all, area, &mut buffer, Style::default());
            let place = windlass::ui::widget::terminal::cursor(&all, area);
            assert!(place.is_none_or(|(x, y)| x < columns && y < rows), "{place:?}");
        }
    });
}

#[test]
fn fuzzed_markdown_streams_to_the_whole_and_fits() {
    fuzz("markdown", inputs::MARKDOWN, true, &|bytes| {
        let src = String::from_utf8_lossy(bytes).into_owned();
        // cut at every byte: its cost is the square
        if src.len() <= 160 {
            streams_to_the_whole("fuzzed", &src);
        }
        let doc = whole(&src);
        for columns in [1, 2, 9, 24, 79, 200] {
            for row in rows(&doc, &src, columns) {
                assert!(width(&row.text) <= columns, "at {columns}: {:?}", row.text);
                assert!(is_plain(&row.text) && !row.text.contains('\n'), "{:?}", row.text);
            }
        }
        // words of text are there once, where no syntax may hide or repeat them
        let hides = ["](", "<", "[^", "&", "`", "~", "|", "\\", "["];
        if !hides.iter().any(|mark| src.contains(mark)) {
            let seen: String = rows(&doc, &src, 200).iter().map(|row| row.text.as_str()).collect();
            for word in inputs::words(&src) {
                let (wanted, found) = (src.matches(&word).count(), seen.matches(&word).count());
                assert_eq!(found, wanted, "{word} of {src:?} in {seen:?}");
            }
        }
    });
}

#[test]
fn fuzzed_diffs_are_read_and_fit() {
    fuzz("diffs", inputs::DIFF, true, &|bytes| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let diff = Diff::read(&text);
        assert!(diff.pieces() <= text.lines().count() / 64 + 1);
        for shape in [Shape::Unified, Shape::Sides] {
            for columns in [1, 9, 40, 81, 200] {
                for piece in 0..diff.pieces() {
                    for (stream, end) in diff.wanted(piece) {
                        assert!(diff.stream(&text, stream, 0..end).len() <= text.lines().count() + 1);
                        assert!(!diff.language(&text, stream).contains('\n'));
                        assert!(diff.pieces_of(stream.number()).end <= diff.pieces());
                    }
                    let all = |_, end: u32| (end < 3).then_some(&[(1u32, Role::Text), (900, Role::Dim)][..]);
                    for row in diff.lay(&text, piece, columns, shape, &all) {
                        assert!(width(&row.text) <= columns, "{shape:?} at {columns}: {:?}", row.text);
                        assert!(is_plain(&row.text), "{:?}", row.text);
                    }
                }
            }
        }
        // in one column each word is there once
        let rows: Vec<_> = (0..diff.pieces())
            .flat_map(|piece| diff.lay(&text, piece, 400, Shape::Unified, &|_, _| None))
            .collect();
        let seen: String = rows.iter().map(|row| row.text.as_str()).collect();
        let heads = ["---", "+++", "@", "diff", "index"];
        let of_lines = text.lines().filter(|line| !heads.iter().any(|head| line.starts_with(head)));
        let of_lines: String = of_lines.flat_map(|line| [line, "\n"]).collect();
        for word in inputs::words(&of_lines) {
            if text.matches(&word).count() == of_lines.matches(&word).count() {
                assert_eq!(
                    seen.matches(&word).count(),
                    of_lines.matches(&word).count(),
                    "{word} in {seen:?}"
                );
            }
        }
    });
}
