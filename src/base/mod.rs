//! Plain values that every layer may name: ids, plain-number time, the error-chain printer.
//!
//! Nothing here does IO, reads a clock or draws random numbers.

pub mod chain;
pub mod id;
pub mod millis;
pub mod plain;

pub use chain::chain;
pub use id::{CallId, EntryId, SessionId};
pub use millis::Millis;
pub use plain::plain;
