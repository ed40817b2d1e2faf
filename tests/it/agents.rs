//! Subagents: real sessions with scripted models, real directories and commands.
//!
//! What an agent waits for is a file beside the project, so that a test says when it goes on. Not here: a crash of the
//! program (`agents_crash`), generated histories (`agents_bridge`), hand-backs by themselves (`hand_back`).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use windlass::api::access::{Decision, Mode};
use windlass::api::agent::{AgentEnd, AgentRow, AgentState};
use windlass::api::board::Record;
use windlass::api::command::{AgentAsk, Command};
use windlass::api::entry::{CallStatus, Details, EntryBody, TurnStatus};
use windlass::api::message::Ask;
use windlass::base::Millis;
use windlass::engine::{Options, Which};
use windlass::law::children::{Bounds, By, End};
use windlass::provider::scripted::Scripted;
use windlass::store;

use crate::jobs_tool::{Asked, Listening, OneModel};
use crate::session::{Place, Running};

pub fn says(text: &str) -> Value {
    json!({"say": text})
}

pub fn calls(calls: &[(&str, Value)]) -> Value {
    let calls: Vec<Value> = calls.iter().map(|(tool, input)| json!({"tool": tool, "input": input})).collect();
    json!({"calls": calls})
}

pub fn bash(command: String) -> Value {
    calls(&[("bash", json!({"command": command}))])
}

/// A turn that goes on once this file is there.
pub fn until(file: &Path) -> Value {
    bash(format!("until [ -e '{}' ]; do sleep 0.02; done", file.display()))
}

pub fn spawn(name: &str, workspace: &str) -> (&'static str, Value) {
    ("spawn", json!({"name": name, "prompt": format!("do {name}"), "workspace": workspace}))
}

pub fn script(turns: &[Value], agents: &[(&str, Vec<Value>)]) -> String {
    let agents: serde_json::Map<String, Value> =
        agents.iter().map(|(name, turns)| ((*name).to_owned(), json!({"turns": turns}))).collect();
    json!({"turns": turns, "agents": agents}).to_string()
}

/// A file beside the project.
pub fn beside(place: &Place, name: &str) -> PathBuf {
    place.cwd().parent().unwrap().join(name)
}

pub fn go(place: &Place, name: &str) {
    std::fs::write(beside(place, name), "").unwrap();
}

fn row<'a>(record: &'a Record, path: &str) -> Option<&'a AgentRow> {
    record.agents.get(&path.to_owned())
}

pub fn state(record: &Record, path: &str) -> Option<AgentState> {
    row(record, path).map(|row| row.state.clone())
}

pub fn ended(session: &mut Running, path: &str) -> Arc<AgentEnd> {
    session.until(&format!("the end of {path}"), |record| row(record, path)?.end().cloned())
}

fn works(session: &mut Running, path: &str) {
    session.until(&format!("{path} at work"), |record| {
        row(record, path).filter(|row| row.state == AgentState::Working && row.calls > 0).map(|_| ())
    });
}

pub fn ends(session: &Running) -> Vec<AgentEnd> {
    let end = |body: &EntryBody| match body {
        EntryBody::AgentEnd(end) => Some(end.clone()),
        _ => None,
    };
    session.path().iter().filter_map(|entry| end(&entry.body)).collect()
}

fn bounds(options: &mut Options, at_once: u32, depth: u32, stall: Option<u64>) {
    options.limits.agents = Bounds { at_once, depth, stall: stall.map(Millis) };
}

fn tell(session: &Running, path: &str, ask: AgentAsk) {
    session.command(Command::Agent { path: path.to_owned(), ask });
}

fn names(paths: &[windlass::law::hand_back::tree::TreePath]) -> Vec<String> {
    paths.iter().map(ToString::to_string).collect()
}

