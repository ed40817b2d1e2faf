//! Server-sent events from bytes, cut anywhere.
//!
//! Pure, and linear in the bytes. Lines end with CRLF, LF or CR; a byte order mark at the start, comments,
//! `id` and `retry` are passed by; an event that the stream's end cuts off is none. Not here: reconnecting,
//! which would send a request twice.

/// Most bytes of one event.
pub const EVENT_MAX: usize = 32 << 20;

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SseEvent<'a> {
    /// Its `event` field; empty when there was none.
    pub name: &'a str,
    /// Its data lines, joined by LF. What is not UTF-8 is replaced.
    pub data: &'a str,
}

/// An event passed the bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream is longer than {max} bytes")]
pub struct TooLong {
    /// The bound.
    pub max: usize,
}

/// The parser's place in the stream.
#[derive(Debug)]
pub struct Sse {
    /// The part of a line that came so far, when a cut went through it.
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    name: Vec<u8>,
    first_line: bool,
    after_cr: bool,
    max: usize,
}

impl Default for Sse {
    fn default() -> Self {
        Self::new(EVENT_MAX)
    }
}

impl Sse {
    /// A parser that errors on events longer than `max` bytes.
    pub fn new(max: usize) -> Self {
        Self {
            line: Vec::new(),
            data: Vec::new(),
            has_data: false,
            name: Vec::new(),
            first_line: true,
            after_cr: false,
            max,
        }
    }

