//! Commands that outlive their program, and who else may speak with a keeper: law J against the system itself.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use serde_json::{Value, json};
use windlass::law::job::{By, End, Stage};
use windlass::process::record::{self, KeeperRecord, LeftRecord};
use windlass::process::{Adopted, News, Record, Running, adopt, open_socket};

use crate::commands::{Bench, carrying, end_of, mark, next_word, output_holds, until};

async fn adopted(bench: &Bench) -> Running {
    match adopt(&bench.record_dir(), bench.truncation).await.unwrap() {
        Adopted::Running(running, _) => *running,
        other => panic!("{other:?}"),
    }
}

async fn kept(running: &mut Running) {
    running.keep(true).await;
    assert_eq!(next_word(running).await, Some(News::Kept(true)));
}

#[tokio::test]
async fn a_kept_command_outlives_its_program_and_is_adopted() {
    let mark = mark();
    let bench = Bench::new();
    let mut running = bench.start(&format!("echo one; read -t 600 <> <(:); exec sleep {mark}")).await;
    output_holds(&mut running, "one").await;
    kept(&mut running).await;
    let process = running.process().clone();
    drop(running);
    let file: KeeperRecord = record::read(&bench.record_dir(), "keeper.json").unwrap().unwrap();
    assert!(file.kept);
    let mut again = adopted(&bench).await;
    assert_eq!(again.process(), &process);
    // a second program is refused while there is one
    let refused = adopt(&bench.record_dir(), bench.truncation).await;
    assert!(refused.is_err_and(|why| why.contains("is there already")));
    again.kill(By::User).await;
    let heard = end_of(&mut again).await;
    assert_eq!(heard.record.end, End::Killed { by: By::User });
    assert_eq!(bench.spool(), b"one\n");
    until("it is gone", || carrying(&mark).is_empty()).await;
    let Adopted::Ended(found, None) = adopt(&bench.record_dir(), bench.truncation).await.unwrap() else {
        panic!("its record is there");
    };
    assert_eq!(*found, heard.record);
}

#[tokio::test]
async fn one_that_is_kept_no_longer_ends_with_the_program() {
    let mark = mark();
    let bench = Bench::new();
    let mut running = bench.start(&format!("exec sleep {mark}")).await;
    kept(&mut running).await;
    drop(running);
    let mut again = adopted(&bench).await;
    until("it sleeps", || carrying(&mark).len() == 1).await;
    again.keep(false).await;
    assert_eq!(next_word(&mut again).await, Some(News::Kept(false)));
    drop(again);
    let took = until("it is gone", || carrying(&mark).is_empty()).await;
    assert!(took < Duration::from_secs(3));
    let path = bench.record_dir();
    until("the record", || path.join("end.json").exists()).await;
    let record: Record = record::read(&path, "end.json").unwrap().unwrap();
    assert_eq!(record.end, End::Killed { by: By::ProgramGone });
}

#[tokio::test]
async fn one_that_is_being_ended_cannot_be_kept_any_more() {
    let bench = Bench::new().grace(400);
    let mut running = bench.start("trap '' TERM; echo ready; while :; do sleep 0.01; done").await;
    output_holds(&mut running, "ready").await;
    running.kill(By::Model).await;
    running.keep(true).await;
    while next_word(&mut running).await != Some(News::Kept(false)) {}
    assert_eq!(end_of(&mut running).await.record.end, End::Killed { by: By::Model });
    let file: KeeperRecord = record::read(&bench.record_dir(), "keeper.json").unwrap().unwrap();
    assert!(!file.kept);
}

#[tokio::test]
async fn what_a_command_left_behind_is_adopted_too() {
    let mark = mark();
    let bench = Bench::new();
    let mut running = bench.start(&format!("sleep {mark} & echo main")).await;
    let heard = end_of(&mut running).await;
    assert_eq!(heard.record.left.len(), 1);
    kept(&mut running).await;
    drop(running);
    let mut again = adopted(&bench).await;
    again.kill(By::User).await;
    let left = loop {
        match next_word(&mut again).await {
            Some(News::Left(left)) => break left,
            Some(_) => {}
            None => panic!("nothing was told of what was left"),
        }
    };
    assert_eq!((left.by, left.survivors.len()), (Some(By::User), 0));
    assert!(carrying(&mark).is_empty());
    let file: LeftRecord = record::read(&bench.record_dir(), "left.json").unwrap().unwrap();
    assert_eq!(file, *left);
}

