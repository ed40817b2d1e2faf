//! The hand-back's laws: the table over every triple of versions, plans over random trees, renames.

mod cut;

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::merge1::{Clash, Verdict, merge1};
use super::plan::{Plan, Planned, Way, plan};
use super::renames::{Lines, Rename, renames};
use super::tree::{Hash, Obstacle, Tree, TreePath, Version};

pub(super) fn file(content: u8) -> Version {
    Version::File { hash: Hash([content; 32]), executable: false }
}

fn program(content: u8) -> Version {
    Version::File { hash: Hash([content; 32]), executable: true }
}

fn link(target: &str) -> Version {
    Version::Link { target: target.into() }
}

pub(super) fn path(text: &str) -> TreePath {
    TreePath::new(text).unwrap()
}

/// One of each, and two of each that can differ.
fn versions() -> Vec<Version> {
    let mut all = vec![Version::Absent, file(1), file(2), program(1), link("x"), link("y")];
    all.extend([Obstacle::Directory, Obstacle::Above, Obstacle::Special].map(Version::InTheWay));
    all
}

/// What a version is as far as the law counts it.
fn counted(version: &Version) -> Version {
    match version {
        Version::InTheWay(Obstacle::Directory | Obstacle::Above) => Version::Absent,
        other => other.clone(),
    }
}

fn every_triple(mut check: impl FnMut(&Version, &Version, &Version, Verdict)) {
    for base in versions() {
        for parent in versions() {
            for child in versions() {
                check(&base, &parent, &child, merge1(&base, &parent, &child));
            }
        }
    }
}

#[test]
fn cow_keeps_parent() {
    every_triple(|base, parent, child, verdict| {
        let unchanged = counted(child) == counted(base);
        assert_eq!(verdict == Verdict::Kept, unchanged, "{base:?} {parent:?} {child:?}: {verdict:?}");
    });
}

#[test]
fn cow_takes_child() {
    every_triple(|base, parent, child, verdict| {
        let special = *child == Version::InTheWay(Obstacle::Special);
        let room = !matches!(parent, Version::InTheWay(_));
        let only_child = room && parent == &counted(base) && counted(child) != *parent && !special;
        let removal = counted(child) == Version::Absent && counted(parent) == counted(base);
        if only_child {
            assert_eq!(verdict, Verdict::Taken, "{base:?} {parent:?} {child:?}");
        } else if verdict == Verdict::Taken {
            assert!(removal, "{base:?} {parent:?} {child:?}");
        }
    });
}

/// Both changed it, differently, or the parent cannot hold what the child has.
fn must_clash(base: &Version, parent: &Version, child: &Version) -> bool {
    let (base, child) = (counted(base), counted(child));
    if child == base || child == Version::InTheWay(Obstacle::Special) {
        return false;
    }
    let cannot_hold = matches!(parent, Version::InTheWay(_)) && child != Version::Absent;
    let parent = counted(parent);
    cannot_hold || (parent != base && parent != child)
}

#[test]
fn cow_conflict_reported() {
    every_triple(|base, parent, child, verdict| {
        if must_clash(base, parent, child) {
            assert!(matches!(verdict, Verdict::Conflict(_)), "{base:?} {parent:?} {child:?}: {verdict:?}");
        }
    });
}

#[test]
fn cow_conflict_is_real() {
    every_triple(|base, parent, child, verdict| {
        if matches!(verdict, Verdict::Conflict(_)) {
            assert!(must_clash(base, parent, child), "{base:?} {parent:?} {child:?}: {verdict:?}");
        }
        if verdict == Verdict::Same {
            assert_eq!(counted(parent), counted(child));
        }
    });
}

#[test]
fn a_clash_is_named_by_what_differs() {
    let of = |base: Version, parent: Version, child: Version| merge1(&base, &parent, &child);
    let clash = |clash| Verdict::Conflict(clash);
    assert_eq!(of(file(1), file(2), file(3)), clash(Clash::Content));
    assert_eq!(of(file(1), program(2), file(2)), clash(Clash::Executable));
    assert_eq!(of(link("x"), link("y"), link("z")), clash(Clash::Link));
    assert_eq!(of(file(1), link("y"), file(2)), clash(Clash::Kind));
    assert_eq!(of(file(1), Version::Absent, file(2)), clash(Clash::ParentRemoved));
    assert_eq!(of(file(1), file(2), Version::Absent), clash(Clash::ChildRemoved));
    let way = |obstacle| of(Version::Absent, Version::InTheWay(obstacle), file(1));
    assert_eq!(way(Obstacle::Directory), clash(Clash::DirectoryInTheWay));
    assert_eq!(way(Obstacle::Above), clash(Clash::FileInTheWay));
    assert_eq!(way(Obstacle::Special), clash(Clash::SpecialInTheWay));
}

