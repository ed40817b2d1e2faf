//! Law J for children: subagents, from the asking to the one end of each run, and the places among those that work.
//!
//! A child stands in the line until there is a place, its copy is made, it works, it is stopped with all that it
//! started, and hands back; then it has ended. A child whose answer is there waits for its own children first. Places
//! are for what works: one that waits for its children has none. A start waits for a place; what comes back from a
//! wait goes on at once, for no wait may last longer than its call, and the next start waits the longer.
//!
//! Not here: sessions, copies, models, clocks. The shell carries effects out and tells what came of them.
//!
//! Keeps `child_ends_once`, `places_are_bounded`, `waiting_parent_holds_no_place`, `child_is_stopped_alone`,
//! `child_stops_before_its_hand_back`.

mod event;
mod state;

use std::collections::{BTreeMap, VecDeque};

use crate::base::Millis;

pub use event::{Asked, Effect, Event, Found, Left, Refusal};
pub use state::{By, End, Stage, State, Work};

/// Most children that a program knows at once, of all parents.
pub const CHILDREN_MAX: usize = 1024;
/// Most characters of a child's name.
pub const NAME_MAX: usize = 40;

/// The bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Most that work at once.
    pub at_once: u32,
    /// How deep children may have children: 1 for none.
    pub depth: u32,
    /// One that is silent for so long is ended; none: never.
    pub stall: Option<Millis>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Child {
    parent: Option<String>,
    isolated: bool,
    state: State,
    /// Whether it has one of the places.
    place: bool,
    /// Whether it ever worked: else there is nothing to hand back.
    worked: bool,
    /// When something of it was heard last.
    heard: Millis,
    /// It waits for the person's word: that is no silence.
    asking: bool,
    /// Tokens that this run may still use; none: any number.
    budget: Option<u64>,
    /// The same at the beginning of a run.
    granted: Option<u64>,
}

impl Child {
    fn lives(&self) -> bool {
        match self.state {
            State::Waiting
            | State::Preparing
            | State::Working(_)
            | State::Stopping(..)
            | State::HandingBack(_)
            | State::Again(_) => true,
            State::Cut | State::Ended(_) => false,
        }
    }
}

/// The children of a session, and theirs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Children {
    at_once: u32,
    depth: u32,
    stall: Option<Millis>,
    children: BTreeMap<String, Child>,
    /// Those that wait for a place, the next first.
    line: VecDeque<String>,
}

/// The path of a child: its name behind that of its parent.
pub fn path_of(parent: Option<&str>, name: &str) -> String {
    parent.map_or_else(|| name.to_owned(), |parent| format!("{parent}/{name}"))
}

/// Whether a child may bear a name: it is a file's too.
pub fn fits(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    !name.is_empty() && name.len() <= NAME_MAX && name.bytes().all(plain)
}

impl Children {
    /// None yet.
    pub fn new(bounds: Bounds) -> Self {
        let Bounds { at_once, depth, stall } = bounds;
        Self { at_once, depth, stall, children: BTreeMap::new(), line: VecDeque::new() }
    }

    /// Asks for a child. It stands in the line, or gets a place at once.
    pub fn ask(&mut self, asked: Asked, now: Millis) -> Result<Vec<Effect>, Refusal> {
        let Asked { parent, name, isolated, budget } = asked;
        if !fits(&name) {
            return Err(Refusal::Name);
        }
        let path = path_of(parent.as_deref(), &name);
        if self.children.contains_key(&path) {
            return Err(Refusal::Taken);
        }
        if path.split('/').count() > usize::try_from(self.depth).unwrap_or(usize::MAX) {
            return Err(Refusal::Deep { depth: self.depth });
        }
        let works = |parent: &String| matches!(self.state(parent), Some(State::Working(_)));
        if !parent.as_ref().is_none_or(works) {
            return Err(Refusal::ParentEnds);
        }
        if self.children.len() >= CHILDREN_MAX {
            return Err(Refusal::Many);
        }
        let state = State::Waiting;
        let child = Child {
            parent,
            isolated,
            state,
            place: false,
            worked: false,
            heard: now,
            asking: false,
            budget,
            granted: budget,
        };
        self.children.insert(path.clone(), child);
        self.line.push_back(path);
        Ok(self.settle())
    }

