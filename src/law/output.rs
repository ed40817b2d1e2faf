//! Law O: bounded output without silent loss.
//!
//! `Bounded` takes the bytes of an output as they come, in any pieces, and keeps at most what its
//! limits say: the head, the tail, or half of each. What it does not keep it counts. Its memory is
//! bounded by the limits, whatever comes. `Spool` says how much of it goes to the file that holds all; writing there is the
//! caller's.
//!
//! Keeps `output_bounded`, `output_no_silent_loss`, `output_optout_keeps_all`,
//! `output_cap_drops_only_excess`, `output_artifact_is_whole`.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// Which part of an output is kept when it passes its bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Keep {
    /// Its beginning.
    Head,
    /// Its end.
    Tail,
    /// Half of the bound from each.
    Ends,
}

/// The bound of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputLimits {
    /// Most bytes kept.
    pub bytes: u64,
    /// Most lines kept.
    pub lines: u64,
    /// Which part.
    pub keep: Keep,
}

/// Whether an output is bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Truncation {
    /// At most this much is kept.
    On(OutputLimits),
    /// Everything is kept.
    Off,
}

/// The default bound: the one place that names it.
pub const DEFAULT_LIMITS: OutputLimits = OutputLimits { bytes: 50 * 1024, lines: 2000, keep: Keep::Head };

/// A character of UTF-8 has at most this many bytes besides its first.
const FOLLOWERS_MAX: usize = 3;

/// An output being bounded. The result does not depend on how the bytes were cut into pieces.
#[derive(Clone, Debug)]
pub struct Bounded {
    /// What may be kept; none: everything.
    limits: Option<OutputLimits>,
    /// The first bytes, up to the head's part of the limits and a character's rest.
    head: Vec<u8>,
    /// Most bytes of `head`.
    head_max: usize,
    /// Lines that the head may still take up.
    head_lines_left: u64,
    /// The newest bytes, up to the limit and the rest of a character before them.
    ring: VecDeque<u8>,
    /// Most bytes of `ring`.
    ring_max: usize,
    /// All bytes so far.
    total: u64,
    /// All newlines so far.
    newlines: u64,
    /// Whether a line was begun and not ended.
    open_line: bool,
}

/// What is left of an output at its end. `head` and `tail` touch when nothing was dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// The kept beginning; all of it when nothing was dropped.
    pub head: Vec<u8>,
    /// The kept end.
    pub tail: Vec<u8>,
    /// Bytes kept: those of `head` and `tail`.
    pub kept: u64,
    /// Bytes dropped between `head` and `tail`.
    pub dropped: u64,
    /// Lines kept; a begun line counts, and the gap ends one.
    pub lines_kept: u64,
    /// Lines of the whole output; a begun last line counts.
    pub lines: u64,
}

/// The file that holds a whole output, up to a bound of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spool {
    max: u64,
    written: u64,
}

impl Spool {
    /// Nothing stands in it; it takes at most `max` bytes.
    pub fn new(max: u64) -> Self {
        Self { max, written: 0 }
    }
    /// Bytes that stand in it.
    pub fn written(&self) -> u64 {
        self.written
    }
    /// How many of the next `count` bytes go into it: all of them, or those that it still takes.
    pub fn room(&self, count: usize) -> usize {
        usize::try_from(self.max.saturating_sub(self.written)).unwrap_or(usize::MAX).min(count)
    }
    /// So many were written.
    pub fn wrote(&mut self, count: usize) {
        self.written = self.written.saturating_add(count as u64);
    }
    /// They could not be; so much stands in it.
    pub fn failed(&mut self, stands: u64) {
        self.written = stands;
    }
}

impl Bounded {
    /// Nothing has come yet.
    pub fn new(truncation: Truncation) -> Self {
        let (limits, head_max, head_lines_left, ring_max) = match truncation {
            Truncation::Off => (None, usize::MAX, u64::MAX, 0),
            Truncation::On(limits) => {
                let bytes = usize::try_from(limits.bytes).unwrap_or(usize::MAX);
                let more = |bytes: usize| bytes.saturating_add(FOLLOWERS_MAX);
                match limits.keep {
                    Keep::Head => (Some(limits), more(bytes), limits.lines, 0),
                    Keep::Tail => (Some(limits), 0, 0, more(bytes)),
                    Keep::Ends => (Some(limits), more(bytes / 2), limits.lines / 2, more(bytes)),
                }
            }
        };
        Self {
            limits,
            head: Vec::new(),
            head_max,
            head_lines_left,
            ring: VecDeque::new(),
            ring_max,
            total: 0,
            newlines: 0,
            open_line: false,
        }
    }

    /// The next bytes of the output.
    pub fn push(&mut self, bytes: &[u8]) {
        let Some(last) = bytes.last() else { return };
        self.total += bytes.len() as u64;
        self.newlines += newlines(bytes);
        self.open_line = *last != b'\n';
        self.push_head(bytes);
        self.push_ring(bytes);
    }

    /// All bytes that came.
    pub fn bytes(&self) -> u64 {
        self.total
    }

    /// All lines that came; a begun line counts.
    pub fn lines(&self) -> u64 {
        self.newlines + u64::from(self.open_line)
    }

