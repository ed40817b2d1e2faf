//! Which regions conflict, against `git merge-file --diff3` over generated texts. Where the two differ, the reason is
//! checked: see `docs/decisions/merge.md`.

use std::collections::BTreeMap;
use std::process::Command;

use windlass::law::merge::regions::{Changed, Region, Side, Three, Whitespace, lines};

/// A small generator of its own, so that every run has the same texts.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).unwrap()
    }
}

/// How the lines of a text are.
#[derive(Clone, Copy)]
struct Kind {
    /// Different lines there are; few: many lines are equal.
    different: usize,
    end: &'static str,
    final_end: bool,
}

fn edited(dice: &mut Dice, base: &[String], kind: Kind, mark: char) -> Vec<String> {
    let mut lines = base.to_vec();
    for _ in 0..=dice.roll(4) {
        let at = dice.roll(lines.len().max(1));
        let new = if kind.different > 1000 {
            format!("{mark}{}", dice.roll(3))
        } else {
            format!("l{}", dice.roll(kind.different))
        };
        match dice.roll(3) {
            0 if at < lines.len() => drop(lines.remove(at)),
            1 if at < lines.len() => lines[at] = new,
            _ => lines.insert(at.min(lines.len()), new),
        }
    }
    lines
}

fn text(lines: &[String], kind: Kind) -> Vec<u8> {
    let mut text: Vec<u8> =
        lines.iter().flat_map(|line| [line.as_bytes(), kind.end.as_bytes()].concat()).collect();
    if !kind.final_end {
        text.truncate(text.len().saturating_sub(kind.end.len()));
    }
    text
}

/// The conflicts: base, parent's and child's bytes of each, in order.
type Conflicts = Vec<[Vec<u8>; 3]>;

/// As git tells them. Every line of its output that is a marker is one: no text has such lines. A last line without an
/// end gets one from git, so the end of each part is not counted.
fn gits(dir: &std::path::Path, three: &Three) -> Conflicts {
    let names = [("parent", Side::Parent), ("base", Side::Base), ("child", Side::Child)];
    for (name, side) in names {
        std::fs::write(dir.join(name), three.bytes(side)).unwrap();
    }
    let mut git = Command::new("git");
    let out = git
        .current_dir(dir)
        .args(["merge-file", "-p", "--diff3", "parent", "base", "child"])
        .output()
        .unwrap();
    assert!(out.status.code().is_some_and(|code| code < 128), "{}", String::from_utf8_lossy(&out.stderr));
    let (mut found, mut block, mut part) = (Vec::new(), <[Vec<u8>; 3]>::default(), None);
    for line in lines(&out.stdout) {
        match &line[..line.len().min(7)] {
            b"<<<<<<<" => (block, part) = (Default::default(), Some(1)),
            b"|||||||" => part = Some(0),
            b"=======" => part = Some(2),
            b">>>>>>>" => {
                found.push(std::mem::take(&mut block).map(trimmed));
                part = None;
            }
            _ => part.into_iter().for_each(|part: usize| block[part].extend(line)),
        }
    }
    found
}

fn trimmed(mut text: Vec<u8>) -> Vec<u8> {
    while text.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
        text.pop();
    }
    text
}

fn ours(three: &Three) -> Conflicts {
    let of = |region: &Region| {
        [Side::Base, Side::Parent, Side::Child].map(|side| trimmed(three.of(side, region).to_vec()))
    };
    three
        .regions(Whitespace::Counts)
        .iter()
        .filter(|region| region.changed == Changed::Both)
        .map(of)
        .collect()
}

/// Whether some line occurs twice in a version: then there is more than one shortest way from the base to it.
fn is_ambiguous(three: &Three) -> bool {
    [Side::Base, Side::Parent, Side::Child].into_iter().any(|side| {
        let mut seen = BTreeMap::new();
        lines(three.bytes(side)).into_iter().any(|line| seen.insert(trimmed(line.to_vec()), ()).is_some())
    })
}

#[test]
fn the_regions_that_conflict_are_those_of_git() {
    let tmp = tempfile::tempdir().unwrap();
    let mut dice = Dice(0x57_696e_646c_6173);
    let (mut alike, mut other, mut unexplained) = (0, 0, Vec::new());
    let (mut only_ours, mut only_gits) = (0, 0);
    let ends = [("\n", true), ("\r\n", true), ("\n", false), ("\r\n", false)];
    for case in 0..crate::cases(400) as usize {
        let (end, final_end) = ends[case % 4];
        // every second text has lines that are all different, as most code has around a change
        let kind = Kind { different: if case % 2 == 0 { 100_000 } else { 6 }, end, final_end };
        let base: Vec<String> = (0..5 + dice.roll(25))
            .map(|n| {
                if kind.different > 1000 {
                    format!("línea {n}")
                } else {
                    format!("l{}", dice.roll(kind.different))
                }
            })
            .collect();
        let (parent, child) = (edited(&mut dice, &base, kind, 'p'), edited(&mut dice, &base, kind, 'c'));
        let three = Three::new(&text(&base, kind), &text(&parent, kind), &text(&child, kind));
        let (git, us) = (gits(tmp.path(), &three), ours(&three));
        if git == us {
            alike += 1;
            continue;
        }
        other += 1;
        only_ours += usize::from(git.is_empty());
        only_gits += usize::from(us.is_empty());
        if !is_ambiguous(&three) {
            unexplained.push((three, git, us));
        }
    }
    eprintln!(
        "alike {alike}, different {other}: only ours conflicts {only_ours}, only git's {only_gits}; without equal lines {}",
        unexplained.len()
    );
    let show = |texts: &[Vec<u8>; 3]| texts.clone().map(|text| String::from_utf8_lossy(&text).into_owned());
    for (three, git, us) in unexplained.iter().take(3) {
        for side in [Side::Base, Side::Parent, Side::Child] {
            eprintln!("{side:?} {:?}", String::from_utf8_lossy(three.bytes(side)));
        }
        eprintln!(
            "git  {:?}\nours {:?}",
            git.iter().map(show).collect::<Vec<_>>(),
            us.iter().map(show).collect::<Vec<_>>()
        );
    }
    assert!(unexplained.is_empty(), "{} texts without equal lines differ from git", unexplained.len());
    assert!(other * 4 <= alike, "{other} of {} differ from git", alike + other);
}
