//! A command line taken apart, for the rules: its commands, each as words, and whether that is all
//! that it does.
//!
//! What is here understands just enough of a shell to be sure: plain commands joined by `&&`, `||`,
//! `;`, `|` and `&`, quotes and escapes, and redirections that touch no file. Whatever else it meets
//! (substitutions, files written, blocks, assignments, `eval`, newlines, characters that look like
//! nothing) makes it say that the line is not understood whole. Nothing is expanded or run here.

/// One word of a command after its quotes are taken off.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// What it says.
    pub text: String,
    /// Whether the shell will make something else of it: a variable, a pattern, braces, `~`.
    pub expands: bool,
}

/// A command line taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its commands, in order. Never holds an empty one.
    pub parts: Vec<Vec<Word>>,
    /// What was met that is not understood; none: `parts` is all that the line does.
    pub unclear: Option<&'static str>,
}

/// Words that begin something that is more than a plain command.
const RESERVED: [&str; 23] = [
    "!", "{", "}", "[[", "]]", "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done",
    "case", "esac", "in", "select", "function", "time", "coproc", "eval",
];

/// Takes a command line apart.
pub fn parse(command: &str) -> Line {
    let mut reader = Reader { rest: command.chars().collect(), at: 0, unclear: None };
    if command.chars().any(looks_like_nothing) {
        reader.unclear = Some("a newline or an invisible character");
    }
    let mut line = Line { parts: Vec::new(), unclear: None };
    let mut part: Vec<Word> = Vec::new();
    // A part must come: after `&&`, `||` and `|`.
    let mut owed = false;
    loop {
        match reader.token() {
            Token::Word(word) => part.push(word),
            Token::Redirected => {}
            Token::Joined { needs_more } => {
                if part.is_empty() {
                    reader.unclear("a missing command");
                }
                take(&mut line.parts, &mut part);
                owed = needs_more;
                continue;
            }
            Token::Broken => {
                take(&mut line.parts, &mut part);
            }
            Token::End => break,
        }
        owed = false;
    }
    if owed {
        reader.unclear("a missing command");
    }
    take(&mut line.parts, &mut part);
    for part in &line.parts {
        if let Some(first) = part.first() {
            if RESERVED.contains(&first.text.as_str()) {
                reader.unclear("a word of the shell's own language");
            }
            if is_assignment(&first.text) {
                reader.unclear("a variable set for the command");
            }
        }
    }
    line.unclear = reader.unclear;
    line
}

fn take(parts: &mut Vec<Vec<Word>>, part: &mut Vec<Word>) {
    if !part.is_empty() {
        parts.push(std::mem::take(part));
    }
}

/// Controls, spaces that are not ASCII, and characters that have no width or turn the text around.
fn looks_like_nothing(c: char) -> bool {
    (c.is_control() && c != '\t')
        || (c.is_whitespace() && !c.is_ascii())
        || matches!(c, '\u{AD}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{180E}' | '\u{200B}'..='\u{200F}'
            | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}'
            | '\u{FEFF}' | '\u{FFA0}' | '\u{E0000}'..='\u{E0FFF}')
}

/// `NAME=…`, `NAME+=…`, `NAME[…]=…`.
pub fn is_assignment(word: &str) -> bool {
    let Some((before, _)) = word.split_once('=') else { return false };
    let name = before.strip_suffix('+').unwrap_or(before);
    let name = name.split_once('[').map_or(name, |(name, _)| name);
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(in_name)
}

fn in_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

enum Token {
    Word(Word),
    /// A redirection, whole.
    Redirected,
    /// The end of a command that another may follow.
    Joined {
        needs_more: bool,
    },
    /// Something that is not understood ends a command; what follows may be another.
    Broken,
    End,
}

