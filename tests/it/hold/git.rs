//! Git in a copy: everything a person expects of it, and nothing of the parent's repository is written.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use windlass::law::job::End;
use windlass::sandbox::hold::{Commands, Held};
use windlass::workspace::child::listing::list;
use windlass::workspace::child::{Progress, Room};

use super::{Place, fingerprint, write};
use crate::commands::Heard;

const WHO: [&str; 6] =
    ["-c", "user.name=p", "-c", "user.email=p@example.invalid", "-c", "init.defaultBranch=main"];

/// Runs git outside, as the person does; what it prints.
fn git(dir: &Path, arguments: &[&str]) -> String {
    let done = Command::new("git")
        .args(WHO)
        .args(["-c", "protocol.file.allow=always"])
        .args(arguments)
        .current_dir(dir)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success(), "git {arguments:?}: {said}{}", String::from_utf8_lossy(&done.stderr));
    said
}

/// A repository with a history, a stash, and every kind of change under way.
fn dirty(dir: &Path) {
    git(dir, &["init", "-q"]);
    git(dir, &["config", "user.name", "p"]);
    git(dir, &["config", "user.email", "p@example.invalid"]);
    write(&dir.join(".gitignore"), "target/\n");
    for (name, text) in [
        ("kept", "1\n"),
        ("changed", "1\n"),
        ("staged", "1\n"),
        ("removed", "1\n"),
        ("d/moved", "long enough to be known\n"),
    ] {
        write(&dir.join(name), text);
    }
    git(dir, &["add", "."]);
    git(dir, &["commit", "-qm", "one"]);
    git(dir, &["branch", "side"]);
    git(dir, &["tag", "-am", "t", "v1"]);
    write(&dir.join("kept"), "stashed\n");
    git(dir, &["stash", "-q"]);
    write(&dir.join("kept"), "2\n");
    git(dir, &["commit", "-qam", "two"]);
    git(dir, &["pack-refs", "--all"]);
    git(dir, &["repack", "-qad"]);
    git(dir, &["commit", "-q", "--allow-empty", "-m", "three"]);
    write(&dir.join("changed"), "2\n");
    write(&dir.join("staged"), "2\n");
    git(dir, &["add", "staged"]);
    write(&dir.join("staged"), "3\n");
    fs::remove_file(dir.join("removed")).unwrap();
    git(dir, &["mv", "d/moved", "d/there"]);
    write(&dir.join("new"), "new\n");
    write(&dir.join("intended"), "new\n");
    git(dir, &["add", "-N", "intended"]);
    write(&dir.join("target/big"), "ignored\n");
    write(&dir.join(".git/info/exclude"), "secret\n");
    write(&dir.join("secret"), "excluded\n");
}

fn status(dir: &Path) -> String {
    git(dir, &["status", "--porcelain=v2", "--branch", "--show-stash"])
}

fn said(heard: &Heard) -> String {
    String::from_utf8_lossy(&heard.kept.head).into_owned()
}

/// Runs it in the child's hold; it must end well.
async fn held(place: &Place, script: &str) -> String {
    let heard = place.bench().await.run(&format!("set -e\n{script}")).await;
    assert_eq!(heard.record.end, End::Exited { code: 0 }, "{script}: {}", said(&heard));
    said(&heard)
}

