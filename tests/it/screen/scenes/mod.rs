//! Every pane and every overlay in a state that it is in with people, each listed once: `matrix` keeps how they look,
//! draws them at every size, and demands a scene of each kind of thing there is; `random` begins with any of them.

mod beside;
mod over;
mod talk;

use super::Screen;

/// A name, and how a screen of a size comes into that state.
pub type Scene = (&'static str, fn(u16, u16) -> Screen);

/// All of them.
pub fn all() -> impl Iterator<Item = &'static Scene> {
    talk::SCENES.iter().chain(beside::SCENES).chain(over::SCENES)
}

/// So many there are.
pub fn count() -> usize {
    talk::SCENES.len() + beside::SCENES.len() + over::SCENES.len()
}

/// Something that takes keys now: it was drawn and seen.
fn seen(mut screen: Screen) -> Screen {
    screen.draw();
    screen.tell(windlass::ui::Msg::Flushed);
    screen.now += 500;
    screen
}

/// After these keys.
fn after(mut screen: Screen, keys: &str) -> Screen {
    screen.draw();
    screen.keys(keys);
    screen
}
