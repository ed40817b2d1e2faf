//! Jobs in a session: work that outlives its call.
//!
//! In reading order: `desk` (where a call hands its command over), `watch` (a task for each job: what its
//! keeper tells goes to the board, what is asked for goes to the keeper), `session` (the owner's part: nodes
//! in the journal, ends in the conversation, what a person asks), `outcome` (how one ended, by its directory), `found`
//! (jobs of an earlier program that had not ended), `listed` (those that had), `log` (their output, read back).
//!
//! Not here: the processes (`process`), the wait of a call (`law::wait`, `tool::wait`).

mod desk;
mod found;
mod listed;
pub mod log;
pub mod outcome;
mod session;
mod watch;

pub use desk::Desk;
pub use found::Known;
pub use session::Nodes;
