//! The shell of a session.

pub mod history;
