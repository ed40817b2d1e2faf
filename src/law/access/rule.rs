//! Rules of what may run without being asked: `bash(cargo test:*)`, `edit(src/**)`, `read`.
//!
//! A rule that allows is read narrowly: it must cover all that the call wants. A rule that denies or
//! asks is read widely: any part of a command, behind wrappers and inside of what is not understood,
//! and any tool of the same kind. No rule sees what a command does once it runs.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use super::shell::{self, Word};
use super::{Class, Place, Want};

/// Where a rule was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The user's settings.
    User,
    /// The settings of a directory that the user trusts.
    Project,
    /// An answer of this session.
    Session,
}

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// As it was written.
    pub text: String,
    /// Where.
    pub scope: Scope,
    tool: String,
    pattern: Option<Pattern>,
    /// The pattern by where its links lead; none until that was looked up.
    real: Option<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern {
    text: String,
    /// The words of a command; none where the text is not a plain command.
    words: Option<Vec<Word>>,
    /// More words may follow.
    open: bool,
}

/// The rules of all scopes that hold now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// What runs without being asked.
    pub allow: Vec<Rule>,
    /// What never runs.
    pub deny: Vec<Rule>,
    /// What is always asked.
    pub ask: Vec<Rule>,
}

impl Rules {
    /// The rules that deny and ask, read also by where their links lead, which may change at any time.
    pub fn with_links(&self, place: &Place<'_>, resolve: &dyn Fn(&Path) -> Option<PathBuf>) -> Rules {
        let led = |rules: &[Rule]| rules.iter().map(|rule| rule.with_links(place, resolve)).collect();
        Rules { allow: self.allow.clone(), deny: led(&self.deny), ask: led(&self.ask) }
    }
}

/// Words that a command may follow: the shell's own, and programs that run what follows them.
const WRAPPERS: [&str; 59] = [
    "!",
    "{",
    "if",
    "then",
    "elif",
    "else",
    "while",
    "until",
    "do",
    "time",
    "coproc",
    "trap",
    "command",
    "builtin",
    "exec",
    "eval",
    "sudo",
    "doas",
    "su",
    "runuser",
    "pkexec",
    "env",
    "xargs",
    "nohup",
    "nice",
    "ionice",
    "chrt",
    "taskset",
    "numactl",
    "timeout",
    "setsid",
    "setpriv",
    "stdbuf",
    "unbuffer",
    "script",
    "watch",
    "find",
    "parallel",
    "flock",
    "chroot",
    "unshare",
    "nsenter",
    "bwrap",
    "firejail",
    "proot",
    "fakeroot",
    "systemd-run",
    "busybox",
    "toybox",
    "strace",
    "ltrace",
    "gdb",
    "perf",
    "valgrind",
    "rlwrap",
    "xvfb-run",
    "dbus-run-session",
    "entr",
    "fd",
];
/// Tools that show files: what is denied to one is denied to all.
const READERS: [&str; 3] = ["read", "grep", "glob"];
/// Programs that take a script as an argument.
const SHELLS: [&str; 6] = ["bash", "sh", "dash", "zsh", "ksh", "eval"];
/// How deep scripts inside of scripts are looked at.
const DEPTH_MAX: usize = 4;

