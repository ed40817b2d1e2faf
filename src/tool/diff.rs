//! Unified diffs of what a call changes: for the approval and for the screen. Bounded; not for patching.

use std::path::Path;
use std::time::Duration;

use similar::{ChangeTag, TextDiff};

use crate::api::access::Preview;
use crate::api::entry::Details;
use crate::law::output::{line_count, shown};
use crate::tool::change::Change;
use crate::tool::path;

/// Most bytes of a diff's text.
pub const DIFF_BYTES_MAX: usize = 64 * 1024;
/// Files past this size are not compared line by line.
const COMPARED_MAX: usize = 8 * 1024 * 1024;
/// Longest time for one comparison; past it the diff is right but not minimal.
const COMPARE_MS_MAX: u64 = 300;

/// A diff over several files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    /// Its text, at most [`DIFF_BYTES_MAX`] and a line that says so.
    pub text: String,
    /// Lines added.
    pub added: u64,
    /// Lines removed.
    pub removed: u64,
    cut: bool,
}

impl Diff {
    /// The diff of a plan.
    pub fn of(cwd: &Path, changes: &[Change]) -> Self {
        let mut diff = Diff::default();
        for change in changes {
            let name = path::show(cwd, &change.path);
            let before = change.before.as_ref().map(|before| before.bytes.as_slice());
            diff.file(&name, before, change.after.as_deref());
        }
        if diff.cut {
            diff.text.push_str("(the diff goes on; it is cut here)\n");
        }
        diff
    }

    /// For the screen.
    pub fn into_details(self) -> Details {
        Details::Diff { diff: self.text, added: self.added, removed: self.removed }
    }

    /// For an approval.
    pub fn into_preview(self) -> Preview {
        Preview::Diff { diff: self.text }
    }

    fn line(&mut self, line: &str) {
        if self.cut || self.text.len() + line.len() > DIFF_BYTES_MAX {
            self.cut = true;
            return;
        }
        self.text.push_str(line);
        if !line.ends_with('\n') {
            self.text.push('\n');
        }
    }

    fn file(&mut self, name: &str, before: Option<&[u8]>, after: Option<&[u8]>) {
        let side = |is: Option<&[u8]>, prefix: &str| match is {
            Some(_) => format!("{prefix}/{name}"),
            None => "/dev/null".to_owned(),
        };
        let (head_old, head_new) = (side(before, "a"), side(after, "b"));
        let (old, new) = (before.unwrap_or_default(), after.unwrap_or_default());
        if old == new && before.is_some() == after.is_some() {
            return;
        }
        self.line(&format!("--- {head_old}"));
        self.line(&format!("+++ {head_new}"));
        if old.contains(&0) || new.contains(&0) {
            return self.line(&format!("(binary: {} bytes before, {} after)", old.len(), new.len()));
        }
        if old.len().max(new.len()) > COMPARED_MAX {
            self.removed += line_count(old);
            self.added += line_count(new);
            return self.line(&format!(
                "(too large to compare: {} bytes before, {} after)",
                old.len(),
                new.len()
            ));
        }
        self.hunks(old, new);
    }

    fn hunks(&mut self, old: &[u8], new: &[u8]) {
        let hide_cr = all_crlf(old) && all_crlf(new);
        let (old, new) = (lines(old), lines(new));
        let diff = TextDiff::configure()
            .timeout(Duration::from_millis(COMPARE_MS_MAX))
            .newline_terminated(true)
            .diff_slices(&old, &new);
        for change in diff.iter_all_changes() {
            match change.tag() {
                ChangeTag::Insert => self.added += 1,
                ChangeTag::Delete => self.removed += 1,
                ChangeTag::Equal => {}
            }
        }
        for hunk in diff.unified_diff().context_radius(3).iter_hunks() {
            if self.cut {
                return;
            }
            self.line(&hunk.header().to_string());
            let changes: Vec<(ChangeTag, &[u8])> =
                hunk.iter_changes().map(|change| (change.tag(), change.value())).collect();
            for (tag, bytes) in &changes {
                let sign = match tag {
                    ChangeTag::Insert => '+',
                    ChangeTag::Delete => '-',
                    ChangeTag::Equal => ' ',
                };
                let (body, ended) = match bytes.strip_suffix(b"\n") {
                    Some(body) => (body, true),
                    None => (*bytes, false),
                };
                let body = if hide_cr { body.strip_suffix(b"\r").unwrap_or(body) } else { body };
                let others = changes.iter().filter(|(other, _)| other != tag).map(|(_, bytes)| *bytes);
                self.line(&format!("{sign}{}", part(body, others)));
                if !ended {
                    self.line("\\ No newline at end of file");
                }
            }
        }
    }
}

