//! What actions and `/` commands do.

use std::path::PathBuf;

use crate::api::access::{Decision, Mode};
use crate::api::command::{Command, Query};
use crate::api::message::Thinking;
use crate::base::Millis;
use crate::ui::action::{Action, LAYERS, Layer};
use crate::ui::agents_update::{self, to_agents};
use crate::ui::conflict_update;
use crate::ui::job_view;
use crate::ui::jobs_update::{self, leave, to_jobs};
use crate::ui::list_update::{moves, to_list};
use crate::ui::model::{Asker, Model};
use crate::ui::msg::{Effect, Exit};
use crate::ui::overlay::list::Goal;
use crate::ui::overlay::{Overlay, approve, catalog, line, list, palette, tour};
use crate::ui::pane::tree::Target;
use crate::ui::pane::{PaneId, agents, composer, conversation, jobs, tree};
use crate::ui::tree_update::{self, to_tree};
use crate::ui::update::{to_composer, to_conversation};

/// How long a second press of the key that leaves counts, in milliseconds.
pub const QUIT_MS: u64 = 2000;

/// Does an action.
pub fn act(model: &mut Model, action: Action, now: Millis, out: &mut Vec<Effect>) {
    use Action as A;
    if let Some(msg) = scrolls(action) {
        return to_conversation(model, msg, now, out);
    }
    if let Some((pane, msg)) = moves(action) {
        return to_list(model, pane, msg, now, out);
    }
    match action.layer() {
        Layer::Jobs if action != A::JobKeys => return to_jobs(model, jobs::Msg::Do(action), now, out),
        Layer::Agents if action != A::AgentKeys => {
            return to_agents(model, agents::Msg::Do(action), now, out);
        }
        Layer::Tree if action != A::TreeKeys => return to_tree(model, tree::Msg::Do(action), now, out),
        Layer::JobView => return job_view::act(model, action, now, out),
        Layer::Conflict | Layer::ConflictEdit => return conflict_update::act(model, action, now, out),
        _ => {}
    }
    match action {
        A::Interrupt => interrupt(model, now, out),
        A::Cancel => cancel(model, now, out),
        A::QuitWhenEmpty => {
            if model.composer.draft.is_empty() {
                leave(model, Goal::Exit(Exit::Quit), out);
            } else {
                to_composer(model, composer::Msg::Do(A::DeleteRight), now, out);
            }
        }
        A::Palette => open_palette(model, now),
        A::Help | A::KeysHere | A::JobKeys | A::AgentKeys | A::TreeKeys | A::ApprovalKeys => {
            model.overlays.push(Overlay::Page(catalog::help(&model.keymap, here(model, now))))
        }
        A::NextMode => out.push(Effect::Send(Command::SetMode(model.status.mode.next()))),
        A::AnswerApproval if model.approvals.is_empty() => model.say("nothing waits for an approval", now),
        A::AnswerApproval => model.approve.focus(),
        A::Aside => model.approve.put_aside(),
        A::NextApproval => model.next_approval(now),
        A::Models => open_list(model, list::Kind::Models, "Model", Query::Models, out),
        A::Thinking => model.overlays.push(Overlay::List(catalog::thinking())),
        A::Sessions => sessions(model, false, out),
        A::NewSession => leave(model, Goal::Exit(Exit::New), out),
        A::Themes => model.overlays.push(Overlay::List(catalog::themes(&model.themes, model.theme))),
        A::Context => out.push(model.ask(Asker::Context, Query::Context)),
        A::Live => model.live.hidden = !model.live.hidden,
        A::Jobs => jobs_update::enter(model),
        A::Agents => agents_update::enter(model),
        A::Tree => tree_update::enter(model, out),
        A::HandBack => conflict_update::enter(model, now, out),
        A::Detach => jobs_update::detach(model, now, out),
        A::Conversation => model.focus = PaneId::Conversation,
        A::Leave => model.focus = PaneId::Composer,
        A::Retry | A::RetryHere => out.push(Effect::Send(Command::Retry)),
        A::Transcript => out.push(Effect::Page(model.conversation.transcript())),
        A::Suspend => out.push(Effect::Suspend),
        A::Redraw => out.push(Effect::Redraw),
        A::Dump => out.push(Effect::Dump),
        A::RawView => crate::ui::select_update::raw(model),
        A::TakeMenu => crate::ui::select_update::menu(model, now),
        A::SelectText => {
            to_conversation(model, conversation::Msg::Pick(conversation::Pick::Enter), now, out);
        }
        A::Find => model.overlays.push(Overlay::Line(line::State::new(line::Kind::Find))),
        A::Once | A::ForSession | A::Always | A::No | A::NoBecause => answer(model, action, now, out),
        A::Choose | A::ChoiceNext | A::ChoicePrevious => answer(model, action, now, out),
        A::PreviewDown => model.approve.scroll(true),
        A::PreviewUp => model.approve.scroll(false),
        _ => to_composer(model, composer::Msg::Do(action), now, out),
    }
}

