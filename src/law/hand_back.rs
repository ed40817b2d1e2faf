//! The hand-back: what of a child's work goes into its parent's directory, and what is a conflict.
//!
//! A child in a copy of its own has a *base* (the files as it found them). At its end each path is decided by itself:
//! `merge1` for one, `plan` for all of them, `carry` for how one path is put in place so that it can be cut anywhere
//! and run again; `rise` for what an agent's own agents left when it ends. Nothing here mixes two files: lines are
//! merged by hand only (`law::merge`).
//!
//! Keeps `cow_keeps_parent`, `cow_takes_child`, `cow_conflict_reported`, `cow_conflict_is_real`, `rise_loses_nothing`;
//! and, of what is carried out, `handback_idempotent` and `handback_crash_safe`. Not here: files.

pub mod carry;
pub mod merge1;
pub mod plan;
pub mod renames;
pub mod rise;
pub mod tree;

#[cfg(test)]
mod tests;
