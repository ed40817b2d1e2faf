//! How the screen looks: every text of every frame stands out from the ground it is drawn on, in each theme.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use windlass::api::agent::AgentState;
use windlass::base::Millis;
use windlass::law::children::End;
use windlass::ui::Msg;
use windlass::ui::theme::contrast::{LEGIBLE, contrast, rgb};
use windlass::ui::theme::fit::is_light;
use windlass::ui::view::view;

use super::{Screen, agents, conflict, jobs, overlays, record};

/// Lines and blocks that are no text.
fn drawn(symbol: &str) -> bool {
    symbol.chars().all(|c| c == ' ' || ('\u{2500}'..='\u{259f}').contains(&c) || c == '╱')
}

fn frame(screen: &mut Screen, columns: u16, rows: u16) -> Buffer {
    screen.draw();
    let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows));
    view(&mut screen.model, &mut buffer, Millis(screen.now));
    buffer
}

const DIFF: &str = "src/lexer.rs\n@@ -1,3 +1,3 @@\n fn skip() {\n-    let mut depth = 1; // one\n+    let mut level = 1; // one\n }\n";
const TALK: &str = "# A heading\n\nSome **strong** and *soft* `code`, a [link](https://example.org/a).\n\n> a quote\n\n- [x] done\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\nplain code\n```\n";

fn scene(what: &str) -> Screen {
    let mut record = record::full();
    record::answer(&mut record, TALK);
    let input = serde_json::json!({"path": "src/lexer.rs"});
    record::settled(&mut record, "d1", "edit", input, DIFF);
    record::command(&mut record, "c9", "cargo test", "error: no\n", false);
    jobs::job(&mut record, 1, "npm run dev");
    agents::agent(&mut record, "manual", AgentState::Working);
    let failed = agents::end("tests", End::Failed { why: "no network".into() }, None);
    agents::agent(&mut record, "tests", AgentState::Ended(failed.into()));
    if what == "approval" {
        record::ask(&mut record, "c2", "rm -rf build");
    }
    let mut screen = Screen::new(110, 44, record);
    screen.draw();
    match what {
        "approval" => {
            screen.tell(Msg::Flushed);
            screen.now += 500;
        }
        "reading" => drop(screen.keys("ctrl-x v alt-up k k enter / e e enter v right right")),
        "jobs" => drop(screen.keys("ctrl-x j")),
        "job" => drop(screen.keys("ctrl-x j enter")),
        "agents" => drop(screen.keys("ctrl-x a")),
        "toast" => drop(screen.tell(Msg::Say("a word".into()))),
        "chord" => drop(screen.keys("ctrl-x")),
        "popup" => drop(screen.write("/")),
        "conflict" => {
            let mut desk = conflict::desk();
            screen.change(|record| record::status(record, |status| status.open_conflicts = 2));
            desk.keys(&mut screen, "ctrl-x h");
        }
        "" => {}
        overlay => drop(overlays::open(overlay, &mut screen)),
    }
    screen
}

const SCENES: [&str; 17] = [
    "", "approval", "reading", "jobs", "job", "agents", "toast", "chord", "popup", "conflict", "palette",
    "help", "models", "sessions", "themes", "context", "welcome",
];

#[test]
fn every_text_of_every_frame_stands_out_in_each_theme() {
    for what in SCENES {
        let mut screen = scene(what);
        for at in 0..screen.model.themes.len() {
            screen.model.theme = at;
            let theme = screen.model.look().clone();
            if is_light(&theme).is_none() {
                continue;
            }
            let buffer = frame(&mut screen, 110, 44);
            for (place, cell) in buffer.content.iter().enumerate().filter(|(_, cell)| !drawn(cell.symbol())) {
                let front = rgb(cell.fg).unwrap_or_else(|| panic!("{what}: {cell:?}"));
                let ground = rgb(cell.bg).unwrap_or_else(|| panic!("{what}: {cell:?}"));
                let (x, y) = buffer.pos_of(place);
                let ratio = contrast(front, ground);
                let row: String = (0..110).map(|x| buffer[(x, y)].symbol()).collect();
                assert!(
                    ratio >= LEGIBLE,
                    "{} {what} {x},{y} {:?} {ratio:.2} in\n{row}",
                    theme.name,
                    cell.symbol()
                );
            }
        }
    }
}
