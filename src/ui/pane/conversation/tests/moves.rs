//! Scrolling and searching, in what stands and in what streams in.

use super::*;

#[test]
fn scrolled_up_stays_and_a_mark_tells_of_new_output() {
    let mut fake = Fake::new();
    fake.begin();
    for line in 0..50 {
        fake.stream(PartKind::Text, &format!("line {line}\n\n"));
    }
    let mut state = synced(&fake);
    draw(&mut state, 40, 10);
    press(&mut state, Msg::Lines(-20));
    let before = screen(&mut state, 40, 10);
    fake.stream(PartKind::Text, "and on and on\n\nmore");
    state.sync(&fake.0);
    let after = screen(&mut state, 40, 10);
    assert_eq!(after.lines().next(), before.lines().next());
    assert!(after.contains("new output"));
    let top = after.lines().next().unwrap_or_default().trim().to_owned();
    for width in [12, 100, 33, 40] {
        assert!(screen(&mut state, width, 10).lines().next().unwrap_or_default().contains(&top));
    }
    press(&mut state, Msg::Bottom);
    let end = screen(&mut state, 40, 10);
    assert!(end.contains("more") && !end.contains("new output"));
    press(&mut state, Msg::Top);
    assert!(screen(&mut state, 40, 10).starts_with(" line 0"));
    press(&mut state, Msg::Pages(1));
    assert!(!screen(&mut state, 40, 10).contains("line 0\n"));
}

#[test]
fn the_mark_stays_in_view_when_the_view_moves() {
    let mut fake = Fake::new();
    for n in 0..60 {
        fake.user(&format!("message {n}"));
    }
    let mut state = synced(&fake);
    draw(&mut state, 40, 10);
    press(&mut state, Msg::Previous);
    let marked = |state: &State| {
        let id = state.selected.expect("a mark");
        state.items.iter().position(|item| item.id == id).expect("an item")
    };
    assert_eq!(marked(&state), 59);
    press(&mut state, Msg::Top);
    draw(&mut state, 40, 10);
    let seen = |state: &mut State| {
        super::super::view::visible(state).iter().map(|spot| spot.item).collect::<Vec<_>>()
    };
    assert!(seen(&mut state).contains(&marked(&state)), "{}", marked(&state));
    press(&mut state, Msg::Next);
    assert!(marked(&state) < 10, "{}: the view was thrown back", marked(&state));
    for pages in [3, 2, -1, 9, -2] {
        press(&mut state, Msg::Pages(pages));
        assert!(seen(&mut state).contains(&marked(&state)), "{pages}");
    }
    press(&mut state, Msg::Bottom);
    assert!(marked(&state) > 50);
    // also without a mark before
    for (to, first) in [(Msg::First, 0), (Msg::Last, 59)] {
        press(&mut state, Msg::Deselect);
        press(&mut state, to);
        assert_eq!(marked(&state), first);
    }
    press(&mut state, Msg::Deselect);
    press(&mut state, Msg::Top);
    press(&mut state, Msg::Previous);
    assert!(seen(&mut state).contains(&marked(&state)), "the last in view, not of all");
}

#[test]
fn a_search_finds_hits_in_folded_items_too() {
    let mut state = synced(&full());
    draw(&mut state, 66, 12);
    press(&mut state, Msg::Search("LEXER::EOF".into()));
    assert_eq!(state.hits(), Some((0, 0)));
    press(&mut state, Msg::Search("lexer::eof".into()));
    assert_eq!(state.hits(), Some((1, 1)));
    assert!(screen(&mut state, 66, 12).contains("lexer::eof"));
    press(&mut state, Msg::Search("lexer".into()));
    let (count, _) = state.hits().unwrap();
    let theme = Theme {
        hit_current: ratatui::style::Style::new().fg(ratatui::style::Color::Red),
        ..Theme::default()
    };
    for _ in 0..count {
        press(&mut state, Msg::SearchNext);
        let area = Rect::new(0, 0, 66, 12);
        let mut buffer = Buffer::empty(area);
        view(&mut state, area, &mut buffer, &theme, Millis(0));
        assert!(
            buffer.content.iter().any(|cell| cell.fg == ratatui::style::Color::Red),
            "{:?}",
            state.hits()
        );
    }
    press(&mut state, Msg::SearchPrevious);
    press(&mut state, Msg::Search(String::new()));
    assert_eq!(state.hits(), None);
}

