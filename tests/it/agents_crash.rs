//! Subagents seen from outside: `windlass exec` with agents, and what is left when the program is killed.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use windlass::api::access::Mode;
use windlass::api::agent::AgentState;
use windlass::api::command::{AgentAsk, Command as Ask};
use windlass::base::SessionId;
use windlass::engine::Which;
use windlass::law::children::{By, End};
use windlass::store::Dirs;

use crate::agents::{bash, beside, calls, ended, go, says, script, spawn, state, until};
use crate::commands::binary;
use crate::session::{Place, Running};

pub struct Home {
    place: Place,
}

/// What a program tells of itself, a line each.
pub type Events = std::io::Lines<BufReader<std::process::ChildStdout>>;

impl Home {
    pub fn new() -> Self {
        let place = Place::new();
        place.write("a.txt", "base\n");
        place.write("clash.txt", "base\n");
        Self { place }
    }

    fn at(&self, name: &str) -> PathBuf {
        beside(&self.place, "home").join(name)
    }

    pub fn place(&self) -> &Place {
        &self.place
    }

    pub fn dirs(&self) -> Dirs {
        Dirs::at(self.at("state").join("windlass"), self.at("config").join("windlass"))
    }

    pub fn start(&self, script: &str) -> Child {
        self.exec(script, &["--json"]).stdout(Stdio::piped()).spawn().unwrap()
    }

    fn exec(&self, script: &str, flags: &[&str]) -> Command {
        let file = beside(&self.place, "script.json");
        std::fs::write(&file, script).unwrap();
        let mut command = Command::new(binary());
        command
            .arg("exec")
            .args(flags)
            .args(["--approve", "auto", "--model"])
            .arg(format!("scripted:{}", file.display()))
            .arg("begin")
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.at(""))
            .env("XDG_CONFIG_HOME", self.at("config"))
            .env("XDG_STATE_HOME", self.at("state"))
            .env("TMPDIR", beside(&self.place, ""))
            .current_dir(self.place.cwd())
            .stdin(Stdio::null());
        command
    }

    /// Runs it to its end; `each` sees every event as it comes.
    fn events(&self, script: &str, flags: &[&str], mut each: impl FnMut(&Value)) -> Vec<Value> {
        let mut program = self.exec(script, flags).stdout(Stdio::piped()).spawn().unwrap();
        let mut events = Vec::new();
        for line in BufReader::new(program.stdout.take().unwrap()).lines() {
            let event: Value = serde_json::from_str(&line.unwrap()).unwrap();
            each(&event);
            events.push(event);
        }
        assert_eq!(program.wait().unwrap().code(), Some(0), "{events:#?}");
        events
    }

    pub fn open(&self, script: &str, session: &SessionId) -> Running {
        self.place
            .open_with(script, Mode::Auto, Which::Id(session.clone()), |options| options.dirs = self.dirs())
    }
}

pub fn events(program: &mut Child) -> Events {
    BufReader::new(program.stdout.take().unwrap()).lines()
}

/// Reads on until each of these agents runs a command. The session.
pub fn until_called(events: &mut Events, agents: &[&str]) -> SessionId {
    let (mut session, mut left) = (None, agents.to_vec());
    while !left.is_empty() {
        let event: Value = serde_json::from_str(&events.next().expect("it goes on").unwrap()).unwrap();
        if event["type"] == "session.started" {
            session = Some(SessionId::new(event["id"].as_str().unwrap()));
        }
        if event["type"] == "call.started" && event["tool"] == "bash" {
            left.retain(|agent| event["agent"] != *agent);
        }
    }
    session.unwrap()
}

pub fn writes(path: &str, text: &str) -> Value {
    calls(&[("write", json!({"path": path, "content": text}))])
}

