//! The conversation, the composer, what runs now, and what is asked.

use std::sync::Arc;

use windlass::api::access::{Class, Mode, Preview};
use windlass::api::board::{Part, PartKind, Pending, Phase, Record};
use windlass::api::entry::{
    Compaction, Details, EntryBody, Level, Notice, Restore, Setting, Stayed, TodoItem, TodoState, Touched,
    TurnEnd, TurnStatus, UnknownEntry, UserMessage,
};
use windlass::api::event::Reply;
use windlass::api::job::JobEnd;
use windlass::api::message::{Answer, Block, Body, Finish, Image, Stop};
use windlass::base::{CallId, EntryId, JobId, Millis};
use windlass::law::children::End;
use windlass::ui::Msg;
use windlass::ui::input::Input;
use windlass::ui::widget::diff::Shape;

use super::super::{Screen, agents, jobs, overlays, record};
use super::{Scene, after, seen};

/// All of them.
pub const SCENES: &[Scene] = &[
    ("empty", |c, r| Screen::new(c, r, record::empty())),
    ("empty-read", |c, r| after(Screen::new(c, r, record::empty()), "ctrl-o")),
    ("full", |c, r| written(Screen::new(c, r, record::full()), "a draft")),
    ("markdown", |c, r| Screen::new(c, r, markdown())),
    ("entries", |c, r| Screen::new(c, r, entries())),
    ("reading", |c, r| after(Screen::new(c, r, calls()), "ctrl-o k k")),
    ("calls-opened", |c, r| after(Screen::new(c, r, calls()), "ctrl-o a")),
    ("diff-unified", |c, r| edited(c, r, Shape::Unified)),
    ("diff-sides", |c, r| edited(c, r, Shape::Sides)),
    ("hits", |c, r| after(Screen::new(c, r, record::full()), "ctrl-o / l e x e r enter n")),
    ("selecting", |c, r| after(Screen::new(c, r, record::full()), "ctrl-o k v up v right right right")),
    ("new-output-below", new_output_below),
    ("thinking", |c, r| Screen::new(c, r, streaming(PartKind::Thinking))),
    ("streaming", |c, r| Screen::new(c, r, streaming(PartKind::Text))),
    ("phase-opening", |c, r| phase(c, r, Phase::Opening)),
    ("phase-waiting", |c, r| phase(c, r, Phase::Waiting)),
    ("phase-retrying", |c, r| {
        let why = "529 overloaded_error: Overloaded".to_owned();
        phase(c, r, Phase::Retrying { attempt: 3, at: Millis(1_012_000), why })
    }),
    ("phase-compacting", |c, r| phase(c, r, Phase::Compacting)),
    ("phase-stopping", |c, r| phase(c, r, Phase::Stopping)),
    ("turn-failed", |c, r| Screen::new(c, r, failed())),
    ("running", |c, r| Screen::new(c, r, running())),
    ("steering", |c, r| written(Screen::new(c, r, pending()), "and this too")),
    ("long-draft", |c, r| {
        written(Screen::new(c, r, record::empty()), &"words of a long draft, 文書 ".repeat(14))
    }),
    ("draft-with-tokens", draft_with_tokens),
    ("commands", |c, r| written(Screen::new(c, r, record::empty()), "/")),
    ("files", files),
    ("word-to-the-person", |c, r| {
        let mut screen = Screen::new(c, r, record::full());
        screen.tell(Msg::Say(
            "a word to the person, which may be a long one: conversation.md is written".into(),
        ));
        screen
    }),
    ("chord", |c, r| after(Screen::new(c, r, record::empty()), "ctrl-x")),
    ("leaving", |c, r| after(Screen::new(c, r, record::empty()), "ctrl-c")),
    ("read-only", |c, r| {
        with(c, r, record::full, |s| s.read_only = Some("another program (pid 4711)".into()))
    }),
    ("no-model", |c, r| with(c, r, record::empty, |s| s.model = String::new())),
    ("all-of-the-title", |c, r| Screen::new(c, r, titled())),
    ("hidden-live", |c, r| after(Screen::new(c, r, record::full()), "ctrl-x l")),
    ("approval-command", |c, r| seen(Screen::new(c, r, asked()))),
    ("approval-long", |c, r| seen(Screen::new(c, r, asked_long()))),
    ("approval-early", |c, r| Screen::new(c, r, asked())),
    ("approval-diff", |c, r| seen(Screen::new(c, r, asked_diff()))),
    ("approval-words", |c, r| seen(Screen::new(c, r, asked_words()))),
    ("approval-beside-a-draft", |c, r| seen(written(Screen::new(c, r, asked()), "a draft"))),
    ("raw", |c, r| after(Screen::new(c, r, record::full()), "ctrl-x v")),
];

