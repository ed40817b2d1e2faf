//! The conflict viewer: a file of 10 000 lines with 500 hunks, opened, and a key at a time.

use std::sync::Arc;

use divan::Bencher;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use windlass::api::command::{Command, Query};
use windlass::api::event::{Event, Reply};
use windlass::api::hand_back::{
    ByHand, HandBack, HandBackAsk, HandBackPath, HandBackReply, Sided, Sides, Stamp,
};
use windlass::base::Millis;
use windlass::law::hand_back::merge1::{Clash, Verdict};
use windlass::law::hand_back::tree::{Hash, TreePath, Version};
use windlass::ui::input::{Input, parse_key};
use windlass::ui::pane::conflict;
use windlass::ui::update::update;
use windlass::ui::view::view;
use windlass::ui::{Effect, Model, Msg, UiOptions};

const LINES: usize = 10_000;
const HUNKS: usize = 500;

/// The base, and a version in which every twentieth line begins a change of three lines.
fn text(side: Option<&str>) -> Vec<u8> {
    let mut out = Vec::new();
    for n in 0..LINES {
        let changed = n % (LINES / HUNKS) < 3;
        match side.filter(|_| changed) {
            Some(side) => out.extend(
                format!("    let value_{n} = {side}_of(input, {n}); // what {side} made\n").into_bytes(),
            ),
            None => {
                out.extend(format!("    let value_{n} = compute(input, {n}); // as it was\n").into_bytes())
            }
        }
    }
    out
}

fn sided(bytes: Vec<u8>, name: u8) -> Sided {
    let version = Version::File { hash: Hash([name; 32]), executable: false };
    Sided { version, bytes_len: bytes.len() as u64, bytes: Some(bytes.into()) }
}

fn path() -> TreePath {
    TreePath::new("src/generated.rs").unwrap()
}

fn sides() -> Sides {
    Sides {
        child: "lexer".into(),
        path: path(),
        verdict: Verdict::Conflict(Clash::Content),
        base: sided(text(None), 1),
        parent: sided(text(Some("parent")), 2),
        stamp: Stamp::default(),
        theirs: sided(text(Some("child")), 3),
        parent_then: Version::File { hash: Hash([2; 32]), executable: false },
        draft: None,
        earlier: None,
        can_propose: false,
    }
}

fn list() -> HandBack {
    let of = HandBackPath {
        path: path(),
        verdict: Verdict::Conflict(Clash::Content),
        by_hand: ByHand::Nothing,
        draft: false,
    };
    HandBack {
        child: "lexer".into(),
        at: Millis(0),
        paths: vec![of],
        renames: Vec::new(),
        left_out: Vec::new(),
        kept: Vec::new(),
    }
}

/// Answers what is asked until nothing more is.
fn settle(model: &mut Model, mut effects: Vec<Effect>, sides: &Sides) {
    loop {
        let Some(effect) = effects.pop() else {
            if !model.conflict.compares() {
                break;
            }
            std::thread::yield_now();
            effects.extend(update(model, Msg::Conflict(conflict::Msg::Compared), Millis(0)));
            continue;
        };
        let Effect::Send(Command::Ask { number, query: Query::HandBack(ask) }) = effect else { continue };
        let reply = match ask {
            HandBackAsk::List => HandBackReply::List(vec![list()]),
            HandBackAsk::Sides { .. } => HandBackReply::Sides(Box::new(sides.clone())),
            _ => HandBackReply::Kept,
        };
        let event = Event::Answered { number, reply: Reply::HandBack(reply) };
        effects.extend(update(model, Msg::Event(event), Millis(0)));
    }
}

fn keys(model: &mut Model, names: &str) -> Vec<Effect> {
    let names = names.split(' ');
    names
        .flat_map(|name| update(model, Msg::Input(Input::Key(parse_key(name).unwrap())), Millis(0)))
        .collect()
}

fn draw(model: &mut Model) -> u16 {
    let mut buffer = Buffer::empty(Rect::new(0, 0, 140, 45));
    view(model, &mut buffer, Millis(0));
    buffer.area.width
}

fn model() -> Model {
    let record = super::conversation::record();
    let mut model = Model::new(&UiOptions::default(), &record, Arc::new(|| {})).0;
    model.size = (140, 45);
    model
}

fn opened(sides: &Sides) -> Model {
    let mut model = model();
    let effects = keys(&mut model, "ctrl-x h");
    settle(&mut model, effects, sides);
    draw(&mut model);
    model
}

/// From the answer with the three versions to the first frame that shows them.
#[divan::bench(sample_count = 20)]
fn viewer_opens_10_000_lines_500_hunks(bencher: Bencher<'_, '_>) {
    let sides = sides();
    bencher.with_inputs(model).bench_local_values(|mut model| {
        let effects = keys(&mut model, "ctrl-x h");
        settle(&mut model, effects, &sides);
        draw(&mut model);
        model
    });
}

/// A key and its frame, each on the text as the ones before left it.
#[divan::bench(sample_count = 40, args = ["p", "c", "u", "n", "j", "pagedown", "C", "f p", "d", "W"])]
fn viewer_key(bencher: Bencher<'_, '_>, names: &str) {
    let sides = sides();
    let mut model = opened(&sides);
    bencher.bench_local(|| {
        keys(&mut model, names);
        draw(&mut model)
    });
}

/// The result opened to be written by hand, with its frame.
#[divan::bench(sample_count = 10)]
fn viewer_edit_opens(bencher: Bencher<'_, '_>) {
    let sides = sides();
    bencher.with_inputs(|| opened(&sides)).bench_local_values(|mut model| {
        keys(&mut model, "e");
        draw(&mut model);
        model
    });
}

/// What was written by hand taken, with its frame.
#[divan::bench(sample_count = 10)]
fn viewer_edit_is_taken(bencher: Bencher<'_, '_>) {
    let sides = sides();
    let written = || {
        let mut model = opened(&sides);
        for key in ["e", "x", "enter", "ctrl-end", "y"] {
            keys(&mut model, key);
            draw(&mut model);
        }
        model
    };
    bencher.with_inputs(written).bench_local_values(|mut model| {
        keys(&mut model, "esc");
        draw(&mut model);
        model
    });
}

/// A key while the result is written by hand, with its frame.
#[divan::bench(sample_count = 40, args = ["x", "enter", "backspace", "down", "pagedown", "ctrl-end", "ctrl-_"])]
fn viewer_edit_key(bencher: Bencher<'_, '_>, names: &str) {
    let sides = sides();
    let mut model = opened(&sides);
    for key in ["e", "x", "enter"] {
        keys(&mut model, key);
        draw(&mut model);
    }
    bencher.bench_local(|| {
        keys(&mut model, names);
        draw(&mut model)
    });
}
