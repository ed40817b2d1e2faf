//! How well a text stands out from its ground, as WCAG 2 measures it: 1 (not at all) to 21.

use ratatui::style::Color;

/// Least contrast of a text with its ground.
pub const LEGIBLE: f64 = 4.5;

/// The red, green and blue of a colour that has them for certain: not of one that the terminal decides.
pub fn rgb(color: Color) -> Option<(u8, u8, u8)> {
    match color {
        Color::Rgb(r, g, b) => Some((r, g, b)),
        Color::Indexed(n @ 16..) => Some(crate::ui::depth::rgb_of(n)),
        _ => None,
    }
}

/// How bright a colour is, 0 to 1.
pub fn luminance((r, g, b): (u8, u8, u8)) -> f64 {
    let part = |v: u8| {
        let v = f64::from(v) / 255.0;
        if v <= 0.039_28 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b)
}

/// The contrast of two colours.
pub fn contrast(a: (u8, u8, u8), b: (u8, u8, u8)) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contrast_is_that_of_the_standard() {
        assert!((contrast((0, 0, 0), (255, 255, 255)) - 21.0).abs() < 0.01);
        assert!((contrast((119, 119, 119), (255, 255, 255)) - 4.48).abs() < 0.01);
        assert_eq!(rgb(Color::Red), None);
        assert_eq!(rgb(Color::Indexed(22)), Some((0, 95, 0)));
    }
}
