//! Law tests of the turn: random event sequences against a shell that does what the effects say.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// A shell that carries effects out and checks the promises after each step.
#[derive(Default)]
struct Shell {
    turn: Turn,
    sent: u64,
    /// 0 waiting, 1 delivered, 2 given back.
    fate: BTreeMap<u64, u8>,
    streams: u32,
    open: u32,
    turns: i32,
}

impl Shell {
    fn step(&mut self, event: Event) {
        let effects = self.turn.step(event);
        for effect in effects {
            self.carry_out(effect);
        }
        self.check();
    }
    fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::BeginTurn => {
                self.turns += 1;
                assert_eq!(self.turns, 1, "one turn at a time");
            }
            Effect::EndTurn(_) => {
                self.turns -= 1;
                assert_eq!(self.turns, 0);
                assert_eq!((self.streams, self.open), (0, 0), "a turn ends with nothing running");
            }
            Effect::Deliver { id, .. } => {
                assert_eq!(self.fate.insert(id, 1), Some(0), "{id} delivered twice or after");
                assert_eq!(self.open, 0, "no message between a call and its result");
            }
            Effect::GiveBack { id } => assert_eq!(self.fate.insert(id, 2), Some(0)),
            Effect::Ask => {
                assert_eq!((self.streams, self.open), (0, 0), "every call has its result");
                self.streams += 1;
            }
            Effect::Compact => {
                assert_eq!((self.streams, self.open), (0, 0));
                self.streams += 1;
            }
            Effect::RunCalls
            | Effect::Pause { .. }
            | Effect::CancelStream
            | Effect::CancelCalls
            | Effect::RefuseBusy => {}
        }
    }
    fn check(&self) {
        let waiting: Vec<u64> = self.turn.waiting().map(|w| w.0).collect();
        let expected: Vec<u64> = self.fate.iter().filter(|f| *f.1 == 0).map(|f| *f.0).collect();
        assert_eq!(waiting, expected, "each message is exactly one of delivered, waiting, given back");
        if self.turn.phase() == Phase::Idle {
            assert!(waiting.is_empty(), "nothing waits while nothing runs");
        }
    }
    fn drive(&mut self, choice: u8) {
        match choice % 13 {
            0 | 1 => {
                self.sent += 1;
                self.fate.insert(self.sent, 0);
                self.step(Event::Send { id: self.sent, after_turn: choice % 2 == 1 });
            }
            2 => self.step(Event::TakeBack { id: None }),
            3 => self.step(Event::Interrupt),
            4 | 5 if self.streams > 0 && !self.compacting() => {
                let calls = u32::from(choice) % 4;
                self.streams -= 1;
                if matches!(self.turn.phase(), Phase::Asking) {
                    self.open = calls;
                }
                self.step(Event::AnswerEnded(AnswerEnd::Finished { calls }));
            }
            6 if self.streams > 0 && !self.compacting() => {
                self.streams -= 1;
                let overflow = choice > 128;
                let end = [AnswerEnd::Truncated, AnswerEnd::Failed { overflow }, AnswerEnd::Cancelled]
                    [usize::from(choice / 12) % 3];
                self.step(Event::AnswerEnded(end));
            }
            7 | 8 if self.open > 0 => {
                self.open -= 1;
                self.step(Event::CallSettled);
            }
            9 => self.step(Event::TryNow),
            12 => self.step(Event::GoOn),
            10 if self.streams > 0 && self.turn.phase() == Phase::Asking => {
                self.streams -= 1;
                self.step(Event::WindowFull);
            }
            10 => self.step(Event::CompactAsked),
            11 if self.streams > 0 && self.compacting() => {
                self.streams -= 1;
                self.step(Event::CompactEnded { ok: choice > 128 });
            }
            _ => self.step(Event::TakeBack { id: Some(u64::from(choice)) }),
        }
    }
    fn compacting(&self) -> bool {
        matches!(self.turn.phase(), Phase::Compacting { .. })
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn every_message_is_delivered_waiting_or_given_back(choices in proptest::collection::vec(any::<u8>(), 0..120)) {
        let mut shell = Shell::default();
        for choice in choices {
            shell.drive(choice);
        }
    }
}

