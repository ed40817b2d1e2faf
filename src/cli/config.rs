//! `windlass config`: show, check, schema.

use crate::cli::args::ConfigAction;
use crate::cli::out::{print, say};
use crate::config::{Loaded, show};

/// Runs it; the exit code. `more` are problems that only others can find (the keymap's, the themes').
pub fn run(action: ConfigAction, loaded: &Loaded, config_dir: &std::path::Path, more: &[String]) -> u8 {
    match action {
        ConfigAction::Show => {
            warn(loaded);
            u8::from(!print(show::show(loaded).as_bytes()))
        }
        ConfigAction::Schema => u8::from(!print(format!("{:#}\n", show::schema()).as_bytes())),
        ConfigAction::Check => {
            let mut problems: Vec<String> = loaded.problems.iter().map(ToString::to_string).collect();
            problems.extend(more.iter().cloned());
            for problem in &problems {
                say(problem);
            }
            if problems.is_empty() {
                let files = checked(loaded, config_dir);
                u8::from(!print(format!("nothing is wrong ({files})\n").as_bytes()))
            } else {
                let s = if problems.len() == 1 { "" } else { "s" };
                say(format_args!("{} problem{s}; what is valid is used", problems.len()));
                2
            }
        }
    }
}

/// Names the problems on stderr, as every start does.
pub fn warn(loaded: &Loaded) {
    for problem in &loaded.problems {
        say(format_args!("windlass: {problem}"));
    }
}

fn checked(loaded: &Loaded, config_dir: &std::path::Path) -> String {
    let mut words = vec![config_dir.join("settings.json").display().to_string()];
    if let Some(project) = &loaded.project {
        let own = project.root.join(".windlass").join("settings.json");
        let not = if project.trusted { "" } else { ", not read: the directory is not trusted" };
        words.push(format!("{}{not}", own.display()));
    }
    words.join("; ")
}
