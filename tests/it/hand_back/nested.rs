//! What the agents of an agent left, when it ends: risen to where its own workspace is, and resolved there; killed
//! anywhere on the way and run again, the same.

use std::fs;
use std::path::{Path, PathBuf};

use windlass::law::hand_back::merge1::Verdict;
use windlass::law::hand_back::tree::TreePath;
use windlass::store::private;
use windlass::workspace::child::resolve::Written;
use windlass::workspace::child::rise::rise_of_shared;
use windlass::workspace::child::rooms::rooms;
use windlass::workspace::child::{Progress, Room};

use super::cut::traced;
use super::trees::disk;
use super::{place, told};

/// A directory with `lexer` in a copy of it, `x` in a copy of that and `y` in a copy of that again: all changed `f`,
/// each in its own way, and `x` and `y` handed back.
struct Nest {
    top: PathBuf,
    lexer: Room,
    /// Where the workspaces of the session's agents are.
    up: PathBuf,
}

fn path() -> TreePath {
    TreePath::new("f").unwrap()
}

fn made(dir: &Path, of: &Path, session: &str) -> Room {
    let room = Room::at(dir);
    room.make(of, &Progress::default()).unwrap();
    room.name_agent(session).unwrap();
    room
}

impl Nest {
    fn new(root: &Path) -> Nest {
        let top = root.join("parent");
        fs::create_dir(&top).unwrap();
        fs::write(top.join("f"), "base\n").unwrap();
        fs::write(top.join("g"), "base\n").unwrap();
        // where the process that is traced looks for it
        let own = root.file_name().unwrap().to_str().unwrap();
        let (of_lexer, of_x) = (format!("of-lexer-{own}"), format!("of-x-{own}"));
        let lexer = made(&root.join("room"), &top, &of_lexer);
        let all = root.parent().unwrap();
        let x = made(&all.join(&of_lexer).join("x"), &lexer.copy(), &of_x);
        let y = made(&all.join(&of_x).join("y"), &x.copy(), "of-y");
        fs::write(y.copy().join("f"), "y\n").unwrap();
        fs::write(x.copy().join("f"), "x\n").unwrap();
        y.hand_back(&x.copy()).unwrap();
        fs::write(x.copy().join("g"), "x\n").unwrap();
        fs::write(lexer.copy().join("f"), "lexer\n").unwrap();
        let record = x.hand_back(&lexer.copy()).unwrap();
        assert_eq!(told(&record), ["f conflict", "g taken"]);
        assert_eq!(record.below.iter().map(|below| below.name.as_str()).collect::<Vec<_>>(), ["x/y"]);
        fs::write(top.join("f"), "person\n").unwrap();
        Nest { top, lexer, up: root.to_owned() }
    }

    /// The workspaces, with how many conflicts of each are open.
    fn stands(&self) -> Vec<(String, usize)> {
        let mut all = Vec::new();
        for (name, room) in rooms(&self.up).unwrap() {
            if room.record().exists() {
                all.push((name, room.standing().unwrap().open.len()));
            }
        }
        all
    }

    fn room(&self, name: &str) -> Room {
        rooms(&self.up).unwrap().into_iter().find(|(other, _)| other == name).unwrap().1
    }

    fn write(&self, name: &str, text: &str) {
        let room = self.room(name);
        assert_eq!(room.parent().unwrap(), Some(self.top.canonicalize().unwrap()), "{name}");
        let seen = room.parents(&self.top, &path()).unwrap();
        let written = Written::Bytes { bytes: text.as_bytes().to_vec(), executable: false };
        room.resolve(&self.top, &path(), &seen, written, None).unwrap();
        assert_eq!(fs::read_to_string(self.top.join("f")).unwrap(), text);
    }
}

const ALL: [&str; 3] = ["room", "room/x", "room/x/y"];

fn open(names: &[&str]) -> Vec<(String, usize)> {
    ALL.iter().map(|name| ((*name).to_owned(), usize::from(names.contains(name)))).collect()
}

#[test]
fn rise_loses_nothing() {
    let tmp = place();
    let root = tmp.path().join("root");
    private::dir(&root).unwrap();
    let nest = Nest::new(&root);
    let record = nest.lexer.hand_back(&nest.top).unwrap();
    assert_eq!(told(&record), ["f conflict", "g taken"]);
    let below: Vec<(&str, bool, usize)> =
        record.below.iter().map(|below| (below.name.as_str(), below.handed, below.open.len())).collect();
    assert_eq!(below, [("room/x", true, 1), ("room/x/y", true, 1)]);
    assert_eq!(nest.stands(), open(&ALL));
    assert!(!tmp.path().join("of-lexer-root").exists() && !tmp.path().join("of-x-root").exists());
    // three conflicts on one path, each resolved on what the one before left
    nest.write("room", "lexer\n");
    assert_eq!(nest.stands(), open(&["room/x", "room/x/y"]));
    nest.write("room/x", "lexer\nx\n");
    assert_eq!(nest.stands(), open(&["room/x/y"]));
    nest.write("room/x/y", "lexer\nx\ny\n");
    assert_eq!(nest.stands(), open(&[]));
    // every version of every one is still there, and what was written is taken back in turn
    for (name, [base, parent, child], now) in [
        ("room/x/y", ["base\n", "x\n", "y\n"], "lexer\nx\n"),
        ("room/x", ["base\n", "lexer\n", "x\n"], "lexer\n"),
        ("room", ["base\n", "person\n", "lexer\n"], "person\n"),
    ] {
        let room = nest.room(name);
        let record = room.read_record().unwrap().unwrap();
        let planned = record.path(&path()).unwrap();
        for (version, text) in [(&planned.base, base), (&planned.parent, parent), (&planned.child, child)] {
            assert_eq!(room.bytes(version).unwrap().unwrap(), text.as_bytes(), "{name}");
        }
        let there = room.bytes(record.parents(planned)).unwrap().unwrap();
        assert_eq!(there, b"person\n", "what the directory had when it rose");
        room.undo(&nest.top, &path()).unwrap().unwrap();
        assert_eq!(fs::read_to_string(nest.top.join("f")).unwrap(), now, "{name}");
    }
    assert_eq!(nest.stands(), open(&ALL));
}

