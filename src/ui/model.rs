//! The one model of the screen: all that is drawn comes from it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::api::access::Approval;
use crate::api::agent::AgentRow;
use crate::api::board::{Phase, Record, Status};
use crate::api::command::{Command, Query};
use crate::api::job::{JobRow, Notify};
use crate::base::{CallId, JobId, Millis};
use crate::link::Wake;
use crate::ui::act;
use crate::ui::agent_view;
use crate::ui::conflict_update;
use crate::ui::depth::Depth;
use crate::ui::ends::Ends;
use crate::ui::input::Key;
use crate::ui::job_view;
use crate::ui::jsonc::Problem;
use crate::ui::keymap::Keymap;
use crate::ui::msg::Effect;
use crate::ui::overlay::{Overlay, approve, list};
use crate::ui::pace::Motion;
use crate::ui::pane::{PaneId, agents, composer, conflict, conversation, jobs, live, tree};
use crate::ui::picture;
use crate::ui::raw;
use crate::ui::ring::{Ring, Secrecy};
use crate::ui::theme::{self, Theme};
use crate::ui::widget::diff::Shape;

/// The environment variables that the screen wants to know.
pub const ENVIRONMENT: &[&str] =
    &["TERM", "COLORTERM", "NO_COLOR", "TMUX", "STY", "XTERM_VERSION", "HOME", "LC_ALL", "LC_CTYPE", "LANG"];

/// How the screen is wanted.
#[derive(Clone, Debug, Default)]
pub struct UiOptions {
    /// The theme's name; empty: `dark`, or `light` where the terminal says that it is.
    pub theme: String,
    /// The person's themes, as (file, text).
    pub themes: Vec<(String, String)>,
    /// The person's keymap, as (file, text).
    pub keymap: Option<(String, String)>,
    /// Mouse reports.
    pub mouse: bool,
    /// What tells of an end, and of what waits, while the window is not looked at.
    pub notify: Notify,
    /// Where the terminal does not tell of its focus: no key for so long is not being looked at; 0: never.
    pub notify_after: Millis,
    /// Whether the terminal's title says what is done.
    pub terminal_title: bool,
    /// Fewer things that move.
    pub reduced_motion: bool,
    /// How diffs are shown at first.
    pub diff: Shape,
    /// The keys of vi in the composer.
    pub vi_keys: bool,
    /// No colours.
    pub no_color: bool,
    /// How many colours the terminal shows.
    pub depth: Depth,
    /// What the terminal can show: `unicode`, `ascii`; any other word: by the environment.
    pub glyphs: String,
    /// Whether characters of ambiguous width take two columns in the terminal.
    pub ambiguous_wide: bool,
    /// What stands in the composer at first.
    pub draft: String,
    /// A message that is sent at once.
    pub prompt: Option<String>,
    /// Where one was in the conversation before another was shown.
    pub place: Option<conversation::Kept>,
    /// Show the first-run screen.
    pub first_run: bool,
    /// Show the tour: nobody began anything here yet.
    pub tour: bool,
    /// Ask whether the directory's own settings are trusted.
    pub ask_trust: bool,
    /// Plain lines for a screen reader in the place of the full screen.
    pub screen_reader: bool,
    /// Show the conflict viewer alone: the program is for one merge, and ends with it.
    pub alone: bool,
    /// The variables of `ENVIRONMENT` that are set.
    pub environment: BTreeMap<String, String>,
}

/// Who asked a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asker {
    /// The composer, for files.
    Files,
    /// The composer, for earlier prompts.
    Prompts,
    /// The composer, for the person's own commands.
    Commands,
    /// The list on top.
    List,
    /// A page of what fills the window, what was spent, or what ran when.
    Context,
    /// The first-run screen.
    Servers,
    /// Something of which only the outcome is told.
    Outcome,
    /// A session was renamed: the list of sessions is asked for anew.
    Renamed,
    /// What a draft weighs, for the prices.
    Prices,
    /// A key was stored: models are offered next.
    Key,
    /// The tree.
    Tree,
    /// A rewind that is asked about.
    Rewind,
    /// The view of a job, for a piece of its output.
    JobLog(JobId),
    /// The view of a job, for a search with its token.
    JobFind(JobId, u64),
    /// The conversation, with its token.
    Conversation(u64),
    /// The transcript of an agent, with its token.
    Transcript(u64),
    /// The conflict viewer, with its token.
    Conflict(u64),
}

