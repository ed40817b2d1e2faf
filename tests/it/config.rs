//! Settings, trust and keys: what was written is used as far as it is valid, each problem says where it is
//! and what was expected, and what is private stays so. And: the manual, the default file and the schema
//! tell of the same settings as the table.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use proptest::prelude::*;
use windlass::api::access::Mode;
use windlass::api::command::Secret;
use windlass::config::table::{Kind, ROWS};
use windlass::config::{Loaded, Settings, Sources, Trust, keys, load, read, rule, show};

struct Place {
    tmp: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let tmp = tempfile::tempdir().unwrap();
        for dir in ["config", "state", "project/.git", "project/.windlass/commands", "project/src"] {
            fs::create_dir_all(tmp.path().join(dir)).unwrap();
        }
        Self { tmp }
    }
    fn path(&self, name: &str) -> std::path::PathBuf {
        self.tmp.path().join(name)
    }
    fn write(&self, name: &str, text: &str) -> &Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }
    fn sources(&self) -> Sources {
        Sources {
            config_dir: self.path("config"),
            state_dir: self.path("state"),
            cwd: Some(self.path("project/src")),
            ..Sources::default()
        }
    }
    fn load(&self) -> Loaded {
        load(&self.sources())
    }
}

/// All values, as JSON: settings that are equal are equal in these.
fn values(settings: &Settings) -> Vec<(String, serde_json::Value)> {
    ROWS.iter().map(|row| (row.key.to_string(), (row.get)(settings))).collect()
}

fn problems(text: &str) -> Vec<String> {
    read::read(Path::new("settings.json"), text).problems.iter().map(ToString::to_string).collect()
}

#[test]
fn each_problem_names_file_line_and_key_and_what_was_expected() {
    let text = r#"{
  // a comment
  "modle": "x",
  "theme": 4,
  "mode": "always",
  "output": { "bytes": "much", "lines": 0, "kept": 1 },
  "permissions": { "allow": ["read", 7], "deny": "bash" },
  "providers": {
    "local": { "wire": "openai", "base_url": "localhost:8080" },
    "other": { "wire": "openai-chat", "base_url": "http://h/v1", "key": "sk-1", "headers": { "X": 1 } },
    "a/b": {}
  },
  "models": { "local/q": { "window": -1, "price": { "input": "free", "tax": 1 } } },
  "compaction": [],
  "mouse": null,
  "mouse": true,
}"#;
    insta::assert_snapshot!(problems(text).join("\n"));
}

#[test]
fn what_is_valid_is_used_though_the_rest_is_not() {
    let place = Place::new();
    place.write(
        "config/settings.json",
        "{\n \"mode\": \"plan\",\n \"mouse\": maybe,\n \"theme\": \"light\", // a comment, with a comma\n \
         \"model\": \"x/y\n, \"reduced_motion\": true, \"output\": {\"lines\": 7}\n}",
    );
    let loaded = place.load();
    assert_eq!(loaded.settings.mode, Mode::Plan);
    assert_eq!(loaded.settings.theme, "light");
    assert!(loaded.settings.reduced_motion);
    assert_eq!(loaded.settings.output.lines, 7);
    assert_eq!(loaded.settings.model, None);
    assert!(loaded.settings.mouse);
    let problem = loaded.problems[0].to_string();
    assert!(problem.contains("settings.json:3: "), "{problem}");
}