#[test]
fn six_work_at_once_and_the_seventh_waits_for_a_place_and_goes_on() {
    let place = Place::new();
    let names = ["a", "b", "c", "d", "e", "f", "g"];
    let agents: Vec<(&str, Vec<Value>)> = names
        .iter()
        .map(|name| (*name, vec![until(&beside(&place, name)), says(&format!("{name} done"))]))
        .collect();
    let asked: Vec<(&str, Value)> = names.iter().map(|name| spawn(name, "shared")).collect();
    let script = script(&[calls(&asked), says("asked")], &agents);
    let mut session = place.open(&script, Mode::Auto, Which::New);
    session.send("go");
    assert_eq!(session.turn_end(1), TurnStatus::Done);
    for name in &names[..6] {
        works(&mut session, name);
    }
    session.until("the seventh in the line", |record| {
        (state(record, "g") == Some(AgentState::Waiting { number: 1 })).then_some(())
    });
    let told = session.settles().last().unwrap().output.clone();
    assert!(told.contains("g waits for a place") && told.contains("number 1"), "{told}");
    go(&place, "c");
    let end = ended(&mut session, "c");
    assert_eq!((end.end.clone(), end.answer.as_str()), (End::Answered, "c done"));
    works(&mut session, "g");
    for name in names {
        go(&place, name);
    }
    for name in names {
        assert_eq!(ended(&mut session, name).end, End::Answered, "{name}");
    }
    session.until("seven ends", |record| {
        let ends = record.path.iter().filter(|e| matches!(e.body, EntryBody::AgentEnd(_))).count();
        (ends == 7).then_some(())
    });
}

#[test]
fn one_is_stopped_with_its_commands_and_its_siblings_go_on() {
    let place = Place::new();
    let pid = beside(&place, "pid");
    let first = bash(format!("echo $$ > '{}'; exec sleep 300", pid.display()));
    let script = script(
        &[calls(&[spawn("a", "shared"), spawn("b", "shared")]), says("asked")],
        &[("a", vec![first, says("never")]), ("b", vec![until(&beside(&place, "b")), says("b done")])],
    );
    let mut session = place.open(&script, Mode::Auto, Which::New);
    session.send("go");
    works(&mut session, "a");
    works(&mut session, "b");
    let process = loop {
        match std::fs::read_to_string(&pid).ok().and_then(|text| text.trim().parse::<i32>().ok()) {
            Some(process) => break process,
            None => std::thread::yield_now(),
        }
    };
    tell(&session, "a", AgentAsk::Stop);
    assert_eq!(ended(&mut session, "a").end, End::Stopped { by: By::User });
    assert!(!Path::new(&format!("/proc/{process}")).exists(), "its command still runs");
    session.until("b at work", |record| (state(record, "b") == Some(AgentState::Working)).then_some(()));
    go(&place, "b");
    assert_eq!(ended(&mut session, "b").end, End::Answered);
}

#[test]
fn who_is_silent_for_too_long_is_ended_as_stalled() {
    let place = Place::new();
    let script = script(
        &[calls(&[spawn("a", "shared")]), says("asked")],
        &[("a", vec![until(&beside(&place, "never")), says("never")])],
    );
    let mut session =
        place.open_with(&script, Mode::Auto, Which::New, |options| bounds(options, 6, 2, Some(700)));
    session.send("go");
    let end = ended(&mut session, "a");
    assert!(matches!(end.end, End::Stalled { after } if after.0 >= 700), "{:?}", end.end);
}