#[test]
fn every_message_is_accounted_for_in_all_short_sequences() {
    // Every sequence of five events out of thirteen kinds.
    for mut code in 0..13u32.pow(5) {
        let mut shell = Shell::default();
        for _ in 0..5 {
            shell.drive((code % 13) as u8);
            code /= 13;
        }
    }
}

#[test]
fn an_interrupt_gives_waiting_messages_back_and_ends_the_turn_once() {
    let mut turn = Turn::default();
    turn.step(Event::Send { id: 1, after_turn: false });
    turn.step(Event::Send { id: 2, after_turn: false });
    let effects = turn.step(Event::Interrupt);
    assert_eq!(effects, vec![Effect::CancelStream, Effect::GiveBack { id: 2 }]);
    assert_eq!(turn.step(Event::Interrupt), vec![]);
    let effects = turn.step(Event::AnswerEnded(AnswerEnd::Cancelled));
    assert_eq!(effects, vec![Effect::EndTurn(TurnEnd::Interrupted)]);
}

#[test]
fn a_message_typed_after_the_interrupt_begins_the_next_turn() {
    let mut turn = Turn::default();
    turn.step(Event::Send { id: 1, after_turn: false });
    turn.step(Event::Interrupt);
    turn.step(Event::Send { id: 2, after_turn: false });
    let effects = turn.step(Event::AnswerEnded(AnswerEnd::Cancelled));
    assert_eq!(
        effects,
        vec![
            Effect::EndTurn(TurnEnd::Interrupted),
            Effect::BeginTurn,
            Effect::Deliver { id: 2, how: How::Queued },
            Effect::Ask
        ]
    );
}

#[test]
fn a_steer_is_delivered_after_the_results_and_a_queued_one_after_the_turn() {
    let mut turn = Turn::default();
    turn.step(Event::Send { id: 1, after_turn: false });
    turn.step(Event::Send { id: 2, after_turn: true });
    turn.step(Event::Send { id: 3, after_turn: false });
    turn.step(Event::AnswerEnded(AnswerEnd::Finished { calls: 1 }));
    assert_eq!(
        turn.step(Event::CallSettled),
        vec![Effect::Deliver { id: 3, how: How::Steered }, Effect::Ask]
    );
    assert_eq!(
        turn.step(Event::AnswerEnded(AnswerEnd::Finished { calls: 0 })),
        vec![
            Effect::EndTurn(TurnEnd::Done),
            Effect::BeginTurn,
            Effect::Deliver { id: 2, how: How::Queued },
            Effect::Ask
        ]
    );
}

#[test]
fn a_broken_stream_is_tried_again_a_bounded_number_of_times() {
    let mut turn = Turn::default();
    turn.step(Event::Send { id: 1, after_turn: false });
    for attempt in 2..=TRIES_MAX {
        let effects = turn.step(Event::AnswerEnded(AnswerEnd::Truncated));
        assert_eq!(effects, vec![Effect::Pause { attempt }]);
        assert_eq!(turn.step(Event::TryNow), vec![Effect::Ask]);
    }
    let effects = turn.step(Event::AnswerEnded(AnswerEnd::Truncated));
    assert_eq!(effects, vec![Effect::EndTurn(TurnEnd::Failed)]);
    assert_eq!(turn.step(Event::TryNow), vec![Effect::BeginTurn, Effect::Ask]);
}

#[test]
fn a_turn_is_compacted_at_most_once() {
    let mut turn = Turn::default();
    turn.step(Event::Send { id: 1, after_turn: false });
    assert_eq!(turn.step(Event::WindowFull), vec![Effect::Compact]);
    assert_eq!(turn.step(Event::CompactEnded { ok: true }), vec![Effect::Ask]);
    assert_eq!(
        turn.step(Event::AnswerEnded(AnswerEnd::Failed { overflow: true })),
        vec![Effect::EndTurn(TurnEnd::Failed)]
    );
}