#[tokio::test]
async fn hold_git_keeps_repository() {
    let place = Place::empty();
    dirty(&place.parent);
    let told = status(&place.parent);
    let log = git(&place.parent, &["log", "--oneline", "--decorate", "--all"]);
    let diff = git(&place.parent, &["diff"]);
    // hooks of the parent's would tell on themselves
    write(
        &place.parent.join(".git/hooks/pre-commit"),
        "#!/bin/sh\ntouch \"$(git rev-parse --show-toplevel)/hooked\"\n",
    );
    let hook = place.parent.join(".git/hooks/pre-commit");
    fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    git(&place.parent, &["config", "core.fsmonitor", "touch /nowhere/ran"]);
    place.room.make(&place.parent, &Progress::default()).unwrap();
    let before = fingerprint(&place.parent);
    // the same as the parent sees
    assert_eq!(held(&place, "git status --porcelain=v2 --branch --show-stash").await, told);
    assert_eq!(held(&place, "git log --oneline --decorate --all").await, log);
    assert_eq!(held(&place, "git diff").await, diff);
    assert_eq!(held(&place, "git show v1:kept; git stash show -p | grep '^+stashed'").await, "1\n+stashed\n");
    assert_eq!(held(&place, "git fsck --no-dangling 2>&1").await, "");
    // and all that writes
    let all = "git commit -qm four; git add -A; git commit -qm rest; git checkout -qb mine; echo 5 >kept; git stash -q; \
        git stash pop -q; git commit -qam five; git checkout -q side; git merge -q mine 2>&1; git rebase -q main 2>&1; \
        git tag mine-too; git branch -D mine >/dev/null; git reset -q --hard HEAD~1; git gc -q --prune=now 2>&1; git log --oneline | tail -1";
    assert!(held(&place, all).await.ends_with(" one\n"));
    // whatever leads to the parent's repository leads to the copy's
    let parent = place.parent.display();
    let hostile = format!(
        "export GIT_DIR={parent}/.git GIT_WORK_TREE={parent}; cd /; git commit -q --allow-empty -m evil; \
         git -C {parent} update-ref refs/heads/evil HEAD; rm -rf {parent}/.git/refs; echo >{parent}/.git/HEAD; \
         for o in $(cat {parent}/.git/objects/info/alternates); do ls $o >/dev/null; ! touch $o/x 2>/dev/null; ! rm -rf $o/pack 2>/dev/null; done"
    );
    held(&place, &hostile).await;
    assert_eq!(fingerprint(&place.parent), before);
    // nothing of it comes back
    let record = place.room.hand_back(&place.parent).unwrap();
    let git_paths: Vec<String> =
        record.paths.iter().map(|path| path.path.to_string()).filter(|path| path.contains(".git/")).collect();
    assert_eq!(git_paths, Vec::<String>::new());
    assert!(!place.room.copy().join(".git").exists() && !place.room.dir().join("git").exists());
    let repository = |all: std::collections::BTreeMap<PathBuf, String>| -> Vec<(PathBuf, String)> {
        all.into_iter().filter(|(path, _)| path.starts_with(place.parent.join(".git"))).collect()
    };
    assert_eq!(repository(fingerprint(&place.parent)), repository(before));
}

#[tokio::test]
async fn a_work_tree_beside_its_repository_has_a_copy_of_its_own_too() {
    let place = Place::empty();
    let main = place.top.join("work/main");
    fs::create_dir_all(&main).unwrap();
    dirty(&main);
    fs::remove_dir(&place.parent).unwrap();
    git(&main, &["worktree", "add", "-q", place.parent.to_str().unwrap(), "side"]);
    write(&place.parent.join("kept"), "mine\n");
    place.room.make(&place.parent, &Progress::default()).unwrap();
    let told = status(&place.parent);
    let before = (fingerprint(&place.parent), fingerprint(&main.join(".git")));
    assert_eq!(held(&place, "git status --porcelain=v2 --branch --show-stash").await, told);
    held(&place, "git commit -qam mine; git checkout -qb other; git log --oneline | tail -1").await;
    let main_git = main.join(".git");
    held(&place, &format!("! git --git-dir={} branch evil 2>/dev/null", main_git.display())).await;
    assert_eq!((fingerprint(&place.parent), fingerprint(&main_git)), before);
}