#[test]
fn what_an_isolated_agent_changed_is_handed_back_and_a_clash_is_the_persons_to_resolve() {
    let place = Place::new();
    for name in ["clash.txt", "mine.txt", "theirs.txt", "gone.txt"] {
        place.write(name, "base\n");
    }
    place.write(".gitignore", "*.log\n");
    let work = calls(&[
        ("write", json!({"path": "clash.txt", "content": "child\n"})),
        ("write", json!({"path": "theirs.txt", "content": "child\n"})),
        ("write", json!({"path": "new/file.txt", "content": "new\n"})),
        ("write", json!({"path": "a.log", "content": "log\n"})),
        (
            "bash",
            json!({"command": format!("rm gone.txt; until [ -e '{}' ]; do sleep 0.02; done", beside(&place, "go").display())}),
        ),
    ]);
    let script = script(
        &[calls(&[spawn("w", "isolated")]), calls(&[("agents", json!({"action": "wait"}))]), says("seen")],
        &[("w", vec![work, says("I did it")])],
    );
    let mut session = place.open(&script, Mode::Auto, Which::New);
    session.send("go");
    session.until("the command", |record| {
        row(record, "w").filter(|row| row.now.starts_with("bash")).map(|_| ())
    });
    // nothing of it is here while it works
    for name in ["clash.txt", "mine.txt", "theirs.txt", "gone.txt"] {
        assert_eq!(place.read(name), "base\n", "{name}");
    }
    assert!(!place.cwd().join("new").exists());
    place.write("clash.txt", "person\n");
    place.write("mine.txt", "person\n");
    go(&place, "go");
    let end = ended(&mut session, "w");
    assert_eq!(end.end, End::Answered);
    assert_eq!(end.trouble, None);
    let report = end.hand_back.clone().unwrap();
    assert_eq!(names(&report.taken), ["gone.txt", "new/file.txt", "theirs.txt"]);
    assert_eq!(names(&report.conflicts), ["clash.txt"]);
    assert_eq!(names(&report.left_out), ["a.log"]);
    assert!(report.same.is_empty());
    assert_eq!((place.read("clash.txt"), place.read("mine.txt")), ("person\n".into(), "person\n".into()));
    assert_eq!((place.read("theirs.txt"), place.read("new/file.txt")), ("child\n".into(), "new\n".into()));
    assert!(!place.cwd().join("gone.txt").exists() && !place.cwd().join("a.log").exists());
    // the model is told once: by the call that waited
    assert_eq!(session.turn_end(1), TurnStatus::Done);
    let settles = session.settles();
    assert!(settles[0].output.contains("isolated · 5 files · "), "{}", settles[0].output);
    let told = &settles[1];
    assert!(told.output.contains("I did it") && told.output.contains("clash.txt"), "{}", told.output);
    assert!(matches!(&told.details, Details::Agents { told } if told[0].name == "w" && told[0].run == 1));
    session.until_so("its end in the conversation", |session| ends(session).len() == 1);
    let messages = windlass::engine::history::messages(&session.path());
    let all = format!("{messages:?}");
    assert_eq!(all.matches("What came back from its copy").count(), 1, "{all}");
    let room = place.dirs().workspace(&session.id(), "w");
    assert!(room.join("handback.json").exists() && room.join("conflicts/clash.txt").exists());
}

#[test]
fn questions_of_an_agent_come_to_the_person_and_what_is_allowed_for_the_session_holds_for_all() {
    let place = Place::new();
    let twice = |name: &str| vec![bash("echo once".into()), bash("echo again".into()), says(name)];
    let script = script(
        &[calls(&[spawn("a", "shared"), spawn("b", "shared")]), bash("echo me".into()), says("asked")],
        &[("a", twice("a done")), ("b", twice("b done"))],
    );
    let mut session = place.open(&script, Mode::Ask, Which::New);
    session.send("go");
    let (call, agent) = session.until("the question of an agent", |record| {
        let asked = record.approvals.iter().find(|asked| asked.agent.is_some())?;
        Some((asked.call.clone(), asked.agent.clone().unwrap()))
    });
    assert!(call.as_str().starts_with(&format!("{agent}/c")), "{call}");
    session.until("asking", |record| (row(record, &agent)?.asks == 1).then_some(()));
    session.command(Command::Decide { call, decision: Decision::Session });
    for name in ["a", "b"] {
        assert_eq!(ended(&mut session, name).end, End::Answered);
    }
    assert_eq!(session.turn_end(1), TurnStatus::Done);
    assert!(session.settles().iter().all(|settle| settle.status == CallStatus::Ok));
}

