//! What the composer tells of a draft, earlier prompts of all directories, the tour of the first start, and the keys of vi.

use std::sync::Arc;

use super::overlays::reply;
use super::{Screen, record};
use windlass::api::command::{Command, Query};
use windlass::api::event::{EarlierPrompt, ModelInfo, Reply};
use windlass::ui::input::Input;
use windlass::ui::{Effect, Model, Msg, UiOptions};

#[test]
fn a_long_draft_says_its_tokens_and_what_it_costs_and_a_short_one_nothing() {
    let mut record = record::empty();
    record::status(&mut record, |status| status.model = "m".into());
    let mut screen = Screen::new(80, 24, record);
    screen.write("short");
    assert!(!screen.shown().contains("tokens"));
    assert!(screen.model.wants().is_none());
    screen.tell(Msg::Input(Input::Paste("word ".repeat(4000))));
    assert!(screen.shown().contains("≈ 5K tokens"), "{}", screen.shown());
    let asked = screen.model.wants().expect("the prices are asked for");
    let price = Some((3.0, 15.0));
    let model = ModelInfo { id: "m".into(), window: None, price, usable: true, missing: None };
    reply(&mut screen, &[Effect::Send(asked)], Reply::Models(vec![model]));
    assert!(screen.shown().contains("≈ 5K tokens · ≈ $0.22 with the conversation"), "{}", screen.shown());
    assert!(screen.model.wants().is_none(), "once");
    let effects = screen.keys("ctrl-x x");
    reply(&mut screen, &effects, Reply::Context(Vec::new()));
    assert!(screen.shown().contains("what you are writing comes to it: ≈ 5K tokens"), "{}", screen.shown());
}

#[test]
fn earlier_prompts_are_looked_for_in_all_directories() {
    let mut screen = Screen::new(80, 24, record::empty());
    let effects = screen.keys("ctrl-r");
    reply(&mut screen, &effects, Reply::Prompts(vec!["of here".into()]));
    assert!(screen.shown().contains("of here"));
    let effects = screen.keys("ctrl-a");
    let asks =
        |effect: &Effect| matches!(effect, Effect::Send(Command::Ask { query: Query::PromptsOfAll, .. }));
    assert!(effects.iter().any(asks), "{effects:?}");
    let found = EarlierPrompt { text: "of there\nand more".into(), cwd: "/srv/other".into() };
    reply(&mut screen, &effects, Reply::PromptsOfAll(vec![found]));
    let shown = screen.shown();
    assert!(shown.contains("of there ⏎ and more") && shown.contains("/srv/other"), "{shown}");
    screen.keys("enter");
    assert_eq!(screen.model.composer.draft.shown(), "of there\nand more");
    screen.keys("ctrl-c ctrl-r ctrl-a ctrl-a");
    assert!(screen.shown().contains("of here"), "{}", screen.shown());
}

#[test]
fn the_tour_opens_at_the_first_start_and_a_key_ends_it() {
    let record = record::empty();
    let opened = |options: UiOptions| Model::new(&options, &record, Arc::new(|| {})).0.overlays.len();
    assert_eq!(opened(UiOptions { tour: true, ..UiOptions::default() }), 1);
    let prompt = Some("go".to_owned());
    assert_eq!(opened(UiOptions { tour: true, prompt, ..UiOptions::default() }), 0, "something is asked for");
    assert_eq!(opened(UiOptions { tour: true, screen_reader: true, ..UiOptions::default() }), 0);
    let mut screen = Screen::new(80, 24, record);
    let options = UiOptions { tour: true, ..UiOptions::default() };
    screen.model = Model::new(&options, &screen.record, Arc::new(|| {})).0;
    screen.resize(80, 24);
    assert!(screen.shown().contains("1 of 5"), "{}", screen.shown());
    screen.keys("enter esc");
    screen.write("hello");
    assert_eq!(screen.model.composer.draft.shown(), "hello");
}

#[test]
fn the_mode_of_the_keys_of_vi_stands_over_the_draft() {
    for (columns, rows) in [(120, 40), (80, 24), (60, 12)] {
        let mut screen = Screen::new(columns, rows, record::empty());
        screen.model.composer.vi = Some(Default::default());
        assert!(screen.shown().contains(" insert "), "{}", screen.shown());
        screen.write("one two");
        screen.keys("esc 2 d");
        assert!(screen.shown().contains(" normal 2d "), "{}", screen.shown());
        screen.keys("b v");
        assert!(screen.shown().contains(" visual "), "{}", screen.shown());
        screen.keys("esc ctrl-p");
        assert_eq!(screen.model.overlays.len(), 1, "the program's keys are what they were");
    }
}

#[test]
fn an_image_has_its_size_and_where_the_terminal_shows_it_a_thumbnail() {
    use base64::Engine as _;
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    png.extend([0, 0, 7, 128, 0, 0, 4, 56]);
    let data = base64::engine::general_purpose::STANDARD.encode(png);
    let image = windlass::api::message::Image {
        media_type: "image/png".into(),
        data,
        blob: None,
        name: "/tmp/shot.png".into(),
    };
    let mut screen = Screen::new(80, 24, record::empty());
    screen.tell(Msg::Composer(windlass::ui::pane::composer::Msg::Image(image)));
    let shown = screen.shown();
    assert!(shown.contains("[image 1: shot.png, 1920×1080, 24 B]"), "{shown}");
    assert!(shown.contains("and an image"), "{shown}");
    screen.model.thumbnails = true;
    let cells = |screen: &mut Screen| screen.shown().matches('\u{10eeee}').count();
    assert_eq!(cells(&mut screen), 4 * 15);
    assert_eq!(screen.draw(), 0, "a frame that changes nothing writes nothing");
    let mut told = windlass::ui::window::Window::new(false);
    let bytes = told.beside(&screen.model);
    assert!(bytes.starts_with(b"\x1b_Ga=T,U=1,f=100"), "{bytes:?}");
    assert!(told.beside(&screen.model).is_empty(), "once");
    screen.keys("ctrl-c");
    assert_eq!(cells(&mut screen), 0);
    assert!(told.beside(&screen.model).starts_with(b"\x1b_Ga=d"));
    screen.resize(80, 12);
    assert_eq!(cells(&mut screen), 0, "where there is little room the words stand for it");
}
