//! `windlass jobs attach` in a terminal of its own, to a job of a program in another one.

use nix::sys::signal::Signal;
use serde_json::json;

use crate::outside::{Home, until};
use crate::terminal::{PATIENCE, Program};

/// A program with a job that has a terminal, and the job's size before anybody came.
fn with_job(home: &Home, command: &str) -> Program {
    let call = json!({"tool": "bash", "input": {"command": command, "background": true, "terminal": true}});
    let model = home.script(&json!({"turns": [{"say": "go", "calls": [call]}, {"say": "it runs now"}]}));
    let mut program = home.show(&["--model", &model, "--approve", "auto", "go"]);
    program.wait_for("it runs now");
    until("it is a job", || home.run(&["jobs", "list"]).out.contains("running"));
    program
}

fn attach(home: &Home) -> Program {
    let mut attached = Program::sized(&home.command(&["jobs", "attach", "j1"]), 90, 20);
    attached.wait_for("attached to j1 · ^] or F12 leaves");
    attached
}

/// Whether every thread of a process stands still.
pub fn stopped(pid: nix::unistd::Pid) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
    threads
        .map(|thread| std::fs::read_to_string(thread.path().join("stat")).unwrap_or_default())
        .all(|stat| stat.rsplit_once(')').is_none_or(|(_, rest)| rest.trim_start().starts_with('T')))
}

const SHELL: &str = "PS1='> ' ENV= exec sh -i";

#[test]
fn what_is_typed_reaches_the_job_and_the_key_leaves_it() {
    let home = Home::new();
    let _program = with_job(&home, SHELL);
    let mut attached = attach(&home);
    attached.send("echo $((20 + 22)) there; stty size\r");
    attached.wait_for("42 there");
    attached.wait_for("20 90");
    attached.wait_gone("F12 leaves");
    attached.send("printf '\\033[31mred\\033[m\\n'\r");
    attached.until("a red word", |p| {
        let screen = p.terminal.screen();
        let red = |row, col| {
            screen.cell(row, col).is_some_and(|c| c.contents() == "r" && c.fgcolor() == vt100::Color::Idx(1))
        };
        // the prompt may stand before it
        (0..20).any(|row| (0..10).any(|col| red(row, col)))
    });
    // stopped for a while: the terminal is the shell's, and afterwards the job's again
    attached.signal(Signal::SIGTSTP);
    until("it is stopped", || stopped(attached.pid()));
    attached.until("the shell's screen", |p| !p.terminal.screen().alternate_screen());
    attached.assert_clean();
    attached.signal(Signal::SIGCONT);
    attached.wait_for("42 there");
    attached.send("echo $((40 + 1)) again\r");
    attached.wait_for("41 again");

    attached.send("\x1d");
    assert_eq!(attached.end(), 0);
    attached.assert_clean();
    assert!(attached.screen().contains("left j1: running"), "{}", attached.screen());

    // so does F12, also where a connection cuts it; another key of that kind is the job's
    let mut attached = attach(&home);
    attached.send("cat -v\r");
    attached.wait_gone("F12 leaves");
    attached.send("\x1b[23~\r");
    attached.wait_for("^[[23~");
    attached.send("\x03\x1b[2");
    attached.send("4~");
    assert_eq!(attached.end(), 0);
    attached.assert_clean();

    // the end of the job ends it, too
    let mut attached = attach(&home);
    attached.send("exit 3\r");
    assert_eq!(attached.end(), 0);
    attached.assert_clean();
    assert!(attached.screen().contains("ended j1: exit 3"), "{}", attached.screen());
    let over = home.run(&["jobs", "attach", "j1"]);
    assert_eq!(over.code, Some(1));
    assert!(over.err.contains("j1 has ended already: exit 3"), "{}", over.err);
}

#[test]
fn the_window_s_size_is_the_job_s_and_what_was_found_is_given_back() {
    let home = Home::new();
    // no trap: a shell forgets a signal that comes while it is in one
    let command = "last=$(stty size); echo ready; \
                   while sleep 0.05; do now=$(stty size); [ \"$now\" = \"$last\" ] || echo \"$now\"; last=$now; done";
    let _program = with_job(&home, command);
    let said = |size: &str| {
        let mut last = String::new();
        let begun = std::time::Instant::now();
        while last.lines().last() != Some(size) {
            assert!(begun.elapsed() < PATIENCE, "{size} did not come, but {last}");
            last = home.run(&["jobs", "tail", "j1"]).out;
        }
    };
    said("ready");
    let mut attached = attach(&home);
    said("20 90");
    let size = rustix::termios::Winsize { ws_row: 15, ws_col: 50, ws_xpixel: 0, ws_ypixel: 0 };
    rustix::termios::tcsetwinsize(&attached.master, size).unwrap();
    said("15 50");
    attached.wait_for("15 50");
    attached.signal(Signal::SIGTERM);
    assert_eq!(attached.end(), 143);
    attached.assert_clean();
    said("24 80");
}

