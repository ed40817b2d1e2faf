//! What real terminals sent, recorded from them: each line of `recorded/` says what was done, which bytes came,
//! and what they are to us. The modes were those that the screen sets; the terminals stood on a virtual display, and
//! keys, mouse and windows were moved by a program. What came for nothing (a terminal that does not answer, a key that
//! its window keeps) has no line.

use super::*;
use crate::ui::input::key_name;

const RECORDED: [(&str, &str); 5] = [
    ("kitty 0.26.5", include_str!("recorded/kitty.txt")),
    ("alacritty 0.11", include_str!("recorded/alacritty.txt")),
    ("xterm 379", include_str!("recorded/xterm.txt")),
    ("tmux 3.3a in xterm", include_str!("recorded/tmux.txt")),
    ("GNU screen 4.9 in xterm", include_str!("recorded/screen.txt")),
];

/// The bytes that a line writes down.
fn bytes(written: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = written.chars();
    while let Some(c) = rest.next() {
        match (c, (c == '\\').then(|| rest.next()).flatten()) {
            (_, Some('e')) => out.push(0x1b),
            (_, Some('r')) => out.push(b'\r'),
            (_, Some('n')) => out.push(b'\n'),
            (_, Some('t')) => out.push(b'\t'),
            (_, Some('x')) => {
                let digits: String = rest.by_ref().take(2).collect();
                out.push(u8::from_str_radix(&digits, 16).expect("two digits"));
            }
            (_, Some(other)) => out.extend(other.to_string().bytes()),
            (c, None) => out.extend(c.to_string().bytes()),
        }
    }
    out
}

fn told(inputs: &[Input]) -> String {
    let name = |input: &Input| match input {
        Input::Key(key) => key_name(*key),
        Input::Mouse(mouse) => format!("{:?}({},{})", mouse.did, mouse.column, mouse.row),
        other => format!("{other:?}"),
    };
    inputs.iter().map(name).collect::<Vec<_>>().join(" ")
}

fn decode(reads: &[&[u8]]) -> Vec<Input> {
    let mut decoder = Decoder::default();
    let mut out = Vec::new();
    reads.iter().for_each(|bytes| decoder.feed(bytes, &mut out));
    decoder.time_out(&mut out);
    out
}

/// What was done and the bytes of it, line by line.
fn lines(recorded: &str) -> impl Iterator<Item = (&str, Vec<u8>)> {
    recorded.lines().map(|line| {
        let mut parts = line.split('\t');
        (parts.next().unwrap_or_default(), bytes(parts.next().expect("bytes")))
    })
}

#[test]
fn what_real_terminals_send_is_what_was_done() {
    let written = |line: &str| line.split('\t').nth(1).unwrap_or_default().to_owned();
    let mut wrong = String::new();
    for (terminal, recorded) in RECORDED {
        let read: String = lines(recorded)
            .zip(recorded.lines())
            .map(|((what, bytes), line)| format!("{what}\t{}\t{}\n", written(line), told(&decode(&[&bytes]))))
            .collect();
        if read != recorded {
            wrong.push_str(&format!("{terminal} is read as\n{read}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn every_cut_of_what_real_terminals_send_gives_the_same_events() {
    for (terminal, recorded) in RECORDED {
        for (what, bytes) in lines(recorded) {
            let whole = decode(&[&bytes]);
            for cut in 0..=bytes.len() {
                let (first, rest) = bytes.split_at(cut);
                assert_eq!(decode(&[first, rest]), whole, "{terminal}: {what} cut at {cut}");
            }
        }
        // all of it at once, a lone ESC apart: it joins what follows
        let all: Vec<u8> =
            lines(recorded).filter(|(_, bytes)| bytes != b"\x1b").flat_map(|(_, b)| b).collect();
        let whole = decode(&[&all]);
        for size in 1..40 {
            let reads: Vec<&[u8]> = all.chunks(size).collect();
            assert_eq!(decode(&reads), whole, "{terminal} in reads of {size}");
        }
    }
}
