//! What keys do to the overlay on top.

use crate::api::access::Decision;
use crate::api::command::{Command, JobAsk, Query, Secret};
use crate::base::{Millis, SessionId};
use crate::ui::act;
use crate::ui::action::{Action, Layer};
use crate::ui::agent_view;
use crate::ui::agents_update;
use crate::ui::conflict_update::to_conflict;
use crate::ui::input::{Code, Key};
use crate::ui::job_view;
use crate::ui::jobs_update::{self, to_jobs};
use crate::ui::keymap::Meaning;
use crate::ui::model::{Asker, Model};
use crate::ui::msg::{Effect, Exit};
use crate::ui::overlay::list::{Goal, Kind, Pick};
use crate::ui::overlay::{Overlay, catalog, line};
use crate::ui::pane::{composer, conflict, conversation, jobs, tree};
use crate::ui::tree_update::{self, to_tree};
use crate::ui::update::{to_composer, to_conversation};

/// A key for the overlay on top.
pub fn on_key(model: &mut Model, key: Key, now: Millis, out: &mut Vec<Effect>) {
    match model.overlays.last() {
        Some(Overlay::List(_)) => on_list(model, key, now, out),
        Some(Overlay::Line(_)) => on_line(model, key, now, out),
        Some(Overlay::Page(_)) => on_page(model, key),
        Some(Overlay::Timeline(_)) => on_timeline(model, key),
        None => {}
    }
}

fn on_timeline(model: &mut Model, key: Key) {
    let meaning = model.keymap.meaning(&[Layer::List], None, key);
    let Some(Overlay::Timeline(shown)) = model.overlays.last_mut() else { return };
    match (meaning, key.code) {
        (Meaning::Do(Action::ListNext), _) => shown.scroll(1),
        (Meaning::Do(Action::ListPrevious), _) => shown.scroll(-1),
        (Meaning::Do(Action::ListPageDown), _) => shown.scroll_page(1),
        (Meaning::Do(Action::ListPageUp), _) => shown.scroll_page(-1),
        (Meaning::Do(Action::Close | Action::Accept), _) => drop(model.overlays.pop()),
        (Meaning::Do(Action::ListKeys), _) => keys(model),
        (_, Code::Right) => shown.turn(1),
        (_, Code::Left) => shown.turn(-1),
        _ => match key.typed() {
            Some('j') => shown.turn(1),
            Some('k') => shown.turn(-1),
            Some('g') => shown.turn(i32::MIN / 2),
            Some('G') => shown.turn(i32::MAX / 2),
            Some(' ') => shown.scroll_page(1),
            Some('q') => drop(model.overlays.pop()),
            Some('?') => keys(model),
            _ => {}
        },
    }
}

fn on_page(model: &mut Model, key: Key) {
    let meaning = model.keymap.meaning(&[Layer::List], None, key);
    let Some(Overlay::Page(page)) = model.overlays.last_mut() else { return };
    match (meaning, key.code) {
        (Meaning::Do(Action::ListNext), _) => page.scroll(1),
        (Meaning::Do(Action::ListPrevious), _) => page.scroll(-1),
        (Meaning::Do(Action::ListPageDown), _) => page.scroll_page(1),
        (Meaning::Do(Action::ListPageUp), _) => page.scroll_page(-1),
        (_, Code::Home) => page.scroll(i32::MIN / 2),
        (_, Code::End) => page.scroll(i32::MAX / 2),
        (Meaning::Do(Action::Close | Action::Accept | Action::ListKeys), _) => drop(model.overlays.pop()),
        (_, Code::Backspace) => page.untype(key.mods.ctrl || key.mods.alt),
        (_, Code::Char('u')) if key.mods.ctrl => page.untype(true),
        _ => match key.typed() {
            Some('?') if page.typed().is_empty() => drop(model.overlays.pop()),
            Some(c) if page.searches() => page.type_char(c),
            Some('j') => page.scroll(1),
            Some('k') => page.scroll(-1),
            Some(' ') => page.scroll_page(1),
            Some('q') => drop(model.overlays.pop()),
            _ => {}
        },
    }
}

