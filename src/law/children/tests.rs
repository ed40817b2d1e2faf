//! The law of children: every state that few children can reach, and random histories of many.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use proptest::prelude::*;

use super::*;

const NOW: Millis = Millis(0);
const STALL: Millis = Millis(1000);

fn few(at_once: u32) -> Children {
    Children::new(Bounds { at_once, depth: 2, stall: Some(STALL) })
}

/// Something that happens to the children.
#[derive(Clone, Debug)]
enum Act {
    Ask(Option<&'static str>, &'static str, bool),
    On(&'static str, Event),
    Tick,
    Cut,
}

fn acts() -> Vec<Act> {
    let mut acts =
        vec![Act::Ask(None, "a", true), Act::Ask(None, "b", false), Act::Ask(Some("a"), "x", true)];
    for path in ["a", "b", "a/x"] {
        let mut on = |event| acts.push(Act::On(path, event));
        on(Event::Prepared);
        on(Event::Unprepared(None));
        on(Event::Waits);
        on(Event::Goes);
        on(Event::Over(End::Answered));
        on(Event::Stop(By::User));
        on(Event::Stop(By::Rewind));
        on(Event::Closed);
        on(Event::HandedBack);
        on(Event::Woken);
        on(Event::Again);
    }
    for path in ["b", "a/x"] {
        acts.push(Act::On(path, Event::Asks(true)));
        acts.push(Act::On(path, Event::Used(10)));
        acts.push(Act::On(path, Event::Delete));
        acts.push(Act::On(path, Event::Unprepared(Some("no".into()))));
    }
    acts.push(Act::Tick);
    acts.push(Act::Cut);
    acts
}

fn carry_out(children: &mut Children, act: &Act) -> Vec<Effect> {
    match act {
        Act::Ask(parent, name, isolated) => {
            let parent = parent.map(str::to_owned);
            let asked = Asked { parent, name: (*name).into(), isolated: *isolated, budget: Some(10) };
            children.ask(asked, NOW).unwrap_or_default()
        }
        Act::On(path, event) => children.step(path, event.clone(), NOW),
        Act::Tick => children.tick(STALL),
        Act::Cut => children.cut(),
    }
}

/// Every state that is reached within so many acts, each with what led to it: `check` sees all steps.
fn search(at_once: u32, depth: usize, mut check: impl FnMut(&Children, &Act, &Children, &[Effect])) -> usize {
    let acts = acts();
    let mut seen = BTreeSet::from([few(at_once)]);
    let mut edge: Vec<Children> = seen.iter().cloned().collect();
    for _ in 0..depth {
        let mut next = Vec::new();
        for before in &edge {
            for act in &acts {
                let mut after = before.clone();
                let effects = carry_out(&mut after, act);
                check(before, act, &after, &effects);
                if !seen.contains(&after) {
                    seen.insert(after.clone());
                    next.push(after);
                }
            }
        }
        edge = next;
    }
    seen.len()
}

fn ended(children: &Children, path: &str) -> Option<End> {
    match children.state(path) {
        Some(State::Ended(end) | State::Again(end)) => Some(end.clone()),
        _ => None,
    }
}

const DEPTH: usize = 7;

#[test]
fn child_ends_once() {
    let seen = search(1, DEPTH, |before, act, after, effects| {
        for path in ["a", "b", "a/x"] {
            let told: Vec<&End> = effects
                .iter()
                .filter_map(|effect| match effect {
                    Effect::Ended(other, end) if other == path => Some(end),
                    _ => None,
                })
                .collect();
            let (was, is) = (ended(before, path), ended(after, path));
            match (&was, &is) {
                // an end is told in the step that brings it, and only then
                (None, Some(end)) => assert_eq!(told, [end], "{path} by {act:?}"),
                (Some(was), Some(is)) => assert!(was == is && told.is_empty(), "{path} by {act:?}"),
                // only somebody's word begins another run
                (Some(_), None) => {
                    assert!(matches!(act, Act::On(other, Event::Woken) if *other == path));
                    assert!(told.is_empty());
                }
                (None, None) => assert!(told.is_empty(), "{path} by {act:?}: {effects:?}"),
            }
        }
    });
    assert!(seen > 3_000, "only {seen} states");
}

#[test]
fn places_are_bounded() {
    for at_once in [1, 2] {
        search(at_once, DEPTH - 1, |before, act, after, effects| {
            let most = at_once as usize;
            let begins = effects.iter().any(|effect| matches!(effect, Effect::Prepare(_)));
            assert!(!begins || after.taken() <= most, "{act:?}: {effects:?}");
            // only who comes back from a wait goes past the bound
            let back = matches!(act, Act::On(_, Event::Goes));
            assert!(after.taken() <= most.max(before.taken()) || back, "{act:?}");
            // no place is free while one waits for it
            assert!(after.number("a").or(after.number("b")).is_none() || after.taken() >= most, "{act:?}");
        });
    }
}

#[test]
fn waiting_parent_holds_no_place() {
    search(1, DEPTH - 1, |_, act, after, _| {
        for path in ["a", "b", "a/x"] {
            let waits = matches!(
                after.state(path),
                Some(State::Working(Work::Waits | Work::Over(_)) | State::Waiting)
            );
            assert!(!waits || !after.has_place(path), "{path} by {act:?}");
        }
    });
    // with one place: a parent that waits lets its child work
    let mut children = few(1);
    carry_out(&mut children, &Act::Ask(None, "a", false));
    children.step("a", Event::Prepared, NOW);
    assert!(carry_out(&mut children, &Act::Ask(Some("a"), "x", false)).is_empty());
    assert_eq!(children.number("a/x"), Some(1));
    assert_eq!(children.step("a", Event::Waits, NOW), [Effect::Prepare("a/x".into())]);
}

#[test]
fn child_is_stopped_alone() {
    search(2, DEPTH - 1, |before, act, after, _| {
        let Act::On(path, Event::Stop(_) | Event::Delete | Event::Over(_) | Event::Used(_)) = act else {
            return;
        };
        for other in ["a", "b", "a/x"] {
            let under = other == *path || other.starts_with(&format!("{path}/"));
            // a parent that waited for it may end, and the next in the line has its place
            let follows = path.starts_with(&format!("{other}/")) || before.number(other).is_some();
            if !under && !follows {
                assert_eq!(before.state(other), after.state(other), "{other} by {act:?}");
            }
        }
    });
}

#[test]
fn child_stops_before_its_hand_back() {
    search(1, DEPTH, |before, act, after, effects| {
        for effect in effects {
            let Effect::HandBack(path) = effect else { continue };
            assert!(!after.any_lives(Some(path)), "{path} by {act:?}: its own children live");
            let closed = matches!(act, Act::On(other, Event::Closed) if other == path);
            let stood = matches!(
                before.state(path),
                Some(State::Cut | State::Waiting | State::Stopping(_, Stage::Closed) | State::Ended(_))
            );
            assert!(closed || stood, "{path} by {act:?}: its session is open");
            let rewound =
                matches!(after.state(path), Some(State::HandingBack(End::Stopped { by: By::Rewind })));
            assert!(!rewound, "{path} by {act:?}");
        }
    });
}

/// A shell that does what it is told, until nothing is left to do: every child comes to its end.
fn to_the_end(children: &mut Children, mut effects: VecDeque<Effect>) -> BTreeMap<String, End> {
    let mut ends = BTreeMap::new();
    for _ in 0..10_000 {
        let next = match effects.pop_front() {
            Some(Effect::Prepare(path)) => children.step(&path, Event::Prepared, NOW),
            Some(Effect::Begin(path)) => children.step(&path, Event::Over(End::Answered), NOW),
            Some(Effect::Close(path)) => children.step(&path, Event::Closed, NOW),
            Some(Effect::HandBack(path)) => children.step(&path, Event::HandedBack, NOW),
            Some(Effect::Ended(path, end)) => {
                assert_eq!(ends.insert(path, end), None);
                Vec::new()
            }
            Some(Effect::Halt(_) | Effect::Forget(_) | Effect::CameBack(_)) => Vec::new(),
            None => return ends,
        };
        effects.extend(next);
    }
    panic!("it goes on for ever");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// However many are asked for and whatever is done meanwhile: each that was asked for ends, and only once.
    #[test]
    fn every_child_that_was_asked_for_ends(
        at_once in 1u32..4,
        asks in proptest::collection::vec((0usize..5, 0usize..4, any::<bool>()), 1..30),
        stops in proptest::collection::vec((0usize..30, 0usize..30), 0..8),
    ) {
        let mut children = few(at_once);
        let mut effects = VecDeque::new();
        let mut asked: Vec<String> = Vec::new();
        for (at, (name, under, isolated)) in asks.into_iter().enumerate() {
            let name = format!("n{name}");
            let parent = asked.get(under).cloned().filter(|_| under > 0);
            let path = path_of(parent.as_deref(), &name);
            let ask = Asked { parent, name, isolated, budget: None };
            if let Ok(more) = children.ask(ask, NOW) {
                effects.extend(more);
                asked.push(path);
            }
            for (_, which) in stops.iter().filter(|(when, _)| *when == at) {
                if let Some(path) = asked.get(*which) {
                    effects.extend(children.step(path, Event::Stop(By::User), NOW));
                }
            }
            if at % 3 == 0 && let Some(Effect::Prepare(path)) = effects.front() {
                let path = path.clone();
                effects.pop_front();
                effects.extend(children.step(&path, Event::Prepared, NOW));
            }
        }
        let ends = to_the_end(&mut children, effects);
        for path in &asked {
            prop_assert!(ends.contains_key(path), "{path} never ended: {:?}", children.state(path));
        }
        prop_assert_eq!(children.taken(), 0);
    }
}

#[test]
fn who_is_silent_for_too_long_is_ended_unless_the_person_is_asked() {
    let mut children = few(2);
    for name in ["a", "b"] {
        carry_out(&mut children, &Act::Ask(None, name, false));
        children.step(name, Event::Prepared, NOW);
    }
    children.step("b", Event::Asks(true), NOW);
    assert_eq!(children.due(Millis(400)), Some(Millis(600)));
    assert!(children.tick(Millis(999)).is_empty());
    children.step("a", Event::Heard, Millis(500));
    assert!(children.tick(Millis(1499)).is_empty());
    let effects = children.tick(Millis(1500));
    assert_eq!(effects, [Effect::Halt("a".into()), Effect::Close("a".into())]);
    assert_eq!(
        children.step("a", Event::Closed, Millis(1600)),
        [Effect::Ended("a".into(), End::Stalled { after: Millis(1000) })]
    );
}

#[test]
fn what_is_refused_says_why() {
    let mut children = few(6);
    let mut ask = |parent: Option<&str>, name: &str| {
        let asked =
            Asked { parent: parent.map(str::to_owned), name: name.into(), isolated: false, budget: None };
        let asked = children.ask(asked, NOW).map(|_| ());
        children.step(&path_of(parent, name), Event::Prepared, NOW);
        asked
    };
    for name in ["", "a/b", "..", "é", "a b", &"x".repeat(NAME_MAX + 1)] {
        assert_eq!(ask(None, name), Err(Refusal::Name), "{name}");
    }
    assert_eq!(ask(None, "a"), Ok(()));
    assert_eq!(ask(None, "a"), Err(Refusal::Taken));
    assert_eq!(ask(Some("a"), "a"), Ok(()));
    assert_eq!(ask(Some("a/a"), "a"), Err(Refusal::Deep { depth: 2 }));
    assert_eq!(ask(Some("b"), "a"), Err(Refusal::ParentEnds));
}

/// Children of an earlier program, each with its own before it, as they are found.
fn found(own: Option<Found>, parent: Found) -> (Children, VecDeque<Effect>) {
    let mut children = few(1);
    let mut effects = VecDeque::new();
    if let Some(own) = own {
        effects.extend(children.found("a/x", true, own, Left::default()));
    }
    effects.extend(children.found("a", true, parent, Left::default()));
    (children, effects)
}

#[test]
fn what_an_earlier_program_left_ends_once_and_its_own_before_it() {
    let end = End::Stopped { by: By::Budget };
    for own in [None, Some(Found::Cut), Some(Found::HandsBack(end.clone())), Some(Found::Ended(end.clone()))]
    {
        for hands_back in [true, false] {
            let parent = if hands_back { Found::HandsBack(End::Answered) } else { Found::Cut };
            let (mut children, mut effects) = found(own.clone(), parent);
            if !hands_back {
                // one that is still handing back keeps its parent from going on
                let mut woken = children.clone();
                woken.step("a", Event::Woken, NOW);
                let ends = matches!(own, Some(Found::HandsBack(_)));
                assert_eq!(woken.state("a") == Some(&State::Cut), ends, "{own:?}");
                effects.extend(children.step("a", Event::Stop(By::User), NOW));
            }
            let mut told = Vec::new();
            while let Some(effect) = effects.pop_front() {
                match &effect {
                    Effect::HandBack(path) => {
                        assert!(!children.any_lives(Some(path)), "{own:?}: {path} before its own");
                        effects.extend(children.step(path, Event::HandedBack, NOW));
                    }
                    Effect::Ended(path, end) => told.push((path.clone(), end.clone())),
                    other => panic!("{own:?}: {other:?}"),
                }
            }
            let mut wanted = match &own {
                None | Some(Found::Ended(_)) => Vec::new(),
                Some(Found::Cut) => vec![("a/x".to_owned(), End::Stopped { by: By::Parent })],
                Some(Found::HandsBack(end)) => vec![("a/x".to_owned(), end.clone())],
            };
            let last = if hands_back { End::Answered } else { End::Stopped { by: By::User } };
            wanted.push(("a".to_owned(), last));
            assert_eq!(told, wanted, "{own:?}, {hands_back}");
        }
    }
}

#[test]
fn one_that_cannot_go_on_is_cut_as_it_was_and_keeps_its_copy() {
    for why in [None, Some("no disk".to_owned())] {
        let (mut children, _) = found(None, Found::Cut);
        assert_eq!(children.step("a", Event::Woken, NOW), [Effect::Prepare("a".into())]);
        assert!(children.step("a", Event::Unprepared(why.clone()), NOW).is_empty(), "{why:?}");
        assert_eq!((children.state("a"), children.taken()), (Some(&State::Cut), 0));
        assert_eq!(children.step("a", Event::Stop(By::User), NOW), [Effect::HandBack("a".into())]);
    }
    // and one that is stopped while its session is opened hands back what it did before
    let (mut children, _) = found(None, Found::Cut);
    children.step("a", Event::Woken, NOW);
    children.step("a", Event::Stop(By::User), NOW);
    assert_eq!(children.step("a", Event::Closed, NOW), [Effect::HandBack("a".into())]);
}

#[test]
fn what_failed_to_come_back_is_tried_again_and_its_end_is_told_no_second_time() {
    let (mut children, _) = found(Some(Found::Ended(End::Answered)), Found::Ended(End::Answered));
    assert_eq!(children.step("a/x", Event::Again, NOW), [Effect::HandBack("a/x".into())]);
    // its parent hands back when that has come into its copy, or not
    assert!(children.step("a", Event::Again, NOW).is_empty());
    assert!(children.step("a/x", Event::Again, NOW).is_empty(), "it is at it already");
    children.step("a/x", Event::Woken, NOW);
    assert_eq!(children.step("a/x", Event::HandedBack, NOW), [Effect::CameBack("a/x".into())]);
    assert_eq!(children.step("a", Event::Again, NOW), [Effect::HandBack("a".into())]);
    assert!(children.step("a/x", Event::Again, NOW).is_empty(), "its parent reads the copy");
    assert_eq!(children.step("a", Event::HandedBack, NOW), [Effect::CameBack("a".into())]);
    assert_eq!(ended(&children, "a"), Some(End::Answered));
    // what a rewind stopped never happened
    let mut children = few(1);
    children.found("a", true, Found::Ended(End::Stopped { by: By::Rewind }), Left::default());
    assert!(children.step("a", Event::Again, NOW).is_empty());
}

#[test]
fn one_without_a_copy_hands_on_what_its_agents_left_and_else_nothing() {
    for (by, copies) in [(By::User, true), (By::Rewind, true), (By::User, false)] {
        let mut children = few(2);
        carry_out(&mut children, &Act::Ask(None, "b", false));
        children.step("b", Event::Prepared, NOW);
        carry_out(&mut children, &Act::Ask(Some("b"), "y", copies));
        children.step("b/y", Event::Prepared, NOW);
        children.step("b/y", Event::Over(End::Answered), NOW);
        children.step("b/y", Event::Closed, NOW);
        children.step("b/y", Event::HandedBack, NOW);
        children.step("b", Event::Stop(by), NOW);
        let end = Effect::Ended("b".into(), End::Stopped { by });
        let told = children.step("b", Event::Closed, NOW);
        if copies {
            assert_eq!(told, [Effect::HandBack("b".into())], "{by:?}");
            assert_eq!(children.step("b", Event::HandedBack, NOW), [end]);
        } else {
            assert_eq!(told, [end]);
        }
    }
}

#[test]
fn a_rewind_keeps_one_on_its_way_out_from_handing_back() {
    let mut children = few(1);
    carry_out(&mut children, &Act::Ask(None, "a", true));
    children.step("a", Event::Prepared, NOW);
    children.step("a", Event::Stop(By::User), NOW);
    children.step("a", Event::Stop(By::Rewind), NOW);
    let end = End::Stopped { by: By::Rewind };
    assert_eq!(children.step("a", Event::Closed, NOW), [Effect::Ended("a".into(), end)]);
}

#[test]
fn a_budget_is_of_each_run_and_outlives_the_program() {
    let mut children = few(1);
    carry_out(&mut children, &Act::Ask(None, "a", false));
    children.step("a", Event::Prepared, NOW);
    assert!(!children.step("a", Event::Used(10), NOW).is_empty());
    children.step("a", Event::Closed, NOW);
    children.step("a", Event::Woken, NOW);
    children.step("a", Event::Prepared, NOW);
    assert!(children.step("a", Event::Used(9), NOW).is_empty(), "it has a budget of its own");
    assert!(!children.step("a", Event::Used(1), NOW).is_empty());
    let mut children = few(1);
    children.found("a", false, Found::Cut, Left { granted: Some(10), left: Some(4) });
    children.step("a", Event::Woken, NOW);
    children.step("a", Event::Prepared, NOW);
    assert!(children.step("a", Event::Used(3), NOW).is_empty());
    assert!(!children.step("a", Event::Used(1), NOW).is_empty());
}
