//! The tour of the screen: five cards, left with Escape at any of them, shown again by `/tour`. The keys are those of
//! the keymap at hand. Deliberately not here: what the harness does, which the rehearsal shows.

use super::list::{Kind, Pick, Row, State};
use crate::ui::action::Action;
use crate::ui::keymap::Keymap;

/// How many cards there are.
pub const CARDS: usize = 5;

/// A card, from 0; the last one for any number beyond. `begun`: a model is chosen.
pub fn card(at: usize, keymap: &Keymap, begun: bool) -> State {
    let at = at.min(CARDS - 1);
    let (title, lines) = words(at, &|action| {
        let hint = keymap.hint(action);
        if hint.is_empty() { "(no key)".to_owned() } else { hint }
    });
    let mut rows = Vec::new();
    if at + 1 < CARDS {
        rows.push(Row::new("Next", "", Pick::Tour(at + 1)));
    }
    if at > 0 {
        rows.push(Row::new("Back", "", Pick::Tour(at - 1)));
    }
    match (at + 1 < CARDS, begun) {
        (true, _) => rows.push(Row::new("Enough", "/tour shows it again", Pick::Close)),
        (false, true) => rows.insert(0, Row::new("Begin", "", Pick::Close)),
        (false, false) => rows.insert(0, Row::new("Choose a model and begin", "", Pick::Slash("key"))),
    }
    let mut state = State::new(Kind::Tour, &format!("{title} · {} of {CARDS}", at + 1), rows);
    state.intro = lines;
    state.hint = "Enter goes on · Esc ends the tour".to_owned();
    state
}

fn words(at: usize, key: &dyn Fn(Action) -> String) -> (&'static str, Vec<String>) {
    use Action as A;
    match at {
        0 => (
            "The screen",
            vec![
                "Top line: the directory, the model, how much is asked before it acts, whether commands are confined, \
                 how full the model's window is, what it cost."
                    .to_owned(),
                "Middle: the conversation. Where there is room, at its right: what runs now, jobs, agents.".to_owned(),
                "Below: your message, and in the last line what is done and the keys that matter now.".to_owned(),
            ],
        ),
        1 => (
            "Writing",
            vec![
                format!(
                    "{} sends. While the model works it steers: it is heard at the next step; {} waits for the end \
                     of the turn. {} begins a new line.",
                    key(A::Send),
                    key(A::Queue),
                    key(A::Newline)
                ),
                "@ names a file, / a command, ! runs a command that the model sees, !! one that it does not."
                    .to_owned(),
                format!("{} finds earlier prompts, {} opens your editor.", key(A::SearchHistory), key(A::Editor)),
            ],
        ),
        2 => (
            "Stopping and answering",
            vec![
                format!("{} ends what runs, at once. {} twice leaves.", key(A::Interrupt), key(A::Cancel)),
                format!(
                    "Before it writes or runs something you are asked: {} once, {} for the session, {} always, {} no. \
                     Nothing is answered by accident: a question takes keys only after you could see it.",
                    key(A::Once),
                    key(A::ForSession),
                    key(A::Always),
                    key(A::No)
                ),
                format!("{} changes how much is asked.", key(A::NextMode)),
            ],
        ),
        3 => (
            "Reading and going back",
            reading(key),
        ),
        _ => (
            "Finding the rest",
            vec![
                format!("{} lists every command with its keys; typing narrows.", key(A::Palette)),
                format!("? (or {}) tells the keys of where you are, in every pane and list.", key(A::Help)),
                "/usage tells what was spent, /context what fills the window, /timeline what ran when.".to_owned(),
            ],
        ),
    }
}

/// How one reads what was said, and where the rest is.
fn reading(key: &dyn Fn(Action) -> String) -> Vec<String> {
    use Action as A;
    vec![
        format!(
            "{} turns to the conversation: {} and {} move, {} opens and folds, {} searches, {} copies, {} comes \
             back.",
            key(A::Conversation),
            key(A::Next),
            key(A::Previous),
            key(A::Toggle),
            key(A::Find),
            key(A::Copy),
            key(A::Leave)
        ),
        format!("{} shows the tree: go back to any entry, with the files or without.", key(A::Tree)),
        format!(
            "{} jobs, {} agents, {} what came back from them.",
            key(A::Jobs),
            key(A::Agents),
            key(A::HandBack)
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_card_leads_on_and_the_last_one_begins() {
        let keymap = Keymap::default();
        for at in 0..CARDS {
            for begun in [false, true] {
                let state = card(at, &keymap, begun);
                assert!(state.intro.iter().all(|line| !line.contains("(no key)")), "{:?}", state.intro);
                let wanted = match (at + 1 < CARDS, begun) {
                    (true, _) => Pick::Tour(at + 1),
                    (false, true) => Pick::Close,
                    (false, false) => Pick::Slash("key"),
                };
                assert_eq!(state.marked().map(|row| row.pick.clone()), Some(wanted));
            }
        }
    }
}
