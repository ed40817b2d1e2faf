//! Agents of agents from outside: what both left open on one path is resolved by keys and by commands, and a hand-back
//! that failed is tried again.
//!
//! Not here: the rising of workspaces by itself (`hand_back::nested`).

use std::fs;

use serde_json::{Value, json};

use crate::agents::{bash, calls, says, script, spawn};
use crate::outside::{Home, Ran, until};
use crate::terminal::Program;

const PERSON: &str = "one\ntwo person\n";
const LEXER: &str = "one\ntwo lexer\n";
const X: &str = "one\ntwo x\n";
const ALL: &str = "one\ntwo lexer\ntwo x\n";

/// A directory with a file `f`, and the script of `lexer`, of `x` that it asks for, and of who asked for it.
struct Scene {
    home: Home,
    model: String,
}

/// A command that writes `f`, says that it did and waits for the word.
fn writes(home: &Home, name: &str, text: &str) -> Value {
    let (at, go) = (home.path(&format!("beside/at-{name}")), home.path("beside/go"));
    let (text, at, go) = (text.replace('\n', "\\n"), at.display(), go.display());
    bash(format!("printf '{text}' >f; touch '{at}'; until [ -e '{go}' ]; do sleep 0.02; done"))
}

impl Scene {
    fn new() -> Self {
        let home = Home::new();
        home.write("work/f", "one\ntwo\n");
        fs::create_dir(home.path("beside")).unwrap();
        let lexer = vec![
            calls(&[spawn("x", "isolated")]),
            writes(&home, "lexer", LEXER),
            says("lexer is done"),
            says("lexer heard of x"),
        ];
        let x = vec![writes(&home, "x", X), says("x is done")];
        let top = [calls(&[spawn("lexer", "isolated")]), says("asked"), says("heard")];
        let script = script(&top, &[("lexer", lexer), ("lexer/x", x)]);
        let model = home.script(&serde_json::from_str(&script).unwrap());
        Self { home, model }
    }

    /// Waits until both have written; then the person does, and they may end.
    fn meet(&self) {
        until("both at work", || {
            ["lexer", "x"].iter().all(|name| self.home.path(&format!("beside/at-{name}")).exists())
        });
        self.home.write("work/f", PERSON);
        self.home.write("beside/go", "");
    }

    fn handback(&self, words: &[&str]) -> Ran {
        self.home.run(&[&["handback"], words].concat())
    }
    fn done(&self, words: &[&str]) -> String {
        let ran = self.handback(words);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{words:?}: {}", ran.out);
        ran.out
    }
    fn refused(&self, words: &[&str]) -> String {
        let ran = self.handback(words);
        assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{words:?}: {}", ran.err);
        ran.err
    }
    /// The agents of which a conflict is open.
    fn open(&self) -> Vec<String> {
        let rows = self.handback(&["list", "--json"]).events();
        let open = rows.iter().filter(|row| row["open"] == json!(["f"]));
        open.map(|row| row["child"].as_str().unwrap().to_owned()).collect()
    }
    fn f(&self) -> String {
        self.home.read("work/f")
    }
}

fn title_says(program: &mut Program, wanted: Option<&str>) {
    program.until(&format!("a title with {wanted:?}"), |program| {
        let screen = program.screen();
        let title = screen.lines().next().unwrap_or_default();
        wanted.map_or(!title.contains('⚑'), |wanted| title.contains(wanted))
    });
}

#[test]
fn what_an_agents_agent_left_open_is_resolved_by_keys_after_both_have_ended() {
    let scene = Scene::new();
    let command = scene.home.command(&["--model", &scene.model, "--approve", "auto", "go"]);
    let mut program = Program::sized(&command, 140, 45);
    scene.meet();
    title_says(&mut program, Some("⚑ 2 conflicts"));
    // the report names both, and so does the pane
    program.wait_for("1 conflict of lexer/x: f");
    program.send("\x18a");
    program.wait_for("hand-back");
    for (keys, choice, now, left) in [("h", "c", LEXER, Some("⚑ 1 conflict")), ("jh", "b", ALL, None)] {
        for key in keys.chars() {
            program.send(&key.to_string());
        }
        program.wait_for("hunk 1 of 1 · open");
        program.send(choice);
        program.wait_for("all chosen");
        program.send("w");
        program.wait_for(": written · ");
        program.send("q");
        program.wait_gone("Hand-back · ");
        title_says(&mut program, left);
        assert_eq!(scene.f(), now);
    }
    // neither the pane nor the conversation says that anything is open
    program.until("no flag", |program| !program.screen().contains('⚑'));
    program.wait_for("1 conflict of lexer/x, resolved: f");
    assert_eq!(crate::outside::rehearsal::quit(&mut program), 0);
    program.assert_clean();
    assert_eq!(scene.open(), Vec::<String>::new());
}

