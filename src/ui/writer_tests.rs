//! The bytes of the writer, interpreted by a terminal, show the buffer.

use super::*;
use proptest::prelude::*;

#[allow(dead_code)]
#[path = "../../tests/bench/screen/shortest.rs"]
mod shortest;
#[allow(dead_code)]
#[path = "../../tests/bench/screen/state.rs"]
mod state;

use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};

fn shows(parser: &vt100::Parser, buffer: &Buffer) -> Result<(), String> {
    let screen = parser.screen();
    for y in 0..buffer.area.height {
        for (x, glyph) in glyphs(buffer, y, Depth::True, false).iter().enumerate() {
            let cell = screen.cell(y, x as u16).ok_or("no cell")?;
            if glyph.width == 0 {
                if !cell.is_wide_continuation() {
                    return Err(format!("{x},{y}: no second half"));
                }
                continue;
            }
            let text = if cell.has_contents() { cell.contents() } else { " " };
            if text != glyph.text {
                return Err(format!("{x},{y}: shows {text:?}, wanted {:?}", glyph.text));
            }
            let color = |c: vt100::Color| match c {
                vt100::Color::Default => Color::Reset,
                vt100::Color::Idx(n) => Color::Indexed(n),
                vt100::Color::Rgb(r, g, b) => Color::Rgb(r, g, b),
            };
            let wanted = buffer[(x as u16, y)].style();
            if Some(color(cell.bgcolor())) != wanted.bg {
                return Err(format!("{x},{y}: ground {:?}, wanted {:?}", cell.bgcolor(), wanted.bg));
            }
            let seen = text != " ";
            let modifier = wanted.add_modifier;
            if seen
                && (Some(color(cell.fgcolor())) != wanted.fg
                    || cell.bold() != modifier.contains(Modifier::BOLD))
            {
                return Err(format!("{x},{y}: front {:?}, wanted {:?}", cell.fgcolor(), wanted.fg));
            }
            if cell.underline() != modifier.contains(Modifier::UNDERLINED)
                || cell.inverse() != modifier.contains(Modifier::REVERSED)
            {
                return Err(format!("{x},{y}: marks differ"));
            }
        }
    }
    Ok(())
}

fn style(n: u8) -> Style {
    let mut style = Style::new();
    style = match n % 4 {
        0 => style,
        1 => style.bg(Color::Rgb(20, 22, 27)),
        2 => style.fg(Color::Rgb(200, 10, 10)).bg(Color::Rgb(20, 22, 27)),
        _ => style.fg(Color::Indexed(120)),
    };
    let style = match n / 20 {
        2 => style.underline_color(Color::Rgb(0, 0, 1 + n % 3)),
        _ => style.underline_color(Color::Reset),
    };
    match n / 4 % 5 {
        0 => style.add_modifier(Modifier::BOLD),
        1 => style.add_modifier(Modifier::UNDERLINED),
        2 => style.add_modifier(Modifier::REVERSED),
        _ => style,
    }
}

#[derive(Clone, Debug)]
struct Stroke {
    x: u16,
    y: u16,
    text: String,
    style: u8,
}

fn stroke() -> impl Strategy<Value = Stroke> {
    let text = prop_oneof!["[a-z ]{1,12}", " {1,60}", "(日|本|é|x| ){1,8}", Just("e\u{301}x".to_owned())];
    (0..60u16, 0..16u16, text, 0..60u8).prop_map(|(x, y, text, style)| Stroke { x, y, text, style })
}

fn apply(buffer: &mut Buffer, strokes: &[Stroke]) {
    for s in strokes {
        let (x, y) = (s.x % buffer.area.width, s.y % buffer.area.height);
        buffer.set_stringn(x, y, &s.text, 99, style(s.style));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_terminal_shows_what_was_drawn(
        width in 1..60u16,
        height in 1..16u16,
        frames in proptest::collection::vec(proptest::collection::vec(stroke(), 0..12), 1..6),
        keep in any::<bool>(),
    ) {
        for at in 0..3 {
            let _ = crate::ui::widget::link::Link::to(&format!("https://{at}.example"));
        }
        let mut writer = Writer::new(Depth::True, true).telling_links(true);
        let mut parser = vt100::Parser::new(height.try_into().expect("not 0"), width.try_into().expect("not 0"), 0);
        parser.process(b"garbage\x1b[31mmore");
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
        for strokes in &frames {
            if !keep {
                buffer.reset();
            }
            apply(&mut buffer, strokes);
            let cursor = Some((width - 1, height - 1));
            let bytes = writer.draw(&buffer, cursor).to_vec();
            addresses(&bytes);
            parser.process(&bytes);
            if let Err(wrong) = shows(&parser, &buffer) {
                return Err(TestCaseError::fail(format!("{wrong}\n{}", String::from_utf8_lossy(&bytes).escape_debug())));
            }
            prop_assert_eq!(parser.screen().cursor_position(), (height - 1, width - 1));
            prop_assert!(writer.draw(&buffer, cursor).is_empty(), "nothing changed, and bytes came");
        }
    }
}

/// A frame costs so many times the shortest bytes for its changed cells at most, and its marks.
const TIMES: f64 = 1.3;
/// The frame is one update; the cursor is shown.
const MARKS: usize = "\x1b[?2026h\x1b[?2026l\x1b[?25h".len();

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_frame_is_near_the_shortest(
        width in 1..40u16,
        height in 1..7u16,
        frames in proptest::collection::vec(proptest::collection::vec(stroke(), 0..12), 1..5),
        keep in any::<bool>(),
        ends in proptest::collection::vec((0..60u16, 0..12u16), 5),
    ) {
        let mut yardstick = Yardstick::new(width, height);
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
        for (strokes, (x, y)) in frames.iter().zip(&ends) {
            if !keep {
                buffer.reset();
            }
            apply(&mut buffer, strokes);
            let (bytes, least, shown) = yardstick.frame(&buffer, (x % width, y % height));
            let bound = (least as f64 * TIMES) as usize + MARKS;
            prop_assert!(bytes <= bound, "{bytes} bytes, shortest {least}: {shown}");
        }
    }
}

