//! The loop of the control socket: one `poll` over the tap, the socket and its peers.

use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::api::board::Phase;
use crate::api::command::Command;
use crate::api::entry::Level;
use crate::api::job::JobState;
use crate::base::{JobId, SessionId, chain};
use crate::law::frame::{Admission, FrameId};
use crate::law::job::Stage;
use crate::law::socket::heard;
use crate::store::Dirs;
use crate::store::lease::{self, LEASE};
use crate::store::socket::{Bound, peer, sweep, us};

use super::answer::{self, Answer, Until};
use super::peer::Peer;
use super::{Link, Tap};

/// Peers at the same time. One more takes the place of the one that rests longest, or is sent away.
pub const PEERS_MAX: usize = 16;
/// How long a job is waited for: a kill takes 3 s where it must, and names what survives.
const WAIT_MAX: Duration = Duration::from_secs(30);

/// A reply that waits for a job.
struct Wait {
    peer: u64,
    id: FrameId,
    job: JobId,
    until: Until,
    /// Steps that were told.
    told: usize,
    /// Whether one of them said that SIGTERM was sent.
    asked: bool,
    due: Instant,
}

struct Serve<'a> {
    link: Link,
    tap: &'a Tap,
    session: SessionId,
    /// None when nobody is let in any more.
    socket: Option<UnixListener>,
    peers: Vec<Peer>,
    waits: Vec<Wait>,
    number: u64,
}

/// Serves the session until it is told to stop. What programs that were killed have left is taken away first.
pub fn run(link: Link, tap: &Tap, name: &Mutex<Option<Bound>>, places: &[PathBuf], dirs: &Dirs) {
    let Some(session) = opened(&link, tap) else { return };
    let Some(place) = places.first() else { return };
    for place in places {
        sweep(place, &|session| lease::holder(&dirs.session(session).join(LEASE)).is_some());
    }
    match Bound::new(place, &session, true) {
        Ok((bound, listener)) => {
            *name.lock().unwrap_or_else(PoisonError::into_inner) = Some(bound);
            // the door may have been closed meanwhile, when there was nothing to take away
            if tap.door_closed() {
                return super::unname(name);
            }
            let socket = Some(listener);
            Serve { link, tap, session, socket, peers: Vec::new(), waits: Vec::new(), number: 0 }.run();
        }
        Err(error) => {
            let text = format!(
                "There is no control socket: {}. `windlass jobs` in another terminal asks the keepers of the \
                 commands instead.",
                chain(&error)
            );
            // a session that takes no word now is about to close
            let _ = give(&link, Command::Tell { level: Level::Warning, text });
        }
    }
}

/// The session's id, when it is open; none when it is not to be served.
fn opened(link: &Link, tap: &Tap) -> Option<SessionId> {
    loop {
        if tap.stopped() {
            return None;
        }
        tap.take();
        {
            let record = link.shared.read();
            if record.status.phase != Phase::Opening {
                tap.arm(false);
                // a session that is only looked at is another program's
                return record.status.read_only.is_none().then(|| record.status.session.clone());
            }
        }
        let mut fds = [PollFd::new(tap.as_fd(), PollFlags::POLLIN)];
        let _ = poll(&mut fds, PollTimeout::NONE);
    }
}

/// Gives the session a command, without waiting; whether it took it.
fn give(link: &Link, command: Command) -> bool {
    link.commands.upgrade().is_some_and(|commands| commands.try_send(command).is_ok())
}

