//! Three versions of a text on standard output: what anyone changed, each version's lines named.

use std::ops::Range;

use crate::law::merge::regions::{Changed, Region, Side, Three, Whitespace, lines};

/// Lines that nobody changed, shown before and after a hunk.
const CONTEXT: usize = 3;

/// Appends the hunks, each with its places in the three versions.
pub fn show(three: &Three, to: &mut Vec<u8>) {
    let regions = three.regions(Whitespace::Counts);
    for (at, region) in regions.iter().enumerate().filter(|(_, region)| region.is_hunk()) {
        let place = |name: &str, lines: Range<usize>| format!("{name} {},{}", lines.start + 1, lines.len());
        let places = [
            place("base", region.base.clone()),
            place("parent", region.parent.clone()),
            place("child", region.child.clone()),
        ];
        to.extend(format!("@@ {} @@ {}\n", places.join(" "), words(region.changed)).into_bytes());
        let before = at.checked_sub(1).and_then(|at| regions.get(at));
        let first = before.map(|before| before.parent.end.saturating_sub(CONTEXT).max(before.parent.start));
        put(to, "", before_or_after(three, before, first.unwrap_or(0)..usize::MAX));
        hunk(three, region, to);
        let after = regions.get(at + 1);
        let last = after.map_or(0, |after| after.parent.start + CONTEXT);
        put(to, "", before_or_after(three, after, 0..last));
    }
}

/// The lines of a region that nobody changed, as far as they are within bounds.
fn before_or_after<'a>(three: &'a Three, region: Option<&Region>, within: Range<usize>) -> &'a [u8] {
    let Some(region) = region.filter(|region| !region.is_hunk()) else { return &[] };
    let lines = region.parent.start.max(within.start)..region.parent.end.min(within.end);
    three.part(Side::Parent, lines)
}

fn hunk(three: &Three, region: &Region, to: &mut Vec<u8>) {
    let of = |side| three.of(side, region);
    put(to, "base", of(Side::Base));
    match region.changed {
        Changed::Nobody => {}
        Changed::Parent => put(to, "parent", of(Side::Parent)),
        Changed::Child => put(to, "child", of(Side::Child)),
        Changed::Same => put(to, "both", of(Side::Parent)),
        Changed::Both => {
            put(to, "parent", of(Side::Parent));
            put(to, "child", of(Side::Child));
        }
    }
}

fn words(changed: Changed) -> &'static str {
    match changed {
        Changed::Nobody => "unchanged",
        Changed::Parent => "changed here",
        Changed::Child => "changed by the child",
        Changed::Same => "both changed it to the same",
        Changed::Both => "both changed it, differently",
    }
}

fn put(to: &mut Vec<u8>, name: &str, text: &[u8]) {
    for line in lines(text) {
        to.extend(format!("{name:<6} | ").into_bytes());
        to.extend(line);
        if !line.ends_with(b"\n") {
            to.extend(b"\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_hunk_names_whose_lines_are_whose() {
        let three = Three::new(
            b"1\n2\n3\n4\n5\n6\n7\n8\n9\n",
            b"1\n2\n3\n4\n5\nsix\n7\n8\n9\n10",
            b"one\n2\n3\n4\n5\nsechs\n6\n7\n8\n9\n",
        );
        let mut shown = Vec::new();
        show(&three, &mut shown);
        assert_eq!(
            String::from_utf8(shown).unwrap(),
            "@@ base 1,1 parent 1,1 child 1,1 @@ changed by the child\n\
             base   | 1\nchild  | one\n       | 2\n       | 3\n       | 4\n\
             @@ base 6,1 parent 6,1 child 6,2 @@ both changed it, differently\n\
             \u{20}      | 3\n       | 4\n       | 5\n\
             base   | 6\nparent | six\nchild  | sechs\nchild  | 6\n\
             \u{20}      | 7\n       | 8\n       | 9\n\
             @@ base 10,0 parent 10,1 child 11,0 @@ changed here\n\
             \u{20}      | 7\n       | 8\n       | 9\nparent | 10\n"
        );
    }
}
