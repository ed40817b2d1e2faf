//! Who changed which lines: three texts as lines, and the regions of their alignment.
//!
//! A line ends with LF, CR LF or CR, which belongs to it; the last one may have no end.

use std::ops::Range;
use std::sync::Arc;

use similar::{DiffableStr, MergeResolution, TextMergeConfig, WhitespaceMode};

/// Where a text is taken for binary: a NUL in its first bytes, as git does it.
const BINARY_LOOK: usize = 8000;

/// Whether a text has no lines to speak of.
pub fn is_binary(text: &[u8]) -> bool {
    text[..text.len().min(BINARY_LOOK)].contains(&0)
}

/// The lines of a text, each with its end.
pub fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.tokenize_lines()
}

/// How the lines of a text end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With LF.
    Lf,
    /// With CR LF.
    CrLf,
}

impl Ending {
    /// The ending of most lines of a text; of none: LF.
    pub fn of(text: &[u8]) -> Ending {
        let (mut with, mut without) = (0_usize, 0_usize);
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            match line {
                [.., b'\r', b'\n'] => with += 1,
                [.., b'\n'] => without += 1,
                _ => {}
            }
        }
        if with > without { Ending::CrLf } else { Ending::Lf }
    }

    /// Its bytes.
    pub fn as_bytes(self) -> &'static [u8] {
        match self {
            Ending::Lf => b"\n",
            Ending::CrLf => b"\r\n",
        }
    }
}

/// A version of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// As the child found it.
    Base,
    /// The parent's.
    Parent,
    /// The child's.
    Child,
}

/// One version: its bytes, and where its lines are.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Text {
    bytes: Arc<[u8]>,
    /// The end of each line.
    ends: Vec<usize>,
}

impl Text {
    fn new(bytes: &[u8]) -> Text {
        let ends = lines(bytes).into_iter().scan(0, |end, line| {
            *end += line.len();
            Some(*end)
        });
        Text { ends: ends.collect(), bytes: bytes.into() }
    }

    fn part(&self, lines: Range<usize>) -> &[u8] {
        let before = |line: usize| line.checked_sub(1).and_then(|at| self.ends.get(at)).copied().unwrap_or(0);
        let (from, to) = (before(lines.start), before(lines.end));
        self.bytes.get(from..to).unwrap_or_default()
    }
}

/// The three versions of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Three {
    base: Text,
    parent: Text,
    child: Text,
}

impl Three {
    /// Takes the three versions; one that is absent is empty.
    pub fn new(base: &[u8], parent: &[u8], child: &[u8]) -> Three {
        Three { base: Text::new(base), parent: Text::new(parent), child: Text::new(child) }
    }

    fn text(&self, side: Side) -> &Text {
        match side {
            Side::Base => &self.base,
            Side::Parent => &self.parent,
            Side::Child => &self.child,
        }
    }

    /// A version, whole.
    pub fn bytes(&self, side: Side) -> &[u8] {
        &self.text(side).bytes
    }

    /// How many lines a version has.
    pub fn len(&self, side: Side) -> usize {
        self.text(side).ends.len()
    }

    /// Lines of a version, as one piece; what is out of range is left away.
    pub fn part(&self, side: Side, lines: Range<usize>) -> &[u8] {
        self.text(side).part(lines)
    }

    /// A region's lines of a version.
    pub fn of(&self, side: Side, region: &Region) -> &[u8] {
        self.part(side, region.lines(side))
    }

    /// The regions, in order, of all lines of all versions. With `whitespace` set aside, lines that differ in it only
    /// count as equal: for looking at, not for merging.
    pub fn regions(&self, whitespace: Whitespace) -> Vec<Region> {
        let mode = match whitespace {
            Whitespace::Counts => WhitespaceMode::Exact,
            Whitespace::SetAside => WhitespaceMode::IgnoreAll,
        };
        let merge = TextMergeConfig::new().whitespace_mode(mode).merge_lines(
            self.bytes(Side::Base),
            self.bytes(Side::Parent),
            self.bytes(Side::Child),
        );
        let regions = merge.regions().iter().map(|region| Region {
            base: region.base_range(),
            parent: region.ours_range(),
            child: region.theirs_range(),
            changed: match region.resolution() {
                MergeResolution::Ours => Changed::Parent,
                MergeResolution::Theirs => Changed::Child,
                MergeResolution::Both => Changed::Same,
                MergeResolution::Unchanged => Changed::Nobody,
                // a kind that is new to the library is left to the person
                _ => Changed::Both,
            },
        });
        let mut regions: Vec<Region> = regions.collect();
        if regions.is_empty() {
            // three empty texts: what is written by hand needs a place
            regions.push(Region { base: 0..0, parent: 0..0, child: 0..0, changed: Changed::Nobody });
        }
        regions
    }
}

/// Whether whitespace counts when lines are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whitespace {
    /// It does.
    Counts,
    /// It does not.
    SetAside,
}

/// Who changed a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Changed {
    /// No one.
    Nobody,
    /// Only the parent.
    Parent,
    /// Only the child.
    Child,
    /// Both, to the same.
    Same,
    /// Both, differently: a conflict.
    Both,
}

/// Lines that belong together, in each version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// The lines of the base.
    pub base: Range<usize>,
    /// The lines of the parent's.
    pub parent: Range<usize>,
    /// The lines of the child's.
    pub child: Range<usize>,
    /// Who changed them.
    pub changed: Changed,
}

impl Region {
    /// Its lines in a version.
    pub fn lines(&self, side: Side) -> Range<usize> {
        match side {
            Side::Base => self.base.clone(),
            Side::Parent => self.parent.clone(),
            Side::Child => self.child.clone(),
        }
    }

    /// Whether anyone changed it.
    pub fn is_hunk(&self) -> bool {
        self.changed != Changed::Nobody
    }
}
