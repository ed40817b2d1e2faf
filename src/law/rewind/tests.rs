//! Restoring files: over random histories of tools and of other people.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

type Disk = BTreeMap<u8, u8>;

#[derive(Clone, Copy, Debug)]
enum Who {
    Tool,
    Other,
}

/// Somebody writes or removes a file.
type Act = (Who, u8, Option<u8>);

fn act() -> impl Strategy<Value = Act> {
    let who = prop_oneof![4 => Just(Who::Tool), 1 => Just(Who::Other)];
    (who, 0u8..4, proptest::option::weighted(0.8, 0u8..4))
}

fn path(file: u8) -> PathBuf {
    PathBuf::from(format!("/p/{file}"))
}

fn hash(content: u8) -> String {
    format!("h{content}")
}

/// Carries a history out on a disk; what the tools did.
fn carry_out(disk: &mut Disk, acts: &[Act]) -> Vec<Touch> {
    let mut touches = Vec::new();
    for (who, file, content) in acts {
        let before = disk.get(file).copied();
        match content {
            Some(content) => drop(disk.insert(*file, *content)),
            None => drop(disk.remove(file)),
        }
        match who {
            Who::Tool => touches.push(Touch {
                path: path(*file),
                before: before.map(hash),
                after: content.map(hash),
                mode: before.map(|_| 0o644),
            }),
            Who::Other => {}
        }
    }
    touches
}

fn present(disk: &Disk, path: &Path) -> Present {
    let file = disk.iter().find(|(file, _)| self::path(**file) == path);
    file.map_or(Present::Gone, |(_, content)| Present::File(hash(*content)))
}

/// Does what the plan says; its own touches.
fn restore(disk: &mut Disk, plan: &[(PathBuf, Decision)]) -> Vec<Touch> {
    let mut acts = Vec::new();
    for (path, decision) in plan {
        let file: u8 = path.file_name().unwrap().to_str().unwrap().parse().unwrap();
        match decision {
            Decision::Restore { to, .. } => {
                acts.push((Who::Tool, file, to.as_deref().map(|hash| hash[1..].parse().unwrap())));
            }
            Decision::AlreadySo | Decision::Conflict(_) => {}
        }
    }
    carry_out(disk, &acts)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    /// What only tools touched is as it was; what somebody else wrote over is never overwritten; others are not named.
    #[test]
    fn a_restore_brings_back_what_was_and_takes_nothing_of_others(
        start in proptest::collection::btree_map(0u8..4, 0u8..4, 0..4),
        acts in proptest::collection::vec(act(), 0..14),
    ) {
        let mut disk = start.clone();
        let touches = carry_out(&mut disk, &acts);
        let touched: BTreeSet<PathBuf> = touches.iter().map(|touch| touch.path.clone()).collect();
        let plan = plan(&touches, |path| present(&disk, path), |_| true);
        prop_assert!(plan.iter().map(|(path, _)| path).eq(&touched), "each once, and no other");
        let before = disk.clone();
        restore(&mut disk, &plan);
        for file in 0..4 {
            let (now, was, stood) = (disk.get(&file), start.get(&file), before.get(&file));
            let first_tool = acts.iter().position(|(who, of, _)| matches!(who, Who::Tool) && *of == file);
            let Some(first_tool) = first_tool else {
                prop_assert_eq!(now, stood, "no tool touched it");
                continue;
            };
            let by_others = |from: usize| {
                acts[from..].iter().any(|(who, of, _)| matches!(who, Who::Other) && *of == file)
            };
            let last = acts.iter().rev().find(|(_, of, _)| *of == file).unwrap();
            if !by_others(0) {
                prop_assert_eq!(now, was, "only tools touched it: {:?}", plan);
            } else if matches!(last.0, Who::Other) && by_others(first_tool) {
                // it holds what another wrote: so it stays, unless that is what would be restored
                prop_assert!(now == stood || last.2.as_ref() == touches_after(&touches, file), "{:?}", plan);
            }
        }
    }

    #[test]
    fn restoring_and_taking_it_back_is_nothing(
        start in proptest::collection::btree_map(0u8..4, 0u8..4, 0..4),
        acts in proptest::collection::vec(act(), 0..14),
    ) {
        let mut disk = start;
        let touches = carry_out(&mut disk, &acts);
        let before = disk.clone();
        let forth = plan(&touches, |path| present(&disk, path), |_| true);
        let restored = restore(&mut disk, &forth);
        let back = plan(&restored, |path| present(&disk, path), |_| true);
        let all = back.iter().all(|(_, decision)| is_restore(decision));
        prop_assert!(all, "{:?}", back);
        let undone = restore(&mut disk, &back);
        prop_assert_eq!(&disk, &before);
        // and the undoing can be undone
        let again = plan(&undone, |path| present(&disk, path), |_| true);
        restore(&mut disk, &again);
        let as_restored = plan(&touches, |path| present(&disk, path), |_| true);
        let open = as_restored.iter().any(|(_, decision)| is_restore(decision));
        prop_assert!(!open, "{:?}", as_restored);
    }
}