#[test]
fn what_an_agents_agent_left_open_is_resolved_by_commands_and_dropped_with_it() {
    let scene = Scene::new();
    let out = scene.home.path("out.jsonl");
    let mut command =
        scene.home.command(&["exec", "--json", "--model", &scene.model, "--approve", "auto", "go"]);
    let mut child = command.stdout(fs::File::create(&out).unwrap()).spawn().unwrap();
    scene.meet();
    until("the end of the run", || child.try_wait().unwrap().is_some());
    let out = fs::read_to_string(out).unwrap();
    let events: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |child: &str| {
        let is = |event: &&Value| event["type"] == "handback" && event["child"] == child;
        events.iter().find(is).unwrap_or_else(|| panic!("no hand-back of {child}: {out}"))
    };
    assert_eq!(of("x")["conflicts"], json!(["f"]));
    let left = json!([{"child": "lexer/x", "handed_back": true, "conflicts": ["f"]}]);
    assert_eq!((&of("lexer")["conflicts"], &of("lexer")["left_open"]), (&json!(["f"]), &left));
    assert_eq!((scene.open(), scene.f().as_str()), (vec!["lexer".into(), "lexer/x".into()], PERSON));
    let told = scene.done(&["show", "lexer/x", "f"]);
    assert!(told.contains("two lexer") || told.contains("two person"), "{told}");
    assert!(scene.refused(&["drop", "lexer"]).contains("lexer has 1 open conflict"));
    scene.done(&["resolve", "lexer", "f", "--take", "child"]);
    assert_eq!((scene.open(), scene.f().as_str()), (vec!["lexer/x".into()], LEXER));
    // one that hides what the other left would be lost with it
    assert!(scene.refused(&["drop", "lexer"]).contains("lexer/x has 1 open conflict"));
    for _ in 0..2 {
        scene.done(&["resolve", "lexer/x", "f", "--take", "both"]);
        assert_eq!((scene.open(), scene.f().as_str()), (Vec::new(), ALL));
        scene.done(&["revert", "lexer/x", "f"]);
        assert_eq!((scene.open(), scene.f().as_str()), (vec!["lexer/x".into()], LEXER));
    }
    assert_eq!(
        scene.done(&["drop", "lexer", "--force"]),
        "lexer/x: dropped, with 1 open conflict\nlexer: dropped\n"
    );
    assert_eq!(scene.done(&["list"]), "no agent has a copy of its own\n");
    assert_eq!(scene.f(), LEXER);
}

/// An agent `w` that wrote `f` in its copy and ends while the directory is away; the program on its screen.
fn failed() -> (Scene, Program) {
    let home = Home::new();
    home.write("work/f", "one\ntwo\n");
    fs::create_dir(home.path("beside")).unwrap();
    let w = vec![writes(&home, "w", X), says("w is done"), says("w again")];
    let top = [calls(&[spawn("w", "isolated")]), says("asked"), says("heard"), says("heard more")];
    let script = script(&top, &[("w", w)]);
    let model = home.script(&serde_json::from_str(&script).unwrap());
    let scene = Scene { home, model };
    let command = scene.home.command(&["--model", &scene.model, "--approve", "auto", "go"]);
    let mut program = Program::sized(&command, 140, 45);
    until("w at work", || scene.home.path("beside/at-w").exists());
    // as a disk that went: neither root nor anybody else finds it
    fs::rename(scene.home.path("work"), scene.home.path("away")).unwrap();
    scene.home.write("beside/go", "");
    program.wait_for("its hand-back failed");
    program.send("\x18a");
    program.wait_for("hand back again");
    fs::rename(scene.home.path("away"), scene.home.path("work")).unwrap();
    let listed = scene.done(&["list"]);
    assert!(listed.starts_with("w  has not handed back: could not open "), "{listed}");
    assert!(listed.ends_with("`windlass handback retry w` tries again\n"), "{listed}");
    let row = &scene.handback(&["list", "--json"]).events()[0];
    assert_eq!(row["state"], "failed");
    assert!(row["why"].as_str().unwrap().starts_with("could not open "), "{row}");
    assert_eq!(scene.f(), "one\ntwo\n");
    // its work is in its copy only: no other copy is begun over it
    program.send("m");
    program.wait_for("its hand-back failed: r tries that first");
    program.send("go on\r");
    program.wait_for("what w changed was not handed back: try that again first");
    // what was typed is not lost
    program.wait_for("❯ go on");
    (scene, program)
}

#[test]
fn a_hand_back_that_failed_is_tried_again_by_a_key() {
    let (scene, mut program) = failed();
    program.send("r");
    program.wait_for("handed back: 1 taken");
    assert_eq!(scene.f(), X);
    let row = &scene.handback(&["list", "--json"]).events()[0];
    assert_eq!(
        (&row["state"], &row["taken"], &row["why"]),
        (&json!("handed_back"), &json!(["f"]), &Value::Null)
    );
    // and it can work again
    program.send("m");
    program.wait_for("it has ended: it works again then");
    program.send("go on\r");
    program.until("its second answer", |program| program.screen().contains("nothing changed"));
    // the draft goes first
    program.send("\x03");
    program.wait_gone("❯ go on");
    assert_eq!(crate::outside::rehearsal::quit(&mut program), 0);
    program.assert_clean();
}

#[test]
fn a_hand_back_that_failed_is_tried_again_by_a_command_and_told_at_the_next_open() {
    let (scene, mut program) = failed();
    assert_eq!(scene.done(&["retry", "w"]), "w  1 taken\n");
    assert_eq!(scene.f(), X);
    assert!(scene.refused(&["retry", "w"]).contains("w has handed back already"));
    program.send("\x03");
    program.wait_gone("❯ go on");
    assert_eq!(crate::outside::rehearsal::quit(&mut program), 0);
    program.assert_clean();
    let command = scene.home.command(&["--model", &scene.model, "-c"]);
    let mut program = Program::sized(&command, 140, 45);
    program.wait_for("handed back: 1 taken");
    assert_eq!(crate::outside::rehearsal::quit(&mut program), 0);
    program.assert_clean();
    let journals =
        scene.home.sessions().into_iter().map(|dir| fs::read_to_string(dir.join("journal.jsonl")).unwrap());
    let told: usize =
        journals.map(|journal| journal.lines().filter(|line| line.contains("\"agent_end\"")).count()).sum();
    assert_eq!(told, 2, "its end, and what came back later");
}
