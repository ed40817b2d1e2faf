//! A journal that was cut, damaged, or written by another version.

use super::*;

/// One line of a journal, by its meaning.
#[derive(Clone, Debug)]
enum Item {
    /// An entry of a known kind.
    User { parent: Parent, text: String, more: bool },
    /// An entry of an unknown kind: it keeps its place.
    Strange { parent: Parent },
    /// An entry of a known kind whose body is not what it should be: it keeps its place.
    Broken { parent: Parent },
    /// A record of an unknown kind outside the tree, whatever its fields.
    Other(u8),
    /// A display name.
    Title(String),
    /// A move of the head.
    Head(Parent),
    /// A second use of an id.
    Twice(Index),
    /// What is no record.
    Bad(u8),
    /// Nothing.
    Blank,
}

/// What an item refers to.
#[derive(Clone, Debug)]
enum Parent {
    /// Nothing: the root.
    Root,
    /// An earlier entry (the root when there is none).
    Earlier(Index),
    /// The newest.
    Newest,
    /// An entry that is not there.
    Lost,
}

fn parents() -> impl Strategy<Value = Parent> {
    prop_oneof![
        1 => Just(Parent::Root),
        3 => any::<Index>().prop_map(Parent::Earlier),
        6 => Just(Parent::Newest),
        1 => Just(Parent::Lost),
    ]
}

fn items() -> impl Strategy<Value = Vec<(Item, u8)>> {
    let item = prop_oneof![
        6 => (parents(), "\\PC{0,12}", any::<bool>()).prop_map(|(parent, text, more)| Item::User { parent, text, more }),
        2 => parents().prop_map(|parent| Item::Strange { parent }),
        1 => parents().prop_map(|parent| Item::Broken { parent }),
        2 => any::<u8>().prop_map(Item::Other),
        1 => "\\PC{1,8}".prop_map(Item::Title),
        1 => parents().prop_map(Item::Head),
        1 => any::<Index>().prop_map(Item::Twice),
        2 => any::<u8>().prop_map(Item::Bad),
        1 => Just(Item::Blank),
    ];
    proptest::collection::vec((item, 0u8..3), 4..14)
}

/// What the rule makes of items, and the lines that say them.
#[derive(Default)]
struct Told {
    lines: Vec<Vec<u8>>,
    /// id, parent, kind and text of each entry that is in the tree.
    entries: Vec<(String, Option<String>, String)>,
    head: Option<String>,
    title: String,
    aside: BTreeSet<Vec<u8>>,
}

impl Told {
    fn transcript(&self) -> String {
        let mut out = String::new();
        for (id, parent, what) in &self.entries {
            out += &format!("{id} after {parent:?}: {what}\n");
        }
        out + &format!("head {:?} title {:?} aside {:?}\n", self.head, self.title, self.aside)
    }

    /// The id that is written, and the parent that is meant.
    fn parent(&self, parent: &Parent) -> (Option<String>, Option<String>) {
        let newest = self.entries.last().map(|(id, ..)| id.clone());
        match parent {
            Parent::Root => (None, None),
            Parent::Earlier(_) if self.entries.is_empty() => (None, None),
            Parent::Earlier(at) => {
                let id = at.get(&self.entries).0.clone();
                (Some(id.clone()), Some(id))
            }
            Parent::Newest => (newest.clone(), newest),
            Parent::Lost => (Some("lost".into()), newest),
        }
    }

    fn entry(
        &mut self,
        number: usize,
        parent: &Parent,
        kind: &str,
        body: serde_json::Value,
        what: String,
    ) -> serde_json::Value {
        let (written, meant) = self.parent(parent);
        // Ids are any strings.
        let id = if number.is_multiple_of(3) { format!("x-{number} é\"") } else { format!("e{number}") };
        self.entries.push((id.clone(), meant, what));
        self.head = Some(id.clone());
        serde_json::json!({"id": id, "parent": written, "at": "2026-01-31T12:00:00.5Z", "type": kind, "body": body})
    }

