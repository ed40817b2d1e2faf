//! How large an image is, in pixels and bytes, read from its head: PNG, GIF, WebP and JPEG.
//!
//! Deliberately not here: decoding. Nothing is made as large as a head says.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::api::message::Image;

/// Characters of base64 that are looked at: a photograph has its size behind a preview.
const HEAD: usize = 1 << 18;

/// In words: `1920×1080, 240 KiB`; empty where the bytes are not here.
pub fn words(image: &Image) -> String {
    let bytes = image.data.len() / 4 * 3;
    if bytes == 0 {
        return String::new();
    }
    let size = match bytes {
        0..=999 => format!("{bytes} B"),
        1000..=1_048_575 => format!("{} KiB", bytes.div_ceil(1024)),
        _ => format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20)),
    };
    match pixels(image) {
        Some((wide, high)) => format!("{wide}×{high}, {size}"),
        None => size,
    }
}

/// Columns and rows of pixels, as its head says.
pub fn pixels(image: &Image) -> Option<(u32, u32)> {
    let head = image.data.len().min(HEAD) / 4 * 4;
    of(&STANDARD.decode(image.data.get(..head)?).ok()?)
}

/// Columns and rows of pixels.
fn of(head: &[u8]) -> Option<(u32, u32)> {
    let big = |at: usize| Some(u32::from_be_bytes(head.get(at..at + 4)?.try_into().ok()?));
    let big_16 = |at: usize| Some(u32::from(u16::from_be_bytes(head.get(at..at + 2)?.try_into().ok()?)));
    let little_16 = |at: usize| Some(u32::from(u16::from_le_bytes(head.get(at..at + 2)?.try_into().ok()?)));
    let little_24 = |at: usize| {
        let part = head.get(at..at + 3)?;
        Some(u32::from_le_bytes([part[0], part[1], part[2], 0]))
    };
    if head.starts_with(b"\x89PNG\r\n\x1a\n") {
        return Some((big(16)?, big(20)?));
    }
    if head.starts_with(b"GIF8") {
        return Some((little_16(6)?, little_16(8)?));
    }
    if head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP") {
        return match head.get(12..16)? {
            b"VP8 " => Some((little_16(26)? & 0x3fff, little_16(28)? & 0x3fff)),
            b"VP8L" => {
                let bits = u32::from_le_bytes(head.get(21..25)?.try_into().ok()?);
                Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
            }
            b"VP8X" => Some((little_24(24)? + 1, little_24(27)? + 1)),
            _ => None,
        };
    }
    if !head.starts_with(b"\xff\xd8") {
        return None;
    }
    let mut at = 2;
    loop {
        if *head.get(at)? != 0xff {
            return None;
        }
        match *head.get(at + 1)? {
            // the marks that begin a picture
            0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf => {
                return Some((big_16(at + 7)?, big_16(at + 5)?));
            }
            0xff => at += 1,
            0xd0..=0xd9 | 0x01 => at += 2,
            _ => at += 2 + big_16(at + 2)? as usize,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_size_of_an_image_is_in_its_head() {
        let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        png.extend([0, 0, 7, 128, 0, 0, 4, 56]);
        assert_eq!(of(&png), Some((1920, 1080)));
        assert_eq!(of(b"GIF89a\x0a\x00\x14\x00"), Some((10, 20)));
        let jpeg = b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x11\x08\x00\x10\x00\x20";
        assert_eq!(of(jpeg), Some((32, 16)));
        let webp = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x3f\0\0\x1f\0\0";
        assert_eq!(of(webp), Some((64, 32)));
        for cut in 0..jpeg.len() {
            of(&jpeg[..cut]);
        }
        assert_eq!(of(b"\xff\xd8\xff\xe0\x00\x00\x00"), None);
        assert_eq!(words(&image_of(&STANDARD.encode(&png))), "1920×1080, 24 B");
        assert_eq!(words(&image_of("")), "");
        // a head that claims a picture larger than any is only words
        png.splice(16..24, [0xff; 8]);
        assert_eq!(words(&image_of(&STANDARD.encode(&png))), "4294967295×4294967295, 24 B");
    }

    proptest! {
        #[test]
        fn any_head_is_read(kind in 0usize..5, rest in prop::collection::vec(any::<u8>(), 0..200)) {
            let heads: [&[u8]; 5] = [b"\x89PNG\r\n\x1a\n", b"GIF8", b"RIFF\0\0\0\0WEBPVP8 ", b"\xff\xd8\xff", b""];
            of(&[heads[kind], &rest].concat());
        }
    }

    fn image_of(data: &str) -> Image {
        Image { media_type: "image/png".into(), data: data.into(), blob: None, name: "a.png".into() }
    }
}
