//! Benchmarks of parts; the whole program is measured from outside.

mod store;

fn main() {
    divan::main();
}
