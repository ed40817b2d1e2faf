//! The house is tidy: who names whom, sizes, openings, names, and that the documents tell the truth.
//!
//! Reads the sources as text. The exceptions stand in lists here and may only shrink: a listed one that
//! is no longer needed, or shorter than its entry says, is an error too.

mod reported;
mod source;

use source::{Source, absolute, functions, is_test_file, line_of, paths, root, sources, words};

/// Who may name whom, in the order of the house. A layer may always name itself.
const LAYERS: &[(&str, &[&str])] = &[
    ("base", &[]),
    ("law", &["base"]),
    ("api", &["base", "law"]),
    ("link", &["base", "law", "api"]),
    ("store", &["base", "law", "api"]),
    ("process", &["base", "law", "api", "store"]),
    ("sandbox", &["base", "law", "api", "store", "process"]),
    ("kernel", &["base", "law", "api", "store", "process", "sandbox"]),
    ("workspace", &["base", "law", "api", "store", "process", "sandbox", "kernel"]),
    ("provider", &["base", "law", "api", "store", "process", "sandbox", "kernel", "workspace"]),
    ("tool", &["base", "law", "api", "store", "process", "sandbox", "kernel", "workspace", "provider"]),
    (
        "engine",
        &[
            "base",
            "law",
            "api",
            "link",
            "store",
            "process",
            "sandbox",
            "kernel",
            "workspace",
            "provider",
            "tool",
        ],
    ),
    (
        "front",
        &[
            "base",
            "law",
            "api",
            "link",
            "store",
            "process",
            "sandbox",
            "kernel",
            "workspace",
            "provider",
            "tool",
            "engine",
        ],
    ),
    // the other half of `main`: names all, and only `main` names it
    (
        "start",
        &[
            "base",
            "law",
            "api",
            "link",
            "store",
            "process",
            "sandbox",
            "kernel",
            "workspace",
            "provider",
            "tool",
            "engine",
            "front",
            "config",
            "cli",
            "ui",
        ],
    ),
    ("config", &["base", "law", "api", "store"]),
    ("cli", &["base", "law", "api", "link", "store", "config"]),
    ("ui", &["base", "law", "api", "link"]),
];

/// What is outside of the package and not for everyone: the path, and the only places that may name
/// it. A place is a layer, a file, or `shell`: all layers but base, law, api, link and ui.
const OUTSIDE: &[(&str, &str)] = &[
    ("std::fs", "shell"),
    ("std::net", "shell"),
    ("std::process", "shell"),
    (
        "std::process::Command",
        "process src/cli/host.rs src/cli/doctor.rs src/workspace/git.rs src/sandbox/hold/builder.rs \
         src/front/hand_back/tool.rs",
    ),
    ("std::env", "shell"),
    ("std::thread", "shell ui"),
    ("std::time::SystemTime", "shell ui"),
    ("std::time::Instant", "shell ui"),
    ("tokio", "shell link"),
    ("tokio::process", "process"),
    ("tokio::spawn", "src/engine/spawn.rs"),
    ("tracing", "shell ui"),
    ("reqwest", "provider"),
    ("ratatui", "ui"),
    ("tui_textarea", "ui"),
    ("syntect", "ui"),
    ("nix", "shell ui"),
    ("rustix", "shell ui"),
    ("tempfile", "shell"),
];

/// Layers that are no part of the shell.
const INNER: &[&str] = &["base", "law", "api", "link", "ui", "lib"];

const FILE_LINES_MAX: usize = 600;
const FUNCTION_LINES_MAX: usize = 70;

/// What is longer, with its length. May only shrink.
const LONGER: &[(&str, usize)] = &[];

/// The only file that may hold what the compiler cannot check.
const UNCHECKED_FILE: &str = "src/process/pre_exec.rs";

fn code() -> Vec<Source> {
    sources("src").into_iter().filter(|s| !is_test_file(&s.path)).collect()
}

fn none(problems: Vec<String>) {
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}

fn layer(file: &str) -> &str {
    let below = file.trim_start_matches("src/");
    below.split('/').next().unwrap_or(below).trim_end_matches(".rs")
}

