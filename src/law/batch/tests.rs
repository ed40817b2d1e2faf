//! Law J: what the writer of nodes leaves in a journal that fails as it likes, and what is found after a crash.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Act {
    /// The next job begins.
    Begin,
    /// One of those that run ends.
    End(usize),
    /// What waits is written; the journal takes the first so many writes, then fails (a batch and its single
    /// records alike) in this pattern.
    Write(Vec<bool>),
    /// A batch is begun, and its result comes only later.
    Take,
    /// The result of what is being written comes.
    Result(bool),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => Just(Act::Begin),
        3 => (0usize..9).prop_map(Act::End),
        2 => proptest::collection::vec(proptest::bool::weighted(0.7), 0..8).prop_map(Act::Write),
        2 => Just(Act::Take),
        3 => proptest::bool::weighted(0.6).prop_map(Act::Result),
    ]
}

type Nodes = Node<u32, char>;

/// A session: its writer, its journal, and the jobs' directories, which have everything at once.
#[derive(Default)]
struct World {
    batch: Batch<u32, char>,
    at_hand: Option<Write<u32, char>>,
    journal: Vec<Nodes>,
    notices: Vec<Nodes>,
    began: u32,
    running: Vec<u32>,
    ended: Vec<u32>,
}

impl World {
    fn take(&mut self) {
        if self.at_hand.is_none() {
            self.at_hand = self.batch.take();
            if let Some(write) = &self.at_hand {
                let mut jobs: Vec<u32> = write.nodes.iter().map(|node| *node.job()).collect();
                jobs.sort_unstable();
                jobs.dedup();
                assert_eq!(
                    jobs.len(),
                    write.nodes.len(),
                    "a job that began and ended within a batch left nothing"
                );
            }
        } else {
            assert_eq!(self.batch.take(), None, "one write at a time");
        }
    }
    fn result(&mut self, done: bool) {
        let Some(write) = self.at_hand.take() else { return };
        match (done, write.nodes.as_slice()) {
            (true, nodes) => self.journal.extend_from_slice(nodes),
            (false, [alone]) => self.notices.push(alone.clone()),
            (false, _) => {}
        }
        self.at_hand = self.batch.wrote(done);
        if let Some(write) = &self.at_hand {
            assert_eq!(write.nodes.len(), 1, "record by record");
            assert!(!self.notices.contains(&write.nodes[0]), "one that failed alone is not tried again");
        }
    }
    fn act(&mut self, act: Act) {
        match act {
            Act::Begin => {
                self.began += 1;
                self.running.push(self.began);
                self.batch.add(Node::Began(self.began, 'n'));
            }
            Act::End(which) if !self.running.is_empty() => {
                let job = self.running.remove(which % self.running.len());
                self.ended.push(job);
                self.batch.add(Node::Over(job));
                self.batch.add(Node::Over(job));
            }
            Act::End(_) => {}
            Act::Write(results) => {
                self.take();
                let mut results = results.into_iter();
                while self.at_hand.is_some() {
                    self.result(results.next().unwrap_or(true));
                }
            }
            Act::Take => self.take(),
            Act::Result(done) => self.result(done),
        }
    }
    /// The rest is written.
    fn finish(&mut self) {
        while self.at_hand.is_some() || !self.batch.idle() {
            self.take();
            self.result(true);
        }
        self.check_journal();
    }
    /// What the journal must never show.
    fn check_journal(&self) {
        let mut standing = BTreeSet::new();
        let mut seen = BTreeSet::new();
        for node in &self.journal {
            match node {
                Node::Began(job, _) => {
                    assert!(seen.insert(*job) && standing.insert(*job), "{job} begins twice")
                }
                Node::Over(job) => assert!(standing.remove(job), "{job} ends without a node"),
            }
        }
        assert!(self.batch.queue.len() <= 2 * self.began as usize);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_written_twice_and_nothing_is_lost_in_silence(acts in proptest::collection::vec(act(), 0..80)) {
        let mut world = World::default();
        for act in acts {
            world.act(act);
            world.check_journal();
        }
        world.finish();
        let nodes = standing(world.journal.iter().cloned());
        for job in 1..=world.began {
            let told = world.notices.iter().any(|node| *node.job() == job);
            prop_assert!(told || nodes.contains_key(&job) == world.running.contains(&job), "{} {:?}", job, world.journal);
        }
        for (at, node) in world.notices.iter().enumerate() {
            prop_assert!(!world.notices[..at].contains(node) && !world.journal.contains(node));
        }
    }

    /// The program is killed at any moment. Each job is found by its directory or its node, and each is told as what
    /// it is, once.
    #[test]
    fn job_record_survives_crash(
        acts in proptest::collection::vec(act(), 0..60),
        fates in proptest::collection::vec((any::<bool>(), any::<bool>(), any::<bool>()), 60),
    ) {
        let mut world = World::default();
        for act in acts {
            world.act(act);
        }
        // the crash: queue and write at hand are gone. What runs is kept, or ended with the program, or its keeper dies
        let nodes = standing(world.journal.clone());
        for job in 1..=world.began {
            let (told_before, kept, keeper_dies) = fates[job as usize % fates.len()];
            let ran = world.running.contains(&job);
            let known = !ran && told_before;
            let told = match (ran, kept, keeper_dies) {
                (false, ..) => Told::Ended("its own end"),
                (true, _, true) => Told::Nothing,
                (true, true, false) => Told::Running,
                (true, false, false) => Told::Ended("program gone"),
            };
            let found = reopen(known, told.clone());
            let wanted = match (known, ran, kept, keeper_dies) {
                (true, ..) => Found::Known,
                (false, false, ..) => Found::Ended("its own end"),
                (false, true, _, true) => Found::Lost,
                (false, true, true, false) => Found::Adopt,
                (false, true, false, false) => Found::Ended("program gone"),
            };
            prop_assert_eq!(&found, &wanted);
            // opened again after that: an end that was told is not told again, and its node is taken off once
            let mut batch: Batch<u32, char> = Batch::default();
            for stands in nodes.keys() {
                batch.found(*stands);
            }
            if found != Found::Adopt {
                batch.add(Node::Over(job));
                prop_assert_eq!(batch.take().is_some(), nodes.contains_key(&job));
                prop_assert_eq!(reopen(true, told), Found::Known);
            }
        }
    }
}

#[test]
fn what_begins_and_ends_within_one_batch_leaves_nothing() {
    let mut batch = Batch::default();
    for job in 0..10_000 {
        batch.add(Node::Began(job, 'n'));
        batch.add(Node::Over(job));
    }
    assert!(batch.idle() && batch.take().is_none());
}

#[test]
fn a_batch_that_fails_follows_one_by_one() {
    let mut batch = Batch::default();
    batch.add(Node::Began(1, 'a'));
    batch.add(Node::Began(2, 'b'));
    let both = batch.take().unwrap();
    assert_eq!(both.nodes, [Node::Began(1, 'a'), Node::Began(2, 'b')]);
    batch.add(Node::Over(1));
    assert_eq!(batch.wrote(false).unwrap().nodes, [Node::Began(1, 'a')]);
    assert_eq!(batch.wrote(false).unwrap().nodes, [Node::Began(2, 'b')], "the first is given up");
    assert_eq!(batch.wrote(true), None);
    assert!(batch.take().is_none(), "an end whose node is absent retires nothing");
    batch.add(Node::Over(2));
    assert_eq!(batch.take().unwrap().nodes, [Node::Over(2)]);
}

/// Every history up to a depth.
fn explore(acts: &mut Vec<Act>, depth: usize) {
    let mut world = World::default();
    for act in acts.iter() {
        world.act(act.clone());
        world.check_journal();
    }
    world.finish();
    let nodes = standing(world.journal.iter().cloned());
    for job in 1..=world.began {
        let told = world.notices.iter().any(|node| *node.job() == job);
        assert!(told || nodes.contains_key(&job) == world.running.contains(&job), "{acts:?}");
    }
    if depth == 0 {
        return;
    }
    for act in [Act::Begin, Act::End(0), Act::Take, Act::Result(true), Act::Result(false)] {
        acts.push(act);
        explore(acts, depth - 1);
        acts.pop();
    }
}

#[test]
fn each_short_history_leaves_the_nodes_that_run() {
    explore(&mut Vec::new(), 6);
}
