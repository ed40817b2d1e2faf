//! What uses several modules, real processes or the binary.

mod again;
mod cli;
mod config;
mod journal;
mod lease;
mod private;
mod tidy;
mod tools_files;
mod tools_patch;
mod tools_place;
mod tools_search;
