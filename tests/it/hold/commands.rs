//! A held command is its keeper's own child: what holds for commands holds for it.

use std::sync::Arc;
use std::time::Duration;

use windlass::api::screen::Screen;
use windlass::law::job::{By, End};
use windlass::process::{News, Running};

use super::Place;
use crate::commands::{Heard, carrying, end_of, mark, next, output_holds, until};

fn exited(code: i32) -> End {
    End::Exited { code }
}

fn said(heard: &Heard) -> String {
    String::from_utf8(heard.kept.head.clone()).unwrap()
}

#[tokio::test]
async fn a_held_command_finds_its_copy_in_its_parents_place() {
    let place = Place::new(&[("a", "1"), ("d/b", "2")]);
    let bench = place.bench().await;
    let parent = place.parent.display();
    let heard = bench.run(&format!("pwd; cat a {parent}/d/b; echo 3 >{parent}/c; echo 4 >d/b; rm a")).await;
    assert_eq!((said(&heard), heard.record.end), (format!("{parent}\n12"), exited(0)));
    assert_eq!((place.copied("c"), place.copied("d/b")), ("3\n".into(), "4\n".into()));
    assert!(!place.room.copy().join("a").exists());
    assert!(place.parent.join("a").exists() && !place.parent.join("c").exists());
}

#[tokio::test]
async fn a_held_command_has_no_rights_of_its_own_and_is_the_same_person() {
    let place = Place::new(&[("a", "1")]);
    let heard = place
        .bench()
        .await
        .run("id -u; grep -E '^(Cap(Prm|Eff|Bnd|Amb)|NoNewPrivs)' /proc/self/status")
        .await;
    let none = "0000000000000000";
    let uid = rustix::process::geteuid().as_raw();
    let wanted = format!(
        "{uid}\nCapPrm:\t{none}\nCapEff:\t{none}\nCapBnd:\t{none}\nCapAmb:\t{none}\nNoNewPrivs:\t1\n"
    );
    assert_eq!(said(&heard), wanted);
}

#[tokio::test]
async fn a_held_command_ends_with_its_own_code_or_signal() {
    let place = Place::new(&[("a", "1")]);
    let bench = place.bench().await;
    assert_eq!(bench.run("exit 143").await.record.end, exited(143));
    let bench = place.bench().await;
    assert_eq!(bench.run("kill -TERM $$").await.record.end, End::Signalled { signal: 15 });
    // and a signal comes to it
    let bench = place.bench().await;
    let mut running =
        bench.start("trap 'echo heard; exit 5' USR1; echo ready; while :; do sleep 0.02; done").await;
    output_holds(&mut running, "ready").await;
    running.signal(10).await;
    let heard = end_of(&mut running).await;
    assert!(said(&heard).ends_with("heard\n"), "{}", said(&heard));
    assert_eq!(heard.record.end, exited(5));
}

#[tokio::test]
async fn what_a_held_command_leaves_behind_goes_on_and_is_ended_with_the_rest() {
    let (place, mark) = (Place::new(&[("a", "1")]), mark());
    let bench = place.bench().await;
    let mut running =
        bench.start(&format!("(setsid sleep {mark} &); nohup sleep {mark} >/dev/null & echo main")).await;
    let heard = end_of(&mut running).await;
    assert_eq!(heard.record.end, exited(0));
    let left: Vec<&str> = heard.record.left.iter().map(|named| named.command.as_str()).collect();
    assert_eq!(left.len(), 2, "nothing of the hold itself is named: {left:?}");
    until("both sleep", || carrying(&mark).len() == 2).await;
    // the next one of the same agent finds them, and may end one
    let ender = place.bench().await;
    let pid = carrying(&mark)[0];
    assert_eq!(ender.run(&format!("kill {pid}")).await.record.end, exited(0));
    until("one is gone", || carrying(&mark).len() == 1).await;
    drop(running);
    let took = until("the other is gone", || carrying(&mark).is_empty()).await;
    assert!(took < Duration::from_secs(3));
}

