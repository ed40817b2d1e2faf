//! What the agents of an agent left, when that agent ends: their workspaces rise to where its own is.
//!
//! Its copy goes with its end, so that what its agents left open there would be open nowhere. Their workspaces come
//! under its parent, under a name that tells whose they were (`lexer/x`), and what is open of them is open against
//! the parent's directory. The three versions of a path stay what they were; what the directory has now stands
//! beside them.
//!
//! Keeps `rise_loses_nothing`. Not here: moving anything.

use std::collections::BTreeSet;

/// What parts the names of a path of agents in the name of a directory: no agent's name has it.
const PARTS: char = '+';

/// How the workspace of an agent's own agent stands when that agent ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stands {
    /// Its hand-back is recorded.
    pub handed: bool,
    /// Its hand-back was begun.
    pub begun: bool,
    /// All that is to be put in place was prepared, so something may have been moved.
    pub prepared: bool,
    /// Its copy is whole: it may hold work.
    pub born: bool,
}

/// What becomes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Its hand-back is ended first, in the directory where it was begun.
    EndsFirst,
    /// It rises as it is.
    Rises,
    /// It rises, and its plan is made anew there: nothing was moved yet.
    PlansAnew,
    /// Nobody worked in it: nothing is left of it.
    Goes,
    /// The one above cannot end before it: half of it is in its copy.
    Holds,
}

/// What becomes of it. `tried`: to end its hand-back was tried, and failed. `stays`: the directory that it was handed
/// back to stays its parent's, so what was begun there can go on.
pub fn fate(stands: Stands, tried: bool, stays: bool) -> Fate {
    match stands {
        Stands { handed: true, .. } => Fate::Rises,
        Stands { begun: true, .. } | Stands { prepared: true, .. } if !tried => Fate::EndsFirst,
        Stands { begun: true, .. } | Stands { prepared: true, .. } if stays => Fate::Rises,
        Stands { prepared: true, .. } => Fate::Holds,
        Stands { begun: true, .. } => Fate::PlansAnew,
        Stands { born: true, .. } => Fate::Rises,
        Stands { born: false, .. } => Fate::Goes,
    }
}

/// The name that it has then: `lexer/x` for `x` of `lexer`, and of each run of it. `of`, `own`: the names of the
/// workspaces, where a later run of an agent has a number behind it (`lexer.2`). `taken`: names that are there already.
pub fn name(of: &str, own: &str, taken: &BTreeSet<String>) -> String {
    let (above, last) = of.rsplit_once('/').map_or((None, of), |(above, last)| (Some(above), last));
    let agent = last.split('.').next().unwrap_or(last);
    let whose = above.map_or_else(|| agent.to_owned(), |above| format!("{above}/{agent}"));
    let name = format!("{whose}/{own}");
    if !taken.contains(&name) {
        return name;
    }
    // one that was dropped and asked for anew had another one of this name
    let numbered = |number: usize| format!("{name}.{number}");
    (2..=taken.len() + 2).map(numbered).find(|name| !taken.contains(name)).unwrap_or(name)
}

/// The directory's name of a workspace.
pub fn file_name(name: &str) -> String {
    name.replace('/', &PARTS.to_string())
}

/// The workspace's name of a directory.
pub fn name_of(file_name: &str) -> String {
    file_name.replace(PARTS, "/")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every way in which one can stand.
    fn all() -> Vec<Stands> {
        let mut all = Vec::new();
        for bits in 0..16u8 {
            let bit = |at: u8| bits >> at & 1 == 1;
            all.push(Stands { handed: bit(0), begun: bit(1), prepared: bit(2), born: bit(3) });
        }
        all
    }

    #[test]
    fn rise_loses_nothing() {
        for stands in all() {
            for (tried, stays) in [(false, false), (false, true), (true, false), (true, true)] {
                let what = format!("{stands:?} {tried} {stays}");
                let Stands { handed, begun, prepared, born } = stands;
                match fate(stands, tried, stays) {
                    // work goes only where there is none
                    Fate::Goes => assert!(!handed && !begun && !prepared && !born, "{what}"),
                    Fate::EndsFirst => assert!(!handed && (begun || prepared) && !tried, "{what}"),
                    // half of it in a directory that goes is neither left there nor begun anew
                    Fate::Holds => assert!(!handed && prepared && !stays, "{what}"),
                    Fate::PlansAnew => assert!(!handed && begun && !prepared && !stays, "{what}"),
                    Fate::Rises => assert!(handed || stays || !(begun || prepared), "{what}"),
                }
            }
        }
    }

    #[test]
    fn a_name_tells_whose_it_was_and_is_nobody_elses() {
        let none = BTreeSet::new();
        assert_eq!(name("lexer", "x", &none), "lexer/x");
        assert_eq!(name("lexer.2", "x.3", &none), "lexer/x.3");
        assert_eq!(name("lexer/x.2", "y", &none), "lexer/x/y");
        assert_eq!(name("lexer", "x/y", &none), "lexer/x/y");
        let taken: BTreeSet<String> = ["lexer/x".to_owned(), "lexer/x.2".to_owned()].into();
        assert_eq!(name("lexer", "x", &taken), "lexer/x.3");
        for known in ["lexer", "lexer.2", "lexer/x", "lexer/x/y.2"] {
            let file = file_name(known);
            assert!(!file.contains('/'), "{file}");
            assert_eq!(name_of(&file), known);
        }
        // no agent may have a name that is read as two
        assert!(!crate::law::children::fits("lexer+x"));
    }
}
