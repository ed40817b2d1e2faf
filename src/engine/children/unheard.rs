//! Ends that the session of an agent cannot hear, for it is closed: they are written to its journal.
//!
//! It was cut together with its own agents and is ended without being opened, or it closed while one of them ended. One
//! at a time, and none while a session is being opened.

use crate::base::chain;
use crate::engine::spawn;
use crate::store;

use super::crew::{Crew, Inner, News};

impl Crew {
    /// Sees to it that what nobody has heard is written.
    pub(super) fn write_unheard(&self, inner: &mut Inner) {
        for path in inner.unheard.keys().cloned().collect::<Vec<_>>() {
            let (crew, leaving_waits) = (self.clone(), inner.beside(self));
            spawn::task(async move {
                crew.hear(&path).await;
                drop(leaving_waits);
            });
        }
    }

    /// Writes what the agent's session has not heard; nothing is left of it then.
    pub(super) async fn hear(&self, path: &str) {
        let _one = self.journals.lock().await;
        let (ends, at) = {
            let mut inner = self.inner();
            let Some(ends) = inner.unheard.remove(path) else { return };
            if inner.has_seat(path) {
                for end in ends {
                    inner.tell(Some(path.to_owned()), News::Ended(Box::new(end)));
                }
                return;
            }
            let at = inner
                .agents
                .get(path)
                .map(|agent| (agent.options.dirs.clone(), agent.row.node.session.clone()));
            (ends, at)
        };
        let Some((dirs, session)) = at else { return };
        let names: Vec<String> = ends.iter().map(|end| end.node.name.clone()).collect();
        if let Err(error) =
            spawn::off_the_loop(move || store::session::tell_ends(&dirs, &session, &ends)).await
        {
            let names = names.join(", ");
            tracing::warn!("that {names} ended is not in the journal of {path}: {}", chain(&error));
        }
    }
}
