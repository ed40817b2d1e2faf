//! Cleaning up after the end was recorded: what is left beside the paths goes, unless somebody still wrote into it.

use rustix::fs::AtFlags;
use rustix::io::Errno;

use super::super::error::Error;
use super::{Beside, Ended, Planned, Run};
use crate::law::hand_back::carry::{Found, found};

impl Run<'_> {
    /// Removes what is left of the prepared files. What a program that had a file open wrote after it was exchanged is
    /// kept, and told in the end.
    pub(super) fn clean_up(
        &self,
        planned: &Planned,
        besides: Vec<Beside>,
        mut ended: Ended,
    ) -> Result<(), Error> {
        let steps = self.steps(planned, besides);
        for step in &steps {
            let beside = self.version_beside(step)?;
            let told = ended.displaced.iter().any(|(at, kept)| *at == step.at && *kept == beside);
            if found(&beside, step.parent, step.child) == Found::Other
                && !told
                && let Some(kept) = self.keep_beside(step)?
            {
                ended.displaced.push((step.at, kept));
                self.versions.sync()?;
                self.write("end.json", &ended)?;
            }
            let Ok(dir) = self.parent.dir(step.beside.as_ref()) else { continue };
            match rustix::fs::unlinkat(&dir, &*step.name, AtFlags::empty()) {
                // a directory that somebody made there and that could not be put back stays, under this name
                Ok(()) | Err(Errno::NOENT | Errno::ISDIR) => {}
                Err(error) => return Err(Error::at("remove what is left beside", step.path)(error)),
            }
        }
        self.sync_dirs(steps.iter().map(|step| step.beside.clone()))
    }
}