#[derive(Clone, Debug)]
enum Step {
    Text(String),
    Thinking(String),
    Commit,
    User,
    Notice,
    Sync,
    Draw(u16, u16),
    Scroll(i32),
    Toggle,
    Select(bool),
}

fn step() -> impl Strategy<Value = Step> {
    let text = prop_oneof![
        "[a-z *`]{1,30}",
        Just("\n".to_owned()),
        Just("\n\n".to_owned()),
        Just("\n```rust\n".to_owned()),
        Just("\n- item\n".to_owned()),
        Just("\n| a | b |\n|---|---|\n| 1 | 2 |\n".to_owned()),
    ];
    prop_oneof![
        8 => text.clone().prop_map(Step::Text),
        2 => text.prop_map(Step::Thinking),
        1 => Just(Step::Commit),
        1 => Just(Step::User),
        1 => Just(Step::Notice),
        4 => Just(Step::Sync),
        3 => (1u16..60, 1u16..20).prop_map(|(w, h)| Step::Draw(w, h)),
        2 => (-9i32..9).prop_map(Step::Scroll),
        1 => Just(Step::Toggle),
        1 => any::<bool>().prop_map(Step::Select),
    ]
}

fn take(fake: &mut Fake, step: &Step, state: &mut State) {
    match step {
        Step::Text(text) => fake.stream(PartKind::Text, text),
        Step::Thinking(text) => fake.stream(PartKind::Thinking, text),
        Step::Commit => {
            let blocks = fake.0.live.parts.iter().map(|part| match part.kind {
                PartKind::Thinking => Body::Thinking(part.text.clone()),
                PartKind::Text | PartKind::Call(_) => Body::Text(part.text.clone()),
            });
            let blocks = blocks.collect();
            fake.answer(blocks, Finish::Finished(Stop::End));
            fake.begin();
        }
        Step::User => fake.user("a *message*"),
        Step::Notice => fake.commit(EntryBody::Notice(Notice { level: Level::Info, text: "n".into() })),
        Step::Sync => {
            state.sync(&fake.0);
        }
        Step::Draw(width, height) => {
            draw(state, *width, *height);
        }
        Step::Scroll(rows) => drop(press(state, Msg::Lines(*rows))),
        Step::Toggle => drop(press(state, Msg::Toggle)),
        Step::Select(forward) => drop(press(state, if *forward { Msg::Next } else { Msg::Previous })),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_streaming_resizing_and_scrolling_equals_a_fresh_layout(
        steps in prop::collection::vec(step(), 0..60), width in 1u16..60, height in 1u16..24
    ) {
        let mut fake = Fake::new();
        fake.begin();
        let mut state = State::default();
        for step in &steps {
            take(&mut fake, step, &mut state);
        }
        state.sync(&fake.0);
        press(&mut state, Msg::Bottom);
        press(&mut state, Msg::Deselect);
        let mut fresh = synced(&fake);
        // the same folds
        let folds: Vec<Option<bool>> = state.items.iter().map(|item| item.open).collect();
        prop_assert_eq!(folds.len(), fresh.items.len());
        for (item, open) in fresh.items.iter_mut().zip(folds) {
            item.open = open;
        }
        prop_assert_eq!(draw(&mut state, width, height), draw(&mut fresh, width, height));
        press(&mut state, Msg::Top);
        press(&mut fresh, Msg::Top);
        prop_assert_eq!(draw(&mut state, width, height), draw(&mut fresh, width, height));
    }
    #[test]
    fn scrolling_through_shows_every_row_once(
        steps in prop::collection::vec(step(), 0..40), width in 8u16..50, height in 1u16..9
    ) {
        let (seen, all) = scrolled_through(&steps, width, height);
        prop_assert_eq!(seen, all);
    }
}

/// The rows that scrolling from the top to the end shows, and those of a view that holds all.
fn scrolled_through(steps: &[Step], width: u16, height: u16) -> (Vec<String>, Vec<String>) {
    let mut fake = Fake::new();
    fake.begin();
    let mut state = State::default();
    for step in steps {
        take(&mut fake, step, &mut state);
    }
    state.sync(&fake.0);
    press(&mut state, Msg::Deselect);
    press(&mut state, Msg::Bottom);
    if state.items.is_empty() {
        return Default::default();
    }
    let mut all = lines(&draw(&mut state, width, 700));
    draw(&mut state, width, height);
    press(&mut state, Msg::Top);
    let mut seen = lines(&draw(&mut state, width, height));
    for _ in 0..700 {
        if state.follows() {
            break;
        }
        press(&mut state, Msg::Lines(1));
        seen.extend(lines(&draw(&mut state, width, height)).pop());
    }
    for lines in [&mut seen, &mut all] {
        while lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
    }
    (seen, all)
}

#[test]
fn a_blank_text_before_what_is_in_view_is_no_row_to_scroll_by() {
    let steps = [Step::Text(" ".into()), Step::Thinking("*".into())];
    let (seen, all) = scrolled_through(&steps, 8, 2);
    assert_eq!(seen, all);
}

/// The style that hits have in these tests.
fn hit_theme() -> Theme {
    use ratatui::style::{Color, Style};
    Theme {
        hit: Style::new().bg(Color::Yellow),
        hit_current: Style::new().bg(Color::Red),
        ..Theme::default()
    }
}

fn marked(state: &mut State, width: u16, colour: ratatui::style::Color) -> String {
    let area = Rect::new(0, 0, width, 20);
    let mut buffer = Buffer::empty(area);
    view(state, area, &mut buffer, &hit_theme(), Millis(0));
    buffer.content.iter().filter(|cell| cell.bg == colour).map(|cell| cell.symbol()).collect()
}

#[test]
fn a_hit_over_a_soft_wrap_is_marked_on_both_rows() {
    use ratatui::style::Color;
    let mut fake = Fake::new();
    fake.user("one two three four five six seven eight nine ten eleven twelve");
    let mut state = synced(&fake);
    for width in [24, 31, 40, 80] {
        draw(&mut state, width, 20);
        press(&mut state, Msg::Search("three four five six seven".into()));
        assert_eq!(state.hits(), Some((1, 1)));
        let seen = marked(&mut state, width, Color::Red).replace(' ', "");
        assert_eq!(seen, "threefourfivesixseven", "{width}");
    }
}

#[test]
fn a_folded_head_tells_of_its_hits_and_stepping_goes_round() {
    let mut state = synced(&full());
    draw(&mut state, 66, 24);
    press(&mut state, Msg::Search("zzz".into()));
    assert_eq!(state.hits(), Some((0, 0)));
    press(&mut state, Msg::Search("FAILED".into()));
    let (all, at) = state.hits().unwrap();
    assert_eq!((all, at), (1, 1));
    press(&mut state, Msg::Search("old".into()));
    press(&mut state, Msg::SearchNext);
    assert_eq!(state.hits(), Some((1, 1)), "round to itself");
    // folded again by hand, its head says what it holds
    press(&mut state, Msg::ToggleAll);
    press(&mut state, Msg::ToggleAll);
    let shown = screen(&mut state, 66, 24);
    let row = shown.lines().find(|line| line.contains("edit")).unwrap_or_default().to_owned();
    assert!(row.contains(" 1 hit "), "{shown}");
}

#[test]
fn a_search_of_ten_thousand_entries_goes_by_slices_and_the_nearest_hit_comes_first() {
    let mut fake = Fake::new();
    for n in 0..5_000 {
        fake.user(&format!("question {n}"));
        fake.answer(vec![Body::Text("word ".repeat(400))], Finish::Finished(Stop::End));
    }
    let mut state = synced(&fake);
    draw(&mut state, 80, 40);
    press(&mut state, Msg::Top);
    draw(&mut state, 80, 40);
    press(&mut state, Msg::Search("question 7".into()));
    assert!(state.seeks(), "ten megabytes are more than a slice");
    assert_eq!(state.hits().map(|(_, at)| at), Some(1));
    assert!(screen(&mut state, 80, 40).contains("question 7"));
    let mut slices = 0;
    while state.seeks() {
        press(&mut state, Msg::More);
        slices += 1;
    }
    assert!(slices > 1, "{slices}");
    // 7, 70 to 79, 700 to 799
    assert_eq!(state.hits(), Some((111, 1)));
    press(&mut state, Msg::SearchPrevious);
    assert_eq!(state.hits(), Some((111, 111)));
    // what comes meanwhile is counted too
    fake.user("question 7 again");
    state.sync(&fake.0);
    press(&mut state, Msg::SearchNext);
    assert_eq!(state.hits(), Some((112, 112)));
}

#[test]
fn what_is_searched_is_what_is_shown_and_typing_on_finds_the_same() {
    let mut fake = Fake::new();
    for n in 0..20 {
        let text = format!(
            "A w**or**d of `code {n}`, [a link](https://a.example)\n\n| **c**ell | x |\n|---|---|\n| o*n*e | 2 |\n"
        );
        fake.answer(vec![Body::Text(text)], Finish::Finished(Stop::End));
    }
    let mut state = synced(&fake);
    draw(&mut state, 60, 20);
    let mut hits = |query: &str| {
        press(&mut state, Msg::Search(query.into()));
        while state.has_more() {
            press(&mut state, Msg::More);
        }
        let found = state.hits().map(|(all, _)| all);
        let shown = screen(&mut state, 60, 20);
        (found, shown)
    };
    assert_eq!(hits("a word of code").0, Some(20));
    assert_eq!(hits("cell").0, Some(20));
    assert_eq!(hits("one").0, Some(20));
    assert_eq!(hits("**").0, Some(0));
    // a letter at a time, as it is typed
    for (typed, wanted) in
        [("c", None), ("co", None), ("code 1", Some(11)), ("code 19", Some(1)), ("code", Some(20))]
    {
        let (found, shown) = hits(typed);
        assert!(wanted.is_none() || found == wanted, "{typed}: {found:?}");
        assert!(shown.contains("code"), "{shown}");
    }
    // what streams on is searched again
    let mut fake = Fake::new();
    fake.begin();
    fake.stream(PartKind::Text, "some **wo");
    let mut state = synced(&fake);
    draw(&mut state, 60, 20);
    press(&mut state, Msg::Search("wor".into()));
    assert_eq!(state.hits(), Some((0, 0)));
    fake.stream(PartKind::Text, "rd**");
    state.sync(&fake.0);
    press(&mut state, Msg::Search("word".into()));
    assert_eq!(state.hits(), Some((1, 1)));
}

#[test]
fn failures_and_calls_are_gone_to_both_ways() {
    let mut state = synced(&full());
    draw(&mut state, 66, 24);
    let name = |state: &State| {
        let item = state.items.iter().find(|item| Some(item.id) == state.selected);
        match item.map(|item| &item.body) {
            Some(super::super::item::Body::Call(call)) => call.title.clone(),
            _ => String::new(),
        }
    };
    press(&mut state, Msg::NextCall);
    let first = name(&state);
    press(&mut state, Msg::NextCall);
    let second = name(&state);
    assert!(!first.is_empty() && !second.is_empty() && first != second);
    press(&mut state, Msg::PreviousCall);
    assert_eq!(name(&state), first);
    press(&mut state, Msg::PreviousError);
    assert_eq!(name(&state), "cargo test");
}
