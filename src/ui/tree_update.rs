//! The tree on the screen: asked for, gone through, and what a rewind or a fork is asked about before it is done.

use crate::api::command::{Command, Query};
use crate::api::event::{RewindPlan, Rewound, TreeEntry};
use crate::base::{JobId, Millis, SessionId};
use crate::ui::jobs_update::{exit_with, leave};
use crate::ui::model::{Asker, Model};
use crate::ui::msg::{Effect, Exit};
use crate::ui::overlay::list::Goal;
use crate::ui::overlay::{Overlay, catalog, line};
use crate::ui::pane::PaneId;
use crate::ui::pane::tree::{self, Target};

/// Gives the tree a message and does what it wants.
pub fn to_tree(model: &mut Model, msg: tree::Msg, now: Millis, out: &mut Vec<Effect>) {
    for wanted in tree::update(&mut model.tree, msg, now) {
        match wanted {
            tree::Out::Rewind(target) => {
                let query = Query::RewindPlan { to: target.to.clone() };
                model.rewind = Some(target);
                out.push(model.ask(Asker::Rewind, query));
            }
            tree::Out::Fork(target) => leave(model, Goal::Fork(target), out),
            tree::Out::Find => {
                let text = model.tree.search().to_owned();
                model.overlays.push(Overlay::Line(line::State { kind: line::Kind::FindTree, text }));
            }
            tree::Out::Copy(text) => out.push(Effect::Copy(text)),
            tree::Out::Leave => model.focus = PaneId::Composer,
            tree::Out::Say(text) => model.say(text, now),
        }
    }
}

/// The tree gets the focus.
pub fn enter(model: &mut Model, out: &mut Vec<Effect>) {
    model.focus = PaneId::Tree;
    model.tree.entered();
    refresh(model, out);
}

/// A tree that is looked at is asked for anew when the conversation went on.
pub fn refresh(model: &mut Model, out: &mut Vec<Effect>) {
    if model.focus == PaneId::Tree && model.tree.asks() {
        out.push(model.ask(Asker::Tree, Query::Tree));
    }
}

/// The session told the tree.
pub fn told(model: &mut Model, entries: Vec<TreeEntry>) {
    model.tree.set(entries);
}

/// The session told what a rewind would do: one is asked whether it is meant.
pub fn planned(model: &mut Model, plan: &RewindPlan) {
    let Some(target) = model.rewind.take() else { return };
    let cwd = model.status.cwd.clone();
    let commands: Vec<String> = plan
        .stops
        .iter()
        .map(|job| {
            let command = model.jobs.get(*job).map(|row| row.node.command.as_str()).unwrap_or_default();
            format!("{job} {}", command.trim().lines().next().unwrap_or_default())
        })
        .collect();
    let agents = plan.agents.iter().map(|agent| format!("the agent {agent}; its copy is kept"));
    let commands: Vec<String> = commands.into_iter().chain(agents).collect();
    let list = catalog::rewind(&target, plan, &commands, &cwd, model.status.phase.busy());
    model.overlays.push(Overlay::List(list));
}

/// The rewind that was asked about is done.
pub fn rewind(model: &mut Model, target: Target, restore: bool, now: Millis, out: &mut Vec<Effect>) {
    let Target { to, take_back, .. } = target;
    model.say("going back…", now);
    out.push(Effect::Send(Command::Rewind { to, restore, take_back }));
    model.focus = PaneId::Composer;
}

/// A fork was made: it is opened, with the jobs as it was answered before.
pub fn forked(model: &mut Model, session: SessionId, now: Millis, out: &mut Vec<Effect>) {
    model.say("forked: the new session stands in the list of sessions", now);
    if let Some(jobs) = model.forking.take() {
        exit_with(model, Exit::Switch(session), jobs, out);
    }
}

/// A rewind was done: what came of it, in a line.
pub fn rewound(model: &mut Model, done: &Rewound, now: Millis) {
    let undo = done.restored.first().map(|_| "/undo changes them again");
    let names = |jobs: &[JobId]| jobs.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let files = |n: usize| if n == 1 { "1 file".to_owned() } else { format!("{n} files") };
    let mut words = vec!["rewound".to_owned()];
    if !done.stopped.is_empty() {
        words.push(format!("stopped {}", names(&done.stopped)));
    }
    if !done.stopping.is_empty() {
        words.push(format!("still stopping {}", names(&done.stopping)));
    }
    if !done.agents.is_empty() {
        words.push(format!("stopped {}", done.agents.join(", ")));
    }
    if !done.restored.is_empty() {
        words.push(format!("{} put back", files(done.restored.len())));
    }
    if !done.conflicts.is_empty() {
        words.push(format!("{} left alone", files(done.conflicts.len())));
    }
    words.extend(undo.map(str::to_owned));
    model.say(words.join(" · "), now);
}
