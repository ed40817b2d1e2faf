//! Pure: the changes of a patch applied to a file's bytes.
//!
//! Lines are compared exactly, then without trailing white space, then with typographic punctuation
//! taken as ASCII; the first place after the change before it wins. Indentation always counts: a
//! change written for another indentation would put its lines in wrong. Lines that stay keep their
//! own bytes and line ends; lines that come get the file's first line end. A missing final newline
//! stays missing unless the last line itself is changed or something comes after it.

use crate::law::output::shown;
use crate::tool::edit_text::{clip, nearest};
use crate::tool::patch::{Chunk, Sign};

const BOM: &[u8] = "\u{feff}".as_bytes();

/// One line of the file: its text and its end (empty: the last line without one).
struct Line<'a> {
    text: &'a [u8],
    end: &'a [u8],
}

/// Lines end with `\n`, `\r\n` or a lone `\r`.
fn split(bytes: &[u8]) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let mut from = 0;
    while from < bytes.len() {
        let (text, end) = match memchr::memchr2(b'\n', b'\r', &bytes[from..]) {
            None => (bytes.len(), bytes.len()),
            Some(offset) => {
                let at = from + offset;
                let pair = bytes[at] == b'\r' && bytes.get(at + 1) == Some(&b'\n');
                (at, at + 1 + usize::from(pair))
            }
        };
        lines.push(Line { text: &bytes[from..text], end: &bytes[text..end] });
        from = end;
    }
    lines
}

/// The end that new lines get: the first of the file; a lone `\r` only where there is nothing else.
fn line_end<'a>(lines: &[Line<'a>]) -> &'a [u8] {
    let ends = || lines.iter().map(|line| line.end);
    ends().find(|end| end.ends_with(b"\n")).or_else(|| ends().find(|end| !end.is_empty())).unwrap_or(b"\n")
}

/// What a place in the file becomes: `keep` lines of the file, or lines that come.
enum Piece<'a> {
    Keep(usize),
    Skip(usize),
    Add(&'a str),
}

/// Applies the changes in order; the new bytes, or which change has no place and what is near.
pub fn apply(bytes: &[u8], chunks: &[Chunk]) -> Result<Vec<u8>, String> {
    let (bom, body) = match bytes.strip_prefix(BOM) {
        Some(body) => (BOM, body),
        None => (&b""[..], bytes),
    };
    let lines = split(body);
    let mut pieces: Vec<(usize, Vec<Piece<'_>>)> = Vec::new();
    let mut from = 0;
    for (index, chunk) in chunks.iter().enumerate() {
        let found = place(&lines, chunk, from)
            .map_err(|why| format!("change {} of {}: {why}", index + 1, chunks.len()))?;
        from = found.next;
        pieces.push((found.start, found.pieces));
    }
    pieces.sort_by_key(|(start, _)| *start);
    Ok([bom, &write(&lines, &pieces)].concat())
}

fn write(lines: &[Line<'_>], pieces: &[(usize, Vec<Piece<'_>>)]) -> Vec<u8> {
    let end = line_end(lines);
    let mut out = Out { bytes: Vec::new(), end, open: false };
    let mut at = 0;
    for (start, pieces) in pieces {
        while at < *start {
            out.keep(&lines[at]);
            at += 1;
        }
        for piece in pieces {
            match piece {
                Piece::Keep(count) => {
                    for line in &lines[at..at + count] {
                        out.keep(line);
                    }
                    at += count;
                }
                Piece::Skip(count) => at += count,
                Piece::Add(text) => out.add(text),
            }
        }
    }
    for line in &lines[at..] {
        out.keep(line);
    }
    out.bytes
}

/// The new file being written.
struct Out<'a> {
    bytes: Vec<u8>,
    end: &'a [u8],
    /// The last line has no end yet.
    open: bool,
}

impl Out<'_> {
    fn keep(&mut self, line: &Line<'_>) {
        self.close();
        self.bytes.extend_from_slice(line.text);
        self.bytes.extend_from_slice(line.end);
        self.open = line.end.is_empty();
    }
    fn add(&mut self, text: &str) {
        self.close();
        self.bytes.extend_from_slice(text.as_bytes());
        self.bytes.extend_from_slice(self.end);
    }
    fn close(&mut self) {
        if std::mem::take(&mut self.open) {
            self.bytes.extend_from_slice(self.end);
        }
    }
}

struct Found<'a> {
    start: usize,
    next: usize,
    pieces: Vec<Piece<'a>>,
}

