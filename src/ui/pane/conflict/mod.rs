//! The conflict viewer: what came back from a child, path by path, and for a conflict the three versions beside each
//! other with the text that would be written below.
//!
//! In reading order: `open` (one path: what can be done with it), `carried` (what was decided, when something else is
//! there), `text` (a merge of lines, or two versions to look
//! at), `forms` (conflicts that are no text), `edit` (the result, written by hand), `list` (the paths); `update` (what
//! happens, and where each key goes: `choose`, `moves`, `by_hand`, `propose`, `write`), `ahead` (keys that come before what they are
//! for), `answer` (what the session tells), `keep` (what was decided, kept as it is made), `watch`
//! (changes outside), `work` (long texts), `said` (words with keys in them); and what draws: `places`, `view`, `heads`,
//! `columns`, `line`, `result`, `paths`, `colours`, `words`,
//! `legend`, `hints`; `spoken` says it all to a screen reader. Deliberately not here: which lines belong together
//! and what comes of a choice (`law::merge`), and files: the session is asked (`ui::conflict_update`).

mod ahead;
mod answer;
mod by_hand;
mod carried;
mod choose;
mod colours;
mod columns;
mod edit;
mod forms;
mod heads;
mod hints;
mod keep;
mod legend;
mod line;
mod list;
mod moves;
mod open;
mod paths;
mod places;
mod propose;
mod result;
mod said;
mod spoken;
mod text;
mod update;
mod view;
mod watch;
mod words;
mod work;
mod write;

use crate::api::event::Reply;
use crate::api::hand_back::{HandBack, HandBackAsk};
use crate::base::Millis;
use crate::law::hand_back::tree::TreePath;
use crate::law::merge::regions::{Side, Whitespace};
use crate::law::merge::resolution::Choice;
use crate::ui::action::Action;

pub use hints::{hints, way_out};
pub use legend::LEGEND;
pub use said::Said;
pub use update::update;
pub use view::{Seen, Shown, view};

use colours::Colours;
use keep::Keeping;
use open::Open;
use propose::Works;
use watch::Watch;
use work::Worker;

/// Paths whose choices and steps are remembered besides the one that is open.
const KEPT_MAX: usize = 8;

/// What the viewer remembers.
#[derive(Debug)]
pub struct State {
    shown: bool,
    /// It is all that the program shows: leaving it leaves the program.
    alone: bool,
    /// Leaving it without writing what was chosen was warned of, by the key before.
    warned: bool,
    /// What came back; none: not told yet.
    all: Option<Vec<HandBack>>,
    /// Whose paths are listed; none: the children are.
    child: Option<String>,
    /// The child that keys are for, while children are listed.
    picked: usize,
    /// The line that keys are for, while paths are listed.
    selected: usize,
    /// The first line of the list that is drawn.
    top: usize,
    focus: Focus,
    /// It was opened, and what came back is not told since.
    entered: bool,
    open: Option<Open>,
    kept: Vec<Open>,
    /// Why the path that is selected cannot be shown.
    trouble: Option<String>,
    /// What was asked last could not be done: keys that waited for it are not for what comes instead.
    stumbled: bool,
    /// What keys are for became another one by itself: the first choice may have been meant for what was there.
    turned: bool,
    /// What is being written by hand is of versions that are others now: it is looked at when that is done.
    stale: bool,
    keeping: Keeping,
    watch: Watch,
    works: Works,
    /// The text whose open hunks the person is asked about.
    asked_open: Option<u64>,
    /// What was asked and is not answered yet.
    asked: Vec<(u64, Asked)>,
    last_token: u64,
    last_id: u64,
    colours: Colours,
    worker: Worker,
    look: Look,
    /// What was drawn last.
    drawn: Drawn,
}

/// Which part has the keys that move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Focus {
    Paths,
    Versions,
}

/// How it is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Look {
    /// Parent and child only.
    two: bool,
    /// Whether lines that differ in whitespace only count as equal.
    whitespace: Whitespace,
    /// The paths give their room away.
    wide: bool,
    /// What is seen where there is room for one.
    one: One,
}

/// What can be seen where there is room for one only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum One {
    Version(Side),
    Result,
}

/// What the view tells `update`: how much was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Drawn {
    /// Rows of the versions.
    rows: usize,
    /// Rows of the list.
    list: usize,
    /// Whether the versions, or the form, were seen at all.
    versions: bool,
    list_area: ratatui::layout::Rect,
    versions_area: ratatui::layout::Rect,
}