/// A word to the person that goes by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toast {
    /// The words.
    pub text: String,
    /// Until when they stand.
    pub until: Millis,
    /// From when on a key takes them away before that; none: no key does.
    pub key_from: Option<Millis>,
}

/// Views that were left: opened again, they stand where they were.
#[derive(Default)]
pub struct Left {
    /// Of jobs.
    pub jobs: Vec<job_view::State>,
    /// Transcripts of agents.
    pub agents: Vec<agent_view::State>,
}

/// The model.
pub struct Model {
    /// Columns and rows.
    pub size: (u16, u16),
    /// Which pane has the focus.
    pub focus: PaneId,
    /// The conversation.
    pub conversation: conversation::State,
    /// The composer.
    pub composer: composer::State,
    /// What runs.
    pub live: live::State,
    /// The jobs.
    pub jobs: jobs::State,
    /// One of them, over the whole screen.
    pub job_view: Option<job_view::State>,
    /// Views that were left, with their places.
    pub left: Left,
    /// The raw view, while it is shown.
    pub raw: Option<raw::State>,
    /// The subagents.
    pub agents: agents::State,
    /// The transcript of one of them, over the whole screen.
    pub agent_view: Option<agent_view::State>,
    /// What came back from subagents, over the whole screen.
    pub conflict: conflict::State,
    /// So many conflicts were open when it was looked up last.
    pub conflicts_seen: usize,
    /// Keys for the conflict viewer that wait for what they are for.
    pub ahead: Vec<Key>,
    /// Every branch.
    pub tree: tree::State,
    /// The rewind that the session is asked about.
    pub rewind: Option<tree::Target>,
    /// A fork is being made, for which the session is left with its jobs so.
    pub forking: Option<list::Jobs>,
    /// What a person who looks elsewhere is told of.
    pub ends: Ends,
    /// What sits over the panes, the last on top.
    pub overlays: Vec<Overlay>,
    /// The title's facts.
    pub status: Arc<Status>,
    /// Open questions, oldest first.
    pub approvals: Arc<Vec<Approval>>,
    /// What is remembered of the first of them.
    pub approve: approve::State,
    /// The one that the person turned to: it comes first while it is open.
    turned: Option<CallId>,
    /// Whether the theme follows the terminal's ground: nobody chose one.
    pub theme_follows: bool,
    /// All themes.
    pub themes: Vec<Theme>,
    /// Which one is on.
    pub theme: usize,
    /// Which key does what.
    pub keymap: Keymap,
    /// The first of two keys, while the second is waited for.
    pub chord: Option<Key>,
    /// A word to the person.
    pub toast: Option<Toast>,
    /// Until when `^C` quits.
    pub quit_until: Option<Millis>,
    /// Fewer things that move.
    pub reduced_motion: bool,
    /// The person's home, shown as `~`.
    pub home: String,
    /// What models cost, for the draft.
    pub prices: composer::estimate::Prices,
    /// Whether the terminal shows thumbnails.
    pub thumbnails: bool,
    /// Where the conversation was drawn, for clicks.
    pub conversation_area: ratatui::layout::Rect,
    /// Where the tree was drawn, for clicks.
    pub tree_area: ratatui::layout::Rect,
    /// Where the jobs were drawn, for clicks.
    pub jobs_area: ratatui::layout::Rect,
    /// Where the agents were drawn, for clicks.
    pub agents_area: ratatui::layout::Rect,
    /// Makes the screen draw again when background work has ended.
    pub wake: Wake,
    /// The last messages.
    pub ring: Ring,
    asked: BTreeMap<u64, Asker>,
    next_number: u64,
    revision: Option<u64>,
}

