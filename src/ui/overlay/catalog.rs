//! What the lists and pages hold, made from plain data.

use std::path::{Path, PathBuf};

use super::list::{Kind, Pick, Row, State};
use super::page::{self, Line};
use crate::api::access::Mode;
use crate::api::event::{EarlierPrompt, ModelInfo, RewindPlan, ServerInfo, SessionInfo};
use crate::api::message::Thinking;
use crate::base::{Millis, SessionId};
use crate::law::merge::resolution::Choice;
use crate::ui::action::{ACTIONS, Action, LAYERS, Layer};
use crate::ui::keymap::Keymap;
use crate::ui::pane::composer::slash;
use crate::ui::pane::conflict;
use crate::ui::pane::tree::Target;
use crate::ui::theme::Theme;
use crate::ui::theme::fit::is_light;

/// What a mode means.
pub fn mode_says(mode: Mode) -> &'static str {
    match mode {
        Mode::Ask => "ask before writes and commands",
        Mode::Edits => "allow writes in the directory, ask before commands",
        Mode::Auto => "allow all that no rule denies, in the directory",
        Mode::Plan => "read only",
    }
}

/// Rows for models.
pub fn models(models: &[ModelInfo]) -> Vec<Row> {
    let row = |m: &ModelInfo| {
        let mut note = Vec::new();
        if let Some(missing) = &m.missing {
            note.push(missing.clone());
        }
        note.push(m.window.map_or("window unknown".to_owned(), |w| format!("{}k", w / 1000)));
        if let Some((input, output)) = m.price {
            note.push(format!("${input} in, ${output} out per million"));
        }
        Row { text: m.id.clone(), note: note.join(" · "), pick: Pick::Model(m.id.clone()), usable: m.usable }
    };
    let (usable, other): (Vec<&ModelInfo>, Vec<&ModelInfo>) = models.iter().partition(|m| m.usable);
    let think = Row::new("How much it thinks…", "", Pick::Do(Action::Thinking));
    // without a model the list says how to get one
    let think = (!models.is_empty()).then_some(think);
    usable.into_iter().chain(other).map(row).chain(think).collect()
}

/// How much the model may think: each level with its word.
pub const THINKING: [(&str, Thinking, &str); 5] = [
    ("default", Thinking::Default, "as the provider likes"),
    ("off", Thinking::Off, "not at all, where the model can be told so"),
    ("low", Thinking::Low, "little: quick and cheap"),
    ("medium", Thinking::Medium, "some"),
    ("high", Thinking::High, "much: slow, and it costs"),
];

/// Levels of thinking.
pub fn thinking() -> State {
    let rows = THINKING.iter().map(|(word, level, says)| Row::new(*word, *says, Pick::Thinking(*level)));
    State::new(Kind::Thinking, "How much the model thinks", rows.collect())
}

/// Rows for sessions; `own`: the one that is open here.
pub fn sessions(sessions: &[SessionInfo], own: &SessionId, all: bool, now: Millis) -> Vec<Row> {
    sessions
        .iter()
        .map(|s| {
            let mut note = format!("{} ago", ago(now.since(s.changed)));
            if all {
                note.push_str(&format!(" · {}", s.cwd.display()));
            }
            if s.id == *own {
                note.push_str(" · this one");
            } else if let Some(holder) = &s.holder {
                note.push_str(&format!(" · open in {holder}"));
            }
            let title = if s.title.is_empty() { "(nothing said yet)" } else { &s.title };
            Row::new(title, note, Pick::Session(s.id.clone()))
        })
        .collect()
}

/// A time in one unit.
pub fn ago(time: Millis) -> String {
    let s = time.0 / 1000;
    match s {
        0..=59 => format!("{s} s"),
        60..=3599 => format!("{} min", s / 60),
        3600..=86_399 => format!("{} h", s / 3600),
        _ => format!("{} d", s / 86_400),
    }
}

/// Themes, the one at hand marked.
pub fn themes(themes: &[Theme], at: usize) -> State {
    let note = |theme: &Theme| match (theme.name.as_str(), is_light(theme)) {
        (_, Some(true)) => "light",
        (_, Some(false)) => "dark",
        ("ansi", _) => "the 16 colours of a dark terminal",
        ("ansi-light", _) => "the 16 colours of a light terminal",
        ("mono", _) => "no colours",
        (_, None) => "",
    };
    let row = |(i, t): (usize, &Theme)| Row::new(t.name.clone(), note(t), Pick::Theme(i));
    let rows = themes.iter().enumerate().map(row).collect();
    let mut state = State::new(Kind::Themes { before: at }, "Theme", rows);
    state.mark(&Pick::Theme(at));
    state.hint = "moving shows it · Enter keeps it · Esc leaves it as it was".to_owned();
    state
}