#[tokio::test]
async fn a_lost_keeper_is_found_lost_and_its_tree_is_ended() {
    let mark = mark();
    let bench = Bench::new();
    let mut running = bench.start(&format!("setsid sleep {mark} & sleep {mark}")).await;
    kept(&mut running).await;
    until("both sleep", || carrying(&mark).len() == 2).await;
    let file: KeeperRecord = record::read(&bench.record_dir(), "keeper.json").unwrap().unwrap();
    drop(running);
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(file.keeper.pid), nix::sys::signal::Signal::SIGKILL)
        .unwrap();
    let found = loop {
        match adopt(&bench.record_dir(), bench.truncation).await {
            Ok(found) => break found,
            // it is not dead yet
            Err(_) => tokio::task::yield_now().await,
        }
    };
    assert!(matches!(found, Adopted::Lost), "{found:?}");
    until("they are gone", || carrying(&mark).is_empty()).await;
}

#[tokio::test]
async fn the_escalation_of_a_kill_is_told() {
    let bench = Bench::new().grace(200);
    let mut running = bench.start("trap '' TERM; echo ready; while :; do sleep 0.05; done").await;
    output_holds(&mut running, "ready").await;
    running.kill(By::Model).await;
    let Some(News::Stage(Stage::Asked { processes })) = next_word(&mut running).await else { panic!() };
    assert!(processes >= 1);
    let Some(News::Stage(Stage::Destroyed { processes })) = next_word(&mut running).await else { panic!() };
    assert!(processes >= 1);
    let record = end_of(&mut running).await.record;
    assert_eq!(record.end, End::Killed { by: By::Model });
    assert!(record.gone >= 1);
}

#[tokio::test]
async fn a_signal_reaches_the_commands_group() {
    let bench = Bench::new();
    let mut running = bench.start("trap 'echo heard' USR1; echo ready; while :; do sleep 0.05; done").await;
    output_holds(&mut running, "ready").await;
    running.signal(10).await;
    output_holds(&mut running, "heard").await;
    running.kill(By::User).await;
    end_of(&mut running).await;
}

#[tokio::test]
async fn a_command_that_is_stopped_is_told_to_be_until_it_goes_on() {
    let bench = Bench::new();
    let mut running = bench.start("echo ready; while :; do sleep 0.05; done").await;
    output_holds(&mut running, "ready").await;
    let hears = async |running: &mut Running, on: bool| {
        loop {
            match next_word(running).await {
                Some(News::Stopped(told)) if told == on => return,
                Some(_) => {}
                None => panic!("its keeper is gone"),
            }
        }
    };
    running.signal(19).await;
    hears(&mut running, true).await;
    assert_eq!(Visitor::new(&bench).hello()["standing"]["stopped"], true);
    running.signal(18).await;
    hears(&mut running, false).await;
    assert_eq!(Visitor::new(&bench).hello()["standing"]["stopped"], false);
    // stopped again, it is ended all the same
    running.signal(19).await;
    hears(&mut running, true).await;
    running.kill(By::User).await;
    assert_eq!(end_of(&mut running).await.record.end, End::Killed { by: By::User });
}

/// A visitor in plain lines.
struct Visitor(BufReader<UnixStream>);