    /// A child of an earlier program. Its own are found before it: what they hand back is a part of what it does.
    pub fn found(&mut self, path: &str, isolated: bool, found: Found, budget: Left) -> Vec<Effect> {
        if self.children.contains_key(path) {
            return Vec::new();
        }
        let parent = path.rsplit_once('/').map(|(parent, _)| parent.to_owned());
        let state = match &found {
            Found::Cut => State::Cut,
            Found::HandsBack(end) => State::Stopping(Some(end.clone()), Stage::Closed),
            Found::Ended(end) => State::Ended(end.clone()),
        };
        let child = Child {
            parent,
            isolated,
            state,
            place: false,
            worked: true,
            heard: Millis(0),
            asking: false,
            budget: budget.left,
            granted: budget.granted,
        };
        self.children.insert(path.to_owned(), child);
        let mut out = Vec::new();
        if let Found::HandsBack(end) = found {
            self.stop_those_under(path, &end, &mut out);
        }
        out.extend(self.settle());
        out
    }

    /// How a child stands.
    pub fn state(&self, path: &str) -> Option<&State> {
        self.children.get(path).map(|child| &child.state)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &State)> {
        self.children.iter().map(|(path, child)| (path.as_str(), &child.state))
    }

    /// The number of a child in the line, from 1.
    pub fn number(&self, path: &str) -> Option<usize> {
        self.line.iter().position(|other| other == path).map(|at| at + 1)
    }

    /// How many have a place.
    pub fn taken(&self) -> usize {
        self.children.values().filter(|child| child.place).count()
    }

    /// Whether a child has one.
    pub fn has_place(&self, path: &str) -> bool {
        self.children.get(path).is_some_and(|child| child.place)
    }

    /// Whether a child of this parent lives.
    pub fn any_lives(&self, parent: Option<&str>) -> bool {
        self.children.values().any(|child| child.parent.as_deref() == parent && child.lives())
    }

    /// What an event means for a child, at `now`. Events of children that are not there mean nothing.
    pub fn step(&mut self, path: &str, event: Event, now: Millis) -> Vec<Effect> {
        let mut out = Vec::new();
        match event {
            Event::Prepared => self.prepared(path, now, &mut out),
            Event::Unprepared(why) => self.unprepared(path, why, &mut out),
            Event::Heard => self.heard(path, now),
            Event::Asks(asking) => {
                self.heard(path, now);
                if let Some(child) = self.children.get_mut(path) {
                    child.asking = asking;
                }
            }
            Event::Waits => self.work(path, Work::Waits),
            Event::Goes => {
                self.heard(path, now);
                self.work(path, Work::Turn);
            }
            Event::Over(end) => self.work(path, Work::Over(end)),
            Event::Used(tokens) => self.used(path, tokens, &mut out),
            Event::Stop(by) => self.stop(path, &End::Stopped { by }, &mut out),
            Event::Delete => self.stop(path, &End::Deleted, &mut out),
            Event::Closed => self.closed(path, &mut out),
            Event::HandedBack => match self.state(path).cloned() {
                Some(State::HandingBack(end)) => self.end(path, end, &mut out),
                Some(State::Again(end)) => {
                    self.set(path, State::Ended(end));
                    out.push(Effect::CameBack(path.to_owned()));
                }
                _ => {}
            },
            Event::Woken => self.woken(path, now),
            Event::Again => self.again(path, &mut out),
        }
        out.extend(self.settle());
        out
    }

    /// When time must be told again; none: never.
    pub fn due(&self, now: Millis) -> Option<Millis> {
        let stall = self.stall?;
        self.children
            .values()
            .filter(|child| child.may_stall())
            .map(|c| stall.since(now.since(c.heard)))
            .min()
    }

    /// Time passed: who was silent for too long is stopped.
    pub fn tick(&mut self, now: Millis) -> Vec<Effect> {
        let Some(stall) = self.stall else { return Vec::new() };
        let silent = |child: &Child| child.may_stall() && now.since(child.heard) >= stall;
        let silent: Vec<(String, Millis)> = self
            .children
            .iter()
            .filter(|(_, child)| silent(child))
            .map(|(path, child)| (path.clone(), now.since(child.heard)))
            .collect();
        let mut out = Vec::new();
        for (path, after) in silent {
            self.stop(&path, &End::Stalled { after }, &mut out);
        }
        out.extend(self.settle());
        out
    }

