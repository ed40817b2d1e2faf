//! What people report of programs like this one, and no other test here holds, on the built binary: keys
//! that are dead while something runs, windows that are dragged, sequences that come in pieces, terminals
//! without colours, readers that are slow, and meters that disagree.

use std::io::Read as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::rehearsal::quit;
use super::wires::{Served, calls, hangs, says};
use super::{Home, until};
use crate::server::Reply;
use crate::terminal::Program;

const WIRE: &str = "openai-chat";

/// Most that a key may take until it is heard.
const HEARD: Duration = Duration::from_millis(100);
/// Most that a key may take until it is seen.
const ECHO: Duration = Duration::from_millis(50);
/// How often it is tried to stay below, for the machine is shared.
const TRIES: usize = 12;

/// Sends a key and reads until `look` holds; how long that took.
fn time(program: &mut Program, key: &str, what: &str, look: impl FnMut(&mut Program) -> bool) -> Duration {
    let begin = Instant::now();
    program.send(key);
    program.until(what, look);
    begin.elapsed()
}

/// The turns that ended.
fn ended(program: &Program) -> usize {
    program.screen().matches("interrupted").count()
}

#[test]
fn escape_and_control_c_are_heard_within_100_ms() {
    let command = json!({"command": "echo it-runs; sleep 300"});
    type Make = Box<dyn Fn(&str) -> Reply>;
    let phases: [(&str, Make); 2] = [
        ("streaming", Box::new(|sign| hangs(WIRE, sign))),
        ("calling", Box::new(move |sign| calls(WIRE, sign, "bash", command.clone()))),
    ];
    for (phase, make) in phases {
        for (name, key) in [("Esc", "\x1b"), ("Esc as kitty tells it", "\x1b[27u"), ("^C", "\x03")] {
            let mut home = Home::new();
            let signs: Vec<String> = (0..3 * TRIES).map(|n| format!("Answer-{n}.")).collect();
            let server = Served::start(WIRE, signs.iter().map(|sign| make(sign)).collect());
            home.serve(WIRE, &server.url());
            let mut program = home.show(&["--approve", "auto"]);
            program.wait_for("keys");
            let mut best = Duration::MAX;
            for sign in &signs {
                program.send("\x0cgo\r");
                program.wait_for(sign);
                if phase == "calling" {
                    program.until("the command", |p| p.screen().contains("it-runs"));
                }
                program.until("it works", |p| p.screen().contains("Esc interrupt"));
                let took = time(&mut program, key, "that it is heard", |p| {
                    let screen = p.screen();
                    screen.contains("stopping") || !screen.contains("Esc interrupt")
                });
                best = best.min(took);
                // a second ^C would leave
                program.wait_gone("Esc interrupt");
                program.wait_gone("again leaves");
                if best < HEARD {
                    break;
                }
            }
            assert!(ended(&program) > 0, "{}", program.screen());
            assert!(best < HEARD, "{phase}: {name} was heard after {best:?} at best");
            assert_eq!(quit(&mut program), 0, "{phase}: {name}");
        }
    }
}

