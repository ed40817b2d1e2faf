//! The palette: every command by name with its keys, the person's own too. What does something here comes first, then
//! what only moves, then what belongs to another pane: taking one of those leads there, and does nothing to what happens
//! to be selected.

use super::list::{Kind, Pick, Row, State};
use crate::api::access::Mode;
use crate::api::event::CustomCommand;
use crate::ui::action::{ACTIONS, Action, LAYERS, Layer};
use crate::ui::keymap::Keymap;
use crate::ui::overlay::catalog::mode_says;
use crate::ui::pane::composer::slash;

/// Actions that a `/` command does too, with its name.
const ALSO: [(Action, &str); 12] = [
    (Action::Help, "help"),
    (Action::Models, "model"),
    (Action::Thinking, "thinking"),
    (Action::Context, "context"),
    (Action::Sessions, "sessions"),
    (Action::NewSession, "new"),
    (Action::Themes, "theme"),
    (Action::Retry, "retry"),
    (Action::Jobs, "jobs"),
    (Action::Agents, "agents"),
    (Action::Tree, "rewind"),
    (Action::HandBack, "handback"),
];

/// Every command by name. `here`: the layer of where the person is.
pub fn palette(keymap: &Keymap, own: &[CustomCommand], here: Layer) -> State {
    let (mut moves, mut rows) = (Vec::new(), Vec::new());
    for (_, action, _, says) in ACTIONS.iter().filter(|(layer, ..)| *layer == Layer::Global) {
        use Action as A;
        let mut note = keymap.hint(*action);
        if let Some((_, name)) = ALSO.iter().find(|(also, _)| also == action) {
            note.push_str(&format!(" · /{name}"));
        }
        let row = Row::new(*says, note, Pick::Do(*action));
        match action {
            A::Palette | A::Cancel | A::QuitWhenEmpty => {}
            A::PageUp | A::PageDown | A::Top | A::Bottom | A::LineUp | A::LineDown => moves.push(row),
            A::Suspend | A::Redraw | A::Dump => moves.push(row),
            _ => rows.push(row),
        }
    }
    for mode in [Mode::Ask, Mode::Edits, Mode::Auto, Mode::Plan] {
        rows.push(Row::new(format!("Mode: {}", mode_says(mode)), mode.word(), Pick::Mode(mode)));
    }
    rows.extend(slashes());
    for command in own {
        let first = command.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let pick = Pick::Write(format!("/{} ", command.name));
        rows.push(Row::new(format!("Yours: {}", first.trim()), format!("/{}", command.name), pick));
    }
    rows.extend(moves);
    // where the person is first
    let mut layers: Vec<_> = LAYERS.iter().filter(|(layer, ..)| *layer != Layer::Global).collect();
    layers.sort_by_key(|(layer, ..)| *layer != here);
    for (layer, _, title) in layers {
        rows.extend(of_layer(keymap, *layer, title, here));
    }
    State::new(Kind::Palette, "Commands", rows)
}

/// The `/` commands that no action does.
fn slashes() -> impl Iterator<Item = Row> {
    let known = |name: &str| name == "clear" || ALSO.iter().any(|(_, also)| *also == name);
    slash::COMMANDS.iter().filter(move |(name, ..)| !known(name)).map(|(name, args, says)| {
        let pick = if args.is_empty() || args.starts_with('[') {
            Pick::Slash(name)
        } else {
            Pick::Write(format!("/{name} "))
        };
        let mut chars = says.chars();
        let says: String =
            chars.next().map(|c| c.to_uppercase().collect::<String>() + chars.as_str()).unwrap_or_default();
        Row::new(says, format!("/{name} {args}"), pick)
    })
}

/// What keys do in one layer: each with where that is.
fn of_layer(keymap: &Keymap, layer: Layer, title: &str, here: Layer) -> Vec<Row> {
    let place = title.split(':').next().unwrap_or(title);
    let mut chars = place.chars();
    let place: String =
        chars.next().map(|c| c.to_lowercase().collect::<String>() + chars.as_str()).unwrap_or_default();
    let row = |action: Action, says: &str| {
        let keys = keymap.hints(action).join(", ");
        // an approval is answered by its own keys alone, once it was seen
        let pick =
            if layer == here && layer != Layer::Approval { Pick::Do(action) } else { Pick::There(action) };
        Row::new(says, [keys.as_str(), &place].join(if keys.is_empty() { "" } else { " · " }), pick)
    };
    ACTIONS.iter().filter(|(of, ..)| *of == layer).map(|(_, action, _, says)| row(*action, says)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_and_every_command_is_in_it_once() {
        let own = [CustomCommand { name: "ship".into(), text: "\n Make a release.\nMore".into() }];
        let state = palette(&Keymap::default(), &own, Layer::Jobs);
        let picks: Vec<&Pick> = state.picks().collect();
        let many = |pick: &Pick| picks.iter().filter(|known| ***known == *pick).count();
        for (layer, action, ..) in ACTIONS {
            // they close or leave what is shown, and need no list for it
            let plain = matches!(action, Action::Palette | Action::Cancel | Action::QuitWhenEmpty);
            let there = !matches!(layer, Layer::Global | Layer::Jobs);
            assert_eq!(many(&Pick::Do(*action)), usize::from(!plain && !there), "{action:?}");
            assert_eq!(many(&Pick::There(*action)), usize::from(there), "{action:?}");
        }
        for (name, ..) in slash::COMMANDS {
            let written = Pick::Write(format!("/{name} "));
            let also = *name == "clear" || ALSO.iter().any(|(_, known)| known == name);
            assert_eq!(many(&Pick::Slash(name)) + many(&written), usize::from(!also), "/{name}");
        }
        assert_eq!(many(&Pick::Write("/ship ".into())), 1);
    }
}
