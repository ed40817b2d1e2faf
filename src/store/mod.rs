//! What is kept on the disk: sessions with their journals and leases, and the private files they consist of.
//!
//! In reading order: `private` (files only for you), `dirs` (where), `codec` (a record as a line), `tree`
//! (records as a conversation), `reading` (a whole journal), `journal` (commits), `lease` (one program at a
//! time), `blobs` (bytes beside), `session` (all of it together), `list`, `export`, `fork`, `socket` (where a running
//! program is spoken with).
//!
//! Everything here blocks. Not here: what is committed when (the engine's), and what a person's own files hold.

pub mod blobs;
pub mod codec;
pub mod dirs;
pub mod error;
pub mod export;
pub mod fork;
pub mod journal;
pub mod lease;
pub mod list;
pub mod private;
pub mod reading;
pub mod session;
pub mod socket;
pub mod tree;

pub use blobs::Blobs;
pub use dirs::Dirs;
pub use error::Error;
pub use export::{jsonl, markdown};
pub use fork::{Branch, fork};
pub use journal::Durability;
pub use list::{find, list, newest_for};
pub use session::{Opened, Opening, Session, now, rename, view};
pub use tree::Unsettled;

#[cfg(test)]
mod tests;
