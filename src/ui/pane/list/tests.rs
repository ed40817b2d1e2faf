//! The list by itself: what is chosen, what is in sight and what a click hits, whatever comes, goes and moves.

use proptest::prelude::*;

use super::*;
use crate::ui::theme;

/// Draws; the items on the rows, and which of them was marked.
fn drawn(list: &mut List<u8>, height: u16, details: usize) -> (Vec<u8>, Vec<u8>) {
    let (themes, _) = theme::all(&[], Default::default());
    let area = Rect::new(0, 0, 10, height);
    let details = vec![("below".to_owned(), Role::Dim); details];
    let (keys, mut rows, mut marked) = (list.keys().to_vec(), Vec::new(), Vec::new());
    list.draw(area, &mut Buffer::empty(area), (&themes[0], true), &details, |at, place, is, _| {
        assert_eq!(place.height, 1);
        rows.push(keys[at]);
        marked.extend(is.then_some(keys[at]));
    });
    (rows, marked)
}

fn list(keys: &[u8]) -> List<u8> {
    let mut list = List::default();
    list.set_all(keys.to_vec());
    list
}

#[test]
fn the_neighbour_of_what_a_person_takes_off_is_chosen_and_of_what_goes_by_itself_none() {
    let mut it = list(&[1, 2, 3]);
    it.choose(1);
    it.leaving(2);
    it.set_all(vec![1, 2, 3]);
    assert_eq!(it.chosen(), Some(&2), "not before it is gone");
    it.set_all(vec![1, 3]);
    assert_eq!(it.chosen(), Some(&3));
    it.set_all(vec![1]);
    assert_eq!(it.chosen(), None);
    it.set_all(vec![1, 4, 5]);
    it.update(Msg::Move(1), Millis(0));
    assert_eq!(it.chosen(), Some(&4), "what stands in its place is the next");
}

#[test]
fn what_a_search_hides_is_chosen_again_when_it_comes_back() {
    let mut it = list(&[1, 2, 3]);
    it.choose(2);
    it.set(vec![1], |_| Stands::Hidden);
    assert_eq!((it.chosen(), it.at()), (None, None));
    it.set_all(vec![1, 2, 3]);
    assert_eq!((it.chosen(), it.at()), (Some(&3), Some(2)));
}

#[test]
fn a_second_click_on_the_same_item_opens_it() {
    let mut it = list(&[1, 2]);
    drawn(&mut it, 4, 0);
    let mut click = |row, at| it.update(Msg::Click(row), Millis(at));
    assert_eq!(click(1, 0), None);
    assert_eq!(click(0, 100), None, "another one");
    assert_eq!(click(0, 200), Some(1));
    assert_eq!(click(0, 300), None, "a third one begins anew");
    assert_eq!(click(0, 9000), None, "too late");
    assert_eq!(click(3, 9001), None, "nothing is there");
}

#[test]
fn below_the_chosen_one_its_details_are_in_sight_and_clicks_there_are_its_own() {
    let mut it = list(&[1, 2, 3, 4, 5, 6]);
    it.choose(4);
    assert_eq!(drawn(&mut it, 4, 2), (vec![4, 5], vec![5]));
    it.update(Msg::Click(3), Millis(0));
    assert_eq!(it.chosen(), Some(&5));
    it.update(Msg::Scroll(-9), Millis(0));
    assert_eq!(drawn(&mut it, 4, 2), (vec![1, 2, 3, 4], vec![]), "scrolling chooses nothing");
}

#[test]
fn what_was_in_sight_stays_there_where_there_are_fewer_rows() {
    let mut it = list(&[1, 2, 3, 4, 5, 6]);
    it.choose(5);
    drawn(&mut it, 6, 0);
    assert_eq!(drawn(&mut it, 3, 0), (vec![4, 5, 6], vec![6]));
    it.update(Msg::Scroll(-3), Millis(0));
    drawn(&mut it, 3, 0);
    assert_eq!(drawn(&mut it, 2, 0), (vec![1, 2], vec![]), "what was scrolled away stays away");
}

#[derive(Clone, Debug)]
enum Step {
    /// These are the items now, in this order.
    Set(Vec<u8>),
    /// Only those below this are listed.
    Search(u8),
    Leaving,
    Enter,
    Move(Msg),
    Draw(u16, usize),
}

