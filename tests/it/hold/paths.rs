//! The file tools of an agent in a copy: for generated trees and paths, what they do is what the kernel does with the
//! same path in a directory of the same name, and nothing comes to the parent's tree or to anything outside.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use proptest::prelude::*;
use serde_json::json;
use windlass::api::entry::CallStatus;
use windlass::law::path_map::{Fact, map};
use windlass::sandbox::hold::{Commands, Held};
use windlass::tool::site::Site;
use windlass::tool::{ToolEnd, table};

use super::{Place, fingerprint, write};
use crate::tools_place::Place as Tools;

/// A hold without commands: file tools need none.
fn unbound(place: &Place) -> Arc<Held> {
    let none = Commands::Refused("not needed".into());
    Arc::new(Held::new(&place.dirs, &place.parent, place.room.dir(), &place.room.copy(), none).unwrap())
}

pub fn tools(place: &Place) -> Tools {
    let mut tools = Tools::at(place.parent.clone());
    tools.held = Some(unbound(place));
    tools
}

fn ended(end: &ToolEnd) -> bool {
    end.status == CallStatus::Ok
}

#[test]
fn file_tools_work_on_the_copy_and_name_what_the_agent_sees() {
    let place = Place::new(&[("a.rs", "fn one() {}\n"), ("d/b.rs", "fn two() {}\n")]);
    let before = fingerprint(&place.parent);
    let tools = tools(&place);
    let parent = place.parent.display().to_string();
    let mut said = Vec::new();
    for (tool, input) in [
        ("read", json!({"path": format!("{parent}/a.rs")})),
        ("edit", json!({"path": "a.rs", "edits": [{"old": "one", "new": "three"}]})),
        ("write", json!({"path": format!("{parent}/new/c.rs"), "content": "fn four() {}\n"})),
        (
            "apply_patch",
            json!({"patch": "*** Begin Patch\n*** Update File: d/b.rs\n@@\n-fn two() {}\n+fn five() {}\n*** End Patch"}),
        ),
        ("grep", json!({"pattern": "fn", "path": parent})),
        ("glob", json!({"pattern": "new/*.rs", "path": "."})),
        ("read", json!({"path": "a.rz"})),
        ("read", json!({"path": "/etc/passwd"})),
        ("write", json!({"path": "../x", "content": "x"})),
    ] {
        let end = tools.run(tool, input);
        assert!(
            end.touched.iter().all(|touched| touched.path.starts_with(&place.parent)),
            "{:?}",
            end.touched
        );
        said.push(format!("{tool}: {:?}: {}", end.status, end.output));
    }
    let said = said.join("\n");
    assert!(!said.contains("copy/") && !said.contains(place.room.dir().to_str().unwrap()), "{said}");
    insta::assert_snapshot!(said.replace(&parent, "PARENT"));
    assert_eq!(place.copied("a.rs"), "fn three() {}\n");
    assert_eq!(place.copied("new/c.rs"), "fn four() {}\n");
    assert_eq!(fingerprint(&place.parent), before);
}

#[test]
fn results_of_its_own_session_can_be_read_and_not_written() {
    let place = Place::new(&[("a", "1")]);
    let session = place.dirs.state().join("sessions/own");
    write(&session.join("calls/c/output"), "the whole output\n");
    write(&place.dirs.state().join("sessions/other/calls/c/output"), "another's\n");
    let mut tools = tools(&place);
    tools.held = Some(Arc::new(unbound(&place).of_session(&session)));
    let path = |whose: &str| place.dirs.state().join(format!("sessions/{whose}/calls/c/output"));
    let read = tools.run("read", json!({"path": path("own")}));
    assert!(ended(&read) && read.output.contains("the whole output"), "{}", read.output);
    assert!(!ended(&tools.run("read", json!({"path": path("other")}))));
    assert!(!ended(&tools.run("write", json!({"path": path("own"), "content": "x"}))));
    assert!(!ended(&tools.run("read", json!({"path": place.room.base().join("a")}))));
}

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// Parts of a path.
fn parts() -> impl Strategy<Value = String> {
    let part = prop_oneof![4 => proptest::sample::select(&NAMES[..]), 3 => Just(".."), 1 => Just(".")];
    proptest::collection::vec(part, 1..6).prop_map(|parts| parts.join("/"))
}

