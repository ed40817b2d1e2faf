//! Suggestions under the cursor: files after `@`, commands after `/`.

use super::{State, slash};
use crate::ui::widget::fuzzy;

/// Most rows that are shown.
pub const ROWS: usize = 8;

/// The suggestions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Popup {
    /// Where what is replaced begins in the cursor's line, in characters.
    pub column: usize,
    /// What was typed.
    typed: String,
    /// What each row puts into the draft, and a word on it.
    pub rows: Vec<(String, String)>,
    /// The marked row.
    pub at: usize,
    /// Whether these are commands.
    pub commands: bool,
}

/// What is being written at the cursor: where it begins (past its sign) and its text.
fn sought(before: &str, row: usize) -> Option<(bool, usize, String)> {
    if row == 0 && before.starts_with('/') && !before.contains(char::is_whitespace) {
        return (!before[1..].contains('/')).then(|| (true, 0, before[1..].to_owned()));
    }
    let sign = before.rfind('@')?;
    let head = &before[..sign];
    let typed = &before[sign + 1..];
    let proper = head.chars().next_back().is_none_or(|c| c.is_whitespace() || c == '(');
    (proper && !typed.contains(char::is_whitespace)).then(|| (false, head.chars().count(), typed.to_owned()))
}

/// Looks at the cursor again; whether files are wanted that were not asked for yet.
pub(super) fn look(state: &mut State) -> bool {
    let (row, _) = state.draft.cursor();
    let Some((commands, column, typed)) = sought(&state.draft.before_cursor(), row) else {
        state.popup = None;
        return false;
    };
    let rows = if commands { command_rows(state, &typed) } else { file_rows(state, &typed) };
    let at = match &state.popup {
        Some(old) if old.typed == typed => old.at.min(rows.len().saturating_sub(1)),
        _ => 0,
    };
    state.popup = (!rows.is_empty()).then_some(Popup { column, typed, rows, at, commands });
    !commands && !std::mem::replace(&mut state.asked_files, true)
}

fn file_rows(state: &State, typed: &str) -> Vec<(String, String)> {
    fuzzy::rank(typed, state.files.iter().map(String::as_str), true, ROWS)
        .into_iter()
        .map(|at| (format!("@{}", state.files[at]), String::new()))
        .collect()
}

fn command_rows(state: &State, typed: &str) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = slash::COMMANDS
        .iter()
        .map(|(name, args, says)| {
            (format!("/{name}"), format!("{args}{}{says}", if args.is_empty() { "" } else { " — " }))
        })
        .collect();
    for command in &state.commands {
        let first = command.text.lines().next().unwrap_or_default();
        all.push((format!("/{}", command.name), first.chars().take(60).collect()));
    }
    let mut ranked: Vec<usize> = (0..all.len()).filter(|at| all[*at].0[1..].starts_with(typed)).collect();
    for at in fuzzy::rank(typed, all.iter().map(|(name, _)| name.as_str()), false, 20) {
        if !ranked.contains(&at) {
            ranked.push(at);
        }
    }
    ranked.into_iter().take(20).map(|at| all[at].clone()).collect()
}
