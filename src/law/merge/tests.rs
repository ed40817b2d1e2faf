//! The merge by hand: regions cover everything, choices give what they say, edits leave every hunk known.

use proptest::prelude::*;

use super::markers::{Left, adopt, back, gone_on, out};
use super::regions::{Changed, Ending, Side, Three, Whitespace, is_binary, lines};
use super::resolution::{Choice, Origin, Resolution};

const SIDES: [Side; 3] = [Side::Base, Side::Parent, Side::Child];

pub(super) fn resolution(base: &str, parent: &str, child: &str) -> Resolution {
    Resolution::new(Three::new(base.as_bytes(), parent.as_bytes(), child.as_bytes()))
}

pub(super) fn text(resolution: &Resolution) -> String {
    String::from_utf8(resolution.result()).unwrap()
}

/// Lines of a small alphabet, so that texts have much in common, with odd ends.
pub(super) fn some_text() -> impl Strategy<Value = Vec<u8>> {
    let line = proptest::sample::select(vec![
        &b"a"[..],
        b"b",
        b"",
        b"  c",
        b"c",
        b"\xff\xfe",
        b"<<<<<<< x",
        b"=======",
        "ü".as_bytes(),
    ]);
    let end = proptest::sample::select(vec![&b"\n"[..], b"\n", b"\n", b"\r\n"]);
    (proptest::collection::vec((line, end), 0..9), any::<bool>()).prop_map(|(lines, ended)| {
        let mut text: Vec<u8> = lines.iter().flat_map(|(line, end)| [*line, *end].concat()).collect();
        if !ended {
            text.pop();
        }
        text
    })
}

pub(super) fn three() -> impl Strategy<Value = Three> {
    (some_text(), some_text(), some_text())
        .prop_map(|(base, parent, child)| Three::new(&base, &parent, &child))
}

