//! Rust sources as the tidy test reads them: without comments, texts and tests, as paths and functions.
//!
//! No parser: just enough of the language's surface, each part of it tested below.

use std::path::{Path, PathBuf};

/// One file of `src/`.
pub struct Source {
    /// Its path below the package's directory, with `/`.
    pub path: String,
    /// As it stands.
    pub raw: String,
    /// Without comments, texts and test modules; every line keeps its number.
    pub code: String,
}

/// The package's directory: where cargo runs the test, else where it was built.
pub fn root() -> PathBuf {
    std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from)
}

/// Every Rust file below a directory of the package, in order of the paths.
pub fn sources(below: &str) -> Vec<Source> {
    let mut files = Vec::new();
    collect(&root().join(below), &mut files);
    files.sort();
    files
        .into_iter()
        .map(|file| {
            let raw = std::fs::read_to_string(&file).unwrap();
            let path = file.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
            let code = without_tests(&scrub(&raw));
            Source { path, raw, code }
        })
        .collect()
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
}

/// Whether a file holds nothing but tests.
pub fn is_test_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name == "tests.rs" || name.ends_with("_tests.rs") || name == "testing.rs" || path.contains("/tests/")
}

/// The text with comments, string and character literals blanked; newlines stay.
pub fn scrub(raw: &str) -> String {
    let text: Vec<char> = raw.chars().collect();
    let mut out = String::with_capacity(raw.len());
    let mut at = 0;
    while at < text.len() {
        let end = skipped(&text, at);
        if end == at {
            out.push(text[at]);
            at += 1;
        } else {
            out.extend(text[at..end].iter().map(|c| if *c == '\n' { '\n' } else { ' ' }));
            at = end;
        }
    }
    out
}

/// The end of the comment or literal that begins at `at`; `at` itself when none does.
fn skipped(text: &[char], at: usize) -> usize {
    let get = |n: usize| text.get(n).copied().unwrap_or('\0');
    let after_word = at > 0 && is_word(text[at - 1]);
    match get(at) {
        '/' if get(at + 1) == '/' => (at..text.len()).find(|n| text[*n] == '\n').unwrap_or(text.len()),
        '/' if get(at + 1) == '*' => {
            let (mut depth, mut n) = (1, at + 2);
            while n < text.len() && depth > 0 {
                match (get(n), get(n + 1)) {
                    ('/', '*') => (depth, n) = (depth + 1, n + 2),
                    ('*', '/') => (depth, n) = (depth - 1, n + 2),
                    _ => n += 1,
                }
            }
            n
        }
        '"' => plain_end(text, at),
        'r' | 'b' | 'c' if !after_word => {
            let quote = (at..at + 3).find(|n| !matches!(get(*n), 'r' | 'b' | 'c')).unwrap_or(at);
            let hashes = (quote..text.len()).take_while(|n| text[*n] == '#').count();
            let raw = text[at..quote].contains(&'r');
            if raw && get(quote + hashes) == '"' {
                let close: Vec<char> = std::iter::once('"').chain(vec!['#'; hashes]).collect();
                let begin = quote + hashes + 1;
                (begin..text.len())
                    .find(|n| text[*n..].starts_with(&close))
                    .map_or(text.len(), |n| n + close.len())
            } else if !raw && get(quote) == '"' {
                plain_end(text, quote)
            } else {
                at
            }
        }
        // A character, unless it is a lifetime.
        '\'' if get(at + 1) == '\\' => {
            (at + 3..text.len()).find(|n| text[*n] == '\'').map_or(text.len(), |n| n + 1)
        }
        '\'' if get(at + 2) == '\'' => at + 3,
        _ => at,
    }
}

fn plain_end(text: &[char], quote: usize) -> usize {
    let mut n = quote + 1;
    while n < text.len() && text[n] != '"' {
        n += if text[n] == '\\' { 2 } else { 1 };
    }
    (n + 1).min(text.len())
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Scrubbed code with every item under `#[cfg(test)]` blanked.
pub fn without_tests(code: &str) -> String {
    let mut out = code.to_owned();
    let mark = "#[cfg(test)]";
    while let Some(begin) = out.find(mark) {
        let after = begin + mark.len();
        let open = out[after..].find(['{', ';']).map_or(out.len(), |n| after + n);
        let end =
            if out[open..].starts_with('{') { block_end(&out, open) } else { (open + 1).min(out.len()) };
        let blank: String = out[begin..end].chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect();
        out.replace_range(begin..end, &blank);
    }
    out
}

/// The place after the brace that closes the one at `open`.
fn block_end(code: &str, open: usize) -> usize {
    let mut depth = 0;
    for (n, c) in code[open..].char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return open + n + 1;
        }
    }
    code.len()
}

/// A function: its name, the line of its `fn`, and its length in lines.
#[derive(Debug, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    pub line: usize,
    pub lines: usize,
}

/// Every function with a body in scrubbed code.
pub fn functions(code: &str) -> Vec<Function> {
    words(code)
        .filter(|(_, word)| *word == "fn")
        .filter_map(|(at, _)| {
            let name: String = code[at + 2..].trim_start().chars().take_while(|c| is_word(*c)).collect();
            let open = body_start(code, at)?;
            let lines = code[at..block_end(code, open)].lines().count();
            (!name.is_empty()).then(|| Function { name, line: line_of(code, at), lines })
        })
        .collect()
}