/// A sparse checkout of `a`, set up by these arguments; everything else is left out.
async fn sparse(place: &Place, set: &[&str]) {
    for name in ["top", "a/1", "b/1", "b/2", "c/d/1"] {
        write(&place.parent.join(name), "1\n");
    }
    git(&place.parent, &["init", "-q"]);
    git(&place.parent, &["config", "user.name", "p"]);
    git(&place.parent, &["config", "user.email", "p@example.invalid"]);
    git(&place.parent, &["add", "."]);
    git(&place.parent, &["commit", "-qm", "one"]);
    git(&place.parent, &[&["sparse-checkout", "set"], set].concat());
    assert!(!place.parent.join("b").exists());
    write(&place.parent.join("a/1"), "2\n");
    write(&place.parent.join("a/new"), "new\n");
    // what is not there is not counted
    assert_eq!(list(&place.parent, 3).unwrap().paths.len(), 3);
    place.room.make(&place.parent, &Progress::default()).unwrap();
    let asked: [&[&str]; 5] = [
        &["status"],
        &["status", "--porcelain=v2", "--branch"],
        &["sparse-checkout", "list"],
        &["ls-files", "-v"],
        &["diff"],
    ];
    let told = asked.map(|asked| git(&place.parent, asked));
    let before = fingerprint(&place.parent);
    for (asked, told) in asked.iter().zip(told) {
        let asked = asked.join(" ");
        assert_eq!(held(place, &format!("git {asked} 2>/dev/null")).await, told, "{asked} of {set:?}");
    }
    held(place, "git add -A; git commit -qm two; git checkout -qb mine; git stash list; test ! -e b; test -z \"$(git status -s)\"").await;
    assert_eq!(fingerprint(&place.parent), before, "{set:?}");
    // what is left out can be had, and comes back as what git knows already
    held(place, "git sparse-checkout disable; cat b/1").await;
    place.room.hand_back(&place.parent).unwrap();
    assert_eq!(git(&place.parent, &["status", "-s"]), " M a/1\n?? a/new\n", "{set:?}");
    assert_eq!(git(&place.parent, &["log", "--format=%s"]), "one\n");
}

#[tokio::test]
async fn a_sparse_checkout_is_as_sparse_in_the_copy() {
    sparse(&Place::empty(), &["a"]).await;
    sparse(&Place::empty(), &["--sparse-index", "a"]).await;
    sparse(&Place::empty(), &["--no-cone", "/top", "/a/"]).await;
}

#[tokio::test]
async fn a_part_of_a_work_tree_has_the_whole_history() {
    let place = Place::empty();
    let top = place.top.join("work");
    write(&top.join("other/file"), "1\n");
    write(&place.parent.join("a"), "1\n");
    git(&top, &["init", "-q"]);
    git(&top, &["config", "user.name", "p"]);
    git(&top, &["config", "user.email", "p@example.invalid"]);
    git(&top, &["add", "."]);
    git(&top, &["commit", "-qm", "one"]);
    write(&place.parent.join("a"), "2\n");
    place.room.make(&place.parent, &Progress::default()).unwrap();
    let before = fingerprint(&top);
    assert_eq!(held(&place, "git status --porcelain; git log --format=%s").await, " M project/a\none\n");
    assert_eq!(
        held(
            &place,
            "git commit -qam two; git checkout -qb mine; git log --format=%s; git status --porcelain"
        )
        .await,
        "two\none\n"
    );
    assert_eq!(fingerprint(&top), before);
}

#[tokio::test]
async fn a_part_of_a_work_tree_that_has_submodules_is_read_and_committed() {
    let place = Place::empty();
    let (top, inner, nested) = (place.top.join("work"), place.top.join("inner"), place.top.join("nested"));
    for dir in [&nested, &inner] {
        fs::create_dir_all(dir).unwrap();
        git(dir, &["init", "-q"]);
        write(&dir.join("f"), "1\n");
        git(dir, &["add", "."]);
        git(dir, &["commit", "-qm", "inner"]);
    }
    git(&inner, &["submodule", "add", "-q", nested.to_str().unwrap(), "deep/nested"]);
    git(&inner, &["commit", "-qm", "nested"]);
    write(&place.parent.join("a"), "1\n");
    git(&top, &["init", "-q"]);
    git(&top, &["config", "user.name", "p"]);
    git(&top, &["config", "user.email", "p@example.invalid"]);
    git(&top, &["add", "."]);
    git(&top, &["commit", "-qm", "one"]);
    for at in ["beside it", "project/within"] {
        git(&top, &["submodule", "add", "-q", inner.to_str().unwrap(), at]);
    }
    git(&top, &["submodule", "update", "-q", "--init", "--recursive"]);
    git(&top, &["commit", "-qm", "with submodules"]);
    for changed in ["project/a", "project/within/f", "beside it/f", "beside it/deep/nested/f"] {
        write(&top.join(changed), "2\n");
    }
    let made = place.room.make(&place.parent, &Progress::default()).unwrap();
    assert_eq!(made.no_git, None);
    let told = git(&place.parent, &["status", "--porcelain=v2"]);
    let before = fingerprint(&top);
    assert_eq!(held(&place, "git status --porcelain=v2").await, told);
    let within = "cd within; git status --porcelain; git log --format=%s; cd '../../beside it'; git log --format=%s; git status --porcelain";
    assert_eq!(held(&place, within).await, " M f\nnested\ninner\nnested\ninner\n M deep/nested\n M f\n");
    let writes = "git commit -qam two; git log --format=%s; cd within; git -c user.name=p -c user.email=p@q commit -qm three f; \
        cd '../../beside it'; git -c user.name=p -c user.email=p@q commit -qm four f; git log --format=%s | head -1";
    assert_eq!(held(&place, writes).await, "two\nwith submodules\none\nfour\n");
    assert_eq!(fingerprint(&top), before);
}

