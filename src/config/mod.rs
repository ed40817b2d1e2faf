//! What was written (files, environment, flags) and what it means.
//!
//! In reading order: `settings` (the values and their defaults), `table` (which settings there are),
//! `read` (one file), `load` (all of them put together), `extras` (commands, themes, keymap), `trust`,
//! `keys`, `keep` and `rule` (what is chosen on the screen), `show` (what `windlass config` prints). Nothing here
//! names a provider or a theme: `main` hands them on.

mod edit;
pub mod extras;
pub mod keep;
pub mod keys;
pub mod load;
mod private;
pub mod problem;
pub mod read;
pub mod rule;
pub mod settings;
pub mod show;
pub mod table;
pub mod trust;

pub use load::{Loaded, Origin, Project, Sources, load};
pub use problem::Problem;
pub use settings::{Rules, Settings};
pub use trust::Trust;