const PATHS: [&str; 8] = ["a", "b", "a/a", "a/b", "b/a", "a/a/a", "a-b", "a/a b/\n"];

/// Somebody puts something at a path: what is above or beneath it makes room.
fn save(tree: &mut Tree, path: &TreePath, version: Version) {
    let gone: Vec<TreePath> = tree
        .iter()
        .map(|(other, _)| other.clone())
        .filter(|other| other.is_beneath(path) || path.is_beneath(other))
        .collect();
    if version != Version::Absent {
        gone.into_iter().for_each(|path| tree.put(path, Version::Absent));
    }
    tree.put(path.clone(), version);
}

fn edits(kinds: u8) -> impl Strategy<Value = Vec<(usize, u8)>> {
    proptest::collection::vec((0..PATHS.len(), 0..kinds), 0..7)
}

fn edit(tree: &mut Tree, edits: &[(usize, u8)]) {
    let all = versions();
    // the last two kinds: an empty directory, and something special
    let kinds = [0, 1, 2, 3, 4, 5, 6, 8];
    for (at, kind) in edits {
        save(tree, &path(PATHS[*at]), all[kinds[usize::from(*kind)]].clone());
    }
}

fn triple() -> impl Strategy<Value = (Tree, Tree, Tree, BTreeSet<TreePath>)> {
    let ignored = proptest::collection::btree_set(0..PATHS.len(), 0..2);
    (edits(6), edits(8), edits(6), ignored).prop_map(|(first, parents, childs, ignored)| {
        let mut base = Tree::default();
        edit(&mut base, &first);
        let (mut parent, mut child) = (base.clone(), base.clone());
        edit(&mut parent, &parents);
        edit(&mut child, &childs);
        (base, parent, child, ignored.into_iter().map(|at| path(PATHS[at])).collect())
    })
}

/// Carries a plan out on a tree in one go. Nothing is put where something else is.
fn carry_out(parent: &Tree, plan: &Plan) -> Tree {
    let mut after = parent.clone();
    for (at, way) in plan.steps() {
        let planned = &plan.paths[at];
        let now = after.at(&planned.path);
        match way {
            Way::Remove | Way::Exchange => assert_eq!(now, planned.parent, "{:?}", planned.path),
            Way::New => assert_eq!(now, Version::Absent, "{:?} in {after:?}", planned.path),
        }
        after.put(planned.path.clone(), planned.child.tracked().clone());
    }
    after
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    /// The parent after, the conflicts and what is left out account for every change of both sides.
    #[test]
    fn every_change_is_accounted_for((base, parent, child, ignored) in triple()) {
        let plan = plan(&base, &parent, &child, &ignored);
        let after = carry_out(&parent, &plan);
        for text in PATHS {
            let path = path(text);
            let [base, parent, child, after] = [&base, &parent, &child, &after].map(|tree| counted(&tree.at(&path)));
            let planned = plan.paths.iter().find(|planned| planned.path == path);
            match planned.map(|planned| planned.verdict) {
                None if plan.left_out.contains(&path) => {
                    prop_assert!(ignored.contains(&path) && base == Version::Absent && child != base);
                    prop_assert_eq!(&after, &parent);
                }
                None => prop_assert!(child == base && after == parent, "{}: a change in silence", text),
                Some(Verdict::Taken) => prop_assert!(after == child && parent == base && child != base),
                Some(Verdict::Same) => prop_assert!(after == child && parent == child && child != base),
                Some(Verdict::Conflict(_)) => prop_assert!(after == parent && child != base && child != parent),
                Some(Verdict::Special | Verdict::Kept) => prop_assert!(false, "{}: not in these trees", text),
            }
        }
    }

    #[test]
    fn handback_idempotent((base, parent, child, ignored) in triple()) {
        let first = plan(&base, &parent, &child, &ignored);
        let after = carry_out(&parent, &first);
        let second = plan(&base, &after, &child, &ignored);
        prop_assert!(second.steps().is_empty(), "{second:?}");
        let clashes = |plan: &Plan| -> Vec<(TreePath, Clash)> {
            let clash = |planned: &Planned| match planned.verdict {
                Verdict::Conflict(clash) => Some((planned.path.clone(), clash)),
                _ => None,
            };
            plan.paths.iter().filter_map(clash).collect()
        };
        prop_assert_eq!(clashes(&second), clashes(&first));
        prop_assert_eq!(&second.left_out, &first.left_out);
    }

    #[test]
    fn a_plan_is_read_as_it_was_written((base, parent, child, ignored) in triple()) {
        let plan = plan(&base, &parent, &child, &ignored);
        let text = serde_json::to_string(&plan).unwrap();
        prop_assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
    }
}

