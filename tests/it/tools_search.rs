//! `grep`, `glob` and `todo`, and the goldens of all schemas.

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use windlass::api::access::Class;
use windlass::api::entry::{CallStatus, Details};
use windlass::law::access::rule::{Rule, Rules, Scope};
use windlass::law::access::sight::Sight;
use windlass::law::output::{Keep, OutputLimits, Truncation};
use windlass::tool::table;

use crate::tools_place::Place;

fn project() -> Place {
    let place = Place::new();
    place.file(".gitignore", "target/\n*.log\n");
    place.file("src/lexer.rs", "fn skip() {\r\n    // nested\r\n}\r\nfn eof() {}\r\n");
    place.file("src/main.rs", "fn main() {\n    skip();\n}\n");
    place.file("docs/lex.md", "skip nested comments\n");
    place.file(".config/hidden.rs", "fn skip() {}\n");
    place.file("target/out.rs", "fn skip() {}\n");
    place.file("a.log", "skip\n");
    place.file(".git/config", "skip\n");
    place.file("image.bin", b"skip\0skip\n");
    place
}

#[test]
fn grep_shows_matching_lines_by_path_as_git_sees_the_files() {
    let place = project();
    let end = place.ok("grep", json!({"pattern": "skip"}));
    insta::assert_snapshot!(end.output);
    let end = place.ok("grep", json!({"pattern": "nested", "context": 1, "glob": "*.rs"}));
    assert_eq!(end.output, "src/lexer.rs\n1-fn skip() {\n2:    // nested\n3-}\n(1 matching line in 1 file)");
    let end = place.ok("grep", json!({"pattern": "(?i)FN", "path": "src", "glob": "!lexer.rs"}));
    assert_eq!(end.output, "src/main.rs\n1:fn main() {\n(1 matching line in 1 file)");
    let end = place.ok("grep", json!({"pattern": "skip$", "path": "a.log"}));
    assert_eq!(end.output, "a.log\n1:skip\n(1 matching line in 1 file)");
    let end = place.ok("grep", json!({"pattern": "skip", "path": "target"}));
    assert!(
        end.output.starts_with("target/out.rs\n"),
        "a directory that was named is searched: {}",
        end.output
    );
    let end = place.ok("grep", json!({"pattern": "nowhere", "path": "src"}));
    assert_eq!(end.output, "(no match for nowhere in src; 2 files searched)");
    let end = place.ok("grep", json!({"pattern": "\\bfn \\w+", "context": 0, "glob": "src/*.rs"}));
    assert!(end.output.ends_with("(3 matching lines in 2 files)"), "{}", end.output);
}

#[test]
fn a_search_shows_no_file_that_a_rule_denies_and_says_that_it_left_some_out() {
    let mut place = Place::new();
    place.file("secret.txt", "PASSWORD=1\n");
    place.file("priv/a.txt", "PASSWORD=2\n");
    place.file("open.txt", "no PASSWORD\n");
    let deny = ["read(secret.txt)", "read(priv/**)"];
    let rule = |text: &str| Rule::parse(text, Scope::User).unwrap();
    let deny = deny.into_iter().map(rule).collect();
    let rules = Rules { deny, ..Rules::default() };
    place.sight = Sight { rules, cwd: place.cwd.clone(), ..Sight::default() };
    let end = place.ok("grep", json!({"pattern": "PASSWORD"}));
    assert_eq!(
        end.output,
        "open.txt\n1:no PASSWORD\n(1 matching line in 1 file)\n(2 files left out: permission rules close them)"
    );
    let end = place.ok("glob", json!({"pattern": "*.txt"}));
    assert_eq!(end.output, "open.txt\n(2 files left out: permission rules close them)");
}

#[test]
fn grep_says_what_is_wrong_with_a_pattern_or_path() {
    let place = project();
    let errors = [
        json!({"pattern": "fn skip("}),
        json!({"pattern": "a\nb"}),
        json!({"pattern": ""}),
        json!({"pattern": "x", "path": "src/lexr.rs"}),
        json!({"pattern": "x", "glob": "a{b"}),
        json!({"pattern": "x", "glob": "/etc/*"}),
        json!({"pattern": "x", "context": 51}),
        json!({"pattern": "x", "context": -1}),
    ]
    .map(|input| place.error("grep", input));
    let cwd = place.cwd.display().to_string();
    insta::assert_snapshot!(errors.join("\n---\n").replace(&cwd, "/project"));
}

#[test]
fn grep_cuts_long_lines_around_the_match() {
    let place = Place::new();
    place.file("min.js", format!("{}needle{}\n", "é".repeat(3_000), "ü".repeat(3_000)));
    let output = place.ok("grep", json!({"pattern": "needle"})).output;
    let line = output.lines().nth(1).unwrap();
    assert!(line.starts_with("1:… é") && line.contains("éneedleü") && line.len() < 600, "{line}");
    assert!(line.ends_with("(line cut: it has 12006 bytes)") && !line.contains("\\x"), "{line}");
}

