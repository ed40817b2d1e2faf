//! The log against a file in memory that is answered for as the engine does.

use proptest::prelude::*;

use super::*;

struct File {
    bytes: Vec<u8>,
    log: Log,
    width: usize,
    height: usize,
    /// Pieces that were asked for.
    asked: usize,
}

impl File {
    fn new(bytes: Vec<u8>, width: usize, height: usize) -> Self {
        let mut file = Self { bytes, log: Log::default(), width, height, asked: 0 };
        file.settle();
        file
    }
    /// What the engine answers.
    fn piece(&self, offset: u64, limit: u64) -> (u64, Vec<u8>) {
        let size = self.bytes.len() as u64;
        let offset = if offset >= size { size.saturating_sub(limit) } else { offset };
        let end = (offset + limit).min(size);
        (offset, self.bytes[offset as usize..end as usize].to_vec())
    }
    /// Draws, and answers until nothing more is wanted.
    fn settle(&mut self) {
        self.rows();
        let size = self.bytes.len() as u64;
        let mut rounds = 0;
        while let Some((offset, limit)) = self.log.want(size) {
            let (offset, bytes) = self.piece(offset, limit);
            self.log.take(offset, bytes, size);
            self.rows();
            (rounds, self.asked) = (rounds + 1, self.asked + 1);
            assert!(rounds < 200, "it asks for ever");
        }
    }
    fn rows(&mut self) -> Vec<String> {
        let mut out = Vec::new();
        self.log.draw(self.width, self.height, |y, _, line, row| {
            assert_eq!(y, out.len());
            out.push(line.row(row).1.to_owned());
        });
        out
    }
    fn shown(&mut self) -> Vec<String> {
        self.settle();
        self.rows()
    }
    /// Every row of the file.
    fn all(&self) -> Vec<String> {
        let mut out = Vec::new();
        for line in self.bytes.split_inclusive(|byte| *byte == b'\n') {
            let text = seen(line).0;
            let rows = wrap(&text, self.width);
            for (index, from) in rows.iter().enumerate() {
                let to = rows.get(index + 1).map_or(text.len(), |to| *to as usize);
                out.push(text[*from as usize..to].to_owned());
            }
        }
        out
    }
}

fn numbered(lines: usize) -> Vec<u8> {
    (0..lines).flat_map(|n| format!("line {n} of them\n").into_bytes()).collect()
}

#[test]
fn a_long_log_opens_at_its_end_and_holds_a_bounded_piece() {
    let mut file = File::new(numbered(500_000), 40, 10);
    assert_eq!(file.shown().last().map(String::as_str), Some("line 499999 of them"));
    assert!(file.log.follows());
    assert!(file.asked <= 3, "{} pieces", file.asked);
    for _ in 0..2000 {
        file.log.halves(-2);
        file.settle();
        assert!(file.log.held.len() < HELD_MAX + PIECE);
    }
    assert_eq!(file.shown()[0], format!("line {} of them", 499_990 - 2000 * 9));
    file.log.begin();
    assert_eq!(file.shown()[0], "line 0 of them");
    assert_eq!(file.log.percent(), 0);
    for _ in 0..3000 {
        file.log.halves(2);
        file.settle();
        assert!(file.log.held.len() < HELD_MAX + PIECE);
    }
    assert_eq!(file.shown()[0], format!("line {} of them", 3000 * 9));
    file.log.follow();
    assert_eq!(file.shown()[9], "line 499999 of them");
}

#[test]
fn scrolling_beyond_what_is_held_goes_on_when_the_piece_comes() {
    let mut file = File::new(numbered(100_000), 40, 10);
    // faster than the pieces come
    for _ in 0..400 {
        file.log.halves(-2);
    }
    file.settle();
    let first = file.shown()[0].clone();
    file.log.scroll(-1);
    assert_ne!(file.shown()[0], first);
    assert!(!file.log.follows());
}

#[test]
fn scrolling_before_the_first_piece_is_there_is_not_lost() {
    let mut file = File { bytes: numbered(1000), log: Log::default(), width: 40, height: 10, asked: 0 };
    for _ in 0..3 {
        file.log.scroll(-1);
    }
    assert_eq!(file.shown()[0], "line 987 of them");
    assert!(!file.log.follows());
}

