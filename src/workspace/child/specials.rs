//! What is no file and no link in a directory that git lists: git passes sockets, devices and FIFOs by in silence, and who
//! asks for a copy is told what is not in it.
//!
//! What the ignore rules leave out is nobody's loss, and not told. Without git the walk finds them by itself.

use std::mem::MaybeUninit;
use std::path::Path;
use std::sync::atomic::Ordering;

use rustix::fs::FileType;

use super::Progress;
use super::beneath::Beneath;
use super::error::Error;
use super::listing::{FILES_MAX, Listing};
use super::marks::joined;
use super::rules::Rules;
use super::run::is_prepared;
use super::scan::{LIST_BYTES, list};
use crate::law::hand_back::tree::TreePath;

/// Finds them in `parent`, in order. `base` and `kept`: where its ignore rules are.
pub fn specials(
    parent: &Path,
    listing: &Listing,
    (base, kept): (&Path, &Path),
    progress: &Progress,
) -> Result<Vec<TreePath>, Error> {
    let beneath = Beneath::open(parent).map_err(Error::io("open", parent))?;
    let mut rules = Rules::new(base, &listing.repositories, kept);
    let (mut found, mut buffer) = (Vec::new(), vec![MaybeUninit::uninit(); LIST_BYTES]);
    let (mut ahead, mut looked) = (vec![None], 0);
    while let Some(dir) = ahead.pop() {
        looked += 1;
        if looked > FILES_MAX || progress.cancel.load(Ordering::Relaxed) {
            break;
        }
        // gone meanwhile, or closed to us: what is listed of it is told by the copying
        let Ok(open) = beneath.dir(dir.as_ref()) else { continue };
        let _ = list(&open, &mut buffer, |name, kind| {
            if matches!(kind, FileType::RegularFile | FileType::Symlink) || is_prepared(name) {
                return;
            }
            // `.git` is no path
            let Some(path) = TreePath::new(joined(dir.as_ref(), name)) else { return };
            let is_dir = kind == FileType::Directory;
            if listing.own.contains(&path) || rules.ignores(&path, is_dir) {
                return;
            }
            if is_dir { ahead.push(Some(path)) } else { found.push(path) }
        });
    }
    found.sort();
    Ok(found)
}
