//! How the screen looks: every text of every frame stands out from the ground it is drawn on, in each theme.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use windlass::api::agent::AgentState;
use windlass::api::board::Phase;
use windlass::base::Millis;
use windlass::law::children::End;
use windlass::ui::Msg;
use windlass::ui::depth::Depth;
use windlass::ui::glyphs;
use windlass::ui::pace::Motion;
use windlass::ui::theme::contrast::{LEGIBLE, contrast, rgb};
use windlass::ui::theme::fit::is_light;
use windlass::ui::view::view;
use windlass::ui::widget::row::Put as _;
use windlass::ui::widget::text;
use windlass::ui::writer::Writer;

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

/// With reduced motion nothing of a busy screen changes but its clocks, once a second.
#[test]
fn with_reduced_motion_nothing_moves_but_the_clock() {
    let mut record = record::full();
    record::running(&mut record, "r1", "cargo build", "Compiling\n");
    record::status(&mut record, |status| status.phase = Phase::Calling);
    let mut screen = Screen::new(120, 40, record);
    assert_eq!(screen.model.motion(), Motion::Spin);
    screen.model.reduced_motion = true;
    screen.model.conversation.still = true;
    assert_eq!(screen.model.motion(), Motion::Clock);
    let letters = |buffer: &Buffer| -> String {
        let text: String = buffer.content.iter().map(|cell| cell.symbol()).collect();
        text.chars().filter(|c| !c.is_ascii_digit()).collect()
    };
    let began = screen.now;
    let first = frame(&mut screen, 120, 40);
    for step in 1..60 {
        screen.now = began + step * 50;
        let next = frame(&mut screen, 120, 40);
        if step < 20 {
            assert!(next == first, "after {} ms", step * 50);
        }
        assert_eq!(letters(&next), letters(&first), "after {} ms", step * 50);
    }
}

const WIDE: &str = "WINDLASS_TEST_WIDE";

/// Layout and writer have the same widths. What the terminal shows is said once for a process: so this has its own.
#[test]
fn wide_letters_take_two_columns_in_the_layout_and_in_the_writer() {
    if std::env::var_os(WIDE).is_none() {
        let name = "screen::looks::wide_letters_take_two_columns_in_the_layout_and_in_the_writer";
        let own = std::env::current_exe().unwrap();
        let ran = std::process::Command::new(own).args(["--exact", name]).env(WIDE, "1").output().unwrap();
        let out = String::from_utf8_lossy(&ran.stdout);
        assert!(ran.status.success() && out.contains("1 passed"), "{out}");
        return;
    }
    glyphs::choose(glyphs::Set { wide: true, ..glyphs::Set::default() });
    let draw = |text: &str| {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 20, 1));
        assert_eq!(buffer.put(0, 0, text, 20, Style::default()).0 as usize, text::width(text));
        buffer
    };
    let mut writer = Writer::new(Depth::True, true);
    let told = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let all = told(writer.draw(&draw("①①│x"), None));
    assert!(all.contains("①①|x"), "{all:?}");
    let one = told(writer.draw(&draw("①①│y"), None));
    assert!(one.contains("\x08y"), "{one:?}");
    // what a library laid out as narrow does not push the rest of its row
    let mut narrow = Buffer::empty(Rect::new(0, 0, 20, 1));
    narrow.set_string(0, 0, "①①│x", Style::default());
    writer.forget();
    let crowded = told(writer.draw(&narrow, None));
    assert!(crowded.contains("??|x"), "{crowded:?}");
}
