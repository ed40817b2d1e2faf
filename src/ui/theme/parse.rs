//! A theme's text becomes a theme. Whatever is wrong is named with file, line and key; the rest is used.
//!
//! A style is written `FOREGROUND on BACKGROUND words`: colours are `#rrggbb`, a name of the 16
//! (`red`, `bright-red`, …) or `default`; words are `bold`, `dim`, `italic`, `underline`, `reverse`,
//! `strike`. What is left out is taken from `text`.

use ratatui::style::{Color, Modifier, Style};

use super::Theme;
use super::contrast::rgb;
use crate::ui::jsonc::{Leaf, Problem, Row, rows};

/// Reads a theme; `file` is named in problems.
pub fn parse(text: &str, file: &str) -> (Theme, Vec<Problem>) {
    let mut theme = Theme::default();
    let mut problems = Vec::new();
    let rows = match rows(text, file) {
        Ok(rows) => rows,
        Err(problem) => return (theme, vec![problem]),
    };
    for row in rows {
        if let Err(expected) = take(&mut theme, &row) {
            problems.push(Problem { file: file.to_owned(), line: row.line, key: row.key(), expected });
        }
    }
    // nobody knows how a named colour looks: no other ink than its own stands on it
    theme.plain_diffs = theme.added.bg.is_some_and(|ground| ground != Color::Reset && rgb(ground).is_none());
    (theme, problems)
}

fn take(theme: &mut Theme, row: &Row) -> Result<(), String> {
    let Leaf::Text(value) = &row.value else {
        return Err("expected a text in quotes".to_owned());
    };
    if row.path.len() == 1 && row.path[0] == "name" {
        theme.name.clone_from(value);
        return Ok(());
    }
    if row.path.len() != 2 || row.path[0] != "styles" {
        return Err("unknown key; expected `name` or a style under `styles`".to_owned());
    }
    let style = style(value)?;
    match slot(theme, &row.path[1]) {
        Some(slot) => {
            *slot = style;
            Ok(())
        }
        None => Err(format!("unknown style; expected one of {}", NAMES.join(", "))),
    }
}

/// A style from its words.
fn style(text: &str) -> Result<Style, String> {
    let mut style = Style::default();
    let mut ground = false;
    for word in text.split_whitespace() {
        let modifier = match word {
            "on" => {
                ground = true;
                continue;
            }
            "bold" => Modifier::BOLD,
            "dim" => Modifier::DIM,
            "italic" => Modifier::ITALIC,
            "underline" => Modifier::UNDERLINED,
            "reverse" => Modifier::REVERSED,
            "strike" => Modifier::CROSSED_OUT,
            _ => {
                let color = color(word)?;
                style = if ground { style.bg(color) } else { style.fg(color) };
                ground = false;
                continue;
            }
        };
        style = style.add_modifier(modifier);
    }
    if ground { Err("expected a colour after `on`".to_owned()) } else { Ok(style) }
}

fn color(word: &str) -> Result<Color, String> {
    if let Some(hex) = word.strip_prefix('#') {
        let value = (hex.len() == 6).then(|| u32::from_str_radix(hex, 16).ok()).flatten();
        let Some(value) = value else {
            return Err(format!("`{word}`: expected a colour as #rrggbb"));
        };
        let [_, r, g, b] = value.to_be_bytes();
        return Ok(Color::Rgb(r, g, b));
    }
    Ok(match word {
        "default" => Color::Reset,
        "black" => Color::Black,
        "red" => Color::Red,
        "green" => Color::Green,
        "yellow" => Color::Yellow,
        "blue" => Color::Blue,
        "magenta" => Color::Magenta,
        "cyan" => Color::Cyan,
        "white" => Color::Gray,
        "bright-black" => Color::DarkGray,
        "bright-red" => Color::LightRed,
        "bright-green" => Color::LightGreen,
        "bright-yellow" => Color::LightYellow,
        "bright-blue" => Color::LightBlue,
        "bright-magenta" => Color::LightMagenta,
        "bright-cyan" => Color::LightCyan,
        "bright-white" => Color::White,
        _ => {
            return Err(format!(
                "`{word}`: expected a colour (#rrggbb, red, bright-red, default) or one of bold, dim, italic, underline, reverse, strike"
            ));
        }
    })
}

/// The names of the styles, in the order of the type.
pub const NAMES: &[&str] = &[
    "text",
    "dim",
    "strong",
    "emphasis",
    "heading",
    "code",
    "code_block",
    "link",
    "quote",
    "user",
    "thinking",
    "tool",
    "added",
    "added_strong",
    "removed",
    "removed_strong",
    "ok",
    "warning",
    "error",
    "accent",
    "border",
    "border_focus",
    "title",
    "status",
    "key",
    "selection",
    "hit",
    "hit_current",
    "syntax_keyword",
    "syntax_string",
    "syntax_number",
    "syntax_comment",
    "syntax_function",
    "syntax_type",
    "syntax_variable",
    "syntax_operator",
];

/// The style of a name.
pub fn slot<'a>(theme: &'a mut Theme, name: &str) -> Option<&'a mut Style> {
    Some(match name {
        "text" => &mut theme.text,
        "dim" => &mut theme.dim,
        "strong" => &mut theme.strong,
        "emphasis" => &mut theme.emphasis,
        "heading" => &mut theme.heading,
        "code" => &mut theme.code,
        "code_block" => &mut theme.code_block,
        "link" => &mut theme.link,
        "quote" => &mut theme.quote,
        "user" => &mut theme.user,
        "thinking" => &mut theme.thinking,
        "tool" => &mut theme.tool,
        "added" => &mut theme.added,
        "added_strong" => &mut theme.added_strong,
        "removed" => &mut theme.removed,
        "removed_strong" => &mut theme.removed_strong,
        "ok" => &mut theme.ok,
        "warning" => &mut theme.warning,
        "error" => &mut theme.error,
        "accent" => &mut theme.accent,
        "border" => &mut theme.border,
        "border_focus" => &mut theme.border_focus,
        "title" => &mut theme.title,
        "status" => &mut theme.status,
        "key" => &mut theme.key,
        "selection" => &mut theme.selection,
        "hit" => &mut theme.hit,
        "hit_current" => &mut theme.hit_current,
        "syntax_keyword" => &mut theme.syntax_keyword,
        "syntax_string" => &mut theme.syntax_string,
        "syntax_number" => &mut theme.syntax_number,
        "syntax_comment" => &mut theme.syntax_comment,
        "syntax_function" => &mut theme.syntax_function,
        "syntax_type" => &mut theme.syntax_type,
        "syntax_variable" => &mut theme.syntax_variable,
        "syntax_operator" => &mut theme.syntax_operator,
        _ => return None,
    })
}
