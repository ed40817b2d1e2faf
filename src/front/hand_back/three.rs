//! Three versions of a text on standard output: what anyone changed, each version's lines named.

use std::ops::Range;

use crate::law::hand_back::merge1::Clash;
use crate::law::merge::regions::{Changed, Region, Side, Three, Whitespace, lines};

/// Lines that nobody changed, shown before and after a hunk.
const CONTEXT: usize = 3;

/// Whose file is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gone {
    /// It was removed here.
    Parents,
    /// The child removed it.
    Childs,
}

/// Appends the hunks, each with its places in the three versions. `gone`: whose file is not there.
pub fn show(three: &Three, gone: Option<Gone>, to: &mut Vec<u8>) {
    let regions = three.regions(Whitespace::Counts);
    for (at, region) in regions.iter().enumerate().filter(|(_, region)| region.is_hunk()) {
        let place = |name: &str, lines: Range<usize>| format!("{name} {},{}", lines.start + 1, lines.len());
        let places = [
            place("base", region.base.clone()),
            place("parent", region.parent.clone()),
            place("child", region.child.clone()),
        ];
        to.extend(format!("@@ {} @@ {}\n", places.join(" "), words(region.changed, gone)).into_bytes());
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

fn words(changed: Changed, gone: Option<Gone>) -> &'static str {
    match (changed, gone) {
        (Changed::Nobody, _) => "unchanged",
        (Changed::Parent, Some(Gone::Parents)) => "removed here",
        (Changed::Parent, _) => "changed here",
        (Changed::Child, Some(Gone::Childs)) => "removed by the child",
        (Changed::Child, _) => "changed by the child",
        (Changed::Same, _) => "both changed it to the same",
        (Changed::Both, Some(Gone::Parents)) => Clash::ParentRemoved.words(),
        (Changed::Both, Some(Gone::Childs)) => Clash::ChildRemoved.words(),
        (Changed::Both, None) => Clash::Content.words(),
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
        show(&three, None, &mut shown);
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

    #[test]
    fn a_removal_is_told_as_one() {
        let heads = |parent: &[u8], child: &[u8], gone| {
            let mut shown = Vec::new();
            show(&Three::new(b"1\n2\n3\n", parent, child), Some(gone), &mut shown);
            let shown = String::from_utf8(shown).unwrap();
            let heads = shown.lines().filter_map(|line| line.strip_prefix("@@ ")?.split_once(" @@ "));
            heads.map(|(_, words)| words.to_owned()).collect::<Vec<_>>()
        };
        let both = heads(b"", b"1\nzwei\n3\n", Gone::Parents);
        assert!(
            both.iter()
                .all(|words| ["removed here", "removed here, changed by the child"].contains(&&**words))
        );
        assert!(both.contains(&"removed here, changed by the child".to_owned()), "{both:?}");
        let both = heads(b"1\nzwei\n3\n", b"", Gone::Childs);
        assert!(both.contains(&"changed here, removed by the child".to_owned()), "{both:?}");
        assert!(!both.iter().any(|words| words.contains("differently")), "{both:?}");
    }
}
