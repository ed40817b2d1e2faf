//! The themes that come with the program.

use super::{Theme, parse};
use crate::ui::jsonc::Problem;

const DARK: &str = include_str!("../../../themes/dark.json");
const LIGHT: &str = include_str!("../../../themes/light.json");
const ANSI: &str = include_str!("../../../themes/ansi.json");
const MONO: &str = include_str!("../../../themes/mono.json");

/// All of them: dark, light, the 16 colours of the terminal, and none at all.
pub fn builtin() -> Vec<Theme> {
    [(DARK, "dark.json"), (LIGHT, "light.json"), (ANSI, "ansi.json"), (MONO, "mono.json")]
        .into_iter()
        .map(|(text, file)| parse::parse(text, file).0)
        .collect()
}

/// The built-in themes and then the person's, each given as (file, text); a person's theme takes the
/// place of a built-in one of the same name. A theme without a name is called as its file.
pub fn all(own: &[(String, String)]) -> (Vec<Theme>, Vec<Problem>) {
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
    (themes, problems)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::style::{Color, Style};

    fn luminance(color: Color) -> Option<f64> {
        let Color::Rgb(r, g, b) = color else { return None };
        let part = |v: u8| {
            let v = f64::from(v) / 255.0;
            if v <= 0.03928 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
        };
        Some(0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b))
    }

    #[test]
    fn the_built_in_themes_are_valid_and_name_every_style() {
        for (text, file) in [(DARK, "dark"), (LIGHT, "light"), (ANSI, "ansi"), (MONO, "mono")] {
            let (theme, problems) = parse::parse(text, file);
            assert_eq!(problems, vec![], "{file}");
            assert_eq!(theme.name, file);
            for name in parse::NAMES {
                assert!(text.contains(&format!("\"{name}\"")), "{file} leaves out {name}");
            }
        }
    }

    #[test]
    fn every_text_of_dark_and_light_stands_out_from_its_ground() {
        for mut theme in builtin().into_iter().take(2) {
            let ground = theme.text.bg;
            for name in parse::NAMES {
                if matches!(*name, "border" | "border_focus") {
                    continue;
                }
                let Style { fg, bg, .. } = *parse::slot(&mut theme, name).expect("a name of the list");
                let front = luminance(fg.or(theme.text.fg).expect("text has a colour")).expect("rgb");
                let back = luminance(bg.or(ground).expect("text has a ground")).expect("rgb");
                let ratio = (front.max(back) + 0.05) / (front.min(back) + 0.05);
                assert!(ratio >= 4.5, "{}: {name}: {ratio:.2}", theme.name);
            }
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