#[test]
fn an_agent_that_waits_for_its_own_holds_no_place_and_one_too_deep_has_none_to_spawn() {
    let place = Place::new();
    let script = script(
        &[calls(&[spawn("a", "shared")]), says("asked")],
        &[
            (
                "a",
                vec![
                    calls(&[spawn("x", "shared")]),
                    calls(&[("agents", json!({"action": "wait", "name": "x"}))]),
                    says("a done"),
                ],
            ),
            ("x", vec![calls(&[spawn("y", "shared")]), says("x done")]),
        ],
    );
    let mut session = place.open_with(&script, Mode::Auto, Which::New, |options| bounds(options, 1, 2, None));
    session.send("go");
    let end = ended(&mut session, "a/x");
    assert_eq!((end.end.clone(), end.answer.as_str()), (End::Answered, "x done"));
    assert_eq!(ended(&mut session, "a").answer, "a done");
    let opened = store::view(&place.dirs(), &end.node.session).unwrap();
    let refused = opened.branch().iter().any(
        |entry| matches!(&entry.body, EntryBody::CallSettle(settle) if settle.output.contains("There is no tool spawn")),
    );
    assert!(refused, "it could spawn");
    // children are their parent's matter: they are in no list of sessions
    let listed = store::list(&place.dirs(), None);
    assert_eq!(listed.iter().map(|info| info.id.clone()).collect::<Vec<_>>(), [session.id()]);
    assert_eq!(store::newest_for(&place.dirs(), &place.cwd()), Some(session.id()));
}

#[test]
fn a_spawn_that_cannot_be_says_why_and_leaves_nothing() {
    let place = Place::new();
    let named = |name: &str, more: Value| {
        let mut input = json!({"name": name, "prompt": "p"});
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        ("spawn", input)
    };
    let script = script(
        &[
            calls(&[
                named("nobody", json!({})),
                named("a", json!({"tools": ["fly"]})),
                named("a", json!({"model": "other"})),
                named("a", json!({})),
                named("a", json!({})),
            ]),
            says("asked"),
        ],
        &[("a", vec![says("a done")])],
    );
    let mut session = place.open(&script, Mode::Auto, Which::New);
    session.send("go");
    assert_eq!(session.turn_end(1), TurnStatus::Done);
    let said: Vec<String> = session.settles().iter().map(|settle| settle.output.clone()).collect();
    assert!(said[0].contains("has no agent nobody"), "{}", said[0]);
    assert!(said[1].contains("no tool fly"), "{}", said[1]);
    assert!(said[2].contains("no model other"), "{}", said[2]);
    assert!(said[3].starts_with("a works: shared"), "{}", said[3]);
    assert!(said[4].contains("an agent a is or was there"), "{}", said[4]);
    ended(&mut session, "a");
    let rows = session.until("rows", |record| Some(record.agents.iter().count()));
    assert_eq!(rows, 1);
}

#[test]
fn one_whose_budget_is_used_up_is_stopped() {
    let place = Place::new();
    let mut first = bash("true".into());
    first["usage"] = json!({"input": 900, "output": 200});
    let script = json!({
        "turns": [
            {"calls": [{"tool": "spawn", "input": {"name": "a", "prompt": "p", "budget": 1000}}]},
            says("asked"),
        ],
        "agents": {"a": {"turns": [first, until(&beside(&place, "never")), says("never")]}},
    });
    let mut session = place.open(&script.to_string(), Mode::Auto, Which::New);
    session.send("go");
    let end = ended(&mut session, "a");
    assert_eq!(end.end, End::Stopped { by: By::Budget });
    assert_eq!(end.usage.total(), 1100);
}

