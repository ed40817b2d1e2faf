//! Open hunks as conflict markers, for an editor, and back.
//!
//! The form is git's diff3: parent, base, child. The markers are longer than any run of their characters at the
//! beginning of a line of the texts, so that they are never taken for content. What comes back is spread over the
//! hunks as any edit by hand; a hunk whose block came back as it was stays open. A merge from elsewhere is taken so, too:
//! a hunk in which it left a block stays open, the others are decided.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::regions::{Ending, Side, Three, lines};
use super::resolution::{ByOpen, Choice, Resolution};
use super::spread::spread;

/// The length of a marker that nothing in the texts forbids.
const SIZE_MIN: usize = 7;

const MARKS: [u8; 4] = [b'<', b'|', b'=', b'>'];

/// A text with markers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marked {
    /// Its bytes.
    pub text: Vec<u8>,
    /// The length of its markers.
    pub size: usize,
}

/// What came back and cannot be taken: the first of it, and all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// The hunk whose markers are left though its block was changed: a place in the regions.
    pub region: usize,
    /// The line of the marker in what came back, counted from 1.
    pub line: usize,
    /// What came back of each such hunk.
    pub halves: BTreeMap<usize, Vec<u8>>,
}

/// The result with a block for each open hunk.
pub fn out(resolution: &Resolution) -> Marked {
    gone_on(resolution, &BTreeMap::new())
}

/// The same, where of some hunks stands what came back half.
pub fn gone_on(resolution: &Resolution, halves: &BTreeMap<usize, Vec<u8>>) -> Marked {
    let size = size(resolution);
    let one =
        |at: usize| halves.get(&at).map_or_else(|| piece(resolution, at, size).into_owned(), Vec::clone);
    Marked { text: (0..resolution.regions().len()).flat_map(one).collect(), size }
}

/// Takes back what an editor made of `out`. A hunk whose block is left half stays as it was, and is told of.
pub fn back(resolution: &mut Resolution, text: &[u8]) -> Result<(), Left> {
    let size = size(resolution);
    let before = resolution.clone();
    let pieces = before.pieces(|at| piece(&before, at, size), |_| ByOpen::Nothing);
    let mut line = 1;
    let mut choices = Vec::new();
    let mut left: Option<Left> = None;
    for (at, new) in spread(&pieces, text).into_iter().enumerate() {
        let kept = new == pieces[at].text;
        let here = lines(&new);
        if !kept && let Some(mark) = here.iter().position(|line| is_marker(line, size)) {
            let first = Left { region: at, line: line + mark, halves: BTreeMap::new() };
            line += here.len();
            left.get_or_insert(first).halves.insert(at, new.into_owned());
            choices.push(resolution.choices()[at].clone());
            continue;
        }
        line += here.len();
        choices.push(match &resolution.choices()[at] {
            choice if kept => choice.clone(),
            // the parent's lines alone are a choice here: the block said that it was open
            Choice::Open if *new == *resolution.text(at) => Choice::Parent,
            _ => resolution.edited(at, &new),
        });
    }
    resolution.step(choices);
    left.map_or(Ok(()), Err)
}

/// Takes a merge from elsewhere, whose blocks (base in them or not) have markers of `size_of`: every hunk is decided but
/// those in which a block is left. Whether it is a merge at all: each block is whole. One step, which can be taken back.
pub fn adopt(resolution: &mut Resolution, merge: &[u8]) -> bool {
    let Some((text, left)) = unmarked(merge, size_of(resolution.three())) else { return false };
    let before = resolution.clone();
    // what is beside a hunk that stays open is not of it
    let mut doubted = BTreeSet::new();
    let new = loop {
        let by_open = |at| if doubted.contains(&at) { ByOpen::Nothing } else { ByOpen::All };
        let pieces = before.pieces(|at| Cow::Borrowed(before.text(at)), by_open);
        let new: Vec<Vec<u8>> = spread(&pieces, &text).into_iter().map(Cow::into_owned).collect();
        let known = doubted.len();
        doubted.extend(left_in(&before, &new, &left));
        if doubted.len() == known {
            break new;
        }
    };
    let choice = |(at, new): (usize, &Vec<u8>)| match &before.choices()[at] {
        old if doubted.contains(&at) => old.clone(),
        Choice::Open if **new == *before.text(at) => Choice::Parent,
        _ => before.edited(at, new),
    };
    resolution.step(new.iter().enumerate().map(choice).collect());
    true
}

