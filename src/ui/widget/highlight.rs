//! Colours of code, worked out on a thread of its own and never at start-up.
//!
//! The thread and the grammars are made for the first block of code with a language. A block is
//! coloured as its lines come; it is drawn plain until then, and plain past the budgets: lines, bytes,
//! the length of a line, and time. What nobody looks at any more is forgotten, the line at hand at the latest.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxSet};

use super::row::Role;
use crate::link::Wake;

/// Jobs that may wait.
const JOBS_MAX: usize = 32;
/// Most lines of one job: colours of a long block come piece by piece.
pub const JOB_LINES: usize = 256;
/// Most lines of a block that are coloured.
pub const BLOCK_LINES: u32 = 10_000;
/// Longest line that is coloured; a longer one ends the colours of its block.
const LINE_MAX: usize = 1_000;
/// Longest time for one block.
const TIME_MAX: Duration = Duration::from_secs(3);
/// Blocks whose state is remembered for lines to come.
const OPEN_MAX: usize = 16;

/// Names a block of code: its item, and the block of the item that begins it.
pub type CodeId = (u64, u32);
/// Where each role of a line ends, in bytes.
pub type Runs = Box<[(u32, Role)]>;

/// Lines of a block to be coloured.
struct Job {
    id: CodeId,
    lang: String,
    from: u32,
    lines: Vec<String>,
}

/// Lines that were coloured.
#[derive(Debug)]
pub struct Coloured {
    /// The block.
    pub id: CodeId,
    /// The first of the lines.
    pub from: u32,
    /// Their colours.
    pub lines: Vec<Runs>,
    /// No more will come: the language is not known, or a budget is spent.
    pub stopped: bool,
}

/// What the two ends share.
#[derive(Default)]
struct Desk {
    todo: Mutex<Todo>,
    bell: Condvar,
}

#[derive(Default)]
struct Todo {
    waiting: VecDeque<Job>,
    /// The block that is coloured at the moment, and what ends that.
    at_work: Option<(CodeId, Arc<AtomicBool>)>,
    done: Vec<Coloured>,
    closed: bool,
}

impl Desk {
    fn lock(&self) -> MutexGuard<'_, Todo> {
        self.todo.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn forget(&self, of: impl Fn(CodeId) -> bool) {
        let mut todo = self.lock();
        todo.waiting.retain(|job| !of(job.id));
        todo.done.retain(|coloured| !of(coloured.id));
        if let Some((_, stop)) = todo.at_work.as_ref().filter(|(id, _)| of(*id)) {
            stop.store(true, Ordering::Relaxed);
        }
    }

    /// The next job, once there is one, and what ends it; none: nobody wants any more.
    fn next(&self) -> Option<(Job, Arc<AtomicBool>)> {
        let mut todo = self.lock();
        loop {
            if todo.closed {
                return None;
            }
            if let Some(job) = todo.waiting.pop_front() {
                let stop = Arc::new(AtomicBool::new(false));
                todo.at_work = Some((job.id, Arc::clone(&stop)));
                return Some((job, stop));
            }
            todo = self.bell.wait(todo).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes what a job gave, unless it was forgotten meanwhile; whether it was taken.
    fn put(&self, coloured: Coloured, stop: &AtomicBool) -> bool {
        let mut todo = self.lock();
        todo.at_work = None;
        let wanted = !stop.load(Ordering::Relaxed);
        if wanted {
            todo.done.push(coloured);
        }
        wanted
    }
}

/// The colouring thread's near end.
pub struct Highlighter {
    desk: Arc<Desk>,
    started: bool,
    wake: Wake,
}

impl std::fmt::Debug for Highlighter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Highlighter").field("started", &self.started).finish_non_exhaustive()
    }
}

impl Drop for Highlighter {
    fn drop(&mut self) {
        self.desk.lock().closed = true;
        self.forget(|_| true);
        self.desk.bell.notify_one();
    }
}

impl Highlighter {
    /// One that has not started anything; `wake` is called when colours have come.
    pub fn new(wake: Wake) -> Self {
        Self { desk: Arc::default(), started: false, wake }
    }
    /// Asks for colours of lines that follow those asked for before (or from line 0 anew). Whether
    /// they will come; if not now, ask again later.
    pub fn ask(&mut self, id: CodeId, lang: &str, from: u32, lines: Vec<String>) -> bool {
        if !self.started {
            let (desk, wake) = (Arc::clone(&self.desk), Arc::clone(&self.wake));
            if std::thread::Builder::new().name("colours".into()).spawn(move || work(&desk, &wake)).is_err() {
                return false;
            }
            self.started = true;
        }
        if !self.has_room() {
            return false;
        }
        self.desk.lock().waiting.push_back(Job { id, lang: lang.to_owned(), from, lines });
        self.desk.bell.notify_one();
        true
    }
    /// Whether what is asked now would be taken.
    pub fn has_room(&self) -> bool {
        self.desk.lock().waiting.len() < JOBS_MAX
    }
    /// Whether something that was asked for has not been taken yet.
    pub fn owes(&self) -> bool {
        let todo = self.desk.lock();
        !todo.waiting.is_empty() || todo.at_work.is_some() || !todo.done.is_empty()
    }
    /// What has come since the last time.
    pub fn take(&self) -> Vec<Coloured> {
        std::mem::take(&mut self.desk.lock().done)
    }
    /// Ends the work on blocks that nobody looks at any more. Their lines must be asked for from line 0 again.
    pub fn forget(&self, of: impl Fn(CodeId) -> bool) {
        self.desk.forget(of);
    }
}