#[test]
fn a_rewind_past_a_spawn_stops_the_agent_and_keeps_its_copy() {
    let place = Place::new();
    place.write("a.txt", "base\n");
    let work = calls(&[
        ("write", json!({"path": "a.txt", "content": "child\n"})),
        (
            "bash",
            json!({"command": format!("until [ -e '{}' ]; do sleep 0.02; done", beside(&place, "go").display())}),
        ),
    ]);
    let script = script(
        &[says("hello"), calls(&[spawn("w", "isolated")]), says("asked")],
        &[("w", vec![work, says("never")])],
    );
    let mut session = place.open(&script, Mode::Auto, Which::New);
    session.send("first");
    assert_eq!(session.turn_end(1), TurnStatus::Done);
    let to = session.path().last().unwrap().id.clone();
    session.send("second");
    assert_eq!(session.turn_end(2), TurnStatus::Done);
    session.until("its command", |record| {
        row(record, "w").filter(|row| row.now.starts_with("bash")).map(|_| ())
    });
    session.command(Command::Rewind { to: Some(to), restore: false, take_back: None });
    let end = ended(&mut session, "w");
    assert_eq!(end.end, End::Stopped { by: By::Rewind });
    assert_eq!(end.hand_back, None);
    assert_eq!(place.read("a.txt"), "base\n");
    let copy = place.dirs().workspace(&session.id(), "w").join("copy/a.txt");
    assert_eq!(std::fs::read_to_string(copy).unwrap(), "child\n");
    session.until("its end in the conversation", |record| {
        record.path.iter().any(|e| matches!(e.body, EntryBody::AgentEnd(_))).then_some(())
    });
    let told = format!("{:?}", windlass::engine::history::messages(&session.path()));
    assert!(!told.contains("agent w"), "the model is told of what never was: {told}");
}

#[test]
fn one_that_has_ended_works_again_when_it_is_told_something_in_a_fresh_copy() {
    let place = Place::new();
    place.write("a.txt", "base\n");
    let writes = |text: &str| calls(&[("write", json!({"path": "a.txt", "content": text}))]);
    let script = script(
        &[calls(&[spawn("w", "isolated")]), says("asked")],
        &[("w", vec![writes("one\n"), says("first"), writes("two\n"), says("second")])],
    );
    let mut session = place.open(&script, Mode::Auto, Which::New);
    session.send("go");
    assert_eq!(ended(&mut session, "w").answer, "first");
    assert_eq!(place.read("a.txt"), "one\n");
    tell(&session, "w", AgentAsk::Message("once more".into()));
    let end = session
        .until("the second end", |record| row(record, "w")?.end().filter(|end| end.node.run == 2).cloned());
    assert_eq!((end.answer.as_str(), &end.end), ("second", &End::Answered));
    assert_eq!(names(&end.hand_back.clone().unwrap().taken), ["a.txt"]);
    assert_eq!(place.read("a.txt"), "two\n");
    assert_eq!(end.calls, 1, "only what this run did");
    session.until("two ends", |record| {
        let ends = record.path.iter().filter(|e| matches!(e.body, EntryBody::AgentEnd(_))).count();
        (ends == 2).then_some(())
    });
}

