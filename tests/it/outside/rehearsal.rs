//! The rehearsal in a terminal, by keys, and every way out of the program.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::{Home, files, until};
use crate::terminal::{PATIENCE, Program};

/// Leaves by key: with an empty draft and nothing running, twice `^C`.
pub fn quit(program: &mut Program) -> i32 {
    program.send("\x03");
    program.wait_for("again leaves");
    program.send("\x03");
    program.end()
}

/// Says yes to every question, and looks at the screen in between, until the rehearsal has ended. How often it was
/// asked. When both agents have ended, `clash` may do something before the script is told to go on.
fn to_the_end(
    program: &mut Program,
    mut between: impl FnMut(&mut Program),
    clash: impl FnOnce(&mut Program),
) -> usize {
    let (mut answered, end) = (0, Instant::now() + PATIENCE * 12);
    let (mut both_asked, mut clash) = (false, Some(clash));
    while !program.screen().contains("End of the rehearsal.") {
        assert!(Instant::now() < end, "no end:\n{}", program.screen());
        program.read(Duration::from_millis(20));
        let screen = program.screen();
        both_asked |= screen.contains(" of 2 · agent ");
        if screen.contains("until then keys go where you were") {
            // the last key was pressed only just: the question does not take the next one by itself
            program.send("\x1ba");
            // it may have taken the keys by itself meanwhile, so that this led away from it: then once more
            let pressed = Instant::now();
            program.until("the question has the keys", |program| {
                let away = program.screen().contains("until then keys go where you were");
                !away || pressed.elapsed() > Duration::from_secs(2)
            });
        } else if screen.contains("y once") && !screen.contains("a moment") {
            // they clash when both have their copy: none is answered before the other asks
            if both_asked || !screen.contains("apply_patch wants") {
                program.send("y");
                // the question of the other agent stands there next
                let asked = |screen: &str| {
                    let who =
                        |line: &str| Some(line.split_once(" wants to ")?.0.rsplit('┌').next()?.to_owned());
                    screen.lines().find_map(who)
                };
                program.until("the end of the question", |program| {
                    let now = program.screen();
                    !now.contains("y once") || asked(&now) != asked(&screen)
                });
                answered += 1;
            }
        } else if screen.contains("⚑ 2 conflicts: NOTES.md, report")
            && screen.contains("Then write done")
            && let Some(clash) = clash.take()
        {
            if screen.contains(" · Esc back · ") {
                // from the list of jobs to the composer
                program.send("q");
                program.wait_gone(" · Esc back · ");
            }
            clash(program);
            program.send("done\r");
        }
        between(program);
    }
    assert!(both_asked && clash.is_none(), "no clash:\n{}", program.screen());
    answered
}

/// Resolves what clashed by the keys that the script names.
fn resolve(program: &mut Program) {
    program.send("\x18h");
    program.wait_for("Hand-backs");
    program.until("who came back", |program| program.screen().lines().any(|line| line.starts_with("│⚑")));
    program.send("\r");
    program.wait_for(" NOTES.md · ");
    program.wait_for("○ p");
    program.send("p");
    program.wait_for("● p");
    program.send("w");
    program.wait_for(" report · both changed it, differently ");
    program.wait_for("hunk 1 of 1 · open");
    program.send("b");
    program.wait_for("from child");
    program.send("w");
    program.wait_for("nothing is open any more");
    program.send("q");
    program.wait_gone("Hand-back · ");
}

/// Leaves while a job runs: it is ended.
fn kill_all_and_quit(program: &mut Program) -> i32 {
    program.send("\x03");
    program.wait_for("again leaves");
    program.send("\x03");
    program.wait_for("Kill all");
    program.send("\x1b[B\r");
    program.end()
}

fn begin(home: &Home) -> (Program, std::path::PathBuf) {
    let mut program = home.show(&["--rehearsal"]);
    program.wait_for("mend it");
    let scratch = std::fs::read_dir(home.path("tmp")).unwrap().next().unwrap().unwrap().path();
    let sample = scratch.join("wordcount/wordcount");
    assert!(!std::fs::read_to_string(&sample).unwrap().contains("wc -w"));
    program.send("\r");
    (program, sample)
}

fn project(sample: &Path) -> &Path {
    sample.parent().unwrap()
}

/// The program that both agents change, as it is now.
fn report(sample: &Path) -> String {
    std::fs::read_to_string(project(sample).join("report")).unwrap()
}

/// Whether all that did not clash came back.
fn docs_and_readme(sample: &Path) -> bool {
    let read = |name: &str| std::fs::read_to_string(project(sample).join(name)).unwrap_or_default();
    read("docs/lines.md").contains("many lines")
        && read("docs/bytes.md").contains("many bytes")
        && read("README.md").contains("its words and its bytes")
}

/// Words, lines and bytes of a file.
fn counted(file: &Path) -> (usize, usize, usize) {
    let text = std::fs::read_to_string(file).unwrap();
    (text.split_whitespace().count(), text.lines().count(), text.len())
}

fn left_nothing(home: &Home, program: &mut Program) {
    program.assert_clean();
    assert_eq!(files(&home.path("tmp")), Vec::<std::path::PathBuf>::new(), "the scratch copy is gone");
    assert_eq!(std::fs::read_dir(home.path("tmp")).unwrap().count(), 0);
    assert_eq!(home.sessions(), Vec::<std::path::PathBuf>::new(), "it leaves no session");
}

