//! What the pane draws: goldens at several sizes, colours, very long things.

use super::*;

#[test]
fn only_the_newest_list_of_things_to_do_stands_open() {
    let mut fake = Fake::new();
    let items = |state| vec![TodoItem { text: "mend the lexer".into(), state }];
    for (call, state) in [("t1", TodoState::Active), ("t2", TodoState::Done)] {
        fake.start(call, "todo", json!({}));
        fake.settle(call, CallStatus::Ok, "", Details::Todo { items: items(state) });
    }
    let mut state = synced(&fake);
    let shown = screen(&mut state, 60, 10);
    assert_eq!(shown.matches("mend the lexer").count(), 1, "{shown}");
    assert!(shown.contains("0 of 1 done") && shown.contains("1 of 1 done"), "{shown}");
    press(&mut state, Msg::ToggleAll);
    assert_eq!(screen(&mut state, 60, 10).matches("mend the lexer").count(), 2);
}

#[test]
fn a_turn_reads_well_at_66_columns() {
    let mut fake = full();
    let mut state = synced(&fake);
    fake.0.calls.report(&CallId::new("c4"), |progress| {
        progress.lines = 41;
        progress.tail = "test lexer::nested ... ok\n".into();
    });
    fake.0.revision += 1;
    assert!(state.sync(&fake.0) && state.animates());
    insta::assert_snapshot!("running", screen(&mut state, 66, 24));
    fake.settle("c4", CallStatus::Cancelled, "", Details::None);
    fake.commit(EntryBody::TurnEnd(TurnEnd { status: TurnStatus::Interrupted, why: None }));
    fake.commit(EntryBody::Notice(Notice { level: Level::Warning, text: "the disk is nearly full".into() }));
    let summary = "## Goal\nA lexer.".to_owned();
    fake.commit(EntryBody::Compaction(Compaction {
        summary,
        keep_from: None,
        tokens_before: 120_000,
        tokens_after: 9_500,
    }));
    fake.commit(EntryBody::TurnEnd(TurnEnd {
        status: TurnStatus::Failed,
        why: Some("the key was refused".into()),
    }));
    state.sync(&fake.0);
    assert!(!state.animates());
    let shown = screen(&mut state, 66, 34);
    assert!(
        shown.contains("interrupted") && shown.contains("cancelled") && shown.contains("Alt-R tries again")
    );
    insta::assert_snapshot!("ended", shown);
    press(&mut state, Msg::ToggleAll);
    insta::assert_snapshot!("opened", screen(&mut state, 66, 60));
    press(&mut state, Msg::ToggleAll);
    insta::assert_snapshot!("narrow", screen(&mut state, 20, 60));
}

#[test]
fn every_size_from_1x1_can_be_drawn() {
    let mut state = synced(&full());
    press(&mut state, Msg::ToggleAll);
    for (width, height) in
        [(1, 1), (2, 1), (1, 9), (3, 3), (5, 2), (12, 4), (23, 5), (24, 5), (200, 2), (0, 0)]
    {
        draw(&mut state, width, height);
        draw(&mut State::default(), width, height);
    }
    assert!(screen(&mut State::default(), 60, 10).contains("Type a message"));
}

#[test]
fn code_is_coloured_when_the_colours_come() {
    let (ring, bell) = std::sync::mpsc::sync_channel(64);
    let wake: crate::link::Wake = Arc::new(move || {
        let _ = ring.try_send(());
    });
    let mut fake = Fake::new();
    fake.begin();
    fake.stream(PartKind::Text, "```rust\nfn main() {}\nlet part");
    let mut state = State::new(wake);
    state.sync(&fake.0);
    let theme = Theme {
        syntax_keyword: ratatui::style::Style::new().fg(ratatui::style::Color::Blue),
        ..Theme::default()
    };
    let blue = |state: &mut State| {
        let area = Rect::new(0, 0, 40, 6);
        let mut buffer = Buffer::empty(area);
        view(state, area, &mut buffer, &theme, Millis(0));
        buffer.content.iter().filter(|cell| cell.fg == ratatui::style::Color::Blue).count()
    };
    assert_eq!(blue(&mut state), 0);
    bell.recv_timeout(std::time::Duration::from_secs(60)).unwrap();
    assert!(state.sync(&fake.0));
    assert_eq!(blue(&mut state), 2, "fn, and not the line that is not whole yet");
    fake.answer(
        vec![Body::Text("```rust\nfn main() {}\nlet part = 1;\n```".into())],
        Finish::Finished(Stop::End),
    );
    state.sync(&fake.0);
    assert_eq!(blue(&mut state), 2, "the colours stay when the answer is committed");
    bell.recv_timeout(std::time::Duration::from_secs(60)).unwrap();
    assert!(state.sync(&fake.0));
    assert_eq!(blue(&mut state), 5);
}

#[test]
fn ten_thousand_entries_lay_out_the_viewport_only() {
    let mut fake = Fake::new();
    for n in 0..5_000 {
        fake.user(&format!("question {n}"));
        fake.answer(
            vec![Body::Text(format!("answer {n} {}", "word ".repeat(80)))],
            Finish::Finished(Stop::End),
        );
    }
    let mut state = synced(&fake);
    assert!(screen(&mut state, 80, 40).contains("answer 4999"));
    assert!(state.cache.held() < 200, "{} rows were laid out", state.cache.held());
    press(&mut state, Msg::Top);
    assert!(screen(&mut state, 60, 40).contains("question 0"));
    for _ in 0..900 {
        press(&mut state, Msg::Pages(1));
        draw(&mut state, 60, 40);
    }
    assert!(state.cache.held() < 6_000, "{} rows are held", state.cache.held());
}

#[test]
fn a_line_of_123_427_characters_and_a_huge_message_are_drawn() {
    let mut fake = Fake::new();
    fake.user(&"x".repeat(123_427));
    fake.user(&"line\n".repeat(10_000));
    fake.answer(vec![Body::Text("y".repeat(123_427))], Finish::Truncated("cut".into()));
    let mut state = synced(&fake);
    for _ in 0..30 {
        draw(&mut state, 80, 40);
        press(&mut state, Msg::Pages(-1));
    }
    assert!(state.cache.held() < 2_000);
}
