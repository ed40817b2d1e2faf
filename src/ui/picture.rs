//! Thumbnails of the draft's images, in terminals that show pictures by kitty's protocol.
//!
//! The terminal is told an image's own bytes once, and scales it; where it stands is said by cells of placeholders, which
//! are text to layout and writer, so that a picture is covered, moved and cleared as text is. Nothing is decoded here, so
//! PNG alone, which the terminal reads itself, has a thumbnail. Deliberately not here: where it is drawn (`view`).

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};

use crate::api::message::Image;

/// Rows of a thumbnail.
pub const ROWS: u16 = 4;
/// Most columns of one.
const COLUMNS_MAX: u16 = 24;
/// Most characters of base64 that the terminal is told.
const BYTES_MAX: usize = 1 << 20;
/// Most pixels to a side.
const SIDE_MAX: u32 = 8192;
/// Characters of base64 in one sequence: what the protocol allows.
const CHUNK: usize = 4096;
/// The character that stands for a cell of a picture.
const CELL: char = '\u{10eeee}';
/// Marks over it that count: kitty's own list, as far as is needed.
const COUNT: [char; COLUMNS_MAX as usize] = [
    '\u{305}', '\u{30d}', '\u{30e}', '\u{310}', '\u{312}', '\u{33d}', '\u{33e}', '\u{33f}', '\u{346}',
    '\u{34a}', '\u{34b}', '\u{34c}', '\u{350}', '\u{351}', '\u{352}', '\u{357}', '\u{35b}', '\u{363}',
    '\u{364}', '\u{365}', '\u{366}', '\u{367}', '\u{368}', '\u{369}',
];

/// A thumbnail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Picture {
    /// What the terminal knows it by: 24 bits, which are the colour of its cells.
    id: u32,
    /// Columns that it takes.
    pub columns: u16,
}

/// Whether the terminal shows pictures by placeholders: those that are known to, asked by their name. tmux and GNU screen
/// have names of their own.
pub fn shows(env: &dyn Fn(&str) -> Option<String>) -> bool {
    let term = env("TERM").unwrap_or_default();
    term == "xterm-ghostty" && env("TMUX").is_none() && env("STY").is_none()
}

impl Picture {
    /// The thumbnail of an image of so many pixels; none: it is no PNG, or too large to be told.
    pub fn of(image: &Image, pixels: Option<(u32, u32)>) -> Option<Picture> {
        let (wide, high) = pixels?;
        let sides = [wide, high];
        let fits = sides.iter().all(|side| (1..=SIDE_MAX).contains(side));
        if image.media_type != "image/png" || image.data.len() > BYTES_MAX || !fits {
            return None;
        }
        // a cell is about twice as high as it is wide
        let columns = (2 * u32::from(ROWS) * wide).div_ceil(high).clamp(1, u32::from(COLUMNS_MAX)) as u16;
        let step = |sum: u32, byte: u8| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        let sum = image.data.bytes().fold(0x811c_9dc5, step);
        // an image of 0 is none
        Some(Picture { id: ((sum >> 24) ^ sum) & 0xff_ffff | 1, columns })
    }

    /// Draws its cells, where there is room for all of them.
    pub fn draw(self, area: Rect, buf: &mut Buffer) {
        if area.width < self.columns || area.height < ROWS {
            return;
        }
        let [_, red, green, blue] = self.id.to_be_bytes();
        let style = Style::new().fg(Color::Rgb(red, green, blue));
        for (row, over) in COUNT.iter().enumerate().take(usize::from(ROWS)) {
            for (column, beside) in COUNT.iter().enumerate().take(usize::from(self.columns)) {
                let cell = &mut buf[(area.x + column as u16, area.y + row as u16)];
                cell.set_symbol(&String::from_iter([CELL, *over, *beside])).set_style(style);
            }
        }
    }
}

/// The pictures that the terminal was told.
#[derive(Debug, Default)]
pub struct Told(Vec<u32>);