fn written(mut screen: Screen, text: &str) -> Screen {
    screen.draw();
    screen.write(text);
    screen
}

fn with(
    columns: u16,
    rows: u16,
    record: fn() -> Record,
    change: impl FnOnce(&mut windlass::api::board::Status),
) -> Screen {
    let mut record = record();
    record::status(&mut record, change);
    Screen::new(columns, rows, record)
}

fn phase(columns: u16, rows: u16, phase: Phase) -> Screen {
    with(columns, rows, record::full, |status| status.phase = phase)
}

/// All that an answer can hold.
fn markdown() -> Record {
    let mut record = record::empty();
    record::user(&mut record, "what can it show?");
    record::answer(
        &mut record,
        "# A heading\n\nSome **strong**, *soft*, ~~gone~~ and `code`, a [link](https://example.org/a), 文書 and 👩\u{200d}👧.\n\n\
         > a quote, *soft*\n> - with a list\n\n1. first\n   - nested\n2. second\n\n- [x] done\n- [ ] open\n\n\
         | key | value | number |\n|:--|:-:|--:|\n| 日本 | a value | 1 |\n| `x` | 👩\u{200d}👧 | 22222 |\n\n---\n\n\
         ```rust\nfn main() { println!(\"{}\", 1); } // a word\n```\n\nA note.[^1]\n\n[^1]: The footnote.\n\n\
         <details><summary>More</summary>\n\ninside\n\n</details>\n\n$ a price of 5$ and שלום\n",
    );
    record
}

fn touched(name: &str) -> Touched {
    Touched { path: format!("/srv/parser/{name}").into(), before: None, after: None, mode: None, made: 0 }
}

/// An entry of each kind.
fn entries() -> Record {
    let mut record = record::empty();
    let image = Image {
        media_type: "image/png".into(),
        data: "iVBORw0KGgo=".into(),
        blob: None,
        name: "shot.png".into(),
    };
    let message = UserMessage { text: "look at this".into(), images: vec![image], ..UserMessage::default() };
    record::push(&mut record, EntryBody::User(message));
    let think = "The person wants to know what is on the picture.\n\nI look at it first.";
    let answer = Answer {
        wire: "scripted".into(),
        model: "scripted/x".into(),
        blocks: vec![
            Block::plain(Body::Thinking(think.into())),
            Block::plain(Body::Text("It is a parser.".into())),
        ],
        finish: Finish::Finished(Stop::End),
        usage: None,
    };
    record::push(&mut record, EntryBody::Answer(answer));
    record::command(&mut record, "c1", "cargo test lexer", "running 2 tests\ntest ok\nFAILED\n", false);
    record::settled(&mut record, "c2", "todo", serde_json::json!({"items": []}), "3 items");
    let item = |text: &str, state| TodoItem { text: text.into(), state };
    let items = vec![
        item("read the lexer", TodoState::Done),
        item("skip nested comments", TodoState::Active),
        item("tell the manual", TodoState::Open),
    ];
    let last = record.path.last_mut().expect("its result");
    if let EntryBody::CallSettle(settle) = &mut Arc::make_mut(last).body {
        settle.details = Details::Todo { items };
    }
    for (level, text) in [
        (Level::Info, "the session's title was made by the model"),
        (Level::Warning, "AGENTS.md is longer than 64 KB: its end is not read"),
        (
            Level::Error,
            "the journal could not be written: no space left on the disk; free some, then send again",
        ),
    ] {
        record::push(&mut record, EntryBody::Notice(Notice { level, text: text.into() }));
    }
    let setting = Setting { model: Some("local/qwen".into()), mode: Some(Mode::Auto) };
    record::push(&mut record, EntryBody::Setting(setting));
    let end = JobEnd {
        job: JobId(3),
        call: CallId::new("c3"),
        command: "npm run dev".into(),
        hidden: false,
        left: false,
        outcome: jobs::outcome(windlass::law::job::End::Exited { code: 1 }, 3),
    };
    record::push(&mut record, EntryBody::JobEnd(end));
    record::push(&mut record, EntryBody::AgentEnd(agents::end("manual", End::Answered, None)));
    let compaction = Compaction {
        summary: "The lexer was read, and a test fails.".into(),
        keep_from: Some(EntryId::new("e3")),
        tokens_before: 180_000,
        tokens_after: 12_000,
    };
    record::push(&mut record, EntryBody::Compaction(compaction));
    let stayed =
        Stayed { path: "/srv/parser/README.md".into(), why: "was changed by someone else since".into() };
    let restore = Restore {
        touched: vec![touched("src/lexer.rs"), touched("src/depth.rs")],
        undoes: None,
        stayed: vec![stayed],
    };
    record::push(&mut record, EntryBody::Restore(restore));
    let raw = serde_json::value::RawValue::from_string("{\"a\":1}".into()).expect("JSON");
    record::push(&mut record, EntryBody::Unknown(UnknownEntry { kind: "dream".into(), raw }));
    record::push(&mut record, EntryBody::TurnEnd(TurnEnd { status: TurnStatus::Done, why: None }));
    record
}

