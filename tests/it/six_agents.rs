//! Six agents at once in copies of a real crate: three come back clean, two clash with each other, and one with what the
//! person wrote meanwhile. All of it is resolved by keys alone, or by `windlass handback` alone, and the crate builds.
//!
//! Not here: the crate, the agents and the program that runs them (`scene`).

mod scene;

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::Value;

use scene::{CLASH, MINE, Scene, child_of, joined};

use crate::terminal::Program;

/// Resolves the conflicts of the next child that waits, by keys.
fn resolve_by_keys(program: &mut Program) {
    program.send("\x18h");
    program.wait_for(" Hand-backs");
    program.until("who came back", |program| program.screen().lines().any(|line| line.starts_with("│⚑")));
    program.send("\r");
    program.wait_for("hunk 1 of ");
    let screen = program.screen();
    if screen.contains(&format!(" {CLASH} · ")) {
        program.wait_for("hunk 1 of 1 · open");
    } else {
        assert!(screen.contains(&format!(" {MINE} · ")), "{screen}");
        program.wait_for("hunk 1 of 2 · open");
        program.send("c");
        program.wait_for("hunk 2 of 2 · open");
    }
    program.send("b");
    program.wait_for("all chosen");
    // as people type it: the second key does not wait for what the first one does
    program.send("wq");
    program.wait_gone("Hand-back · ");
}

/// Waits until the title says this of conflicts, or nothing.
fn title_says(program: &mut Program, wanted: Option<&str>) {
    program.until(&format!("a title with {wanted:?}"), |program| {
        let screen = program.screen();
        let title = screen.lines().next().unwrap_or_default();
        wanted.map_or(!title.contains('⚑'), |wanted| title.contains(wanted))
    });
}

fn by_keys(scene: &Scene) {
    let mut program = scene.shown();
    scene.meet();
    scene.until_all_came_back();
    title_says(&mut program, Some("⚑ 2 conflicts"));
    scene.assert_waits();
    resolve_by_keys(&mut program);
    title_says(&mut program, Some("⚑ 1 conflict"));
    resolve_by_keys(&mut program);
    title_says(&mut program, None);
    assert_eq!(crate::outside::rehearsal::quit(&mut program), 0);
    program.assert_clean();
}

fn by_command(scene: &Scene) {
    let mut run = scene.executed();
    scene.meet();
    let events = run.events();
    let back: Vec<&Value> = events.iter().filter(|event| event["type"] == "handback").collect();
    assert_eq!(back.len(), 6, "{back:?}");
    scene.assert_waits();
    let rows = scene.rows();
    let clash = child_of(&rows, CLASH);
    let mine = child_of(&rows, MINE);
    assert!(scene.done(&["show", &mine, MINE]).contains("@@"));
    let told = scene.done(&["resolve", &clash, CLASH, "--take", "both"]);
    assert_eq!(told, format!("{CLASH}: written; no conflict is open\n"));
    let result = scene.home.path("result");
    fs::write(&result, joined(&scene.base(MINE))).unwrap();
    scene.done(&["resolve", &mine, MINE, "--file", &result.display().to_string()]);
    assert!(scene.rows().iter().all(|row| row["open"] == serde_json::json!([])), "{:?}", scene.rows());
}

#[test]
fn six_agents_come_back_and_what_clashed_is_resolved_by_keys() {
    let scene = Scene::new();
    scene.commit();
    by_keys(&scene);
    scene.assert_all_came_back();
    scene.assert_builds(&["test"]);
}

#[test]
fn six_agents_come_back_and_what_clashed_is_resolved_by_commands() {
    let scene = Scene::new();
    scene.commit();
    by_command(&scene);
    scene.assert_all_came_back();
    scene.assert_builds(&["test", "--lib", "--tests"]);
}

#[test]
fn six_agents_come_back_to_a_directory_without_git() {
    let scene = Scene::new();
    by_keys(&scene);
    scene.assert_all_came_back();
    scene.assert_builds(&["test", "--lib", "--tests"]);
}

#[test]
fn six_agents_come_back_to_a_dirty_tree_and_all_that_is_none_of_theirs_stays_as_it_was() {
    in_a_dirty_tree(by_keys);
}

#[test]
fn six_agents_come_back_to_a_dirty_tree_by_commands_and_all_that_is_none_of_theirs_stays_as_it_was() {
    in_a_dirty_tree(by_command);
}

/// What was changed, staged, untracked or ignored before is there afterwards, byte for byte.
fn in_a_dirty_tree(resolve: fn(&Scene)) {
    let scene = Scene::new();
    for (name, text) in [(".gitignore", "target/\n*.log\n"), ("gone.txt", "gone\n"), ("staged.txt", "one\n")]
    {
        scene.write(name, text);
    }
    scene.commit();
    // what was begun and is not committed
    scene.write("LICENSE-MIT", "changed and not committed\n");
    scene.write("staged.txt", "two\n");
    scene.git(&["add", "staged.txt"]);
    scene.write("staged.txt", "three\n");
    fs::remove_file(scene.path("gone.txt")).unwrap();
    // what git does not know, and what it is to leave alone
    scene.write("notes to self.md", "untracked\n");
    scene.write("a.log", "ignored\n");
    scene.write("target/debug/built", "\0built\0");
    scene.write("more/run", "#!/bin/sh\n");
    fs::create_dir(scene.path("empty")).unwrap();
    symlink("nowhere", scene.path("more/link")).unwrap();
    for (name, mode) in [("more/run", 0o750), ("a.log", 0o600), ("notes to self.md", 0o604), ("empty", 0o711)]
    {
        fs::set_permissions(scene.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    for name in [&b"caf\xe9 \n.txt"[..], &b"\xff.log"[..]] {
        fs::write(scene.work().join(OsString::from_vec(name.to_vec())), name).unwrap();
    }
    let before = scene.all();
    resolve(&scene);
    let after = scene.all();
    let kept = |all: &scene::All| -> scene::All {
        let theirs = |path: &std::path::Path| scene::THEIRS.iter().any(|name| path.starts_with(name));
        all.iter()
            .filter(|(path, _)| !theirs(path))
            .map(|(path, there)| (path.clone(), there.clone()))
            .collect()
    };
    assert_eq!(kept(&before), kept(&after));
    assert!(after.len() > 60, "the repository is looked at too: {}", after.len());
    assert_eq!(scene.read("licenses/LICENSE-MIT"), "changed and not committed\n");
    scene.assert_all_came_back();
    scene.assert_builds(&["test", "--lib", "--tests"]);
}