#[test]
fn exec_waits_for_its_agents_and_tells_what_each_did_and_handed_back() {
    let home = Home::new();
    let place = &home.place;
    let turns = [calls(&[spawn("w", "isolated"), spawn("s", "shared")]), says("asked")];
    let w = vec![
        writes("a.txt", "child\n"),
        writes("clash.txt", "child\n"),
        until(&beside(place, "go")),
        says("w done"),
    ];
    let mut program =
        home.start(&script(&turns, &[("w", w), ("s", vec![writes("s.txt", "s\n"), says("s done")])]));
    let mut events = Vec::new();
    for line in BufReader::new(program.stdout.take().unwrap()).lines() {
        let event: Value = serde_json::from_str(&line.unwrap()).unwrap();
        // the parent has said all, and the agent waits: the person saves meanwhile
        if event["type"] == "call.started" && event["agent"] == "w" && event["tool"] == "bash" {
            place.write("clash.txt", "person\n");
            go(place, "go");
        }
        events.push(event);
    }
    assert_eq!(program.wait().unwrap().code(), Some(0));
    let of = |kind: &str, field: &str, name: &str| -> Vec<Value> {
        events.iter().filter(|e| e["type"] == kind && e[field] == name).cloned().collect()
    };
    assert_eq!(
        of("child.started", "name", "w"),
        [json!({"type": "child.started", "name": "w", "workspace": "isolated"})]
    );
    assert_eq!(
        of("child.ended", "name", "w"),
        [json!({"type": "child.ended", "name": "w", "status": "answered"})]
    );
    assert_eq!(of("child.ended", "name", "s").len(), 1);
    assert_eq!(
        of("handback", "child", "w"),
        [json!({
            "type": "handback", "child": "w", "taken": ["a.txt"], "same": [], "conflicts": ["clash.txt"],
            "left_out": [],
        })]
    );
    assert!(of("handback", "child", "s").is_empty());
    let said: Vec<Value> =
        of("message", "agent", "w").into_iter().filter(|e| e["role"] == "assistant").collect();
    assert_eq!(said.last().unwrap()["text"], "w done");
    let at = |wanted: &dyn Fn(&Value) -> bool| events.iter().position(wanted).unwrap();
    let last_word = at(&|e| e["type"] == "message" && e["agent"] == "w" && e["text"] == "w done");
    let end = at(&|e| e["type"] == "child.ended" && e["name"] == "w");
    assert!(last_word < end, "its end is told before its answer");
    assert_eq!(events.last().unwrap()["type"], "session.ended");
    assert_eq!((place.read("a.txt"), place.read("clash.txt")), ("child\n".into(), "person\n".into()));
    assert_eq!(place.read("s.txt"), "s\n");
}

