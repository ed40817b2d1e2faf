//! The control socket from outside: a program with its screen in one terminal, `windlass jobs` in another.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::attach::stopped;
use crate::commands::{carrying, mark};
use crate::frame_bridge::{Served, running};
use crate::outside::{Home, until};
use crate::terminal::Program;

/// A program whose model starts these commands in the background.
fn program(home: &Home, commands: &[&str]) -> Program {
    let calls: Vec<Value> = commands
        .iter()
        .map(|command| json!({"tool": "bash", "input": {"command": command, "background": true}}))
        .collect();
    let model = home.script(&json!({"turns": [{"say": "go", "calls": calls}, {"say": "all of it runs"}]}));
    let mut program = home.show(&["--model", &model, "--approve", "auto", "go"]);
    program.wait_for("all of it runs");
    program
}

/// The rows that `jobs list` tells.
fn rows(home: &Home) -> Vec<Value> {
    let ran = home.run(&["jobs", "list", "--json"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.out);
    ran.events()
}

fn states(home: &Home) -> Vec<String> {
    let of = |row: &Value| format!("{} {}", row["job"].as_str().unwrap(), row["words"].as_str().unwrap());
    rows(home).iter().map(of).collect()
}

fn sockets(home: &Home) -> Vec<PathBuf> {
    let dir = home.path(&format!("tmp/windlass-{}", nix::unistd::geteuid()));
    std::fs::read_dir(dir).map(|all| all.map(|name| name.unwrap().path()).collect()).unwrap_or_default()
}

#[test]
fn another_terminal_sees_and_ends_what_the_pane_shows() {
    let home = Home::new();
    let (quiet, deaf) = (mark(), mark());
    let deaf_command = format!("trap '' TERM; echo deaf; while :; do sleep {deaf}; done");
    let mut program = program(&home, &[&format!("echo here; exec sleep {quiet}"), &deaf_command]);
    until("both run", || carrying(&quiet).len() == 1 && !carrying(&deaf).is_empty());
    assert_eq!(states(&home), ["j1 running", "j2 running"]);
    assert_eq!(sockets(&home).len(), 1);
    let row = &rows(&home)[0];
    assert_eq!(
        (row["command"].as_str(), row["kept"].as_bool()),
        (Some(&*format!("echo here; exec sleep {quiet}")), Some(false))
    );

    let tail = home.run(&["jobs", "tail", "j1"]);
    assert_eq!((tail.code, tail.out.as_str()), (Some(0), "here\n"));
    let unknown = home.run(&["jobs", "kill", "j7"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.err.contains("has no job j7; it has j1, j2"), "{}", unknown.err);

    let kill = home.run(&["jobs", "kill", "j2"]);
    let lines: Vec<&str> = kill.out.lines().collect();
    assert_eq!(kill.code, Some(0), "{}", kill.err);
    assert!(
        lines[0].starts_with("j2: TERM sent to ") && lines[1].starts_with("j2: KILL sent to "),
        "{lines:?}"
    );
    let last = lines.last().unwrap();
    assert!(last.starts_with("j2: stopped by you, ") && last.ends_with(" gone"), "{lines:?}");
    assert!(carrying(&deaf).is_empty());
    let again = home.run(&["jobs", "kill", "j2"]);
    assert_eq!(again.code, Some(1));
    assert!(again.err.contains("j2 has ended already: stopped by you"), "{}", again.err);
    assert_eq!(states(&home)[1], last.replacen(':', "", 1));

    // what is dismissed in the pane is gone from the list, too
    program.send("\x18j");
    program.wait_for("P keep");
    program.send("jd");
    until("it is dismissed", || states(&home) == ["j1 running"]);

    // a program that is stopped does not answer: the keepers do, and that is said
    program.signal(Signal::SIGSTOP);
    until("it is stopped", || stopped(program.pid()));
    let ran = home.run(&["jobs", "list"]);
    program.signal(Signal::SIGCONT);
    assert!(ran.err.contains("does not answer"), "{}", ran.err);
    // what was dismissed is dismissed there, too
    assert!(ran.out.lines().count() == 1 && ran.out.starts_with("j1    running"), "{}", ran.out);

    // one that was killed leaves its socket; the next one takes its place
    program.signal(Signal::SIGKILL);
    program.end();
    until("it went with its program", || carrying(&quiet).is_empty());
    until("its record", || rows(&home)[0]["state"] == "ended");
    assert_eq!(rows(&home)[0]["cause"], "program_gone");
    assert_eq!(sockets(&home).len(), 1);
    let mut program = home.show(&["-c"]);
    program.wait_for("all of it runs");
    until("the program answers", || rows(&home).len() == 1);
    program.send("\x03");
    program.send("\x03");
    program.end();
    assert_eq!(sockets(&home), Vec::<PathBuf>::new());
}

#[test]
fn the_socket_of_a_killed_program_is_swept_by_the_next_and_those_of_living_ones_stay() {
    let home = Home::new();
    let mut killed = program(&home, &["exec sleep 300"]);
    until("its socket", || sockets(&home).len() == 1);
    let left = sockets(&home);
    killed.signal(Signal::SIGKILL);
    killed.end();
    assert_eq!(sockets(&home), left);

    // sessions of their own
    let lives = program(&home, &["exec sleep 300"]);
    until("only that of the one that lives", || sockets(&home).len() == 1 && sockets(&home) != left);
    let live = sockets(&home).remove(0);
    lives.signal(Signal::SIGSTOP);
    until("it is stopped", || stopped(lives.pid()));
    let third = program(&home, &["exec sleep 300"]);
    until("both", || sockets(&home).len() == 2);
    assert!(sockets(&home).contains(&live), "one that is stopped lives");
    lives.signal(Signal::SIGCONT);
    let mut stream = UnixStream::connect(&live).unwrap();
    stream.write_all(b"{\"id\":1,\"type\":\"hello\"}\n").unwrap();
    let mut said = [0; 9];
    stream.read_exact(&mut said).unwrap();
    assert_eq!(&said, b"{\"id\":1,\"");
    drop((lives, third));
}

#[test]
fn a_run_without_a_screen_is_asked_too() {
    let home = Home::new();
    let quiet = mark();
    let go = home.path("go");
    let calls = json!([
        {"tool": "bash", "input": {"command": format!("exec sleep {quiet}"), "background": true}},
        {"tool": "bash", "input": {"command": format!("until [ -e {} ]; do sleep 0.05; done", go.display())}},
    ]);
    let model = home.script(&json!({"turns": [{"say": "go", "calls": calls}, {"say": "done"}]}));
    let mut command = home.command(&["exec", "--model", &model, "--approve", "auto", "go"]);
    let run =
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
    until("it has a job", || home.run(&["jobs", "list"]).out.contains("running"));
    assert_eq!(sockets(&home).len(), 1);
    assert_eq!(states(&home), ["j1 running"]);
    let kill = home.run(&["jobs", "kill", "j1"]);
    assert_eq!(kill.out, "j1: TERM sent to 1\nj1: stopped by you, 1 process gone\n", "{}", kill.err);
    assert!(carrying(&quiet).is_empty());
    std::fs::write(go, "").unwrap();
    assert!(run.wait_with_output().unwrap().status.success());
    assert_eq!(sockets(&home), Vec::<PathBuf>::new());
}

#[test]
fn what_a_job_prints_is_shown_and_not_obeyed_until_it_ends() {
    let home = Home::new();
    let go = home.path("go");
    let command =
        format!("printf '\\033[31mred\\n'; until [ -e {} ]; do sleep 0.05; done; echo end", go.display());
    let _program = program(&home, &[&command]);
    until("it runs", || home.run(&["jobs", "tail", "j1"]).out.contains("red"));
    // into a pipe as it is, on a terminal made visible
    assert_eq!(home.run(&["jobs", "tail", "j1"]).out, "\x1b[31mred\n");
    let mut follows = Program::start(&home.command(&["jobs", "tail", "--follow", "j1"]));
    follows.wait_for("\\x1B[31mred");
    let mut raw = Program::start(&home.command(&["jobs", "tail", "--raw", "j1"]));
    raw.wait_for("red");
    assert_eq!(raw.end(), 0);
    let first = raw.terminal.screen().cell(0, 0).unwrap();
    assert_eq!((first.contents(), first.fgcolor()), ("r", vt100::Color::Idx(1)));
    std::fs::write(go, "").unwrap();
    follows.wait_for("end");
    assert_eq!(follows.end(), 0);
    let all = home.run(&["jobs", "list", "--all", "--json"]).events();
    assert_eq!((all.len(), &all[0]["words"]), (1, &json!("exit 0")));
}

#[test]
fn a_runtime_directory_that_others_may_write_is_said_and_not_used() {
    use std::os::unix::fs::PermissionsExt;
    let mut home = Home::new();
    let runtime = home.path("run");
    std::fs::create_dir_all(runtime.join("windlass")).unwrap();
    std::fs::set_permissions(runtime.join("windlass"), std::fs::Permissions::from_mode(0o777)).unwrap();
    home.set("XDG_RUNTIME_DIR", &runtime.display().to_string());
    let mut program = program(&home, &["sleep 300"]);
    program.wait_for("can be written by others");
    assert_eq!(std::fs::read_dir(runtime.join("windlass")).unwrap().count(), 0);
    let list = home.run(&["jobs", "list"]);
    assert!(list.out.contains("running"), "{}", list.out);
    assert!(list.err.contains("chmod 700"), "{}", list.err);
}

/// Asks one thing of a served session; the lines that come before the other side closes.
fn asked(mut stream: UnixStream, frame: &str) -> Vec<Value> {
    stream.write_all(format!("{frame}\n").as_bytes()).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut heard = String::new();
    stream.read_to_string(&mut heard).unwrap();
    heard.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_peer_that_does_not_read_is_sent_away_and_holds_nobody_up() {
    let served = Served::new();
    for job in 2..200 {
        served.front.shared.change(|record| record.jobs.begin(windlass::base::JobId(job), running(job)));
    }
    let mut deaf = served.connect();
    let flood: String = (0..2000).map(|id| format!("{{\"id\":{id},\"type\":\"jobs.list\"}}\n")).collect();
    deaf.set_nonblocking(true).unwrap();
    // as much as it takes; none of the answers is read
    let _ = deaf.write(flood.as_bytes());
    // one that waits for the deaf one would never answer
    let replies = asked(served.connect(), r#"{"id":"x","type":"jobs.list"}"#);
    assert_eq!(replies[0]["jobs"].as_array().unwrap().len(), 199);
    until("it is sent away", || {
        let mut fds =
            [nix::poll::PollFd::new(std::os::fd::AsFd::as_fd(&deaf), nix::poll::PollFlags::POLLHUP)];
        nix::poll::poll(&mut fds, nix::poll::PollTimeout::ZERO).unwrap() == 1
    });
}

#[test]
fn there_is_room_for_one_more_peer_when_others_rest() {
    let served = Served::new();
    let resting: Vec<UnixStream> =
        (0..windlass::front::control::PEERS_MAX + 4).map(|_| served.connect()).collect();
    let hello = asked(served.connect(), r#"{"id":1,"type":"hello"}"#);
    assert_eq!((&hello[0]["status"], &hello[0]["session"]), (&json!("ok"), &json!("s1")));
    drop(resting);
}

#[test]
fn the_socket_goes_with_its_session_and_what_waits_is_told() {
    let mut served = Served::new();
    let socket = served.socket();
    let mut stream = served.connect();
    stream.write_all(b"{\"id\":1,\"type\":\"jobs.kill\",\"job\":\"j1\"}\n").unwrap();
    until("the session is asked", || !served.commands().is_empty());
    served.end();
    let mut heard = String::new();
    stream.read_to_string(&mut heard).unwrap();
    let reply: Value = serde_json::from_str(heard.trim()).unwrap();
    assert_eq!((&reply["id"], &reply["status"]), (&json!(1), &json!("error")));
    assert!(!socket.exists() && !served.place.exists());
}