pub(super) fn choice() -> impl Strategy<Value = Choice> {
    prop_oneof![
        Just(Choice::Parent),
        Just(Choice::Child),
        Just(Choice::Both),
        Just(Choice::BothChildFirst),
        Just(Choice::Base),
        some_text().prop_map(|text| Choice::Edited(text.into())),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn the_regions_are_all_lines_of_all_versions_in_order(three in three()) {
        for whitespace in [Whitespace::Counts, Whitespace::SetAside] {
            let regions = three.regions(whitespace);
            for side in SIDES {
                let whole: Vec<u8> = regions.iter().flat_map(|region| three.of(side, region).to_vec()).collect();
                prop_assert_eq!(&whole[..], three.bytes(side));
            }
        }
        for region in three.regions(Whitespace::Counts) {
            let [base, parent, child] = SIDES.map(|side| three.of(side, &region));
            let fits = match region.changed {
                Changed::Nobody => base == parent && base == child,
                Changed::Parent => base == child && base != parent,
                Changed::Child => base == parent && base != child,
                Changed::Same => parent == child && base != parent,
                Changed::Both => parent != child,
            };
            prop_assert!(fits, "{region:?} of {three:?}");
        }
    }

    #[test]
    fn a_side_for_the_whole_file_is_that_sides_text(three in three(), at in 0usize..20, one in choice()) {
        let mut all = Resolution::new(three.clone());
        all.choose(at, one);
        for (choice, side) in [(Choice::Parent, Side::Parent), (Choice::Child, Side::Child), (Choice::Base, Side::Base)] {
            all.choose_all(&choice);
            prop_assert_eq!(&all.result()[..], three.bytes(side));
            prop_assert!(all.is_decided());
        }
    }

    #[test]
    fn every_step_can_be_taken_back(three in three(), steps in proptest::collection::vec((0usize..12, choice()), 1..8), edit in some_text()) {
        let mut now = Resolution::new(three);
        let mut before = vec![now.clone()];
        for (at, choice) in steps {
            let at = now.hunks().nth(at).unwrap_or(0);
            now.choose(at, choice);
            before.push(now.clone());
        }
        now.edit(&edit);
        prop_assert_eq!(&now.result(), &edit);
        while now.undo() {}
        prop_assert_eq!(now.result(), before[0].result());
        prop_assert_eq!(now.choices(), before[0].choices());
    }

    #[test]
    fn an_edit_by_hand_is_the_result_and_the_hunks_stay(three in three(), edit in some_text(), one in choice()) {
        let mut now = Resolution::new(three.clone());
        let regions = now.regions().to_vec();
        now.edit(&edit);
        prop_assert_eq!(&now.result(), &edit);
        let shown: Vec<u8> = now.lines().flat_map(|line| line.bytes.to_vec()).collect();
        prop_assert_eq!(&shown, &edit);
        prop_assert_eq!(now.regions(), &regions[..]);
        let resumed = Resolution::resumed(three, now.decisions(), &[]);
        prop_assert_eq!(resumed.resolution.choices(), now.choices());
        prop_assert_eq!((resumed.lost, resumed.resolution.result()), (0, now.result()));
        // each hunk can be chosen again, whatever was made of it
        for at in now.hunks().collect::<Vec<_>>() {
            now.choose(at, one.clone());
        }
        prop_assert!(now.is_decided());
    }

    #[test]
    fn markers_that_come_back_untouched_change_nothing(three in three()) {
        let mut now = Resolution::new(three);
        let before = now.clone();
        let marked = out(&now);
        prop_assert_eq!(back(&mut now, &marked.text), Ok(()));
        prop_assert_eq!(now, before);
    }

    #[test]
    fn a_text_without_markers_decides_all_that_was_open_in_it(three in three(), plain in proptest::collection::vec("[a-c]{0,2}\n", 0..9)) {
        let mut now = Resolution::new(three);
        let plain = plain.concat();
        if back(&mut now, plain.as_bytes()).is_ok() {
            prop_assert_eq!(now.result(), plain.as_bytes());
            prop_assert!(now.is_decided());
        }
    }
}

pub(super) const BASE: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";

pub(super) fn clash() -> Resolution {
    resolution(BASE, "ONE\ntwo\nTHREE\nfour\nfive\nsix\nseven\n", "one\ntwo\ndrei\nfour\nfive\nsix\nSEVEN\n")
}

#[test]
fn what_one_side_changed_is_chosen_and_what_both_changed_waits() {
    let now = clash();
    let hunks: Vec<Changed> = now.hunks().map(|at| now.regions()[at].changed).collect();
    assert_eq!(hunks, [Changed::Parent, Changed::Both, Changed::Child]);
    assert_eq!(now.open().count(), 1);
    assert_eq!(
        text(&now),
        "ONE\ntwo\nTHREE\nfour\nfive\nsix\nSEVEN\n",
        "what is open is as the parent has it"
    );
}

#[test]
fn both_is_the_parents_and_the_childs_and_never_the_bases() {
    let mut now = clash();
    let open = now.open().next().unwrap();
    now.choose(open, Choice::Both);
    assert_eq!(text(&now), "ONE\ntwo\nTHREE\ndrei\nfour\nfive\nsix\nSEVEN\n");
    now.choose(open, Choice::BothChildFirst);
    assert_eq!(text(&now), "ONE\ntwo\ndrei\nTHREE\nfour\nfive\nsix\nSEVEN\n");
    let origins: Vec<Origin> =
        now.lines().filter(|line| line.region == open).map(|line| line.origin).collect();
    assert_eq!(origins, [Origin::Child, Origin::Parent]);
    let mut ends = resolution("x", "a", "b");
    ends.choose_open(&Choice::Both);
    assert_eq!(text(&ends), "a\nb", "two lines stay two");
    let mut ends = resolution("x\r\ny", "x\r\na", "x\r\nb");
    ends.choose_open(&Choice::Both);
    assert_eq!(text(&ends), "x\r\na\r\nb");
}

#[test]
fn an_edit_beside_an_open_hunk_does_not_decide_it_and_one_in_it_does() {
    let mut now = clash();
    let open = now.open().next().unwrap();
    now.edit(b"ONE\ntwo\nand\nTHREE\nfour\nfive\nsix\nSEVEN\n");
    assert_eq!(now.open().collect::<Vec<_>>(), [open]);
    now.edit(b"ONE\ntwo\nand\nThree\nfour\nfive\nsix\nSEVEN\n");
    assert!(now.is_decided());
    assert_eq!(now.choices()[open], Choice::Edited(b"Three\n"[..].into()));
    let hand: Vec<_> =
        now.lines().filter(|line| line.origin == Origin::Hand).map(|line| line.bytes).collect();
    assert_eq!(hand, [&b"and\n"[..], b"Three\n"]);
    now.edit(b"ONE\ntwo\nand\ndrei\nfour\nfive\nsix\nSEVEN\n");
    assert_eq!(now.choices()[open], Choice::Child, "what is just the child's is the child's");
}

#[test]
fn a_hunk_written_by_hand_keeps_where_each_line_is_from() {
    let mut now = clash();
    let open = now.open().next().unwrap();
    now.edit(b"ONE\ntwo\nthree\ndrei\nmine\nfour\nfive\nsix\nSEVEN\n");
    let origins: Vec<Origin> = now.lines_of(open).map(|line| line.origin).collect();
    assert_eq!(origins, [Origin::Base, Origin::Child, Origin::Hand]);
    let others: Vec<Origin> =
        now.lines().filter(|line| line.region != open).map(|line| line.origin).collect();
    assert_eq!(others.iter().filter(|origin| **origin == Origin::Parent).count(), 1);
    assert_eq!(others.last(), Some(&Origin::Child));
    now.choose(open, Choice::Child);
    assert_eq!(text(&now), "ONE\ntwo\ndrei\nfour\nfive\nsix\nSEVEN\n", "it can be chosen again");
}

#[test]
fn an_editor_sees_markers_and_what_it_makes_of_them_is_taken() {
    let mut now = clash();
    let marked = out(&now);
    let shown = String::from_utf8(marked.text).unwrap();
    let block = "<<<<<<< parent (hunk 2)\nTHREE\n||||||| base (hunk 2)\nthree\n=======\ndrei\n>>>>>>> child (hunk 2)\n";
    assert_eq!(shown, format!("ONE\ntwo\n{block}four\nfive\nsix\nSEVEN\n"));
    let half = shown.replace("=======\n", "");
    // a block left half: its hunk stays open and is gone on with, what else came back is taken
    let half = format!("MINE\n{}", half.strip_prefix("ONE\n").unwrap());
    let Err(Left { region: 2, line: 3, halves }) = back(&mut now, half.as_bytes()) else { panic!("{half}") };
    assert_eq!(now.open().count(), 1);
    assert!(text(&now).starts_with("MINE\ntwo\n"), "{}", text(&now));
    assert_eq!(String::from_utf8(gone_on(&now, &halves).text).unwrap(), half);
    now.undo();
    back(&mut now, shown.replace(block, "THREE\n").as_bytes()).unwrap();
    assert_eq!(now.choices()[2], Choice::Parent);
    now.undo();
    back(&mut now, shown.replace(block, "3\n").as_bytes()).unwrap();
    assert_eq!(text(&now), "ONE\ntwo\n3\nfour\nfive\nsix\nSEVEN\n");
}

#[test]
fn a_merge_from_elsewhere_with_a_block_leaves_that_hunk_open() {
    let base = "a\nb\nc\nd\ne\n";
    let both = || resolution(base, "A\nb\nc\nD\ne\n", "1\nb\nc\n4\ne\n");
    let merge = b"<<<<<<< ours\nA\n||||||| base\na\n=======\n1\n>>>>>>> theirs\nb\nc\nD4\ne\n";
    let mut now = both();
    let open: Vec<usize> = now.open().collect();
    assert!(adopt(&mut now, merge));
    assert_eq!(now.open().collect::<Vec<_>>(), open[..1]);
    assert_eq!(text(&now), "A\nb\nc\nD4\ne\n");
    assert!(now.undo());
    assert_eq!(now, {
        let mut again = both();
        again.undo();
        again
    });
    // without a base in its blocks, and with a result that is just the parent's
    let mut now = both();
    assert!(adopt(&mut now, b"A\nb\nc\n<<<<<<< x\nD\n=======\n4\n>>>>>>> y\ne\n"));
    assert_eq!(now.choices()[open[0]], Choice::Parent);
    assert_eq!(now.open().collect::<Vec<_>>(), open[1..]);
    // what is no merge is not taken
    for half in ["<<<<<<< x\nA\n", "A\n=======\nb\n", "<<<<<<< x\nA\n>>>>>>> y\n"] {
        let mut now = both();
        assert!(!adopt(&mut now, half.as_bytes()));
        assert_eq!(now, both());
    }
}

#[test]
fn markers_are_longer_than_what_the_texts_have_of_them() {
    let now = resolution("<<<<<<<< x\n1\n", "<<<<<<<< x\n2\n", "<<<<<<<< x\n3\n");
    assert_eq!(out(&now).size, 9);
}

#[test]
fn whitespace_is_set_aside_for_looking_only() {
    let three = Three::new(b"a\nb\n", b"a\n  b\n", b"a\nb\n");
    assert!(three.regions(Whitespace::SetAside).iter().all(|region| !region.is_hunk()));
    assert!(three.regions(Whitespace::Counts).iter().any(|region| region.is_hunk()));
}

#[test]
fn lines_and_their_ends_and_binary_are_told() {
    assert_eq!(lines(b"a\r\nb\nc"), [&b"a\r\n"[..], b"b\n", b"c"]);
    assert_eq!(
        (Ending::of(b"a\r\nb\r\nc\n"), Ending::of(b"a\nb\r\n"), Ending::of(b"")),
        (Ending::CrLf, Ending::Lf, Ending::Lf)
    );
    assert!(is_binary(b"a\0b") && !is_binary(b"\xff\xfe\n"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// A result from elsewhere is the result, decides every hunk, and is one step that can be taken back.
    /// What a merge from elsewhere leaves open stays open; markers never come into the result.
    #[test]
    fn a_merge_from_elsewhere_decides_what_it_has_no_block_for(three in three()) {
        let mut now = Resolution::new(three.clone());
        let marked = out(&now).text;
        prop_assert!(adopt(&mut now, &marked));
        let fresh = Resolution::new(three);
        prop_assert_eq!(now.choices(), fresh.choices(), "each hunk has its block");
    }

    #[test]
    fn a_result_from_elsewhere_decides_everything(three in three(), result in some_text()) {
        let mut resolution = Resolution::new(three);
        let before = resolution.clone();
        resolution.adopt(&result);
        prop_assert_eq!(resolution.result(), result);
        prop_assert!(resolution.is_decided());
        if resolution.undo() {
            prop_assert_eq!(resolution, before);
        }
    }

    /// What a proposal or an edit put at the places of hunks, a choice for them replaces.
    #[test]
    fn choice_replaces_edits(
        three in three(),
        before in proptest::collection::vec(choice(), 12),
        put in proptest::collection::vec(some_lines(), 12),
        own in proptest::collection::vec(proptest::collection::vec((0usize..3, 0usize..6), 0..5), 12),
        last in choice(),
    ) {
        let fresh = Resolution::new(three.clone());
        let hunks: Vec<usize> = fresh.hunks().collect();
        let chosen = |mut of: Resolution| {
            hunks.iter().for_each(|at| of.choose(*at, last.clone()));
            of.result()
        };
        let wanted = chosen(fresh.clone());
        // any lines in the place of each hunk
        let any = |of: &Resolution| with_hunks(of, |nth| put[nth % put.len()].clone());
        let mut proposed = fresh.clone();
        proposed.adopt(&any(&fresh));
        prop_assert_eq!(&chosen(proposed), &wanted, "a result from elsewhere");
        let plain = any(&fresh);
        let mut merged = fresh.clone();
        if super::markers::size_of(&three) > 7 || !plain.windows(7).any(|run| b"<|=>".iter().any(|mark| run == [*mark; 7])) {
            prop_assert!(adopt(&mut merged, &plain));
            prop_assert_eq!(&chosen(merged), &wanted, "a merge from elsewhere");
        }
        // the same by hand, where all was decided
        let mut decided = fresh.clone();
        for (nth, at) in hunks.iter().enumerate() {
            decided.choose(*at, before[nth % before.len()].clone());
        }
        let by_hand = any(&decided);
        decided.edit(&by_hand);
        prop_assert_eq!(&decided.result(), &by_hand);
        prop_assert_eq!(&chosen(decided), &wanted, "by hand");
        // and where it was open, of lines that the hunk has
        let mut open = fresh.clone();
        let of_hunk = |nth: usize| {
            let region = &fresh.regions()[hunks[nth]];
            let one = |(side, line): &(usize, usize)| {
                let all = lines(three.of(SIDES[*side], region));
                all.get(line % all.len().max(1)).filter(|line| line.ends_with(b"
")).map_or(Vec::new(), |line| line.to_vec())
            };
            own[nth % own.len()].iter().flat_map(one).collect()
        };
        let by_hand = with_hunks(&open, of_hunk);
        open.edit(&by_hand);
        prop_assert_eq!(&chosen(open), &wanted, "of its own lines");
    }
}

/// Whole lines of the same small alphabet.
fn some_lines() -> impl Strategy<Value = Vec<u8>> {
    some_text().prop_map(|mut text| {
        if text.last().is_some_and(|byte| *byte != b'\n') {
            text.push(b'\n');
        }
        text
    })
}

/// A result with this in the place of each hunk.
fn with_hunks(of: &Resolution, text: impl Fn(usize) -> Vec<u8>) -> Vec<u8> {
    let mut nth = 0;
    let mut all = Vec::new();
    for (at, region) in of.regions().iter().enumerate() {
        if region.is_hunk() {
            all.extend(text(nth));
            nth += 1;
        } else {
            all.extend_from_slice(of.text(at));
        }
    }
    all
}

#[test]
fn what_stands_beside_a_hunk_goes_with_a_choice_for_it() {
    let two = || resolution("use io;\n\nfn\n", "use fs;\nuse io;\n\nfn\n", "use env;\nuse io;\n\nfn\n");
    for merge in ["use env;\nuse fs;\nuse io;\n\nfn\n", "use fs;\nuse env;\nuse io;\n\nfn\n"] {
        for (choice, wanted) in [
            (Choice::Child, "use env;\nuse io;\n\nfn\n"),
            (Choice::Both, "use fs;\nuse env;\nuse io;\n\nfn\n"),
            (Choice::Base, "use io;\n\nfn\n"),
        ] {
            let hunk = two().hunks().next().unwrap();
            let mut now = two();
            assert!(adopt(&mut now, merge.as_bytes()));
            now.choose(hunk, choice.clone());
            assert_eq!(text(&now), wanted, "a proposal, then {choice:?}");
            let mut now = two();
            now.edit(merge.as_bytes());
            now.choose(hunk, choice.clone());
            assert_eq!(text(&now), wanted, "by hand, then {choice:?}");
        }
    }
    // beside a hunk that stays open it is not lost
    let mut now = two();
    assert!(adopt(&mut now, b"<<<<<<< x\nuse fs;\n=======\nuse env;\n>>>>>>> y\nuse net;\nuse io;\n\nfn\n"));
    assert_eq!((now.open().count(), text(&now)), (1, "use fs;\nuse net;\nuse io;\n\nfn\n".to_owned()));
}
