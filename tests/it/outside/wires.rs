//! The four wires from outside: a session edits a small project, runs its tests, is interrupted in a
//! call, killed in a turn, resumed and goes on; in a terminal and over `exec --json`. After all of
//! it the server must find every request valid.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::rehearsal::quit;
use super::{Home, WIRES, until};
use crate::server::accepts::accepts;
use crate::server::scene::Scene;
use crate::server::{Reply, Seen, Server, Then};
use crate::session::alive;

/// A server on a runtime of its own.
pub struct Served {
    runtime: tokio::runtime::Runtime,
    server: Option<Server>,
    wire: &'static str,
}

impl Served {
    pub fn start(wire: &'static str, replies: Vec<Reply>) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let server = Some(runtime.block_on(Server::start(replies)));
        Self { runtime, server, wire }
    }
    pub fn url(&self) -> String {
        self.server.as_ref().unwrap().url()
    }
    /// The requests; each must be one that a strict server takes.
    pub fn valid(&self) -> Vec<Seen> {
        let seen = self.server.as_ref().unwrap().seen();
        for (at, request) in seen.iter().enumerate() {
            if let Err(why) = accepts(self.wire, &request.body) {
                panic!("{}: request {at}: {why}\n{}", self.wire, request.body);
            }
        }
        seen
    }
    /// Waits until so many requests came.
    pub fn asked(&self, count: usize) {
        until("the request", || self.server.as_ref().unwrap().seen().len() >= count);
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _inside = self.runtime.enter();
        drop(self.server.take());
    }
}

/// An answer with text and one call.
pub fn calls(wire: &str, say: &str, tool: &str, input: Value) -> Reply {
    let scene = Scene { say: vec![say.into()], calls: vec![(tool.into(), input)], ..Scene::default() };
    Reply::whole(&scene.stream(wire))
}

/// An answer of text.
pub fn says(wire: &str, text: &str) -> Reply {
    Reply::whole(&Scene::say(text).stream(wire))
}

/// Half an answer, then nothing more.
pub fn hangs(wire: &str, text: &str) -> Reply {
    let stream = Scene::say(text).stream(wire);
    let said = stream.find(text).unwrap();
    let ends = ["\r\n\r\n", "\n\n"].map(|end| stream[said..].find(end).map(|at| said + at + end.len()));
    Reply::part(&stream, ends.into_iter().flatten().min().unwrap(), Then::Silence)
}

/// A script project with a test that fails until `add` adds.
fn project(home: &Home) {
    home.write("work/add", "#!/bin/sh\necho $(($1 - $2))\n");
    home.write(
        "work/test",
        "#!/bin/sh\n[ \"$(sh ./add 2 3)\" = 5 ] && echo PASS || { echo FAIL; exit 1; }\n",
    );
}

/// A command that leaves the ids of a tree behind, one of it in a session of its own, and waits.
const TREE: &str =
    "setsid sleep 300 & echo $! > pids; sleep 300 & echo $! >> pids; echo $$ >> pids; echo tree-is-up; wait";

fn replies(wire: &str) -> Vec<Reply> {
    vec![
        calls(wire, "I look at it.", "bash", json!({"command": "sh ./test"})),
        calls(
            wire,
            "I mend it.",
            "edit",
            json!({"path": "add", "edits": [{"old": "$1 - $2", "new": "$1 + $2"}]}),
        ),
        calls(wire, "Again.", "bash", json!({"command": "sh ./test"})),
        says(wire, "All pass now."),
        // interrupted in the call
        calls(wire, "This takes long.", "bash", json!({"command": TREE})),
        // killed in the answer
        hangs(wire, "I begin to answer"),
        // resumed; killed in the call
        calls(wire, "Long again.", "bash", json!({"command": TREE})),
        says(wire, "Here I am again."),
    ]
}

