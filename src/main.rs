//! Parses, wires, runs, and gives the exit code. The only file that names every layer.

fn main() {}
