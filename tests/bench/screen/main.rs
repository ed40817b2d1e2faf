//! Frames of the whole screen, timed one by one (`cargo bench --bench screen`; names of parts run those alone).
//!
//! A frame is what the program does for one: it takes the record, lays out, draws, and makes the bytes. The bounds are
//! for the slowest frame of each row, not for the mean. The texts are made here; `WINDLASS_BENCH_CHAT` (a file of
//! Markdown) and `WINDLASS_BENCH_TOKENS` (lines of JSON with `ts` and `payload.msg.delta`) name others to use instead.
//! Deliberately not here: the terminal and the loop, which the program's own tests drive.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // a benchmark that cannot be set up may stop; it prints what it saw

mod bytes;
mod data;
mod long;
mod paced;
#[allow(dead_code)]
#[path = "../../it/screen/record.rs"]
mod record;
#[path = "../sample.rs"]
mod sample;
#[allow(dead_code)]
mod shortest;
mod stage;
mod state;

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|name| !name.starts_with('-')).collect();
    let on = |name: &str| wanted.is_empty() || wanted.iter().any(|one| one == name);
    stage::heading();
    if on("long") {
        long::lines();
    }
    if on("chat") {
        long::chat();
    }
    if on("paced") {
        paced::all();
    }
    if on("bytes") {
        bytes::all();
    }
}