/// The message of an action that only moves in the conversation.
pub fn scrolls(action: Action) -> Option<conversation::Msg> {
    use conversation::Msg as M;
    Some(match action {
        Action::PageUp => M::Pages(-1),
        Action::PageDown => M::Pages(1),
        Action::Top => M::Top,
        Action::Bottom => M::Bottom,
        Action::First => M::First,
        Action::Last => M::Last,
        Action::LineUp => M::Lines(-1),
        Action::LineDown => M::Lines(1),
        Action::Next => M::Next,
        Action::Previous => M::Previous,
        Action::NextUser => M::NextUser,
        Action::PreviousUser => M::PreviousUser,
        Action::NextError => M::NextError,
        Action::PreviousError => M::PreviousError,
        Action::NextCall => M::NextCall,
        Action::PreviousCall => M::PreviousCall,
        Action::Toggle => M::Toggle,
        Action::ToggleAll => M::ToggleAll,
        Action::DiffShape => M::Shape,
        Action::FindNext => M::SearchNext,
        Action::FindPrevious => M::SearchPrevious,
        Action::Copy => M::Copy,
        _ => return None,
    })
}

fn interrupt(model: &mut Model, now: Millis, out: &mut Vec<Effect>) {
    if model.composer.popup.take().is_some() {
        return;
    }
    if model.status.phase.busy() {
        out.push(Effect::Send(Command::Interrupt));
    } else if model.focus == PaneId::Conversation {
        model.focus = PaneId::Composer;
        to_conversation(model, conversation::Msg::Deselect, now, out);
        to_conversation(model, conversation::Msg::Search(String::new()), now, out);
    }
}

fn cancel(model: &mut Model, now: Millis, out: &mut Vec<Effect>) {
    if !model.composer.draft.is_empty() {
        to_composer(model, composer::Msg::Clear, now, out);
        model.focus = PaneId::Composer;
        return;
    }
    if model.quit_until.is_some_and(|until| now <= until) {
        model.quit_until = None;
        return if jobs_update::something_runs(model) {
            leave(model, Goal::Exit(Exit::Quit), out);
        } else {
            out.push(Effect::Leave(Exit::Quit));
        };
    }
    if model.status.phase.busy() {
        out.push(Effect::Send(Command::Interrupt));
    }
    model.quit_until = Some(now.plus(Millis(QUIT_MS)));
}

fn open_palette(model: &mut Model, now: Millis) {
    let shown = palette::palette(&model.keymap, &model.composer.commands, here(model, now));
    model.overlays.push(Overlay::List(shown));
}

/// Turns to where an action is done, and says its key: what is selected there was not chosen for it.
pub fn there(model: &mut Model, action: Action, now: Millis, out: &mut Vec<Effect>) {
    let key = model.keymap.hint(action);
    let key = if key.is_empty() { "no key (keymap.json gives it one)".to_owned() } else { key };
    let (layer, says) = (action.layer(), action.says());
    match layer {
        Layer::Jobs => jobs_update::enter(model),
        Layer::Agents => agents_update::enter(model),
        Layer::Tree => tree_update::enter(model, out),
        Layer::Conversation => model.focus = PaneId::Conversation,
        Layer::Composer => model.focus = PaneId::Composer,
        Layer::Conflict => conflict_update::enter(model, now, out),
        Layer::Global | Layer::JobView | Layer::Attached | Layer::AgentView => {}
        Layer::ConflictEdit | Layer::List | Layer::Approval | Layer::Select => {}
    }
    let place = LAYERS.iter().find(|(of, ..)| *of == layer).map_or("", |(_, _, title)| *title);
    let place = place.split(':').next().unwrap_or(place);
    model.say(format!("{place}: {key} · {says}"), now);
}

