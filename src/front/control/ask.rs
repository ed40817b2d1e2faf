//! The other end of a control socket: who asks the program that has a session open. Blocking; for the command line.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::base::{SessionId, chain};
use crate::law::socket::heard;
use crate::store::socket::{SocketDir, peer, us};

use super::answer::VERSION;

/// How long a program may take to say hello; one that is stopped (`^Z`) says nothing.
const HELLO_MAX: Duration = Duration::from_secs(3);
/// How long it may take for anything else: a kill is answered within 30 s.
const REPLY_MAX: Duration = Duration::from_secs(40);
/// Most bytes of a line from it: a list of all jobs, each with a long command.
const LINE_MAX: u64 = 64 << 20;

/// Who was found at a session's socket.
pub enum Reached {
    /// The program that has it open.
    Program(Asking),
    /// Nobody.
    Nobody,
    /// Somebody who cannot be asked: why.
    Unclear(String),
}

/// Why it was not done, by the program.
#[derive(Debug)]
pub enum Failed {
    /// It said so: its words, and the exit code.
    Refused(String, u8),
    /// It does not answer any more.
    Away(io::Error),
}

/// A connection to the program.
pub struct Asking {
    stream: BufReader<UnixStream>,
    number: u64,
}

/// Looks for the program that has this session open, in each of these directories.
pub fn reach(places: &[PathBuf], session: &SessionId) -> Reached {
    let mut unclear = None;
    for place in places {
        let stream = match SocketDir::look(place) {
            Ok(None) => continue,
            Ok(Some(dir)) => dir.connect(session).map_err(|error| error.to_string()),
            Err(error) => Err(chain(&error)),
        };
        match stream.and_then(|stream| stream.map(|stream| Asking::open(stream, session)).transpose()) {
            Ok(Some(asking)) => return Reached::Program(asking),
            Ok(None) => {}
            Err(why) => unclear = unclear.or(Some(why)),
        }
    }
    unclear.map_or(Reached::Nobody, Reached::Unclear)
}

impl Asking {
    fn open(stream: UnixStream, session: &SessionId) -> Result<Self, String> {
        if !heard(peer(&stream), us()) {
            return Err("the program at the control socket is another user's".to_owned());
        }
        let silent = |why: &dyn std::fmt::Display| {
            format!("the program that has the session open does not answer ({why}); is it stopped?")
        };
        stream.set_read_timeout(Some(HELLO_MAX)).map_err(|error| silent(&error))?;
        stream.set_write_timeout(Some(HELLO_MAX)).map_err(|error| silent(&error))?;
        let mut asking = Self { stream: BufReader::new(stream), number: 0 };
        let hello = asking.ask("hello", &[("version", json!(VERSION))], &mut |_| ());
        let hello = hello.map_err(|failed| match failed {
            Failed::Refused(why, _) => why,
            Failed::Away(error) => silent(&error),
        })?;
        let version = hello.get("version").and_then(Value::as_u64);
        if version != Some(VERSION) {
            let other = version.unwrap_or(0);
            return Err(format!("the program speaks version {other} at its control socket, not {VERSION}"));
        }
        if hello.get("session").and_then(Value::as_str) != Some(session.as_str()) {
            return Err("the program at the control socket has another session open".to_owned());
        }
        asking.stream.get_ref().set_read_timeout(Some(REPLY_MAX)).map_err(|error| silent(&error))?;
        Ok(asking)
    }

    /// Asks for something; the fields of its reply. What happens on the way goes to `step`.
    pub fn ask(
        &mut self,
        kind: &str,
        fields: &[(&str, Value)],
        step: &mut dyn FnMut(&Map<String, Value>),
    ) -> Result<Map<String, Value>, Failed> {
        self.number += 1;
        let mut frame = Map::new();
        frame.insert("id".into(), self.number.into());
        frame.insert("type".into(), kind.into());
        frame.extend(fields.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
        let line = format!("{}\n", Value::Object(frame));
        self.stream.get_mut().write_all(line.as_bytes()).map_err(Failed::Away)?;
        loop {
            let heard = self.hear().map_err(Failed::Away)?;
            if heard.get("id").and_then(Value::as_u64) == Some(self.number) {
                return answered(heard);
            }
            match heard.get("status").and_then(Value::as_str) {
                Some("fault") => return answered(heard),
                _ if heard.get("of").and_then(Value::as_u64) == Some(self.number) => step(&heard),
                // nothing that we asked for
                _ => {}
            }
        }
    }

    /// The next line; what is no object is passed by.
    fn hear(&mut self) -> io::Result<Map<String, Value>> {
        loop {
            let mut bytes = Vec::new();
            if self.stream.by_ref().take(LINE_MAX).read_until(b'\n', &mut bytes)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if let Ok(heard) = serde_json::from_slice(&bytes) {
                return Ok(heard);
            }
        }
    }
}

fn answered(reply: Map<String, Value>) -> Result<Map<String, Value>, Failed> {
    if reply.get("status").and_then(Value::as_str) == Some("ok") {
        return Ok(reply);
    }
    let why = reply.get("why").and_then(Value::as_str).unwrap_or("it did not say why").to_owned();
    let code = reply.get("code").and_then(Value::as_u64).and_then(|code| u8::try_from(code).ok());
    Err(Failed::Refused(why, code.unwrap_or(1)))
}
