//! The piece of a job's output that is held, cut into lines: the same ones whichever piece it is.
//!
//! A line ends with its newline. One that goes on for longer than a cell of the file is cut at a cell's border, so
//! that a gigabyte without a newline has lines too: a border is a cut where the cell before it holds no newline.
//! Whether there is one is so known from near by, and scrolling up meets the lines that scrolling down met.

use memchr::{memchr, memrchr};

/// Bytes of a file from a place on.
#[derive(Debug)]
pub struct Held {
    bytes: Vec<u8>,
    from: u64,
    cell: u64,
}

impl Held {
    /// Nothing, with cells of so many bytes.
    pub fn new(cell: u64) -> Self {
        Self { bytes: Vec::new(), from: 0, cell }
    }
    /// Forgets all, and holds these.
    pub fn replace(&mut self, from: u64, bytes: Vec<u8>) {
        (self.from, self.bytes) = (from, bytes);
    }
    /// Where it begins.
    pub fn from(&self) -> u64 {
        self.from
    }
    /// Where it ends.
    pub fn end(&self) -> u64 {
        self.from + self.len()
    }
    /// How much it is.
    pub fn len(&self) -> u64 {
        self.bytes.len() as u64
    }
    /// Takes bytes that stand before, behind or over what is held; whether it grew.
    pub fn join(&mut self, from: u64, bytes: &[u8]) -> bool {
        let end = from + bytes.len() as u64;
        let before = self.bytes.len();
        if from <= self.end() && end > self.end() && from >= self.from {
            self.bytes.extend_from_slice(&bytes[(self.end() - from) as usize..]);
        } else if from < self.from && end >= self.from {
            let mut joined = bytes[..(self.from - from) as usize].to_vec();
            joined.append(&mut self.bytes);
            (self.from, self.bytes) = (from, joined);
        }
        self.bytes.len() != before
    }
    /// Keeps what stands between two places.
    pub fn keep(&mut self, from: u64, to: u64) {
        self.bytes.truncate(to.saturating_sub(self.from) as usize);
        let gone = from.saturating_sub(self.from).min(self.len());
        self.bytes.drain(..gone as usize);
        self.from += gone;
    }
    /// The bytes between two places that are held.
    pub fn slice(&self, from: u64, to: u64) -> &[u8] {
        let at = |place: u64| place.clamp(self.from, self.end()).saturating_sub(self.from) as usize;
        &self.bytes[at(from)..at(to).max(at(from))]
    }

    /// A border as a cut: no character is cut in two.
    fn cut(&self, border: u64) -> u64 {
        let inside = |byte: &&u8| (0x80..=0xbf).contains(*byte);
        border + self.slice(border, border + 3).iter().take_while(inside).count() as u64
    }

    /// Where the first line begins of which the begin is known; none: nowhere.
    pub fn head(&self) -> Option<u64> {
        if self.from == 0 {
            return Some(0);
        }
        let newline = memchr(b'\n', &self.bytes).map(|at| self.from + at as u64 + 1);
        let border = self.from.next_multiple_of(self.cell) + self.cell;
        match newline {
            Some(at) if at <= border => Some(at),
            Some(_) | None => (border <= self.end()).then(|| self.cut(border)),
        }
    }

    /// Where the line ends that begins at `start`: past its newline, at a cut, or at the end of what is held.
    pub fn next(&self, start: u64) -> u64 {
        let line = start == 0 || self.slice(start - 1, start) == b"\n";
        let base = if line { start } else { start - start % self.cell };
        let border = base.next_multiple_of(self.cell) + self.cell;
        match memchr(b'\n', self.slice(start, border)) {
            Some(at) => start + at as u64 + 1,
            None if border < self.end() => self.cut(border),
            None => self.end(),
        }
    }

    /// Where the line begins that ends at `start` (or the one in which it stands); none: before what is known.
    pub fn before(&self, start: u64) -> Option<u64> {
        let head = self.head().filter(|head| *head < start)?;
        let last = start - 1;
        let near = head.max(last.saturating_sub(3 * self.cell));
        let newline = memrchr(b'\n', self.slice(near, last)).map(|at| near + at as u64 + 1);
        let border = last - last % self.cell;
        let cut = [border, border.saturating_sub(self.cell)].into_iter().find_map(|border| {
            let known = border >= self.from + self.cell;
            let whole = known && memchr(b'\n', self.slice(border - self.cell, border)).is_none();
            whole.then(|| self.cut(border)).filter(|cut| *cut < start)
        });
        [Some(head), newline, cut].into_iter().flatten().max()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(held: &Held) -> Vec<u64> {
        let mut at = held.head().unwrap_or(held.end());
        let mut out = Vec::new();
        while at < held.end() {
            out.push(at);
            let next = held.next(at);
            assert!(next > at);
            at = next;
        }
        out
    }

    fn file() -> impl Strategy<Value = Vec<u8>> {
        let part = prop_oneof![
            3 => "[a-z]{0,12}\n".prop_map(String::into_bytes),
            2 => "[a-zé日]{0,30}".prop_map(String::into_bytes),
            1 => prop::collection::vec(any::<u8>(), 0..30),
            1 => Just(b"\n\n".to_vec()),
        ];
        prop::collection::vec(part, 0..14).prop_map(|parts| parts.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn lines_are_the_same_in_every_piece(file in file(), from in 0usize..200, len in 0usize..200) {
            let mut whole = Held::new(8);
            whole.replace(0, file.clone());
            let all = lines(&whole);
            let from = from.min(file.len());
            let to = (from + len).min(file.len());
            let mut piece = Held::new(8);
            piece.replace(from as u64, file[from..to].to_vec());
            let seen = lines(&piece);
            // a cut's place needs the three bytes behind it
            let sure = |at: &&u64| **at + 3 <= to as u64;
            let wanted: Vec<&u64> = all.iter().filter(|at| seen.first().is_some_and(|first| *at >= first)).filter(sure).collect();
            let seen_sure: Vec<&u64> = seen.iter().filter(sure).collect();
            prop_assert_eq!(seen_sure, wanted);
        }
        #[test]
        fn going_up_meets_the_lines_of_going_down(file in file(), from in 0usize..100) {
            let mut held = Held::new(8);
            let from = from.min(file.len());
            held.replace(from as u64, file[from..].to_vec());
            let mut down = lines(&held);
            let mut at = held.end();
            while let Some(before) = held.before(at) {
                prop_assert_eq!(down.pop(), Some(before));
                at = before;
            }
            prop_assert!(down.is_empty());
        }
        #[test]
        fn pieces_join_to_the_file(file in file(), a in 0usize..100, b in 0usize..100, c in 0usize..100) {
            let mut cuts = [a.min(file.len()), b.min(file.len()), c.min(file.len())];
            cuts.sort_unstable();
            let [a, b, c] = cuts;
            let mut held = Held::new(8);
            held.replace(b as u64, file[b..c].to_vec());
            held.join(a as u64, &file[a..b]);
            held.join(c as u64, &file[c..]);
            prop_assert_eq!((held.from(), held.slice(0, u64::MAX)), (a as u64, &file[a..]));
            held.keep(b as u64, c as u64);
            prop_assert_eq!((held.from(), held.slice(0, u64::MAX)), (b as u64, &file[b..c]));
        }
    }

    #[test]
    fn a_gigabyte_without_a_newline_has_lines() {
        let mut held = Held::new(16 * 1024);
        held.replace(5_000_001, vec![b'x'; 100_000]);
        assert!(held.head().is_some_and(|head| head < 5_040_000));
        assert!(lines(&held).len() >= 4);
    }
}
