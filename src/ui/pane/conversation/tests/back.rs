//! Coming back to a conversation, and the bar that tells where one is in it.

use super::*;

fn talk(entries: usize) -> Fake {
    let mut fake = Fake::new();
    for n in 0..entries {
        fake.user(&format!("question {n}"));
        fake.answer(
            vec![Body::Thinking(format!("thought {n}")), Body::Text("word ".repeat(60))],
            Finish::Finished(Stop::End),
        );
    }
    fake
}

/// A state of the same record, as another run of the screen makes it.
fn again(fake: &Fake, kept: Option<Kept>) -> State {
    let mut state = State::default();
    state.come_back(kept, crate::ui::widget::diff::Shape::default());
    // its entries come behind the first frame, and not all at once
    let mut opening = Fake::new();
    state.sync(&opening.0);
    draw(&mut state, 60, 20);
    opening.0.path = fake.0.path[..fake.0.path.len() / 2].to_vec();
    opening.0.revision += 1;
    state.sync(&opening.0);
    opening.0.path = fake.0.path.clone();
    opening.0.revision += 1;
    state.sync(&opening.0);
    state
}

#[test]
fn one_comes_back_to_where_one_was() {
    let mut fake = talk(30);
    let mut state = synced(&fake);
    draw(&mut state, 60, 20);
    press(&mut state, Msg::Pages(-6));
    press(&mut state, Msg::PreviousUser);
    press(&mut state, Msg::Next);
    press(&mut state, Msg::Toggle);
    press(&mut state, Msg::Lines(-2));
    let before = screen(&mut state, 60, 20);
    assert!(before.contains("▾ thinking"), "{before}");
    let kept = state.kept(&fake.0.path);
    assert_eq!(screen(&mut again(&fake, kept.clone()), 60, 20), before);
    // what came meanwhile stands below it
    fake.user("one more");
    let shown = screen(&mut again(&fake, kept.clone()), 60, 20);
    let above = |shown: &str| shown.lines().take(19).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(above(&shown), above(&before));
    assert!(shown.contains("↓ new output"), "{shown}");
    // another conversation has no such place, and one that was cut neither
    let mut other = talk(30);
    let last = Arc::make_mut(&mut other.0.path[59]);
    last.id = EntryId::new("another");
    assert!(kept.is_some() && again(&other, kept.clone()).follows());
    assert!(again(&talk(3), kept).follows());
    assert_eq!(State::default().kept(&[]), None);
}

#[test]
fn a_bar_tells_where_the_view_is_and_what_failed() {
    let mut fake = talk(20);
    fake.commit(EntryBody::TurnEnd(TurnEnd { status: TurnStatus::Failed, why: Some("no".into()) }));
    for n in 0..20 {
        fake.user(&format!("later {n}"));
    }
    let mut state = synced(&fake);
    let column = |state: &mut State| -> String {
        let mut buf = Buffer::empty(Rect::new(0, 0, 61, 20));
        view(state, Rect::new(0, 0, 60, 20), &mut buf, &Theme::default(), Millis(0));
        state.bar(Rect::new(60, 0, 1, 20), &mut buf, &Theme::default());
        (0..20).map(|y| buf[(60, y)].symbol().to_owned()).collect()
    };
    assert_eq!(column(&mut state).trim(), "", "at the end there is none");
    press(&mut state, Msg::Top);
    let top = column(&mut state);
    assert!(top.starts_with('┃') && top.contains('✗') && top.ends_with(' '), "{top}");
    press(&mut state, Msg::Pages(2));
    let below = column(&mut state);
    assert!(below.starts_with(' ') && below.contains('┃') && below.ends_with(' '), "{below}");
    press(&mut state, Msg::Bottom);
    press(&mut state, Msg::Search("question 3".into()));
    let found = column(&mut state);
    assert!(found.contains('◆'), "{found}");
}