/// A writer beside the shortest bytes for what it draws.
struct Yardstick {
    writer: Writer,
    parser: vt100::Parser,
    before: Buffer,
}

impl Yardstick {
    fn new(width: u16, height: u16) -> Self {
        let mut writer = Writer::new(Depth::True, true);
        let size = |n: u16| n.try_into().expect("not 0");
        let mut parser = vt100::Parser::new(size(height), size(width), 0);
        let before = Buffer::empty(Rect::new(0, 0, width, height));
        parser.process(writer.draw(&before, Some((0, 0))));
        Self { writer, parser, before }
    }
    /// Bytes of a frame, the shortest, and the frame to read.
    fn frame(&mut self, next: &Buffer, cursor: (u16, u16)) -> (usize, usize, String) {
        let least = shortest::shortest(&self.before, next, state::state(&self.parser), Some(cursor));
        let bytes = self.writer.draw(next, Some(cursor)).to_vec();
        self.parser.process(&bytes);
        self.before = next.clone();
        (bytes.len(), least, String::from_utf8_lossy(&bytes).escape_debug().to_string())
    }
}

/// What screens do most: lines that go, a column at the edge that changes, words that are replaced, a view that scrolls.
#[test]
fn common_frames_are_near_the_shortest() {
    let ground = Style::new().bg(Color::Rgb(20, 22, 27)).fg(Color::Rgb(200, 200, 200));
    let blank = || {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 30, 5));
        buffer.set_style(buffer.area, ground);
        buffer
    };
    let rows = |from: u16, text: &str| {
        let mut buffer = blank();
        (0..5u16).for_each(|y| {
            let x = (y * 17 + from) % 20;
            buffer.set_string(x, y, &text[usize::from(x % 7)..], ground.fg(Color::Rgb(0, 90 + y as u8, 9)));
        });
        buffer
    };
    let edge = |glyph: &str| {
        let mut buffer = blank();
        (0..5).for_each(|y| buffer.set_string(29, y, glyph, ground));
        buffer
    };
    let words = "some words of a line";
    let frames =
        [rows(0, words), rows(3, words), blank(), edge("│"), edge("┃"), rows(5, "other words here"), blank()];
    let mut yardstick = Yardstick::new(30, 5);
    for (at, frame) in frames.iter().enumerate() {
        let (bytes, least, shown) = yardstick.frame(frame, (7, 4));
        let bound = (least as f64 * TIMES) as usize + MARKS;
        assert!(bytes <= bound, "frame {at}: {bytes} bytes, shortest {least}: {shown}");
    }
}

/// The addresses that the bytes open, in order; none is open at their end, and SGR is not confused by them.
fn addresses(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let told: Vec<String> = text
        .split("\x1b]8;")
        .skip(1)
        .map(|rest| {
            rest.split("\x1b\\").next().and_then(|told| told.split_once(';')).map(|(_, to)| to.to_owned())
        })
        .map(|address| address.expect("a link's sequence ends"))
        .collect();
    assert!(told.last().is_none_or(String::is_empty), "a link is open: {text:?}");
    told.into_iter().filter(|address| !address.is_empty()).collect()
}

fn linked(buffer: &mut Buffer, x: u16, y: u16, text: &str, target: &str) {
    use crate::ui::widget::link::Link;
    use crate::ui::widget::row::{Look, Role, put};
    let theme = crate::ui::theme::Theme::default();
    let look = Look { link: Link::to(target), ..Look::from(Role::Link) };
    put(buffer, x, y, text, 99, look.style(&theme));
}