/// The hunks in which a block is left. One that only touches what nobody is asked about says nothing of it.
fn left_in(of: &Resolution, new: &[Vec<u8>], left: &[Range<usize>]) -> Vec<usize> {
    let mut from = 0;
    let mut doubted = Vec::new();
    for (at, new) in new.iter().enumerate() {
        let here = from..from + new.len();
        from = here.end;
        let doubt = left.iter().any(|block| block.start <= here.end && here.start <= block.end);
        if doubt && of.regions()[at].is_hunk() {
            doubted.push(at);
        }
    }
    doubted
}

/// A merge with the parent's lines in place of its blocks, and where these are, in bytes; none: a block is not whole.
fn unmarked(merge: &[u8], size: usize) -> Option<(Vec<u8>, Vec<Range<usize>>)> {
    let (mut text, mut left) = (Vec::new(), Vec::new());
    // where the block began, and the mark that was seen last
    let mut block: Option<(usize, u8)> = None;
    for line in lines(merge) {
        let mark = line.first().copied().filter(|_| is_marker(line, size));
        block = match (block, mark) {
            (None, None) => {
                text.extend_from_slice(line);
                None
            }
            (None, Some(b'<')) => Some((text.len(), b'<')),
            (Some((from, b'<')), None) => {
                text.extend_from_slice(line);
                Some((from, b'<'))
            }
            (open @ Some(_), None) => open,
            (Some((from, b'<')), Some(b'|')) => Some((from, b'|')),
            (Some((from, b'<' | b'|')), Some(b'=')) => Some((from, b'=')),
            (Some((from, b'=')), Some(b'>')) => {
                left.push(from..text.len());
                None
            }
            (_, Some(_)) => return None,
        };
    }
    block.is_none().then_some((text, left))
}

fn piece(resolution: &Resolution, at: usize, size: usize) -> Cow<'_, [u8]> {
    if resolution.choices()[at] != Choice::Open {
        return Cow::Borrowed(resolution.text(at));
    }
    let three = resolution.three();
    let ending = Ending::of(three.bytes(Side::Parent)).as_bytes();
    let number = resolution.hunks().take_while(|hunk| *hunk <= at).count();
    let mut block = Vec::new();
    let mut part = |mark: u8, name: &str, side: Option<Side>| {
        block.extend(std::iter::repeat_n(mark, size));
        if !name.is_empty() {
            block.extend(format!(" {name} (hunk {number})").into_bytes());
        }
        block.extend(ending);
        let lines = side.map_or(&b""[..], |side| three.of(side, &resolution.regions()[at]));
        block.extend(lines);
        if lines.last().is_some_and(|byte| !matches!(byte, b'\n' | b'\r')) {
            block.extend(ending);
        }
    };
    part(b'<', "parent", Some(Side::Parent));
    part(b'|', "base", Some(Side::Base));
    part(b'=', "", Some(Side::Child));
    part(b'>', "child", None);
    Cow::Owned(block)
}

/// The length of markers that are longer than what three versions have of them.
pub fn size_of(three: &Three) -> usize {
    let sides = [Side::Base, Side::Parent, Side::Child].into_iter();
    longer(sides.map(|side| longest(three.bytes(side))).max())
}

/// The longest run of a marker's character at the beginning of a line.
fn longest(text: &[u8]) -> usize {
    let run = |line: &[u8]| {
        let first = *line.first().filter(|first| MARKS.contains(first))?;
        Some(line.iter().take_while(|byte| **byte == first).count())
    };
    lines(text).into_iter().filter_map(run).max().unwrap_or(0)
}

fn longer(longest: Option<usize>) -> usize {
    longest.filter(|longest| *longest >= SIZE_MIN).map_or(SIZE_MIN, |longest| longest + 1)
}

/// The length of the markers: longer than what the texts have of them, those written by hand too.
fn size(resolution: &Resolution) -> usize {
    let edited = resolution.choices().iter().filter_map(Choice::by_hand);
    longer(edited.map(longest).max()).max(size_of(resolution.three()))
}

fn is_marker(line: &[u8], size: usize) -> bool {
    let Some(first) = line.first().filter(|first| MARKS.contains(first)) else { return false };
    let run = line.iter().take_while(|byte| *byte == first).count();
    run == size && matches!(line.get(size), None | Some(b' ' | b'\n' | b'\r'))
}
