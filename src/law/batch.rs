//! Law J: the nodes of running jobs in the journal. One writer gathers them into batches, in order; what begins and
//! ends within one batch leaves nothing. On open, what the journal and the jobs' directories say is put together.
//!
//! Not here: the journal, the directories, when a batch is written. Keeps the decisions of
//! `job_record_survives_crash`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// What is written of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node<K, N> {
    /// It runs.
    Began(K, N),
    /// It runs no longer.
    Over(K),
}

impl<K, N> Node<K, N> {
    /// Whose it is.
    pub fn job(&self) -> &K {
        match self {
            Node::Began(job, _) | Node::Over(job) => job,
        }
    }
}

/// The next thing to write: all of it in one commit, or nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write<K, N> {
    /// The nodes, in order. When one alone fails, a notice says so: it is not tried again.
    pub nodes: Vec<Node<K, N>>,
}

/// The writer's queue. It holds at most one beginning and one end of each job that runs or whose node stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch<K: Ord, N> {
    /// What waits for the next batch.
    queue: VecDeque<Node<K, N>>,
    /// What is being written.
    writing: Vec<Node<K, N>>,
    /// What is left of a batch that failed: it follows one by one.
    single: VecDeque<Node<K, N>>,
    /// Jobs whose node stands in the journal.
    standing: BTreeSet<K>,
}

impl<K: Ord, N> Default for Batch<K, N> {
    fn default() -> Self {
        Self {
            queue: VecDeque::new(),
            writing: Vec::new(),
            single: VecDeque::new(),
            standing: BTreeSet::new(),
        }
    }
}

impl<K: Ord + Clone, N: Clone> Batch<K, N> {
    /// The node of this job stands in the journal already (found on open).
    pub fn found(&mut self, job: K) {
        self.standing.insert(job);
    }

    /// A node to be written. An end whose beginning waits in the same batch takes it out; an end of a job that
    /// has no node, and anything that was said before, is nothing.
    pub fn add(&mut self, node: Node<K, N>) {
        let waits = self.queue.iter().rposition(|other| other.job() == node.job());
        match (&node, waits) {
            (Node::Over(_), Some(at)) => {
                if matches!(self.queue.get(at), Some(Node::Began(..))) {
                    self.queue.remove(at);
                }
            }
            (Node::Over(job), None) => {
                if self.stands(job) {
                    self.queue.push_back(node);
                }
            }
            (Node::Began(job, _), None) => {
                if !self.stands(job) {
                    self.queue.push_back(node);
                }
            }
            // a job begins once
            (Node::Began(..), Some(_)) => {}
        }
    }

    /// Whether a job's node stands, once all that is being written has been.
    fn stands(&self, job: &K) -> bool {
        let newest = self.single.iter().rev().chain(self.writing.iter().rev()).find(|node| node.job() == job);
        match newest {
            Some(Node::Began(..)) => true,
            Some(Node::Over(_)) => false,
            None => self.standing.contains(job),
        }
    }

    /// Whether nothing waits and nothing is being written.
    pub fn idle(&self) -> bool {
        self.queue.is_empty() && self.writing.is_empty() && self.single.is_empty()
    }

    /// The next batch, when none is being written: all that waits.
    pub fn take(&mut self) -> Option<Write<K, N>> {
        if !self.writing.is_empty() || self.queue.is_empty() {
            return None;
        }
        self.writing = self.queue.drain(..).collect();
        Some(Write { nodes: self.writing.clone() })
    }

    /// What came of the write at hand; what is to be written next of the same batch. After a batch that failed, its
    /// nodes follow one by one; one that fails alone is given up.
    pub fn wrote(&mut self, done: bool) -> Option<Write<K, N>> {
        let wrote = std::mem::take(&mut self.writing);
        if done {
            for node in wrote {
                match node {
                    Node::Began(job, _) => self.standing.insert(job),
                    Node::Over(job) => self.standing.remove(&job),
                };
            }
        } else if wrote.len() > 1 {
            self.single = wrote.into();
        }
        while let Some(node) = self.single.pop_front() {
            // the beginning may have failed alone: its end has nothing to end
            if matches!(&node, Node::Over(job) if !self.standing.contains(job)) {
                continue;
            }
            self.writing = vec![node.clone()];
            return Some(Write { nodes: vec![node] });
        }
        // what waits may be the end of a job whose beginning could not be written
        let Self { queue, standing, .. } = self;
        queue.retain(|node| !matches!(node, Node::Over(job) if !standing.contains(job)));
        None
    }
}

/// The nodes that stand after these records.
pub fn standing<K: Ord, N>(records: impl IntoIterator<Item = Node<K, N>>) -> BTreeMap<K, N> {
    let mut nodes = BTreeMap::new();
    for record in records {
        match record {
            Node::Began(job, node) => drop(nodes.entry(job).or_insert(node)),
            Node::Over(job) => drop(nodes.remove(&job)),
        }
    }
    nodes
}

/// What a job's directory tells when the session is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told<E> {
    /// Its keeper is there and answers for it.
    Running,
    /// It ended so.
    Ended(E),
    /// Nothing: the keeper is gone and wrote no end.
    Nothing,
}

/// What becomes of a job that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found<E> {
    /// It runs: it is watched again.
    Adopt,
    /// It ended while nobody looked: its end is told, once.
    Ended(E),
    /// Nobody knows how it ended: it is told as lost, once.
    Lost,
    /// Its end stands in the conversation: nothing is told.
    Known,
}

/// What becomes of a job, found by its node or by its directory; `known`: its end stands in the journal.
pub fn reopen<E>(known: bool, told: Told<E>) -> Found<E> {
    match (known, told) {
        (true, Told::Running | Told::Ended(_) | Told::Nothing) => Found::Known,
        (false, Told::Running) => Found::Adopt,
        (false, Told::Ended(end)) => Found::Ended(end),
        (false, Told::Nothing) => Found::Lost,
    }
}

#[cfg(test)]
mod tests;
