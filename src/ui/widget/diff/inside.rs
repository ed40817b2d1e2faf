//! A line of a diff in looks: the colours of its language, and what its partner does not have.

use similar::{ChangeTag, TextDiff};

use crate::ui::widget::row::{Look, Role};
use crate::ui::widget::text::tame_from;
use crate::ui::widget::wrap::Piece;

/// Longest line whose changes are marked inside.
const INSIDE_MAX: usize = 400;
/// Least part that two lines have in common, for their changes to be marked.
const ALIKE_MIN: f32 = 0.4;

/// How the lines of one sort look.
#[derive(Clone, Copy)]
pub(super) struct Dress {
    /// The line.
    pub role: Role,
    /// What its partner does not have.
    pub strong: Role,
    /// Its number. It says what the line is also where few colours leave the grounds of both sorts alike.
    pub number: Role,
}

/// The line in pieces. `runs`: the colours of its language, where they are known.
pub(super) fn pieces(
    own: &str,
    partner: Option<&str>,
    dress: Dress,
    runs: Option<&[(u32, Role)]>,
) -> Vec<Piece> {
    let marks = partner.and_then(|other| marks(own, other)).unwrap_or_default();
    let (mut out, mut from, mut column) = (Vec::new(), 0, 0);
    let (mut marks, mut runs) = (marks.iter().peekable(), runs.unwrap_or_default().iter().peekable());
    while from < own.len() {
        let (mark_end, strong) = marks.peek().map_or((own.len(), false), |(end, strong)| (*end, *strong));
        let (run_end, role) =
            runs.peek().map_or((own.len(), Role::CodeBlock), |(end, role)| (*end as usize, *role));
        let end = mark_end.min(run_end).min(own.len());
        if end > from {
            let Some(text) = own.get(from..end) else {
                out.push((tame_from(&own[from..], &mut column), Look::from(dress.role)));
                break;
            };
            let look = match (strong, role) {
                (true, _) => Look::from(dress.strong),
                (false, Role::CodeBlock) => Look::from(dress.role),
                (false, role) => Look::from(role).on(dress.role),
            };
            out.push((tame_from(text, &mut column), look));
            from = end;
        }
        if mark_end <= end {
            marks.next();
        }
        if run_end <= end {
            runs.next();
        }
    }
    out
}

/// Where in `own` what `other` has and what it does not have ends, in bytes; none: they are too unlike.
fn marks(own: &str, other: &str) -> Option<Vec<(usize, bool)>> {
    if own.len() > INSIDE_MAX || other.len() > INSIDE_MAX {
        return None;
    }
    let diff = TextDiff::from_unicode_words(other, own);
    if diff.ratio() < ALIKE_MIN {
        return None;
    }
    let (mut out, mut end): (Vec<(usize, bool)>, usize) = (Vec::new(), 0);
    for change in diff.iter_all_changes() {
        let strong = match change.tag() {
            ChangeTag::Delete => continue,
            ChangeTag::Insert => true,
            ChangeTag::Equal => false,
        };
        end += change.value().len();
        match out.last_mut() {
            Some((last, same)) if *same == strong => *last = end,
            Some(_) | None => out.push((end, strong)),
        }
    }
    Some(out)
}
