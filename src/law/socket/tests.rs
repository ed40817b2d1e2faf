//! The rules of the control socket, for every kind, owner and mode.

use super::*;

const US: u32 = 1000;

/// Every thing that can stand at a path: of us, of root, of somebody, with every mode.
fn every() -> impl Iterator<Item = Seen> {
    let kinds = [Kind::Directory, Kind::Link, Kind::Other];
    kinds.into_iter().flat_map(|kind| {
        [US, 0, 1001]
            .into_iter()
            .flat_map(move |owner| (0..0o10000).map(move |mode| Seen { kind, owner, mode }))
    })
}

/// A mode as `ls` writes it: `rwxr-x---`.
fn written(mode: u32) -> String {
    (0..9).map(|at| if mode >> (8 - at) & 1 == 1 { ['r', 'w', 'x'][at % 3] } else { '-' }).collect()
}

#[test]
fn socket_dir_owned() {
    for seen in every() {
        let mode = written(seen.mode);
        let own = mode.starts_with("rwx");
        let others_write = mode[3..].contains('w');
        let good = seen.kind == Kind::Directory && seen.owner == US && own && !others_write;
        let answer = usable(seen, US);
        assert_eq!(answer.is_ok(), good, "{seen:?}");
        let Err(refusal) = answer else { continue };
        match refusal {
            Refusal::Link => assert_eq!(seen.kind, Kind::Link),
            Refusal::NotADirectory => assert_eq!(seen.kind, Kind::Other),
            Refusal::Owner { owner, us } => assert_eq!((owner, us), (seen.owner, US)),
            Refusal::Writable { mode } => assert!(others_write && mode == seen.mode),
            Refusal::Closed { mode } => assert!(!own && mode == seen.mode),
        }
        assert!(!refusal.wrong().is_empty() && !refusal.todo("D").is_empty());
    }
}

#[test]
fn socket_dir_created() {
    assert_eq!(plan(None, US), Plan::Make { mode: 0o700 });
    // as it comes into being under a mask: usable exactly where the mask leaves the owner all of it
    for mask in 0..0o1000 {
        let made = Seen { kind: Kind::Directory, owner: US, mode: 0o700 & !mask };
        assert_eq!(usable(made, US).is_ok(), mask & 0o700 == 0, "{mask:o}");
    }
    for seen in every() {
        let wanted = usable(seen, US).map_or_else(Plan::Refuse, |()| Plan::Use);
        assert_eq!(plan(Some(seen), US), wanted, "what is there is never changed");
    }
}

#[test]
fn peer_same_uid() {
    for us in [0, 1, US, u32::MAX] {
        assert!(!heard(None, us));
        for peer in [0, 1, US, 1001, u32::MAX] {
            assert_eq!(heard(Some(peer), us), peer == us);
        }
    }
}

#[test]
fn only_a_dead_socket_of_ours_is_taken_away() {
    let bools = [false, true];
    for (socket, refused) in bools.into_iter().flat_map(|a| bools.map(|b| (a, b))) {
        for (held, owner) in bools.into_iter().flat_map(|a| [US, 0, 1001].map(|b| (a, b))) {
            let found = Found { socket, owner, refused, held };
            let taken = (socket, owner, refused, held) == (true, US, true, false);
            assert_eq!(dead(found, US), taken, "{found:?}");
        }
    }
}

#[test]
fn only_the_holder_of_the_lease_replaces_and_only_what_is_dead() {
    let all =
        [There::Nothing, There::Socket { answers: false }, There::Socket { answers: true }, There::Other];
    for there in all {
        assert_eq!(place(there, false), Placing::Leave(Taken::NotOurs));
        let touched = match place(there, true) {
            Placing::Fresh => There::Nothing,
            Placing::Replace => There::Socket { answers: false },
            Placing::Leave(Taken::Alive) => There::Socket { answers: true },
            Placing::Leave(Taken::NoSocket | Taken::NotOurs) => There::Other,
        };
        assert_eq!(touched, there);
    }
    for taken in [Taken::NotOurs, Taken::Alive, Taken::NoSocket] {
        assert!(!taken.words().is_empty());
    }
}
