//! Takes what is new from one moment of the record: committed entries by position, the answer that
//! streams in by length, the running calls by the board's revision.
//!
//! The items of an answer that streams in become those of the committed one: same text, same blocks,
//! same folds, nothing drawn twice and nothing for a moment not at all.

use std::collections::VecDeque;
use std::sync::Arc;

use super::State;
use super::item::{Body, Call, Ended, Head, Item, Source, one_line, partial_title};
use crate::api::board::{PartKind, Record};
use crate::api::entry::{Details, Entry, EntryBody, Level, Restore, TurnEnd, TurnStatus};
use crate::api::job::JobEnd;
use crate::api::message::{Answer, Body as Block, Finish, Stop};
use crate::base::CallId;
use crate::law::board::Progress;
use crate::ui::widget::row::Role;
use crate::ui::widget::text::ellipsis;

/// Bytes of streaming arguments in which a title is looked for.
const TITLE_WITHIN: usize = 8 * 1024;
/// How far back the row of a call is looked for when its start comes.
const ATTACH_WITHIN: usize = 512;
/// Most files that are named of a restoring.
const NAMED_MAX: usize = 5;
/// Most columns of the command in the row that tells of a job's end.
const COMMAND_COLUMNS: usize = 60;

impl State {
    /// Takes what is new; whether anything changed that is drawn here.
    pub fn sync(&mut self, record: &Record) -> bool {
        let coloured = self.take_colours();
        if record.revision == self.revision && self.revision != 0 {
            return coloured;
        }
        let mut changed = false;
        self.revision = record.revision;
        if self.cwd != record.status.cwd {
            self.cwd.clone_from(&record.status.cwd);
        }
        if record.epoch != self.epoch || record.path.len() < self.seen {
            self.rebuild(record.epoch);
            changed = true;
        }
        let mut news = true;
        for (at, entry) in record.path.iter().enumerate().skip(self.seen) {
            self.absorb(entry);
            // what was there when one left is no news
            news = !self.took(at + 1, entry);
            changed = true;
        }
        self.seen = record.path.len();
        if record.status.counted != self.counted {
            self.counted = record.status.counted;
            changed |= self.count_conflicts(&record.status.conflicted);
        }
        changed |= self.live(record);
        if changed && news && !self.follows() {
            self.unseen = true;
        }
        let moved = self.board(record);
        coloured || changed || moved
    }
    fn rebuild(&mut self, epoch: u64) {
        self.items.clear();
        self.cache.clear();
        self.colours.clear();
        self.seen = 0;
        self.live_from = 0;
        self.live_number = 0;
        self.board_revision = u64::MAX;
        self.counted = 0;
        self.running.clear();
        self.spools.clear();
        self.list = None;
        self.selected = None;
        self.pick.clear();
        self.scroll = crate::ui::widget::scroll::Scroll::Follow;
        self.epoch = epoch;
    }
    /// Puts an item before those of the answer that streams in.
    pub(super) fn add(&mut self, body: Body) -> u64 {
        let item = self.item(body, self.live_from);
        let id = item.id;
        self.items.insert(self.live_from, item);
        self.live_from += 1;
        self.space(self.live_from);
        id
    }
    /// Puts an item that streamed in among the committed ones.
    fn keep(&mut self, item: Item) {
        self.items.push(item);
        self.live_from += 1;
        self.space(self.live_from - 1);
    }
    fn item(&mut self, body: Body, index: usize) -> Item {
        self.last_id += 1;
        Item { id: self.last_id, gap: self.gap(index, &body), body, open: None }
    }
    fn gap(&self, index: usize, body: &Body) -> bool {
        let before = index.checked_sub(1).and_then(|index| self.items.get(index));
        before.is_some_and(|before| !close(&before.body, body))
    }
    /// What stands before an item has changed: so may the blank row between them.
    fn space(&mut self, index: usize) {
        let Some(item) = self.items.get(index) else { return };
        let (id, gap) = (item.id, self.gap(index, &item.body));
        if self.items[index].gap != gap {
            self.items[index].gap = gap;
            self.cache.forget_block(id, 0);
        }
    }
    fn say(&mut self, role: Role, text: String) {
        self.add(Body::Words { role, text, hint: None });
    }
    fn job_end(&mut self, entry: &Arc<Entry>, end: &JobEnd) {
        let took = end.outcome.lasted().map(crate::ui::pane::live::elapsed);
        let after = took.map_or_else(String::new, |took| format!(" after {took}"));
        let (mark, look) = crate::ui::pane::jobs::ended(&end.outcome.end);
        let cause = crate::ui::pane::jobs::cause(&end.outcome);
        let hidden = if end.hidden { " · the model is not told" } else { "" };
        let command = ellipsis(&one_line(&end.command), COMMAND_COLUMNS).into_owned();
        // one that went well is no matter; the others are looked at
        let role = if look == Role::Ok { Role::Dim } else { Role::Warning };
        let text = format!("{} {mark} {cause}{after} · {command}{hidden}", end.job);
        let output = self.spools.get(&end.call).map(|spool| end.output(spool));
        let entry = Arc::clone(entry);
        self.add(Body::Ended(Box::new(Ended { role, text, entry, output, pieces: None })));
    }
    fn restore(&mut self, restore: &Restore) {
        let shown =
            |path: &std::path::Path| path.strip_prefix(&self.cwd).unwrap_or(path).display().to_string();
        let names: Vec<String> =
            restore.touched.iter().take(NAMED_MAX).map(|touched| shown(&touched.path)).collect();
        let stayed: Vec<String> = restore
            .stayed
            .iter()
            .take(NAMED_MAX)
            .map(|stayed| format!("not put back: {} {}", shown(&stayed.path), stayed.why))
            .collect();
        let count = restore.touched.len();
        if count > 0 {
            let files = if count == 1 { "1 file".to_owned() } else { format!("{count} files") };
            let more = if count > names.len() { ", …" } else { "" };
            let names = names.join(", ");
            let text = match restore.undoes {
                Some(_) => format!("undone: {files} as before the rewind: {names}{more}"),
                None => format!("{files} put back: {names}{more}"),
            };
            let hint = Some(("/undo", "changes them again"));
            self.add(Body::Words { role: Role::Dim, text, hint });
        }
        let more = restore.stayed.len().saturating_sub(stayed.len());
        for text in stayed {
            self.say(Role::Warning, text);
        }
        if more > 0 {
            self.say(Role::Warning, format!("and {more} more files were not put back"));
        }
    }
    fn absorb(&mut self, entry: &Arc<Entry>) {
        match &entry.body {
            EntryBody::User(_) => {
                self.add(Body::User { entry: Arc::clone(entry), pieces: None });
            }
            EntryBody::Answer(answer) => self.answer(entry, answer),
            EntryBody::CallStart(start) => {
                let waiting =
                    self.items[..self.live_from].iter_mut().rev().take(ATTACH_WITHIN).find_map(|item| {
                        let id = item.id;
                        match &mut item.body {
                            Body::Call(call)
                                if call.id.is_none()
                                    && call.settle.is_none()
                                    && call.wire_id == start.wire_id
                                    && call.tool == start.tool =>
                            {
                                call.id = Some(start.call.clone());
                                Some(id)
                            }
                            Body::Call(_)
                            | Body::User { .. }
                            | Body::Prose { .. }
                            | Body::Ended(_)
                            | Body::Report(_)
                            | Body::Words { .. } => None,
                        }
                    });
                let id = match waiting {
                    Some(id) => id,
                    None => self.add(Body::Call(Box::new(Call::begun(start)))),
                };
                self.running.push((start.call.clone(), id));
                if let Some(spool) = &start.spool {
                    self.spools.insert(start.call.clone(), spool.clone());
                }
                self.board_revision = u64::MAX;
            }
            EntryBody::CallSettle(settle) => self.settle(&settle.call, entry),
            EntryBody::Notice(notice) => {
                let role = match notice.level {
                    Level::Info => Role::Dim,
                    Level::Warning => Role::Warning,
                    Level::Error => Role::Error,
                };
                self.say(role, notice.text.clone());
            }
            EntryBody::Compaction(compaction) => {
                let head = Head::Compaction(compaction.tokens_before, compaction.tokens_after);
                let source = Source::Summary(Arc::clone(entry));
                self.add(Body::Prose { source, doc: Box::default(), head: Some(head) });
            }
            EntryBody::TurnEnd(end) => self.turn_end(end),
            EntryBody::Setting(setting) => {
                let model = setting.model.as_ref().map(|model| format!("model: {model}"));
                let mode = setting.mode.map(|mode| format!("mode: {}", mode.word()));
                let words: Vec<String> = model.into_iter().chain(mode).collect();
                if !words.is_empty() {
                    self.say(Role::Dim, words.join(" · "));
                }
            }
            EntryBody::JobEnd(end) => self.job_end(entry, end),
            EntryBody::AgentEnd(end) => self.agent_end(entry, end),
            EntryBody::Restore(restore) => self.restore(restore),
            EntryBody::Unknown(unknown) => {
                let text = format!("a record of a kind that this version does not know: {}", unknown.kind);
                self.say(Role::Dim, text);
            }
        }
    }
    fn turn_end(&mut self, end: &TurnEnd) {
        match end.status {
            TurnStatus::Done => {}
            TurnStatus::Interrupted => self.say(Role::Warning, "interrupted".into()),
            TurnStatus::Failed => {
                let why = end.why.as_deref().unwrap_or("no reason was given");
                let text = format!("the turn failed: {why}");
                self.add(Body::Words { role: Role::Error, text, hint: Some(("Alt-R", "tries again")) });
            }
        }
    }
    fn settle(&mut self, call: &CallId, entry: &Arc<Entry>) {
        let known = self.running.iter().position(|(running, _)| running == call);
        let id = match known {
            Some(index) => self.running.swap_remove(index).1,
            None => self.add(Body::Call(Box::new(Call { id: Some(call.clone()), ..Call::default() }))),
        };
        if let Some(item) = self.items.iter_mut().rev().find(|item| item.id == id)
            && let Body::Call(row) = &mut item.body
        {
            row.settle = Some(Arc::clone(entry));
            row.lines = row.settled().map_or(0, |settle| settle.output.lines().count() as u64);
            (row.progress, row.diff, row.pieces) = (None, None, None);
        }
        self.cache.forget(id);
        // only what goes on, or may, has an end of a job that asks for it
        if let EntryBody::CallSettle(settle) = &entry.body
            && settle.artifact.is_none()
            && !matches!(settle.details, Details::Command { job: Some(_), .. })
        {
            self.spools.remove(call);
        }
        if let EntryBody::CallSettle(settle) = &entry.body
            && matches!(settle.details, Details::Todo { .. })
        {
            self.newest_list(id);
        }
    }
    /// A new list of things to do: the one before folds.
    fn newest_list(&mut self, id: u64) {
        let Some(old) = self.list.replace(id).filter(|old| *old != id) else { return };
        if let Some(item) = self.items.iter_mut().rev().find(|item| item.id == old)
            && let Body::Call(call) = &mut item.body
        {
            call.superseded = true;
            self.cache.forget(old);
        }
    }
    /// A committed answer takes the items over that streamed in for it.
    fn answer(&mut self, entry: &Arc<Entry>, answer: &Answer) {
        let mut streamed: VecDeque<Item> = self.items.drain(self.live_from..).collect();
        self.live_committed = self.live_number;
        for (index, block) in answer.blocks.iter().enumerate() {
            match &block.body {
                Block::Text(text) | Block::Thinking(text) => {
                    let thinking = matches!(block.body, Block::Thinking(_));
                    if text.trim().is_empty() {
                        continue;
                    }
                    let source = Source::Block(Arc::clone(entry), index);
                    let reused = take(&mut streamed, |body| match body {
                        Body::Prose { source, head, .. } => {
                            head.is_some() == thinking && text.starts_with(source.text())
                        }
                        Body::User { .. }
                        | Body::Call(_)
                        | Body::Ended(_)
                        | Body::Report(_)
                        | Body::Words { .. } => false,
                    });
                    self.prose(reused, source, thinking);
                }
                Block::Call { id, name, input } => {
                    let reused =
                        take(&mut streamed, |body| matches!(body, Body::Call(call) if call.tool == *name));
                    let call = Body::Call(Box::new(Call::asked(id, name, input)));
                    match reused {
                        Some(item) => {
                            self.cache.forget(item.id);
                            self.keep(Item { body: call, ..item });
                        }
                        None => {
                            self.add(call);
                        }
                    }
                }
                Block::Unknown => {}
            }
        }
        for item in streamed {
            self.cache.forget(item.id);
        }
        self.finish(&answer.finish);
    }
    fn prose(&mut self, reused: Option<Item>, source: Source, thinking: bool) {
        let head = thinking.then_some(Head::Thinking);
        match reused {
            Some(mut item) => {
                if let Body::Prose { source: old, doc, .. } = &mut item.body {
                    let shift = usize::from(head.is_some());
                    // the tail was drawn as unfinished; the head tells how much there is
                    let tail = doc.settled() + shift..doc.blocks().len() + shift;
                    doc.finish(source.text());
                    *old = source;
                    self.cache.forget_range(item.id, tail, shift > 0);
                }
                self.keep(item);
            }
            None => {
                self.add(Body::Prose { source, doc: Box::default(), head });
            }
        }
    }
    fn finish(&mut self, finish: &Finish) {
        match finish {
            Finish::Finished(Stop::End | Stop::Calls) => {}
            Finish::Finished(Stop::MaxTokens) => {
                self.say(Role::Warning, "the answer reached the output limit and stops here".into());
            }
            Finish::Finished(Stop::Refused) => {
                self.say(Role::Warning, "the provider refused to go on".into())
            }
            Finish::Finished(Stop::Other(why)) => {
                self.say(Role::Warning, format!("the answer stopped: {why}"))
            }
            Finish::Truncated(how) => self.say(Role::Warning, format!("the answer was cut off: {how}")),
            // the end of its turn says so
            Finish::Cancelled => {}
            Finish::Failed(why) => self.say(Role::Error, format!("the answer failed: {why}")),
        }
    }
    /// The answer that streams in.
    fn live(&mut self, record: &Record) -> bool {
        let number = record.live.number;
        let stale = number == self.live_committed && self.live_committed != 0;
        let parts = if stale { &[][..] } else { &record.live.parts[..] };
        let mut changed = false;
        if (number != self.live_number || parts.is_empty()) && self.items.len() > self.live_from {
            for item in self.items.drain(self.live_from..) {
                self.cache.forget(item.id);
            }
            changed = true;
        }
        self.live_number = number;
        for (index, part) in parts.iter().enumerate() {
            let at = self.live_from + index;
            if at >= self.items.len() {
                let body = match &part.kind {
                    PartKind::Text => live_prose(None),
                    PartKind::Thinking => live_prose(Some(Head::Thinking)),
                    PartKind::Call(tool) => {
                        Body::Call(Box::new(Call { tool: tool.clone(), ..Call::default() }))
                    }
                };
                let item = self.item(body, at);
                self.items.push(item);
                changed = true;
            }
            changed |= self.grow(at, &part.text);
        }
        changed
    }
    fn grow(&mut self, at: usize, text: &str) -> bool {
        let item = &mut self.items[at];
        match &mut item.body {
            Body::Prose { source: Source::Live(own), doc, head } => {
                let Some(more) = text.get(own.len()..).filter(|more| !more.is_empty()) else { return false };
                own.push_str(more);
                let shift = usize::from(head.is_some());
                let tail = doc.settled() + shift..doc.blocks().len() + shift;
                doc.grow(own);
                self.cache.forget_range(item.id, tail, shift > 0);
                true
            }
            Body::Call(call) if call.arguments != text.len() => {
                call.arguments = text.len();
                if call.title.is_empty()
                    && text.len() < TITLE_WITHIN
                    && let Some(title) = partial_title(text)
                {
                    call.title = title;
                    self.cache.forget_block(item.id, 0);
                }
                true
            }
            Body::Call(_)
            | Body::Prose { .. }
            | Body::User { .. }
            | Body::Ended(_)
            | Body::Report(_)
            | Body::Words { .. } => false,
        }
    }
    /// The progress of running calls.
    fn board(&mut self, record: &Record) -> bool {
        let revision = record.calls.revision();
        if revision == self.board_revision {
            return false;
        }
        self.board_revision = revision;
        let mut changed = false;
        for (call, id) in &self.running {
            let Some(item) = self.items.iter_mut().rev().find(|item| item.id == *id) else { continue };
            let Body::Call(row) = &mut item.body else { continue };
            let now = record.calls.get(call);
            if same(row.progress.as_ref(), now) {
                continue;
            }
            if let Some(progress) = now
                && !progress.title.is_empty()
            {
                row.title = one_line(&progress.title);
            }
            row.progress = now.cloned();
            row.pieces = None;
            self.cache.forget(*id);
            changed = true;
        }
        changed
    }
}