/// Earlier prompts of this directory; `wider`: the key that looks in all.
pub fn history(prompts: &[String], wider: &str) -> State {
    let rows = prompts.iter().map(|text| prompt(text, String::new())).collect();
    let mut state = State::new(Kind::History { all: false }, "Earlier prompts", rows);
    state.hint = format!("Enter takes it into the draft · {wider} all directories");
    state
}

/// Earlier prompts of all directories, each with where it was sent; `home` is shown as `~`.
pub fn history_of_all(prompts: &[EarlierPrompt], home: &str, narrower: &str) -> State {
    let place = |cwd: &Path| match cwd.strip_prefix(home) {
        Ok(rest) if !home.is_empty() => format!("~/{}", rest.display()).trim_end_matches('/').to_owned(),
        _ => cwd.display().to_string(),
    };
    let rows = prompts.iter().map(|p| prompt(&p.text, place(&p.cwd))).collect();
    let mut state = State::new(Kind::History { all: true }, "Earlier prompts of all directories", rows);
    state.hint = format!("Enter takes it into the draft · {narrower} this directory");
    state
}

fn prompt(text: &str, place: String) -> Row {
    Row::new(text.replace('\n', " ⏎ "), place, Pick::Prompt(text.to_owned()))
}

/// The first-run screen.
pub fn welcome() -> State {
    let key = |text: &str, env: &str, provider| Row::new(text, format!("or set {env}"), Pick::Key(provider));
    let rows = vec![
        Row::new("Rehearsal", "a scripted model, the real program; no key needed", Pick::Rehearsal),
        key("Type an Anthropic key", "ANTHROPIC_API_KEY", "anthropic"),
        key("Type an OpenAI key", "OPENAI_API_KEY", "openai"),
        key("Type a Gemini key", "GEMINI_API_KEY", "gemini"),
        Row::new("Choose among all models", "", Pick::Do(Action::Models)),
        Row::new("Look around without a model", "five cards on the screen; Esc skips them", Pick::Tour(0)),
    ];
    let mut state = State::new(Kind::Welcome, "Welcome to Windlass", rows);
    state.intro = vec!["No model is set up yet. How do you want to begin?".to_owned()];
    state.hint = "↑ ↓ choose · Enter takes it · looking for model servers on this machine…".to_owned();
    state
}

/// Rows for model servers on loopback.
pub fn servers(servers: &[ServerInfo]) -> Vec<Row> {
    let mut out = Vec::new();
    for server in servers {
        for model in &server.models {
            let id = format!("{}/{model}", provider_of(&server.kind));
            out.push(Row::new(
                format!("Use {model}"),
                format!("{} at {}", server.kind, server.base_url),
                Pick::Model(id),
            ));
        }
        if server.models.is_empty() {
            let row = Row::new(
                format!("{} runs, but has no model", server.kind),
                server.base_url.clone(),
                Pick::Close,
            );
            out.push(Row { usable: false, ..row });
        }
    }
    out
}

