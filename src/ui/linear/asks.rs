//! What waits for the person, as lines with numbers; and what a typed line means for it.

use super::{merge, tree};
use crate::api::access::{Approval, Preview};
use crate::api::command::{Command, JobAsk, SecretBytes};
use crate::base::{JobId, Millis};
use crate::ui::act;
use crate::ui::input::{Code, Input, Key, Mods};
use crate::ui::model::Model;
use crate::ui::msg::{Effect, Msg};
use crate::ui::overlay::approve::{ARM_MS, Choice, choices};
use crate::ui::overlay::list::Row;
use crate::ui::overlay::{Overlay, line};
use crate::ui::pane::{PaneId, agents, composer};
use crate::ui::tree_update;
use crate::ui::update::update;
use crate::ui::widget::text::{tame, visible};

/// Commands of this mode, beside the `/` commands that need no full screen.
const HELP: &[&str] = &[
    "Type a message and press Enter to send it. Control-C interrupts; twice, or Control-D, leaves.",
    "A question has numbered answers: type the number, or the word. An empty line closes a list.",
    "/last says all of the last result. /agents lists subagents.",
    "/jobs lists jobs, /kill j1 ends one, /output j1 says its last lines, /type j1 and words types them into it.",
    "/tree lists the conversation: a number goes back there. /handback decides what came back from subagents.",
    "/model, /mode, /thinking, /sessions, /new, /rename, /context, /compact, /retry, /undo, /export, /quit.",
    "A line that begins with ! runs a command of yours. A line that ends with a backslash goes on in the next.",
];

/// What is asked now, so that it is said once.
#[derive(Default)]
pub struct Asks {
    said: String,
    /// When the approval that is open was said, as a number of the clock; none: none is open.
    approval: Option<(String, Millis)>,
}

impl Asks {
    /// The lines of what waits for the person, if it was not said yet.
    pub fn hear(&mut self, model: &mut Model, now: Millis) -> Vec<String> {
        let lines = match (model.overlays.last(), model.approvals.first()) {
            (Some(Overlay::List(list)), _) if list.waits => Vec::new(),
            (Some(Overlay::List(list)), _) => listed(&list.title, &list.intro, &list.rows_shown()),
            (Some(Overlay::Page(page)), _) => page.plain(),
            (Some(Overlay::Timeline(shown)), _) => shown.plain(),
            (Some(Overlay::Line(line)), _) => vec![wanted(&line.kind)],
            (None, Some(approval)) => asked(approval),
            (None, None) if model.conflict.shown() => model.conflict.spoken(),
            (None, None) if model.focus == PaneId::Tree => tree::hear(model),
            (None, None) => Vec::new(),
        };
        let open = model.approvals.first().filter(|_| model.overlays.is_empty());
        let call = open.map(|approval| approval.call.to_string());
        if self.approval.as_ref().map(|(call, _)| call) != call.as_ref() {
            self.approval = call.map(|call| (call, now));
        }
        let all = lines.join("\n");
        if all == self.said {
            return Vec::new();
        }
        self.said = all;
        lines
    }
    /// What was said may be said again: it was asked for anew.
    pub fn again(&mut self) {
        self.said.clear();
    }
    /// Whether a line that came at this moment can be an answer to what is open.
    fn heard(&self, now: Millis) -> bool {
        self.approval.as_ref().is_some_and(|(_, at)| now.since(*at).0 >= ARM_MS)
    }

