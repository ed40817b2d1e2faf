//! A program of the person's that has this terminal: run to its end, or ended with all that it started where we are told
//! to end.
//!
//! It stays in our process group, for the terminal is its own then and a Ctrl-C is meant for it too. Not here: programs
//! that are asked something (`answer`), commands under a keeper.

use std::io;
use std::process::{Command, ExitStatus};
use std::task::Poll;
use std::time::Duration;

use nix::sys::signal::Signal;
use tokio::signal::unix::{self, SignalKind};

use crate::process::tree;

/// How long a program that is asked to end has for it.
const GRACE: Duration = Duration::from_secs(2);

/// How a program ran.
pub enum Ran {
    /// It came to its end.
    Ended(ExitStatus),
    /// We were told to end, so it was ended.
    Told(Signal),
}

/// Runs it in this terminal. `mark`: what its environment holds, and that of nobody else.
pub fn until_its_end(tool: Command, mark: &[u8]) -> io::Result<Ran> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut told = [
            (Signal::SIGINT, SignalKind::interrupt()),
            (Signal::SIGTERM, SignalKind::terminate()),
            (Signal::SIGHUP, SignalKind::hangup()),
            (Signal::SIGQUIT, SignalKind::quit()),
        ]
        .map(|(signal, kind)| (signal, unix::signal(kind).ok()));
        let mut child = tokio::process::Command::from(tool).spawn()?;
        let told = tokio::select! {
            ended = child.wait() => return ended.map(Ran::Ended),
            told = any(&mut told) => told,
        };
        end(&mut child, mark).await;
        Ok(Ran::Told(told))
    })
}

/// Waits for any of the signals.
async fn any(told: &mut [(Signal, Option<unix::Signal>); 4]) -> Signal {
    std::future::poll_fn(|context| {
        for (signal, stream) in told.iter_mut() {
            if let Some(stream) = stream
                && stream.poll_recv(context) == Poll::Ready(Some(()))
            {
                return Poll::Ready(*signal);
            }
        }
        Poll::Pending
    })
    .await
}

/// Ends a program with all that it started: it is asked to, and has a moment to leave the terminal as it was.
async fn end(child: &mut tokio::process::Child, mark: &[u8]) {
    if let Some(pid) = child.id().and_then(|pid| i32::try_from(pid).ok()) {
        for one in tree::seen(pid).into_iter().chain(tree::below(pid)) {
            tree::signal(&one.id, rustix::process::Signal::TERM);
        }
    }
    let _ = tokio::time::timeout(GRACE, child.wait()).await;
    // what it left behind is known by its environment
    for left in tree::end_marked(mark) {
        tracing::warn!("a merge program left a process that could not be ended: {}", left.command);
    }
    let _ = child.start_kill();
    let _ = child.wait().await;
}
