//! What a record says is durable before the record is: told by a tracer that sees every call.
//!
//! A kill does not show it, for what was written is still in memory then; a power cut would.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Stdio};

use super::cut::{PLACE, triple};
use super::{begin, place};

/// The calls of a hand-back, in order, as the tracer writes them: descriptors with their paths.
fn calls(root: &std::path::Path) -> Vec<String> {
    let log = root.join("trace");
    let status = Command::new("strace")
        .args(["-f", "-qq", "-y", "-s", "4096", "-o"])
        .arg(&log)
        .args(["-e", "trace=openat,fdatasync,fsync,rename,renameat2,unlinkat"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "hand_back::cut::the_process_that_is_traced", "--test-threads=1"])
        .env(PLACE, root)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("strace is needed: tests/run installs it");
    assert!(status.success());
    std::fs::read_to_string(log).unwrap().lines().map(str::to_owned).collect()
}

/// The path of the descriptor that a call begins with.
fn path(call: &str) -> Option<&str> {
    call.split_once('<')?.1.split_once('>').map(|(path, _)| path)
}

#[derive(Default)]
struct Seen {
    synced: BTreeSet<String>,
    /// Prepared files that are not synced.
    prepared: BTreeSet<String>,
    /// Whether a version got its name since its directory was synced.
    named: bool,
    wrong: Vec<String>,
    records: Vec<String>,
}

impl Seen {
    fn synced(&mut self, path: &str) {
        self.synced.insert(path.to_owned());
        self.prepared.remove(path);
        self.named &= !path.ends_with("/versions");
    }

    fn renamed(&mut self, from: &str, to: &str) {
        if to.contains("/aside/") {
            // it is on its way out
            return;
        }
        if !self.synced.contains(from) {
            self.wrong.push(format!("{to} had its name before it was durable"));
        }
        let record = to.rsplit('/').next().unwrap_or_default();
        self.named |= to.contains("/versions/");
        if record == "prepared.json" && self.named {
            self.wrong.push("recorded as prepared before the names of the versions were durable".into());
        }
        if record == "prepared.json" && !self.prepared.is_empty() {
            self.wrong.push(format!("recorded as prepared, not durable: {:?}", self.prepared));
        }
        self.records.push(record.to_owned());
    }
}

#[test]
fn what_is_recorded_is_durable_before() {
    let tmp = place();
    begin(tmp.path(), &triple());
    let mut seen = Seen::default();
    let mut under_way: BTreeMap<String, String> = BTreeMap::new();
    for line in calls(tmp.path()) {
        let Some((pid, call)) = line.split_once(' ') else { continue };
        let call = call.trim_start();
        if call.starts_with("fdatasync(") || call.starts_with("fsync(") {
            let Some(path) = path(call) else { continue };
            if call.ends_with("= 0") {
                seen.synced(path);
            } else {
                under_way.insert(pid.to_owned(), path.to_owned());
            }
        } else if call.starts_with("<... f") && call.contains("sync resumed>)") && call.ends_with("= 0") {
            // not told of a call: each resumed one was begun
            let path = under_way.remove(pid).unwrap_or_default();
            seen.synced(&path);
        } else if call.starts_with("rename(") {
            let names: Vec<&str> = call.split('"').collect();
            seen.renamed(names[1], names[3]);
        } else if call.starts_with("openat(") && call.contains("\".windlass-") && call.contains("O_CREAT") {
            let name = call.split('"').nth(1).unwrap_or_default();
            seen.prepared.insert(format!("{}/{name}", path(call).unwrap_or_default()));
        } else if call.starts_with("unlinkat(") {
            // with which a move was tried
            let name = call.split('"').nth(1).unwrap_or_default();
            seen.prepared.remove(&format!("{}/{name}", path(call).unwrap_or_default()));
        }
    }
    assert_eq!(seen.wrong, Vec::<String>::new());
    for record in ["plan.json", "prepared.json", "end.json", "handback.json"] {
        assert!(seen.records.iter().any(|name| name == record), "{record} was not seen: {:?}", seen.records);
    }
    assert!(seen.synced.iter().filter(|path| path.contains("/.windlass-")).count() >= 3, "{:?}", seen.synced);
}