impl Model {
    /// A new one, and what was wrong with the person's theme and keymap.
    pub fn new(options: &UiOptions, record: &Record, wake: Wake) -> (Self, Vec<Problem>) {
        let (themes, mut problems) = theme::all(&options.themes, options.depth);
        let wanted = match (options.no_color, options.theme.as_str()) {
            (true, _) => "mono",
            (false, "") => "dark",
            (false, name) => name,
        };
        let theme = themes.iter().position(|t| t.name == wanted);
        if theme.is_none() {
            let names: Vec<&str> = themes.iter().map(|t| t.name.as_str()).collect();
            problems.push(Problem {
                file: "settings".to_owned(),
                line: 1,
                key: "theme".to_owned(),
                expected: format!("there is no theme `{wanted}`; expected one of {}", names.join(", ")),
            });
        }
        let mut keymap = Keymap::default();
        if let Some((file, text)) = &options.keymap {
            problems.append(&mut keymap.merge(text, file));
        }
        let mut model = Self {
            size: (80, 24),
            focus: PaneId::Composer,
            conversation: conversation::State::new(wake.clone()),
            composer: composer::State::default(),
            live: live::State::default(),
            jobs: jobs::State::default(),
            job_view: None,
            left: Left::default(),
            raw: None,
            agents: agents::State::default(),
            agent_view: None,
            conflict: conflict::State::new(wake.clone(), options.alone),
            conflicts_seen: record.status.open_conflicts,
            ahead: Vec::new(),
            tree: tree::State::default(),
            rewind: None,
            forking: None,
            ends: Ends::new(options.notify_after),
            overlays: Vec::new(),
            status: record.status.clone(),
            approvals: record.approvals.clone(),
            approve: approve::State::default(),
            turned: None,
            theme_follows: options.theme.is_empty() && !options.no_color,
            themes,
            theme: theme.unwrap_or(0),
            keymap,
            chord: None,
            toast: None,
            quit_until: None,
            reduced_motion: options.reduced_motion,
            home: options.environment.get("HOME").cloned().unwrap_or_default(),
            prices: composer::estimate::Prices::default(),
            thumbnails: false,
            conversation_area: ratatui::layout::Rect::default(),
            tree_area: ratatui::layout::Rect::default(),
            jobs_area: ratatui::layout::Rect::default(),
            agents_area: ratatui::layout::Rect::default(),
            wake,
            ring: Ring::default(),
            asked: BTreeMap::new(),
            next_number: 0,
            revision: None,
        };
        model.begin(options);
        model.sync(record);
        (model, problems)
    }

    /// What it begins with.
    fn begin(&mut self, options: &UiOptions) {
        self.composer.draft = composer::draft::Draft::of(&options.draft);
        let env = |name: &str| options.environment.get(name).cloned();
        self.thumbnails = options.depth == Depth::True && picture::shows(&env);
        self.composer.vi = options.vi_keys.then(Default::default);
        if options.tour && options.prompt.is_none() && !options.screen_reader {
            act::tour(self, 0);
        }
        self.conversation.still = options.reduced_motion;
        self.conversation.come_back(options.place.clone(), options.diff);
    }

    /// Takes what is new from one moment of the record; whether anything changed.
    pub fn sync(&mut self, record: &Record) -> bool {
        if self.revision == Some(record.revision) {
            // Colours of code come by themselves, with no change of the record.
            let viewer = self.conflict.take_colours();
            return self.conversation.take_colours() || viewer;
        }
        self.revision = Some(record.revision);
        self.conversation.sync(record);
        self.live.sync(record);
        self.jobs.sync(record);
        // taken off the list: there is nothing to show any more, but what is typed on must not do something else
        let stays = |view: &job_view::State| view.attached() || self.jobs.get(view.job).is_some();
        self.job_view = self.job_view.take().filter(stays);
        self.agents.sync(record);
        self.agent_view = self.agent_view.take().filter(|view| self.agents.get(&view.path).is_some());
        self.tree.sync(record);
        let typed_at = self.job_view.as_ref().filter(|view| view.attached()).map(|view| view.job);
        self.ends.sync(record, typed_at);
        self.status = record.status.clone();
        self.conversation.waits = self.status.phase == Phase::Opening;
        self.approvals = in_order(&record.approvals, self.turned.as_ref());
        self.approve.turn_to(self.approvals.first().map(|a| &a.call));
        true
    }

