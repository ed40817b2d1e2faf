//! Commands under real keepers: law J (and O, for jobs) against the system itself.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use windlass::base::Millis;
use windlass::law::job::{By, End};
use windlass::law::output::{Keep, OutputLimits, Truncation};
use windlass::process::record::{self, KeeperRecord, LeftRecord};
use windlass::process::{News, Record};

use crate::commands::{Bench, binary, carrying, end_of, mark, mode, next, next_word, output_holds, until};

fn exited(code: i32) -> End {
    End::Exited { code }
}

fn killed(by: By) -> End {
    End::Killed { by }
}

#[tokio::test]
async fn a_command_ends_with_its_code_and_its_output() {
    let bench = Bench::new();
    let heard = bench.run("echo out; echo err >&2; exit 3").await;
    assert_eq!(heard.record.end, exited(3));
    assert_eq!(heard.record.exit_code, Some(3));
    assert_eq!(heard.kept.head, b"out\nerr\n");
    assert_eq!((heard.record.bytes, heard.record.lines), (8, 2));
    assert_eq!(bench.spool(), b"out\nerr\n");
    let read: Record = record::read(&bench.record_dir(), "end.json").unwrap().unwrap();
    assert_eq!(read, heard.record);
}

#[tokio::test]
async fn a_signal_that_nobody_of_us_sent_is_the_cause() {
    for (name, number) in [("KILL", 9), ("TERM", 15), ("SEGV", 11), ("RTMIN", 34)] {
        let heard = Bench::new().run(&format!("kill -{name} $$; sleep 300")).await;
        assert_eq!(heard.record.end, End::Signalled { signal: number });
    }
}

#[tokio::test]
async fn the_last_lines_are_there() {
    let bench = Bench::new();
    let heard = bench.run("seq 1 200000").await;
    assert_eq!(heard.record.lines, 200_000);
    let spool = bench.spool();
    assert_eq!(heard.record.bytes, spool.len() as u64);
    assert!(spool.ends_with(b"\n199999\n200000\n"));
    assert_eq!(heard.record.kept + heard.record.dropped, heard.record.bytes);
}

#[tokio::test]
async fn output_of_a_substituted_process_is_not_cut_off() {
    let heard = Bench::new().run("exec > >(sed s/x/y/); seq 1 1000; echo x").await;
    assert!(heard.kept.head.ends_with(b"\n1000\ny\n"));
    assert_eq!(heard.record.left, []);
}

#[tokio::test]
async fn a_flood_is_whole_and_memory_stays_flat() {
    let bench = Bench::new();
    let mut running = bench.start("head -c 100000000 /dev/zero | tr '\\0' '\\n'; echo done; sleep 300").await;
    output_holds(&mut running, "done").await;
    let keeper: KeeperRecord = record::read(&bench.record_dir(), "keeper.json").unwrap().unwrap();
    let status = std::fs::read_to_string(format!("/proc/{}/status", keeper.keeper.pid)).unwrap();
    let rss = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    let kib: u64 = rss.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(kib < 8 * 1024, "the keeper holds {kib} KiB");
    // behind the screen, and the command where it was
    let nice = |pid: &str| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        stat.rsplit_once(") ").unwrap().1.split(' ').nth(16).unwrap().parse::<i32>().unwrap()
    };
    let ours = nice("self");
    assert!(nice(&keeper.keeper.pid.to_string()) > ours || ours == 19, "the keeper did not step back");
    running.kill(By::User).await;
    let heard = end_of(&mut running).await;
    assert_eq!(heard.record.bytes, 100_000_005);
    assert_eq!(heard.record.lines, 100_000_001);
    assert_eq!(std::fs::metadata(bench.record_dir().join("output")).unwrap().len(), 100_000_005);
    assert!(heard.progress.len() < 600, "{} wake-ups", heard.progress.len());
}

