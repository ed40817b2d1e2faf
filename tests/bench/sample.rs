//! A text that is like an answer of a model, for every benchmark that draws one.

/// An answer of some lines: headings, prose, lists, tables and code.
pub fn answer(lines: usize) -> String {
    let page = "## A heading of a part\n\nSome **bold** text with `code`, a [link](https://example.org) and enough \
words to be wrapped at any width that a terminal has.\n\n- one thing\n- another, *stressed*\n  - nested\n\n\
| name | value |\n|---|---:|\n| a | 1 |\n| b | 22 |\n\n```rust\nfn main() {\n    let answer = 42;\n    \
println!(\"{answer}\");\n}\n```\n\n";
    let count = page.lines().count();
    page.repeat(lines.div_ceil(count))
}