    /// The terminal told its ground; a theme that nobody chose follows it.
    pub fn ground(&mut self, colour: &str) {
        if let Some(light) = theme::is_light(colour) {
            self.follow(light);
        }
    }

    /// The terminal is light or dark; a theme that nobody chose follows it.
    pub fn follow(&mut self, light: bool) {
        if !self.theme_follows {
            return;
        }
        let wanted = if light { "light" } else { "dark" };
        self.theme = self.themes.iter().position(|theme| theme.name == wanted).unwrap_or(self.theme);
    }

    /// The theme that is on.
    pub fn look(&self) -> &Theme {
        &self.themes[self.theme]
    }

    /// Whether the approval at hand takes keys.
    pub fn approval_takes_keys(&self, now: Millis) -> bool {
        // keys that move in the conversation are no answers either
        let elsewhere = !self.composer.draft.is_empty() || self.focus != PaneId::Composer;
        !self.approvals.is_empty() && self.approve.takes_keys(now, elsewhere)
    }

    /// Turns to the next question that waits; the one at hand is asked again when all others were.
    pub fn next_approval(&mut self, now: Millis) {
        if self.approvals.len() < 2 {
            return self.say("no other question waits", now);
        }
        self.turned = self.approvals.get(1).map(|next| next.call.clone());
        self.approvals = in_order(&self.approvals, self.turned.as_ref());
        self.approve.turn_to(self.turned.as_ref());
    }

    /// Asks the session; the answer finds its asker.
    pub fn ask(&mut self, asker: Asker, query: Query) -> Effect {
        self.next_number += 1;
        self.asked.insert(self.next_number, asker);
        Effect::Send(Command::Ask { number: self.next_number, query })
    }

    /// Who asked a question that is answered now.
    pub fn answered(&mut self, number: u64) -> Option<Asker> {
        self.asked.remove(&number)
    }

    /// Tells the person something for a while.
    pub fn say(&mut self, text: impl Into<String>, now: Millis) {
        let text = text.into();
        let ms = 3000 + 40 * text.len().min(200) as u64;
        self.toast = Some(Toast { text, until: now.plus(Millis(ms)), key_from: None });
    }

    /// Tells the person something about what was typed: it goes with the next edit or send, if it did not before.
    pub fn say_of_draft(&mut self, text: impl Into<String>, now: Millis) {
        self.say(text, now);
        self.toast = self.toast.take().map(|toast| Toast { key_from: Some(now), ..toast });
    }

    /// Whether colours of what was drawn have not come yet: the next frame may be another one by itself.
    pub fn owes_colours(&self) -> bool {
        self.conversation.owes_colours() || self.conflict.owes_colours()
    }

    /// Whether what is typed goes to a job.
    pub fn attached(&self) -> bool {
        self.job_view.as_ref().is_some_and(job_view::State::attached)
    }

    /// Whether what is typed must not be recorded.
    pub fn secrecy(&self) -> Secrecy {
        if self.attached() {
            Secrecy::Keys
        } else if matches!(self.overlays.last(), Some(Overlay::Line(line)) if line.secret()) {
            Secrecy::Text
        } else if self.jobs.waits().is_some() {
            // a password may be typed beside the job that asks for it
            Secrecy::Text
        } else {
            Secrecy::None
        }
    }