#[test]
fn later_sources_win_and_each_value_knows_where_it_came_from() {
    let place = Place::new();
    place
        .write(
            "config/settings.json",
            r#"{"model": "u/m", "mode": "edits", "permissions": {"allow": ["read"]}}"#,
        )
        .write("project/.windlass/settings.json", r#"{"model": "p/m", "permissions": {"allow": ["grep"]}}"#);
    let mut trust = Trust::load(&place.path("state")).unwrap();
    trust.set(&place.path("project"), true).unwrap();
    let mut sources = place.sources();
    let loaded = load(&sources);
    assert_eq!(loaded.settings.model.as_deref(), Some("p/m"));
    assert_eq!(loaded.settings.user_rules.allow, ["read"]);
    assert_eq!(loaded.settings.project_rules.allow, ["grep"]);
    let shown = show::show(&loaded);
    assert!(shown.contains("model = \"p/m\"") && shown.contains("# project, "), "{shown}");
    sources.environment.insert("WINDLASS_MODEL".into(), "e/m".into());
    sources.environment.insert("WINDLASS_MODE".into(), "nonsense".into());
    let loaded = load(&sources);
    assert_eq!(loaded.settings.model.as_deref(), Some("e/m"));
    assert_eq!(loaded.settings.mode, Mode::Edits);
    assert!(loaded.problems[0].to_string().starts_with("WINDLASS_MODE: expected one of `ask`"));
    sources.model = Some("f/m".into());
    sources.mode = Some(Mode::Auto);
    let loaded = load(&sources);
    assert_eq!(loaded.settings.model.as_deref(), Some("f/m"));
    assert_eq!(loaded.settings.mode, Mode::Auto);
    assert!(show::show(&loaded).contains("# command line, --approve"));
}

#[test]
fn an_untrusted_projects_settings_and_commands_are_not_read() {
    let place = Place::new();
    place
        .write("project/.windlass/settings.json", r#"{"mode": "auto", "nonsense": 1}"#)
        .write("project/.windlass/commands/evil.md", "do evil")
        .write("config/commands/mine.md", "do $ARGUMENTS");
    let names = |loaded: &Loaded| loaded.commands.iter().map(|c| c.name.clone()).collect::<Vec<_>>();
    let loaded = place.load();
    assert_eq!(loaded.settings.mode, Mode::Ask);
    assert!(loaded.problems.is_empty());
    assert_eq!(names(&loaded), ["mine"]);
    let project = loaded.project.unwrap();
    assert_eq!((project.root, project.trusted), (place.path("project"), false));

    let state = place.path("state");
    Trust::load(&state).unwrap().set(&place.path("project"), true).unwrap();
    assert_eq!(fs::metadata(state.join("trusted.json")).unwrap().permissions().mode() & 0o777, 0o600);
    let loaded = place.load();
    assert_eq!(loaded.settings.mode, Mode::Auto);
    assert_eq!(names(&loaded), ["evil", "mine"]);
    assert_eq!(loaded.problems.len(), 1);

    // a list that others can write trusts nothing
    fs::set_permissions(state.join("trusted.json"), fs::Permissions::from_mode(0o666)).unwrap();
    assert!(Trust::load(&state).unwrap_err().contains("no directory is trusted"));
    assert_eq!(place.load().settings.mode, Mode::Ask);
    fs::set_permissions(state.join("trusted.json"), fs::Permissions::from_mode(0o600)).unwrap();
    Trust::load(&state).unwrap().set(&place.path("project"), false).unwrap();
    assert_eq!(place.load().settings.mode, Mode::Ask);
}

#[test]
fn keys_are_private_and_never_shown() {
    let place = Place::new();
    let config = place.path("config");
    let key = Secret("sk-very-secret".into());
    keys::store(&config, "anthropic", &key).unwrap();
    keys::store(&config, "local", &Secret(" other \n".into())).unwrap();
    let file = config.join("keys.json");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let loaded = keys::load(&config).unwrap();
    assert_eq!(loaded["anthropic"], key);
    assert_eq!(loaded["local"].0, "other");
    assert!(!format!("{loaded:?}").contains("secret"));

    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    let refused = keys::load(&config).unwrap_err().to_string();
    assert!(
        refused.contains("can be read or written by others") && refused.contains("chmod 600"),
        "{refused}"
    );
    assert!(keys::store(&config, "x", &key).is_err());
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&file, r#"{"anthropic": ["sk-very-secret"]}"#).unwrap();
    let malformed = keys::load(&config).unwrap_err().to_string();
    assert!(malformed.contains("keys.json:1") && !malformed.contains("secret"), "{malformed}");

    place.write(
        "config/settings.json",
        r#"{"providers": {"anthropic": {"headers": {"Authorization": "Bearer very-secret"}}}}"#,
    );
    let shown = show::show(&place.load());
    assert!(shown.contains("Authorization") && !shown.contains("secret"), "{shown}");
}

#[test]
fn always_keeps_the_settings_files_mode_and_a_link_to_it() {
    let place = Place::new();
    place.write("dotfiles/settings.json", "{\n  \"mode\": \"edits\" // mine\n}\n");
    let real = place.path("dotfiles/settings.json");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o644)).unwrap();
    std::os::unix::fs::symlink(&real, place.path("config/settings.json")).unwrap();
    rule::allow_always(&place.path("config"), "bash(make:*)").unwrap();
    assert!(fs::symlink_metadata(place.path("config/settings.json")).unwrap().is_symlink());
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o644);
    assert!(fs::read_to_string(&real).unwrap().contains("// mine"));
    let loaded = place.load();
    assert_eq!(loaded.settings.user_rules.allow, ["bash(make:*)"]);
    assert_eq!(loaded.settings.mode, Mode::Edits);
}