fn pids(home: &Home) -> Vec<i32> {
    let text = std::fs::read_to_string(home.path("work/pids")).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

/// The ids of the tree, once all stand.
fn tree(home: &Home) -> Vec<i32> {
    until("the tree", || pids(home).len() == 3);
    pids(home)
}

fn gone(pids: &[i32]) -> bool {
    pids.iter().all(|pid| !alive(*pid))
}

fn in_a_terminal(wire: &'static str) {
    let mut home = Home::new();
    project(&home);
    let server = Served::start(wire, replies(wire));
    home.serve(wire, &server.url());

    let mut program = home.show(&["--approve", "auto", "mend the project"]);
    program.wait_for("All pass now.");
    assert_eq!(home.read("work/add"), "#!/bin/sh\necho $(($1 + $2))\n");
    let seen = server.valid();
    assert_eq!(seen.len(), 4);
    assert!(seen[1].body.contains("FAIL") && seen[3].body.contains("PASS"));

    program.send("and now something long\r");
    program.wait_for("tree-is-up");
    let pids = tree(&home);
    assert!(!gone(&pids));
    let pressed = Instant::now();
    program.send("\x1b");
    until("the tree's end", || gone(&pids));
    assert!(pressed.elapsed() < Duration::from_millis(1500), "{:?}", pressed.elapsed());
    program.wait_for("interrupted");
    std::fs::remove_file(home.path("work/pids")).unwrap();

    program.send("go on\r");
    program.wait_for("I begin to answer");
    server.valid();
    program.signal(Signal::SIGKILL);
    program.end();

    let mut program = home.show(&["-c", "--approve", "auto"]);
    program.wait_for("All pass now.");
    program.send("are you there?\r");
    program.wait_for("tree-is-up");
    let pids = tree(&home);
    program.signal(Signal::SIGKILL);
    program.end();
    let took = until("the tree's end after a kill", || gone(&pids));
    assert!(took < Duration::from_secs(3), "{took:?}");

    let mut program = home.show(&["resume"]);
    program.wait_for("are you there?");
    program.send("and now?\r");
    program.wait_for("Here I am again.");
    let seen = server.valid();
    assert_eq!(seen.len(), 8);
    assert!(seen[7].body.contains("tree-is-up"), "what was durable of the call is told: {}", seen[7].body);
    assert_eq!(quit(&mut program), 0);
    program.assert_clean();
    program.until("how to resume", |p| p.screen().contains("windlass resume"));
    assert_eq!(home.sessions().len(), 1);
}

#[test]
fn a_session_over_anthropic_in_a_terminal() {
    in_a_terminal("anthropic");
}
#[test]
fn a_session_over_openai_responses_in_a_terminal() {
    in_a_terminal("openai-responses");
}
#[test]
fn a_session_over_openai_chat_in_a_terminal() {
    in_a_terminal("openai-chat");
}
#[test]
fn a_session_over_gemini_in_a_terminal() {
    in_a_terminal("gemini");
}

#[test]
fn the_same_session_over_exec() {
    std::thread::scope(|scope| {
        for wire in WIRES {
            scope.spawn(move || over_exec(wire));
        }
    });
}

fn over_exec(wire: &'static str) {
    let mut home = Home::new();
    project(&home);
    let server = Served::start(wire, replies(wire));
    home.serve(wire, &server.url());
    let exec = |more: &[&str], prompt: &str| {
        let line = [&["exec", "--json", "--approve", "auto"], more, &[prompt]].concat();
        home.command(&line)
    };

    let ran = home.run(&["exec", "--json", "--approve", "auto", "mend the project"]);
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.out, ran.err);
    assert_eq!(super::events::gist(&ran.events()), MENDED, "{wire}");
    let settled = ran.of("call.settled");
    assert_eq!(settled[0]["status"], "error");
    assert!(settled[0]["output"].as_str().unwrap().contains("FAIL"));
    assert!(settled[2]["output"].as_str().unwrap().contains("PASS"));

    // interrupted in the call
    let out = home.path("interrupted.jsonl");
    let mut child = Child::start(exec(&["-c"], "something long"), &out);
    let pids = tree(&home);
    let pid = nix::unistd::Pid::from_raw(i32::try_from(child.0.id()).unwrap());
    nix::sys::signal::kill(pid, Signal::SIGINT).unwrap();
    assert_eq!(child.0.wait().unwrap().code(), Some(130));
    assert!(gone(&pids));
    let text = std::fs::read_to_string(&out).unwrap();
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(last, json!({"type": "session.ended", "status": "interrupted", "exit": 130}));
    std::fs::remove_file(home.path("work/pids")).unwrap();

    // killed in the answer
    let child = Child::start(exec(&["-c"], "go on"), &out);
    server.asked(6);
    until("its words", || std::fs::read_to_string(&out).unwrap_or_default().contains("begin to answer"));
    drop(child);

    // killed in the call
    let child = Child::start(exec(&["-c"], "are you there?"), &out);
    let pids = tree(&home);
    drop(child);
    let took = until("the tree's end after a kill", || gone(&pids));
    assert!(took < Duration::from_secs(3), "{took:?}");

    let ran = home.run(&["exec", "--json", "-c", "and now?"]);
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.out, ran.err);
    assert!(ran.out.contains("Here I am again."));
    assert_eq!(server.valid().len(), 8);
    assert_eq!(home.sessions().len(), 1);
}

/// A run without a screen that is killed when it is dropped.
struct Child(std::process::Child);

impl Child {
    fn start(mut command: std::process::Command, out: &std::path::Path) -> Self {
        let out = std::fs::File::create(out).unwrap();
        let null = std::process::Stdio::null;
        Self(command.stdin(null()).stdout(out).stderr(null()).spawn().unwrap())
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The events of the first turn.
const MENDED: &str = "\
session.started cwd id model
message role=user text
text.delta text
message role=assistant text
call.started id input tool=bash
call.settled dropped id kept output status=error warnings
text.delta text
message role=assistant text
call.started id input tool=edit
call.settled dropped id kept output status=ok warnings
text.delta text
message role=assistant text
call.started id input tool=bash
call.settled dropped id kept output status=ok warnings
text.delta text
message role=assistant text
turn.ended status=done
usage cache_read cache_write input output reasoning
session.ended exit status=done
";
