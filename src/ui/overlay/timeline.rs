//! What ran when: one turn at a time, a bar for each call and for the model, with what waited for the person marked. The
//! bars have their times beside them, and what waited has a mark of its own, so that nothing is told by colour alone.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::list::{framed, place};
use crate::api::account::{Ran, TurnTimes};
use crate::base::Millis;
use crate::ui::pane::live::elapsed;
use crate::ui::theme::Theme;
use crate::ui::widget::row::put;
use crate::ui::widget::text::{ellipsis, tame, width};

/// A cell of a bar in which it ran, and one in which it waited for the person.
const RAN: &str = "█";
const ASKED: &str = "░";
/// Columns of the times at the end of a row.
const TIMES: usize = 22;

/// The turns, and which is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    turns: Vec<TurnTimes>,
    at: usize,
    top: usize,
    room: usize,
}

impl State {
    /// The newest of the turns is shown.
    pub fn new(turns: Vec<TurnTimes>) -> Self {
        let at = turns.len().saturating_sub(1);
        Self { turns, at, top: 0, room: 1 }
    }
    /// Turns to another turn.
    pub fn turn(&mut self, by: i32) {
        let last = self.turns.len().saturating_sub(1);
        (self.at, self.top) = (self.at.saturating_add_signed(by as isize).min(last), 0);
    }
    /// The turn that is shown, in lines.
    pub fn plain(&self) -> Vec<String> {
        let Some(turn) = self.turns.get(self.at) else { return vec!["No turn ran yet.".to_owned()] };
        let row = |ran: &Ran| format!("{}: {}", tame(&named(ran)), lasted(ran));
        [tame(&turn.title).into_owned(), summed(turn)].into_iter().chain(turn.rows.iter().map(row)).collect()
    }
    /// Scrolls by rows.
    pub fn scroll(&mut self, by: i32) {
        let rows = self.turns.get(self.at).map_or(0, |turn| turn.rows.len());
        self.top = self.top.saturating_add_signed(by as isize).min(rows.saturating_sub(self.room));
    }
    /// Scrolls by pages.
    pub fn scroll_page(&mut self, by: i32) {
        self.scroll(by * (self.room as i32 - 1).max(1));
    }
}

/// Draws the turn that is shown.
pub fn view(state: &mut State, area: Rect, buf: &mut Buffer, theme: &Theme) {
    let rows = state.turns.get(state.at).map_or(1, |turn| turn.rows.len());
    // without a turn: the words, and the key that closes
    let rows = if state.turns.is_empty() { 4 } else { (rows.min(1000) as u16).saturating_add(6) };
    let rect = place(area, (110, rows));
    let title = match state.turns.len() {
        0 => "What ran when".to_owned(),
        all => format!("What ran when · turn {} of {all}", state.at + 1),
    };
    let inner = framed(rect, &title, buf, theme);
    if inner.is_empty() {
        return;
    }
    let wide = usize::from(inner.width);
    let mut line = |y: u16, text: &str, style| {
        if y < inner.bottom() {
            put(buf, inner.x, y, &ellipsis(&tame(text), wide), wide, style);
        }
    };
    let Some(turn) = state.turns.get(state.at) else {
        line(inner.y, "No turn ran yet: what the next one does stands here.", theme.dim);
        return line(inner.bottom() - 1, "Esc closes", theme.dim);
    };
    line(inner.y, &turn.title, theme.user);
    line(inner.y + 1, &summed(turn), theme.dim);
    let foot = u16::from(inner.height > 4);
    let body =
        Rect { y: (inner.y + 3).min(inner.bottom()), height: inner.height.saturating_sub(3 + foot), ..inner };
    if foot == 1 {
        let below = turn.rows.len().saturating_sub(state.top + usize::from(body.height));
        let below = if below > 0 { format!("{below} more below · ") } else { String::new() };
        let words = format!("{below}j k other turns · ↑ ↓ scroll · {ASKED} waited for you · Esc closes");
        let y = inner.bottom() - 1;
        line(y, &words, theme.dim);
        // the sign is as it stands in the bars
        let at = words.find(ASKED).map_or(wide, |at| width(&words[..at]));
        if at + width(ASKED) < wide {
            put(buf, inner.x + at as u16, y, ASKED, width(ASKED), theme.warning);
        }
    }
    state.room = usize::from(body.height).max(1);
    state.top = state.top.min(turn.rows.len().saturating_sub(state.room));
    for (at, ran) in turn.rows.iter().skip(state.top).take(usize::from(body.height)).enumerate() {
        draw_row(ran, turn, Rect { y: body.y + at as u16, height: 1, ..body }, buf, theme);
    }
}

/// How long the turn took, and what took how long of it.
fn summed(turn: &TurnTimes) -> String {
    let sum = |of: &dyn Fn(&Ran) -> Millis| Millis(turn.rows.iter().map(|ran| of(ran).0).sum());
    let lasted = |ran: &Ran| ran.ended.since(ran.began);
    let model = sum(&|ran| if ran.tool.is_none() { lasted(ran) } else { Millis(0) });
    let asked = sum(&|ran| ran.asked);
    let calls = sum(&|ran| if ran.tool.is_some() { lasted(ran) } else { Millis(0) }).since(asked);
    let whole = turn.ended.since(turn.began);
    let word = if turn.runs { "runs since" } else { "took" };
    let mut out = format!("{word} {} · model {} · calls {}", time(whole), time(model), time(calls));
    if asked > Millis(0) {
        out.push_str(&format!(" · waited for you {}", time(asked)));
    }
    out
}

