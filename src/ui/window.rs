//! The title of the terminal's window: what is done, where, and what waits for the person, so that a tab tells it.
//!
//! It changes with what is done and never by itself: no clock and no spinner is in it. Deliberately not here: keeping the
//! title that was there before (`terminal`), and ringing (`ends`). What else the terminal is told beside a frame goes with it.

use crate::api::board::Phase;
use crate::ui::ends::who;
use crate::ui::glyphs::plain;
use crate::ui::model::Model;
use crate::ui::picture::Told;
use crate::ui::widget::text::{ellipsis, tame};

/// Columns of the title: a tab shows less, and none of it is for reading on.
const COLUMNS_MAX: usize = 80;

/// What the terminal was told.
#[derive(Debug, Default)]
pub struct Window {
    /// Whether it is told titles.
    titles: bool,
    told: Option<String>,
    pictures: Told,
}

impl Window {
    /// One that was told nothing; whether it is told titles.
    pub fn new(titles: bool) -> Self {
        Self { titles, ..Self::default() }
    }
    /// The bytes that go before a frame: its title, and the pictures of the draft.
    pub fn beside(&mut self, model: &Model) -> Vec<u8> {
        let mut out = Vec::new();
        if self.titles {
            out.extend(self.tell(title(model)).into_iter().flatten());
        }
        if model.thumbnails {
            out.extend(self.pictures.tell(&model.composer.draft.pictures()));
        }
        out
    }
    /// The bytes that tell the terminal a title that it does not have.
    pub fn tell(&mut self, title: String) -> Option<Vec<u8>> {
        let new = self.told.as_ref() != Some(&title);
        new.then(|| {
            let bytes = format!("\x1b]2;{title}\x07").into_bytes();
            self.told = Some(title);
            bytes
        })
    }
    /// The terminal may have another one now.
    pub fn forget(&mut self) {
        self.told = None;
        self.pictures.forget();
    }
}

/// The title: what waits for the person, else what is done; then where, and what it is about.
pub fn title(model: &Model) -> String {
    let status = &model.status;
    let place = match status.cwd.file_name() {
        _ if status.cwd.to_string_lossy() == model.home => "~".to_owned(),
        Some(name) => name.to_string_lossy().into_owned(),
        None => status.cwd.display().to_string(),
    };
    let about = status.title.lines().next().unwrap_or_default();
    let about = if about.is_empty() { "windlass" } else { about };
    if model.conflict.alone() {
        return line(&format!("merge · {about}"));
    }
    let state = match (model.approvals.first(), model.jobs.waits()) {
        (Some(asked), _) => format!("? {} · ", who(asked)),
        (None, Some(job)) => format!("? input for {job} · "),
        (None, None) => match status.phase {
            Phase::Idle | Phase::Opening => String::new(),
            Phase::Retrying { .. } => "… trying again · ".to_owned(),
            Phase::Waiting | Phase::Streaming | Phase::Calling | Phase::Compacting | Phase::Stopping => {
                "… ".to_owned()
            }
        },
    };
    line(&format!("{state}{place} · {about}"))
}

fn line(text: &str) -> String {
    plain(&ellipsis(&tame(&text.replace('\n', " ")), COLUMNS_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_told_once_and_again_when_it_may_be_lost() {
        let mut window = Window::default();
        assert_eq!(window.tell("a".to_owned()), Some(b"\x1b]2;a\x07".to_vec()));
        assert_eq!(window.tell("a".to_owned()), None);
        assert!(window.tell("b".to_owned()).is_some());
        window.forget();
        assert!(window.tell("b".to_owned()).is_some());
    }
}
