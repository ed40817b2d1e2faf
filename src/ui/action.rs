//! What keys can do: the closed list of actions, each with its layer, its name and a word on it.
//!
//! Help, palette, keymap and `docs/KEYS.md` are all made from this list.

mod table;

pub use table::ACTIONS;

/// Where a key is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layer {
    /// Everywhere, after the layer of what has the focus.
    Global,
    /// In the composer.
    Composer,
    /// In the conversation.
    Conversation,
    /// In the list of jobs.
    Jobs,
    /// In the view of one job.
    JobView,
    /// While what is typed goes to a job.
    Attached,
    /// In the list of agents.
    Agents,
    /// In the transcript of an agent, before the keys of the conversation.
    AgentView,
    /// In the tree.
    Tree,
    /// In the conflict viewer.
    Conflict,
    /// While its result is written by hand.
    ConflictEdit,
    /// In pickers.
    List,
    /// In an approval.
    Approval,
    /// While text is selected by keys.
    Select,
}

/// All layers: name in the keymap, title in the help.
pub const LAYERS: &[(Layer, &str, &str)] = &[
    (Layer::Global, "global", "Everywhere"),
    (Layer::Composer, "composer", "In the composer"),
    (Layer::Conversation, "conversation", "In the conversation"),
    (Layer::Jobs, "jobs", "In the list of jobs"),
    (Layer::JobView, "job-view", "In the view of a job"),
    (Layer::Attached, "attached", "Attached to a job: all other keys are its own"),
    (Layer::Agents, "agents", "In the list of agents"),
    (Layer::AgentView, "agent-view", "In the transcript of an agent: also the keys of the conversation"),
    (Layer::Tree, "tree", "In the tree"),
    (Layer::Conflict, "conflict", "In the conflict viewer"),
    (Layer::ConflictEdit, "conflict-edit", "Writing the result by hand: also the keys of the composer"),
    (Layer::List, "list", "In lists"),
    (Layer::Approval, "approval", "In an approval"),
    (Layer::Select, "select", "Selecting text: in the conversation, a transcript, the output of a job"),
];

