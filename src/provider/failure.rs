//! What a provider's refusal means, in its own words and with what to do next.
//!
//! Not here: whether it is tried again (`law::retry`). No text made here holds a key: who has one scrubs.

use serde_json::Value;

use super::FailureKind;

/// Most bytes of a provider's own words that are shown.
const WORDS_MAX: usize = 1500;

/// The kind of a failure with this status and these words.
pub(super) fn kind_of(status: u16, words: &str) -> FailureKind {
    let lower = words.to_ascii_lowercase();
    match status {
        401 | 403 => FailureKind::Key,
        400 if lower.contains("api key") || lower.contains("api_key") => FailureKind::Key,
        400 | 413 | 422 | 500 if overflows(&lower) => FailureKind::Overflow,
        413 => FailureKind::Overflow,
        429 if lower.contains("insufficient_quota") || lower.contains("exceeded your current quota") => {
            FailureKind::Other
        }
        408 | 409 | 425 | 429 | 500..=599 => FailureKind::Busy,
        400..=499 => FailureKind::Invalid,
        _ => FailureKind::Other,
    }
}

/// Whether the words (lower case) say that the conversation does not fit.
fn overflows(lower: &str) -> bool {
    const SIGNS: [&str; 11] = [
        "prompt is too long",
        "context_length_exceeded",
        "maximum context length",
        "context window",
        "context length",
        "exceed_context_size",
        "exceeds the available context",
        "input token count",
        "too many tokens",
        "input is too long",
        "request_too_large",
    ];
    SIGNS.iter().any(|sign| lower.contains(sign))
}

/// What is shown: who, what it said, what to do.
pub(super) fn text(who: &str, status: Option<u16>, words: &str, kind: FailureKind) -> String {
    let words = words.trim();
    let cut = words.floor_char_boundary(words.len().min(WORDS_MAX));
    let said = match (status, words.is_empty()) {
        (Some(status), false) => format!("{who} answered {status}: {}", &words[..cut]),
        (Some(status), true) => format!("{who} answered {status} without a word"),
        (None, false) => format!("{who}: {}", &words[..cut]),
        (None, true) => format!("{who}: the connection broke"),
    };
    let next = match kind {
        FailureKind::Key => "Check the key: `windlass doctor` shows which one is used.",
        FailureKind::Overflow => "The conversation does not fit the model's window: /compact makes room.",
        FailureKind::Busy => "It is busy or broken: try again in a while.",
        FailureKind::Connection => "Check the network and the provider's address, then try again.",
        FailureKind::Invalid => "The request was refused: choose another model with /model, or report this.",
        FailureKind::Silent => "Try again, or raise the setting `idle_timeout_ms`.",
        FailureKind::Script | FailureKind::Other => "Try again, or choose another model with /model.",
    };
    let stop = if said.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{said}{stop} {next}")
}

/// The provider's own words in the body of an error answer, whatever its form.
pub(super) fn words(body: &[u8]) -> String {
    let Ok(value) = serde_json::from_slice::<Value>(body) else {
        return plain(&String::from_utf8_lossy(body));
    };
    said(&value).unwrap_or_else(|| plain(&value.to_string()))
}

/// The message inside an error object, with its type or code in front when that says more.
pub(super) fn said(value: &Value) -> Option<String> {
    let value = match value {
        Value::Array(all) => all.first()?,
        other => other,
    };
    let error = value.get("error").unwrap_or(value);
    if let Value::String(text) = error {
        return Some(text.clone());
    }
    let message = ["message", "detail", "msg"].iter().find_map(|key| error.get(*key)?.as_str())?;
    let code = ["code", "type", "status"]
        .iter()
        .find_map(|key| error.get(*key)?.as_str())
        .filter(|code| !message.contains(code) && *code != "error");
    Some(match code {
        Some(code) => format!("{message} ({code})"),
        None => message.to_string(),
    })
}

/// A page or a text on one line, without markup.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for c in text.chars().take(4 * WORDS_MAX) {
        match c {
            '<' => inside = true,
            '>' => inside = false,
            _ if inside => {}
            c => out.push(c),
        }
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_every_form() {
        let cases = [
            (
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
                "Overloaded (overloaded_error)",
            ),
            (r#"{"error":{"message":"bad key","code":"invalid_api_key"}}"#, "bad key (invalid_api_key)"),
            (
                r#"[{"error":{"code":400,"message":"API key not valid","status":"INVALID_ARGUMENT"}}]"#,
                "API key not valid (INVALID_ARGUMENT)",
            ),
            (r#"{"error":"model not found"}"#, "model not found"),
            (r#"{"detail":"Not Found"}"#, "Not Found"),
            ("<html><body><h1>502 Bad Gateway</h1></body></html>", "502 Bad Gateway"),
            ("", ""),
        ];
        for (body, want) in cases {
            assert_eq!(words(body.as_bytes()), want, "{body}");
        }
    }

    #[test]
    fn kinds() {
        assert_eq!(kind_of(401, ""), FailureKind::Key);
        assert_eq!(kind_of(400, "API key not valid"), FailureKind::Key);
        assert_eq!(kind_of(400, "prompt is too long: 201000 tokens > 200000"), FailureKind::Overflow);
        assert_eq!(kind_of(400, "the request exceeds the available context size"), FailureKind::Overflow);
        assert_eq!(kind_of(429, "slow down"), FailureKind::Busy);
        assert_eq!(kind_of(529, "Overloaded"), FailureKind::Busy);
        assert_eq!(kind_of(404, "no such model"), FailureKind::Invalid);
    }

    #[test]
    fn a_failure_says_what_and_what_to_do() {
        assert_eq!(
            text("anthropic", Some(401), "invalid x-api-key", FailureKind::Key),
            "anthropic answered 401: invalid x-api-key. Check the key: `windlass doctor` shows which one is used."
        );
    }
}
