//! Reading a journal as a stream: what it holds, and where it is damaged. Changes nothing.
//!
//! Memory is bounded by the entries that are kept, not by what stands in the file: a line over the bound is
//! passed over unread. Keeps `journal_survives_kill_at_any_byte` (the reading half).

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read};

use super::blobs::Blobs;
use super::codec::{self, Header, Record};
use super::tree::{Mint, Tree};
use crate::api::agent::AgentNode;
use crate::api::entry::Entry;
use crate::api::job::JobNode;
use crate::base::{JobId, SessionId};

/// Most bytes of a line that is read. Six times what is written: other programs escape more.
pub const LINE_MAX: usize = 8 << 20;
/// Most reports of one kind in words; the rest are counted.
const REPORTS_MAX: usize = 8;

/// A stretch of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Its first byte.
    pub from: u64,
    /// Its length, without the newline.
    pub bytes: u64,
}

/// What a journal holds.
#[derive(Debug)]
pub struct Reading {
    /// Its header, or one that names nothing but the session.
    pub header: Header,
    /// Its entries.
    pub tree: Tree,
    /// Its display name; empty: none was given.
    pub title: String,
    /// Ids to go on with.
    pub mint: Mint,
    /// Jobs that ran when the journal was last written, by their nodes.
    pub jobs: BTreeMap<JobId, JobNode>,
    /// Agents that had not ended when the journal was last written, by their names, and what each is to be told.
    pub agents: BTreeMap<String, (AgentNode, String)>,
    /// Agents that were taken off the list, by their paths, each with the run.
    pub agents_dismissed: BTreeMap<String, u32>,
    /// Bytes of all whole commits.
    pub whole: u64,
    /// Bytes behind them: a commit that was cut off.
    pub torn: Option<Stretch>,
    /// Lines that could not be read.
    pub bad: Vec<Stretch>,
    /// What was found, in words.
    pub reports: Vec<String>,
}

/// Reads a journal whole. `id` is the session's, by its directory. An `Err` is the disk's.
pub fn read(input: &mut impl BufRead, id: &SessionId, blobs: &Blobs) -> io::Result<Reading> {
    let mut fold = Fold::new(id, blobs);
    let mut line = Vec::with_capacity(4096);
    let mut from = 0u64;
    loop {
        line.clear();
        let (bytes, ended) = next_line(input, &mut line)?;
        if !ended {
            if bytes > 0 {
                fold.out.torn = Some(Stretch { from, bytes });
            }
            break;
        }
        let stretch = Stretch { from, bytes };
        if bytes as usize > LINE_MAX {
            fold.bad(stretch, format!("its {bytes} bytes are over the bound of {LINE_MAX}"));
        } else {
            match codec::decode(&line) {
                Ok(record) => fold.take(record, stretch),
                Err(why) => fold.bad(stretch, why),
            }
        }
        from += bytes + 1;
    }
    fold.out.whole = from;
    Ok(fold.finish())
}

/// Reads up to the next newline. Returns the length of the line and whether the newline came; past the bound
/// the bytes are counted and dropped.
fn next_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<(u64, bool)> {
    let mut bytes = input.by_ref().take(LINE_MAX as u64 + 1).read_until(b'\n', line)? as u64;
    if line.last() == Some(&b'\n') {
        line.pop();
        return Ok((bytes - 1, true));
    }
    if bytes <= LINE_MAX as u64 {
        return Ok((bytes, false));
    }
    loop {
        let piece = match input.fill_buf() {
            Ok(piece) => piece,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        };
        if piece.is_empty() {
            return Ok((bytes, false));
        }
        let end = piece.iter().position(|byte| *byte == b'\n');
        let take = end.unwrap_or(piece.len());
        bytes += take as u64;
        input.consume(take + usize::from(end.is_some()));
        if end.is_some() {
            return Ok((bytes, true));
        }
    }
}

struct Fold<'a> {
    out: Reading,
    blobs: &'a Blobs,
    lines: u64,
    told: [usize; 3],
    headed: bool,
}

/// What a report is about; each is told a bounded number of times.
#[derive(Clone, Copy)]
enum About {
    Bad,
    Body,
    Place,
}

impl<'a> Fold<'a> {
    fn new(id: &SessionId, blobs: &'a Blobs) -> Self {
        let out = Reading {
            header: codec::lost_header(id.clone()),
            tree: Tree::default(),
            title: String::new(),
            mint: Mint::default(),
            jobs: BTreeMap::new(),
            agents: BTreeMap::new(),
            agents_dismissed: BTreeMap::new(),
            whole: 0,
            torn: None,
            bad: Vec::new(),
            reports: Vec::new(),
        };
        Self { out, blobs, lines: 0, told: [0; 3], headed: false }
    }

