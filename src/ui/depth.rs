//! How many colours the terminal shows, how a colour is told to it, and whether it takes links.

use ratatui::style::Color;

/// How many colours the terminal shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Depth {
    /// 24 bits.
    #[default]
    True,
    /// The 256 of xterm.
    Indexed,
    /// The 16 named ones.
    Named,
    /// None; bold, underline and reverse only.
    None,
}

/// Judges by the environment: `NO_COLOR`, `COLORTERM`, `TERM`.
pub fn depth(no_color: bool, env: &dyn Fn(&str) -> Option<String>) -> Depth {
    let get = |name: &str| env(name).unwrap_or_default();
    let term = get("TERM");
    if no_color || !get("NO_COLOR").is_empty() || term == "dumb" {
        Depth::None
    } else if matches!(get("COLORTERM").as_str(), "truecolor" | "24bit") || term.contains("direct") {
        Depth::True
    } else if term.contains("256color") || term.contains("kitty") || term.contains("alacritty") {
        Depth::Indexed
    } else {
        Depth::Named
    }
}

/// Terminals that show a link's address as text, or do nobody knows what.
const NO_LINKS: &[&str] = &["", "dumb", "linux", "cons25", "vt100", "vt102", "vt220", "ansi"];

/// Whether the terminal is told where links lead (OSC 8), by the environment: `TERM`, `TMUX`, `STY`.
pub fn links(env: &dyn Fn(&str) -> Option<String>) -> bool {
    let term = env("TERM").unwrap_or_default();
    // tmux calls itself screen too, and knows them or swallows them
    let screen = env("TMUX").is_none() && (env("STY").is_some() || term.starts_with("screen"));
    !screen && !NO_LINKS.contains(&term.as_str())
}

/// Whether the terminal has a title, and answers what it is asked: one that would show either as text has not.
pub fn titled(env: &dyn Fn(&str) -> Option<String>) -> bool {
    !NO_LINKS.contains(&env("TERM").unwrap_or_default().as_str())
}

/// The colour that the terminal can show and that is nearest.
pub fn reduce(color: Color, depth: Depth) -> Color {
    match (depth, color) {
        (Depth::None, _) => Color::Reset,
        (Depth::Indexed, Color::Rgb(r, g, b)) => Color::Indexed(indexed(r, g, b)),
        (Depth::Named, Color::Rgb(r, g, b)) => named(r, g, b),
        (Depth::Named, Color::Indexed(n)) => {
            let (r, g, b) = rgb_of(n);
            named(r, g, b)
        }
        (_, color) => color,
    }
}

const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];

fn distance(a: (u8, u8, u8), b: (u8, u8, u8)) -> u32 {
    let d = |x: u8, y: u8| u32::from(x.abs_diff(y)).pow(2);
    2 * d(a.0, b.0) + 4 * d(a.1, b.1) + 3 * d(a.2, b.2)
}

fn indexed(r: u8, g: u8, b: u8) -> u8 {
    let level = |v: u8| (0..6u8).min_by_key(|i| LEVELS[usize::from(*i)].abs_diff(v)).unwrap_or(0);
    let cube = 16 + 36 * level(r) + 6 * level(g) + level(b);
    let mean = (u16::from(r) + u16::from(g) + u16::from(b)) / 3;
    let gray = 232 + (mean.saturating_sub(3) / 10).min(23) as u8;
    let near = |n: u8| distance(rgb_of(n), (r, g, b));
    if near(gray) < near(cube) { gray } else { cube }
}

/// The red, green and blue of one of the 256 colours.
pub fn rgb_of(n: u8) -> (u8, u8, u8) {
    match n {
        0..=15 => NAMED[usize::from(n)].1,
        16..=231 => {
            let n = n - 16;
            (LEVELS[usize::from(n / 36)], LEVELS[usize::from(n / 6 % 6)], LEVELS[usize::from(n % 6)])
        }
        232..=255 => {
            let v = 8 + 10 * (n - 232);
            (v, v, v)
        }
    }
}

