//! The bridge of restoring: generated histories of files, changed by the tools of a real session and by others,
//! rewound, taken back and rewound again, are carried out on a disk and by the pure rule (`law::rewind`). What both
//! say, as text, must be the same.
//!
//! The real side looks at the files themselves and at what a person is told. The rule's side knows the history, and
//! nothing of the session.
//!
//! Keeps `restore_spares_others`, `restore_can_be_taken_back`. Not here: crashes (`restore_crash`).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use proptest::prelude::*;
use windlass::api::access::Mode;
use windlass::base::EntryId;
use windlass::engine::Which;
use windlass::law::rewind::{Decision, Present, Touch, plan};

use crate::rewind_files::{calls, remove, rewind, script, turn, undo, write};
use crate::scenarios::{SCENARIOS, on_threads};
use crate::session::Place;

const FILES: [&str; 3] = ["a", "d/b", "d/e/c"];

/// A file gets these bytes, or is removed.
type Act = (usize, Option<u8>);

#[derive(Clone, Debug)]
enum Step {
    /// A turn in which the tools do this.
    Tools(Vec<Act>),
    /// Somebody else does this.
    Other(Act),
    /// Back to the end of a turn that ended, counted from the newest (none: to before everything).
    Rewind(Option<usize>, bool),
    /// The newest restoring is taken back.
    Undo,
}

fn act() -> impl Strategy<Value = Act> {
    (0..FILES.len(), proptest::option::weighted(0.75, 0u8..3))
}

fn scenario() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        5 => proptest::collection::vec(act(), 1..4).prop_map(Step::Tools),
        2 => act().prop_map(Step::Other),
        3 => (proptest::option::weighted(0.7, 0usize..4), proptest::bool::weighted(0.8))
            .prop_map(|(to, restore)| Step::Rewind(to, restore)),
        2 => Just(Step::Undo),
    ];
    proptest::collection::vec(step, 3..9).prop_map(|mut steps| {
        steps.push(Step::Rewind(None, true));
        steps.push(Step::Undo);
        steps
    })
}

/// What stands on the disk.
type Disk = BTreeMap<usize, u8>;

fn file(n: usize) -> PathBuf {
    Path::new("/p").join(FILES[n])
}

fn number(path: &Path) -> usize {
    FILES.iter().position(|name| path.ends_with(name)).unwrap()
}

/// What is told of the files after a step.
fn told(out: &mut String, what: &str, files: impl Iterator<Item = (usize, Option<String>)>) {
    let _ = write!(out, "{what}:");
    for (n, content) in files {
        let _ = write!(out, " {}={}", FILES[n], content.as_deref().unwrap_or("-"));
    }
    out.push('\n');
}

/// What a restoring is said to have done.
fn done(out: &mut String, restored: &[usize], stayed: &[(usize, String)]) {
    let restored: Vec<&str> = restored.iter().map(|n| FILES[*n]).collect();
    let stayed: Vec<String> = stayed.iter().map(|(n, why)| format!("{} {why}", FILES[*n])).collect();
    let _ = writeln!(out, "put back {restored:?}, stay {stayed:?}");
}

/// The rule's side of a restoring: its own touches.
fn restore(disk: &mut Disk, touches: &[Touch], undo: bool, out: &mut String) -> Vec<Touch> {
    let present = |path: &Path| match disk.get(&number(path)) {
        Some(content) => Present::File(content.to_string()),
        None => Present::Gone,
    };
    let decided = plan(touches, present, |_| true);
    let (mut restored, mut stayed, mut own) = (Vec::new(), Vec::new(), Vec::new());
    for (path, decision) in decided {
        let n = number(&path);
        match decision {
            Decision::AlreadySo => {}
            Decision::Conflict(why) => {
                let why = why.words();
                stayed.push((n, if undo { why.replace(" by someone else", "") } else { why }));
            }
            Decision::Restore { to, .. } => {
                let before = disk.get(&n).map(u8::to_string);
                match &to {
                    Some(content) => drop(disk.insert(n, content.parse().unwrap())),
                    None => drop(disk.remove(&n)),
                }
                restored.push(n);
                own.push(Touch { path, before, after: to, mode: None });
            }
        }
    }
    done(out, &restored, &stayed);
    own
}

