//! Draws the transcript of an agent: a head that says how it stands, what it said and did, and the keys.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::State;
use crate::api::agent::{AgentRow, AgentState};
use crate::base::Millis;
use crate::ui::action::Action;
use crate::ui::chrome;
use crate::ui::model::Model;
use crate::ui::pane::live::spinner;
use crate::ui::pane::{agents, conversation};
use crate::ui::theme::Theme;
use crate::ui::widget::row::{Look, Role, put};
use crate::ui::widget::text::{ellipsis, tame, width};
use crate::ui::widget::wrap::{Break, Prefix, Wrapper};

/// Columns that the words of the state keep where there are others to give way.
const STATE_COLUMNS: usize = 20;

/// Draws the view over the whole screen.
pub fn view(model: &mut Model, buf: &mut Buffer, theme: &Theme, now: Millis) {
    let Some(mut state) = model.agent_view.take() else { return };
    let area = buf.area;
    let (head_rows, keys_rows) = (u16::from(area.height >= 2), u16::from(area.height >= 4));
    state.area = Rect { y: area.y + head_rows, height: area.height - head_rows - keys_rows, ..area };
    let row = model.agents.get(&state.path);
    if state.has_record() {
        conversation::view(&mut state.conversation, state.area, buf, theme, now);
        let right = Rect { x: state.area.right().saturating_sub(1), width: 1, ..state.area };
        state.conversation.bar(right, buf, theme);
    } else if !state.area.is_empty() {
        nothing(&state, row, buf, theme);
    }
    if keys_rows > 0 {
        let place = Rect { y: area.bottom() - 1, height: 1, ..area };
        keys(model, &state, row, place, buf, theme, now);
    }
    if head_rows > 0 {
        head(model, &state, row, Rect { height: 1, ..area }, buf, theme, now);
    }
    model.agent_view = Some(state);
}

/// What stands where its conversation is not here.
fn nothing(state: &State, row: Option<&AgentRow>, buf: &mut Buffer, theme: &Theme) {
    let (place, wide) = (state.area, usize::from(state.area.width));
    let (words, role) = match (row.map(|row| &row.state), &state.why_not) {
        (Some(AgentState::Waiting { .. } | AgentState::Preparing { .. }), _) => {
            ("It has not begun yet.".to_owned(), Role::Dim)
        }
        (_, Some(why)) => (format!("What it said cannot be shown: {why}"), Role::Warning),
        (_, None) => ("Looking for what it said…".to_owned(), Role::Dim),
    };
    let mut rows = Wrapper::new(wide.max(1));
    rows.line(&Prefix::default(), &[(tame(&words).into_owned(), role.into())], Break::Words);
    let ink = Look::from(role).style(theme);
    for (y, row) in (place.y..place.bottom()).zip(rows.rows()) {
        put(buf, place.x, y, &row.text, wide, ink);
    }
}

/// The head: which agent, how it stands, how dear it was.
fn head(
    model: &Model,
    state: &State,
    row: Option<&AgentRow>,
    place: Rect,
    buf: &mut Buffer,
    theme: &Theme,
    now: Millis,
) {
    let wide = usize::from(place.width);
    buf.set_style(place, theme.title);
    let on_title = |style: Style| Style { bg: theme.title.bg, ..style };
    let left = |x: u16| usize::from(place.right().saturating_sub(x));
    let name = format!(" {} ", tame(&state.path));
    let mut x = place.x + put(buf, place.x, place.y, &ellipsis(&name, wide), wide, theme.title) as u16;
    let Some(row) = row else {
        put(buf, x, place.y, "is off the list", left(x), theme.title);
        return;
    };
    let open = agents::open(&state.path, row, model.status.conflicted());
    let (mark, role) = agents::mark(row, spinner(now, model.reduced_motion), open);
    x += put(buf, x, place.y, mark, left(x), on_title(Look::from(role).style(theme))) as u16;
    x = (x + 1).min(place.right());
    let tokens = agents::tokens(row);
    let tokens = if tokens.is_empty() { tokens } else { format!("{tokens} tokens") };
    let model_name = tame(row.node.model.as_deref().unwrap_or_default()).into_owned();
    // what gives way first has the highest number
    let mut facts = vec![
        (row.node.workspace.word().to_owned(), 2),
        (agents::held(row).to_owned(), u8::from(!agents::is_less_held(row))),
        (agents::calls(row.calls), 3),
        (tokens, 4),
        (model_name, 5),
        (agents::time(row, now), 1),
    ];
    facts.retain(|(text, _)| !text.is_empty());
    let says = agents::says(row, agents::own_open(&state.path, row, model.status.conflicted()));
    let keeps = width(&says).min(STATE_COLUMNS) + 3;
    let joined =
        |facts: &[(String, u8)]| facts.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join(" · ");
    while !facts.is_empty() && width(&joined(&facts)) + keeps > left(x) {
        let most = facts.iter().map(|(_, gives_way)| *gives_way).max();
        facts.retain(|(_, gives_way)| Some(*gives_way) != most);
    }
    let right = joined(&facts);
    let long = width(&right) + 1;
    let room = left(x).saturating_sub(if right.is_empty() { 0 } else { long + 1 });
    put(buf, x, place.y, &ellipsis(&says, room), room, theme.title);
    if !right.is_empty() && left(x) >= long {
        put(buf, place.right() - long as u16, place.y, &right, long, theme.title);
    }
}

/// The keys that matter now; a word to the person stands in their place.
fn keys(
    model: &Model,
    state: &State,
    row: Option<&AgentRow>,
    place: Rect,
    buf: &mut Buffer,
    theme: &Theme,
    now: Millis,
) {
    if chrome::word(model, place, buf, theme, now) {
        return;
    }
    if state.conversation.picks() {
        let hints = crate::ui::select_update::hints(state.conversation.marks());
        return chrome::pairs(&model.keymap, &hints, place, buf, theme);
    }
    let approvals = model.approvals.len();
    let mut hints = Vec::new();
    let mut rest = place;
    if approvals > 0 {
        let words = format!(" ? {approvals} waiting for your answer ·");
        let style = Style { bg: theme.status.bg, ..theme.warning };
        buf.set_style(place, theme.status);
        let x = place.x + put(buf, place.x, place.y, &words, usize::from(place.width), style) as u16;
        rest = Rect { x, width: place.right() - x, ..place };
        hints.push((Action::AnswerApproval, "answer"));
    }
    hints.push((Action::TranscriptLeave, "back"));
    hints.extend(row.map(|_| (Action::TranscriptMessage, "write to it")));
    hints.extend(row.filter(|row| row.runs()).map(|_| (Action::TranscriptStop, "stop")));
    if row.and_then(AgentRow::end).is_some_and(|end| end.hand_back.is_some()) {
        hints.push((Action::TranscriptHandBack, "hand-back"));
    }
    if state.finds {
        hints.extend([(Action::FindNext, "next"), (Action::FindPrevious, "before")]);
    }
    hints.extend([(Action::Next, "next"), (Action::Toggle, "open")]);
    if !state.finds {
        hints.push((Action::Find, "search"));
    }
    hints.extend([(Action::Copy, "copy"), (Action::TranscriptKeys, "keys")]);
    chrome::pairs(&model.keymap, &hints, rest, buf, theme);
}
