//! What the jobs pane wants, done; and leaving the screen while jobs run.

use crate::api::command::{Command, JobAsk};
use crate::base::{JobId, Millis};
use crate::ui::action::Action;
use crate::ui::job_view;
use crate::ui::model::Model;
use crate::ui::msg::{Effect, Exit};
use crate::ui::overlay::list::{Goal, Jobs};
use crate::ui::overlay::{Overlay, leave, line};
use crate::ui::pane::tree::Target;
use crate::ui::pane::{PaneId, composer, jobs};
use crate::ui::update::to_composer;

/// Gives the jobs pane a message and does what it wants.
pub fn to_jobs(model: &mut Model, msg: jobs::Msg, now: Millis, out: &mut Vec<Effect>) {
    for wanted in jobs::update(&mut model.jobs, msg, now) {
        carry_out(model, wanted, now, out);
    }
}

/// Does what the jobs pane wants.
pub fn carry_out(model: &mut Model, wanted: jobs::Out, now: Millis, out: &mut Vec<Effect>) {
    match wanted {
        jobs::Out::Ask(job, ask) => {
            if ask == JobAsk::Dismiss {
                model.jobs.dismissing(job);
            }
            out.push(Effect::Send(Command::Job { job, ask }));
        }
        jobs::Out::Open(job, false) => job_view::open(model, job, out),
        jobs::Out::Open(job, true) => job_view::attach(model, job, out),
        jobs::Out::Signals(job) => signals(model, job),
        jobs::Out::Find => {
            let line = line::State { kind: line::Kind::FindJob, text: model.jobs.search().to_owned() };
            model.overlays.push(Overlay::Line(line));
        }
        jobs::Out::Copy(text) => out.push(Effect::Copy(text)),
        jobs::Out::Leave => model.focus = PaneId::Composer,
        jobs::Out::Say(text) => model.say(text, now),
    }
}

/// Offers the signals that can be sent to a job.
pub fn signals(model: &mut Model, job: JobId) {
    let command = model.jobs.get(job).map(|row| row.node.command.clone()).unwrap_or_default();
    model.overlays.push(Overlay::List(jobs::signals(job, &command)));
}

/// The list of jobs gets the focus.
pub fn enter(model: &mut Model) {
    model.focus = PaneId::Jobs;
    model.jobs.entered();
}

/// A running call goes on in the background. Without one the key is the composer's.
pub fn detach(model: &mut Model, now: Millis, out: &mut Vec<Effect>) {
    if model.live.running() > 0 {
        out.push(Effect::Send(Command::Detach { call: None }));
    } else if model.focus == PaneId::Composer {
        to_composer(model, composer::Msg::Do(Action::Left), now, out);
    } else {
        model.say("no call runs that could go on in the background", now);
    }
}

/// What is said of something that was typed beside a job that waits for it, and went nowhere; none: no job waits. It
/// does not say what was typed: that may be a password.
pub fn missed(model: &Model, attach: Action) -> Option<String> {
    let job = model.jobs.waits()?;
    let key = model.keymap.hint(attach);
    Some(format!("nothing of that went to {job}, which waits for input: {key} attaches to it"))
}

/// Whether jobs or agents run: leaving is asked about.
pub fn something_runs(model: &Model) -> bool {
    model.jobs.running().next().is_some() || model.agents.running().next().is_some()
}

/// Leaves the session; asks first when jobs or agents run, when the model works or when a draft stands.
pub fn leave(model: &mut Model, goal: Goal, out: &mut Vec<Effect>) {
    let (works, draft) = (model.status.phase.busy(), !model.composer.draft.is_empty());
    let running: Vec<leave::RunningJob> = model
        .jobs
        .running()
        .map(|(job, row)| leave::RunningJob { job, command: row.node.command.clone(), kept: row.kept })
        .collect();
    let agents: Vec<String> = model.agents.running().map(|(path, _)| path.clone()).collect();
    if !running.is_empty() || !agents.is_empty() {
        model.overlays.push(Overlay::List(leave::running(
            goal,
            &running,
            &agents,
            works,
            !model.status.rehearsal,
        )));
    } else if works || draft {
        model.overlays.push(Overlay::List(leave::leave(goal, works, draft)));
    } else {
        go(model, goal, Jobs::End, out);
    }
}

/// Leaves the session, as it was answered. A fork is made first: what it is left for is opened when it is there.
pub fn go(model: &mut Model, goal: Goal, jobs: Jobs, out: &mut Vec<Effect>) {
    match goal {
        Goal::Exit(exit) => exit_with(model, exit, jobs, out),
        Goal::Fork(Target { to, take_back, .. }) => {
            model.forking = Some(jobs);
            out.push(Effect::Send(Command::Fork { to, take_back }));
        }
    }
}

/// Leaves the screen. Jobs that are kept would outlive the program: to end all, they are ended one by one.
pub fn exit_with(model: &Model, exit: Exit, jobs: Jobs, out: &mut Vec<Effect>) {
    match jobs {
        Jobs::End => out.push(Effect::Leave(exit)),
        Jobs::GoOn => out.push(Effect::LeaveJobs(exit)),
        Jobs::EndAll => {
            let kept = model.jobs.running().filter(|(_, row)| row.kept);
            out.extend(kept.map(|(job, _)| Effect::Send(Command::Job { job, ask: JobAsk::Kill })));
            out.push(Effect::Leave(exit));
        }
    }
}
