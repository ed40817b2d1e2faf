//! The ends of subagents: each is told once, whatever the program was at when it was killed, and nobody waits for the
//! removal of copies.

use std::fs::File;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use windlass::api::access::Mode;
use windlass::api::agent::{AgentEnd, AgentState};
use windlass::api::command::{AgentAsk, Command};
use windlass::api::entry::EntryBody;
use windlass::base::SessionId;
use windlass::engine::Which;
use windlass::law::children::{By, End};
use windlass::store;
use windlass::workspace::child::Room;

use crate::agents::{beside, calls, ended, ends, go, says, script, spawn, state, until};
use crate::agents_crash::{Home, events, until_called, writes};
use crate::session::{Place, Running};

/// The generous bound of what is waited for on the disk.
const WAIT_MAX: Duration = Duration::from_secs(30);

fn wait(what: &str, mut is: impl FnMut() -> bool) {
    let until = Instant::now() + WAIT_MAX;
    while !is() {
        assert!(Instant::now() < until, "{what} never came");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The ends that the journal of a session holds, read from the disk.
fn written(dirs: &store::Dirs, session: &SessionId) -> Vec<AgentEnd> {
    let end = |entry: &std::sync::Arc<windlass::api::entry::Entry>| match &entry.body {
        EntryBody::AgentEnd(end) => Some(end.clone()),
        _ => None,
    };
    store::view(dirs, session).unwrap().branch().iter().filter_map(end).collect()
}

fn put(path: &Path, text: &str) {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
}

/// The one entry that tells of an end.
fn told_once(session: &mut Running, what: &str) {
    session.until_so("the entry", |session| !ends(session).is_empty());
    assert_eq!(ends(session).len(), 1, "{what}");
}

#[test]
fn a_report_does_not_wait_for_the_removal_of_the_copies_and_the_next_open_ends_it() {
    let place = Place::new();
    place.write("a.txt", "base\n");
    let w = vec![writes("a.txt", "child\n"), until(&beside(&place, "go")), says("done")];
    let script = script(&[calls(&[spawn("w", "isolated")]), says("asked")], &[("w", w)]);
    let mut session = place.open(&script, Mode::Auto, Which::New);
    session.send("go");
    session.turn_end(1);
    let id = session.id();
    let room = Room::at(place.dirs().workspace(&id, "w"));
    wait("its copy", || room.is_born());
    // as if another program were removing: ours must wait for it, and tells the end before that
    put(&room.dir().join("lock.cleaning"), "");
    let removing = File::open(room.dir().join("lock.cleaning")).unwrap();
    removing.lock().unwrap();
    go(&place, "go");
    let end = ended(&mut session, "w");
    assert_eq!((&end.end, &end.trouble), (&End::Answered, &None));
    assert_eq!(end.hand_back.as_ref().map(|report| report.taken.len()), Some(1));
    assert!(room.is_to_clean(), "the copies went before the end was told");
    drop(removing);
    wait("the removal", || !room.is_to_clean());
    assert!(!room.base().exists() && !room.copy().exists());
    session.close();
    // as if it had been killed in the middle of it
    let own = Room::at(place.dirs().workspace(&end.node.session, "x"));
    for room in [&room, &own] {
        put(&room.dir().join("aside/copy/half"), "");
        put(&room.dir().join("born"), "{}");
    }
    put(&own.record(), r#"{"paths":[],"left_out":[],"renames":[],"displaced":[]}"#);
    assert!(room.is_to_clean() && own.is_to_clean());
    let mut again = place.open(&script, Mode::Auto, Which::Id(id));
    wait("the removal", || !room.is_to_clean() && !own.is_to_clean());
    assert!(!room.dir().join("aside").exists());
    told_once(&mut again, "the removal was cut");
}

#[test]
fn a_program_killed_during_a_hand_back_tells_the_end_as_it_was_and_once() {
    let files: Vec<String> = (0..40).map(|number| format!("f{number}.txt")).collect();
    let moments = ["ending.json", "run/plan.json", "run/prepared.json", "run/end.json", "handback.json"];
    for moment in moments {
        let home = Home::new();
        let mut turns: Vec<Value> = vec![calls(
            &files
                .iter()
                .map(|name| ("write", json!({"path": name, "content": "child\n"})))
                .collect::<Vec<_>>(),
        )];
        turns.extend([until(&beside(home.place(), "go")), says("w done")]);
        let mut program =
            home.start(&script(&[calls(&[spawn("w", "isolated")]), says("asked")], &[("w", turns)]));
        let mut events = events(&mut program);
        let id = until_called(&mut events, &["w"]);
        let room = Room::at(home.dirs().workspace(&id, "w"));
        go(home.place(), "go");
        let until = Instant::now() + WAIT_MAX;
        while !room.dir().join(moment).exists() && !room.record().exists() {
            assert!(Instant::now() < until, "{moment} never came");
        }
        program.kill().unwrap();
        program.wait().unwrap();
        for open in 1..=2 {
            let mut session = home.open(&script(&[], &[("w", vec![])]), &id);
            let end = ended(&mut session, "w");
            assert_eq!((&end.end, end.answer.as_str()), (&End::Answered, "w done"), "{moment}, open {open}");
            assert_eq!(end.calls, 41, "{moment}, open {open}");
            let taken = end.hand_back.as_ref().map(|report| (report.taken.len(), report.conflicts.len()));
            assert_eq!((taken, &end.trouble), (Some((40, 0)), &None), "{moment}, open {open}");
            told_once(&mut session, &format!("{moment}, open {open}"));
            session.close();
            assert!(!room.is_to_clean(), "{moment}, open {open}: copies stay");
            assert_eq!(written(&home.dirs(), &id).len(), 1, "{moment}, open {open}: told again");
        }
        for name in &files {
            assert_eq!(home.place().read(name), "child\n", "{moment}");
        }
        let there = std::fs::read_dir(home.place().cwd()).unwrap().count();
        assert_eq!(there, files.len() + 2, "{moment}: something is left");
    }
}

#[test]
fn one_that_is_ended_after_a_crash_ends_its_own_first_and_hears_of_it() {
    for workspace in ["isolated", "shared"] {
        let home = Home::new();
        let wait_for = until(&beside(home.place(), "go"));
        let w = vec![calls(&[spawn("x", "isolated"), spawn("y", "shared")]), says("w asked")];
        let x = vec![writes("a.txt", "x\n"), wait_for.clone(), says("never")];
        let y = vec![wait_for.clone(), says("never")];
        let text =
            script(&[calls(&[spawn("w", workspace)]), says("asked")], &[("w", w), ("w/x", x), ("w/y", y)]);
        let mut program = home.start(&text);
        let mut events = events(&mut program);
        let id = until_called(&mut events, &["w/x", "w/y"]);
        program.kill().unwrap();
        program.wait().unwrap();
        let text = script(&[], &[("w", vec![says("heard")]), ("w/x", vec![]), ("w/y", vec![])]);
        let mut session = home.open(&text, &id);
        for path in ["w", "w/x", "w/y"] {
            session.until(path, |record| (state(record, path) == Some(AgentState::Cut)).then_some(()));
        }
        session.command(Command::Agent { path: "w".into(), ask: AgentAsk::Stop });
        let end = ended(&mut session, "w");
        assert_eq!(end.end, End::Stopped { by: By::User });
        assert_eq!(home.place().read("a.txt"), "x\n");
        if workspace == "isolated" {
            assert_eq!(end.hand_back.as_ref().map(|report| report.taken.len()), Some(1));
        }
        let own = end.node.session.clone();
        wait("its own ends", || written(&home.dirs(), &own).len() == 2);
        for end in written(&home.dirs(), &own) {
            assert_eq!(end.end, End::Stopped { by: By::Parent }, "{}", end.node.name);
            let taken = end.hand_back.as_ref().map(|report| report.taken.len());
            assert_eq!(taken, (end.node.name == "x").then_some(1));
        }
        assert!(store::view(&home.dirs(), &own).unwrap().agents.is_empty(), "one has no end");
        // it goes on, and its own are what they were
        session.command(Command::Agent { path: "w".into(), ask: AgentAsk::Message("go on".into()) });
        session.until("its second end", |record| {
            let end = record.agents.get(&"w".to_owned())?.end()?;
            (end.node.run == 2 && end.answer == "heard").then_some(())
        });
        session.close();
        assert_eq!(written(&home.dirs(), &own).len(), 2, "an end was told again");
    }
}

#[test]
fn one_that_was_dismissed_is_not_listed_after_the_next_open() {
    let place = Place::new();
    let turns = |words: &str| vec![says(words)];
    let asked = [spawn("w", "shared"), spawn("v", "shared")];
    let text = script(&[calls(&asked), says("asked")], &[("w", turns("w done")), ("v", turns("v done"))]);
    let mut session = place.open(&text, Mode::Auto, Which::New);
    session.send("go");
    session.turn_end(1);
    let id = session.id();
    ended(&mut session, "w");
    ended(&mut session, "v");
    session.command(Command::Agent { path: "w".into(), ask: AgentAsk::Dismiss });
    session.until("it goes", |record| state(record, "w").is_none().then_some(()));
    session.close();
    let mut again = place.open(&text, Mode::Auto, Which::Id(id));
    ended(&mut again, "v");
    assert!(again.look(|record| state(record, "w").is_none()), "it is listed again");
    assert_eq!(ends(&again).len(), 2);
}

#[test]
fn a_second_run_that_was_cut_is_known_as_cut_and_is_ended_and_counted_by_itself() {
    let place = Place::new();
    place.write("a.txt", "base\n");
    let wait_for = until(&beside(&place, "go"));
    let w =
        vec![writes("b.txt", "first\n"), says("one"), writes("a.txt", "second\n"), wait_for, says("never")];
    let text = script(&[calls(&[spawn("w", "isolated")]), says("asked")], &[("w", w)]);
    let mut session = place.open(&text, Mode::Auto, Which::New);
    session.send("go");
    session.turn_end(1);
    let id = session.id();
    assert_eq!(ended(&mut session, "w").answer, "one");
    session.command(Command::Agent { path: "w".into(), ask: AgentAsk::Message("again".into()) });
    session.until("its second run at work", |record| {
        let row = record.agents.get(&"w".to_owned())?;
        (row.node.run == 2 && row.now.starts_with("bash")).then_some(())
    });
    session.close();
    let mut again = place.open(&text, Mode::Auto, Which::Id(id));
    again.until("it was cut", |record| (state(record, "w") == Some(AgentState::Cut)).then_some(()));
    again.command(Command::Agent { path: "w".into(), ask: AgentAsk::Stop });
    let end = ended(&mut again, "w");
    assert_eq!((end.node.run, &end.end, end.calls), (2, &End::Stopped { by: By::User }, 2));
    assert_eq!(end.hand_back.as_ref().map(|report| report.taken.len()), Some(1));
    assert_eq!((place.read("a.txt"), place.read("b.txt")), ("second\n".into(), "first\n".into()));
}

#[test]
fn one_that_cannot_go_on_after_a_crash_keeps_its_copy_and_can_be_ended() {
    let home = Home::new();
    let w = vec![writes("a.txt", "child\n"), until(&beside(home.place(), "go")), says("never")];
    let mut program = home.start(&script(&[calls(&[spawn("w", "isolated")]), says("asked")], &[("w", w)]));
    let id = until_called(&mut events(&mut program), &["w"]);
    program.kill().unwrap();
    program.wait().unwrap();
    let mut session = home.open(&script(&[], &[("w", vec![])]), &id);
    session.until("it was cut", |record| (state(record, "w") == Some(AgentState::Cut)).then_some(()));
    let own = session.look(|record| record.agents.get(&"w".to_owned()).unwrap().node.session.clone());
    // a journal that others may read is not opened
    let journal = home.dirs().session(&own).join("journal.jsonl");
    let open_to = |mode| std::fs::set_permissions(&journal, std::fs::Permissions::from_mode(mode)).unwrap();
    open_to(0o644);
    session.command(Command::Agent { path: "w".into(), ask: AgentAsk::Message("go on".into()) });
    session.until_said("it could not go on");
    session.until("it is as it was", |record| (state(record, "w") == Some(AgentState::Cut)).then_some(()));
    open_to(0o600);
    session.command(Command::Agent { path: "w".into(), ask: AgentAsk::Stop });
    let end = ended(&mut session, "w");
    assert_eq!(end.hand_back.as_ref().map(|report| report.taken.len()), Some(1));
    assert_eq!(home.place().read("a.txt"), "child\n");
}

#[test]
fn what_one_in_the_line_was_told_is_told_after_the_next_open() {
    let place = Place::new();
    let mut first = says("went on");
    first["expect"] = json!({"contains": "do w\n\nmore\n\ngo on"});
    let agents = [("v", vec![until(&beside(&place, "go")), says("never")]), ("w", vec![first])];
    let asked = [spawn("v", "shared"), spawn("w", "shared")];
    let text = script(&[calls(&asked), says("asked")], &agents);
    let few = |options: &mut windlass::engine::Options| options.limits.agents.at_once = 1;
    let mut session = place.open_with(&text, Mode::Auto, Which::New, few);
    session.send("go");
    session.turn_end(1);
    let id = session.id();
    session.until("it waits", |record| {
        (state(record, "w") == Some(AgentState::Waiting { number: 1 })).then_some(())
    });
    session.command(Command::Agent { path: "w".into(), ask: AgentAsk::Message("more".into()) });
    session.close();
    let mut again = place.open_with(&text, Mode::Auto, Which::Id(id), few);
    again.until("it was cut", |record| (state(record, "w") == Some(AgentState::Cut)).then_some(()));
    again.command(Command::Agent { path: "w".into(), ask: AgentAsk::Message("go on".into()) });
    let end = ended(&mut again, "w");
    assert_eq!((&end.end, end.answer.as_str()), (&End::Answered, "went on"));
}

#[test]
fn the_session_of_one_in_a_copy_is_not_opened_by_itself() {
    let place = Place::new();
    let asked = [spawn("w", "isolated"), spawn("s", "shared")];
    let text =
        script(&[calls(&asked), says("asked")], &[("w", vec![says("done")]), ("s", vec![says("done")])]);
    let mut session = place.open(&text, Mode::Auto, Which::New);
    session.send("go");
    session.turn_end(1);
    let (w, s) = (ended(&mut session, "w"), ended(&mut session, "s"));
    let id = session.id();
    session.close();
    let open = |id: &SessionId| Running::try_open(place.options(&text, Mode::Auto, Which::Id(id.clone())));
    let told = open(&w.node.session).err().expect("it opens").to_string();
    assert!(told.contains("the agent w's") && told.contains(&format!("--session {id}")), "{told}");
    assert!(open(&s.node.session).is_ok());
}