fn step() -> impl Strategy<Value = Step> {
    let keys = proptest::sample::subsequence((0..12).collect::<Vec<u8>>(), 0..12).prop_shuffle();
    let by = -3..4i32;
    let moves = prop_oneof![
        4 => by.clone().prop_map(Msg::Move),
        1 => by.clone().prop_map(Msg::Page),
        1 => Just(Msg::First),
        1 => Just(Msg::Last),
        2 => by.prop_map(Msg::Scroll),
        2 => (0u16..9).prop_map(Msg::Click),
    ];
    prop_oneof![
        4 => keys.prop_map(Step::Set),
        1 => (0u8..13).prop_map(Step::Search),
        1 => Just(Step::Leaving),
        1 => Just(Step::Enter),
        5 => moves.prop_map(Step::Move),
        4 => (0u16..8, 0usize..4).prop_map(|(height, details)| Step::Draw(height, details)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 800, failure_persistence: None, ..ProptestConfig::default() })]

    /// What is chosen stays chosen while it is there, wherever it stands; nothing else is ever chosen but by a move; and
    /// all that is shown, marked and clicked is in the list.
    #[test]
    fn only_a_move_chooses_another_item(steps in proptest::collection::vec(step(), 1..60)) {
        let (mut it, mut all, mut shown) = (List::default(), Vec::new(), Vec::new());
        let mut leaving: Vec<u8> = Vec::new();
        for step in steps {
            let before = it.chosen().copied();
            match step {
                Step::Set(keys) => {
                    all = keys;
                    it.set_all(all.clone());
                    match before {
                        Some(key) if all.contains(&key) => prop_assert_eq!(it.chosen(), Some(&key)),
                        Some(key) if leaving.contains(&key) => prop_assert_eq!(it.chosen().is_some(), !all.is_empty()),
                        Some(_) => prop_assert_eq!(it.chosen(), None),
                        // what a search hid may be back
                        None => {}
                    }
                    leaving.retain(|key| all.contains(key));
                }
                Step::Search(below) => {
                    let found: Vec<u8> = all.iter().copied().filter(|key| *key < below).collect();
                    let at = |key: &u8| found.iter().position(|of| of == key);
                    it.set(found.clone(), |key| at(key).map_or(Stands::Hidden, Stands::At));
                    it.searched();
                    if let Some(key) = before.filter(|key| found.contains(key)) {
                        prop_assert_eq!(it.chosen(), Some(&key));
                    }
                    prop_assert_eq!(it.chosen().is_some(), !found.is_empty());
                }
                Step::Leaving => {
                    leaving.extend(before);
                    before.into_iter().for_each(|key| it.leaving(key));
                }
                Step::Enter => {
                    it.enter();
                    prop_assert!(before.is_none() || it.chosen().copied() == before);
                    prop_assert_eq!(it.chosen().is_some(), !it.keys().is_empty());
                }
                Step::Move(msg) => {
                    let opened = it.update(msg, Millis(0));
                    prop_assert!(opened.is_none() || opened == it.chosen().copied());
                    match msg {
                        Msg::Scroll(_) => prop_assert_eq!(it.chosen().copied(), before),
                        Msg::Click(row) => match shown.get(usize::from(row)) {
                            Some(key) if it.keys().contains(key) => prop_assert_eq!(it.chosen(), Some(key)),
                            _ => prop_assert_eq!(it.chosen().copied(), before),
                        },
                        Msg::Move(_) | Msg::Page(_) | Msg::First | Msg::Last => {
                            prop_assert_eq!(it.chosen().is_some(), !it.keys().is_empty());
                        }
                    }
                }
                Step::Draw(height, details) => {
                    let moved = it.show;
                    let (rows, marked) = drawn(&mut it, height, details);
                    prop_assert!(it.rows.len() <= usize::from(height));
                    prop_assert!(marked.len() <= 1 && marked.first().is_none_or(|key| it.chosen() == Some(key)));
                    if moved && height > 0 {
                        prop_assert_eq!(marked.first(), it.chosen(), "what is chosen is in sight");
                    }
                    // no row stays empty that an item could fill without the details of one above it
                    let full = it.rows.len() >= usize::from(height).min(it.keys().len());
                    prop_assert!(full || it.at().is_some_and(|at| at + 1 == it.top));
                    let listed: Vec<u8> = it.keys().iter().copied().filter(|key| rows.contains(key)).collect();
                    prop_assert_eq!(rows, listed, "in their order");
                    shown = it.rows.clone();
                }
            }
            // where it stands and what is chosen are one thing
            prop_assert_eq!(it.at().map(|at| it.keys()[at]), it.chosen().copied());
        }
    }
}