#[tokio::test]
async fn bytes_that_are_no_text_stay_bytes() {
    let bench = Bench::new();
    let garbage: Vec<u8> = (0..100_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    std::fs::write(bench.dir.path().join("garbage"), &garbage).unwrap();
    let heard = bench.run("cat garbage").await;
    assert_eq!(bench.spool(), garbage);
    assert_eq!(heard.record.bytes, 100_000);
    assert!(heard.progress.iter().all(|(_, _, tail)| !tail.contains('\x1b')));
}

#[tokio::test]
async fn progress_is_told_at_once_and_bounded() {
    let bench = Bench::new();
    let mut running = bench.start("printf 'one\\ntw'; sleep 300").await;
    // The first word may come between two writes of a busy machine's shell.
    let told = loop {
        let Some(News::Output { bytes, lines, tail }) = next(&mut running).await else { panic!("no output") };
        if bytes >= 6 {
            break (bytes, lines, tail);
        }
    };
    assert_eq!((told.0, told.1, told.2.as_str()), (6, 2, "one\ntw"));
    running.kill(By::Model).await;
    assert_eq!(end_of(&mut running).await.record.end, killed(By::Model));
    let heard = Bench::new().run("seq 1 300000").await;
    assert!(heard.progress.iter().all(|(_, _, tail)| tail.len() <= 4096 * 4));
}

#[tokio::test]
async fn job_output_bounded() {
    for keep in [Keep::Head, Keep::Tail, Keep::Ends] {
        let mut bench = Bench::new();
        bench.truncation = Truncation::On(OutputLimits { bytes: 1000, lines: 20, keep });
        let heard = bench.run("seq 1 5000").await;
        assert!(heard.kept.head.len() + heard.kept.tail.len() <= 1000);
        assert!(heard.kept.lines_kept <= 20);
        assert_eq!(heard.kept.head.is_empty(), keep == Keep::Tail);
        assert_eq!(heard.kept.tail.is_empty(), keep == Keep::Head);
    }
}

#[tokio::test]
async fn job_no_silent_loss() {
    for count in [0, 1, 999, 1000, 1001, 70_000, 2_000_000] {
        let mut bench = Bench::new();
        bench.truncation = Truncation::On(OutputLimits { bytes: 1000, lines: 2000, keep: Keep::Ends });
        let heard = bench.run(&format!("head -c {count} /dev/zero")).await;
        assert_eq!(heard.record.bytes, count);
        assert_eq!(heard.record.kept + heard.record.dropped, count);
        assert_eq!(heard.record.spooled, count);
        assert_eq!(bench.spool().len() as u64, count);
    }
}

#[tokio::test]
async fn job_optout_keeps_all() {
    let mut bench = Bench::new();
    bench.truncation = Truncation::Off;
    let heard = bench.run("seq 1 100000").await;
    assert_eq!(heard.kept.head, bench.spool());
    assert_eq!(heard.kept.dropped, 0);
    assert_eq!(heard.kept.kept, heard.record.bytes);
}

#[tokio::test]
async fn job_cap_drops_only_excess() {
    let mut bench = Bench::new();
    bench.truncation = Truncation::On(OutputLimits { bytes: 8, lines: 4, keep: Keep::Head });
    let heard = bench.run("printf '1\\n2\\n3\\n4\\n'").await;
    assert_eq!((heard.kept.head.as_slice(), heard.record.dropped), (b"1\n2\n3\n4\n".as_slice(), 0));
}

/// How many of the processes that carry the mark are `sleep` itself, not a shell that will start it.
fn sleeping(mark: &str) -> usize {
    let is_sleep = |pid: &i32| {
        std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|comm| comm.trim() == "sleep")
    };
    carrying(mark).iter().filter(|pid| is_sleep(pid)).count()
}

#[tokio::test]
async fn job_kill_reaches_descendants() {
    let mark = mark();
    let scripts = [
        (2, format!("sh -c 'setsid sleep {mark} & sleep {mark}'")),
        (
            4,
            format!(
                "(setsid sh -c 'sleep {mark} & sleep {mark} & wait' &) ; nohup sleep {mark} >/dev/null & sleep {mark}"
            ),
        ),
        (
            3,
            format!(
                "(sleep {mark} &) ; (setsid sleep {mark} </dev/null >/dev/null 2>&1 &) ; exec sleep {mark}"
            ),
        ),
        (1, format!("exec >&- 2>&-; sleep {mark}")),
        (100, format!("for n in $(seq 100); do sleep {mark} & done; wait")),
        (
            2,
            format!(
                "sleep {mark} & until grep -q sleep /proc/$!/comm; do :; done; kill -STOP $!; sleep {mark}"
            ),
        ),
    ];
    for (sleepers, script) in scripts {
        let bench = Bench::new();
        let mut running = bench.start(&script).await;
        until("all of it runs", || sleeping(&mark) == sleepers).await;
        let start = Instant::now();
        running.kill(By::User).await;
        let heard = end_of(&mut running).await;
        let took = start.elapsed();
        assert_eq!(carrying(&mark), Vec::<i32>::new(), "{script}");
        assert_eq!(heard.record.end, killed(By::User), "{script}");
        assert_eq!(heard.record.survivors, [], "{script}");
        assert!(took < Duration::from_millis(1900), "SIGTERM was enough, but it took {took:?}: {script}");
    }
}

