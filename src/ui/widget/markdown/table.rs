//! Tables: columns aligned by display width; long cells are wrapped where there is some room for
//! each column, else each row becomes lines of `key value`.
//!
//! A long one is laid out in parts, of which each knows how wide the cells up to it are. Deliberately not here: when a
//! part is given out (`machine`).

use super::inline::inline;
use super::line::cells;
use crate::ui::widget::row::{Look, Role, STRONG};
use crate::ui::widget::text::width;
use crate::ui::widget::wrap::{Break, Piece, Prefix, Wrapper};

/// Where a column's cells stand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Align {
    Left,
    Center,
    Right,
}

type Cell = Vec<Vec<Piece>>;

/// The cells of a row of so many columns.
fn read(line: &str, count: usize, look: Look) -> Vec<Cell> {
    let mut row: Vec<Cell> = cells(line).into_iter().map(|text| cell(text, look)).collect();
    if row.len() > count {
        // more cells than columns: the last column shows them all, so that nothing is lost
        let extra: Vec<Cell> = row.drain(count..).collect();
        for cell in extra {
            if let (Some(last), Some(line)) = (row.last_mut(), cell.into_iter().next()) {
                let end = last.last_mut();
                if let Some(end) = end {
                    end.push((" | ".into(), Role::Border.into()));
                    end.extend(line);
                }
            }
        }
    }
    row.resize(count, vec![Vec::new()]);
    row
}

/// Makes the columns as wide as the cells of a line are, where those are wider.
pub(super) fn widen(widths: &mut [u16], line: &str) {
    let row = read(line, widths.len(), Look::default());
    for (width, cell) in widths.iter_mut().zip(&row) {
        let wide = cell.iter().map(|line| measure(line)).max().unwrap_or(0);
        *width = (*width).max(wide.min(usize::from(u16::MAX)) as u16);
    }
}

/// Lays out rows of a table under its header and delimiters; `begins`: these are shown too. `widths`: of its cells up
/// to these rows.
pub(super) fn lay(
    out: &mut Wrapper,
    prefix: &Prefix,
    (head, rows, begins): (&[&str], &[&str], bool),
    widths: &[u16],
    base: Look,
) {
    let [header, delimiters] = head else { return };
    let aligns: Vec<Align> = cells(delimiters).iter().map(|cell| align(cell)).collect();
    let header = read(header, aligns.len(), base.with(STRONG));
    let rows: Vec<Vec<Cell>> = rows.iter().map(|line| read(line, aligns.len(), base)).collect();
    let widths: Vec<usize> = widths.iter().map(|width| usize::from(*width)).collect();
    let taken: usize = prefix.first.iter().map(|(text, _)| width(text)).sum();
    let room = out.columns().saturating_sub(taken + widths.len().saturating_sub(1) * 3);
    match share(&widths, room) {
        Some(widths) => {
            let narrow = |row: &[Cell]| -> Vec<Cell> {
                row.iter().zip(&widths).map(|(cell, width)| wrapped(cell, *width)).collect()
            };
            let rows: Vec<Vec<Cell>> = rows.iter().map(|row| narrow(row)).collect();
            let header = begins.then(|| narrow(&header));
            grid(out, prefix, header.as_deref(), &rows, &widths, &aligns);
        }
        None => fold(out, prefix, (&header, begins), &rows),
    }
}

/// Narrowest that a column is made by wrapping.
const NARROWEST: usize = 12;

/// How wide each column may be in `room`: the narrow ones as they are, the others by equal parts of
/// what is left; none where these would be too narrow to read.
fn share(widths: &[usize], room: usize) -> Option<Vec<usize>> {
    let mut out = widths.to_vec();
    let mut order: Vec<usize> = (0..widths.len()).collect();
    order.sort_by_key(|column| widths[*column]);
    let mut left = room;
    for (at, column) in order.iter().enumerate() {
        let part = left / (order.len() - at);
        if widths[*column] > part {
            if part < NARROWEST {
                return None;
            }
            out[*column] = part;
        }
        left -= out[*column];
    }
    Some(out)
}

