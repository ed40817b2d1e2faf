//! Each scene at five sizes and in four looks as golden texts, at every size of a grid without a panic; and a scene of
//! each kind of pane, overlay, question and entry that there is.
//!
//! A file of a scene: its five screens, rows that repeat said once with their count; then the screen of 80x24 with a
//! letter below each place where another style begins, and what each letter is in the four looks.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use windlass::api::access::Preview;
use windlass::api::agent::AgentState;
use windlass::api::board::Phase;
use windlass::api::entry::EntryBody;
use windlass::api::job::JobState;
use windlass::base::Millis;
use windlass::ui::depth::Depth;
use windlass::ui::overlay::{Overlay, line, list};
use windlass::ui::pane::PaneId;
use windlass::ui::theme::{self, Theme};
use windlass::ui::view::view;
use windlass::ui::writer::Writer;
use windlass::ui::{Msg, RAW};

use super::{Screen, scenes, show, terminal};

/// The sizes of the golden texts.
const SIZES: [(u16, u16); 5] = [(140, 45), (100, 30), (80, 24), (60, 20), (30, 8)];

/// The looks: a theme, as a terminal with so many colours shows it.
const LOOKS: [(&str, &str, Depth); 4] = [
    ("dark", "dark", Depth::True),
    ("light", "light", Depth::True),
    ("16", "dark", Depth::Named),
    ("none", "mono", Depth::None),
];

#[test]
fn every_pane_and_overlay_reads_well_at_every_size_and_in_every_look() {
    let themes: Vec<Vec<Theme>> = LOOKS.iter().map(|(_, _, depth)| theme::all(&[], *depth).0).collect();
    insta::with_settings!({ snapshot_path => "snapshots/scenes", prepend_module_to_snapshot => false, omit_expression => true }, {
        for (name, open) in scenes::all() {
            let mut told = String::new();
            for (columns, rows) in SIZES {
                let _ = writeln!(told, "── {columns}x{rows} ──");
                told += &folded(open(columns, rows).shown().lines());
            }
            told += &looks(&mut open(80, 24), &themes);
            insta::assert_snapshot!(*name, told);
        }
    });
}

/// Lines, of which those that repeat are said once.
fn folded<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let mut out = String::new();
    let mut lines = lines.peekable();
    while let Some(line) = lines.next() {
        let mut more = 0;
        while lines.next_if_eq(&line).is_some() {
            more += 1;
        }
        let _ = writeln!(out, "{line}");
        match more {
            0 => {}
            1 => drop(writeln!(out, "{line}")),
            _ => drop(writeln!(out, "   ({more} more rows as this)")),
        }
    }
    out
}

/// The style of a cell as a letter's legend says it; of a blank, its ground alone.
fn style(cell: &vt100::Cell) -> (String, String) {
    let colour = |colour: vt100::Color| match colour {
        vt100::Color::Default => "-".to_owned(),
        vt100::Color::Idx(n) => n.to_string(),
        vt100::Color::Rgb(r, g, b) => format!("#{r:02x}{g:02x}{b:02x}"),
    };
    let marks = [(cell.bold(), "b"), (cell.italic(), "i"), (cell.underline(), "u"), (cell.inverse(), "r")];
    let marks: String = marks.iter().filter(|(on, _)| *on).map(|(_, mark)| *mark).collect();
    let ground = colour(cell.bgcolor());
    let plain = cell.contents().trim().is_empty() && !cell.underline() && !cell.inverse();
    let ink = if plain { String::new() } else { format!("{} {marks}", colour(cell.fgcolor())) };
    (format!("{:>7}", ground), format!("{ink:<10}"))
}