fn on_list(model: &mut Model, key: Key, now: Millis, out: &mut Vec<Effect>) {
    let meaning = model.keymap.meaning(&[Layer::List], None, key);
    let Some(Overlay::List(list)) = model.overlays.last_mut() else { return };
    let asks = list.asks();
    match meaning {
        Meaning::Do(Action::ListNext) => list.step(1),
        Meaning::Do(Action::ListPrevious) => list.step(-1),
        Meaning::Do(Action::ListPageDown) => list.step_page(1),
        Meaning::Do(Action::ListPageUp) => list.step_page(-1),
        Meaning::Do(Action::Close) => return close(model),
        Meaning::Do(Action::ListKeys) => return keys(model),
        Meaning::Do(Action::Accept) => return accept(model, now, out),
        Meaning::Do(Action::Rename) if matches!(list.kind, Kind::Sessions { .. }) => {
            if let Some(Pick::Session(id)) = list.marked().map(|row| row.pick.clone()) {
                model.overlays.push(Overlay::Line(line::State::new(line::Kind::Rename(id))));
            }
            return;
        }
        Meaning::Do(Action::AllDirectories) => {
            match list.kind {
                Kind::Sessions { all } => {
                    model.overlays.pop();
                    act::sessions(model, !all, out);
                }
                Kind::History { all } => {
                    model.overlays.pop();
                    act::history(model, !all, out);
                }
                _ => {}
            }
            return;
        }
        _ => match (key.typed(), key.code) {
            (Some('?'), _) if list.untyped() => return keys(model),
            (Some(c), _) if !asks => list.type_char(c),
            (_, Code::Backspace) => list.untype(key.mods.ctrl || key.mods.alt),
            (_, Code::Char('u')) if key.mods.ctrl => list.untype(true),
            _ => return,
        },
    }
    preview(model);
}

/// The keys of lists, over the list.
fn keys(model: &mut Model) {
    model.overlays.push(Overlay::Page(catalog::help(&model.keymap, Layer::List)));
}

/// The marked theme is shown at once.
fn preview(model: &mut Model) {
    if let Some(Overlay::List(list)) = model.overlays.last()
        && let Some(Pick::Theme(at)) = list.marked().map(|r| &r.pick)
    {
        model.theme = *at;
    }
}

fn close(model: &mut Model) {
    if let Some(Overlay::List(list)) = model.overlays.pop()
        && let Kind::Themes { before } = list.kind
    {
        model.theme = before;
    }
}

fn accept(model: &mut Model, now: Millis, out: &mut Vec<Effect>) {
    let Some(Overlay::List(list)) = model.overlays.last() else { return };
    let Some(row) = list.marked().cloned() else { return };
    if !row.usable {
        return model.say(format!("{}: {}", row.text, row.note), now);
    }
    model.overlays.pop();
    match row.pick {
        Pick::Do(action) => act::act(model, action, now, out),
        Pick::There(action) => act::there(model, action, now, out),
        Pick::Slash(name) => act::slash(model, name, "", now, out),
        Pick::Write(text) => to_composer(model, composer::Msg::Recall(text), now, out),
        Pick::Model(id) => out.push(Effect::Send(Command::SetModel(id))),
        Pick::Session(id) if id == model.status.session => model.say("this session is open already", now),
        Pick::Session(id) => jobs_update::leave(model, Goal::Exit(Exit::Switch(id)), out),
        Pick::Theme(at) => {
            (model.theme, model.theme_follows) = (at, false);
            out.push(Effect::KeepTheme(model.look().name.clone()));
        }
        Pick::Prompt(text) => to_composer(model, composer::Msg::Recall(text), now, out),
        Pick::Key(provider) => {
            model.overlays.push(Overlay::Line(line::State::new(line::Kind::Key(provider.to_owned()))));
        }
        Pick::Mode(mode) => out.push(Effect::Send(Command::SetMode(mode))),
        Pick::Thinking(level) => act::think(model, level, now, out),
        Pick::Rehearsal => jobs_update::leave(model, Goal::Exit(Exit::Rehearsal), out),
        Pick::Trust(yes) => out.push(Effect::Send(Command::Trust(yes))),
        Pick::Leave(goal, jobs) => jobs_update::go(model, goal, jobs, out),
        Pick::Signal(job, number) => {
            out.push(Effect::Send(Command::Job { job, ask: JobAsk::Signal(number) }));
        }
        Pick::Rewind(target, restore) => tree_update::rewind(model, target, restore, now, out),
        Pick::WriteOpen(choice) => to_conflict(model, conflict::Msg::Write(choice), now, out),
        Pick::Copy(text) => out.push(Effect::Copy(text)),
        Pick::Tour(at) => act::tour(model, at),
        Pick::Close => {}
    }
}

