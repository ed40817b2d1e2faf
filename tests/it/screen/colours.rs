//! Colours of code come from a thread of their own, with no change of the record: they are drawn all the same.

use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use super::{Screen, record};

/// The generous bound of the wait for the grammars.
const WAIT_MAX: Duration = Duration::from_secs(60);

#[test]
fn code_gets_its_colours_though_nothing_else_happens() {
    let (rung, bell) = sync_channel(1);
    let wake = Arc::new(move || {
        // One ring that waits is enough.
        let _ = rung.try_send(());
    });
    let mut screen = Screen::woken_by(80, 24, record::empty(), wake);
    screen.change(|r| {
        record::stream(r, "```rust\nfn main() -> u32 { let answer = \"text\"; 42 }\n```\n\nDone.\n")
    });
    screen.draw();
    let plain = screen.colours_of("let answer");
    bell.recv_timeout(WAIT_MAX).expect("colours come");
    screen.draw();
    let coloured = screen.colours_of("let answer");
    assert!(coloured >= plain + 3, "{plain} colours before, {coloured} after");
}