/// Bytes of a line that are shown.
const LINE_BYTES_MAX: usize = 2_000;
/// Bytes shown before the place where a long line differs.
const BEFORE_CHANGE: usize = 200;

/// A line as shown: whole, or of a long one the part from a little before it differs from what was
/// or comes in its place.
fn part<'a>(line: &[u8], others: impl Iterator<Item = &'a [u8]>) -> String {
    if line.len() <= LINE_BYTES_MAX {
        return shown(line);
    }
    let common = |other: &[u8]| line.iter().zip(other).take_while(|(a, b)| a == b).count();
    let differs = others.map(common).max().unwrap_or(0).min(line.len() - 1);
    let boundary = |mut at: usize| {
        // not inside a character: its following bytes are 10xxxxxx
        while at > 0 && line.get(at).is_some_and(|byte| byte & 0b1100_0000 == 0b1000_0000) {
            at -= 1;
        }
        at
    };
    let start = boundary(differs.saturating_sub(BEFORE_CHANGE));
    let end = boundary((start + LINE_BYTES_MAX).min(line.len()));
    let (before, after) = (if start > 0 { "… " } else { "" }, if end < line.len() { " …" } else { "" });
    format!("{before}{}{after} (line cut: it has {} bytes)", shown(&line[start..end]), line.len())
}

/// Lines with their ends; only `\n` ends one.
fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}

fn all_crlf(bytes: &[u8]) -> bool {
    memchr::memchr_iter(b'\n', bytes).all(|at| at > 0 && bytes[at - 1] == b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(before: Option<&[u8]>, after: Option<&[u8]>) -> Diff {
        let mut diff = Diff::default();
        diff.file("a.txt", before, after);
        diff
    }

    #[test]
    fn a_diff_shows_three_lines_around_and_counts() {
        let diff = diff(Some(b"1\n2\n3\n4\n5\n6\n7\n8\n9\n"), Some(b"1\n2\n3\n4\nfive\n6\n7\n8\n9\nten"));
        insta::assert_snapshot!(diff.text);
        assert_eq!((diff.added, diff.removed), (2, 1));
    }

    #[test]
    fn carriage_returns_show_only_where_they_tell_the_sides_apart() {
        assert!(!diff(Some(b"a\r\nb\r\n"), Some(b"a\r\nc\r\n")).text.contains('\r'));
        assert!(diff(Some(b"a\r\nb\r\n"), Some(b"a\nc\n")).text.contains('\r'));
    }

    #[test]
    fn new_gone_binary_and_invalid_files_have_a_diff_too() {
        assert!(diff(None, Some(b"x\n")).text.starts_with("--- /dev/null\n+++ b/a.txt\n@@"));
        assert!(diff(Some(b"x\n"), None).text.contains("+++ /dev/null"));
        assert!(diff(Some(b"\0"), Some(b"x")).text.contains("(binary: 1 bytes before, 1 after)"));
        assert!(diff(Some(b"\xff\n"), Some(b"x\n")).text.contains("-\\xFF\n"));
        assert!(diff(None, Some(b"")).text.contains("+++ b/a.txt"));
    }

    #[test]
    fn a_diff_is_bounded_and_counts_all() {
        let new: Vec<u8> = (0..40_000).flat_map(|n| format!("line {n}\n").into_bytes()).collect();
        let diff = diff(None, Some(&new));
        assert!(diff.cut && diff.text.len() <= DIFF_BYTES_MAX);
        assert_eq!(diff.added, 40_000);
    }

    #[test]
    fn a_long_line_is_shown_where_it_differs() {
        let (head, tail) = ("é".repeat(50_000), "x".repeat(50_000));
        let diff = diff(
            Some(format!("{head}old{tail}\n").as_bytes()),
            Some(format!("{head}new{tail}\n").as_bytes()),
        );
        assert!(diff.text.contains("éoldx") && diff.text.contains("énewx"), "{}", diff.text);
        assert!(diff.text.len() < 6_000 && !diff.text.contains("\\x") && !diff.cut);
    }
}
