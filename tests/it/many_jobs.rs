//! A session in which thousands of jobs began and ended: what it costs grows as they do, and no faster.
//!
//! The records are written as the engine writes them, without the commands: the journal, the opening, the list and the
//! conversation are the real ones. Ten times as many may take ten times as long, and as much again for a machine that
//! does other things too. The long run (`tests/run --long`) goes to 10 000.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use windlass::api::access::Mode;
use windlass::api::command::{Command, Query};
use windlass::api::entry::{CallSettle, CallStart, CallStatus, Details, Entry, EntryBody};
use windlass::api::event::Event;
use windlass::api::job::{JobEnd, JobNode, JobOutcome, JobRow, JobState, Starter};
use windlass::base::{CallId, EntryId, JobId, Millis, SessionId};
use windlass::engine::Which;
use windlass::front::jobs::seen;
use windlass::law::batch::{Batch, Node};
use windlass::law::board::Board;
use windlass::law::job::End;
use windlass::law::jobs::{ENDED_MAX, Ended, Jobs};
use windlass::process::record::{
    KeeperRecord, ProcessId, RECORD_VERSION, Record as CommandRecord, write_whole,
};
use windlass::store::{Durability, Session, codec, now};

use crate::screen::{Screen, record};
use crate::session::Place;

/// How much longer ten times as many may take.
const RATIO_MAX: u32 = 25;
/// Times below this are noise.
const NOISE: Duration = Duration::from_millis(20);

fn node(job: u32, call: &CallId, after: Option<EntryId>) -> JobNode {
    JobNode {
        id: JobId(job),
        call: call.clone(),
        command: format!("make part-{job}"),
        cwd: "/p".into(),
        by: Starter::Model,
        hidden: false,
        terminal: false,
        after,
        began: Millis(1),
    }
}

fn outcome(job: u32) -> JobOutcome {
    JobOutcome {
        end: End::Exited { code: (job % 3) as i32 },
        exit_code: Some((job % 3) as i32),
        exit_signal: None,
        ended: Millis(u64::from(job) + 2),
        duration: Millis(900),
        bytes: 120,
        lines: 3,
        last: format!("part {job}\ndone\n"),
        gone: 0,
        survivors: Vec::new(),
        trouble: None,
    }
}

/// What stands in the journal of one job: its call's start and settle, and its end.
fn bodies(session: &mut Session, job: u32) -> [EntryBody; 3] {
    let call = session.mint_call();
    let spool = session.call_dir(&call).join("output");
    let start = CallStart {
        call: call.clone(),
        wire_id: "t".into(),
        tool: "bash".into(),
        input: serde_json::json!({"command": format!("make part-{job}"), "background": true}),
        spool: Some(spool.clone()),
    };
    let details = Details::Command {
        end: "detached".into(),
        exit_code: None,
        survivors: Vec::new(),
        job: Some(JobId(job)),
        left: 0,
        told: None,
    };
    let settle = CallSettle {
        artifact: Some(spool),
        details,
        duration: Millis(12),
        ..CallSettle::new(call.clone(), CallStatus::Detached, "started")
    };
    let command = format!("make part-{job}");
    let end = JobEnd { job: JobId(job), call, command, hidden: false, left: false, outcome: outcome(job) };
    [EntryBody::CallStart(start), EntryBody::CallSettle(settle), EntryBody::JobEnd(end)]
}

/// What stands in a job's directory.
fn records(dir: &Path, job: u32, node: &JobNode) {
    let (process, ended) = (ProcessId { pid: 7, start: 7 }, outcome(job));
    let keeper = KeeperRecord {
        version: RECORD_VERSION,
        keeper: process.clone(),
        boot: "of another day".into(),
        began: node.began,
        kept: false,
        group: None,
        no_group: None,
    };
    let record = CommandRecord {
        version: RECORD_VERSION,
        end: ended.end,
        exit_code: ended.exit_code,
        exit_signal: None,
        process,
        began: node.began,
        ended: ended.ended,
        bytes: ended.bytes,
        lines: ended.lines,
        spooled: ended.bytes,
        kept: ended.bytes,
        dropped: 0,
        gone: 0,
        survivors: Vec::new(),
        left: Vec::new(),
        trouble: None,
    };
    write_whole(dir, "keeper.json", &keeper).unwrap();
    write_whole(dir, "job.json", node).unwrap();
    write_whole(dir, "end.json", &record).unwrap();
}

