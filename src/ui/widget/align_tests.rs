//! Every line stands in one row, in order; equal lines stand beside each other.

use proptest::prelude::*;

use super::*;

const SIDES: [Side; 3] = [Side::Base, Side::Parent, Side::Child];

fn shown(base: &str, parent: &str, child: &str) -> Vec<String> {
    let three = Three::new(base.as_bytes(), parent.as_bytes(), child.as_bytes());
    let regions = three.regions(Whitespace::Counts);
    let table = table(&three, &regions, Whitespace::Counts, &SIDES);
    let cell = |row: &Row, side: Side| {
        let line = row.line(side).map(|line| three.part(side, line..line + 1).to_vec());
        line.map_or("-".to_owned(), |line| String::from_utf8_lossy(&line).trim_end().to_owned())
    };
    table.rows.iter().map(|row| SIDES.map(|side| cell(row, side)).join(" | ")).collect()
}

#[test]
fn it_is_broken_off_between_two_regions() {
    let three = Three::new(b"a\nb\nc\n", b"A\nb\nc\n", b"a\nb\nC\n");
    let regions = three.regions(Whitespace::Counts);
    let looks = std::cell::Cell::new(0);
    let stop = || {
        looks.set(looks.get() + 1);
        looks.get() > 2
    };
    assert!(until(&three, &regions, Whitespace::Counts, &SIDES, &stop).is_none());
    assert_eq!(looks.get(), 3);
}

#[test]
fn what_became_of_a_line_stands_beside_it() {
    let rows = shown(
        "fn skip\n  while self.peek\n    self.bump();\n  }\n",
        "fn skip\n  let mut depth = 1;\n  while depth > 0\n    self.bump();\n  }\n",
        "fn skip\n  // nested since\n  while self.peek\n    self.nest += 1;\n    self.bump();\n  }\n",
    );
    assert_eq!(
        rows,
        [
            "fn skip | fn skip | fn skip",
            "- |   let mut depth = 1; |   // nested since",
            "  while self.peek |   while depth > 0 |   while self.peek",
            "- | - |     self.nest += 1;",
            "    self.bump(); |     self.bump(); |     self.bump();",
            "  } |   } |   }",
        ]
    );
}

#[test]
fn what_both_added_stands_in_one_row_and_a_removal_leaves_a_gap() {
    assert_eq!(
        shown("a\nb\nc\n", "a\nx\ny\nc\n", "a\nb\nc\nz\n"),
        ["a | a | a", "b | x | b", "- | y | -", "c | c | c", "- | - | z"]
    );
    assert_eq!(shown("", "one\nboth\n", "both\ntwo\n"), ["- | one | -", "- | both | both", "- | - | two"]);
}

fn text() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(vec!["a", "b", " a", "c", "", "d"]), 0..12)
        .prop_map(|lines| lines.join("\n"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_line_has_one_row_and_the_order_stays(base in text(), parent in text(), child in text(), aside: bool) {
        let three = Three::new(base.as_bytes(), parent.as_bytes(), child.as_bytes());
        let regions = three.regions(Whitespace::Counts);
        let whitespace = if aside { Whitespace::SetAside } else { Whitespace::Counts };
        let all = table(&three, &regions, whitespace, &SIDES);
        for side in SIDES {
            let seen: Vec<usize> = all.rows.iter().filter_map(|row| row.line(side)).collect();
            prop_assert_eq!(seen, (0..three.len(side)).collect::<Vec<_>>());
        }
        for (at, region) in regions.iter().enumerate() {
            prop_assert!(all.rows[all.of(at)].iter().all(|row| row.region as usize == at));
            for side in SIDES {
                let seen: Vec<usize> = all.rows[all.of(at)].iter().filter_map(|row| row.line(side)).collect();
                prop_assert_eq!(seen, region.lines(side).collect::<Vec<_>>());
            }
        }
        let two = table(&three, &regions, whitespace, &[Side::Parent, Side::Child]);
        prop_assert!(two.rows.iter().all(|row| row.line(Side::Parent).or(row.line(Side::Child)).is_some()));
    }
}