/// Edges between layers that the table does not have.
fn wrong_edges(file: &str, code: &str) -> Vec<String> {
    let from = layer(file);
    if matches!(from, "main" | "lib") {
        return Vec::new();
    }
    let Some((_, allowed)) = LAYERS.iter().find(|(name, _)| *name == from) else {
        return vec![format!("{file}: `{from}` is not in the table of layers")];
    };
    paths(code, &["crate", "super", "windlass"])
        .into_iter()
        .map(|(line, path)| (line, absolute(file, &path)))
        .filter(|(_, path)| {
            let to = path.first().map_or("", String::as_str);
            let known = LAYERS.iter().any(|(name, _)| *name == to);
            let step = from == "ui" && to == "law" && path.last().is_some_and(|name| name == "step");
            (known && to != from && !allowed.contains(&to)) || step
        })
        .map(|(line, path)| format!("{file}:{line}: `{from}` may not name {}", path.join("::")))
        .collect()
}

/// Names of what is outside in places that may not name it.
fn wrong_outside(file: &str, code: &str) -> Vec<String> {
    let roots: Vec<&str> = OUTSIDE.iter().map(|(path, _)| path.split("::").next().unwrap_or(path)).collect();
    let mut problems = Vec::new();
    for (line, path) in paths(code, &roots) {
        let path = path.join("::");
        for (banned, places) in OUTSIDE {
            let meant = path == *banned || path.starts_with(&format!("{banned}::"));
            let mut may = places.split(' ');
            let shell = !INNER.contains(&layer(file));
            if meant && !may.any(|place| place == layer(file) || place == file || (place == "shell" && shell))
            {
                problems.push(format!("{file}:{line}: {path} is not for this place"));
            }
        }
    }
    problems
}

fn wrong_sizes(file: &str, code: &str, longer: &[(&str, usize)]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut check = |what: String, lines: usize, max: usize| {
        let listed = longer.iter().find(|(name, _)| *name == what).map(|(_, lines)| *lines);
        match listed {
            None if lines > max => problems.push(format!("{what} has {lines} lines; {max} are the most")),
            Some(before) if lines > before => {
                problems.push(format!("{what} grew from {before} to {lines} lines"))
            }
            Some(before) if lines <= max => {
                problems.push(format!("{what} has {lines} lines: take it off the list ({before})"))
            }
            Some(before) if lines < before => {
                problems.push(format!("{what} shrank to {lines} lines: say so in the list"))
            }
            None | Some(_) => {}
        }
    };
    check(file.to_owned(), code.trim_end().lines().count(), FILE_LINES_MAX);
    for function in functions(code) {
        check(format!("{file}::{}", function.name), function.lines, FUNCTION_LINES_MAX);
    }
    problems
}

fn wrong_opening(file: &str, raw: &str) -> Option<String> {
    let first = raw.lines().next().unwrap_or_default();
    let said = first.strip_prefix("//! ").is_some_and(|text| text.trim().len() >= 8);
    (!said).then(|| format!("{file}: it does not open with `//!` and what it is for"))
}

fn unchecked(file: &str, code: &str) -> Vec<String> {
    words(code)
        .filter(|(_, word)| *word == concat!("un", "safe") && file != UNCHECKED_FILE)
        .map(|(at, _)| format!("{file}:{}: only {UNCHECKED_FILE} may hold this", line_of(code, at)))
        .collect()
}

fn unfinished(file: &str, raw: &str) -> Vec<String> {
    let marks = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X:"), concat!("HA", "CK:")];
    raw.lines()
        .enumerate()
        .filter(|(_, line)| marks.iter().any(|mark| line.contains(mark)))
        .map(|(n, _)| format!("{file}:{}: an open matter goes into the closing note, not here", n + 1))
        .collect()
}

