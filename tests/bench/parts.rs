//! Benchmarks of parts; the whole program is measured from outside.
#![allow(clippy::unwrap_used)] // a benchmark that cannot be set up may stop

mod store;

fn main() {
    divan::main();
}