#[tokio::test]
async fn submodules_detached_heads_and_borrowed_objects_are_as_they_were() {
    let place = Place::empty();
    let (inner, lender) = (place.top.join("inner"), place.top.join("lender"));
    for dir in [&inner, &lender] {
        fs::create_dir_all(dir).unwrap();
        git(dir, &["init", "-q"]);
        write(&dir.join("f"), "1\n");
        git(dir, &["add", "."]);
        git(dir, &["commit", "-qm", "inner"]);
    }
    fs::remove_dir(&place.parent).unwrap();
    git(&place.top, &["clone", "-q", "--shared", lender.to_str().unwrap(), place.parent.to_str().unwrap()]);
    git(&place.parent, &["submodule", "add", "-q", inner.to_str().unwrap(), "vendor/inner"]);
    git(&place.parent, &["commit", "-qm", "with a submodule"]);
    git(&place.parent, &["checkout", "-q", "--detach"]);
    write(&place.parent.join("vendor/inner/f"), "2\n");
    place.room.make(&place.parent, &Progress::default()).unwrap();
    let told = status(&place.parent);
    let before = (fingerprint(&place.parent), fingerprint(&lender), fingerprint(&inner));
    assert_eq!(held(&place, "git status --porcelain=v2 --branch --show-stash").await, told);
    let log = "git log --format=%s; cd vendor/inner; git -c user.name=p -c user.email=p@q commit -qam two; git log --format=%s";
    assert_eq!(held(&place, log).await, "with a submodule\ninner\ntwo\ninner\n");
    assert_eq!((fingerprint(&place.parent), fingerprint(&lender), fingerprint(&inner)), before);
}

#[tokio::test]
async fn a_copy_of_a_copy_has_the_history_of_both_and_lends_nothing_else() {
    let place = Place::empty();
    dirty(&place.parent);
    write(&place.dirs.state().join("sessions/secret/pack/hush"), "hush");
    place.room.make(&place.parent, &Progress::default()).unwrap();
    held(&place, "git commit -qam childs").await;
    let log = "git log --format=%s 2>&1 | head -2; git stash list | wc -l";
    assert_eq!(grandchild(&place, "child-inner", log).await, "childs\nthree\n1\n");
    // the child names what it must not see as a place of objects
    let alternates = place.room.copy().join(".git/objects/info/alternates");
    let mut text = fs::read_to_string(&alternates).unwrap();
    text.push_str(&format!("{}\n", place.dirs.state().join("sessions/secret").display()));
    fs::write(&alternates, text).unwrap();
    let all = "git log --format=%s 2>/dev/null | head -2; grep -r hush $(cat .git/objects/info/alternates) 2>/dev/null";
    assert_eq!(grandchild(&place, "child-second", all).await, "childs\nthree\n");
}

/// Runs it in the hold of a child of the child.
async fn grandchild(place: &Place, name: &str, script: &str) -> String {
    let room = Room::at(place.room.dir().with_file_name(name));
    let made = room.make(&place.room.copy(), &Progress::default()).unwrap();
    assert_eq!(made.no_git, None);
    let mut bench = place.bench().await;
    let held = Held::new(&place.dirs, &place.parent, room.dir(), &room.copy(), Commands::Held).unwrap();
    bench.held = Some(std::sync::Arc::new(held));
    said(&bench.run(script).await)
}

#[tokio::test]
async fn without_git_there_is_none_in_the_copy() {
    let place = Place::new(&[("a", "1")]);
    assert!(!place.room.copy().join(".git").exists());
    assert_eq!(held(&place, "git status 2>&1 | grep -c 'not a git repository'").await, "1\n");
}
