//! The only place that changes the model. Time comes in; what is to be done goes out.

use crate::api::command::{Command, Query};
use crate::api::event::{Event, Reply};
use crate::base::Millis;
use crate::ui::act;
use crate::ui::action::{Action, Layer};
use crate::ui::agent_view;
use crate::ui::agents_update::to_agents;
use crate::ui::conflict_update::{self, to_conflict};
use crate::ui::input::{self, Input, Key, Mouse, MouseDid};
use crate::ui::job_view;
use crate::ui::jobs_update::{self, to_jobs};
use crate::ui::keymap::Meaning;
use crate::ui::list_update;
use crate::ui::model::{Asker, Model};
use crate::ui::msg::{Effect, Msg};
use crate::ui::overlay::{Overlay, catalog, list, timeline, usage};
use crate::ui::overlay_update;
use crate::ui::pane::{PaneId, composer, conflict, conversation};
use crate::ui::select_update;
use crate::ui::tree_update::{self, to_tree};

/// Changes the model by a message.
pub fn update(model: &mut Model, msg: Msg, now: Millis) -> Vec<Effect> {
    let secrecy = model.secrecy();
    model.ring.keep(now, &msg, secrecy);
    let mut out = Vec::new();
    match msg {
        Msg::Input(input) => on_input(model, input, now, &mut out),
        Msg::Resize(columns, rows) => {
            model.size = (columns, rows);
            job_view::size(model, &mut out);
        }
        Msg::Event(event) => on_event(model, event, now, &mut out),
        // what was covered was not seen
        Msg::Flushed if !model.covered() => model.approve.flushed(now),
        Msg::Flushed => {}
        Msg::Tick => {
            model.toast = model.toast.take().filter(|t| t.until > now);
            model.quit_until = model.quit_until.filter(|at| *at > now);
            pull(model, now, &mut out);
            conflict_update::tick(model, now, &mut out);
        }
        Msg::Composer(msg) => to_composer(model, msg, now, &mut out),
        Msg::Conversation(msg) => to_conversation(model, msg, now, &mut out),
        Msg::Jobs(msg) => to_jobs(model, msg, now, &mut out),
        Msg::Agents(msg) => to_agents(model, msg, now, &mut out),
        Msg::Tree(msg) => to_tree(model, msg, now, &mut out),
        Msg::Conflict(msg) => {
            let compared = model.conflict.compares();
            to_conflict(model, msg, now, &mut out);
            if compared && !model.conflict.compares() {
                conflict_update::catch_up(model, now, &mut out);
            }
        }
        Msg::NotSent(command) => not_sent(model, *command, now),
        Msg::Say(text) => model.say(text, now),
        Msg::AskTrust => act::slash(model, "trust", "", now, &mut out),
        Msg::Welcome => {
            model.overlays.push(Overlay::List(catalog::welcome()));
            out.push(model.ask(Asker::Servers, Query::Servers));
        }
    }
    tree_update::refresh(model, &mut out);
    out
}

fn on_input(model: &mut Model, input: Input, now: Millis, out: &mut Vec<Effect>) {
    match input {
        Input::Key(_) | Input::Paste(_) | Input::Mouse(_) => model.ends.key(now),
        Input::Focus(has) => model.ends.focus(has),
        Input::Reply(input::Reply::Mode(1004, 1 | 3)) => model.ends.tells(),
        Input::Reply(_) => {}
    }
    if job_view::on_input(model, &input, now, out) {
        return;
    }
    match input {
        Input::Key(key) => on_key(model, key, now, out),
        Input::Paste(text) => match model.overlays.last_mut() {
            Some(Overlay::Line(line)) => {
                line.paste(&text);
                overlay_update::searched(model, now, out);
            }
            Some(Overlay::List(list)) => {
                text.chars().filter(|c| !c.is_control()).for_each(|c| list.type_char(c))
            }
            Some(Overlay::Page(page)) => {
                text.chars().filter(|c| !c.is_control()).for_each(|c| page.type_char(c));
            }
            Some(Overlay::Timeline(_)) => {}
            None if model.conflict.shown() => conflict_update::paste(model, text, now, out),
            None if model.job_view.is_some() => {
                let key = model.keymap.hint(Action::ViewAttach);
                model.say(format!("nothing was pasted: {key} attaches to the job first"), now);
            }
            None if model.agent_view.is_some() => {
                let key = model.keymap.hint(Action::TranscriptMessage);
                model.say(format!("nothing was pasted: {key} writes to the agent"), now);
            }
            None if model.focus == PaneId::Jobs && model.jobs.waits().is_some() => {
                let words = jobs_update::missed(model, Action::JobAttach);
                model.say(words.unwrap_or_default(), now);
            }
            None => {
                model.focus = PaneId::Composer;
                to_composer(model, composer::Msg::Paste(text), now, out);
            }
        },
        Input::Mouse(mouse) => on_mouse(model, mouse, now, out),
        Input::Reply(input::Reply::Color(11, colour)) => model.ground(&colour),
        Input::Reply(input::Reply::Scheme(light)) => model.follow(light),
        Input::Focus(has) => {
            model.conflict.focused(has);
            // what was changed elsewhere meanwhile is seen
            if has && model.conflict.shown() {
                to_conflict(model, conflict::Msg::Refresh, now, out);
            }
        }
        Input::Reply(_) => {}
    }
}

