//! Events become bytes: what a terminal of the kind `xterm` sends for a key, a paste, the mouse. Pure.
//!
//! The counterpart of `decode`, for a program in a terminal of ours. A keypad's keys type what stands on them, as
//! with Num Lock: the decoder does not tell them from the others. Deliberately not here: who is typed to.

use super::{Code, Key, Mods, Mouse, MouseDid};
use crate::api::screen::{Modes, Mouse as Wanted, MouseForm};

/// Lines that a turn of the wheel is worth where a program has no mouse, as arrow keys.
const WHEEL_LINES: usize = 3;

/// The bytes of a key. Empty: there are none for it.
pub fn key(key: Key, modes: &Modes) -> Vec<u8> {
    let Key { code, mods } = key;
    match code {
        Code::Char(c) => character(c, mods),
        Code::Enter => escaped(mods, b"\r"),
        Code::Tab if mods.shift => escaped(mods, b"\x1b[Z"),
        Code::Tab => escaped(mods, b"\t"),
        Code::Backspace => escaped(mods, if mods.ctrl { b"\x08" } else { b"\x7f" }),
        Code::Escape => escaped(mods, b"\x1b"),
        Code::Up => letter(b'A', mods, modes.application_cursor),
        Code::Down => letter(b'B', mods, modes.application_cursor),
        Code::Right => letter(b'C', mods, modes.application_cursor),
        Code::Left => letter(b'D', mods, modes.application_cursor),
        Code::Home => letter(b'H', mods, modes.application_cursor),
        Code::End => letter(b'F', mods, modes.application_cursor),
        Code::Insert => tilde(2, mods),
        Code::Delete => tilde(3, mods),
        Code::PageUp => tilde(5, mods),
        Code::PageDown => tilde(6, mods),
        Code::F(number) => function(number, mods),
    }
}

/// Alt is told by an escape before the key.
fn escaped(mods: Mods, bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + 1);
    if mods.alt {
        out.push(0x1b);
    }
    out.extend_from_slice(bytes);
    out
}

fn character(c: char, mods: Mods) -> Vec<u8> {
    if mods.ctrl
        && let Some(byte) = control(c)
    {
        return escaped(mods, &[byte]);
    }
    let mut bytes = [0; 4];
    escaped(mods, c.encode_utf8(&mut bytes).as_bytes())
}

/// What Control makes of a character; none: nothing.
fn control(c: char) -> Option<u8> {
    Some(match c {
        'a'..='z' | 'A'..='Z' => (c.to_ascii_lowercase() as u8) - b'a' + 1,
        ' ' | '@' | '2' => 0x00,
        '[' | '3' => 0x1b,
        '\\' | '4' => 0x1c,
        ']' | '5' => 0x1d,
        '^' | '6' => 0x1e,
        '_' | '7' | '/' => 0x1f,
        '8' | '?' => 0x7f,
        _ => return None,
    })
}

/// Modifiers as terminals number them; none: there is nothing to tell.
fn held(mods: Mods) -> Option<u32> {
    let bits = [(mods.shift, 1), (mods.alt, 2), (mods.ctrl, 4), (mods.meta, 8)];
    let sum: u32 = bits.iter().filter(|(held, _)| *held).map(|(_, bit)| bit).sum();
    (sum > 0).then_some(sum + 1)
}

fn letter(last: u8, mods: Mods, application: bool) -> Vec<u8> {
    match held(mods) {
        Some(number) => format!("\x1b[1;{number}{}", char::from(last)).into_bytes(),
        None => vec![0x1b, if application { b'O' } else { b'[' }, last],
    }
}

fn tilde(key: u32, mods: Mods) -> Vec<u8> {
    match held(mods) {
        Some(number) => format!("\x1b[{key};{number}~"),
        None => format!("\x1b[{key}~"),
    }
    .into_bytes()
}

fn function(number: u8, mods: Mods) -> Vec<u8> {
    /// F5 to F20, in order.
    const NUMBERS: [u32; 16] = [15, 17, 18, 19, 20, 21, 23, 24, 25, 26, 28, 29, 31, 32, 33, 34];
    match number {
        1..=4 => letter(b'P' + number - 1, mods, true),
        5..=20 => tilde(NUMBERS[usize::from(number - 5)], mods),
        _ => Vec::new(),
    }
}

/// The bytes of a paste: in brackets where the program asked for them, and nothing in it that could end them.
pub fn paste(text: &str, modes: &Modes) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 12);
    if modes.bracketed_paste {
        out.extend_from_slice(b"\x1b[200~");
    }
    let mut bytes = [0; 4];
    for c in text.chars() {
        match c {
            // a terminal pastes line ends as the key sends them
            '\n' => out.push(b'\r'),
            '\t' => out.push(b'\t'),
            c if c.is_control() => {}
            c => out.extend_from_slice(c.encode_utf8(&mut bytes).as_bytes()),
        }
    }
    if modes.bracketed_paste {
        out.extend_from_slice(b"\x1b[201~");
    }
    out
}

