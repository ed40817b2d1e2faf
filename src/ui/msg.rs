//! What can happen to the screen, and what it wants done. Two levels: a pane's messages are its own.

use crate::api::command::Command;
use crate::api::event::Event;
use crate::api::message::Image;
use crate::base::SessionId;
use crate::ui::input::Input;
use crate::ui::pane::{agents, composer, conflict, conversation, jobs, tree};

/// What can happen.
#[derive(Clone, Debug, PartialEq)]
pub enum Msg {
    /// Something came from the terminal.
    Input(Input),
    /// The window has so many columns and rows.
    Resize(u16, u16),
    /// The session tells something.
    Event(Event),
    /// A frame is on the terminal and no input waits.
    Flushed,
    /// A deadline of the model passed.
    Tick,
    /// To the composer.
    Composer(composer::Msg),
    /// To the conversation.
    Conversation(conversation::Msg),
    /// To the list of jobs.
    Jobs(jobs::Msg),
    /// To the list of agents.
    Agents(agents::Msg),
    /// To the tree.
    Tree(tree::Msg),
    /// To the conflict viewer.
    Conflict(conflict::Msg),
    /// A command could not be given to the session.
    NotSent(Box<Command>),
    /// The person is told something.
    Say(String),
    /// The first-run screen is wanted.
    Welcome,
    /// It is asked whether the directory's own settings are trusted.
    AskTrust,
}

/// What the screen wants done; the loop does it.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Give the session a command.
    Send(Command),
    /// Copy to the clipboard.
    Copy(String),
    /// Open the draft in the person's editor.
    Edit(String),
    /// Open bytes in the person's editor, as a file of this name; they come back to the conflict viewer.
    EditMerge(String, Vec<u8>),
    /// Show a text in the pager.
    Page(String),
    /// Read an image from a file, or from the clipboard.
    ReadImage(Option<String>),
    /// Keep the theme of this name for the next starts.
    KeepTheme(String),
    /// Stop the program until it is continued.
    Suspend,
    /// Keep the ring of messages in a file.
    Dump,
    /// Draw the whole screen anew.
    Redraw,
    /// Leave the screen; jobs that are not kept end.
    Leave(Exit),
    /// Leave the screen; every job goes on.
    LeaveJobs(Exit),
}

/// Why the screen was left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The person wants to leave.
    Quit,
    /// Open this session.
    Switch(SessionId),
    /// Start the rehearsal.
    Rehearsal,
    /// Begin a new session.
    New,
    /// The program was ended from outside by this signal (15, 2), or lost its terminal (1).
    Ended(i32),
}

/// How the screen was left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// Why.
    pub exit: Exit,
    /// Whether every job goes on; else only those that are kept.
    pub leave_jobs: bool,
    /// Where one was in the conversation; none: nothing was said yet.
    pub place: Option<conversation::Kept>,
}

/// An image that was read, or the path that was none and why.
pub type Read = Result<Image, (Option<String>, String)>;
