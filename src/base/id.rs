//! Ids of sessions, entries and calls. They are minted by the shell and only compared here.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Wraps an id that was minted or read elsewhere.
            pub fn new(text: impl Into<Arc<str>>) -> Self {
                Self(text.into())
            }
            /// The id as written in journals, events and on the screen.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

id!(
    /// A session: a UUID of version 7, minted once.
    SessionId
);
id!(
    /// An entry of a session's journal: `e1`, `e2`, … unique within the session.
    EntryId
);
id!(
    /// A tool call: `c1`, `c2`, … unique within the session. The provider's own id of the call is not this.
    CallId
);

/// A job of a session: `j1`, `j2`, … in the order in which they became jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct JobId(pub u32);

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "j{}", self.0)
    }
}

impl std::str::FromStr for JobId {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        text.strip_prefix('j')
            .filter(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
            .and_then(|digits| digits.parse().ok())
            .map(JobId)
            .ok_or_else(|| format!("`{text}` is no job: jobs are called j1, j2, …"))
    }
}

impl TryFrom<String> for JobId {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<JobId> for String {
    fn from(job: JobId) -> Self {
        job.to_string()
    }
}
