//! The composer: where a person writes. A draft is never lost but by sending or deleting it.
//!
//! `draft` is the text with its tokens, `popup` the suggestions, `slash` the commands, `vi` the keys
//! of vi, `estimate` what is about to be sent, `pixels` how large an image is. Deliberately not here: what is done with a message (`update` of the model sends it).

pub mod draft;
/// What a draft weighs before it is sent.
pub mod estimate;
mod pixels;
mod popup;
pub mod slash;
mod update;
/// The keys of vi.
pub mod vi;
mod view;

use crate::api::event::CustomCommand;
use crate::api::message::Image;
use crate::ui::action::Action;
use crate::ui::vi::Vi;

pub use popup::Popup;
pub use update::update;
pub use view::{rows, view, view_popup};

/// What the pane remembers.
#[derive(Default)]
pub struct State {
    /// The text at hand.
    pub draft: draft::Draft,
    /// The keys of vi; none: they are not wanted.
    pub vi: Option<Vi>,
    /// The suggestions, while some are shown.
    pub popup: Option<Popup>,
    /// Files of the directory, once asked for.
    pub files: Vec<String>,
    /// Whether the files were asked for.
    pub asked_files: bool,
    /// The person's own commands.
    pub commands: Vec<CustomCommand>,
    /// Earlier prompts, newest first.
    pub history: Vec<String>,
    /// Whether the earlier prompts were asked for.
    pub asked_history: bool,
    /// Which earlier prompt is shown, and the draft that it covers.
    recalled: Option<(usize, draft::Draft)>,
}

/// What can happen to the pane.
#[derive(Clone, Debug, PartialEq)]
pub enum Msg {
    /// A key that is bound.
    Do(Action),
    /// A typed character.
    Insert(char),
    /// A paste.
    Paste(String),
    /// An image was read.
    Image(Image),
    /// An image could not be read: its path is text after all.
    NoImage(String),
    /// The draft comes back from the editor.
    Edited(String),
    /// A message comes back: it stands before the draft.
    TakenBack(String, Vec<Image>),
    /// Files of the directory.
    Files(Vec<String>),
    /// Earlier prompts, newest first.
    Prompts(Vec<String>),
    /// The person's own commands.
    Commands(Vec<CustomCommand>),
    /// An earlier prompt was chosen.
    Recall(String),
    /// Remove the draft.
    Clear,
}

/// What the pane wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum Out {
    /// Send a message.
    Send {
        /// The text, its folded pastes unfolded.
        text: String,
        /// Its images.
        images: Vec<Image>,
        /// After the turn.
        after_turn: bool,
    },
    /// Do a `/` command.
    Slash(String, String),
    /// Run a command of the person's.
    Shell {
        /// The command line.
        command: String,
        /// Keep it from the model.
        hidden: bool,
    },
    /// Ask for the files of the directory.
    AskFiles,
    /// Ask for earlier prompts.
    AskPrompts,
    /// Open the draft in the editor.
    Edit(String),
    /// Read an image: from a file, or (none) from the clipboard.
    ReadImage(Option<String>),
    /// Take the newest pending message back.
    TakeBack,
    /// Choose among earlier prompts.
    SearchHistory,
    /// Turn to the conversation.
    Leave,
    /// Tell the person.
    Say(String),
}
