//! The screen.

pub mod theme;
