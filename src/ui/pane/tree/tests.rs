//! The tree as lines, over random trees and by hand.

use proptest::prelude::*;

use super::rows::What;
use super::*;
use crate::base::Millis;

fn entry(id: usize, parent: Option<usize>, who: &'static str, open: bool) -> TreeEntry {
    let name = |id: usize| EntryId::new(format!("e{id}"));
    TreeEntry {
        id: name(id),
        parent: parent.map(name),
        at: Millis(0),
        who,
        text: format!("{who} {id}"),
        open,
        message: (who == "you").then(|| (name(id), parent.map(name))),
    }
}

/// Entries, each behind one before it; the branch of one of them is open.
fn entries() -> impl Strategy<Value = Vec<TreeEntry>> {
    let who = prop_oneof![1 => Just("you"), 1 => Just("model"), 3 => Just("call")];
    proptest::collection::vec((any::<prop::sample::Index>(), 0u8..4, who), 1..60).prop_map(|made| {
        let parents: Vec<Option<usize>> = made
            .iter()
            .enumerate()
            .map(|(n, (parent, fork, _))| match (n, fork) {
                (0, _) => None,
                (_, 0) => Some(parent.index(n)),
                _ => Some(n - 1),
            })
            .collect();
        let mut open = vec![false; made.len()];
        let mut next = Some(made[0].0.index(made.len()));
        while let Some(n) = next {
            open[n] = true;
            next = parents[n];
        }
        made.iter().enumerate().map(|(n, (_, _, who))| entry(n, parents[n], who, open[n])).collect()
    })
}

fn state(entries: Vec<TreeEntry>) -> State {
    let mut state = State::default();
    state.set(entries);
    state
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every entry stands in exactly one line, after the one before it; the open branch is at the margin.
    #[test]
    fn every_entry_stands_once_below_the_one_before_it(entries in entries(), keys in "[jkgGo ]{0,20}") {
        let mut state = state(entries.clone());
        for key in keys.chars() {
            let msg = match key {
                'j' => Msg::List(list::Msg::Move(1)),
                'k' => Msg::List(list::Msg::Move(-1)),
                'g' => Msg::List(list::Msg::First),
                'G' => Msg::List(list::Msg::Last),
                'o' => Msg::Do(Action::TreeToggleAll),
                _ => Msg::Do(Action::TreeToggle),
            };
            update(&mut state, msg, Millis(0));
            let mut lines = vec![0; entries.len()];
            for (n, entry) in entries.iter().enumerate() {
                lines[n] = state.rows.iter().filter(|row| state.forest.holds(row, &entry.id)).count();
                let place = place_of(&state.rows, &state.forest, &entry.id);
                if let (Some(parent), Some(place)) = (&entry.parent, place) {
                    prop_assert!(place_of(&state.rows, &state.forest, parent).is_none_or(|above| above <= place), "{:?}", state.rows);
                }
                if entry.open && let Some(place) = place {
                    prop_assert_eq!(state.rows[place].depth, 0);
                }
            }
            prop_assert!(lines.iter().all(|count| *count == 1), "{:?} {:?}", lines, state.rows);
            prop_assert!(state.list.at().is_some());
        }
    }
}

fn small() -> Vec<TreeEntry> {
    vec![
        entry(0, None, "you", true),
        entry(1, Some(0), "model", true),
        entry(2, Some(1), "call", true),
        entry(3, Some(2), "call", true),
        entry(4, Some(3), "model", true),
        entry(5, Some(4), "you", false),
        entry(6, Some(5), "model", false),
        entry(7, Some(4), "you", true),
        entry(8, Some(7), "model", true),
    ]
}