/// Something huge that streams: the model's pieces of it, without an end while keys are typed.
fn huge() -> [(&'static str, Vec<String>); 4] {
    let many = |count: usize, make: &dyn Fn(usize) -> String| (0..count).map(make).collect::<Vec<_>>();
    let mut table = vec!["| name | says | number |\n|---|---|---|\n".to_owned()];
    table.extend(many(1800, &|n| format!("| row {n} | some **words** of it | {} |\n", n * n)));
    let mut code = vec!["```rust\n".to_owned()];
    code.extend(many(1800, &|n| format!("    let line_{n} = compute({n}).unwrap_or_default();\n")));
    [
        ("a list", many(1800, &|n| format!("{}- item {n} with *some* words\n", "  ".repeat(n % 5)))),
        ("a table", table),
        ("code", code),
        ("one word", many(1800, &|n| format!("a{n}b{n}c{n}d{n}e{n}"))),
    ]
}

#[test]
fn a_key_is_seen_within_50_ms_whatever_streams() {
    for (what, mut pieces) in huge() {
        let begun: String = pieces.drain(..1000).collect();
        pieces.insert(0, format!("It begins.\n\n{begun}"));
        let home = Home::new();
        let model = home.script(&json!({"turns": [{"say": pieces, "pace_ms": 8}]}));
        let mut program = home.show(&["--model", &model]);
        program.wait_for("keys");
        program.send("go\r");
        program.wait_for("Esc interrupt");
        // into the midst of it
        let so_far = program.bytes.len();
        program.until("the stream", |p| p.bytes.len() > so_far + 1000);
        let mut tries = Vec::new();
        let mut draft = String::new();
        for key in ('a'..='z').cycle().take(6 * TRIES) {
            if !program.screen().contains("Esc interrupt") {
                break;
            }
            draft.push(key);
            let wanted = format!("❯ {draft}");
            let took = time(&mut program, &key.to_string(), &wanted, |p| p.screen().contains(&wanted));
            tries.push(took);
            if draft.len() == 26 {
                program.send("\x15");
                program.wait_gone(&wanted);
                draft.clear();
            }
            let fast = tries.iter().filter(|took| **took < ECHO).count();
            if tries.len() >= TRIES && fast * 4 >= tries.len() * 3 {
                break;
            }
        }
        assert!(tries.len() >= TRIES, "{what}: it ended after {} keys", tries.len());
        tries.sort_unstable();
        // what freezes the keys freezes all of them; a busy machine some
        let quarter = tries[tries.len() / 4];
        assert!(quarter < ECHO, "{what}: most keys were seen after {quarter:?} or later: {tries:?}");
    }
}

/// Gives the window another size, as a terminal does.
pub fn drag(program: &mut Program, columns: u16, rows: u16) {
    let size = rustix::termios::Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    program.terminal.screen_mut().set_size(rows.try_into().unwrap(), columns.try_into().unwrap());
    rustix::termios::tcsetwinsize(&program.master, size).unwrap();
}

#[test]
fn two_hundred_resizes_while_it_streams_end_as_a_clean_redraw() {
    let home = Home::new();
    let pieces: Vec<String> = (0..600)
        .map(|n| match n % 12 {
            0 => "\n\n| a | b |\n|---|---|\n| one | 文書 |\n\n".to_owned(),
            6 => {
                "\n\n- an item of `code` that is long enough to be wrapped where it is narrow\n\n".to_owned()
            }
            _ => format!("word-{n} and more of them, "),
        })
        .collect();
    let model = home.script(&json!({"turns": [{"say": pieces, "pace_ms": 5}]}));
    let mut program = home.show(&["--model", &model]);
    program.wait_for("keys");
    program.send("go\r");
    program.wait_for("word-1");
    // a walk through the sizes that is the same each time
    let mut state = 0x2545_f491_4f6c_dd1du64;
    let mut next = |most: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        u16::try_from(state % most).unwrap()
    };
    for n in 0..200 {
        let (columns, rows) = (1 + next(170), 1 + next(60));
        drag(&mut program, columns, rows);
        // now and then several come before it can draw
        if n % 3 != 0 {
            program.read(Duration::from_millis(10));
        }
    }
    drag(&mut program, 100, 30);
    program.until("the end of the turn", |p| p.screen().contains("Enter send"));
    program.until("rest", |p| p.read(Duration::from_millis(300)) == 0);
    let shown = program.screen();
    assert!(shown.contains("word-599"), "{shown}");
    let before = program.bytes.len();
    program.send("\x0c");
    program.until("a redraw", |p| p.bytes.len() > before);
    program.until("rest", |p| p.read(Duration::from_millis(300)) == 0);
    assert_eq!(program.screen(), shown);
    assert_eq!(quit(&mut program), 0);
}

/// What is in the composer after these two pieces and an `x`; it is empty again then.
fn typed_of(program: &mut Program, first: &str, rest: &str) -> String {
    program.send(first);
    // a moment in which it is read: either way the end is the same
    program.read(Duration::from_millis(4));
    program.send(rest);
    program.send("x");
    let draft = |p: &Program| {
        let screen = p.screen();
        let line = screen.lines().find(|line| line.contains('❯')).unwrap_or_default();
        line.split(['❯', '│']).nth(2).unwrap_or_default().trim().to_owned()
    };
    program.until("the x", |p| draft(p).ends_with('x'));
    let typed = draft(program);
    program.send("\x15");
    program.until("an empty line", |p| !draft(p).ends_with('x'));
    typed
}

