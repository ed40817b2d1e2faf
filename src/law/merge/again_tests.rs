//! Going on with a resolution: what was decided is kept through whatever happens to the parent's file.

use proptest::prelude::*;

use super::again::Again;
use super::back::Back;
use super::decision::Decision;
use super::regions::{Side, Three};
use super::resolution::{Choice, Resolution};
use super::tests::{BASE, choice, clash, resolution, some_text, text, three};

/// The same base and child with another version of the parent's.
fn with(of: &Resolution, parent: &[u8]) -> Three {
    Three::new(of.three().bytes(Side::Base), parent, of.three().bytes(Side::Child))
}

/// What is decided, in whatever order.
fn has(all: &[Decision], one: &Decision) -> bool {
    all.contains(one)
}

#[test]
fn a_choice_does_not_go_to_another_hunk_that_looks_the_same() {
    let three = |parent: &[u8]| Three::new(b"a\ns\na\n", parent, b"c\ns\nc\n");
    let mut old = Resolution::new(three(b"b\ns\nb\n"));
    let hunks: Vec<usize> = old.hunks().collect();
    assert_eq!(hunks.len(), 2);
    old.choose(hunks[0], Choice::Child);
    // the first was settled outside: the choice was for that one
    let again = old.again(three(b"c\ns\nb\n"));
    assert_eq!((again.kept, again.lost), (0, 1));
    assert_eq!(again.resolution.result(), b"c\ns\nb\n");
    let again = old.again(three(b"b\ns\nb\n"));
    assert_eq!((again.kept, again.resolution.result()), (1, b"c\ns\nb\n".to_vec()));
}

#[test]
fn what_was_written_by_hand_is_one_step_back_where_its_lines_changed_and_fits_when_they_are_back() {
    let mut now = clash();
    let parent = now.three().bytes(Side::Parent).to_vec();
    now.edit(b"ONE\ntwo\nmine\nfour\nfive\nsix\nSEVEN\n");
    let other = "ONE\ntwo\nTHREE too\nfour\nfive!\nsix\nseven\n";
    let mut again = now.again(with(&now, other.as_bytes()));
    assert_eq!((again.kept, again.lost, again.by_hand), (0, 1, true));
    assert!(text(&again.resolution).contains("THREE too"));
    assert!(again.resolution.undo());
    // what changed elsewhere stays
    assert_eq!(text(&again.resolution), "ONE\ntwo\nmine\nfour\nfive!\nsix\nSEVEN\n");
    while again.resolution.undo() {}
    assert_eq!(again.resolution.result(), Resolution::new(with(&now, other.as_bytes())).result());
    let back = again.resolution.again(with(&now, &parent));
    assert_eq!((back.kept, back.lost), (1, 0));
    assert_eq!(back.resolution.result(), now.result());
}

#[test]
fn an_edit_of_lines_that_nobody_changed_outlives_a_change_of_others() {
    let lines = |fifth: &str, eighth: &str| format!("1\n2\n3\n4\n{fifth}\n6\n7\n{eighth}\n9\n");
    let (base, parent, child) = (lines("5", "8"), lines("P", "8"), lines("C", "8"));
    let mut now = resolution(&base, &parent, &child);
    now.edit(parent.replace("2\n", "2\nand\n").as_bytes());
    assert_eq!(now.decisions().len(), 1);
    let other = lines("P", "8 too");
    let again = now.again(with(&now, other.as_bytes()));
    assert_eq!((again.kept, again.lost), (1, 0));
    assert_eq!(text(&again.resolution), other.replace("2\n", "2\nand\n"));
    // taken back, the fresh text stands
    let mut back = again.resolution;
    assert!(back.undo() && !back.undo());
    assert_eq!(text(&back), other);
}

#[test]
fn everything_is_set_aside_while_the_parents_file_is_gone() {
    let mut now = clash();
    let parent = now.three().bytes(Side::Parent).to_vec();
    let open = now.open().next().unwrap();
    now.choose(open, Choice::Child);
    now.edit(b"ONE\ntwo\ndrei\nfour\nfive\nsix\nSEVEN\nmine\n");
    let gone = now.again(with(&now, b""));
    assert_eq!((gone.kept, gone.lost), (0, 2));
    let resumed = Resolution::resumed(with(&now, &parent), gone.resolution.kept(), &[]);
    assert_eq!((resumed.kept, resumed.lost), (2, 0));
    assert_eq!(resumed.resolution.result(), now.result());
    let mut back = gone.resolution.again(with(&now, &parent));
    assert_eq!(back.resolution.result(), now.result());
    while back.resolution.undo() {}
    assert_eq!(back.resolution.result(), clash().result());
}

#[test]
fn another_base_leaves_the_whole_result_one_step_back() {
    let mut now = clash();
    let mine = "ONE\ntwo\nmine\nfour\nfive\nsix\nSEVEN\n";
    now.edit(mine.as_bytes());
    let base = BASE.replace("two", "zwei");
    let three = Three::new(base.as_bytes(), now.three().bytes(Side::Parent), now.three().bytes(Side::Child));
    let Again { mut resolution, kept: 0, lost: 1, by_hand: true } = now.again(three) else { panic!() };
    assert!(resolution.undo());
    assert_eq!(text(&resolution), mine);
}

/// What can happen to a resolution.
#[derive(Clone, Debug)]
enum Did {
    Choose(prop::sample::Index, Choice),
    ChooseOpen(Choice),
    Edit(Vec<u8>),
    /// A line of what stands is changed, or one is put before it.
    EditLine(prop::sample::Index, bool),
    /// Somebody else saves the file.
    Outside(Vec<u8>),
    /// Somebody else saves it as it was at first, or with a line changed.
    Back(Option<prop::sample::Index>),
    Undo,
}

