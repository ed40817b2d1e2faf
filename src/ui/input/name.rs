//! Names of keys, as keymaps write and hints show them: `ctrl-x`, `alt-enter`, `pageup`, `?`.

use super::{Code, Key, Mods};

const NAMED: &[(&str, Code)] = &[
    ("enter", Code::Enter),
    ("tab", Code::Tab),
    ("backspace", Code::Backspace),
    ("esc", Code::Escape),
    ("up", Code::Up),
    ("down", Code::Down),
    ("left", Code::Left),
    ("right", Code::Right),
    ("home", Code::Home),
    ("end", Code::End),
    ("pageup", Code::PageUp),
    ("pagedown", Code::PageDown),
    ("insert", Code::Insert),
    ("delete", Code::Delete),
    ("space", Code::Char(' ')),
];

/// The key of a name; none when it names none.
pub fn parse_key(name: &str) -> Option<Key> {
    let mut mods = Mods::NONE;
    let mut rest = name;
    loop {
        let (flag, tail) = if let Some(tail) = rest.strip_prefix("ctrl-") {
            (&mut mods.ctrl, tail)
        } else if let Some(tail) = rest.strip_prefix("alt-") {
            (&mut mods.alt, tail)
        } else if let Some(tail) = rest.strip_prefix("shift-") {
            (&mut mods.shift, tail)
        } else if let Some(tail) = rest.strip_prefix("super-") {
            (&mut mods.meta, tail)
        } else {
            break;
        };
        *flag = true;
        rest = tail;
    }
    if let Some((_, code)) = NAMED.iter().find(|(n, _)| *n == rest) {
        return Some(Key::with(*code, mods));
    }
    if let Some(number) = rest.strip_prefix('f').and_then(|n| n.parse::<u8>().ok()) {
        return (1..=35).contains(&number).then(|| Key::with(Code::F(number), mods));
    }
    let mut chars = rest.chars();
    let c = chars.next()?;
    if chars.next().is_some() || c.is_control() || (mods.shift && !mods.ctrl) {
        return None;
    }
    Some(Key::with(Code::Char(c), mods))
}

/// The name of a key, as `parse_key` reads it.
pub fn key_name(key: Key) -> String {
    let mut out = String::new();
    for (held, word) in [
        (key.mods.ctrl, "ctrl-"),
        (key.mods.alt, "alt-"),
        (key.mods.shift, "shift-"),
        (key.mods.meta, "super-"),
    ] {
        if held {
            out.push_str(word);
        }
    }
    match (NAMED.iter().find(|(_, code)| *code == key.code), key.code) {
        (Some((name, _)), _) => out.push_str(name),
        (None, Code::F(n)) => out.push_str(&format!("f{n}")),
        (None, Code::Char(c)) => out.push(c),
        (None, _) => {}
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_both_ways() {
        for name in [
            "ctrl-x",
            "alt-enter",
            "pageup",
            "?",
            "shift-tab",
            "f12",
            "ctrl-alt-delete",
            "space",
            "-",
            "alt--",
        ] {
            let key = parse_key(name).unwrap_or_else(|| panic!("{name}"));
            assert_eq!(key_name(key), name);
        }
        for name in ["", "ctrl-", "foo", "shift-a", "f99"] {
            assert_eq!(parse_key(name), None, "{name}");
        }
    }
}
