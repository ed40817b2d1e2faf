//! What is known of a working directory: its instructions, its git state, its files; and the prompt made
//! of them. Nothing here changes the directory.

pub mod files;
pub mod git;
pub mod instructions;
pub mod prompt;