#[test]
fn the_program_s_own_screen_looks_at_the_same_terminal() {
    let home = Home::new();
    let mut program = with_job(&home, SHELL);
    program.send("\x18j");
    program.wait_for("P keep");
    program.send("\r");
    program.wait_for("a attach");
    let mut attached = attach(&home);
    attached.send("echo $((20 + 22)) seen; stty size\r");
    attached.wait_for("42 seen");
    // who came last sets the size
    attached.wait_for("20 90");
    program.wait_for("42 seen");
    attached.send("\x1d");
    assert_eq!(attached.end(), 0);
    // and gives back the one that was there: that of the program's view
    program.send("a");
    program.wait_for("^]");
    program.send("stty size\r");
    program.until("another size", |p| {
        let sizes = |line: &str| {
            matches!(line.split_whitespace().collect::<Vec<_>>()[..], [rows, cols]
            if rows.parse::<u16>().is_ok_and(|rows| rows > 20) && cols.parse::<u16>().is_ok())
        };
        p.screen().lines().any(sizes)
    });
}

#[test]
fn a_job_without_a_terminal_and_a_place_without_one_are_told_what_to_do() {
    let home = Home::new();
    let calls = [
        json!({"tool": "bash", "input": {"command": "sleep 300", "background": true}}),
        json!({"tool": "bash", "input": {"command": "sleep 300", "background": true, "terminal": true}}),
    ];
    let model = home.script(&json!({"turns": [{"say": "go", "calls": calls}, {"say": "both run"}]}));
    let mut program = home.show(&["--model", &model, "--approve", "auto", "go"]);
    program.wait_for("both run");
    until("both are jobs", || home.run(&["jobs", "list"]).out.lines().count() == 2);
    let plain = home.run(&["jobs", "attach", "j1"]);
    assert_eq!(plain.code, Some(1));
    assert!(plain.err.contains("windlass jobs tail --follow j1"), "{}", plain.err);
    let pipe = home.run(&["jobs", "attach", "j2"]);
    assert_eq!(pipe.code, Some(2));
    assert!(pipe.err.contains("needs a terminal"), "{}", pipe.err);
}

/// A job whose program has put its terminal into every mode that a person could be left in.
const MODES: &str = "printf '\\033[?1049h\\033[?2004h\\033[?1003h\\033[?1006h\\033[?1h\\033=\\033[?25l'; echo modes; exec sleep 300";

#[test]
fn every_way_out_leaves_the_terminal_clean() {
    let home = Home::new();
    let _program = with_job(&home, MODES);
    let mut ways: Vec<(Signal, i32)> = Vec::new();
    for signal in [Signal::SIGTERM, Signal::SIGHUP, Signal::SIGINT, Signal::SIGQUIT] {
        ways.push((signal, 128 + signal as i32));
    }
    for (signal, code) in ways {
        let mut attached = attach(&home);
        attached.wait_for("modes");
        assert!(attached.terminal.screen().bracketed_paste(), "the job's modes are the terminal's");
        attached.signal(signal);
        assert_eq!(attached.end(), code, "{signal}");
        attached.assert_clean();
        assert!(!attached.terminal.screen().application_keypad(), "{signal}");
        assert!(!attached.terminal.screen().application_cursor(), "{signal}");
        assert!(attached.screen().contains("left j1: running"), "{signal}: {}", attached.screen());
    }
    // its terminal goes: nothing can be told there, and nothing stays behind
    let mut attached = attach(&home);
    drop(std::mem::replace(&mut attached.master, std::fs::File::open("/dev/null").unwrap()));
    assert_ne!(attached.end(), 0);
    assert!(home.run(&["jobs", "list"]).out.contains("running"), "the job goes on");
}

#[test]
fn a_panic_while_attached_leaves_the_terminal_clean_and_is_told() {
    if crate::again::role().is_some() {
        let _raw = windlass::front::attach::terminal::Raw::enter().unwrap();
        windlass::front::attach::terminal::write(b"\x1b[?2004h\x1b[?1003h\x1b[?25lpicture").unwrap();
        panic!("the reason is told");
    }
    let test = "attach::a_panic_while_attached_leaves_the_terminal_clean_and_is_told";
    let mut program = Program::start(&crate::again::command(test, "panics"));
    assert_ne!(program.end(), 0);
    program.assert_clean();
    assert!(program.screen().contains("the reason is told"), "{}", program.screen());
    assert!(!program.screen().contains("picture"), "{}", program.screen());
}
