//! Benchmarks of parts; the whole program is measured from outside.

fn main() {}
