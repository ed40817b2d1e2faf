//! `apply_patch` on real files: every kind of operation, and all or nothing across files.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use serde_json::json;
use windlass::api::access::Preview;
use windlass::api::entry::Details;
use windlass::tool::{Blobs, table};

use crate::tools_place::Place;

type Files<'a> = &'a [(&'a str, &'a str)];

fn wrap(body: &str) -> String {
    format!("*** Begin Patch\n{body}\n*** End Patch\n")
}

/// The files of a place, directories left out.
fn files(place: &Place) -> Vec<(String, Vec<u8>)> {
    place.tree().into_iter().filter(|(name, _)| !place.cwd.join(name).is_dir()).collect()
}

fn check(name: &str, input: Files<'_>, body: &str, expected: Files<'_>, fails: bool) {
    let place = Place::new();
    for (file, text) in input {
        place.file(file, text);
    }
    let end = place.run("apply_patch", json!({"patch": wrap(body)}));
    assert_eq!(end.status.word(), if fails { "error" } else { "ok" }, "{name}: {}", end.output);
    let mut expected: Vec<(String, Vec<u8>)> =
        expected.iter().map(|(file, text)| (file.to_string(), text.as_bytes().to_vec())).collect();
    expected.sort();
    assert_eq!(files(&place), expected, "{name}: {}", end.output);
}

#[test]
fn every_kind_of_operation_gives_its_files() {
    let ok = |name, input, body, expected| check(name, input, body, expected, false);
    ok("add", &[], "*** Add File: b.md\n+new", &[("b.md", "new\n")]);
    ok("add an empty file", &[], "*** Add File: b.md", &[("b.md", "")]);
    ok("add over a file", &[("b", "old\n")], "*** Add File: b\n+new", &[("b", "new\n")]);
    ok(
        "several",
        &[("gone", "x\n"), ("m.txt", "1\n2\n")],
        "*** Add File: n/new\n+c\n*** Delete File: gone\n*** Update File: m.txt\n@@\n-2\n+two",
        &[("m.txt", "1\ntwo\n"), ("n/new", "c\n")],
    );
    ok(
        "move to a new directory",
        &[("old/a", "1\n"), ("old/other", "o\n")],
        "*** Update File: old/a\n*** Move to: new/dir/b\n@@\n-1\n+2",
        &[("new/dir/b", "2\n"), ("old/other", "o\n")],
    );
    ok(
        "move over a file",
        &[("a", "1\n"), ("b", "was\n")],
        "*** Update File: a\n*** Move to: b\n@@\n-1\n+2",
        &[("b", "2\n")],
    );
    ok("move without a change", &[("a", "1\n")], "*** Update File: a\n*** Move to: b", &[("b", "1\n")]);
    ok(
        "move to itself",
        &[("a", "1\n")],
        "*** Update File: a\n*** Move to: ./a\n@@\n-1\n+2",
        &[("a", "2\n")],
    );
    ok(
        "only additions go to the end",
        &[("a", "1\n")],
        "*** Update File: a\n@@\n+2\n+3",
        &[("a", "1\n2\n3\n")],
    );
    ok("padded header", &[("a", "1\n")], "  *** Update File: a\n@@\n-1\n+2", &[("a", "2\n")]);
    ok("without @@", &[("a", "1\n2\n")], "*** Update File: a\n 1\n-2\n+3", &[("a", "1\n3\n")]);
    ok("delete lines", &[("a", "1\n2\n3\n")], "*** Update File: a\n@@\n 1\n-2\n 3", &[("a", "1\n3\n")]);
    ok(
        "end of file",
        &[("a", "x\ny\nx\ny\n")],
        "*** Update File: a\n@@\n x\n-y\n+z\n*** End of File",
        &[("a", "x\ny\nx\nz\n")],
    );
    ok(
        "mixed line ends",
        &[("a", "one\r\ntwo\rthree\nfour\r\n")],
        "*** Update File: a\n@@\n one\n two\n-three\n+3\n four",
        &[("a", "one\r\ntwo\r3\r\nfour\r\n")],
    );
    ok(
        "a file that the patch itself added",
        &[],
        "*** Add File: a\n+1\n*** Update File: a\n@@\n-1\n+2",
        &[("a", "2\n")],
    );
    ok("gone and new again", &[("a", "1\n")], "*** Delete File: a\n*** Add File: a\n+2", &[("a", "2\n")]);
}

#[test]
fn a_patch_that_fails_anywhere_changes_nothing() {
    let input: Files<'_> = &[("a", "1\n"), ("b", "2\n"), ("dir/x", "x\n")];
    let first = "*** Add File: sub/new\n+n\n*** Update File: a\n@@\n-1\n+one\n*** Delete File: b\n";
    for (name, rest) in [
        ("a lost context", "*** Update File: dir/x\n@@\n-y\n+z"),
        ("a missing file", "*** Update File: dir/y\n@@\n-x\n+z"),
        ("a missing file to delete", "*** Delete File: gone"),
        ("deleted twice", "*** Delete File: b"),
        ("a directory to delete", "*** Delete File: dir"),
        ("a directory in the way", "*** Add File: dir\n+x"),
        ("a file in the way of a directory", "*** Add File: dir/x/y\n+z"),
        ("a move onto a directory", "*** Update File: dir/x\n*** Move to: dir\n@@\n-x\n+z"),
        ("a name too long", &format!("*** Add File: {}\n+x", "n".repeat(300))),
        ("a header", "*** Frobnicate File: a"),
        ("a bad line", "*** Update File: dir/x\n@@\nbad"),
    ] {
        check(name, input, &format!("{first}{rest}"), input, true);
        check(name, input, &format!("{rest}\n{}", first.trim_end()), input, true);
    }
    check("empty", input, "", input, true);
    check("nothing to do", input, "*** Update File: a\n@@\n-1\n+1", input, true);
    check("an empty update", input, "*** Update File: a", input, true);
}