#[test]
fn a_file_takes_the_place_of_a_directory_that_the_child_emptied_and_of_no_other() {
    let base: Tree = [(path("d/x"), file(1)), (path("d/y"), file(2))].into_iter().collect();
    let child: Tree = [(path("d"), file(3))].into_iter().collect();
    let none = BTreeSet::new();
    let verdicts = |parent: &Tree| -> Vec<Verdict> {
        plan(&base, parent, &child, &none).paths.iter().map(|planned| planned.verdict).collect()
    };
    assert_eq!(verdicts(&base), [Verdict::Taken; 3]);
    let mut more = base.clone();
    more.put(path("d/ignored"), file(9));
    let blocked = [Verdict::Conflict(Clash::DirectoryInTheWay), Verdict::Taken, Verdict::Taken];
    assert_eq!(verdicts(&more), blocked);
    let mut changed = base.clone();
    changed.put(path("d/y"), file(8));
    assert_eq!(verdicts(&changed)[2], Verdict::Conflict(Clash::ChildRemoved));
    assert_eq!(verdicts(&changed)[0], Verdict::Conflict(Clash::DirectoryInTheWay));
}

#[test]
fn paths_are_bytes_beneath_the_directory_and_never_gits() {
    for wrong in ["", "/a", "a/", "a//b", ".", "..", "a/../b", "./a", ".git", "a/.GIT/hooks", "a\0b"] {
        assert!(TreePath::new(wrong).is_none(), "{wrong:?}");
    }
    for fine in ["a", ".gitignore", "a b/\n", "..."] {
        assert!(TreePath::new(fine).is_some(), "{fine:?}");
    }
    let odd = TreePath::new(b"a\xff/\n".to_vec()).unwrap();
    assert_eq!(odd.to_string(), r"a\xff/\n");
    let written = serde_json::to_string(&odd).unwrap();
    assert_eq!(serde_json::from_str::<TreePath>(&written).unwrap(), odd);
    assert!(serde_json::from_str::<TreePath>(r#""../x""#).is_err());
}

#[test]
fn a_file_that_moved_is_told_as_renamed() {
    let base: Tree = ["old/same.rs", "old/near.rs", "old/gone.rs"]
        .into_iter()
        .zip([1, 2, 3])
        .map(|(at, content)| (path(at), file(content)))
        .collect();
    let child: Tree = [(path("new/same.rs"), file(1)), (path("new/close.rs"), file(4)), (path("z"), file(1))]
        .into_iter()
        .collect();
    let plan = plan(&base, &base, &child, &BTreeSet::new());
    let found = renames(&plan.paths, |from, to| {
        if (from, to) == (&path("old/near.rs"), &path("new/close.rs")) { 80 } else { 10 }
    });
    let rename = |from, to, alike| Rename { from: path(from), to: path(to), alike };
    let told = [rename("old/near.rs", "new/close.rs", 80), rename("old/same.rs", "new/same.rs", 100)];
    assert_eq!(found, told);
    let likeness = |one: &[u8], other: &[u8]| Lines::of(one).likeness(&Lines::of(other));
    assert_eq!(likeness(b"a\nb\nc\nd\n", b"a\nb\nx\nd\n"), 75);
    assert_eq!(likeness(b"a\na\nb\n", b"a\nb\nb\n"), 66, "a line counts as often as both have it");
    assert_eq!((likeness(b"", b""), likeness(b"a\n", b""), likeness(b"a", b"a")), (0, 0, 100));
}
