//! All of a command: the processes below its keeper, and those in its cgroup where it has one. Whoever left one of
//! the two is in the other.

use std::collections::{HashMap, HashSet};

use nix::sys::signal::Signal as NixSignal;
use nix::unistd::getpid;
use rustix::process::Signal;

use crate::process::cgroup::{Fence, Group};
use crate::process::record::{Named, ProcessId};
use crate::process::tree::{self, Seen, Sent};

/// Walks of the tree for one SIGKILL of all: a fork may outrun a walk, hardly two.
const WALKS_MAX: usize = 10;
/// Most processes that are named.
const NAMED_MAX: usize = 64;
/// From so many on they are all stopped before the first is killed: else those that live multiply meanwhile.
const MANY: usize = 16;
/// From so many on a process group is signalled as one.
const LARGE: usize = 8;
/// Walks for stopping them: each finds fewer.
const STOPS_MAX: usize = 50;

/// All processes of a command.
pub struct Whole {
    keeper: i32,
    group: Option<Group>,
    /// Those that SIGTERM was sent to: nobody is asked twice.
    asked: HashSet<ProcessId>,
    /// Processes that a kill asked to end.
    gone: u32,
}

/// Whom SIGTERM is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whom {
    /// Everybody.
    All,
    /// Those that have no parent in the tree any more.
    Orphans,
}

impl Whole {
    /// Of the calling keeper's command.
    pub fn new(group: Option<Group>) -> Self {
        Self { keeper: getpid().as_raw(), group, asked: HashSet::new(), gone: 0 }
    }

    /// Parents before children; last those whose parents are none of ours.
    fn all(&self) -> Vec<Seen> {
        let mut all = tree::below(self.keeper);
        let Some(group) = &self.group else { return all };
        let members = group.members();
        let known: HashSet<i32> = all.iter().map(|seen| seen.id.pid).collect();
        all.extend(members.into_iter().filter(|seen| !known.contains(&seen.id.pid)));
        all
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        // everybody is born in the group, so nobody needs to be looked for
        let count = self.group.as_ref().map(Group::count).unwrap_or_else(|| tree::below(self.keeper).len());
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// Lets them not grow far past a bound, where the system can.
    pub fn fence(&self, most: u32) -> Option<Fence> {
        self.group.as_ref().and_then(|group| group.fence(most))
    }

    /// Whether somebody lives in the cgroup. It matters once the keeper has no child.
    pub fn strays(&self) -> bool {
        self.group.as_ref().is_some_and(|group| !group.members().is_empty())
    }

    /// Processes that a kill asked to end so far.
    pub fn gone(&self) -> u32 {
        self.gone
    }

    /// Asks to end, each once; how many were asked.
    pub fn terminate(&mut self, whom: Whom) -> u32 {
        let all = self.all();
        let ours: HashSet<i32> = all.iter().map(|seen| seen.id.pid).collect();
        let mut asked = 0;
        for seen in &all {
            let wanted = whom == Whom::All || !ours.contains(&seen.parent);
            if wanted && self.asked.insert(seen.id.clone()) {
                tree::signal(&seen.id, Signal::TERM);
                asked += 1;
                // a stopped one must go on to end; looked at again, for it may have been stopped since
                if tree::seen(seen.id.pid).is_some_and(|now| now.stopped()) {
                    tree::signal(&seen.id, Signal::CONT);
                }
            }
        }
        self.gone += asked;
        asked
    }

    /// Ends every process that may be ended; how many.
    pub fn destroy(&self) -> u32 {
        let mut hit: HashSet<ProcessId> = HashSet::new();
        let (mut stroke, mut walks) = (0, WALKS_MAX);
        if let Some(group) = &self.group {
            let count = group.count();
            if group.kill() {
                (stroke, walks) = (count, 1);
            } else {
                group.hold();
            }
        }
        if stroke == 0 && self.stop() {
            self.groups(NixSignal::SIGKILL);
        }
        for _ in 0..walks {
            let mut fresh = false;
            for seen in self.all() {
                if hit.insert(seen.id.clone()) {
                    fresh |= tree::signal(&seen.id, Signal::KILL) == Sent::Yes;
                }
            }
            if !fresh {
                break;
            }
        }
        if let Some(group) = &self.group {
            group.let_go();
        }
        hit.len().max(stroke) as u32
    }

    /// Stops all of them, until a walk finds none that runs: a process that is stopped does not fork. Few need not be.
    /// Whether they were many.
    fn stop(&self) -> bool {
        let mut stopped: HashSet<ProcessId> = HashSet::new();
        for _ in 0..STOPS_MAX {
            let all = self.all();
            if all.len() < MANY && stopped.is_empty() {
                return false;
            }
            self.groups(NixSignal::SIGSTOP);
            let fresh: Vec<Seen> = all.into_iter().filter(|seen| stopped.insert(seen.id.clone())).collect();
            if fresh.is_empty() {
                break;
            }
            for seen in fresh {
                tree::signal(&seen.id, Signal::STOP);
            }
        }
        true
    }

    /// What lives, for people: of very many some.
    pub fn living(&self) -> Vec<Named> {
        self.all().iter().take(NAMED_MAX).map(|seen| tree::named(&seen.id)).collect()
    }

    /// Nothing is left to hold together.
    pub fn remove_group(&self) {
        if let Some(group) = &self.group {
            group.remove();
        }
    }

    /// Signals large process groups, each in one stroke that no fork outruns. The command leads a session of its own, so a
    /// group that a process below the keeper is in has no others (one that is only in the cgroup may be of any); and a
    /// number is not used again while so many have it.
    fn groups(&self, signal: NixSignal) {
        let own = nix::unistd::getpgrp().as_raw();
        let mut sizes: HashMap<i32, usize> = HashMap::new();
        for seen in tree::below(self.keeper) {
            *sizes.entry(seen.group).or_default() += 1;
        }
        for (group, _) in
            sizes.into_iter().filter(|(group, size)| *group > 1 && *group != own && *size >= LARGE)
        {
            // it may be another user's: who is left is signalled one by one
            let _ = nix::sys::signal::killpg(nix::unistd::Pid::from_raw(group), signal);
        }
    }
}
