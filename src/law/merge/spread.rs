//! An edit by hand, spread over the pieces that a text is made of, so that each piece stays known.
//!
//! Lines that stayed remain in their piece. What replaces lines goes to the piece of the first of them (a hunk before
//! one that is none). What is put between two pieces goes to a hunk that takes it, so that a choice for the hunk replaces
//! it: all of them do but open ones, which take a line of their versions only, since any other says nothing of the hunk and
//! must not decide it. Where an edit can be read as one of hunks alone, it is.

use std::borrow::Cow;
use std::collections::HashSet;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::regions::lines;

/// A piece of a text.
#[derive(Clone, Debug)]
pub(super) struct Piece<'a> {
    /// Its bytes: whole lines, but for the end of the text.
    pub text: Cow<'a, [u8]>,
    /// Whether it is a hunk.
    pub hunk: bool,
    /// What it takes of what is put beside it.
    pub beside: Beside<'a>,
}

/// What a piece takes of lines that are put beside it.
#[derive(Clone, Debug)]
pub(super) enum Beside<'a> {
    /// Nothing.
    Nothing,
    /// Everything.
    All,
    /// What has one of these lines.
    With(HashSet<&'a [u8]>),
}

impl Beside<'_> {
    fn takes(&self, put: &[&[u8]]) -> bool {
        match self {
            Beside::Nothing => false,
            Beside::All => true,
            Beside::With(known) => put.iter().any(|line| known.contains(line)),
        }
    }
}