struct Reader {
    rest: Vec<char>,
    at: usize,
    unclear: Option<&'static str>,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.rest.get(self.at).copied()
    }

    fn second(&self) -> Option<char> {
        self.rest.get(self.at + 1).copied()
    }

    fn eat(&mut self, c: char) -> bool {
        let there = self.peek() == Some(c);
        self.at += usize::from(there);
        there
    }

    fn unclear(&mut self, why: &'static str) {
        self.unclear.get_or_insert(why);
    }

    fn broken(&mut self, why: &'static str) -> Token {
        self.at += 1;
        self.unclear(why);
        Token::Broken
    }

    fn token(&mut self) -> Token {
        while self.peek().is_some_and(|c| c == ' ' || c == '\t') {
            self.at += 1;
        }
        match self.peek() {
            None => Token::End,
            Some('#') => self.broken("a comment"),
            Some('(' | ')') => self.broken("a subshell"),
            Some('\n' | '\r') => self.broken("a newline"),
            Some(';') => {
                self.at += 1;
                if self.peek() == Some(';') || self.peek() == Some('&') {
                    return self.broken("a case");
                }
                Token::Joined { needs_more: false }
            }
            Some('&') if self.second() == Some('>') => {
                self.at += 1;
                self.redirection()
            }
            Some('&') => {
                self.at += 1;
                Token::Joined { needs_more: self.eat('&') }
            }
            Some('|') => {
                self.at += 1;
                if !self.eat('|') {
                    self.eat('&');
                }
                Token::Joined { needs_more: true }
            }
            Some('<' | '>') => self.redirection(),
            Some(_) => {
                let word = self.word();
                let descriptor = !word.text.is_empty() && word.text.chars().all(|c| c.is_ascii_digit());
                if descriptor && matches!(self.peek(), Some('<' | '>')) {
                    return self.redirection();
                }
                Token::Word(word)
            }
        }
    }

    /// From `<` or `>` on. Only what touches no file is clear: another descriptor, or `/dev/null`.
    fn redirection(&mut self) -> Token {
        let out = self.eat('>');
        if !out {
            self.at += 1;
            if self.peek() == Some('<') {
                return self.broken("a here-document");
            }
        }
        let copies = if out {
            if !self.eat('>') {
                self.eat('|');
            }
            self.eat('&')
        } else {
            self.eat('&')
        };
        if self.peek() == Some('(') {
            return self.broken("a process substitution");
        }
        while self.peek().is_some_and(|c| c == ' ' || c == '\t') {
            self.at += 1;
        }
        if self.peek().is_none_or(|c| "<>|&;()#".contains(c)) {
            self.unclear("a redirection without a target");
            return Token::Redirected;
        }
        let target = self.word();
        let number =
            |text: &str| text == "-" || (!text.is_empty() && text.chars().all(|c| c.is_ascii_digit()));
        if target.expands || !(target.text == "/dev/null" && !copies || copies && number(&target.text)) {
            self.unclear("a redirection to or from a file");
        }
        Token::Redirected
    }

    /// A word, up to a blank or an operator.
    fn word(&mut self) -> Word {
        let mut word = Word::default();
        let begin = self.at;
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\n' | '\r' | ';' | '&' | '|' | '<' | '>' | '(' | ')' => break,
                '\'' => self.single(&mut word),
                '"' => self.double(&mut word),
                '\\' => {
                    self.at += 1;
                    match self.peek() {
                        Some(c) => self.push(&mut word, c),
                        None => self.unclear("a backslash at the end"),
                    }
                }
                '$' => self.dollar(&mut word),
                '`' => {
                    self.at += 1;
                    word.expands = true;
                    self.unclear("a command substitution");
                    break;
                }
                '*' | '?' | '[' | '{' | '}' => {
                    word.expands = true;
                    self.push(&mut word, c);
                }
                '~' if self.at == begin || matches!(word.text.chars().last(), Some('=' | ':')) => {
                    word.expands = true;
                    self.push(&mut word, c);
                }
                _ => self.push(&mut word, c),
            }
        }
        word
    }

    fn push(&mut self, word: &mut Word, c: char) {
        word.text.push(c);
        self.at += 1;
    }

    fn single(&mut self, word: &mut Word) {
        self.at += 1;
        while let Some(c) = self.peek() {
            if c == '\'' {
                self.at += 1;
                return;
            }
            self.push(word, c);
        }
        self.unclear("a quote that does not end");
    }

    fn double(&mut self, word: &mut Word) {
        self.at += 1;
        while let Some(c) = self.peek() {
            match c {
                '"' => {
                    self.at += 1;
                    return;
                }
                '\\' if matches!(self.second(), Some('$' | '`' | '"' | '\\')) => {
                    self.at += 1;
                    if let Some(c) = self.peek() {
                        self.push(word, c);
                    }
                }
                '$' => self.dollar(word),
                '`' => {
                    word.expands = true;
                    self.unclear("a command substitution");
                    self.push(word, c);
                }
                _ => self.push(word, c),
            }
        }
        self.unclear("a quote that does not end");
    }

    /// `$NAME`, `${NAME}` and the single-character ones are clear; what else begins with `$` is not.
    fn dollar(&mut self, word: &mut Word) {
        self.push(word, '$');
        word.expands |= matches!(self.peek(), Some('(' | '\'' | '"' | '['));
        let braced = self.peek() == Some('{');
        match self.peek() {
            Some('(') => self.unclear("a command substitution"),
            Some('\'' | '"' | '[') => self.unclear("a form of `$` that is not read here"),
            Some(c) if braced || in_name(c) || "?#@*$!-".contains(c) => word.expands = true,
            Some(_) | None => {}
        }
        if braced {
            self.push(word, '{');
            while let Some(c) = self.peek().filter(|c| in_name(*c)) {
                self.push(word, c);
            }
            if self.peek() == Some('}') {
                self.push(word, '}');
            } else {
                self.unclear("a form of `${` that is not read here");
            }
        } else {
            while let Some(c) = self.peek().filter(|c| in_name(*c)) {
                self.push(word, c);
            }
        }
    }
}
