//! A call that wants something is allowed, refused or asked for; the person's answer is carried out.

use std::path::{Path, PathBuf};

use crate::api::access::{Approval, Decision, Mode, Wish};
use crate::api::entry::{CallStatus, EntryBody, Level, Setting};
use crate::base::CallId;
use crate::law::access::rule::{Rule, Scope};
use crate::law::access::sight::Sight;
use crate::law::access::{self, Place, Verdict, Want};
use crate::tool::{ToolEnd, path};

use super::owner::Owner;
use super::restore::NOTE;

/// Where a path leads, with its links followed as far as it is there.
fn real(whole: &Path) -> Option<PathBuf> {
    path::real(whole).ok()
}

impl Owner {
    /// Decides on a wish by the law, and runs, refuses or asks. What the person typed is not asked for.
    pub(super) fn judge(&mut self, call: &CallId, wish: Wish) {
        if self.calls.get(call).is_some_and(|run| !run.of_turn) {
            return self.run_call(call);
        }
        let scratch: Vec<PathBuf> = [&self.session_dir].into_iter().chain(&self.origins).cloned().collect();
        let (guarded, closed) = (self.guarded(), self.closed());
        let home = std::env::home_dir();
        let place = Place {
            cwd: &self.cwd,
            scratch: &scratch,
            guarded: &guarded,
            closed: &closed,
            home: home.as_deref(),
        };
        let want = Want {
            tool: &wish.tool,
            class: wish.class,
            paths: &wish.paths,
            command: wish.command.as_deref(),
        };
        let rules = self.rules.with_links(&place, &real);
        let verdict = access::decide(self.mode, &want, &place, &rules);
        let rule = access::propose_rule(&want, &place);
        match verdict {
            Verdict::Allow => self.run_call(call),
            Verdict::Refuse(why) => self.refuse(call, &why),
            Verdict::Ask(why) => {
                let approval = Approval {
                    call: call.clone(),
                    agent: None,
                    tool: wish.tool.clone(),
                    class: wish.class,
                    why,
                    preview: wish.preview.clone(),
                    rule,
                };
                self.approvals.push(approval);
                self.asks(call, true);
                self.publish_status();
            }
        }
    }

    /// What is changed only when asked, in every mode: the person's settings, and the session's own record.
    /// What lies beside the record in the session's directory is its scratch.
    fn guarded(&self) -> Vec<PathBuf> {
        let record = ["journal.jsonl", "journal.set-aside", "lease", "title", "blobs", "calls", NOTE];
        record
            .iter()
            .map(|name| self.session_dir.join(name))
            .chain([self.options.dirs.config().to_path_buf()])
            // what a fork reads of the session that it is from is that one's record
            .chain(self.origins.iter().cloned())
            .collect()
    }

    /// What no call reads or changes: the file of keys, by its name and by where that leads.
    fn closed(&self) -> Vec<PathBuf> {
        let keys = self.options.dirs.keys();
        real(&keys).into_iter().chain([keys]).collect()
    }

    /// What closes files to the searches of a call that runs now.
    pub(super) fn sight(&self) -> Sight {
        let (closed, home) = (self.closed(), std::env::home_dir());
        let place =
            Place { cwd: &self.cwd, scratch: &[], guarded: &[], closed: &closed, home: home.as_deref() };
        let rules = self.rules.with_links(&place, &real);
        Sight { rules, cwd: self.cwd.clone(), home, closed }
    }

    fn refuse(&mut self, call: &CallId, why: &str) {
        self.end_call(call, ToolEnd::text(CallStatus::Refused, format!("Refused: {why}")));
    }

    /// The person answered.
    pub(super) fn decide(&mut self, call: &CallId, decision: Decision) {
        if let Some((name, call)) = call.as_str().split_once('/') {
            return self.decide_for(name, call, decision);
        }
        let Some(at) = self.approvals.iter().position(|a| &a.call == call) else { return };
        let approval = self.approvals.remove(at);
        self.asks(call, false);
        match decision {
            Decision::Once => self.run_call(call),
            Decision::Session => {
                self.grant(&approval);
                self.run_call(call);
            }
            Decision::Always => {
                self.grant(&approval);
                if let Some(rule) = &approval.rule
                    && let Err(why) = (self.options.keep_rule)(rule)
                {
                    self.say(Level::Warning, format!("The rule holds for this session only: {why}"));
                }
                self.run_call(call);
            }
            Decision::No(reason) => {
                let words = match reason {
                    Some(reason) => format!("the person said no: {reason}"),
                    None => "the person said no".to_owned(),
                };
                self.refuse(call, &words);
            }
            Decision::Nobody => {
                let why = &approval.why;
                let words =
                    format!("{why}, and nobody is there to say yes; a rule or another mode can allow it");
                self.refuse(call, &words);
            }
        }
        self.publish_status();
    }

    /// Allows for the session what was approved, and what that covers of the questions still open.
    fn grant(&mut self, approval: &Approval) {
        match &approval.rule {
            Some(text) => match Rule::parse(text, Scope::Session) {
                Ok(rule) => {
                    self.rules.allow.push(rule);
                    self.post.order_all(None, Some(text));
                }
                Err(why) => self.say(Level::Warning, format!("The rule {text} was not taken: {why}")),
            },
            None => self
                .say(Level::Info, "This call cannot be said by a rule, so it was allowed once.".to_owned()),
        }
        self.judge_again();
    }

    /// The rules or the mode changed: the open questions are judged anew.
    pub(super) fn judge_again(&mut self) {
        for open in std::mem::take(&mut self.approvals) {
            let wish = self.calls.get(&open.call).and_then(|run| run.wish.clone());
            if let Some(wish) = wish {
                self.asks(&open.call, false);
                self.judge(&open.call, wish);
            }
        }
    }

    pub(super) fn set_mode(&mut self, mode: Mode) {
        if self.mode == mode {
            return;
        }
        self.mode = mode;
        self.post.order_all(Some(mode), None);
        if self.head.is_some() {
            self.commit(EntryBody::Setting(Setting { mode: Some(mode), model: None }));
        }
        self.judge_again();
        self.publish_status();
    }

    /// Trusts the directory's own settings from the next start on.
    pub(super) fn trust(&mut self, trust: bool) {
        match (self.options.keep_trust)(trust) {
            Ok(()) => {
                self.trusted = Some(trust);
                let word = if trust {
                    "This directory is trusted: its settings are read from the next start on."
                } else {
                    "This directory is not trusted: its own settings are not read."
                };
                self.say(Level::Info, word.into());
            }
            Err(why) => self.say(Level::Error, why),
        }
        self.publish_status();
    }
}