/// What a key can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// End what runs.
    Interrupt,
    /// Clear the draft; interrupt; twice: quit.
    Cancel,
    /// Quit, when the draft is empty.
    QuitWhenEmpty,
    /// Every command by name.
    Palette,
    /// Every key.
    Help,
    /// The next approval mode.
    NextMode,
    /// Turn to the open approval.
    AnswerApproval,
    /// Choose the model.
    Models,
    /// How much the model thinks.
    Thinking,
    /// Open another session.
    Sessions,
    /// Begin a new session.
    NewSession,
    /// Choose the theme.
    Themes,
    /// What fills the model's window.
    Context,
    /// Show or hide what runs now.
    Live,
    /// Turn to the list of jobs.
    Jobs,
    /// Turn to the list of agents.
    Agents,
    /// Turn to the tree of branches.
    Tree,
    /// What came back from subagents.
    HandBack,
    /// Let a running call go on in the background; else: left.
    Detach,
    /// Turn to the conversation.
    Conversation,
    /// Try a failed request again now.
    Retry,
    /// The whole conversation in the pager.
    Transcript,
    /// A page up in the conversation.
    PageUp,
    /// A page down in the conversation.
    PageDown,
    /// To the conversation's beginning.
    Top,
    /// To the conversation's end, following it.
    Bottom,
    /// A line up in the conversation.
    LineUp,
    /// A line down in the conversation.
    LineDown,
    /// Stop the program until `fg`.
    Suspend,
    /// Draw the whole screen anew.
    Redraw,
    /// Keep the last messages of the screen in a file.
    Dump,
    /// Plain text, for the terminal's own selection.
    RawView,
    /// Send; while the model works: steer it.
    Send,
    /// Send after the turn.
    Queue,
    /// A new line.
    Newline,
    /// Take the suggestion; turn to the conversation.
    Complete,
    /// Left.
    Left,
    /// Right.
    Right,
    /// Up; at the top: take a pending message back, or the history.
    Up,
    /// Down; at the bottom: the history.
    Down,
    /// A word left.
    WordLeft,
    /// A word right.
    WordRight,
    /// To the line's start.
    LineStart,
    /// To the line's end.
    LineEnd,
    /// Delete to the left.
    DeleteLeft,
    /// Delete to the right.
    DeleteRight,
    /// Delete the word to the left.
    DeleteWordLeft,
    /// Delete the word to the right.
    DeleteWordRight,
    /// Delete to the line's start.
    DeleteToStart,
    /// Delete to the line's end.
    DeleteToEnd,
    /// Put back what was deleted last.
    Yank,
    /// Undo.
    Undo,
    /// Redo.
    Redo,
    /// Search earlier prompts.
    SearchHistory,
    /// Write the draft in your editor.
    Editor,
    /// Take an image from the clipboard.
    PasteImage,
    /// The next item.
    Next,
    /// The item before.
    Previous,
    /// Open or fold the item.
    Toggle,
    /// Open or fold all.
    ToggleAll,
    /// The next message of yours.
    NextUser,
    /// The message of yours before.
    PreviousUser,
    /// The next failure.
    NextError,
    /// To the beginning.
    First,
    /// To the end.
    Last,
    /// Search.
    Find,
    /// The next hit.
    FindNext,
    /// The hit before.
    FindPrevious,
    /// Copy the item's source text.
    Copy,
    /// Try a failed request again.
    RetryHere,
    /// Every key.
    KeysHere,
    /// Back to the composer.
    Leave,
    /// Select text with keys.
    SelectText,
    /// Diffs side by side, or in one column.
    DiffShape,
    /// Choose what to copy of the item.
    TakeMenu,
    /// The failure before.
    PreviousError,
    /// The next call.
    NextCall,
    /// The call before.
    PreviousCall,
    /// The next job.
    JobNext,
    /// The job before.
    JobPrevious,
    /// A page down.
    JobPageDown,
    /// A page up.
    JobPageUp,
    /// To the first job.
    JobFirst,
    /// To the last job.
    JobLast,
    /// Show the job's output.
    JobOpen,
    /// Type into the job's terminal.
    JobAttach,
    /// End the job with all its processes.
    JobKill,
    /// Send the job a signal.
    JobSignal,
    /// Let the job go on when the program ends, or not.
    JobKeep,
    /// Copy the job's command.
    JobCopy,
    /// Copy the job's last lines.
    JobCopyLast,
    /// Take an ended job off the list.
    JobDismiss,
    /// Take all ended jobs off the list.
    JobDismissAll,
    /// Search the jobs.
    JobFind,
    /// Every key.
    JobKeys,
    /// Back to the composer.
    JobLeave,
    /// A row down.
    ViewDown,
    /// A row up.
    ViewUp,
    /// Half a page down.
    ViewHalfDown,
    /// Half a page up.
    ViewHalfUp,
    /// A page down.
    ViewPageDown,
    /// A page up.
    ViewPageUp,
    /// To the beginning.
    ViewFirst,
    /// To the end, following it.
    ViewLast,
    /// Between the terminal's picture and all that was written.
    ViewSwitch,
    /// Search the output.
    ViewFind,
    /// The next hit.
    ViewFindNext,
    /// The hit before.
    ViewFindPrevious,
    /// Type into the terminal.
    ViewAttach,
    /// End the job with all its processes.
    ViewKill,
    /// Send the job a signal.
    ViewSignal,
    /// Let the job go on when the program ends, or not.
    ViewKeep,
    /// Copy the job's command.
    ViewCopy,
    /// Copy the job's last lines.
    ViewCopyLast,
    /// Take the ended job off the list.
    ViewDismiss,
    /// Every key.
    ViewKeys,
    /// End the search; without one: back to the list.
    ViewBack,
    /// Back to the list.
    ViewLeave,
    /// Select text with keys.
    ViewSelect,
    /// What is typed is the screen's again.
    LeaveTerminal,
    /// The next agent.
    AgentNext,
    /// The agent before.
    AgentPrevious,
    /// A page down.
    AgentPageDown,
    /// A page up.
    AgentPageUp,
    /// To the first agent.
    AgentFirst,
    /// To the last agent.
    AgentLast,
    /// Show what the agent says and does.
    AgentOpen,
    /// Write to the agent.
    AgentMessage,
    /// Stop the agent.
    AgentStop,
    /// Stop the agent, and take it off the list.
    AgentDelete,
    /// Show what came back from the agent.
    AgentHandBack,
    /// Copy the agent's answer.
    AgentCopy,
    /// Take an ended agent off the list.
    AgentDismiss,
    /// Take all ended agents off the list.
    AgentDismissAll,
    /// Every key.
    AgentKeys,
    /// Back to the composer.
    AgentLeave,
    /// Write to the agent whose transcript is shown.
    TranscriptMessage,
    /// Stop it.
    TranscriptStop,
    /// Show what came back from it.
    TranscriptHandBack,
    /// Every key.
    TranscriptKeys,
    /// End the search; without one: back to the list.
    TranscriptBack,
    /// Back to the list.
    TranscriptLeave,
    /// The next line of the tree.
    TreeNext,
    /// The line before.
    TreePrevious,
    /// A page down.
    TreePageDown,
    /// A page up.
    TreePageUp,
    /// To the first line.
    TreeFirst,
    /// To the last line.
    TreeLast,
    /// Open or fold a run of calls, or a branch.
    TreeToggle,
    /// Open or fold all runs of calls.
    TreeToggleAll,
    /// Go back there.
    TreeRewind,
    /// Fork there.
    TreeFork,
    /// Copy the line.
    TreeCopy,
    /// Search the tree.
    TreeFind,
    /// Every key.
    TreeKeys,
    /// Back to the composer.
    TreeLeave,
    /// Take the parent's lines.
    ConflictParent,
    /// Take the child's lines.
    ConflictChild,
    /// Take both: the parent's, then the child's.
    ConflictBoth,
    /// Take both: the child's, then the parent's.
    ConflictBothChildFirst,
    /// Take the base's lines.
    ConflictBase,
    /// Take the parent's lines for every hunk that is open.
    ConflictOpenParent,
    /// Take the child's lines for every hunk that is open.
    ConflictOpenChild,
    /// Take both for every hunk that is open.
    ConflictOpenBoth,
    /// Take both, the child's first, for every hunk that is open.
    ConflictOpenBothChildFirst,
    /// Take the base's lines for every hunk that is open.
    ConflictOpenBase,
    /// Take the parent's version of the whole file.
    ConflictFileParent,
    /// Take the child's version of the whole file.
    ConflictFileChild,
    /// Take the base's version of the whole file.
    ConflictFileBase,
    /// Take how the same three versions were resolved before, as a proposal.
    ConflictEarlier,
    /// Take what mergiraf makes of it, as a proposal.
    ConflictPropose,
    /// Write the result by hand, here.
    ConflictEdit,
    /// Write it in your editor, with conflict markers for what is open.
    ConflictEditor,
    /// Whether the file that is written may be run.
    ConflictExecutable,
    /// Take the last choice back.
    ConflictUndo,
    /// Write it: nothing is written before.
    ConflictWrite,
    /// Put a path that was taken back as it was.
    ConflictRevert,
    /// The next change.
    ConflictNext,
    /// The change before.
    ConflictPrevious,
    /// What waits next: a hunk that is open, else the next path.
    ConflictNextOpen,
    /// The next path.
    ConflictNextPath,
    /// The path before.
    ConflictPreviousPath,
    /// Between the paths and the versions.
    ConflictFocus,
    /// To the versions of the path.
    ConflictOpen,
    /// Down.
    ConflictDown,
    /// Up.
    ConflictUp,
    /// Half a page down.
    ConflictHalfDown,
    /// Half a page up.
    ConflictHalfUp,
    /// A page down.
    ConflictPageDown,
    /// A page up.
    ConflictPageUp,
    /// To the beginning.
    ConflictFirst,
    /// To the end.
    ConflictLast,
    /// Further left in long lines.
    ConflictLeft,
    /// Further right in long lines.
    ConflictRight,
    /// Parent and child only.
    ConflictTwo,
    /// Set whitespace aside in what is shown.
    ConflictWhitespace,
    /// Another version, where there is room for one only.
    ConflictVersion,
    /// Give the room of the paths to the versions.
    ConflictPaths,
    /// Every key.
    ConflictKeys,
    /// A step back: to the paths, to the agents, out.
    ConflictBack,
    /// Leave.
    ConflictLeave,
    /// Take what you wrote.
    ConflictEditDone,
    /// Drop what you wrote.
    ConflictEditDrop,
    /// A new line.
    ConflictEditNewline,
    /// Indent.
    ConflictEditTab,
    /// The next row.
    ListNext,
    /// The row before.
    ListPrevious,
    /// A page down.
    ListPageDown,
    /// A page up.
    ListPageUp,
    /// Take the row.
    Accept,
    /// Close.
    Close,
    /// Rename the session (in the session list).
    Rename,
    /// Sessions of all directories (in the session list).
    AllDirectories,
    /// Yes, this once.
    Once,
    /// Yes, for this session.
    ForSession,
    /// Yes, always (writes the rule).
    Always,
    /// No.
    No,
    /// No, with a reason.
    NoBecause,
    /// Take the marked answer.
    Choose,
    /// The next answer.
    ChoiceNext,
    /// The answer before.
    ChoicePrevious,
    /// Scroll the preview down.
    PreviewDown,
    /// Scroll the preview up.
    PreviewUp,
    /// Back to the draft without an answer.
    Aside,
    /// Left.
    PickLeft,
    /// Right.
    PickRight,
    /// A row up.
    PickUp,
    /// A row down.
    PickDown,
    /// To the next word.
    PickWord,
    /// A word back.
    PickWordBack,
    /// To the row's begin.
    PickBegin,
    /// To the row's end.
    PickEnd,
    /// Half a page down.
    PickHalfDown,
    /// Half a page up.
    PickHalfUp,
    /// A page down.
    PickPageDown,
    /// A page up.
    PickPageUp,
    /// To the beginning.
    PickFirst,
    /// To the end.
    PickLast,
    /// Mark from here on.
    PickMark,
    /// Mark whole lines from here on.
    PickLines,
    /// To the other end of what is marked.
    PickSwap,
    /// Copy what is marked.
    PickTake,
    /// Every key.
    PickKeys,
    /// Select nothing.
    PickLeave,
}

impl Action {
    /// The action of a name in a layer.
    pub fn parse(layer: Layer, name: &str) -> Option<Action> {
        ACTIONS.iter().find(|(l, _, n, _)| *l == layer && *n == name).map(|(_, action, _, _)| *action)
    }
    /// The layer that it is of.
    pub fn layer(self) -> Layer {
        ACTIONS.iter().find(|(_, a, _, _)| *a == self).map_or(Layer::Global, |(layer, _, _, _)| *layer)
    }
    /// What it does, in words.
    pub fn says(self) -> &'static str {
        ACTIONS.iter().find(|(_, a, _, _)| *a == self).map_or("", |(_, _, _, says)| says)
    }
    /// Its name in the keymap.
    pub fn name(self) -> &'static str {
        ACTIONS.iter().find(|(_, a, _, _)| *a == self).map_or("", |(_, _, name, _)| name)
    }
}
