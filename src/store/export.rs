//! A session for other eyes: as Markdown, and as the lines of its journal.

use std::fmt::Write as _;
use std::io::{self, BufReader, Write};

use super::codec;
use super::dirs::Dirs;
use super::error::Error;
use super::journal::JOURNAL;
use super::private;
use super::session::{Opened, there};
use crate::api::entry::{CallSettle, Details, Entry, EntryBody};
use crate::api::message::{Answer, Body, Finish, Image};
use crate::base::SessionId;

/// Writes the journal's whole commits as they stand. Blobs are named in it, not contained.
pub fn jsonl(dirs: &Dirs, id: &SessionId, to: &mut impl Write) -> Result<(), Error> {
    let path = there(dirs, id)?.join(JOURNAL);
    let mut input = BufReader::new(private::open(&path)?);
    let mut line = Vec::new();
    loop {
        line.clear();
        io::BufRead::read_until(&mut input, b'\n', &mut line).map_err(Error::io("read", &path))?;
        if !line.ends_with(b"\n") {
            return to.flush().map_err(Error::io("export", &path));
        }
        to.write_all(&line).map_err(Error::io("export", &path))?;
    }
}

/// The branch at hand as Markdown.
pub fn markdown(opened: &Opened) -> String {
    let mut out = String::new();
    let title = if opened.title.is_empty() { "Session" } else { &opened.title };
    let _ = writeln!(out, "# {title}\n");
    let _ = writeln!(out, "- session: `{}`", opened.header.id);
    if let Some(cwd) = &opened.header.cwd {
        let _ = writeln!(out, "- directory: `{}`", cwd.display());
    }
    let _ = writeln!(out, "- begun: {}", codec::stamp(opened.header.created));
    for entry in opened.branch() {
        entry_markdown(&mut out, &entry);
    }
    out
}

fn entry_markdown(out: &mut String, entry: &Entry) {
    let at = codec::stamp(entry.at);
    match &entry.body {
        EntryBody::User(message) => {
            let _ = writeln!(out, "\n## You · {at}\n\n{}", message.text.trim_end());
            images(out, &message.images);
        }
        EntryBody::Answer(answer) => {
            let _ = writeln!(out, "\n## {} · {at}", answer.model);
            answer_markdown(out, answer);
        }
        EntryBody::CallStart(start) => {
            let _ = writeln!(out, "\n### Call {} · `{}`\n", start.call, start.tool);
            let input = serde_json::to_string_pretty(&start.input).unwrap_or_default();
            fenced(out, "json", &input);
        }
        EntryBody::CallSettle(settle) => settle_markdown(out, settle),
        EntryBody::Notice(notice) => quote(out, &notice.text),
        EntryBody::Compaction(compaction) => {
            let _ =
                writeln!(out, "\n## Summary of what came before · {at}\n\n{}", compaction.summary.trim_end());
        }
        EntryBody::TurnEnd(end) => {
            let why = end.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
            quote(out, &format!("The turn ended: {}{why}", end.status.word()));
        }
        EntryBody::Setting(setting) => {
            if let Some(model) = &setting.model {
                quote(out, &format!("The model is {model} from here on"));
            }
            if let Some(mode) = setting.mode {
                quote(out, &format!("The mode is {} from here on", mode.word()));
            }
        }
        EntryBody::JobEnd(end) => {
            quote(
                out,
                &format!("The job {} ended: {} (`{}`)", end.job, end.outcome.end.words(), end.command),
            );
        }
        EntryBody::AgentEnd(end) => {
            let how =
                if end.again { "handed back".to_owned() } else { format!("ended: {}", end.end.words()) };
            quote(out, &format!("The agent {} {how}", end.node.name));
            if let Some(report) = &end.hand_back {
                quote(out, &format!("Its hand-back: {}", report.words()));
            }
            if !end.answer.trim().is_empty() {
                let _ = writeln!(out, "\n{}", end.answer.trim_end());
            }
        }
        EntryBody::Restore(restore) => {
            quote(out, &format!("{} files were put back as they were", restore.touched.len()));
            for stayed in &restore.stayed {
                quote(out, &format!("Not put back: {} {}", stayed.path.display(), stayed.why));
            }
        }
        EntryBody::Unknown(unknown) => {
            let _ = writeln!(out, "\n### {}\n", unknown.kind);
            fenced(out, "json", unknown.raw.get());
        }
    }
}

fn answer_markdown(out: &mut String, answer: &Answer) {
    for block in &answer.blocks {
        match &block.body {
            Body::Text(text) => {
                let _ = writeln!(out, "\n{}", text.trim_end());
            }
            Body::Thinking(text) if text.trim().is_empty() => {}
            Body::Thinking(text) => {
                let _ = writeln!(
                    out,
                    "\n<details><summary>Thinking</summary>\n\n{}\n\n</details>",
                    text.trim_end()
                );
            }
            // A call is told by its own entry.
            Body::Call { .. } | Body::Unknown => {}
        }
    }
    match &answer.finish {
        Finish::Finished(_) => {}
        Finish::Truncated(how) => quote(out, &format!("The answer was cut off: {how}")),
        Finish::Cancelled => quote(out, "The answer was cancelled"),
        Finish::Failed(why) => quote(out, &format!("The answer failed: {why}")),
    }
}

fn settle_markdown(out: &mut String, settle: &CallSettle) {
    let _ = writeln!(out, "\n**Result of {}: {}**\n", settle.call, settle.status.word());
    match &settle.details {
        Details::Diff { diff, .. } => fenced(out, "diff", diff),
        Details::None | Details::Command { .. } | Details::Todo { .. } | Details::Agents { .. } => {
            fenced(out, "", &settle.output)
        }
    }
    images(out, &settle.images);
    if settle.dropped > 0 {
        let place = settle.artifact.as_ref().map(|path| format!("; all of it: `{}`", path.display()));
        quote(
            out,
            &format!("{} bytes kept, {} dropped{}", settle.kept, settle.dropped, place.unwrap_or_default()),
        );
    }
    for warning in &settle.warnings {
        quote(out, warning);
    }
}

fn images(out: &mut String, images: &[Image]) {
    for image in images {
        let name = if image.name.is_empty() { "image" } else { &image.name };
        let _ = writeln!(
            out,
            "\n*{name} ({}{})*",
            image.media_type,
            match &image.blob {
                Some(blob) => format!(", blob {blob}"),
                None => String::new(),
            }
        );
    }
}

fn quote(out: &mut String, text: &str) {
    out.push('\n');
    for line in text.trim_end().lines() {
        let _ = writeln!(out, "> {line}");
    }
}

/// A code block whose fence is longer than any in the text.
fn fenced(out: &mut String, language: &str, text: &str) {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let _ = writeln!(out, "{fence}{language}\n{}\n{fence}", text.trim_end_matches('\n'));
}