fn on_mouse(model: &mut Model, mouse: Mouse, now: Millis, out: &mut Vec<Effect>) {
    if model.raw.is_some() {
        return;
    }
    if model.overlays.is_empty() && model.conflict.shown() {
        return conflict_update::on_mouse(model, mouse, now, out);
    }
    if model.overlays.is_empty() && model.job_view.is_some() {
        return job_view::on_mouse(model, mouse, now, out);
    }
    if model.overlays.is_empty() && model.agent_view.is_some() {
        return agent_view::on_mouse(model, mouse, now, out);
    }
    if list_update::on_mouse(model, mouse, now, out) {
        return;
    }
    let by: i32 = match mouse.did {
        MouseDid::WheelUp => -3,
        MouseDid::WheelDown => 3,
        MouseDid::Press => {
            let area = model.conversation_area;
            // a click chooses in the conversation only; it never answers anything
            if !model.covered()
                && model.approvals.is_empty()
                && area.contains((mouse.column, mouse.row).into())
            {
                let msg = conversation::Msg::Press { column: mouse.column - area.x, row: mouse.row - area.y };
                to_conversation(model, msg, now, out);
            }
            return;
        }
        // what began in the conversation goes on there
        MouseDid::Drag => {
            let msg = conversation::drag(model.conversation_area, mouse);
            return to_conversation(model, msg, now, out);
        }
        MouseDid::Release => return to_conversation(model, conversation::Msg::Release, now, out),
        MouseDid::Other => return,
    };
    match model.overlays.last_mut() {
        Some(Overlay::List(list)) => list.step(by.signum()),
        Some(Overlay::Page(page)) => page.scroll(by),
        Some(Overlay::Timeline(shown)) => shown.scroll(by),
        Some(Overlay::Line(_)) => {}
        None => to_conversation(model, conversation::Msg::Lines(by), now, out),
    }
}

/// A view in which the mouse selects over an edge scrolls by itself; a search goes on.
fn pull(model: &mut Model, now: Millis, out: &mut Vec<Effect>) {
    if model.conversation.pulls_at().is_some() {
        to_conversation(model, conversation::Msg::Pull, now, out);
    }
    if model.conversation.has_more() {
        to_conversation(model, conversation::Msg::More, now, out);
    }
    agent_view::pull(model, now, out);
    job_view::pull(model, now);
}

/// A key, for what is on top.
pub fn on_key(model: &mut Model, key: Key, now: Millis, out: &mut Vec<Effect>) {
    if select_update::raw_key(model, key) {
        return;
    }
    if !model.overlays.is_empty() {
        model.chord = None;
        return overlay_update::on_key(model, key, now, out);
    }
    if select_update::selects(model) && !model.approval_takes_keys(now) {
        return select_update::on_key(model, key, now, out);
    }
    if model.conflict.shown() {
        return conflict_update::on_key(model, key, now, out);
    }
    if model.job_view.is_some() {
        return job_view::on_key(model, key, now, out);
    }
    if model.agent_view.is_some() {
        return agent_view::on_key(model, key, now, out);
    }
    let answering = model.approval_takes_keys(now);
    let layers: &[Layer] = match (answering, model.focus) {
        (true, _) => &[Layer::Approval, Layer::Global],
        (false, PaneId::Conversation | PaneId::Live) => &[Layer::Conversation, Layer::Global],
        (false, PaneId::Jobs) => &[Layer::Jobs, Layer::Global],
        (false, PaneId::Agents) => &[Layer::Agents, Layer::Global],
        (false, PaneId::Tree) => &[Layer::Tree, Layer::Global],
        (false, PaneId::Composer) => &[Layer::Composer, Layer::Global],
    };
    if !answering && model.focus == PaneId::Composer && model.chord.is_none() {
        match composer::vi::key(&mut model.composer, key, model.status.phase.busy()) {
            composer::vi::Took::Done => return,
            composer::vi::Took::Does(action) => return act::act(model, action, now, out),
            composer::vi::Took::No => {}
        }
    }
    match model.keymap.meaning(layers, model.chord.take(), key) {
        Meaning::Do(action) => act::act(model, action, now, out),
        Meaning::First => model.chord = Some(key),
        Meaning::Nothing => {
            let Some(c) = key.typed() else { return };
            if let Some(words) = list_update::not_a_key(model, c).filter(|_| !answering) {
                return model.say(words, now);
            }
            if answering || model.focus != PaneId::Composer {
                // keys that mean nothing there are the beginning of a draft
                model.focus = PaneId::Composer;
            } else if c == '?' && model.composer.draft.is_empty() {
                return act::act(model, Action::Help, now, out);
            }
            to_composer(model, composer::Msg::Insert(c), now, out);
        }
    }
}

