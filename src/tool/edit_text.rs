//! Pure: exact replacements in a file's bytes. Bytes outside a replacement stay identical: line ends
//! (also mixed ones), BOM, a missing final newline, bytes that are not UTF-8.
//!
//! `old` and `new` come from a model that sees line ends as `\n`, so `\n` in them stands for the
//! file's own line end at that place. What `old` and `new` have in common is never rewritten.

use memchr::memmem;

use crate::law::output::shown;
use crate::tool::path::likeness;

/// One replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What is there.
    pub old: String,
    /// What shall be there.
    pub new: String,
    /// Everywhere, not in one place.
    pub all: bool,
}

/// Applies edits one after the other; all of them or the reason why not. The count is of places.
pub fn apply(bytes: &[u8], edits: &[Edit]) -> Result<(Vec<u8>, usize), String> {
    let mut text = bytes.to_vec();
    let mut places = 0;
    for (index, edit) in edits.iter().enumerate() {
        let (next, count) = one(&text, edit).map_err(|why| match (edits.len(), index) {
            (1, _) => why,
            (_, 0) => format!("edits[0]: {why}"),
            _ => format!("edits[{index}] (after the edits before it): {why}"),
        })?;
        text = next;
        places += count;
    }
    Ok((text, places))
}

/// A text with every `\r\n` as `\n`, and where the carriage returns stood.
struct Unified {
    text: Vec<u8>,
    /// Offsets in `text` of the newlines that had a carriage return before them, ascending.
    returns: Vec<usize>,
}

impl Unified {
    fn of(bytes: &[u8]) -> Self {
        let mut text = Vec::with_capacity(bytes.len());
        let mut returns = Vec::new();
        let mut from = 0;
        for at in memmem::find_iter(bytes, b"\r\n") {
            text.extend_from_slice(&bytes[from..at]);
            returns.push(text.len());
            from = at + 1;
        }
        text.extend_from_slice(&bytes[from..]);
        Self { text, returns }
    }
    /// The offset in the original bytes: before the carriage return of a newline at `at`.
    fn original(&self, at: usize) -> usize {
        at + self.returns.partition_point(|newline| *newline < at)
    }
    /// The line end of the line that `at` stands in, else of the line before it.
    fn line_end(&self, at: usize) -> &'static [u8] {
        let newline = memchr::memchr(b'\n', &self.text[at..])
            .map(|offset| at + offset)
            .or_else(|| memchr::memrchr(b'\n', &self.text[..at]));
        match newline {
            Some(newline) if self.returns.binary_search(&newline).is_ok() => b"\r\n",
            Some(_) | None => b"\n",
        }
    }
}

fn one(bytes: &[u8], edit: &Edit) -> Result<(Vec<u8>, usize), String> {
    if edit.old.is_empty() {
        return Err("`old` is empty; give the text to replace, or use write for a whole file".to_owned());
    }
    // a file without any newline has no line ends of its own: then both are taken as they came
    let has_lines = bytes.contains(&b'\n');
    let unify = |text: &str| if has_lines { text.replace("\r\n", "\n") } else { text.to_owned() };
    let (old, new) = (unify(&edit.old), unify(&edit.new));
    if old == new {
        let more =
            if edit.old == edit.new { "" } else { " but for line ends, which stay as the file has them" };
        return Err(format!("`old` and `new` are the same{more}; nothing would change"));
    }
    let unified =
        if has_lines { Unified::of(bytes) } else { Unified { text: bytes.to_vec(), returns: Vec::new() } };
    let starts: Vec<usize> = memmem::find_iter(&unified.text, &old).collect();
    let first = *starts.first().ok_or_else(|| not_found(&unified.text, &old))?;
    if !edit.all {
        let overlapping = memmem::find(&unified.text[first + 1..], old.as_bytes()).map(|at| first + 1 + at);
        if let Some(second) = starts.get(1).copied().or(overlapping) {
            return Err(ambiguous(&unified.text, &starts, second));
        }
    }
    let (prefix, suffix) = common(old.as_bytes(), new.as_bytes());
    let put = &new.as_bytes()[prefix..new.len() - suffix];
    let mut out = Vec::with_capacity(bytes.len() + put.len());
    let mut from = 0;
    for start in &starts {
        let at = start + prefix;
        out.extend_from_slice(&bytes[from..unified.original(at)]);
        push_lines(&mut out, put, if has_lines { unified.line_end(at) } else { b"\n" });
        from = unified.original(start + old.len() - suffix);
    }
    out.extend_from_slice(&bytes[from..]);
    Ok((out, starts.len()))
}

/// Lengths of the common start and of the common end of two different texts, not overlapping.
fn common(old: &[u8], new: &[u8]) -> (usize, usize) {
    let prefix = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let rest = old[prefix..].iter().rev().zip(new[prefix..].iter().rev());
    (prefix, rest.take_while(|(a, b)| a == b).count())
}

