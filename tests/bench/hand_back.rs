//! The copies of a child and their hand-back, measured (`cargo bench --bench hand_back [spawn] [back] [FILES]`).
//!
//! A tree is generated (50 000 files with 1 GiB, or as many as are asked for) and everything stands beside its
//! yardstick of the same run, the fastest of some rounds of each: both copies beside `cp -a` twice, also on
//! filesystems that clone (an XFS and a btrfs in a file, where they can be made and mounted); the hand-back of 100
//! changed files beside `git status` and the same synced writes. What could not be measured is said.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // a benchmark that cannot be set up may stop; it prints what it saw

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use windlass::law::hand_back::merge1::Verdict;
use windlass::workspace::child::{Progress, Room};

/// Files of the tree, unless others are asked for.
const FILES: usize = 50_000;
/// Bytes of each, on average: 50 000 are 1 GiB.
const BYTES_EACH: usize = (1 << 30) / FILES;
/// Files that the child changes.
const CHANGED: usize = 100;
/// Rounds, of which the fastest counts.
const ROUNDS: usize = 3;
/// Times a copy may take, in parts of its yardstick; and a hand-back.
const COPY_BOUND: f64 = 1.2;
const BACK_BOUND: f64 = 1.5;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let files = words.iter().find_map(|word| word.parse().ok()).unwrap_or(FILES);
    let named: Vec<&String> = words.iter().filter(|word| word.parse::<usize>().is_err()).collect();
    let on = |name: &str| named.is_empty() || named.iter().any(|one| *one == name);
    let place = tempfile::tempdir().unwrap();
    println!("{files} files with {} MiB in all", (files * BYTES_EACH) >> 20);
    if on("spawn") {
        spawn(place.path(), files, "cp -a");
        for kind in ["xfs", "btrfs"] {
            match Mounted::new(place.path(), kind, files) {
                Ok(mounted) => spawn(&mounted.at, files, "cp -a --reflink=always"),
                Err(why) => println!("NOT MEASURED on {kind}, which clones: {why}"),
            }
        }
    }
    if on("back") {
        back(place.path(), files);
    }
}

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// Makes a tree: most files small, a few with most of the bytes, as projects have them.
fn tree(top: &Path, files: usize) {
    let mut dice = Dice(0x7769_6e64_6c61_7373);
    let mut bytes = vec![0_u8; 16 * BYTES_EACH];
    bytes.chunks_mut(8).for_each(|chunk| chunk.copy_from_slice(&dice.roll().to_le_bytes()[..chunk.len()]));
    for n in 0..files {
        let dir = top.join(format!("d{}/s{}", n / 1000, n / 50 % 20));
        fs::create_dir_all(&dir).unwrap();
        // the mean of the six is the whole
        let parts = [1, 2, 4, 8, 16, 65][n % 6];
        let size = BYTES_EACH * parts / 16;
        let from = usize::try_from(dice.roll()).unwrap() % (bytes.len() - size.min(bytes.len() - 1));
        let text = &bytes[from..bytes.len().min(from + size)];
        let mut file = fs::File::create(dir.join(format!("f{n}.rs"))).unwrap();
        file.write_all(text).unwrap();
    }
}

fn seconds(work: impl FnOnce()) -> f64 {
    // what was written before is not part of it
    run("sync", &[]);
    let began = Instant::now();
    work();
    began.elapsed().as_secs_f64()
}

