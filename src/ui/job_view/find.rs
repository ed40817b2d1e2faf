//! A search in a job's output: what is looked for, where it was found, and where it stands in a line that is shown.

use std::ops::Range;

/// The search.
#[derive(Debug)]
pub struct Find {
    /// What is looked for.
    pub text: String,
    /// Which search it is: an answer to another is not for this one.
    pub token: u64,
    /// The search that is under way.
    pub asked: Option<Asked>,
    /// Where it was found last.
    pub hit: Option<u64>,
}

/// A search that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Towards the beginning.
    pub back: bool,
    /// The first one for this text: finding nothing below, it looks above.
    pub first: bool,
    /// Where it began.
    pub from: u64,
}

/// Where a text stands in a line. One without a capital is found in letters of either case, as the file is searched.
pub fn places(line: &str, text: &str) -> Vec<Range<usize>> {
    if text.is_empty() {
        return Vec::new();
    }
    let fold = !text.chars().any(char::is_uppercase);
    let (line, text) = if fold {
        (line.to_ascii_lowercase(), text.to_ascii_lowercase())
    } else {
        (line.into(), text.into())
    };
    line.match_indices(&text).map(|(at, found)| at..at + found.len()).collect()
}

/// The place that is nearest to a byte of the line.
pub fn nearest(places: &[Range<usize>], at: usize) -> Option<usize> {
    (0..places.len()).min_by_key(|index| places[*index].start.abs_diff(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_a_capital_is_found_in_either_case() {
        assert_eq!(places("Error: no error, ÄError", "error"), [0..5, 10..15, 19..24]);
        assert_eq!(places("no error: Error, Error", "Error"), [10..15, 17..22]);
        assert_eq!(places("aaaa", "aa"), [0..2, 2..4]);
        assert!(places("x", "").is_empty());
        assert_eq!(nearest(&[0..5, 10..15], 9), Some(1));
        assert_eq!(nearest(&[], 9), None);
    }
}
