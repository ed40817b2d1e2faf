//! What a call wants to do, and what a person may answer.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::base::CallId;
pub use crate::law::access::{Class, Mode};

/// What one call wants, as its tool tells it before anything runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    /// The tool's name.
    pub tool: String,
    /// The kind of thing it does.
    pub class: Class,
    /// The files it would read or change, absolute, links resolved as far as they exist.
    pub paths: Vec<PathBuf>,
    /// The command line, for `bash`.
    pub command: Option<String>,
    /// What the person is shown in full: the command, or the diff.
    pub preview: Preview,
}

/// What an approval shows. Controls and bidirectional characters are escaped when drawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Preview {
    /// A command line and the directory it would run in.
    Command {
        /// The exact command.
        command: String,
        /// The directory.
        cwd: PathBuf,
    },
    /// A unified diff of what would change.
    Diff {
        /// The diff's text.
        diff: String,
    },
    /// Plain words.
    Text {
        /// The words.
        text: String,
    },
}

/// A question to the person, open until answered, interrupted or refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    /// The call that waits. That of a subagent stands behind its path: `lexer/c3`.
    pub call: CallId,
    /// The path of the subagent that asks; none: the session itself.
    pub agent: Option<String>,
    /// The tool.
    pub tool: String,
    /// What kind of thing.
    pub class: Class,
    /// Why it is asked, in words: the mode, a rule, or a path outside the directory.
    pub why: String,
    /// What is shown.
    pub preview: Preview,
    /// The rule that "always" would write, as text; none where no rule can say it.
    pub rule: Option<String>,
}

/// What the person answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// This once.
    Once,
    /// For the rest of the session.
    Session,
    /// Always: the rule is written to the user's settings.
    Always,
    /// No; the words, if any, go to the model.
    No(Option<String>),
    /// Nobody is there to answer.
    Nobody,
}
