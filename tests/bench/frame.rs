//! One frame's bytes: what the writer takes for a screen that changed a little, much, or not at all.

use divan::Bencher;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};
use windlass::ui::depth::Depth;
use windlass::ui::writer::Writer;

/// A screen of 120×40 full of text, scrolled by `from` lines.
fn screen(from: usize) -> Buffer {
    let mut buffer = Buffer::empty(Rect::new(0, 0, 120, 40));
    for y in 0..40u16 {
        let line = from + usize::from(y);
        let text =
            format!("{line:5} let some_name_{line} = function_{}(\"text\", {});", line * 7 % 13, line * 31);
        buffer.set_string(0, y, &text, Style::new().fg(Color::Rgb(200, 200, (line % 256) as u8)));
        buffer.set_string(84, y, "│ a pane beside it", Style::new().fg(Color::DarkGray));
    }
    buffer
}

#[divan::bench(sample_count = 200)]
fn frame_unchanged(bencher: Bencher<'_, '_>) {
    let (mut writer, buffer) = (Writer::new(Depth::True, true), screen(0));
    writer.draw(&buffer, Some((1, 1)));
    bencher.bench_local(|| writer.draw(&buffer, Some((1, 1))).len());
}

#[divan::bench(sample_count = 200)]
fn frame_one_key(bencher: Bencher<'_, '_>) {
    let (mut writer, mut buffer, mut x) = (Writer::new(Depth::True, true), screen(0), 0u16);
    writer.draw(&buffer, Some((1, 1)));
    bencher.bench_local(|| {
        x = (x + 1) % 80;
        buffer[(x, 38)].set_symbol(if x % 2 == 0 { "a" } else { "b" });
        writer.draw(&buffer, Some((x + 1, 38))).len()
    });
}

#[divan::bench(sample_count = 200)]
fn frame_scrolled_by_a_line(bencher: Bencher<'_, '_>) {
    let (mut writer, buffers) = (Writer::new(Depth::True, true), [screen(0), screen(1)]);
    let mut at = 0;
    writer.draw(&buffers[0], None);
    bencher.bench_local(|| {
        at = 1 - at;
        writer.draw(&buffers[at], None).len()
    });
}

#[divan::bench(sample_count = 200)]
fn frame_whole(bencher: Bencher<'_, '_>) {
    let (mut writer, buffer) = (Writer::new(Depth::True, true), screen(0));
    bencher.bench_local(|| {
        writer.forget();
        writer.draw(&buffer, None).len()
    });
}
