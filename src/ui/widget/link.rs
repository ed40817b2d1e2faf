//! Where a link goes: an address that the terminal may be told, kept once for the process and named by a
//! number, so that a look stays small and a cell can carry it.
//!
//! An address is of a kind that a browser or a mail program opens, and consists of printable ASCII: nothing in
//! it ends the sequence that tells it. The shown text tells it too, where it is another (`markdown::inline`).

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use ratatui::style::Color;

use super::text::hides;

/// Longest address, in bytes as it is written: what terminals take.
const ADDRESS_MAX: usize = 2_083;
/// Most addresses, and most bytes of all of them; what comes after is shown and not linked.
const KNOWN_MAX: usize = 65_536;
const BYTES_MAX: usize = 8 * 1024 * 1024;

/// A link's address, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Link(NonZeroU32);

#[derive(Default)]
struct Known {
    numbers: HashMap<Arc<str>, NonZeroU32>,
    addresses: Vec<Arc<str>>,
    bytes: usize,
}

fn known() -> &'static RwLock<Known> {
    static KNOWN: OnceLock<RwLock<Known>> = OnceLock::new();
    KNOWN.get_or_init(RwLock::default)
}

impl Link {
    /// The link to an address; none: it is none that a terminal is told.
    pub fn to(target: &str) -> Option<Self> {
        let address = written(target)?;
        let find = |known: &Known| known.numbers.get(address.as_str()).copied();
        if let Some(number) = find(&known().read().unwrap_or_else(PoisonError::into_inner)) {
            return Some(Self(number));
        }
        let mut known = known().write().unwrap_or_else(PoisonError::into_inner);
        if let Some(number) = find(&known) {
            return Some(Self(number));
        }
        if known.addresses.len() >= KNOWN_MAX || known.bytes + address.len() > BYTES_MAX {
            return None;
        }
        known.bytes += address.len();
        let address: Arc<str> = address.into();
        known.addresses.push(Arc::clone(&address));
        let number = NonZeroU32::new(known.addresses.len() as u32)?;
        known.numbers.insert(address, number);
        Some(Self(number))
    }
    /// Its number: two links with one go to the same address.
    pub fn number(self) -> u32 {
        self.0.get()
    }
    /// Its address.
    pub fn address(self) -> Option<Arc<str>> {
        let known = known().read().unwrap_or_else(PoisonError::into_inner);
        known.addresses.get(self.0.get() as usize - 1).cloned()
    }
    /// As the colour of a cell's underline, which no theme has.
    pub fn carried(self) -> Color {
        let [_, red, green, blue] = self.0.get().to_be_bytes();
        Color::Rgb(red, green, blue)
    }
    /// What a cell carries.
    pub fn of(underline: Color) -> Option<Self> {
        match underline {
            Color::Rgb(red, green, blue) => {
                NonZeroU32::new(u32::from_be_bytes([0, red, green, blue])).map(Self)
            }
            _ => None,
        }
    }
}

/// An address as a terminal is told it: printable ASCII, the rest in per cent.
fn written(target: &str) -> Option<String> {
    let (kind, _) = target.split_once(':')?;
    let opens = ["http", "https", "mailto"].iter().any(|known| known.eq_ignore_ascii_case(kind));
    if !opens || target.chars().any(|c| hides(c) || c.is_whitespace()) {
        return None;
    }
    let mut out = String::with_capacity(target.len());
    for byte in target.bytes() {
        match byte {
            b'!'..=b'~' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    (out.len() <= ADDRESS_MAX).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_told_only_when_nothing_in_it_can_end_it() {
        let address = |target: &str| Link::to(target).and_then(Link::address).map(|a| a.to_string());
        assert_eq!(address("https://a.b/c?d=e#f"), Some("https://a.b/c?d=e#f".into()));
        assert_eq!(address("HTTPS://a.b/ü"), Some("HTTPS://a.b/%C3%BC".into()));
        assert_eq!(address("mailto:a@b.c"), Some("mailto:a@b.c".into()));
        for evil in [
            "https://a\x1b\\b",
            "https://a\x07b",
            "https://a\u{9c}b",
            "https://a b",
            "https://a\nb",
            "https://a\u{202e}b",
            "https://a\u{200b}b",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "src/main.rs",
            "#top",
            "",
            &format!("https://{}", "x".repeat(2_083)),
        ] {
            assert_eq!(Link::to(evil), None, "{evil:?}");
        }
    }

    #[test]
    fn a_cell_carries_a_link() {
        let (a, b) = (Link::to("https://a.example"), Link::to("https://b.example"));
        assert!(a.is_some() && a != b && a == Link::to("https://a.example"));
        for link in [a, b].into_iter().flatten() {
            assert_eq!(Link::of(link.carried()), Some(link));
        }
        assert_eq!(Link::of(Color::Reset), None);
    }
}
