//! Which settings there are: one row each. The reader, the schema, `config show`, the default file and
//! `docs/CONFIG.md` are all made from, or held equal to, this table.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::api::access::Mode;
use crate::api::job::Notify;
use crate::api::message::Thinking;
use crate::api::provider::{ModelCard, ProviderSetting};
use crate::config::settings::{Rules, Settings};
use crate::law::output::Keep;

/// Whose file a value stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The user's.
    User,
    /// The project's.
    Project,
}

/// What a value must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`.
    Bool,
    /// A text.
    Text,
    /// A whole number within bounds.
    Whole(u64, u64),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A list of permission rules.
    Rules,
    /// Providers by name.
    Providers,
    /// Models by name.
    Models,
}

/// A value that fits its kind.
#[derive(Clone, Debug)]
pub enum Given {
    /// Of `Bool`.
    Bool(bool),
    /// Of `Text` and `Choice`.
    Text(String),
    /// Of `Whole`.
    Whole(u64),
    /// Of `Rules`.
    Texts(Vec<String>),
    /// Of `Providers`.
    Providers(BTreeMap<String, ProviderSetting>),
    /// Of `Models`.
    Models(BTreeMap<String, ModelCard>),
}

/// One setting.
pub struct Row {
    /// Its dotted path.
    pub key: &'static str,
    /// What it must be.
    pub kind: Kind,
    /// What it does, for people.
    pub doc: &'static str,
    /// Its value as JSON; secrets left out.
    pub get: fn(&Settings) -> Value,
    /// Puts a value of the right kind in its place.
    pub set: fn(&mut Settings, Scope, Given),
}

/// The words of `thinking`.
pub const THINKING: &[&str] = &["default", "off", "low", "medium", "high"];
/// The words of `mode`.
pub const MODES: &[&str] = &["ask", "edits", "auto", "plan"];
/// The words of `output.keep`.
pub const KEEPS: &[&str] = &["tool", "head", "tail", "ends"];

/// The words of `jobs.on_disconnect`.
pub const DISCONNECTS: &[&str] = &["end", "keep"];
/// The words of `jobs.notify_model`.
pub const NOTIFIES_MODEL: &[&str] = &["next_turn", "start_turn"];
/// The words of `notify`.
pub const NOTIFIES: &[&str] = &["off", "bell", "osc9", "osc777", "osc99", "desktop"];

/// The words of `diff`.
pub const DIFFS: &[&str] = &["by_width", "one_column", "side_by_side"];
/// What `glyphs` may be.
pub const GLYPHS: &[&str] = &["auto", "unicode", "ascii"];

const MS_MAX: u64 = 86_400_000;

macro_rules! row {
    ($key:literal, $kind:expr, $doc:literal, $get:expr, $variant:ident => $set:expr) => {
        Row {
            key: $key,
            kind: $kind,
            doc: $doc,
            get: $get,
            set: |settings, scope, given| {
                if let Given::$variant(value) = given {
                    let set: fn(&mut Settings, Scope, _) = $set;
                    set(settings, scope, value);
                }
            },
        }
    };
}