#[tokio::test]
async fn a_tree_that_ignores_sigterm_goes_after_the_grace() {
    let mark = mark();
    let bench = Bench::new().grace(200);
    let script = format!(
        "trap '' TERM; setsid sleep {mark} & sleep {mark} & echo ready; while :; do sleep {mark}; done"
    );
    let mut running = bench.start(&script).await;
    output_holds(&mut running, "ready").await;
    let start = Instant::now();
    running.kill(By::User).await;
    let heard = end_of(&mut running).await;
    assert!(start.elapsed() >= Duration::from_millis(200));
    assert!(start.elapsed() < Duration::from_secs(3));
    assert_eq!(carrying(&mark), Vec::<i32>::new());
    assert_eq!(heard.record.end, killed(By::User));
    assert_eq!(heard.record.exit_signal, Some(9));
}

#[tokio::test]
async fn a_tree_that_forks_without_end_is_ended_all_the_same() {
    let mark = mark();
    let bench = Bench::new().grace(100);
    let script = format!("trap '' TERM; echo ready; while :; do (setsid sleep {mark} &) ; sleep 0.002; done");
    let mut running = bench.start(&script).await;
    until("it forks", || carrying(&mark).len() > 10).await;
    running.kill(By::User).await;
    let heard = end_of(&mut running).await;
    assert_eq!(heard.record.survivors, []);
    assert_eq!(carrying(&mark), Vec::<i32>::new());
}

#[tokio::test]
async fn job_kill_keeps_output() {
    let bench = Bench::new();
    let script = "trap 'sleep 0.1; echo cleaned up; exit 7' TERM; echo before; while :; do sleep 0.01; done";
    let mut running = bench.start(script).await;
    output_holds(&mut running, "before").await;
    running.kill(By::User).await;
    let heard = end_of(&mut running).await;
    // the shell itself says `Terminated` of the child that it waited for
    let spool = String::from_utf8(bench.spool()).unwrap();
    assert!(spool.starts_with("before\n") && spool.ends_with("cleaned up\n"), "{spool}");
    assert_eq!(heard.kept.head, spool.as_bytes());
    assert_eq!(heard.record.end, killed(By::User));
    assert_eq!(heard.record.exit_code, Some(7));
}

#[tokio::test]
async fn a_second_kill_changes_nothing() {
    let bench = Bench::new().grace(100);
    let mut running = bench.start("trap '' TERM; echo ready; while :; do sleep 0.01; done").await;
    output_holds(&mut running, "ready").await;
    for by in [By::User, By::Model, By::Rewind] {
        running.kill(by).await;
    }
    assert_eq!(end_of(&mut running).await.record.end, killed(By::User));
    assert_eq!(next(&mut running).await, None);
}

#[tokio::test]
async fn limits_end_a_command_and_are_named() {
    let mut bench = Bench::new();
    bench.limits.time_limit = Some(Millis(50));
    let heard = bench.run("echo a; sleep 300").await;
    assert_eq!(heard.record.end, killed(By::TimeLimit));

    let mut bench = Bench::new();
    bench.limits.spool_max = 10_000;
    let heard = bench.run("yes").await;
    assert_eq!(heard.record.end, killed(By::OutputLimit));
    assert_eq!(heard.record.spooled, 10_000);
    assert_eq!(bench.spool().len(), 10_000);
    assert_eq!(heard.record.kept + heard.record.dropped, heard.record.bytes);

    let mut bench = Bench::new();
    bench.limits = bench.limits.with_processes_max(20);
    let heard = bench.run("for n in {1..20}; do sleep 300 & done; wait").await;
    assert_eq!(heard.record.end, killed(By::ProcessLimit));
    assert_eq!(heard.record.survivors, []);
}

