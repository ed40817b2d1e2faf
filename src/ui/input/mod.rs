//! What a terminal sends, as events: keys, pastes, the mouse, the focus, replies.
//!
//! `decode` cuts the bytes into sequences, `keys` says what a sequence means, `burst` sees pastes of
//! terminals that do not bracket them; `encode` is the way back, for programs in terminals of ours.
//! Deliberately not here: reading, and what a key does.

mod burst;
mod decode;
pub mod encode;
mod keys;
mod name;

pub use burst::Reader;
pub use decode::Decoder;
pub use name::{key_name, parse_key};

/// One thing that came from the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A key was pressed (or repeats).
    Key(Key),
    /// A paste, whole; line ends are `\n`.
    Paste(String),
    /// The mouse.
    Mouse(Mouse),
    /// The terminal's window got (true) or lost the focus.
    Focus(bool),
    /// The terminal answered a question of ours.
    Reply(Reply),
}

/// A key with its modifiers. Shift is not told for characters: it is in the character.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// Which key.
    pub code: Code,
    /// Control, Alt, Shift, Super held with it.
    pub mods: Mods,
}

/// Which key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// A character; a letter is lower case when Control is held.
    Char(char),
    /// Enter.
    Enter,
    /// Tab.
    Tab,
    /// Backspace.
    Backspace,
    /// Escape.
    Escape,
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Arrow left.
    Left,
    /// Arrow right.
    Right,
    /// Home.
    Home,
    /// End.
    End,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// Insert.
    Insert,
    /// Delete.
    Delete,
    /// A function key.
    F(u8),
}

/// The modifiers held with a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mods {
    /// Control.
    pub ctrl: bool,
    /// Alt.
    pub alt: bool,
    /// Shift; never with a character.
    pub shift: bool,
    /// Super.
    pub meta: bool,
}

impl Mods {
    /// None held.
    pub const NONE: Mods = Mods { ctrl: false, alt: false, shift: false, meta: false };
    /// Control alone.
    pub const CTRL: Mods = Mods { ctrl: true, ..Mods::NONE };
    /// Alt alone.
    pub const ALT: Mods = Mods { alt: true, ..Mods::NONE };
    /// Shift alone.
    pub const SHIFT: Mods = Mods { shift: true, ..Mods::NONE };
}

impl Key {
    /// A key with nothing held.
    pub fn plain(code: Code) -> Self {
        Self { code, mods: Mods::NONE }
    }
    /// A key with modifiers.
    pub fn with(code: Code, mods: Mods) -> Self {
        Self { code, mods }
    }
    /// The character that it types, when it types one.
    pub fn typed(&self) -> Option<char> {
        match self.code {
            Code::Char(c) if !self.mods.ctrl && !self.mods.alt && !self.mods.meta => Some(c),
            _ => None,
        }
    }
}

/// Something the mouse did, at a cell counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mouse {
    /// What.
    pub did: MouseDid,
    /// Column.
    pub column: u16,
    /// Row.
    pub row: u16,
    /// The terminal's own number for it: button, modifiers, whether it moved.
    pub button: u8,
    /// A button went up.
    pub up: bool,
}

/// What the mouse did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MouseDid {
    /// The left button went down.
    Press,
    /// The left button went up.
    Release,
    /// It moved with the left button down.
    Drag,
    /// The wheel went up.
    WheelUp,
    /// The wheel went down.
    WheelDown,
    /// Something that we do not use.
    Other,
}

/// An answer of the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// It speaks the kitty keyboard protocol; its flags.
    Kitty(u32),
    /// The state of a private mode: 0 unknown, 1 set, 2 reset, 3 and 4 permanently so.
    Mode(u32, u32),
    /// Its foreground (10) or background (11) colour, as `rgb:…`.
    Color(u32, String),
    /// Its colours are light (true) or dark now.
    Scheme(bool),
    /// Its attributes.
    Attributes,
    /// Something else; swallowed.
    Other,
}