/// The keys of where the person is.
fn here(model: &Model, now: Millis) -> Layer {
    match model.focus {
        _ if model.approval_takes_keys(now) => Layer::Approval,
        PaneId::Composer => Layer::Composer,
        PaneId::Jobs => Layer::Jobs,
        PaneId::Agents => Layer::Agents,
        PaneId::Tree => Layer::Tree,
        PaneId::Conversation | PaneId::Live => Layer::Conversation,
    }
}

fn open_list(model: &mut Model, kind: list::Kind, title: &str, query: Query, out: &mut Vec<Effect>) {
    let mut shown = list::State::new(kind, title, Vec::new());
    shown.waits = true;
    model.overlays.push(Overlay::List(shown));
    out.push(model.ask(Asker::List, query));
}

/// Opens the list of sessions.
pub fn sessions(model: &mut Model, all: bool, out: &mut Vec<Effect>) {
    let title = if all { "Sessions of all directories" } else { "Sessions of this directory" };
    open_list(model, list::Kind::Sessions { all }, title, Query::Sessions { all }, out);
    let hint = format!(
        "Enter opens · {} renames it · {} all directories",
        model.keymap.hint(Action::Rename),
        model.keymap.hint(Action::AllDirectories)
    );
    if let Some(Overlay::List(shown)) = model.overlays.last_mut() {
        shown.hint = hint;
    }
}

/// Opens the list of earlier prompts, of this directory or of all.
pub fn history(model: &mut Model, all: bool, out: &mut Vec<Effect>) {
    let key = model.keymap.hint(Action::AllDirectories);
    if !all {
        model.overlays.push(Overlay::List(catalog::history(&model.composer.history, &key)));
        return;
    }
    let mut shown = catalog::history_of_all(&[], "", &key);
    shown.waits = true;
    model.overlays.push(Overlay::List(shown));
    out.push(model.ask(Asker::List, Query::PromptsOfAll));
}

/// The list of sessions, if it is open, is asked for anew.
pub fn look_again(model: &mut Model, out: &mut Vec<Effect>) {
    let all = model.overlays.iter().find_map(|overlay| match overlay {
        Overlay::List(list::State { kind: list::Kind::Sessions { all }, .. }) => Some(*all),
        _ => None,
    });
    if let Some(all) = all {
        out.push(model.ask(Asker::List, Query::Sessions { all }));
    }
}

fn answer(model: &mut Model, action: Action, now: Millis, out: &mut Vec<Effect>) {
    let Some(approval) = model.approvals.first().cloned() else { return };
    let choices = approve::choices(&approval);
    let last = choices.len() - 1;
    model.approve.choice = model.approve.choice.min(last);
    let choice = match action {
        Action::ChoiceNext => {
            model.approve.choice = if model.approve.choice == last { 0 } else { model.approve.choice + 1 };
            return;
        }
        Action::ChoicePrevious => {
            model.approve.choice = model.approve.choice.checked_sub(1).unwrap_or(last);
            return;
        }
        Action::Choose => choices[model.approve.choice],
        _ => match choices.iter().find(|c| c.action() == action) {
            Some(choice) => *choice,
            None => return model.say("no rule can say this call: choose once or for the session", now),
        },
    };
    match choice.decision() {
        Some(decision) => decide(model, &approval.call, decision, out),
        None => {
            let line = line::State::new(line::Kind::Reason(approval.call.clone()));
            model.overlays.push(Overlay::Line(line));
        }
    }
}

/// Answers an approval; it is not shown any longer, whenever the record follows.
pub fn decide(model: &mut Model, call: &crate::base::CallId, decision: Decision, out: &mut Vec<Effect>) {
    out.push(Effect::Send(Command::Decide { call: call.clone(), decision }));
    let rest: Vec<_> = model.approvals.iter().filter(|a| a.call != *call).cloned().collect();
    model.approvals = std::sync::Arc::new(rest);
    model.approve.turn_to(model.approvals.first().map(|a| &a.call));
}

