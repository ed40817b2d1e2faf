//! Which key does what: the default keymap with the person's merged over it. Whatever is wrong in
//! the person's is named with file, line and key; the rest is used.

use crate::ui::action::{ACTIONS, Action, LAYERS, Layer};
use crate::ui::input::{Key, key_name, parse_key};
use crate::ui::jsonc::{Leaf, Problem, Row, rows};

const DEFAULT: &str = include_str!("../../assets/keymap.json");

/// One binding: one key or two in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Binding {
    layer: Layer,
    keys: Vec<Key>,
    action: Action,
}

/// Which key does what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keymap {
    bindings: Vec<Binding>,
}

/// What a key means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// Do this.
    Do(Action),
    /// The first of two keys.
    First,
    /// Nothing.
    Nothing,
}

impl Default for Keymap {
    fn default() -> Self {
        let mut keymap = Self { bindings: Vec::new() };
        let problems = keymap.merge(DEFAULT, "the default keymap");
        debug_assert!(problems.is_empty(), "{problems:?}");
        keymap
    }
}

impl Keymap {
    /// Merges a person's keymap over this one.
    pub fn merge(&mut self, text: &str, file: &str) -> Vec<Problem> {
        let rows = match rows(text, file) {
            Ok(rows) => rows,
            Err(problem) => return vec![problem],
        };
        let mut problems = Vec::new();
        for row in rows {
            if let Err(expected) = self.take(&row) {
                problems.push(Problem { file: file.to_owned(), line: row.line, key: row.key(), expected });
            }
        }
        problems
    }

    fn take(&mut self, row: &Row) -> Result<(), String> {
        let layers = || LAYERS.iter().map(|(_, name, _)| *name).collect::<Vec<_>>().join(", ");
        if let ([layer], Leaf::Empty) = (row.path.as_slice(), &row.value)
            && LAYERS.iter().any(|(_, name, _)| name == layer)
        {
            return Ok(());
        }
        let [layer, keys] = row.path.as_slice() else {
            return Err(format!("expected keys under one of {}", layers()));
        };
        let Some((layer, _, _)) = LAYERS.iter().find(|(_, name, _)| name == layer) else {
            return Err(format!("unknown part; expected one of {}", layers()));
        };
        let keys = parse_keys(keys)
            .ok_or("expected a key such as `ctrl-x`, `alt-enter`, `f2`, `?`, or two such as `ctrl-x m`")?;
        let action = match &row.value {
            Leaf::Null => None,
            Leaf::Text(name) => Some(Action::parse(*layer, name).ok_or_else(|| {
                let names: Vec<&str> =
                    ACTIONS.iter().filter(|(l, ..)| l == layer).map(|(_, _, name, _)| *name).collect();
                format!("unknown action `{name}`; expected null or one of {}", names.join(", "))
            })?),
            Leaf::Empty => return Err("expected an action's name or null, found an object".to_owned()),
            Leaf::Other(what) => return Err(format!("expected an action's name or null, found {what}")),
        };
        self.bindings.retain(|b| !(b.layer == *layer && b.keys == keys));
        if let Some(action) = action {
            self.bindings.push(Binding { layer: *layer, keys, action });
        }
        Ok(())
    }

    /// What `key` means in the layers, the first that knows it; `before`: the first of two keys, if one waits.
    pub fn meaning(&self, layers: &[Layer], before: Option<Key>, key: Key) -> Meaning {
        for layer in layers {
            let here = || self.bindings.iter().filter(|b| b.layer == *layer);
            let wanted: &[Key] = &match before {
                Some(first) => vec![first, key],
                None => vec![key],
            };
            if let Some(binding) = here().find(|b| b.keys == wanted) {
                return Meaning::Do(binding.action);
            }
            if before.is_none() && here().any(|b| b.keys.len() == 2 && b.keys[0] == key) {
                return Meaning::First;
            }
        }
        Meaning::Nothing
    }

    /// The keys of an action, for hints and help.
    pub fn keys_of(&self, action: Action) -> Vec<String> {
        self.bindings.iter().filter(|b| b.action == action).map(|b| show(&b.keys)).collect()
    }

    /// Its first key, as hints show it: `^P`, `Alt-A`, `Esc`.
    pub fn hint(&self, action: Action) -> String {
        self.bindings.iter().find(|b| b.action == action).map(|b| short(&b.keys)).unwrap_or_default()
    }

    /// All its keys, as hints show them.
    pub fn hints(&self, action: Action) -> Vec<String> {
        self.bindings.iter().filter(|b| b.action == action).map(|b| short(&b.keys)).collect()
    }

    /// What can follow the first of two keys in the layers: (the second, what it does).
    pub fn after(&self, layers: &[Layer], first: Key) -> Vec<(String, Action)> {
        let follows = |b: &&Binding| layers.contains(&b.layer) && b.keys.len() == 2 && b.keys[0] == first;
        self.bindings.iter().filter(follows).map(|b| (short(&b.keys[1..]), b.action)).collect()
    }

