//! A unified diff as rows: one column or side by side, both lines' numbers, the colours of the language,
//! and what changed inside a line.
//!
//! In reading order: this file (what a diff is made of, and where its lines stand in each side),
//! `lay` (rows of a piece), `inside` (a line in looks). Reading is linear; all else is worked out only
//! for the lines laid out. The text stays with its owner, and so do the colours (`Stream`).

mod inside;
mod lay;

pub use lay::{SIDES_FROM, Shape};

use super::row::Role;

/// Lines that are laid out as one piece.
const PIECE: usize = 64;

/// Colours of a line of one side: where each role ends, in bytes of the line.
pub type Colours<'a> = &'a dyn Fn(Stream, u32) -> Option<&'a [(u32, Role)]>;

/// What is coloured in one go: one side of one hunk. Nothing is known of what stands between hunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stream(u32);

impl Stream {
    /// Its number in the diff.
    pub fn number(self) -> u32 {
        self.0
    }
}

/// What a line of a diff is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Head,
    Hunk,
    Same,
    Added,
    Removed,
    Note,
}

#[derive(Clone, Copy, Debug)]
struct Line {
    sort: Sort,
    /// Its numbers in the old and the new file, where it stands in them.
    old: u32,
    new: u32,
    from: u32,
    to: u32,
    /// The hunk that it stands in.
    hunk: u32,
    /// The line of the other side that this one replaced or became.
    partner: Option<u32>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Hunk {
    /// The line of the diff behind its head.
    line: u32,
    /// The numbers of its first lines.
    old: u32,
    new: u32,
    /// The path of its file, as a range of the text.
    path: (u32, u32),
}

/// A diff that was read. The text stays with its owner.
#[derive(Clone, Debug, Default)]
pub struct Diff {
    lines: Vec<Line>,
    hunks: Vec<Hunk>,
    digits: usize,
}

/// Where reading stands.
#[derive(Default)]
struct Reader {
    old: u32,
    new: u32,
    /// Lines that the hunk still owes, so that `--- ` inside one is a removal.
    owed_old: u32,
    owed_new: u32,
    path: (u32, u32),
    hunks: Vec<Hunk>,
}

impl Reader {
    /// What a line is, and how many bytes of it are a mark.
    fn line(&mut self, body: &str, from: usize, at: usize) -> (Sort, usize) {
        let inside = self.owed_old > 0 || self.owed_new > 0;
        match body.as_bytes().first() {
            Some(b'@') => {
                ((self.old, self.owed_old), (self.new, self.owed_new)) = hunk(body);
                let (line, old, new, path) = (at as u32 + 1, self.old, self.new, self.path);
                self.hunks.push(Hunk { line, old, new, path });
                (Sort::Hunk, 0)
            }
            Some(b'+') if inside => {
                self.new = self.new.saturating_add(1);
                self.owed_new = self.owed_new.saturating_sub(1);
                (Sort::Added, 1)
            }
            Some(b'-') if inside => {
                self.old = self.old.saturating_add(1);
                self.owed_old = self.owed_old.saturating_sub(1);
                (Sort::Removed, 1)
            }
            Some(b'\\') => (Sort::Note, 0),
            Some(b' ') | None if inside => {
                (self.old, self.new) = (self.old.saturating_add(1), self.new.saturating_add(1));
                self.owed_old = self.owed_old.saturating_sub(1);
                self.owed_new = self.owed_new.saturating_sub(1);
                (Sort::Same, usize::from(!body.is_empty()))
            }
            Some(_) | None => {
                for mark in ["--- ", "+++ "] {
                    if let Some(path) = body.strip_prefix(mark).filter(|path| *path != "/dev/null") {
                        let path = path.split('\t').next().unwrap_or(path);
                        self.path = ((from + mark.len()) as u32, (from + mark.len() + path.len()) as u32);
                    }
                }
                (Sort::Head, 0)
            }
        }
    }
}

impl Diff {
    /// Reads a unified diff.
    pub fn read(text: &str) -> Self {
        let mut lines: Vec<Line> = Vec::new();
        let (mut reader, mut last, mut at) = (Reader::default(), 0, 0);
        for line in text.split_inclusive('\n') {
            let from = at;
            at += line.len();
            let body = line.strip_suffix('\n').unwrap_or(line);
            let to = (from + body.len()) as u32;
            let (old, new) = (reader.old, reader.new);
            let (sort, skip) = reader.line(body, from, lines.len());
            last = last.max(match sort {
                Sort::Same => old.max(new),
                Sort::Added => new,
                Sort::Removed => old,
                Sort::Head | Sort::Hunk | Sort::Note => 0,
            });
            let hunk = (reader.hunks.len() as u32).saturating_sub(1);
            lines.push(Line { sort, old, new, from: (from + skip) as u32, to, hunk, partner: None });
        }
        pair(&mut lines);
        Self { lines, hunks: reader.hunks, digits: last.to_string().len() }
    }
    /// How many pieces it is laid out in.
    pub fn pieces(&self) -> usize {
        self.lines.len().div_ceil(PIECE)
    }
    /// What is to be coloured for a piece: each side of each hunk, up to which of its lines.
    pub fn wanted(&self, piece: usize) -> Vec<(Stream, u32)> {
        let mut out: Vec<(Stream, u32)> = Vec::new();
        let own = self.lines.iter().skip(piece * PIECE).take(PIECE);
        // side by side a line's partner stands beside it, wherever it comes in the diff
        let beside = own.clone().filter_map(|line| self.lines.get(line.partner? as usize));
        for line in own.chain(beside) {
            for (stream, index) in self.sides(line).into_iter().flatten() {
                match out.iter_mut().find(|(known, _)| *known == stream) {
                    Some((_, end)) => *end = (*end).max(index + 1),
                    None => out.push((stream, index + 1)),
                }
            }
        }
        out
    }
    /// The language of a stream, by the name of its file: its extension, else all of it.
    pub fn language<'a>(&self, text: &'a str, stream: Stream) -> &'a str {
        let Some(hunk) = self.hunks.get(stream.0 as usize / 2) else { return "" };
        let path = text.get(hunk.path.0 as usize..hunk.path.1 as usize).unwrap_or_default();
        let name = path.rsplit('/').next().unwrap_or(path);
        match name.rsplit_once('.') {
            Some((stem, extension)) if !stem.is_empty() => extension,
            Some(_) | None => name,
        }
    }
    /// Lines of a stream.
    pub fn stream<'a>(&self, text: &'a str, stream: Stream, lines: std::ops::Range<u32>) -> Vec<&'a str> {
        let Some(hunk) = self.hunks.get(stream.0 as usize / 2) else { return Vec::new() };
        let other = if stream.0.is_multiple_of(2) { Sort::Added } else { Sort::Removed };
        let all = self.lines.iter().skip(hunk.line as usize);
        let of_hunk = all.take_while(|line| line.sort != Sort::Hunk && line.sort != Sort::Head);
        let of_side = of_hunk.filter(|line| line.sort != other && line.sort != Sort::Note);
        of_side.skip(lines.start as usize).take(lines.len()).map(|line| self.text(text, line)).collect()
    }
    /// The pieces that show something of a stream, by its number.
    pub fn pieces_of(&self, stream: u32) -> std::ops::Range<usize> {
        let hunk = stream as usize / 2;
        let Some(from) = self.hunks.get(hunk).map(|hunk| hunk.line as usize) else { return 0..0 };
        let to = self.hunks.get(hunk + 1).map_or(self.lines.len(), |next| next.line as usize);
        from / PIECE..to.div_ceil(PIECE)
    }
    /// Where a line stands in the old and in the new side.
    fn sides(&self, line: &Line) -> [Option<(Stream, u32)>; 2] {
        let Some(hunk) = self.hunks.get(line.hunk as usize) else { return [None, None] };
        let old = (Stream(line.hunk * 2), line.old.saturating_sub(hunk.old));
        let new = (Stream(line.hunk * 2 + 1), line.new.saturating_sub(hunk.new));
        match line.sort {
            Sort::Same => [Some(old), Some(new)],
            Sort::Removed => [Some(old), None],
            Sort::Added => [None, Some(new)],
            Sort::Head | Sort::Hunk | Sort::Note => [None, None],
        }
    }
    fn text<'a>(&self, text: &'a str, line: &Line) -> &'a str {
        text.get(line.from as usize..line.to as usize).unwrap_or_default()
    }
}

/// `@@ -a,b +c,d @@`: first line and count of each side.
fn hunk(line: &str) -> ((u32, u32), (u32, u32)) {
    let side = |mark: char| {
        let range = line.split(' ').find_map(|word| word.strip_prefix(mark)).unwrap_or("0,0");
        let (first, count) = range.split_once(',').unwrap_or((range, "1"));
        (first.parse().unwrap_or(0), count.parse().unwrap_or(0))
    };
    (side('-'), side('+'))
}

/// Removed lines that added ones follow at once are their partners, one by one.
fn pair(lines: &mut [Line]) {
    let mut at = 0;
    while at < lines.len() {
        let run = |from: usize, sort: Sort| lines[from..].iter().take_while(|line| line.sort == sort).count();
        let removed = run(at, Sort::Removed);
        let added = run(at + removed, Sort::Added);
        for offset in 0..removed.min(added) {
            let (a, b) = (at + offset, at + removed + offset);
            lines[a].partner = Some(b as u32);
            lines[b].partner = Some(a as u32);
        }
        at += (removed + added).max(1);
    }
}

#[cfg(test)]
mod tests;