/// A path, or where a link leads: relative, absolute in the parent's directory, beside it, in the copy or the base.
fn named() -> impl Strategy<Value = (u8, String)> {
    (0_u8..7, parts())
}

fn path(place: &Place, (kind, parts): &(u8, String)) -> PathBuf {
    match kind {
        0..=2 => parts.into(),
        3 => place.parent.join(parts),
        4 => place.top.join("outside").join(parts),
        5 => place.room.base().join(parts),
        _ => place.room.copy().join(parts),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn hold_paths_stay_inside(
        links in proptest::collection::vec((parts(), named()), 0..5),
        tried in proptest::collection::vec(named(), 1..4),
    ) {
        let place = Place::new(&[("a/a", "parent's"), ("a/b/c", "parent's"), ("b", "parent's"), ("c/d", "parent's")]);
        for name in NAMES {
            write(&place.top.join("outside").join(name).join("a"), "outside");
        }
        for (at, to) in &links {
            let at = place.room.copy().join(at);
            let inside = at.parent().and_then(|dir| dir.canonicalize().ok());
            // a link where something else is, or out there, is not made
            if inside.is_some_and(|dir| dir.starts_with(place.room.copy())) {
                let _ = symlink(path(&place, to), at);
            }
        }
        let outside = look(&place);
        let tools = tools(&place);
        for tried in &tried {
            let named = path(&place, tried);
            let view = unbound(&place).view();
            let fact = |at: &Path| fs::read_link(view.copy.join(at)).map_or(Fact::NoLink, Fact::Link);
            let mapped = map(&view, &named, fact);
            let free = mapped.as_ref().is_ok_and(|mapped| !mapped.absolute.is_dir() && way_is_free(&mapped.absolute));
            let end = tools.run("write", json!({"path": named, "content": "new"}));
            prop_assert_eq!(ended(&end), free, "{:?}: {:?}: {}", named, mapped, end.output);
            if let (true, Ok(mapped)) = (free, &mapped) {
                prop_assert_eq!(fs::read_to_string(&mapped.absolute).unwrap(), "new");
                let read = tools.run("read", json!({"path": named}));
                prop_assert!(ended(&read) && read.output.contains("new"));
            }
            prop_assert!(!end.output.contains(place.room.dir().to_str().unwrap()) || tried.0 > 4, "{}", end.output);
            prop_assert_eq!(&look(&place), &outside);
        }
    }
}

/// Whether every directory on the way is one, or can be made.
fn way_is_free(path: &Path) -> bool {
    path.ancestors().skip(1).all(|dir| dir.is_dir() || dir.symlink_metadata().is_err())
}

/// Everything but the copy.
fn look(place: &Place) -> std::collections::BTreeMap<PathBuf, String> {
    let mut all = fingerprint(&place.top);
    all.retain(|path, _| !path.starts_with(place.room.copy()));
    all
}

#[test]
fn a_directory_swapped_for_a_link_meanwhile_leads_nowhere() {
    let place = Place::new(&[("d/f", "1"), ("e/f", "1")]);
    let (secret, copy) = (place.top.join("outside"), place.room.copy());
    write(&secret.join("f"), "outside");
    let tools = tools(&place);
    let stop = AtomicBool::new(false);
    let outside = fingerprint(&secret);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let _ = fs::rename(copy.join("d"), copy.join("kept"));
                let _ = symlink(&secret, copy.join("d"));
                let _ = fs::remove_file(copy.join("d"));
                let _ = fs::rename(copy.join("kept"), copy.join("d"));
            }
        });
        for n in 0..200 {
            let read = tools.run("read", json!({"path": "d/f"}));
            assert!(!read.output.contains("outside\n"), "{}", read.output);
            tools.run("write", json!({"path": "d/f", "content": format!("{n}")}));
            let found = tools.run("grep", json!({"pattern": "outsid", "path": "."}));
            assert!(!found.output.contains(":outside"), "{}", found.output);
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(fingerprint(&secret), outside);
    let site = Site::of(&place.parent, tools.held.as_ref());
    assert_eq!(site.resolve("d/f").unwrap(), place.parent.join("d/f"));
    assert!(table::all().len() > 5);
}
