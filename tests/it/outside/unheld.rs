//! A machine on which user namespaces are blocked, as Ubuntu blocks them: bubblewrap is there and holds nothing. One
//! clear status says so, nothing is asked for it, and an agent in a copy works without commands, or, where a setting
//! allows it, with commands that are not held.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::{Home, Ran};

/// What bubblewrap says where AppArmor restricts unprivileged user namespaces.
const WORDS: &str = "bwrap: setting up uid map: Permission denied";

/// A home whose `bwrap` fails so, and tells by a file how often it was asked.
fn blocked() -> Home {
    let mut home = Home::new();
    let asked = home.path("asked").display().to_string();
    home.write("bin/bwrap", &format!("#!/bin/sh\necho asked >>'{asked}'\necho '{WORDS}' >&2\nexit 1\n"));
    fs::set_permissions(home.path("bin/bwrap"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    home.set("PATH", &format!("{}:{path}", home.path("bin").display()));
    home.write("work/a.txt", "one\n");
    home
}

fn calls(tool: &str, input: Value) -> Value {
    json!({"calls": [{"tool": tool, "input": input}]})
}

/// A session with one agent in a copy that does this; the mode is the one in which edits are not asked about.
fn run(home: &Home, agent: &[Value], mode: &str) -> Ran {
    let spawn = calls("spawn", json!({"name": "w", "prompt": "work", "workspace": "isolated"}));
    let wait = calls("agents", json!({"action": "wait", "name": "w"}));
    let script = json!({"turns": [spawn, wait, {"say": "done"}], "agents": {"w": {"turns": agent}}});
    let model = home.script(&script);
    let ran = home.run(&["exec", "--json", "--model", &model, "--approve", mode, "go"]);
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.out, ran.err);
    ran
}

fn settled(ran: &Ran, agent: bool) -> Vec<Value> {
    ran.of("call.settled").into_iter().filter(|event| event["agent"].is_string() == agent).collect()
}

#[test]
fn where_user_namespaces_are_blocked_one_status_says_so_and_edits_are_not_asked_about() {
    let home = blocked();
    let doctor = home.run(&["doctor"]);
    assert_eq!(doctor.out.matches(WORDS).count(), 1, "{}", doctor.out);
    let line = doctor.out.lines().find(|line| line.contains(WORDS)).unwrap();
    assert!(line.contains("those of agents in a copy cannot be held in it"), "{line}");
    assert!(doctor.out.contains("allow it user namespaces"), "{}", doctor.out);

    fs::remove_file(home.path("asked")).unwrap();
    let edit = calls("edit", json!({"path": "a.txt", "edits": [{"old": "one", "new": "two"}]}));
    let ran = run(&home, &[edit, calls("bash", json!({"command": "id"})), json!({"say": "w done"})], "edits");
    assert_eq!(home.read("asked"), "asked\n", "it is found out once");
    assert!(ran.of("approval").is_empty(), "{}", ran.out);
    let own = settled(&ran, true);
    assert_eq!(own[0]["status"], "ok", "{own:?}");
    assert_eq!(own[1]["status"], "error", "{own:?}");
    assert!(own[1]["output"].as_str().unwrap().contains("bash"), "{own:?}");
    let spawned = settled(&ran, false)[0].to_string();
    assert!(spawned.contains(WORDS) && spawned.contains("it has no `bash`"), "{spawned}");
    assert_eq!(home.read("work/a.txt"), "two\n", "what it did came back");
}

#[test]
fn commands_that_are_allowed_without_a_hold_run_in_the_copy_and_that_is_said() {
    let home = blocked();
    home.write("config/windlass/settings.json", r#"{"agents": {"unheld_commands": true}}"#);
    let command = "cd . && pwd && echo two >b.txt && readlink -f a.txt";
    let turns = [
        calls("bash", json!({"command": command})),
        calls("grep", json!({"pattern": "two"})),
        json!({"say": "w done"}),
    ];
    let ran = run(&home, &turns, "auto");
    let own = settled(&ran, true);
    let (said, found) = (own[0]["output"].as_str().unwrap(), own[1]["output"].as_str().unwrap());
    let copy = said.lines().next().unwrap().to_owned();
    assert!(copy.starts_with(&home.path("state").display().to_string()) && copy.ends_with("/copy"), "{said}");
    assert!(said.contains(&format!("{copy}/a.txt\n[ran in {copy};")), "{said}");
    assert!(found.starts_with("b.txt\n"), "{found}");
    let spawned = settled(&ran, false)[0].to_string();
    assert!(spawned.contains("its commands are not held in its copy"), "{spawned}");
    assert_eq!(home.read("work/b.txt"), "two\n");
}