/// The bytes of what the mouse did at a cell of the program's terminal; empty where the program does not want it.
/// On the other screen of a program without a mouse the wheel is arrow keys, as terminals do it.
pub fn mouse(mouse: Mouse, modes: &Modes, alternate: bool) -> Vec<u8> {
    let wheel = matches!(mouse.did, MouseDid::WheelUp | MouseDid::WheelDown);
    if modes.mouse == Wanted::Off {
        let last = if mouse.did == MouseDid::WheelUp { b'A' } else { b'B' };
        let arrow = letter(last, Mods::NONE, modes.application_cursor);
        return if wheel && alternate { arrow.repeat(WHEEL_LINES) } else { Vec::new() };
    }
    let (moves, up) = (mouse.button & MOVES != 0, mouse.up);
    let wanted = match modes.mouse {
        Wanted::Off => false,
        Wanted::Press => !moves && !up,
        Wanted::Click => !moves,
        // a move without a button is told as of button 3
        Wanted::Drag => !moves || mouse.button & 3 != 3,
        Wanted::Motion => true,
    };
    if !wanted {
        return Vec::new();
    }
    let (column, row) = (u32::from(mouse.column) + 1, u32::from(mouse.row) + 1);
    // only the newest form says which button went up
    let button = if up && modes.mouse_form != MouseForm::Sgr { mouse.button | 3 } else { mouse.button };
    match modes.mouse_form {
        MouseForm::Sgr => {
            let last = if up { 'm' } else { 'M' };
            format!("\x1b[<{button};{column};{row}{last}").into_bytes()
        }
        MouseForm::Plain => numbers(&[u32::from(button), column, row], 223, |number, out| {
            out.push(u8::try_from(number).unwrap_or(u8::MAX));
        }),
        MouseForm::Utf8 => numbers(&[u32::from(button), column, row], 2015, |number, out| {
            let mut bytes = [0; 4];
            let c = char::from_u32(number).unwrap_or(' ');
            out.extend_from_slice(c.encode_utf8(&mut bytes).as_bytes());
        }),
    }
}

/// The bit of a report that tells of a move.
const MOVES: u8 = 32;

