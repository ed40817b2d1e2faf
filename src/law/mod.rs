//! The laws: pure state machines and decisions. `docs/LAWS.md` lists the promises they keep.
//!
//! Nothing here knows a file, a process, a clock, a random number or a task. Every pair of state and
//! event has an answer.

pub mod access;
pub mod board;
pub mod call;
pub mod commit;
pub mod cwd;
pub mod job;
pub mod lease;
pub mod output;
pub mod retry;
pub mod turn;
pub mod window;
