//! Fuzzy choice: the rows that match what was typed, best first.

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

/// The indices of at most `most` matching rows, best first; all in their order when nothing was typed.
pub fn rank<'a>(typed: &str, rows: impl Iterator<Item = &'a str>, paths: bool, most: usize) -> Vec<usize> {
    if typed.is_empty() {
        return rows.enumerate().take(most).map(|(at, _)| at).collect();
    }
    let config = if paths { Config::DEFAULT.match_paths() } else { Config::DEFAULT };
    let mut matcher = Matcher::new(config);
    let pattern = Pattern::parse(typed, CaseMatching::Smart, Normalization::Smart);
    let mut chars = Vec::new();
    let mut found: Vec<(u32, usize, usize)> = rows
        .enumerate()
        .filter_map(|(at, row)| {
            let score = pattern.score(Utf32Str::new(row, &mut chars), &mut matcher)?;
            Some((score, row.len(), at))
        })
        .collect();
    found.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
    found.into_iter().take(most).map(|(_, _, at)| at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_match_comes_first_and_no_text_matches_all() {
        let rows = ["src/lexer.rs", "docs/lex.md", "src/main.rs"];
        assert_eq!(rank("lexer", rows.into_iter(), true, 9), [0]);
        assert_eq!(rank("", rows.into_iter(), true, 2), [0, 1]);
        assert_eq!(rank("lex", rows.into_iter(), true, 9).len(), 2);
    }
}
