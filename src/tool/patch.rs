//! Pure: the envelope form of patches that GPT models speak, read into operations.
//!
//! Lenient where the models are known to be: white space around markers, a here-document around the
//! envelope, blank lines between the parts, numbered `@@` headers. Not here: files
//! ([`crate::tool::apply_patch`]) and matching ([`crate::tool::patch_text`]).

/// One operation of a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A file with these bytes; one that is there is replaced.
    Add {
        /// The path as written.
        path: String,
        /// All that shall stand in it.
        content: String,
    },
    /// A file goes.
    Delete {
        /// The path as written.
        path: String,
    },
    /// A file changes, and perhaps moves.
    Update {
        /// The path as written.
        path: String,
        /// Where it moves.
        to: Option<String>,
        /// Its changes in order; none for a bare move.
        chunks: Vec<Chunk>,
    },
}

/// One change of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chunk {
    /// Lines that stand before it, each looked for after the one before.
    pub context: Vec<String>,
    /// Its lines in order.
    pub lines: Vec<(Sign, String)>,
    /// It stands at the end of the file.
    pub at_end: bool,
}

/// What a line of a change is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// It stands and stays.
    Keep,
    /// It stands and goes.
    Remove,
    /// It comes.
    Add,
}

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File: ";
const DELETE: &str = "*** Delete File: ";
const UPDATE: &str = "*** Update File: ";
const MOVE: &str = "*** Move to: ";
const AT_END: &str = "*** End of File";

/// Reads a patch. An error names its line, counted from 1 at `*** Begin Patch`.
pub fn parse(patch: &str) -> Result<Vec<Operation>, String> {
    let mut lines: Vec<&str> = patch.trim().lines().collect();
    if let [first, .., last] = lines.as_slice()
        && matches!(*first, "<<EOF" | "<<'EOF'" | "<<\"EOF\"")
        && last.ends_with("EOF")
    {
        lines = lines[1..lines.len() - 1].to_vec();
    }
    if lines.first().is_none_or(|line| line.trim() != BEGIN) {
        return Err(format!("the patch must begin with the line `{BEGIN}`"));
    }
    if lines.len() < 2 || lines.last().is_none_or(|line| line.trim() != END) {
        return Err(format!("the patch must end with the line `{END}`"));
    }
    let mut reader = Reader { lines: &lines[..lines.len() - 1], at: 1 };
    let mut operations = Vec::new();
    while reader.peek().is_some() {
        if reader.pass_blank() {
            continue;
        }
        operations.push(reader.operation()?);
    }
    if operations.is_empty() {
        return Err("the patch is empty: it names no file".to_owned());
    }
    Ok(operations)
}