/// The old forms: each number 32 up. What is too far to be told is not.
fn numbers(numbers: &[u32], most: u32, put: impl Fn(u32, &mut Vec<u8>)) -> Vec<u8> {
    if numbers.iter().any(|number| *number > most) {
        return Vec::new();
    }
    let mut out = b"\x1b[M".to_vec();
    numbers.iter().for_each(|number| put(number + 32, &mut out));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::input::{Decoder, Input, parse_key};

    fn sent(name: &str, modes: &Modes) -> String {
        String::from_utf8(key(parse_key(name).expect(name), modes)).expect("text")
    }

    #[test]
    fn keys_are_sent_as_xterm_sends_them() {
        for (name, bytes) in [
            ("a", "a"),
            ("Z", "Z"),
            ("é", "é"),
            ("文", "文"),
            ("space", " "),
            ("enter", "\r"),
            ("alt-enter", "\x1b\r"),
            ("shift-enter", "\r"),
            ("tab", "\t"),
            ("shift-tab", "\x1b[Z"),
            ("backspace", "\x7f"),
            ("ctrl-backspace", "\x08"),
            ("alt-backspace", "\x1b\x7f"),
            ("esc", "\x1b"),
            ("alt-esc", "\x1b\x1b"),
            ("ctrl-a", "\x01"),
            ("ctrl-z", "\x1a"),
            ("ctrl-shift-c", "\x03"),
            ("ctrl-space", "\0"),
            ("ctrl-@", "\0"),
            ("ctrl-[", "\x1b"),
            ("ctrl-\\", "\x1c"),
            ("ctrl-]", "\x1d"),
            ("ctrl-^", "\x1e"),
            ("ctrl-_", "\x1f"),
            ("ctrl-?", "\x7f"),
            ("ctrl-;", ";"),
            ("alt-x", "\x1bx"),
            ("ctrl-alt-x", "\x1b\x18"),
            ("alt-ü", "\x1bü"),
            ("up", "\x1b[A"),
            ("down", "\x1b[B"),
            ("right", "\x1b[C"),
            ("left", "\x1b[D"),
            ("home", "\x1b[H"),
            ("end", "\x1b[F"),
            ("shift-up", "\x1b[1;2A"),
            ("alt-left", "\x1b[1;3D"),
            ("ctrl-right", "\x1b[1;5C"),
            ("ctrl-alt-shift-end", "\x1b[1;8F"),
            ("insert", "\x1b[2~"),
            ("delete", "\x1b[3~"),
            ("pageup", "\x1b[5~"),
            ("ctrl-pagedown", "\x1b[6;5~"),
            ("f1", "\x1bOP"),
            ("f4", "\x1bOS"),
            ("shift-f1", "\x1b[1;2P"),
            ("f5", "\x1b[15~"),
            ("f10", "\x1b[21~"),
            ("f11", "\x1b[23~"),
            ("f12", "\x1b[24~"),
            ("ctrl-f12", "\x1b[24;5~"),
            ("f20", "\x1b[34~"),
            ("f30", ""),
        ] {
            assert_eq!(sent(name, &Modes::default()), bytes, "{name}");
        }
        let application = Modes { application_cursor: true, application_keypad: true, ..Modes::default() };
        for (name, bytes) in [
            ("up", "\x1bOA"),
            ("left", "\x1bOD"),
            ("home", "\x1bOH"),
            ("end", "\x1bOF"),
            ("ctrl-up", "\x1b[1;5A"),
            ("pageup", "\x1b[5~"),
            ("5", "5"),
            ("enter", "\r"),
        ] {
            assert_eq!(sent(name, &application), bytes, "{name}");
        }
    }

    #[test]
    fn what_was_sent_is_read_as_the_same_key() {
        let codes = [Code::Up, Code::Home, Code::End, Code::Delete, Code::PageUp, Code::F(3), Code::F(12)];
        for code in codes.into_iter().chain(['q', 'ß', '日'].map(Code::Char)) {
            for bits in 0..8 {
                let mods =
                    Mods { shift: bits & 1 != 0, alt: bits & 2 != 0, ctrl: bits & 4 != 0, meta: false };
                // Shift is in the character, and Control makes nothing of most
                if matches!(code, Code::Char(c) if mods.shift || mods.ctrl && !c.is_ascii()) {
                    continue;
                }
                let wanted = Key { code, mods };
                for application_cursor in [false, true] {
                    let bytes = key(wanted, &Modes { application_cursor, ..Modes::default() });
                    let mut read = Vec::new();
                    Decoder::default().feed(&bytes, &mut read);
                    assert_eq!(read, [Input::Key(wanted)], "{bytes:?}");
                }
            }
        }
    }

    #[test]
    fn a_paste_is_bracketed_where_it_is_asked_for_and_cannot_leave_its_brackets() {
        let plain = Modes::default();
        assert_eq!(paste("a\nb\tc", &plain), b"a\rb\tc");
        let bracketed = Modes { bracketed_paste: true, ..plain };
        assert_eq!(paste("a\nb", &bracketed), b"\x1b[200~a\rb\x1b[201~");
        let evil = paste("a\x1b[201~rm -rf /\n", &bracketed);
        assert_eq!(evil, b"\x1b[200~a[201~rm -rf /\r\x1b[201~");
    }

    #[test]
    fn the_mouse_is_told_only_as_it_was_asked_for() {
        let at = |did, button, up| Mouse { did, column: 9, row: 4, button, up };
        let press = at(MouseDid::Press, 0, false);
        let release = at(MouseDid::Release, 0, true);
        let drag = at(MouseDid::Drag, 32, false);
        let moved = at(MouseDid::Other, 35, false);
        let wheel = at(MouseDid::WheelUp, 64, false);
        let right = at(MouseDid::Other, 2 + 16, false);
        let told = |wanted, form, what| {
            let modes = Modes { mouse: wanted, mouse_form: form, ..Modes::default() };
            String::from_utf8_lossy(&mouse(what, &modes, false)).into_owned()
        };
        let all = [press, release, drag, moved, wheel];
        let counts = |wanted| all.map(|what| !told(wanted, MouseForm::Sgr, what).is_empty());
        assert_eq!(counts(Wanted::Off), [false; 5]);
        assert_eq!(counts(Wanted::Press), [true, false, false, false, true]);
        assert_eq!(counts(Wanted::Click), [true, true, false, false, true]);
        assert_eq!(counts(Wanted::Drag), [true, true, true, false, true]);
        assert_eq!(counts(Wanted::Motion), [true; 5]);
        assert_eq!(told(Wanted::Click, MouseForm::Sgr, press), "\x1b[<0;10;5M");
        assert_eq!(told(Wanted::Click, MouseForm::Sgr, release), "\x1b[<0;10;5m");
        assert_eq!(told(Wanted::Click, MouseForm::Sgr, right), "\x1b[<18;10;5M");
        assert_eq!(told(Wanted::Click, MouseForm::Plain, press), "\x1b[M *%");
        assert_eq!(told(Wanted::Click, MouseForm::Plain, release), "\x1b[M#*%");
        let far = Mouse { column: 400, ..press };
        assert_eq!(told(Wanted::Click, MouseForm::Plain, far), "");
        assert_eq!(told(Wanted::Click, MouseForm::Utf8, far), "\x1b[M \u{1b1}%");
    }

    #[test]
    fn the_wheel_is_arrows_for_a_pager_without_a_mouse() {
        let wheel = Mouse { did: MouseDid::WheelDown, column: 0, row: 0, button: 65, up: false };
        let modes = Modes { application_cursor: true, ..Modes::default() };
        assert_eq!(mouse(wheel, &modes, true), b"\x1bOB\x1bOB\x1bOB");
        assert_eq!(mouse(wheel, &modes, false), b"");
    }
}