/// Where a change belongs, at or after line `from`.
fn place<'a>(lines: &[Line<'_>], chunk: &'a Chunk, mut from: usize) -> Result<Found<'a>, String> {
    for context in &chunk.context {
        let at = (from..lines.len())
            .find(|at| shown(lines[*at].text) == *context)
            .or_else(|| (from..lines.len()).find(|at| shown(lines[*at].text).trim() == context.trim()))
            .ok_or_else(|| missing(lines, std::slice::from_ref(context), from, "the line after `@@`"))?;
        from = at + 1;
    }
    let wanted: Vec<String> =
        chunk.lines.iter().filter(|(sign, _)| *sign != Sign::Add).flat_map(source).collect();
    let sentinels_only =
        wanted.iter().all(String::is_empty) && seek(lines, &wanted, from, chunk.at_end).is_none();
    if wanted.is_empty() || sentinels_only {
        // nothing but new lines: after the line named by `@@`, else at the end of the file
        let start = if chunk.context.is_empty() || chunk.at_end { lines.len() } else { from };
        let pieces = chunk
            .lines
            .iter()
            .filter(|(sign, _)| *sign == Sign::Add)
            .map(|(_, text)| Piece::Add(text))
            .collect();
        return Ok(Found { start, next: from, pieces });
    }
    let mut count = wanted.len();
    let mut start = seek(lines, &wanted, from, chunk.at_end);
    if start.is_none() && count > 1 && wanted[count - 1].is_empty() {
        // an empty last line often stands for the file's final newline
        count -= 1;
        start = seek(lines, &wanted[..count], from, chunk.at_end);
    }
    let start = start.ok_or_else(|| missing(lines, &wanted, from, "these lines"))?;
    Ok(Found { start, next: start + count, pieces: pieces(chunk, count) })
}

/// The file's lines that one line of a change stands for: more than one where it holds a lone `\r`.
fn source((_, text): &(Sign, String)) -> Vec<String> {
    text.split('\r').map(str::to_owned).collect()
}

/// What becomes of the `count` lines found.
fn pieces(chunk: &Chunk, count: usize) -> Vec<Piece<'_>> {
    let mut left = count;
    let mut pieces = Vec::new();
    for line in &chunk.lines {
        if line.0 == Sign::Add {
            pieces.push(Piece::Add(&line.1));
            continue;
        }
        let taken = source(line).len().min(left);
        left -= taken;
        pieces.push(if line.0 == Sign::Keep { Piece::Keep(taken) } else { Piece::Skip(taken) });
    }
    // the sentinel for the final newline was no line of the file; as a new line it is none either
    if let Some(Piece::Add("")) = pieces.last()
        && count < chunk.lines.iter().filter(|(sign, _)| *sign != Sign::Add).flat_map(source).count()
    {
        pieces.pop();
    }
    pieces
}

fn seek(lines: &[Line<'_>], wanted: &[String], from: usize, at_end: bool) -> Option<usize> {
    let last = lines.len().checked_sub(wanted.len())?;
    let from = if at_end { from.max(last) } else { from };
    let compare: [fn(&[u8], &str) -> bool; 3] = [
        |line, wanted| line == wanted.as_bytes(),
        |line, wanted| shown(line).trim_end() == wanted.trim_end(),
        |line, wanted| plain(&shown(line)) == plain(wanted),
    ];
    compare.iter().find_map(|same| {
        (from..=last)
            .find(|start| lines[*start..].iter().zip(wanted).all(|(line, wanted)| same(line.text, wanted)))
    })
}

/// Without trailing white space, typographic punctuation as ASCII.
fn plain(line: &str) -> String {
    line.trim_end()
        .chars()
        .map(|c| match c {
            '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
            '\u{2018}'..='\u{201B}' => '\'',
            '\u{201C}'..='\u{201F}' => '"',
            '\u{00A0}' | '\u{2002}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{3000}' => ' ',
            other => other,
        })
        .collect()
}

fn missing(lines: &[Line<'_>], wanted: &[String], from: usize, what: &str) -> String {
    let after = if from == 0 { String::new() } else { format!(" after line {from}") };
    let mut message = format!("{what} not found{after}:");
    for line in wanted.iter().take(4) {
        message.push_str("\n        ");
        message.push_str(&clip(line.as_bytes()));
    }
    if wanted.len() > 4 {
        message.push_str("\n        …");
    }
    let shown: Vec<String> = lines.iter().map(|line| clip(line.text)).collect();
    match nearest(&shown, wanted) {
        Some(found) => message + "\n" + &found,
        None => message + "\nNothing in the file is like it; read the file again.",
    }
}

#[cfg(test)]
#[path = "patch_text_tests.rs"]
mod tests;