#[test]
fn it_goes_with_the_end_only_when_it_is_there() {
    let mut file = File::new(numbered(100), 40, 5);
    file.bytes.extend_from_slice(b"more\nand");
    assert_eq!(file.shown()[3..], ["more", "and"]);
    file.bytes.extend_from_slice(b" more\n");
    assert_eq!(file.shown()[3..], ["more", "and more"]);
    file.log.scroll(-3);
    let before = file.shown();
    file.bytes.extend_from_slice(&numbered(50));
    assert_eq!(file.shown(), before);
    file.log.scroll(1000);
    file.settle();
    assert!(file.log.follows());
    // more at once than is asked for
    file.bytes.extend_from_slice(&numbered(60_000));
    assert_eq!(file.shown()[4], "line 59999 of them");
    assert!(file.log.held.len() <= HELD_MAX);
}

#[test]
fn nothing_new_is_not_asked_for_again() {
    let mut file = File::new(numbered(10), 40, 5);
    // the job told more than its file holds
    let size = file.bytes.len() as u64 + 1000;
    let (offset, limit) = file.log.want(size).expect("it told more");
    let (offset, bytes) = file.piece(offset, limit);
    file.log.take(offset, bytes, file.bytes.len() as u64);
    assert_eq!(file.log.want(size), None);
    assert!(file.log.want(size + 1).is_some());
}

#[test]
fn a_place_is_brought_into_sight_wherever_it_is() {
    let mut file = File::new(numbered(300_000), 8, 9);
    for n in [150_000, 0, 299_999, 150_003, 7] {
        let text = format!("line {n} of");
        let at =
            file.bytes.windows(text.len()).position(|found| found == text.as_bytes()).expect("it is there");
        file.log.show(at as u64);
        assert!(file.shown().concat().contains(&text), "{text}");
    }
}

#[test]
fn what_a_program_writes_is_shown_tame() {
    let line = |bytes: &[u8]| File::new(bytes.to_vec(), 60, 5).shown();
    assert_eq!(line(b"10%\r50%\r100%\r\nnext\r\r\n"), ["100%", "next"]);
    assert_eq!(line(b"\x1b[31mred\x1b[m \x1b]0;title\x07plain\n"), ["red plain"]);
    assert_eq!(line(b"a\0b\xff\xfe\x1b[2J\n"), ["a␀b��"]);
    assert_eq!(line("x \u{202e}evil\n".as_bytes()), ["x ⟨U+202E⟩evil"]);
    assert_eq!(line(b""), Vec::<String>::new());
    assert_eq!(line(b"\n\nx"), ["", "", "x"]);
}

#[test]
fn a_line_without_an_end_is_scrolled_too() {
    let mut file = File::new(vec![b'x'; 3_000_000], 100, 20);
    assert_eq!(file.shown().len(), 20);
    for _ in 0..300 {
        file.log.halves(-2);
        file.settle();
    }
    file.log.begin();
    assert_eq!(file.shown(), vec!["x".repeat(100); 20]);
}

#[test]
fn it_is_drawn_at_every_size_and_keeps_its_place() {
    let mut file = File::new(numbered(1000), 40, 10);
    file.log.scroll(-500);
    let first = file.shown()[0].clone();
    for (width, height) in [(1, 1), (0, 0), (3, 2), (200, 60), (7, 10), (40, 10)] {
        (file.width, file.height) = (width, height);
        file.settle();
        assert!(file.rows().len() <= height);
    }
    assert_eq!(file.shown()[0], first);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn scrolling_is_arithmetic_on_the_rows(
        lines in prop::collection::vec("[a-zé日]{0,30}", 0..60), width in 1usize..20, height in 1usize..12,
        moves in prop::collection::vec(-20i64..20, 0..20)
    ) {
        let bytes: Vec<u8> = lines.iter().flat_map(|line| format!("{line}\n").into_bytes()).collect();
        let mut file = File::new(bytes, width, height);
        let all = file.all();
        let last = all.len().saturating_sub(height);
        let mut top = last;
        for by in moves {
            file.log.scroll(by);
            top = (top as i64 + by).clamp(0, last as i64) as usize;
            let wanted = &all[top..all.len().min(top + height)];
            prop_assert_eq!(file.shown(), wanted);
            prop_assert_eq!(file.log.follows(), top == last);
        }
    }
}
