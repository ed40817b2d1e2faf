//! What happens to the composer.

use tui_textarea::CursorMove;

use super::draft::Draft;
use super::{Msg, Out, State, popup, slash, vi};
use crate::ui::action::Action;
use crate::ui::vi::{Mode, Vi};
use crate::ui::writing;

/// Most earlier prompts that are remembered.
const HISTORY_MAX: usize = 500;

/// Changes the state by a message. `pending`: a message waits that can be taken back.
pub fn update(state: &mut State, msg: Msg, pending: bool) -> Vec<Out> {
    let mut out = Vec::new();
    vi::before(state, matches!(msg, Msg::Insert(_)));
    match msg {
        Msg::Do(action) => do_action(state, action, pending, &mut out),
        Msg::Insert(c) => {
            state.draft.edit(|area| area.insert_char(c));
            look(state, &mut out);
        }
        Msg::Paste(text) => match image_path(&text) {
            Some(path) => out.push(Out::ReadImage(Some(path))),
            None => {
                state.draft.paste(&text);
                state.popup = None;
            }
        },
        Msg::Image(image) => state.draft.image(image),
        Msg::NoImage(path) => state.draft.paste(&path),
        Msg::Edited(text) => state.draft.set(text.trim_end_matches('\n')),
        Msg::TakenBack(text, images) => state.draft.prepend(&text, images),
        Msg::Files(files) => {
            state.files = files;
            look(state, &mut out);
        }
        Msg::Prompts(prompts) => {
            for prompt in prompts {
                if !state.history.contains(&prompt) && state.history.len() < HISTORY_MAX {
                    state.history.push(prompt);
                }
            }
        }
        Msg::Commands(commands) => state.commands = commands,
        Msg::Recall(text) => {
            state.recalled = None;
            state.draft.set(&text);
        }
        Msg::Clear => {
            remember(state);
            state.draft = Draft::default();
            state.popup = None;
            state.recalled = None;
            renew(state);
        }
    }
    vi::after(state);
    out
}

/// Another draft begins: what is typed next is written.
fn renew(state: &mut State) {
    state.vi.iter_mut().for_each(Vi::renew);
}

fn look(state: &mut State, out: &mut Vec<Out>) {
    if state.vi.as_ref().is_some_and(|vi| vi.mode() != Mode::Insert) {
        state.popup = None;
        return;
    }
    if popup::look(state) {
        out.push(Out::AskFiles);
    }
}

/// A paste that is nothing but the path of an image, as terminals write a dropped file.
fn image_path(text: &str) -> Option<String> {
    let line = text.trim();
    if line.contains('\n') || line.len() > 4096 {
        return None;
    }
    let bare = line.strip_prefix("file://").unwrap_or(line);
    let bare = bare.trim_matches(['\'', '"']).replace("\\ ", " ");
    let lower = bare.to_ascii_lowercase();
    let image = [".png", ".jpg", ".jpeg", ".gif", ".webp"].iter().any(|end| lower.ends_with(end));
    (image && (bare.starts_with('/') || bare.starts_with("~/"))).then_some(bare)
}

fn do_action(state: &mut State, action: Action, pending: bool, out: &mut Vec<Out>) {
    if let Some(step) = popup_step(state, action) {
        if step {
            look(state, out);
        }
        return;
    }
    match action {
        Action::Send => return send(state, false, out),
        Action::Queue => return send(state, true, out),
        Action::Complete => return out.push(Out::Leave),
        Action::Up => return up(state, pending, out),
        Action::Down => return down(state),
        Action::SearchHistory => {
            ask_history(state, out);
            return out.push(Out::SearchHistory);
        }
        Action::Editor => return out.push(Out::Edit(state.draft.whole().0)),
        Action::PasteImage => return out.push(Out::ReadImage(None)),
        Action::Undo | Action::Redo if state.vi.is_some() => return vi::step(state, action),
        _ => {}
    }
    state.draft.edit(|area| match action {
        Action::Undo => drop(area.undo()),
        Action::Redo => drop(area.redo()),
        action => drop(writing::act(area, action)),
    });
    look(state, out);
}