struct Reader<'a> {
    lines: &'a [&'a str],
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }

    fn pass_blank(&mut self) -> bool {
        let blank = self.peek().is_some_and(|line| line.trim().is_empty());
        self.at += usize::from(blank);
        blank
    }

    fn error<T>(&self, what: &str) -> Result<T, String> {
        Err(format!("line {} of the patch: {what}", self.at + 1))
    }

    fn operation(&mut self) -> Result<Operation, String> {
        let header = self.peek().unwrap_or_default().trim();
        if let Some(path) = header.strip_prefix(ADD) {
            self.at += 1;
            return Ok(Operation::Add { path: path.to_owned(), content: self.added() });
        }
        if let Some(path) = header.strip_prefix(DELETE) {
            self.at += 1;
            return Ok(Operation::Delete { path: path.to_owned() });
        }
        let Some(path) = header.strip_prefix(UPDATE) else {
            return self.error(&format!(
                "`{header}` is no file header; expected `{ADD}PATH`, `{DELETE}PATH` or `{UPDATE}PATH`"
            ));
        };
        let header_at = self.at;
        self.at += 1;
        let to = self.peek().and_then(|line| line.trim().strip_prefix(MOVE)).map(str::to_owned);
        self.at += usize::from(to.is_some());
        let mut chunks = Vec::new();
        while let Some(line) = self.peek() {
            if self.pass_blank() {
                continue;
            }
            if line.trim_start().starts_with("***") {
                break;
            }
            chunks.push(self.chunk(chunks.is_empty())?);
        }
        if chunks.is_empty() && to.is_none() {
            self.at = header_at;
            return self.error(&format!("the update of {path} is empty: it holds no changes"));
        }
        Ok(Operation::Update { path: path.to_owned(), to, chunks })
    }

    fn added(&mut self) -> String {
        let mut content = String::new();
        while let Some(line) = self.peek().and_then(|line| line.strip_prefix('+')) {
            content.push_str(line);
            content.push('\n');
            self.at += 1;
        }
        content
    }

    fn chunk(&mut self, first: bool) -> Result<Chunk, String> {
        let mut chunk = Chunk::default();
        let begun = self.at;
        while let Some(header) = self.peek().and_then(chunk_header) {
            chunk.context.extend(header);
            self.at += 1;
        }
        if self.at == begun && !first {
            return self
                .error(&format!("a change must begin with `@@`, got `{}`", self.peek().unwrap_or_default()));
        }
        while let Some(line) = self.peek() {
            if line.trim_end() == AT_END {
                if chunk.lines.is_empty() {
                    return self.error("the change holds no lines");
                }
                chunk.at_end = true;
                self.at += 1;
                break;
            }
            let mut chars = line.chars();
            let sign = match chars.next() {
                None | Some(' ') => Sign::Keep,
                Some('+') => Sign::Add,
                Some('-') => Sign::Remove,
                Some(_) if chunk.lines.is_empty() => {
                    return self.error(&format!(
                        "`{line}` does not belong into a change: each of its lines begins with a space (stays), \
                         `-` (goes) or `+` (comes)"
                    ));
                }
                Some(_) => break,
            };
            chunk.lines.push((sign, chars.as_str().to_owned()));
            self.at += 1;
        }
        if chunk.lines.is_empty() {
            return self.error("the change holds no lines");
        }
        Ok(chunk)
    }
}

/// What a `@@` line says: a line to look for, or nothing. None: it is no such line.
fn chunk_header(line: &str) -> Option<Option<String>> {
    if line.trim_end() == "@@" {
        return Some(None);
    }
    let text = line.strip_prefix("@@ ")?;
    let text = match text.split_once(" @@") {
        Some((numbers, rest)) if is_ranges(numbers) => rest.strip_prefix(' ').unwrap_or(rest),
        Some(_) | None => text,
    };
    Some((!text.trim().is_empty()).then(|| text.to_owned()))
}

/// `-10,6 +10,7`, as in other diffs.
fn is_ranges(text: &str) -> bool {
    let range = |part: &str, sign: char| {
        part.strip_prefix(sign)
            .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit() || b == b','))
    };
    text.split_once(' ').is_some_and(|(old, new)| range(old, '-') && range(new, '+'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patch(body: &str) -> Result<Vec<Operation>, String> {
        parse(&format!("{BEGIN}\n{body}\n{END}\n"))
    }

    #[test]
    fn every_operation_is_read() {
        insta::assert_debug_snapshot!(patch(
            "*** Add File: a b.txt\n+one\n+\n*** Delete File: gone\n\n  *** Update File: old.rs  \n*** Move to: \
             new.rs\n@@ impl A\n@@ fn f()\n keep\n-old\n+new\n\n@@ -1,2 +3,4 @@ fn g()\n+x\n*** End of File"
        ));
    }

    #[test]
    fn what_is_not_a_patch_says_why() {
        let cases = [
            parse("hello"),
            parse(BEGIN),
            parse(&format!("{BEGIN}\n{END}")),
            patch("*** Frobnicate File: a"),
            patch("*** Update File: a"),
            patch("*** Update File: a\n@@"),
            patch("*** Update File: a\n@@\nfoo"),
            patch("*** Update File: a\n@@\n-a\n+b\nfoo"),
            patch("*** Update File: a\n@@\n*** End of File"),
            patch("*** Add File: a\n+x\nfoo"),
        ];
        let errors: Vec<String> = cases.into_iter().map(Result::unwrap_err).collect();
        insta::assert_snapshot!(errors.join("\n"));
    }

    #[test]
    fn a_here_document_and_crlf_around_a_patch_are_taken() {
        let plain = patch("*** Delete File: a").unwrap();
        assert_eq!(
            parse("<<'EOF'\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nEOF\n"),
            Ok(plain.clone())
        );
        assert_eq!(parse(" *** Begin Patch \r\n*** Delete File: a\r\n *** End Patch\r\n"), Ok(plain));
    }
}
