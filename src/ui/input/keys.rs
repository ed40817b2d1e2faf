//! What a sequence means: tables for control bytes, CSI, SS3 and string sequences.

use super::{Code, Input, Key, Mods, Mouse, MouseDid, Reply};

/// The key of a control byte; none for a byte that is no control.
pub(super) fn control(byte: u8) -> Option<Key> {
    Some(match byte {
        0x0d => Key::plain(Code::Enter),
        0x09 => Key::plain(Code::Tab),
        0x7f => Key::plain(Code::Backspace),
        0x00 => Key::with(Code::Char(' '), Mods::CTRL),
        0x01..=0x1a => Key::with(Code::Char(char::from(byte - 1 + b'a')), Mods::CTRL),
        0x1c..=0x1f => Key::with(Code::Char(char::from(byte - 0x1c + b'\\')), Mods::CTRL),
        _ => return None,
    })
}

/// Modifiers as terminals number them: one more than the sum of 1 shift, 2 alt, 4 control, 8 super.
fn mods(number: u32) -> Mods {
    let bits = number.saturating_sub(1);
    Mods { shift: bits & 1 != 0, alt: bits & 2 != 0, ctrl: bits & 4 != 0, meta: bits & 8 != 0 }
}

/// The numbers of a parameter body, each with its colon-separated parts.
fn numbers(body: &[u8]) -> Vec<Vec<u32>> {
    body.split(|b| *b == b';')
        .map(|part| {
            part.split(|b| *b == b':')
                .map(|digits| {
                    digits.iter().filter(|d| d.is_ascii_digit()).fold(0u32, |sum, digit| {
                        sum.saturating_mul(10).saturating_add(u32::from(digit - b'0'))
                    })
                })
                .collect()
        })
        .collect()
}

fn get(numbers: &[Vec<u32>], at: usize, part: usize) -> Option<u32> {
    numbers.get(at).and_then(|parts| parts.get(part)).copied().filter(|n| *n != 0)
}

/// What a CSI sequence means; `body` stands between `ESC [` and the last byte.
pub(super) fn csi(body: &[u8], last: u8) -> Option<Input> {
    match body.first() {
        Some(b'<') => return mouse(&body[1..], last),
        Some(b'?') => return private(&body[1..], last),
        Some(b'>' | b'=') => return Some(Input::Reply(Reply::Other)),
        _ => {}
    }
    let n = numbers(body);
    // an event type of 3 is the release of a key
    if get(&n, 1, 1) == Some(3) {
        return None;
    }
    let held = mods(get(&n, 1, 0).unwrap_or(1));
    match last {
        b'I' if body.is_empty() => Some(Input::Focus(true)),
        b'O' if body.is_empty() => Some(Input::Focus(false)),
        b'Z' => Some(Input::Key(Key::with(Code::Tab, Mods { shift: true, ..held }))),
        b'~' => tilde(&n, held),
        b'^' => tilde(&n, Mods { ctrl: true, ..held }),
        b'@' => tilde(&n, Mods { ctrl: true, shift: true, ..held }),
        b'u' => kitty(&n, held),
        // a cursor position, unless it is F3 with a modifier
        b'R' if get(&n, 0, 0) != Some(1) && !body.is_empty() => Some(Input::Reply(Reply::Other)),
        b'c' | b'n' | b't' | b'y' => Some(Input::Reply(Reply::Other)),
        b'a'..=b'd' if body.is_empty() => letter(last.to_ascii_uppercase())
            .map(|code| Input::Key(Key::with(code, Mods { shift: true, ..held }))),
        _ => letter(last).map(|code| Input::Key(Key::with(code, held))),
    }
}

fn letter(last: u8) -> Option<Code> {
    Some(match last {
        b'A' => Code::Up,
        b'B' => Code::Down,
        b'C' => Code::Right,
        b'D' => Code::Left,
        b'H' => Code::Home,
        b'F' => Code::End,
        b'P' => Code::F(1),
        b'Q' => Code::F(2),
        b'R' => Code::F(3),
        b'S' => Code::F(4),
        _ => return None,
    })
}

fn tilde(n: &[Vec<u32>], held: Mods) -> Option<Input> {
    let code = match get(n, 0, 0)? {
        1 | 7 => Code::Home,
        2 => Code::Insert,
        3 => Code::Delete,
        4 | 8 => Code::End,
        5 => Code::PageUp,
        6 => Code::PageDown,
        n @ 11..=15 => Code::F((n - 10) as u8),
        n @ 17..=21 => Code::F((n - 11) as u8),
        n @ 23..=24 => Code::F((n - 12) as u8),
        27 => return other_key(get(n, 2, 0)?, held),
        _ => return None,
    };
    Some(Input::Key(Key::with(code, held)))
}

