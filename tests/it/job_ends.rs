//! Every way in which a job ends, in one session: its record, the journal and what the model reads say who and why, when,
//! after how long, and what it printed last.
//!
//! Keeps `job_end_names_its_cause`.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use windlass::api::access::Mode;
use windlass::api::command::{Command, JobAsk};
use windlass::api::entry::{EntryBody, TurnStatus};
use windlass::api::job::JobEnd;
use windlass::base::{JobId, Millis};
use windlass::engine::Which;
use windlass::law::job::{By, End};
use windlass::process::Record;
use windlass::process::record::{KeeperRecord, read};
use windlass::provider::scripted::Scripted;

use crate::commands::{LONG, carrying, mark};
use crate::job_lines;
use crate::jobs_tool::{Asked, Listening, OneModel};
use crate::session::{Place, Running, transcript};

/// The way of each job: how its command goes on after its last line, how it ends, and the words of that.
const WAYS: [(&str, End, &str); 9] = [
    ("exit 3", End::Exited { code: 3 }, "exit 3"),
    ("kill -SEGV $$", End::Signalled { signal: 11 }, "signal SIGSEGV"),
    ("MARK", End::Killed { by: By::User }, "stopped by you"),
    ("MARK", End::Killed { by: By::Model }, "killed by the model"),
    ("MARK", End::Killed { by: By::TimeLimit }, "time limit"),
    ("yes last", End::Killed { by: By::OutputLimit }, "output limit"),
    ("for n in {1..40}; do sleep 300 & done; MARK", End::Killed { by: By::ProcessLimit }, "process limit"),
    ("MARK", End::Killed { by: By::ProgramGone }, "the program went"),
    ("MARK", End::Lost, "lost: its keeper is gone without a record"),
];

fn script(marks: &[String]) -> Value {
    let bash = |way: &str, mark: &String, more: Option<u32>| {
        let go_on = way.replace("MARK", &format!("exec sleep {mark}"));
        let mut input = json!({"command": format!("echo last; {go_on}"), "background": true});
        if let Some(ms) = more {
            input["timeout_ms"] = json!(ms);
        }
        json!({"tool": "bash", "input": input})
    };
    let mut turns: Vec<Value> = WAYS
        .iter()
        .zip(marks)
        .map(|((way, end, _), mark)| {
            let limit = (*end == End::Killed { by: By::TimeLimit }).then_some(1500);
            json!({"calls": [bash(way, mark, limit)]})
        })
        .collect();
    turns.extend([
        json!({"calls": [{"tool": "jobs", "input": {"action": "kill", "job": "j4"}}]}),
        json!({"say": "They run."}),
        json!({"say": "I know."}),
        json!({"calls": [bash("MARK", &marks[WAYS.len()], None)]}),
        json!({"say": "One more."}),
    ]);
    json!({"turns": turns})
}

fn ends(session: &mut Running, count: usize) -> BTreeMap<JobId, JobEnd> {
    session.until("the ends", |record| {
        let found: BTreeMap<JobId, JobEnd> = record
            .path
            .iter()
            .filter_map(|entry| match &entry.body {
                EntryBody::JobEnd(end) => Some((end.job, end.clone())),
                _ => None,
            })
            .collect();
        (found.len() == count).then_some(found)
    })
}

