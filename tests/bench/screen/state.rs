//! What an interpreted terminal has: where the shortest bytes begin.

use ratatui::style::{Color, Modifier};

use super::shortest::{At, Pen};

/// What a terminal has: its cursor and its style.
pub fn state(terminal: &vt100::Parser) -> (At, Pen) {
    let screen = terminal.screen();
    let (y, x) = screen.cursor_position();
    let colour = |colour| match colour {
        vt100::Color::Default => Color::Reset,
        vt100::Color::Idx(n) => Color::Indexed(n),
        vt100::Color::Rgb(r, g, b) => Color::Rgb(r, g, b),
    };
    let marks = [
        (screen.bold(), Modifier::BOLD),
        (screen.dim(), Modifier::DIM),
        (screen.italic(), Modifier::ITALIC),
        (screen.underline(), Modifier::UNDERLINED),
        (screen.inverse(), Modifier::REVERSED),
    ];
    let marks = marks.iter().filter(|(on, _)| *on).fold(Modifier::empty(), |all, (_, mark)| all | *mark);
    let pen = Pen { front: colour(screen.fgcolor()), ground: colour(screen.bgcolor()), marks };
    (if x >= u16::from(screen.size().1) { At::Edge(y) } else { At::Cell(x, y) }, pen)
}
