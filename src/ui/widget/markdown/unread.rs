//! A long text that is whole already: its end is read at once, so that it can be shown, the rest by slices.
//!
//! Until then its blocks are those of its end, after one that says how much is not read yet. They are read as if a text
//! began there, so they may differ from what they are in the whole: a block of code that began before is not known.

use super::blocks::{Block, Doc, Kind};

/// A text of so many bytes is read at once.
const AT_ONCE: usize = 128 * 1024;
/// Bytes of the end that are read first.
const END: usize = 48 * 1024;
/// Bytes that are read before what else happens is looked at.
const SLICE: usize = 256 * 1024;

/// The part before the end.
#[derive(Clone, Debug, Default)]
pub(super) struct Unread {
    read: Doc,
    bytes: usize,
}

impl Doc {
    /// The text is whole, like `finish`; of a long one only the end is read now, and `read_on` reads the rest.
    pub fn finish_from_its_end(&mut self, src: &str) {
        if self.finished() {
            return;
        }
        // what streamed in has been read but for its end
        if !self.untouched() || src.len() <= AT_ONCE || src.len() > u32::MAX as usize {
            return self.finish(src);
        }
        let from = begin_of_end(src);
        let mut end = Doc::from(from);
        end.finish(src);
        end.unread = Some(Box::default());
        *self = end;
    }
    /// Whether the part before its end is not read yet.
    pub fn unread(&self) -> bool {
        self.unread.is_some()
    }
    /// Reads a slice of it. Some: it is read, and this tells which block now is where one was.
    pub fn read_on(&mut self, src: &str) -> Option<Vec<usize>> {
        let unread = self.unread.as_mut()?;
        let to = src.floor_char_boundary((unread.bytes + SLICE).min(src.len()));
        unread.bytes = to;
        unread.read.read(&src[..to]);
        (to == src.len()).then(|| self.read_whole(src))
    }
    /// Reads all that is left of it.
    pub fn read_whole(&mut self, src: &str) -> Vec<usize> {
        let Some(mut unread) = self.unread.take() else { return (0..self.blocks().len()).collect() };
        unread.read.finish(src);
        let begins = |doc: &Doc, block: &Block| doc.lines.get(block.lines.start as usize).map(|line| line.0);
        let whole: Vec<u32> = {
            let (mut last, read) = (0, &unread.read);
            let all = read.blocks.iter().map(|block| {
                last = begins(read, block).unwrap_or(last).max(last);
                last
            });
            all.collect()
        };
        let place = |block: &Block| match begins(self, block) {
            Some(begin) if !matches!(block.kind, Kind::Unread(_)) => {
                whole.partition_point(|from| *from <= begin).saturating_sub(1)
            }
            Some(_) | None => 0,
        };
        let mut moved: Vec<usize> = self.blocks.iter().map(place).collect();
        // what has no line of its own stands behind what was before it
        for at in 1..moved.len() {
            moved[at] = moved[at].max(moved[at - 1]);
        }
        *self = unread.read;
        moved
    }
}

/// Where the end of a long text begins: behind a blank line if one is near, else at a line.
fn begin_of_end(src: &str) -> usize {
    let at = src.ceil_char_boundary(src.len() - END);
    let near = &src[at..src.ceil_char_boundary(src.len() - END / 2)];
    let blank = near.find("\n\n").map(|blank| blank + 2);
    let line = || near.find('\n').map(|line| line + 1);
    at + blank.or_else(line).unwrap_or(0)
}