fn sleeps(mark: &str) {
    let begin = std::time::Instant::now();
    while carrying(mark).is_empty() {
        assert!(begin.elapsed() < LONG, "it never sleeps");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

/// Its last line is "last", of which a bound of bytes may leave a piece.
fn said_last(last: &str, end: &End) {
    let line = last.lines().next_back().unwrap_or_default();
    let cut = *end == End::Killed { by: By::OutputLimit } && !line.is_empty() && "last".starts_with(line);
    assert!(line == "last" || cut, "{end:?}: {last:?}");
}

fn keeper(dir: &Path) -> Pid {
    let record: KeeperRecord = read(dir, "keeper.json").unwrap().unwrap();
    Pid::from_raw(record.keeper.pid)
}

#[test]
fn job_end_names_its_cause() {
    let place = Place::new();
    let marks: Vec<String> = (0..=WAYS.len()).map(|_| mark()).collect();
    let script = script(&marks).to_string();
    let mut options = place.options(&script, Mode::Auto, Which::New);
    options.limits.spool_max = 1 << 16;
    options.limits.processes_max = 30;
    let asked = Asked::default();
    let script = Arc::new(Scripted::parse("test.json", &script).unwrap());
    options.models = Arc::new(OneModel(Arc::new(Listening { script, asked: asked.clone() })));
    let mut session = Running::try_open(options).unwrap();
    let home = place.dirs().session(&session.id());
    let dir = |job: u32| home.join("jobs").join(format!("j{job}"));
    session.send("start them");
    assert_eq!(session.turn_end(1), TurnStatus::Done, "{}", transcript(&session.path()));
    for job in [3, 8, 9] {
        sleeps(&marks[job - 1]);
    }
    session.command(Command::Job { job: JobId(3), ask: JobAsk::Kill });
    kill(keeper(&dir(8)), Signal::SIGTERM).unwrap();
    kill(keeper(&dir(9)), Signal::SIGKILL).unwrap();
    let told = ends(&mut session, WAYS.len());
    session.send("and now?");
    assert_eq!(session.turn_end(2), TurnStatus::Done, "{}", transcript(&session.path()));
    let heard = format!("{:?}", asked.lock().unwrap().last().unwrap().messages);
    for (job, (_, end, words)) in (1..).zip(WAYS) {
        let outcome = &told[&JobId(job)].outcome;
        assert_eq!(outcome.end, end, "j{job}");
        said_last(&outcome.last, &end);
        assert!(outcome.ended > Millis(0) && outcome.duration < Millis(60_000), "j{job}: {outcome:?}");
        if end == (End::Killed { by: By::TimeLimit }) {
            assert!(outcome.duration >= Millis(1500), "{outcome:?}");
        }
        match read::<Record>(&dir(job), "end.json").unwrap() {
            Some(record) => {
                assert_eq!((&record.end, record.ended), (&end, outcome.ended), "j{job}");
                assert!(record.began <= record.ended, "j{job}");
            }
            None => assert_eq!(end, End::Lost, "j{job}"),
        }
        if end == (End::Killed { by: By::Model }) {
            // the call of `jobs` that killed it told of it
            assert!(heard.contains("ended: killed by the model after "), "{heard}");
            continue;
        }
        let start = format!("[job j{job} (echo last;");
        let of_it = heard.split(&start).nth(1).unwrap_or_else(|| panic!("nothing of j{job} in {heard}"));
        let said = of_it.split("[job ").next().unwrap();
        assert!(said.contains(&format!("ended: {words}")) && said.contains(" after "), "j{job}: {said}");
        assert!(said.contains("its last lines:\\n") && said.contains("last\\n"), "j{job}: {said}");
    }
    rewound(&mut session, &marks[WAYS.len()]);
    session.close();
    let journal = job_lines::ends(&home.join("journal.jsonl"));
    let causes: Vec<(u32, String)> = journal.into_iter().map(|end| (end.job, end.cause)).collect();
    let words = |end: &End| match end {
        End::Exited { .. } => "exited",
        End::Signalled { .. } => "signalled",
        End::Killed { by: By::User } => "user",
        End::Killed { by: By::Model } => "model",
        End::Killed { by: By::Rewind } => "rewind",
        End::Killed { by: By::TimeLimit } => "time_limit",
        End::Killed { by: By::OutputLimit } => "output_limit",
        End::Killed { by: By::ProcessLimit } => "process_limit",
        End::Killed { by: By::ProgramGone } => "program_gone",
        End::Ended => "ended",
        End::Lost => "lost",
    };
    let rewind = End::Killed { by: By::Rewind };
    for (job, end) in (1..).zip(WAYS.iter().map(|(_, end, _)| end).chain([&rewind])) {
        let own: Vec<&str> =
            causes.iter().filter(|(of, _)| *of == job).map(|(_, cause)| cause.as_str()).collect();
        assert_eq!(own, [words(end)], "j{job}");
    }
}

/// One more job, and back to before it.
fn rewound(session: &mut Running, mark: &str) {
    let before = session.path().last().unwrap().id.clone();
    session.send("one more");
    assert_eq!(session.turn_end(3), TurnStatus::Done, "{}", transcript(&session.path()));
    sleeps(mark);
    session.command(Command::Rewind { to: Some(before), restore: false, take_back: None });
    session.until("it has ended", |record| record.jobs.iter().all(|(_, row)| !row.runs()).then_some(()));
    assert!(carrying(mark).is_empty());
}