    fn take(&mut self, record: Record, stretch: Stretch) {
        self.lines += 1;
        match record {
            Record::Header(header) if self.lines == 1 => {
                self.out.header = Header { id: self.out.header.id.clone(), ..header };
                self.headed = true;
            }
            Record::Entry(entry, wrong) => self.entry(entry, wrong, stretch),
            Record::Beside(beside) => {
                let mut entry = beside.entry;
                let loaded = self.blobs.load(&beside.blob).map_err(|e| crate::base::chain(&e));
                let text = loaded.and_then(|bytes| String::from_utf8(bytes).map_err(|e| e.to_string()));
                let wrong = match text {
                    Ok(text) => {
                        let (body, wrong) = codec::decode_body(&beside.kind, &text);
                        entry.body = body;
                        wrong
                    }
                    Err(why) => Some(why),
                };
                self.entry(entry, wrong, stretch);
            }
            Record::Title(title) => self.out.title = title,
            Record::Head(to) => {
                if let Err(why) = self.out.tree.move_head(to) {
                    self.report(About::Place, why);
                }
            }
            Record::Job(node) => {
                self.out.jobs.insert(node.id, node);
            }
            Record::JobOver(job) => {
                self.out.jobs.remove(&job);
            }
            Record::Agent(node, words) => {
                self.out.agents.insert(node.name.clone(), (node, words));
            }
            Record::AgentOver(name, run) => {
                if self.out.agents.get(&name).is_some_and(|(node, _)| node.run <= run) {
                    self.out.agents.remove(&name);
                }
            }
            Record::AgentDismissed(agent, run) => {
                self.out.agents_dismissed.insert(agent, run);
            }
            // A second header says nothing that the first did not: it is kept and passed by.
            Record::Header(_) | Record::Other | Record::Blank => {}
        }
    }

    fn entry(&mut self, entry: Entry, wrong: Option<String>, stretch: Stretch) {
        if let Some(why) = wrong {
            let text = format!(
                "the entry {} ({}) could not be read and is kept as it is: {why}",
                entry.id,
                codec::kind(&entry.body)
            );
            self.report(About::Body, text);
        }
        self.out.mint.saw(&entry);
        match self.out.tree.add(entry) {
            Ok(None) => {}
            Ok(Some(mended)) => self.report(About::Place, mended),
            Err(why) => {
                self.lines -= 1;
                self.bad(stretch, why);
            }
        }
    }

    fn bad(&mut self, stretch: Stretch, why: String) {
        self.lines += 1;
        self.report(About::Bad, format!("line {} of the journal could not be read: {why}", self.lines));
        self.out.bad.push(stretch);
    }

    fn report(&mut self, about: About, text: String) {
        let told = &mut self.told[about as usize];
        *told += 1;
        if *told <= REPORTS_MAX {
            self.out.reports.push(text);
        }
    }

    fn finish(mut self) -> Reading {
        for (told, what) in self.told.iter().zip([
            "more lines could not be read",
            "more entries could not be read and are kept as they are",
            "more entries had to be put in another place",
        ]) {
            if *told > REPORTS_MAX {
                self.out.reports.push(format!("{} {what}", told - REPORTS_MAX));
            }
        }
        if !self.headed {
            let text = "the journal's first line names no session, so its directory is not known";
            self.out.reports.push(text.to_owned());
        }
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_over_the_bound_is_passed_over_and_what_follows_is_read() {
        let mut journal = b"{\"type\":\"session\",\"id\":\"s\",\"v\":1,\"cwd\":\"/p\"}\n".to_vec();
        let from = journal.len() as u64;
        journal.extend(std::iter::repeat_n(b'x', LINE_MAX + 1));
        journal.extend_from_slice(b"\n{\"type\":\"title\",\"title\":\"t\"}\n");
        let whole = journal.len() as u64;
        journal.extend(std::iter::repeat_n(b'y', LINE_MAX + 7));
        let id = SessionId::new("s");
        let read = read(&mut &journal[..], &id, &Blobs::at("/nowhere")).unwrap();
        assert_eq!(read.title, "t");
        assert_eq!(read.bad, [Stretch { from, bytes: LINE_MAX as u64 + 1 }]);
        assert_eq!(read.torn, Some(Stretch { from: whole, bytes: LINE_MAX as u64 + 7 }));
        assert_eq!((read.whole, read.reports.len()), (whole, 1));
    }

    #[test]
    fn many_faults_are_counted_not_listed() {
        let journal = "{\n".repeat(1000);
        let read = read(&mut journal.as_bytes(), &SessionId::new("s"), &Blobs::at("/nowhere")).unwrap();
        assert_eq!((read.bad.len(), read.reports.len()), (1000, REPORTS_MAX + 2), "{:?}", read.reports);
        assert!(read.reports.contains(&"992 more lines could not be read".to_owned()));
    }

    #[test]
    fn an_entry_whose_blob_is_gone_keeps_its_place() {
        let line = "{\"id\":\"a\",\"parent\":null,\"type\":\"user\",\"body\":{\"role\":\"user\"},\"beside\":\"00\"}\n";
        let read = read(&mut line.as_bytes(), &SessionId::new("s"), &Blobs::at("/nowhere")).unwrap();
        assert_eq!(read.tree.entries.len(), 1);
        assert!(read.reports[0].starts_with("the entry a (user) could not be read"), "{:?}", read.reports);
    }
}
