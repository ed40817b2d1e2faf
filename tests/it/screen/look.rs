//! What the screen says at a glance: the title at every width, a theme that follows the terminal, an
//! approval that hides nothing, and whose command it was.

use serde_json::json;
use windlass::api::board::Phase;
use windlass::api::entry::{CallStart, EntryBody};
use windlass::base::{CallId, Millis};
use windlass::ui::Msg;
use windlass::ui::input::{Input, Reply};

use super::{Screen, record};

fn ground(screen: &mut Screen, colour: &str) -> String {
    screen.tell(Msg::Input(Input::Reply(Reply::Color(11, colour.to_owned()))));
    screen.model.look().name.clone()
}

#[test]
fn a_theme_that_nobody_chose_follows_the_terminal() {
    let mut screen = Screen::new(80, 24, record::empty());
    screen.model.theme_follows = true;
    assert_eq!(ground(&mut screen, "rgb:ffff/ffff/ffff"), "light");
    assert_eq!(ground(&mut screen, "rgb:1111/1111/1111"), "dark");
    assert_eq!(ground(&mut screen, "nonsense"), "dark");
    screen.write("/theme light");
    screen.keys("enter");
    assert_eq!(ground(&mut screen, "rgb:1111/1111/1111"), "light", "a chosen one stays");
}

#[test]
fn the_title_keeps_the_mode_and_the_confinement_at_every_width() {
    for columns in 1..200 {
        let mut screen = Screen::new(columns, 12, record::full());
        let shown = screen.shown();
        let title = shown.lines().next().unwrap_or_default();
        if columns >= 40 {
            assert!(title.contains("ask") && title.contains("unconfined"), "{columns}: {title}");
        }
        if columns >= 100 {
            assert!(title.contains("claude-sonnet") && title.contains("ctx 34%"), "{columns}: {title}");
        }
    }
}

#[test]
fn an_approval_stands_below_what_was_said_last() {
    let mut record = record::full();
    record::ask(&mut record, "c2", "cargo test");
    let shown = Screen::new(80, 30, record).shown();
    let at = shown.lines().position(|line| line.contains("wants to run a command")).unwrap();
    let above: Vec<&str> = shown.lines().take(at).collect();
    // c2 is the newest item: its row stands right above the question
    assert!(above.iter().rev().take(3).any(|line| line.contains("bash   cargo test")), "{shown}");
}

#[test]
fn a_command_of_the_persons_own_is_marked_as_it_was_written() {
    for (mark, told) in [("!", false), ("!!", true)] {
        let mut record = record::empty();
        record::push(
            &mut record,
            EntryBody::CallStart(CallStart {
                call: CallId::new("c9"),
                wire_id: mark.to_owned(),
                tool: "bash".to_owned(),
                input: json!({"command": "make"}),
                spool: None,
            }),
        );
        let shown = Screen::new(80, 24, record).shown();
        assert!(
            shown.lines().any(|line| line.contains(&format!("{mark} ")) && line.contains("make")),
            "{shown}"
        );
        assert_eq!(shown.contains("not shown to the model"), told, "{shown}");
    }
}

#[test]
fn why_a_request_is_tried_again_is_said_in_full() {
    let mut screen = Screen::new(80, 24, record::full());
    let why = "the provider answered 429: too many requests, slow down please";
    screen.change(|record| {
        record::status(record, |status| {
            status.phase = Phase::Retrying { attempt: 2, at: Millis(30_000), why: why.to_owned() };
        });
    });
    let shown = screen.shown();
    assert!(shown.contains(why) && shown.contains("Alt-R try now") && shown.contains("try 2 in"), "{shown}");
}
