//! A command's own cgroup, where this machine and this person may make one: who is in it is reached, whatever its parent.
//! Where none can be made, the record says why, and there is nothing more to see.

use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use windlass::law::job::{By, End};
use windlass::process::record::{self, KeeperRecord};

use crate::commands::{Bench, carrying, end_of, mark, output_holds, until};

/// The record of its keeper, and the directory of its group; none where it has none.
fn group_of(bench: &Bench) -> (KeeperRecord, Option<PathBuf>) {
    let keeper: KeeperRecord = record::read(&bench.record_dir(), "keeper.json").unwrap().unwrap();
    let group = keeper.group.clone().map(|group| PathBuf::from(group.path));
    assert_ne!(group.is_some(), keeper.no_group.is_some(), "{keeper:?}");
    (keeper, group)
}

/// A process of this test; ended with it.
struct Own(Child);

impl Own {
    fn sleeps(mark: &str) -> Self {
        Self(Command::new("sleep").arg(mark).spawn().unwrap())
    }
    fn enter(&self, group: &Path) {
        std::fs::write(group.join("cgroup.procs"), self.0.id().to_string()).unwrap();
    }
    fn lives(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn who_has_no_parent_in_the_tree_is_reached_through_the_group() {
    let mark = mark();
    let bench = Bench::new();
    let mut running = bench.start("echo ready; sleep 300").await;
    output_holds(&mut running, "ready").await;
    let (_, group) = group_of(&bench);
    let mut own = Own::sleeps(&mark);
    if let Some(group) = &group {
        own.enter(group);
    }
    running.kill(By::User).await;
    let heard = end_of(&mut running).await;
    assert_eq!((heard.record.end, heard.record.survivors), (End::Killed { by: By::User }, Vec::new()));
    assert_eq!(own.lives(), group.is_none(), "what is in the group ends with it, and nothing else");
    if let Some(group) = group {
        until("the group is removed", || !group.exists()).await;
    }
}

#[tokio::test]
async fn a_command_is_in_its_group_before_it_can_fork() {
    let bench = Bench::new();
    let heard = bench.run("(cat /proc/self/cgroup &) ; cat /proc/self/cgroup; wait").await;
    let (_, group) = group_of(&bench);
    let Some(group) = group else { return };
    let name = group.file_name().unwrap().to_str().unwrap();
    let text = String::from_utf8(heard.kept.head).unwrap();
    assert_eq!(text.lines().filter(|line| line.ends_with(&format!("/{name}"))).count(), 2, "{text}");
}

#[tokio::test]
async fn a_killed_keeper_leaves_nothing_of_its_group() {
    let mark = mark();
    let bench = Bench::new();
    // neither its parent nor its environment tells whose it is
    let mut running = bench.start(&format!("(setsid env -i sleep {mark} &) ; echo ready; sleep 300")).await;
    output_holds(&mut running, "ready").await;
    until("it sleeps", || carrying(&mark).len() == 1).await;
    let (keeper, group) = group_of(&bench);
    kill(Pid::from_raw(keeper.keeper.pid), Signal::SIGKILL).unwrap();
    let heard = end_of(&mut running).await;
    assert_eq!(heard.record.end, End::Lost);
    let stray = carrying(&mark);
    let Some(group) = group else {
        stray.iter().for_each(|pid| kill(Pid::from_raw(*pid), Signal::SIGKILL).unwrap());
        return;
    };
    assert_eq!(stray, Vec::<i32>::new());
    assert!(!group.exists());
}

#[tokio::test]
async fn what_a_dead_keeper_left_is_swept_and_a_living_ones_is_not() {
    let mark = mark();
    let bench = Bench::new();
    bench.run("true").await;
    let (keeper, group) = group_of(&bench);
    let Some(group) = group else { return };
    let below = group.parent().unwrap();
    // the number of a process that has ended, and of one that lives
    let dead = below.join(format!("windlass-{}-{}", keeper.keeper.pid, keeper.keeper.start + 1));
    let mut living = Own::sleeps(&mark);
    let start = windlass::process::tree::seen(living.0.id() as i32).unwrap().id.start;
    let alive = below.join(format!("windlass-{}-{start}", living.0.id()));
    let mut left = Own::sleeps(&mark);
    // the first may be swept by another test's keeper at any moment
    let _ = std::fs::create_dir(&dead);
    let entered = std::fs::write(dead.join("cgroup.procs"), left.0.id().to_string()).is_ok();
    std::fs::create_dir(&alive).unwrap();
    living.enter(&alive);
    // what has not died yet when it is swept is left to the next keeper
    for _ in 0..20 {
        Bench::new().run("true").await;
        if !dead.exists() {
            break;
        }
    }
    // a keeper of another test may be sweeping it
    until("the dead one's is swept", || !dead.exists()).await;
    assert!(living.lives() && alive.exists());
    drop(living);
    Bench::new().run("true").await;
    until("so is that of who has died since", || !alive.exists()).await;
    until("what was in it is gone", || !entered || !left.lives()).await;
}
