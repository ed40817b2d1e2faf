//! The owner's part: questions about hand-backs are answered on blocking threads, and the open conflicts are counted
//! at the open, after each answer and after a child's hand-back ended.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Place;
use super::at_work::AtWork;
use super::order::Order;
use crate::api::entry::Level;
use crate::api::event::{Event, Reply};
use crate::api::hand_back::HandBackAsk;
use crate::engine::owner::{Owner, Word};
use crate::engine::spawn;
use crate::workspace::child::earlier::Earlier;

/// What the owner holds of the hand-backs.
#[derive(Debug, Default)]
pub struct HandBacks {
    /// Looks and writes that are under way.
    under_way: usize,
    /// What could not be read and was told: once is enough.
    told: BTreeSet<String>,
    /// Questions that were asked.
    asked: u64,
    order: Arc<Order>,
    at_work: Arc<AtWork>,
}

impl HandBacks {
    /// Whether nothing is being written: the session can be closed without cutting it.
    pub fn at_rest(&self) -> bool {
        self.under_way == 0
    }

    /// The session is being closed: no merge program is waited for.
    pub fn close(&self) {
        self.at_work.stop_all();
    }
}

/// What came of a look.
#[derive(Debug)]
pub struct Looked {
    /// The answer to a question of the front end.
    answer: Option<(u64, Reply)>,
    /// Conflicts that are open, by the child; none: they were not counted.
    open: Option<BTreeMap<String, usize>>,
    /// What could not be read or ended.
    troubles: Vec<String>,
}

impl Owner {
    fn hand_back_place(&self) -> Place {
        let path = self.options.environment.iter().find(|(name, _)| name == "PATH");
        // an agent with a copy sees it in its parent's place
        let copy = self.options.child.as_ref().map(|child| child.dir.clone());
        let real = copy.as_ref().map(|copy| copy.canonicalize().unwrap_or_else(|_| copy.clone()));
        Place {
            rooms: self.options.dirs.workspaces_of(&self.session_id),
            earlier: Earlier::at(self.options.dirs.resolutions()),
            cwd: copy.unwrap_or_else(|| self.cwd.clone()),
            real: real.unwrap_or_else(|| self.cwd_real.clone()),
            read_only: self.read_only.clone(),
            path: path.map(|(_, value)| value.clone()).unwrap_or_default(),
            order: self.hand_backs.order.clone(),
            at_work: self.hand_backs.at_work.clone(),
        }
    }

    /// Counts the open conflicts anew: for whoever ended a hand-back too.
    pub(in crate::engine) fn look_at_hand_backs(&mut self) {
        self.look(true, |_| (None, Vec::new()), None);
    }

    /// The first look of a session: resolutions that a crash cut are ended, if it is ours.
    pub(in crate::engine) fn take_up_hand_backs(&mut self) {
        if self.read_only.is_some() {
            return self.look_at_hand_backs();
        }
        self.look(true, |place| (None, place.finish()), None);
    }

    pub(in crate::engine) fn ask_hand_back(&mut self, number: u64, ask: HandBackAsk) {
        self.hand_backs.asked += 1;
        let nth = self.hand_backs.asked;
        // at once, in the order of the questions
        match &ask {
            HandBackAsk::Propose { child, path } => self.hand_backs.at_work.begin(nth, child, path),
            HandBackAsk::StopProposal { child, path } => self.hand_backs.at_work.stop(child, path),
            _ => {}
        }
        // what is asked every second changes none, and counting reads every hand-back
        let counts = !matches!(ask, HandBackAsk::Stamp { .. } | HandBackAsk::StopProposal { .. });
        let answer = move |place: &Place| (Some((number, place.answer(nth, ask))), Vec::new());
        self.look(counts, answer, Some(number));
    }

    fn look(
        &mut self,
        counts: bool,
        work: impl FnOnce(&Place) -> (Option<(u64, Reply)>, Vec<String>) + Send + 'static,
        number: Option<u64>,
    ) {
        let place = self.hand_back_place();
        self.hand_backs.under_way += 1;
        let look = move || {
            let (answer, mut troubles) = work(&place);
            let open = counts.then(|| place.count()).map(|(open, unread)| {
                troubles.extend(unread);
                open
            });
            Word::HandBacks(Looked { answer, open, troubles })
        };
        let lost = move || {
            let failed = Reply::Failed("The question failed inside Windlass; look at the path again.".into());
            Word::HandBacks(Looked {
                answer: number.map(|number| (number, failed)),
                open: None,
                troubles: Vec::new(),
            })
        };
        spawn::blocking(self.words.clone(), look, lost);
    }

    pub(in crate::engine) fn on_hand_backs(&mut self, looked: Looked) {
        let Looked { answer, open, troubles } = looked;
        self.hand_backs.under_way = self.hand_backs.under_way.saturating_sub(1);
        if let Some(open) = open {
            let count = open.values().sum();
            self.shared.change(|record| {
                let status = Arc::make_mut(&mut record.status);
                (status.open_conflicts, status.conflicted) = (count, open);
                status.counted += 1;
            });
        }
        for text in troubles {
            if self.hand_backs.told.insert(text.clone()) {
                self.say(Level::Warning, text);
            }
        }
        if let Some((number, reply)) = answer {
            self.event(Event::Answered { number, reply });
        }
    }
}
