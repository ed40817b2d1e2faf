//! The `/` commands of the program: name, what follows it, what it does.

/// All of them.
pub const COMMANDS: &[(&str, &str, &str)] = &[
    ("help", "", "every key and command"),
    ("model", "[NAME]", "choose the model"),
    ("thinking", "[off|low|medium|high|default]", "how much the model thinks"),
    ("mode", "ask|edits|auto|plan", "what is asked before it is done"),
    ("compact", "", "summarise older messages now"),
    ("context", "", "what fills the model's window"),
    ("sessions", "", "open another session"),
    ("new", "", "begin a new session"),
    ("jobs", "", "what goes on in the background, and what ended"),
    ("agents", "", "what the subagents do, and what came of those that ended"),
    ("handback", "", "what came back from subagents: conflicts, and what was taken"),
    ("rewind", "", "go back to an entry of the conversation, with the files or without"),
    ("undo", "", "take the newest restoring of files back"),
    ("fork", "", "go on in a session of its own, from here"),
    ("rename", "TITLE", "name this session"),
    ("export", "[FILE]", "write the conversation as Markdown"),
    ("theme", "[NAME]", "choose the theme"),
    ("key", "", "store a provider's key, or choose how to reach a model"),
    ("trust", "", "read this directory's own settings, or stop to"),
    ("retry", "", "try a failed request again"),
    ("clear", "", "begin a new session"),
    ("quit", "", "leave"),
];

/// A draft that is a `/` command: its name and what follows. A path is none.
pub fn parse(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix('/')?;
    let (name, args) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let proper = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "-_:".contains(c));
    proper.then_some((name, args.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_paths() {
        assert_eq!(parse("/model  gpt"), Some(("model", "gpt")));
        assert_eq!(parse("/help"), Some(("help", "")));
        assert_eq!(parse("/usr/bin is broken"), None);
        assert_eq!(parse("/"), None);
        assert_eq!(parse("no /help"), None);
    }
}
