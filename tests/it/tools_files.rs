//! `read`, `write` and `edit` on real files.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use serde_json::json;
use windlass::api::access::{Class, Preview};
use windlass::api::entry::{CallStatus, Details};
use windlass::law::output::Truncation;
use windlass::tool::{Blobs, table};

use crate::tools_place::Place;

#[test]
fn read_shows_lines_with_numbers_and_pages() {
    let place = Place::new();
    place.file("a.txt", "one\ntwo\nthree\nfour");
    assert_eq!(
        place.ok("read", json!({"path": "a.txt"})).output,
        "     1\tone\n     2\ttwo\n     3\tthree\n     4\tfour\n"
    );
    let end = place.ok("read", json!({"path": "./a.txt", "offset": 2, "limit": 2}));
    assert_eq!(end.output, "     2\ttwo\n     3\tthree\n(lines 2 to 3 of 4; read on with offset 4)");
    assert!(place.error("read", json!({"path": "a.txt", "offset": 9})).contains("fewer than 9 lines"));
    assert_eq!((end.kept, end.dropped, end.artifact), (24, 0, None));
}

#[test]
fn read_says_what_is_special_about_a_file() {
    let place = Place::new();
    place.file("crlf.txt", b"\xef\xbb\xbfa\r\nb\r\n");
    place.file("mixed.txt", "a\r\nb\n");
    place.file("latin.txt", b"caf\xe9\n");
    place.file("empty.txt", "");
    place.file("bin", b"\x7fELF\0\0");
    place.file("src/lexer.rs", "x");
    let read = |name: &str| place.run("read", json!({"path": name})).output;
    insta::assert_snapshot!(
        ["crlf.txt", "mixed.txt", "latin.txt", "empty.txt", "bin", "src", ".", "lexer.rs", "/dev/null"]
            .map(read)
            .join("\n--\n")
    );
}

#[test]
fn read_gives_images_with_their_bytes() {
    let place = Place::new();
    place.file("p.png", b"\x89PNG\r\n\x1a\n\0rest");
    let end = place.ok("read", json!({"path": "p.png"}));
    assert_eq!(end.images.len(), 1);
    assert_eq!(end.images[0].media_type, "image/png");
    assert_eq!(end.images[0].data, "iVBORw0KGgoAcmVzdA==");
    let mut large = b"\x89PNG\r\n\x1a\n".to_vec();
    large.resize(4_000_000, 0);
    place.file("large.png", large);
    assert!(place.error("read", json!({"path": "large.png"})).contains("make a smaller copy"));
}

#[test]
fn read_is_bounded_and_its_artifact_is_whole() {
    let place = Place::new();
    let text: String = (1..=3000).map(|n| format!("{n} {}\n", "x".repeat(60))).collect();
    place.file("long.txt", &text);
    let end = place.ok("read", json!({"path": "long.txt"}));
    assert!(end.kept <= 51_200 && end.dropped > 0);
    let artifact = std::fs::read(end.artifact.as_ref().unwrap()).unwrap();
    assert_eq!(artifact.len() as u64, end.kept + end.dropped);
    assert!(artifact.ends_with(format!("  2000\t2000 {}\n", "x".repeat(60)).as_bytes()));
    let cut = end.output.lines().filter(|line| line.contains('\t')).count();
    let last = end.output.lines().last().unwrap();
    assert_eq!(last, format!("(lines 1 to {cut} of 3000, the last one cut; read on with offset {cut})"));
    let mode = std::fs::metadata(end.artifact.unwrap()).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    let mut whole = Place::new();
    whole.truncation = Truncation::Off;
    whole.file("long.txt", &text);
    let end = whole.ok("read", json!({"path": "long.txt"}));
    assert_eq!((end.dropped, end.artifact), (0, None));
    assert!(end.output.ends_with(&format!("  3000\t3000 {}\n", "x".repeat(60))));
}