    /// A typed line, for whatever is open; the words that it is answered with.
    pub fn typed(
        &mut self,
        model: &mut Model,
        text: &str,
        now: Millis,
        out: &mut Vec<Effect>,
    ) -> Vec<String> {
        self.again();
        match (model.overlays.last(), model.approvals.first().cloned()) {
            (Some(_), _) => overlay(model, text.trim(), now, out),
            (None, Some(approval)) => {
                let answer = choices(&approval).into_iter().enumerate().find(|(at, choice)| {
                    let words = [(at + 1).to_string(), said(*choice, &approval)];
                    let typed = text.trim().to_lowercase();
                    words.contains(&typed) || typed == short(*choice)
                });
                match answer {
                    Some(_) if !self.heard(now) => {
                        vec!["That was typed before the question was said: it is no answer to it.".to_owned()]
                    }
                    Some((_, choice)) => {
                        act::act(model, choice.action(), now, out);
                        Vec::new()
                    }
                    // anything else is a message: it steers
                    None => message(model, text, now, out),
                }
            }
            (None, None) if model.conflict.shown() => merge::typed(model, text, now, out),
            (None, None) if model.focus == PaneId::Tree => tree::typed(model, text, now, out),
            (None, None) => message(model, text, now, out),
        }
    }
}

fn key(code: Code) -> Msg {
    Msg::Input(Input::Key(Key { code, mods: Mods::default() }))
}

fn overlay(model: &mut Model, text: &str, now: Millis, out: &mut Vec<Effect>) -> Vec<String> {
    match model.overlays.last_mut() {
        Some(Overlay::List(list)) if !text.is_empty() => {
            let rows = list.rows_shown();
            let named = |row: &&Row| row.text.to_lowercase() == text.to_lowercase();
            let number = text.parse::<usize>().ok().and_then(|n| rows.get(n.checked_sub(1)?));
            let Some(row) = number.or_else(|| rows.iter().find(named)) else {
                return vec![format!(
                    "There is no {}; type a number of the list, or nothing to close it.",
                    tame(text)
                )];
            };
            let pick = row.pick.clone();
            list.mark(&pick);
            out.extend(update(model, key(Code::Enter), now));
        }
        Some(Overlay::Line(line)) if !text.is_empty() => {
            text.clone_into(&mut line.text);
            out.extend(update(model, key(Code::Enter), now));
        }
        Some(Overlay::List(_) | Overlay::Line(_) | Overlay::Page(_) | Overlay::Timeline(_)) => {
            out.extend(update(model, key(Code::Escape), now));
        }
        None => {}
    }
    Vec::new()
}

/// A message, or a `/` command.
fn message(model: &mut Model, text: &str, now: Millis, out: &mut Vec<Effect>) -> Vec<String> {
    let mut words = text.split_whitespace();
    match (words.next().unwrap_or_default(), words.next()) {
        ("/help" | "?", None) => return HELP.iter().map(|line| (*line).to_owned()).collect(),
        ("/jobs", None) => {
            let job = |(id, row): (JobId, &crate::api::job::JobRow)| {
                format!("{id}, {}: {}", row.state.words(), tame(&row.node.command))
            };
            let jobs: Vec<String> = model.jobs.iter().map(job).collect();
            return if jobs.is_empty() { vec!["There are no jobs.".to_owned()] } else { jobs };
        }
        ("/kill", Some(name)) => {
            let job = model.jobs.iter().map(|(id, _)| id).find(|id| id.to_string() == name);
            let Some(job) = job else {
                return vec![format!("There is no job {}; /jobs lists them.", tame(name))];
            };
            out.push(Effect::Send(Command::Job { job, ask: JobAsk::Kill }));
            return Vec::new();
        }
        ("/agents", None) => {
            let agents: Vec<String> = model
                .agents
                .iter()
                .map(|(path, row)| format!("{}: {}", tame(path), agents::says(row, None)))
                .collect();
            return if agents.is_empty() { vec!["There are no subagents.".to_owned()] } else { agents };
        }
        ("/output", Some(name)) => {
            return match model.jobs.iter().find(|(id, _)| id.to_string() == name) {
                Some((_, row)) if row.tail.trim().is_empty() => vec!["It wrote nothing yet.".to_owned()],
                Some((_, row)) => row.tail.lines().map(|line| visible(line).into_owned()).collect(),
                None => vec![format!("There is no job {}; /jobs lists them.", tame(name))],
            };
        }
        ("/type", Some(name)) => {
            let job = model.jobs.iter().map(|(id, _)| id).find(|id| id.to_string() == name);
            let Some(job) = job else {
                return vec![format!("There is no job {}; /jobs lists them.", tame(name))];
            };
            let after = text.trim_start().strip_prefix("/type").unwrap_or_default().trim_start();
            let line = after.strip_prefix(name).unwrap_or_default();
            let line = line.strip_prefix(' ').unwrap_or(line);
            let bytes = format!("{line}\r").into_bytes();
            out.push(Effect::Send(Command::Job { job, ask: JobAsk::Input(SecretBytes(bytes)) }));
            return Vec::new();
        }
        ("/tree" | "/rewind", None) => {
            tree_update::enter(model, out);
            return Vec::new();
        }
        _ => {}
    }
    let draft = !model.composer.draft.is_empty();
    if !text.trim().is_empty() {
        out.extend(update(model, Msg::Composer(composer::Msg::Recall(text.to_owned())), now));
    } else if !draft {
        return Vec::new();
    }
    model.focus = PaneId::Composer;
    act::act(model, crate::ui::action::Action::Send, now, out);
    Vec::new()
}