fn wrong_names(file: &str, code: &str) -> Vec<String> {
    const KINDS: [&str; 6] = ["struct", "enum", "trait", "type", "mod", "union"];
    const ENDINGS: [&str; 7] = ["manager", "helper", "helpers", "util", "utils", "handler", "processor"];
    let all: Vec<(usize, &str)> = words(code).collect();
    let mut names: Vec<(usize, String)> = all
        .windows(2)
        .filter(|pair| KINDS.contains(&pair[0].1))
        .map(|pair| (line_of(code, pair[1].0), pair[1].1.to_lowercase()))
        .collect();
    names.extend(file.trim_end_matches(".rs").split('/').map(|name| (1, name.to_lowercase())));
    names
        .into_iter()
        .filter(|(_, name)| {
            ENDINGS.iter().any(|end| name.ends_with(end)) || name == "common" || name == "misc"
        })
        .map(|(line, name)| format!("{file}:{line}: `{name}` says nothing; see the glossary of names"))
        .collect()
}

#[test]
fn layers_name_only_those_below_them() {
    none(code().iter().flat_map(|s| wrong_edges(&s.path, &s.code)).collect());
}

#[test]
fn what_is_outside_is_named_only_where_it_belongs() {
    none(code().iter().flat_map(|s| wrong_outside(&s.path, &s.code)).collect());
}

#[test]
fn the_laws_and_the_language_do_not_wait() {
    let waits = |s: &&Source| {
        matches!(layer(&s.path), "base" | "law" | "api") && words(&s.code).any(|(_, w)| w == "async")
    };
    none(code().iter().filter(waits).map(|s| format!("{}: it is async", s.path)).collect());
}

#[test]
fn files_and_functions_are_short() {
    let code = code();
    let mut problems: Vec<String> = code.iter().flat_map(|s| wrong_sizes(&s.path, &s.code, LONGER)).collect();
    let there = |name: &str| {
        let (file, function) = name.split_once("::").unwrap_or((name, ""));
        code.iter().any(|s| {
            s.path == file && (function.is_empty() || functions(&s.code).iter().any(|f| f.name == function))
        })
    };
    problems.extend(
        LONGER
            .iter()
            .filter(|(name, _)| !there(name))
            .map(|(name, _)| format!("{name} is gone: take it off the list")),
    );
    none(problems);
}

#[test]
fn every_file_says_what_it_is_for() {
    let all = sources("src").into_iter().chain(sources("tests"));
    none(all.filter_map(|s| wrong_opening(&s.path, &s.raw)).collect());
}

#[test]
fn what_the_compiler_cannot_check_stands_in_one_file() {
    let all = sources("src");
    none(all.iter().flat_map(|s| unchecked(&s.path, &source::scrub(&s.raw))).collect());
}

#[test]
fn nothing_is_left_open_and_nothing_has_an_empty_name() {
    let all: Vec<Source> = sources("src").into_iter().chain(sources("tests")).collect();
    none(
        all.iter()
            .flat_map(|s| [unfinished(&s.path, &s.raw), wrong_names(&s.path, &s.code)].concat())
            .collect(),
    );
}

/// The modules at the top: those that `lib.rs` declares.
fn top_modules() -> Vec<String> {
    let lib = source::scrub(&std::fs::read_to_string(root().join("src/lib.rs")).unwrap());
    let all: Vec<&str> = words(&lib).map(|(_, word)| word).collect();
    all.windows(2).filter(|pair| pair[0] == "mod").map(|pair| pair[1].to_owned()).collect()
}

#[test]
fn the_architecture_page_names_every_module_at_the_top() {
    let page = std::fs::read_to_string(root().join("docs/ARCHITECTURE.md")).unwrap();
    let missing = top_modules()
        .into_iter()
        .filter(|m| !page.contains(&format!("`{m}`")) && !page.contains(&format!("`{m}/`")));
    none(missing.map(|m| format!("docs/ARCHITECTURE.md does not name `{m}`")).collect());
}

