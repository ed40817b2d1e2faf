//! What stands beside the settings: custom commands, themes and the keymap. They are handed on as text;
//! who uses them says what is wrong in them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::api::event::CustomCommand;
use crate::config::load::{Loaded, PROJECT_DIR, text_of};
use crate::config::problem::Problem;

/// A text with the file it stands in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedText {
    /// Its name: the file's, without its ending.
    pub name: String,
    /// The file.
    pub file: PathBuf,
    /// The text.
    pub text: String,
}

/// Most files of a kind that are read.
const FILES_MAX: usize = 256;

/// Reads commands, themes and the keymap into `loaded`.
pub fn read(loaded: &mut Loaded, config_dir: &Path) {
    let mut commands = BTreeMap::new();
    let mut places = vec![config_dir.join("commands")];
    if let Some(project) = loaded.project.as_ref().filter(|project| project.trusted) {
        places.push(project.root.join(PROJECT_DIR).join("commands"));
    }
    for place in places {
        for named in directory(&mut loaded.problems, &place, "md") {
            commands.insert(named.name.clone(), CustomCommand { name: named.name, text: named.text });
        }
    }
    loaded.commands = commands.into_values().collect();
    loaded.themes = directory(&mut loaded.problems, &config_dir.join("themes"), "json");
    let keymap = config_dir.join("keymap.json");
    match text_of(&keymap) {
        Ok(text) => {
            loaded.keymap = text.map(|text| NamedText { name: "keymap".into(), file: keymap, text });
        }
        Err(problem) => loaded.problems.push(problem),
    }
}

/// The files of a directory with this ending, by name.
fn directory(problems: &mut Vec<Problem>, dir: &Path, ending: &str) -> Vec<NamedText> {
    let Ok(listing) = std::fs::read_dir(dir) else { return Vec::new() };
    let mut files: Vec<PathBuf> = listing
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|e| e == ending))
        .collect();
    files.sort();
    if files.len() > FILES_MAX {
        let text = format!("holds {} files; the first {FILES_MAX} are read", files.len());
        problems.push(Problem::of_file(dir, text));
        files.truncate(FILES_MAX);
    }
    let mut out = Vec::new();
    for file in files {
        let Some(name) = file.file_stem().and_then(|stem| stem.to_str()).map(str::to_string) else {
            problems.push(Problem::of_file(&file, "its name is not UTF-8; it is left out"));
            continue;
        };
        if name.is_empty() || name.chars().any(char::is_whitespace) {
            problems.push(Problem::of_file(&file, "its name has blanks; it is left out"));
            continue;
        }
        match text_of(&file) {
            Ok(Some(text)) => out.push(NamedText { name, file, text }),
            Ok(None) => {}
            Err(problem) => problems.push(problem),
        }
    }
    out
}