#[test]
fn calls_in_a_row_are_one_line_and_a_branch_stands_below_the_entry_that_it_leaves() {
    let mut state = state(small());
    let lines = |state: &State| -> Vec<(String, u16, What)> {
        state.rows.iter().map(|row| (state.forest.id(row).to_string(), row.depth, row.what)).collect()
    };
    let line = |id: &str, depth, what| (id.to_owned(), depth, what);
    let mut wanted = vec![
        line("e0", 0, What::Entry),
        line("e1", 0, What::Entry),
        line("e2", 0, What::Calls(2)),
        line("e4", 0, What::Entry),
        line("e5", 1, What::Entry),
        line("e6", 1, What::Entry),
        line("e7", 0, What::Entry),
        line("e8", 0, What::Entry),
    ];
    assert_eq!(lines(&state), wanted);
    assert_eq!(state.list.chosen(), Some(&EntryId::new("e8")), "one begins where the conversation stands");
    // a branch is folded, a run opened
    update(&mut state, Msg::List(list::Msg::Move(-2)), Millis(0));
    update(&mut state, Msg::Do(Action::TreeToggle), Millis(0));
    assert_eq!(state.list.chosen(), Some(&EntryId::new("e6")), "no branch begins there");
    update(&mut state, Msg::List(list::Msg::Move(-1)), Millis(0));
    update(&mut state, Msg::Do(Action::TreeToggle), Millis(0));
    update(&mut state, Msg::List(list::Msg::Move(-2)), Millis(0));
    update(&mut state, Msg::Do(Action::TreeToggle), Millis(0));
    wanted.splice(4..6, [line("e5", 1, What::Branch(2))]);
    wanted.splice(2..3, [line("e2", 0, What::Opened(2)), line("e3", 0, What::Entry)]);
    assert_eq!(lines(&state), wanted);
    update(&mut state, Msg::Search("YOU".into()), Millis(0));
    assert_eq!(lines(&state).len(), 3);
    assert_eq!(update(&mut state, Msg::Do(Action::TreeLeave), Millis(0)), []);
    assert_eq!(update(&mut state, Msg::Do(Action::TreeLeave), Millis(0)), [Out::Leave]);
}

#[test]
fn a_message_is_gone_back_to_before_it_and_everything_else_to_it() {
    let mut state = state(small());
    let rewind = |state: &mut State| update(state, Msg::Do(Action::TreeRewind), Millis(0));
    assert!(matches!(rewind(&mut state)[..], [Out::Say(_)]), "the conversation stands there already");
    update(&mut state, Msg::List(list::Msg::Move(-1)), Millis(0));
    let id = |n: usize| Some(EntryId::new(format!("e{n}")));
    let target = Target { to: id(4), take_back: id(7), words: "before “you 7”".into() };
    assert_eq!(rewind(&mut state), [Out::Rewind(target.clone())]);
    assert_eq!(update(&mut state, Msg::Do(Action::TreeFork), Millis(0)), [Out::Fork(target)]);
    update(&mut state, Msg::List(list::Msg::First), Millis(0));
    update(&mut state, Msg::List(list::Msg::Move(2)), Millis(0));
    let target = Target { to: id(3), take_back: None, words: "to after “call 3”".into() };
    assert_eq!(rewind(&mut state), [Out::Rewind(target.clone())], "after the whole run");
    update(&mut state, Msg::List(list::Msg::Move(-1)), Millis(0));
    assert_eq!(
        rewind(&mut state),
        [Out::Rewind(target.clone())],
        "an answer that calls is over after its calls"
    );
    update(&mut state, Msg::Do(Action::TreeToggleAll), Millis(0));
    update(&mut state, Msg::List(list::Msg::Move(1)), Millis(0));
    assert_eq!(rewind(&mut state), [Out::Rewind(target)], "and so is each of them");
    update(&mut state, Msg::List(list::Msg::First), Millis(0));
    let target = Target { to: None, take_back: id(0), words: "before “you 0”".into() };
    assert_eq!(rewind(&mut state), [Out::Rewind(target)]);
}

#[test]
fn the_selection_stays_where_it_was_and_goes_with_the_newest_entry() {
    let mut state = state(small()[..8].to_vec());
    state.set(small());
    assert_eq!(state.list.chosen(), Some(&EntryId::new("e8")), "it stood at the newest");
    update(&mut state, Msg::List(list::Msg::First), Millis(0));
    let mut more = small();
    more.push(entry(9, Some(8), "you", true));
    state.set(more);
    assert_eq!(state.list.chosen(), Some(&EntryId::new("e0")));
}

#[test]
fn a_deep_tree_of_many_entries_is_listed_at_once() {
    // every second entry leaves a branch: deeper than any stack of calls
    let entries: Vec<TreeEntry> = (0..20_000usize)
        .map(|n| entry(n, n.checked_sub(if n % 2 == 0 { 2 } else { 1 }), "you", n % 2 == 0))
        .collect();
    let mut state = state(entries);
    assert_eq!(state.rows.len(), 20_000);
    assert_eq!(state.rows.iter().filter(|row| row.begins).count(), 10_000);
    update(&mut state, Msg::List(list::Msg::Move(-1)), Millis(0));
    update(&mut state, Msg::Do(Action::TreeToggle), Millis(0));
    assert_eq!(state.rows.len(), 20_000);
    update(&mut state, Msg::Search("19999".into()), Millis(0));
    assert_eq!(state.rows.len(), 1);
}
