//! Re-executing this test binary, for tests that need processes of their own: the test plays both parts, told
//! apart by a variable of the environment.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const ROLE: &str = "WINDLASS_TEST_ROLE";
/// Marks a line that is said by the test, not by its harness.
const MARK: &str = "~ ";

/// What this process was started to play; none: the test itself.
pub fn role() -> Option<String> {
    std::env::var(ROLE).ok()
}

/// A command that runs one test of this binary in a role.
pub fn command(test: &str, role: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture", "--test-threads=1"]).env(ROLE, role);
    command
}

/// Says a line to the one that started this process. Whether it could.
pub fn say(line: &str) -> bool {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n{MARK}{line}").and_then(|()| out.flush()).is_ok()
}

/// A running process, killed when it is dropped.
pub struct Player {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Player {
    /// Starts it.
    pub fn start(mut command: Command) -> Player {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Player { input: child.stdin.take(), output, child }
    }
    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }
    /// Tells it a line.
    pub fn tell(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }
    /// The next line that it says; none at its end.
    pub fn hear(&mut self) -> Option<String> {
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            if let Some(said) = line.strip_prefix(MARK).and_then(|said| said.strip_suffix('\n')) {
                return Some(said.to_owned());
            }
        }
    }
    /// Kills it with SIGKILL and waits for its end.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        self.child.wait().unwrap();
    }
    /// Closes its input and waits for its end; whether that was a good one.
    pub fn finish(mut self) -> bool {
        drop(self.input.take());
        while self.hear().is_some() {}
        self.child.wait().unwrap().success()
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        self.kill();
    }
}
