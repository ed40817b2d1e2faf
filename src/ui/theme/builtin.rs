//! The themes that come with the program.

use super::{Theme, fit, parse};
use crate::ui::depth::Depth;
use crate::ui::jsonc::Problem;

macro_rules! texts {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../themes/", $name, ".json")))),*]
    };
}

/// Each with its name. Those that people know have their colours, moved as little as legibility asks for.
const TEXTS: &[(&str, &str)] = texts![
    "dark",
    "light",
    "ansi",
    "ansi-light",
    "mono",
    "catppuccin-latte",
    "catppuccin-mocha",
    "dracula",
    "github-dark",
    "github-light",
    "gruvbox-dark",
    "gruvbox-light",
    "nord",
    "one-dark",
    "rose-pine",
    "rose-pine-dawn",
    "solarized-dark",
    "solarized-light",
    "tokyo-night",
];

/// All of them: ours, those of the 16 colours of the terminal, the one of no colours, and those that people know.
pub fn builtin() -> Vec<Theme> {
    TEXTS.iter().map(|(name, text)| parse::parse(text, name).0).collect()
}

/// The built-in themes and then the person's, each given as (file, text); a person's theme takes the
/// place of a built-in one of the same name. A theme without a name is called as its file. All as a terminal with
/// so many colours shows them.
pub fn all(own: &[(String, String)], depth: Depth) -> (Vec<Theme>, Vec<Problem>) {
    let mut themes = builtin();
    let mut problems = Vec::new();
    for (file, text) in own {
        let (mut theme, mut found) = parse::parse(text, file);
        problems.append(&mut found);
        if theme.name.is_empty() {
            let base = file.rsplit('/').next().unwrap_or(file);
            theme.name = base.strip_suffix(".json").unwrap_or(base).to_owned();
        }
        match themes.iter_mut().find(|t| t.name == theme.name) {
            Some(old) => *old = theme,
            None => themes.push(theme),
        }
    }
    if depth != Depth::True {
        let stock = builtin();
        themes = themes.into_iter().map(|theme| fit::fitted(theme, depth, &stock)).collect();
    }
    (themes, problems)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::style::{Color, Modifier, Style};

    use super::super::contrast::{LEGIBLE, contrast, rgb};

    #[test]
    fn the_built_in_themes_are_valid_and_name_every_style() {
        for (name, text) in TEXTS {
            let (theme, problems) = parse::parse(text, name);
            assert_eq!(problems, vec![], "{name}");
            assert_eq!(theme.name, *name);
            for style in parse::NAMES {
                assert!(text.contains(&format!("\"{style}\"")), "{name} leaves out {style}");
            }
        }
    }

    /// Whether every text of a theme stands out from each ground that it is drawn on.
    fn stands_out(theme: &Theme, of: &dyn Fn(Color) -> (u8, u8, u8), least: f64) {
        let mut slots = theme.clone();
        for name in parse::NAMES.iter().filter(|name| !name.starts_with("border")) {
            let style = *parse::slot(&mut slots, name).expect("a name of the list");
            let turned = style.add_modifier.contains(Modifier::REVERSED);
            let front = of(style.fg.or(theme.text.fg).unwrap_or_default());
            let in_diffs = [theme.added.bg, theme.removed.bg];
            for ground in fit::grounds_of(theme, name) {
                let own = style.bg == Some(ground);
                if theme.plain_diffs && !own && in_diffs.contains(&Some(ground)) || turned {
                    continue;
                }
                let ratio = contrast(front, of(ground));
                assert!(ratio >= least, "{}: {name} on {ground:?}: {ratio:.2}", theme.name);
            }
        }
    }

    fn exact(color: Color) -> (u8, u8, u8) {
        rgb(color).expect("red, green and blue")
    }

    fn coloured() -> Vec<Theme> {
        builtin().into_iter().filter(|theme| fit::is_light(theme).is_some()).collect()
    }

    #[test]
    fn every_text_of_a_theme_stands_out_from_each_ground_that_it_is_drawn_on() {
        assert!(coloured().len() >= 16);
        for theme in coloured() {
            stands_out(&theme, &exact, LEGIBLE);
        }
    }

    #[test]
    fn with_256_colours_texts_stand_out_and_added_and_removed_differ() {
        for theme in coloured() {
            let theme = fit::fitted(theme, Depth::Indexed, &[]);
            stands_out(&theme, &exact, LEGIBLE);
            let grounds = [theme.text, theme.added, theme.removed, theme.added_strong, theme.removed_strong];
            for (at, one) in grounds.iter().enumerate() {
                for other in &grounds[at + 1..] {
                    assert_ne!(one.bg, other.bg, "{}", theme.name);
                }
            }
        }
    }

    /// The 16 colours as the console and as xterm show them.
    const PALETTES: [[u32; 16]; 2] = [
        [
            0x00_0000, 0xaa_0000, 0x00_aa00, 0xaa_5500, 0x00_00aa, 0xaa_00aa, 0x00_aaaa, 0xaa_aaaa,
            0x55_5555, 0xff_5555, 0x55_ff55, 0xff_ff55, 0x55_55ff, 0xff_55ff, 0x55_ffff, 0xff_ffff,
        ],
        [
            0x00_0000, 0xcd_0000, 0x00_cd00, 0xcd_cd00, 0x00_00ee, 0xcd_00cd, 0x00_cdcd, 0xe5_e5e5,
            0x7f_7f7f, 0xff_0000, 0x00_ff00, 0xff_ff00, 0x5c_5cff, 0xff_00ff, 0x00_ffff, 0xff_ffff,
        ],
    ];

    #[test]
    fn with_16_colours_texts_stand_out_on_black_and_on_white() {
        let all = builtin();
        let named = |name: &str| all.iter().find(|theme| theme.name == name).expect("built in").clone();
        for (name, ground, ink) in [("ansi", 0, 7), ("ansi-light", 0xff_ffff, 0)] {
            for palette in PALETTES {
                let of = |color: Color| {
                    let mut code = Vec::new();
                    crate::ui::depth::sgr(color, 30, &mut code);
                    let value = match code[0] {
                        n @ 30..=37 => palette[usize::from(n) - 30],
                        n @ 90..=97 => palette[usize::from(n) - 82],
                        _ => ground,
                    };
                    let [_, r, g, b] = value.to_be_bytes();
                    (r, g, b)
                };
                let mut theme = named(name);
                // text in the terminal's own colours stands out by the terminal's own choice
                let default = if ink == 0 { Color::Black } else { Color::Gray };
                for style in parse::NAMES {
                    let slot = parse::slot(&mut theme, style).expect("a name of the list");
                    slot.fg = Some(slot.fg.filter(|ink| *ink != Color::Reset).unwrap_or(default));
                }
                // red and magenta of xterm on white have 4.2 and 4.3
                stands_out(&theme, &of, 4.0);
            }
        }
        for theme in coloured() {
            let light = fit::is_light(&theme) == Some(true);
            let shown = fit::fitted(theme.clone(), Depth::Named, &all);
            let same = Theme { name: theme.name, ..named(if light { "ansi-light" } else { "ansi" }) };
            assert_eq!(shown, same);
        }
    }

    #[test]
    fn without_colours_every_theme_marks_what_is_chosen() {
        let all = builtin();
        for theme in all.clone() {
            let name = theme.name.clone();
            let shown = fit::fitted(theme, Depth::None, &all);
            assert_eq!(shown.name, name);
            assert!(shown.selection.add_modifier.contains(Modifier::REVERSED), "{name}");
        }
    }

    #[test]
    fn a_wrong_theme_names_file_line_and_key_and_the_rest_is_used() {
        let text = "{\n  // mine\n  \"name\": \"x\",\n  \"styles\": {\n    \"text\": \"#ffffff on #000000\",\n    \"dim\": \"#12\",\n    \"tool\": 3,\n    \"glow\": \"red\"\n  }\n}";
        let (theme, problems) = parse::parse(text, "themes/x.json");
        let said: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(said[0], "themes/x.json:6: styles.dim: `#12`: expected a colour as #rrggbb");
        assert_eq!(said[1], "themes/x.json:7: styles.tool: expected a text in quotes");
        assert!(
            said[2].starts_with("themes/x.json:8: styles.glow: unknown style; expected one of text, dim")
        );
        assert_eq!(theme.text, Style::new().fg(Color::Rgb(255, 255, 255)).bg(Color::Rgb(0, 0, 0)));
        let (_, broken) = parse::parse("{\n \"name\": \n}", "x.json");
        assert_eq!(broken.len(), 1);
        assert!(broken[0].line >= 2, "{}", broken[0]);
    }
}
