//! Merge programs that are at work beside the merge's thread: nothing else waits for them, and they are ended with it.

use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::sync::mpsc;

use crate::api::event::{Event, Reply};
use crate::api::hand_back::HandBackReply;
use crate::law::hand_back::tree::TreePath;
use crate::link::Shared;
use crate::process::answer::Stop;
use crate::workspace::merge_program::MergeProgram;

/// What a program is asked.
pub struct Wanted {
    /// The program.
    pub program: MergeProgram,
    /// The path, which tells the language.
    pub path: TreePath,
    /// Base, ours and theirs.
    pub texts: [Arc<[u8]>; 3],
}

/// Those that are at work.
#[derive(Default)]
pub struct Proposals(Vec<(Stop, JoinHandle<()>)>);

impl Proposals {
    /// Begins one; the answer to the question of this number goes to `events`. In words what went wrong.
    pub fn begin(
        &mut self,
        number: u64,
        wanted: Wanted,
        shared: &Shared,
        events: &mpsc::Sender<Event>,
    ) -> Result<(), String> {
        self.0.retain(|(_, thread)| !thread.is_finished());
        let stop = Stop::default();
        let (asked, shared, events) = (stop.clone(), shared.clone(), events.clone());
        let work = move || {
            let Wanted { program, path, texts: [base, parent, theirs] } = wanted;
            let made = program.merge(&path, [&base, &parent, &theirs], &asked);
            let reply = made.map_or_else(Reply::Failed, |made| {
                Reply::HandBack(HandBackReply::Proposal(made.map(Arc::from)))
            });
            // a front end that is gone needs no word
            let _ = events.blocking_send(Event::Answered { number, reply });
            shared.change(|_| ());
        };
        let thread = std::thread::Builder::new().name("proposal".into()).spawn(work);
        let thread = thread.map_err(|error| format!("mergiraf could not be waited for: {error}"))?;
        self.0.push((stop, thread));
        Ok(())
    }

    /// Ends all.
    pub fn stop(&self) {
        self.0.iter().for_each(|(stop, _)| stop.stop());
    }
}

impl Drop for Proposals {
    fn drop(&mut self) {
        self.stop();
        for (_, thread) in self.0.drain(..) {
            // one that panicked has said so itself
            let _ = thread.join();
        }
    }
}