/// What a key does to the suggestions. None: nothing, it is the draft's.
fn popup_step(state: &mut State, action: Action) -> Option<bool> {
    let shown = state.popup.as_mut()?;
    let last = shown.rows.len().saturating_sub(1);
    match action {
        Action::Up => shown.at = shown.at.checked_sub(1).unwrap_or(last),
        Action::Down => shown.at = if shown.at == last { 0 } else { shown.at + 1 },
        Action::Complete | Action::Send => {
            let shown = state.popup.take()?;
            let (text, _) = shown.rows.get(shown.at)?.clone();
            // Enter on a command that is written out sends it
            if action == Action::Send && shown.commands && state.draft.shown() == text {
                return None;
            }
            state.draft.replace_before(shown.column, &format!("{text} "));
            if action == Action::Send && shown.commands && !takes_more(&text) {
                return None;
            }
        }
        _ => return None,
    }
    Some(false)
}

/// Whether a command must be followed by something.
fn takes_more(command: &str) -> bool {
    let name = command.trim_start_matches('/');
    match slash::COMMANDS.iter().find(|(n, _, _)| *n == name) {
        Some((_, args, _)) => !args.is_empty() && !args.starts_with('['),
        None => true,
    }
}

fn send(state: &mut State, after_turn: bool, out: &mut Vec<Out>) {
    if !after_turn && state.draft.before_cursor().ends_with('\\') {
        state.draft.edit(|area| {
            area.delete_char();
            area.insert_newline();
        });
        return;
    }
    let (text, images) = state.draft.whole();
    if text.trim().is_empty() && images.is_empty() {
        return;
    }
    if let Some(done) = special(state, &text) {
        match done {
            Out::Say(_) => return out.push(done),
            done => out.push(done),
        }
    } else {
        out.push(Out::Send { text, images, after_turn });
    }
    remember(state);
    state.draft = Draft::default();
    state.popup = None;
    state.recalled = None;
    renew(state);
}

/// A draft that is no message: a `/` command or a `!` command.
fn special(state: &State, text: &str) -> Option<Out> {
    if let Some(command) = text.strip_prefix('!') {
        let (command, hidden) = match command.strip_prefix('!') {
            Some(rest) => (rest.trim(), true),
            None => (command.trim(), false),
        };
        return Some(if command.is_empty() {
            Out::Say("a command goes after the `!`".to_owned())
        } else {
            Out::Shell { command: command.to_owned(), hidden }
        });
    }
    let (name, args) = slash::parse(text)?;
    if let Some(own) = state.commands.iter().find(|c| c.name == name) {
        let text = if own.text.contains("$ARGUMENTS") {
            own.text.replace("$ARGUMENTS", args)
        } else if args.is_empty() {
            own.text.clone()
        } else {
            format!("{}\n\n{args}", own.text)
        };
        return Some(Out::Send { text, images: Vec::new(), after_turn: false });
    }
    Some(if slash::COMMANDS.iter().any(|(n, _, _)| *n == name) {
        Out::Slash(name.to_owned(), args.to_owned())
    } else {
        Out::Say(slash::unknown(name, &state.commands))
    })
}

/// Keeps the draft in the history.
fn remember(state: &mut State) {
    let (text, _) = state.draft.whole();
    if !text.trim().is_empty() {
        state.history.retain(|old| *old != text);
        state.history.insert(0, text);
        state.history.truncate(HISTORY_MAX);
    }
}

fn ask_history(state: &mut State, out: &mut Vec<Out>) {
    if !std::mem::replace(&mut state.asked_history, true) {
        out.push(Out::AskPrompts);
    }
}

fn up(state: &mut State, pending: bool, out: &mut Vec<Out>) {
    if state.draft.is_empty() && pending {
        return out.push(Out::TakeBack);
    }
    if !state.draft.at_first_line() {
        return state.draft.edit(|area| area.move_cursor(CursorMove::Up));
    }
    ask_history(state, out);
    let next = state.recalled.as_ref().map_or(0, |(at, _)| at + 1);
    let Some(text) = state.history.get(next).cloned() else { return };
    let covered = match state.recalled.take() {
        Some((_, covered)) => covered,
        None => std::mem::take(&mut state.draft),
    };
    state.recalled = Some((next, covered));
    state.draft = Draft::of(&text);
    state.vi.iter_mut().for_each(Vi::replaced);
}

fn down(state: &mut State) {
    if !state.draft.at_last_line() {
        return state.draft.edit(|area| area.move_cursor(CursorMove::Down));
    }
    if state.recalled.is_some() {
        state.vi.iter_mut().for_each(Vi::replaced);
    }
    match state.recalled.take() {
        None => {}
        Some((0, covered)) => state.draft = covered,
        Some((at, covered)) => {
            state.draft = Draft::of(state.history.get(at - 1).map_or("", String::as_str));
            state.recalled = Some((at - 1, covered));
        }
    }
}

#[cfg(test)]
#[path = "update_tests.rs"]
mod tests;