fn push_lines(out: &mut Vec<u8>, text: &[u8], line_end: &[u8]) {
    let mut from = 0;
    for at in memchr::memchr_iter(b'\n', text) {
        out.extend_from_slice(&text[from..at]);
        out.extend_from_slice(line_end);
        from = at + 1;
    }
    out.extend_from_slice(&text[from..]);
}

fn line_of(text: &[u8], at: usize) -> usize {
    memchr::memchr_iter(b'\n', &text[..at]).count() + 1
}

/// Places listed in an error.
const PLACES_MAX: usize = 10;

fn ambiguous(text: &[u8], starts: &[usize], second: usize) -> String {
    let mut places = starts.to_vec();
    if places.len() < 2 {
        places.push(second);
    }
    let lines: Vec<String> =
        places.iter().take(PLACES_MAX).map(|at| line_of(text, *at).to_string()).collect();
    let more = if places.len() > PLACES_MAX { " …" } else { "" };
    format!(
        "`old` stands in {} places (lines {}{more}); add lines around it until it is one place, or set `all`",
        places.len(),
        lines.join(", ")
    )
}

/// Longest line compared or shown in an error, in characters.
const LINE_CHARS_MAX: usize = 200;
/// Lines searched for something like `old`.
const SEARCHED_LINES_MAX: usize = 100_000;
/// Lines of one candidate shown.
const CANDIDATE_LINES_MAX: usize = 12;

/// A line as it is shown in an error.
pub fn clip(line: &[u8]) -> String {
    let text = shown(&line[..line.len().min(LINE_CHARS_MAX * 4)]);
    match text.char_indices().nth(LINE_CHARS_MAX) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

fn not_found(text: &[u8], old: &str) -> String {
    let mut message = "`old` was not found".to_owned();
    if looks_numbered(old) {
        message.push_str("; it seems to hold the line numbers that read shows: leave them out");
    }
    let lines: Vec<String> = text.split(|byte| *byte == b'\n').take(SEARCHED_LINES_MAX).map(clip).collect();
    let wanted: Vec<String> =
        old.trim_end_matches('\n').split('\n').map(|line| clip(line.as_bytes())).collect();
    match nearest(&lines, &wanted) {
        Some(found) => message + ". " + &found,
        None => message + "; nothing in the file is like it. Read the file again",
    }
}

/// Words on where something like `wanted` stands.
pub fn nearest(lines: &[String], wanted: &[String]) -> Option<String> {
    let found = candidates(lines, wanted);
    if found.is_empty() {
        return None;
    }
    let mut message = "The nearest, with line numbers (which do not belong to the text):".to_owned();
    for (start, like) in found {
        let end = (start + wanted.len()).min(lines.len());
        if like >= 1.0 {
            message.push_str("\n(only white space or case differs)");
        }
        for (at, line) in lines[start..end].iter().enumerate().take(CANDIDATE_LINES_MAX) {
            message.push_str(&format!("\n{:>6}\t{line}", start + at + 1));
        }
        if end - start > CANDIDATE_LINES_MAX {
            message.push_str("\n     …");
        }
    }
    Some(message)
}

fn looks_numbered(old: &str) -> bool {
    old.lines().filter(|line| !line.is_empty()).all(|line| {
        let rest = line.trim_start();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        digits > 0 && rest[digits..].starts_with('\t')
    })
}

/// Where something like `wanted` stands: up to three starts, the most alike first, none overlapping.
fn candidates(lines: &[String], wanted: &[String]) -> Vec<(usize, f64)> {
    let Some((key_at, key)) = wanted.iter().enumerate().max_by_key(|(_, line)| line.trim().len()) else {
        return Vec::new();
    };
    let key = key.trim();
    if key.is_empty() {
        return Vec::new();
    }
    let mut scored: Vec<(usize, f64)> = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| (key.len() / 2..=key.len() * 2 + 4).contains(&line.trim().len()))
        .filter(|(_, line)| same_or_like(line.trim(), key) >= 0.5)
        .map(|(at, _)| {
            let start = at.saturating_sub(key_at);
            let sum: f64 = wanted
                .iter()
                .enumerate()
                .map(|(offset, line)| {
                    lines.get(start + offset).map_or(0.0, |there| same_or_like(there.trim(), line.trim()))
                })
                .sum();
            (start, sum / wanted.len() as f64)
        })
        .collect();
    scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut best: Vec<(usize, f64)> = Vec::new();
    for (start, like) in scored {
        if like >= 0.4 && best.len() < 3 && best.iter().all(|(b, _)| b.abs_diff(start) >= wanted.len()) {
            best.push((start, like));
        }
    }
    best
}

fn same_or_like(a: &str, b: &str) -> f64 {
    if a == b { 1.0 } else { likeness(a, b) }
}

#[cfg(test)]
#[path = "edit_text_tests.rs"]
mod tests;