fn listed(title: &str, intro: &[String], rows: &[Row]) -> Vec<String> {
    let mut out = vec![format!("{}:", tame(title).trim_end_matches(['?', ':']))];
    out.extend(intro.iter().map(|line| tame(line).into_owned()));
    for (at, row) in rows.iter().enumerate() {
        let note = if row.note.is_empty() { String::new() } else { format!(", {}", tame(&row.note)) };
        let cannot = if row.usable { "" } else { " (cannot be taken)" };
        out.push(format!("{}. {}{}{cannot}", at + 1, tame(&row.text), note.replace(" · ", ", ")));
    }
    out.push("Type a number. An empty line closes the list.".to_owned());
    out
}

fn wanted(kind: &line::Kind) -> String {
    match kind {
        line::Kind::Rename(_) => "Type a name for the session; an empty line leaves it.",
        line::Kind::Reason(_) => "Type why not; the model is told. An empty line goes back.",
        line::Kind::Key(_) => "Type the key; it is not shown. An empty line goes back.",
        line::Kind::Message { .. } => "Type the message; an empty line goes back.",
        _ => "Type what is looked for; an empty line goes back.",
    }
    .to_owned()
}

fn short(choice: Choice) -> &'static str {
    match choice {
        Choice::Once => "yes",
        Choice::Session => "session",
        Choice::Always => "always",
        Choice::No => "no",
        Choice::NoBecause => "because",
    }
}

fn said(choice: Choice, approval: &Approval) -> String {
    match choice {
        Choice::Once => "yes, once".to_owned(),
        Choice::Session => "yes, for this session".to_owned(),
        Choice::Always => {
            format!("always, by the rule {}", visible(approval.rule.as_deref().unwrap_or_default()))
        }
        Choice::No => "no".to_owned(),
        Choice::NoBecause => "no, because".to_owned(),
    }
}

fn asked(approval: &Approval) -> Vec<String> {
    let who = approval.agent.as_ref().map_or(String::new(), |agent| format!("Agent {} asks. ", tame(agent)));
    let mut out = vec![format!("{who}May {} run? {}", tame(&approval.tool), tame(&approval.why))];
    let text = match &approval.preview {
        Preview::Command { command, cwd } => format!("{command}\nin {}", cwd.display()),
        Preview::Diff { diff } => diff.clone(),
        Preview::Text { text } => text.clone(),
    };
    // nothing of what is allowed hides, and nothing of it is left out
    out.extend(text.lines().map(|line| visible(line).into_owned()));
    let answers = choices(approval).into_iter().enumerate();
    out.extend(answers.map(|(at, choice)| format!("{}. {}", at + 1, said(choice, approval))));
    out.push("Type a number.".to_owned());
    out
}