#[tokio::test]
async fn a_held_tree_that_hears_nothing_is_ended_whole() {
    let (place, mark) = (Place::new(&[("a", "1")]), mark());
    let bench = place.bench().await.grace(100);
    let deaf = format!(
        "trap '' TERM HUP INT; (setsid bash -c \"trap '' TERM; sleep {mark}; sleep {mark}\" &); echo up; sleep {mark}; sleep 300"
    );
    let mut running = bench.start(&deaf).await;
    output_holds(&mut running, "up").await;
    until("both sleep", || carrying(&mark).len() >= 2).await;
    running.kill(By::User).await;
    let heard = end_of(&mut running).await;
    assert_eq!((heard.record.end, heard.record.survivors.len()), (End::Killed { by: By::User }, 0));
    assert_eq!(carrying(&mark), Vec::<i32>::new());
}

#[tokio::test]
async fn the_processes_of_a_held_command_are_counted_as_they_are() {
    let place = Place::new(&[("a", "1")]);
    for (sleepers, end) in [(18, exited(0)), (20, End::Killed { by: By::ProcessLimit })] {
        let mut bench = place.bench().await;
        bench.limits = bench.limits.with_processes_max(20);
        let script = format!("for n in $(seq {sleepers}); do sleep 1 & done; wait");
        assert_eq!(bench.run(&script).await.record.end, end, "{sleepers}");
    }
}

#[tokio::test]
async fn a_held_command_that_is_kept_goes_on_without_the_program() {
    let (place, mark) = (Place::new(&[("a", "1")]), mark());
    let bench = place.bench().await;
    let mut running = bench.start(&format!("echo up; sleep {mark}")).await;
    output_holds(&mut running, "up").await;
    running.keep(true).await;
    while !matches!(next(&mut running).await, Some(News::Kept(true))) {}
    drop(running);
    // the hold's own descriptors go too: nothing but the command holds it
    drop(bench.held);
    tokio::time::sleep(Duration::from_millis(300)).await;
    let pids = carrying(&mark);
    assert_eq!(pids.len(), 1, "it goes on");
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(pids[0]), nix::sys::signal::Signal::SIGKILL).unwrap();
    until("the keeper is gone", || bench.dir.path().join("call/end.json").exists()).await;
}

/// Waits for a picture.
async fn picture(running: &mut Running, what: &str, holds: impl Fn(&str) -> bool) {
    let text = |screen: &Arc<Screen>| -> String {
        screen
            .lines
            .iter()
            .map(|line| line.iter().map(|run| run.text.as_str()).collect::<String>() + "\n")
            .collect()
    };
    loop {
        match next(running).await {
            Some(News::Screen(screen)) if holds(&text(&screen)) => return,
            Some(News::Ended { record, .. }) => panic!("ended before {what}: {record:?}"),
            Some(_) => {}
            None => panic!("the keeper is gone"),
        }
    }
}

#[tokio::test]
async fn a_held_terminal_is_the_commands_own() {
    let place = Place::new(&[("a", "1")]);
    let bench = place.bench().await.terminal(24, 80);
    let mut running = bench.start("exec python3 -q -i").await;
    running.watch(true).await;
    picture(&mut running, "the prompt", |text| text.contains(">>>")).await;
    running.input(b"import os; open('made','w').write(os.ttyname(0))\n".to_vec()).await;
    picture(&mut running, "the answer", |text| {
        text.lines().any(|line| line.trim() == "10" || line.trim() == "11")
    })
    .await;
    // Ctrl-C is for what is in front
    running.input(b"\x03".to_vec()).await;
    picture(&mut running, "the interrupt", |text| text.contains("KeyboardInterrupt")).await;
    running.input(b"exit(3)\n".to_vec()).await;
    assert_eq!(end_of(&mut running).await.record.end, exited(3));
    assert!(place.copied("made").starts_with("/dev/pts/"));
}

#[tokio::test]
async fn a_held_editor_works_on_the_copy() {
    let place = Place::new(&[("a", "one\n")]);
    let bench = place.bench().await.terminal(24, 80);
    let mut running = bench.start("exec vim -u NONE -n a || exec vi a").await;
    running.watch(true).await;
    picture(&mut running, "the file", |text| text.contains("one")).await;
    running.input(b"otwo\x1b:wq\r".to_vec()).await;
    assert_eq!(end_of(&mut running).await.record.end, exited(0));
    assert_eq!(place.copied("a"), "one\ntwo\n");
    assert_eq!(std::fs::read_to_string(place.parent.join("a")).unwrap(), "one\n");
}