fn kitty(n: &[Vec<u32>], held: Mods) -> Option<Input> {
    // a shifted form is told as the second part
    match get(n, 0, 1) {
        Some(shifted) if held.shift => other_key(shifted, Mods { shift: false, ..held }),
        _ => other_key(get(n, 0, 0)?, held),
    }
}

/// A key by its code point, as kitty and modifyOtherKeys tell it.
fn other_key(point: u32, held: Mods) -> Option<Input> {
    let code = match point {
        13 | 57414 => Code::Enter,
        9 => Code::Tab,
        8 | 127 => Code::Backspace,
        27 => Code::Escape,
        n @ 57376..=57398 => Code::F((n - 57376 + 13) as u8),
        n @ 57399..=57408 => Code::Char(char::from(b'0' + (n - 57399) as u8)),
        57409 => Code::Char('.'),
        57410 => Code::Char('/'),
        57411 => Code::Char('*'),
        57412 => Code::Char('-'),
        57413 => Code::Char('+'),
        57415 => Code::Char('='),
        57417 => Code::Left,
        57418 => Code::Right,
        57419 => Code::Up,
        57420 => Code::Down,
        57421 => Code::PageUp,
        57422 => Code::PageDown,
        57423 => Code::Home,
        57424 => Code::End,
        57425 => Code::Insert,
        57426 => Code::Delete,
        57344..=63743 => return None,
        _ => {
            let c = char::from_u32(point).filter(|c| !c.is_control())?;
            return Some(Input::Key(char_key(c, held)));
        }
    };
    Some(Input::Key(Key::with(code, held)))
}

/// A character key: Shift goes into the character; Control makes a letter lower case.
fn char_key(c: char, held: Mods) -> Key {
    let mut c = c;
    let mut upper = c.to_uppercase();
    if held.ctrl {
        c = c.to_ascii_lowercase();
    } else if held.shift && upper.len() == 1 {
        c = upper.next().unwrap_or(c);
    }
    // control with shift and a letter stays apart from control alone
    let shift = held.shift && held.ctrl && c.is_ascii_alphabetic();
    Key::with(Code::Char(c), Mods { shift, ..held })
}

/// What an SS3 sequence means.
pub(super) fn ss3(last: u8, modifier: Option<u32>) -> Option<Key> {
    let held = mods(modifier.unwrap_or(1));
    if let Some(code) = letter(last) {
        return Some(Key::with(code, held));
    }
    let code = match last {
        b'M' => Code::Enter,
        b'I' => Code::Tab,
        b'j'..=b'y' => Code::Char(char::from(b"*+,-./0123456789"[usize::from(last - b'j')])),
        b'X' => Code::Char('='),
        _ => return None,
    };
    Some(Key::with(code, held))
}

fn mouse(body: &[u8], last: u8) -> Option<Input> {
    let n = numbers(body);
    let kind = n.first().and_then(|p| p.first()).copied()?;
    let column = u16::try_from(get(&n, 1, 0)?.saturating_sub(1)).ok()?;
    let row = u16::try_from(get(&n, 2, 0)?.saturating_sub(1)).ok()?;
    let did = match (kind & !0b1_1100, last) {
        (0, b'M') => MouseDid::Press,
        (0, b'm') => MouseDid::Release,
        (32, b'M') => MouseDid::Drag,
        (64, b'M') => MouseDid::WheelUp,
        (65, b'M') => MouseDid::WheelDown,
        (_, b'M' | b'm') => MouseDid::Other,
        _ => return None,
    };
    let button = u8::try_from(kind).ok()?;
    Some(Input::Mouse(Mouse { did, column, row, button, up: last == b'm' }))
}

fn private(body: &[u8], last: u8) -> Option<Input> {
    let n = numbers(body);
    let reply = match last {
        b'c' => Reply::Attributes,
        b'n' if get(&n, 0, 0) == Some(997) => match get(&n, 1, 0) {
            Some(light @ (1 | 2)) => Reply::Scheme(light == 2),
            _ => Reply::Other,
        },
        b'u' => Reply::Kitty(get(&n, 0, 0).unwrap_or(0)),
        b'y' if body.ends_with(b"$") => Reply::Mode(get(&n, 0, 0).unwrap_or(0), get(&n, 1, 0).unwrap_or(0)),
        _ => Reply::Other,
    };
    Some(Input::Reply(reply))
}

/// What a string sequence means; `bytes` begin with the byte after ESC and hold the terminator.
pub(super) fn string(bytes: &[u8]) -> Reply {
    let end = bytes.iter().position(|b| matches!(b, 0x07 | 0x1b)).unwrap_or(bytes.len());
    let text = String::from_utf8_lossy(&bytes[1..end]);
    match (bytes[0], text.split_once(';')) {
        (b']', Some((number @ ("10" | "11"), color))) if color.starts_with("rgb") => {
            Reply::Color(if number == "10" { 10 } else { 11 }, color.to_owned())
        }
        _ => Reply::Other,
    }
}
