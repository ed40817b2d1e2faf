//! The viewer's words: marks, letters, what a hunk, a path and a hand-back are called.

use crate::api::agent::stand;
use crate::api::hand_back::{ByHand, HandBack, HandBackPath, Sided};
use crate::law::hand_back::merge1::{Clash, Verdict};
use crate::law::hand_back::tree::{Obstacle, Version};
use crate::law::merge::regions::{Changed, Side};
use crate::law::merge::resolution::{Choice, Origin};
use crate::ui::widget::row::Role;
use crate::ui::widget::text::tame;

/// How a path stands: its mark, its letter, and the colour of both.
pub(super) fn mark(path: &HandBackPath) -> (&'static str, char, Role) {
    let (mark, role) = match (path.verdict, path.by_hand) {
        (_, ByHand::Resolved) => ("◆", Role::Ok),
        (_, ByHand::Reverted) => ("↶", Role::Warning),
        (_, ByHand::Outside) => ("≠", Role::Warning),
        (Verdict::Conflict(_), ByHand::Nothing) => ("⚑", Role::Warning),
        (Verdict::Taken, ByHand::Nothing) => ("✓", Role::Ok),
        (Verdict::Same | Verdict::Kept, ByHand::Nothing) => ("=", Role::Dim),
        (Verdict::Special, ByHand::Nothing) => ("–", Role::Dim),
    };
    (mark, letter(path.verdict), role)
}

/// A path's outcome as a letter.
fn letter(verdict: Verdict) -> char {
    match verdict {
        Verdict::Taken => 'T',
        Verdict::Same | Verdict::Kept => 'S',
        Verdict::Special => '–',
        Verdict::Conflict(clash) => match clash {
            Clash::Content => 'C',
            Clash::Executable => 'X',
            Clash::Link => 'L',
            Clash::Kind => 'K',
            Clash::ParentRemoved | Clash::ChildRemoved => 'R',
            Clash::DirectoryInTheWay | Clash::FileInTheWay | Clash::SpecialInTheWay => 'D',
            Clash::Disturbed | Clash::Refused => '!',
        },
    }
}

/// How a path stands, in words.
pub(super) fn outcome(path: &HandBackPath) -> String {
    let what = match path.verdict {
        Verdict::Taken => "taken: only the child changed it",
        Verdict::Same | Verdict::Kept => "the same: both made this change",
        Verdict::Special => "no file in the copy: it is not brought over",
        Verdict::Conflict(clash) => clash.words(),
    };
    let since = match path.by_hand {
        ByHand::Nothing => "",
        ByHand::Resolved => "resolved · ",
        ByHand::Reverted => "put back as it was · ",
        ByHand::Outside => "changed outside since · ",
    };
    format!("{since}{what}")
}

/// What came back, in numbers.
pub(super) fn counts(hand_back: &HandBack) -> String {
    let count = |what: fn(&HandBackPath) -> bool| hand_back.paths.iter().filter(|path| what(path)).count();
    let taken = count(|path| path.verdict == Verdict::Taken);
    let same = count(|path| path.verdict == Verdict::Same);
    let conflicts = count(|path| matches!(path.verdict, Verdict::Conflict(_)));
    let open = count(HandBackPath::is_open);
    if hand_back.paths.is_empty() {
        return "nothing changed".to_owned();
    }
    let mut out = Vec::new();
    if taken > 0 || conflicts + same == 0 {
        out.push(format!("{taken} taken"));
    }
    if same > 0 {
        out.push(format!("{same} same"));
    }
    if conflicts > 0 {
        let noun = if conflicts == 1 { "conflict" } else { "conflicts" };
        let stands = stand(conflicts, open);
        let stands = if stands.is_empty() { format!("{open} open") } else { stands };
        out.push(format!("{conflicts} {noun} ({stands})"));
    }
    if !hand_back.kept.is_empty() {
        out.push(format!("{} saved meanwhile and kept", hand_back.kept.len()));
    }
    out.join(" · ")
}

/// Who changed a hunk.
pub(super) fn changed(changed: Changed) -> &'static str {
    match changed {
        Changed::Nobody => "not changed",
        Changed::Parent => "only the parent changed it",
        Changed::Child => "only the child changed it",
        Changed::Same => "both made this change",
        Changed::Both => "both changed it",
    }
}

/// Whose the lines of a merge program's are called.
pub(super) const PROGRAMS: &str = "mergiraf's";

/// What was chosen for a hunk.
pub(super) fn choice(choice: &Choice) -> &'static str {
    match choice {
        Choice::Open => "open",
        Choice::Parent => "parent",
        Choice::Child => "child",
        Choice::Both => "both",
        Choice::BothChildFirst => "both, child first",
        Choice::Base => "base",
        Choice::Edited(_) => "by hand",
    }
}

/// Where a line of the result is from: in words, and as a letter where there is little room.
pub(super) fn origin(origin: Origin, open: bool) -> (&'static str, &'static str) {
    match origin {
        _ if open => ("open: as the parent has it", "⚑"),
        Origin::Unchanged => ("", ""),
        Origin::Parent => ("from parent", "P"),
        Origin::Child => ("from child", "C"),
        Origin::Both => ("from both", "="),
        Origin::Base => ("from base", "B"),
        Origin::Hand => ("by hand", "H"),
    }
}

/// What a version is called.
pub(super) fn side(side: Side, child: &str, alone: bool) -> String {
    match (side, alone) {
        (Side::Base, _) => "base".to_owned(),
        (Side::Parent, false) => "parent (yours)".to_owned(),
        (Side::Parent, true) => "parent (local)".to_owned(),
        (Side::Child, _) => format!("child ({})", tame(child)),
    }
}

/// What a version is, in words.
pub(super) fn fact(sided: &Sided) -> String {
    match &sided.version {
        Version::Absent => "not there".to_owned(),
        Version::File { hash, executable } => {
            let mut out = match sided.bytes_len {
                1 => "file, 1 byte".to_owned(),
                few @ 0..1000 => format!("file, {few} bytes"),
                many => format!("file, {}", crate::ui::pane::jobs::bytes(many)),
            };
            if *executable {
                out.push_str(", executable");
            }
            let name: String = hash.to_string().chars().take(8).collect();
            out.push_str(&format!(", SHA-256 {name}…"));
            out
        }
        Version::Link { target } => format!("link to {}", tame(&String::from_utf8_lossy(target))),
        Version::InTheWay(Obstacle::Directory) => "a directory".to_owned(),
        Version::InTheWay(Obstacle::Above) => {
            "not there: a file or link stands where one of its directories should be".to_owned()
        }
        Version::InTheWay(Obstacle::Special) => "no file: a socket, a device or a FIFO".to_owned(),
    }
}