/// The texts of the pieces after the whole became `new`. Put together they are `new`, byte for byte. Pieces before the
/// first and after the last byte that changed are not compared, but for the nearest ones.
pub(super) fn spread<'a>(pieces: &'a [Piece<'_>], new: &[u8]) -> Vec<Cow<'a, [u8]>> {
    let (mut front, mut from) = (0, 0);
    while let Some(piece) = pieces.get(front).filter(|piece| new[from..].starts_with(&piece.text)) {
        (front, from) = (front + 1, from + piece.text.len());
    }
    if front == pieces.len() && from == new.len() {
        return pieces.iter().map(|piece| Cow::Borrowed(&*piece.text)).collect();
    }
    // what is put between two pieces may belong to the one before
    for _ in 0..2 {
        if front > 0 {
            front -= 1;
            from -= pieces[front].text.len();
        }
    }
    let (mut back, mut to) = (pieces.len(), new.len());
    while back > front && new[from..to].ends_with(&pieces[back - 1].text) {
        (back, to) = (back - 1, to - pieces[back - 1].text.len());
    }
    for _ in 0..2 {
        if back < pieces.len() {
            to += pieces[back].text.len();
            back += 1;
        }
    }
    let kept = |piece: &'a Piece<'_>| Cow::Borrowed(&*piece.text);
    let mut all: Vec<Cow<'a, [u8]>> = pieces[..front].iter().map(kept).collect();
    all.extend(compared(&pieces[front..back], &new[from..to]).into_iter().map(Cow::Owned));
    all.extend(pieces[back..].iter().map(kept));
    let outside = pieces.iter().zip(&all).any(|(piece, now)| !piece.hunk && piece.text != *now);
    match outside.then(|| of_hunks(pieces, new)).flatten() {
        Some(of_hunks) => of_hunks.into_iter().map(Cow::Owned).collect(),
        None => all,
    }
}

/// The text as one in which hunks alone are others; none: it cannot be read so, or a hunk would get what it does not take.
fn of_hunks(pieces: &[Piece<'_>], new: &[u8]) -> Option<Vec<Vec<u8>>> {
    let new = lines(new);
    let mut spread: Vec<Vec<&[u8]>> = vec![Vec::new(); pieces.len()];
    let mut from = 0;
    let mut waiting: Option<usize> = None;
    for (at, piece) in pieces.iter().enumerate() {
        if piece.hunk {
            waiting.get_or_insert(at);
            continue;
        }
        let same = lines(&piece.text);
        let last = at + 1 == pieces.len();
        let found = match waiting {
            None => 0,
            // what follows nothing is at the end
            Some(_) if last => new.len().checked_sub(from + same.len())?,
            Some(_) if same.is_empty() => 0,
            Some(_) => new[from..].windows(same.len()).position(|lines| lines == same.as_slice())?,
        };
        let (start, end) = (from + found, from + found + same.len());
        if new.get(start..end)? != same.as_slice() {
            return None;
        }
        if let Some(first) = waiting.take() {
            shared(&pieces[first..at], &new[from..start], &mut spread[first..at]);
        }
        spread[at] = same;
        from = end;
    }
    match waiting {
        Some(first) => shared(&pieces[first..], &new[from..], &mut spread[first..]),
        None if from < new.len() => return None,
        None => {}
    }
    let takes = |(piece, now): (&Piece<'_>, &Vec<&[u8]>)| {
        let old = lines(&piece.text);
        let put = match now.strip_prefix(&old[..]).or_else(|| now.strip_suffix(&old[..])) {
            Some(put) if piece.hunk && !put.is_empty() => put,
            Some(_) | None => return true,
        };
        piece.beside.takes(put)
    };
    let fits = pieces.iter().zip(&spread).all(takes);
    fits.then(|| spread.into_iter().map(|lines| lines.concat()).collect())
}

/// Lines that are of hunks that follow each other: those that are as they were keep theirs, from both ends.
fn shared<'a>(hunks: &'a [Piece<'_>], mut new: &'a [&'a [u8]], spread: &mut [Vec<&'a [u8]>]) {
    let (mut first, mut end) = (0, hunks.len());
    while first + 1 < end
        && let old = lines(&hunks[first].text)
        && let Some(rest) = new.strip_prefix(&old[..])
    {
        spread[first] = new[..old.len()].to_vec();
        (first, new) = (first + 1, rest);
    }
    while first + 1 < end
        && let old = lines(&hunks[end - 1].text)
        && let Some(rest) = new.strip_suffix(&old[..])
    {
        spread[end - 1] = new[rest.len()..].to_vec();
        (end, new) = (end - 1, rest);
    }
    spread[first] = new.to_vec();
}

fn compared(pieces: &[Piece<'_>], new: &[u8]) -> Vec<Vec<u8>> {
    let mut owners: Vec<usize> = Vec::new();
    let mut old: Vec<&[u8]> = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        for line in lines(&piece.text) {
            owners.push(at);
            old.push(line);
        }
    }
    let new = lines(new);
    let mut spread = vec![Vec::new(); pieces.len()];
    if pieces.is_empty() {
        return spread;
    }
    for op in capture_diff_slices(Algorithm::Myers, &old, &new) {
        match op {
            DiffOp::Equal { old_index, new_index, len } => {
                for n in 0..len {
                    spread[owners[old_index + n]].extend_from_slice(new[new_index + n]);
                }
            }
            DiffOp::Delete { .. } => {}
            DiffOp::Insert { old_index, new_index, new_len } => {
                let put = &new[new_index..new_index + new_len];
                spread[between(pieces, &owners, old_index, put)].extend(put.concat());
            }
            DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                let touched = &owners[old_index..old_index + old_len];
                let hunk = touched.iter().find(|owner| pieces[**owner].hunk);
                let to = hunk.or(touched.first()).copied().unwrap_or(0);
                spread[to].extend(new[new_index..new_index + new_len].concat());
            }
        }
    }
    spread
}

/// The piece that gets what is put before the line `at`.
fn between(pieces: &[Piece<'_>], owners: &[usize], at: usize, put: &[&[u8]]) -> usize {
    let before = at.checked_sub(1).and_then(|at| owners.get(at)).copied();
    let after = owners.get(at).copied();
    // pieces without lines stand here too
    let here = before.unwrap_or(0)..after.map_or(pieces.len(), |after| after + 1);
    let takes = |at: &usize| pieces[*at].hunk && pieces[*at].beside.takes(put);
    if before != after
        && let Some(hunk) = here.into_iter().find(takes)
    {
        return hunk;
    }
    let no_hunk = |owner: &usize| !pieces[*owner].hunk;
    let (Some(first), Some(last)) = (before.or(after), after.or(before)) else { return 0 };
    // pieces without lines stand between the two; order is kept by any of them
    before.filter(no_hunk).or(after.filter(no_hunk)).unwrap_or(if before == after { first } else { last })
}
