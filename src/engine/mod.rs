//! The shell of a session.