    /// Whether the panes, and an approval among them, are covered by something.
    pub fn covered(&self) -> bool {
        !self.overlays.is_empty()
            || self.raw.is_some()
            || self.job_view.is_some()
            || self.agent_view.is_some()
            || self.conflict.shown()
    }

    /// What the frame that was drawn last needs to be whole.
    pub fn wants(&mut self) -> Option<Command> {
        job_view::wants(self).or_else(|| conflict_update::wants(self)).or_else(|| self.wants_prices())
    }

    /// A draft that is worth a word on its cost wants the prices, once.
    fn wants_prices(&mut self) -> Option<Command> {
        if !self.prices.ask(&self.composer) {
            return None;
        }
        match self.ask(Asker::Prices, Query::Models) {
            Effect::Send(command) => Some(command),
            _ => None,
        }
    }

    /// When something changes by itself; none: nothing does.
    pub fn deadline(&self, now: Millis) -> Option<Millis> {
        let toast = self.toast.as_ref().map(|t| t.until);
        let quit = self.quit_until;
        let arm = (!self.approvals.is_empty()).then(|| self.approve.arms_at()).flatten();
        let pull = self.pulls_at().map(|at| at.max(now.plus(Millis(1))));
        let conflict = self.conflict.due().map(|at| at.max(now.plus(Millis(1))));
        [toast, quit, arm, pull, conflict, self.ends.due()].into_iter().flatten().filter(|at| *at > now).min()
    }

    /// When a view goes on by itself: the mouse selects over its edge, or there is more to search or to read.
    pub fn pulls_at(&self) -> Option<Millis> {
        let transcript = self.agent_view.as_ref().and_then(|view| view.conversation.pulls_at());
        let log = self.job_view.as_ref().and_then(job_view::State::pulls_at);
        // a search goes on, and what is left of a long text is read, as soon as nothing else is to be done
        let talks = [Some(&self.conversation), self.agent_view.as_ref().map(|view| &view.conversation)];
        let more = talks.into_iter().flatten().any(conversation::State::has_more).then_some(Millis(0));
        [self.conversation.pulls_at(), transcript, log, more].into_iter().flatten().min()
    }

    /// What moves on the screen by itself.
    pub fn motion(&self) -> Motion {
        if self.conflict.shown() || self.raw.is_some() {
            return Motion::Still;
        }
        if let Some(view) = &self.job_view {
            // its time
            let runs = self.jobs.get(view.job).is_some_and(JobRow::runs);
            return if runs { Motion::Clock } else { Motion::Still };
        }
        if let Some(view) = &self.agent_view {
            let row = self.agents.get(&view.path);
            let moves = view.conversation.animates() || row.is_some_and(agents::spins);
            return match (moves, row.is_some_and(AgentRow::runs)) {
                (true, _) if !self.reduced_motion => Motion::Spin,
                (true, _) | (_, true) => Motion::Clock,
                (false, false) => Motion::Still,
            };
        }
        let agents = self.agents.drawn() && self.agents.animates();
        let moves =
            self.status.phase.busy() || self.live.running() > 0 || self.conversation.animates() || agents;
        // while a person is asked, only the times go on
        match (moves, self.reduced_motion || !self.approvals.is_empty()) {
            // the times of jobs and agents, where they are seen
            (false, _) if self.jobs.drawn() && self.jobs.running().next().is_some() => Motion::Clock,
            (false, _) if self.agents.drawn() && self.agents.running().next().is_some() => Motion::Clock,
            (false, _) => Motion::Still,
            (true, true) => Motion::Clock,
            (true, false) => Motion::Spin,
        }
    }
}

/// The open questions from this one on, then those before it.
fn in_order(approvals: &Arc<Vec<Approval>>, first: Option<&CallId>) -> Arc<Vec<Approval>> {
    match approvals.iter().position(|asked| Some(&asked.call) == first) {
        None | Some(0) => approvals.clone(),
        Some(at) => Arc::new(approvals[at..].iter().chain(&approvals[..at]).cloned().collect()),
    }
}