#[test]
fn read_cuts_a_long_line_with_a_word_and_never_inside_a_character() {
    let place = Place::new();
    place.file("min.js", format!("{}\r\nnext\r\n", "é".repeat(200_000)));
    let end = place.ok("read", json!({"path": "min.js"}));
    assert!(end.output.contains("(line cut: it has 400000 bytes"), "{}", end.output);
    assert!(!end.output.contains("\\x"));
    assert!(end.output.ends_with("     2\tnext\n(line ends are CRLF)"), "{}", end.output);
}

#[test]
fn the_end_of_a_cut_line_is_seen_across_buffers() {
    let place = Place::new();
    for length in 8_188..8_196 {
        place.file("a", format!("{}\r\nb\r\n", "x".repeat(length)));
        let end = place.ok("read", json!({"path": "a"}));
        assert!(
            end.output.contains(&format!("(line cut: it has {length} bytes")),
            "{length}: {}",
            end.output
        );
        assert!(end.output.ends_with("     2\tb\n(line ends are CRLF)"), "{length}: {}", end.output);
    }
}

#[test]
fn read_pages_through_a_huge_file() {
    let place = Place::new();
    let path = place.file("huge.log", "");
    // sparse: a gigabyte of NULs would be binary, so the lines stand at the start and the rest is a hole
    let line = format!("{}\n", "y".repeat(99));
    std::fs::write(&path, line.repeat(10_000)).unwrap();
    std::fs::File::options().write(true).open(&path).unwrap().set_len(1 << 30).unwrap();
    let end = place.ok("read", json!({"path": "huge.log", "offset": 9_999, "limit": 2}));
    assert!(
        end.output.starts_with(&format!("  9999\t{line} 10000\t{line}(lines 9999 to 10000 of a file of"))
    );
}

#[test]
fn a_cancelled_read_ends() {
    let place = Place::new();
    place.file("a", "x");
    place.cancel.cancel();
    assert_eq!(place.run("read", json!({"path": "a"})).status, CallStatus::Cancelled);
}

#[test]
fn write_makes_files_and_directories_and_keeps_what_was_there() {
    let place = Place::new();
    let end = place.ok("write", json!({"path": "a/b/c.txt", "content": "one\ntwo\n"}));
    assert_eq!(end.output, "Created a/b/c.txt (2 lines, 8 bytes).");
    assert_eq!(place.bytes("a/b/c.txt"), b"one\ntwo\n");
    assert_eq!(end.touched[0].before, None);
    let end = place.ok("write", json!({"path": "a/b/c.txt", "content": "three"}));
    let before = end.touched[0].before.clone().unwrap();
    assert_eq!(place.blobs.load(&before).unwrap(), b"one\ntwo\n");
    assert_eq!(
        end.touched[0].after.as_deref(),
        Some("8b5b9db0c13db24256c829aa364aa90c6d2eba318b9232a4ab9313b954d3555f")
    );
    assert!(matches!(end.details, Details::Diff { added: 1, removed: 2, .. }), "{:?}", end.details);
    assert_eq!(place.tree().len(), 3, "nothing is left beside it: {:?}", place.tree());
}

#[test]
fn write_keeps_the_mode_and_follows_a_link() {
    let place = Place::new();
    let script = place.file("bin/run.sh", "#!/bin/sh\n");
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o751)).unwrap();
    symlink("bin/run.sh", place.cwd.join("run")).unwrap();
    let end = place.ok("write", json!({"path": "run", "content": "#!/bin/bash\n"}));
    assert!(place.cwd.join("run").is_symlink());
    assert_eq!(place.bytes("bin/run.sh"), b"#!/bin/bash\n");
    assert_eq!(std::fs::metadata(&script).unwrap().permissions().mode() & 0o7777, 0o751);
    assert_eq!(end.touched[0].path, script);
    assert_eq!(end.touched[0].mode, Some(0o751));
    symlink("new/target.txt", place.cwd.join("dangling")).unwrap();
    place.ok("write", json!({"path": "dangling", "content": "x"}));
    assert_eq!(place.bytes("new/target.txt"), b"x");
}

