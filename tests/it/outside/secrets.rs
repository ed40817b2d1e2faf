//! Keys never leak: not into the journal, a log, a spool, an output, the screen, a child's environment.

use serde_json::json;

use super::rehearsal::quit;
use super::wires::{Served, calls, says};
use super::{Home, WIRES, files};
use crate::server::Reply;

const IN_ENV: &str = "sk-env-7f3a9c51d2";
const OTHER: &str = "sk-ant-other-55aa11bb";
const IN_FILE: &str = "sk-file-e04b77d19c";

#[test]
fn no_key_is_in_anything_that_is_written_shown_or_handed_on() {
    for wire in WIRES {
        let mut home = Home::new();
        let stored = (wire != "gemini").then_some(IN_FILE);
        let used = stored.unwrap_or(IN_ENV);
        let echo = json!({"error": {"message": format!("bad key {used}")}}).to_string();
        let replies = vec![
            calls(
                wire,
                "I look.",
                "bash",
                json!({"command": "env; cat /proc/$PPID/environ | tr '\\0' '\\n'"}),
            ),
            calls(wire, "Again.", "bash", json!({"command": "seq 1 30000; env"})),
            says(wire, "Nothing there."),
            Reply::error(401, &[], &echo),
        ];
        let server = Served::start(wire, replies);
        home.serve(wire, &server.url());
        home.set("ANTHROPIC_API_KEY", OTHER);
        home.set("COPY_OF_IT", OTHER);
        home.unset("LOOP_KEY");
        if stored.is_none() {
            home.set("LOOP_KEY", IN_ENV);
        }
        if let Some(key) = stored {
            home.write("config/windlass/keys.json", &json!({"loop": key}).to_string());
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
            std::fs::set_permissions(home.path("config/windlass/keys.json"), mode).unwrap();
        }
        home.set("RUST_LOG", "trace");

        let ran = home.run(&["exec", "--json", "--approve", "auto", "hi"]);
        assert_eq!(ran.code, Some(0), "{wire}: {}{}", ran.out, ran.err);
        assert!(ran.out.contains("PATH="), "the command's environment was seen");
        let mut program = home.show(&["-c", "again"]);
        program.wait_for("401");
        program.send("\x18d");
        program.wait_for("messages");
        assert_eq!(quit(&mut program), 0);
        let failed = home.run(&["exec", "hi"]);
        assert_eq!(failed.code, Some(1));
        let doctor = home.run(&["doctor"]);
        let shown = home.run(&["config", "show"]);

        let seen = server.valid();
        assert!(seen[0].head.contains(used), "{wire}: the key was used: {}", seen[0].head);
        for key in [used, OTHER] {
            let leaks = |what: &str, text: &[u8]| {
                let at = text.windows(key.len()).position(|w| w == key.as_bytes());
                if let Some(at) = at {
                    let around = String::from_utf8_lossy(&text[at.saturating_sub(200)..at]).into_owned();
                    panic!("{wire}: {key} leaks into {what} after {around}");
                }
            };
            for run in [&ran, &failed, &doctor, &shown] {
                leaks("output", run.out.as_bytes());
                leaks("errors", run.err.as_bytes());
            }
            leaks("the screen", &program.bytes);
            for request in &seen {
                leaks("a request's body", request.body.as_bytes());
            }
            for dir in ["state", "tmp", "work"] {
                for file in files(&home.path(dir)) {
                    leaks(&file.display().to_string(), &std::fs::read(&file).unwrap());
                }
            }
        }
    }
}
