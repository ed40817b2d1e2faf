//! Words to the person that name keys: each as it is bound now.

use crate::ui::action::{ACTIONS, Action};
use crate::ui::keymap::Keymap;

/// Words, with keys in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Key(Action),
}

impl<T: Into<String>> From<T> for Said {
    fn from(text: T) -> Said {
        Said(vec![Part::Text(text.into())])
    }
}

impl Said {
    /// The same, and then words.
    pub fn and(mut self, text: impl Into<String>) -> Said {
        self.0.push(Part::Text(text.into()));
        self
    }

    /// The same, and then the key of an action.
    pub fn key(mut self, action: Action) -> Said {
        self.0.push(Part::Key(action));
        self
    }

    /// All of it, with the keys that are bound; an action without one by its name.
    pub fn words(&self, keymap: &Keymap) -> String {
        let part = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Key(action) => match keymap.hint(*action) {
                key if key.is_empty() => {
                    let known = ACTIONS.iter().find(|(_, known, ..)| known == action);
                    known.map_or_else(String::new, |(_, _, name, ..)| format!("`{name}`"))
                }
                key => key,
            },
        };
        self.0.iter().map(part).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_named_as_they_are_bound() {
        let said = Said::from("look · ").key(Action::ConflictUndo).and(" takes it back");
        assert_eq!(said.words(&Keymap::default()), "look · u takes it back");
        let mut keymap = Keymap::default();
        let mine = r#"{"conflict": {"u": null, "ctrl-y": "conflict-undo"}}"#;
        assert!(keymap.merge(mine, "keymap.json").is_empty());
        assert_eq!(said.words(&keymap), "look · ^Y takes it back");
    }
}
