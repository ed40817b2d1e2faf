//! The picture of a job's terminal, drawn: cut where it is larger than its place, padded where it is smaller.
//!
//! Each character stands in the column where the program's own terminal has it, whatever ours would make of
//! several in a row. Not here: the emulator, and what is typed.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use unicode_width::UnicodeWidthChar;

use crate::api::screen::{Colour, Run, Screen, Style as Look};
use crate::ui::widget::text::{cluster_width, hides};

/// Draws the picture; `ground` is the look of what has none of its own.
pub fn draw(screen: &Screen, area: Rect, buf: &mut Buffer, ground: Style) {
    buf.set_style(area, ground);
    let columns = area.width.min(screen.size.cols);
    for (line, y) in screen.lines.iter().zip(area.top()..area.bottom()) {
        let mut x = 0;
        for run in line.iter() {
            x = draw_run(run, x, columns, (area.x, y), buf, ground);
        }
    }
}

/// Where the cursor of the picture stands in `area`; none: it is hidden, or outside.
pub fn cursor(screen: &Screen, area: Rect) -> Option<(u16, u16)> {
    let (row, column) = screen.cursor?;
    // behind the last column it waits on it
    let column = column.min(screen.size.cols.saturating_sub(1));
    (row < area.height && column < area.width).then(|| (area.x + column, area.y + row))
}

/// Draws a run from column `x` on; the column after it.
fn draw_run(
    run: &Run,
    mut x: u16,
    columns: u16,
    (left, y): (u16, u16),
    buf: &mut Buffer,
    ground: Style,
) -> u16 {
    let style = ground.patch(style(run.style));
    let mut last = None;
    for c in run.text.chars() {
        let wide = c.width().unwrap_or(0) as u16;
        if wide == 0 {
            // an accent belongs to what stands before it, unless it would make that wider
            if let Some((at, was)) = last
                && let Some(cell) = buf.cell_mut((left + at, y))
                && !hides(c)
            {
                let symbol = format!("{}{c}", cell.symbol());
                if cluster_width(&symbol) == usize::from(was) {
                    cell.set_symbol(&symbol);
                }
            }
            continue;
        }
        last = None;
        for column in x..x.saturating_add(wide).min(columns) {
            if let Some(cell) = buf.cell_mut((left + column, y)) {
                cell.reset();
                cell.set_style(style);
            }
        }
        if x.saturating_add(wide) <= columns
            && let Some(cell) = buf.cell_mut((left + x, y))
        {
            cell.set_char(c);
            last = Some((x, wide));
        }
        x = x.saturating_add(wide);
    }
    x
}

fn style(look: Look) -> Style {
    let mut style = Style::default();
    if let Some(front) = colour(look.front) {
        style = style.fg(front);
    }
    if let Some(back) = colour(look.back) {
        style = style.bg(back);
    }
    for (on, modifier) in [
        (look.bold, Modifier::BOLD),
        (look.dim, Modifier::DIM),
        (look.italic, Modifier::ITALIC),
        (look.underline, Modifier::UNDERLINED),
        (look.inverse, Modifier::REVERSED),
    ] {
        if on {
            style = style.add_modifier(modifier);
        }
    }
    style
}

