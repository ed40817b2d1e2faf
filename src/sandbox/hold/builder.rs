//! Makes a hold: bubblewrap sets the namespaces up around a shell that waits, they are opened, and the shell may go.
//! Blocking.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::plan::{Facts, arguments};
use crate::process::Inside;
use crate::process::answer::more;

/// How long it may take to be set up.
const TIME_MAX: Duration = Duration::from_secs(30);
/// Most bytes of its complaint that are told.
const COMPLAINT_MAX: u64 = 600;

/// Tells its number, and waits for its input to end.
const SCRIPT: &str = "echo $$; read nothing";

/// The inside of a hold of these facts. An `Err` says what is in the way.
pub fn build(facts: &Facts) -> Result<Inside, String> {
    let mut bubblewrap = Command::new("bwrap")
        .args(arguments(facts))
        .args(["--", "/bin/sh", "-c", SCRIPT])
        .env_clear()
        .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => "bubblewrap (bwrap) is not installed".to_owned(),
            _ => format!("bubblewrap (bwrap) cannot be started: {error}"),
        })?;
    let number = told_number(&mut bubblewrap);
    let opened = number.map(|process| {
        Inside::of(process, &facts.seen, &facts.copy)
            .map_err(|error| format!("its namespaces cannot be opened: {error}"))
    });
    // it waits for this
    drop(bubblewrap.stdin.take());
    if opened.is_none() {
        let _ = bubblewrap.kill();
    }
    let complaint = complaint(&mut bubblewrap);
    let _ = bubblewrap.wait();
    opened.unwrap_or_else(|| {
        Err(if complaint.is_empty() { "bubblewrap does not answer".to_owned() } else { complaint })
    })
}

/// The number that its shell tells once everything is set up; none: it does not come to that.
fn told_number(bubblewrap: &mut Child) -> Option<u32> {
    let out = bubblewrap.stdout.as_mut()?;
    let until = Instant::now() + TIME_MAX;
    let mut told = Vec::new();
    let mut byte = [0];
    while !told.ends_with(b"\n") {
        match more(out, &mut byte, until) {
            Ok(1..) => told.extend(byte),
            Ok(0) | Err(_) => return None,
        }
    }
    std::str::from_utf8(&told).ok()?.trim().parse().ok()
}

fn complaint(bubblewrap: &mut Child) -> String {
    let mut said = Vec::new();
    if let Some(err) = &mut bubblewrap.stderr {
        let _ = err.take(COMPLAINT_MAX).read_to_end(&mut said);
    }
    String::from_utf8_lossy(&crate::base::plain(&said)).trim().to_owned()
}
