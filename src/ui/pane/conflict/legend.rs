//! What the marks and letters in the list of paths mean: on the page of keys, and below the list where that has room.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::ui::theme::Theme;
use crate::ui::widget::row::put;
use crate::ui::widget::text::ellipsis;

/// Each mark and letter, shortly, and at length.
pub const LEGEND: [(char, &str, &str); 18] = [
    ('⚑', "open", "a conflict that waits for you"),
    ('◆', "resolved", "a conflict that you resolved"),
    ('✓', "taken", "it was brought over"),
    ('↶', "put back", "it was taken, and you put it back as it was"),
    ('≠', "changed since", "a conflict whose file was changed outside since: say here how it stands"),
    ('=', "the same", "both made the same change"),
    ('T', "taken", "only the child changed it, and it was brought over"),
    ('S', "the same", "both made this change"),
    ('C', "both changed it", "both changed its content, differently"),
    ('X', "executable", "one made it executable, the other did not"),
    ('L', "links differ", "both changed where the link leads"),
    ('K', "file or link", "a file for one, a link for the other"),
    ('R', "removed by one", "one removed it, the other changed it"),
    ('D', "in the way", "something else stands in its place, or in that of one of its directories"),
    ('!', "not possible", "it could not be put in place: the path says why"),
    ('–', "not brought", "it is still in the copy: left out by the ignore rules, or no file"),
    ('…', "not written", "what you chose for it is kept, and not written yet"),
    ('←', "was called", "the child gave it another name (→: what it is called now)"),
];

/// What a mark or letter means, shortly.
pub(super) fn word(letter: char) -> &'static str {
    LEGEND.iter().find(|(known, ..)| *known == letter).map_or("", |(_, short, _)| short)
}

/// Draws what these letters mean, a row each, at the end of a place that has room for all below `used` rows.
pub(super) fn draw(letters: &[char], used: usize, place: Rect, buf: &mut Buffer, theme: &Theme) {
    let known: Vec<_> = LEGEND.iter().filter(|(mark, ..)| letters.contains(mark)).collect();
    let (rows, wide) = (known.len(), usize::from(place.width));
    if rows == 0 || used + 1 + rows > usize::from(place.height) {
        return;
    }
    for (n, (mark, short, _)) in known.iter().enumerate() {
        let y = place.bottom() - (rows - n) as u16;
        let text = format!("{mark} {short}");
        put(buf, place.x, y, &ellipsis(&text, wide), wide, theme.text.patch(theme.dim));
    }
}