/// Writes a session in which so many jobs began and ended, each in a batch of nodes of its own.
fn written(place: &Place, jobs: u32) -> (SessionId, Vec<Arc<Entry>>) {
    let mut session = Session::create(&place.dirs(), &place.cwd()).unwrap();
    session.begin().unwrap();
    let mut path: Vec<Arc<Entry>> = Vec::new();
    let mut batch = Batch::default();
    for job in 1..=jobs {
        for body in bodies(&mut session, job) {
            let parent = path.last().map(|entry| entry.id.clone());
            let ends = matches!(body, EntryBody::JobEnd(_));
            let entry = Entry { id: session.mint_entry(), parent: parent.clone(), at: now(), body };
            session.commit(&entry, Durability::Buffered).unwrap();
            if let EntryBody::CallStart(start) = &entry.body {
                let node = node(job, &start.call, parent);
                let dir = session.call_dir(&start.call);
                std::fs::create_dir_all(&dir).unwrap();
                std::fs::create_dir_all(session.jobs_dir()).unwrap();
                let link = session.jobs_dir().join(format!("j{job}"));
                std::os::unix::fs::symlink(format!("../calls/{}", start.call), link).unwrap();
                records(&dir, job, &node);
                batch.add(Node::Began(JobId(job), node));
            } else if ends {
                batch.add(Node::Over(JobId(job)));
            }
            let write = batch.take();
            if let Some(write) = &write {
                let line = |node: &Node<JobId, JobNode>| match node {
                    Node::Began(_, node) => codec::encode_job(node).unwrap(),
                    Node::Over(job) => codec::encode_job_over(*job).unwrap(),
                };
                session.put_jobs(&write.nodes.iter().map(line).collect::<Vec<_>>()).unwrap();
                batch.wrote(true);
            }
            path.push(Arc::new(entry));
        }
    }
    (session.id().clone(), path)
}

/// Opens it and asks something: the time to the answer.
fn opened(place: &Place, id: &SessionId, entries: usize) -> Duration {
    let began = Instant::now();
    let mut open = place.open(r#"{"turns": []}"#, Mode::Auto, Which::Id(id.clone()));
    open.command(Command::Ask { number: 1, query: Query::Prompts });
    while !open.events.iter().any(|event| matches!(event, Event::Answered { .. })) {
        let mut looked = false;
        open.until("an answer", |_| std::mem::replace(&mut looked, true).then_some(()));
    }
    let took = began.elapsed();
    assert!(open.path().len() >= entries);
    // of those that ended the newest are listed again
    let shown =
        open.until("the jobs", |record| Some(record.jobs.iter().map(|(job, _)| *job).collect::<Vec<_>>()));
    let newest = (entries / 3).saturating_sub(ENDED_MAX) as u32 + 1..=entries as u32 / 3;
    assert_eq!(shown, newest.map(JobId).collect::<Vec<_>>());
    open.close();
    took
}

/// The list of a session's jobs, and the board that the screen reads, while so many begin and end.
fn listed(jobs: u32) -> Duration {
    let began = Instant::now();
    let (mut list, mut board) = (Jobs::new(0, 64), Board::<JobId, JobRow>::default());
    for _ in 0..jobs {
        let job = list.mint();
        list.began(job, None);
        let row = JobRow {
            node: node(job.0, &CallId::new("c1"), None),
            pid: 7,
            state: JobState::Running,
            kept: false,
            bytes: 0,
            lines: 0,
            tail: String::new(),
            waiting: false,
            stopped: false,
            screen: None,
            spool: "/s/output".into(),
        };
        board.begin(job, row);
        board.report(&job, |row| row.state = JobState::Ended(Arc::new(outcome(job.0))));
        if let Ended::Listed { dismissed: Some(old) } = list.ended(job) {
            board.end(&old);
        }
    }
    assert!(board.iter().count() <= 300);
    began.elapsed()
}

/// The same list from another terminal, with no program there.
fn seen(place: &Place, id: &SessionId, jobs: u32) -> Duration {
    let began = Instant::now();
    let seen = seen::all(&place.dirs().session(id));
    assert_eq!(seen.len(), ENDED_MAX.min(jobs as usize));
    assert_eq!(seen.last().map(|seen| seen.row.node.id), Some(JobId(jobs)));
    began.elapsed()
}

/// The screen, told of each entry as it comes.
fn shown(path: &[Arc<Entry>]) -> Duration {
    let mut screen = Screen::new(100, 30, record::empty());
    let began = Instant::now();
    for (number, entry) in path.iter().enumerate() {
        screen.change(|record| record::push(record, entry.body.clone()));
        screen.model.sync(&screen.record);
        if number % 30 == 0 {
            screen.draw();
        }
    }
    screen.draw();
    began.elapsed()
}

#[test]
fn ten_times_as_many_jobs_cost_ten_times_as_much() {
    let few = if std::env::var_os("WINDLASS_LONG").is_some() { 1_000 } else { 60 };
    let measure = |jobs: u32| {
        let place = Place::new();
        let began = Instant::now();
        let (id, path) = written(&place, jobs);
        let write = began.elapsed();
        // opened twice: the second time nothing is new
        let open = (0..2).map(|_| opened(&place, &id, path.len())).max().unwrap();
        [
            ("writing", write),
            ("opening", open),
            ("listing", listed(jobs)),
            ("listing from outside", seen(&place, &id, jobs)),
            ("showing", shown(&path)),
        ]
    };
    let (small, large) = (measure(few), measure(10 * few));
    for ((what, small), (_, large)) in small.into_iter().zip(large) {
        eprintln!("{what}: {few} jobs {small:?}, {} jobs {large:?}", 10 * few);
        assert!(large <= small.max(NOISE) * RATIO_MAX, "{what}: {small:?} became {large:?}");
    }
}
