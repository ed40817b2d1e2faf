//! Where everything stands. Pure; correct from 1×1 up.
//!
//! Wide (from 110 columns): conversation left, what runs right, the jobs and the agents below it. Medium (from 70):
//! frames, what runs is one line, and jobs and agents open over the conversation. Narrow: the same without frames. The
//! composer comes first when there is little room.

use ratatui::layout::Rect;

/// Columns from which there is a right column.
pub const WIDE: u16 = 110;
/// Columns from which there are frames.
pub const MEDIUM: u16 = 70;

/// Where everything stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// The title line; empty when there is no room.
    pub title: Rect,
    /// The conversation's content.
    pub conversation: Rect,
    /// The frame around it; its last row is the composer's first.
    pub conversation_frame: Option<Rect>,
    /// What runs: the pane's content.
    pub live: Option<Rect>,
    /// The frame around it.
    pub live_frame: Option<Rect>,
    /// The jobs: the pane's content, in the right column or over the conversation.
    pub jobs: Option<Rect>,
    /// The frame around it in the right column; its first row is the last of the one above.
    pub jobs_frame: Option<Rect>,
    /// The agents: the pane's content, in the right column or over the conversation.
    pub agents: Option<Rect>,
    /// The frame around it in the right column; its first row is the last of the one above.
    pub agents_frame: Option<Rect>,
    /// Lines over the composer: what runs, and what waits.
    pub strips: Option<Rect>,
    /// The line between conversation and composer where there are no frames.
    pub rule: Option<Rect>,
    /// The composer's content.
    pub composer: Rect,
    /// The frame around it.
    pub composer_frame: Option<Rect>,
    /// The status line; empty when there is no room.
    pub status: Rect,
}

/// What stands inside a frame.
pub fn shrink(rect: Rect) -> Rect {
    Rect {
        x: rect.x + 1.min(rect.width),
        y: rect.y + 1.min(rect.height),
        width: rect.width.saturating_sub(2),
        height: rect.height.saturating_sub(2),
    }
}

/// The line on top, what is between, and the line at the bottom; where there is little room, the lines are empty.
pub fn bars(area: Rect) -> (Rect, Rect, Rect) {
    let (mut top, mut rest) = (Rect { height: 0, ..area }, area);
    let mut bottom = Rect { height: 0, y: area.bottom(), ..area };
    if rest.height >= 4 {
        bottom = Rect { y: rest.bottom() - 1, height: 1, ..rest };
        rest.height -= 1;
    }
    if rest.height >= 5 {
        top = Rect { height: 1, ..rest };
        rest = Rect { y: rest.y + 1, height: rest.height - 1, ..rest };
    }
    (top, rest, bottom)
}

/// Rows that the lists of the right column would like to have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Column {
    /// The jobs.
    pub jobs: u16,
    /// The agents.
    pub agents: u16,
}

/// The list that is looked at; where there is no right column it stands over the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looked {
    /// None.
    Nowhere,
    /// The jobs.
    Jobs,
    /// The agents.
    Agents,
}

/// Places everything; `rows`: what the draft wants, `strips`: lines over the composer, `column`: what the lists of the
/// right column want, if there may be one, `looked`: the list that is looked at.
pub fn layout(area: Rect, rows: u16, strips: u16, column: Option<Column>, looked: Looked) -> Layout {
    let (title, mut rest, status) = bars(area);
    let mut out = Layout { title, status, ..Layout::default() };
    let framed = area.width >= MEDIUM && rest.height >= 8;
    if let (true, Some(wants)) = (framed && area.width >= WIDE, column) {
        let width = (rest.width * 3 / 10).clamp(32, 60);
        let frame = Rect { x: rest.right() - width, width, ..rest };
        // what runs now comes and goes: the line between does not move with it
        let upper = Rect { height: (frame.height * 2 / 5).max(3), ..frame };
        let lower = Rect { y: upper.bottom() - 1, height: frame.height + 1 - upper.height, ..frame };
        let last = agents_height(lower.height, wants);
        let middle = Rect { height: lower.height + 1 - last, ..lower };
        let last = Rect { y: middle.bottom() - 1, height: last, ..frame };
        (out.live_frame, out.live) = (Some(upper), Some(inside(upper)));
        (out.jobs_frame, out.jobs) = (Some(middle), Some(inside(middle)));
        (out.agents_frame, out.agents) = (Some(last), Some(inside(last)));
        rest.width -= width;
    }
    if framed {
        one_frame(&mut out, rest, rows, strips)
    } else {
        no_frame(&mut out, rest, rows, strips)
    }
    match looked {
        Looked::Jobs if out.jobs.is_none() => out.jobs = Some(out.conversation),
        Looked::Agents if out.agents.is_none() => out.agents = Some(out.conversation),
        Looked::Jobs | Looked::Agents | Looked::Nowhere => {}
    }
    out
}