/// Every law there is to be, also those of later issues. A test of such a name needs its row.
const LAWS: &str = "
output_bounded output_no_silent_loss output_optout_keeps_all output_cap_drops_only_excess output_artifact_is_whole
call_journals_two call_settles_once call_settle_carries_all board_snapshot_then_changes board_silent_after_end
every_call_gets_a_result
job_output_bounded job_no_silent_loss job_optout_keeps_all job_cap_drops_only_excess job_ends_once job_end_is_final
job_kill_keeps_output job_kill_reaches_descendants call_blocks_at_most_budget call_settles_with_job
rewind_stops_orphans rewind_keeps_target_jobs job_record_survives_crash job_dies_with_program_unless_kept
job_end_names_its_cause
hold_keeps_parent hold_paths_stay_inside hold_git_keeps_repository
child_ends_once places_are_bounded waiting_parent_holds_no_place child_is_stopped_alone
child_stops_before_its_hand_back
restore_spares_others restore_can_be_taken_back restore_survives_crash
cow_keeps_parent cow_takes_child cow_conflict_reported cow_conflict_is_real handback_idempotent handback_crash_safe
handback_stays_inside resolution_loses_nothing resolution_outlives_changes choice_replaces_edits rise_loses_nothing
proto_one_reply_each proto_runs_only_accepted proto_runs_every_accepted proto_rejects_oversize
socket_dir_owned socket_dir_created peer_same_uid private_on_create cwd_is_explicit cwd_none_refused
cwd_gone_refused cwd_file_refused
kernel_session_never_downloads kernel_download_only_on_install kernel_missing_spares_tools
kernel_missing_names_install kernel_lock_sweep_removes_dead kernel_lock_sweep_keeps_live
sandbox_never_weaker sandbox_hides_own_files run_one_outcome run_launches_at_most_once refusal_first_wins
container_release_on_failure container_export_before_stop vm_absent_is_refused
commit_all_or_nothing journal_survives_kill_at_any_byte lease_reclaims_only_the_dead lease_refuses_second_holder
unknown_records_survive
";

/// Rows of the page of laws: the law, and the files that hold its tests.
fn rows(page: &str) -> Vec<(String, Vec<String>)> {
    let quoted =
        |cell: &str| -> Vec<String> { cell.split('`').skip(1).step_by(2).map(str::to_owned).collect() };
    page.lines()
        .filter(|line| line.starts_with("| `"))
        .filter_map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split(" | ").collect();
            let law = quoted(cells.first()?).into_iter().next()?;
            Some((law, quoted(cells.last()?)))
        })
        .collect()
}

/// Tests that bear the name of a law, by file.
fn law_tests(sources: &[(String, String)]) -> Vec<(String, String)> {
    let known: Vec<&str> = LAWS.split_whitespace().collect();
    let mut found = Vec::new();
    for (path, code) in sources {
        for (at, word) in words(code) {
            let is_test = code[..at].trim_end().ends_with("fn")
                && code[..at].rfind("#[").is_some_and(|mark| !code[mark..at].contains(['{', '}']));
            if is_test && known.contains(&word) {
                found.push((word.to_owned(), path.clone()));
            }
        }
    }
    found
}

/// Where the page of laws and the tests differ.
fn laws_differ(rows: &[(String, Vec<String>)], tests: &[(String, String)]) -> Vec<String> {
    let mut problems = Vec::new();
    for (n, (law, files)) in rows.iter().enumerate() {
        if !LAWS.split_whitespace().any(|known| known == law) {
            problems.push(format!("the row `{law}` is none of the laws"));
        }
        if rows[..n].iter().any(|(other, _)| other == law) {
            problems.push(format!("the law `{law}` has two rows"));
        }
        if files.is_empty() {
            problems.push(format!("the row `{law}` names no file"));
        }
        for file in files {
            if !tests.iter().any(|(name, path)| name == law && path == file) {
                problems.push(format!("{file} has no test `{law}`, though its row says so"));
            }
        }
    }
    for (law, file) in tests {
        if !rows.iter().any(|(name, files)| name == law && files.contains(file)) {
            problems.push(format!("{file} has a test `{law}`, but its row does not say so"));
        }
    }
    problems
}