impl Visitor {
    fn new(bench: &Bench) -> Self {
        let stream = open_socket(&bench.record_dir()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Self(BufReader::new(stream))
    }
    fn say(&mut self, line: Value) {
        let mut stream = self.0.get_ref();
        stream.write_all(format!("{line}\n").as_bytes()).unwrap();
    }
    fn hello(&mut self) -> Value {
        let version = windlass::process::wire::WIRE_VERSION;
        self.say(json!({"id": 1, "type": "hello", "version": version, "role": "visitor"}));
        let standing = self.hear().unwrap();
        assert_eq!(self.hear().unwrap(), json!({"reply": {"id": 1, "status": "ok"}}));
        standing
    }
    /// The next answer: events are passed by.
    fn answer(&mut self) -> Value {
        loop {
            let line = self.hear().expect("an answer");
            if line.get("reply").is_some() || line.get("fault").is_some() {
                return line;
            }
        }
    }
    fn hear(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        (!line.is_empty()).then(|| serde_json::from_str(&line).unwrap())
    }
}

#[tokio::test]
async fn visitors_say_hello_first_look_and_kill() {
    let bench = Bench::new();
    let mut running = bench.start("echo here; exec sleep 300").await;
    output_holds(&mut running, "here").await;
    let socket = bench.record_dir().join("socket");
    assert_eq!(crate::commands::mode(&socket), 0o600);
    // one that does not say hello is sent away
    let mut rude = Visitor::new(&bench);
    rude.say(json!({"id": 1, "type": "kill", "by": "user"}));
    assert_eq!(rude.hear().unwrap()["reply"]["status"], "error");
    assert_eq!(rude.hear(), None);
    // one of another version too, with a word
    let mut old = Visitor::new(&bench);
    old.say(json!({"id": 1, "type": "hello", "version": 1, "role": "visitor"}));
    assert!(old.hear().unwrap()["refused"]["why"].as_str().unwrap().contains("version"));
    // what is no line of ours is passed by
    let mut guest = Visitor::new(&bench);
    let standing = guest.hello();
    assert_eq!(standing["standing"]["bytes"], 5);
    assert_eq!(standing["standing"]["kept"], false);
    guest.say(json!({"nonsense": 1}));
    guest.say(json!({"id": 2, "type": "kill", "by": "user"}));
    let record = end_of(&mut running).await.record;
    assert_eq!(record.end, End::Killed { by: By::User });
    let mut ended = false;
    while let Some(line) = guest.hear() {
        ended |= line["ended"]["record"]["cause"] == "killed";
    }
    assert!(ended);
    until("the keeper's socket is gone", || !socket.exists()).await;
}

#[tokio::test]
async fn a_keeper_answers_each_request_once_and_loses_no_kill() {
    let bench = Bench::new();
    let mut running = bench.start("echo here; exec sleep 300").await;
    output_holds(&mut running, "here").await;
    let mut guest = Visitor::new(&bench);
    guest.hello();
    let mut ask = |line: Value| {
        guest.say(line);
        let answer = guest.answer();
        let reply = &answer["reply"];
        match reply["status"].as_str() {
            Some(status) => format!("{} {status} {}", reply["id"], reply["why"].as_str().unwrap_or_default()),
            None => format!("fault {}", answer["fault"]["why"].as_str().unwrap()),
        }
    };
    let huge = "x".repeat(windlass::process::wire::LINE_MAX);
    let not_served = "2 error `reboot` is no type that is served here";
    assert_eq!(ask(json!({"id": 2, "type": "reboot"})), not_served);
    assert_eq!(ask(json!({"id": 3, "kind": "kill"})), "3 error the frame has no `type`");
    assert!(
        ask(json!({"id": 4, "type": "kill", "by": "nobody"})).starts_with("4 error `kill` is not understood")
    );
    assert!(
        ask(json!({"id": 5, "type": "kill", "by": "user", "more": huge}))
            .starts_with("5 error the frame is longer")
    );
    assert!(ask(json!({"id": 1, "type": "kill", "by": "user"})).starts_with("1 duplicate "));
    assert!(ask(json!(["kill"])).starts_with("fault a line is no frame"));
    assert_eq!(
        ask(json!({"id": 6, "type": "input", "bytes": "YQ=="})),
        "6 error the command has no terminal"
    );
    assert_eq!(ask(json!({"id": 7, "type": "signal", "signal": 99})), "7 error there is no signal 99");
    assert_eq!(ask(json!({"id": 8, "type": "keep", "on": true})), "8 ok ");
    let alive = windlass::process::tree::seen(running.process().pid).is_some_and(|seen| !seen.ended());
    assert!(alive, "nothing of that was a kill");
    assert_eq!(ask(json!({"id": "last", "type": "kill", "by": "model"})), "\"last\" ok ");
    assert_eq!(end_of(&mut running).await.record.end, End::Killed { by: By::Model });
}

#[tokio::test]
async fn another_user_is_not_heard() {
    if !nix::unistd::geteuid().is_root() {
        eprintln!("only root can become another user: shown when the tests run as root");
        return;
    }
    let bench = Bench::new();
    let mut running = bench.start("echo here; exec sleep 300").await;
    output_holds(&mut running, "here").await;
    // all the way is opened to others: what refuses is the keeper
    for path in [bench.dir.path().to_owned(), bench.record_dir()] {
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    let socket = bench.record_dir().join("socket");
    std::fs::set_permissions(&socket, std::os::unix::fs::PermissionsExt::from_mode(0o666)).unwrap();
    let script = "import os,socket,sys\nos.setuid(65534)\ns=socket.socket(socket.AF_UNIX)\ns.settimeout(20)\n\
                  s.connect(sys.argv[1])\ntry:\n s.sendall(b'{\"id\":1,\"type\":\"hello\",\"version\":3,\"role\":\"visitor\"}\\n{\"id\":2,\"type\":\"kill\",\"by\":\"user\"}\\n')\n \
                  print(len(s.recv(10)))\nexcept (BrokenPipeError, ConnectionResetError):\n print(0)";
    let out =
        tokio::process::Command::new("python3").args(["-c", script]).arg(&socket).output().await.unwrap();
    assert_eq!(String::from_utf8_lossy(&out.stdout), "0\n", "{}", String::from_utf8_lossy(&out.stderr));
    running.kill(By::Model).await;
    assert_eq!(end_of(&mut running).await.record.end, End::Killed { by: By::Model });
}