fn rule(steps: &[Step]) -> String {
    let mut out = String::new();
    let mut disk: Disk = [(0, 0), (1, 1)].into();
    let mut touches: Vec<Touch> = Vec::new();
    // how much had been touched when a turn ended; where the newest restoring is
    let mut ends: Vec<usize> = Vec::new();
    let mut newest: Vec<Touch> = Vec::new();
    for step in steps {
        let what = match step {
            Step::Tools(acts) => {
                for (n, content) in acts {
                    let before = disk.get(n).map(u8::to_string);
                    if before.is_none() && content.is_none() {
                        continue;
                    }
                    match content {
                        Some(content) => drop(disk.insert(*n, *content)),
                        None => drop(disk.remove(n)),
                    }
                    touches.push(Touch {
                        path: file(*n),
                        before,
                        after: content.map(|c| c.to_string()),
                        mode: None,
                    });
                }
                ends.push(touches.len());
                "tools"
            }
            Step::Other((n, content)) => {
                match content {
                    Some(content) => drop(disk.insert(*n, *content)),
                    None => drop(disk.remove(n)),
                }
                "others"
            }
            Step::Rewind(to, with_files) => {
                let from = target(&ends, *to).copied().unwrap_or(0);
                if *with_files {
                    let own = restore(&mut disk, &touches[from..], false, &mut out);
                    if !own.is_empty() {
                        newest.clone_from(&own);
                    }
                    touches.extend(own);
                } else {
                    done(&mut out, &[], &[]);
                }
                "rewound"
            }
            Step::Undo if newest.is_empty() => "nothing to undo",
            Step::Undo => {
                let own = restore(&mut disk, &newest, true, &mut String::new());
                if !own.is_empty() {
                    newest.clone_from(&own);
                }
                touches.extend(own);
                "undone"
            }
        };
        told(&mut out, what, (0..FILES.len()).map(|n| (n, disk.get(&n).map(u8::to_string))));
    }
    out
}

fn target<T>(ends: &[T], to: Option<usize>) -> Option<&T> {
    let back = to.filter(|_| !ends.is_empty())?;
    ends.get(ends.len() - 1 - back.min(ends.len() - 1))
}

fn real(steps: &[Step]) -> String {
    let mut out = String::new();
    let place = Place::new();
    let at = |n: usize| place.cwd().join(FILES[n]);
    let put = |n: usize, content: Option<u8>| match content {
        Some(content) => {
            std::fs::create_dir_all(at(n).parent().unwrap()).unwrap();
            std::fs::write(at(n), content.to_string()).unwrap();
        }
        None => drop(std::fs::remove_file(at(n))),
    };
    put(0, Some(0));
    put(1, Some(1));
    let turns: Vec<_> = steps.iter().filter_map(tool_calls).collect();
    let mut session = place.open(&script(&turns), Mode::Auto, Which::New);
    let mut ends: Vec<EntryId> = Vec::new();
    for (n, step) in steps.iter().enumerate() {
        let what = match step {
            Step::Tools(_) => {
                ends.push(turn(&mut session, &format!("message {n}")));
                "tools"
            }
            Step::Other((n, content)) => {
                put(*n, *content);
                "others"
            }
            Step::Rewind(to, restore) => {
                let rewound = rewind(&mut session, target(&ends, *to), *restore);
                let restored: Vec<usize> = rewound.restored.iter().map(|path| number(path)).collect();
                let stayed: Vec<(usize, String)> =
                    rewound.conflicts.iter().map(|(path, why)| (number(path), why.clone())).collect();
                done(&mut out, &restored, &stayed);
                "rewound"
            }
            Step::Undo if undo(&mut session).starts_with("No files") => "nothing to undo",
            Step::Undo => "undone",
        };
        told(&mut out, what, (0..FILES.len()).map(|n| (n, std::fs::read_to_string(at(n)).ok())));
    }
    let left: Vec<_> =
        std::fs::read_dir(place.cwd()).unwrap().map(|item| item.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with('.')), "{left:?}");
    assert!(!place.dirs().session(&session.id()).join("restoring.json").exists());
    out
}

/// A turn of the model that does these acts, one call each.
fn tool_calls(step: &Step) -> Option<Vec<serde_json::Value>> {
    let Step::Tools(acts) = step else { return None };
    let call = |(n, content): &Act| match content {
        Some(content) => write(FILES[*n], &content.to_string()),
        None => remove(FILES[*n]),
    };
    Some(calls(&acts.iter().map(call).collect::<Vec<_>>()))
}

/// Every scenario with what the rule and the session said of it: run once for all tests here.
fn ran() -> &'static [(Vec<Step>, String, String)] {
    static RAN: OnceLock<Vec<(Vec<Step>, String, String)>> = OnceLock::new();
    RAN.get_or_init(|| {
        let both = |steps: &Vec<Step>| (rule(steps), real(steps));
        on_threads(&scenario(), both).into_iter().map(|(steps, (rule, real))| (steps, rule, real)).collect()
    })
}

/// Lines up to the last, which tells of an undo.
fn before_the_undo(told: &str) -> &str {
    told.trim_end().rsplit_once('\n').map_or("", |(before, _)| before)
}

#[test]
fn restore_spares_others() {
    for (steps, rule, real) in ran() {
        assert_eq!(before_the_undo(rule), before_the_undo(real), "{steps:?}");
    }
    assert_eq!(ran().len(), SCENARIOS);
}

#[test]
fn restore_can_be_taken_back() {
    for (steps, rule, real) in ran() {
        assert_eq!(rule, real, "{steps:?}");
    }
}
