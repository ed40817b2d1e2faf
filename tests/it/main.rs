//! What uses several modules, real processes or the binary.
#![allow(clippy::unwrap_used)] // also in what tests share, which clippy does not take for a test

mod access;
mod again;
mod bash;
mod call_bridge;
mod cli;
mod commands;
mod config;
mod exec_cli;
mod job_bridge;
mod journal;
mod keeper;
mod lease;
mod opening;
mod outside;
mod private;
mod screen;
mod server;
mod session;
mod swapped;
mod terminal;
mod tidy;
mod tools_files;
mod tools_patch;
mod tools_place;
mod tools_search;
mod turns;
mod wire_contract;
mod wire_outside;

/// How many cases of a search: twenty times as many in the long run (`tests/run --long`).
pub fn cases(quick: u32) -> u32 {
    if std::env::var_os("WINDLASS_LONG").is_some() { quick * 20 } else { quick }
}
