//! The settings, as values, with every default in one place. What was written stands elsewhere
//! (`table` says which keys there are, `read` reads a file of them).

use std::collections::BTreeMap;

use crate::api::access::Mode;
use crate::api::job::Notify;
use crate::api::message::Thinking;
use crate::api::provider::{ModelCard, ProviderSetting};
use crate::law::output::{DEFAULT_LIMITS, Keep};

/// Every setting, resolved.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The model, `provider/name` or a name that is unique; none: the first one that can be used.
    pub model: Option<String>,
    /// How much the model thinks.
    pub thinking: Thinking,
    /// How much is asked of the person.
    pub mode: Mode,
    /// Providers by name: additions, and changes of the built-in ones.
    pub providers: BTreeMap<String, ProviderSetting>,
    /// What is known of models, by `provider/name`: additions, and changes of the built-in list.
    pub models: BTreeMap<String, ModelCard>,
    /// Permission rules of the user.
    pub user_rules: Rules,
    /// Permission rules of the project; empty unless its directory is trusted.
    pub project_rules: Rules,
    /// Bounds of outputs.
    pub output: OutputSetting,
    /// How long a call waits for its command; then the command goes on as a job.
    pub tool_blocking_budget_ms: u64,
    /// Jobs.
    pub jobs: JobsSetting,
    /// Subagents.
    pub agents: AgentsSetting,
    /// What tells of an end, and of what waits, while the window is not looked at.
    pub notify: Notify,
    /// Where the terminal does not tell of its focus: no key for so long is not being looked at; 0: never.
    pub notify_after_ms: u64,
    /// Whether the terminal's title says what is done.
    pub terminal_title: bool,
    /// How long a model's stream may be silent.
    pub idle_timeout_ms: u64,
    /// How often a failed request is tried in all.
    pub retry_tries: u32,
    /// Compaction.
    pub compaction: CompactionSetting,
    /// The theme's name.
    pub theme: String,
    /// Whether the screen listens to the mouse.
    pub mouse: bool,
    /// Whether spinners and other motion are left out.
    pub reduced_motion: bool,
    /// How diffs are shown.
    pub diff: String,
    /// Whether the composer has the keys of vi.
    pub vi_keys: bool,
    /// Whether plain lines stand in the place of the full screen.
    pub screen_reader: bool,
    /// Which characters the screen draws with.
    pub glyphs: String,
    /// Whether characters of ambiguous width take two columns.
    pub ambiguous_wide: bool,
}

/// Providers that are there without a setting; a test holds them equal to the table of providers.
pub const BUILT_IN: &[&str] = &["anthropic", "openai", "gemini", "deepseek", "openrouter", "qwen"];

/// Permission rules of one scope, as written (`bash(cargo test:*)`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// What runs without a question.
    pub allow: Vec<String>,
    /// What never runs.
    pub deny: Vec<String>,
    /// What is always asked.
    pub ask: Vec<String>,
}

/// Bounds of outputs (law O).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputSetting {
    /// Whether outputs are bounded at all.
    pub bounded: bool,
    /// Most bytes kept.
    pub bytes: u64,
    /// Most lines kept.
    pub lines: u64,
    /// Which part is kept; none: as the tool has it (`bash` both ends, others the head).
    pub keep: Option<Keep>,
    /// Most bytes that one command may spool to disk.
    pub spool_max: u64,
}

/// What becomes of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobsSetting {
    /// Most that run at once; one more is refused.
    pub limit: u32,
    /// Most processes of one command at once; 0: any number.
    pub processes_max: u32,
    /// Whether jobs go on when the program goes.
    pub keep_on_disconnect: bool,
    /// Whether the end of a job begins a turn when nothing else runs.
    pub end_starts_turn: bool,
}

/// What subagents may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentsSetting {
    /// Most that work at once; the next wait.
    pub at_once: u32,
    /// How deep agents may have agents; 0: there are none.
    pub depth: u32,
    /// One that is silent for so long is ended; 0: never.
    pub stall_ms: u64,
    /// Whether the end of an agent begins a turn when nothing else runs.
    pub end_starts_turn: bool,
    /// Whether an agent in a copy runs commands where they cannot be held in it.
    pub unheld_commands: bool,
}

/// When and how older entries are summarised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompactionSetting {
    /// Whether it happens by itself.
    pub auto: bool,
    /// Tokens of the window that stay free for the answer.
    pub reserve: u64,
    /// The newest tokens, which stay verbatim.
    pub keep_recent_tokens: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            model: None,
            thinking: Thinking::Default,
            mode: Mode::Ask,
            providers: BTreeMap::new(),
            models: BTreeMap::new(),
            user_rules: Rules::default(),
            project_rules: Rules::default(),
            output: OutputSetting {
                bounded: true,
                bytes: DEFAULT_LIMITS.bytes,
                lines: DEFAULT_LIMITS.lines,
                keep: None,
                spool_max: 1 << 30,
            },
            tool_blocking_budget_ms: 30_000,
            jobs: JobsSetting {
                limit: 64,
                processes_max: 4096,
                keep_on_disconnect: false,
                end_starts_turn: false,
            },
            agents: AgentsSetting {
                at_once: 6,
                depth: 2,
                stall_ms: 600_000,
                end_starts_turn: false,
                unheld_commands: false,
            },
            notify: Notify::default(),
            notify_after_ms: 30_000,
            terminal_title: true,
            idle_timeout_ms: 300_000,
            retry_tries: 6,
            compaction: CompactionSetting { auto: true, reserve: 16_384, keep_recent_tokens: 20_000 },
            theme: "dark".into(),
            mouse: true,
            reduced_motion: false,
            diff: "by_width".into(),
            vi_keys: false,
            screen_reader: false,
            glyphs: "auto".into(),
            ambiguous_wide: false,
        }
    }
}
