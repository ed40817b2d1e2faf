//! The bridge of law O for jobs: generated outputs and bounds go through real keepers and through the pure rule; what both
//! keep, drop and count, as text, must be the same. The real side looks at what was told, the record and the files.
//!
//! It is the bridge of the five laws of output and of their four for jobs. Not here: a program that is killed, with all
//! that it had to write (`crash_bridge`).

use std::fmt::Write as _;

use proptest::prelude::*;
use windlass::law::output::{Bounded, Keep, OutputLimits, Truncation};
use windlass::process::{Record, record};

use crate::commands::{Bench, until};
use crate::scenarios::agree;

#[derive(Clone, Debug)]
struct Scenario {
    /// What is printed, piece by piece.
    pieces: Vec<Vec<u8>>,
    truncation: Truncation,
}

fn piece() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        3 => "[a-z \n]{0,60}".prop_map(String::into_bytes),
        2 => "[äß€😀\n]{0,30}".prop_map(String::into_bytes),
        1 => proptest::collection::vec(any::<u8>(), 0..60),
        1 => (0usize..9000).prop_map(|count| b"0123456\n".repeat(count / 8)),
        1 => (0usize..3000).prop_map(|count| vec![b'x'; count]),
    ]
}

fn scenario() -> impl Strategy<Value = Scenario> {
    let keep = prop_oneof![Just(Keep::Head), Just(Keep::Tail), Just(Keep::Ends)];
    let bytes = prop_oneof![0u64..50, 50u64..3000];
    let lines = prop_oneof![0u64..5, 5u64..300];
    let bounded = (bytes, lines, keep)
        .prop_map(|(bytes, lines, keep)| Truncation::On(OutputLimits { bytes, lines, keep }));
    let truncation = prop_oneof![5 => bounded, 1 => Just(Truncation::Off)];
    (proptest::collection::vec(piece(), 0..6), truncation)
        .prop_map(|(pieces, truncation)| Scenario { pieces, truncation })
}

/// What was kept, dropped and counted, from whichever side.
fn transcript(head: &[u8], tail: &[u8], counts: [u64; 5], spool: &[u8]) -> String {
    let [bytes, lines, kept, dropped, lines_kept] = counts;
    let mut out = format!("head {}\ntail {}\n", head.escape_ascii(), tail.escape_ascii());
    let _ =
        writeln!(out, "{bytes} bytes, {lines} lines, {kept} kept in {lines_kept} lines, {dropped} dropped");
    let _ = writeln!(out, "file {}", spool.escape_ascii());
    out
}

fn rule(scenario: &Scenario) -> String {
    let mut bounded = Bounded::new(scenario.truncation);
    let all = scenario.pieces.concat();
    bounded.push(&all);
    let kept = bounded.finish();
    let counts = [all.len() as u64, kept.lines, kept.kept, kept.dropped, kept.lines_kept];
    transcript(&kept.head, &kept.tail, counts, &all)
}

async fn real(scenario: &Scenario) -> String {
    let mut bench = Bench::new();
    bench.truncation = scenario.truncation;
    for (n, piece) in scenario.pieces.iter().enumerate() {
        std::fs::write(bench.dir.path().join(format!("piece.{n}")), piece).unwrap();
    }
    let script: String = (0..scenario.pieces.len()).map(|n| format!("cat piece.{n}\n")).collect();
    let heard = bench.run(&script).await;
    let record: Record = record::read(&bench.record_dir(), "end.json").unwrap().unwrap();
    assert_eq!(record.spooled, record.bytes);
    let kept = &heard.kept;
    let (record_kept, record_dropped) = match scenario.truncation {
        Truncation::On(_) => (record.kept, record.dropped),
        // the keeper holds nothing then, and the program reads the file
        Truncation::Off => (kept.kept, kept.dropped),
    };
    let counts = [record.bytes, record.lines, record_kept, record_dropped, kept.lines_kept];
    transcript(&kept.head, &kept.tail, counts, &bench.spool())
}

#[tokio::test]
async fn what_a_job_prints_is_bounded_as_the_rule_says() {
    agree(scenario(), rule, |scenario| async move { real(&scenario).await }).await;
}

/// An output in whose midst the program goes.
#[derive(Clone, Debug)]
struct Gone {
    output: Scenario,
    /// So many pieces are printed before.
    before: usize,
    /// The command is kept and prints the rest; else it is asked to end, and prints the rest as its clean-up.
    kept: bool,
}

fn gone() -> impl Strategy<Value = Gone> {
    (scenario(), 0usize..6, any::<bool>()).prop_map(|(output, before, kept)| {
        let before = before.min(output.pieces.len());
        Gone { output, before, kept }
    })
}

fn gone_by_rule(gone: &Gone) -> String {
    let all = gone.output.pieces.concat();
    let mut bounded = Bounded::new(gone.output.truncation);
    bounded.push(&all);
    let lines = bounded.lines();
    format!("{} bytes, {lines} lines\nfile {}\n", all.len(), all.escape_ascii())
}

async fn gone_really(gone: &Gone) -> String {
    let mut bench = Bench::new();
    (bench.truncation, bench.kept) = (gone.output.truncation, gone.kept);
    let print = |n: usize, piece: &Vec<u8>| {
        std::fs::write(bench.dir.path().join(format!("piece.{n}")), piece).unwrap();
        format!("cat piece.{n}\n")
    };
    let prints: Vec<String> =
        gone.output.pieces.iter().enumerate().map(|(n, piece)| print(n, piece)).collect();
    let (first, rest) = prints.split_at(gone.before);
    let (first, rest) = (first.concat(), rest.concat());
    // bash tells of the child that was ended with it
    let script = format!(
        "rest() {{ trap '' TERM; {rest}:; exit; }}; trap rest TERM\n{first}exec 3>&2 2>/dev/null; : >here\n\
         until [ -e gone ]; do sleep 0.01; done\nrest"
    );
    let running = bench.start(&script).await;
    until("the first part", || bench.dir.path().join("here").exists()).await;
    drop(running);
    if gone.kept {
        std::fs::write(bench.dir.path().join("gone"), "").unwrap();
    }
    until("its record", || bench.record_dir().join("end.json").exists()).await;
    let record: Record = record::read(&bench.record_dir(), "end.json").unwrap().unwrap();
    let spool = bench.spool();
    assert_eq!((record.spooled, record.exit_code), (record.bytes, Some(0)), "{gone:?}");
    format!("{} bytes, {} lines\nfile {}\n", record.bytes, record.lines, spool.escape_ascii())
}

#[tokio::test]
async fn output_artifact_is_whole() {
    agree(gone(), gone_by_rule, |gone| async move { gone_really(&gone).await }).await;
}