/// None: the ground's own.
fn colour(colour: Colour) -> Option<Color> {
    match colour {
        Colour::Own => None,
        Colour::Index(index) => Some(Color::Indexed(index)),
        Colour::Rgb(red, green, blue) => Some(Color::Rgb(red, green, blue)),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::api::screen::Size;

    fn screen(rows: u16, cols: u16, lines: &[&[(&str, Look)]]) -> Screen {
        let line = |runs: &&[(&str, Look)]| {
            Arc::new(
                runs.iter().map(|(text, style)| Run { text: (*text).to_owned(), style: *style }).collect(),
            )
        };
        Screen { size: Size { rows, cols }, lines: lines.iter().map(line).collect(), ..Screen::default() }
    }

    fn row(buf: &Buffer, y: u16) -> String {
        (0..buf.area.width).filter_map(|x| buf.cell((x, y))).map(|cell| cell.symbol()).collect()
    }

    #[test]
    fn a_picture_is_cut_and_padded() {
        let plain = Look::default();
        let picture = screen(2, 6, &[&[("abcdef", plain)], &[("gh", plain)]]);
        let mut buf = Buffer::empty(Rect::new(0, 0, 8, 3));
        draw(&picture, Rect::new(1, 0, 4, 3), &mut buf, Style::default());
        assert_eq!([row(&buf, 0), row(&buf, 1), row(&buf, 2)], [" abcd   ", " gh     ", "        "]);
        for (width, height) in [(0, 0), (1, 1), (8, 1), (1, 3)] {
            draw(&picture, Rect::new(0, 0, width, height), &mut buf, Style::default());
        }
    }

    #[test]
    fn a_wide_character_that_is_cut_leaves_a_blank() {
        let picture = screen(1, 8, &[&[("日本x", Look::default())]]);
        let mut buf = Buffer::empty(Rect::new(0, 0, 8, 1));
        draw(&picture, Rect::new(0, 0, 3, 1), &mut buf, Style::default());
        assert_eq!(buf.cell((0, 0)).map(|c| c.symbol()), Some("日"));
        assert_eq!(buf.cell((2, 0)).map(|c| c.symbol()), Some(" "));
        draw(&picture, Rect::new(0, 0, 5, 1), &mut buf, Style::default());
        assert_eq!(buf.cell((4, 0)).map(|c| c.symbol()), Some("x"));
    }

    #[test]
    fn accents_stay_and_what_hides_or_joins_does_not() {
        let text = "e\u{301}\u{202e}a👩\u{200d}👩❤\u{fe0f}!";
        let picture = screen(1, 12, &[&[(text, Look::default())]]);
        let mut buf = Buffer::empty(Rect::new(0, 0, 12, 1));
        draw(&picture, buf.area, &mut buf, Style::default());
        let at = |x| buf.cell((x, 0)).map(|c| c.symbol().to_owned()).unwrap_or_default();
        assert_eq!([at(0), at(1), at(2), at(4), at(6), at(7)], ["e\u{301}", "a", "👩", "👩", "❤", "!"]);
    }

    #[test]
    fn looks_are_the_programs_and_else_the_grounds() {
        let ground = Style::default().fg(Color::White).bg(Color::Blue);
        let red = Look { front: Colour::Index(1), bold: true, inverse: true, ..Look::default() };
        let rgb = Look { back: Colour::Rgb(1, 2, 3), underline: true, ..Look::default() };
        let picture = screen(1, 3, &[&[("a", Look::default()), ("b", red), ("c", rgb)]]);
        let mut buf = Buffer::empty(Rect::new(0, 0, 3, 1));
        draw(&picture, buf.area, &mut buf, ground);
        let cell = |x| buf.cell((x, 0)).expect("a cell");
        assert_eq!((cell(0).fg, cell(0).bg), (Color::White, Color::Blue));
        assert_eq!((cell(1).fg, cell(1).modifier), (Color::Indexed(1), Modifier::BOLD | Modifier::REVERSED));
        assert_eq!((cell(2).bg, cell(2).modifier), (Color::Rgb(1, 2, 3), Modifier::UNDERLINED));
    }

    #[test]
    fn the_cursor_stands_where_the_program_has_it() {
        let mut picture = screen(3, 5, &[]);
        let area = Rect::new(2, 1, 4, 2);
        assert_eq!(cursor(&picture, area), None);
        for (at, shown) in [((0, 0), Some((2, 1))), ((1, 3), Some((5, 2))), ((2, 0), None), ((0, 4), None)] {
            picture.cursor = Some(at);
            assert_eq!(cursor(&picture, area), shown, "{at:?}");
        }
        picture.cursor = Some((0, 5));
        assert_eq!(cursor(&picture, Rect::new(0, 0, 9, 9)), Some((4, 0)), "behind the last column");
    }
}