#[test]
fn odd_files_are_problems_and_never_hold_the_program_up() {
    let place = Place::new();
    nix::unistd::mkfifo(&place.path("config/settings.json"), nix::sys::stat::Mode::S_IRUSR).unwrap();
    fs::write(place.path("config/keymap.json"), b"{ \"a\": \"\xff\" }").unwrap();
    place.write("config/themes/two words.json", "{}").write("config/themes/sea.json", "{}");
    let loaded = place.load();
    let all: Vec<String> = loaded.problems.iter().map(ToString::to_string).collect();
    assert_eq!(all.len(), 3, "{all:?}");
    assert!(all[0].ends_with("is not a file; move it away"), "{all:?}");
    assert!(loaded.keymap.is_none());
    assert_eq!(loaded.themes.len(), 1);
    assert_eq!(loaded.themes[0].name, "sea");
}

#[test]
fn the_default_file_is_the_defaults_and_names_every_setting() {
    let text = include_str!("../../assets/settings.json");
    assert_eq!(problems(text), Vec::<String>::new());
    let place = Place::new();
    place.write("config/settings.json", text);
    assert_eq!(values(&place.load().settings), values(&Settings::default()));
    let given = read::read(Path::new("x"), text).given.len();
    assert_eq!(given, ROWS.len(), "each setting stands in assets/settings.json once");
}

