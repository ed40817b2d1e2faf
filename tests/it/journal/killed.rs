//! A program that is killed while it commits, and a disk that is full.

use super::*;

/// Commits without end, and says each entry's id once it is committed.
fn commits_until_killed(state: &Path) {
    let dirs = Dirs::at(state, state.join("config"));
    let mut session = Session::create(&dirs, state.parent().unwrap()).unwrap();
    let mut parent = None;
    for number in 0usize.. {
        let entry = user(session.mint_entry(), parent, &"text ".repeat(number * 37 % 4000));
        let durability = if number.is_multiple_of(5) { Durability::Synced } else { Durability::Buffered };
        session.commit(&entry, durability).unwrap();
        if !again::say(entry.id.as_str()) {
            return;
        }
        parent = Some(entry.id);
    }
}

#[test]
fn what_was_committed_survives_a_real_kill() {
    if let Some(state) = again::role() {
        return commits_until_killed(Path::new(&state));
    }
    let kills = if std::env::var_os("WINDLASS_LONG").is_some() { 300 } else { 30 };
    for round in 0..kills {
        let temp = TempDir::new().unwrap();
        let state = temp.path().join("state");
        let role = state.to_str().unwrap();
        let mut player =
            Player::start(again::command("journal::killed::what_was_committed_survives_a_real_kill", role));
        // Heard after a number of commits that differs from round to round, killed in the midst of the next.
        let mut heard = (0..1 + round % 17).map(|_| player.hear().unwrap()).last().unwrap();
        player.kill();
        while let Some(more) = player.hear() {
            heard = more;
        }
        let dirs = Dirs::at(&state, temp.path());
        let found = windlass::store::list(&dirs, None);
        assert_eq!(found.len(), 1);
        let Opening::Ours(session, opened) = Session::open(&dirs, &found[0].id).unwrap() else {
            panic!("a dead program holds the session");
        };
        let ids: Vec<String> = opened.tree.entries.iter().map(|entry| entry.id.to_string()).collect();
        let expected: Vec<String> = (1..=ids.len()).map(|number| format!("e{number:09}")).collect();
        assert_eq!(ids, expected, "a prefix of what was committed");
        assert!(ids.contains(&heard), "{heard} was committed");
        assert_eq!(opened.branch().len(), ids.len());
        drop(session);
    }
}

// --- a full disk

/// On a small disk of its own: commits until it is full, makes room, goes on.
fn commits_on_a_full_disk(disk: &Path) {
    let dirs = Dirs::at(disk.join("state"), disk.join("config"));
    let mut session = Session::create(&dirs, disk).unwrap();
    let filler = disk.join("filler");
    fs::write(&filler, vec![0; 40 * 1024]).unwrap();
    let mut done = 0;
    let refused = loop {
        let entry = user(session.mint_entry(), None, &"x".repeat(3000));
        match session.commit(&entry, Durability::Synced) {
            Ok(()) => done += 1,
            Err(e) => break e,
        }
    };
    assert!(windlass::base::chain(&refused).contains("No space left on device"), "{refused:?}");
    let path = session.dir().join(JOURNAL);
    let lines = |path: &Path| {
        fs::read_to_string(path).unwrap().split_inclusive('\n').map(str::len).collect::<Vec<_>>()
    };
    assert_eq!(lines(&path).len(), done + 1, "nothing of the refused commit is left");
    assert!(fs::read(&path).unwrap().ends_with(b"\n"));
    fs::remove_file(filler).unwrap();
    let entry = user(session.mint_entry(), None, "on it goes");
    session.commit(&entry, Durability::Synced).unwrap();
    assert_eq!(lines(&path).len(), done + 2);

    // A session that finds no room for its beginning leaves nothing and can be tried again.
    let filler = disk.join("filler");
    let mut late = Session::create(&dirs, disk).unwrap();
    let _ = fs::write(&filler, vec![0; 1 << 20]);
    assert!(late.begin().is_err());
    assert!(!late.dir().exists());
    fs::remove_file(filler).unwrap();
    late.begin().unwrap();
    assert!(again::say("held"));
}

#[test]
fn a_full_disk_takes_back_what_did_not_fit() {
    if let Some(disk) = again::role() {
        return commits_on_a_full_disk(Path::new(&disk));
    }
    let temp = TempDir::new().unwrap();
    let small = |program: &str| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c"]);
        command
            .arg(format!("mount -t tmpfs -o size=96k,mode=0700 none \"$0\" && exec {program}"))
            .arg(temp.path());
        command
    };
    if !small("true").stderr(std::process::Stdio::null()).status().is_ok_and(|status| status.success()) {
        let _ = writeln!(std::io::stderr(), "no small disk can be mounted here: see commit_all_or_nothing");
        return;
    }
    let inner = again::command(
        "journal::killed::a_full_disk_takes_back_what_did_not_fit",
        temp.path().to_str().unwrap(),
    );
    let mut command = small("\"$@\"");
    command.arg(inner.get_program()).args(inner.get_args());
    command.envs(inner.get_envs().filter_map(|(name, value)| value.map(|value| (name, value))));
    let mut player = Player::start(command);
    assert_eq!(player.hear().as_deref(), Some("held"));
    assert!(player.finish());
}
