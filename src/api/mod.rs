//! What the engine and a front end say to each other: plain data, no IO.
//!
//! In reading order: `message` (what a model says and is told), `entry` (what the journal holds),
//! `access` (what a call wants to do), `command` (what a person asks for), `event` (what answers a
//! query), `board` (what runs now), `job` and `screen` (what outlives a call), `agent` (subagents), `hand_back` (what
//! came back from them), `path` (how a path stands in JSON), `title` (what a call does), `account` (what was spent, what
//! ran when).

pub mod access;
pub mod account;
pub mod agent;
pub mod board;
pub mod command;
pub mod entry;
pub mod event;
pub mod hand_back;
pub mod job;
pub mod message;
pub mod path;
pub mod provider;
pub mod screen;
pub mod title;