/// Every setting, in the order of the manual.
pub static ROWS: &[Row] = &[
    row!("model", Kind::Text, "The model: `provider/name`, a name that only one provider has, or `scripted:FILE`. Empty: the first provider that has a key.",
        |s| json!(s.model.clone().unwrap_or_default()),
        Text => |s, _, v: String| s.model = Some(v).filter(|v| !v.is_empty())),
    row!("thinking", Kind::Choice(THINKING), "How much a thinking model thinks.",
        |s| json!(s.thinking),
        Text => |s, _, v: String| s.thinking = thinking(&v)),
    row!("mode", Kind::Choice(MODES), "What is asked: `ask` asks before writes and commands, `edits` allows writes inside the directory, `auto` allows all that no rule denies, `plan` only reads.",
        |s| json!(s.mode.word()),
        Text => |s, _, v: String| s.mode = Mode::parse(&v).unwrap_or_default()),
    row!("providers", Kind::Providers, "Providers by name, each with `wire`, `base_url`, `key_env`, `headers`. A built-in one needs only what differs.",
        |s| Value::Object(s.providers.iter().map(|(name, p)| (name.clone(), provider_json(p))).collect()),
        Providers => |s, _, v: BTreeMap<_, _>| s.providers.extend(v)),
    row!("models", Kind::Models, "What is known of models, by `provider/name`, each with `window`, `max_output`, `price` (dollars for a million tokens: `input`, `output`, `cache_read`, `cache_write`), `images`, `thinking` (`none`, `budget`, `effort`, `always`). Overrides the built-in list.",
        |s| Value::Object(s.models.iter().map(|(name, m)| (name.clone(), model_json(m))).collect()),
        Models => |s, _, v: BTreeMap<_, _>| s.models.extend(v)),
    row!("permissions.allow", Kind::Rules, "What runs without a question: `bash(cargo test:*)`, `edit(src/**)`, or a tool's name alone.",
        |s| json!([s.user_rules.allow.clone(), s.project_rules.allow.clone()].concat()),
        Texts => |s, scope, v: Vec<String>| rules(s, scope).allow = v),
    row!("permissions.deny", Kind::Rules, "What never runs. It wins over `ask` and `allow`.",
        |s| json!([s.user_rules.deny.clone(), s.project_rules.deny.clone()].concat()),
        Texts => |s, scope, v: Vec<String>| rules(s, scope).deny = v),
    row!("permissions.ask", Kind::Rules, "What is always asked. It wins over `allow`.",
        |s| json!([s.user_rules.ask.clone(), s.project_rules.ask.clone()].concat()),
        Texts => |s, scope, v: Vec<String>| rules(s, scope).ask = v),
    row!("output.bounded", Kind::Bool, "Whether outputs are bounded. `false` gives the model every byte.",
        |s| json!(s.output.bounded),
        Bool => |s, _, v: bool| s.output.bounded = v),
    row!("output.bytes", Kind::Whole(256, 1 << 30), "Most bytes of an output that are kept; all of it stands in a file that the result names.",
        |s| json!(s.output.bytes),
        Whole => |s, _, v: u64| s.output.bytes = v),
    row!("output.lines", Kind::Whole(1, 10_000_000), "Most lines of an output that are kept.",
        |s| json!(s.output.lines),
        Whole => |s, _, v: u64| s.output.lines = v),
    row!("output.keep", Kind::Choice(KEEPS), "Which part is kept: `head`, `tail`, `ends` (half each), or `tool` (`bash` keeps the ends, others the head).",
        |s| s.output.keep.map_or(json!("tool"), |keep| json!(keep)),
        Text => |s, _, v: String| s.output.keep = keep(&v)),
    row!("output.spool_max", Kind::Whole(1 << 16, 1 << 50), "Most bytes that one command may write in all; past them it is ended.",
        |s| json!(s.output.spool_max),
        Whole => |s, _, v: u64| s.output.spool_max = v),
    row!("tool_blocking_budget_ms", Kind::Whole(0, MS_MAX), "How long a call of `bash` waits for its command, in milliseconds; a command that takes longer goes on as a job.",
        |s| json!(s.tool_blocking_budget_ms),
        Whole => |s, _, v: u64| s.tool_blocking_budget_ms = v),
    row!("jobs.on_disconnect", Kind::Choice(DISCONNECTS), "What becomes of jobs when the program goes (a lost connection, a crash): `end`, or `keep` (they go on, and the next open of the session takes them up).",
        |s| json!(if s.jobs.keep_on_disconnect { "keep" } else { "end" }),
        Text => |s, _, v: String| s.jobs.keep_on_disconnect = v == "keep"),
    row!("jobs.notify_model", Kind::Choice(NOTIFIES_MODEL), "When the model hears of a job's end: with the `next_turn`, or at once (`start_turn`: the end begins a turn when none runs).",
        |s| json!(if s.jobs.end_starts_turn { "start_turn" } else { "next_turn" }),
        Text => |s, _, v: String| s.jobs.end_starts_turn = v == "start_turn"),
    row!("jobs.limit", Kind::Whole(1, 4096), "No job is started while so many run. None is ended for it; a command that outlives its budget goes on all the same.",
        |s| json!(s.jobs.limit),
        Whole => |s, _, v: u64| s.jobs.limit = u32::try_from(v).unwrap_or(u32::MAX)),
    row!("jobs.processes_max", Kind::Whole(0, 1 << 22), "Most processes of one command at once; one that has more is ended. 0: any number.",
        |s| json!(s.jobs.processes_max),
        Whole => |s, _, v: u64| s.jobs.processes_max = u32::try_from(v).unwrap_or(u32::MAX)),
    row!("agents.unheld_commands", Kind::Bool, "Whether an agent that works in a copy of its own runs commands where they cannot be held in it (bubblewrap is missing, or may not be used): they run in the copy and can reach everything else too. Only the user's own settings can say so.",
        |s| json!(s.agents.unheld_commands),
        Bool => |s, scope, v: bool| if scope == Scope::User { s.agents.unheld_commands = v }),
    row!("agents.at_once", Kind::Whole(1, 256), "Most subagents that work at once, those of subagents too; the next wait in a line until one has ended. One that waits for its own agents does not count.",
        |s| json!(s.agents.at_once),
        Whole => |s, _, v: u64| s.agents.at_once = u32::try_from(v).unwrap_or(u32::MAX)),
    row!("agents.depth", Kind::Whole(0, 8), "How deep subagents may have subagents: 1, they may not; 0, there are none at all.",
        |s| json!(s.agents.depth),
        Whole => |s, _, v: u64| s.agents.depth = u32::try_from(v).unwrap_or(u32::MAX)),
    row!("agents.stall_ms", Kind::Whole(0, MS_MAX), "A subagent of which nothing was heard for so many milliseconds is ended. 0: never.",
        |s| json!(s.agents.stall_ms),
        Whole => |s, _, v: u64| s.agents.stall_ms = v),
    row!("agents.notify_model", Kind::Choice(NOTIFIES_MODEL), "When the model hears of a subagent's end: with the `next_turn`, or at once (`start_turn`: the end begins a turn when none runs).",
        |s| json!(if s.agents.end_starts_turn { "start_turn" } else { "next_turn" }),
        Text => |s, _, v: String| s.agents.end_starts_turn = v == "start_turn"),
    row!("notify", Kind::Choice(NOTIFIES), "What tells that a turn, a job or an agent has ended, or that something waits for an answer of yours, while the window is not looked at: `off`, `bell`, a message of the terminal (`osc9`: iTerm2, ghostty, WezTerm; `osc777`: foot, rxvt, VTE; `osc99`: kitty), `desktop` (`notify-send`).",
        |s| json!(s.notify.word()),
        Text => |s, _, v: String| s.notify = Notify::parse(&v).unwrap_or_default()),
    row!("notify_after_ms", Kind::Whole(0, MS_MAX), "Where the terminal does not tell whether its window is looked at (tmux without `focus-events`), it counts as not looked at when no key came for so many milliseconds. 0: it is always looked at, and nothing is told there.",
        |s| json!(s.notify_after_ms),
        Whole => |s, _, v: u64| s.notify_after_ms = v),
    row!("terminal_title", Kind::Bool, "Whether the terminal's title says what is done, where, and what waits for you. The title that was there before comes back at the end. The Linux console and terminals that know no titles are told none.",
        |s| json!(s.terminal_title),
        Bool => |s, _, v: bool| s.terminal_title = v),
    row!("idle_timeout_ms", Kind::Whole(1_000, MS_MAX), "How long a model's stream may be silent before the request is given up, in milliseconds.",
        |s| json!(s.idle_timeout_ms),
        Whole => |s, _, v: u64| s.idle_timeout_ms = v),
    row!("retry.tries", Kind::Whole(1, 100), "How often a request that failed is tried in all.",
        |s| json!(s.retry_tries),
        Whole => |s, _, v: u64| s.retry_tries = u32::try_from(v).unwrap_or(u32::MAX)),
    row!("compaction.auto", Kind::Bool, "Whether older entries are summarised by themselves when the window fills.",
        |s| json!(s.compaction.auto),
        Bool => |s, _, v: bool| s.compaction.auto = v),
    row!("compaction.reserve", Kind::Whole(0, 10_000_000), "Tokens of the window that stay free for the answer.",
        |s| json!(s.compaction.reserve),
        Whole => |s, _, v: u64| s.compaction.reserve = v),
    row!("compaction.keep_recent_tokens", Kind::Whole(0, 10_000_000), "The newest tokens, which a summary leaves as they are.",
        |s| json!(s.compaction.keep_recent_tokens),
        Whole => |s, _, v: u64| s.compaction.keep_recent_tokens = v),
    row!("theme", Kind::Text, "The theme: `dark`, `light`, one that people know (`catppuccin-mocha`, `gruvbox-light`, `nord`, …: `/theme` lists them), `ansi` or `ansi-light` (16 colours), or the name of a file in `themes/`. Not set: `dark` or `light`, as the terminal says its ground is. `/theme` writes the choice here. `NO_COLOR` wins over it.",
        |s| json!(s.theme),
        Text => |s, _, v: String| s.theme = v),
    row!("mouse", Kind::Bool, "Whether the screen listens to the mouse: the wheel, clicks, selecting. `false` leaves all of it to the terminal, as is always done in GNU screen, which would hold Esc back.",
        |s| json!(s.mouse),
        Bool => |s, _, v: bool| s.mouse = v),
    row!("reduced_motion", Kind::Bool, "Whether spinners stand still.",
        |s| json!(s.reduced_motion),
        Bool => |s, _, v: bool| s.reduced_motion = v),
    row!("diff", Kind::Choice(DIFFS), "How diffs are shown: side by side where there is room (120 columns), in one column, or always side by side. `d` in the conversation switches.",
        |s| json!(s.diff),
        Text => |s, _, v: String| s.diff = v),
    row!("vi_keys", Kind::Bool, "Whether the composer has the keys of vi: Escape for normal mode, `i` to write, `v` to select, with counts and `.`. The mode stands in its frame.",
        |s| json!(s.vi_keys),
        Bool => |s, _, v: bool| s.vi_keys = v),
    row!("screen_reader", Kind::Bool, "Whether plain lines, added at the end, stand in the place of the full screen: for screen readers. `--screen-reader` does it once.",
        |s| json!(s.screen_reader),
        Bool => |s, _, v: bool| s.screen_reader = v),
    row!("glyphs", Kind::Choice(GLYPHS), "Which characters the screen draws with: `auto` (ASCII where the locale is not UTF-8 or the terminal is an old one, those of the console's fonts on the Linux console, else all), `unicode`, `ascii`.",
        |s| json!(s.glyphs),
        Text => |s, _, v: String| s.glyphs = v),
    row!("ambiguous_wide", Kind::Bool, "Whether the terminal gives two columns to characters of ambiguous width (many letters and marks, in terminals set up for Chinese, Japanese or Korean).",
        |s| json!(s.ambiguous_wide),
        Bool => |s, _, v: bool| s.ambiguous_wide = v),
];