#[test]
fn grep_is_bounded_with_its_artifact_whole() {
    let mut place = Place::new();
    place.truncation = Truncation::On(OutputLimits { bytes: 100, lines: 10, keep: Keep::Head });
    place.file("a", "match\n".repeat(20_000));
    let end = place.ok("grep", json!({"pattern": "match"}));
    assert!(end.kept <= 100);
    let artifact = std::fs::read_to_string(end.artifact.unwrap()).unwrap();
    assert_eq!(artifact.len() as u64, end.kept + end.dropped);
    assert!(artifact.ends_with("\n10000:match\n"));
    assert!(end.output.contains("(the search ended after 10000 lines"), "{}", end.output);
}

#[test]
fn glob_lists_the_newest_first_as_git_sees_the_files() {
    let place = project();
    let age = |name: &str, seconds: u64| {
        let file = std::fs::File::options().write(true).open(place.cwd.join(name)).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
    };
    age("src/lexer.rs", 3_000);
    age("src/main.rs", 1_000);
    age(".config/hidden.rs", 2_000);
    let list = |input: Value| place.ok("glob", input).output;
    assert_eq!(list(json!({"pattern": "*.rs"})), "src/lexer.rs\n.config/hidden.rs\nsrc/main.rs\n(3 files)");
    assert_eq!(list(json!({"pattern": "src/m*.{rs,c}"})), "src/main.rs\n");
    assert_eq!(list(json!({"pattern": "./*.rs", "path": "src"})), "src/lexer.rs\nsrc/main.rs\n(2 files)");
    assert_eq!(
        list(json!({"pattern": place.cwd.join("src/**").display().to_string()})),
        "src/lexer.rs\nsrc/main.rs\n(2 files)"
    );
    assert_eq!(list(json!({"pattern": "src/"})), "src/lexer.rs\nsrc/main.rs\n(2 files)");
    assert_eq!(
        list(json!({"pattern": "*.log"})),
        "(no file like *.log in .; files that git ignores are not listed)"
    );
    assert!(
        place.error("glob", json!({"pattern": "*", "path": "src/main.rs"})).contains("must be a directory")
    );
    assert!(place.error("glob", json!({"pattern": "../*"})).contains("leads out of the directory"));
    assert!(place.error("glob", json!({"pattern": "*", "path": "scr"})).contains("did you mean src?"));
}

#[test]
fn searches_end_when_they_are_cancelled() {
    let place = project();
    place.cancel.cancel();
    assert_eq!(place.run("grep", json!({"pattern": "x"})).status, CallStatus::Cancelled);
    assert_eq!(place.run("glob", json!({"pattern": "*"})).status, CallStatus::Cancelled);
}

#[test]
fn todo_shows_the_list() {
    let place = Place::new();
    let input = json!({"items": [{"text": "read", "state": "done"}, {"text": "write", "state": "active"}]});
    let end = place.ok("todo", input.clone());
    assert_eq!(end.output, "The list is shown: 1 of 2 done, 1 active.");
    assert!(matches!(end.details, Details::Todo { items } if items.len() == 2));
    let tool = table::find(&table::all(), "todo").unwrap();
    assert_eq!(tool.wish(&place.cwd, &input).unwrap().class, Class::Read);
    assert_eq!(tool.title(&json!({"items": 7})), "");
    assert_eq!(
        place.error("todo", json!({"items": [{"text": "x", "state": "later"}]})),
        "todo: `items[0].state` must be `open`, `active` or `done`, not the string \"later\""
    );
}

/// What a model is told of each tool: a change of it is a change of every request's prefix.
#[test]
fn the_schema_of_every_tool_is_as_recorded() {
    for tool in table::all() {
        let spec = tool.spec();
        let schema = serde_json::to_string_pretty(&spec.schema).unwrap();
        insta::assert_snapshot!(format!("schema_{}", spec.name), format!("{}\n\n{schema}", spec.description));
    }
}

#[test]
fn broken_input_is_an_error_of_every_tool_and_never_a_panic() {
    let place = Place::new();
    for tool in table::all() {
        let name = tool.spec().name;
        for input in [json!("{\"path\": \"a"), json!(null), json!([]), json!({"unknown": 1}), json!({})] {
            let _ = tool.title(&input);
            let why = tool.wish(&place.cwd, &input).expect_err(name);
            assert!(why.starts_with(name), "{name}: {why}");
            assert_eq!(place.run(name, input).status, CallStatus::Error, "{name}");
        }
    }
}