/// The screen of 80x24 with its styles in all looks.
fn looks(screen: &mut Screen, themes: &[Vec<Theme>]) -> String {
    while {
        screen.draw();
        screen.model.owes_colours()
    } {
        std::thread::yield_now();
    }
    let (columns, rows) = (80, 24);
    let shown: Vec<vt100::Parser> = LOOKS
        .iter()
        .zip(themes)
        .map(|((_, name, depth), themes)| {
            screen.model.themes = themes.clone();
            screen.model.theme =
                screen.model.themes.iter().position(|theme| theme.name == *name).expect("a theme");
            let mut terminal = terminal(columns, rows);
            show(&mut terminal, &frame(screen, columns, rows, *depth));
            terminal
        })
        .collect();
    for (other, (look, ..)) in shown.iter().zip(LOOKS) {
        assert_eq!(super::text(other), super::text(&shown[0]), "the words are the same in the look {look}");
    }
    let mut legend: Vec<Vec<(String, String)>> = Vec::new();
    let mut out = String::from("── 80x24, where styles begin ──\n");
    let mut lines = Vec::new();
    for y in 0..rows {
        let mut marks = String::new();
        let mut last: Option<usize> = None;
        let text = shown[0].screen().rows(0, columns).nth(y.into()).expect("a row");
        for x in 0..columns {
            let cells: Vec<&vt100::Cell> =
                shown.iter().map(|terminal| terminal.screen().cell(y, x).expect("a cell")).collect();
            let styles: Vec<(String, String)> = cells.iter().map(|cell| style(cell)).collect();
            let blank = styles.iter().all(|(_, ink)| ink.trim().is_empty());
            let goes_on = cells[0].is_wide_continuation()
                || blank && last.is_some_and(|at| legend[at].iter().zip(&styles).all(|(a, b)| a.0 == b.0));
            if goes_on {
                marks.push(' ');
                continue;
            }
            let at = legend.iter().position(|known| *known == styles).unwrap_or_else(|| {
                legend.push(styles);
                legend.len() - 1
            });
            marks.push(if last == Some(at) { ' ' } else { letter(at) });
            last = Some(at);
        }
        lines.push(format!("{}\n{}", text.trim_end(), marks.trim_end()));
    }
    out += &folded(lines.iter().map(String::as_str));
    let names: Vec<String> = LOOKS.iter().map(|(look, ..)| format!("{look:<18}")).collect();
    let _ = writeln!(
        out,
        "── styles: ground, ink, b bold i italic u underlined r reversed ──\n  {}",
        names.join("  ").trim_end()
    );
    for (at, styles) in legend.iter().enumerate() {
        let styles: Vec<String> = styles.iter().map(|(ground, ink)| format!("{ground} {ink}")).collect();
        let _ = writeln!(out, "{} {}", letter(at), styles.join("  ").trim_end());
    }
    out
}

fn letter(at: usize) -> char {
    let all = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    all.chars().nth(at).expect("fewer styles on one screen")
}

/// The bytes of one frame on a clean terminal of so many colours.
fn frame(screen: &mut Screen, columns: u16, rows: u16, depth: Depth) -> Vec<u8> {
    let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows));
    let cursor = view(&mut screen.model, &mut buffer, Millis(screen.now));
    match &mut screen.model.raw {
        Some(raw) => {
            raw.forget();
            raw.page((columns, rows), RAW).unwrap_or_default()
        }
        None => Writer::new(depth, true).draw(&buffer, cursor).to_vec(),
    }
}

/// The names of the variants of an enum, all of them: one that is new has no name, and does not compile.
macro_rules! names {
    ($name:ident, $all:ident, $of:ty { $($word:literal $pattern:pat,)* }) => {
        fn $name(of: &$of) -> &'static str {
            match of {
                $($pattern => $word,)*
            }
        }
        const $all: &[&str] = &[$($word),*];
    };
}