    /// The output has ended.
    pub fn finish(mut self) -> Kept {
        let lines = self.lines();
        let Some(limits) = self.limits else {
            return Kept { kept: self.total, lines_kept: lines, lines, head: self.head, ..Kept::default() };
        };
        let ring: &[u8] = self.ring.make_contiguous();
        if self.total <= limits.bytes && lines <= limits.lines {
            let head = if limits.keep == Keep::Head { self.head } else { ring.to_vec() };
            return Kept { kept: self.total, lines_kept: lines, lines, head, ..Kept::default() };
        }
        let head_share = match limits.keep {
            Keep::Head => limits.bytes,
            Keep::Tail => 0,
            Keep::Ends => limits.bytes / 2,
        };
        let mut head = self.head;
        let share = usize::try_from(head_share).unwrap_or(usize::MAX);
        if head.len() > share {
            head.truncate(boundary_before(&head, share));
        }
        let head_lines = line_count(&head);
        let tail = if limits.keep == Keep::Head {
            Vec::new()
        } else {
            let room = limits.bytes - head.len() as u64;
            let rest = self.total - head.len() as u64;
            let wanted = usize::try_from(room.min(rest)).unwrap_or(usize::MAX).min(ring.len());
            let start = boundary_after(ring, ring.len() - wanted);
            last_lines(&ring[start..], limits.lines - head_lines).to_vec()
        };
        let kept = (head.len() + tail.len()) as u64;
        let lines_kept = head_lines + line_count(&tail);
        Kept { head, tail, kept, dropped: self.total - kept, lines_kept, lines }
    }

    fn push_head(&mut self, bytes: &[u8]) {
        let room = self.head_max - self.head.len();
        let mut piece = &bytes[..bytes.len().min(room)];
        if self.head_lines_left == 0 || piece.is_empty() {
            return;
        }
        if self.head_lines_left < u64::MAX {
            let left = usize::try_from(self.head_lines_left - 1).unwrap_or(usize::MAX);
            if let Some(at) = memchr::memchr_iter(b'\n', piece).nth(left) {
                piece = &piece[..=at];
            }
            self.head_lines_left -= newlines(piece);
        }
        self.head.extend_from_slice(piece);
    }

    fn push_ring(&mut self, bytes: &[u8]) {
        let piece = &bytes[bytes.len() - bytes.len().min(self.ring_max)..];
        let over = (self.ring.len() + piece.len()).saturating_sub(self.ring_max);
        self.ring.drain(..over);
        self.ring.extend(piece);
    }
}

impl Kept {
    /// Bounds an output that is here whole.
    pub fn of(bytes: &[u8], truncation: Truncation) -> Kept {
        let mut bounded = Bounded::new(truncation);
        bounded.push(bytes);
        bounded.finish()
    }

    /// The line that stands in the gap: what was kept, what was dropped, and where all of it is.
    /// None when nothing was dropped.
    pub fn gap(&self, artifact: Option<&Path>) -> Option<String> {
        if self.dropped == 0 {
            return None;
        }
        let mut line = format!(
            "[{} bytes kept, {} dropped here; {} of {} lines are shown",
            self.kept, self.dropped, self.lines_kept, self.lines
        );
        if let Some(path) = artifact {
            let _ = write!(line, "; the whole output is in {}", path.display());
        }
        line.push(']');
        Some(line)
    }
}

/// What the model and the person read of an output: the kept text, bytes that are not UTF-8 escaped,
/// and the gap's line where something was dropped.
pub fn render(kept: &Kept, artifact: Option<&Path>) -> String {
    let mut text = shown(&kept.head);
    if let Some(gap) = kept.gap(artifact) {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&gap);
        if !kept.tail.is_empty() {
            text.push('\n');
        }
    }
    text.push_str(&shown(&kept.tail));
    text
}

/// Text as it is, bytes that are not UTF-8 as `\xNN`.
pub fn shown(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02X}");
        }
    }
    text
}

/// Lines of these bytes; a begun last line counts.
pub fn line_count(bytes: &[u8]) -> u64 {
    newlines(bytes) + u64::from(bytes.last().is_some_and(|last| *last != b'\n'))
}

fn newlines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// The character that `at` stands inside of, as (start, end); none at a boundary and among bytes
/// that are not UTF-8.
fn char_across(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    (at.saturating_sub(FOLLOWERS_MAX)..at).find_map(|start| {
        let length = match bytes[start] {
            0xC2..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF4 => 4,
            _ => return None,
        };
        let end = start + length;
        let whole = end > at && bytes.get(start..end).is_some_and(|c| std::str::from_utf8(c).is_ok());
        whole.then_some((start, end))
    })
}

fn boundary_before(bytes: &[u8], at: usize) -> usize {
    char_across(bytes, at).map_or(at, |(start, _)| start)
}

fn boundary_after(bytes: &[u8], at: usize) -> usize {
    char_across(bytes, at).map_or(at, |(_, end)| end)
}

/// The last `lines` lines.
fn last_lines(bytes: &[u8], lines: u64) -> &[u8] {
    let Some(more) = lines.checked_sub(1) else { return &[] };
    let ended = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let nth = usize::try_from(more).unwrap_or(usize::MAX);
    match memchr::memrchr_iter(b'\n', ended).nth(nth) {
        Some(at) => &bytes[at + 1..],
        None => bytes,
    }
}

#[cfg(test)]
mod tests;
