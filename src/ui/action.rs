//! What keys can do: the closed list of actions, each with its layer, its name and a word on it.
//!
//! Help, palette, keymap and `docs/KEYS.md` are all made from this list.

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
    /// In pickers.
    List,
    /// In an approval.
    Approval,
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
    (Layer::List, "list", "In lists"),
    (Layer::Approval, "approval", "In an approval"),
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
}

/// All actions: layer, action, name in the keymap, what it does.
pub const ACTIONS: &[(Layer, Action, &str, &str)] = &[
    (Layer::Global, Action::Interrupt, "interrupt", "End what runs"),
    (Layer::Global, Action::Cancel, "cancel", "Clear the draft; interrupt; twice: quit"),
    (Layer::Global, Action::QuitWhenEmpty, "quit-when-empty", "Quit, when the draft is empty"),
    (Layer::Global, Action::Palette, "palette", "Every command by name"),
    (Layer::Global, Action::Help, "help", "Every key"),
    (Layer::Global, Action::NextMode, "next-mode", "The next approval mode"),
    (Layer::Global, Action::AnswerApproval, "answer-approval", "Turn to the open approval"),
    (Layer::Global, Action::Models, "models", "Choose the model"),
    (Layer::Global, Action::Thinking, "thinking", "How much the model thinks"),
    (Layer::Global, Action::Sessions, "sessions", "Open another session"),
    (Layer::Global, Action::NewSession, "new-session", "Begin a new session"),
    (Layer::Global, Action::Themes, "themes", "Choose the theme"),
    (Layer::Global, Action::Context, "context", "What fills the model's window"),
    (Layer::Global, Action::Live, "live", "Show or hide what runs now"),
    (Layer::Global, Action::Jobs, "jobs", "The jobs: what goes on in the background, and what ended"),
    (
        Layer::Global,
        Action::Agents,
        "agents",
        "The agents: what each does, and what came of those that ended",
    ),
    (Layer::Global, Action::Tree, "tree", "The tree of branches: go back to an entry, or fork"),
    (Layer::Global, Action::Detach, "detach", "Let a running call go on in the background; else: left"),
    (Layer::Global, Action::Conversation, "conversation", "Turn to the conversation"),
    (Layer::Global, Action::Retry, "retry", "Try a failed request again now"),
    (Layer::Global, Action::Transcript, "transcript", "The whole conversation in the pager"),
    (Layer::Global, Action::PageUp, "page-up", "A page up in the conversation"),
    (Layer::Global, Action::PageDown, "page-down", "A page down in the conversation"),
    (Layer::Global, Action::Top, "top", "To the conversation's beginning"),
    (Layer::Global, Action::Bottom, "bottom", "To the conversation's end, following it"),
    (Layer::Global, Action::LineUp, "line-up", "A line up in the conversation"),
    (Layer::Global, Action::LineDown, "line-down", "A line down in the conversation"),
    (Layer::Global, Action::Suspend, "suspend", "Stop the program until `fg`"),
    (Layer::Global, Action::Redraw, "redraw", "Draw the whole screen anew"),
    (Layer::Global, Action::Dump, "dump", "Keep the last messages of the screen in a file"),
    (Layer::Composer, Action::Send, "send", "Send; while the model works: steer it"),
    (Layer::Composer, Action::Queue, "queue", "Send after the turn"),
    (Layer::Composer, Action::Newline, "newline", "A new line"),
    (Layer::Composer, Action::Complete, "complete", "Take the suggestion; turn to the conversation"),
    (Layer::Composer, Action::Left, "left", "Left"),
    (Layer::Composer, Action::Right, "right", "Right"),
    (Layer::Composer, Action::Up, "up", "Up; at the top: take a pending message back, or the history"),
    (Layer::Composer, Action::Down, "down", "Down; at the bottom: the history"),
    (Layer::Composer, Action::WordLeft, "word-left", "A word left"),
    (Layer::Composer, Action::WordRight, "word-right", "A word right"),
    (Layer::Composer, Action::LineStart, "line-start", "To the line's start"),
    (Layer::Composer, Action::LineEnd, "line-end", "To the line's end"),
    (Layer::Composer, Action::DeleteLeft, "delete-left", "Delete to the left"),
    (Layer::Composer, Action::DeleteRight, "delete-right", "Delete to the right"),
    (Layer::Composer, Action::DeleteWordLeft, "delete-word-left", "Delete the word to the left"),
    (Layer::Composer, Action::DeleteWordRight, "delete-word-right", "Delete the word to the right"),
    (Layer::Composer, Action::DeleteToStart, "delete-to-start", "Delete to the line's start"),
    (Layer::Composer, Action::DeleteToEnd, "delete-to-end", "Delete to the line's end"),
    (Layer::Composer, Action::Yank, "yank", "Put back what was deleted last"),
    (Layer::Composer, Action::Undo, "undo", "Undo"),
    (Layer::Composer, Action::Redo, "redo", "Redo"),
    (Layer::Composer, Action::SearchHistory, "search-history", "Search earlier prompts"),
    (Layer::Composer, Action::Editor, "editor", "Write the draft in your editor"),
    (Layer::Composer, Action::PasteImage, "paste-image", "Take an image from the clipboard"),
    (Layer::Conversation, Action::Next, "next", "The next item"),
    (Layer::Conversation, Action::Previous, "previous", "The item before"),
    (Layer::Conversation, Action::Toggle, "toggle", "Open or fold the item"),
    (Layer::Conversation, Action::ToggleAll, "toggle-all", "Open or fold all"),
    (Layer::Conversation, Action::NextUser, "next-user", "The next message of yours"),
    (Layer::Conversation, Action::PreviousUser, "previous-user", "The message of yours before"),
    (Layer::Conversation, Action::NextError, "next-error", "The next failure"),
    (Layer::Conversation, Action::First, "first", "To the beginning"),
    (Layer::Conversation, Action::Last, "last", "To the end"),
    (Layer::Conversation, Action::Find, "find", "Search"),
    (Layer::Conversation, Action::FindNext, "find-next", "The next hit"),
    (Layer::Conversation, Action::FindPrevious, "find-previous", "The hit before"),
    (Layer::Conversation, Action::Copy, "copy", "Copy the item's source text"),
    (Layer::Conversation, Action::RetryHere, "retry-here", "Try a failed request again"),
    (Layer::Conversation, Action::KeysHere, "keys-here", "Every key"),
    (Layer::Conversation, Action::Leave, "leave", "Back to the composer"),
    (Layer::Jobs, Action::JobNext, "job-next", "The next job"),
    (Layer::Jobs, Action::JobPrevious, "job-previous", "The job before"),
    (Layer::Jobs, Action::JobPageDown, "job-page-down", "A page down"),
    (Layer::Jobs, Action::JobPageUp, "job-page-up", "A page up"),
    (Layer::Jobs, Action::JobFirst, "job-first", "To the first job"),
    (Layer::Jobs, Action::JobLast, "job-last", "To the last job"),
    (Layer::Jobs, Action::JobOpen, "job-open", "Show its whole output"),
    (Layer::Jobs, Action::JobAttach, "job-attach", "Type into its terminal (`^]` leaves)"),
    (Layer::Jobs, Action::JobKill, "job-kill", "End it with all its processes"),
    (Layer::Jobs, Action::JobSignal, "job-signal", "Send it a signal"),
    (Layer::Jobs, Action::JobKeep, "job-keep", "Keep it: it goes on when the program ends; again: no longer"),
    (Layer::Jobs, Action::JobCopy, "job-copy", "Copy its command"),
    (Layer::Jobs, Action::JobCopyLast, "job-copy-last", "Copy its last lines"),
    (Layer::Jobs, Action::JobDismiss, "job-dismiss", "Take it off the list, once it has ended"),
    (Layer::Jobs, Action::JobDismissAll, "job-dismiss-all", "Take all that have ended off the list"),
    (Layer::Jobs, Action::JobFind, "job-find", "Search"),
    (Layer::Jobs, Action::JobKeys, "job-keys", "Every key"),
    (Layer::Jobs, Action::JobLeave, "job-leave", "Back to the composer"),
    (Layer::JobView, Action::ViewDown, "view-down", "A row down (long lines wrap)"),
    (Layer::JobView, Action::ViewUp, "view-up", "A row up"),
    (Layer::JobView, Action::ViewHalfDown, "view-half-down", "Half a page down"),
    (Layer::JobView, Action::ViewHalfUp, "view-half-up", "Half a page up"),
    (Layer::JobView, Action::ViewPageDown, "view-page-down", "A page down"),
    (Layer::JobView, Action::ViewPageUp, "view-page-up", "A page up"),
    (Layer::JobView, Action::ViewFirst, "view-first", "To the beginning"),
    (Layer::JobView, Action::ViewLast, "view-last", "To the end, following it"),
    (Layer::JobView, Action::ViewSwitch, "view-switch", "Its terminal, or all that it wrote"),
    (
        Layer::JobView,
        Action::ViewFind,
        "view-find",
        "Search the whole output (`Error` heeds its capital, `error` none)",
    ),
    (Layer::JobView, Action::ViewFindNext, "view-find-next", "The next hit"),
    (Layer::JobView, Action::ViewFindPrevious, "view-find-previous", "The hit before"),
    (Layer::JobView, Action::ViewAttach, "view-attach", "Type into its terminal (`^]` leaves)"),
    (Layer::JobView, Action::ViewKill, "view-kill", "End it with all its processes"),
    (Layer::JobView, Action::ViewSignal, "view-signal", "Send it a signal"),
    (
        Layer::JobView,
        Action::ViewKeep,
        "view-keep",
        "Keep it: it goes on when the program ends; again: no longer",
    ),
    (Layer::JobView, Action::ViewCopy, "view-copy", "Copy its command"),
    (Layer::JobView, Action::ViewCopyLast, "view-copy-last", "Copy its last lines"),
    (Layer::JobView, Action::ViewDismiss, "view-dismiss", "Take it off the list, once it has ended"),
    (Layer::JobView, Action::ViewKeys, "view-keys", "Every key"),
    (Layer::JobView, Action::ViewBack, "view-back", "End the search; without one: back to the list"),
    (Layer::JobView, Action::ViewLeave, "view-leave", "Back to the list"),
    (Layer::Attached, Action::LeaveTerminal, "leave-terminal", "What you type is no longer the job's"),
    (Layer::Agents, Action::AgentNext, "agent-next", "The next agent"),
    (Layer::Agents, Action::AgentPrevious, "agent-previous", "The agent before"),
    (Layer::Agents, Action::AgentPageDown, "agent-page-down", "A page down"),
    (Layer::Agents, Action::AgentPageUp, "agent-page-up", "A page up"),
    (Layer::Agents, Action::AgentFirst, "agent-first", "To the first agent"),
    (Layer::Agents, Action::AgentLast, "agent-last", "To the last agent"),
    (Layer::Agents, Action::AgentOpen, "agent-open", "Show what it says and does"),
    (Layer::Agents, Action::AgentMessage, "agent-message", "Write to it; one that has ended works again"),
    (Layer::Agents, Action::AgentStop, "agent-stop", "Stop it; what it changed is handed back"),
    (Layer::Agents, Action::AgentDelete, "agent-delete", "Stop it, and take it off the list"),
    (Layer::Agents, Action::AgentHandBack, "agent-hand-back", "What came back from it"),
    (Layer::Agents, Action::AgentCopy, "agent-copy", "Copy its answer"),
    (Layer::Agents, Action::AgentDismiss, "agent-dismiss", "Take it off the list, once it has ended"),
    (Layer::Agents, Action::AgentDismissAll, "agent-dismiss-all", "Take all that have ended off the list"),
    (Layer::Agents, Action::AgentKeys, "agent-keys", "Every key"),
    (Layer::Agents, Action::AgentLeave, "agent-leave", "Back to the composer"),
    (Layer::AgentView, Action::TranscriptMessage, "transcript-message", "Write to it"),
    (Layer::AgentView, Action::TranscriptStop, "transcript-stop", "Stop it; what it changed is handed back"),
    (Layer::AgentView, Action::TranscriptHandBack, "transcript-hand-back", "What came back from it"),
    (Layer::AgentView, Action::TranscriptKeys, "transcript-keys", "Every key"),
    (Layer::AgentView, Action::TranscriptBack, "transcript-back", "End the search, or go back to the list"),
    (Layer::AgentView, Action::TranscriptLeave, "transcript-leave", "Back to the list"),
    (Layer::Tree, Action::TreeNext, "tree-next", "The next line"),
    (Layer::Tree, Action::TreePrevious, "tree-previous", "The line before"),
    (Layer::Tree, Action::TreePageDown, "tree-page-down", "A page down"),
    (Layer::Tree, Action::TreePageUp, "tree-page-up", "A page up"),
    (Layer::Tree, Action::TreeFirst, "tree-first", "To the first line"),
    (Layer::Tree, Action::TreeLast, "tree-last", "To the last line"),
    (
        Layer::Tree,
        Action::TreeRewind,
        "tree-rewind",
        "Go back there: before a message of yours, else after the line",
    ),
    (Layer::Tree, Action::TreeFork, "tree-fork", "Fork there: the branch becomes a session of its own"),
    (Layer::Tree, Action::TreeToggle, "tree-toggle", "Open or fold the calls, or the branch"),
    (Layer::Tree, Action::TreeToggleAll, "tree-toggle-all", "Open or fold all calls"),
    (Layer::Tree, Action::TreeCopy, "tree-copy", "Copy the line"),
    (Layer::Tree, Action::TreeFind, "tree-find", "Search"),
    (Layer::Tree, Action::TreeKeys, "tree-keys", "Every key"),
    (Layer::Tree, Action::TreeLeave, "tree-leave", "Back to the composer"),
    (Layer::List, Action::ListNext, "list-next", "The next row"),
    (Layer::List, Action::ListPrevious, "list-previous", "The row before"),
    (Layer::List, Action::ListPageDown, "list-page-down", "A page down"),
    (Layer::List, Action::ListPageUp, "list-page-up", "A page up"),
    (Layer::List, Action::Accept, "accept", "Take the row"),
    (Layer::List, Action::Close, "close", "Close"),
    (Layer::List, Action::Rename, "rename", "Rename the session (in the session list)"),
    (
        Layer::List,
        Action::AllDirectories,
        "all-directories",
        "Sessions of all directories (in the session list)",
    ),
    (Layer::Approval, Action::Once, "once", "Yes, this once"),
    (Layer::Approval, Action::ForSession, "for-session", "Yes, for this session"),
    (Layer::Approval, Action::Always, "always", "Yes, always (writes the rule)"),
    (Layer::Approval, Action::No, "no", "No"),
    (Layer::Approval, Action::NoBecause, "no-because", "No, with a reason"),
    (Layer::Approval, Action::Choose, "choose", "Take the marked answer"),
    (Layer::Approval, Action::ChoiceNext, "choice-next", "The next answer"),
    (Layer::Approval, Action::ChoicePrevious, "choice-previous", "The answer before"),
    (Layer::Approval, Action::PreviewDown, "preview-down", "Scroll the preview down"),
    (Layer::Approval, Action::PreviewUp, "preview-up", "Scroll the preview up"),
    (Layer::Approval, Action::Aside, "aside", "Back to the draft without an answer"),
];

impl Action {
    /// The action of a name in a layer.
    pub fn parse(layer: Layer, name: &str) -> Option<Action> {
        ACTIONS.iter().find(|(l, _, n, _)| *l == layer && *n == name).map(|(_, action, _, _)| *action)
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