impl Told {
    /// The bytes that tell it those that it does not have, and that the others are gone.
    pub fn tell(&mut self, wanted: &[(Picture, &Image)]) -> Vec<u8> {
        let mut out = Vec::new();
        self.0.retain(|id| {
            let stays = wanted.iter().any(|(picture, _)| picture.id == *id);
            if !stays {
                out.extend_from_slice(format!("\x1b_Ga=d,d=I,i={id},q=2\x1b\\").as_bytes());
            }
            stays
        });
        for (picture, image) in wanted {
            if self.0.contains(&picture.id) {
                continue;
            }
            self.0.push(picture.id);
            let Picture { id, columns } = picture;
            let chunks: Vec<&[u8]> = image.data.as_bytes().chunks(CHUNK).collect();
            for (at, chunk) in chunks.iter().enumerate() {
                let more = u8::from(at + 1 < chunks.len());
                let head = match at {
                    0 => format!("\x1b_Ga=T,U=1,f=100,t=d,i={id},c={columns},r={ROWS},q=2,m={more};"),
                    _ => format!("\x1b_Gq=2,m={more};"),
                };
                out.extend_from_slice(head.as_bytes());
                out.extend_from_slice(chunk);
                out.extend_from_slice(b"\x1b\\");
            }
        }
        out
    }
    /// The terminal may have forgotten them.
    pub fn forget(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(data: &str) -> Image {
        Image { media_type: "image/png".into(), data: data.into(), blob: None, name: "a.png".into() }
    }

    #[test]
    fn a_picture_is_told_once_and_taken_back_when_it_is_gone() {
        let long = image(&"QUJD".repeat(2000));
        let picture = Picture::of(&long, Some((1920, 1080))).expect("a thumbnail");
        assert_eq!(picture.columns, 15);
        let mut told = Told::default();
        let bytes = String::from_utf8(told.tell(&[(picture, &long)])).expect("text");
        assert_eq!(bytes.matches("\x1b_G").count(), 2);
        assert!(bytes.starts_with("\x1b_Ga=T,U=1,f=100,t=d,") && bytes.contains("\x1b_Gq=2,m=0;"));
        assert_eq!(bytes.matches("QUJD").count(), 2000);
        assert!(told.tell(&[(picture, &long)]).is_empty(), "once");
        assert!(told.tell(&[]).starts_with(b"\x1b_Ga=d,"));
        assert!(told.tell(&[]).is_empty());
    }

    #[test]
    fn what_is_too_large_or_no_png_has_none() {
        let small = image("QUJD");
        assert!(Picture::of(&small, Some((8192, 8192))).is_some());
        assert_eq!(Picture::of(&small, Some((100_000, 100_000))), None, "a bomb");
        assert_eq!(Picture::of(&small, Some((0, 10))), None);
        assert_eq!(Picture::of(&small, None), None);
        assert_eq!(Picture::of(&image(&"A".repeat(BYTES_MAX + 1)), Some((10, 10))), None);
        let jpeg = Image { media_type: "image/jpeg".into(), ..image("QUJD") };
        assert_eq!(Picture::of(&jpeg, Some((10, 10))), None);
    }

    #[test]
    fn its_cells_are_one_column_each_and_stand_where_there_is_room() {
        let picture = Picture::of(&image("QUJD"), Some((30, 30))).expect("a thumbnail");
        let mut buf = Buffer::empty(Rect::new(0, 0, 20, 6));
        picture.draw(Rect::new(2, 1, 18, 5), &mut buf);
        let cell = &buf[(2 + 7, 1 + 3)];
        assert_eq!(cell.symbol(), "\u{10eeee}\u{310}\u{33f}");
        assert_eq!(crate::ui::widget::text::cluster_width(cell.symbol()), 1);
        let mut narrow = Buffer::empty(Rect::new(0, 0, 4, 6));
        picture.draw(Rect::new(0, 0, 4, 6), &mut narrow);
        assert_eq!(narrow, Buffer::empty(Rect::new(0, 0, 4, 6)));
    }

    #[test]
    fn only_terminals_that_are_known_to_show_them_are_told() {
        let of = |pairs: &'static [(&str, &str)]| {
            shows(&move |name: &str| pairs.iter().find(|(key, _)| *key == name).map(|(_, v)| (*v).to_owned()))
        };
        assert!(of(&[("TERM", "xterm-ghostty")]));
        assert!(!of(&[("TERM", "xterm-kitty")]), "before 0.28 it shows boxes, and its name tells no version");
        assert!(!of(&[("TERM", "xterm-256color")]) && !of(&[]));
        assert!(!of(&[("TERM", "xterm-ghostty"), ("TMUX", "x")]));
    }
}
