//! The screen in real multiplexers: tmux and GNU screen, each a server of its own with an own directory for its
//! socket, on a pseudo-terminal that stands for the outer terminal.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use base64::Engine as _;
use serde_json::json;

use crate::outside::Home;
use crate::terminal::Program;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// tmux, with these lines of settings.
    Tmux(&'static str),
    /// GNU screen.
    Screen,
}

const KINDS: [Kind; 2] = [Kind::Tmux("set -g set-clipboard on"), Kind::Screen];

/// A multiplexer with Windlass in it. Dropping it ends its server.
struct Mux<'a> {
    kind: Kind,
    home: &'a Home,
    program: Program,
}

impl<'a> Mux<'a> {
    /// Starts Windlass with these arguments in it, at 100×30.
    fn start(kind: Kind, home: &'a mut Home, arguments: &[&str]) -> Self {
        std::fs::DirBuilder::new().create(home.path("sockets")).unwrap();
        let mode = <std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o700);
        std::fs::set_permissions(home.path("sockets"), mode).unwrap();
        home.set("SCREENDIR", &home.path("sockets").display().to_string());
        let line = match kind {
            Kind::Tmux(settings) => {
                let common =
                    "set -s escape-time 10\nset -g status off\nset -g default-terminal tmux-256color\n";
                home.write("mux.conf", &format!("{common}{settings}\n"));
                vec!["-S", "SOCKET", "-f", "CONF", "new-session"]
            }
            Kind::Screen => {
                home.write("mux.conf", "startup_message off\nmaptimeout 10\naltscreen on\ndefutf8 on\n");
                vec!["-U", "-c", "CONF", "-S", "windlass"]
            }
        };
        let (socket, conf) = (home.path("sockets/tmux"), home.path("mux.conf"));
        let place = |word: &str| match word {
            "SOCKET" => socket.display().to_string(),
            "CONF" => conf.display().to_string(),
            word => word.to_owned(),
        };
        let mut words: Vec<String> = line.into_iter().map(place).collect();
        words.push(env!("CARGO_BIN_EXE_windlass").to_owned());
        words.extend(arguments.iter().map(|word| (*word).to_owned()));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let name = if kind == Kind::Screen { "screen" } else { "tmux" };
        let program = Program::sized(&home.of_program(name, &words), 100, 30);
        Self { kind, home, program }
    }
    /// What ends its server.
    fn ends(&self) -> Command {
        match self.kind {
            Kind::Tmux(_) => {
                let socket = self.home.path("sockets/tmux").display().to_string();
                self.home.of_program("tmux", &["-S", &socket, "kill-server"])
            }
            Kind::Screen => self.home.of_program("screen", &["-S", "windlass", "-X", "quit"]),
        }
    }
}

impl Drop for Mux<'_> {
    fn drop(&mut self) {
        // one whose program has ended is gone already
        let _ = self.ends().stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}

/// Whether the outer terminal was asked to copy this.
fn copied(bytes: &[u8], text: &str) -> bool {
    let data = base64::engine::general_purpose::STANDARD.encode(text);
    let told = String::from_utf8_lossy(bytes);
    told.split("\x1b]52;").skip(1).any(|rest| {
        let rest = rest.split(['\x07', '\x1b']).next().unwrap_or_default();
        rest.split_once(';').is_some_and(|(_, sent)| sent == data)
    })
}

fn quit(mux: &mut Mux<'_>) {
    mux.program.send("\x04");
    assert_eq!(mux.program.end(), 0, "{:?}", mux.kind);
    mux.program.assert_clean();
}

#[test]
fn in_a_multiplexer_it_is_drawn_typed_in_resized_and_left_clean() {
    for kind in KINDS {
        let mut home = Home::new();
        let model = home.script(&json!({"turns": [{"say": "An answer with 文書 in it."}]}));
        let mut mux = Mux::start(kind, &mut home, &["--model", &model]);
        let program = &mut mux.program;
        program.wait_for("keys");
        program.send("héllo");
        program.wait_for("❯ héllo");
        program.send("\x15go\r");
        program.wait_for("An answer with 文書 in it.");
        program.wait_for("Enter send");
        for (columns, rows) in [(60, 20), (140, 45), (80, 12), (100, 30)] {
            super::outside::field::drag(program, columns, rows);
            let wide = usize::from(columns);
            program.until(&format!("{kind:?} at {columns}x{rows}"), |p| {
                let screen = p.screen();
                let lines: Vec<&str> = screen.lines().collect();
                let width = |line: &&str| windlass::ui::widget::text::width(line);
                lines.len() == usize::from(rows)
                    && lines.iter().map(width).max() == Some(wide)
                    && screen.contains("文書")
                    && screen.contains("❯")
            });
        }
        // keys of several bytes, and one that is told by an ESC before it
        program.send("one two");
        program.wait_for("❯ one two");
        program.send("\x1b[D\x1b[Dx");
        program.wait_for("❯ one txwo");
        program.send("\x1b\x7f");
        program.wait_for("❯ one wo");
        program.send("\x03");
        program.wait_for("what shall be done");
        quit(&mut mux);
    }
}

#[test]
fn a_copy_passes_a_multiplexer_to_the_terminal() {
    let kinds = [
        Kind::Tmux("set -s set-clipboard on"),
        Kind::Tmux("set -s set-clipboard off\nset -g allow-passthrough on"),
        Kind::Screen,
    ];
    for kind in kinds {
        let mut home = Home::new();
        // longer than GNU screen takes in one piece
        let answer = format!("An answer to copy: {}.", "many words and more of them ".repeat(60).trim_end());
        let model = home.script(&json!({"turns": [{"say": answer}]}));
        let mut mux = Mux::start(kind, &mut home, &["--model", &model, "go"]);
        let program = &mut mux.program;
        program.wait_for("An answer to copy");
        program.wait_for("Enter send");
        program.send("\ty");
        program.until(&format!("the copy through {kind:?}"), |p| copied(&p.bytes, &answer));
        let said = if kind == Kind::Screen { "through screen" } else { "to tmux and the terminal" };
        program.wait_for(said);
        program.send("\x1b");
        program.wait_for("Enter send");
        quit(&mut mux);
    }
}

#[test]
fn escape_is_heard_in_a_multiplexer() {
    for kind in KINDS {
        let mut home = Home::new();
        let model = home.script(&json!({"turns": [
            {"say": "I run.", "calls": [{"tool": "bash", "input": {"command": "echo it-runs; sleep 300"}}]},
            {"say": "never"},
        ]}));
        let mut mux = Mux::start(kind, &mut home, &["--approve", "auto", "--model", &model, "go"]);
        mux.program.wait_for("it-runs");
        let pressed = Instant::now();
        // alone: nothing comes after it that could push it on
        mux.program.send("\x1b");
        mux.program.wait_for("interrupted");
        assert!(pressed.elapsed() < Duration::from_secs(5), "{kind:?}: {:?}", pressed.elapsed());
        mux.program.wait_for("Enter send");
        quit(&mut mux);
    }
}