    /// The page of all keys, in Markdown.
    pub fn page(&self) -> String {
        let mut out = String::from(
            "# Keys\n\nEvery key can be changed in `keymap.json` (see `CONFIG.md`). This page is made from the default keymap.\n",
        );
        for (layer, name, title) in LAYERS {
            out.push_str(&format!(
                "\n## {title} (`{name}`)\n\n| key | action | what it does |\n|---|---|---|\n"
            ));
            for (_, action, name, says) in ACTIONS.iter().filter(|(l, ..)| l == layer) {
                let keys: Vec<String> = self.keys_of(*action).iter().map(|k| format!("`{k}`")).collect();
                out.push_str(&format!("| {} | `{name}` | {says} |\n", keys.join(" ")));
            }
        }
        out
    }
}

fn parse_keys(text: &str) -> Option<Vec<Key>> {
    let keys: Vec<Key> = text.split(' ').map(parse_key).collect::<Option<_>>()?;
    (1..=2).contains(&keys.len()).then_some(keys)
}

fn show(keys: &[Key]) -> String {
    keys.iter().map(|k| key_name(*k)).collect::<Vec<_>>().join(" ")
}

const ARROWS: [(&str, &str); 4] = [("up", "↑"), ("down", "↓"), ("left", "←"), ("right", "→")];

fn short(keys: &[Key]) -> String {
    let one = |key: &Key| {
        let name = key_name(*key);
        if let Some(c) = name.strip_prefix("ctrl-").filter(|c| c.chars().count() == 1) {
            return format!("^{}", c.to_uppercase());
        }
        let mut out = String::new();
        let mut first = true;
        for part in name.split('-') {
            if !first {
                out.push('-');
            }
            first = false;
            let mut chars = part.chars();
            if part.chars().count() == 1 && out.is_empty() {
                out.push_str(part);
            } else if let Some((_, arrow)) = ARROWS.iter().find(|(name, _)| *name == part) {
                out.push_str(arrow);
            } else if let Some(way) = part.strip_prefix("page") {
                out.push_str(if way == "up" { "PageUp" } else { "PageDown" });
            } else if let Some(c) = chars.next() {
                out.extend(c.to_uppercase());
                out.push_str(chars.as_str());
            }
        }
        out
    };
    keys.iter().map(one).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_keymap_is_valid_and_binds_every_action() {
        let mut keymap = Keymap { bindings: Vec::new() };
        assert_eq!(keymap.merge(DEFAULT, "default"), vec![]);
        for (_, action, name, _) in ACTIONS {
            assert!(!keymap.keys_of(*action).is_empty(), "{name} has no key");
        }
    }

    #[test]
    fn the_page_of_keys_is_the_default_keymap() {
        let page = Keymap::default().page();
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/KEYS.md");
        if std::env::var_os("WINDLASS_WRITE_DOCS").is_some() {
            std::fs::write(file, &page).expect("docs/KEYS.md is written");
        }
        assert_eq!(
            std::fs::read_to_string(file).unwrap_or_default(),
            page,
            "WINDLASS_WRITE_DOCS=1 writes it anew"
        );
    }

    #[test]
    fn an_unknown_part_is_named_also_when_it_is_empty() {
        let said = Keymap::default().merge("{\"global\": {}, \"nowhere\": {}}", "keymap.json");
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(
            said[0].to_string().starts_with("keymap.json:1: nowhere: expected keys under one of"),
            "{said:?}"
        );
    }

    #[test]
    fn a_persons_keymap_is_merged_and_what_is_wrong_is_named() {
        let mut keymap = Keymap::default();
        let problems = keymap.merge(
            "{\n // mine\n \"global\": {\n  \"ctrl-p\": null,\n  \"f5\": \"palette\",\n  \"hyper-x\": \"help\",\n  \"f6\": \"fly\"\n },\n \"nowhere\": { \"a\": \"b\" }\n}",
            "keymap.json",
        );
        let said: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert!(said[0].starts_with("keymap.json:6: global.hyper-x: expected a key such as"), "{said:?}");
        assert!(
            said[1].starts_with("keymap.json:7: global.f6: unknown action `fly`; expected null or one of")
        );
        assert!(said[2].starts_with("keymap.json:9: nowhere.a: unknown part"));
        let key = |name: &str| parse_key(name).expect("a key");
        assert_eq!(keymap.meaning(&[Layer::Global], None, key("ctrl-p")), Meaning::Nothing);
        assert_eq!(keymap.meaning(&[Layer::Global], None, key("f5")), Meaning::Do(Action::Palette));
        assert_eq!(keymap.meaning(&[Layer::Global], None, key("ctrl-x")), Meaning::First);
        assert_eq!(
            keymap.meaning(&[Layer::Global], Some(key("ctrl-x")), key("m")),
            Meaning::Do(Action::Models)
        );
        assert_eq!(keymap.hint(Action::Models), "^X m");
        assert_eq!(keymap.hint(Action::AnswerApproval), "Alt-A");
        assert_eq!(keymap.hint(Action::Interrupt), "Esc");
    }
}
