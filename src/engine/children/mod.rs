//! Subagents: sessions of their own that work for a session, in its directory or in a copy of it.
//!
//! In reading order: `crew` (all agents of a program's session, and the law behind a lock), `post` (one session's
//! place among them), `agent` (what is kept of each), `asking` (where calls ask for them), `live` (the task of one run:
//! its copy, its session, its end), `watch` (what its record tells goes to its row), `back` (its hand-back), `ending`
//! (its end, kept before that), `session` (the owner's part: nodes in the journal, ends in the conversation,
//! approvals), `told` (what its model is told of itself), `unheard` (ends for a session that is closed), `found` (agents of an earlier program).
//!
//! Not here: who works when and who has ended (`law::children`), the copies themselves (`workspace::child`).

mod agent;
mod asking;
mod back;
mod crew;
mod ending;
mod found;
mod live;
mod post;
mod session;
mod told;
mod unheard;
mod watch;

pub use agent::ChildOf;
pub use asking::Asking;
pub use crew::Crew;
pub use found::{Known, has_copy};
pub use post::Post;
pub use told::as_agent;