fn did() -> impl Strategy<Value = Did> {
    let at = any::<prop::sample::Index>;
    prop_oneof![
        (at(), choice()).prop_map(|(at, choice)| Did::Choose(at, choice)),
        choice().prop_map(Did::ChooseOpen),
        some_text().prop_map(Did::Edit),
        (at(), any::<bool>()).prop_map(|(at, before)| Did::EditLine(at, before)),
        some_text().prop_map(Did::Outside),
        prop_oneof![Just(None), at().prop_map(Some)].prop_map(Did::Back),
        Just(Did::Undo),
    ]
}

/// A text with one of its lines changed, or one put before it.
fn line_changed(text: &[u8], at: prop::sample::Index, before: bool, new: &[u8]) -> Vec<u8> {
    let lines = super::regions::lines(text);
    if lines.is_empty() {
        return new.to_vec();
    }
    let at = at.index(lines.len());
    let put = |(n, line): (usize, &&[u8])| match (n == at, before) {
        (false, _) => line.to_vec(),
        (true, true) => [new, line].concat(),
        (true, false) => new.to_vec(),
    };
    lines.iter().enumerate().flat_map(put).collect()
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    part.is_empty() || text.windows(part.len()).any(|window| window == part)
}

/// Somebody else saved the file: nothing that was decided is lost without being counted and kept.
fn outside(now: &Resolution, parent: &[u8]) -> Result<Resolution, TestCaseError> {
    let (decided, aside) = (now.decisions(), now.aside().to_vec());
    let Again { resolution, kept, lost, by_hand } = now.again(with(now, parent));
    let (stands, set_aside) = (resolution.decisions(), resolution.aside());
    let left = |one: &&Decision| !has(&stands, one);
    prop_assert_eq!(lost, decided.iter().filter(left).count());
    prop_assert_eq!(kept, stands.len());
    for one in decided.iter().chain(&aside).filter(left) {
        prop_assert!(set_aside.iter().any(|other| other.is_for_same(one)), "{one:?} is nowhere");
    }
    let newly: Vec<&[u8]> = decided.iter().filter(left).filter_map(Decision::by_hand).collect();
    let mut back = resolution.clone();
    if by_hand {
        prop_assert!(back.undo());
    }
    for text in newly {
        prop_assert!(contains(&back.result(), text), "{text:?} is not in {:?}", back.result());
    }
    Ok(resolution)
}

/// What is kept goes on as it was, with each of its steps; without those, all of it is taken back all the same.
fn restarted(now: &Resolution) -> Result<(), TestCaseError> {
    let again = |backs: &[Back]| Resolution::resumed(now.three().clone(), now.decisions(), backs).resolution;
    let (mut before, mut with, mut without) = (now.clone(), again(&now.kept_backs()), again(&[]));
    prop_assert_eq!(without.choices(), now.choices());
    loop {
        prop_assert_eq!(with.choices(), before.choices());
        prop_assert_eq!(with.result(), before.result());
        let undone = before.undo();
        prop_assert_eq!(with.undo(), undone);
        if !undone {
            break;
        }
    }
    while without.undo() {}
    prop_assert_eq!(without.choices(), before.choices());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 800, failure_persistence: None, ..ProptestConfig::default() })]

    /// After a version changed, every decision of the person is kept or counted as lost, and with the same versions all
    /// are kept.
    #[test]
    fn choices_outlive_a_change_of_a_version(
        three in three(), parent in some_text(), choices in proptest::collection::vec((any::<prop::sample::Index>(), choice()), 0..6)
    ) {
        let mut old = Resolution::new(three.clone());
        for (at, choice) in choices {
            old.choose(at.index(old.regions().len()), choice);
        }
        let made = old.decisions().len();
        let same = old.again(three.clone());
        prop_assert_eq!((same.kept, same.lost), (made, 0));
        prop_assert_eq!(&same.resolution, &old);
        let again = old.again(with(&old, &parent));
        prop_assert_eq!(again.kept + again.lost, made);
        prop_assert_eq!(again.resolution.three(), &with(&old, &parent));
    }

    /// Whatever is chosen, written and taken back, and whatever happens to the parent's file meanwhile: nothing that
    /// was written by hand is lost, all steps taken back are the fresh result, and a restart goes on with all of it.
    #[test]
    fn resolution_outlives_changes(three in three(), all in proptest::collection::vec(did(), 1..14)) {
        let first = three.bytes(Side::Parent).to_vec();
        let mut now = Resolution::new(three);
        for one in all {
            match one {
                Did::Choose(at, choice) => now.choose(at.index(now.regions().len()), choice),
                Did::ChooseOpen(choice) => now.choose_open(&choice),
                Did::Edit(text) => now.edit(&text),
                Did::EditLine(at, before) => now.edit(&line_changed(&now.result(), at, before, b"mine\n")),
                Did::Outside(parent) => now = outside(&now, &parent)?,
                Did::Back(None) => now = outside(&now, &first)?,
                Did::Back(Some(at)) => now = outside(&now, &line_changed(&first, at, false, b"theirs\n"))?,
                Did::Undo => drop(now.undo()),
            }
            restarted(&now)?;
        }
        let fresh = Resolution::new(now.three().clone());
        while now.undo() {}
        prop_assert_eq!(now.choices(), fresh.choices());
        prop_assert_eq!(now.result(), fresh.result());
    }
}