fn same(a: Option<&Progress>, b: Option<&Progress>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => {
            (a.bytes, a.lines, a.asking, a.began, a.warnings.len())
                == (b.bytes, b.lines, b.asking, b.began, b.warnings.len())
                && a.title == b.title
                && a.tail.len() == b.tail.len()
        }
        (Some(_), None) | (None, Some(_)) => false,
    }
}

fn live_prose(head: Option<Head>) -> Body {
    Body::Prose { source: Source::Live(String::new()), doc: Box::default(), head }
}

/// Takes the first of the streamed items that fits.
fn take(streamed: &mut VecDeque<Item>, fits: impl Fn(&Body) -> bool) -> Option<Item> {
    let at = streamed.iter().position(|item| fits(&item.body))?;
    streamed.remove(at)
}

/// Whether no blank row stands between two items.
fn close(before: &Body, after: &Body) -> bool {
    let quiet = |body: &Body| match body {
        Body::Words { role, .. } => *role == Role::Dim,
        Body::Ended(ended) => ended.role == Role::Dim,
        Body::User { .. } | Body::Prose { .. } | Body::Call(_) | Body::Report(_) => false,
    };
    match (before, after) {
        (Body::Call(_), Body::Call(_)) => true,
        (Body::Call(_), Body::Words { .. } | Body::Ended(_) | Body::Report(_)) => false,
        (Body::Report(_), Body::Report(_)) => true,
        (a, b) => quiet(a) && quiet(b),
    }
}