#[tokio::test]
async fn what_outlives_its_command_is_named_and_ends_with_the_program() {
    let mark = mark();
    let bench = Bench::new();
    let mut running = bench
        .start(&format!("echo main; (sleep 0.3; echo late; exec sleep {mark}) & setsid sleep {mark} & "))
        .await;
    let heard = end_of(&mut running).await;
    assert_eq!(heard.record.end, exited(0));
    assert!(heard.record.left.len() >= 2, "{:?}", heard.record.left);
    assert!(heard.record.left.iter().any(|named| named.command == format!("sleep {mark}")));
    assert!(!running.over());
    // what it prints later is not the command's
    let late = bench.record_dir().join("left");
    until("late output", || std::fs::read(&late).is_ok_and(|bytes| bytes == b"late\n")).await;
    assert_eq!(bench.spool(), b"main\n");
    until("both sleep", || carrying(&mark).len() == 2).await;
    drop(running);
    let took = until("they are gone", || carrying(&mark).is_empty()).await;
    assert!(took < Duration::from_secs(3));
    let path = bench.record_dir();
    until("the record", || path.join("left.json").exists()).await;
    let left: LeftRecord = record::read(&path, "left.json").unwrap().unwrap();
    assert_eq!((left.by, left.bytes, left.gone), (Some(By::ProgramGone), 5, 2));
    assert_eq!(record::read::<Record>(&path, "end.json").unwrap().unwrap(), heard.record, "the end is final");
}

#[tokio::test]
async fn what_outlives_its_command_and_ends_by_itself_lets_the_keeper_go() {
    let bench = Bench::new();
    let mut running = bench.start("sleep 0.3 &").await;
    let heard = end_of(&mut running).await;
    assert_eq!(heard.record.left.len(), 1);
    let Some(News::Left(told)) = next_word(&mut running).await else { panic!("nothing of what was left") };
    assert_eq!(told.by, None);
    assert_eq!(next(&mut running).await, None);
    assert!(running.over());
    let left: LeftRecord = record::read(&bench.record_dir(), "left.json").unwrap().unwrap();
    assert_eq!((left.by, left.bytes, left.gone), (None, 0, 0));
    record::forget(&bench.record_dir()).unwrap();
    assert!(!bench.record_dir().exists());
}

#[tokio::test]
async fn a_command_reaches_no_terminal_and_leads_its_session() {
    let bench = Bench::new();
    let script = "cat; if (: </dev/tty) 2>/dev/null; then echo terminal; else echo none; fi; \
                  read -ra stat </proc/$$/stat; echo ${stat[4]} ${stat[5]} $$; echo $TERM $PAGER; kill 0; sleep 300";
    let heard = bench.run(script).await;
    let text = String::from_utf8(heard.kept.head).unwrap();
    let pid = heard.record.process.pid;
    assert_eq!(text, format!("none\n{pid} {pid} {pid}\ndumb cat\n"));
    assert_eq!(heard.record.end, End::Signalled { signal: 15 });
}

#[tokio::test]
async fn a_keeper_has_no_environment_and_the_command_only_what_crosses() {
    let bench = Bench::new();
    let heard = bench.run("tr '\\0' '\\n' </proc/$PPID/environ; echo; cat /proc/$PPID/comm").await;
    assert_eq!(String::from_utf8(heard.kept.head).unwrap(), "\nwindlass-keeper\n");
}

#[tokio::test]
async fn private_on_create_holds_for_a_commands_directory() {
    let bench = Bench::new();
    let mut running = bench.start("umask 0; echo ready; echo x >theirs; sleep 300").await;
    output_holds(&mut running, "ready").await;
    let dir = bench.record_dir();
    assert_eq!(mode(&dir), 0o700);
    for name in ["output", "keeper.json"] {
        assert_eq!(mode(&dir.join(name)), 0o600, "{name}");
    }
    running.kill(By::User).await;
    end_of(&mut running).await;
    assert_eq!(mode(&dir.join("end.json")), 0o600);
}

#[tokio::test]
async fn what_cannot_start_says_why() {
    let bench = Bench::new();
    let root = bench.dir.path().display().to_string();
    let error = bench.try_start(&["/no/such/program"]).await.unwrap_err();
    let expected = format!("cannot start /no/such/program in {root}: No such file or directory (os error 2)");
    assert_eq!(error.to_string(), expected);

    let bench = Bench::new();
    std::fs::write(bench.record_dir(), "in the way").unwrap();
    let error = bench.try_start(&["true"]).await.unwrap_err();
    assert!(error.to_string().starts_with("cannot make "), "{error}");
}