    fn take(&mut self, number: usize, item: &Item, style: u8) {
        let value = match item {
            Item::User { parent, text, more } => {
                let mut body = serde_json::json!({"role": "user", "text": text});
                if *more {
                    body["later_field"] = serde_json::json!([1, {"deep": null}]);
                }
                let mut value = self.entry(number, parent, "user", body, format!("user {text:?}"));
                if *more {
                    value["mark"] = serde_json::json!("unknown");
                }
                value
            }
            Item::Strange { parent } => {
                let body = serde_json::json!({"n": number, "big": 12345678901234567890u64});
                self.entry(number, parent, "from_the_future", body.clone(), format!("from_the_future {body}"))
            }
            Item::Broken { parent } => {
                let body = serde_json::json!({"text": number});
                self.entry(number, parent, "user", body.clone(), format!("user {body}"))
            }
            Item::Other(kind) => match kind % 4 {
                0 => serde_json::json!({"type": "later", "id": number, "head": []}),
                1 => serde_json::json!({"type": "later", "id": "e999", "body": {}}),
                2 => serde_json::json!({"type": "title", "title": ["not", "text"]}),
                _ => serde_json::json!({"at": 5, "type": "later", "parent": {"a": 1}}),
            },
            Item::Title(title) => {
                self.title = title.clone();
                serde_json::json!({"type": "title", "title": title, "more": 1})
            }
            Item::Head(parent) => {
                let (written, _) = self.parent(parent);
                if written.as_deref() != Some("lost") {
                    self.head = written.clone();
                }
                serde_json::json!({"type": "head", "to": written})
            }
            Item::Twice(at) if !self.entries.is_empty() => {
                let id = at.get(&self.entries).0.clone();
                let value = serde_json::json!({"id": id, "parent": null, "at": "", "type": "user", "body": {"text": number}});
                let line = styled(&value, style);
                self.aside.insert(line.clone());
                return self.lines.push(line);
            }
            Item::Bad(kind) => {
                let line: &[u8] = match kind % 6 {
                    0 => b"{\"id\":\"e1\",\"parent\":null,\"ty",
                    1 => b"\0\0\0\0",
                    2 => b"{\"type\":\"user\",\"id\":\"q\",\"parent\":null,\"body\":{\"text\":\"\xff\xfe\"}}",
                    3 => b"[1,2]",
                    4 => b"{\"id\":\"q\"}",
                    _ => b"{\"type\":\"notice\",\"parent\":null,\"body\":{}}",
                };
                self.aside.insert(line.to_vec());
                return self.lines.push(line.to_vec());
            }
            Item::Twice(_) | Item::Blank => return self.lines.push(b" \t".to_vec()),
        };
        self.lines.push(styled(&value, style));
    }
}

/// JSON as different programs write it: ours, Python's, a careless person's.
fn styled(value: &serde_json::Value, style: u8) -> Vec<u8> {
    let text = value.to_string();
    if style == 0 {
        return text.into_bytes();
    }
    let mut out = String::new();
    let (mut inside, mut escaped) = (false, false);
    for c in text.chars() {
        if inside && !c.is_ascii() && style == 1 {
            let mut units = [0u16; 2];
            out.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
            continue;
        }
        out.push(c);
        match (inside, c) {
            (true, '"') if !escaped => inside = false,
            (false, '"') => inside = true,
            (false, ':' | ',') => out.push_str(if style == 1 { " " } else { "\t  " }),
            _ => {}
        }
        escaped = inside && c == '\\' && !escaped;
    }
    out.into_bytes()
}

/// The rule: the meaning of the first lines that end within `bytes`, and what is torn behind them.
fn told(place: &Place, items: &[(Item, u8)], cut: impl Fn(&[Vec<u8>]) -> usize) -> (Told, Vec<u8>, Vec<u8>) {
    let mut all = Told::default();
    for (number, (item, style)) in items.iter().enumerate() {
        all.take(number, item, *style);
    }
    let keep = cut(&all.lines);
    let (mut told, mut journal, mut left) = (Told::default(), place.header(), keep);
    for (number, ((item, style), line)) in items.iter().zip(&all.lines).enumerate() {
        if left <= line.len() {
            let torn = line[..left].to_vec();
            if !torn.is_empty() {
                told.aside.insert(torn.clone());
            }
            return (told, journal, torn);
        }
        told.take(number, item, *style);
        journal.extend_from_slice(line);
        journal.push(b'\n');
        left -= line.len() + 1;
    }
    (told, journal, Vec::new())
}

/// The real side, printed.
fn transcript(place: &Place, opened: &Opened) -> String {
    let mut seen = Told { title: opened.title.clone(), aside: place.aside(), ..Told::default() };
    seen.head = opened.tree.head.as_ref().map(ToString::to_string);
    for entry in &opened.tree.entries {
        let what = match &entry.body {
            EntryBody::User(message) => format!("user {:?}", message.text),
            EntryBody::Unknown(unknown) => {
                let raw: serde_json::Value = serde_json::from_str(unknown.raw.get()).unwrap();
                format!("{} {raw}", unknown.kind)
            }
            other => panic!("{other:?} was not written"),
        };
        seen.entries.push((entry.id.to_string(), entry.parent.as_ref().map(ToString::to_string), what));
    }
    seen.transcript()
}

