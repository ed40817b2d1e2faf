//! The laws: pure state machines and decisions. `docs/LAWS.md` lists the promises they keep.
//!
//! Nothing here knows a file, a process, a clock, a random number or a task. Every pair of state and
//! event has an answer.

pub mod access;
pub mod batch;
pub mod board;
pub mod call;
pub mod census;
pub mod children;
pub mod commit;
pub mod cwd;
pub mod frame;
pub mod hand_back;
pub mod job;
pub mod jobs;
pub mod lease;
pub mod merge;
pub mod output;
pub mod path_map;
pub mod retry;
pub mod rewind;
pub mod socket;
pub mod turn;
pub mod wait;
pub mod window;