impl Rule {
    /// Reads a rule; the error says what is wrong with it and what a rule looks like.
    pub fn parse(text: &str, scope: Scope) -> Result<Rule, String> {
        let wrong = |what: &str| {
            Err(format!("`{text}` is no rule: {what}; write `bash(cargo test:*)`, `edit(src/**)` or `read`"))
        };
        let trimmed = text.trim();
        let (tool, pattern) = match trimmed.split_once('(') {
            None => (trimmed, None),
            Some((tool, rest)) => match rest.strip_suffix(')') {
                None => return wrong("its bracket does not close"),
                Some(inner) if inner.trim().is_empty() => return wrong("nothing stands in its brackets"),
                Some(inner) => (tool, Some(inner.trim())),
            },
        };
        let named = !tool.is_empty()
            && tool.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '/' | '.'));
        if !named {
            return wrong("it does not begin with the name of a tool");
        }
        let pattern = pattern.map(Pattern::read);
        if tool == "bash" && pattern.as_ref().is_some_and(|p| p.words.is_none()) {
            return wrong("it does not hold one plain command");
        }
        Ok(Rule { text: trimmed.to_owned(), scope, tool: tool.to_owned(), pattern, real: None })
    }

    /// Whether this rule, as one that allows, covers a command's part.
    pub(super) fn allows_part(&self, tool: &str, part: &[Word]) -> bool {
        self.tool == tool && self.pattern.as_ref().is_none_or(|p| p.covers(part))
    }

    /// Whether this rule, as one that allows, covers a file. The name of a tool alone covers the
    /// session's directory; what is outside or guarded must be named.
    pub(super) fn allows_path(&self, tool: &str, path: &Path, place: &Place<'_>) -> bool {
        if self.tool != tool || !is_plain(path) {
            return false;
        }
        let guarded = place.guard(path);
        match &self.pattern {
            None => place.contains(path) && guarded.is_none(),
            Some(p) => p.matches(path, place) && guarded.is_none_or(|name| p.text.contains(&name)),
        }
    }

    /// Whether this rule, as one that allows, covers a call that names neither command nor file.
    pub(super) fn allows_all(&self, tool: &str) -> bool {
        self.tool == tool && self.pattern.is_none()
    }

    /// Whether this rule, as one that denies or asks, touches the call.
    pub(super) fn touches(&self, want: &Want<'_>, place: &Place<'_>) -> bool {
        if self.tool != want.tool && !self.same_kind(want) {
            return false;
        }
        let Some(pattern) = &self.pattern else { return self.tool == want.tool };
        want.paths.iter().any(|path| self.names(path, place))
            || want.command.is_some_and(|command| pattern.touches_command(command, DEPTH_MAX))
    }

    /// Whether a rule that denies or asks could touch the command, and nobody can tell: the name of one of
    /// its commands is made by the shell (a variable, a pattern, braces, a substitution).
    pub(super) fn may_touch(&self, want: &Want<'_>) -> bool {
        let parts = |command: &str| shell::parse(command).parts.iter().any(|part| makes_its_name(part));
        self.tool == want.tool && self.pattern.is_some() && want.command.is_some_and(parts)
    }

    /// Whether this rule, as one that denies or asks, touches reading this file.
    pub(super) fn reads(&self, path: &Path, place: &Place<'_>) -> bool {
        READERS.contains(&self.tool.as_str()) && self.names(path, place)
    }

    fn names(&self, path: &Path, place: &Place<'_>) -> bool {
        self.pattern.as_ref().is_some_and(|pattern| {
            let real = self.real.as_ref().is_some_and(|real| glob(&pieces(real), &pieces(path)));
            real || pattern.matches(path, place)
        })
    }

    /// The rule, read also by where its links lead: `resolve` gives the real path of one without a
    /// pattern. A file that a rule denies by a link is denied by its own name as well.
    pub(super) fn with_links(&self, place: &Place<'_>, resolve: &dyn Fn(&Path) -> Option<PathBuf>) -> Rule {
        let mut rule = self.clone();
        if self.tool == "bash" {
            return rule;
        }
        let Some(whole) = self.pattern.as_ref().and_then(|pattern| pattern.whole(place)) else { return rule };
        let plain = |piece: &std::ffi::OsStr| !piece.as_bytes().iter().any(|byte| b"*?".contains(byte));
        let fixed: PathBuf = whole.components().take_while(|piece| plain(piece.as_os_str())).collect();
        let rest: PathBuf = whole.components().skip(fixed.components().count()).collect();
        rule.real =
            resolve(&fixed).map(|real| if rest.as_os_str().is_empty() { real } else { real.join(rest) });
        rule
    }

    /// What is denied to one tool that changes files is denied to all of them; so with reading.
    fn same_kind(&self, want: &Want<'_>) -> bool {
        let tools: &[&str] = match want.class {
            Class::Write => &["write", "edit", "apply_patch"],
            Class::Read => &READERS,
            Class::Execute | Class::Network => &[],
        };
        tools.contains(&self.tool.as_str()) && tools.contains(&want.tool)
    }
}

