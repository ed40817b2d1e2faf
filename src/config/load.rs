//! Puts the settings together: defaults, the user's file, the project's file (only when its directory is
//! trusted), the environment, the flags. Later ones win; each value remembers where it came from.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::api::access::Mode;
use crate::api::command::Secret;
use crate::api::event::CustomCommand;
use crate::api::provider::ProviderSetting;
use crate::config::extras::{self, NamedText};
use crate::config::keys;
use crate::config::problem::Problem;
use crate::config::read::{expected, read};
use crate::config::settings::{BUILT_IN, Settings};
use crate::config::table::{Kind, MODES, Scope};
use crate::config::trust::Trust;
use crate::law::access::rule as access;

/// Where the settings are read from. Everything comes in from outside, so that tests can choose it.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The user's configuration directory (`$XDG_CONFIG_HOME/windlass`).
    pub config_dir: PathBuf,
    /// The state directory (`$XDG_STATE_HOME/windlass`): the list of trusted directories stands there.
    pub state_dir: PathBuf,
    /// The session's directory; none where there is no session.
    pub cwd: Option<PathBuf>,
    /// The environment variables that count.
    pub environment: BTreeMap<String, String>,
    /// `--model`.
    pub model: Option<String>,
    /// `--approve`.
    pub mode: Option<Mode>,
}

/// The variables that count as settings, with the keys they set.
pub const VARIABLES: &[(&str, &str)] =
    &[("WINDLASS_MODEL", "model"), ("WINDLASS_MODE", "mode"), ("WINDLASS_THEME", "theme")];

impl Sources {
    /// Takes the variables that count from the environment of this process.
    pub fn with_process_environment(mut self) -> Self {
        for (name, _) in VARIABLES {
            if let Ok(value) = std::env::var(name)
                && !value.is_empty()
            {
                self.environment.insert((*name).into(), value);
            }
        }
        self
    }
}

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The user's settings file.
    User(PathBuf),
    /// The project's settings file.
    Project(PathBuf),
    /// An environment variable.
    Variable(String),
    /// A flag of the command line.
    Flag(&'static str),
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Origin::User(file) => write!(f, "user, {}", file.display()),
            Origin::Project(file) => write!(f, "project, {}", file.display()),
            Origin::Variable(name) => write!(f, "environment, {name}"),
            Origin::Flag(name) => write!(f, "command line, {name}"),
        }
    }
}

/// A directory with settings of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// The directory that holds `.windlass`.
    pub root: PathBuf,
    /// Whether the user trusts it; its settings are read only then.
    pub trusted: bool,
    /// Whether the person has answered, either way.
    pub decided: bool,
}

/// All that was written, and what it means.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// The settings.
    pub settings: Settings,
    /// Where each value that is not a default came from, by the setting's key.
    pub origins: BTreeMap<&'static str, Vec<Origin>>,
    /// What is wrong in what was written.
    pub problems: Vec<Problem>,
    /// The project's own settings, where it has some.
    pub project: Option<Project>,
    /// Custom commands: the user's, and the project's when it is trusted (which win).
    pub commands: Vec<CustomCommand>,
    /// The user's themes, as text, with the file each stands in.
    pub themes: Vec<NamedText>,
    /// The user's keymap, as text, with its file.
    pub keymap: Option<NamedText>,
    /// Stored keys by provider.
    pub keys: BTreeMap<String, Secret>,
}

impl Loaded {
    /// The providers of the settings with their stored keys, for the table of providers.
    pub fn providers(&self) -> BTreeMap<String, ProviderSetting> {
        let mut providers = self.settings.providers.clone();
        for (name, key) in &self.keys {
            if providers.contains_key(name) || BUILT_IN.contains(&name.as_str()) {
                let key = secrecy::SecretString::from(key.0.clone());
                providers.entry(name.clone()).or_default().key = Some(key);
            }
        }
        providers
    }

    /// The permission rules of the user and of a trusted project.
    pub fn rules(&self) -> access::Rules {
        let (user, project) = (&self.settings.user_rules, &self.settings.project_rules);
        // what is no rule was left out, and told, when the file was read
        let both = |user: &[String], project: &[String]| {
            let of = |texts: &[String], scope| {
                texts.iter().filter_map(|text| access::Rule::parse(text, scope).ok()).collect::<Vec<_>>()
            };
            [of(user, access::Scope::User), of(project, access::Scope::Project)].concat()
        };
        access::Rules {
            allow: both(&user.allow, &project.allow),
            deny: both(&user.deny, &project.deny),
            ask: both(&user.ask, &project.ask),
        }
    }
}

