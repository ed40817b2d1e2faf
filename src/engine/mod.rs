//! The shell: the owner loop of a session. It alone changes the session; it feeds the laws with what
//! happens and carries out what they decide: commit, ask, run, end, tell.
//!
//! In reading order: `options` (what a session is opened with), `open`, `owner` (the loop), `turn`
//! (effects of the turn's law), `commit` (durable, then told), `stream` (an answer comes in), `ask`
//! (a request is built), `calls` and `approve` (calls run), `compact`, `shell` (`!`), `rewind`
//! (back to an entry) with `restore` (files) and `branches` (the tree), `fork`, `query`, `account` (what was
//! spent, what ran when, what fills the window), `hand_back`
//! (what came back from children, for the screen).
//! `jobs` is what outlives a call, `children` are the subagents.
//! Every task is spawned in `spawn`.

mod account;
mod approve;
mod ask;
mod branches;
mod calls;
mod children;
mod clock;
mod commit;
mod compact;
mod draft;
mod fork;
pub mod hand_back;
pub mod history;
mod images;
pub mod jobs;
mod open;
mod options;
mod owner;
mod query;
mod report;
mod restore;
mod rewind;
mod session;
mod shell;
mod spawn;
mod stream;
mod turn;

pub use children::ChildOf;
pub use open::{OpenError, Opened, open, open_behind};
pub use options::{KeepRule, KeepTrust, Limits, ModelInUse, Models, Options, Which};
