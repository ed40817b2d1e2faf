//! `read`: a page of a text file with line numbers, or an image. Bounded memory whatever the size.
//!
//! Not here: binary files (refused with a word) and directories (`glob`).

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use base64::Engine as _;
use serde_json::{Value, json};

use crate::api::access::{Class, Preview, Wish};
use crate::api::entry::CallStatus;
use crate::api::message::{Image, ToolSpec};
use crate::law::output::{Keep, Truncation, shown};
use crate::tool::blocking::{self, BlockingCall};
use crate::tool::change::plain;
use crate::tool::input::{Input, one_line, peek};
use crate::tool::kind::{self, Kind};
use crate::tool::sink::Sink;
use crate::tool::site::Site;
use crate::tool::{CallContext, Later, Tool, ToolEnd, path, spot};

const SHAPE: &str = "{\"path\": …, \"offset\": line, \"limit\": lines}";
/// Bytes of a line that are shown when the output is bounded.
const LINE_BYTES_MAX: usize = 2_000;
/// Largest image that providers take: 5 MB as base64.
const IMAGE_BYTES_MAX: u64 = 3_750_000;
/// Names listed of a directory.
const LISTED_MAX: usize = 40;
/// Bytes looked at to tell what a file is.
const HEAD_BYTES: usize = 8 * 1024;
/// Files up to this size have their lines counted past the page.
const COUNTED_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// The tool.
pub struct ReadTool;

impl Tool for ReadTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "read",
            description: "Reads a text file and shows it with line numbers (number, tab, line), or shows an image \
                (png, jpeg, gif, webp). Long files come in pages: give `offset` and `limit` to read on. The line \
                numbers and the words in parentheses at the end are not part of the file.",
            schema: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "The file, relative to the working directory or absolute."},
                    "offset": {"type": "integer", "minimum": 1, "description": "First line to show. Default: 1."},
                    "limit": {"type": "integer", "minimum": 1, "description": "Most lines to show. Default: 2000."},
                },
                "required": ["path"],
                "additionalProperties": false,
            }),
        }
    }

    fn title(&self, input: &Value) -> String {
        let path = one_line(peek(input, "path"), 120);
        let number = |name: &str| input.get(name).and_then(Value::as_u64);
        match (number("offset"), number("limit")) {
            (None, None) => path,
            (offset, None) => format!("{path}:{}-", offset.unwrap_or(1)),
            (offset, Some(limit)) => {
                let offset = offset.unwrap_or(1);
                format!("{path}:{offset}-{}", offset.saturating_add(limit).saturating_sub(1))
            }
        }
    }

    fn parallel(&self) -> bool {
        true
    }

    fn wish(&self, cwd: &Path, input: &Value) -> Result<Wish, String> {
        self.wish_in(&Site::at(cwd), input)
    }

    fn wish_in(&self, site: &Site, input: &Value) -> Result<Wish, String> {
        let asked = Asked::of(input)?;
        let file = site.resolve_to_read(asked.path)?;
        let text = format!("read {}", site.show(&file));
        Ok(Wish {
            tool: "read".to_owned(),
            class: Class::Read,
            paths: vec![file],
            command: None,
            preview: Preview::Text { text },
        })
    }

    fn run<'a>(&'a self, context: &'a CallContext, input: &'a Value) -> Later<'a, ToolEnd> {
        blocking::run(context, input, read)
    }
}

struct Asked<'a> {
    path: &'a str,
    offset: u64,
    limit: Option<u64>,
}

impl<'a> Asked<'a> {
    fn of(input: &'a Value) -> Result<Self, String> {
        let input = Input::read("read", input, &["path", "offset", "limit"], SHAPE)?;
        Ok(Self {
            path: input.text("path")?,
            offset: input.count_opt("offset", 1)?.unwrap_or(1),
            limit: input.count_opt("limit", 1)?,
        })
    }
}

fn read(call: &BlockingCall, input: &Value) -> Result<ToolEnd, String> {
    let asked = Asked::of(input)?;
    let file = call.site.resolve_to_read(asked.path)?;
    call.check(&file)?;
    let name = call.site.show(&file);
    let wrong = |error: &std::io::Error| format!("{name} cannot be read: {}", plain(error));
    let disk = call.site.disk(&file);
    let meta = match std::fs::metadata(&disk) {
        Ok(meta) => meta,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(path::missing(&call.site, &file));
        }
        Err(error) => return Err(wrong(&error)),
    };
    if meta.is_dir() {
        return Err(directory(&disk, &name));
    }
    if !meta.is_file() {
        return Err(format!("{name} is not a regular file (a device, pipe or socket); it is not read"));
    }
    let mut reader = BufReader::with_capacity(128 * 1024, spot::open_real(&disk).map_err(|e| wrong(&e))?);
    let mut head = Vec::with_capacity(HEAD_BYTES);
    reader.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut head).map_err(|e| wrong(&e))?;
    match kind::of(&head) {
        Kind::Image(media_type) => image(media_type, &head, reader, meta.len(), &name),
        Kind::Binary(what) => Err(format!(
            "{name} is not text ({what}, {} bytes); look at it with a fitting command in bash (file, xxd, strings)",
            meta.len()
        )),
        Kind::Text => {
            let reader = BufReader::with_capacity(128 * 1024, std::io::Cursor::new(head).chain(reader));
            page(call, &asked, reader, meta.len(), &name).map_err(|error| wrong(&error))
        }
    }
}

