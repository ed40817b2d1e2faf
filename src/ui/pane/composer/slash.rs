//! The `/` commands of the program: name, what follows it, what it does.

use crate::api::event::CustomCommand;
use crate::base::near::nearest;

/// All of them.
pub const COMMANDS: &[(&str, &str, &str)] = &[
    ("help", "", "every key and command"),
    ("model", "[NAME]", "choose the model"),
    ("thinking", "[off|low|medium|high|default]", "how much the model thinks"),
    ("mode", "ask|edits|auto|plan", "what is asked before it is done"),
    ("compact", "", "summarise older messages now"),
    ("context", "", "what fills the model's window"),
    ("usage", "", "what was spent: by model, by agent, by turn"),
    ("timeline", "", "what ran when in a turn, and what waited for you"),
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
    ("tour", "", "what is where on the screen, in five cards"),
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

/// What is said to a name that no command has.
pub fn unknown(name: &str, own: &[CustomCommand]) -> String {
    let names =
        COMMANDS.iter().map(|(name, ..)| *name).chain(own.iter().map(|command| command.name.as_str()));
    match nearest(name, names) {
        Some(near) => format!("there is no command /{name}; did you mean /{near}?"),
        None => format!("there is no command /{name}; / lists them (a space before the / sends it as text)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_names_the_nearest_command_the_persons_own_too() {
        let own = [CustomCommand { name: "ship-it".into(), text: String::new() }];
        assert_eq!(unknown("modle", &own), "there is no command /modle; did you mean /model?");
        assert_eq!(unknown("shipit", &own), "there is no command /shipit; did you mean /ship-it?");
        assert!(unknown("bananas", &own).contains("/ lists them"));
    }

    #[test]
    fn commands_are_told_from_paths() {
        assert_eq!(parse("/model  gpt"), Some(("model", "gpt")));
        assert_eq!(parse("/help"), Some(("help", "")));
        assert_eq!(parse("/usr/bin is broken"), None);
        assert_eq!(parse("/"), None);
        assert_eq!(parse("no /help"), None);
    }
}