/// Rows of the agents' frame, of what is left for jobs and agents, which share a line: what they want, up to half of
/// it or what the jobs do not need.
fn agents_height(rows: u16, wants: Column) -> u16 {
    let spare = (rows + 1).saturating_sub(wants.jobs.saturating_add(2));
    let most = (rows / 2).max(spare).min(rows.saturating_sub(2));
    wants.agents.saturating_add(2).min(most).max(3)
}

/// What stands inside a frame, with a blank column on each side.
fn inside(frame: Rect) -> Rect {
    let inner = shrink(frame);
    Rect { x: inner.x + 1.min(inner.width), width: inner.width.saturating_sub(2), ..inner }
}

/// Conversation and composer in one frame, a line between them that both have.
fn one_frame(out: &mut Layout, rest: Rect, rows: u16, strips: u16) {
    let room = rest.height - 3;
    let rows = rows.clamp(1, room - 1);
    let strips = strips.min(room - rows - 1);
    let height = rows + strips + 2;
    let below = Rect { y: rest.bottom() - height, height, ..rest };
    let above = Rect { height: rest.height - height + 1, ..rest };
    (out.conversation_frame, out.composer_frame) = (Some(above), Some(below));
    out.conversation = inside(above);
    let inner = inside(below);
    if strips > 0 {
        out.strips = Some(Rect { height: strips, ..inner });
    }
    // one column more: the cursor may stand behind the last letter
    out.composer = Rect { y: inner.y + strips, height: rows, width: inner.width + 1, ..inner };
}

fn no_frame(out: &mut Layout, mut rest: Rect, rows: u16, strips: u16) {
    let height = rows.clamp(1, rest.height.max(1)).min(rest.height);
    out.composer = Rect { y: rest.bottom() - height, height, ..rest };
    rest.height -= height;
    let strips = strips.min(rest.height.saturating_sub(3));
    if strips > 0 {
        rest.height -= strips;
        out.strips = Some(Rect { y: rest.bottom(), height: strips, ..rest });
    }
    if rest.height >= 4 {
        rest.height -= 1;
        out.rule = Some(Rect { y: rest.bottom(), height: 1, ..rest });
    }
    out.conversation = rest;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_stands_inside_at_every_size() {
        for width in 0..130 {
            for height in 0..50 {
                for rows in [1, 5, 40] {
                    for strips in [0, 2] {
                        let area = Rect::new(0, 0, width, height);
                        let wants = Column { jobs: strips * 9, agents: rows };
                        let l = layout(area, rows, strips, Some(wants), Looked::Agents);
                        let all = [
                            Some(l.title),
                            Some(l.conversation),
                            l.live,
                            l.live_frame,
                            l.jobs,
                            l.jobs_frame,
                            l.agents,
                            l.agents_frame,
                            l.strips,
                            l.rule,
                            Some(l.composer),
                            Some(l.status),
                            l.conversation_frame,
                            l.composer_frame,
                        ];
                        for rect in all.into_iter().flatten() {
                            assert_eq!(
                                rect.intersection(area).area(),
                                rect.area(),
                                "{width}x{height}: {rect:?}"
                            );
                            assert!(rect.right() <= width && rect.bottom() <= height);
                        }
                        if width > 0 && height > 0 {
                            assert!(l.composer.height > 0, "{width}x{height}: a person can always type");
                        }
                    }
                }
            }
        }
    }
}
