//! `windlass doctor`: looks at what the program needs and says, for each thing, what to do. Keys are told as
//! present or not, never shown.

use std::fmt::Write as _;
use std::io::IsTerminal;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::api::event::ServerInfo;
use crate::base::chain;
use crate::cli::out::print;
use crate::config::Loaded;
use crate::store::socket::{SocketDir, places};
use crate::store::{Dirs, private};

/// How a thing stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    /// As it should be.
    Good,
    /// Works without, or for information.
    Note,
    /// Not as it should be; something works less well.
    Warning,
    /// Needed, and not there.
    Failed,
}

/// What was found, in groups.
struct Report {
    text: String,
    warnings: usize,
    failures: usize,
}

impl Report {
    fn group(&mut self, name: &str) {
        let _ = writeln!(self.text, "{}{name}", if self.text.is_empty() { "" } else { "\n" });
    }
    /// One thing, and what to do about it (empty: nothing).
    fn say(&mut self, mark: Mark, what: impl std::fmt::Display, todo: &str) {
        let sign = match mark {
            Mark::Good => "ok  ",
            Mark::Note => "-   ",
            Mark::Warning => "warn",
            Mark::Failed => "FAIL",
        };
        self.warnings += usize::from(mark == Mark::Warning);
        self.failures += usize::from(mark == Mark::Failed);
        let _ = writeln!(self.text, "  {sign}  {what}");
        if !todo.is_empty() {
            let _ = writeln!(self.text, "        → {todo}");
        }
    }
}

/// What other layers found, for `main` to fill in.
#[derive(Clone, Debug)]
pub struct Found {
    /// Every provider of the table.
    pub providers: Vec<ProviderState>,
    /// Model servers on loopback.
    pub servers: Vec<ServerInfo>,
    /// Problems of the keymap, the themes and the providers.
    pub problems: Vec<String>,
    /// What holds the processes of a command together beside their parentage, or why nothing does.
    pub group: Result<String, String>,
    /// Whether the commands of an agent in a copy can be held in it; else why not.
    pub hold: Result<(), String>,
    /// Why the model that the settings choose cannot be used; none when it can, or none is chosen.
    pub model_problem: Option<String>,
}

/// A provider.
#[derive(Clone, Debug, Default)]
pub struct ProviderState {
    /// Its name.
    pub name: String,
    /// The variable that should hold its key; none: it needs none.
    pub key_env: Option<String>,
    /// Whether it has a key.
    pub has_key: bool,
    /// Whether it can be asked.
    pub usable: bool,
}

/// Checks everything; the exit code: 1 when something that is needed fails.
pub fn run(loaded: &Loaded, dirs: &Dirs, found: &Found) -> u8 {
    let mut report = Report { text: String::new(), warnings: 0, failures: 0 };
    let version = env!("CARGO_PKG_VERSION");
    let _ =
        writeln!(report.text, "windlass {version} on {} {}", std::env::consts::OS, std::env::consts::ARCH);
    terminal(&mut report);
    directories(&mut report, dirs);
    settings(&mut report, loaded, &found.problems);
    models(&mut report, loaded, found);
    tools(&mut report);
    commands(&mut report, found);
    let _ = writeln!(
        report.text,
        "\n{}",
        match (report.failures, report.warnings) {
            (0, 0) => "Everything that is needed is there.".to_string(),
            (0, warnings) => format!("Everything that is needed is there; {warnings} to look at (warn)."),
            (failures, _) => format!("{failures} needed and not there (FAIL): see the arrows."),
        }
    );
    let printed = print(report.text.as_bytes());
    u8::from(!printed || report.failures > 0)
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn terminal(report: &mut Report) {
    report.group("Terminal");
    if !(std::io::stdin().is_terminal() && std::io::stdout().is_terminal()) {
        report.say(Mark::Note, "no terminal here; the screen needs one, `windlass exec` does not", "");
    } else if let Ok(size) = rustix::termios::tcgetwinsize(std::io::stdout()) {
        let (columns, rows) = (size.ws_col, size.ws_row);
        let small = columns < 50 || rows < 12;
        let todo =
            if small { "make the window larger; from 110 columns on the panes stand beside" } else { "" };
        report.say(if small { Mark::Warning } else { Mark::Good }, format!("{columns} × {rows}"), todo);
    }
    match variable("TERM").as_deref() {
        None | Some("dumb") => report.say(
            Mark::Warning,
            "TERM is not set, or `dumb`",
            "set TERM to what your terminal is, for instance xterm-256color",
        ),
        Some(term) => report.say(Mark::Good, format!("TERM={term}"), ""),
    }
    colours(report);
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| variable(name)).unwrap_or_default();
    let lower = locale.to_lowercase();
    if lower.contains("utf-8") || lower.contains("utf8") {
        report.say(Mark::Good, format!("locale {locale}"), "");
    } else {
        let word = if locale.is_empty() { "no locale is set" } else { locale.as_str() };
        let todo = "if characters look broken, set LANG to a UTF-8 locale, for instance C.UTF-8";
        report.say(Mark::Note, format!("{word}; windlass writes UTF-8"), todo);
    }
    if variable("TMUX").is_some() {
        tmux(report);
    } else if variable("STY").is_some() {
        report.say(
            Mark::Note,
            "GNU screen, which holds Esc back for 300 ms; the mouse is left to the terminal in it",
            "put `maptimeout 10` into ~/.screenrc",
        );
    }
}