names!(pane, PANES, PaneId {
    "pane: conversation" PaneId::Conversation,
    "pane: composer" PaneId::Composer,
    "pane: live" PaneId::Live,
    "pane: jobs" PaneId::Jobs,
    "pane: agents" PaneId::Agents,
    "pane: tree" PaneId::Tree,
});
names!(overlay, OVERLAYS, Overlay {
    "overlay: list" Overlay::List(_),
    "overlay: line" Overlay::Line(_),
    "overlay: page" Overlay::Page(_),
    "overlay: timeline" Overlay::Timeline(_),
});
names!(list_kind, LISTS, list::Kind {
    "list: palette" list::Kind::Palette,
    "list: models" list::Kind::Models,
    "list: thinking" list::Kind::Thinking,
    "list: sessions of all" list::Kind::Sessions { all: true },
    "list: sessions" list::Kind::Sessions { all: false },
    "list: themes" list::Kind::Themes { .. },
    "list: history" list::Kind::History { .. },
    "list: welcome" list::Kind::Welcome,
    "list: trust" list::Kind::Trust,
    "list: quit" list::Kind::Quit,
    "list: signals" list::Kind::Signals,
    "list: rewind" list::Kind::Rewind,
    "list: write open" list::Kind::WriteOpen,
    "list: take" list::Kind::Take,
    "list: tour" list::Kind::Tour,
});
names!(line_kind, LINES, line::Kind {
    "line: rename" line::Kind::Rename(_),
    "line: reason" line::Kind::Reason(_),
    "line: find" line::Kind::Find,
    "line: find job" line::Kind::FindJob,
    "line: find log" line::Kind::FindLog(_),
    "line: find tree" line::Kind::FindTree,
    "line: find transcript" line::Kind::FindTranscript,
    "line: message" line::Kind::Message { .. },
    "line: key" line::Kind::Key(_),
});
names!(preview, PREVIEWS, Preview {
    "preview: command" Preview::Command { .. },
    "preview: diff" Preview::Diff { .. },
    "preview: text" Preview::Text { .. },
});
names!(phase, PHASES, Phase {
    "phase: idle" Phase::Idle,
    "phase: opening" Phase::Opening,
    "phase: waiting" Phase::Waiting,
    "phase: streaming" Phase::Streaming,
    "phase: calling" Phase::Calling,
    "phase: retrying" Phase::Retrying { .. },
    "phase: compacting" Phase::Compacting,
    "phase: stopping" Phase::Stopping,
});
names!(entry, ENTRIES, EntryBody {
    "entry: user" EntryBody::User(_),
    "entry: answer" EntryBody::Answer(_),
    "entry: call start" EntryBody::CallStart(_),
    "entry: call settle" EntryBody::CallSettle(_),
    "entry: notice" EntryBody::Notice(_),
    "entry: compaction" EntryBody::Compaction(_),
    "entry: turn end" EntryBody::TurnEnd(_),
    "entry: setting" EntryBody::Setting(_),
    "entry: job end" EntryBody::JobEnd(_),
    "entry: agent end" EntryBody::AgentEnd(_),
    "entry: restore" EntryBody::Restore(_),
    "entry: unknown" EntryBody::Unknown(_),
});
names!(job_state, JOBS, JobState {
    "job: sought" JobState::Sought,
    "job: running" JobState::Running,
    "job: ending" JobState::Ending { .. },
    "job: ended" JobState::Ended(_),
});
names!(agent_state, AGENTS, AgentState {
    "agent: waiting" AgentState::Waiting { .. },
    "agent: preparing" AgentState::Preparing { .. },
    "agent: working" AgentState::Working,
    "agent: resting" AgentState::Resting,
    "agent: stopping" AgentState::Stopping,
    "agent: handing back" AgentState::HandingBack,
    "agent: cut" AgentState::Cut,
    "agent: ended" AgentState::Ended(_),
});

/// Views over the whole screen.
const VIEWS: &[&str] = &["view: conflict", "view: job", "view: agent", "view: raw"];