    /// The program goes: what works is closed at once, without handing anything back. What hands back goes on.
    pub fn cut(&mut self) -> Vec<Effect> {
        self.line.clear();
        let mut out = Vec::new();
        for (path, child) in &mut self.children {
            child.state = match std::mem::replace(&mut child.state, State::Cut) {
                State::Waiting | State::Cut => State::Cut,
                State::Preparing | State::Working(_) => {
                    out.push(Effect::Close(path.clone()));
                    State::Stopping(None, Stage::Closing)
                }
                State::Stopping(end, Stage::Children) => {
                    out.push(Effect::Close(path.clone()));
                    State::Stopping(end, Stage::Closing)
                }
                state @ (State::Stopping(_, Stage::Closing | Stage::Closed)
                | State::HandingBack(_)
                | State::Ended(_)
                | State::Again(_)) => state,
            };
        }
        out
    }

    fn prepared(&mut self, path: &str, now: Millis, out: &mut Vec<Effect>) {
        let Some(child) = self.children.get_mut(path) else { return };
        if child.state == State::Preparing {
            child.state = State::Working(Work::Turn);
            child.worked = true;
            child.heard = now;
            out.push(Effect::Begin(path.to_owned()));
        }
    }

    fn unprepared(&mut self, path: &str, why: Option<String>, out: &mut Vec<Effect>) {
        let Some(child) = self.children.get_mut(path).filter(|child| child.state == State::Preparing) else {
            return;
        };
        // one that was to go on is what it was before: its copy holds its work
        if child.worked {
            (child.state, child.place) = (State::Cut, false);
            return;
        }
        match why {
            Some(why) => self.end(path, End::Failed { why }, out),
            None => {
                self.children.remove(path);
                out.push(Effect::Forget(path.to_owned()));
            }
        }
    }

    fn heard(&mut self, path: &str, now: Millis) {
        if let Some(child) = self.children.get_mut(path) {
            child.heard = now;
        }
    }

    fn work(&mut self, path: &str, work: Work) {
        if let Some(child) = self.children.get_mut(path)
            && matches!(child.state, State::Working(_))
        {
            child.place = work == Work::Turn;
            child.state = State::Working(work);
        }
    }

    fn used(&mut self, path: &str, tokens: u64, out: &mut Vec<Effect>) {
        let Some(child) = self.children.get_mut(path) else { return };
        let Some(left) = &mut child.budget else { return };
        *left = left.saturating_sub(tokens);
        // who has its answer already needs no more
        if *left == 0 && matches!(child.state, State::Working(Work::Turn | Work::Waits)) {
            self.stop(path, &End::Stopped { by: By::Budget }, out);
        }
    }

    fn closed(&mut self, path: &str, out: &mut Vec<Effect>) {
        match self.state(path).cloned() {
            Some(State::Stopping(None, _)) => {
                if let Some(child) = self.children.get_mut(path) {
                    (child.state, child.place) = (State::Cut, false);
                }
            }
            Some(State::Stopping(Some(end), _)) => self.set(path, State::Stopping(Some(end), Stage::Closed)),
            // it went by itself: nobody asked it to
            Some(State::Preparing | State::Working(_)) => {
                let end = End::Failed { why: "its session broke off inside Windlass".to_owned() };
                self.stop(path, &end, out);
                self.set(path, State::Stopping(Some(end), Stage::Closed));
            }
            Some(State::Waiting | State::HandingBack(_) | State::Cut | State::Ended(_) | State::Again(_))
            | None => {}
        }
    }

    fn woken(&mut self, path: &str, now: Millis) {
        let Some(child) = self.children.get(path) else { return };
        let parent_works =
            child.parent.as_deref().is_none_or(|up| matches!(self.state(up), Some(State::Working(_))));
        if child.lives() || !parent_works || self.any_lives(Some(path)) {
            return;
        }
        if let Some(child) = self.children.get_mut(path) {
            // what had ended has handed back: a new run begins with nothing
            if child.state != State::Cut {
                (child.worked, child.budget) = (false, child.granted);
            }
            (child.state, child.heard) = (State::Waiting, now);
            self.line.push_back(path.to_owned());
        }
    }

    /// One that has ended hands back once more, unless its parent does: what it changed goes where that is read.
    fn again(&mut self, path: &str, out: &mut Vec<Effect>) {
        let Some(child) = self.children.get(path) else { return };
        let reads = |up: &str| matches!(self.state(up), Some(State::HandingBack(_) | State::Again(_)));
        let (State::Ended(end), true) = (child.state.clone(), child.isolated) else { return };
        let alone = !child.parent.as_deref().is_some_and(reads) && !self.any_lives(Some(path));
        if end.hands_back() && alone {
            self.set(path, State::Again(end));
            out.push(Effect::HandBack(path.to_owned()));
        }
    }

    fn set(&mut self, path: &str, state: State) {
        if let Some(child) = self.children.get_mut(path) {
            child.state = state;
        }
    }

