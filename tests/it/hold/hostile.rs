//! What a held command cannot do, whatever it tries: each try is one command, and the parent's tree and the room's records
//! are looked at to the last time stamp.

use std::os::unix::fs::symlink;
use std::path::Path;

use windlass::law::job::End;

use super::{Place, fingerprint, write};

/// Ways to the parent's tree and to the records, as commands. `$P` is the parent's directory, `$R` the room, `$S` the state
/// directory, `$T` a directory for anything,
/// `$O` the process of the test, which is outside. Each ends well when it was kept from what it wants or
/// came to the copy.
const TRIES: &[&str] = &[
    "echo x >$P/plain; rm -rf $P/d; chmod 777 $P/run; touch -d 2000-01-01 $P/link",
    "cd / && echo x >../../../..$P/plain; cd $P/.. && echo x >project/plain; rm -rf ../*/project/*",
    "mv $P $P.away; mv $P/.. $P/../../away; mv $(dirname $P) $(dirname $P)/../away-$$; rmdir $P; rm -rf $P",
    "mkdir $P.new && mv -T $P.new $P; ln -sfn /etc $P; mount --bind /etc $P; umount $P; umount -l $P",
    "unshare -Urm sh -c \"umount $P || umount -l $P; echo x >$P/plain\"; unshare -Urm umount $R",
    "unshare -Urm sh -c \"mkdir -p $T/.m; mount --bind / $T/.m && echo x >$T/.m$P/plain\"; rmdir $T/.m",
    "for p in /proc/[0-9]*; do for w in root cwd; do [ $p = /proc/$$ ] || echo x 2>/dev/null >$p/$w$P/plain; done; done",
    "echo x >/proc/$O/root$P/plain; echo x >/proc/$O/cwd/$P/plain; ls /proc/$O/root",
    "for f in /proc/$O/fd/*; do echo x >$f/plain; echo x >$f; done",
    "python3 - <<E\nimport os\ntry:\n  fd = os.open('/proc/$O/mem', os.O_RDWR)\n  os._exit(9)\nexcept OSError: pass\nE",
    "ln $P/plain $T/.l && echo x >>$T/.l; rm -f $T/.l; ln -s $R/base/plain $P/to-base && echo x >>$P/to-base",
    "echo x >$R/base/plain; rm -rf $R/base $R/versions; mkdir -p $R/versions; echo {} >$R/born; echo x >$R/copy/plain",
    "mv $R $R.away; mv $S $S.away; mv $(dirname $S) $(dirname $S).away; rm -rf $S; mkdir -p $R/base",
    "cat $S/sessions/secret; ls $S | grep sessions && exit 9; cat $C/keys.json; echo {} >$C/settings.json; rm -f $C/keys.json; echo x >$C/keys.json",
    "gdb -p $O -batch -ex 'call (int)1' >/dev/null; strace -p $O true & sleep 0.1; kill %1",
    "python3 -c \"import os,sys; d=os.open('$P',os.O_RDONLY); os.write(os.open('../../work/project/plain',os.O_WRONLY,dir_fd=d),b'x')\"",
    "exec 9<$P; cd /proc/self/fd/9/..; echo x >project/plain; rm -rf project/d",
    "setsid sh -c \"sleep 0.1; echo x >$P/plain; rm -rf $P/d\" & wait; sleep 0.2",
];

#[tokio::test]
async fn hold_keeps_parent() {
    let place = Place::empty();
    write(&place.parent.join("plain"), "1");
    write(&place.parent.join("d/e"), "2");
    write(&place.parent.join("run"), "#!/bin/sh\n");
    symlink("plain", place.parent.join("link")).unwrap();
    write(&place.dirs.state().join("sessions/secret"), "hush");
    place.room.make(&place.parent, &Default::default()).unwrap();
    let room = place.room.dir();
    let before = look(&place);
    for tried in TRIES {
        let bench = place.bench().await;
        let quoted = |path: &Path| format!("'{}'", path.display());
        let script = format!(
            "P={} R={} S={} C={} T={} O={}\n{tried}\nexit 0",
            quoted(&place.parent),
            quoted(room),
            quoted(place.dirs.state()),
            quoted(place.dirs.config()),
            quoted(&place.top),
            std::process::id()
        );
        let heard = bench.run(&script).await;
        let said = String::from_utf8_lossy(&heard.kept.head).into_owned();
        assert_eq!(heard.record.end, End::Exited { code: 0 }, "{tried}: {said}");
        assert!(!said.contains("hush"), "{tried}: {said}");
        let after = look(&place);
        for (path, facts) in &before {
            assert_eq!(after.get(path), Some(facts), "{tried}\nchanged {}: {said}", path.display());
        }
        assert_eq!(after.len(), before.len(), "{tried} made something: {said}");
    }
}

/// The parent's tree, and all of the state and the settings but the copy.
fn look(place: &Place) -> std::collections::BTreeMap<std::path::PathBuf, String> {
    let mut all = fingerprint(&place.parent);
    all.extend(fingerprint(&place.top.join("home")));
    all.retain(|path, _| !path.starts_with(place.room.copy()));
    // the directories above are where they were
    for path in [place.top.join("work"), place.top.join("home")] {
        all.insert(path.clone(), format!("{}", path.is_dir()));
    }
    all
}

#[tokio::test]
async fn a_hold_whose_directory_is_another_by_now_starts_nothing() {
    let place = Place::new(&[("plain", "1")]);
    let bench = place.bench().await;
    assert_eq!(bench.run("cat plain").await.record.end, End::Exited { code: 0 });
    // the person moves the directory away and makes another: the hold is of the old one
    std::fs::rename(&place.parent, place.top.join("work/moved")).unwrap();
    std::fs::create_dir(&place.parent).unwrap();
    std::fs::remove_dir_all(bench.record_dir()).unwrap();
    let error = bench.try_start(&["touch", "made"]).await.unwrap_err().to_string();
    assert!(error.contains("Stale"), "{error}");
    assert!(!place.parent.join("made").exists());
}

#[tokio::test]
async fn what_is_hidden_stays_so_when_it_is_replaced_outside() {
    let place = Place::new(&[("plain", "1")]);
    write(&place.dirs.config().join("settings.json"), "{}");
    let bench = place.bench().await;
    let keys = place.dirs.keys();
    let look = format!("cat '{}'; ls -a '{}'", keys.display(), place.dirs.config().display());
    let said = |heard: super::super::commands::Heard| String::from_utf8_lossy(&heard.kept.head).into_owned();
    let first = said(bench.run(&look).await);
    assert!(first.contains("settings.json") && !first.contains("hush"), "{first}");
    // as keys are stored: written beside, and renamed
    let new = keys.with_extension("new");
    std::fs::write(&new, "{\"hush\": \"hush\"}").unwrap();
    std::fs::rename(&new, &keys).unwrap();
    std::fs::remove_dir_all(bench.record_dir()).unwrap();
    let second = said(bench.run(&look).await);
    assert!(second.contains("settings.json") && !second.contains("hush"), "{second}");
}