#[test]
fn what_comes_in_pieces_is_put_together_and_nothing_of_it_is_typed() {
    let home = Home::new();
    let model = home.script(&json!({"turns": [{"say": "hello"}]}));
    let mut program = home.show(&["--model", &model]);
    program.wait_for("keys");
    for sequence in [
        "\x1b[<64;12;5M",
        "\x1b[<0;100;40M\x1b[<0;100;40m",
        "\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\",
        "\x1b[?62;22c",
        "\x1b[1;5C",
        "\x1bP>|some terminal 1.2\x1b\\",
        "\x1b[I",
    ] {
        for at in 1..sequence.len() {
            // what follows an ESC has 50 ms: on a busy machine that may take a try more
            let tries = if sequence.as_bytes()[at - 1] == 0x1b { TRIES } else { 1 };
            let typed = (0..tries).any(|_| typed_of(&mut program, &sequence[..at], &sequence[at..]) == "x");
            assert!(typed, "{sequence:?} cut at {at}:\n{}", program.screen());
        }
    }
    assert_eq!(quit(&mut program), 0);
}

/// The numbers of every SGR sequence among these bytes.
fn styles(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let mut out = Vec::new();
    for part in text.split("\x1b[").skip(1) {
        let end = part.find(|c: char| !(c.is_ascii_digit() || c == ';' || c == ':'));
        if let Some(end) = end.filter(|end| part[*end..].starts_with('m')) {
            out.extend(part[..end].split(';').map(str::to_owned));
        }
    }
    out
}

#[test]
fn no_color_is_obeyed_by_every_part_of_the_screen() {
    let mut home = Home::new();
    home.write("work/a.rs", "fn a() {}\n");
    let turns = json!({"turns": [
        {"think": "I think.", "say": "# A head\n\nSee [it](https://example.org), `code` and\n\n```rust\nfn main() { let a = 1; }\n```\n\n> said\n\n- [x] one\n",
         "calls": [
            {"tool": "edit", "input": {"path": "a.rs", "edits": [{"old": "a()", "new": "b()"}]}},
            {"tool": "bash", "input": {"command": "printf '\\033[31mred\\033[0m\\n'; exit 3"}},
            {"tool": "bash", "input": {"command": "sleep 300", "background": true}},
         ]},
        {"say": "Done with all of it."},
    ]});
    let model = home.script(&turns);
    let mut coloured = home.show(&["--approve", "auto", "--model", &model, "go"]);
    coloured.wait_for("Done with all of it.");
    assert!(styles(&coloured.bytes).iter().any(|n| n == "38"), "else this looks for nothing");
    drop(coloured);
    home.set("NO_COLOR", "1");
    let model = home.script(&turns);
    let mut program = home.show(&["--approve", "auto", "--model", &model, "go"]);
    program.wait_for("Done with all of it.");
    program.until("the end of the turn", |p| p.screen().contains("Enter send"));
    // keys that open something, and what it says
    for (keys, says) in [
        ("?", "Keys and commands"),
        ("\x10", "Choose"),
        ("\x18c", "Theme"),
        ("\x18j", "sleep 300"),
        ("\x18a", "Agents"),
        ("\x18x", "tokens"),
        ("\x18t", "Tree"),
    ] {
        program.send(keys);
        program.wait_for(says);
        // Escape as kitty tells it: no other key can be taken for a part of it
        program.send("\x1b[27u");
        program.wait_for("Enter send");
    }
    let colours = |n: &String| {
        let n = n.split(':').next().and_then(|n| n.parse::<u32>().ok()).unwrap_or(0);
        matches!(n, 30..=38 | 40..=48 | 58 | 90..=107)
    };
    let told: Vec<String> = styles(&program.bytes).into_iter().filter(colours).collect();
    assert!(told.is_empty(), "colours came: {told:?}");
    assert!(styles(&program.bytes).iter().any(|n| n == "1"), "what is told by weight stays");
    assert!(!String::from_utf8_lossy(&program.bytes).contains("\x1b]11;"), "no colour is asked for");
}

#[test]
fn without_a_terminal_the_screen_says_so_and_what_to_do() {
    let home = Home::new();
    let model = home.script(&json!({"turns": [{"say": "hello"}]}));
    // a session of its own without a controlling terminal
    let mut command = home.of_program("setsid", &["--wait", env!("CARGO_BIN_EXE_windlass")]);
    command.args(["--model", &model, "hi"]).stdin(Stdio::null());
    let out = assert_cmd::Command::from_std(command).timeout(crate::terminal::PATIENCE).output().unwrap();
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(said.contains("no terminal to draw on") && said.contains("windlass exec"), "{said}");
    assert!(out.status.code().is_some_and(|code| code != 0), "{:?}", out.status);
    assert!(out.stdout.is_empty() && !said.contains('\x1b'), "{:?}", out.stdout);
    // what was asked for is not lost in a session that nobody sees
    assert!(home.sessions().is_empty() || !home.journal().contains("hello"), "no model was asked");
}

