//! Benchmarks of parts, by divan (`cargo bench --bench parts`); the whole program is measured from outside.
#![allow(clippy::unwrap_used)] // a benchmark that cannot be set up may stop

mod conversation;
mod diff;
mod frame;
mod process;
mod sample;
mod store;
mod viewer;
mod wire;

fn main() {
    divan::main();
}
