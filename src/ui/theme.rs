//! A theme: every style that the screen draws with, by what it is for.

use ratatui::style::Style;

mod builtin;
/// How well a text stands out.
pub mod contrast;
/// Themes for fewer colours.
pub mod fit;
pub mod parse;

pub use builtin::{all, builtin};

/// The styles of the screen. Panes name what a thing is; the theme says how it looks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Theme {
    /// Its name, as in the picker and the settings.
    pub name: String,
    /// Plain text, with the background of everything.
    pub text: Style,
    /// Less important text; still legible (4.5:1).
    pub dim: Style,
    /// Strong text of Markdown.
    pub strong: Style,
    /// Emphasised text of Markdown.
    pub emphasis: Style,
    /// Headings.
    pub heading: Style,
    /// Inline code.
    pub code: Style,
    /// The ground of code blocks.
    pub code_block: Style,
    /// Links.
    pub link: Style,
    /// Quotes and their bar.
    pub quote: Style,
    /// The person's messages and the prompt mark.
    pub user: Style,
    /// The model's thinking.
    pub thinking: Style,
    /// A tool's name in its row.
    pub tool: Style,
    /// Added lines of a diff.
    pub added: Style,
    /// Added characters within a changed line.
    pub added_strong: Style,
    /// Removed lines of a diff.
    pub removed: Style,
    /// Removed characters within a changed line.
    pub removed_strong: Style,
    /// Things that went well.
    pub ok: Style,
    /// Things to look at.
    pub warning: Style,
    /// Things that failed.
    pub error: Style,
    /// What is active: spinners, the mode, marks.
    pub accent: Style,
    /// Lines between panes.
    pub border: Style,
    /// Lines around the pane that has the focus.
    pub border_focus: Style,
    /// The title line.
    pub title: Style,
    /// The status line and hints.
    pub status: Style,
    /// Keys in hints.
    pub key: Style,
    /// The selected row of a list.
    pub selection: Style,
    /// A hit of a search.
    pub hit: Style,
    /// The hit of a search that is current.
    pub hit_current: Style,
    /// Syntax: keywords.
    pub syntax_keyword: Style,
    /// Syntax: strings.
    pub syntax_string: Style,
    /// Syntax: numbers and constants.
    pub syntax_number: Style,
    /// Syntax: comments.
    pub syntax_comment: Style,
    /// Syntax: names of functions.
    pub syntax_function: Style,
    /// Syntax: names of types.
    pub syntax_type: Style,
    /// Syntax: variables and fields.
    pub syntax_variable: Style,
    /// Syntax: operators and punctuation.
    pub syntax_operator: Style,
    /// Whether code in added and removed lines has their ink alone: too few colours are there to stand out.
    pub plain_diffs: bool,
}

/// Whether a terminal's colour (`rgb:ffff/ffff/ffff`) is a light one; none: it is no such colour.
pub fn is_light(colour: &str) -> Option<bool> {
    let parts = colour.strip_prefix("rgb:").or_else(|| colour.strip_prefix("rgba:"))?;
    let part = |text: &str| {
        let most = 16u32.checked_pow(text.len() as u32).filter(|_| (1..=4).contains(&text.len()))? - 1;
        Some(f64::from(u32::from_str_radix(text, 16).ok()?) / f64::from(most))
    };
    let mut parts = parts.split('/');
    let (red, green, blue) = (part(parts.next()?)?, part(parts.next()?)?, part(parts.next()?)?);
    Some(0.299 * red + 0.587 * green + 0.114 * blue > 0.5)
}

#[cfg(test)]
mod tests {
    use super::is_light;

    #[test]
    fn a_terminals_ground_is_light_or_dark() {
        assert_eq!(is_light("rgb:ffff/ffff/ffff"), Some(true));
        assert_eq!(is_light("rgb:fd/f6/e3"), Some(true));
        assert_eq!(is_light("rgb:1e1e/1e1e/2e2e"), Some(false));
        assert_eq!(is_light("rgb:0/0/0"), Some(false));
        for no in ["", "rgb:", "rgb:1/2", "rgb:zz/0/0", "rgb:12345/0/0", "#ffffff"] {
            assert_eq!(is_light(no), None, "{no}");
        }
    }
}
