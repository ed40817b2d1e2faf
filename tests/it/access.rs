//! Permission rules against a real shell: whatever is written, what the rules allow is all that runs.
//!
//! Random command lines go through `law::access`; those that are allowed are run by `bash` with programs
//! that only record how they were called. The record must hold nothing that was not taken apart and
//! allowed, and no file may come to be.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use windlass::law::access::rule::{Rule, Rules, Scope};
use windlass::law::access::shell::{Word, parse};
use windlass::law::access::{Class, Mode, Place, Verdict, Want, decide};

/// Lines that must have been allowed and run, for the test to say anything.
const RUN_MIN: u32 = 300;

fn piece() -> impl Strategy<Value = String> {
    let words =
        ["a", "b", "a x", "b 'y z'", "a \"q\"", "b \\;", "a $V", "b *", "a {1,2}", "a ~", "b -- '$(c)'"];
    let joints = [" ; ", "&&", " || ", "|", " & ", " ", ";", "|&"];
    let redirections =
        [" 2>&1", " >/dev/null", " &>/dev/null", " </dev/null", "2>/dev/null ", " >f", " <f", "1>&f"];
    let odd = [
        "c", "$(c)", "`c`", "(", ")", "{", "}", "<(c)", ">(c)", "'", "\"", "\\", "#", "!", "=", "V=1 ",
        "eval c", "\n", "\r", "\u{a0}", "$'\\n'", "${V:-c}", "$((1))", "\t", "$", "<<E", "if", "then", "2",
        "time ", "exec ", "a\\",
    ];
    let of = |all: &[&str]| proptest::sample::select(all.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>());
    prop_oneof![8 => of(&words), 6 => of(&joints), 2 => of(&redirections), 2 => of(&odd)]
}

fn rules() -> Rules {
    let rule = |text: &str| Rule::parse(text, Scope::User).unwrap();
    Rules { allow: vec![rule("bash(a:*)"), rule("bash(b:*)")], ..Rules::default() }
}

fn allowed(command: &str, cwd: &Path) -> bool {
    let place = Place { cwd, scratch: &[], guarded: &[], closed: &[], home: None };
    let want = Want { tool: "bash", class: Class::Execute, paths: &[], command: Some(command) };
    decide(Mode::Ask, &want, &place, &rules()) == Verdict::Allow
}

/// Runs a line; every command that ran, as its words.
///
/// What the line leaves running in the background holds descriptor 9, and so the pipe: its end is waited
/// for, or its record would be lost or be taken for the next line's.
fn ran(dir: &Path, command: &str) -> Vec<Vec<String>> {
    let record = dir.join("record");
    let _ = fs::remove_file(&record);
    let done = Command::new("/bin/sh")
        .args(["-c", "exec 9>&1; exec /bin/bash -c \"$0\"", command])
        .current_dir(dir.join("cwd"))
        .env_clear()
        .env("PATH", dir.join("bin"))
        .env("RECORD", &record)
        .env("V", "v w; c")
        .env("HOME", "/nowhere")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(done.status.code().is_some(), "{command:?} died: {done:?}");
    let text = fs::read_to_string(&record).unwrap_or_default();
    text.split("\u{1}\0")
        .filter(|one| !one.is_empty())
        .map(|one| one.split_terminator('\0').map(str::to_owned).collect())
        .collect()
}

/// Whether a command that ran is this part of the line: word for word, up to the first that expands.
fn is_part(ran: &[String], part: &[Word]) -> bool {
    let fixed = part.iter().position(|w| w.expands).unwrap_or(part.len());
    let whole = fixed == part.len();
    ran.len() >= fixed
        && (!whole || ran.len() == fixed)
        && ran.iter().zip(&part[..fixed]).enumerate().all(|(n, (said, word))| {
            let said = if n == 0 { said.rsplit('/').next().unwrap_or(said) } else { said };
            said == word.text
        })
}

#[test]
fn what_the_rules_allow_is_all_that_a_shell_runs() {
    let dir = tempfile::tempdir().unwrap();
    let (bin, cwd) = (dir.path().join("bin"), dir.path().join("cwd"));
    fs::create_dir(&bin).unwrap();
    fs::create_dir(&cwd).unwrap();
    for name in ["a", "b", "c"] {
        let program = bin.join(name);
        crate::executable(
            &program,
            "#!/bin/sh\nprintf '%s\\0' \"$0\" \"$@\" \"\u{1}\" >>\"$RECORD\"\n".as_bytes(),
        );
    }
    let mut seen: BTreeMap<bool, u32> = BTreeMap::new();
    let lines = proptest::collection::vec(piece(), 1..8).prop_map(|pieces| pieces.concat());
    let config = Config { cases: crate::cases(4000), failure_persistence: None, ..Config::default() };
    let counted = std::cell::RefCell::new(&mut seen);
    TestRunner::new(config)
        .run(&lines, |command| {
            let yes = allowed(&command, &cwd);
            *counted.borrow_mut().entry(yes).or_default() += 1;
            if yes {
                let line = parse(&command);
                for one in ran(dir.path(), &command) {
                    let one: Vec<String> = one.into_iter().filter(|w| !w.is_empty()).collect();
                    let known = line.parts.iter().any(|part| is_part(&one, part));
                    prop_assert!(known, "{command:?} ran {one:?}, which is no part of {:?}", line.parts);
                }
                let made: Vec<_> = fs::read_dir(&cwd).unwrap().collect();
                prop_assert!(made.is_empty(), "{command:?} made {made:?}");
            }
            Ok(())
        })
        .unwrap();
    assert!(seen[&true] >= RUN_MIN && seen[&false] >= RUN_MIN, "too few of a kind: {seen:?}");
}

#[test]
fn the_record_would_show_a_command_that_was_smuggled() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("bin")).unwrap();
    fs::create_dir(dir.path().join("cwd")).unwrap();
    let program = dir.path().join("bin/c");
    crate::executable(
        &program,
        "#!/bin/sh\nprintf '%s\\0' \"$0\" \"$@\" \"\u{1}\" >>\"$RECORD\"\n".as_bytes(),
    );
    let ran = ran(dir.path(), "a $(c 'x y'); true");
    assert_eq!(ran.len(), 1, "{ran:?}");
    assert_eq!(ran[0][1], "x y");
    assert!(!is_part(&ran[0], &parse("a 'c'").parts[0]));
}
