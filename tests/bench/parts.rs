//! Benchmarks of parts, by divan (`cargo bench --bench parts`); the whole program is measured from outside.

mod conversation;
mod store;

fn main() {
    divan::main();
}