fn colours(report: &mut Report) {
    let truecolor = matches!(variable("COLORTERM").as_deref(), Some("truecolor" | "24bit"));
    let term = variable("TERM").unwrap_or_default();
    if variable("NO_COLOR").is_some() {
        report.say(Mark::Note, "NO_COLOR is set: no colours", "");
    } else if truecolor || term.contains("direct") {
        report.say(Mark::Good, "true colour", "");
    } else if term.contains("256") {
        let todo = "if your terminal has true colour: export COLORTERM=truecolor";
        report.say(Mark::Good, "256 colours", todo);
    } else {
        let todo = "if your terminal has more: export COLORTERM=truecolor, or TERM=xterm-256color";
        report.say(Mark::Note, "16 colours; the theme `ansi` is made for them", todo);
    }
}

fn tmux(report: &mut Report) {
    let ask = |arguments: &[&str]| {
        let out =
            Command::new("tmux").args(arguments).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
        out.status.success().then(|| String::from_utf8_lossy(&out.stdout).trim().to_string())
    };
    let escape = ask(&["show-options", "-sv", "escape-time"]).and_then(|ms| ms.parse::<u64>().ok());
    match escape {
        Some(ms) if ms > 50 => report.say(
            Mark::Warning,
            format!("tmux holds Esc back for {ms} ms"),
            "tmux set -s escape-time 10",
        ),
        Some(ms) => report.say(Mark::Good, format!("tmux, escape-time {ms} ms"), ""),
        None => report.say(Mark::Note, "tmux, which did not answer", ""),
    }
    if ask(&["show-options", "-sv", "set-clipboard"]).as_deref() == Some("off") {
        report.say(Mark::Warning, "tmux takes no copies (set-clipboard off)", "tmux set -s set-clipboard on");
    }
}

fn directories(report: &mut Report, dirs: &Dirs) {
    report.group("Directories");
    let config = dirs.config();
    match std::fs::metadata(config) {
        Ok(meta) if meta.is_dir() => report.say(Mark::Good, format!("settings: {}", config.display()), ""),
        Ok(_) => report.say(
            Mark::Failed,
            format!("settings: {} is not a directory", config.display()),
            "move it away, or set XDG_CONFIG_HOME",
        ),
        Err(_) => report.say(Mark::Note, format!("settings: {} (none yet)", config.display()), ""),
    }
    let state = dirs.state();
    let made = dirs.make().and_then(|()| private::check_dir(&dirs.sessions()));
    match made {
        Ok(()) => match tempfile::tempfile_in(dirs.sessions()) {
            Ok(_) => report.say(Mark::Good, format!("sessions: {} (private)", state.display()), ""),
            Err(error) => report.say(
                Mark::Failed,
                format!("sessions: {} cannot be written: {error}", state.display()),
                "make it writable and see that its disk is not full, or set XDG_STATE_HOME",
            ),
        },
        Err(error) => report.say(
            Mark::Failed,
            format!("sessions: {}", chain(&error)),
            "mend it, or set XDG_STATE_HOME to a directory of your own",
        ),
    }
    match tempfile::tempfile() {
        Ok(_) => report.say(Mark::Good, format!("scratch: {}", std::env::temp_dir().display()), ""),
        Err(error) => report.say(
            Mark::Failed,
            format!("scratch: {} cannot be written: {error}", std::env::temp_dir().display()),
            "set TMPDIR to a directory that can",
        ),
    }
    sockets(report);
}

/// Where a running program is spoken with from another terminal.
fn sockets(report: &mut Report) {
    let Some(place) = places().into_iter().next() else { return };
    match SocketDir::look(&place) {
        Ok(Some(_)) => report.say(Mark::Good, format!("control sockets: {}", place.display()), ""),
        Ok(None) => {
            report.say(Mark::Note, format!("control sockets: {} (none now)", place.display()), "");
        }
        Err(error) => report.say(
            Mark::Warning,
            format!("control sockets: {}", chain(&error)),
            "until then `windlass jobs` asks the keepers of the commands, not the program",
        ),
    }
}