fn calls() -> Record {
    let mut record = record::empty();
    record::user(&mut record, "mend the lexer");
    let input = serde_json::json!({"path": "src/lexer.rs"});
    record::settled(&mut record, "r1", "read", input, "fn skip() {\n    let mut depth = 1;\n}\n");
    record::command(
        &mut record,
        "c1",
        "cargo test lexer && echo 'all of it is well' | tee out.txt",
        &"ok\n".repeat(40),
        true,
    );
    record::command(&mut record, "c2", "cargo clippy", "error: this loop never ends\n", false);
    record::answer(&mut record, "One lint is left.");
    record
}

/// A diff whose language has no colours of its own to come.
const DIFF: &str = "--- a/src/lexer.txt\n+++ b/src/lexer.txt\n@@ -1,6 +1,7 @@\n fn skip() {\n-    let mut depth = 1; // one\n+    let mut level = 1; // one\n+    let start = self.at;\n }\n \n fn peek() {\n@@ -40,3 +41,2 @@ fn token\n same 文書\n-gone\n same\n";

fn edited(columns: u16, rows: u16, shape: Shape) -> Screen {
    let mut record = record::empty();
    record::user(&mut record, "mend the lexer");
    record::settled(&mut record, "d1", "edit", serde_json::json!({"path": "src/lexer.txt"}), "edited");
    let last = record.path.last_mut().expect("its result");
    if let EntryBody::CallSettle(settle) = &mut Arc::make_mut(last).body {
        settle.details = Details::Diff { diff: DIFF.into(), added: 2, removed: 2 };
    }
    record::answer(&mut record, "It is mended.");
    let mut screen = Screen::new(columns, rows, record);
    screen.model.conversation.show_diffs(shape);
    after(screen, "ctrl-o k k enter")
}

fn new_output_below(columns: u16, rows: u16) -> Screen {
    let mut record = record::full();
    for n in 0..30 {
        record::answer(&mut record, &format!("answer {n}"));
    }
    let mut screen = after(Screen::new(columns, rows, record), "pageup pageup");
    screen.draw();
    screen.change(|record| record::answer(record, "and one more"));
    screen
}

fn streaming(kind: PartKind) -> Record {
    let mut record = record::empty();
    record::user(&mut record, "what is wrong with it?");
    record.live.number = 1;
    let text = "The lexer counts no depth.\n\n- it skips `/*`\n- and stops at the first";
    record.live.parts.push(Part { kind, text: text.into() });
    record::status(&mut record, |status| {
        status.phase = Phase::Streaming;
        status.turn_began = Some(Millis(991_000));
    });
    record
}