/// A block that may go on.
struct Open {
    id: CodeId,
    next: u32,
    state: ParseState,
    stack: ScopeStack,
    spent: Duration,
}

fn work(desk: &Desk, wake: &Wake) {
    let mut painter = None;
    let mut open: VecDeque<Open> = VecDeque::new();
    while let Some((job, stop)) = desk.next() {
        let painter = painter.get_or_insert_with(Painter::load);
        let coloured = painter.colour(job, &mut open, &stop);
        if desk.put(coloured, &stop) {
            wake();
        }
    }
}

/// The grammars, loaded once for the process: 5 MB that a program without code never pays.
static GRAMMARS: OnceLock<SyntaxSet> = OnceLock::new();

struct Painter {
    grammars: &'static SyntaxSet,
    roles: Vec<(Scope, Role)>,
}

impl Painter {
    fn load() -> Self {
        let roles = ROLES.iter().filter_map(|(name, role)| Some((Scope::new(name).ok()?, *role))).collect();
        Self { grammars: GRAMMARS.get_or_init(two_face::syntax::extra_newlines), roles }
    }
    fn begin(&self, id: CodeId, lang: &str) -> Option<Open> {
        let lang = match lang.to_ascii_lowercase().as_str() {
            "shell" | "console" | "shell-session" => "sh".to_owned(),
            "jsonc" | "json5" => "json".to_owned(),
            "" | "text" | "txt" | "plain" | "plaintext" => return None,
            other => other.to_owned(),
        };
        let syntax = self.grammars.find_syntax_by_token(&lang)?;
        let (state, stack) = (ParseState::new(syntax), ScopeStack::new());
        Some(Open { id, next: 0, state, stack, spent: Duration::ZERO })
    }
    fn colour(&self, job: Job, open: &mut VecDeque<Open>, stop: &AtomicBool) -> Coloured {
        let Job { id, lang, from, lines } = job;
        let known = open.iter().position(|block| block.id == id).and_then(|index| open.remove(index));
        let block = if from == 0 { self.begin(id, &lang) } else { known.filter(|block| block.next == from) };
        let Some(mut block) = block else { return Coloured { id, from, lines: Vec::new(), stopped: true } };
        let mut out = Vec::with_capacity(lines.len());
        let began = Instant::now();
        let mut stopped = false;
        for line in lines {
            if stop.load(Ordering::Relaxed) {
                return Coloured { id, from, lines: out, stopped: true };
            }
            let late = block.spent + began.elapsed() > TIME_MAX;
            let painted = if late || line.len() > LINE_MAX {
                None
            } else {
                self.line(line, &mut block.state, &mut block.stack)
            };
            match painted {
                Some(runs) => out.push(runs),
                None => {
                    stopped = true;
                    break;
                }
            }
        }
        block.next = from + out.len() as u32;
        block.spent += began.elapsed();
        stopped |= block.next >= BLOCK_LINES;
        if !stopped {
            open.push_back(block);
            if open.len() > OPEN_MAX {
                open.pop_front();
            }
        }
        Coloured { id, from, lines: out, stopped }
    }
    fn line(&self, mut line: String, state: &mut ParseState, stack: &mut ScopeStack) -> Option<Runs> {
        let len = line.len();
        line.push('\n');
        let ops = state.parse_line(&line, self.grammars).ok()?;
        let mut runs: Vec<(u32, Role)> = Vec::new();
        let mut from = 0;
        for (at, op) in ops.iter().map(|(at, op)| (*at, Some(op))).chain([(len, None)]) {
            let at = at.min(len);
            if at > from {
                let role = self.role(stack);
                match runs.last_mut() {
                    Some((end, same)) if *same == role => *end = at as u32,
                    Some(_) | None => runs.push((at as u32, role)),
                }
                from = at;
            }
            if let Some(op) = op {
                stack.apply(op).ok()?;
            }
        }
        Some(runs.into_boxed_slice())
    }
    fn role(&self, stack: &ScopeStack) -> Role {
        let of = |scope: &Scope| self.roles.iter().find(|(prefix, _)| prefix.is_prefix_of(*scope));
        stack.as_slice().iter().rev().find_map(of).map_or(Role::CodeBlock, |(_, role)| *role)
    }
}