/// A length of time: tenths of seconds under a minute.
fn time(time: Millis) -> String {
    match time.0 {
        0..1000 => format!("{} ms", time.0),
        1000..60_000 => format!("{}.{} s", time.0 / 1000, time.0 % 1000 / 100),
        _ => elapsed(time),
    }
}

fn named(ran: &Ran) -> String {
    match &ran.tool {
        Some(tool) => format!("{tool} {}", ran.title.lines().next().unwrap_or_default()),
        None => "the model".to_owned(),
    }
}

/// How long it took, and what is to be said of that.
fn lasted(ran: &Ran) -> String {
    let mut words = time(ran.ended.since(ran.began));
    if ran.runs {
        words.push('…');
    }
    if ran.asked > Millis(0) {
        words.push_str(&format!(", asked {}", time(ran.asked)));
    } else if !ran.word.is_empty() {
        words.push_str(&format!(", {}", ran.word));
    }
    words
}

fn draw_row(ran: &Ran, turn: &TurnTimes, row: Rect, buf: &mut Buffer, theme: &Theme) {
    let wide = usize::from(row.width);
    let name = named(ran);
    let style = match (&ran.tool, ran.word) {
        (_, "error") => theme.error,
        (None, _) => theme.dim,
        (Some(_), _) => theme.tool,
    };
    let column = (wide / 3).clamp(8, 40).min(wide);
    put(buf, row.x, row.y, &ellipsis(&tame(&name), column - 1), column - 1, style);
    let times = if wide >= column + TIMES + 10 { TIMES } else { 10.min(wide - column) };
    let bar = wide - column - times;
    let (from, asked, to) = places(ran, turn, bar);
    let ink = match (&ran.tool, ran.word) {
        (_, "error") => theme.error,
        (None, _) => theme.dim,
        (Some(_), _) => theme.accent,
    };
    let x = |at: usize| row.x + (column + at) as u16;
    put(buf, x(from), row.y, &ASKED.repeat(asked - from), asked - from, theme.warning);
    put(buf, x(asked), row.y, &RAN.repeat(to - asked), to - asked, ink);
    let words = lasted(ran);
    let room = times.saturating_sub(1);
    put(buf, x(bar + 1), row.y, &ellipsis(&words, room), room, theme.text);
}

/// Where a bar of `columns` begins, where what waited ends, and where it ends; what was has a column at least.
fn places(ran: &Ran, turn: &TurnTimes, columns: usize) -> (usize, usize, usize) {
    if columns == 0 {
        return (0, 0, 0);
    }
    let whole = u128::from(turn.ended.since(turn.began).0.max(1));
    let place = |at: Millis| {
        let at = u128::from(at.since(turn.began).0).min(whole);
        usize::try_from(at * columns as u128 / whole).unwrap_or(columns)
    };
    let from = place(ran.began).min(columns - 1);
    let to = place(ran.ended).clamp(from + 1, columns);
    let asked = match ran.asked {
        Millis(0) => from,
        // it did nothing else, however short it was
        asked if asked >= ran.ended.since(ran.began) => to,
        asked => place(ran.began.plus(asked)).clamp(from, to),
    };
    (from, asked, to)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(began: u64, asked: u64, ended: u64) -> Ran {
        Ran {
            tool: Some("bash".into()),
            title: "make".into(),
            began: Millis(began),
            asked: Millis(asked),
            ended: Millis(ended),
            word: "",
            runs: false,
        }
    }

    #[test]
    fn bars_stand_where_it_ran_and_never_beyond() {
        let turn = TurnTimes {
            title: String::new(),
            began: Millis(100),
            ended: Millis(1100),
            runs: false,
            rows: vec![],
        };
        assert_eq!(places(&ran(100, 0, 600), &turn, 10), (0, 0, 5));
        assert_eq!(places(&ran(600, 250, 1100), &turn, 20), (10, 15, 20));
        assert_eq!(places(&ran(1099, 0, 1100), &turn, 10), (9, 9, 10), "a moment shows");
        assert_eq!(places(&ran(1000, 100, 1100), &turn, 5), (4, 5, 5), "all of it waited");
        for columns in 0..30 {
            for (began, asked, ended) in [(0, 0, 0), (50, 9000, 20), (2000, 1, 3000), (100, 1000, 1100)] {
                let (from, asked, to) = places(&ran(began, asked, ended), &turn, columns);
                assert!(from <= asked && asked <= to && to <= columns);
            }
        }
    }

    #[test]
    fn times_are_in_a_unit_that_says_something() {
        assert_eq!([7, 1250, 59_999, 61_000].map(|ms| time(Millis(ms))), ["7 ms", "1.2 s", "59.9 s", "1:01"]);
    }
}