/// What a screen shows.
fn parts(screen: &Screen) -> BTreeSet<&'static str> {
    let (model, record) = (&screen.model, &screen.record);
    let mut out: BTreeSet<&str> = [pane(&model.focus), phase(&record.status.phase)].into();
    // what runs now takes no focus
    out.extend((model.live.running() > 0 && !model.live.hidden).then_some(pane(&PaneId::Live)));
    if let Some(top) = model.overlays.last() {
        out.insert(overlay(top));
        match top {
            Overlay::List(state) => drop(out.insert(list_kind(&state.kind))),
            Overlay::Line(state) => drop(out.insert(line_kind(&state.kind))),
            Overlay::Page(_) | Overlay::Timeline(_) => {}
        }
    }
    if model.overlays.is_empty() {
        out.extend(model.approvals.first().map(|approval| preview(&approval.preview)));
        out.extend(record.path.iter().map(|entry_of| entry(&entry_of.body)));
        out.extend(model.jobs.iter().map(|(_, row)| job_state(&row.state)));
        out.extend(record.agents.iter().map(|(_, row)| agent_state(&row.state)));
    }
    let views =
        [model.conflict.shown(), model.job_view.is_some(), model.agent_view.is_some(), model.raw.is_some()];
    out.extend(VIEWS.iter().zip(views).filter(|(_, shown)| *shown).map(|(view, _)| *view));
    out
}

#[test]
fn there_is_a_scene_of_everything_that_can_be_shown() {
    let mut seen = BTreeSet::new();
    let mut names = BTreeSet::new();
    for (name, open) in scenes::all() {
        assert!(names.insert(*name), "two scenes are called {name}");
        let mut screen = open(140, 45);
        screen.draw();
        seen.append(&mut parts(&screen));
    }
    let all = [PANES, OVERLAYS, LISTS, LINES, PREVIEWS, PHASES, ENTRIES, JOBS, AGENTS, VIEWS];
    let missing: Vec<&&str> =
        all.iter().flat_map(|names| *names).filter(|name| !seen.contains(**name)).collect();
    assert!(missing.is_empty(), "no scene shows {missing:?}");
    // and no golden text is of a scene that is gone
    let kept = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/screen/snapshots/scenes");
    for file in std::fs::read_dir(kept).expect("the golden texts") {
        let file = file.expect("a file").file_name().into_string().expect("its name");
        let name = file.split('.').next().unwrap_or_default();
        assert!(names.contains(name), "{file} is of no scene");
    }
}

/// Columns and rows of the grid.
const COLUMNS: [u16; 14] = [1, 2, 3, 5, 8, 13, 21, 34, 60, 80, 100, 140, 200, 500];
const ROWS: [u16; 10] = [1, 2, 3, 5, 8, 13, 24, 45, 100, 200];

/// Cells of the largest of them, but for the very last: between these and that one nothing is placed otherwise.
const CELLS_MAX: u32 = 12_000;

/// A buffer of exactly the screen's size takes no cell outside it, and the lines that are always there are there.
#[test]
fn every_scene_draws_at_every_size() {
    for (name, open) in scenes::all() {
        let mut screen = open(80, 24);
        screen.draw();
        let covered = screen.model.covered();
        let grid = COLUMNS.iter().flat_map(|columns| ROWS.map(|rows| (*columns, rows)));
        for (columns, rows) in
            grid.filter(|size| u32::from(size.0) * u32::from(size.1) <= CELLS_MAX || *size == (500, 200))
        {
            screen.tell(Msg::Resize(columns, rows));
            let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows));
            let cursor = view(&mut screen.model, &mut buffer, Millis(screen.now));
            let inside = cursor.is_none_or(|(x, y)| x < columns && y < rows);
            assert!(inside, "{name} at {columns}x{rows}: the cursor is at {cursor:?}");
            if covered || rows < 6 || columns < 13 {
                continue;
            }
            let row = |y: u16| -> String { (0..columns).map(|x| buffer[(x, y)].symbol()).collect() };
            // the end of the directory: its beginning gives way
            let title = row(0);
            let asks = !screen.model.approvals.is_empty();
            assert!(asks || title.contains("pars"), "{name} at {columns}x{rows}: no title\n{title}");
            assert!(!row(rows - 1).trim().is_empty(), "{name} at {columns}x{rows}: no status");
        }
    }
}