/// Lets the model think so much.
pub fn think(model: &mut Model, level: Thinking, now: Millis, out: &mut Vec<Effect>) {
    out.push(Effect::Send(Command::SetThinking(level)));
    let word = catalog::THINKING.iter().find(|(_, l, _)| *l == level).map_or("", |(word, ..)| word);
    model.say(format!("thinking: {word}"), now);
}

/// Shows a card of the tour.
pub fn tour(model: &mut Model, at: usize) {
    model.overlays.retain(|shown| !matches!(shown, Overlay::List(list) if list.kind == list::Kind::Tour));
    let begun = !model.status.model.is_empty();
    model.overlays.push(Overlay::List(tour::card(at, &model.keymap, begun)));
}

/// Does a `/` command.
pub fn slash(model: &mut Model, name: &str, args: &str, now: Millis, out: &mut Vec<Effect>) {
    let send = |command| Effect::Send(command);
    match (name, args) {
        ("help", _) => act(model, Action::Help, now, out),
        ("model", "") => act(model, Action::Models, now, out),
        ("model", name) => out.push(send(Command::SetModel(name.to_owned()))),
        ("thinking", "") => act(model, Action::Thinking, now, out),
        ("thinking", word) => match catalog::THINKING.iter().find(|(w, ..)| *w == word) {
            Some((_, level, _)) => think(model, *level, now, out),
            None => model.say("expected off, low, medium, high or default after /thinking", now),
        },
        ("mode", word) => match Mode::parse(word) {
            Some(mode) => out.push(send(Command::SetMode(mode))),
            None => model.say("expected ask, edits, auto or plan after /mode", now),
        },
        ("compact", _) => out.push(send(Command::Compact)),
        ("context", _) => act(model, Action::Context, now, out),
        ("usage", _) => out.push(model.ask(Asker::Context, Query::Usage)),
        ("timeline", _) => out.push(model.ask(Asker::Context, Query::Timeline)),
        ("jobs", _) => act(model, Action::Jobs, now, out),
        ("agents", _) => act(model, Action::Agents, now, out),
        ("rewind", _) => act(model, Action::Tree, now, out),
        ("handback", _) => act(model, Action::HandBack, now, out),
        ("fork", _) => match model.tree.newest() {
            Some(newest) => {
                let words = "here".to_owned();
                let target = Target { to: Some(newest.clone()), take_back: None, words };
                leave(model, Goal::Fork(target), out);
            }
            None => model.say("nothing was said yet that could be forked", now),
        },
        ("undo", _) => out.push(send(Command::UndoRestore)),
        ("sessions", _) => act(model, Action::Sessions, now, out),
        ("new" | "clear", _) => act(model, Action::NewSession, now, out),
        ("rename", "") => {
            let line = line::State::new(line::Kind::Rename(model.status.session.clone()));
            model.overlays.push(Overlay::Line(line));
        }
        ("rename", title) => out.push(send(Command::Rename(title.to_owned()))),
        ("export", file) => {
            let file = if file.is_empty() { "conversation.md" } else { file };
            out.push(model.ask(Asker::Outcome, Query::Export(PathBuf::from(file))));
        }
        ("theme", "") => act(model, Action::Themes, now, out),
        ("theme", name) => match model.themes.iter().position(|t| t.name == name) {
            Some(at) => {
                (model.theme, model.theme_follows) = (at, false);
                out.push(Effect::KeepTheme(name.to_owned()));
            }
            None => model.say(format!("there is no theme {name}; /theme lists them"), now),
        },
        ("key", _) => {
            model.overlays.push(Overlay::List(catalog::welcome()));
            out.push(model.ask(Asker::Servers, Query::Servers));
        }
        ("trust", _) => {
            let cwd = model.status.cwd.display().to_string();
            model.overlays.push(Overlay::List(catalog::trust(&cwd)));
        }
        ("retry", _) => act(model, Action::Retry, now, out),
        ("tour", _) => tour(model, 0),
        ("quit", _) => leave(model, Goal::Exit(Exit::Quit), out),
        _ => {
            let words = composer::slash::unknown(name, &model.composer.commands);
            model.say_of_draft(words, now);
        }
    }
}