#[test]
fn leaving_cuts_agents_and_the_next_open_knows_them() {
    let place = Place::new();
    place.write("a.txt", "base\n");
    let work = |go: &Path| {
        vec![calls(&[("write", json!({"path": "a.txt", "content": "child\n"}))]), until(go), says("done")]
    };
    let turns = [calls(&[spawn("w", "isolated"), spawn("s", "shared")]), says("asked")];
    let text = script(
        &turns,
        &[("w", work(&beside(&place, "go"))), ("s", vec![until(&beside(&place, "never")), says("never")])],
    );
    let mut session = place.open(&text, Mode::Auto, Which::New);
    session.send("go");
    session.turn_end(1);
    session.until("both commands", |record| {
        let commands = |path| row(record, path).is_some_and(|row| row.now.starts_with("bash"));
        (commands("w") && commands("s")).then_some(())
    });
    let id = session.id();
    session.close();
    assert_eq!(place.read("a.txt"), "base\n", "leaving hands nothing back");
    let mut again =
        place.open(&script(&[says("hello")], &[("w", vec![says("went on")])]), Mode::Auto, Which::Id(id));
    again.until("both are known as cut", |record| {
        (state(record, "w") == Some(AgentState::Cut) && state(record, "s") == Some(AgentState::Cut))
            .then_some(())
    });
    tell(&again, "s", AgentAsk::Stop);
    assert_eq!(ended(&mut again, "s").end, End::Stopped { by: By::User });
    tell(&again, "w", AgentAsk::Message("go on".into()));
    let end = ended(&mut again, "w");
    assert_eq!((end.answer.as_str(), &end.end), ("went on", &End::Answered));
    assert_eq!(names(&end.hand_back.clone().unwrap().taken), ["a.txt"]);
    assert_eq!(place.read("a.txt"), "child\n");
}

#[test]
fn an_interrupt_of_the_parent_ends_no_agent_and_one_while_a_copy_is_made_leaves_nothing_or_works() {
    let place = Place::new();
    for n in 0..400 {
        place.write(&format!("f{n}.txt"), "x\n");
    }
    let script = script(
        &[calls(&[spawn("s", "shared")]), calls(&[spawn("w", "isolated")]), says("never")],
        &[
            ("s", vec![until(&beside(&place, "go")), says("s done")]),
            ("w", vec![until(&beside(&place, "go")), says("w done")]),
        ],
    );
    let mut session = place.open(&script, Mode::Auto, Which::New);
    session.send("go");
    session.until("the copy", |record| row(record, "w").map(|_| ()));
    session.command(Command::Interrupt);
    assert_eq!(session.turn_end(1), TurnStatus::Interrupted);
    let room = place.dirs().workspace(&session.id(), "w");
    let left = session.until("what became of it", |record| match state(record, "w") {
        None => Some(false),
        Some(AgentState::Working) => Some(true),
        Some(_) => None,
    });
    assert_eq!(room.exists(), left, "{}", room.display());
    session.until("s at work", |record| (state(record, "s") == Some(AgentState::Working)).then_some(()));
    go(&place, "go");
    assert_eq!(ended(&mut session, "s").end, End::Answered);
}

#[test]
fn after_a_compaction_the_model_still_knows_its_agents() {
    let place = Place::new();
    let text = script(
        &[calls(&[spawn("w", "shared")]), says("asked"), says("a summary"), says("seen")],
        &[("w", vec![until(&beside(&place, "go")), says("w done")])],
    );
    let asked = Asked::default();
    let script = Arc::new(Scripted::parse("test.json", &text).unwrap());
    let heard = Listening { script, asked: Arc::clone(&asked) };
    let mut session = place.open_with(&text, Mode::Auto, Which::New, |options| {
        options.models = Arc::new(OneModel(Arc::new(heard)));
        options.limits.keep_recent = 0;
    });
    session.send("go");
    assert_eq!(session.turn_end(1), TurnStatus::Done);
    works(&mut session, "w");
    session.command(Command::Compact);
    session.until("a summary", |record| {
        record.path.iter().any(|e| matches!(e.body, EntryBody::Compaction(_))).then_some(())
    });
    session.send("and now?");
    assert_eq!(session.turn_end(2), TurnStatus::Done);
    let own = |ask: &&Ask| !ask.system.contains("You are a subagent");
    let last = asked.lock().unwrap().iter().rfind(own).unwrap().clone();
    assert!(!format!("{:?}", last.messages).contains("do w"), "it was not compacted");
    assert!(last.volatile.contains("<agents>\nw (shared) works since"), "{}", last.volatile);
    go(&place, "go");
    ended(&mut session, "w");
}
