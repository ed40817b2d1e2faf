//! The `bash` tool with real commands: what the model reads, how a call ends, what is reported meanwhile.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use windlass::api::entry::{CallStatus, Details};
use windlass::api::job::Starter;
use windlass::api::message::Usage;
use windlass::base::{CallId, Millis};
use windlass::law::access::sight::Sight;
use windlass::law::output::{Keep, OutputLimits, Truncation};
use windlass::process::{child_environment, use_keeper_program};
use windlass::sandbox::Profile;
use windlass::tool::bash::Bash;
use windlass::tool::{Blobs, CallContext, Report, Tool, ToolEnd};

use crate::commands::{LONG, binary, carrying, mark, mode, until};
use crate::jobs_tool::SmallDesk;

/// What was reported.
#[derive(Default)]
pub struct Seen {
    pub progress: Mutex<Vec<(String, u64, u64)>>,
    pub warnings: Mutex<Vec<String>>,
    pub woken: Notify,
}

impl Report for Seen {
    fn output(&self, tail: &str, bytes: u64, lines: u64) {
        self.progress.lock().unwrap().push((tail.to_owned(), bytes, lines));
        self.woken.notify_one();
    }
    fn warn(&self, text: String) {
        self.warnings.lock().unwrap().push(text);
    }
    fn usage(&self, _: Usage) {}
}

struct NoBlobs;

impl Blobs for NoBlobs {
    fn keep(&self, _: &[u8]) -> Result<String, String> {
        Err("no command keeps a blob".to_owned())
    }
    fn load(&self, _: &str) -> Result<Vec<u8>, String> {
        Err("no command loads a blob".to_owned())
    }
}

pub struct Session {
    dir: TempDir,
    pub seen: Arc<Seen>,
    pub context: CallContext,
    bash: Bash,
}

impl Session {
    pub fn new() -> Self {
        use_keeper_program(binary());
        let dir = tempfile::tempdir().unwrap();
        let seen = Arc::new(Seen::default());
        let cwd = dir.path().join("project");
        std::fs::create_dir(&cwd).unwrap();
        let context = CallContext {
            call: CallId::new("c1"),
            cwd,
            held: None,
            allowed: Vec::new(),
            call_dir: dir.path().join("calls/c1"),
            blobs: Arc::new(NoBlobs),
            cancel: CancellationToken::new(),
            report: seen.clone(),
            truncation: Truncation::On(OutputLimits { bytes: 50 * 1024, lines: 2000, keep: Keep::Ends }),
            spool_max: 1 << 30,
            processes_max: 0,
            environment: child_environment(std::env::vars_os(), &[]),
            sight: Sight::default(),
            began: Millis(0),
            budget: Millis(30_000),
            detach: CancellationToken::new(),
            desk: SmallDesk::new(64),
            crew: Arc::new(windlass::tool::crew::Nobody),
            kept: false,
            by: Starter::Model,
            hidden: false,
            after: None,
        };
        Self { dir, seen, context, bash: Bash::new(Profile::Off) }
    }
    pub async fn run(&self, input: serde_json::Value) -> ToolEnd {
        tokio::time::timeout(LONG, self.bash.run(&self.context, &input)).await.expect("it ends")
    }
    pub async fn command(&self, command: &str) -> ToolEnd {
        self.run(json!({"command": command})).await
    }
    pub fn cwd(&self) -> String {
        self.context.cwd.display().to_string()
    }
}

#[tokio::test]
async fn bash_returns_what_was_printed_and_how_it_ended() {
    let session = Session::new();
    let end = session.command("echo hello; echo more >&2").await;
    assert_eq!(end.status, CallStatus::Ok);
    assert_eq!(end.output, "hello\nmore\n");
    assert_eq!((end.kept, end.dropped, end.artifact), (11, 0, None));
    let details = Details::Command {
        end: "exit 0".into(),
        exit_code: Some(0),
        survivors: vec![],
        job: None,
        left: 0,
        told: None,
    };
    assert_eq!(end.details, details);
}

#[tokio::test]
async fn bash_says_every_other_end() {
    let cases = [
        ("true", CallStatus::Ok, "[no output, exit 0]"),
        ("echo a; exit 3", CallStatus::Error, "a\n[exit 3]"),
        ("printf a; false", CallStatus::Error, "a\n[exit 1]"),
        ("kill -9 $$", CallStatus::Error, "[ended by signal SIGKILL]"),
        ("no-such-command-here 2>/dev/null", CallStatus::Error, "[exit 127]"),
    ];
    for (command, status, output) in cases {
        let end = Session::new().command(command).await;
        assert_eq!((end.status, end.output.as_str()), (status, output), "{command}");
    }
    let end = Session::new().run(json!({"command": "echo a; sleep 300", "timeout_ms": 100})).await;
    assert_eq!(end.status, CallStatus::Error);
    assert_eq!(end.output, "a\n[killed after 100 ms: the time limit of this call (timeout_ms)]");
    let details = Details::Command {
        end: "time limit".into(),
        exit_code: None,
        survivors: vec![],
        job: None,
        left: 0,
        told: None,
    };
    assert_eq!(end.details, details);
}

