//! A screen without a terminal, and how long its frames took.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use windlass::api::board::Record;
use windlass::base::Millis;
use windlass::ui::depth::Depth;
use windlass::ui::input::{Input, parse_key};
use windlass::ui::update::update;
use windlass::ui::view::view;
use windlass::ui::writer::Writer;
use windlass::ui::{Model, Msg, UiOptions};

/// Most idle steps of one screen.
const STEPS_MAX: usize = 100_000;

/// A screen.
pub struct Stage {
    pub record: Record,
    pub model: Model,
    pub buffer: Buffer,
    writer: Writer,
    now: u64,
    /// The bytes of the last frame, and its cursor.
    pub bytes: Vec<u8>,
    pub cursor: Option<(u16, u16)>,
}

impl Stage {
    /// Of 120×40, over a record; and how long it took from the record to the first frame.
    pub fn open(record: Record) -> (Self, Duration) {
        let began = Instant::now();
        let (model, _) = Model::new(&UiOptions::default(), &record, Arc::new(|| ()));
        let mut stage = Self {
            record,
            model,
            buffer: Buffer::default(),
            writer: Writer::new(Depth::True, true),
            now: 1_000_000,
            bytes: Vec::new(),
            cursor: None,
        };
        stage.tell(Msg::Resize(120, 40));
        stage.frame();
        (stage, began.elapsed())
    }
    fn tell(&mut self, msg: Msg) {
        update(&mut self.model, msg, Millis(self.now));
    }
    /// A frame, and how long it took.
    pub fn frame(&mut self) -> Duration {
        let began = Instant::now();
        self.model.sync(&self.record);
        let (columns, rows) = self.model.size;
        let area = Rect::new(0, 0, columns, rows);
        if self.buffer.area == area {
            self.buffer.reset();
        } else {
            self.buffer = Buffer::empty(area);
            self.writer.forget();
        }
        self.cursor = view(&mut self.model, &mut self.buffer, Millis(self.now));
        let bytes = self.writer.draw(&self.buffer, self.cursor);
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        let took = began.elapsed();
        self.now += 40;
        took
    }
    /// A key and the frame that shows it.
    pub fn key(&mut self, name: &str) -> Duration {
        let began = Instant::now();
        self.tell(Msg::Input(Input::Key(parse_key(name).unwrap())));
        self.frame();
        began.elapsed()
    }
    /// The same, untimed.
    pub fn pressed(&mut self, name: &str) {
        self.key(name);
    }
    /// Another size and its frame.
    pub fn resize(&mut self, columns: u16, rows: u16) -> Duration {
        let began = Instant::now();
        self.tell(Msg::Resize(columns, rows));
        self.frame();
        began.elapsed()
    }
    /// What is done while nothing happens, a step at a time, until nothing is left.
    pub fn idle(&mut self) -> Times {
        let mut times = Times::default();
        while self.model.pulls_at().is_some() && times.0.len() < STEPS_MAX {
            let began = Instant::now();
            self.tell(Msg::Tick);
            self.frame();
            times.0.push(began.elapsed());
        }
        times
    }
}

/// How long some frames took.
#[derive(Default)]
pub struct Times(pub Vec<Duration>);

impl Times {
    /// The same frames, made once more: of each the faster one counts, for what else the machine does is not its own.
    pub fn faster(&mut self, other: Times) {
        if self.0.is_empty() {
            self.0 = other.0;
            return;
        }
        self.0.truncate(other.0.len());
        self.0.iter_mut().zip(other.0).for_each(|(one, other)| *one = other.min(*one));
    }
    /// A row of the table; `bound` in milliseconds, 0 for none.
    pub fn row(mut self, what: &str, bound: u64) {
        self.0.sort_unstable();
        let ms = |time: Duration| time.as_secs_f64() * 1_000.0;
        let at = |part: f64| self.0.get((self.0.len() as f64 * part) as usize).copied().unwrap_or_default();
        let most = self.0.last().copied().unwrap_or_default();
        let over = self.0.iter().filter(|time| bound > 0 && **time > Duration::from_millis(bound)).count();
        let all: Duration = self.0.iter().sum();
        println!(
            "{what:<58} {:>7} {:>9.2} {:>9.2} {:>9.2} {:>9.1} {:>6} {over:>5}",
            self.0.len(),
            ms(at(0.5)),
            ms(at(0.99)),
            ms(most),
            ms(all),
            if bound > 0 { bound.to_string() } else { "–".into() }
        );
    }
}

/// The table's head.
pub fn heading() {
    println!(
        "{:<58} {:>7} {:>9} {:>9} {:>9} {:>9} {:>6} {:>5}",
        "milliseconds", "frames", "median", "p99", "most", "all", "bound", "over"
    );
}