#[test]
fn a_rising_that_is_killed_anywhere_is_ended_by_the_next_run() {
    let tmp = place();
    let (mut kills, mut first) = (0, None);
    for (call, step) in [("renameat2", 1), ("rename", 2), ("fsync", 4), ("rmdir", 1)] {
        for nth in (1..).step_by(step) {
            let root = tmp.path().join(format!("{call}{nth}"));
            private::dir(&root).unwrap();
            let nest = Nest::new(&root);
            let ended = traced(&root, call, &format!("signal=KILL:when={nth}"));
            let what = format!("killed before {call} {nth}");
            let record = nest.lexer.hand_back(&nest.top).unwrap();
            let below: Vec<String> = record.below.iter().map(|below| below.name.clone()).collect();
            let seen = (told(&record), below, nest.stands(), disk(&nest.top));
            assert_eq!(seen.2, open(&ALL), "{what}");
            assert_eq!(first.get_or_insert_with(|| seen.clone()), &seen, "{what}");
            assert!(nest.room("room/x").read_record().unwrap().unwrap().risen.len() == 1, "{what}");
            let own = tmp.path().join(format!("of-lexer-{call}{nth}"));
            assert!(!own.join("x").exists() && !own.join("x+y").exists(), "{what}: one did not rise");
            fs::remove_dir_all(&root).unwrap();
            if ended {
                break;
            }
            kills += 1;
        }
    }
    eprintln!("killed {kills} times");
    assert!(kills >= 10, "the tracer killed nothing: {kills}");
}

#[test]
fn one_that_was_cut_is_ended_first_and_one_that_never_handed_back_rises_with_its_work() {
    let tmp = place();
    let root = tmp.path().join("root");
    private::dir(&root).unwrap();
    let nest = Nest::new(&root);
    let own = tmp.path().join("of-lexer-root");
    let late = made(&own.join("late"), &nest.lexer.copy(), "of-late");
    fs::write(late.copy().join("late.txt"), "late\n").unwrap();
    let cut = made(&own.join("cut"), &nest.lexer.copy(), "of-cut");
    fs::write(cut.copy().join("cut.txt"), "cut\n").unwrap();
    // as a kill leaves it that comes after the plan
    let whole = made(&own.join("whole"), &nest.lexer.copy(), "of-whole");
    fs::write(whole.copy().join("cut.txt"), "cut\n").unwrap();
    whole.take_back(&nest.lexer.copy()).unwrap();
    fs::remove_file(nest.lexer.copy().join("cut.txt")).unwrap();
    private::dir(&cut.dir().join("run")).unwrap();
    fs::copy(whole.dir().join("run/plan.json"), cut.dir().join("run/plan.json")).unwrap();
    for name in fs::read_dir(whole.dir().join("versions")).unwrap() {
        let name = name.unwrap();
        private::dir(&cut.dir().join("versions")).unwrap();
        fs::copy(name.path(), cut.dir().join("versions").join(name.file_name())).unwrap();
    }
    whole.drop_all().unwrap();
    // and one whose copy was being made
    private::dir(&own.join("none")).unwrap();
    assert!(cut.is_cut());
    let record = nest.lexer.hand_back(&nest.top).unwrap();
    assert_eq!(fs::read_to_string(nest.top.join("cut.txt")).unwrap(), "cut\n");
    let below: Vec<(&str, bool)> =
        record.below.iter().map(|below| (below.name.as_str(), below.handed)).collect();
    assert_eq!(below, [("room/cut", true), ("room/late", false), ("room/x", true), ("room/x/y", true)]);
    // its work is not lost with the copy that it was to go to
    let late = nest.room("room/late");
    let record = late.hand_back(&nest.top).unwrap();
    assert_eq!(record.with(|verdict| verdict == Verdict::Taken).count(), 1);
    assert_eq!(fs::read_to_string(nest.top.join("late.txt")).unwrap(), "late\n");
}

#[test]
fn what_the_agents_of_one_without_a_copy_left_rises_under_its_name_and_no_name_is_had_twice() {
    let tmp = place();
    let top = tmp.path().join("parent");
    fs::create_dir(&top).unwrap();
    fs::write(top.join("f"), "base\n").unwrap();
    for round in 1..=2 {
        let own = tmp.path().join("own");
        let x = made(&own.join("x"), &top, "of-x");
        fs::write(x.copy().join("f"), format!("x{round}\n")).unwrap();
        fs::write(top.join("f"), format!("person{round}\n")).unwrap();
        x.hand_back(&top).unwrap();
        let below = rise_of_shared(own, tmp.path().join("up"), "worker", &top).unwrap();
        let wanted = if round == 1 { "worker/x" } else { "worker/x.2" };
        assert_eq!((below[0].name.as_str(), below[0].open.len()), (wanted, 1));
    }
    let all: Vec<String> = rooms(&tmp.path().join("up")).unwrap().into_iter().map(|(name, _)| name).collect();
    assert_eq!(all, ["worker/x", "worker/x.2"]);
}
