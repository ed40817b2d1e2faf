//! The workspaces of a session's children: which there are, and how each stands.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::Room;
use super::error::Error;
use super::hand_back::Record;
use super::removal::{move_aside, remove_all};
use crate::law::hand_back::rise::name_of;
use crate::law::hand_back::tree::TreePath;
use crate::store;
use crate::store::private;

/// Most workspaces of one name that wait to be dropped.
const ASIDE_MAX: u32 = 1000;

/// How a child's workspace stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// What came of the hand-back; none when there was none yet, or it was cut.
    pub record: Option<Record>,
    /// The conflicts without a resolution, in order.
    pub open: Vec<TreePath>,
    /// Whether a hand-back was begun and not ended: running it again ends it.
    pub cut: bool,
    /// Whether files of the directory may stand beside their places since then.
    pub half: bool,
    /// Why the hand-back failed when it was tried last; none: it did not.
    pub failed: Option<String>,
}

/// The workspaces in the directory of a session (`store::Dirs::workspaces_of`), with the children's names, in order:
/// those that rose from a child's own children too (`lexer/x`). A session without children has none, and needs no
/// directory.
pub fn rooms(of_session: &Path) -> Result<Vec<(String, Room)>, Error> {
    let list = match fs::read_dir(of_session) {
        Ok(list) => list,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io("list", of_session)(error)),
    };
    let mut rooms = Vec::new();
    for item in list {
        let item = item.map_err(Error::io("list", of_session))?;
        let is_dir = item.file_type().is_ok_and(|kind| kind.is_dir());
        // a child's name is text; what has another was not made by us
        if let (true, Ok(name)) = (is_dir, item.file_name().into_string()) {
            rooms.push((name_of(&name), Room::at(item.path())));
        }
    }
    rooms.sort_by(|one, other| one.0.cmp(&other.0));
    Ok(rooms)
}

impl Room {
    /// How it stands now.
    pub fn standing(&self) -> Result<Standing, Error> {
        let record = self.read_record()?;
        let open = record.as_ref().map_or(Ok(Vec::new()), |record| self.open_conflicts(record))?;
        let failed = if record.is_some() { None } else { self.failed() };
        Ok(Standing { record, open, cut: self.is_cut(), half: self.is_half(), failed })
    }

    /// The directory that it is a copy of, as it was named at its birth; none for one that was not made here.
    pub fn parent(&self) -> Result<Option<PathBuf>, Error> {
        match private::read(&self.parent_name()) {
            Ok(bytes) => Ok(Some(PathBuf::from(std::ffi::OsString::from_vec(bytes)))),
            Err(store::Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes down which directory it is a copy of.
    pub(super) fn name_parent(&self, parent: &Path) -> Result<(), Error> {
        let whole = fs::canonicalize(parent).map_err(Error::io("open", parent))?;
        Ok(private::replace(&self.parent_name(), OsStr::as_bytes(whole.as_os_str()))?)
    }

    /// Gives its name away, so that another can have it at once; where it is now, to be dropped. Quick, whatever its size.
    pub fn set_aside(&self) -> Result<Room, Error> {
        let name = self.dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // no child's name has two dots in it; one that has is aside already
        if name.contains("..") {
            return Ok(self.clone());
        }
        let mut places = (0..ASIDE_MAX).map(|n| self.dir.with_file_name(format!("{name}..{n}")));
        let place =
            places.find(|place| place.symlink_metadata().is_err()).unwrap_or_else(|| self.dir.clone());
        move_aside(&self.dir, &place)?;
        Ok(Room::at(place))
    }

    /// Drops the workspace: copy, versions, records. Nothing of it can be had back.
    pub fn drop_all(&self) -> Result<(), Error> {
        let _held = self.lock()?;
        remove_all(&self.dir)
    }
}
