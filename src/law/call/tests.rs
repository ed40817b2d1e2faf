//! Law C of one call, over every short sequence of events and over random long ones.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Tokens(u64);

impl Sum for Tokens {
    fn add(&mut self, more: &Self) {
        self.0 += more.0;
    }
}

type Ev = Event<u32, Tokens>;

/// The shell around the machine: a journal that answers when told to, and what was really told.
#[derive(Clone, Default)]
struct World {
    call: Call<u32, Tokens>,
    /// A commit was asked for and not answered.
    under_way: Option<Option<Settle<u32, Tokens>>>,
    starts: usize,
    settles: Vec<Settle<u32, Tokens>>,
    /// What the tool told while it ran, up to its end.
    told: Told<Tokens>,
    launched: bool,
    /// The end that came first, in the test's own words.
    ended: Option<Ending<u32>>,
    on_board: bool,
}

impl World {
    fn feed(&mut self, event: Ev) {
        let answered = matches!(event, Event::Committed | Event::CommitFailed);
        if answered && self.under_way.is_none() {
            return;
        }
        if let Event::Committed = &event {
            match self.under_way.take() {
                Some(None) => self.starts += 1,
                Some(Some(settle)) => self.settles.push(settle),
                None => {}
            }
        } else if answered {
            self.under_way = None;
        }
        let running = matches!(self.call, Call::Running { .. });
        if running {
            match &event {
                Event::Report(Piece::Warning(text)) => self.told.warnings.push(text.clone()),
                Event::Report(Piece::Usage(more)) => self.told.usage.0 += more.0,
                Event::Report(Piece::Output { tail, bytes, lines }) => {
                    (self.told.tail, self.told.bytes, self.told.lines) = (tail.clone(), *bytes, *lines);
                }
                Event::End(end) => self.ended = Some(Ending::Ended(*end)),
                Event::GiveUp => self.ended = Some(Ending::Cancelled),
                Event::Recover => self.ended = Some(Ending::Interrupted),
                Event::Begin | Event::Committed | Event::CommitFailed | Event::Cancel => {}
            }
        }
        let (call, effects) = step(std::mem::take(&mut self.call), event);
        self.call = call;
        for effect in effects {
            self.carry_out(effect);
        }
    }

    fn carry_out(&mut self, effect: Effect<u32, Tokens>) {
        match effect {
            Effect::CommitStart => {
                assert!(self.under_way.is_none(), "one record at a time");
                self.under_way = Some(None);
            }
            Effect::CommitSettle(settle) => {
                assert!(self.under_way.is_none(), "one record at a time");
                assert_eq!(self.starts, 1, "no settle without a durable start");
                if self.launched {
                    assert_eq!(Some(&settle.ending), self.ended.as_ref(), "never before its end");
                }
                self.under_way = Some(Some(settle));
            }
            Effect::Launch => {
                assert_eq!((self.starts, self.launched), (1, false));
                self.launched = true;
                self.on_board = true;
            }
            Effect::Show(_) => assert!(self.on_board && self.ended.is_none()),
            Effect::Stop => assert!(self.on_board),
            Effect::Leave => {
                assert_eq!(self.settles.len(), 1, "it leaves the board when its settle is durable");
                self.on_board = false;
            }
        }
    }

    fn check(&self) {
        assert!(self.starts <= 1 && self.settles.len() <= 1, "a start and a settle at most");
        assert!(self.settles.len() <= self.starts);
        if let Some(settle) = self.settles.first() {
            assert_eq!(settle.told, self.told, "the settle carries all that was told");
            assert!(self.call == Call::Done && !self.on_board);
        }
    }

    /// Whatever happened, the call can be brought to its end.
    fn close(&mut self) {
        for event in [Event::Committed, Event::GiveUp, Event::Committed, Event::GiveUp, Event::Committed] {
            self.feed(event);
        }
        assert_eq!(self.settles.len(), self.starts, "exactly one settle for each start");
        self.check();
    }
}