/// The name of the settings file in both directories.
pub const SETTINGS_FILE: &str = "settings.json";
/// The name of a project's own directory.
pub const PROJECT_DIR: &str = ".windlass";
/// Most bytes of a file of settings that are read.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// Reads everything. Never fails: what cannot be used is a problem. Blocking.
pub fn load(sources: &Sources) -> Loaded {
    let mut loaded = Loaded::default();
    let user = sources.config_dir.join(SETTINGS_FILE);
    file(&mut loaded, &user, Scope::User);
    if let Some(root) = sources.cwd.as_deref().and_then(|cwd| project_root(cwd, &sources.config_dir)) {
        let mut decided = false;
        let trusted = match Trust::load(&sources.state_dir) {
            Ok(trust) => {
                decided = trust.is_decided(&root);
                trust.is_trusted(&root)
            }
            Err(why) => {
                loaded.problems.push(Problem { file: None, line: 0, key: String::new(), text: why });
                false
            }
        };
        if trusted {
            file(&mut loaded, &root.join(PROJECT_DIR).join(SETTINGS_FILE), Scope::Project);
        }
        loaded.project = Some(Project { root, trusted, decided });
    }
    environment(&mut loaded, sources);
    if let Some(model) = &sources.model {
        loaded.settings.model = Some(model.clone());
        loaded.origins.insert("model", vec![Origin::Flag("--model")]);
    }
    if let Some(mode) = sources.mode {
        loaded.settings.mode = mode;
        loaded.origins.insert("mode", vec![Origin::Flag("--approve")]);
    }
    extras::read(&mut loaded, &sources.config_dir);
    match keys::load(&sources.config_dir) {
        Ok(keys) => loaded.keys = keys,
        Err(problem) => loaded.problems.push(problem),
    }
    loaded
}

fn file(loaded: &mut Loaded, path: &Path, scope: Scope) {
    let text = match text_of(path) {
        Ok(Some(text)) => text,
        Ok(None) => return,
        Err(problem) => return loaded.problems.push(problem),
    };
    let read = read(path, &text);
    loaded.problems.extend(read.problems);
    for (row, given) in read.given {
        (row.set)(&mut loaded.settings, scope, given);
        let origin = match scope {
            Scope::User => Origin::User(path.into()),
            Scope::Project => Origin::Project(path.into()),
        };
        let origins = loaded.origins.entry(row.key).or_default();
        // rules, providers and models add up; all else is replaced
        if !matches!(row.kind, Kind::Rules | Kind::Providers | Kind::Models) {
            origins.clear();
        }
        if !origins.contains(&origin) {
            origins.push(origin);
        }
    }
}

fn environment(loaded: &mut Loaded, sources: &Sources) {
    for (name, key) in VARIABLES {
        let Some(value) = sources.environment.get(*name) else { continue };
        match *key {
            "model" => loaded.settings.model = Some(value.clone()),
            "theme" => loaded.settings.theme.clone_from(value),
            _ => match Mode::parse(value) {
                Some(mode) => loaded.settings.mode = mode,
                None => {
                    let text = format!("expected {}, found {value:?}", expected(Kind::Choice(MODES)));
                    loaded.problems.push(Problem { file: None, line: 0, key: (*name).into(), text });
                    continue;
                }
            },
        }
        loaded.origins.insert(key, vec![Origin::Variable((*name).into())]);
    }
}

/// The text of a file that need not be there; a problem when it cannot be read.
pub fn text_of(path: &Path) -> Result<Option<String>, Problem> {
    use std::io::Read;
    use std::os::unix::fs::OpenOptionsExt;
    // without NONBLOCK, a FIFO of that name would hold the program up
    let flags = nix::fcntl::OFlag::O_NONBLOCK.bits();
    let open = std::fs::OpenOptions::new().read(true).custom_flags(flags).open(path);
    let file = match open {
        Ok(file) => file,
        Err(error)
            if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) =>
        {
            return Ok(None);
        }
        Err(error) => return Err(Problem::of_file(path, format!("cannot be read: {error}"))),
    };
    if !file.metadata().is_ok_and(|meta| meta.is_file()) {
        return Err(Problem::of_file(path, "is not a file; move it away"));
    }
    let mut bytes = Vec::new();
    match file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes) {
        Ok(_) => {}
        Err(error) => return Err(Problem::of_file(path, format!("cannot be read: {error}"))),
    }
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(Problem::of_file(path, format!("is larger than {FILE_BYTES_MAX} bytes; it is not read")));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let line = error.as_bytes().iter().take(at).filter(|b| **b == b'\n').count() + 1;
            let text = "is not UTF-8 from here on; save it as UTF-8".to_string();
            Err(Problem { file: Some(path.into()), line, key: String::new(), text })
        }
    }
}

/// The nearest directory from `cwd` upwards that has settings of its own, at most up to the root of the
/// git work tree (without git: only `cwd` itself).
pub fn project_root(cwd: &Path, config_dir: &Path) -> Option<PathBuf> {
    let top = cwd.ancestors().find(|dir| dir.join(".git").exists()).unwrap_or(cwd);
    for dir in cwd.ancestors() {
        let own = dir.join(PROJECT_DIR);
        if own.is_dir() && own != config_dir {
            return Some(dir.to_path_buf());
        }
        if dir == top {
            return None;
        }
    }
    None
}
