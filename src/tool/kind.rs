//! Pure: what a file is, by its first bytes.

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text, perhaps with bytes that are not UTF-8.
    Text,
    /// An image that models take, with its media type.
    Image(&'static str),
    /// Anything else, in a word.
    Binary(&'static str),
}

/// Beginnings of files that are not text, also where they hold no NUL byte.
const BEGINNINGS: [(&[u8], &str); 14] = [
    (b"\x7fELF", "an ELF program"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a zip archive"),
    (b"\x1f\x8b", "gzip data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ\0", "xz data"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\0asm", "a WebAssembly module"),
    (b"\xca\xfe\xba\xbe", "a Java class or Mach-O program"),
    (b"OggS", "Ogg media"),
    (b"\xff\xfe", "UTF-16 text; convert it with iconv -f UTF-16"),
    (b"\xfe\xff", "UTF-16 text; convert it with iconv -f UTF-16"),
];

/// What a file with this beginning (8 KiB or all of it) is.
pub fn of(head: &[u8]) -> Kind {
    if head.starts_with(b"\x89PNG\r\n\x1a\n") {
        return Kind::Image("image/png");
    }
    if head.starts_with(b"\xff\xd8\xff") {
        return Kind::Image("image/jpeg");
    }
    if head.starts_with(b"GIF87a") || head.starts_with(b"GIF89a") {
        return Kind::Image("image/gif");
    }
    if head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP") {
        return Kind::Image("image/webp");
    }
    if let Some((_, word)) = BEGINNINGS.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Kind::Binary(word);
    }
    if head.contains(&0) { Kind::Binary("binary data") } else { Kind::Text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_by_their_first_bytes() {
        assert_eq!(of(b"\x89PNG\r\n\x1a\n\0\0"), Kind::Image("image/png"));
        assert_eq!(of(b"RIFF\x10\0\0\0WEBPVP8 "), Kind::Image("image/webp"));
        assert_eq!(of(b"RIFF\x10\0\0\0WAVEfmt "), Kind::Binary("binary data"));
        assert_eq!(of(b"\x7fELF\x02"), Kind::Binary("an ELF program"));
        assert_eq!(of(b"a\0b"), Kind::Binary("binary data"));
        assert_eq!(of(b"caf\xe9\n"), Kind::Text);
        assert_eq!(of(b""), Kind::Text);
    }
}
