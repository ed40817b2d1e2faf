//! A theme: every style that the screen draws with, by what it is for.

use ratatui::style::Style;

mod builtin;
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
}
