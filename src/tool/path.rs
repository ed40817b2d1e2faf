//! Paths that a model writes: relative to the session's directory, `~` expanded, `.` and `..` gone,
//! links resolved as far as the path exists, so that a link inside that points outside *is* outside.
//!
//! Not here: whether a path may be used; that is the engine's decision over [`crate::api::access::Wish`].

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use crate::tool::site::Site;
use crate::tool::walk;

/// Links followed in one path before it is called a loop, as Linux does.
const LINKS_MAX: usize = 40;

/// The absolute path that `written` means in `cwd`, every link resolved that exists. Blocking.
pub fn resolve(cwd: &Path, written: &str) -> Result<PathBuf, String> {
    real(&absolute(cwd, written)?)
}

/// The absolute path that `written` means in `cwd`, links and `..` as they are.
pub fn absolute(cwd: &Path, written: &str) -> Result<PathBuf, String> {
    if written.trim().is_empty() {
        return Err("the path is empty; name a file".to_owned());
    }
    if written.contains('\0') {
        return Err(format!("the path {written:?} holds a NUL byte; no file can have that name"));
    }
    let expanded = match written.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => match home() {
            Some(home) => home.join(rest.trim_start_matches('/')),
            None => return Err(format!("{written}: there is no home directory; write the path out")),
        },
        Some(_) | None => PathBuf::from(written),
    };
    Ok(cwd.join(expanded))
}

fn home() -> Option<PathBuf> {
    directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_owned())
}

/// Resolves an absolute path as far as it exists; the rest is normalised as written. Blocking.
pub fn real(path: &Path) -> Result<PathBuf, String> {
    let mut queue: VecDeque<Step> = steps(path).collect();
    let mut at = PathBuf::from("/");
    let mut links = 0;
    while let Some(step) = queue.pop_front() {
        match step {
            Step::Up => {
                at.pop();
            }
            Step::Root => at = PathBuf::from("/"),
            Step::Into(name) => {
                at.push(name);
                let Ok(target) = std::fs::read_link(&at) else { continue };
                links += 1;
                if links > LINKS_MAX {
                    return Err(format!("{}: too many links; they point in a circle", path.display()));
                }
                at.pop();
                for step in steps(&target).collect::<Vec<_>>().into_iter().rev() {
                    queue.push_front(step);
                }
            }
        }
    }
    Ok(at)
}

enum Step {
    Root,
    Up,
    Into(OsString),
}

fn steps(path: &Path) -> impl Iterator<Item = Step> + '_ {
    path.components().filter_map(|component| match component {
        Component::RootDir => Some(Step::Root),
        Component::ParentDir => Some(Step::Up),
        Component::Normal(name) => Some(Step::Into(name.to_owned())),
        Component::CurDir | Component::Prefix(_) => None,
    })
}

/// A name with what could deceive a reader made visible: controls (a newline too), and what turns the
/// text around. `⟨U+202E⟩` stands for such a character.
pub fn plain_name(name: &str) -> String {
    let deceives = |c: char| {
        c.is_control()
            || matches!(c, '\u{61C}' | '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}'
                | '\u{2060}'..='\u{2069}' | '\u{FEFF}')
    };
    let shown = |c: char| if deceives(c) { format!("⟨U+{:04X}⟩", u32::from(c)) } else { c.to_string() };
    if name.contains(deceives) { name.chars().map(shown).collect() } else { name.to_owned() }
}

/// How a path is shown: relative where it lies in `cwd`, else whole; what could deceive is visible.
pub fn show(cwd: &Path, path: &Path) -> String {
    let inside = path.strip_prefix(cwd).ok().or_else(|| {
        let real = real(cwd).ok()?;
        path.strip_prefix(real).ok()
    });
    match inside {
        Some(rest) if rest.as_os_str().is_empty() => ".".to_owned(),
        Some(rest) => plain_name(&rest.display().to_string()),
        None => plain_name(&path.display().to_string()),
    }
}

/// Directory entries looked at for a suggestion.
const LOOKED_AT_MAX: usize = 5_000;

/// Words on a path that is not there: what it would be near. Blocking, bounded.
pub fn missing(site: &Site, path: &Path) -> String {
    let disk = site.disk(path);
    let mut near = near_names(&disk);
    near.extend(same_name_below(site, &disk));
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut seen = Vec::new();
    for (_, candidate) in near {
        let shown = site.show(&site.seen(&candidate));
        if !seen.contains(&shown) {
            seen.push(shown);
        }
    }
    seen.truncate(3);
    let shown = site.show(path);
    let parent = path.parent().filter(|parent| !site.disk(parent).is_dir());
    match (seen.is_empty(), parent) {
        (false, _) => format!("{shown} does not exist; did you mean {}?", seen.join(" or ")),
        (true, Some(parent)) => {
            format!(
                "{shown} does not exist, nor does its directory {}; use glob to find it",
                site.show(parent)
            )
        }
        (true, None) => format!("{shown} does not exist; use glob to find it"),
    }
}

/// Siblings with a like name, with how like they are.
fn near_names(path: &Path) -> Vec<(f64, PathBuf)> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name().and_then(|n| n.to_str())) else {
        return Vec::new();
    };
    let Ok(entries) = std::fs::read_dir(parent) else { return Vec::new() };
    entries
        .take(LOOKED_AT_MAX)
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let other = entry.file_name();
            let score = likeness(name, other.to_str()?).max(if same_letters(name, other.to_str()?) {
                0.75
            } else {
                0.0
            });
            (score >= 0.6).then(|| (score, entry.path()))
        })
        .collect()
}

