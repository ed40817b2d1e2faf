//! A theme for a terminal with fewer colours than it is made of: still legible, and still telling apart what it
//! tells apart.
//!
//! With 256 colours the nearest ones are taken, but a text that would not stand out any more takes the nearest that
//! does, and the grounds of added and removed lines keep their hue: the nearest ones are often the same gray. With
//! 16 colours, of which nobody knows how the terminal shows them, and with none, the styles are those made for it.

use ratatui::style::{Color, Style};

use super::contrast::{LEGIBLE, contrast, luminance, rgb};
use super::{Theme, parse};
use crate::ui::depth::{Depth, reduce, rgb_of};

/// Which styles are drawn on the grounds of which others, beside their own: `text` where they have none.
pub const GROUNDS: &[(&str, &[&str])] = &[
    ("text", &["code_block"]),
    ("dim", &["text", "status", "title", "added", "removed"]),
    ("strong", &["text", "code_block"]),
    ("ok", &["text", "status", "title"]),
    ("warning", &["text", "status", "title"]),
    ("error", &["text", "status", "title"]),
    ("accent", &["text", "status", "title"]),
    ("key", &["text", "status"]),
    ("syntax_keyword", &SYNTAX),
    ("syntax_string", &SYNTAX),
    ("syntax_number", &SYNTAX),
    ("syntax_comment", &SYNTAX),
    ("syntax_function", &SYNTAX),
    ("syntax_type", &SYNTAX),
    ("syntax_variable", &SYNTAX),
    ("syntax_operator", &SYNTAX),
];
const SYNTAX: [&str; 4] = ["text", "code_block", "added", "removed"];

/// Whether a theme's ground is a light one; none: the terminal decides its ground.
pub fn is_light(theme: &Theme) -> Option<bool> {
    Some(luminance(rgb(theme.text.bg?)?) > 0.18)
}

/// The theme as a terminal with so many colours shows it. `stock`: the built-in ones.
pub fn fitted(theme: Theme, depth: Depth, stock: &[Theme]) -> Theme {
    let styles_of = |name: &str| {
        let other = stock.iter().find(|other| other.name == name).cloned().unwrap_or_default();
        Theme { name: theme.name.clone(), ..other }
    };
    let coloured = theme.text.bg.is_some_and(|ground| rgb(ground).is_some());
    match depth {
        Depth::True => theme,
        Depth::Indexed if coloured => indexed(theme),
        Depth::Indexed => theme,
        Depth::Named if !coloured => theme,
        Depth::Named if is_light(&theme) == Some(true) => styles_of("ansi-light"),
        Depth::Named => styles_of("ansi"),
        Depth::None => styles_of("mono"),
    }
}

/// The backgrounds that a style is drawn on.
pub fn grounds_of(theme: &Theme, name: &str) -> Vec<Color> {
    let mut theme = theme.clone();
    let plain = theme.text.bg;
    let mut ground = |name: &str| parse::slot(&mut theme, name).and_then(|style| style.bg).or(plain);
    let others = GROUNDS.iter().find(|(of, _)| *of == name).map_or(&[] as &[&str], |(_, others)| others);
    let mut out: Vec<Color> = ground(name).into_iter().collect();
    out.extend(others.iter().filter_map(|name| ground(name)));
    out
}

fn indexed(mut theme: Theme) -> Theme {
    theme.plain_diffs = true;
    let near = |color: Color| reduce(color, Depth::Indexed);
    let plain = theme.text.bg.map(near);
    let added =
        theme.added.bg.map(|ground| tinted(ground, plain, |r, g, b| g > r && g > b && r.abs_diff(b) < 50));
    let removed =
        theme.removed.bg.map(|ground| tinted(ground, plain, |r, g, b| r > g && r > b && g.abs_diff(b) < 50));
    for name in parse::NAMES {
        if let Some(style) = parse::slot(&mut theme, name) {
            style.bg = style.bg.map(near);
        }
    }
    (theme.added.bg, theme.removed.bg) = (added, removed);
    for name in parse::NAMES {
        // colours of code are not drawn on the grounds of a diff here
        let in_diffs = [theme.added.bg, theme.removed.bg];
        let mut grounds = grounds_of(&theme, name);
        let own = matches!(*name, "added" | "removed");
        grounds.retain(|ground| own || !in_diffs.contains(&Some(*ground)));
        let grounds: Vec<(u8, u8, u8)> = grounds.into_iter().filter_map(rgb).collect();
        if let Some(style) = parse::slot(&mut theme, name) {
            style.fg = style
                .fg
                .map(|ink| if name.starts_with("border") { near(ink) } else { legible(ink, &grounds) });
        }
    }
    for (weak, strong) in [(theme.added, &mut theme.added_strong), (theme.removed, &mut theme.removed_strong)]
    {
        // a darker or lighter patch of the same hue is not among so few: it is turned round
        let patch = weak.fg.and_then(rgb).map(|ink| legible(plain.unwrap_or_default(), &[ink]));
        *strong = Style { fg: patch, bg: weak.fg, ..*strong };
    }
    theme
}

/// The nearest of the 256 colours that stands out from the grounds.
fn legible(ink: Color, grounds: &[(u8, u8, u8)]) -> Color {
    let Some(wanted) = rgb(ink) else { return ink };
    let stands_out = |n: &u8| grounds.iter().all(|ground| contrast(rgb_of(*n), *ground) >= LEGIBLE);
    let near = reduce(ink, Depth::Indexed);
    if let Color::Indexed(n) = near
        && stands_out(&n)
    {
        return near;
    }
    let best = (16..=255u8).filter(stands_out).min_by_key(|n| far(rgb_of(*n), wanted));
    best.map_or(near, Color::Indexed)
}

/// The nearest of the 256 colours that has this hue, and is another one than `plain`.
fn tinted(ground: Color, plain: Option<Color>, hue: fn(u8, u8, u8) -> bool) -> Color {
    let Some(wanted) = rgb(ground) else { return ground };
    let has = |n: &u8| {
        let (r, g, b) = rgb_of(*n);
        hue(r, g, b) && plain != Some(Color::Indexed(*n))
    };
    (16..232u8).filter(has).min_by_key(|n| far(rgb_of(*n), wanted)).map_or(ground, Color::Indexed)
}

fn far(a: (u8, u8, u8), b: (u8, u8, u8)) -> u32 {
    let part = |a: u8, b: u8| u32::from(a.abs_diff(b)).pow(2);
    2 * part(a.0, b.0) + 4 * part(a.1, b.1) + 3 * part(a.2, b.2)
}
