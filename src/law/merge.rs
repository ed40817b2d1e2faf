//! A three-way merge of one text, decided by hand: hunks, what was chosen for each, and the text that comes of it.
//!
//! `regions` says who changed which lines; `resolution` holds the choices and the result; `markers` writes the open
//! hunks for an editor and reads them again; `decision` is what was chosen, told by the lines that it is for; `again` goes
//! on after a version changed or a restart (`written`: what was written by hand and does not fit any more; `back`: its steps), or with
//! a result from elsewhere. Everything is bytes: a line that is not UTF-8 is a line.
//!
//! Not here: what a hand-back does by itself (`law::hand_back`, which never mixes two files), and drawing. Regions on
//! `similar`'s three-way merge; where they differ from those of git is told in `docs/decisions/merge.md`.

pub mod again;
pub mod back;
pub mod decision;
pub mod markers;
pub mod regions;
pub mod resolution;
mod spread;
mod written;

#[cfg(test)]
mod again_tests;
#[cfg(test)]
mod tests;
