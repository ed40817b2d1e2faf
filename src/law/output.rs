//! Law O: bounded output without silent loss.

use serde::{Deserialize, Serialize};

/// Which part of an output is kept when it passes its bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Keep {
    /// Its beginning.
    Head,
    /// Its end.
    Tail,
    /// Half of the bound from each.
    Ends,
}

/// The bound of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputLimits {
    /// Most bytes kept.
    pub bytes: u64,
    /// Most lines kept.
    pub lines: u64,
    /// Which part.
    pub keep: Keep,
}

/// Whether an output is bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Truncation {
    /// At most this much is kept.
    On(OutputLimits),
    /// Everything is kept.
    Off,
}

/// The default bound: the one place that names it.
pub const DEFAULT_LIMITS: OutputLimits = OutputLimits { bytes: 50 * 1024, lines: 2000, keep: Keep::Head };
