//! Law P: any frames, cut into any reads.

use proptest::prelude::*;

use super::*;

const LINE_MAX: usize = 200;
const SERVED: &[&str] = &["jobs.list", "jobs.kill"];

/// A line that somebody sends, and whether it is the limit's length or beyond.
#[derive(Clone, Debug)]
enum Sent {
    /// An object with this id and type, padded to so many bytes.
    Frame { id: u64, text_id: bool, kind: Option<&'static str>, length: usize, id_first: bool },
    /// No frame.
    Junk(&'static [u8]),
}

const JUNK: &[&[u8]] = &[
    b"",
    b"{",
    b"[]",
    b"null",
    b"{\"type\":\"jobs.list\"}",
    b"{\"id\":null,\"type\":\"jobs.list\"}",
    b"{\"id\":-1,\"type\":\"jobs.list\"}",
    b"{\"id\":[1],\"type\":\"jobs.list\"}",
    b"{\"id\":1,\"type\":\"jobs.list\"} {}",
    b"\xff\xfe",
    b"{\"id\":1,\"type\":\"jobs.\xff\"}",
];

fn sent() -> impl Strategy<Value = Sent> {
    let kind = prop_oneof![
        4 => proptest::sample::select(SERVED).prop_map(Some),
        1 => Just(Some("jobs.eat")),
        1 => Just(None),
    ];
    let length = prop_oneof![4 => Just(0), 1 => LINE_MAX - 3..LINE_MAX + 4, 1 => LINE_MAX..4 * LINE_MAX];
    let frame = (0u64..30, any::<bool>(), kind, length, proptest::bool::weighted(0.8)).prop_map(
        |(id, text_id, kind, length, id_first)| Sent::Frame { id, text_id, kind, length, id_first },
    );
    prop_oneof![9 => frame, 1 => proptest::sample::select(JUNK).prop_map(Sent::Junk)]
}

impl Sent {
    fn id(&self) -> Option<FrameId> {
        match self {
            Sent::Frame { id, text_id: true, .. } => Some(FrameId::Text(id.to_string())),
            Sent::Frame { id, text_id: false, .. } => Some(FrameId::Number(*id)),
            Sent::Junk(_) => None,
        }
    }
    fn line(&self) -> Vec<u8> {
        let Sent::Frame { kind, length, id_first, .. } = self else {
            let Sent::Junk(junk) = self else { unreachable!("there are two kinds") };
            return junk.to_vec();
        };
        let id = serde_json::to_string(&self.id()).unwrap();
        let id = format!("\"id\":{id}");
        let kind = kind.map_or(String::new(), |kind| format!("\"type\":\"{kind}\","));
        let around = "{,\"pad\":\"\"}".len() + id.len() + kind.len();
        let pad = "x".repeat(length.saturating_sub(around));
        if *id_first {
            format!("{{{id},{kind}\"pad\":\"{pad}\"}}").into_bytes()
        } else {
            format!("{{\"pad\":\"{pad}\",{kind}{id}}}").into_bytes()
        }
    }
    fn oversized(&self) -> bool {
        self.line().len() > LINE_MAX
    }
}

/// The answer to one line, from the description of what was sent: not from its bytes.
fn wanted(sent: &Sent, seen: &[FrameId]) -> String {
    let Sent::Frame { kind, id_first, .. } = sent else {
        let Sent::Junk(junk) = sent else { unreachable!("there are two kinds") };
        let fault = if std::str::from_utf8(junk).is_err() { Fault::NotUtf8 } else { Fault::NotAFrame };
        return format!("fault {fault:?}");
    };
    let id = sent.id().unwrap();
    if sent.oversized() && !id_first {
        return format!("fault {:?}", Fault::OversizedWithoutId);
    }
    if seen.contains(&id) {
        return format!("{id:?} duplicate");
    }
    match kind {
        _ if sent.oversized() => format!("{id:?} error {:?}", Refusal::Oversized),
        None => format!("{id:?} error {:?}", Refusal::NoType),
        Some(kind) if SERVED.contains(kind) => format!("{id:?} run {kind}"),
        Some(kind) => format!("{id:?} error {:?}", Refusal::NotServed((*kind).to_owned())),
    }
}

fn said(admission: &Admission) -> String {
    match admission {
        Admission::Run(frame) => format!("{:?} run {}", frame.id, frame.kind),
        Admission::Refuse(id, Refusal::Duplicate) => format!("{id:?} {}", Refusal::Duplicate.status()),
        Admission::Refuse(id, refusal) => format!("{id:?} {} {refusal:?}", refusal.status()),
        Admission::Fault(fault) => format!("fault {fault:?}"),
    }
}

/// What the gate says of each line, the stream being cut so.
fn through(sent: &[Sent], cuts: &[usize]) -> (Vec<Admission>, Gate) {
    let mut stream = Vec::new();
    for line in sent {
        stream.extend(line.line());
        stream.push(b'\n');
    }
    let mut splitter = Splitter::new(LINE_MAX);
    let mut gate = Gate::new(SERVED);
    let mut answers = Vec::new();
    let mut cuts = cuts.iter().cycle();
    let mut rest = &stream[..];
    while !rest.is_empty() {
        let length = (*cuts.next().unwrap_or(&usize::MAX)).clamp(1, rest.len());
        let (read, behind) = rest.split_at(length);
        rest = behind;
        for line in splitter.push(read) {
            answers.push(gate.admit(line));
        }
        assert!(splitter.buffer.len() <= LINE_MAX, "no more than a line is held");
    }
    assert_eq!(splitter.unfinished(), 0);
    (answers, gate)
}

fn frames() -> impl Strategy<Value = Vec<Sent>> {
    proptest::collection::vec(sent(), 0..40)
}

fn cuts() -> impl Strategy<Value = Vec<usize>> {
    prop_oneof![Just(vec![1]), proptest::collection::vec(1usize..300, 1..20)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn proto_one_reply_each(sent in frames(), cuts in cuts()) {
        let (answers, mut gate) = through(&sent, &cuts);
        prop_assert_eq!(answers.len(), sent.len(), "one answer to each line");
        let mut seen = Vec::new();
        for (sent, answer) in sent.iter().zip(&answers) {
            prop_assert_eq!(said(answer), wanted(sent, &seen));
            match answer {
                Admission::Run(Frame { id, .. }) | Admission::Refuse(id, _) => seen.push(id.clone()),
                Admission::Fault(_) => {}
            }
        }
        // one reply to each that was accepted, in whatever order they come
        let mut run: Vec<&Frame> = answers.iter().filter_map(accepted).collect();
        run.reverse();
        prop_assert_eq!(gate.open().count(), run.len());
        for frame in run {
            prop_assert!(gate.replied(&frame.id));
            prop_assert!(!gate.replied(&frame.id), "a second reply");
        }
        prop_assert_eq!(gate.open().count(), 0);
    }

    #[test]
    fn proto_runs_only_accepted(sent in frames(), cuts in cuts()) {
        let (answers, _) = through(&sent, &cuts);
        let mut ids = BTreeSet::new();
        for (sent, answer) in sent.iter().zip(&answers) {
            if let Some(frame) = accepted(answer) {
                prop_assert!(SERVED.contains(&frame.kind.as_str()) && !sent.oversized());
                prop_assert!(ids.insert(frame.id.clone()), "an id ran twice");
                prop_assert_eq!(sent.id(), Some(frame.id.clone()));
                prop_assert_eq!(frame.body.get("type").and_then(Value::as_str), Some(frame.kind.as_str()));
            }
        }
    }

    #[test]
    fn proto_runs_every_accepted(sent in frames(), cuts in cuts()) {
        let (answers, _) = through(&sent, &cuts);
        let mut seen = BTreeSet::new();
        for (sent, answer) in sent.iter().zip(&answers) {
            let Sent::Frame { kind, id_first, .. } = sent else { continue };
            if sent.oversized() && !id_first {
                continue;
            }
            let novel = seen.insert(sent.id());
            let served = kind.is_some_and(|kind| SERVED.contains(&kind));
            prop_assert_eq!(accepted(answer).is_some(), novel && served && !sent.oversized());
        }
    }

    #[test]
    fn proto_rejects_oversize(sent in frames(), cuts in cuts(), much in 1usize..9) {
        let (answers, _) = through(&sent, &cuts);
        for (sent, answer) in sent.iter().zip(&answers) {
            let refused = matches!(
                answer,
                Admission::Refuse(_, Refusal::Oversized | Refusal::Duplicate)
                    | Admission::Fault(Fault::OversizedWithoutId)
            );
            prop_assert!(!sent.oversized() || refused);
            let oversize = Admission::Fault(Fault::OversizedWithoutId);
            prop_assert!(sent.oversized() || *answer != oversize);
        }
        // one that never ends is answered at once, holds nothing, and what follows it is heard
        let mut splitter = Splitter::new(LINE_MAX);
        let endless = vec![b'x'; LINE_MAX + much];
        prop_assert_eq!(splitter.push(&endless).len(), 1);
        for _ in 0..much {
            prop_assert_eq!(splitter.push(&endless), []);
            prop_assert_eq!(splitter.unfinished(), 0);
        }
        prop_assert_eq!(splitter.push(b"x\n{}\n"), [Line::Whole(b"{}".to_vec())]);
    }

    /// Whatever bytes come in whatever pieces: the same lines, no panic.
    #[test]
    fn any_bytes_are_split_alike(
        bytes in proptest::collection::vec(prop_oneof![1 => Just(b'\n'), 3 => any::<u8>()], 0..600),
        cuts in cuts(),
        line_max in prop_oneof![0usize..9, Just(100)],
    ) {
        let mut whole = Splitter::new(line_max);
        let mut cut = Splitter::new(line_max);
        let at_once = whole.push(&bytes);
        let mut pieces = Vec::new();
        let (mut rest, mut cuts) = (&bytes[..], cuts.iter().cycle());
        while !rest.is_empty() {
            let (read, behind) = rest.split_at((*cuts.next().unwrap()).min(rest.len()));
            pieces.extend(cut.push(read));
            rest = behind;
        }
        prop_assert_eq!(&at_once, &pieces);
        let mut gate = Gate::new(SERVED);
        for line in at_once {
            gate.admit(line);
        }
    }
}

fn accepted(admission: &Admission) -> Option<&Frame> {
    match admission {
        Admission::Run(frame) => Some(frame),
        Admission::Refuse(..) | Admission::Fault(_) => None,
    }
}

#[test]
fn the_head_of_a_real_limit_is_four_kibibytes() {
    let mut splitter = Splitter::new(1 << 20);
    let mut long = br#"{"id":7,"type":"jobs.list","pad":""#.to_vec();
    long.resize((1 << 20) + 1, b'x');
    let lines = splitter.push(&long);
    let [Line::Oversized { head }] = lines.as_slice() else {
        panic!("one oversized line, not {}", lines.len())
    };
    assert_eq!(head.len(), HEAD_MAX);
    let mut gate = Gate::new(SERVED);
    assert_eq!(gate.admit(lines[0].clone()), Admission::Refuse(FrameId::Number(7), Refusal::Oversized));
}

#[test]
fn an_id_that_is_cut_off_in_the_head_is_none() {
    for (head, id) in [
        (r#"{"id":12"#, None),
        (r#"{"id":12 "#, None),
        (r#"{"id":12,"#, Some(FrameId::Number(12))),
        (r#" { "type" : "x" , "id" : "a" , "#, Some(FrameId::Text("a".into()))),
        (r#"{"args":{"id":3},"id":4,"#, Some(FrameId::Number(4))),
        (r#"{"args":{"id":3,"#, None),
        (r#"{"id":true,"#, None),
        (r#"["id",1,"#, None),
        ("", None),
    ] {
        assert_eq!(head_id(head.as_bytes()), id, "{head}");
    }
}

#[test]
fn the_last_ids_are_remembered_and_those_that_run_are_never_forgotten() {
    let mut gate = Gate::new(SERVED);
    let frame = |id: usize, kind: &str| Line::Whole(format!(r#"{{"id":{id},"type":"{kind}"}}"#).into_bytes());
    assert!(accepted(&gate.admit(frame(0, "jobs.list"))).is_some());
    for id in 1..=2 * IDS_MAX {
        assert!(accepted(&gate.admit(frame(id, "jobs.kill"))).is_some());
        assert!(gate.replied(&FrameId::Number(id as u64)));
    }
    assert!(gate.order.len() <= IDS_MAX && gate.seen.len() <= IDS_MAX);
    assert_eq!(gate.admit(frame(0, "jobs.list")), Admission::Refuse(FrameId::Number(0), Refusal::Duplicate));
    assert!(gate.replied(&FrameId::Number(0)));
    assert!(accepted(&gate.admit(frame(0, "jobs.list"))).is_some(), "long forgotten");
}

#[test]
fn so_many_wait_for_their_reply_and_no_more_is_read() {
    let mut gate = Gate::new(SERVED);
    let mut id = 0_u64;
    while !gate.full() {
        id += 1;
        gate.admit(Line::Whole(format!(r#"{{"id":{id},"type":"jobs.list"}}"#).into_bytes()));
    }
    assert_eq!(id as usize, OPEN_MAX);
    gate.replied(&FrameId::Number(1));
    assert!(!gate.full());
}

#[test]
fn what_is_refused_says_why_without_escapes() {
    let words = Refusal::NotServed("\u{1b}[2J".into()).words();
    assert!(words.contains(r"\u{1b}[2J") && !words.contains('\u{1b}'), "{words}");
}