#[test]
fn the_manual_and_the_schema_tell_of_every_setting() {
    let mut table = String::from("| setting | what it is | default | what it does |\n|---|---|---|---|\n");
    for row in ROWS {
        let kind = match row.kind {
            Kind::Bool => "true or false".to_string(),
            Kind::Text => "text".into(),
            Kind::Whole(least, most) => format!("{least} to {most}"),
            Kind::Choice(words) => words.iter().map(|w| format!("`{w}`")).collect::<Vec<_>>().join(", "),
            Kind::Rules => "list of rules".into(),
            Kind::Providers | Kind::Models => "object".into(),
        };
        let default = (row.get)(&Settings::default());
        table.push_str(&format!("| `{}` | {kind} | `{default}` | {} |\n", row.key, row.doc));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/CONFIG.md");
    let manual = fs::read_to_string(&path).unwrap();
    let (begin, end) = ("<!-- settings: begin -->\n", "<!-- settings: end -->");
    let from = manual.find(begin).unwrap() + begin.len();
    let to = manual.find(end).unwrap();
    if std::env::var_os("WINDLASS_UPDATE_DOCS").is_some() {
        fs::write(&path, format!("{}{table}{}", &manual[..from], &manual[to..])).unwrap();
    } else {
        assert_eq!(&manual[from..to], table, "run this test with WINDLASS_UPDATE_DOCS=1");
    }

    let schema = show::schema();
    for row in ROWS {
        let pointer: String = row.key.split('.').map(|part| format!("/properties/{part}")).collect();
        let leaf = schema.pointer(&pointer).unwrap_or_else(|| panic!("{} is not in the schema", row.key));
        assert_eq!(leaf["description"], row.doc);
        assert_eq!(leaf["default"], (row.get)(&Settings::default()));
    }
}

#[test]
fn every_wire_can_be_written() {
    for wire in windlass::api::provider::Wire::ALL {
        let text =
            format!(r#"{{"providers": {{"p": {{"wire": "{}", "base_url": "http://h"}}}}}}"#, wire.name());
        assert_eq!(problems(&text), Vec::<String>::new());
    }
}

#[test]
fn the_built_in_providers_are_the_tables() {
    use windlass::provider::Waits;
    use windlass::provider::table::Table;
    let (table, _) = Table::new(&Default::default(), Default::default(), &|_| None, Waits::default());
    let names: Vec<&str> = table.endpoints().iter().map(|endpoint| endpoint.name.as_str()).collect();
    assert_eq!(names, windlass::config::settings::BUILT_IN);
}

#[test]
fn rules_keep_their_scope_and_stored_keys_reach_their_providers() {
    let place = Place::new();
    place
        .write("config/settings.json", r#"{"permissions": {"allow": ["read", "bash(a; b)"]}}"#)
        .write("project/.windlass/settings.json", r#"{"permissions": {"deny": ["write"]}}"#);
    Trust::load(&place.path("state")).unwrap().set(&place.path("project"), true).unwrap();
    keys::store(&place.path("config"), "openai", &Secret("k".into())).unwrap();
    keys::store(&place.path("config"), "unheard-of", &Secret("k".into())).unwrap();
    let loaded = place.load();
    let rules = loaded.rules();
    assert_eq!(rules.allow.len(), 1);
    assert_eq!(rules.deny[0].scope, windlass::law::access::rule::Scope::Project);
    assert!(loaded.problems[0].to_string().contains("permissions.allow[1]: `bash(a; b)` is no rule"));
    let providers = loaded.providers();
    assert!(providers["openai"].key.is_some());
    assert_eq!(providers.len(), 1);
}

/// Members that are right, each on its own.
const MEMBERS: &[&str] = &[
    "\"model\": \"a/b\"",
    "\"mode\": \"plan\"",
    "\"theme\": \"light\"",
    "\"mouse\": false",
    "\"output\": {\"lines\": 9, \"keep\": \"tail\"}",
    "\"permissions\": {\"deny\": [\"bash(rm:*)\", \"write\"]}",
    "\"retry\": {\"tries\": 3}",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_without_a_panic_and_lines_exist(text in "[\\PC\n]{0,80}|[{}\\[\\]\",:/*\\\\ \na-z0-9é]{0,120}") {
        let read = read::read(Path::new("s"), &text);
        let lines = text.split('\n').count();
        for problem in read.problems {
            prop_assert!(problem.line >= 1 && problem.line <= lines, "{problem} of {lines} lines");
        }
    }

    #[test]
    fn one_broken_member_takes_no_other_with_it(
        chosen in proptest::sample::subsequence(MEMBERS, 1..MEMBERS.len()),
        at in any::<prop::sample::Index>(),
        broken in proptest::sample::select(vec!["\"mouse\": maybe", "\"x\"", "nonsense", "\"theme\": \"li", "4: 5", "\"a\": 'b'"]),
    ) {
        let mut with: Vec<&str> = chosen.clone();
        with.insert(at.index(chosen.len() + 1), broken);
        let set = |text: &str| {
            let mut settings = Settings::default();
            let read = read::read(Path::new("s"), text);
            for (row, given) in read.given {
                (row.set)(&mut settings, windlass::config::table::Scope::User, given);
            }
            (values(&settings), read.problems.len())
        };
        let (whole, none) = set(&format!("{{\n{}\n}}", chosen.join(",\n")));
        prop_assert_eq!(none, 0);
        let (used, some) = set(&format!("{{\n{}\n}}", with.join("\n,")));
        prop_assert_eq!(used, whole);
        prop_assert!(some > 0);
    }

    #[test]
    fn adding_a_rule_changes_nothing_else(
        chosen in proptest::sample::subsequence(MEMBERS, 0..MEMBERS.len()),
        rule_text in "[a-df-z]{1,6}\\([a-z*/.é\"\\\\]{1,12}\\)",
    ) {
        let place = Place::new();
        let text = format!("{{ // begin\n{}{} /* end */\n}}\n", chosen.join(", // c\n"), if chosen.is_empty() { "" } else { "," });
        place.write("config/settings.json", &text);
        let before = place.load().settings;
        rule::allow_always(&place.path("config"), &rule_text).unwrap();
        let written = fs::read_to_string(place.path("config/settings.json")).unwrap();
        prop_assert_eq!(text.matches("// c").count(), written.matches("// c").count());
        prop_assert!(written.contains("// begin") && written.contains("/* end */"));
        let loaded = place.load();
        prop_assert!(loaded.problems.is_empty(), "{:?}\n{}", loaded.problems, written);
        prop_assert_eq!(&loaded.settings.user_rules.allow, &vec![rule_text]);
        let mut after = loaded.settings;
        after.user_rules.allow.clear();
        prop_assert_eq!(values(&after), values(&before));
    }
}
