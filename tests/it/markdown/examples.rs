//! The examples of CommonMark and of its tables, out of pulldown-cmark's own tests, which stand beside
//! its source wherever this program was built.

use std::path::PathBuf;
use std::process::Command;

/// One example: which it is, and its text.
pub struct Example {
    /// `spec_test_12`.
    pub name: String,
    /// Its Markdown.
    pub text: String,
}

/// What a program says.
fn said(program: &str, arguments: &[&str]) -> String {
    let out = Command::new(program)
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap_or_else(|why| panic!("{program} is needed for this test: {why}"));
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).expect("text")
}

/// Where the tests of pulldown-cmark stand.
fn suite() -> PathBuf {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    // packages for other platforms need not be here
    let rustc = said(&std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into()), &["-vV"]);
    let host = rustc.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc names its host");
    let metadata = ["metadata", "--offline", "--locked", "--format-version", "1", "--filter-platform", host];
    let all: serde_json::Value = serde_json::from_str(&said(&cargo, &metadata)).expect("cargo writes JSON");
    let packages = all["packages"].as_array().expect("cargo lists packages");
    let ours = packages.iter().find(|package| package["name"] == "pulldown-cmark");
    let manifest =
        ours.and_then(|package| package["manifest_path"].as_str()).expect("pulldown-cmark is used");
    PathBuf::from(manifest).with_file_name("tests").join("suite")
}

/// The examples of a file of that suite: `spec`, `table`, `gfm_table`, …
pub fn examples(file: &str) -> Vec<Example> {
    let path = suite().join(format!("{file}.rs"));
    let source = std::fs::read_to_string(&path)
        .unwrap_or_else(|why| panic!("{} is needed for this test: {why}", path.display()));
    let mut out = Vec::new();
    for test in source.split("\nfn ").skip(1) {
        let Some((name, rest)) = test.split_once("()") else { continue };
        let Some((_, rest)) = rest.split_once("let original = r##\"") else { continue };
        let Some((text, _)) = rest.split_once("\"##;") else { continue };
        out.push(Example { name: name.to_owned(), text: text.to_owned() });
    }
    out
}
