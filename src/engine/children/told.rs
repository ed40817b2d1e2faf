//! What an agent's model is told of itself: that it is one, and where it works.

use crate::sandbox::hold::{Commands, Held};

/// The last part of its instructions; `held`: it works in a copy.
pub fn as_agent(name: &str, held: Option<&Held>) -> String {
    let copy = held.map_or_else(String::new, in_a_copy);
    format!(
        "\n\n# You are a subagent\n\nYou are the agent `{name}`: another model asked for you, and the first message is its \
         task for you. Nobody reads along. What you say last, when you are done, is your report to it: say what you \
         did, what you found and what is left, in few words. Wait for commands and agents of yours whose results you \
         need before you report: what still runs then is ended.\n{copy}"
    )
}

fn in_a_copy(held: &Held) -> String {
    let (seen, copy) = (held.seen().display(), held.copy().display());
    let commands = match held.commands() {
        Commands::Held => String::new(),
        Commands::Refused(_) => {
            " There is no `bash` here, for no command could be held in the copy: say in your report \
             what is to be run."
                .to_owned()
        }
        Commands::Unheld => format!(
            " Only your file tools see it at that path. Your commands are not held: they begin in the copy itself, \
             {copy}, and what they print names it so; file tools take such a path too. In a command never name \
             {seen}: that is the directory itself, and what you did there could not be taken back."
        ),
    };
    format!(
        "\nYou work in a copy of {seen}, which you see at that path. What you change is handed back at your end, and \
         nothing of it is in the directory before. What git ignores there (what was built or installed) is not in the \
         copy.{commands}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Dirs;
    use std::path::Path;

    #[test]
    fn an_agent_is_told_where_its_files_are_and_where_its_commands_run() {
        let tmp = tempfile::tempdir().unwrap();
        let top = tmp.path().canonicalize().unwrap();
        std::fs::create_dir_all(top.join("room/copy")).unwrap();
        let dirs = Dirs::at(top.join("state"), top.join("config"));
        let told = |commands| {
            let (seen, room) = (Path::new("/home/me/project"), top.join("room"));
            let held = Held::new(&dirs, seen, &room, &room.join("copy"), commands).unwrap();
            as_agent("lexer", Some(&held)).replace(&*top.to_string_lossy(), "TOP")
        };
        assert!(!as_agent("lexer", None).contains("copy"));
        let refused = Commands::Refused("bwrap is not there".to_owned());
        insta::assert_snapshot!([Commands::Held, Commands::Unheld, refused].map(told).join("\n---\n"));
    }
}