#[tokio::test]
async fn bash_states_the_directory_when_it_was_changed() {
    let session = Session::new();
    let end = session.command("mkdir sub && cd sub && pwd").await;
    let cwd = session.cwd();
    let remark = format!("[ran in {cwd}; the next command starts there again: a cd does not persist]");
    assert_eq!(end.output, format!("{cwd}/sub\n{remark}"));
    assert!(session.dir.path().join("calls/c1/output").exists());
}

#[tokio::test]
async fn bash_cancelled_ends_the_tree_and_keeps_what_came() {
    let session = Session::new();
    let mark = mark();
    let command = json!({"command": format!("echo first; setsid sleep {mark} & sleep {mark}")});
    let run = session.bash.run(&session.context, &command);
    let cancel = async {
        session.seen.woken.notified().await;
        until("both sleep", || carrying(&mark).len() == 2).await;
        session.context.cancel.cancel();
        Instant::now()
    };
    let (end, cancelled_at) = tokio::time::timeout(LONG, async { tokio::join!(run, cancel) }).await.unwrap();
    assert!(cancelled_at.elapsed() < Duration::from_millis(1900), "{:?}", cancelled_at.elapsed());
    assert_eq!(carrying(&mark), Vec::<i32>::new());
    assert_eq!(end.status, CallStatus::Cancelled);
    assert_eq!(end.output, "first\n[stopped by the user]");

    let end = session.command("touch ran").await;
    assert_eq!(end.status, CallStatus::Cancelled);
    assert!(!session.context.cwd.join("ran").exists());
}

#[tokio::test]
async fn bash_past_the_bound_names_the_whole_output() {
    let session = Session::new();
    let end = session.command("seq 1 100000").await;
    let artifact = end.artifact.clone().unwrap();
    assert_eq!(end.status, CallStatus::Ok);
    assert!(end.output.starts_with("1\n2\n"));
    assert!(end.output.ends_with("99999\n100000\n"));
    assert!(end.output.contains(&artifact.display().to_string()));
    assert_eq!(end.kept + end.dropped, 588_895);
    assert_eq!(std::fs::metadata(&artifact).unwrap().len(), 588_895);
    assert_eq!(mode(&artifact), 0o600);
    let progress = session.seen.progress.lock().unwrap();
    assert!(progress.windows(2).all(|two| two[0].1 < two[1].1), "counts only grow");
}

#[tokio::test]
async fn bash_under_off_is_whole() {
    let mut session = Session::new();
    session.context.truncation = Truncation::Off;
    let end = session.command("seq 1 100000").await;
    assert_eq!((end.kept, end.dropped, end.artifact), (588_895, 0, None));
    assert_eq!(end.output.len(), 588_895);
}

#[tokio::test]
async fn bash_shows_plain_text_and_keeps_the_bytes() {
    let session = Session::new();
    let end = session.command("printf '\\033[31mred\\033[0m\\n10%%\\r100%%\\n\\377\\n'").await;
    assert_eq!(end.output, "red\n100%\n\\xFF\n");
    let spool = std::fs::read(session.context.call_dir.join("output")).unwrap();
    assert_eq!(spool, b"\x1b[31mred\x1b[0m\n10%\r100%\n\xff\n");
}

#[tokio::test]
async fn bash_takes_commands_of_any_length() {
    let session = Session::new();
    let long = format!("x='{}'; echo ${{#x}}", "y".repeat(300_000));
    assert_eq!(session.command(&long).await.output, "300000\n");
}

#[tokio::test]
async fn bash_names_what_it_left_and_it_ends_with_the_session() {
    let session = Session::new();
    let mark = mark();
    let end = session.command(&format!("sleep {mark} & echo started")).await;
    assert_eq!(end.status, CallStatus::Ok);
    let pids = carrying(&mark);
    assert_eq!(pids.len(), 1);
    let remark = format!("[left 1 process behind: {} sleep {mark}; it goes on as job j1]", pids[0]);
    assert_eq!(end.output, format!("started\n{remark}"));
    drop(session);
    until("it ends with the session", || carrying(&mark).is_empty()).await;
}

#[tokio::test]
async fn bash_without_its_directory_says_so() {
    let session = Session::new();
    std::fs::remove_dir(&session.context.cwd).unwrap();
    let end = session.command("ls").await;
    assert_eq!(end.status, CallStatus::Error);
    let cwd = session.cwd();
    let expected = format!(
        "the directory {cwd} cannot be used (it is gone): the command was not started. \
         Make it again, or open a session in another directory"
    );
    assert_eq!(end.output, expected);
}

#[tokio::test]
async fn bash_says_when_the_output_limit_ended_it() {
    let mut session = Session::new();
    session.context.spool_max = 100_000;
    let end = session.command("yes").await;
    assert_eq!(end.status, CallStatus::Error);
    assert!(end.output.contains("[killed: it printed more than 100000 bytes"), "{}", end.output);
    assert!(end.kept + end.dropped >= 100_000);
}
