//! How the program looks from outside: no colour where none is wanted, ASCII where the terminal takes nothing else,
//! and a chosen theme that is kept.

use serde_json::json;

use super::Home;

/// The parameters of every change of style in these bytes.
fn styles(bytes: &[u8]) -> Vec<u32> {
    let text = String::from_utf8_lossy(bytes);
    let mut out = Vec::new();
    for piece in text.split("\x1b[").skip(1) {
        let end = piece.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(piece.len());
        if piece[end..].starts_with('m') {
            out.extend(piece[..end].split(';').filter_map(|n| n.parse::<u32>().ok()));
        }
    }
    out
}

fn script(home: &Home) -> String {
    home.script(&json!({"turns": [
        {"say": "# Head\n\n```rust\nfn main() {}\n```\n\nnaïve “日本” … и так",
         "calls": [{"tool": "write", "input": {"path": "a.rs", "content": "fn a() {}\n"}}]},
        {"say": "", "calls": [
            {"tool": "edit", "input": {"path": "a.rs", "edits": [{"old": "a()", "new": "b()"}]}},
            {"tool": "bash", "input": {"command": "exit 3"}}]},
        {"say": "That is all of it."},
    ]}))
}

#[test]
fn no_color_writes_no_colour() {
    let mut home = Home::new();
    home.set("NO_COLOR", "1");
    home.write("config/windlass/settings.json", r#"{"theme": "nord"}"#);
    let model = script(&home);
    let mut program = home.show(&["--approve", "auto", "--model", &model]);
    program.wait_for("keys");
    program.send("go\r");
    program.wait_for("That is all of it.");
    program.send("\x18c");
    program.wait_for("Enter keeps it");
    program.send("\x1b[B\x1b[B\x1b[B");
    program.send("\r");
    program.wait_for("kept in");
    let found = styles(&program.bytes);
    assert!(found.contains(&1) && found.contains(&7), "{found:?}");
    assert!(found.iter().all(|n| *n < 30), "{found:?}");
}

#[test]
fn a_locale_without_utf_8_gets_ascii_alone() {
    let mut home = Home::new();
    home.set("LC_ALL", "C");
    let model = script(&home);
    let mut program = home.show(&["--approve", "auto", "--model", &model]);
    program.wait_for("keys");
    program.send("go\r");
    program.wait_for("That is all of it.");
    program.wait_for("na?ve \"????\" ~ ? ???");
    let far: Vec<u8> = program.bytes.iter().copied().filter(|byte| *byte >= 0x80).collect();
    assert!(far.is_empty(), "{}", String::from_utf8_lossy(&program.bytes));
    assert!(program.screen().contains("+-"), "{}", program.screen());
}

#[test]
fn a_chosen_theme_is_kept_and_on_at_the_next_start() {
    let home = Home::new();
    home.write("config/windlass/settings.json", "{\n  // mine\n  \"mouse\": false\n}\n");
    let model = home.script(&json!({"turns": []}));
    let mut program = home.show(&["--model", &model]);
    program.wait_for("keys");
    program.send("\x18c");
    program.wait_for("Enter keeps it");
    program.send("nord");
    program.wait_for("nord");
    program.send("\r");
    program.wait_for("theme nord, kept in");
    let kept = home.read("config/windlass/settings.json");
    assert!(kept.contains("// mine") && kept.contains("\"theme\": \"nord\""), "{kept}");
    drop(program);
    let mut again = home.show(&["--model", &model]);
    again.wait_for("keys");
    let nord = b"48;2;46;52;64";
    assert!(again.bytes.windows(nord.len()).any(|bytes| bytes == nord), "{}", again.screen());
}