impl Serve<'_> {
    fn run(mut self) {
        while !self.tap.stopped() {
            if self.tap.door_closed() {
                self.socket = None;
            }
            self.rest();
            self.tap.take();
            self.let_in();
            for at in 0..self.peers.len() {
                self.peers[at].flush();
                self.hear(at);
            }
            self.go_on();
            self.sweep();
        }
        for wait in std::mem::take(&mut self.waits) {
            self.reply(&wait, &answer::error(&wait.id, 1, "the program ended before that was done"));
        }
    }

    /// Waits until there is something to do.
    fn rest(&mut self) {
        let due = self.peers.iter().filter_map(Peer::due).chain(self.waits.iter().map(|wait| wait.due)).min();
        let timeout = due.map_or(PollTimeout::NONE, |due| {
            let wait = due.saturating_duration_since(Instant::now()) + Duration::from_millis(1);
            PollTimeout::try_from(wait).unwrap_or(PollTimeout::MAX)
        });
        let mut fds = vec![PollFd::new(self.tap.as_fd(), PollFlags::POLLIN)];
        fds.extend(self.peers.iter().map(|peer| PollFd::new(peer.fd(), peer.wanted())));
        if let Some(listener) = &self.socket {
            fds.push(PollFd::new(listener.as_fd(), PollFlags::POLLIN));
        }
        let _ = poll(&mut fds, timeout);
        let over = PollFlags::POLLHUP | PollFlags::POLLERR;
        let hung_up: Vec<bool> =
            fds[1..].iter().map(|fd| fd.revents().is_some_and(|events| events.intersects(over))).collect();
        drop(fds);
        for (peer, _) in self.peers.iter_mut().zip(hung_up).filter(|(_, hung_up)| *hung_up) {
            peer.hung_up();
        }
    }

    fn let_in(&mut self) {
        let Some(listener) = &self.socket else { return };
        let mut streams = Vec::new();
        while streams.len() < PEERS_MAX
            && let Ok((stream, _)) = listener.accept()
        {
            streams.push(stream);
        }
        for stream in streams {
            self.welcome(stream);
        }
    }

    /// Takes in a connection, unless it is another user's: of that not a byte is read.
    fn welcome(&mut self, stream: UnixStream) {
        if !heard(peer(&stream), us()) || stream.set_nonblocking(true).is_err() {
            return;
        }
        if self.peers.len() >= PEERS_MAX {
            let resting = self.peers.iter().filter_map(|peer| Some((peer.rests_since()?, peer.number)));
            let Some((_, longest)) = resting.min() else { return };
            self.peers.retain(|peer| peer.number != longest);
        }
        self.number += 1;
        self.peers.push(Peer::new(self.number, stream));
    }

    /// Hears a peer out, as far as there is room for the answers.
    fn hear(&mut self, at: usize) {
        loop {
            self.peers[at].read();
            let Some(admission) = self.peers[at].next() else { return };
            match admission {
                Admission::Refuse(id, refusal) => self.peers[at].say(&answer::refused(&id, &refusal)),
                Admission::Fault(fault) => {
                    self.peers[at].say(&answer::fault(fault));
                    self.peers[at].leave();
                }
                Admission::Run(frame) => match answer::answer(&frame, &self.session, &self.link) {
                    Answer::Now(reply) => self.reply_to(at, &frame.id, &reply),
                    Answer::Later(job, until, command) => self.begin(at, frame.id, job, until, command),
                },
            }
        }
    }

    fn begin(&mut self, at: usize, id: FrameId, job: JobId, until: Until, command: Command) {
        // watched before it is asked for, so that no step is missed
        self.tap.watch(job);
        if !give(&self.link, command) {
            let why = "the session takes nothing now; try again in a moment";
            return self.reply_to(at, &id, &answer::error(&id, 1, why));
        }
        let (peer, told) = (self.peers[at].number, 0);
        let due = Instant::now() + WAIT_MAX;
        self.waits.push(Wait { peer, id, job, until, told, asked: false, due });
    }

    fn reply_to(&mut self, at: usize, id: &FrameId, reply: &serde_json::Value) {
        if self.peers[at].may_reply(id) {
            self.peers[at].say(reply);
        }
    }

    fn reply(&mut self, wait: &Wait, reply: &serde_json::Value) {
        if let Some(at) = self.peers.iter().position(|peer| peer.number == wait.peer) {
            self.reply_to(at, &wait.id, reply);
        }
    }

    /// Looks how far the jobs are that are waited for.
    fn go_on(&mut self) {
        let mut waits = std::mem::take(&mut self.waits);
        waits.retain_mut(|wait| !self.went_on(wait));
        // one may have begun meanwhile: never, but nothing is lost then
        self.waits.append(&mut waits);
        let jobs: Vec<JobId> = self.waits.iter().map(|wait| wait.job).collect();
        self.tap.watch_only(&jobs);
        self.tap.arm(!jobs.is_empty());
    }

    /// Tells the steps of a job; whether its reply is out, or nobody waits for it any more.
    fn went_on(&mut self, wait: &mut Wait) -> bool {
        let Some(at) = self.peers.iter().position(|peer| peer.number == wait.peer) else { return true };
        // the steps first: all that led to how the row stands now are noted then
        let row = self.link.shared.read().jobs.get(&wait.job).cloned();
        let steps = self.tap.steps(wait.job, wait.told);
        wait.told += steps.len();
        if wait.until == Until::Ended {
            for state in &steps {
                self.tell_step(at, wait, state);
            }
        }
        let Some(row) = row else {
            let why = format!("{} is over and was dismissed", wait.job);
            self.reply_to(at, &wait.id, &answer::error(&wait.id, 1, &why));
            return true;
        };
        let reply = match (&row.state, wait.until) {
            (JobState::Ended(outcome), Until::Ended) => {
                if !wait.asked {
                    // a tree that went at once was told of no step in between
                    let (by, processes) = (crate::law::job::By::User, outcome.gone);
                    self.tell_step(at, wait, &JobState::Ending { by, stage: Stage::Asked { processes } });
                }
                Some(answer::stands(&wait.id, &row, &self.session))
            }
            (JobState::Ended(outcome), Until::Kept(_)) => {
                let why = format!("{} has ended already: {}", wait.job, outcome.words());
                Some(answer::error(&wait.id, 1, &why))
            }
            (JobState::Sought | JobState::Running | JobState::Ending { .. }, Until::Kept(on))
                if row.kept == on =>
            {
                Some(answer::stands(&wait.id, &row, &self.session))
            }
            (
                JobState::Sought | JobState::Running | JobState::Ending { .. },
                Until::Ended | Until::Kept(_),
            ) => {
                let why = format!("{}: its keeper has not done it within 30 s", wait.job);
                (wait.due <= Instant::now()).then(|| answer::error(&wait.id, 1, &why))
            }
        };
        let Some(reply) = reply else { return false };
        self.reply_to(at, &wait.id, &reply);
        true
    }

    fn tell_step(&mut self, at: usize, wait: &mut Wait, state: &JobState) {
        if let Some(step) = answer::step(&wait.id, wait.job, state) {
            wait.asked |= matches!(state, JobState::Ending { stage: Stage::Asked { .. }, .. });
            self.peers[at].say(&step);
        }
    }

    fn sweep(&mut self) {
        let now = Instant::now();
        self.peers.retain(|peer| !peer.over(now));
        let peers = &self.peers;
        self.waits.retain(|wait| peers.iter().any(|peer| peer.number == wait.peer));
    }
}
