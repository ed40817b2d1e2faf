//! A draft: an editor's text in which a folded paste or an image is one token that moves and is
//! deleted as a whole. Every cluster of several code points is such a unit too.

use ratatui::layout::Position;
use tui_textarea::{AtomicRange, CursorMove, CursorRenderMode, TextArea, WrapMode};
use unicode_segmentation::UnicodeSegmentation as _;

use crate::api::message::Image;
use crate::ui::picture::Picture;
use crate::ui::writing;

/// Lines from which a paste is folded.
const FOLD_LINES: usize = 10;
/// Bytes from which a paste is folded.
const FOLD_BYTES: usize = 1024;
/// Longest line whose clusters are looked at.
const CLUSTER_LINE_MAX: usize = 20_000;

/// What a token stands for.
#[derive(Clone, Debug)]
enum Held {
    Paste(String),
    Image(Image, Option<Picture>),
}

/// What a draft weighs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Weight {
    /// Bytes of its text as it is sent.
    pub bytes: usize,
    /// Lines as they are shown.
    pub lines: usize,
    /// Images in it.
    pub images: usize,
    /// Whether a folded paste or an image is in it.
    pub held: bool,
}

/// The draft.
#[derive(Clone)]
pub struct Draft {
    /// The editor.
    pub(super) area: TextArea<'static>,
    tokens: Vec<(String, Held)>,
    count: usize,
}

impl Default for Draft {
    fn default() -> Self {
        Self::of("")
    }
}

