//! Wrapping styled text by display width: at words where it can be, inside them where it must, with a
//! hanging prefix. Each wrap is remembered as soft, so that a copy gives the source's lines.
//!
//! Linear in the text, whatever its line lengths. A cluster is never split.

use super::row::{Look, Role, Row};
use super::text::{Tabs, cluster_width, clusters, width};

/// A piece of a line that has one look.
pub type Piece = (String, Look);

/// How a line may be broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Break {
    /// At spaces and between wide characters; inside a word only when it is longer than a row.
    Words,
    /// Anywhere: every space counts (output).
    Anywhere,
    /// Behind spaces in the later half of a row, else anywhere: every space counts (code).
    Blanks,
}

/// What stands before a line, and before its continuation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prefix {
    /// Before its first row.
    pub first: Vec<Piece>,
    /// Before the rows that continue it.
    pub rest: Vec<Piece>,
}

impl Prefix {
    /// The prefix of the lines after the first: continuation everywhere.
    pub fn hanging(&self) -> Prefix {
        Prefix { first: self.rest.clone(), rest: self.rest.clone() }
    }
}

/// Collects the rows of a block.
pub struct Wrapper {
    columns: usize,
    rows: Vec<Row>,
    at: u32,
    ground: Role,
    tabs: Tabs,
}

/// Where a row may be broken: bytes of its text, and bytes of content up to there.
struct Chance {
    text: usize,
    content: u32,
}

impl Wrapper {
    /// For rows of `columns` (at least one).
    pub fn new(columns: usize) -> Self {
        Self { columns: columns.max(1), rows: Vec::new(), at: 0, ground: Role::Text, tabs: Tabs::new() }
    }
    /// Fills the rows that follow with a ground.
    pub fn ground(&mut self, ground: Role) {
        self.ground = ground;
    }
    /// Tells where the line that is added next has blanks for tabs of its source.
    pub fn tabs(&mut self, tabs: Tabs) {
        self.tabs = tabs;
    }
    /// The columns.
    pub fn columns(&self) -> usize {
        self.columns
    }
    /// The rows.
    pub fn rows(self) -> Vec<Row> {
        self.rows
    }
    /// Adds a line that is not wrapped (a rule, a row of a table), cut at the edge.
    pub fn whole(&mut self, pieces: &[Piece], indent: u32) {
        let mut row = self.row(false);
        row.indent = indent;
        for (text, look) in pieces {
            row.push(text, *look);
        }
        self.at += 1;
        self.rows.push(row);
    }
    fn row(&self, soft: bool) -> Row {
        Row { at: self.at, soft, ground: self.ground, ..Row::default() }
    }
    /// Adds a line.
    pub fn line(&mut self, prefix: &Prefix, pieces: &[Piece], how: Break) {
        let taken = prefix.first.iter().map(|(text, _)| width(text)).sum::<usize>();
        let hang = prefix.rest.iter().map(|(text, _)| width(text)).sum::<usize>();
        if taken.max(hang) + 8 > self.columns && taken.max(hang) * 2 >= self.columns {
            // no room beside the prefix: its marks alone stand before the line, and nothing hangs
            let marks = || prefix.first.iter().filter(|(text, _)| !text.trim().is_empty());
            if marks().map(|(text, _)| width(text)).sum::<usize>() + 2 <= self.columns {
                let marks: Vec<Piece> = marks().cloned().collect();
                Filler::begin(self, &marks, &[]).fill(pieces, how);
            } else {
                let all: Vec<Piece> = marks().chain(pieces).cloned().collect();
                Filler::begin(self, &[], &[]).fill(&all, how);
            }
        } else {
            Filler::begin(self, &prefix.first, &prefix.rest).fill(pieces, how);
        }
    }
}

/// One line being filled into rows.
struct Filler<'a> {
    out: &'a mut Wrapper,
    rest: &'a [Piece],
    row: Row,
    used: usize,
    /// Bytes of content that the line has had so far.
    content: u32,
    chance: Option<Chance>,
    base: u32,
}