const NAMED: [(Color, (u8, u8, u8)); 16] = [
    (Color::Black, (0, 0, 0)),
    (Color::Red, (170, 0, 0)),
    (Color::Green, (0, 170, 0)),
    (Color::Yellow, (170, 110, 0)),
    (Color::Blue, (0, 0, 170)),
    (Color::Magenta, (170, 0, 170)),
    (Color::Cyan, (0, 170, 170)),
    (Color::Gray, (190, 190, 190)),
    (Color::DarkGray, (90, 90, 90)),
    (Color::LightRed, (255, 100, 100)),
    (Color::LightGreen, (100, 255, 100)),
    (Color::LightYellow, (255, 255, 100)),
    (Color::LightBlue, (110, 130, 255)),
    (Color::LightMagenta, (255, 100, 255)),
    (Color::LightCyan, (100, 255, 255)),
    (Color::White, (255, 255, 255)),
];

fn named(r: u8, g: u8, b: u8) -> Color {
    NAMED.iter().min_by_key(|(_, rgb)| distance(*rgb, (r, g, b))).map_or(Color::Reset, |(color, _)| *color)
}

/// Appends the SGR parameters of a colour; `base` is 30 for the foreground, 40 for the background.
pub fn sgr(color: Color, base: u16, out: &mut Vec<u16>) {
    let named = |n: u16| if n < 8 { base + n } else { base + 60 + n - 8 };
    match color {
        Color::Reset => out.push(base + 9),
        Color::Rgb(r, g, b) => out.extend([base + 8, 2, r.into(), g.into(), b.into()]),
        Color::Indexed(n) => out.extend([base + 8, 5, n.into()]),
        other => {
            let at = NAMED.iter().position(|(c, _)| *c == other).unwrap_or(7);
            out.push(named(at as u16));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_tells_whether_links_are_taken() {
        let links = |pairs: &[(&str, &str)]| {
            links(&|name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
        };
        for term in ["xterm-256color", "xterm-kitty", "foot", "alacritty", "tmux-256color"] {
            assert!(links(&[("TERM", term)]), "{term}");
        }
        for term in ["", "dumb", "linux", "vt100", "screen", "screen-256color"] {
            assert!(!links(&[("TERM", term)]), "{term}");
        }
        for (term, has) in [("screen", true), ("xterm-256color", true), ("linux", false), ("dumb", false)] {
            assert_eq!(titled(&|name| (name == "TERM").then(|| term.to_owned())), has, "{term}");
        }
        assert!(links(&[("TERM", "screen-256color"), ("TMUX", "/tmp/x")]));
        assert!(!links(&[("TERM", "xterm"), ("STY", "1.pts")]));
    }

    #[test]
    fn the_environment_tells_the_depth() {
        let judge = |vars: &[(&str, &str)]| {
            let vars: Vec<(String, String)> = vars.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
            depth(false, &move |name| vars.iter().find(|(k, _)| k == name).map(|(_, v)| v.clone()))
        };
        assert_eq!(judge(&[("TERM", "xterm")]), Depth::Named);
        assert_eq!(judge(&[("TERM", "xterm-256color")]), Depth::Indexed);
        assert_eq!(judge(&[("TERM", "xterm"), ("COLORTERM", "truecolor")]), Depth::True);
        assert_eq!(judge(&[("TERM", "xterm"), ("COLORTERM", "truecolor"), ("NO_COLOR", "1")]), Depth::None);
    }

    #[test]
    fn colours_are_reduced_to_near_ones() {
        assert_eq!(reduce(Color::Rgb(255, 255, 255), Depth::Named), Color::White);
        assert_eq!(reduce(Color::Rgb(20, 22, 27), Depth::Named), Color::Black);
        assert_eq!(reduce(Color::Rgb(255, 0, 0), Depth::Indexed), Color::Indexed(196));
        assert_eq!(reduce(Color::Rgb(8, 8, 8), Depth::Indexed), Color::Indexed(232));
        assert_eq!(reduce(Color::Red, Depth::None), Color::Reset);
    }
}