/// Letters in another order, as in a slip of the fingers.
fn same_letters(a: &str, b: &str) -> bool {
    let sorted = |text: &str| {
        let mut chars: Vec<char> = text.chars().collect();
        chars.sort_unstable();
        chars
    };
    a.len() == b.len() && sorted(a) == sorted(b)
}

/// Files of the same name elsewhere in the session's directory.
fn same_name_below(site: &Site, path: &Path) -> Vec<(f64, PathBuf)> {
    let Some(name) = path.file_name() else { return Vec::new() };
    walk::files(site, site.cwd(), false)
        .take(LOOKED_AT_MAX)
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name() == name && entry.path() != path)
        .map(|entry| (0.9, entry.into_path()))
        .take(3)
        .collect()
}

/// How like two short texts are, by their pairs of characters: 0 (nothing common) to 1 (the same but
/// for case).
pub fn likeness(a: &str, b: &str) -> f64 {
    let pairs = |text: &str| {
        let chars: Vec<char> = text.chars().flat_map(char::to_lowercase).collect();
        let mut pairs: Vec<(char, char)> = chars.windows(2).map(|w| (w[0], w[1])).collect();
        pairs.sort_unstable();
        pairs
    };
    let (a, b) = (pairs(a), pairs(b));
    if a.is_empty() || b.is_empty() {
        return 0.0;
    }
    let (mut i, mut j, mut common) = (0, 0, 0_usize);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                common += 1;
                i += 1;
                j += 1;
            }
        }
    }
    2.0 * common as f64 / (a.len() + b.len()) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn place() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let cwd = dir.path().canonicalize().unwrap().join("project");
        std::fs::create_dir_all(cwd.join("src")).unwrap();
        (dir, cwd)
    }

    #[test]
    fn a_path_is_taken_from_the_session_directory_and_normalised() {
        let (_dir, cwd) = place();
        assert_eq!(resolve(&cwd, "src/./a/../b.rs").unwrap(), cwd.join("src/b.rs"));
        assert_eq!(resolve(&cwd, "../x").unwrap(), cwd.parent().unwrap().join("x"));
        assert_eq!(resolve(&cwd, "/etc/../etc/hosts").unwrap(), Path::new("/etc/hosts"));
        assert_eq!(resolve(&cwd, "~/x").unwrap(), real(&home().unwrap().join("x")).unwrap());
        assert_eq!(resolve(&cwd, "~x").unwrap(), cwd.join("~x"));
        assert!(resolve(&cwd, " ").is_err());
        assert!(resolve(&cwd, "a\0b").is_err());
    }

    #[test]
    fn a_link_that_points_outside_is_outside() {
        let (dir, cwd) = place();
        let out = dir.path().canonicalize().unwrap().join("out");
        std::fs::create_dir(&out).unwrap();
        symlink(&out, cwd.join("link")).unwrap();
        symlink("../out/new", cwd.join("dangling")).unwrap();
        assert_eq!(resolve(&cwd, "link/a/b").unwrap(), out.join("a/b"));
        assert_eq!(resolve(&cwd, "dangling").unwrap(), out.join("new"));
        // `..` after a link is the parent of what it points to, as the kernel reads it
        assert_eq!(resolve(&cwd, "link/../x").unwrap(), out.parent().unwrap().join("x"));
    }

    #[test]
    fn links_in_a_circle_are_an_error() {
        let (_dir, cwd) = place();
        symlink("b", cwd.join("a")).unwrap();
        symlink("a", cwd.join("b")).unwrap();
        assert!(resolve(&cwd, "a").unwrap_err().contains("circle"));
    }

    #[test]
    fn a_missing_file_names_what_is_near() {
        let (_dir, cwd) = place();
        std::fs::write(cwd.join("src/lexer.rs"), "").unwrap();
        assert_eq!(
            missing(&Site::at(&cwd), &cwd.join("src/Lexer.rs")),
            "src/Lexer.rs does not exist; did you mean src/lexer.rs?"
        );
        assert_eq!(
            missing(&Site::at(&cwd), &cwd.join("lexer.rs")),
            "lexer.rs does not exist; did you mean src/lexer.rs?"
        );
        assert_eq!(
            missing(&Site::at(&cwd), &cwd.join("no/where")),
            "no/where does not exist, nor does its directory no; use glob to find it"
        );
    }

    #[test]
    fn a_name_that_turns_the_text_around_is_shown_with_what_it_holds() {
        assert_eq!(show(Path::new("/p"), Path::new("/p/a\u{202e}fdp.x\n")), "a⟨U+202E⟩fdp.x⟨U+000A⟩");
        assert_eq!(show(Path::new("/p"), Path::new("/q/\u{1b}[2J")), "/q/⟨U+001B⟩[2J");
        assert_eq!(show(Path::new("/p"), Path::new("/p/日本 👩\u{200d}👧 é")), "日本 👩\u{200d}👧 é");
    }

    #[test]
    fn a_path_is_shown_relative_where_it_is_inside() {
        assert_eq!(show(Path::new("/p"), Path::new("/p/a/b")), "a/b");
        assert_eq!(show(Path::new("/p"), Path::new("/q")), "/q");
        assert_eq!(show(Path::new("/p"), Path::new("/p")), ".");
    }
}