/// The provider's name of a kind of server: its letters and digits, lower case.
pub fn provider_of(kind: &str) -> String {
    kind.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// Whether a directory's own settings are read.
pub fn trust(cwd: &str) -> State {
    let rows = vec![
        Row::new("No", "they stay unread; all else works", Pick::Trust(false)),
        Row::new("Yes, I trust it", "they are read from the next start on", Pick::Trust(true)),
    ];
    let mut state = State::new(Kind::Trust, "Trust this directory?", rows);
    state.intro = vec![
        format!("{cwd} brings its own settings, which can allow commands and start programs."),
        "What would be read: .windlass/settings.json and .windlass/commands/*.md".to_owned(),
    ];
    state.hint = "↑ ↓ choose · Enter takes it · /trust changes it later".to_owned();
    state
}

/// Most jobs that are named, each on a line.
pub(super) const NAMED_MAX: usize = 6;

/// Whether a rewind is meant: what ends, what is put back, what stays. `stops`: the jobs that end, in words; `cwd`:
/// files are named from there; `works`: a turn runs.
pub fn rewind(target: &Target, plan: &RewindPlan, stops: &[String], cwd: &Path, works: bool) -> State {
    let shown = |path: &Path| path.strip_prefix(cwd).unwrap_or(path).display().to_string();
    let files = |n: usize| if n == 1 { "1 file".to_owned() } else { format!("{n} files") };
    let more = |n: usize| n.checked_sub(NAMED_MAX).filter(|more| *more > 0);
    let mut intro = vec![format!("Back {}", target.words)];
    if works {
        intro.push("What runs is ended first.".to_owned());
    }
    intro.extend(stops.iter().take(NAMED_MAX).map(|job| format!("Ends {job}")));
    intro.extend(more(stops.len()).map(|more| format!("and {more} more jobs")));
    if !plan.restores.is_empty() {
        let names: Vec<String> = plan.restores.iter().take(NAMED_MAX).map(|path| shown(path)).collect();
        let rest = more(plan.restores.len()).map(|more| format!(" and {more} more")).unwrap_or_default();
        intro.push(format!("Can put back {}: {}{rest}", files(plan.restores.len()), names.join(", ")));
    }
    let stays = |(path, why): &(PathBuf, String)| format!("Stays as it is: {} {why}", shown(path));
    intro.extend(plan.conflicts.iter().take(NAMED_MAX).map(stays));
    intro.extend(more(plan.conflicts.len()).map(|more| format!("and {more} more files stay")));
    if plan.commands > 0 {
        let ran = if plan.commands == 1 { "A command" } else { "Commands" };
        intro.push(
            format!("{ran} ran since: what it changed is not known, and stays.")
                .replace("Commands ran since: what it", "Commands ran since: what they"),
        );
    }
    let pick = |restore| Pick::Rewind(target.clone(), restore);
    let mut rows = Vec::new();
    if plan.restores.is_empty() {
        rows.push(Row::new("Rewind", "no file changes", pick(false)));
    } else {
        let stay = match plan.conflicts.len() {
            0 => String::new(),
            1 => ", 1 stays".to_owned(),
            n => format!(", {n} stay"),
        };
        let back = format!("{}{stay}; /undo changes them again", files(plan.restores.len()));
        rows.push(Row::new("Rewind and put the files back", back, pick(true)));
        rows.push(Row::new("Rewind only", "the files stay as they are", pick(false)));
    }
    rows.push(Row::new("Stay", "", Pick::Close));
    let mut state = State::new(Kind::Rewind, "Rewind?", rows);
    state.intro = intro;
    state.hint = "↑ ↓ choose · Enter takes it · Esc stays".to_owned();
    // a key by reflex must do nothing that cannot be undone, nor leave files half as they were
    if !plan.conflicts.is_empty() || !plan.stops.is_empty() {
        state.mark(&Pick::Close);
    }
    state
}

/// Whether a file is written while hunks of it are open.
pub fn write_open(open: usize) -> State {
    let many = if open == 1 { "1 hunk is".to_owned() } else { format!("{open} hunks are") };
    let pick = |choice| Pick::WriteOpen(choice);
    let rows = vec![
        Row::new("Choose first", "nothing is written", Pick::Close),
        Row::new("Write with the parent's lines there", "", pick(Choice::Parent)),
        Row::new("Write with the child's lines there", "", pick(Choice::Child)),
        Row::new("Write with both there", "the parent's, then the child's", pick(Choice::Both)),
    ];
    let mut state = State::new(Kind::WriteOpen, &format!("Write while {many} open?"), rows);
    state.intro = vec!["The path counts as resolved then.".to_owned()];
    state.hint = "↑ ↓ choose · Enter takes it · Esc goes back".to_owned();
    state
}

/// Every key and command, from the keymap itself; the keys of where the person is come first.
pub fn help(keymap: &Keymap, here: Layer) -> page::State {
    let mut lines = Vec::new();
    let (first, others): (Vec<_>, Vec<_>) = LAYERS.iter().partition(|(layer, ..)| *layer == here);
    for (layer, _, title) in first.into_iter().chain(others) {
        lines.push(Line::Head((*title).to_owned()));
        for (_, action, _, says) in ACTIONS.iter().filter(|(l, ..)| *l == layer) {
            let keys = keymap.hints(*action).join(", ");
            lines.push(Line::Pair(
                if keys.is_empty() { "(no key)".to_owned() } else { keys },
                (*says).to_owned(),
            ));
        }
        lines.push(Line::Text(String::new()));
        if layer == Layer::Conflict {
            lines.push(Line::Head("Marks and letters in the list of paths".to_owned()));
            let legend = conflict::LEGEND.iter();
            lines.extend(legend.map(|(mark, _, long)| Line::Pair(mark.to_string(), (*long).to_owned())));
            lines.push(Line::Text(String::new()));
        }
    }
    lines.push(Line::Head("Commands".to_owned()));
    for (name, args, says) in slash::COMMANDS {
        lines.push(Line::Pair(format!("/{name} {args}"), (*says).to_owned()));
    }
    lines.push(Line::Pair("!COMMAND".to_owned(), "run a command that the model sees".to_owned()));
    lines.push(Line::Pair("!!COMMAND".to_owned(), "run a command hidden from the model".to_owned()));
    lines.push(Line::Pair("@FILE".to_owned(), "name a file; typing narrows".to_owned()));
    page::State::new("Keys and commands", lines).searched()
}
