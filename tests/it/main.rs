//! it
mod tools_files;
mod tools_patch;
mod tools_place;
