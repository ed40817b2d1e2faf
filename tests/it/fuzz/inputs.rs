//! What the fuzz tests are fed with: pieces that mean something, in an order that means nothing, and then bytes
//! of it turned, doubled and lost.

/// Keys and answers of terminals.
pub const KEYS: &[&[u8]] = &[
    b"\x1b",
    b"\x1b[",
    b"\x1bO",
    b"\x1b]",
    b"\x1bP",
    b"\x1b_G",
    b"\x1b\\",
    b"\x07",
    b"\x1b[A",
    b"\x1b[1;5C",
    b"\x1b[13;2u",
    b"\x1b[97;5:3u",
    b"\x1b[<0;10;5M",
    b"\x1b[<64;1;1",
    b"m",
    b"\x1b[M !!",
    b"\x1b[I",
    b"\x1b[O",
    b"\x1b[200~",
    b"\x1b[201~",
    b"\x1b[20",
    b"\x1b]11;rgb:1e/1e/2e\x1b\\",
    b"\x1b[?62;22c",
    b"\x1b[?2026;2$y",
    b"\x1bP>|a\x1b\\",
    b"\x1b[[C",
    b"\x1b[27;5;13~",
    b"\x1b[3~",
    b"\x1bOP",
    b"\x1bx",
    b"\x1b\x1b[B",
    b"\r",
    b"\n",
    b"\r\n",
    b"\t",
    b"\x7f",
    b"\0",
    b"\x1c",
    b"a",
    b"Z",
    b"0",
    b";",
    b":",
    b"?",
    b"\xc3\xa9",
    b"\xe6\x97\xa5",
    b"\xf0\x9f\x98\x80",
    b"\xe6\x97",
    b"\xff",
    b"\x80",
    b"\x9b",
    b"\xc2\x9b",
    b"11111111",
    b"99999999999999999999",
    b"\xef\xbf\xbd",
    b" ",
];

/// What commands write for a terminal.
pub const OUTPUT: &[&[u8]] = &[
    b"\x1b[",
    b"\x1b[31m",
    b"\x1b[0m",
    b"\x1b[38;2;1;2;3m",
    b"\x1b[38:2::1:2:3m",
    b"\x1b[4:3m",
    b"\x1b[2K",
    b"\x1b[K",
    b"\x1b[1K",
    b"\x1b[J",
    b"\x1b[2J",
    b"\x1b[H",
    b"\x1b[3;4H",
    b"\x1b[999;999H",
    b"\x1b[3A",
    b"\x1b[2B",
    b"\x1b[5C",
    b"\x1b[5D",
    b"\x1b[9999D",
    b"\x1b[2G",
    b"\x1b[3d",
    b"\x1b[2L",
    b"\x1b[2M",
    b"\x1b[2P",
    b"\x1b[2@",
    b"\x1b[3X",
    b"\x1b[2S",
    b"\x1b[2T",
    b"\x1b[2;4r",
    b"\x1b[r",
    b"\x1b[?1049h",
    b"\x1b[?1049l",
    b"\x1b[?47h",
    b"\x1b[?25l",
    b"\x1b[?6h",
    b"\x1b[?6l",
    b"\x1b[?7l",
    b"\x1b[?7h",
    b"\x1b[?1h",
    b"\x1b[?2004h",
    b"\x1b[?2026h",
    b"\x1b[4h",
    b"\x1b[5b",
    b"\x1b[6n",
    b"\x1b[c",
    b"\x1b[18t",
    b"\x1b7",
    b"\x1b8",
    b"\x1bM",
    b"\x1bD",
    b"\x1bE",
    b"\x1bc",
    b"\x1b(0",
    b"\x1b(B",
    b"\x1b]0;title\x07",
    b"\x1b]8;;http://x\x1b\\",
    b"\x1b]52;c;aGk=\x07",
    b"\x1b]11;?\x07",
    b"\x1bP+q544e\x1b\\",
    b"\x1bP",
    b"\x1b\\",
    b"\x1b_x\x1b\\",
    b"\x1b",
    b"\r",
    b"\n",
    b"\r\n",
    b"\x08",
    b"\t",
    b"\x0b",
    b"\x0c",
    b"\x07",
    b"\x0e",
    b"\x0f",
    b"\0",
    b"\x7f",
    b"\xc2\x9b2J",
    b"\x9b2J",
    b"plain words",
    b"50% done",
    b"x",
    b" ",
    b"\xe6\x97\xa5\xe6\x9c\xac",
    b"e\xcc\x81",
    b"\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x9a\x80",
    b"\xe2\x9d\xa4\xef\xb8\x8f",
    b"\xf0\x9f\x87\xa9\xf0\x9f\x87\xaa",
    b"\xd7\xa9\xd7\x9c",
    b"\xe2\x80\xae",
    b"\xe2\x80\x8b",
    b"\xff",
    b"\xe6\x97",
    b"\xef\xbf\xbd",
    b"99999999999",
];

