//! The *Screens* harness: a model with a record of our own, drawn by the real writer into an
//! interpreted terminal. Time is a plain number.

mod agents;
mod approvals;
mod colours;
mod conflict;
mod conflict_kept;
pub mod desk;
mod field;
mod job_view;
mod jobs;
mod looks;
mod matrix;
mod overlays;
mod pty;
mod random;
pub mod record;
mod scenes;
mod stream;
mod tree;
mod writing;

use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use windlass::api::board::Record;
use windlass::base::Millis;
use windlass::link::Wake;
use windlass::ui::depth::Depth;
use windlass::ui::input::{Input, parse_key};
use windlass::ui::update::update;
use windlass::ui::view::view;
use windlass::ui::writer::Writer;
use windlass::ui::{Effect, Model, Msg, RAW, UiOptions};

use crate::terminal::show;

/// A screen under test.
pub struct Screen {
    /// The model.
    pub model: Model,
    /// The record that it reads.
    pub record: Record,
    /// The time.
    pub now: u64,
    writer: Writer,
    terminal: vt100::Parser,
    size: (u16, u16),
}

impl Screen {
    /// A screen of a size over a record.
    pub fn new(columns: u16, rows: u16, record: Record) -> Self {
        Self::woken_by(columns, rows, record, Arc::new(|| {}))
    }
    /// A screen that is told through this wake when something came from beside the record.
    pub fn woken_by(columns: u16, rows: u16, record: Record, wake: Wake) -> Self {
        let (model, problems) = Model::new(&UiOptions::default(), &record, wake);
        assert_eq!(problems, vec![]);
        let mut screen = Self {
            model,
            record,
            now: 1_000_000,
            writer: Writer::new(Depth::True, true),
            terminal: terminal(columns, rows),
            size: (columns, rows),
        };
        screen.resize(columns, rows);
        screen
    }
    /// Tells the model something.
    pub fn tell(&mut self, msg: Msg) -> Vec<Effect> {
        update(&mut self.model, msg, Millis(self.now))
    }
    /// Presses keys by name, separated by spaces.
    pub fn keys(&mut self, names: &str) -> Vec<Effect> {
        let mut out = Vec::new();
        for name in names.split(' ') {
            let key = parse_key(name).unwrap_or_else(|| panic!("no key is called {name}"));
            out.extend(self.tell(Msg::Input(Input::Key(key))));
        }
        out
    }
    /// Types a text.
    pub fn write(&mut self, text: &str) -> Vec<Effect> {
        text.chars()
            .flat_map(|c| self.keys(&if c == ' ' { "space".to_owned() } else { c.to_string() }))
            .collect()
    }
    /// Changes the size.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        self.size = (columns, rows);
        self.terminal.screen_mut().set_size(rows.try_into().unwrap(), columns.try_into().unwrap());
        self.tell(Msg::Resize(columns, rows));
        self.writer.forget();
    }
    /// Changes the record, as an engine does.
    pub fn change(&mut self, change: impl FnOnce(&mut Record)) {
        self.record.revision += 1;
        change(&mut self.record);
    }
    /// Draws; how many bytes that took.
    pub fn draw(&mut self) -> usize {
        self.frame().len()
    }
    /// Draws; the bytes that it took.
    pub fn frame(&mut self) -> Vec<u8> {
        self.model.sync(&self.record);
        let (columns, rows) = self.size;
        let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows));
        let cursor = view(&mut self.model, &mut buffer, Millis(self.now));
        let bytes = match &mut self.model.raw {
            // past the buffer: what the terminal shows then is not what the writer knows
            Some(raw) => {
                self.writer.forget();
                raw.page(self.size, RAW).unwrap_or_default()
            }
            None => self.writer.draw(&buffer, cursor).to_vec(),
        };
        show(&mut self.terminal, &bytes);
        bytes
    }
    /// What the terminal shows now.
    pub fn shown(&mut self) -> String {
        self.draw();
        text(&self.terminal)
    }
    /// How many colours the row has that holds this text.
    pub fn colours_of(&self, text: &str) -> usize {
        let screen = self.terminal.screen();
        let row =
            screen.rows(0, self.size.0).position(|row| row.contains(text)).expect("a row with the text");
        let row = u16::try_from(row).unwrap();
        let inks = (0..self.size.0).filter_map(|column| screen.cell(row, column));
        let inks = inks
            .filter(|cell| !cell.contents().trim().is_empty())
            .map(|cell| format!("{:?}", cell.fgcolor()));
        inks.collect::<std::collections::BTreeSet<_>>().len()
    }
    /// What a terminal that was clean would show, styles and cursor with it.
    pub fn clean(&mut self) -> (String, String) {
        self.draw();
        let mut other = terminal(self.size.0, self.size.1);
        let mut buffer = Buffer::empty(Rect::new(0, 0, self.size.0, self.size.1));
        let cursor = view(&mut self.model, &mut buffer, Millis(self.now));
        match &mut self.model.raw {
            Some(raw) => {
                raw.forget();
                show(&mut other, &raw.page(self.size, RAW).unwrap_or_default());
            }
            None => show(&mut other, Writer::new(Depth::True, true).draw(&buffer, cursor)),
        }
        (looks(self.terminal.screen()), looks(other.screen()))
    }
}

fn terminal(columns: u16, rows: u16) -> vt100::Parser {
    vt100::Parser::new(rows.try_into().unwrap(), columns.try_into().unwrap(), 0)
}

fn text(terminal: &vt100::Parser) -> String {
    let (rows, columns) = terminal.screen().size();
    let columns: u16 = columns.into();
    let _ = rows;
    terminal.screen().rows(0, columns).map(|row| format!("{}\n", row.trim_end())).collect()
}

/// All that a person can see of a screen: a blank has no colour of its own, only its ground.
fn looks(screen: &vt100::Screen) -> String {
    let (rows, columns) = screen.size();
    let (rows, columns): (u16, u16) = (rows.into(), columns.into());
    let mut out = String::new();
    for y in 0..rows {
        let mut last = String::new();
        for x in 0..columns {
            let cell = screen.cell(y, x).unwrap();
            if cell.is_wide_continuation() {
                continue;
            }
            let blank = !cell.has_contents() || cell.contents() == " ";
            let mut style = format!("{:?}", cell.bgcolor());
            if !blank || cell.underline() || cell.inverse() {
                style = format!(
                    "{style} {:?} {} {} {} {}",
                    cell.fgcolor(),
                    cell.bold(),
                    cell.italic(),
                    cell.underline(),
                    cell.inverse()
                );
            }
            if style != last {
                out.push_str(&format!("<{style}>"));
                last = style;
            }
            out.push_str(if blank { " " } else { cell.contents() });
        }
        out.push('\n');
    }
    if !screen.hide_cursor() {
        out.push_str(&format!("cursor {:?}", screen.cursor_position()));
    }
    out
}