#[test]
fn the_page_of_laws_has_a_row_for_each_law_that_is_tested() {
    let page = std::fs::read_to_string(root().join("docs/LAWS.md")).unwrap();
    let all: Vec<(String, String)> =
        sources("src").into_iter().chain(sources("tests")).map(|s| (s.path, source::scrub(&s.raw))).collect();
    none(laws_differ(&rows(&page), &law_tests(&all)));
}

#[test]
fn each_law_is_broken_on_purpose_by_a_mutation() {
    let page = std::fs::read_to_string(root().join("docs/LAWS.md")).unwrap();
    let mutations: Vec<String> = std::fs::read_dir(root().join("tests/mutations"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "patch"))
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect();
    let broken = |law: &str| mutations.iter().any(|m| m.lines().any(|line| line == format!("law: {law}")));
    let missing = rows(&page).into_iter().filter(|(law, _)| !broken(law));
    none(missing.map(|(law, _)| format!("tests/mutations/ has no patch that breaks `{law}`")).collect());
}

#[test]
fn every_mutation_applies_to_the_code_as_it_is() {
    let applies = |patch: &std::path::Path| {
        let git = std::process::Command::new("git")
            .args(["apply", "--check", "--whitespace=nowarn"])
            .arg(patch)
            .env("GIT_CEILING_DIRECTORIES", root().parent().unwrap())
            .current_dir(root())
            .output()
            .unwrap();
        git.status.success()
    };
    let all = std::fs::read_dir(root().join("tests/mutations")).unwrap().map(|entry| entry.unwrap().path());
    let patches = all.filter(|path| path.extension().is_some_and(|e| e == "patch"));
    none(
        patches
            .filter(|path| !applies(path))
            .map(|path| format!("{} does not apply", path.display()))
            .collect(),
    );
}

/// Laws that have a rule, a bridge and a mutation each: two groups of the page of laws, and three more.
const HELD_THREE_WAYS: [&str; 2] = ["Output:", "Jobs:"];
const HELD_SO_TOO: [&str; 3] = ["socket_dir_owned", "socket_dir_created", "peer_same_uid"];

/// What is wrong with the row of a law: its cells hold a file with a test, another one, and names of mutations.
fn wrong_evidence(law: &str, line: &str) -> Vec<String> {
    let cells: Vec<Vec<&str>> =
        line.split('|').map(|cell| cell.split('`').skip(1).step_by(2).collect()).collect();
    let [_, _, rule, bridge, mutations, _] = cells.as_slice() else { return vec![format!("{law}: no row")] };
    let mut problems = Vec::new();
    for (cell, place) in [(rule, "src/law/"), (bridge, "tests/it/")] {
        let there = matches!(cell.as_slice(), [file, test] if file.starts_with(place)
            && std::fs::read_to_string(root().join(file)).is_ok_and(|code| code.contains(&format!("fn {test}("))));
        if !there {
            problems.push(format!("{law}: {cell:?} is no test in {place}"));
        }
    }
    if mutations.is_empty() {
        problems.push(format!("{law}: no mutation"));
    }
    for name in mutations {
        let text = std::fs::read_to_string(root().join(format!("tests/mutations/{name}.patch")));
        if !text.is_ok_and(|text| text.lines().any(|line| line == format!("law: {law}"))) {
            problems.push(format!("{law}: {name} is no mutation that breaks it"));
        }
    }
    problems
}

#[test]
fn laws_of_jobs_have_a_rule_a_bridge_and_a_mutation() {
    let laws = std::fs::read_to_string(root().join("docs/LAWS.md")).unwrap();
    let of_groups =
        laws.split("\n## ").filter(|part| HELD_THREE_WAYS.iter().any(|name| part.starts_with(name)));
    let wanted: Vec<String> = of_groups
        .flat_map(|part| rows(part).into_iter().map(|(law, _)| law))
        .chain(HELD_SO_TOO.map(str::to_owned))
        .collect();
    assert!(wanted.len() > 20, "{wanted:?}");
    let page = std::fs::read_to_string(root().join("docs/TESTING.md")).unwrap();
    let row =
        |law: &str| page.lines().find(|line| line.starts_with(&format!("| `{law}` |"))).unwrap_or_default();
    none(wanted.iter().flat_map(|law| wrong_evidence(law, row(law))).collect());
    assert_eq!(
        wrong_evidence("peer_same_uid", row("socket_dir_owned")).len(),
        2,
        "the mutations of another law"
    );
}

