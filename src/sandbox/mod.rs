//! One file for each confinement profile.