fn is_restore(decision: &Decision) -> bool {
    matches!(decision, Decision::Restore { .. })
}

/// The content that the last tool left.
fn touches_after(touches: &[Touch], file: u8) -> Option<&'static u8> {
    const CONTENTS: [u8; 4] = [0, 1, 2, 3];
    let last = touches.iter().rev().find(|touch| touch.path == path(file))?;
    let content: usize = last.after.as_deref()?[1..].parse().ok()?;
    CONTENTS.get(content)
}

fn touch(before: Option<&str>, after: Option<&str>) -> Touch {
    Touch {
        path: path(0),
        before: before.map(str::to_owned),
        after: after.map(str::to_owned),
        mode: before.map(|_| 0o755),
    }
}

fn file(hash: &str) -> Present {
    Present::File(hash.to_owned())
}

fn restored(to: Option<&str>) -> Decision {
    Decision::Restore { to: to.map(str::to_owned), mode: to.map(|_| 0o755) }
}

#[test]
fn each_way_a_file_can_stand_has_its_answer() {
    let conflict = Decision::Conflict;
    let cases = [
        (vec![touch(Some("a"), Some("b"))], file("b"), restored(Some("a"))),
        (vec![touch(Some("a"), Some("b"))], file("a"), Decision::AlreadySo),
        (vec![touch(Some("a"), Some("b"))], file("c"), conflict(Why::Changed)),
        (vec![touch(Some("a"), Some("b"))], Present::Gone, conflict(Why::Gone)),
        (vec![touch(Some("a"), Some("b"))], Present::NotOurs, conflict(Why::NotOurs)),
        (
            vec![touch(Some("a"), Some("b"))],
            Present::Unreadable("permission denied".into()),
            conflict(Why::Unreadable("permission denied".into())),
        ),
        (vec![touch(None, Some("b"))], file("b"), restored(None)),
        (vec![touch(None, Some("b"))], Present::Gone, Decision::AlreadySo),
        (vec![touch(Some("a"), None)], Present::Gone, restored(Some("a"))),
        (vec![touch(Some("a"), None)], file("c"), conflict(Why::MadeAgain)),
        (vec![touch(Some("a"), Some("b")), touch(Some("b"), Some("c"))], file("c"), restored(Some("a"))),
        (
            vec![touch(Some("a"), Some("b")), touch(Some("x"), Some("c"))],
            file("c"),
            conflict(Why::ChangedBetween),
        ),
        (vec![touch(Some("a"), Some("b")), touch(Some("x"), Some("a"))], file("a"), Decision::AlreadySo),
        (vec![touch(None, Some("b")), touch(Some("b"), None)], Present::Gone, Decision::AlreadySo),
    ];
    for (touches, present, wanted) in cases {
        let decided = plan(&touches, |_| present.clone(), |_| true);
        assert_eq!(decided, [(path(0), wanted)], "{touches:?} {present:?}");
    }
    assert_eq!(plan(&[], |_| panic!("nothing was touched"), |_| true), []);
}

#[test]
fn what_is_not_kept_cannot_be_put_back() {
    let touched = |before| [touch(before, Some("b"))];
    let decided = |before| plan(&touched(before), |_| file("b"), |hash| hash != "a");
    assert_eq!(decided(Some("a")), [(path(0), Decision::Conflict(Why::NotKept))]);
    assert_eq!(decided(Some("c")), [(path(0), restored(Some("c")))]);
    assert_eq!(decided(None), [(path(0), restored(None))]);
}

/// Every history of one file up to a depth: a restore never writes over what another wrote last, brings back what was
/// when only tools wrote, and can be taken back.
fn explore(start: Option<u8>, acts: &mut Vec<Act>, depth: usize) {
    let mut disk: Disk = start.map(|content| (0, content)).into_iter().collect();
    let touches = carry_out(&mut disk, acts);
    let before = disk.clone();
    let forth = plan(&touches, |path| present(&disk, path), |_| true);
    let undo = restore(&mut disk, &forth);
    let only_tools = acts.iter().all(|(who, ..)| matches!(who, Who::Tool));
    if only_tools {
        assert_eq!(disk.get(&0).copied(), start, "{acts:?}");
    }
    if touches.is_empty() {
        assert!(forth.is_empty() && disk == before, "{acts:?}");
    }
    if disk != before {
        // what is written over are the bytes that a tool left
        let last = touches.last().unwrap();
        assert_eq!(before.get(&0).copied().map(hash), last.after, "{acts:?}");
    }
    let back = plan(&undo, |path| present(&disk, path), |_| true);
    restore(&mut disk, &back);
    assert_eq!(disk, before, "{acts:?}");
    if depth == 0 {
        return;
    }
    for who in [Who::Tool, Who::Other] {
        for content in [None, Some(0), Some(1)] {
            acts.push((who, 0, content));
            explore(start, acts, depth - 1);
            acts.pop();
        }
    }
}

#[test]
fn each_short_history_of_a_file_is_restored_by_its_rule() {
    for start in [None, Some(0), Some(2)] {
        explore(start, &mut Vec::new(), 5);
    }
}
