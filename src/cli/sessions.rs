//! `windlass sessions`: the sessions, newest first, for people or as one JSON object a line.

use std::path::Path;

use serde::Serialize;

use crate::api::event::SessionInfo;
use crate::base::chain;
use crate::cli::out::{print, say};
use crate::store::{self, Dirs, codec::stamp};

/// Lists them; the exit code.
pub fn run(dirs: &Dirs, cwd: Option<&Path>, json: bool) -> u8 {
    let cwd = match cwd.map(std::fs::canonicalize).transpose() {
        Ok(cwd) => cwd,
        Err(error) => {
            let named = cwd.unwrap_or(Path::new("")).display();
            say(format_args!(
                "windlass: the directory {named} cannot be used: {error}; name another one with --cwd"
            ));
            return 2;
        }
    };
    let sessions = store::list(dirs, cwd.as_deref());
    let closed = store::list::closed(dirs);
    for error in &closed {
        say(format_args!("windlass: a session is left out: {}", chain(error)));
    }
    let text: String = if json {
        sessions.iter().map(json_line).collect()
    } else if sessions.is_empty() && !closed.is_empty() {
        return 0;
    } else if sessions.is_empty() {
        say("no sessions yet; `windlass` begins one");
        return 0;
    } else {
        let now = store::now().0;
        sessions.iter().map(|info| line(info, now)).collect()
    };
    u8::from(!print(text.as_bytes()))
}

#[derive(Serialize)]
struct Line<'a> {
    id: &'a str,
    title: &'a str,
    #[serde(with = "crate::api::path")]
    cwd: &'a Path,
    changed: String,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    open_in: Option<&'a str>,
}

fn json_line(info: &SessionInfo) -> String {
    let line = Line {
        id: info.id.as_str(),
        title: &info.title,
        cwd: &info.cwd,
        changed: stamp(info.changed),
        bytes: info.bytes,
        open_in: info.holder.as_deref(),
    };
    // texts and numbers only: cannot fail
    serde_json::to_string(&line).map_or_else(|_| String::new(), |line| line + "\n")
}

fn line(info: &SessionInfo, now: u64) -> String {
    let title: String = info.title.chars().map(|c| if c.is_control() { ' ' } else { c }).take(60).collect();
    let title = if title.is_empty() { "(untitled)" } else { title.trim_end() };
    let holder = info.holder.as_deref().map(|holder| format!("  [open in {holder}]")).unwrap_or_default();
    let age = age(now.saturating_sub(info.changed.0));
    format!("{}  {age:>4}  {title}  {}{holder}\n", info.id, info.cwd.display())
}

/// How long ago, in one unit.
fn age(ms: u64) -> String {
    let minutes = ms / 60_000;
    match minutes {
        0 => "now".into(),
        1..60 => format!("{minutes}m"),
        60..1440 => format!("{}h", minutes / 60),
        _ => format!("{}d", minutes / 1440),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{Millis, SessionId};

    #[test]
    fn a_line_is_one_line_and_json_has_its_keys() {
        let info = SessionInfo {
            id: SessionId::new("0190-x"),
            title: "fix\nthe \u{1b}[31mlexer".into(),
            cwd: "/p".into(),
            changed: Millis(0),
            bytes: 7,
            holder: Some("pid 4".into()),
        };
        assert_eq!(line(&info, 7_200_000), "0190-x    2h  fix the  [31mlexer  /p  [open in pid 4]\n");
        assert_eq!(
            json_line(&info),
            "{\"id\":\"0190-x\",\"title\":\"fix\\nthe \\u001b[31mlexer\",\"cwd\":\"/p\",\
             \"changed\":\"1970-01-01T00:00:00.000Z\",\"bytes\":7,\"open_in\":\"pid 4\"}\n"
        );
    }
}