    /// Takes in bytes; `sink` gets each event that they complete.
    pub fn push(&mut self, bytes: &[u8], mut sink: impl FnMut(SseEvent<'_>)) -> Result<(), TooLong> {
        let mut rest = bytes;
        if self.after_cr && !rest.is_empty() {
            self.after_cr = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(at) = rest.iter().position(|b| matches!(b, b'\n' | b'\r')) {
            let (head, tail) = rest.split_at(at);
            rest = match tail {
                [b'\r', b'\n', after @ ..] => after,
                [b'\r'] => {
                    self.after_cr = true;
                    &[]
                }
                [_, after @ ..] => after,
                [] => &[],
            };
            if self.line.is_empty() {
                self.take_line(head, &mut sink)?;
            } else {
                let mut line = std::mem::take(&mut self.line);
                line.extend_from_slice(head);
                self.take_line(&line, &mut sink)?;
                line.clear();
                self.line = line;
            }
        }
        self.line.extend_from_slice(rest);
        self.check(self.line.len() + self.data.len())
    }

    fn take_line(&mut self, line: &[u8], sink: &mut impl FnMut(SseEvent<'_>)) -> Result<(), TooLong> {
        let line = match std::mem::take(&mut self.first_line) {
            true => line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line),
            false => line,
        };
        if line.is_empty() {
            self.dispatch(sink);
            return Ok(());
        }
        let (field, value) = match line.iter().position(|b| *b == b':') {
            Some(at) => (&line[..at], line[at + 1..].strip_prefix(b" ").unwrap_or(&line[at + 1..])),
            None => (line, &[][..]),
        };
        match field {
            b"data" => {
                self.check(self.data.len() + value.len())?;
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.has_data = true;
                self.data.extend_from_slice(value);
            }
            b"event" => {
                self.check(value.len())?;
                self.name.clear();
                self.name.extend_from_slice(value);
            }
            _ => {}
        }
        Ok(())
    }

    fn dispatch(&mut self, sink: &mut impl FnMut(SseEvent<'_>)) {
        if std::mem::take(&mut self.has_data) {
            let name = String::from_utf8_lossy(&self.name);
            let data = String::from_utf8_lossy(&self.data);
            sink(SseEvent { name: &name, data: &data });
        }
        self.data.clear();
        self.name.clear();
    }

    fn check(&self, length: usize) -> Result<(), TooLong> {
        if length > self.max { Err(TooLong { max: self.max }) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Event = (String, String);

    fn parse(sse: &mut Sse, bytes: &[u8], out: &mut Vec<Event>) {
        sse.push(bytes, |e| out.push((e.name.to_string(), e.data.to_string()))).unwrap();
    }

    fn whole(text: &[u8]) -> Vec<Event> {
        let mut out = Vec::new();
        parse(&mut Sse::default(), text, &mut out);
        out
    }

    fn event(name: &str, data: &str) -> Event {
        (name.into(), data.into())
    }

    #[test]
    fn fields_comments_and_the_mark() {
        let text = "\u{feff}event: a\ndata: 1\ndata:2\ndata\nid: 7\nretry: 3\n: ping\nother: x\n\n\n: alone\n\nevent: lost\n\ndata:  x\n\n";
        assert_eq!(whole(text.as_bytes()), [event("a", "1\n2\n"), event("", " x")]);
    }

    #[test]
    fn what_the_end_cuts_off_is_no_event() {
        assert_eq!(whole(b"data: 1\n\ndata: 2\n"), [event("", "1")]);
    }

    #[test]
    fn every_pair_of_cuts_gives_the_same() {
        let text = "event: é\r\ndata: {\"a\":\"ü😀\"}\r\n\r\ndata: x\r\rdata: y\n\n:c\r\n\r\ndata: \r\n\r\n"
            .as_bytes();
        let want = whole(text);
        assert_eq!(want.len(), 4);
        for a in 0..=text.len() {
            for b in a..=text.len() {
                let (mut sse, mut got) = (Sse::default(), Vec::new());
                for part in [&text[..a], &text[a..b], &text[b..]] {
                    parse(&mut sse, part, &mut got);
                }
                assert_eq!(got, want, "cut at {a} and {b}");
            }
        }
    }

    #[test]
    fn an_event_of_16_mib_passes_and_past_the_bound_it_errors() {
        let big = "x".repeat(16 << 20);
        let text = format!("data: {big}\n\n");
        let (mut sse, mut sizes) = (Sse::default(), Vec::new());
        for part in text.as_bytes().chunks(65_537) {
            sse.push(part, |e| sizes.push(e.data.len())).unwrap();
        }
        assert_eq!(sizes, [16 << 20]);
        let mut sse = Sse::new(100);
        let mut result = Ok(());
        for _ in 0..30 {
            result = result.and_then(|()| sse.push(b"data: 12345\n", |_| {}));
        }
        assert_eq!(result, Err(TooLong { max: 100 }));
        assert!(Sse::new(100).push(&[b'x'; 101], |_| {}).is_err(), "one endless line");
        assert!(Sse::new(100).push(format!("data: {}\n\n", "x".repeat(101)).as_bytes(), |_| {}).is_err());
    }

    prop_compose! {
        fn events()(all in proptest::collection::vec(("[a-zé]{0,5}", "[ -~é😀\n]{0,30}"), 0..8)) -> Vec<Event> {
            all
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn any_events_survive_any_cut(
            events in events(), ends in proptest::collection::vec(0usize..3, 1..9), bom in any::<bool>(),
            comments in any::<bool>(), cuts in proptest::collection::vec(1usize..7, 1..60)
        ) {
            let mut text = String::from(if bom { "\u{feff}" } else { "" });
            let mut ends = ends.into_iter().map(|n| ["\n", "\r\n", "\r"][n]).cycle();
            let mut line = |text: &mut String, content: &str| {
                text.push_str(content);
                text.push_str(ends.next().unwrap());
            };
            for (name, data) in &events {
                if comments {
                    line(&mut text, ": ping");
                }
                if !name.is_empty() {
                    line(&mut text, &format!("event: {name}"));
                }
                for part in data.split('\n') {
                    line(&mut text, &format!("data: {part}"));
                }
                // A CR followed by the LF of the next line would be one end: the blank line is unmistakable.
                text.push_str(if text.ends_with('\r') { "\r" } else { "\n" });
            }
            let (mut sse, mut got, mut rest) = (Sse::default(), Vec::new(), text.as_bytes());
            for cut in cuts.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (head, tail) = rest.split_at((*cut).min(rest.len()));
                parse(&mut sse, head, &mut got);
                rest = tail;
            }
            prop_assert_eq!(got, events);
        }

        #[test]
        fn any_bytes_in_any_cut_give_the_same_and_no_panic(
            bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(b':'), Just(b'd'), any::<u8>()], 0..200),
            cut in 0usize..200
        ) {
            let at = cut.min(bytes.len());
            let (mut sse, mut got) = (Sse::default(), Vec::new());
            parse(&mut sse, &bytes[..at], &mut got);
            parse(&mut sse, &bytes[at..], &mut got);
            prop_assert_eq!(got, whole(&bytes));
        }
    }
}
