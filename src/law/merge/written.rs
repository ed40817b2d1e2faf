//! What was written by hand for lines that are others now, shown in their place: the text that is one step back.
//!
//! It replaces every hunk that it has lines of; of the rest of such a hunk stands what the child has.

use std::ops::Range;

use super::decision::Decision;
use super::regions::Side;
use super::resolution::Resolution;

/// A part of the result that is replaced whole, or lines that nobody changed.
struct Part {
    base: Range<usize>,
    child: Range<usize>,
    text: Vec<u8>,
    /// Lines that nobody changed, nor wrote by hand: any of them can be replaced.
    plain: bool,
}

/// Decisions that stand in the place of some parts.
struct Replaced<'a> {
    parts: Range<usize>,
    by: Vec<&'a Decision>,
}

/// The result with what was written by hand in the place of what is there now; where two are for the same lines, the
/// first one is. None: nothing was written by hand.
pub(super) fn written(of: &Resolution, decisions: &[Decision]) -> Option<Vec<u8>> {
    let mut taken: Vec<&Decision> = Vec::new();
    for decision in decisions.iter().filter(|decision| decision.by_hand().is_some()) {
        if taken.iter().all(|other| !overlap(decision, other)) {
            taken.push(decision);
        }
    }
    if taken.is_empty() {
        return None;
    }
    taken.sort_by_key(|decision| (decision.base.start, decision.child.start));
    let parts = parts(of);
    let mut replaced: Vec<Replaced<'_>> = Vec::new();
    for decision in taken {
        let here = place(&parts, decision);
        match replaced.last_mut() {
            Some(last) if here.start < last.parts.end => {
                last.parts.end = last.parts.end.max(here.end);
                last.by.push(decision);
            }
            Some(_) | None => replaced.push(Replaced { parts: here, by: vec![decision] }),
        }
    }
    let mut text = Vec::new();
    let mut next = 0;
    for Replaced { parts: here, by } in replaced {
        parts[next..here.start].iter().for_each(|part| text.extend_from_slice(&part.text));
        let child = |text: &mut Vec<u8>, lines: Range<usize>| {
            text.extend_from_slice(of.three().part(Side::Child, lines));
        };
        let whole = &parts[here.clone()];
        let mut from = whole.first().map_or(usize::MAX, |first| first.child.start);
        for decision in by {
            child(&mut text, from..decision.child.start);
            text.extend_from_slice(decision.by_hand().unwrap_or_default());
            from = from.max(decision.child.end);
        }
        child(&mut text, from..whole.last().map_or(0, |last| last.child.end));
        next = here.end;
    }
    parts[next..].iter().for_each(|part| text.extend_from_slice(&part.text));
    Some(text)
}

/// The parts of a result, in order.
fn parts(of: &Resolution) -> Vec<Part> {
    let mut parts = Vec::new();
    for (at, region) in of.regions().iter().enumerate() {
        if region.is_hunk() {
            let (base, child) = (region.base.clone(), region.child.clone());
            parts.push(Part { base, child, text: of.text(at).to_vec(), plain: false });
            continue;
        }
        let beside = |line: usize| region.child.start + (line - region.base.start);
        let plain = |parts: &mut Vec<Part>, base: Range<usize>| {
            if !base.is_empty() {
                let text = of.three().part(Side::Base, base.clone()).to_vec();
                parts.push(Part { child: beside(base.start)..beside(base.end), base, text, plain: true });
            }
        };
        let mut from = region.base.start;
        for edit in if of.is_made(at) { of.decisions_of(at) } else { Vec::new() } {
            plain(&mut parts, from..edit.base.start);
            from = edit.base.end;
            let text = edit.by_hand().unwrap_or_default().to_vec();
            parts.push(Part { base: edit.base, child: edit.child, text, plain: false });
        }
        plain(&mut parts, from..region.base.end);
    }
    parts
}

/// The parts that a decision stands in the place of; empty: it stands before the first of them.
fn place(parts: &[Part], decision: &Decision) -> Range<usize> {
    let touched = |part: &Part| {
        let none = decision.base.is_empty() && decision.child.is_empty();
        let at = |lines: &Range<usize>, line: usize| {
            if part.plain {
                lines.start < line && line < lines.end
            } else {
                lines.start <= line && line <= lines.end
            }
        };
        meet(&part.base, &decision.base)
            || meet(&part.child, &decision.child)
            || (none && at(&part.base, decision.base.start) && at(&part.child, decision.child.start))
    };
    match (parts.iter().position(touched), parts.iter().rposition(touched)) {
        (Some(first), Some(last)) => first..last + 1,
        (_, _) => {
            let start = (decision.base.start, decision.child.start);
            let at = parts.partition_point(|part| (part.base.start, part.child.start) < start);
            at..at
        }
    }
}

fn meet(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

fn overlap(one: &Decision, other: &Decision) -> bool {
    let same = one.base == other.base && one.child == other.child;
    same || meet(&one.base, &other.base) || meet(&one.child, &other.child)
}
