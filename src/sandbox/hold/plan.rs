//! What bubblewrap is told to make a hold: pure.
//!
//! The host's filesystem stays as it is, but for this: the copy lies over the directory that the agent sees, also where
//! that directory can be reached by another name; what is private to Windlass is not there; what asks other programs to
//! do things outside is not there. Every directory on the way to one of these is mounted on itself: what is a mount
//! cannot be renamed or removed from inside, and so nothing can be put in its place outside. What somebody may replace
//! outside is covered by its directory: a cover of the file alone is gone with the file.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What a hold is made of: real paths that are there, without links in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The directory that the agent sees.
    pub seen: PathBuf,
    /// What it gets there.
    pub copy: PathBuf,
    /// Other names of that directory, or of one in it: the name, and what of the copy belongs there; none: nothing.
    pub others: Vec<(PathBuf, Option<PathBuf>)>,
    /// Directories that are empty inside, and stay so.
    pub hidden: Vec<PathBuf>,
    /// Directories that are empty inside, and the agent's own to write.
    pub fresh: Vec<PathBuf>,
    /// Files and sockets that hold nothing inside.
    pub blank: Vec<PathBuf>,
    /// What can be read inside and not written.
    pub fixed: Vec<PathBuf>,
    /// The same, at another place: what, and where. The place may be in what is hidden.
    pub lent: Vec<(PathBuf, PathBuf)>,
}

/// What lies at a place. A later one of these goes over an earlier one at the same place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Over {
    /// Itself, so that it stays where it is.
    Pin,
    /// Itself, read-only.
    Fixed,
    /// Nothing: a file.
    Blank,
    /// Nothing: a directory that can be written.
    Fresh,
    /// Nothing: a directory.
    Hidden,
    /// Something else, read-only.
    Lent(PathBuf),
    /// What belongs to the copy.
    Copy(PathBuf),
}

/// The arguments, up to the command.
pub fn arguments(facts: &Facts) -> Vec<OsString> {
    let mut out: Vec<OsString> =
        ["--unshare-user", "--cap-drop", "ALL", "--die-with-parent"].map(Into::into).into();
    let mut say = |words: &[&dyn AsRef<std::ffi::OsStr>]| {
        out.extend(words.iter().map(|word| word.as_ref().to_owned()));
    };
    say(&[&"--dev-bind", &"/", &"/"]);
    let places = places(facts);
    // what is above comes first, for it would cover what is below
    for (at, over) in &places {
        match over {
            Over::Pin => say(&[&"--dev-bind", at, at]),
            Over::Fixed => say(&[&"--ro-bind", at, at]),
            Over::Blank => say(&[&"--ro-bind", &"/dev/null", at]),
            Over::Fresh | Over::Hidden => say(&[&"--perms", &"0700", &"--tmpfs", at]),
            Over::Lent(what) => say(&[&"--ro-bind", what, at]),
            Over::Copy(what) => say(&[&"--bind", what, at]),
        }
    }
    for (at, _) in places.iter().filter(|(_, over)| **over == Over::Hidden) {
        say(&[&"--remount-ro", at]);
    }
    say(&[&"--chdir", &"/"]);
    out
}

fn places(facts: &Facts) -> BTreeMap<PathBuf, Over> {
    let mut places: BTreeMap<PathBuf, Over> = BTreeMap::new();
    let mut put = |at: &Path, over: Over| {
        let there = places.entry(at.to_owned()).or_insert_with(|| over.clone());
        if over > *there {
            *there = over;
        }
    };
    put(&facts.seen, Over::Copy(facts.copy.clone()));
    for (at, of) in &facts.others {
        put(at, of.as_ref().map_or(Over::Hidden, |of| Over::Copy(of.clone())));
    }
    facts.hidden.iter().for_each(|at| put(at, Over::Hidden));
    facts.fresh.iter().for_each(|at| put(at, Over::Fresh));
    facts.blank.iter().for_each(|at| put(at, Over::Blank));
    facts.fixed.iter().for_each(|at| put(at, Over::Fixed));
    facts.lent.iter().for_each(|(what, at)| put(at, Over::Lent(what.clone())));
    let above: Vec<PathBuf> =
        places.keys().flat_map(|at| at.ancestors().skip(1)).map(Path::to_owned).collect();
    for at in above.into_iter().filter(|at| at.parent().is_some()) {
        places.entry(at).or_insert(Over::Pin);
    }
    let all = places.clone();
    places.retain(|at, over| keeps(&all, at, over));
    places
}

/// Whether there is such a place at all: in the copy there is only the copy, and in what is hidden only what is lent
/// the agent's own or the copy itself.
fn keeps(all: &BTreeMap<PathBuf, Over>, at: &Path, over: &Over) -> bool {
    at.ancestors().skip(1).all(|above| match all.get(above) {
        Some(Over::Copy(_) | Over::Lent(_)) => false,
        Some(Over::Fresh | Over::Hidden) => matches!(over, Over::Lent(_) | Over::Copy(_) | Over::Fresh),
        Some(Over::Pin | Over::Fixed | Over::Blank) | None => true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(facts: &Facts) -> String {
        let words: Vec<String> =
            arguments(facts).into_iter().map(|word| word.into_string().unwrap()).collect();
        words.join(" ").replace(" --", "\n--")
    }

    fn facts() -> Facts {
        Facts {
            seen: "/home/u/work/project".into(),
            copy: "/home/u/.state/w/room/copy".into(),
            hidden: vec!["/home/u/.state/w".into(), "/run/u/w".into()],
            blank: vec!["/home/u/.config/w/keys.json".into()],
            fixed: vec!["/home/u/.config/w".into()],
            lent: vec![("/home/u/work/project/.git/objects".into(), "/home/u/.state/w/room/git/0".into())],
            ..Facts::default()
        }
    }

    #[test]
    fn a_hold_is_told_from_above_to_below() {
        insta::assert_snapshot!(told(&facts()));
    }

    #[test]
    fn a_directory_of_the_agents_own_stands_in_one_that_is_hidden() {
        let runtime = Facts {
            fresh: vec!["/run/user/7".into()],
            hidden: vec!["/run/user".into(), "/run/user/7/windlass".into()],
            lent: vec![("/run/user/7/wayland-0".into(), "/run/user/7/wayland-0".into())],
            ..facts()
        };
        let told = told(&runtime);
        let lines: Vec<&str> = told.lines().filter(|line| line.contains("/run/user")).collect();
        assert_eq!(
            lines,
            [
                "--tmpfs /run/user",
                "--tmpfs /run/user/7",
                "--ro-bind /run/user/7/wayland-0 /run/user/7/wayland-0",
                "--remount-ro /run/user"
            ]
        );
    }

    #[test]
    fn what_is_private_and_in_the_directory_is_not_made_in_the_copy() {
        let inside = Facts {
            seen: "/home/u".into(),
            others: vec![
                ("/mnt/u".into(), Some("/home/u/.state/w/room/copy".into())),
                ("/mnt/x".into(), None),
            ],
            ..facts()
        };
        insta::assert_snapshot!(told(&inside));
    }
}
