//! Law C, the board: watchers that join and look at any moments, over random histories.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Act {
    Begin(u8),
    Report(u8, u64),
    End(u8),
    /// The watcher of this number looks (and joins, when it never did).
    Look(usize),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        2 => (0u8..5).prop_map(Act::Begin),
        3 => (0u8..5, 0u64..99).prop_map(|(call, bytes)| Act::Report(call, bytes)),
        2 => (0u8..5).prop_map(Act::End),
        2 => (0usize..4).prop_map(Act::Look),
    ]
}

fn id(n: u8) -> CallId {
    CallId::new(format!("c{n}"))
}

fn picture_of(board: &Board) -> Vec<(CallId, Progress)> {
    board.iter().map(|(call, progress)| (call.clone(), progress.clone())).collect()
}

fn held(picture: &Picture) -> Vec<(CallId, Progress)> {
    picture.iter().map(|(call, progress)| (call.clone(), progress.clone())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn board_snapshot_then_changes(acts in proptest::collection::vec(act(), 0..300)) {
        let mut board = Board::default();
        let mut always = Picture::default();
        let mut watchers = vec![Picture::default(); 4];
        for act in acts {
            match act {
                Act::Begin(n) => board.begin(id(n), Progress { title: n.to_string(), ..Progress::default() }),
                Act::Report(n, bytes) => board.report(&id(n), |p| p.bytes += bytes),
                Act::End(n) => {
                    board.end(&id(n));
                }
                Act::Look(n) => {
                    watchers[n].update(&board);
                    prop_assert_eq!(held(&watchers[n]), picture_of(&board));
                    prop_assert!(!watchers[n].update(&board), "none twice");
                }
            }
            always.update(&board);
            prop_assert_eq!(held(&always), picture_of(&board));
        }
        for watcher in &mut watchers {
            watcher.update(&board);
            prop_assert_eq!(held(watcher), held(&always));
        }
        prop_assert!(board.removals.len() <= REMOVALS_MAX);
    }

    #[test]
    fn board_silent_after_end(acts in proptest::collection::vec(act(), 0..60), bytes in 0u64..99) {
        let mut board = Board::default();
        for act in acts {
            match act {
                Act::Begin(n) => board.begin(id(n), Progress::default()),
                Act::Report(n, bytes) => board.report(&id(n), |p| p.bytes += bytes),
                Act::End(n) => {
                    board.end(&id(n));
                    let at = board.revision();
                    board.report(&id(n), |p| p.bytes = bytes);
                    board.end(&id(n));
                    let changes = board.changes_since(at);
                    prop_assert!(changes.running.is_empty() && changes.ended.is_empty());
                    prop_assert_eq!(board.revision(), at, "nothing to wake a watcher for");
                    prop_assert_eq!(board.get(&id(n)), None);
                }
                Act::Look(_) => {}
            }
        }
    }
}

#[test]
fn a_watcher_that_missed_more_than_is_remembered_gets_the_whole_picture() {
    let mut board = Board::default();
    let mut watcher = Picture::default();
    board.begin(id(0), Progress::default());
    watcher.update(&board);
    for n in 0..=REMOVALS_MAX {
        let call = CallId::new(format!("x{n}"));
        board.begin(call.clone(), Progress::default());
        board.end(&call);
    }
    board.end(&id(0));
    assert!(board.changes_since(1).whole);
    watcher.update(&board);
    assert_eq!(watcher.iter().count(), 0);
    assert_eq!(board.changes_since(board.revision() - 1).ended, [&id(0)]);
}