#[test]
fn plain_exec_tells_what_came_back() {
    let home = Home::new();
    let place = &home.place;
    let w = vec![
        writes("a.txt", "child\n"),
        writes("clash.txt", "child\n"),
        until(&beside(place, "go")),
        says("w done"),
    ];
    let text = script(&[calls(&[spawn("w", "isolated")]), says("asked")], &[("w", w)]);
    let mut program = home.exec(&text, &[]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = Vec::new();
    for line in BufReader::new(program.stderr.take().unwrap()).lines() {
        let line = line.unwrap();
        if line.contains("until [ -e") {
            place.write("clash.txt", "person\n");
            go(place, "go");
        }
        lines.push(line);
    }
    assert_eq!(program.wait().unwrap().code(), Some(0));
    let at =
        |wanted: &str| lines.iter().position(|line| line == wanted).unwrap_or_else(|| panic!("{lines:#?}"));
    let told = at("· w handed back: 1 conflict, 1 taken; `windlass handback list` shows them");
    assert!(told < at("· w ended: answered"));
    assert!(
        at("· spawn w isolated") < at("· w: write a.txt"),
        "what an agent does bears its name: {lines:#?}"
    );
}

#[test]
fn exec_ends_with_a_code_of_its_own_where_a_hand_back_failed() {
    let home = Home::new();
    let place = &home.place;
    let (at, gone) = (beside(place, "at"), beside(place, "go"));
    let waits =
        bash(format!("touch '{}'; until [ -e '{}' ]; do sleep 0.02; done", at.display(), gone.display()));
    let w = vec![writes("a.txt", "child\n"), waits, says("w done")];
    let text = script(&[calls(&[spawn("w", "isolated")]), says("asked")], &[("w", w)]);
    let mut program = home.start(&text);
    let (mut events, mut asked, mut waits): (Vec<Value>, bool, bool) = (Vec::new(), false, false);
    for line in BufReader::new(program.stdout.take().unwrap()).lines() {
        let event: Value = serde_json::from_str(&line.unwrap()).unwrap();
        asked |= event["type"] == "turn.ended" && event["agent"].is_null();
        waits |= event["type"] == "call.started" && event["tool"] == "bash";
        if asked && waits && !gone.exists() {
            while !at.exists() {
                std::thread::yield_now();
            }
            // as a disk that went: neither root nor anybody else finds it
            std::fs::rename(place.cwd(), beside(place, "away")).unwrap();
            go(place, "go");
        }
        events.push(event);
    }
    assert_eq!(program.wait().unwrap().code(), Some(3), "{events:#?}");
    let last = events.last().unwrap();
    assert_eq!(
        (&last["type"], &last["status"], &last["exit"]),
        (&json!("session.ended"), &json!("done"), &json!(3))
    );
    let why = events.iter().find(|event| event["type"] == "notice" && event["level"] == "error").unwrap();
    assert!(
        why["text"].as_str().unwrap().starts_with("agent w: what it changed was not handed back: "),
        "{why}"
    );
}

#[test]
fn exec_waits_for_the_turn_that_an_agents_end_begins() {
    let home = Home::new();
    std::fs::create_dir_all(home.at("config/windlass")).unwrap();
    let settings = json!({"agents": {"notify_model": "start_turn"}}).to_string();
    std::fs::write(home.at("config/windlass/settings.json"), settings).unwrap();
    let w = vec![until(&beside(&home.place, "go")), says("w done")];
    let text = script(&[calls(&[spawn("w", "shared")]), says("asked"), says("seen")], &[("w", w)]);
    for _ in 0..6 {
        drop(std::fs::remove_file(beside(&home.place, "go")));
        let events = home.events(&text, &["--json"], |event| {
            if event["type"] == "turn.ended" && event["agent"].is_null() {
                go(&home.place, "go");
            }
        });
        let said: Vec<&str> = events
            .iter()
            .filter(|e| e["type"] == "message" && e["role"] == "assistant" && e["agent"].is_null())
            .filter_map(|e| e["text"].as_str().filter(|text| !text.is_empty()))
            .collect();
        assert_eq!(said, ["asked", "seen"]);
    }
}

#[test]
fn exec_tells_of_an_agent_that_goes_on_what_is_new_and_of_each_run_all() {
    let home = Home::new();
    crash(&home);
    let asks =
        |action: &str, text: &str| calls(&[("agents", json!({"action": action, "name": "w", "text": text}))]);
    let waits = |name: &str| calls(&[("agents", json!({"action": "wait", "name": name}))]);
    let turns = [asks("message", "go on"), waits("w"), asks("message", "again"), waits("w"), says("seen")];
    let w = vec![
        calls(&[spawn("y", "shared")]),
        waits("y"),
        says("went on"),
        calls(&[spawn("z", "shared")]),
        waits("z"),
        says("once more"),
    ];
    let text = script(&turns, &[("w", w), ("y", vec![says("y done")]), ("z", vec![says("z done")])]);
    let events = home.events(&text, &["--json", "-c"], |_| ());
    let of = |agent: Option<&str>, kind: &str, field: &str| -> Vec<String> {
        events
            .iter()
            .filter(|e| e["agent"].as_str() == agent && e["type"] == kind)
            .filter_map(|e| e[field].as_str().filter(|text| !text.is_empty()).map(str::to_owned))
            .collect()
    };
    let said: Vec<String> = of(Some("w"), "message", "text");
    assert_eq!(said, ["go on", "went on", "again", "once more"]);
    assert_eq!(of(Some("w"), "text.delta", "text").concat(), "went ononce more");
    assert_eq!(of(Some("w"), "call.started", "tool"), ["spawn", "agents", "spawn", "agents"]);
    for kind in ["child.started", "child.ended"] {
        assert_eq!(of(None, kind, "name"), ["w", "w"], "{kind}");
        assert_eq!(of(Some("w"), kind, "name"), ["y", "z"], "{kind}");
    }
}

/// Runs the program until its agent has written and waits, and kills it there. The session.
fn crash(home: &Home) -> SessionId {
    let w = vec![writes("a.txt", "child\n"), until(&beside(&home.place, "go")), says("never")];
    let mut program = home.start(&script(&[calls(&[spawn("w", "isolated")]), says("asked")], &[("w", w)]));
    let session = until_called(&mut events(&mut program), &["w"]);
    program.kill().unwrap();
    program.wait().unwrap();
    assert_eq!(home.place.read("a.txt"), "base\n");
    session
}

#[test]
fn after_a_crash_an_agent_is_known_and_can_go_on_in_its_copy() {
    let home = Home::new();
    let id = crash(&home);
    let mut session = home.open(&script(&[], &[("w", vec![says("went on")])]), &id);
    session.until("it is known as cut", |record| (state(record, "w") == Some(AgentState::Cut)).then_some(()));
    session.command(Ask::Agent { path: "w".into(), ask: AgentAsk::Message("go on".into()) });
    let end = ended(&mut session, "w");
    assert_eq!((end.answer.as_str(), &end.end, end.node.run), ("went on", &End::Answered, 1));
    assert_eq!(home.place.read("a.txt"), "child\n");
    session.close();
    // its end is told once, and it is known after the next open too
    let mut again = home.open(&script(&[], &[("w", vec![])]), &id);
    assert_eq!(ended(&mut again, "w").answer, "went on");
    assert_eq!(crate::agents::ends(&again).len(), 1);
}

#[test]
fn after_a_crash_an_agent_can_be_ended_and_hands_back() {
    let home = Home::new();
    let id = crash(&home);
    let mut session = home.open(&script(&[], &[("w", vec![])]), &id);
    session.until("it is known as cut", |record| (state(record, "w") == Some(AgentState::Cut)).then_some(()));
    session.command(Ask::Agent { path: "w".into(), ask: AgentAsk::Stop });
    let end = ended(&mut session, "w");
    assert_eq!(end.end, End::Stopped { by: By::User });
    assert_eq!(end.hand_back.as_ref().map(|report| report.taken.len()), Some(1));
    assert_eq!(home.place.read("a.txt"), "child\n");
}

#[test]
fn a_copy_that_a_crash_cut_is_made_anew_for_who_goes_on_and_is_nothing_for_who_ends() {
    for goes_on in [true, false] {
        let home = Home::new();
        let id = crash(&home);
        // as if it had been killed before the copy was whole: nobody works in such a one
        let room = home.dirs().workspace(&id, "w");
        std::fs::remove_file(room.join("born")).unwrap();
        std::fs::create_dir_all(home.dirs().workspace(&id, "unknown").join("base")).unwrap();
        let mut session =
            home.open(&script(&[], &[("w", vec![writes("a.txt", "anew\n"), says("went on")])]), &id);
        session.until("it is known as cut", |record| {
            (state(record, "w") == Some(AgentState::Cut)).then_some(())
        });
        assert!(!home.dirs().workspace(&id, "unknown").exists(), "what nobody knows stays");
        let ask = if goes_on { AgentAsk::Message("go on".into()) } else { AgentAsk::Stop };
        session.command(Ask::Agent { path: "w".into(), ask });
        let end = ended(&mut session, "w");
        assert_eq!(end.trouble, None);
        let (wanted, taken) = if goes_on { ("anew\n", 1) } else { ("base\n", 0) };
        assert_eq!(home.place.read("a.txt"), wanted);
        assert_eq!(end.hand_back.as_ref().map(|report| report.taken.len()), Some(taken));
    }
}

#[test]
fn one_that_the_crash_cut_before_it_began_is_told_its_task_when_it_goes_on() {
    let home = Home::new();
    let id = crash(&home);
    // as if it had been killed before the agent had a session
    std::fs::remove_file(home.dirs().workspace(&id, "w").join("born")).unwrap();
    let own = windlass::store::view(&home.dirs(), &id).unwrap().agents[0].0.session.clone();
    std::fs::remove_dir_all(home.dirs().session(&own)).unwrap();
    let mut first = says("went on");
    first["expect"] = json!({"contains": "do w\n\ngo on"});
    let mut session = home.open(&script(&[], &[("w", vec![first])]), &id);
    session.until("it is known as cut", |record| (state(record, "w") == Some(AgentState::Cut)).then_some(()));
    session.command(Ask::Agent { path: "w".into(), ask: AgentAsk::Message("go on".into()) });
    let end = ended(&mut session, "w");
    assert_eq!((&end.end, end.answer.as_str()), (&End::Answered, "went on"));
    assert_eq!(end.node.session, own);
}
