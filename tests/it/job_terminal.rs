//! Commands with a terminal of their own: real programs that ask for one.

use std::sync::Arc;

use windlass::api::screen::{Screen, Size};
use windlass::law::job::{By, End};
use windlass::process::{News, Running};

use crate::commands::{Bench, end_of, next, output_holds};

fn text(screen: &Screen) -> String {
    let line = |line: &Arc<Vec<_>>| -> String {
        line.iter().map(|run: &windlass::api::screen::Run| run.text.as_str()).collect()
    };
    screen.lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Waits for a picture.
async fn picture(running: &mut Running, what: &str, holds: impl Fn(&Screen) -> bool) -> Arc<Screen> {
    let mut last = String::new();
    loop {
        match next(running).await {
            Some(News::Screen(screen)) if holds(&screen) => return screen,
            Some(News::Screen(screen)) => last = text(&screen),
            Some(News::Ended { record, .. }) => panic!("ended before {what}: {record:?}\n{last}"),
            Some(_) => {}
            None => panic!("gone before {what}"),
        }
    }
}

/// Waits until it seems to wait, or no longer.
async fn waits(running: &mut Running, wanted: bool) {
    loop {
        match next(running).await {
            Some(News::Waiting(on)) if on == wanted => return,
            Some(News::Ended { record, .. }) => panic!("ended: {record:?}"),
            Some(_) => {}
            None => panic!("gone"),
        }
    }
}

#[tokio::test]
async fn a_command_has_a_terminal_of_its_own_of_the_size_that_it_is_given() {
    let bench = Bench::new().terminal(7, 33);
    let mut running = bench.start("tty; stty size; echo $TERM; trap 'stty size; exit 4' WINCH; echo ready; while :; do sleep 0.05; done").await;
    output_holds(&mut running, "ready").await;
    running.resize(Size { rows: 9, cols: 21 }).await;
    let heard = end_of(&mut running).await;
    assert_eq!(heard.record.end, End::Exited { code: 4 });
    let spool = String::from_utf8(bench.spool()).unwrap();
    assert!(spool.starts_with("/dev/pts/"), "{spool}");
    assert!(
        spool.contains("7 33") && spool.contains("xterm-256color") && spool.ends_with("9 21\r\n"),
        "{spool}"
    );
}

#[tokio::test]
async fn python_is_spoken_with() {
    let bench = Bench::new().terminal(24, 80);
    let mut running = bench.start("exec python3 -q -i").await;
    running.watch(true).await;
    picture(&mut running, "the prompt", |screen| text(screen).contains(">>>")).await;
    waits(&mut running, true).await;
    running.input(b"6*7\n".to_vec()).await;
    let screen = picture(&mut running, "the answer", |screen| text(screen).contains("42")).await;
    assert!(screen.cursor.is_some());
    running.input(b"exit(3)\n".to_vec()).await;
    assert_eq!(end_of(&mut running).await.record.end, End::Exited { code: 3 });
}

#[tokio::test]
async fn what_is_typed_while_echo_is_off_is_nowhere() {
    let bench = Bench::new().terminal(24, 80);
    let mut running =
        bench.start("read -r -s -p 'Password: ' word; echo; echo \"it has ${#word} letters\"").await;
    output_holds(&mut running, "Password:").await;
    waits(&mut running, true).await;
    running.input(b"hunter2-secret\n".to_vec()).await;
    assert_eq!(end_of(&mut running).await.record.end, End::Exited { code: 0 });
    for entry in std::fs::read_dir(bench.record_dir()).unwrap().flatten() {
        let Ok(bytes) = std::fs::read(entry.path()) else { continue };
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("hunter2"), "{} holds what was typed", entry.path().display());
    }
    assert!(String::from_utf8(bench.spool()).unwrap().contains("it has 14 letters"));
}

#[tokio::test]
async fn a_pager_and_its_alternate_screen_are_shown() {
    let bench = Bench::new().terminal(10, 40);
    let mut running = bench.start("seq 1 1000 | exec less").await;
    running.watch(true).await;
    let screen = picture(&mut running, "the first page", |screen| text(screen).starts_with("1\n2\n3")).await;
    assert!(screen.alternate);
    waits(&mut running, true).await;
    running.input(b"G".to_vec()).await;
    picture(&mut running, "the last page", |screen| text(screen).contains("\n1000\n")).await;
    running.input(b"q".to_vec()).await;
    assert_eq!(end_of(&mut running).await.record.end, End::Exited { code: 0 });
}

#[tokio::test]
async fn a_flood_is_shown_at_most_so_often_and_is_spooled_whole() {
    let bench = Bench::new().terminal(24, 80);
    let mut running = bench.start("seq 1 300000; echo the end").await;
    running.watch(true).await;
    let mut pictures = 0;
    let started = std::time::Instant::now();
    let record = loop {
        match next(&mut running).await {
            Some(News::Screen(_)) => pictures += 1,
            Some(News::Ended { record, .. }) => break record,
            Some(_) => {}
            None => panic!("gone"),
        }
    };
    let allowed = 5 + started.elapsed().as_millis() / 30;
    assert!(pictures <= allowed, "{pictures} pictures, at most {allowed}");
    assert_eq!(record.end, End::Exited { code: 0 });
    let spool = bench.spool();
    assert_eq!(spool.len() as u64, record.bytes);
    assert!(spool.ends_with(b"300000\r\nthe end\r\n"));
}

#[tokio::test]
async fn one_that_sleeps_does_not_seem_to_wait_and_is_killed() {
    let bench = Bench::new().terminal(24, 80);
    let mut running = bench.start("read -p 'go? ' x; echo sleeping; sleep 300").await;
    waits(&mut running, true).await;
    running.input(b"\n".to_vec()).await;
    waits(&mut running, false).await;
    running.kill(By::User).await;
    assert_eq!(end_of(&mut running).await.record.end, End::Killed { by: By::User });
}

#[tokio::test]
async fn control_c_typed_in_reaches_the_program_in_front() {
    let bench = Bench::new().terminal(24, 80);
    let mut running = bench.start("trap ':' INT; (echo ready; exec sleep 300); exit 7").await;
    output_holds(&mut running, "ready").await;
    running.input(vec![3]).await;
    let heard = end_of(&mut running).await;
    assert_eq!(heard.record.end, End::Exited { code: 7 });
}