#[test]
fn the_rehearsal_runs_through_when_its_jobs_are_left_alone_and_leaves_nothing() {
    let home = Home::new();
    let (mut program, sample) = begin(&home);
    let mut told = false;
    let answered = to_the_end(
        &mut program,
        |program| told |= program.screen().contains("✗ killed by the model"),
        |_| {},
    );
    assert!(program.screen().contains("scripted"), "it is labelled:\n{}", program.screen());
    assert_eq!(answered, 10, "six commands, an edit, a kill, and two patches");
    assert!(std::fs::read_to_string(&sample).unwrap().contains("wc -w"));
    let counts = |what: &str| report(&sample).matches(what).count();
    assert_eq!(counts("wc -l") + counts("wc -c"), 1, "what clashed stays as it is: {}", report(&sample));
    assert!(docs_and_readme(&sample), "what nobody else touched was taken");
    assert!(told, "its end is told:\n{}", program.screen());
    assert_eq!(kill_all_and_quit(&mut program), 0);
    left_nothing(&home, &mut program);
}

#[test]
fn in_the_rehearsal_a_runaway_is_killed_a_question_answered_and_a_conflict_resolved_by_the_keys_that_it_names()
 {
    let home = Home::new();
    let (mut program, sample) = begin(&home);
    let mut killed = false;
    let between = |program: &mut Program| {
        // while a question stands there, keys are its answer
        let screen = program.screen();
        if !killed && screen.contains("j3 ●") && !screen.contains("y once") {
            program.send("\x18j");
            program.send("/runaway\r");
            program.wait_for(") /runaway");
            program.send("x");
            program.wait_for("✗ stopped by you");
            program.send("\x1b");
            program.wait_gone(") /runaway");
            program.send("/greet\r");
            program.wait_for(") /greet");
            program.send("a");
            program.wait_for("^] leaves");
            program.wait_for("Who are you?");
            program.send("Ann\r");
            program.wait_for("Hello, Ann!");
            program.until("its end is seen", |p| !p.screen().contains("^] leaves"));
            program.send("\x1dq");
            program.wait_for(") /greet");
            program.send("\x1b");
            program.wait_gone(") /greet");
            killed = true;
        }
    };
    let answered = to_the_end(&mut program, between, resolve);
    assert!(killed, "{}", program.screen());
    assert_eq!(answered, 10);
    assert!(report(&sample).contains("wc -l") && report(&sample).contains("wc -c"), "{}", report(&sample));
    let ran =
        Command::new("sh").args(["./report", "README.md"]).current_dir(project(&sample)).output().unwrap();
    let (words, lines, bytes) = counted(&project(&sample).join("README.md"));
    let said = String::from_utf8(ran.stdout).unwrap();
    for count in [format!("{words} words"), format!("{lines} lines"), format!("{bytes} bytes")] {
        assert!(said.contains(&count), "{count}: {said}");
    }
    assert!(docs_and_readme(&sample), "what nobody else touched was taken");
    assert_eq!(kill_all_and_quit(&mut program), 0);
    left_nothing(&home, &mut program);
}

#[test]
fn a_signal_in_the_rehearsal_leaves_nothing_either() {
    for (signal, code) in [(Signal::SIGTERM, 143), (Signal::SIGHUP, 129), (Signal::SIGINT, 130)] {
        let home = Home::new();
        let mut program = home.show(&["--rehearsal"]);
        program.wait_for("mend it");
        program.send("\r");
        program.wait_for("I am");
        program.signal(signal);
        assert_eq!(program.end(), code, "{signal}");
        program.assert_clean();
        assert_eq!(std::fs::read_dir(home.path("tmp")).unwrap().count(), 0, "{signal}");
    }
}

#[test]
fn stopped_and_continued_by_a_real_shell_it_keeps_its_draft() {
    let home = Home::new();
    let shell = home.of_program("bash", &["--norc", "--noprofile", "-i"]);
    let mut program = Program::start(&shell);
    program.send("PS1='ready> '\r");
    program.wait_for("\nready> ");
    let binary = env!("CARGO_BIN_EXE_windlass");
    program.send(&format!("{binary} --rehearsal\r"));
    program.wait_for("mend it");
    program.send(" my own words");
    program.wait_for("my own words");
    program.send("\x1a");
    program.wait_for("Stopped");
    program.until("the shell", |p| p.screen().trim_end().ends_with("\nready>"));
    assert!(!program.terminal.screen().alternate_screen() && !program.terminal.screen().hide_cursor());
    program.send("echo a-line-$((6*7))\r");
    program.wait_for("a-line-42");
    program.send("fg\r");
    program.until("the screen", |p| p.terminal.screen().alternate_screen());
    program.wait_for("my own words");
    program.send("\x03");
    program.wait_gone("my own words");
    program.send("\x03");
    program.wait_for("again leaves");
    program.send("\x03");
    program.until("the shell", |p| p.screen().trim_end().ends_with("\nready>"));
    program.send("echo left-with-$?\r");
    program.wait_for("left-with-0");
    program.send("exit\r");
    program.end();
    until("no scratch", || std::fs::read_dir(home.path("tmp")).unwrap().count() == 0);
}