fn run(program: &str, arguments: &[&str]) {
    let done = Command::new(program).args(arguments).stdout(Stdio::null()).status().unwrap();
    assert!(done.success(), "{program} {arguments:?}: {done}");
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A filesystem in a file, mounted.
struct Mounted {
    at: PathBuf,
    image: PathBuf,
}

impl Mounted {
    fn new(place: &Path, kind: &str, files: usize) -> Result<Mounted, String> {
        let (at, image) = (place.join(kind), place.join(format!("{kind}.image")));
        fs::create_dir(&at).unwrap();
        let bytes = (files * BYTES_EACH * 4).max(2 << 30) as u64;
        fs::File::create(&image).and_then(|file| file.set_len(bytes)).unwrap();
        let does = |program: &str, arguments: &[&str]| {
            let done = Command::new(program).args(arguments).output();
            let done = done.map_err(|error| format!("{program}: {error}"))?;
            let why = || format!("{program}: {}", String::from_utf8_lossy(&done.stderr).trim());
            if done.status.success() { Ok(()) } else { Err(why()) }
        };
        let made = does(&format!("mkfs.{kind}"), &["-q", text(&image)])
            .and_then(|()| does("mount", &["-o", "loop", text(&image), text(&at)]));
        if let Err(why) = made {
            fs::remove_file(&image).unwrap();
            return Err(why);
        }
        Ok(Mounted { at, image })
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // one that is still busy is let go when it no longer is
        let _ = Command::new("umount").arg("--lazy").arg(&self.at).status();
        let _ = fs::remove_file(&self.image);
    }
}

fn filesystem(of: &Path) -> String {
    let told = Command::new("stat").args(["-f", "-c", "%T"]).arg(of).output().unwrap();
    String::from_utf8_lossy(&told.stdout).trim().to_owned()
}

fn spawn(place: &Path, files: usize, yardstick: &str) {
    let place = tempfile::tempdir_in(place).unwrap();
    let top = place.path().join("top");
    tree(&top, files);
    let (one, two) = (place.path().join("one"), place.path().join("two"));
    let (mut ours, mut theirs, mut how) = (f64::INFINITY, f64::INFINITY, String::new());
    for _ in 0..ROUNDS {
        let mut words: Vec<&str> = yardstick.split(' ').collect();
        let program = words.remove(0);
        theirs = theirs.min(seconds(|| {
            run(program, &[&words[..], &[text(&top), text(&one)]].concat());
            run(program, &[&words[..], &[text(&one), text(&two)]].concat());
        }));
        run("rm", &["-r", text(&one), text(&two)]);
        let room = Room::at(place.path().join("room"));
        ours = ours.min(seconds(|| {
            let made = room.make(&top, &Progress::default()).unwrap();
            assert_eq!(made.counts.made.len(), files);
            how = format!("{} cloned, {} copied by bytes", made.counts.cloned, made.counts.copied);
        }));
        room.drop_all().unwrap();
    }
    println!(
        "both copies on {}: {ours:.2} s ({how} in each); `{yardstick}` twice: {theirs:.2} s; ratio {:.2} (bound {COPY_BOUND})",
        filesystem(place.path()),
        ours / theirs
    );
}

/// Every so-many-th file of a tree.
fn some(files: usize) -> impl Iterator<Item = String> {
    let each = (files / CHANGED).max(1);
    (0..files).step_by(each).take(CHANGED).map(|n| format!("d{}/s{}/f{n}.rs", n / 1000, n / 50 % 20))
}

fn back(place: &Path, files: usize) {
    let place = tempfile::tempdir_in(place).unwrap();
    let top = place.path().join("top");
    tree(&top, files);
    let repository = place.path().join("repository");
    let git = |words: &[&str]| {
        let work = [&["-C", text(&top), "-c", "core.compression=0", "-c", "user.name=n"][..], words].concat();
        run("git", &work);
    };
    git(&["init", "-q", "--separate-git-dir", text(&repository)]);
    git(&["add", "-A"]);
    git(&["-c", "user.email=e", "commit", "-qm", "all"]);
    let best = || f64::INFINITY;
    let (mut ours, mut status, mut writes, mut batch) = (best(), best(), best(), best());
    let mut cleaned = best();
    for round in 0..ROUNDS {
        let room = Room::at(place.path().join(format!("room{round}")));
        room.make(&top, &Progress::default()).unwrap();
        for name in some(files) {
            let mut file = fs::OpenOptions::new().append(true).open(room.copy().join(name)).unwrap();
            writeln!(file, "round {round}").unwrap();
        }
        let mut record = None;
        ours = ours.min(seconds(|| record = Some(room.take_back(&top).unwrap())));
        let record = record.unwrap();
        assert_eq!(record.with(|verdict| verdict == Verdict::Taken).count(), CHANGED.min(files));
        cleaned = cleaned.min(seconds(|| room.clean_up().unwrap()));
        status = status.min(seconds(|| git(&["status", "--porcelain"])));
        let bytes: Vec<Vec<u8>> = some(files).map(|name| fs::read(top.join(name)).unwrap()).collect();
        let to = place.path().join("writes");
        fs::create_dir(&to).unwrap();
        let write = |n: usize, bytes: &[u8]| {
            let mut file = fs::File::create(to.join(n.to_string())).unwrap();
            file.write_all(bytes).unwrap();
            file
        };
        writes = writes.min(seconds(|| {
            bytes.iter().enumerate().for_each(|(n, bytes)| write(n, bytes).sync_data().unwrap());
        }));
        fs::remove_dir_all(&to).unwrap();
        fs::create_dir(&to).unwrap();
        batch = batch.min(seconds(|| {
            let all: Vec<fs::File> = bytes.iter().enumerate().map(|(n, bytes)| write(n, bytes)).collect();
            all.iter().for_each(|file| file.sync_data().unwrap());
        }));
        fs::remove_dir_all(&to).unwrap();
        room.drop_all().unwrap();
    }
    println!(
        "hand-back of {} changed of {files} on {}: {ours:.3} s; `git status` {status:.3} s and the same synced writes {writes:.3} s (written first and synced after: {batch:.3} s); ratio {:.2} (bound {BACK_BOUND})",
        CHANGED.min(files),
        filesystem(place.path()),
        ours / (status + writes)
    );
    println!("after it was told, base and copy are removed in {cleaned:.2} s");
}