#[test]
fn each_check_finds_what_it_is_for() {
    let edges = |file: &str, code: &str| wrong_edges(file, code).len();
    assert_eq!(edges("src/law/output.rs", "use crate::{base::Millis, store::open};"), 1);
    assert_eq!(edges("src/law/access/rule.rs", "use super::super::super::engine;"), 1);
    assert_eq!(edges("src/ui/pane/live.rs", "use crate::engine::x; use crate::law::turn::step;"), 2);
    assert_eq!(edges("src/ui/pane/live.rs", "use crate::law::turn::Phase; use super::widget;"), 0);
    assert_eq!(edges("src/store/x.rs", "use crate::process::y;"), 1);
    assert_eq!(edges("src/novel/x.rs", ""), 1);

    let outside = |file: &str, code: &str| wrong_outside(file, code).len();
    assert_eq!(outside("src/law/x.rs", "use std::{fs::File, time::{Duration, Instant}};"), 2);
    assert_eq!(outside("src/ui/x.rs", "std::process::exit(1); use std::fs;"), 2);
    assert_eq!(outside("src/tool/x.rs", "tokio::spawn(a); tokio::task::spawn_blocking(b);"), 1);
    assert_eq!(outside("src/engine/spawn.rs", "tokio::spawn(a);"), 0);
    assert_eq!(outside("src/front/x.rs", "use ratatui::Frame;"), 1);

    let long = format!("fn long() {{\n{}}}\n", "    x();\n".repeat(FUNCTION_LINES_MAX));
    assert_eq!(wrong_sizes("src/a.rs", &long, &[]).len(), 1);
    assert_eq!(wrong_sizes("src/a.rs", &long, &[("src/a.rs::long", 72)]).len(), 0);
    assert_eq!(wrong_sizes("src/a.rs", &long, &[("src/a.rs::long", 71)]).len(), 1, "it grew");
    assert_eq!(wrong_sizes("src/a.rs", &long, &[("src/a.rs::long", 90)]).len(), 1, "it shrank");
    assert_eq!(wrong_sizes("src/a.rs", "fn a() {}", &[("src/a.rs::a", 90)]).len(), 1, "not needed");
    assert_eq!(wrong_sizes("src/a.rs", &"x\n".repeat(FILE_LINES_MAX + 1), &[]).len(), 1);

    assert!(wrong_opening("a", "//! What it is for.\n").is_none());
    assert!(wrong_opening("a", "//! \nuse x;").is_some() && wrong_opening("a", "use x;").is_some());
    assert_eq!(unchecked("src/a.rs", concat!("un", "safe { x() }")).len(), 1);
    assert_eq!(unfinished("a", concat!("x\n// TO", "DO: y")).len(), 1);
    assert_eq!(
        wrong_names("src/law/job_utils.rs", "struct JobManager; enum Fine {} mod helpers {}").len(),
        3
    );

    let page = "| law | says | where |\n| `job_ends_once` | one end | `tests/it/job.rs` |\n";
    let test = |name: &str, file: &str| (name.to_owned(), file.to_owned());
    let tests =
        law_tests(&[test("tests/it/job.rs", "#[test]\nfn job_ends_once() {}\nfn job_end_is_final() {}")]);
    assert_eq!(tests, [("job_ends_once".to_owned(), "tests/it/job.rs".to_owned())]);
    assert_eq!(laws_differ(&rows(page), &tests).len(), 0);
    assert_eq!(laws_differ(&rows(page), &[]).len(), 1);
    assert_eq!(laws_differ(&[], &tests).len(), 1);
    assert_eq!(laws_differ(&rows("| `no_such_law` | x | `tests/it/job.rs` |"), &[]).len(), 2);
}
