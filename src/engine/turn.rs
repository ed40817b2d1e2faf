//! Carries out what the turn's law decides.

use std::time::Duration;

use tokio::time::Instant;

use crate::api::board::Phase as Shown;
use crate::api::entry::{self, Delivery, EntryBody, Level, UserMessage};
use crate::api::event::Event as Told;
use crate::law::retry::{self, Cause, Policy, Verdict};
use crate::law::turn::{Effect, Event, How, Phase, TurnEnd};

use super::clock;
use super::owner::Owner;

/// How long calls may take to end after an interrupt before they are settled from the board.
const STOP_MAX: Duration = Duration::from_secs(6);

/// What the turn that runs leaves for its end.
#[derive(Debug, Default)]
pub struct Owed {
    /// A message could not be written to the journal, and the turn ends for that.
    pub undelivered: bool,
    /// Something ended that is to begin a turn, after the last request of this one.
    pub unheard: bool,
}

impl Owner {
    /// Steps the turn and does what it says, and what that leads to.
    pub(super) fn turn_event(&mut self, event: Event) {
        let mut effects = std::collections::VecDeque::from(self.turn.step(event));
        while let Some(effect) = effects.pop_front() {
            if let Some(event) = self.carry_out(effect) {
                // What an effect leads to comes before what follows it.
                for next in self.turn.step(event).into_iter().rev() {
                    effects.push_front(next);
                }
            }
        }
        let free = self.closing.is_none() && self.rewinding.is_none();
        if self.turn.phase() == Phase::Idle && std::mem::take(&mut self.owed.unheard) && free {
            self.start_turn();
        }
        self.keep_draft();
        self.publish_status();
    }

    fn carry_out(&mut self, effect: Effect) -> Option<Event> {
        match effect {
            Effect::BeginTurn => {
                self.turn_began = Some(clock::now());
                self.fail_why = None;
                None
            }
            Effect::Deliver { id, how } => self.deliver(id, how),
            Effect::GiveBack { id } => {
                self.give_back(id);
                None
            }
            Effect::Ask => self.ask(),
            Effect::RunCalls => {
                self.begin_calls();
                None
            }
            Effect::Pause { attempt } => {
                self.pause_before(attempt);
                None
            }
            Effect::Compact => self.compact(),
            Effect::CancelStream => {
                self.control.cancel.cancel();
                self.retrying = None;
                None
            }
            Effect::CancelCalls => {
                self.cancel_all();
                None
            }
            Effect::EndTurn(end) => {
                self.end_turn(end);
                None
            }
            Effect::RefuseBusy => {
                self.say(Level::Warning, "A turn runs: interrupt it first, or wait for its end.".into());
                None
            }
        }
    }

    /// Ends every open call. Those that do not end in time are settled from the board.
    pub(super) fn cancel_all(&mut self) {
        self.cancel_calls();
        if !self.calls.is_empty() {
            self.backstop = Some(Instant::now() + STOP_MAX);
        }
    }

    /// Commits a message of the person. When the journal cannot be written it comes back, and the
    /// turn is interrupted.
    fn deliver(&mut self, id: u64, how: How) -> Option<Event> {
        let message = self.messages.remove(&id)?;
        let delivery = match how {
            How::Sent => Delivery::Sent,
            How::Steered => Delivery::Steered,
            How::Queued => Delivery::Queued,
        };
        let mut images = Vec::new();
        for mut image in message.images.clone() {
            match self.keep_image(&mut image) {
                Ok(()) => images.push(image),
                Err(why) => self.say(Level::Error, format!("The image {} was left out: {why}", image.name)),
            }
        }
        self.move_draft();
        let body = UserMessage { text: message.text.clone(), images, delivery };
        if self.try_commit(EntryBody::User(body)).is_none() {
            self.event(Told::TakenBack { text: message.text, images: message.images });
            self.owed.undelivered = true;
            return Some(Event::Interrupt);
        }
        None
    }

    fn give_back(&mut self, id: u64) {
        if let Some(message) = self.messages.remove(&id) {
            if self.closing.is_some() {
                self.left_over.push(message.text.clone());
            }
            self.event(Told::TakenBack { text: message.text, images: message.images });
        }
    }

    fn pause_before(&mut self, attempt: u32) {
        let tried = attempt.saturating_sub(1);
        let verdict =
            retry::decide(&Policy::default(), tried, Cause::Connection, None, crate::provider::jitter());
        let wait = match verdict {
            Verdict::Wait(wait) => wait,
            Verdict::GiveUp => Policy::default().wait_max,
        };
        let why = self.fail_why.take().unwrap_or_else(|| "the stream broke off".into());
        self.retrying = Some(Shown::Retrying { attempt, at: clock::now().plus(wait), why });
        self.pause = Some(Instant::now() + Duration::from_millis(wait.0));
    }

    fn end_turn(&mut self, end: TurnEnd) {
        let undelivered = std::mem::take(&mut self.owed.undelivered);
        // who ended it, or what failed, would end another one
        if end != TurnEnd::Done {
            self.heard();
        }
        let (status, why) = match end {
            TurnEnd::Interrupted if undelivered => {
                (entry::TurnStatus::Failed, Some("the message could not be written to the journal".into()))
            }
            TurnEnd::Done => (entry::TurnStatus::Done, None),
            TurnEnd::Failed => (entry::TurnStatus::Failed, self.fail_why.take()),
            TurnEnd::Interrupted => (entry::TurnStatus::Interrupted, None),
        };
        self.backstop = None;
        self.pause = None;
        self.retrying = None;
        self.turn_began = None;
        self.commit(EntryBody::TurnEnd(entry::TurnEnd { status, why }));
        self.look_at_git();
    }
}