impl Draft {
    /// A draft of this text, the cursor at its end.
    pub fn of(text: &str) -> Self {
        let mut area = TextArea::new(text.split('\n').map(str::to_owned).collect());
        area.set_wrap_mode(WrapMode::Word);
        area.set_cursor_render_mode(CursorRenderMode::Hidden);
        area.set_cursor_line_style(ratatui::style::Style::new());
        area.move_cursor(CursorMove::Bottom);
        area.move_cursor(CursorMove::End);
        let mut draft = Self { area, tokens: Vec::new(), count: 0 };
        draft.mark();
        draft
    }
    /// Whether nothing is written.
    pub fn is_empty(&self) -> bool {
        self.area.is_empty()
    }
    /// The text as shown, tokens folded.
    pub fn shown(&self) -> String {
        self.area.lines().join("\n")
    }
    /// The text as sent, pastes unfolded, and the images that are in it.
    pub fn whole(&self) -> (String, Vec<Image>) {
        let mut text = self.shown();
        let mut images = Vec::new();
        for (token, held) in &self.tokens {
            if !text.contains(token.as_str()) {
                continue;
            }
            match held {
                Held::Paste(paste) => text = text.replacen(token.as_str(), paste, 1),
                Held::Image(image, _) => images.push(image.clone()),
            }
        }
        (text, images)
    }
    /// Its images that have a thumbnail.
    pub fn pictures(&self) -> Vec<(Picture, &Image)> {
        let there = |token: &str| self.area.lines().iter().any(|line| line.contains(token));
        let mut out = Vec::new();
        for (token, held) in &self.tokens {
            if let Held::Image(image, Some(picture)) = held
                && there(token)
            {
                out.push((*picture, image));
            }
        }
        out
    }
    /// What it weighs.
    pub fn weight(&self) -> Weight {
        let lines = self.area.lines();
        let bytes = lines.iter().map(|line| line.len() + 1).sum::<usize>().saturating_sub(1);
        let mut out = Weight { bytes, lines: lines.len(), ..Weight::default() };
        for (token, held) in &self.tokens {
            if !lines.iter().any(|line| line.contains(token.as_str())) {
                continue;
            }
            out.held = true;
            match held {
                Held::Paste(paste) => out.bytes = out.bytes.saturating_sub(token.len()) + paste.len(),
                Held::Image(..) => out.images += 1,
            }
        }
        out
    }
    /// Row and column (in characters) of the cursor.
    pub fn cursor(&self) -> (usize, usize) {
        self.area.cursor()
    }
    /// Where the cursor was drawn last.
    pub fn drawn_cursor(&self) -> Option<Position> {
        self.area.rendered_cursor_position()
    }
    /// The text of the cursor's line before it.
    pub fn before_cursor(&self) -> String {
        let (row, column) = self.cursor();
        self.area.lines().get(row).map(|line| line.chars().take(column).collect()).unwrap_or_default()
    }
    /// Whether the cursor is in the first line.
    pub fn at_first_line(&self) -> bool {
        self.cursor().0 == 0
    }
    /// Whether the cursor is in the last line.
    pub fn at_last_line(&self) -> bool {
        self.cursor().0 + 1 == self.area.lines().len()
    }
    /// Changes the text by the editor; tokens are marked again.
    pub(super) fn edit(&mut self, change: impl FnOnce(&mut TextArea<'static>)) {
        change(&mut self.area);
        self.mark();
    }
    /// Inserts a paste, folded when it is large.
    pub fn paste(&mut self, text: &str) {
        let clean = writing::clean(text);
        let lines = clean.lines().count();
        if lines > FOLD_LINES || clean.len() > FOLD_BYTES {
            self.count += 1;
            let size = if lines > 1 { format!("{lines} lines") } else { format!("{} bytes", clean.len()) };
            let token = format!("[paste {}: {size}]", self.count);
            self.tokens.push((token.clone(), Held::Paste(clean)));
            self.edit(|area| {
                area.insert_str(&token);
            });
        } else {
            self.edit(|area| {
                area.insert_str(&clean);
            });
        }
    }
    /// Inserts an image as a token.
    pub fn image(&mut self, image: Image) {
        self.count += 1;
        let name = image.name.rsplit('/').next().unwrap_or("pasted").replace(['\n', ']'], "_");
        let token = match super::pixels::words(&image) {
            size if size.is_empty() => format!("[image {}: {name}]", self.count),
            size => format!("[image {}: {name}, {size}]", self.count),
        };
        let picture = Picture::of(&image, super::pixels::pixels(&image));
        self.tokens.push((token.clone(), Held::Image(image, picture)));
        self.edit(|area| {
            area.insert_str(&token);
            area.insert_str(" ");
        });
    }
    /// Puts a message that came back before what is written.
    pub fn prepend(&mut self, text: &str, images: Vec<Image>) {
        let rest = self.shown();
        let mut new = Draft::of("");
        new.tokens = std::mem::take(&mut self.tokens);
        new.count = self.count;
        new.edit(|area| {
            area.insert_str(text);
        });
        for image in images {
            if !new.shown().ends_with(char::is_whitespace) && !new.is_empty() {
                new.edit(|area| area.insert_char(' '));
            }
            new.image(image);
        }
        if !rest.is_empty() {
            new.edit(|area| {
                area.insert_str(format!("\n{rest}"));
            });
        }
        *self = new;
    }
    /// Replaces the characters of the cursor's line from `column` to the cursor.
    pub fn replace_before(&mut self, column: usize, text: &str) {
        let (_, cursor) = self.cursor();
        self.edit(|area| {
            for _ in column..cursor {
                area.move_cursor(CursorMove::Back);
            }
            let (_, at) = area.cursor();
            area.delete_str(cursor.saturating_sub(at));
            area.insert_str(text);
        });
    }
    /// Replaces the whole text; folded tokens that are still in it stay folded.
    pub fn set(&mut self, text: &str) {
        let mut new = Draft::of(text);
        new.tokens = std::mem::take(&mut self.tokens);
        new.count = self.count;
        new.mark();
        *self = new;
    }
    fn mark(&mut self) {
        let mut ranges = Vec::new();
        for (row, line) in self.area.lines().iter().enumerate() {
            if line.is_ascii() && self.tokens.is_empty() || line.len() > CLUSTER_LINE_MAX {
                continue;
            }
            let mut found: Vec<(usize, usize)> = Vec::new();
            for (token, _) in &self.tokens {
                for (byte, _) in line.match_indices(token.as_str()) {
                    let begin = line[..byte].chars().count();
                    found.push((begin, begin + token.chars().count()));
                }
            }
            if !line.is_ascii() {
                let mut at = 0;
                for cluster in line.graphemes(true) {
                    let len = cluster.chars().count();
                    if len > 1 && !found.iter().any(|(b, e)| at < *e && at + len > *b) {
                        found.push((at, at + len));
                    }
                    at += len;
                }
            }
            found.sort_unstable();
            ranges.extend(found.into_iter().map(|(start_col, end_col)| AtomicRange {
                row,
                start_col,
                end_col,
            }));
        }
        let _ = self.area.try_set_atomic_ranges(ranges);
    }
}