#[tokio::test]
async fn a_keeper_that_is_killed_is_told_as_lost_with_what_was_spooled() {
    let mark = mark();
    let bench = Bench::new();
    let mut running = bench.start(&format!("echo before; sleep {mark}")).await;
    output_holds(&mut running, "before").await;
    let keeper: KeeperRecord = record::read(&bench.record_dir(), "keeper.json").unwrap().unwrap();
    kill(Pid::from_raw(keeper.keeper.pid), Signal::SIGKILL).unwrap();
    let heard = end_of(&mut running).await;
    assert_eq!(heard.record.end, End::Lost);
    assert_eq!(heard.kept.head, b"before\n");
    // its direct child dies with it
    let shell = heard.record.process.pid;
    until("the shell is gone", || {
        windlass::process::tree::seen(shell)
            .is_none_or(|seen| seen.id != heard.record.process || seen.ended())
    })
    .await;
    assert_eq!(carrying(&mark), Vec::<i32>::new(), "and so does what it started");
}

#[tokio::test]
async fn a_command_that_kills_its_keeper_does_not_escape() {
    let mark = mark();
    let bench = Bench::new();
    let script = format!(
        "(setsid bash -c 'trap \"\" TERM HUP; while :; do sleep {mark}; done' &); \
         (setsid bash -c 'env -i sleep {mark}; true' &); sleep 0.3; kill -9 $PPID; sleep 300"
    );
    let heard = bench.run(&script).await;
    assert_eq!(heard.record.end, End::Lost);
    assert_eq!(heard.record.survivors, []);
    assert_eq!(carrying(&mark), Vec::<i32>::new());
}

#[tokio::test]
async fn what_lives_on_without_program_and_keeper_ends_when_the_session_is_opened_again() {
    let mark = mark();
    let bench = Bench::new();
    let dir = bench.record_dir();
    let mut running = bench.start(&format!("setsid sleep {mark} & echo ready; sleep 300")).await;
    output_holds(&mut running, "ready").await;
    until("it sleeps", || carrying(&mark).len() == 1).await;
    windlass::process::end_left_over(&dir);
    assert_eq!(carrying(&mark).len(), 1, "a keeper that lives is left its work");
    let keeper: KeeperRecord = record::read(&dir, "keeper.json").unwrap().unwrap();
    // it is not heard of again, as when the program dies
    std::mem::forget(running);
    kill(Pid::from_raw(keeper.keeper.pid), Signal::SIGKILL).unwrap();
    until("the keeper is gone", || {
        windlass::process::tree::seen(keeper.keeper.pid).is_none_or(|seen| seen.ended())
    })
    .await;
    windlass::process::end_left_over(&dir);
    assert_eq!(carrying(&mark), Vec::<i32>::new());
}

#[tokio::test]
async fn what_outlived_its_command_ends_even_when_its_keeper_is_killed() {
    let mark = mark();
    let bench = Bench::new();
    let mut running = bench.start(&format!("setsid sleep {mark} & sleep 0.3")).await;
    assert_eq!(end_of(&mut running).await.record.left.len(), 1);
    let keeper: KeeperRecord = record::read(&bench.record_dir(), "keeper.json").unwrap().unwrap();
    kill(Pid::from_raw(keeper.keeper.pid), Signal::SIGKILL).unwrap();
    until("the keeper's end is seen", || running.over()).await;
    assert_eq!(carrying(&mark), Vec::<i32>::new());
}

#[tokio::test]
async fn a_keeper_that_is_asked_to_end_ends_its_tree_first() {
    let mark = mark();
    let bench = Bench::new();
    let mut running = bench.start(&format!("setsid sleep {mark} & echo ready; sleep {mark}")).await;
    output_holds(&mut running, "ready").await;
    let keeper: KeeperRecord = record::read(&bench.record_dir(), "keeper.json").unwrap().unwrap();
    kill(Pid::from_raw(keeper.keeper.pid), Signal::SIGTERM).unwrap();
    assert_eq!(end_of(&mut running).await.record.end, killed(By::ProgramGone));
    assert_eq!(carrying(&mark), Vec::<i32>::new());
}