#[test]
fn extended_attributes_stay() {
    let place = Place::new();
    let file = place.file("a", "one\n");
    let get = || {
        let mut value = [0; 64];
        rustix::fs::getxattr(&file, "user.note", &mut value[..]).map(|length| value[..length].to_vec())
    };
    // where the file system has none, both sides say so
    let _ = rustix::fs::setxattr(&file, "user.note", b"mine", rustix::fs::XattrFlags::empty());
    let before = get();
    place.ok("write", json!({"path": "a", "content": "two\n"}));
    assert_eq!(get(), before);
}

#[test]
fn a_new_file_gets_the_umask_like_any_other() {
    let place = Place::new();
    let other = place.file("other", "");
    place.ok("write", json!({"path": "new", "content": "x"}));
    let mode = |path: PathBuf| std::fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(place.cwd.join("new")), mode(other));
}

#[test]
fn what_cannot_be_written_is_said_and_left_whole() {
    let place = Place::new();
    place.file("dir/x", "x");
    place.file("plain", "x");
    let before = place.tree();
    assert!(place.error("write", json!({"path": "dir", "content": "y"})).contains("is a directory"));
    assert!(place.error("write", json!({"path": "new/", "content": "y"})).contains("names a directory"));
    let error = place.error("write", json!({"path": "plain/below", "content": "y"}));
    assert!(error.contains("plain/below cannot be read: Not a directory"), "{error}");
    assert!(
        place.error("write", json!({"path": "/dev/null", "content": "y"})).contains("not a regular file")
    );
    let long = "n".repeat(300);
    assert!(place.error("write", json!({"path": long, "content": "y"})).contains("File name too long"));
    assert_eq!(place.tree(), before);
}

#[test]
fn a_wish_tells_paths_class_and_diff_before_anything_runs() {
    let place = Place::new();
    let file = place.file("a.txt", "one\ntwo\n");
    let input = json!({"path": "a.txt", "edits": [{"old": "two", "new": "2"}]});
    let wish = table::find(&table::all(), "edit").unwrap().wish(&place.cwd, &input).unwrap();
    assert_eq!((wish.class, &wish.paths), (Class::Write, &vec![file]));
    let Preview::Diff { diff } = wish.preview else { panic!("a diff") };
    assert_eq!(diff, "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n");
    assert_eq!(place.bytes("a.txt"), b"one\ntwo\n");
    let outside = table::find(&table::all(), "write")
        .unwrap()
        .wish(&place.cwd, &json!({"path": "../x", "content": ""}))
        .unwrap();
    assert_eq!(outside.paths, [place.cwd.parent().unwrap().join("x")]);
    assert!(table::find(&table::all(), "edit").unwrap().wish(&place.cwd, &json!({"path": 1})).is_err());
}

#[test]
fn edit_changes_only_what_it_names() {
    let place = Place::new();
    place.file("m.txt", b"\xef\xbb\xbfone\r\ntwo \xff\r\nthree");
    let end = place.ok(
        "edit",
        json!({"path": "m.txt", "edits": [{"old": "one\ntwo", "new": "1\n2\n2b"}, {"old": "three", "new": "3"}]}),
    );
    assert_eq!(place.bytes("m.txt"), b"\xef\xbb\xbf1\r\n2\r\n2b \xff\r\n3");
    assert_eq!(end.output, "Edited m.txt in 2 places (+4 −3 lines).");
    let error = place.error(
        "edit",
        json!({"path": "m.txt", "edits": [{"old": "2b", "new": "x"}, {"old": "nowhere", "new": "y"}]}),
    );
    assert!(error.starts_with("m.txt: edits[1] (after the edits before it): `old` was not found"), "{error}");
    assert_eq!(place.bytes("m.txt"), b"\xef\xbb\xbf1\r\n2\r\n2b \xff\r\n3");
    let error = place.error("edit", json!({"path": "n.txt", "edits": [{"old": "a", "new": "b"}]}));
    assert_eq!(error, "n.txt does not exist; did you mean m.txt?");
}

