//! What keys can do: the closed list of actions, each with its layer, its name and a word on it.
//!
//! Help, palette, keymap and `docs/KEYS.md` are all made from this list.

mod table;

pub use table::{ACTIONS, Action};

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
