//! What a child names, against the kernel: the same tree is made on a disk and the path is resolved there.

use std::fs;
use std::path::Component;

use proptest::prelude::*;

use super::*;

fn view(top: &Path, copy: &Path, from: &str) -> View {
    View { parent: top.to_owned(), copy: copy.to_owned(), from: from.into() }
}

fn plain(named: &str, from: &str) -> Result<String, Refusal> {
    map(&view(Path::new("/home/me/proj"), Path::new("/state/copy"), from), Path::new(named), |_| Fact::NoLink)
        .map(|mapped| mapped.absolute.to_str().unwrap().to_owned())
}

#[test]
fn names_lead_into_the_copy_or_are_refused() {
    for (named, from, to) in [
        ("a.rs", "", "/state/copy/a.rs"),
        ("./a//b/", "src", "/state/copy/src/a/b"),
        ("../a.rs", "src", "/state/copy/a.rs"),
        (".", "", "/state/copy"),
        ("/home/me/proj", "x", "/state/copy"),
        ("/home/me/proj/src/../a", "", "/state/copy/a"),
        ("../proj/a", "", "/state/copy/a"),
        ("/state/copy/a", "", "/state/copy/a"),
        ("/state/copy", "src", "/state/copy"),
    ] {
        assert_eq!(plain(named, from).as_deref(), Ok(to), "{named} from {from:?}");
    }
    for named in [
        "..",
        "../x",
        "/",
        "/etc/passwd",
        "/home/me/project",
        "/home/me/proj/..",
        "src/../../x",
        "/home/../etc",
    ] {
        assert_eq!(plain(named, ""), Err(Refusal::Outside), "{named}");
    }
    assert_eq!(plain("", ""), Err(Refusal::NoPath));
    assert_eq!(plain("a\0b", ""), Err(Refusal::NoPath));
}

#[test]
fn a_link_in_circles_is_refused() {
    let view = view(Path::new("/p"), Path::new("/c"), "");
    let circle = |_: &Path| Fact::Link("x".into());
    assert_eq!(map(&view, Path::new("x"), circle), Err(Refusal::Links));
}

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

fn named() -> impl Strategy<Value = String> {
    let part = prop_oneof![4 => proptest::sample::select(&NAMES[..]), 2 => Just(".."), 1 => Just("."), 1 => Just("top")];
    (proptest::collection::vec(part, 1..7), any::<bool>()).prop_map(|(parts, absolute)| {
        let path = parts.join("/");
        if absolute { format!("TOP/{path}") } else { path }
    })
}

/// Directories and links, in the order in which they are made; what is in the way is left.
fn tree() -> impl Strategy<Value = Vec<(Vec<&'static str>, Option<String>)>> {
    let place = proptest::collection::vec(proptest::sample::select(&NAMES[..]), 1..4);
    let target = prop_oneof![4 => named(), 1 => Just("/etc".to_owned()), 1 => Just("../../x".to_owned())];
    proptest::collection::vec((place, proptest::option::of(target)), 0..10)
}

/// Makes the tree at `root`; links that say `TOP` lead beneath `top`.
fn make(root: &Path, top: &Path, tree: &[(Vec<&'static str>, Option<String>)]) {
    for (place, link) in tree {
        let path = root.join(place.join("/"));
        let above = path.parent().unwrap();
        // nothing is made through a link
        let through = above.ancestors().take_while(|dir| *dir != root).any(|dir| dir.is_symlink());
        if through || fs::create_dir_all(above).is_err() {
            continue;
        }
        let _ = match link {
            None => fs::create_dir(&path),
            Some(target) => std::os::unix::fs::symlink(target.replace("TOP", top.to_str().unwrap()), &path),
        };
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    /// What exists beneath the parent's directory for the kernel is the same path in the copy; what the kernel finds
    /// outside is refused; and whatever comes out, the kernel stays inside of the copy.
    #[test]
    fn nothing_escapes_and_the_kernel_agrees((tree, named) in (tree(), named())) {
        let tmp = tempfile::tempdir().unwrap();
        let root = tmp.path().canonicalize().unwrap();
        let (top, copy) = (root.join("top"), root.join("copy"));
        for dir in [&top, &copy] {
            fs::create_dir(dir).unwrap();
            // the copy's links are those of the parent's, byte for byte
            make(dir, &top, &tree);
        }
        let named = PathBuf::from(named.replace("TOP", top.to_str().unwrap()));
        let look = |path: &Path| fs::read_link(copy.join(path)).map_or(Fact::NoLink, Fact::Link);
        let mapped = map(&view(&top, &copy, ""), &named, look);
        let kernel = fs::canonicalize(top.join(&named)).ok();
        if let Ok(mapped) = &mapped {
            prop_assert!(mapped.relative.components().all(|part| matches!(part, Component::Normal(_))));
            let mut there = copy.clone();
            for part in mapped.relative.components() {
                there.push(part);
                prop_assert!(!there.is_symlink(), "{there:?} is a link");
            }
            if let Ok(real) = fs::canonicalize(&mapped.absolute) {
                prop_assert_eq!(&real, &mapped.absolute);
            }
        }
        match (kernel.as_deref().map(|real| real.strip_prefix(&top)), &mapped) {
            (Some(Ok(inside)), Ok(mapped)) => prop_assert_eq!(inside, mapped.relative.as_path()),
            // a way out and in again by a path that is not the directory's own is refused
            (Some(Ok(_)), Err(why)) => prop_assert_eq!(*why, Refusal::Outside),
            (Some(Err(_)), mapped) => prop_assert_eq!(mapped, &Err(Refusal::Outside)),
            (None, _) => {}
        }
    }
}
