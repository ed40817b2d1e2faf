//! An answer and its calls while they stream in, and when they are committed.

use super::*;

#[test]
fn an_answer_that_streams_becomes_the_committed_one_without_a_change() {
    let mut fake = Fake::new();
    fake.user("go");
    fake.begin();
    let mut state = synced(&fake);
    fake.stream(PartKind::Thinking, "hm");
    fake.stream(PartKind::Text, "Some **text**\n\nand more");
    state.sync(&fake.0);
    press(&mut state, Msg::PreviousUser);
    press(&mut state, Msg::Next);
    press(&mut state, Msg::Toggle);
    let before = screen(&mut state, 40, 12);
    assert!(before.contains("▾ thinking") && before.contains("and more"), "{before}");
    fake.answer(
        vec![Body::Thinking("hm".into()), Body::Text("Some **text**\n\nand more".into())],
        Finish::Finished(Stop::End),
    );
    state.sync(&fake.0);
    assert_eq!(screen(&mut state, 40, 12), before);
    // the next one forgets the parts of one that was never committed
    fake.begin();
    fake.stream(PartKind::Text, "lost");
    state.sync(&fake.0);
    assert!(screen(&mut state, 40, 12).contains("lost"));
    fake.begin();
    fake.stream(PartKind::Text, "second try");
    state.sync(&fake.0);
    let shown = screen(&mut state, 40, 12);
    assert!(!shown.contains("lost") && shown.contains("second try"));
}

#[test]
fn a_notice_while_an_answer_streams_stands_before_it_once() {
    let mut fake = Fake::new();
    fake.begin();
    fake.stream(PartKind::Text, "streaming");
    let mut state = synced(&fake);
    fake.commit(EntryBody::Notice(Notice { level: Level::Info, text: "noticed".into() }));
    fake.stream(PartKind::Text, " on");
    state.sync(&fake.0);
    let shown = screen(&mut state, 40, 5);
    assert_eq!(shown.matches("noticed").count(), 1);
    assert!(shown.contains("streaming on"));
    fake.0.epoch += 1;
    fake.0.path.clear();
    fake.0.live = Live { number: 9, parts: Vec::new() };
    fake.0.revision += 1;
    state.sync(&fake.0);
    assert!(screen(&mut state, 40, 8).contains("Nothing was said yet"));
}

#[test]
fn arguments_that_stream_name_what_they_are_for_as_soon_as_they_say_it() {
    let mut fake = Fake::new();
    fake.begin();
    fake.stream(PartKind::Call("write".into()), "{\"path\": \"src/ma");
    let mut state = synced(&fake);
    assert!(!screen(&mut state, 60, 3).contains("src"));
    fake.stream(PartKind::Call("write".into()), "in.rs\", \"content\": \"fn");
    state.sync(&fake.0);
    let shown = screen(&mut state, 60, 3);
    assert!(shown.contains("write  src/main.rs") && shown.contains("… 38 B"), "{shown}");
    fake.answer(
        vec![Fake::call("c1", "write", json!({"path": "src/main.rs", "content": "fn"}))],
        Finish::Finished(Stop::Calls),
    );
    state.sync(&fake.0);
    assert_eq!(screen(&mut state, 60, 9).matches("src/main.rs").count(), 1);
}