fn rules(settings: &mut Settings, scope: Scope) -> &mut Rules {
    match scope {
        Scope::User => &mut settings.user_rules,
        Scope::Project => &mut settings.project_rules,
    }
}

fn thinking(word: &str) -> Thinking {
    match word {
        "off" => Thinking::Off,
        "low" => Thinking::Low,
        "medium" => Thinking::Medium,
        "high" => Thinking::High,
        _ => Thinking::Default,
    }
}

fn keep(word: &str) -> Option<Keep> {
    match word {
        "head" => Some(Keep::Head),
        "tail" => Some(Keep::Tail),
        "ends" => Some(Keep::Ends),
        _ => None,
    }
}

/// A provider for `config show`: the names of headers, never what they hold.
fn provider_json(provider: &ProviderSetting) -> Value {
    let mut out = serde_json::Map::new();
    if let Some(wire) = provider.wire {
        out.insert("wire".into(), json!(wire.name()));
    }
    for (key, value) in [("base_url", &provider.base_url), ("key_env", &provider.key_env)] {
        if let Some(value) = value {
            out.insert(key.into(), json!(value));
        }
    }
    if !provider.headers.is_empty() {
        let hidden = provider.headers.keys().map(|name| (name.clone(), json!("(hidden)"))).collect();
        out.insert("headers".into(), Value::Object(hidden));
    }
    Value::Object(out)
}

fn model_json(model: &ModelCard) -> Value {
    let mut value = json!(model);
    if let Value::Object(fields) = &mut value {
        fields.retain(|_, field| !field.is_null());
    }
    value
}
