//! An edit by hand, spread over the pieces that a text is made of, so that each piece stays known.
//!
//! Lines that stayed remain in their piece. What replaces lines goes to the piece of the first of them (a hunk before
//! one that is none); what is put between two pieces goes to the one that is no hunk, so that a line added beside an
//! open hunk does not decide it.

use std::borrow::Cow;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::regions::lines;

/// A piece of a text.
#[derive(Clone, Debug)]
pub(super) struct Piece<'a> {
    /// Its bytes: whole lines, but for the end of the text.
    pub text: Cow<'a, [u8]>,
    /// Whether it is a hunk.
    pub hunk: bool,
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
    all
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
                let to = between(pieces, &owners, old_index);
                spread[to].extend(new[new_index..new_index + new_len].concat());
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
fn between(pieces: &[Piece<'_>], owners: &[usize], at: usize) -> usize {
    let before = at.checked_sub(1).and_then(|at| owners.get(at)).copied();
    let after = owners.get(at).copied();
    let no_hunk = |owner: &usize| !pieces[*owner].hunk;
    let (Some(first), Some(last)) = (before.or(after), after.or(before)) else { return 0 };
    // pieces without lines stand between the two; order is kept by any of them
    before.filter(no_hunk).or(after.filter(no_hunk)).unwrap_or(if before == after { first } else { last })
}
