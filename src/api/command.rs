//! What a person asks of a session.

use std::path::PathBuf;

use crate::api::access::{Decision, Mode};
use crate::api::entry::Level;
use crate::api::hand_back::HandBackAsk;
use crate::api::message::{Image, Thinking};
use crate::api::screen::Size;
use crate::base::{CallId, EntryId, JobId, SessionId};

/// A command to the session's owner loop. Each is answered by a change of the record, or by an event.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Send a message. While a turn runs it steers, or waits for its end when `after_turn`.
    Send {
        /// The text.
        text: String,
        /// Images, with their data.
        images: Vec<Image>,
        /// Deliver it after the turn.
        after_turn: bool,
    },
    /// Take a message that is not delivered yet back; the event `TakenBack` carries it.
    TakeBack {
        /// Its id; none: the newest.
        id: Option<u64>,
    },
    /// End what runs. Messages not delivered come back as events `TakenBack`.
    Interrupt,
    /// Answer an approval.
    Decide {
        /// The call that waits.
        call: CallId,
        /// The answer.
        decision: Decision,
    },
    /// Try again now: cuts a wait between tries short; when idle, repeats the request of a failed turn.
    Retry,
    /// Allow what this rule says for the rest of the session.
    Allow(String),
    /// Change the mode.
    SetMode(Mode),
    /// Change the model: `provider/name` or a name that is unique.
    SetModel(String),
    /// Change how much the model thinks.
    SetThinking(Thinking),
    /// Summarise older entries now.
    Compact,
    /// Give the session a display name.
    Rename(String),
    /// Move the head to this entry (none: before the first). Jobs that were started after it are ended.
    Rewind {
        /// The entry that becomes the newest of the branch.
        to: Option<EntryId>,
        /// Whether the files that the session's tools changed since are put back as they were.
        restore: bool,
        /// A message of the person's that comes back into the composer: the rewind goes to before it.
        take_back: Option<EntryId>,
    },
    /// Take the newest restoring of files back.
    UndoRestore,
    /// Run a command of the person's (`!`); `hidden` keeps it from the model (`!!`).
    Shell {
        /// The command line.
        command: String,
        /// Keep it from the model.
        hidden: bool,
    },
    /// Let a running command go on as a job (`^B`): the call that is named, else the oldest one that can.
    Detach {
        /// Which call; none: the oldest that can.
        call: Option<CallId>,
    },
    /// Do something with a job.
    Job {
        /// Which.
        job: JobId,
        /// What.
        ask: JobAsk,
    },
    /// Do something with a subagent.
    Agent {
        /// Its path.
        path: String,
        /// What.
        ask: AgentAsk,
    },
    /// Begin a new session with the branch up to this entry (none: with nothing); it becomes the open one
    /// through the event `Forked`.
    Fork {
        /// The newest entry of the new session.
        to: Option<EntryId>,
        /// A message of the person's that stands in the new session's composer: the fork is made before it.
        take_back: Option<EntryId>,
    },
    /// Trust the directory's own settings, or stop to.
    Trust(bool),
    /// Ask something; the event with the same number answers.
    Ask {
        /// Chosen by the asker.
        number: u64,
        /// The question.
        query: Query,
    },
    /// Tell the person this word, which is not part of the conversation.
    Tell {
        /// How much it matters.
        level: Level,
        /// What happened, to what, what to do next.
        text: String,
    },
    /// What stands in the composer now: it is kept for the next open.
    Draft(String),
    /// Settle everything, release the lease and end the owner loop.
    Close {
        /// Jobs go on without the program; else those that are not kept are ended.
        leave_jobs: bool,
    },
}

/// What a person does with a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobAsk {
    /// End its whole tree.
    Kill,
    /// Send this signal to its process group in front.
    Signal(i32),
    /// Let it go on when the program ends, or not.
    Keep(bool),
    /// Take an ended one off the list.
    Dismiss,
    /// Type this into its terminal.
    Input(SecretBytes),
    /// Give its terminal this size.
    Resize(Size),
    /// Show its terminal's picture in the record from now on, or no longer.
    Watch(bool),
}

/// What a person does with a subagent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentAsk {
    /// Tell it this: while it works it steers; one that has ended or was cut works again.
    Message(String),
    /// Stop it; what it changed is handed back.
    Stop,
    /// Stop it, and take it off the list once it has ended; what it changed is handed back.
    Delete,
    /// Take an ended one off the list.
    Dismiss,
    /// Try its hand-back again, which failed.
    HandBack,
    /// Let its record be read (`link::Front::agents`), also when it is of an earlier program.
    Look,
}

/// A question whose answer needs the disk or the network, so a screen cannot answer it itself.
#[derive(Clone, Debug, PartialEq)]
pub enum Query {
    /// Files of the directory, for `@`.
    Files,
    /// Sessions, newest first: of this directory, or of all.
    Sessions {
        /// Of all directories.
        all: bool,
    },
    /// Models that can be chosen.
    Models,
    /// Bytes of an artifact of this session, as lossy text.
    Artifact {
        /// The file, as named in a settle.
        path: PathBuf,
        /// First byte.
        offset: u64,
        /// Most bytes.
        limit: u64,
    },
    /// What fills the window, part by part.
    Context,
    /// What was spent: by model, turn and agent.
    Usage,
    /// What ran when, turn by turn, on the branch at hand.
    Timeline,
    /// A piece of a job's spool, as raw bytes.
    JobLog {
        /// Which.
        job: JobId,
        /// First byte.
        offset: u64,
        /// Most bytes.
        limit: u64,
    },
    /// The next place in a job's spool that holds this text (letters of either case where it has no capital).
    JobSearch {
        /// Which.
        job: JobId,
        /// What is looked for.
        text: String,
        /// Where the search begins.
        from: u64,
        /// Towards the beginning.
        back: bool,
    },
    /// Every branch of the session.
    Tree,
    /// What a rewind to this entry would do.
    RewindPlan {
        /// The entry; none: before the first.
        to: Option<EntryId>,
    },
    /// Something of the hand-backs of this session's children.
    HandBack(HandBackAsk),
    /// Model servers that answer on loopback.
    Servers,
    /// Custom commands (`commands/*.md`).
    Commands,
    /// Earlier prompts of this directory, newest first, for the history.
    Prompts,
    /// Earlier prompts of all directories, newest session first.
    PromptsOfAll,
    /// Write the conversation as Markdown to this file (relative to the directory).
    Export(PathBuf),
    /// Give a session that is open nowhere a display name.
    Rename {
        /// Which.
        session: SessionId,
        /// The name.
        title: String,
    },
    /// Store a key for a provider (mode 0600).
    StoreKey {
        /// The provider's name.
        provider: String,
        /// The key. Its `Debug` is a placeholder.
        key: Secret,
    },
}

/// Bytes that must not be shown, logged or recorded: what a person types into a job.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretBytes(pub Vec<u8>);

impl std::fmt::Debug for SecretBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SecretBytes(…)")
    }
}

/// A text that must not be shown, logged or recorded.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}
