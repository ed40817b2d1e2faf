//! The instructions of the program itself (`assets/system.md`), put together with a directory's own: a
//! stable text, and the few lines that change from turn to turn, which stand after the stable prefix.

use std::path::Path;

use crate::workspace::git::GitState;
use crate::workspace::instructions::Instructions;

/// The program's own instructions.
pub const SYSTEM: &str = include_str!("../../assets/system.md");

/// The stable instructions of a session.
pub fn system(cwd: &Path, instructions: &Instructions) -> String {
    let platform = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
    let mut out = SYSTEM.replace("{directory}", &cwd.display().to_string()).replace("{platform}", &platform);
    let own = instructions.render();
    if !own.is_empty() {
        out.push_str(
            "\n# Instructions of the user and the project\n\nThe later ones are the more specific; \
             they win over the earlier ones and over your habits.\n\n",
        );
        out.push_str(&own);
    }
    out
}

/// What changes from turn to turn. `date` is written as the user's calendar has it.
pub fn volatile(date: &str, git: Option<&GitState>) -> String {
    let mut out = format!("<now>\ndate: {date}\n");
    if let Some(git) = git {
        let dirt = match git.dirty {
            Some(true) => ", with changes that are not committed",
            Some(false) => ", clean",
            None => "",
        };
        out.push_str(&format!("git branch: {}{dirt}\n", git.branch));
    }
    out.push_str("</now>");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_placeholder_is_filled_in() {
        let text = system(Path::new("/home/me/project"), &Instructions::default());
        assert!(
            text.contains("/home/me/project")
                && !text.contains("{directory}")
                && !text.contains("{platform}")
        );
        let git = GitState { branch: "main".into(), dirty: Some(true) };
        assert_eq!(
            volatile("2026-01-02", Some(&git)),
            "<now>\ndate: 2026-01-02\ngit branch: main, with changes that are not committed\n</now>"
        );
    }
}
