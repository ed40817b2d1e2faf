//! The three versions of a path: the base's and the child's as they are kept, the parent's as it is now.

use super::Child;
use super::three;
use crate::law::hand_back::plan::Planned;
use crate::law::hand_back::tree::{Obstacle, Version};
use crate::law::merge::regions::{Three, is_binary};
use crate::workspace::child::error::Error;

/// The versions of a path with their bytes, where they are files.
pub struct Sides {
    /// As the child found it.
    pub base: Side,
    /// As the parent's directory has it now.
    pub parent: Side,
    /// As the child left it.
    pub child: Side,
}

/// One version.
pub struct Side {
    /// What it is.
    pub version: Version,
    /// Its bytes; none for what is no file.
    pub bytes: Option<Vec<u8>>,
}

impl Sides {
    /// Reads them.
    pub fn of(child: &Child, planned: &Planned) -> Result<Sides, Error> {
        let kept = |version: &Version| {
            Ok::<Side, Error>(Side { bytes: child.room.bytes(version)?, version: version.clone() })
        };
        let now = child.room.look(&child.parent, &planned.path, u64::MAX)?;
        let parent = Side { version: now.version, bytes: now.bytes };
        Ok(Sides { base: kept(&planned.base)?, parent, child: kept(&planned.child)? })
    }

    /// What the three are, as they are known again.
    pub fn versions(&self) -> [Version; 3] {
        [&self.base, &self.parent, &self.child].map(|side| side.version.tracked().clone())
    }

    /// Their lines, where all that is there is text: what is absent has none.
    pub fn text(&self) -> Option<Three> {
        let all = [&self.base, &self.parent, &self.child];
        let mut files = 0;
        for side in all {
            match (&side.version, &side.bytes) {
                (Version::File { .. }, Some(bytes)) if !is_binary(bytes) => files += 1,
                (Version::Absent, _) => {}
                (Version::File { .. } | Version::Link { .. } | Version::InTheWay(_), _) => return None,
            }
        }
        let [base, parent, child] = all.map(|side| side.bytes.as_deref().unwrap_or_default());
        (files >= 2).then(|| Three::new(base, parent, child))
    }

    /// For people: what each is, and the lines that differ.
    pub fn shown(&self) -> Vec<u8> {
        let mut text = Vec::new();
        for (name, side) in [("base", &self.base), ("parent", &self.parent), ("child", &self.child)] {
            text.extend(format!("{name:<6}  {}\n", side.words()).into_bytes());
        }
        if let Some(lines) = self.text() {
            three::show(&lines, self.gone(), &mut text);
        }
        text
    }

    /// The side that removed a file that the other has; none: neither did.
    pub fn gone(&self) -> Option<three::Gone> {
        let is = |side: &Side| matches!(side.version, Version::File { .. });
        match (&self.parent.version, &self.child.version) {
            (Version::Absent, _) if is(&self.base) && is(&self.child) => Some(three::Gone::Parents),
            (_, Version::Absent) if is(&self.base) && is(&self.parent) => Some(three::Gone::Childs),
            _ => None,
        }
    }

    /// Whether the owner may run what the three come to: the child's word where it changed that, else the parent's.
    pub fn executable(&self) -> bool {
        let is = |side: &Side| match side.version {
            Version::File { executable, .. } => Some(executable),
            Version::Absent | Version::Link { .. } | Version::InTheWay(_) => None,
        };
        let (base, parent, child) = (is(&self.base), is(&self.parent), is(&self.child));
        let changed = base.is_some() && child.is_some() && base != child;
        (if changed { child } else { parent.or(child) }).unwrap_or(false)
    }
}

impl Side {
    fn words(&self) -> String {
        match &self.version {
            Version::Absent => "nothing".into(),
            Version::File { hash, executable } => {
                let bytes = self.bytes.as_deref().unwrap_or_default();
                let kind = if *executable { "an executable file" } else { "a file" };
                let binary = if is_binary(bytes) { ", binary" } else { "" };
                let hash = hash.to_string();
                format!("{kind} of {} bytes{binary}, {}", bytes.len(), &hash[..12])
            }
            Version::Link { target } => format!("a link to {}", String::from_utf8_lossy(target)),
            Version::InTheWay(Obstacle::Directory) => "a directory".into(),
            Version::InTheWay(Obstacle::Above) => {
                "a file or link is in the place of one of its directories".into()
            }
            Version::InTheWay(Obstacle::Special) => "no file, or one that cannot be read".into(),
        }
    }
}