/// What scopes are drawn as; the first that fits.
const ROLES: &[(&str, Role)] = &[
    ("comment", Role::Comment),
    ("punctuation.definition.comment", Role::Comment),
    ("punctuation.definition.string", Role::String),
    ("string", Role::String),
    ("constant", Role::Number),
    ("keyword.operator", Role::Operator),
    ("keyword", Role::Keyword),
    ("storage", Role::Keyword),
    ("entity.name.function", Role::Function),
    ("entity.name.macro", Role::Function),
    ("support.function", Role::Function),
    ("support.macro", Role::Function),
    ("variable.function", Role::Function),
    ("entity.name.tag", Role::Keyword),
    ("entity.other.attribute-name", Role::Variable),
    ("entity.name", Role::Type),
    ("entity.other.inherited-class", Role::Type),
    ("support", Role::Type),
    ("variable.language", Role::Keyword),
    ("variable", Role::Variable),
    ("punctuation", Role::Operator),
    ("markup.inserted", Role::Added),
    ("markup.deleted", Role::Removed),
    ("markup.heading", Role::Type),
];

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};

    use super::*;

    /// A highlighter and the bell that its wake rings.
    fn started() -> (Highlighter, Receiver<()>) {
        let (ring, bell) = sync_channel(64);
        let wake: Wake = Arc::new(move || {
            let _ = ring.try_send(());
        });
        (Highlighter::new(wake), bell)
    }
    fn next(highlighter: &Highlighter, bell: &Receiver<()>) -> Result<Vec<Coloured>, RecvTimeoutError> {
        bell.recv_timeout(Duration::from_secs(60))?;
        Ok(highlighter.take())
    }

    #[test]
    fn a_block_is_coloured_as_its_lines_come() {
        let (mut highlighter, bell) = started();
        assert!(!highlighter.started);
        assert!(highlighter.ask((1, 0), "rust", 0, vec!["/* a".into()]));
        let first = next(&highlighter, &bell).unwrap().remove(0);
        assert_eq!(first.lines, [vec![(4, Role::Comment)].into_boxed_slice()]);
        assert!(highlighter.ask((1, 0), "rust", 1, vec!["b */ fn main() {}".into()]));
        let second = next(&highlighter, &bell).unwrap().remove(0);
        let roles: Vec<Role> = second.lines[0].iter().map(|(_, role)| *role).collect();
        assert_eq!((second.from, roles[0]), (1, Role::Comment));
        assert!(roles.contains(&Role::Keyword) && roles.contains(&Role::Function), "{roles:?}");
    }

    #[test]
    fn what_nobody_looks_at_any_more_is_not_worked_on() {
        let (mut highlighter, bell) = started();
        let many = || vec!["let a = Some(1); // a".to_owned(); JOB_LINES];
        for id in 0..20 {
            assert!(highlighter.ask((1, id), "rust", 0, many()));
        }
        highlighter.forget(|(text, _)| text == 1);
        assert!(highlighter.desk.lock().waiting.is_empty());
        assert!(highlighter.ask((2, 0), "rust", 0, vec!["let b = 2;".into()]));
        let got = loop {
            let got = next(&highlighter, &bell).unwrap();
            if !got.is_empty() {
                break got;
            }
        };
        assert_eq!(got.iter().map(|coloured| coloured.id).collect::<Vec<_>>(), [(2, 0)]);
        // and its thread ends with it
        let desk = Arc::downgrade(&highlighter.desk);
        assert!(highlighter.ask((3, 0), "rust", 0, many()));
        drop(highlighter);
        let until = Instant::now() + Duration::from_secs(60);
        while desk.strong_count() > 0 {
            assert!(Instant::now() < until, "the thread goes on");
            std::thread::yield_now();
        }
    }

    #[test]
    fn what_is_unknown_or_too_long_stays_plain() {
        let (mut highlighter, bell) = started();
        assert!(highlighter.ask((1, 0), "no-such-language", 0, vec!["a".into()]));
        assert!(next(&highlighter, &bell).unwrap()[0].stopped);
        let lines = vec!["let a = 1;".into(), "x".repeat(4_700), "b".into()];
        assert!(highlighter.ask((2, 0), "rust", 0, lines));
        let got = next(&highlighter, &bell).unwrap().remove(0);
        assert!(got.stopped && got.lines.len() == 1);
        assert!(highlighter.ask((3, 0), "rust", 7, vec!["a".into()]));
        assert!(next(&highlighter, &bell).unwrap()[0].stopped, "lines that follow nothing");
    }
}