/// An answer. `#` and a number make a word of its own.
pub const MARKDOWN: &[&[u8]] = &[
    b"word",
    b"k#q ",
    b"k#q ",
    b"k#q ",
    b" ",
    b"  ",
    b"    ",
    b"\t",
    b"\n",
    b"\n",
    b"\n\n",
    b"\r\n",
    b"# ",
    b"### ",
    b"- ",
    b"* ",
    b"+ ",
    b"1. ",
    b"12) ",
    b"> ",
    b">> ",
    b"- [x] ",
    b"- [ ] ",
    b"```",
    b"```rust\n",
    b"~~~",
    b"`",
    b"``",
    b"*",
    b"**",
    b"_",
    b"__",
    b"~~",
    b"***",
    b"---",
    b"===",
    b"- - -",
    b"|",
    b"| a | b |\n",
    b"|---|:-:|\n",
    b"||",
    b"[k#q](http://x/y)",
    b"[a][b]",
    b"[b]: http://x",
    b"![pic](a.png)",
    b"<http://x.y>",
    b"<b>",
    b"</b>",
    b"<br>",
    b"<details>",
    b"<summary>",
    b"</summary>",
    b"</details>",
    b"<!--",
    b"-->",
    b"<?",
    b"<![CDATA[",
    b"[^1]",
    b"[^1]: ",
    b"&amp;",
    b"&#x1b;",
    b"&nope;",
    b"\\",
    b"\\*",
    b"\\\n",
    b"  \n",
    b"http://a.b/c",
    b"x@y.z",
    b"!",
    b"(",
    b")",
    b"[",
    b"]",
    b"\"",
    "文書".as_bytes(),
    "e\u{301}".as_bytes(),
    "👩‍🚀".as_bytes(),
    "❤️".as_bytes(),
    "🇩🇪".as_bytes(),
    "שלום".as_bytes(),
    "\u{202e}".as_bytes(),
    "\u{200b}".as_bytes(),
    b"\x1b[31m",
    b"\x07",
    b"\0",
    b"\xff",
    b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
];

/// Diffs.
pub const DIFF: &[&[u8]] = &[
    b"diff --git a/x b/x\n", b"index 1..2\n", b"--- a/x.rs\n", b"+++ b/x.rs\n", b"--- /dev/null\n", b"--- ", b"+++ ", b"@@ -1,3 +1,4 @@\n", b"@@ -9 +9,2 @@ fn k#q\n", b"@@ -0,0 +1 @@\n", b"@@ -4294967295,9 +4294967295,9 @@\n",
    b"@@ -99999999999999999999,1 +1,1 @@\n", b"@@ -1,900 +1,900 @@\n", b"@@", b"@", b"+k#q words\n", b"-k#q words\n", b" k#q words\n", b"+", b"-", b" ", b"\n", b"\r\n", b"\\ No newline at end of file\n", b"\\",
    b"+let a = f(k#q, 1);\n", b"-let a = f(k#q, 2);\n", b"+\n", b"-\n", b"+\t\tk#q\n", b"Binary files differ\n", b"rename from x\n", b"new file mode 100644\n", b"k#q ", b"\t",
    "+文書 k#q\n".as_bytes(), "-e\u{301} k#q\n".as_bytes(), "+👩‍🚀\n".as_bytes(), "\u{202e}".as_bytes(), b"\x1b[31m", b"\0", b"\x07", b"\xff", b"+aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n",
];

/// Makes inputs, one after the other.
pub struct Source<'a> {
    state: u64,
    pieces: &'a [&'a [u8]],
    text: bool,
    word: u32,
}

impl<'a> Source<'a> {
    /// From these pieces; of text only the pieces' order is turned, and few bytes.
    pub fn new(seed: u64, pieces: &'a [&'a [u8]], text: bool) -> Self {
        let state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        Self { state, pieces, text, word: 0 }
    }
    fn below(&mut self, most: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from((self.state >> 11) % most.max(1) as u64).unwrap()
    }
    fn byte(&mut self) -> u8 {
        u8::try_from(self.below(256)).unwrap()
    }
    /// The next input.
    pub fn next(&mut self) -> Vec<u8> {
        // most are short, so that much is tried; some are long
        let most = [4, 4, 6, 6, 6, 12, 12, 12, 30, 30, 80, 300][self.below(12)];
        let mut out = Vec::new();
        for _ in 0..=self.below(most) {
            let piece = self.pieces[self.below(self.pieces.len())];
            let times = if self.below(40) == 0 { 1 + self.below(30) } else { 1 };
            for _ in 0..times {
                for part in piece.split_inclusive(|byte| *byte == b'#') {
                    match part.split_last() {
                        Some((b'#', [.., b'k'])) => {
                            self.word += 1;
                            out.extend_from_slice(&part[..part.len() - 1]);
                            out.extend_from_slice(self.word.to_string().as_bytes());
                        }
                        _ => out.extend_from_slice(part),
                    }
                }
            }
        }
        let turns = if self.text && self.below(3) > 0 { 0 } else { self.below(4) };
        for _ in 0..turns {
            self.turn(&mut out);
        }
        out
    }
    /// Turns something of it.
    fn turn(&mut self, out: &mut Vec<u8>) {
        let at = self.below(out.len() + 1);
        match self.below(5) {
            0 if at < out.len() => out[at] = self.byte(),
            1 if at < out.len() => drop(out.remove(at)),
            2 => {
                let byte = self.byte();
                out.insert(at, byte);
            }
            3 if at < out.len() => {
                let end = (at + 1 + self.below(12)).min(out.len());
                let again = out[at..end].to_vec();
                out.splice(at..at, again);
            }
            _ => out.truncate(at.max(out.len() / 2)),
        }
    }
}

/// The words of a text that are there to be counted: `k`, a number, `q`, each once.
pub fn words(text: &str) -> std::collections::BTreeSet<String> {
    let mut words = std::collections::BTreeSet::new();
    for (at, _) in text.match_indices('k') {
        let digits: String = text[at + 1..].chars().take_while(char::is_ascii_digit).collect();
        if !digits.is_empty() && text[at + 1 + digits.len()..].starts_with('q') {
            words.insert(format!("k{digits}q"));
        }
    }
    words
}