impl Pattern {
    fn read(text: &str) -> Pattern {
        let (command, open) = match text.strip_suffix(":*") {
            Some(prefix) => (prefix, true),
            None if text == "*" => ("", true),
            None => (text, false),
        };
        let line = shell::parse(command);
        let words = match (line.unclear, line.parts.as_slice()) {
            (None, []) if open => Some(Vec::new()),
            (None, [words]) => Some(words.clone()),
            (None | Some(_), _) => None,
        };
        Pattern { text: text.to_owned(), words, open }
    }

    fn covers(&self, part: &[Word]) -> bool {
        self.words
            .as_ref()
            .is_some_and(|words| part.starts_with(words) && (self.open || part.len() == words.len()))
    }

    /// The pattern as one of whole paths; none where nobody has a home.
    fn whole(&self, place: &Place<'_>) -> Option<PathBuf> {
        match self.text.strip_prefix("~/") {
            Some(rest) => place.home.map(|home| home.join(rest)),
            None => Some(place.cwd.join(self.text.strip_prefix("./").unwrap_or(&self.text))),
        }
    }

    fn matches(&self, path: &Path, place: &Place<'_>) -> bool {
        self.whole(place).is_some_and(|pattern| glob(&pieces(&pattern), &pieces(path)))
    }

    fn touches_command(&self, command: &str, depth: usize) -> bool {
        // The shell joins a line that a backslash cuts before it looks at its words.
        let joined = command.replace("\\\n", "");
        [command, &joined].into_iter().any(|command| {
            let line = shell::parse(command);
            let mut parts = line.parts;
            if line.unclear.is_some() {
                parts.extend(crude(command));
            }
            parts.iter().any(|part| self.touches_part(part, depth))
        })
    }

    fn touches_part(&self, part: &[Word], depth: usize) -> bool {
        let begin = part.iter().position(|w| !shell::is_assignment(&w.text) && w.text != "!");
        let part = &part[begin.unwrap_or(part.len())..];
        let Some(first) = part.first() else { return false };
        let name = base_name(&first.text);
        let behind = if WRAPPERS.contains(&name) { part.len() } else { 1 };
        if (0..behind).any(|at| self.covers_by_name(&part[at..])) {
            return true;
        }
        let scripts = behind > 1 || SHELLS.contains(&name);
        scripts && depth > 0 && part[1..].iter().any(|w| self.touches_command(&w.text, depth - 1))
    }

    /// As `covers`, with `/bin/rm` for `rm`.
    fn covers_by_name(&self, part: &[Word]) -> bool {
        let Some((first, rest)) = part.split_first() else { return false };
        let named = Word { text: base_name(&first.text).to_owned(), expands: first.expands };
        let by_name: Vec<Word> = std::iter::once(named).chain(rest.iter().cloned()).collect();
        self.covers(part) || self.covers(&by_name)
    }
}

fn pieces(path: &Path) -> Vec<Vec<u8>> {
    path.components().map(|c| c.as_os_str().as_bytes().to_vec()).collect()
}

/// Whether nobody can tell which program a part of a command runs, before the shell has made its name.
fn makes_its_name(part: &[Word]) -> bool {
    let mut after_option = false;
    let mut wrapped = false;
    for (at, word) in part.iter().enumerate() {
        let text = word.text.as_str();
        let option = wrapped && text.starts_with('-');
        let value = wrapped && (after_option || text.starts_with(|c: char| c.is_ascii_digit()));
        let wrapper = WRAPPERS.contains(&base_name(text));
        let finds = wrapped && matches!(base_name(&part[at - 1].text), "find" | "fd");
        if !option && !finds && word.expands && is_made(text) && !shell::is_assignment(text) {
            return true;
        }
        if finds || !(option || value || wrapper || shell::is_assignment(text)) {
            let runs = |word: &Word| matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir");
            let behind = part[at..].windows(2).filter(|pair| runs(&pair[0]));
            return wrapped && behind.into_iter().any(|pair| pair[1].expands && is_made(&pair[1].text));
        }
        wrapped |= wrapper;
        after_option = option;
    }
    false
}