/// Most memory that a process had at once, in KiB.
fn peak(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// How many bytes wait in a pipe.
fn waiting(pipe: &impl std::os::fd::AsFd) -> u64 {
    rustix::io::ioctl_fionread(pipe).unwrap()
}

#[test]
fn a_slow_reader_of_exec_misses_nothing_and_costs_no_memory() {
    let home = Home::new();
    let pieces: Vec<String> = (0..3000).map(|n| format!("{n} {}\n", "é text ".repeat(60))).collect();
    let all = pieces.concat();
    let model = home.script(&json!({"turns": [
        {"say": pieces, "calls": [{"tool": "bash", "input": {"command": "seq 1 200000"}}]},
        {"say": "That is all."},
    ]}));
    let mut child = home
        .command(&["exec", "--json", "--approve", "auto", "--model", &model, "go"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut out = child.stdout.take().unwrap();
    // nobody reads until nothing goes into the pipe any more
    let mut before = (0, Instant::now());
    until("a full pipe", || {
        let now = waiting(&out);
        if now != before.0 {
            before = (now, Instant::now());
        }
        now > 32_000 && before.1.elapsed() > Duration::from_millis(400)
    });
    assert!(child.try_wait().unwrap().is_none(), "it waits for its reader");
    let held = peak(child.id());
    let mut text = Vec::new();
    let mut piece = [0u8; 4096];
    let mut most = held;
    loop {
        let n = out.read(&mut piece).unwrap();
        if n == 0 {
            break;
        }
        text.extend_from_slice(&piece[..n]);
        most = most.max(peak(child.id()));
        // slower than it can write
        std::thread::yield_now();
    }
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let events: Vec<Value> = text
        .split(|b| *b == b'\n')
        .filter(|l| !l.is_empty())
        .map(|l| serde_json::from_slice(l).unwrap())
        .collect();
    let of = |kind: &'static str| events.iter().filter(move |event| event["type"] == kind);
    let deltas: String = of("text.delta").filter_map(|event| event["text"].as_str()).collect();
    assert_eq!(deltas.replacen("That is all.", "", 1), all, "the deltas together");
    assert!(of("message").any(|event| event["text"] == json!(all)), "the message whole");
    let output = of("call.settled").next().unwrap()["output"].as_str().unwrap().to_owned();
    assert!(output.contains("\n200000"), "{output:.200}");
    assert_eq!(events.last().unwrap()["type"], "session.ended");
    // the answer itself, some copies of it on its way, and what the program has anyway
    let bound = 60_000 + 12 * all.len() as u64 / 1024;
    assert!(most < bound, "{most} KiB at most; {held} while nobody read; {bound} may be");
}

/// The per cent of the window that the title tells.
fn meter(program: &Program) -> Option<u64> {
    let screen = program.screen();
    let rest = screen.split("ctx ").nth(1)?;
    rest.split('%').next()?.parse().ok()
}

#[test]
fn the_title_the_page_and_the_threshold_go_by_one_count() {
    // 16 384 tokens stay free of 40 000: the threshold is at 23 616
    for (input, summarised) in [(23_000, false), (23_610, true)] {
        let home = Home::new();
        let model = home.script(&json!({"window": 40_000, "turns": [
            {"say": "first answer", "usage": {"input": input, "output": 0}},
            {"say": "second answer", "usage": {"input": 200, "output": 10}},
            {"say": "third answer", "usage": {"input": 200, "output": 10}},
        ]}));
        let settings = json!({"compaction": {"reserve": 16_384, "keep_recent_tokens": 0}});
        home.write("config/windlass/settings.json", &settings.to_string());
        let mut program = home.show(&["--model", &model]);
        program.wait_for("keys");
        program.send("go\r");
        program.wait_for("first answer");
        program.until("the count", |p| meter(p).is_some_and(|n| n > 50));
        let title = meter(&program).unwrap();
        assert_eq!(title, input * 100 / 40_000, "what the provider counted");
        program.send("\x18x");
        program.wait_for("about ");
        let page = program.screen();
        let said = page.split("about ").nth(1).unwrap();
        let total: u64 = said.split(' ').next().unwrap().parse().unwrap();
        assert_eq!(total * 100 / 40_000, title, "{page}");
        assert!(page.contains(&format!("({title}%)")), "{page}");
        program.send("\x1b[27u");
        program.wait_gone("about ");
        // it does not move by itself, nor by what is typed
        program.send("some words");
        program.wait_for("some words");
        assert_eq!(meter(&program), Some(title));
        program.send(&" and many more of them".repeat(12));
        program.wait_for("of them and many");
        program.send("\r");
        program.wait_for(if summarised { "third answer" } else { "second answer" });
        assert_eq!(
            program.screen().contains("older messages were summarised"),
            summarised,
            "{input}: {}",
            program.screen()
        );
        assert_eq!(quit(&mut program), 0);
    }
}

#[test]
fn where_the_window_is_unknown_the_title_says_so() {
    let mut home = Home::new();
    let server = Served::start(WIRE, vec![says(WIRE, "hello there")]);
    home.serve(WIRE, &server.url());
    let mut program = home.show(&[]);
    program.wait_for("ctx");
    assert!(!program.screen().contains("ctx 0%"), "{}", program.screen());
    program.send("hi\r");
    program.wait_for("hello there");
    program.until("what is known", |p| p.screen().contains("unknown"));
    assert_eq!(meter(&program), None, "{}", program.screen());
    assert_eq!(quit(&mut program), 0);
}

/// A bwrap that fails as it does where the system forbids user namespaces, and notes that it was asked.
fn forbidden(home: &mut Home) {
    let asked = home.path("asked");
    let program = format!(
        "#!/bin/sh\necho asked >>{}\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n",
        asked.display()
    );
    std::fs::create_dir(home.path("bin")).unwrap();
    crate::executable(&home.path("bin/bwrap"), program.as_bytes());
    home.set("PATH", &format!("{}:{}", home.path("bin").display(), std::env::var("PATH").unwrap()));
}

#[test]
fn where_user_namespaces_are_forbidden_that_is_one_status_and_nothing_asks_for_more() {
    let mut home = Home::new();
    forbidden(&mut home);
    let ran = home.run(&["doctor"]);
    let lines: Vec<&str> = ran.out.lines().filter(|line| line.contains("uid map")).collect();
    assert_eq!(lines.len(), 1, "one status: {}", ran.out);
    assert!(lines[0].contains("cannot be held") && lines[0].contains("Permission denied"), "{}", lines[0]);
    assert!(ran.out.contains("agents.unheld_commands") && ran.out.contains("user namespaces"), "{}", ran.out);
    assert_eq!(home.read("asked").lines().count(), 1, "it is tried once");
    // commands and edits of a session that needs no hold: nothing is tried, nothing is asked, nothing is guessed
    std::fs::remove_file(home.path("asked")).unwrap();
    let denied = "echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1";
    let model = home.script(&json!({"turns": [
        {"calls": [
            {"tool": "write", "input": {"path": "a", "content": "x"}},
            {"tool": "bash", "input": {"command": denied}},
            {"tool": "bash", "input": {"command": "echo went"}},
        ]},
        {"say": "done"},
    ]}));
    let ran = home.run(&["exec", "--json", "--approve", "auto", "--model", &model, "go"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert_eq!(ran.of("approval").len(), 0, "{}", ran.out);
    let settled = ran.of("call.settled");
    let status: Vec<&str> = settled.iter().filter_map(|event| event["status"].as_str()).collect();
    assert_eq!(status, ["ok", "error", "ok"], "the command failed, and that is all: {}", ran.out);
    assert!(!home.path("asked").exists(), "what needs no hold tries none");
    // an agent in a copy has its files and no commands: none is started outside of the copy
    let model = home.script(&json!({
        "turns": [
            {"calls": [{"tool": "spawn", "input": {"name": "one", "prompt": "work", "workspace": "isolated"}}]},
            {"calls": [{"tool": "agents", "input": {"action": "wait", "name": "one"}}]},
            {"say": "done"},
        ],
        "agents": {"one": {"turns": [
            {"calls": [{"tool": "bash", "input": {"command": "echo went >b"}},
                       {"tool": "write", "input": {"path": "c", "content": "y"}}]},
            {"say": "as far as it goes"},
        ]}},
    }));
    let ran = home.run(&["exec", "--json", "--approve", "auto", "--model", &model, "go"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let of_agent: Vec<Value> =
        ran.of("call.settled").into_iter().filter(|event| event["agent"] == "one").collect();
    let status: Vec<&str> = of_agent.iter().filter_map(|event| event["status"].as_str()).collect();
    assert_eq!(status, ["error", "ok"], "{}", ran.out);
    let why = of_agent[0]["output"].as_str().unwrap();
    assert!(why.contains("There is no tool bash"), "it was offered none: {why}");
    assert!(!home.path("work/b").exists() && home.path("work/c").exists(), "{}", ran.out);
    assert_eq!(home.read("asked").lines().count(), 1, "once for the agent, not for each command");
}