fn failed() -> Record {
    let mut record = record::empty();
    record::user(&mut record, "mend the lexer");
    let why = "401 invalid x-api-key: the key of anthropic is not accepted; /key stores another one";
    record::push(
        &mut record,
        EntryBody::TurnEnd(TurnEnd { status: TurnStatus::Failed, why: Some(why.into()) }),
    );
    record
}

fn running() -> Record {
    let mut record = record::full();
    record::running(
        &mut record,
        "c3",
        "cargo build --release --workspace --all-features",
        "Compiling parser\n",
    );
    record::running(&mut record, "c4", "python3 bench.py 文書", "");
    record.calls.report(&CallId::new("c4"), |progress| progress.asking = true);
    record
}

fn pending() -> Record {
    let mut record = record::full();
    record::status(&mut record, |status| {
        let waits = |id, text: &str, after_turn| Pending { id, text: text.into(), after_turn };
        status.pending = vec![
            waits(1, "stop at the first failure", false),
            waits(2, "and the docs, please,\nall of them", true),
            waits(3, "a third one that is long: ".repeat(6).trim(), true),
            waits(4, "a fourth", true),
        ];
    });
    record
}

fn draft_with_tokens(columns: u16, rows: u16) -> Screen {
    let mut screen = written(Screen::new(columns, rows, record::empty()), "see ");
    screen.tell(Msg::Input(Input::Paste("line of a paste\n".repeat(40))));
    screen.keys("ctrl-j");
    screen.write("and @src/lexer.rs ");
    let image = Image {
        media_type: "image/png".into(),
        data: "iVBORw0KGgo=".into(),
        blob: None,
        name: "shot.png".into(),
    };
    screen.model.composer.draft.image(image);
    screen
}

fn files(columns: u16, rows: u16) -> Screen {
    let mut screen = Screen::new(columns, rows, record::empty());
    screen.draw();
    let mut effects = screen.write("look at @");
    effects.extend(screen.write("s"));
    let files = ["src/lexer.rs", "src/main.rs", "docs/文書.md", "tests/lexer.rs"].map(str::to_owned);
    overlays::reply(&mut screen, &effects, Reply::Files(files.to_vec()));
    screen
}

/// Everything that the title can say.
fn titled() -> Record {
    let mut record = record::full();
    jobs::job(&mut record, 1, "npm run dev");
    record.jobs.report(&JobId(1), |row| row.kept = true);
    agents::agent(&mut record, "lexer", windlass::api::agent::AgentState::Working);
    record::status(&mut record, |status| {
        status.title = "nested comments in the lexer".into();
        status.cwd = "/srv/a/directory/that/lies/deep/below/others/parser".into();
        status.usage.input = 1_234_567;
        status.trusted = Some(false);
        status.open_conflicts = 2;
        status.profile = "workspace".into();
        status.mode = Mode::Edits;
    });
    record
}

fn asked() -> Record {
    let mut record = record::full();
    record::ask(&mut record, "c2", "cargo test && echo '\u{202e}evil' \u{1b}[31m");
    record
}

fn asked_long() -> Record {
    let mut record = record::full();
    record::ask(&mut record, "c2", &(0..60).map(|n| format!("echo {n}\n")).collect::<String>());
    record
}

fn asked_diff() -> Record {
    let mut record = asked();
    let approval = &mut Arc::make_mut(&mut record.approvals)[0];
    approval.preview = Preview::Diff { diff: DIFF.into() };
    approval.class = Class::Write;
    approval.tool = "edit".into();
    approval.rule = Some("edit(src/lexer.txt)".into());
    record::ask(&mut record, "c3", "ls");
    record
}

fn asked_words() -> Record {
    let mut record = asked();
    let approval = &mut Arc::make_mut(&mut record.approvals)[0];
    approval.preview =
        Preview::Text { text: "reads https://example.org/manual\nand what it leads to".into() };
    approval.class = Class::Network;
    approval.tool = "fetch".into();
    approval.rule = None;
    approval.agent = Some("lexer".into());
    record
}