/// Whether a word that the shell changes may become another program's name: `~/bin/x` and `$HOME/x` do
/// not, `[` and `{}` are themselves.
fn is_made(text: &str) -> bool {
    if matches!(text, "[" | "[[" | "{" | "}" | "{}") {
        return false;
    }
    let known =
        ["~/", "$HOME/", "${HOME}/", "$PWD/", "${PWD}/"].iter().find_map(|start| text.strip_prefix(start));
    let text = known.unwrap_or(text);
    text.is_empty() || text.contains(['$', '*', '?', '[', '{', '`'])
}

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// The commands that may stand in text that is not understood: it is cut wherever one could begin.
fn crude(command: &str) -> Vec<Vec<Word>> {
    let cut = |c: char| ";&|()<>{}`$\"'\n\r#".contains(c);
    let words = |piece: &str| -> Vec<Word> {
        piece.split_whitespace().map(|w| Word { text: w.replace('\\', ""), expands: false }).collect()
    };
    command.split(cut).map(words).filter(|words| !words.is_empty()).collect()
}

/// Absolute and without `.` or `..`.
pub(super) fn is_plain(path: &Path) -> bool {
    path.is_absolute() && path.components().all(|c| matches!(c, Component::RootDir | Component::Normal(_)))
}

/// `**` stands for any number of path components, `*` and `?` for what they stand for in one.
fn glob(pattern: &[Vec<u8>], path: &[Vec<u8>]) -> bool {
    let in_one = |pattern: &Vec<u8>, piece: &Vec<u8>| {
        fits(pattern, piece, |c| *c == b'*', |c, d| *c == b'?' || c == d)
    };
    fits(pattern, path, |piece| piece == b"**", in_one)
}

/// Whether a pattern covers all of a text, where a `star` stands for any run and anything else for one.
/// Going back to the newest star alone is enough, so the work is at most the product of the lengths.
fn fits<P, T>(pattern: &[P], text: &[T], star: impl Fn(&P) -> bool, one: impl Fn(&P, &T) -> bool) -> bool {
    let (mut at, mut read) = (0, 0);
    let mut newest: Option<(usize, usize)> = None;
    while read < text.len() {
        match pattern.get(at) {
            Some(piece) if star(piece) => {
                newest = Some((at, read));
                at += 1;
            }
            Some(piece) if one(piece, &text[read]) => {
                at += 1;
                read += 1;
            }
            Some(_) | None => {
                let Some((star_at, star_read)) = newest else { return false };
                newest = Some((star_at, star_read + 1));
                at = star_at + 1;
                read = star_read + 1;
            }
        }
    }
    pattern[at..].iter().all(star)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// By the definition, however long it takes.
    fn slow(pattern: &[u8], text: &[u8]) -> bool {
        match (pattern.split_first(), text.split_first()) {
            (None, None) => true,
            (Some((b'*', rest)), _) => (0..=text.len()).any(|skip| slow(rest, &text[skip..])),
            (Some((c, rest)), Some((d, more))) => (*c == b'?' || c == d) && slow(rest, more),
            (None, Some(_)) | (Some(_), None) => false,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn a_pattern_fits_what_its_definition_says(pattern in "[ab*?]{0,8}", text in "[ab]{0,10}") {
            let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
            let quick = fits(pattern, text, |c| *c == b'*', |c, d| *c == b'?' || c == d);
            prop_assert_eq!(quick, slow(pattern, text));
        }
    }

    #[test]
    fn many_stars_take_no_time() {
        let pattern = "*a".repeat(60) + "b";
        let text = "a".repeat(4000);
        assert!(!fits(pattern.as_bytes(), text.as_bytes(), |c| *c == b'*', |c, d| c == d));
    }
}
