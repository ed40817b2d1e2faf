//! What a call may do: allowed, asked or refused. Pure: from the mode, the rules and what the call
//! wants to a verdict, before anything runs.
//!
//! A rule that denies wins over one that asks, that over one that allows, that over the mode. A
//! command is allowed by rules only if each of its parts is, and if it is understood whole.
//!
//! Reads outside the session's directory are asked for, but in the mode `auto`; the session's own
//! files (artifacts, scratch) count as inside, `/tmp` as a whole does not. What is here does not
//! confine anything: a command that runs can do what the profile lets it.

pub mod rule;
pub mod shell;
pub mod sight;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use rule::{Rule, Rules, Scope};

/// What kind of thing a call does to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Reads files of the session's directory.
    Read,
    /// Changes files.
    Write,
    /// Runs a command.
    Execute,
    /// Reaches the network by itself.
    Network,
}

/// How much is asked of the person: the mode in the title line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Writes and commands are asked for.
    #[default]
    Ask,
    /// Writes inside the directory are allowed; commands are asked for.
    Edits,
    /// All that no rule denies is allowed inside the directory and its scratch.
    Auto,
    /// Nothing but reads.
    Plan,
}

impl Mode {
    /// The word of the command line and the title.
    pub fn word(self) -> &'static str {
        match self {
            Mode::Ask => "ask",
            Mode::Edits => "edits",
            Mode::Auto => "auto",
            Mode::Plan => "plan",
        }
    }
    /// The mode of a word.
    pub fn parse(word: &str) -> Option<Mode> {
        [Mode::Ask, Mode::Edits, Mode::Auto, Mode::Plan].into_iter().find(|m| m.word() == word)
    }
    /// The next one, as Shift-Tab goes.
    pub fn next(self) -> Mode {
        match self {
            Mode::Ask => Mode::Edits,
            Mode::Edits => Mode::Auto,
            Mode::Auto => Mode::Plan,
            Mode::Plan => Mode::Ask,
        }
    }
}

/// What a call wants.
#[derive(Clone, Copy, Debug)]
pub struct Want<'a> {
    /// The tool.
    pub tool: &'a str,
    /// The kind of thing it does.
    pub class: Class,
    /// Files it would read or change: absolute, links resolved.
    pub paths: &'a [PathBuf],
    /// The command line.
    pub command: Option<&'a str>,
}

/// The directories that a verdict depends on: absolute, links resolved.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The session's directory.
    pub cwd: &'a Path,
    /// What counts as inside besides: the session's own files and its scratch.
    pub scratch: &'a [PathBuf],
    /// What is changed only when asked, in every mode and also inside: the directories of the user's
    /// settings and of the session's record.
    pub guarded: &'a [PathBuf],
    /// What no call reads or changes, in any mode and by no rule: the file of keys.
    pub closed: &'a [PathBuf],
    /// The person's home, for `~/` in rules.
    pub home: Option<&'a Path>,
}

/// May it run?
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Yes.
    Allow,
    /// The person decides; why it is asked.
    Ask(String),
    /// No; why.
    Refuse(String),
}

/// Names of directories and files through which a change becomes a command or a rule later.
const GUARDED: [&str; 3] = [".git", ".windlass", ".mcp.json"];

impl Place<'_> {
    /// Whether a file is in the session's directory or its scratch.
    pub fn contains(&self, path: &Path) -> bool {
        rule::is_plain(path)
            && (path.starts_with(self.cwd) || self.scratch.iter().any(|s| path.starts_with(s)))
    }

    /// The program's own directory that a file is in.
    fn own(&self, path: &Path) -> Option<&PathBuf> {
        self.guarded.iter().find(|dir| path.starts_with(dir))
    }

    /// The name by which a file is guarded.
    fn guard(&self, path: &Path) -> Option<String> {
        if let Some(dir) = self.own(path) {
            return Some(dir.to_string_lossy().into_owned());
        }
        let below = path.strip_prefix(self.cwd).unwrap_or(path);
        let names = below.components().map(|c| c.as_os_str().to_string_lossy().to_lowercase());
        names.into_iter().find(|name| GUARDED.contains(&name.as_str()))
    }
}