    /// Stops a child and those under it. What has an end already keeps it.
    fn stop(&mut self, path: &str, end: &End, out: &mut Vec<Effect>) {
        let Some(child) = self.children.get(path) else { return };
        match child.state.clone() {
            State::Preparing | State::Working(_) => {
                self.set(path, State::Stopping(Some(end.clone()), Stage::Children));
                out.push(Effect::Halt(path.to_owned()));
                self.stop_those_under(path, end, out);
            }
            // nothing of it runs here; those under it may still be on their way out
            State::Waiting | State::Cut => {
                self.line.retain(|other| other != path);
                self.set(path, State::Stopping(Some(end.clone()), Stage::Closed));
                self.stop_those_under(path, end, out);
            }
            // nothing of what never happened comes into the directory, also from one that is on its way out
            State::Stopping(Some(old), stage) if old.hands_back() && !end.hands_back() => {
                self.set(path, State::Stopping(Some(end.clone()), stage));
                self.stop_those_under(path, end, out);
            }
            State::Stopping(..) | State::HandingBack(_) | State::Ended(_) | State::Again(_) => {}
        }
    }

    fn stop_those_under(&mut self, path: &str, end: &End, out: &mut Vec<Effect>) {
        let by = if end.hands_back() { By::Parent } else { By::Rewind };
        let under = |(other, child): (&String, &Child)| {
            (child.parent.as_deref() == Some(path)).then(|| other.clone())
        };
        for child in self.children.iter().filter_map(under).collect::<Vec<_>>() {
            self.stop(&child, &End::Stopped { by }, out);
        }
    }

    /// The last step: what it changed is handed back, where that is to be; else it has ended. What the agents of one
    /// without a copy left open is open in its parent's directory, whatever its end is: that is handed on.
    fn last(&mut self, path: &str, end: End, out: &mut Vec<Effect>) {
        let under = format!("{path}/");
        let copies = self.children.iter().any(|(other, child)| child.isolated && other.starts_with(&under));
        let Some(child) = self.children.get_mut(path) else { return };
        child.place = false;
        let hands_back = if child.isolated { end.hands_back() } else { copies };
        if child.worked && hands_back {
            child.state = State::HandingBack(end);
            out.push(Effect::HandBack(path.to_owned()));
        } else {
            self.end(path, end, out);
        }
    }

    fn end(&mut self, path: &str, end: End, out: &mut Vec<Effect>) {
        if let Some(child) = self.children.get_mut(path) {
            child.place = false;
            child.asking = false;
            child.state = State::Ended(end.clone());
            out.push(Effect::Ended(path.to_owned(), end));
        }
    }

    /// What follows by itself: a parent goes on when its children have ended, and free places are given.
    fn settle(&mut self) -> Vec<Effect> {
        let mut out = Vec::new();
        while let Some(path) = self.ready() {
            match self.state(&path).cloned() {
                Some(State::Working(Work::Over(end)) | State::Stopping(Some(end), Stage::Children)) => {
                    self.set(&path, State::Stopping(Some(end), Stage::Closing));
                    out.push(Effect::Close(path));
                }
                Some(State::Stopping(Some(end), Stage::Closed)) => self.last(&path, end, &mut out),
                _ => break,
            }
        }
        while self.taken() < usize::try_from(self.at_once).unwrap_or(usize::MAX)
            && let Some(path) = self.line.pop_front()
        {
            if let Some(child) = self.children.get_mut(&path) {
                (child.state, child.place) = (State::Preparing, true);
                out.push(Effect::Prepare(path));
            }
        }
        out
    }

    /// One that only waited for its children, which have ended.
    fn ready(&self) -> Option<String> {
        let waited = |child: &Child| match child.state {
            State::Working(Work::Over(_)) | State::Stopping(Some(_), Stage::Children | Stage::Closed) => true,
            State::Working(Work::Turn | Work::Waits)
            | State::Stopping(None, _)
            | State::Stopping(Some(_), Stage::Closing)
            | State::Waiting
            | State::Preparing
            | State::HandingBack(_)
            | State::Cut
            | State::Ended(_)
            | State::Again(_) => false,
        };
        let mut ready = self.children.iter().filter(|(_, child)| waited(child));
        ready.find(|(path, _)| !self.any_lives(Some(path))).map(|(path, _)| path.clone())
    }
}

impl Child {
    fn may_stall(&self) -> bool {
        self.state == State::Working(Work::Turn) && !self.asking
    }
}

#[cfg(test)]
mod tests;
