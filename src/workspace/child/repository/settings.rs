//! The settings of a copy's repository, from those of its parent's: pure.

use std::path::Path;

/// Sections that stay behind whole: they name other files, or begin work by themselves.
const SECTIONS_LEFT: &[&str] = &["include", "includeif", "extensions", "gc", "maintenance", "fsmonitor"];
/// Settings that stay behind: what is of the parent's directory, and what starts programs without being asked.
const LEFT: &[&str] = &[
    "core.bare",
    "core.worktree",
    "core.hookspath",
    "core.fsmonitor",
    "core.alternaterefscommand",
    "core.alternaterefsprefixes",
    "core.repositoryformatversion",
    "core.sharedrepository",
    "core.splitindex",
];

/// The file of settings. `told` is what `git config -z --list --show-scope` told, `format` the hash of objects, `tree`
/// where the work tree is if the repository is not in it (a path that is no text cannot be told so).
pub fn of(told: &[u8], format: &str, tree: Option<&Path>) -> Vec<u8> {
    let mut text = String::new();
    let mut promised = None;
    let mut words = told.split(|byte| *byte == 0);
    while let (Some(scope), Some(setting)) = (words.next(), words.next()) {
        let Ok(setting) = std::str::from_utf8(setting) else { continue };
        let (key, value) =
            setting.split_once('\n').map_or((setting, None), |(key, value)| (key, Some(value)));
        if !matches!(scope, b"local" | b"worktree") {
            continue;
        }
        if key == "extensions.partialclone" {
            promised = value;
        }
        if !is_left(key) {
            text.push_str(&one(key, value).unwrap_or_default());
        }
    }
    let version = i32::from(format != "sha1" || promised.is_some());
    let mut ours = vec![
        ("core.repositoryformatversion", version.to_string()),
        ("core.bare", "false".into()),
        ("core.hooksPath", "/dev/null".into()),
        ("gc.auto", "0".into()),
        ("maintenance.auto", "false".into()),
    ];
    ours.extend(tree.and_then(Path::to_str).map(|tree| ("core.worktree", tree.into())));
    if format != "sha1" {
        ours.push(("extensions.objectFormat", format.into()));
    }
    ours.extend(promised.map(|remote| ("extensions.partialClone", remote.into())));
    text.extend(ours.iter().filter_map(|(key, value)| one(key, Some(value))));
    text.into_bytes()
}

fn is_left(key: &str) -> bool {
    let section = key.split('.').next().unwrap_or_default();
    SECTIONS_LEFT.contains(&section) || LEFT.contains(&key)
}

/// One setting as git reads it; none when it is no key.
fn one(key: &str, value: Option<&str>) -> Option<String> {
    let (section, rest) = key.split_once('.')?;
    let head = match rest.rsplit_once('.') {
        Some((sub, _)) => format!("[{section} \"{}\"]", sub.replace('\\', "\\\\").replace('"', "\\\"")),
        None => format!("[{section}]"),
    };
    let name = rest.rsplit('.').next()?;
    let value = value.map(|value| {
        let value =
            value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\t', "\\t");
        format!(" = \"{value}\"")
    });
    Some(format!("{head}\n\t{name}{}\n", value.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_come_along_but_for_those_that_start_something_or_lead_elsewhere() {
        let told = "local\0user.name\nA \"B\"\\\0local\0remote.ori.gin.url\n../x\0global\0user.email\na@b\0\
            local\0core.fsmonitor\n/evil\0local\0core.hookspath\nhooks\0local\0include.path\nmore\0local\0gc.auto\n1\0\
            local\0core.autocrlf\0worktree\0core.sparsecheckout\ntrue\0local\0extensions.partialclone\norigin\0";
        insta::assert_snapshot!(
            String::from_utf8(of(told.as_bytes(), "sha256", Some(Path::new("/w/sub \"1\"")))).unwrap()
        );
    }
}