/// The verdict on a call.
pub fn decide(mode: Mode, want: &Want<'_>, place: &Place<'_>, rules: &Rules) -> Verdict {
    if let Some(path) = want.paths.iter().find(|path| place.closed.contains(path)) {
        return Verdict::Refuse(format!("it holds keys, which no call may see: {}", path.display()));
    }
    if let Some(rule) = rules.deny.iter().find(|rule| rule.touches(want, place)) {
        return Verdict::Refuse(format!("the rule `{}` {} denies it", rule.text, whose(rule.scope)));
    }
    if mode == Mode::Plan && want.class != Class::Read {
        return Verdict::Refuse("the mode `plan` allows nothing but reads".into());
    }
    if let Some(rule) = rules.ask.iter().find(|rule| rule.touches(want, place)) {
        return Verdict::Ask(format!("the rule `{}` {} asks", rule.text, whose(rule.scope)));
    }
    if let Some(rule) = rules.deny.iter().find(|rule| rule.may_touch(want)) {
        return Verdict::Ask(format!(
            "the shell makes the name of a command in it, so the rule `{}` {} cannot be held against it",
            rule.text,
            whose(rule.scope)
        ));
    }
    let uncovered = match uncovered(want, place, &rules.allow) {
        None => return Verdict::Allow,
        Some(uncovered) => uncovered,
    };
    by_mode(mode, want, place, uncovered)
}

fn whose(scope: Scope) -> &'static str {
    match scope {
        Scope::User => "of your settings",
        Scope::Project => "of the project's settings",
        Scope::Session => "of this session",
    }
}

fn by_mode(mode: Mode, want: &Want<'_>, place: &Place<'_>, uncovered: String) -> Verdict {
    let outside = want.paths.iter().find(|path| !place.contains(path));
    let own = want.paths.iter().find(|path| place.own(path).is_some());
    let guarded = own.or_else(|| want.paths.iter().find(|path| place.guard(path).is_some()));
    let outside_text = |path: &Path| format!("it is outside the session's directory: {}", path.display());
    match (want.class, mode) {
        (Class::Read, Mode::Auto) => Verdict::Allow,
        (Class::Read, Mode::Ask | Mode::Edits | Mode::Plan) => match outside {
            None => Verdict::Allow,
            Some(path) => Verdict::Ask(outside_text(path)),
        },
        (Class::Write | Class::Execute | Class::Network, Mode::Plan) => {
            Verdict::Refuse("the mode `plan` allows nothing but reads".into())
        }
        (Class::Write, Mode::Ask | Mode::Edits | Mode::Auto) => match (outside, guarded) {
            (Some(path), _) => Verdict::Ask(outside_text(path)),
            (None, Some(path)) if mode != Mode::Auto || place.own(path).is_some() => Verdict::Ask(format!(
                "what is written there can run or allow things later: {}",
                path.display()
            )),
            (None, _) if mode == Mode::Ask => Verdict::Ask("the mode `ask` asks before files change".into()),
            (None, _) if mode == Mode::Edits && want.paths.is_empty() => {
                Verdict::Ask("it does not say which files it changes".into())
            }
            (None, _) => Verdict::Allow,
        },
        (Class::Execute | Class::Network, Mode::Auto) => match outside {
            None => Verdict::Allow,
            Some(path) => Verdict::Ask(outside_text(path)),
        },
        (Class::Execute | Class::Network, Mode::Ask | Mode::Edits) => Verdict::Ask(uncovered),
    }
}

/// Why the rules that allow do not cover the call; none when they do.
fn uncovered(want: &Want<'_>, place: &Place<'_>, allow: &[Rule]) -> Option<String> {
    if let Some(path) =
        want.paths.iter().find(|path| !allow.iter().any(|rule| rule.allows_path(want.tool, path, place)))
    {
        return Some(format!("no rule allows it for {}", path.display()));
    }
    let Some(command) = want.command else {
        let covered = !want.paths.is_empty() || allow.iter().any(|rule| rule.allows_all(want.tool));
        return (!covered).then(|| "no rule allows it".into());
    };
    let line = shell::parse(command);
    if let Some(unclear) = line.unclear {
        return Some(format!("it holds {unclear}, so no rule can allow it"));
    }
    let covered = |part: &Vec<shell::Word>| allow.iter().any(|rule| rule.allows_part(want.tool, part));
    match line.parts.iter().find(|part| !covered(part)) {
        None if line.parts.is_empty() => Some("it is empty".into()),
        None => None,
        Some(part) => {
            let words: Vec<&str> = part.iter().map(|word| word.text.as_str()).collect();
            Some(format!("no rule allows `{}`", words.join(" ")))
        }
    }
}

