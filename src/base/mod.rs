//! Plain values that every layer may name: ids, plain-number time, the error-chain printer, the nearest
//! of some words.
//!
//! Nothing here opens a file, reads a clock or draws random numbers.

pub mod chain;
pub mod id;
pub mod millis;
pub mod near;
pub mod plain;
pub mod visible;

pub use chain::chain;
pub use id::{CallId, EntryId, JobId, SessionId};
pub use millis::Millis;
pub use plain::plain;