/// Gives the composer a message and does what it wants.
pub fn to_composer(model: &mut Model, msg: composer::Msg, now: Millis, out: &mut Vec<Effect>) {
    let pending = !model.status.pending.is_empty();
    // what was said of the draft before is done with
    if let composer::Msg::Do(_) | composer::Msg::Insert(_) | composer::Msg::Paste(_) = &msg {
        model.toast = model.toast.take().filter(|toast| toast.key_from.is_none_or(|from| from > now));
    }
    for wanted in composer::update(&mut model.composer, msg, pending) {
        match wanted {
            composer::Out::Send { text, images, after_turn } => {
                if let Some(holder) = &model.status.read_only {
                    let words = format!("this view is read-only: the session is open in {holder}");
                    model.composer.draft.prepend(&text, images);
                    model.say(words, now);
                } else {
                    out.push(Effect::Send(Command::Send { text, images, after_turn }));
                    to_conversation(model, conversation::Msg::Bottom, now, out);
                }
            }
            composer::Out::Slash(name, args) => act::slash(model, &name, &args, now, out),
            composer::Out::Shell { command, hidden } => {
                out.push(Effect::Send(Command::Shell { command, hidden }));
            }
            composer::Out::AskFiles => out.push(model.ask(Asker::Files, Query::Files)),
            composer::Out::AskPrompts => out.push(model.ask(Asker::Prompts, Query::Prompts)),
            composer::Out::Edit(text) => out.push(Effect::Edit(text)),
            composer::Out::ReadImage(path) => out.push(Effect::ReadImage(path)),
            composer::Out::TakeBack => out.push(Effect::Send(Command::TakeBack { id: None })),
            composer::Out::SearchHistory => {
                act::history(model, false, out);
            }
            composer::Out::Leave => model.focus = PaneId::Conversation,
            composer::Out::Say(text) => model.say(text, now),
        }
    }
}

/// Gives the conversation a message and does what it wants.
pub fn to_conversation(model: &mut Model, msg: conversation::Msg, now: Millis, out: &mut Vec<Effect>) {
    for wanted in conversation::update(&mut model.conversation, msg, now) {
        match wanted {
            conversation::Out::Copy(text) => out.push(Effect::Copy(text)),
            conversation::Out::Ask { token, query } => {
                let effect = model.ask(Asker::Conversation(token), query);
                out.push(effect);
            }
        }
    }
}

fn not_sent(model: &mut Model, command: Command, now: Millis) {
    match command {
        Command::Send { text, images, .. } => model.composer.draft.prepend(&text, images),
        Command::Shell { command, hidden } => {
            let text = format!("{}{command}", if hidden { "!!" } else { "!" });
            model.composer.draft.prepend(&text, Vec::new());
        }
        Command::Fork { .. } => model.forking = None,
        Command::Ask { number, .. } => {
            if let Some(asker) = model.answered(number) {
                job_view::pieces(model, asker, Reply::Done(String::new()), now, &mut Vec::new());
                if let Asker::Conflict(token) = asker {
                    to_conflict(model, conflict::Msg::NotAsked(token), now, &mut Vec::new());
                    model.ahead.clear();
                }
                if asker == Asker::Tree {
                    model.tree.unanswered();
                }
            }
        }
        _ => {}
    }
    model.say(NOTHING, now);
}

/// What is said when the session's queue is full.
const NOTHING: &str = "the session takes nothing at the moment; try again";

fn on_event(model: &mut Model, event: Event, now: Millis, out: &mut Vec<Effect>) {
    match event {
        Event::TakenBack { text, images } => {
            to_composer(model, composer::Msg::TakenBack(text, images), now, out);
        }
        Event::Said { text, .. } => model.say(text, now),
        Event::Answered { number, reply } => {
            if let Some(asker) = model.answered(number) {
                on_reply(model, asker, reply, now, out);
            }
        }
        Event::Rewound(done) => tree_update::rewound(model, &done, now),
        Event::Forked(session) => tree_update::forked(model, session, now, out),
        Event::Closed => out.push(Effect::Leave(crate::ui::msg::Exit::Quit)),
    }
}

