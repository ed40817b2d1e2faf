//! The page of tests lists what people report of programs like this one: that each of it has a test, and that
//! each test that is named is there.

use super::none;
use super::source::{root, scrub, sources, words};

/// The parts of the list, with the least that stands in each.
const PARTS: [(&str, usize); 3] =
    [("The screen", 13), ("Keys, paste, approvals", 5), ("Numbers, network, headless", 4)];

/// What is reported and the tests of it, of one part of the page.
fn reports(page: &str, part: &str) -> Vec<(String, Vec<String>)> {
    let body = page.split(&format!("\n### {part}\n")).nth(1).unwrap_or_default();
    let body = body.split("\n#").next().unwrap_or_default();
    body.lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| what |"))
        .filter_map(|line| {
            let (what, tests) = line.trim_matches('|').split_once(" | ")?;
            Some((what.trim().to_owned(), tests.split('`').skip(1).step_by(2).map(str::to_owned).collect()))
        })
        .collect()
}

/// What is wrong with a part: too little in it, nothing that holds something, tests that are not there.
fn wrong(page: &str, part: &str, least: usize, is_test: &dyn Fn(&str) -> bool) -> Vec<String> {
    let all = reports(page, part);
    let mut problems = Vec::new();
    if all.len() < least {
        problems.push(format!("{part}: {} are listed, {least} are known", all.len()));
    }
    for (what, tests) in &all {
        if tests.is_empty() {
            problems.push(format!("{part}: no test holds: {what}"));
        }
        let gone = tests.iter().filter(|test| !is_test(test));
        problems.extend(gone.map(|test| format!("{part}: there is no test `{test}` ({what})")));
    }
    problems
}

/// The functions of a source that are tests: an attribute stands before them, and no body between.
fn tests_of(code: &str) -> Vec<String> {
    let is_test = |at: usize| {
        let before = code[..at].trim_end();
        let mark = before.rfind("#[").map(|mark| &before[mark..]);
        before.ends_with("fn") && mark.is_some_and(|mark| !mark.contains(['{', '}']))
    };
    words(code).filter(|(at, _)| is_test(*at)).map(|(_, word)| word.to_owned()).collect()
}

#[test]
fn what_people_report_has_tests_that_are_there() {
    let page = std::fs::read_to_string(root().join("docs/TESTING.md")).unwrap();
    let there: std::collections::BTreeSet<String> = sources("src")
        .into_iter()
        .chain(sources("tests"))
        .flat_map(|source| tests_of(&scrub(&source.raw)))
        .collect();
    let is_test = |name: &str| there.contains(name);
    none(PARTS.iter().flat_map(|(part, least)| wrong(&page, part, *least, &is_test)).collect());
}

#[test]
fn a_report_without_a_test_is_found() {
    let page = "\n### The screen\n\n| what | tests |\n|---|---|\n| it flickers | `steady` `gone` |\n| it waits | none |\n\n### Other\n";
    let is_test = |name: &str| name == "steady";
    assert_eq!(wrong(page, "The screen", 2, &is_test).len(), 2);
    assert_eq!(wrong(page, "The screen", 3, &is_test).len(), 3);
    assert_eq!(wrong(page, "Keys", 1, &is_test).len(), 1);
}