/// A cell with its lines wrapped at a width.
fn wrapped(cell: &Cell, columns: usize) -> Cell {
    let mut out = Wrapper::new(columns);
    for line in cell {
        out.line(&Prefix::default(), line, Break::Words);
    }
    let rows = out.rows();
    rows.iter().map(|row| row.pieces().map(|(text, look)| (text.to_owned(), look)).collect()).collect()
}

fn align(delimiter: &str) -> Align {
    match (delimiter.starts_with(':'), delimiter.ends_with(':')) {
        (true, true) => Align::Center,
        (false, true) => Align::Right,
        (true | false, false) => Align::Left,
    }
}

fn cell(text: &str, look: Look) -> Cell {
    inline(std::iter::once(text.replace("\\|", "|").as_str()), look)
}

fn measure(line: &[Piece]) -> usize {
    line.iter().map(|(text, _)| width(text)).sum()
}

fn grid(
    out: &mut Wrapper,
    prefix: &Prefix,
    header: Option<&[Cell]>,
    rows: &[Vec<Cell>],
    widths: &[usize],
    aligns: &[Align],
) {
    if let Some(header) = header {
        row(out, &prefix.first, header, widths, aligns);
        let bars: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
        let mut line = prefix.rest.clone();
        line.push((bars.join("─┼─"), Role::Border.into()));
        out.whole(&line, bytes(&prefix.rest));
    }
    for cells in rows {
        row(out, &prefix.rest, cells, widths, aligns);
    }
}

fn bytes(pieces: &[Piece]) -> u32 {
    pieces.iter().map(|(text, _)| text.len() as u32).sum()
}

fn row(out: &mut Wrapper, prefix: &[Piece], cells: &[Cell], widths: &[usize], aligns: &[Align]) {
    let height = cells.iter().map(Vec::len).max().unwrap_or(1);
    for at in 0..height {
        let mut line = prefix.to_vec();
        for (column, cell) in cells.iter().enumerate() {
            if column > 0 {
                line.push((" │ ".into(), Role::Border.into()));
            }
            let pieces = cell.get(at).map_or(&[][..], Vec::as_slice);
            let space = widths[column] - measure(pieces).min(widths[column]);
            let before = match aligns[column] {
                Align::Left => 0,
                Align::Center => space / 2,
                Align::Right => space,
            };
            line.push((" ".repeat(before), Look::default()));
            line.extend(pieces.iter().cloned());
            if column + 1 < cells.len() {
                line.push((" ".repeat(space - before), Look::default()));
            }
        }
        out.whole(&line, bytes(prefix));
    }
}

/// Each row as lines of `key value`, a short rule between rows.
fn fold(out: &mut Wrapper, prefix: &Prefix, (header, begins): (&[Cell], bool), rows: &[Vec<Cell>]) {
    let mut prefix = prefix.clone();
    if rows.is_empty() && begins {
        for key in header {
            out.line(&prefix, &key.concat(), Break::Words);
            prefix = prefix.hanging();
        }
    }
    for (index, cells) in rows.iter().enumerate() {
        if index > 0 || !begins {
            out.line(&prefix, &[("───".into(), Role::Border.into())], Break::Anywhere);
        }
        for (key, value) in header.iter().zip(cells) {
            let mut line = key.concat();
            if !line.is_empty() {
                line.push((": ".into(), Role::Dim.into()));
            }
            for (at, piece) in value.iter().enumerate() {
                if at > 0 {
                    line.push((" ".into(), Look::default()));
                }
                line.extend(piece.iter().cloned());
            }
            let hang = Prefix {
                first: prefix.first.clone(),
                rest: [prefix.rest.clone(), vec![("  ".into(), Look::default())]].concat(),
            };
            out.line(&hang, &line, Break::Words);
            prefix = prefix.hanging();
        }
    }
}
