//! Law W on real directories: the same generated trees through the rule and through the disk; hostile trees; kills.

mod closed;
mod cut;
mod durable;
mod hostile;
mod long;
mod modes;
mod nested;
mod refused;
mod resolve;
mod served;
mod space;
mod trees;

use std::collections::BTreeMap;
use std::path::Path;

use windlass::law::hand_back::merge1::Verdict;
use windlass::workspace::child::hand_back::Record;
use windlass::workspace::child::{Progress, Room};

use trees::{Entry, Triple, disk, make, triples};

/// What the law says of a path, told by what three disks hold: written once more, without the code's own types.
fn expected(base: Option<&Entry>, parent: Option<&Entry>, child: Option<&Entry>, room: bool) -> &'static str {
    if child == base {
        "kept"
    } else if child.is_some() && !room {
        "conflict"
    } else if parent == child {
        "same"
    } else if parent == base {
        "taken"
    } else {
        "conflict"
    }
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Kept => "kept",
        Verdict::Taken => "taken",
        Verdict::Same => "same",
        Verdict::Conflict(_) => "conflict",
        Verdict::Special => "special",
    }
}

type Disk = BTreeMap<Vec<u8>, Entry>;

/// Files and links only.
fn tracked(disk: &Disk) -> Disk {
    disk.iter()
        .filter(|(_, entry)| entry.is_tracked())
        .map(|(path, entry)| (path.clone(), entry.clone()))
        .collect()
}

fn is_beneath(path: &[u8], dir: &[u8]) -> bool {
    path.strip_prefix(dir).is_some_and(|rest| rest.first() == Some(&b'/'))
}

/// What the law wants: a line for each path that the child changed, and the parent's directory after it.
fn rule(base: &Disk, parent: &Disk, child: &Disk) -> (Vec<String>, Disk) {
    let (files, theirs) = (tracked(base), tracked(child));
    let mut paths: Vec<&Vec<u8>> =
        files.keys().chain(theirs.keys()).filter(|path| files.get(*path) != theirs.get(*path)).collect();
    paths.sort();
    paths.dedup();
    let at = |path: &Vec<u8>| parent.get(path).filter(|entry| entry.is_tracked());
    let gone = |path: &Vec<u8>| {
        files.contains_key(path) && !theirs.contains_key(path) && at(path) == files.get(path)
    };
    let (mut lines, mut after) = (Vec::new(), parent.clone());
    let mut verdicts = Vec::new();
    for path in paths {
        let own = match parent.get(path) {
            Some(Entry::Directory) => {
                let mut beneath = parent.iter().filter(|(other, _)| is_beneath(other, path)).peekable();
                // a directory is gone when all files beneath it go and it has no empty directory
                beneath.peek().is_some()
                    && beneath.all(|(other, entry)| match entry {
                        Entry::Directory => parent.keys().any(|inner| is_beneath(inner, other)),
                        _ => gone(other),
                    })
            }
            Some(Entry::Special) => false,
            _ => true,
        };
        let above = parent
            .iter()
            .filter(|(other, entry)| is_beneath(path, other) && **entry != Entry::Directory)
            .all(|(other, _)| gone(other));
        let verdict = expected(files.get(path), at(path), theirs.get(path), own && above);
        lines.push(format!("{} {verdict}", path.escape_ascii()));
        verdicts.push((path, verdict));
    }
    for (path, _) in
        verdicts.iter().filter(|(path, verdict)| *verdict == "taken" && !theirs.contains_key(*path))
    {
        after.remove(*path);
    }
    for (path, _) in
        verdicts.iter().filter(|(path, verdict)| *verdict == "taken" && theirs.contains_key(*path))
    {
        after.insert(path.to_vec(), theirs[*path].clone());
    }
    (lines, tracked(&after))
}

fn told(record: &Record) -> Vec<String> {
    record
        .paths
        .iter()
        .map(|planned| format!("{} {}", planned.path.as_bytes().escape_ascii(), word(planned.verdict)))
        .collect()
}

/// Makes a workspace of a triple: the child's copy and the parent's directory are changed as it says.
fn begin(root: &Path, triple: &Triple) -> (std::path::PathBuf, Room) {
    let parent = root.join("parent");
    std::fs::create_dir(&parent).unwrap();
    make(&parent, &triple.base);
    let room = Room::at(root.join("room"));
    room.make(&parent, &Progress::default()).unwrap();
    make(&room.copy(), &triple.child);
    make(&parent, &triple.parent);
    (parent, room)
}

/// A directory for many small synced writes: in memory where there is one.
fn place() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

fn through_disk(count: u32) {
    let tmp = place();
    let mut reached: BTreeMap<String, u32> = BTreeMap::new();
    for (number, triple) in triples(count).into_iter().enumerate() {
        let root = tmp.path().join(number.to_string());
        std::fs::create_dir(&root).unwrap();
        let (parent, room) = begin(&root, &triple);
        let (base, before, child) = (disk(&room.base()), disk(&parent), disk(&room.copy()));
        let (lines, after) = rule(&base, &before, &child);
        let record = room.hand_back(&parent).unwrap();
        assert_eq!(told(&record), lines, "{triple:#?}");
        let words = lines.iter().filter_map(|line| line.rsplit(' ').next());
        words.for_each(|word| *reached.entry(word.to_owned()).or_default() += 1);
        assert_eq!(tracked(&disk(&parent)), after, "{triple:#?}");
        // a second run changes nothing
        let all = disk(&parent);
        assert_eq!(room.hand_back(&parent).unwrap(), record);
        assert_eq!(disk(&parent), all);
        assert!(!room.base().exists() && !room.copy().exists(), "what nobody changed is gone");
        std::fs::remove_dir_all(&root).unwrap();
    }
    assert!(reached.len() == 3 && reached.values().all(|count| *count >= 10), "{reached:?}");
    eprintln!("{reached:?}");
}

#[test]
fn the_bridge_over_generated_trees_agrees_with_the_law() {
    through_disk(crate::cases(300));
}