/// The other side of the test below: a program with a running command, until it is killed.
#[tokio::test]
async fn the_program_of_the_test_below() {
    let Some(dir) = std::env::var_os("WINDLASS_TEST_PROGRAM_DIR") else { return };
    let mut bench = Bench::new();
    bench.dir = tempfile::Builder::new().disable_cleanup(true).tempdir_in(dir).unwrap();
    let script = std::env::var("WINDLASS_TEST_PROGRAM_SCRIPT").unwrap();
    let mut running = bench.start(&script).await;
    while running.next().await.is_some() {}
}

/// A process that is killed with SIGKILL when it is dropped, also by a test that fails.
struct Killed(std::process::Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a script under a program in a process of its own, kills the program with SIGKILL once the output
/// holds `ready`; the directory of the command's record, and when it was killed.
async fn kill_the_program(root: &std::path::Path, script: &str) -> (std::path::PathBuf, Instant) {
    let program = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "keeper::the_program_of_the_test_below", "--nocapture"])
        .env("WINDLASS_TEST_PROGRAM_DIR", root)
        .env("WINDLASS_TEST_PROGRAM_SCRIPT", script)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let program = Killed(program);
    let mut dir = None;
    until("the command is ready", || {
        dir = std::fs::read_dir(root).unwrap().flatten().map(|entry| entry.path().join("call")).next();
        dir.as_ref().is_some_and(|dir| {
            std::fs::read(dir.join("output")).is_ok_and(|bytes| bytes.windows(6).any(|w| w == b"ready\n"))
        })
    })
    .await;
    let killed_at = Instant::now();
    drop(program);
    (dir.unwrap(), killed_at)
}

#[tokio::test]
async fn job_dies_with_program_unless_kept() {
    let mark = mark();
    let scripts = [
        format!("setsid sleep {mark} & (sleep {mark} &); echo ready; sleep {mark}"),
        format!("trap '' TERM; setsid sleep {mark} & echo ready; while :; do sleep {mark}; done"),
    ];
    for script in scripts {
        let root = tempfile::tempdir().unwrap();
        let (dir, killed_at) = kill_the_program(root.path(), &script).await;
        until("nothing is left", || carrying(&mark).is_empty()).await;
        assert!(killed_at.elapsed() < Duration::from_secs(3), "{:?}", killed_at.elapsed());
        until("the end is recorded", || dir.join("end.json").exists()).await;
        let record: Record = record::read(&dir, "end.json").unwrap().unwrap();
        assert_eq!(record.end, killed(By::ProgramGone));
        assert_eq!(record.survivors, []);
    }
}

#[tokio::test]
async fn output_artifact_is_whole() {
    // past the bound, and the program is killed while the command prints
    let root = tempfile::tempdir().unwrap();
    let script =
        "trap 'echo last; exit' TERM; echo ready; seq 1 100000; while :; do echo more; sleep 0.01; done";
    let (dir, _) = kill_the_program(root.path(), script).await;
    until("the end is recorded", || dir.join("end.json").exists()).await;
    let record: Record = record::read(&dir, "end.json").unwrap().unwrap();
    let spool = std::fs::read(dir.join("output")).unwrap();
    assert_eq!(record.end, killed(By::ProgramGone));
    assert_eq!(record.exit_code, Some(0));
    assert_eq!(record.bytes, spool.len() as u64);
    assert_eq!(record.kept + record.dropped, record.bytes);
    let text = String::from_utf8(spool).unwrap();
    let numbers: Vec<&str> = text.lines().filter(|line| line.parse::<u32>().is_ok()).collect();
    assert!(numbers.iter().zip(1..).all(|(line, n)| line.parse() == Ok(n)), "a line is missing");
    assert!(text.ends_with("last\n"));
}

#[test]
fn a_normal_start_is_no_keeper_and_a_keeper_needs_its_program() {
    let output = Command::new(binary()).arg("__keeper").stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
}

#[tokio::test]
async fn a_keeper_that_is_done_is_reaped() {
    let bench = Bench::new();
    let mut running = bench.start("true").await;
    end_of(&mut running).await;
    let keeper: KeeperRecord = record::read(&bench.record_dir(), "keeper.json").unwrap().unwrap();
    drop(running);
    let pid = keeper.keeper.pid;
    until("it is reaped", || windlass::process::tree::seen(pid).is_none_or(|seen| seen.id != keeper.keeper))
        .await;
}