/// The brace that opens a function's body: the first one outside of brackets, before any `;`.
fn body_start(code: &str, at: usize) -> Option<usize> {
    let mut depth = 0;
    for (n, c) in code[at..].char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            '{' if depth == 0 => return Some(at + n),
            ';' if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// The number of the line that a place stands on.
pub fn line_of(code: &str, at: usize) -> usize {
    code[..at].matches('\n').count() + 1
}

/// Every word of scrubbed code with its place.
pub fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let begins = |at: &usize| code[*at..].starts_with(is_word) && !code[..*at].ends_with(is_word);
    code.char_indices().map(|(at, _)| at).filter(begins).map(|at| {
        let end = code[at..].find(|c| !is_word(c)).map_or(code.len(), |n| at + n);
        (at, &code[at..end])
    })
}

/// Every path that begins with one of these words, grouped imports taken apart:
/// `crate::{a::b, c as d}` gives `crate::a::b` and `crate::c`. With the line that it begins on.
pub fn paths(code: &str, roots: &[&str]) -> Vec<(usize, Vec<String>)> {
    let mut found = Vec::new();
    for (at, word) in words(code) {
        let before = code[..at].trim_end();
        let tail = &code[at + word.len()..];
        let continues = before.ends_with("::") || before.ends_with('.');
        if roots.contains(&word) && !continues && tail.trim_start().starts_with("::") {
            let mut out = Vec::new();
            tree(&mut Cursor { code, at }, &mut Vec::new(), &mut out);
            found.extend(out.into_iter().map(|path| (line_of(code, at), path)));
        }
    }
    found
}

struct Cursor<'a> {
    code: &'a str,
    at: usize,
}

impl Cursor<'_> {
    fn eat(&mut self, token: &str) -> bool {
        let rest = self.code[self.at..].trim_start();
        let there = rest.starts_with(token);
        if there {
            self.at = self.code.len() - rest.len() + token.len();
        }
        there
    }

    fn word(&mut self) -> Option<String> {
        let rest = self.code[self.at..].trim_start();
        let word: String = rest.chars().take_while(|c| is_word(*c)).collect();
        self.at = self.code.len() - rest.len() + word.len();
        (!word.is_empty()).then_some(word)
    }
}

fn tree(cursor: &mut Cursor<'_>, path: &mut Vec<String>, out: &mut Vec<Vec<String>>) {
    let depth = path.len();
    loop {
        if cursor.eat("{") {
            while !cursor.eat("}") && cursor.at < cursor.code.len() {
                tree(cursor, path, out);
                if cursor.eat("as") {
                    cursor.word();
                }
                if !cursor.eat(",") && !cursor.code[cursor.at..].trim_start().starts_with('}') {
                    path.truncate(depth);
                    return;
                }
            }
            path.truncate(depth);
            return;
        }
        if !cursor.eat("*") {
            match cursor.word() {
                Some(word) => path.push(word),
                None => break,
            }
        }
        if !cursor.eat("::") || cursor.code[cursor.at..].starts_with('<') {
            break;
        }
    }
    out.push(path.clone());
    path.truncate(depth);
}

/// A path from the package's root: `crate` and `super` taken out. `file` is the file's path.
pub fn absolute(file: &str, path: &[String]) -> Vec<String> {
    let mut module: Vec<String> =
        file.trim_start_matches("src/").trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if matches!(module.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        module.pop();
    }
    let mut rest = path;
    let mut base = match path.first().map(String::as_str) {
        Some("super" | "self") => module,
        _ => Vec::new(),
    };
    while let Some((first, more)) = rest.split_first() {
        match first.as_str() {
            "crate" | "windlass" => base.clear(),
            "super" => {
                base.pop();
            }
            "self" => {}
            _ => break,
        }
        rest = more;
    }
    base.extend_from_slice(rest);
    base
}

#[test]
fn comments_texts_and_tests_are_not_read() {
    let raw = "a /* x /* y */ z */ b // c\n\"q\\\"{\" 'x' '\\'' 'life r#\"w\"x\"# br\"k\" d\n";
    assert_eq!(scrub(raw).split_whitespace().collect::<Vec<_>>(), ["a", "b", "'life", "d"]);
    let code =
        "fn a() {}\n#[cfg(test)]\nmod tests {\n fn b() {}\n}\nfn c() {}\n#[cfg(test)]\nmod more;\nfn d() {}";
    let names: Vec<String> = functions(&without_tests(code)).into_iter().map(|f| f.name).collect();
    assert_eq!(names, ["a", "c", "d"]);
}

#[test]
fn functions_are_measured_with_their_signature() {
    let code = "trait T { fn no(&self); }\nfn a(\n  x: [u8; 2],\n) -> u8\n{\n  1\n}\n";
    assert_eq!(functions(code), [Function { name: "a".into(), line: 2, lines: 6 }]);
}

#[test]
fn grouped_and_nested_imports_are_taken_apart() {
    let code = "use crate::{law::{output, board as b}, api::*};\nlet x = crate::store::open(super::y::<u8>());\npub(crate) fn z() {}";
    let found: Vec<String> =
        paths(code, &["crate", "super"]).into_iter().map(|(_, p)| p.join("::")).collect();
    assert_eq!(
        found,
        ["crate::law::output", "crate::law::board", "crate::api", "crate::store::open", "super::y"]
    );
}

#[test]
fn paths_are_resolved_from_their_file() {
    let path = |text: &str| -> Vec<String> { text.split("::").map(str::to_owned).collect() };
    assert_eq!(absolute("src/law/access/rule.rs", &path("super::super::job::End")), path("law::job::End"));
    assert_eq!(absolute("src/law/mod.rs", &path("super::store")), path("store"));
    assert_eq!(absolute("src/ui/pane/live/view.rs", &path("crate::engine::x")), path("engine::x"));
    assert_eq!(absolute("src/ui/mod.rs", &path("self::pane")), path("ui::pane"));
}