/// A write that the system cuts short, as a full disk does: here by a limit of the file size.
#[test]
fn a_full_disk_leaves_the_old_file_whole() {
    let place = Place::new();
    place.file("old.txt", "precious\n");
    let before = place.tree();
    // SIGXFSZ ignored: the write fails with an error, as with a full disk
    let limited =
        "trap '' XFSZ; ulimit -f 64; exec \"$0\" --exact tools_files::a_write_under_a_limit --ignored";
    let output = std::process::Command::new("sh")
        .args(["-c", limited])
        .arg(std::env::current_exe().unwrap())
        .env("WINDLASS_TEST_DIR", &place.cwd)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    assert_eq!(place.tree(), before);
}

#[test]
#[ignore = "the other half of a_full_disk_leaves_the_old_file_whole, which runs it under a limit"]
fn a_write_under_a_limit() {
    let place = Place::at(std::env::var_os("WINDLASS_TEST_DIR").unwrap().into());
    let large = "x".repeat(1 << 20);
    for name in ["old.txt", "sub/new.txt"] {
        let error = place.error("write", json!({"path": name, "content": large}));
        assert_eq!(error, format!("{name} could not be written: File too large; nothing was changed"));
    }
    let patch = format!(
        "*** Begin Patch\n*** Update File: old.txt\n@@\n-precious\n+{large}\n*** Add File: a\n+a\n*** End Patch"
    );
    let error = place.error("apply_patch", json!({"patch": patch}));
    assert!(error.ends_with("File too large; nothing was changed"), "{error}");
}

#[test]
fn what_someone_saved_meanwhile_is_never_overwritten() {
    struct Saves(std::path::PathBuf);
    impl Blobs for Saves {
        fn keep(&self, _: &[u8]) -> Result<String, String> {
            // the person saves just when the call has read the file
            std::fs::write(&self.0, "saved by hand, and longer\n").unwrap();
            Ok("blob".to_owned())
        }
        fn load(&self, _: &str) -> Result<Vec<u8>, String> {
            Err("none".to_owned())
        }
    }
    let place = Place::new();
    let file = place.file("a.txt", "one\n");
    let mut context = place.context(vec![place.cwd.join("a.txt")]);
    context.blobs = std::sync::Arc::new(Saves(file));
    let tool = table::find(&table::all(), "edit").unwrap();
    let input = json!({"path": "a.txt", "edits": [{"old": "one", "new": "two"}]});
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let end = runtime.block_on(tool.run(&context, &input));
    assert_eq!(end.output, "a.txt was changed by someone else meanwhile; read it again; nothing was changed");
    assert_eq!(place.bytes("a.txt"), b"saved by hand, and longer\n");
}

#[test]
fn a_blob_that_cannot_be_kept_stops_the_change() {
    struct Full;
    impl Blobs for Full {
        fn keep(&self, _: &[u8]) -> Result<String, String> {
            Err("no space left".to_owned())
        }
        fn load(&self, _: &str) -> Result<Vec<u8>, String> {
            Err("none".to_owned())
        }
    }
    let place = Place::new();
    place.file("a.txt", "one\n");
    let mut context = place.context(vec![place.cwd.join("a.txt")]);
    context.blobs = std::sync::Arc::new(Full);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let input = json!({"path": "a.txt", "content": "two\n"});
    let end = runtime.block_on(table::find(&table::all(), "write").unwrap().run(&context, &input));
    assert_eq!(
        end.output,
        "the earlier bytes of a.txt could not be kept (no space left); nothing was changed"
    );
    assert_eq!(place.bytes("a.txt"), b"one\n");
}