/// Programs whose second word says what they do, with the words after which a rule may leave the rest
/// open: what follows cannot read, write or run more than the word itself does. `git log --output=F`
/// writes, `git grep --open-files-in-pager=X` and `git push --receive-pack=X` run: not here.
const OPEN_VERBS: [(&str, &[&str]); 9] = [
    ("cargo", &["build", "check", "clippy", "test", "nextest", "run", "bench", "doc", "fmt", "tree"]),
    ("git", &["status", "add", "commit", "rev-parse"]),
    ("npm", &["test", "ci"]),
    ("pnpm", &["test"]),
    ("yarn", &["test"]),
    ("bun", &["test"]),
    ("go", &["build", "test", "vet", "fmt"]),
    ("dotnet", &["build", "test"]),
    ("rustup", &["show"]),
];
/// Programs that run a script by its name after `run`: the name is part of the rule.
const SCRIPT_RUNNERS: [&str; 4] = ["npm", "pnpm", "yarn", "bun"];
/// What `run` would run with any program behind it: such a rule is not left open.
const INTERPRETERS: [&str; 14] = [
    "node", "deno", "bun", "tsx", "ts-node", "npx", "bunx", "python", "python3", "ruby", "perl", "bash",
    "sh", "zsh",
];
/// Programs that tell names and words only, so that a rule may leave all arguments open. What shows the
/// inside of files (`cat`, `grep`, `head`) is not here: with open arguments it shows every file.
const LOOKING: [&str; 4] = ["ls", "pwd", "echo", "which"];

/// The rule that "always" would write for a call; none where no rule can say it.
pub fn propose_rule(want: &Want<'_>, place: &Place<'_>) -> Option<String> {
    let text = match (want.command, want.paths) {
        (Some(command), _) => propose_command(command).map(|pattern| format!("{}({pattern})", want.tool))?,
        (None, []) => want.tool.to_owned(),
        (None, [path]) => format!("{}({})", want.tool, propose_path(path, place)?),
        (None, _) => want.tool.to_owned(),
    };
    // What is proposed must hold for what it was proposed for.
    let rule = Rule::parse(&text, Scope::User).ok()?;
    uncovered(want, place, &[rule]).is_none().then_some(text)
}

fn propose_command(command: &str) -> Option<String> {
    let line = shell::parse(command);
    let (None, [words]) = (line.unclear, line.parts.as_slice()) else { return None };
    let plain = |at: usize| -> Option<&str> {
        let word = words.get(at).filter(|w| !w.expands)?;
        let named = word.text.starts_with(|c: char| c.is_ascii_alphanumeric());
        let fits = |c: char| c.is_ascii_alphanumeric() || "-_:.".contains(c);
        (named && word.text.chars().all(fits)).then_some(word.text.as_str())
    };
    let open_verb = |program: &str, verb: &str| {
        OPEN_VERBS.iter().any(|(name, verbs)| *name == program && verbs.contains(&verb))
    };
    let exact = command.trim();
    match (plain(0), plain(1), plain(2)) {
        (Some(program), ..) if LOOKING.contains(&program) => Some(format!("{program}:*")),
        (Some(program), Some("run"), Some(script))
            if SCRIPT_RUNNERS.contains(&program) && !INTERPRETERS.contains(&script) =>
        {
            Some(format!("{program} run {script}:*"))
        }
        (Some(program), Some(verb), _) if open_verb(program, verb) => Some(format!("{program} {verb}:*")),
        // Such an end would be read as an open rule.
        (..) => (!exact.ends_with(":*") && exact != "*").then(|| exact.to_owned()),
    }
}

fn propose_path(path: &Path, place: &Place<'_>) -> Option<String> {
    let inside = path.strip_prefix(place.cwd).ok();
    let shown = inside.unwrap_or(path).to_str().filter(|text| !text.contains(['*', '?', '(', ')']))?;
    let parent = Path::new(shown).parent().and_then(Path::to_str).unwrap_or_default();
    let narrow = place.guard(path).is_some() || inside.is_none() || parent.is_empty();
    let text = if narrow { shown.to_owned() } else { format!("{parent}/**") };
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests;