#[test]
fn a_link_is_told_and_has_ended_with_the_frame() {
    let mut writer = Writer::new(Depth::True, true).telling_links(true);
    let mut buffer = Buffer::empty(Rect::new(0, 0, 30, 3));
    linked(&mut buffer, 2, 0, "two words", "https://a.example/x");
    linked(&mut buffer, 11, 0, "next", "https://b.example");
    linked(&mut buffer, 25, 1, "edge!", "https://a.example/x");
    let bytes = writer.draw(&buffer, Some((0, 2))).to_vec();
    assert_eq!(addresses(&bytes), ["https://a.example/x", "https://b.example", "https://a.example/x"]);
    assert!(String::from_utf8_lossy(&bytes).contains("two words"), "a space of a link is part of it");
    assert!(writer.draw(&buffer, Some((0, 2))).is_empty(), "nothing changed");
    // the same words lead elsewhere now
    linked(&mut buffer, 11, 0, "next", "https://c.example");
    assert_eq!(addresses(writer.draw(&buffer, Some((0, 2)))), ["https://c.example"]);
    // what is drawn over a link leads nowhere
    crate::ui::widget::row::put(&mut buffer, 11, 0, "next", 9, Style::new());
    let bytes = writer.draw(&buffer, Some((0, 2))).to_vec();
    assert!(String::from_utf8_lossy(&bytes).contains("next") && addresses(&bytes).is_empty());
}

#[test]
fn a_terminal_that_takes_no_links_is_told_none() {
    let mut writer = Writer::new(Depth::True, true);
    let mut buffer = Buffer::empty(Rect::new(0, 0, 30, 1));
    linked(&mut buffer, 0, 0, "text", "https://a.example");
    let text = String::from_utf8_lossy(writer.draw(&buffer, None)).into_owned();
    assert!(text.contains("text") && !text.contains("\x1b]"), "{text:?}");
    linked(&mut buffer, 0, 0, "text", "https://b.example");
    assert!(writer.draw(&buffer, None).is_empty(), "it looks the same");
}

#[test]
fn one_changed_cell_costs_a_few_bytes() {
    let mut writer = Writer::new(Depth::True, true);
    let mut buffer = Buffer::empty(Rect::new(0, 0, 120, 40));
    buffer.set_style(buffer.area, Style::new().bg(Color::Rgb(20, 22, 27)));
    writer.draw(&buffer, Some((5, 38)));
    buffer[(5, 38)].set_char('x');
    let bytes = writer.draw(&buffer, Some((6, 38))).len();
    assert!(bytes <= 36, "{bytes}");
}

/// A terminal that takes `⚠️` for one column, as xterm does, has nothing of what was there beside it.
#[test]
fn a_glyph_of_doubtful_width_leaves_nothing_beside_it() {
    for erases in [true, false] {
        let area = Rect::new(0, 0, 12, 2);
        let mut writer = Writer::new(Depth::True, erases);
        let mut parser = vt100::Parser::new(2.try_into().expect("not 0"), 12.try_into().expect("not 0"), 0);
        let (mut before, mut next) = (Buffer::empty(area), Buffer::empty(area));
        before.set_string(0, 0, "abcdefghijkl", Style::new().bg(Color::Rgb(9, 9, 9)));
        next.set_string(0, 0, "ab\u{26a0}\u{fe0f}efghijkl", Style::new().bg(Color::Rgb(7, 7, 7)));
        for frame in [&before, &next] {
            let bytes = String::from_utf8(writer.draw(frame, None).to_vec()).expect("text");
            parser.process(bytes.replace('\u{fe0f}', "").as_bytes());
        }
        assert_eq!(parser.screen().cell(0, 2).expect("a cell").contents(), "\u{26a0}");
        assert_eq!(parser.screen().cell(0, 3).expect("a cell").contents().trim(), "", "erases: {erases}");
        assert_eq!(parser.screen().cell(0, 3).expect("a cell").bgcolor(), vt100::Color::Rgb(7, 7, 7));
        assert_eq!(parser.screen().cell(0, 4).expect("a cell").contents(), "e");
    }
}

#[test]
fn a_glyph_of_doubtful_width_at_the_end_of_a_row_stays_in_it() {
    let area = Rect::new(0, 0, 12, 2);
    let mut writer = Writer::new(Depth::True, true);
    let mut buffer = Buffer::empty(area);
    let family = "\u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467}";
    buffer.set_string(10, 0, family, Style::new());
    let bytes = String::from_utf8(writer.draw(&buffer, None).to_vec()).expect("text");
    assert!(bytes.contains(&format!("\x1b[?7l{family}\x1b[?7h")), "{}", bytes.escape_debug());
}

#[test]
fn a_steady_screen_never_clears() {
    let mut writer = Writer::new(Depth::True, true);
    let mut buffer = Buffer::empty(Rect::new(0, 0, 20, 5));
    writer.draw(&buffer, None);
    buffer.set_string(0, 0, "hello", Style::new());
    let text = String::from_utf8_lossy(writer.draw(&buffer, None)).into_owned();
    assert!(!text.contains("\x1b[2J"), "{text:?}");
    assert!(text.starts_with("\x1b[?2026h") && text.ends_with("\x1b[?2026l"));
}
