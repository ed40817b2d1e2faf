//! A merge program's merge of one path: asked for by the person, and a proposal.

use super::{Place, Why};
use crate::law::hand_back::tree::TreePath;
use crate::process::answer::Stop;
use crate::workspace::child::look::Looked;
use crate::workspace::merge_program::MergeProgram;

impl Place {
    /// Whether there is a program to ask, and three texts to ask it of.
    pub(super) fn can_propose(&self, sides: [&Looked; 3]) -> bool {
        sides.into_iter().all(Looked::is_text) && MergeProgram::find(&self.path).is_some()
    }

    pub(super) fn propose(&self, child: &str, path: &TreePath, stop: &Stop) -> Result<Option<Vec<u8>>, Why> {
        let sides = self.sides(child, path)?;
        let program = MergeProgram::find(&self.path);
        let program = program.ok_or_else(|| Why("There is no mergiraf on the PATH to ask.".to_owned()))?;
        let texts = [&sides.base.bytes, &sides.parent.bytes, &sides.theirs.bytes];
        let [Some(base), Some(parent), Some(theirs)] = texts else {
            return Err(Why(format!("{path} is not three texts of a size that can be merged.")));
        };
        program.merge(path, [base, parent, theirs], stop).map_err(Why)
    }
}