/// The plan is right, but the disk says no half-way: what was done is put back, times aside.
#[test]
fn a_patch_that_needs_a_name_as_file_and_as_directory_says_so() {
    for body in ["*** Add File: z/1\n+a\n*** Add File: z\n+b", "*** Add File: z\n+b\n*** Add File: z/1\n+a"] {
        let place = Place::new();
        let error = place.error("apply_patch", json!({"patch": wrap(body)}));
        assert_eq!(
            error,
            "z is a directory by now: another file of this change lies in it, or someone made it; give one of them \
             another name; nothing was changed"
        );
        assert_eq!(files(&place), []);
    }
}

#[test]
fn a_patch_that_fails_while_it_is_written_is_put_back() {
    let place = Place::new();
    place.file("a", "1\n");
    place.file("b", "9\n");
    let tool = table::find(&table::all(), "apply_patch").unwrap();
    // `y` becomes a directory's name and a file's in one patch: no order of writing can do both
    let patch = wrap(
        "*** Update File: a\n@@\n-1\n+one\n*** Delete File: b\n*** Add File: sub/deep/n\n+n\n*** Add File: y\n+f\n*** \
         Add File: y/below\n+x",
    );
    assert!(tool.wish(&place.cwd, &json!({"patch": patch})).is_ok(), "nothing is wrong with the plan");
    let before = place.tree();
    let error = place.error("apply_patch", json!({"patch": patch}));
    assert!(error.contains("nothing was changed"), "{error}");
    assert_eq!(place.tree(), before, "{error}");
}

#[test]
fn modes_links_and_earlier_bytes_are_kept() {
    let place = Place::new();
    let script = place.file("run.sh", "#!/bin/sh\n");
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o750)).unwrap();
    symlink("run.sh", place.cwd.join("link")).unwrap();
    let mode = |name: &str| std::fs::metadata(place.cwd.join(name)).unwrap().permissions().mode() & 0o7777;
    place.ok("apply_patch", json!({"patch": wrap("*** Update File: link\n@@\n-#!/bin/sh\n+#!/bin/bash")}));
    assert!(place.cwd.join("link").is_symlink());
    assert_eq!((place.bytes("run.sh"), mode("run.sh")), (b"#!/bin/bash\n".to_vec(), 0o750));
    let error = place.error("apply_patch", json!({"patch": wrap("*** Delete File: link")}));
    assert!(error.contains("link is a link to run.sh"), "{error}");
    let end = place.ok("apply_patch", json!({"patch": wrap("*** Update File: run.sh\n*** Move to: bin/go")}));
    assert_eq!(mode("bin/go"), 0o750);
    assert_eq!(end.output, "Patched (+1 −1 lines):\nR run.sh → bin/go");
    let gone = end.touched.iter().find(|touched| touched.path == script).unwrap();
    assert_eq!((gone.after.as_ref(), gone.mode), (None, Some(0o750)));
    assert_eq!(place.blobs.load(gone.before.as_ref().unwrap()).unwrap(), b"#!/bin/bash\n");
}

#[test]
fn the_preview_and_the_details_show_every_file() {
    let place = Place::new();
    place.file("a", "1\n");
    place.file("b", "2\n");
    let patch = wrap("*** Update File: a\n@@\n-1\n+one\n*** Delete File: b\n*** Add File: c\n+3");
    let tool = table::find(&table::all(), "apply_patch").unwrap();
    assert_eq!(tool.title(&json!({"patch": patch})), "a, b (+1)");
    let wish = tool.wish(&place.cwd, &json!({"patch": patch})).unwrap();
    assert_eq!(wish.paths, ["a", "b", "c"].map(|name| place.cwd.join(name)));
    let Preview::Diff { diff: preview } = wish.preview else { panic!("a diff") };
    let end = place.ok("apply_patch", json!({"patch": patch}));
    let Details::Diff { diff, added, removed } = end.details else { panic!("a diff") };
    assert_eq!((added, removed, &diff), (2, 2, &preview));
    insta::assert_snapshot!(diff);
}

/// By hand: `WINDLASS_SCENARIOS=DIR cargo test --test it outside_scenarios -- --ignored`, where each
/// directory of DIR holds `patch.txt`, `input/` and `expected/`.
#[test]
#[ignore = "compares with scenarios that are not ours; run by hand with WINDLASS_SCENARIOS"]
fn outside_scenarios() {
    let root = std::env::var("WINDLASS_SCENARIOS").expect("WINDLASS_SCENARIOS names the directory");
    let mut scenarios: Vec<_> = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    scenarios.retain(|path| path.is_dir());
    scenarios.sort();
    let mut differ = Vec::new();
    for scenario in &scenarios {
        let place = Place::new();
        copy(&scenario.join("input"), &place.cwd);
        let patch = std::fs::read_to_string(scenario.join("patch.txt")).unwrap();
        let end = place.run("apply_patch", json!({"patch": patch}));
        let expected = Place::new();
        copy(&scenario.join("expected"), &expected.cwd);
        if files(&place) != files(&expected) {
            differ.push(format!("{}: {}", scenario.display(), end.output));
        }
    }
    assert!(
        !scenarios.is_empty() && differ.is_empty(),
        "{} of {}:\n{}",
        differ.len(),
        scenarios.len(),
        differ.join("\n")
    );
}

fn copy(from: &Path, to: &Path) {
    let Ok(entries) = std::fs::read_dir(from) else { return };
    for entry in entries {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            std::fs::create_dir_all(&target).unwrap();
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
