//! Where the paths of a call lead: to the session's directory, or, for an agent that works in a copy of it, into the
//! copy and nowhere else.
//!
//! Everywhere but at the disk itself a path is as the agent sees it: in wishes, rules, results and the journal. `disk`
//! says where it is. What is at that place is opened without following a link (`spot`), so that one put there after
//! the look leads nowhere. Keeps `hold_paths_stay_inside`.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::law::path_map::{Fact, Refusal, View, map};
use crate::sandbox::hold::Held;
use crate::tool::{path, spot};

/// The directory of a call.
#[derive(Clone, Debug)]
pub struct Site {
    cwd: PathBuf,
    runs_in: PathBuf,
    copy: Option<Copy>,
}

/// The copy that an agent works in.
#[derive(Clone, Debug)]
struct Copy {
    view: View,
    /// The agent's own session, whose results it may read.
    session: Option<PathBuf>,
}

impl Site {
    /// A session's directory itself.
    pub fn at(cwd: &Path) -> Site {
        Site { cwd: cwd.to_owned(), runs_in: cwd.to_owned(), copy: None }
    }

    /// A session's directory, or the copy of it that is held.
    pub fn of(cwd: &Path, held: Option<&Arc<Held>>) -> Site {
        let copy = held.map(|held| Copy { view: held.view(), session: held.session().map(Path::to_owned) });
        Site { cwd: cwd.to_owned(), runs_in: runs_in(cwd, held).to_owned(), copy }
    }

    /// The directory, as the agent sees it.
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// Where its commands begin: the copy itself where they are not held.
    pub fn runs_in(&self) -> &Path {
        &self.runs_in
    }

    /// The copy that is worked in, in the place of the directory; none: it is worked in itself.
    pub fn view(&self) -> Option<&View> {
        self.copy.as_ref().map(|copy| &copy.view)
    }

    /// The path that `written` means, every link resolved that exists, as the agent sees it. Blocking.
    pub fn resolve(&self, written: &str) -> Result<PathBuf, String> {
        let Some(Copy { view, .. }) = &self.copy else { return path::resolve(&self.cwd, written) };
        let mapped = self.mapped(view, written)?;
        mapped.map_err(|refusal| format!("{} {}", path::plain_name(written), refusal.words()))
    }

    /// The same for what is only read: results of the agent's own session can be, too. Blocking.
    pub fn resolve_to_read(&self, written: &str) -> Result<PathBuf, String> {
        if let Some(Copy { view, session: Some(session) }) = &self.copy
            && self.mapped(view, written)? == Err(Refusal::Outside)
        {
            let real = path::real(&path::absolute(&self.cwd, written)?)?;
            if path::real(session).is_ok_and(|session| real.starts_with(session)) {
                return Ok(real);
            }
        }
        self.resolve(written)
    }

    fn mapped(&self, view: &View, written: &str) -> Result<Result<PathBuf, Refusal>, String> {
        let look = |at: &Path| std::fs::read_link(view.copy.join(at)).map_or(Fact::NoLink, Fact::Link);
        let mapped = map(view, &path::absolute(&self.cwd, written)?, look);
        Ok(mapped.map(|mapped| view.seen(&mapped.absolute)))
    }

    /// What `written` names itself, whether or not that is a link: on the disk. Blocking.
    pub fn is_link(&self, written: &str) -> Result<bool, String> {
        let whole = path::absolute(&self.cwd, written)?;
        let (Some(above), Some(name), Some(_)) = (whole.parent(), whole.file_name(), &self.copy) else {
            return Ok(whole.is_symlink());
        };
        let above = above.to_str().ok_or_else(|| format!("{written} is no text"))?;
        Ok(self.disk(&self.resolve(above)?).join(name).is_symlink())
    }

    /// Where a path is that was resolved here.
    pub fn disk(&self, seen: &Path) -> PathBuf {
        match &self.copy {
            Some(Copy { view, .. }) => view.disk(seen),
            None => seen.to_owned(),
        }
    }

    /// The path that an agent sees at a place of the disk.
    pub fn seen(&self, disk: &Path) -> PathBuf {
        match &self.copy {
            Some(Copy { view, .. }) => view.seen(disk),
            None => disk.to_owned(),
        }
    }

    /// How a path is shown.
    pub fn show(&self, seen: &Path) -> String {
        path::show(&self.cwd, seen)
    }

    /// Words in which places of the disk may be named, with the names that the agent sees.
    pub fn say(&self, words: impl std::fmt::Display) -> String {
        let words = words.to_string();
        match &self.copy {
            Some(Copy { view, .. }) => {
                words.replace(&*view.copy.to_string_lossy(), &view.parent.to_string_lossy())
            }
            None => words,
        }
    }

    /// Opens a file of a search for reading. In a copy no link is followed to it.
    pub fn open(&self, disk: &Path) -> io::Result<File> {
        if self.copy.is_some() { spot::open_real(disk) } else { File::open(disk) }
    }
}

/// Where the commands of a session begin that works in `cwd`, or in a copy of it.
pub fn runs_in<'a>(cwd: &'a Path, held: Option<&'a Arc<Held>>) -> &'a Path {
    held.map_or(cwd, |held| held.cwd())
}