fn settings(report: &mut Report, loaded: &Loaded, more: &[String]) {
    report.group("Settings");
    let problems: Vec<String> =
        loaded.problems.iter().map(ToString::to_string).chain(more.iter().cloned()).collect();
    if problems.is_empty() {
        report.say(Mark::Good, "nothing is wrong", "");
    }
    for problem in problems {
        report.say(Mark::Warning, problem, "mend it there; `windlass config schema` says what is expected");
    }
    if let Some(project) = &loaded.project {
        let root = project.root.display();
        if project.trusted {
            report.say(Mark::Good, format!("the project's own settings in {root} are read (trusted)"), "");
        } else {
            report.say(
                Mark::Note,
                format!("the project's own settings in {root} are not read: you do not trust it"),
                "open it with `windlass` and answer the question, if you do",
            );
        }
    }
}

fn models(report: &mut Report, loaded: &Loaded, found: &Found) {
    report.group("Models");
    for provider in &found.providers {
        let name = &provider.name;
        match &provider.key_env {
            None => report.say(Mark::Good, format!("{name}: needs no key"), ""),
            Some(env) if provider.has_key => {
                let place = if variable(env).is_some() { env.as_str() } else { "keys.json" };
                report.say(Mark::Good, format!("{name}: a key is in {place}"), "");
            }
            Some(env) => report.say(Mark::Note, format!("{name}: no key"), &format!("export {env}=…")),
        }
    }
    for server in &found.servers {
        let models = if server.models.is_empty() { "no model".into() } else { server.models.join(", ") };
        report.say(Mark::Good, format!("{} answers at {}: {models}", server.kind, server.base_url), "");
    }
    match (&loaded.settings.model, &found.model_problem) {
        (Some(model), None) => report.say(Mark::Good, format!("the settings choose {model}"), ""),
        (Some(model), Some(why)) => {
            let todo = "choose another one: `windlass --model …`, or `model` in settings.json";
            report.say(Mark::Warning, format!("the settings choose {model}: {why}"), todo);
        }
        (None, _) => {}
    }
    if found.servers.is_empty() && !found.providers.iter().any(|provider| provider.usable) {
        report.say(
            Mark::Warning,
            "no model can be used yet",
            "set one of these keys, start a local server, or try `windlass --rehearsal`, which needs neither",
        );
    }
}

fn tools(report: &mut Report) {
    report.group("Tools");
    match (which("bash"), which("sh")) {
        (Some(bash), _) => report.say(Mark::Good, format!("bash: {}", bash.display()), ""),
        (None, Some(sh)) => {
            report.say(Mark::Note, format!("no bash; commands run by {}", sh.display()), "install bash");
        }
        (None, None) => report.say(Mark::Failed, "neither bash nor sh: no command can run", "install bash"),
    }
    let others = [
        ("git", Mark::Warning, "install git: branch and changes are not shown without it"),
        ("bwrap", Mark::Note, "install bubblewrap: it holds the commands of agents in their copies"),
        ("python3", Mark::Note, "install python3: the Python kernel will use it"),
    ];
    for (program, mark, todo) in others {
        match which(program) {
            Some(path) => report.say(Mark::Good, format!("{program}: {}", path.display()), ""),
            None => report.say(mark, format!("no {program}"), todo),
        }
    }
    let editor = ["VISUAL", "EDITOR"].iter().find_map(|name| variable(name)).unwrap_or_else(|| "vi".into());
    let pager = variable("PAGER").unwrap_or_else(|| "less".into());
    for (what, command, name) in [("editor", editor, "EDITOR"), ("pager", pager, "PAGER")] {
        let program = command.split_whitespace().next().unwrap_or_default();
        match which(program) {
            Some(_) => report.say(Mark::Good, format!("{what}: {command}"), ""),
            None => {
                report.say(Mark::Warning, format!("{what}: there is no {program}"), &format!("set ${name}"))
            }
        }
    }
}

fn commands(report: &mut Report, found: &Found) {
    report.group("Commands");
    match &found.group {
        Ok(kind) => report.say(Mark::Good, format!("each has a group of its own ({kind})"), ""),
        Err(why) => report.say(
            Mark::Note,
            format!("their processes are known by parentage alone: no group of their own ({why})"),
            "",
        ),
    }
    match &found.hold {
        Ok(()) => report.say(Mark::Good, "those of agents in a copy are held in it (bubblewrap; one was tried)", ""),
        Err(why) => report.say(
            Mark::Warning,
            format!("those of agents in a copy cannot be held in it, so such agents have none: {why}"),
            "install bubblewrap, and allow it user namespaces; or set agents.unheld_commands, which lets them \
             reach everything",
        ),
    }
}

/// Where a program is, as the shell would find it.
fn which(program: &str) -> Option<PathBuf> {
    let runs = |path: &Path| {
        std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    if program.contains('/') {
        let path = PathBuf::from(program);
        return runs(&path).then_some(path);
    }
    std::env::split_paths(&std::env::var_os("PATH")?).map(|dir| dir.join(program)).find(|path| runs(path))
}