impl<'a> Filler<'a> {
    fn begin(out: &'a mut Wrapper, first: &[Piece], rest: &'a [Piece]) -> Self {
        let row = Row { tabs: std::mem::take(&mut out.tabs), ..out.row(false) };
        let base = out.at;
        let mut filler = Self { out, rest, row, used: 0, content: 0, chance: None, base };
        filler.prefix(first);
        filler
    }
    fn prefix(&mut self, pieces: &[Piece]) {
        for (text, look) in pieces {
            self.row.push(text, *look);
            self.used += width(text);
        }
        self.row.indent = self.row.text.len() as u32;
    }
    fn fill(mut self, pieces: &[Piece], how: Break) {
        for (text, look) in pieces {
            for cluster in clusters(text) {
                self.cluster(cluster, *look, how);
                self.content += cluster.len() as u32;
            }
        }
        self.out.at = self.base + self.content + 1;
        let end = self.row.at + self.row.content().len() as u32;
        self.row.blanks = (self.base + self.content).saturating_sub(end);
        self.out.rows.push(self.row);
    }
    fn cluster(&mut self, cluster: &str, look: Look, how: Break) {
        let wide = cluster_width(cluster);
        let columns = self.out.columns;
        let space = how == Break::Words && cluster == " ";
        let begun = |row: &Row| row.text.len() > row.indent as usize;
        // what was carried over may fill the next row too, where the prefix that hangs is the wider one
        while self.used + wide > columns && wide > 0 && begun(&self.row) {
            if space {
                // the space itself is the break: the next word begins a row
                let content = self.content + cluster.len() as u32;
                self.chance = Some(Chance { text: self.row.text.len(), content });
                return;
            }
            self.turn(if wide < 2 { how } else { Break::Anywhere });
        }
        let at_start = self.row.text.len() == self.row.indent as usize;
        if space && at_start && self.row.soft {
            self.row.at += 1;
            return;
        }
        if at_start && self.used + wide > columns {
            self.row.push("▯", look);
            self.used += 1;
        } else {
            self.row.push(cluster, look);
            self.used += wide;
        }
        let blank = how == Break::Blanks && cluster == " ";
        if blank || how == Break::Words && (space || wide >= 2) {
            let content = self.content + cluster.len() as u32;
            self.chance = Some(Chance { text: self.row.text.len(), content });
        }
    }
    /// Ends the row and begins the next one, with what stands after the last chance to break.
    fn turn(&mut self, how: Break) {
        let indent = self.row.indent as usize;
        let chance = self.chance.take().filter(|chance| match how {
            Break::Words => chance.text > indent,
            Break::Blanks => chance.text > indent + (self.row.text.len() - indent) / 2,
            Break::Anywhere => false,
        });
        let mut carried = Vec::new();
        let mut content = self.content;
        if let Some(chance) = chance {
            let mut from = 0;
            for (piece, look) in self.row.pieces() {
                let end = from + piece.len();
                if end > chance.text {
                    carried.push((piece[chance.text.saturating_sub(from)..].to_owned(), look));
                }
                from = end;
            }
            self.row.truncate(chance.text);
            content = chance.content;
        }
        if how == Break::Words {
            let end = self.row.text.trim_end_matches(' ').len().max(self.row.indent as usize);
            self.row.truncate(end);
        }
        let mut next = self.out.row(true);
        next.at = (self.base + content).max(self.row.at + 1);
        self.out.rows.push(std::mem::replace(&mut self.row, next));
        self.used = 0;
        self.prefix(self.rest);
        for (text, look) in &carried {
            self.row.push(text, *look);
            self.used += width(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn wrap(text: &str, columns: usize, how: Break) -> Vec<Row> {
        let mut wrapper = Wrapper::new(columns);
        wrapper.line(&Prefix::default(), &[(text.to_owned(), Look::default())], how);
        wrapper.rows()
    }
    fn texts(rows: &[Row]) -> Vec<&str> {
        rows.iter().map(|row| row.text.as_str()).collect()
    }

    #[test]
    fn words_stay_whole_where_they_can() {
        assert_eq!(texts(&wrap("the quick brown fox", 10, Break::Words)), ["the quick", "brown fox"]);
        assert_eq!(texts(&wrap("abcdefghij klm", 4, Break::Words)), ["abcd", "efgh", "ij", "klm"]);
        assert_eq!(texts(&wrap("日本語 text", 5, Break::Words)), ["日本", "語", "text"]);
        assert_eq!(texts(&wrap("a  b", 2, Break::Anywhere)), ["a ", " b"]);
        assert_eq!(texts(&wrap("  let it = go;", 11, Break::Blanks)), ["  let it = ", "go;"]);
        assert_eq!(texts(&wrap("a longer_than_a_row", 10, Break::Blanks)), ["a longer_t", "han_a_row"]);
        assert_eq!(texts(&wrap("日a", 1, Break::Words)), ["▯", "a"]);
        assert_eq!(texts(&wrap("exactly ten", 7, Break::Words)), ["exactly", "ten"]);
    }

    #[test]
    fn a_prefix_hangs_and_a_narrow_screen_drops_the_hanging() {
        let prefix = Prefix {
            first: vec![("12. ".into(), Role::Accent.into())],
            rest: vec![("    ".into(), Role::Text.into())],
        };
        let mut wrapper = Wrapper::new(14);
        wrapper.line(&prefix, &[("one two three".into(), Look::default())], Break::Words);
        assert_eq!(texts(&wrapper.rows()), ["12. one two", "    three"]);
        let hang = Prefix { first: Vec::new(), rest: vec![("  ".into(), Role::Text.into())] };
        let mut wrapper = Wrapper::new(5);
        wrapper.line(&hang, &[("a four|x".into(), Look::default())], Break::Words);
        assert_eq!(texts(&wrapper.rows()), ["a", "  fou", "  r|x"]);
        let mut wrapper = Wrapper::new(4);
        wrapper.line(&prefix, &[("one".into(), Look::default())], Break::Words);
        assert_eq!(texts(&wrapper.rows()), ["12.", "one"]);
    }

    #[test]
    fn a_line_of_123_427_characters_is_nothing_special() {
        for text in ["x".repeat(123_427), "ab ".repeat(41_142)] {
            let rows = wrap(&text, 80, Break::Words);
            assert!(rows.len() >= 123_426 / 81);
            let seen: String = rows.iter().map(|row| row.text.replace(' ', "")).collect();
            assert_eq!(seen, text.replace(' ', ""));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn every_row_fits_and_nothing_is_lost(
            text in "([a-z]{1,12}|日本|👩\u{200d}👧|e\u{301}| ){0,40}", columns in 2usize..40, how in 0..3
        ) {
            let how = [Break::Anywhere, Break::Blanks, Break::Words][how as usize];
            let rows = wrap(&text, columns, how);
            for row in &rows {
                prop_assert!(width(&row.text) <= columns, "{:?}", row.text);
            }
            prop_assert!(rows.windows(2).all(|pair| pair[0].at < pair[1].at));
            let seen: String = rows.iter().map(|row| row.text.as_str()).collect();
            if how != Break::Words {
                prop_assert_eq!(seen, text);
            } else {
                prop_assert_eq!(seen.replace(' ', ""), text.replace(' ', ""));
            }
        }
    }
}