/// What was asked of the session.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Asked {
    List,
    Sides(String, TreePath),
    Stamp(String, TreePath),
    Write(String, TreePath, Done),
    Propose(String, TreePath),
    Draft(String, TreePath),
}

/// What a write does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Done {
    Resolved,
    Reverted,
    TakenBack,
}

/// What can happen to the viewer.
#[derive(Clone, Debug, PartialEq)]
pub enum Msg {
    /// It is opened.
    Enter,
    /// It is opened on what came back from this child.
    EnterChild(String),
    /// A key that is bound.
    Do(Action),
    /// A character for the text that is edited.
    Insert(char),
    /// A paste for the text that is edited.
    Paste(String),
    /// The rows go so many down.
    Scroll(i32),
    /// A click.
    Click {
        /// Column of the screen.
        column: u16,
        /// Row of the screen.
        row: u16,
    },
    /// Write; hunks that are open get this.
    Write(Choice),
    /// The result comes back from the editor.
    Edited(Vec<u8>),
    /// The answer to what was asked.
    Answered {
        /// The token that was given with it.
        token: u64,
        /// The answer.
        reply: Reply,
    },
    /// The session took a question not.
    NotAsked(u64),
    /// What there is may have changed: it is looked at anew.
    Refresh,
    /// A number of the list, or of a hunk, from 0.
    Pick(usize),
    /// What is due at this time is done.
    Time(Millis),
    /// Something may have been compared.
    Compared,
}

/// What the viewer wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum Out {
    /// Ask the session; the answer comes as `Msg::Answered` with the token.
    Ask {
        /// Comes back with the answer.
        token: u64,
        /// The question.
        ask: HandBackAsk,
    },
    /// So many hunks are open: ask what is written for them.
    AskOpen(usize),
    /// Open these bytes in the person's editor, as a file of this name.
    Edit {
        /// Its last part.
        name: String,
        /// What it holds.
        bytes: Vec<u8>,
    },
    /// The page of keys.
    Keys,
    /// Leave the viewer.
    Close,
    /// Tell the person.
    Say(Said),
    /// What was told is not so any more.
    Unsay,
}

impl State {
    /// A new one. `wake` makes the screen draw again when background work (colouring) has ended; `alone`: it is all
    /// that the program shows.
    pub fn new(wake: crate::link::Wake, alone: bool) -> Self {
        Self {
            shown: alone,
            alone,
            warned: false,
            all: None,
            child: None,
            picked: 0,
            entered: false,
            selected: 0,
            top: 0,
            focus: Focus::Paths,
            open: None,
            kept: Vec::new(),
            trouble: None,
            stumbled: false,
            turned: false,
            stale: false,
            keeping: Keeping::default(),
            watch: Watch::default(),
            works: Works::default(),
            asked_open: None,
            asked: Vec::new(),
            last_token: 0,
            last_id: 0,
            colours: Colours::new(wake.clone()),
            worker: Worker::new(wake),
            look: Look {
                two: false,
                whitespace: Whitespace::Counts,
                wide: false,
                one: One::Version(Side::Parent),
            },
            drawn: Drawn::default(),
        }
    }

    /// Whether it is on the screen.
    pub fn shown(&self) -> bool {
        self.shown
    }

    /// Whether it is all that the program shows.
    pub fn alone(&self) -> bool {
        self.alone
    }

    /// Whether what is typed is text.
    pub fn edits(&self) -> bool {
        self.shown && self.text().is_some_and(|text| text.editor.is_some())
    }

    /// Whether texts are being compared: `Msg::Compared` takes what is done.
    pub fn compares(&self) -> bool {
        self.worker.is_busy()
    }

    /// Whether colours of what was drawn have not come yet.
    pub fn owes_colours(&self) -> bool {
        self.colours.owes()
    }

    /// Takes colours that have come; whether there are any.
    pub fn take_colours(&mut self) -> bool {
        self.colours.take()
    }

    fn text(&self) -> Option<&text::Text> {
        self.open.as_ref().and_then(|open| open.text.as_ref())
    }

    fn text_mut(&mut self) -> Option<&mut text::Text> {
        self.open.as_mut().and_then(|open| open.text.as_mut())
    }

    /// The hand-back whose paths are listed.
    fn hand_back(&self) -> Option<&HandBack> {
        let child = self.child.as_ref()?;
        self.all.as_ref()?.iter().find(|one| one.child == *child)
    }

    fn ask(&mut self, asked: Asked, ask: HandBackAsk) -> Out {
        self.last_token += 1;
        self.asked.push((self.last_token, asked));
        Out::Ask { token: self.last_token, ask }
    }
}