fn on_line(model: &mut Model, key: Key, now: Millis, out: &mut Vec<Effect>) {
    let Some(Overlay::Line(line)) = model.overlays.last_mut() else { return };
    match (key.code, key.typed()) {
        (Code::Enter, _) => return line_done(model, now, out),
        (Code::Escape, _) => {
            line.text.clear();
            searched(model, now, out);
            return drop(model.overlays.pop());
        }
        (Code::F(1), _) => return keys(model),
        (Code::Char('c'), _) if key.mods.ctrl => drop(model.overlays.pop()),
        (Code::Char('u'), _) if key.mods.ctrl => line.text.clear(),
        (Code::Backspace, _) => line.untype(),
        (_, Some(c)) => line.text.push(c),
        _ => return,
    }
    searched(model, now, out);
}

/// The text of a search changed.
pub fn searched(model: &mut Model, now: Millis, out: &mut Vec<Effect>) {
    if let Some(Overlay::Line(line)) = model.overlays.last()
        && let text = line.text.clone()
    {
        match line.kind {
            line::Kind::Find => to_conversation(model, conversation::Msg::Search(text), now, out),
            line::Kind::FindJob => to_jobs(model, jobs::Msg::Search(text), now, out),
            // a gigabyte is not searched anew for each letter
            line::Kind::FindLog(_) => {}
            line::Kind::FindTree => to_tree(model, tree::Msg::Search(text), now, out),
            line::Kind::FindTranscript => agent_view::search(model, text, now, out),
            line::Kind::Rename(_) | line::Kind::Reason(_) | line::Kind::Key(_) => {}
            line::Kind::Message { .. } => {}
        }
    }
}

/// Names the open session, or another one of the list.
fn rename(model: &mut Model, session: SessionId, title: String, out: &mut Vec<Effect>) {
    if session == model.status.session {
        out.push(Effect::Send(Command::Rename(title)));
        act::look_again(model, out);
    } else {
        let effect = model.ask(Asker::Renamed, Query::Rename { session, title });
        out.push(effect);
    }
}

fn line_done(model: &mut Model, now: Millis, out: &mut Vec<Effect>) {
    let Some(Overlay::Line(line)) = model.overlays.pop() else { return };
    let text = line.text.trim().to_owned();
    match line.kind {
        line::Kind::Find | line::Kind::FindJob | line::Kind::FindTree | line::Kind::FindTranscript => {}
        line::Kind::Message { path, .. } => agents_update::send(model, path, text, now, out),
        // as it was typed: a blank may be looked for
        line::Kind::FindLog(job) => job_view::search(model, job, line.text, now, out),
        line::Kind::Rename(_) if text.is_empty() => {}
        line::Kind::Rename(id) => rename(model, id, text, out),
        line::Kind::Reason(call) => {
            let reason = (!text.is_empty()).then_some(text);
            if model.approvals.iter().any(|a| a.call == call) {
                act::decide(model, &call, Decision::No(reason), out);
            } else {
                model.say("that approval is not open any more", now);
            }
        }
        line::Kind::Key(_) if text.is_empty() => model.say("no key was typed", now),
        line::Kind::Key(provider) => {
            let effect = model.ask(Asker::Key, Query::StoreKey { provider, key: Secret(text) });
            out.push(effect);
        }
    }
}