fn alphabet() -> Vec<Ev> {
    vec![
        Event::Begin,
        Event::Committed,
        Event::CommitFailed,
        Event::Report(Piece::Warning("w".into())),
        Event::Report(Piece::Usage(Tokens(3))),
        Event::End(7),
        Event::Cancel,
        Event::GiveUp,
        Event::Recover,
    ]
}

fn explore(world: &World, events: &[Ev], depth: usize) {
    world.clone().close();
    if depth == 0 {
        return;
    }
    for event in events {
        let mut next = world.clone();
        next.feed(event.clone());
        next.check();
        explore(&next, events, depth - 1);
    }
}

fn event() -> impl Strategy<Value = Ev> {
    prop_oneof![
        1 => Just(Event::Begin),
        3 => Just(Event::Committed),
        1 => Just(Event::CommitFailed),
        2 => ".{0,3}".prop_map(|text| Event::Report(Piece::Warning(text))),
        2 => (0u64..9).prop_map(|n| Event::Report(Piece::Usage(Tokens(n)))),
        2 => (".{0,3}", 0u64..99, 0u64..9).prop_map(|(tail, bytes, lines)| {
            Event::Report(Piece::Output { tail, bytes, lines })
        }),
        1 => (0u32..9).prop_map(Event::End),
        1 => Just(Event::Cancel),
        1 => Just(Event::GiveUp),
        1 => Just(Event::Recover),
    ]
}

fn run(events: Vec<Ev>) -> World {
    let mut world = World::default();
    for event in events {
        world.feed(event);
        world.check();
    }
    world
}

#[test]
fn every_short_sequence_of_events_keeps_the_laws_of_a_call() {
    explore(&World::default(), &alphabet(), 4);
    let mut running = World::default();
    running.feed(Event::Begin);
    running.feed(Event::Committed);
    explore(&running, &alphabet(), 5);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn call_journals_two(events in proptest::collection::vec(event(), 0..40)) {
        let mut world = run(events);
        prop_assert!(world.starts <= 1 && world.settles.len() <= 1);
        world.close();
        prop_assert!(world.starts + world.settles.len() <= 2);
    }

    #[test]
    fn call_settles_once(events in proptest::collection::vec(event(), 0..40)) {
        let mut world = run(events);
        if world.ended.is_none() && world.launched {
            prop_assert!(world.settles.is_empty(), "a call that runs is not settled");
        }
        world.close();
        prop_assert_eq!(world.settles.len(), world.starts);
    }

    #[test]
    fn call_settle_carries_all(mut events in proptest::collection::vec(event(), 0..40)) {
        events.splice(0..0, [Event::Begin, Event::Committed]);
        let mut world = run(events);
        world.close();
        let settle = world.settles.first();
        prop_assert_eq!(settle.map(|s| &s.told), Some(&world.told));
        prop_assert_eq!(settle.map(|s| &s.ending), world.ended.as_ref());
    }
}

#[test]
fn a_failed_commit_and_the_cancel_after_it_read_the_same_progress() {
    let warning = Event::Report(Piece::Warning("disk".into()));
    let mut world =
        run(vec![Event::Begin, Event::Committed, warning.clone(), Event::End(1), Event::CommitFailed]);
    let kept = world.call.clone();
    world.feed(warning);
    assert_eq!(world.call, kept, "what comes after the end is not told");
    world.feed(Event::Cancel);
    world.feed(Event::Committed);
    let settle =
        Settle { ending: Ending::Ended(1), told: Told { warnings: vec!["disk".into()], ..Told::nothing() } };
    assert_eq!(world.settles, [settle]);
}

#[test]
fn a_call_found_without_a_settle_is_settled_once_as_interrupted() {
    let told = Told { bytes: 9, ..Told::nothing() };
    let (call, effects) = step(Call::<u32, Tokens>::found(told.clone()), Event::Recover);
    assert_eq!(effects, [Effect::CommitSettle(Settle { ending: Ending::Interrupted, told })]);
    let (call, _) = step(call, Event::Committed);
    assert_eq!(step(call, Event::Recover), (Call::Done, Vec::new()));
}
