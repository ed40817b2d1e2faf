//! What is ignored: a search answers in an agent's copy what it answers in the directory that the agent sees, and in
//! both what git says of it, for generated rules above, in and below it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::json;
use windlass::workspace::child::Progress;
use windlass::workspace::files;

use super::paths::tools;
use super::{Place, write};
use crate::tools_place::Place as Tools;

const RULES: [&str; 12] = [
    "*.log",
    "!keep.log",
    "/a/",
    "b/",
    "/project/a/*.log",
    "!/project/a/one.log",
    "a/**/c.txt",
    "b/*\n!b/keep.log",
    "keep.log",
    "project/b",
    "/b/c.txt",
    "**/a/b",
];

const FILES: [&str; 11] = [
    "one.log",
    "keep.log",
    "c.txt",
    "a/one.log",
    "a/keep.log",
    "a/c.txt",
    "a/b/keep.log",
    "a/b/c.txt",
    "b/one.log",
    "b/keep.log",
    "b/c.txt",
];

/// Where files of rules stand, from the directory above the project.
const PLACES: [&str; 5] =
    [".gitignore", "project/.gitignore", "project/a/.gitignore", "project/b/.gitignore", "exclude"];

/// Where the repository is: nowhere, above the project, or in it.
fn repository(place: &Place, which: usize) -> Option<&Path> {
    let top = [None, place.parent.parent(), Some(place.parent.as_path())][which]?;
    let done = git(top, &["init", "-q"]);
    assert!(done.is_empty(), "{done:?}");
    Some(top)
}

fn git(dir: &Path, arguments: &[&str]) -> BTreeSet<String> {
    let mut git = std::process::Command::new("git");
    git.arg("-C").arg(dir).args(arguments).env("GIT_CONFIG_GLOBAL", "/dev/null").env("HOME", dir);
    let done = git.env("XDG_CONFIG_HOME", dir.join("none")).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap().lines().map(str::to_owned).collect()
}

fn listed(tools: &Tools, path: &str) -> BTreeSet<String> {
    let end = tools.run("glob", json!({"pattern": "*", "path": path}));
    let found = tools.run("grep", json!({"pattern": "^", "path": path}));
    let lines = |text: &str| -> BTreeSet<String> { text.lines().map(str::to_owned).collect() };
    let mut files = lines(&end.output);
    files.retain(|line| !line.starts_with('('));
    let mut searched = lines(&found.output);
    searched.retain(|line| {
        !line.starts_with('(') && !line.starts_with(|c: char| c.is_ascii_digit()) && !line.is_empty()
    });
    assert_eq!(files, searched, "glob and grep\n{}\n{}", end.output, found.output);
    files
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, max_shrink_iters: 100, ..ProptestConfig::default() })]

    #[test]
    fn a_copy_is_searched_as_the_directory_is(
        which in 0_usize..3,
        rules in proptest::collection::vec((0..PLACES.len(), 0..RULES.len()), 0..6),
    ) {
        let place = Place::empty();
        let above = place.parent.parent().unwrap().to_owned();
        let top = repository(&place, which).map(Path::to_owned);
        for (at, rule) in &rules {
            let file = match (PLACES[*at], &top) {
                ("exclude", Some(top)) => top.join(".git/info/exclude"),
                ("exclude", None) => continue,
                (name, _) => above.join(name),
            };
            let before = fs::read_to_string(&file).unwrap_or_default();
            write(&file, &format!("{before}{}\n", RULES[*rule]));
        }
        FILES.iter().for_each(|name| write(&place.parent.join(name), "text\n"));
        place.room.make(&place.parent, &Progress::default()).unwrap();
        // what was ignored is made in the copy too
        FILES.iter().for_each(|name| write(&place.room.copy().join(name), "text\n"));
        for name in ["a/.gitignore", "b/.gitignore", ".gitignore"] {
            if let Ok(text) = fs::read_to_string(place.parent.join(name)) {
                write(&place.room.copy().join(name), &text);
            }
        }
        let (outside, inside) = (Tools::at(place.parent.clone()), tools(&place));
        for path in [".", "a", "a/b", "b"] {
            prop_assert_eq!(listed(&inside, path), listed(&outside, path), "{} of {:?}", path, rules);
        }
        if top.is_some() {
            let known = git(&place.parent, &["ls-files", "-o", "--exclude-standard"]);
            prop_assert_eq!(listed(&outside, "."), known.clone(), "{:?}", rules);
            let offered = files::list(&place.parent, 100, &false.into()).paths;
            prop_assert_eq!(offered.into_iter().collect::<BTreeSet<_>>(), known);
        }
    }
}

#[test]
fn rules_above_the_top_of_a_work_tree_do_not_count_in_it() {
    let place = Place::empty();
    let above = place.parent.parent().unwrap();
    write(&above.join(".gitignore"), "*\n");
    write(&place.parent.join("src/a.rs"), "text\n");
    let outside = Tools::at(place.parent.clone());
    assert!(listed(&outside, ".").is_empty(), "without git they do");
    repository(&place, 2);
    place.room.make(&place.parent, &Progress::default()).unwrap();
    for tools in [outside, tools(&place)] {
        assert_eq!(listed(&tools, "."), ["src/a.rs".to_owned()].into());
        assert_eq!(listed(&tools, "src"), ["src/a.rs".to_owned()].into());
    }
    assert_eq!(files::list(&place.parent, 100, &false.into()).paths, ["src/a.rs"]);
}