/// Opens what was written and compares; then goes on with the session and compares again.
fn survives(place: &Place, told: &Told, whole: &[u8], torn: &[u8]) -> Result<(), TestCaseError> {
    place.write(&[whole, torn].concat());
    let seen = view(&place.dirs, &place.id).unwrap();
    prop_assert_eq!(place.journal(), [whole, torn].concat(), "viewing changed the journal");
    prop_assert_eq!(seen.tree.entries.len(), told.entries.len());

    let (mut session, opened) = place.open();
    prop_assert_eq!(transcript(place, &opened), told.transcript());
    prop_assert_eq!(place.journal(), whole);
    prop_assert_eq!(
        opened.reports.is_empty(),
        told.aside.is_empty() && !mended(&opened),
        "{:?}",
        opened.reports
    );
    let path = opened.branch();
    prop_assert_eq!(path.last().map(|entry| entry.id.clone()), opened.tree.head.clone());
    prop_assert!(path.first().is_none_or(|entry| entry.parent.is_none()));

    let entry = user(session.mint_entry(), opened.tree.head.clone(), "on it goes");
    session.commit(&entry, Durability::Buffered).unwrap();
    drop(session);
    let mut longer = whole.to_vec();
    longer.extend_from_slice(codec::encode(&entry).unwrap().as_bytes());
    prop_assert_eq!(place.journal(), longer, "what stood in the journal stays");
    let aside = place.aside();
    let (_, opened) = place.open();
    prop_assert_eq!(place.aside(), aside, "what is set aside is set aside once");
    prop_assert_eq!(opened.tree.entries.len(), told.entries.len() + 1);
    prop_assert_eq!(opened.tree.head.as_ref(), Some(&entry.id));
    Ok(())
}

/// Whether something was reported that needed no setting aside.
fn mended(opened: &Opened) -> bool {
    opened.reports.iter().any(|report| report.contains("not there") || report.contains("kept as it is"))
}

#[test]
fn unknown_records_survive() {
    let place = Place::new();
    let ran = runner().run(&items(), |items| {
        let (told, whole, torn) = told(&place, &items, |lines| lines.iter().map(|line| line.len() + 1).sum());
        survives(&place, &told, &whole, &torn)
    });
    assert!(ran.is_ok(), "{}", ran.unwrap_err());
}

#[test]
fn journal_survives_kill_at_any_byte() {
    let place = Place::new();
    let ran = runner().run(&(items(), any::<Index>()), |(items, at)| {
        // Cut anywhere in the last three lines.
        let (told, whole, torn) = told(&place, &items, |lines| {
            let lengths: Vec<usize> = lines.iter().map(|line| line.len() + 1).collect();
            let (before, last) = lengths.split_at(lengths.len() - 3);
            before.iter().sum::<usize>() + at.index(last.iter().sum::<usize>() + 1)
        });
        survives(&place, &told, &whole, &torn)
    });
    assert!(ran.is_ok(), "{}", ran.unwrap_err());
}

#[test]
fn a_journal_cut_at_every_byte_of_its_last_three_lines_opens() {
    let place = Place::new();
    let items: Vec<(Item, u8)> = (0..5)
        .map(|number| {
            (Item::User { parent: Parent::Newest, text: format!("é{number}"), more: number == 3 }, 0)
        })
        .collect();
    let total = told(&place, &items, |lines| lines.iter().map(|line| line.len() + 1).sum());
    let (lines, all) = (total.0.lines.clone(), total.1.len() - place.header().len());
    for cut in lines[0].len() + lines[1].len() + 2..=all {
        let (told, whole, torn) = told(&place, &items, |_| cut);
        let ran = survives(&place, &told, &whole, &torn);
        assert!(ran.is_ok(), "cut at {cut}: {}", ran.unwrap_err());
    }
}

#[test]
fn a_damaged_header_loses_no_entry_but_the_session_does_not_run() {
    let place = Place::new();
    let mut journal = place.header();
    journal.truncate(journal.len() - 5);
    journal.extend_from_slice(
        b"\n{\"id\":\"a\",\"parent\":null,\"type\":\"user\",\"body\":{\"text\":\"hi\"}}\n",
    );
    place.write(&journal);
    let seen = view(&place.dirs, &place.id).unwrap();
    assert_eq!((seen.tree.entries.len(), seen.header.cwd, seen.header.id), (1, None, place.id.clone()));
    assert_eq!(seen.reports.len(), 2, "{:?}", seen.reports);
    assert!(matches!(Session::open(&place.dirs, &place.id), Err(Error::Cwd(_))));
    assert_eq!(place.journal(), journal);
}

#[test]
fn a_session_of_a_newer_format_is_only_read() {
    let place = Place::new();
    let header = String::from_utf8(place.header()).unwrap().replace("\"v\":1", "\"v\":2");
    place.write(format!("{header}torn").as_bytes());
    assert!(matches!(Session::open(&place.dirs, &place.id), Err(Error::Newer { v: 2 })));
    assert_eq!(place.journal(), format!("{header}torn").as_bytes());
    assert_eq!(view(&place.dirs, &place.id).unwrap().header.v, 2);
}

// --- real kills