fn directory(dir: &Path, name: &str) -> String {
    let mut names: Vec<String> = std::fs::read_dir(dir)
        .map(|entries| {
            entries
                .filter_map(Result::ok)
                .map(|entry| {
                    let slash = if entry.path().is_dir() { "/" } else { "" };
                    format!("{}{slash}", path::plain_name(&entry.file_name().display().to_string()))
                })
                .collect()
        })
        .unwrap_or_default();
    names.sort();
    let more = names.len().saturating_sub(LISTED_MAX);
    names.truncate(LISTED_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let list = if names.is_empty() { "nothing".to_owned() } else { names.join("  ") };
    format!("{name} is a directory; name a file in it, or list files with glob. It holds: {list}{more}")
}

fn image(
    media_type: &str,
    head: &[u8],
    mut rest: impl Read,
    size: u64,
    name: &str,
) -> Result<ToolEnd, String> {
    if size > IMAGE_BYTES_MAX {
        return Err(format!(
            "{name} is an image of {size} bytes; models take at most {IMAGE_BYTES_MAX}: make a smaller copy first"
        ));
    }
    let mut bytes = head.to_vec();
    rest.by_ref()
        .take(IMAGE_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("{name} cannot be read: {}", plain(&error)))?;
    let image = Image {
        media_type: media_type.to_owned(),
        data: base64::engine::general_purpose::STANDARD.encode(&bytes),
        blob: None,
        name: name.to_owned(),
    };
    let text = format!("{name}: {media_type}, {} bytes", bytes.len());
    Ok(ToolEnd { images: vec![image], ..ToolEnd::text(CallStatus::Ok, text) })
}

/// What was seen of the lines shown.
#[derive(Default)]
struct Seen {
    lf: u64,
    crlf: u64,
    invalid: bool,
    bom: bool,
}

fn page(
    call: &BlockingCall,
    asked: &Asked<'_>,
    mut reader: impl BufRead,
    size: u64,
    name: &str,
) -> std::io::Result<ToolEnd> {
    let (line_max, limit) = match call.truncation {
        Truncation::Off => (usize::MAX, asked.limit.unwrap_or(u64::MAX)),
        Truncation::On(limits) => (LINE_BYTES_MAX, asked.limit.unwrap_or(limits.lines)),
    };
    if !skip(call, &mut reader, asked.offset - 1)? {
        return Ok(cancelled());
    }
    let mut sink = Sink::new(call);
    let mut seen = Seen::default();
    let mut number = asked.offset;
    let mut line = Vec::new();
    while number - asked.offset < limit {
        if number.is_multiple_of(256) && call.cancelled() {
            return Ok(sink.finish(CallStatus::Cancelled, |_| vec!["(cancelled)".to_owned()]));
        }
        line.clear();
        let whole = next_line(&mut reader, line_max, &mut line)?;
        if whole == 0 {
            break;
        }
        let text = numbered(number, &line, whole, &mut seen);
        number += 1;
        if !sink.push(text.as_bytes()) {
            break;
        }
    }
    let shown_lines = number - asked.offset;
    if shown_lines == 0 {
        return Ok(nothing(call, asked, name));
    }
    let at_end = reader.fill_buf()?.is_empty();
    let rest = match at_end {
        true => Some(0),
        false if size <= COUNTED_BYTES_MAX => count(call, &mut reader)?,
        false => None,
    };
    let total = match rest {
        Some(rest) => format!("of {}", number - 1 + rest),
        None => format!("of a file of {size} bytes"),
    };
    Ok(sink.finish(CallStatus::Ok, |kept| {
        let mut notes = seen.notes();
        let first = asked.offset;
        // where the bound cut the page, the next page begins at the line that was cut
        let head_only = matches!(call.truncation, Truncation::On(limits) if limits.keep == Keep::Head);
        if kept.dropped > 0 && head_only {
            let ended = kept.head.last() == Some(&b'\n');
            let next = first + kept.lines_kept - u64::from(!ended && kept.lines_kept > 0);
            let last = first + kept.lines_kept.max(1) - 1;
            let cut = if ended { "" } else { ", the last one cut" };
            notes.push(format!("(lines {first} to {last} {total}{cut}; read on with offset {next})"));
        } else if !at_end {
            notes.push(format!("(lines {first} to {} {total}; read on with offset {number})", number - 1));
        }
        notes
    }))
}

fn cancelled() -> ToolEnd {
    ToolEnd::text(CallStatus::Cancelled, "cancelled")
}

/// A page without a line: the file is empty, or it ends before the offset.
fn nothing(call: &BlockingCall, asked: &Asked<'_>, name: &str) -> ToolEnd {
    if call.cancelled() {
        return cancelled();
    }
    match asked.offset {
        1 => ToolEnd::text(CallStatus::Ok, format!("({name} is empty)")),
        offset => ToolEnd::text(
            CallStatus::Error,
            format!("{name} has fewer than {offset} lines; read it with a smaller offset"),
        ),
    }
}

/// Passes lines by; false: cancelled.
fn skip(call: &BlockingCall, reader: &mut impl BufRead, mut lines: u64) -> std::io::Result<bool> {
    while lines > 0 {
        let buffer = reader.fill_buf()?;
        if buffer.is_empty() {
            return Ok(!call.cancelled());
        }
        if call.cancelled() {
            return Ok(false);
        }
        let mut used = buffer.len();
        for at in memchr::memchr_iter(b'\n', buffer) {
            lines -= 1;
            if lines == 0 {
                used = at + 1;
                break;
            }
        }
        reader.consume(used);
    }
    Ok(true)
}

/// Lines that are left; none: cancelled.
fn count(call: &BlockingCall, reader: &mut impl BufRead) -> std::io::Result<Option<u64>> {
    let (mut lines, mut open) = (0, false);
    loop {
        let buffer = reader.fill_buf()?;
        let Some(last) = buffer.last() else { return Ok(Some(lines + u64::from(open))) };
        if call.cancelled() {
            return Ok(None);
        }
        open = *last != b'\n';
        lines += memchr::memchr_iter(b'\n', buffer).count() as u64;
        let used = buffer.len();
        reader.consume(used);
    }
}

/// Reads a line with its end, keeping at most `most` bytes and its end; its whole length, 0 at the end of the file.
fn next_line(reader: &mut impl BufRead, most: usize, line: &mut Vec<u8>) -> std::io::Result<u64> {
    let mut whole = 0;
    let mut last = 0;
    loop {
        let buffer = reader.fill_buf()?;
        if buffer.is_empty() {
            return Ok(whole);
        }
        let (used, ended) = match memchr::memchr(b'\n', buffer) {
            Some(at) => (at + 1, true),
            None => (buffer.len(), false),
        };
        let room = most.saturating_sub(line.len());
        if used <= room {
            line.extend_from_slice(&buffer[..used]);
        } else {
            line.extend_from_slice(&buffer[..room]);
        }
        // the byte before the newline, which may stand in the buffer before
        last = match (ended, used) {
            (true, 1) => last,
            (true, _) => buffer[used - 2],
            (false, _) => buffer[used - 1],
        };
        whole += used as u64;
        reader.consume(used);
        if ended {
            if line.last() != Some(&b'\n') {
                line.extend_from_slice(if last == b'\r' { b"\r\n" } else { b"\n" });
            }
            return Ok(whole);
        }
    }
}

fn numbered(number: u64, line: &[u8], whole: u64, seen: &mut Seen) -> String {
    let (body, end) = match (line.strip_suffix(b"\r\n"), line.strip_suffix(b"\n")) {
        (Some(body), _) => {
            seen.crlf += 1;
            (body, 2)
        }
        (None, Some(body)) => {
            seen.lf += 1;
            (body, 1)
        }
        (None, None) => (line, 0),
    };
    let length = whole - end;
    let body = match body.strip_prefix("\u{feff}".as_bytes()) {
        Some(rest) if number == 1 => {
            seen.bom = true;
            rest
        }
        Some(_) | None => body,
    };
    let body = if (body.len() as u64) < length { whole_chars(body) } else { body };
    seen.invalid |= std::str::from_utf8(body).is_err();
    let mut text = format!("{number:>6}\t{}", shown(body));
    if length > LINE_BYTES_MAX as u64 && (line.len() as u64) < whole {
        text.push_str(&format!(" … (line cut: it has {length} bytes; see more with cut -c in bash)"));
    }
    text.push('\n');
    text
}

/// Without a character that was cut at the end.
fn whole_chars(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => &bytes[..error.valid_up_to()],
        Ok(_) | Err(_) => bytes,
    }
}

impl Seen {
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        match (self.crlf, self.lf) {
            (0, _) => {}
            (_, 0) => notes.push("(line ends are CRLF)".to_owned()),
            (crlf, lf) => notes.push(format!("(line ends are mixed: {crlf} CRLF, {lf} LF here)")),
        }
        if self.bom {
            notes.push("(the file begins with a byte order mark)".to_owned());
        }
        if self.invalid {
            notes.push("(bytes that are not UTF-8 are shown as \\xNN)".to_owned());
        }
        notes
    }
}
