//! Where raw HTML begins and ends: the seven kinds of CommonMark.
//!
//! Deliberately not here: what HTML means. It is shown as it is written (`layout`).

/// Elements whose tags begin a block wherever they stand.
const BLOCKS: &[&str] = &[
    "address",
    "article",
    "aside",
    "base",
    "basefont",
    "blockquote",
    "body",
    "caption",
    "center",
    "col",
    "colgroup",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "frame",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "iframe",
    "legend",
    "li",
    "link",
    "main",
    "menu",
    "menuitem",
    "nav",
    "noframes",
    "ol",
    "optgroup",
    "option",
    "p",
    "param",
    "search",
    "section",
    "summary",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
    "track",
    "ul",
];
/// Elements that hold text which is not Markdown.
const RAW: &[&str] = &["script", "pre", "style", "textarea"];

/// An open block of HTML, by what ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Html {
    /// A closing tag of one of `RAW`.
    Raw,
    /// `-->`.
    Comment,
    /// `?>`.
    Instruction,
    /// `>`.
    Declaration,
    /// `]]>`.
    Data,
    /// A blank line.
    Tag,
}

impl Html {
    /// What begins in a line (without its indentation); `within` a paragraph, which a lone tag does not end.
    pub fn begun(line: &str, within: bool) -> Option<Self> {
        let rest = line.strip_prefix('<')?;
        if rest.starts_with("!--") {
            return Some(Self::Comment);
        }
        if rest.starts_with('?') {
            return Some(Self::Instruction);
        }
        if rest.starts_with("![CDATA[") {
            return Some(Self::Data);
        }
        if let Some(rest) = rest.strip_prefix('!') {
            return rest.starts_with(|c: char| c.is_ascii_alphabetic()).then_some(Self::Declaration);
        }
        let closing = rest.starts_with('/');
        let rest = rest.strip_prefix('/').unwrap_or(rest);
        let name = name(rest)?;
        let after = &rest[name.len()..];
        let one_of = |names: &[&str]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
        let ends = after.is_empty() || after.starts_with([' ', '\t', '>']);
        if one_of(RAW) {
            return (!closing && ends).then_some(Self::Raw);
        }
        if one_of(BLOCKS) && (ends || after.starts_with("/>")) {
            return Some(Self::Tag);
        }
        let past = if closing { after.trim_start().strip_prefix('>') } else { past_tag(after) };
        (!within && past.is_some_and(|past| past.trim().is_empty())).then_some(Self::Tag)
    }
    /// Whether it ends in this line. A block that ends at a blank line never does.
    pub fn ends(self, line: &str) -> bool {
        match self {
            Self::Raw => {
                let line = line.to_ascii_lowercase();
                line.contains("</") && RAW.iter().any(|name| line.contains(&format!("</{name}>")))
            }
            Self::Comment => line.contains("-->"),
            Self::Instruction => line.contains("?>"),
            Self::Declaration => line.contains('>'),
            Self::Data => line.contains("]]>"),
            Self::Tag => false,
        }
    }
}

/// What a line of HTML says of what can be folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fold {
    /// `<details>`, which does not end in the line.
    Begins,
    /// `<summary>`.
    Summary,
    /// `</details>` and nothing else.
    Ends,
}

impl Fold {
    /// Of a line.
    pub fn of(line: &str) -> Option<Self> {
        let line = line.trim();
        let tag = |name: &str| {
            let rest = line.get(..name.len()).filter(|start| start.eq_ignore_ascii_case(name));
            rest.is_some() && line[name.len()..].starts_with([' ', '\t', '>'])
        };
        if tag("<details") {
            let ends = line.to_ascii_lowercase().contains("</details");
            return (!ends && line.contains('>')).then_some(Self::Begins);
        }
        if tag("<summary") {
            return Some(Self::Summary);
        }
        line.eq_ignore_ascii_case("</details>").then_some(Self::Ends)
    }
}

/// The text of some HTML without its tags.
pub(super) fn untagged<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let mut out = String::new();
    for line in lines {
        let mut rest = line.trim();
        while let Some((before, tag)) = rest.split_once('<') {
            out.push_str(before);
            rest = tag.split_once('>').map_or("", |(_, rest)| rest);
        }
        out.push_str(rest);
        out.push(' ');
    }
    out.trim().to_owned()
}

/// The name of a tag at the beginning of a text.
fn name(text: &str) -> Option<&str> {
    let len = text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'-').count();
    text.starts_with(|c: char| c.is_ascii_alphabetic()).then_some(&text[..len])
}

/// What follows an opening tag, read behind its name; none: it is none, or goes on in the next line.
fn past_tag(mut rest: &str) -> Option<&str> {
    loop {
        let spaced = rest.trim_start();
        if let Some(past) = spaced.strip_prefix("/>").or_else(|| spaced.strip_prefix('>')) {
            return Some(past);
        }
        if spaced.len() == rest.len() {
            return None;
        }
        let first = |c: char| c.is_ascii_alphabetic() || c == '_' || c == ':';
        let more = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':' | '-');
        if !spaced.starts_with(first) {
            return None;
        }
        rest = spaced.trim_start_matches(more);
        if let Some(value) = rest.trim_start().strip_prefix('=') {
            rest = past_value(value.trim_start())?;
        }
    }
}

fn past_value(value: &str) -> Option<&str> {
    match value.chars().next()? {
        mark @ ('"' | '\'') => value[1..].split_once(mark).map(|(_, past)| past),
        _ => {
            let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '=' | '<' | '>' | '`');
            let end = value.find(ends).unwrap_or(value.len());
            (end > 0).then(|| &value[end..])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_beginning_and_its_end() {
        for (line, kind) in [
            ("<pre class=x>", Html::Raw),
            ("<!-- a", Html::Comment),
            ("<?php", Html::Instruction),
            ("<!DOCTYPE html>", Html::Declaration),
            ("<![CDATA[", Html::Data),
            ("</DIV>", Html::Tag),
            ("<hr/>", Html::Tag),
        ] {
            assert_eq!(Html::begun(line, true), Some(kind), "{line}");
        }
        for line in ["<kbd>", "</kbd >", "<a href=\"x\" b='c' d=e f />"] {
            assert_eq!(
                (Html::begun(line, false), Html::begun(line, true)),
                (Some(Html::Tag), None),
                "{line}"
            );
        }
        for line in
            ["<https://x>", "< a>", "<a>b</a>", "<a href=\"x", "<a b=>", "</a b>", "<3", "<!-", "<preview"]
        {
            assert_eq!(Html::begun(line, false), None, "{line}");
        }
        assert!(Html::Raw.ends("x</Pre> y") && Html::Comment.ends("-->") && !Html::Raw.ends("</pr>"));
        assert_eq!(Fold::of(" <Details open>"), Some(Fold::Begins));
        assert_eq!(
            (Fold::of("<details>x</details>"), Fold::of("<detailsx>"), Fold::of("é")),
            (None, None, None)
        );
        assert_eq!((Fold::of("<summary>a"), Fold::of("</details>")), (Some(Fold::Summary), Some(Fold::Ends)));
        assert_eq!(untagged(["<details>", "<summary><b>A</b> &amp; b</summary>"].into_iter()), "A &amp; b");
        assert!(Html::Data.ends("]]>") && Html::Instruction.ends("?>") && !Html::Tag.ends("</div>"));
    }
}
