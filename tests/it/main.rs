//! it
mod tools_files;
