//! What is known of a working directory: its instructions, its git state, its files; and the prompt made of them.
//! And a child's own copy of it, with the hand-back: only that changes the directory. `merge_program` asks a program of the person's for a merge.

pub mod child;
pub mod files;
pub mod git;
pub mod ignored;
pub mod instructions;
pub mod merge_program;
pub mod prompt;
pub mod stamp;
