//! A session's answers to the conflict viewer, out of memory: what the engine does with rooms on a disk.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass::api::command::{Command, Query};
use windlass::api::event::{Event, Reply};
use windlass::api::hand_back::{
    ByHand, Draft, HandBack, HandBackAsk, HandBackPath, HandBackReply, Sided, Sides, Stamp, Take,
};
use windlass::base::Millis;
use windlass::law::hand_back::merge1::{Verdict, merge1};
use windlass::law::hand_back::renames::Rename;
use windlass::law::hand_back::tree::{Hash, Obstacle, TreePath, Version};
use windlass::law::merge::resolution::Choice;
use windlass::ui::pane::conflict;
use windlass::ui::{Effect, Msg};

use super::Screen;

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum There {
    /// Nothing.
    Absent,
    /// A file, and whether it may be run.
    File(Vec<u8>, bool),
    /// A link.
    Link(&'static str),
    /// A directory.
    Directory,
}

/// A file that may not be run.
pub fn file(text: impl AsRef<[u8]>) -> There {
    There::File(text.as_ref().to_vec(), false)
}

impl There {
    fn version(&self) -> Version {
        match self {
            There::Absent => Version::Absent,
            There::File(bytes, executable) => {
                Version::File { hash: Hash(digest(bytes)), executable: *executable }
            }
            There::Link(target) => Version::Link { target: target.as_bytes().to_vec() },
            There::Directory => Version::InTheWay(Obstacle::Directory),
        }
    }

    fn stamp(&self) -> Stamp {
        let name = digest(format!("{self:?}").as_bytes());
        Stamp(Some(std::array::from_fn(|n| u64::from(name[n]))))
    }

    fn sided(&self) -> Sided {
        let bytes = match self {
            There::File(bytes, _) => Some(Arc::from(&bytes[..])),
            There::Absent | There::Link(_) | There::Directory => None,
        };
        let bytes_len = bytes.as_ref().map_or(0, |bytes: &Arc<[u8]>| bytes.len() as u64);
        Sided { version: self.version(), bytes, bytes_len }
    }
}

/// Tells contents apart; no real digest is needed.
fn digest(bytes: &[u8]) -> [u8; 32] {
    let mut out = [0_u8; 32];
    for (n, chunk) in out.chunks_mut(8).enumerate() {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64 ^ n as u64;
        for byte in bytes {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
        chunk.copy_from_slice(&hash.to_be_bytes());
    }
    out
}

struct Of {
    base: There,
    parent: There,
    child: There,
    then: There,
    by_hand: ByHand,
    verdict: Verdict,
    draft: Option<Draft>,
    /// What was there before each write that stands, and what was written.
    before: Vec<(There, ByHand)>,
    after: Vec<There>,
}

/// The desk.
#[derive(Default)]
pub struct Desk {
    of: BTreeMap<(String, TreePath), Of>,
    children: Vec<String>,
    renames: Vec<(String, Rename)>,
    left_out: Vec<TreePath>,
    /// What was written: path, choices.
    pub written: Vec<(String, Option<Vec<Choice>>)>,
    /// How often it was asked whether a file was changed.
    pub looked: usize,
    /// How the same three versions were resolved before.
    pub earlier: Option<Vec<u8>>,
    /// What mergiraf makes of anything.
    pub proposal: Option<Vec<u8>>,
}

/// A path.
pub fn path(text: &str) -> TreePath {
    TreePath::new(text).unwrap()
}

impl Desk {
    /// Adds a path as it was when the child ended; what the child did not change is not listed.
    pub fn put(&mut self, child: &str, at: &str, base: There, parent: There, theirs: There) {
        let verdict = merge1(&base.version(), &parent.version(), &theirs.version());
        let then = parent.clone();
        let parent = if verdict == Verdict::Taken { theirs.clone() } else { parent };
        if !self.children.contains(&child.to_owned()) {
            self.children.push(child.to_owned());
        }
        let of = Of {
            base,
            parent,
            child: theirs,
            then,
            by_hand: ByHand::Nothing,
            verdict,
            draft: None,
            before: Vec::new(),
            after: Vec::new(),
        };
        self.of.insert((child.to_owned(), path(at)), of);
    }

    /// Says that the child gave a file another path.
    pub fn rename(&mut self, child: &str, from: &str, to: &str) {
        self.renames.push((child.to_owned(), Rename { from: path(from), to: path(to), alike: 90 }));
    }

    /// Says that a path is left out by the ignore rules.
    pub fn leave_out(&mut self, at: &str) {
        self.left_out.push(path(at));
    }

    /// Someone else changes the parent's file.
    pub fn change(&mut self, child: &str, at: &str, to: There) {
        self.get(child, &path(at)).parent = to;
    }

    /// What the parent's directory has at a path now.
    pub fn parents(&self, child: &str, at: &str) -> There {
        self.of[&(child.to_owned(), path(at))].parent.clone()
    }

    /// What is kept of a path.
    pub fn draft(&self, child: &str, at: &str) -> Option<Draft> {
        self.of[&(child.to_owned(), path(at))].draft.clone()
    }

    /// The versions that must never change: base's and child's, of all paths.
    pub fn untouched(&self) -> Vec<(There, There)> {
        self.of.values().map(|of| (of.base.clone(), of.child.clone())).collect()
    }

    fn get(&mut self, child: &str, at: &TreePath) -> &mut Of {
        self.of.get_mut(&(child.to_owned(), at.clone())).expect("a path of the hand-back")
    }

    fn hand_back(&self, child: &str) -> HandBack {
        let of = self.of.iter().filter(|((of, _), _)| of == child);
        let paths = of.map(|((_, path), of)| HandBackPath {
            path: path.clone(),
            verdict: of.verdict,
            by_hand: of.by_hand,
            draft: of.draft.is_some(),
        });
        HandBack {
            child: child.to_owned(),
            at: Millis(940_000),
            paths: paths.collect(),
            renames: self.renames.iter().filter(|(of, _)| of == child).map(|(_, one)| one.clone()).collect(),
            left_out: self.left_out.clone(),
            kept: Vec::new(),
        }
    }

    fn sides(&mut self, child: &str, at: &TreePath) -> Box<Sides> {
        let (earlier, can_propose) = (self.earlier.clone(), self.proposal.is_some());
        let of = self.get(child, at);
        Box::new(Sides {
            child: child.to_owned(),
            path: at.clone(),
            verdict: of.verdict,
            base: of.base.sided(),
            parent: of.parent.sided(),
            stamp: of.parent.stamp(),
            theirs: of.child.sided(),
            parent_then: of.then.version(),
            draft: of.draft.clone(),
            earlier: earlier.map(Into::into),
            can_propose,
        })
    }

    fn take(&mut self, child: &str, at: &TreePath, take: Take) {
        let of = self.get(child, at);
        let all = [of.base.clone(), of.parent.clone(), of.child.clone(), of.then.clone()];
        let new = match take {
            Take::Bytes { bytes, executable } => There::File(bytes.to_vec(), executable),
            Take::Version(version) => {
                all.into_iter().find(|there| there.version() == version).expect("a version of the record")
            }
        };
        of.after.push(new.clone());
        of.before.push((std::mem::replace(&mut of.parent, new), of.by_hand));
        of.by_hand = if of.verdict == Verdict::Taken { ByHand::Reverted } else { ByHand::Resolved };
    }

    fn answer(&mut self, ask: HandBackAsk) -> HandBackReply {
        match ask {
            HandBackAsk::List => {
                HandBackReply::List(self.children.iter().map(|child| self.hand_back(child)).collect())
            }
            HandBackAsk::Sides { child, path } => HandBackReply::Sides(self.sides(&child, &path)),
            HandBackAsk::Stamp { child, path } => {
                self.looked += 1;
                HandBackReply::Stamp(self.get(&child, &path).parent.stamp())
            }
            HandBackAsk::Write { child, path, seen, take, choices } => {
                if self.get(&child, &path).parent.version() != seen {
                    return HandBackReply::Changed(self.sides(&child, &path));
                }
                if choices.is_some() {
                    self.get(&child, &path).draft = None;
                }
                self.written.push((path.to_string(), choices));
                self.take(&child, &path, take);
                HandBackReply::Written(Box::new(self.hand_back(&child)))
            }
            HandBackAsk::Undo { child, path } => {
                let of = self.get(&child, &path);
                if of.after.last().is_some_and(|after| *after != of.parent) {
                    return HandBackReply::Changed(self.sides(&child, &path));
                }
                of.after.pop();
                if let Some((parent, by_hand)) = of.before.pop() {
                    (of.parent, of.by_hand) = (parent, by_hand);
                }
                HandBackReply::Written(Box::new(self.hand_back(&child)))
            }
            HandBackAsk::KeepDraft { child, path, draft, .. } => {
                self.get(&child, &path).draft = draft.map(|draft| *draft);
                HandBackReply::Kept
            }
            HandBackAsk::Propose { .. } => HandBackReply::Proposal(self.proposal.clone().map(Into::into)),
            HandBackAsk::StopProposal { .. } => HandBackReply::Stopped,
        }
    }

    /// Answers what the screen asks, until it asks nothing more and has compared what came; what else it wants.
    pub fn settle(&mut self, screen: &mut Screen, effects: Vec<Effect>) -> Vec<Effect> {
        let mut rest = self.answers(screen, effects);
        while screen.model.conflict.compares() {
            std::thread::yield_now();
            let effects = screen.tell(Msg::Conflict(conflict::Msg::Compared));
            rest.extend(self.answers(screen, effects));
        }
        rest
    }

    /// Answers the question of the list; what the screen wants then.
    pub fn list_only(&mut self, screen: &mut Screen, effect: Effect) -> Vec<Effect> {
        let Effect::Send(Command::Ask { number, query: Query::HandBack(ask @ HandBackAsk::List) }) = effect
        else {
            panic!("{effect:?}");
        };
        let reply = Reply::HandBack(self.answer(ask));
        screen.tell(Msg::Event(Event::Answered { number, reply }))
    }

    /// Answers what the screen asks; what is being compared is not waited for.
    pub fn answers(&mut self, screen: &mut Screen, effects: Vec<Effect>) -> Vec<Effect> {
        let (mut todo, mut rest) = (std::collections::VecDeque::from(effects), Vec::new());
        while let Some(effect) = todo.pop_front() {
            match effect {
                Effect::Send(Command::Ask { number, query: Query::HandBack(ask) }) => {
                    let reply = Reply::HandBack(self.answer(ask));
                    todo.extend(screen.tell(Msg::Event(Event::Answered { number, reply })));
                }
                other => rest.push(other),
            }
        }
        rest
    }

    /// Presses keys one by one, each answered before the next, each seen.
    pub fn keys(&mut self, screen: &mut Screen, names: &str) -> Vec<Effect> {
        let mut rest = Vec::new();
        for name in names.split(' ') {
            screen.draw();
            let effects = screen.keys(name);
            rest.extend(self.settle(screen, effects));
        }
        rest
    }
}