fn on_reply(model: &mut Model, asker: Asker, reply: Reply, now: Millis, out: &mut Vec<Effect>) {
    match (asker, reply) {
        (Asker::JobLog(_) | Asker::JobFind(..), reply) => job_view::pieces(model, asker, reply, now, out),
        (Asker::Conversation(token), reply) => {
            to_conversation(model, conversation::Msg::Answered { token, reply }, now, out);
        }
        (Asker::Transcript(token), reply) => agent_view::answered(model, token, reply, now, out),
        (Asker::Conflict(token), reply) => {
            to_conflict(model, conflict::Msg::Answered { token, reply }, now, out);
            if !model.conflict.compares() {
                conflict_update::catch_up(model, now, out);
            }
        }
        (_, Reply::Files(files)) => to_composer(model, composer::Msg::Files(files), now, out),
        (_, Reply::Commands(commands)) => to_composer(model, composer::Msg::Commands(commands), now, out),
        (_, reply @ (Reply::Prompts(_) | Reply::PromptsOfAll(_))) => prompts_told(model, reply, now, out),
        (Asker::Prices, Reply::Models(models)) => model.prices.told(models),
        (_, Reply::Models(models)) => {
            let marked = list::Pick::Model(model.status.model.clone());
            if let Some(shown) = list_of(model, |kind| kind == list::Kind::Models) {
                shown.set_rows(catalog::models(&models));
                shown.mark(&marked);
            }
        }
        (_, Reply::Sessions(sessions)) => {
            let own = model.status.session.clone();
            if let Some(shown) = list_of(model, |kind| matches!(kind, list::Kind::Sessions { .. })) {
                let all = shown.kind == list::Kind::Sessions { all: true };
                shown.set_rows(catalog::sessions(&sessions, &own, all, now));
            }
        }
        (_, Reply::Servers(servers)) => servers_found(model, &servers),
        (_, Reply::Context(parts)) => {
            let draft = composer::estimate::tokens(&model.composer);
            let page = usage::context(&parts, model.status.context.window, &draft);
            model.overlays.push(Overlay::Page(page));
        }
        (_, Reply::Usage(report)) => model.overlays.push(Overlay::Page(usage::usage(&report))),
        (_, Reply::Timeline(turns)) => {
            model.overlays.push(Overlay::Timeline(timeline::State::new(turns)));
        }
        (Asker::Key, Reply::Done(said)) => {
            model.say(said, now);
            act::act(model, Action::Models, now, out);
        }
        (Asker::Renamed, Reply::Done(said)) => {
            model.say(said, now);
            act::look_again(model, out);
        }
        (_, Reply::Tree(entries)) => tree_update::told(model, entries),
        (_, Reply::RewindPlan(plan)) => tree_update::planned(model, &plan),
        (_, Reply::Done(said)) => model.say(said, now),
        (_, Reply::Failed(why)) => {
            if let Some(Overlay::List(shown)) = model.overlays.last_mut() {
                shown.waits = false;
            }
            model.say(why, now);
        }
        (_, Reply::Artifact { .. } | Reply::JobLog { .. } | Reply::JobFound(_) | Reply::HandBack(_)) => {}
    }
}

/// Earlier prompts were told: of this directory, which the composer goes through too, or of all.
fn prompts_told(model: &mut Model, reply: Reply, now: Millis, out: &mut Vec<Effect>) {
    let key = model.keymap.hint(Action::AllDirectories);
    match reply {
        Reply::Prompts(prompts) => {
            to_composer(model, composer::Msg::Prompts(prompts), now, out);
            let rows = catalog::history(&model.composer.history, &key);
            if let Some(shown) = list_of(model, |kind| kind == list::Kind::History { all: false }) {
                *shown = rows;
            }
        }
        Reply::PromptsOfAll(prompts) => {
            let rows = catalog::history_of_all(&prompts, &model.home, &key);
            if let Some(shown) = list_of(model, |kind| kind == list::Kind::History { all: true }) {
                shown.set_rows(rows.rows_shown());
            }
        }
        _ => {}
    }
}

fn servers_found(model: &mut Model, servers: &[crate::api::event::ServerInfo]) {
    if let Some(shown) = list_of(model, |kind| kind == list::Kind::Welcome) {
        // after the rehearsal: what runs here needs no key
        shown.insert_rows(1, catalog::servers(servers));
        let found = if servers.is_empty() { " · no model server found on this machine" } else { "" };
        shown.hint = format!("↑ ↓ choose · Enter takes it{found}");
    }
}

fn list_of(model: &mut Model, wanted: impl Fn(list::Kind) -> bool) -> Option<&mut list::State> {
    model.overlays.iter_mut().rev().find_map(|overlay| match overlay {
        Overlay::List(list) if wanted(list.kind) => Some(list),
        _ => None,
    })
}
