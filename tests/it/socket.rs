//! Laws A of the control socket against the system itself: which directory holds it, how it comes into being, and
//! whose programs are heard.

use std::fs;
use std::io::{BufRead, ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, lchown, symlink};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use nix::sys::socket::{Shutdown, shutdown};
use nix::sys::stat::{Mode, umask};
use nix::unistd::{Uid, geteuid, mkfifo, seteuid};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use tempfile::TempDir;
use windlass::base::SessionId;
use windlass::law::socket::{Found, Kind, Plan, Seen, dead, heard, plan, usable};
use windlass::store::Error;
use windlass::store::socket::{Bound, SocketDir, sweep};

use crate::again::{self, Player};
use crate::frame_bridge::Served;

const CASES: u32 = 300;
/// A user whose id is nobody's here.
const STRANGER: u32 = 54_321;

fn runner() -> TestRunner {
    TestRunner::new(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(CASES) })
}

fn us() -> u32 {
    geteuid().as_raw()
}

/// What is said of a directory, without where it is.
fn said<T>(answer: Result<T, Error>, at: &Path) -> String {
    match answer {
        Ok(_) => "usable".to_owned(),
        Err(error) => error.to_string().replace(at.to_str().unwrap(), "DIR"),
    }
}

fn by_rule(answer: Result<(), windlass::law::socket::Refusal>) -> String {
    match answer {
        Ok(()) => "usable".to_owned(),
        Err(refusal) => format!("DIR {}; {}", refusal.wrong(), refusal.todo("DIR")),
    }
}

// --- socket_dir_owned

/// What stands where the directory should be.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Thing {
    Directory,
    LinkToOwn,
    LinkToNothing,
    File,
    Fifo,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    thing: Thing,
    strangers: bool,
    mode: u32,
}

fn placed() -> impl Strategy<Value = Place> {
    use Thing as T;
    let thing = prop::sample::select(vec![
        T::Directory,
        T::Directory,
        T::LinkToOwn,
        T::LinkToNothing,
        T::File,
        T::Fifo,
    ]);
    let mode = prop_oneof![0u32..0o2000, (0u32..0o100).prop_map(|others| 0o700 | others), Just(0o700)];
    // only root can give a thing away
    let strangers = if geteuid().is_root() { prop::bool::weighted(0.3).boxed() } else { Just(false).boxed() };
    (thing, strangers, mode).prop_map(|(thing, strangers, mode)| Place { thing, strangers, mode })
}

fn build(place: Place, own: &Path, at: &Path) {
    match place.thing {
        Thing::Directory => fs::create_dir(at).unwrap(),
        Thing::LinkToOwn => symlink(own, at).unwrap(),
        Thing::LinkToNothing => symlink("nothing", at).unwrap(),
        Thing::File => fs::write(at, "").unwrap(),
        Thing::Fifo => mkfifo(at, Mode::S_IRWXU).unwrap(),
    }
    if place.strangers {
        lchown(at, Some(STRANGER), None).unwrap();
    }
    if !matches!(place.thing, Thing::LinkToOwn | Thing::LinkToNothing) {
        fs::set_permissions(at, fs::Permissions::from_mode(place.mode)).unwrap();
    }
}

fn stands(at: &Path) -> String {
    let meta = fs::symlink_metadata(at).unwrap();
    format!("{:?} {} {:o}", meta.file_type(), meta.uid(), meta.mode())
}

#[test]
fn socket_dir_owned() {
    if !geteuid().is_root() {
        eprintln!("not root: directories of other users are left out");
    }
    let ran = runner().run(&placed(), |place| {
        let temp = TempDir::new().unwrap();
        let (own, at) = (temp.path().join("own"), temp.path().join("sockets"));
        fs::create_dir(&own).unwrap();
        fs::set_permissions(&own, fs::Permissions::from_mode(0o700)).unwrap();
        build(place, &own, &at);
        let before = stands(&at);
        let kind = match place.thing {
            Thing::Directory => Kind::Directory,
            Thing::LinkToOwn | Thing::LinkToNothing => Kind::Link,
            Thing::File | Thing::Fifo => Kind::Other,
        };
        let owner = if place.strangers { STRANGER } else { us() };
        let rule = by_rule(usable(Seen { kind, owner, mode: place.mode }, us()));
        prop_assert_eq!(&rule, &said(SocketDir::look(&at), &at));
        prop_assert_eq!(&rule, &said(SocketDir::make(&at), &at));
        prop_assert_eq!(&rule, &said(Bound::new(&at, &SessionId::new("s"), true), &at));
        if rule != "usable" {
            prop_assert_eq!(before, stands(&at), "it is left as it is");
            prop_assert!(kind != Kind::Directory || fs::read_dir(&at).map_or(true, |all| all.count() == 0));
        }
        prop_assert_eq!(fs::read_dir(&own).unwrap().count(), 0);
        Ok(())
    });
    assert!(ran.is_ok(), "{}", ran.unwrap_err());
}

// --- socket_dir_created

/// A mask, and the mode of the directory that is there already, if one is.
fn making() -> impl Strategy<Value = (u32, Option<u32>)> {
    let mask = prop_oneof![Just(0), Just(0o022), Just(0o077), 0u32..0o100, 0u32..0o1000];
    (mask, prop::option::weighted(0.3, 0u32..0o1000))
}

/// What comes to be, by the rule.
fn comes_by_rule(mask: u32, there: Option<u32>) -> String {
    let dir = |mode| Seen { kind: Kind::Directory, owner: us(), mode };
    let mode = match plan(there.map(dir), us()) {
        Plan::Make { mode } => mode & !mask,
        Plan::Use | Plan::Refuse(_) => there.unwrap(),
    };
    let answer = usable(dir(mode), us());
    let socket = answer.is_ok().then(|| format!("{:o}", 0o600 & !mask));
    format!("{}\ndirectory {mode:o}\nsocket {socket:?}", by_rule(answer))
}

fn comes(mask: u32, there: Option<u32>) -> String {
    let temp = TempDir::new().unwrap();
    let at = temp.path().join("sockets");
    if let Some(mode) = there {
        fs::create_dir(&at).unwrap();
        fs::set_permissions(&at, fs::Permissions::from_mode(mode)).unwrap();
    }
    let before = umask(Mode::from_bits_truncate(mask));
    let made = Bound::new(&at, &SessionId::new("s"), true);
    umask(before);
    let mode = |path: &Path| fs::symlink_metadata(path).unwrap().mode() & 0o7777;
    let directory = mode(&at);
    let socket = made.is_ok().then(|| format!("{:o}", mode(&at.join("s"))));
    format!("{}\ndirectory {directory:o}\nsocket {socket:?}", said(made, &at))
}

#[test]
fn socket_dir_created() {
    if again::role().is_some() {
        let ran = runner().run(&making(), |(mask, there)| {
            prop_assert_eq!(comes_by_rule(mask, there), comes(mask, there));
            Ok(())
        });
        assert!(ran.is_ok(), "{}", ran.unwrap_err());
        assert!(again::say("as the rule says"));
        return;
    }
    // the mask belongs to the whole process
    let mut player = Player::start(again::command("socket::socket_dir_created", "masked"));
    assert_eq!(player.hear().as_deref(), Some("as the rule says"));
    assert!(player.finish());
}

#[test]
fn a_dead_socket_is_replaced_and_a_live_one_never() {
    let temp = TempDir::new().unwrap();
    // longer than the path of a socket may be
    let at = temp.path().join("d".repeat(200));
    let session = SessionId::new("0197-session");
    let socket = at.join(session.as_str());
    let (bound, listener) = Bound::new(&at, &session, true).unwrap();
    let dir = SocketDir::look(&at).unwrap().unwrap();
    assert_eq!(dir.path(), at);
    assert!(dir.connect(&session).unwrap().is_some());
    let live = said(Bound::new(&at, &session, true), &at);
    assert_eq!(live, "DIR/0197-session belongs to a program that answers there; close that one first");
    // its program was killed: the name stays, and nobody answers
    drop(listener);
    std::mem::forget(bound);
    assert!(fs::symlink_metadata(&socket).unwrap().file_type().is_socket());
    assert!(dir.connect(&session).unwrap().is_none());
    let not_ours = said(Bound::new(&at, &session, false), &at);
    assert!(not_ours.contains("the program that has the session open"), "{not_ours}");
    let (bound, _listener) = Bound::new(&at, &session, true).unwrap();
    assert!(dir.connect(&session).unwrap().is_some());
    drop(bound);
    assert!(!at.exists(), "the last one takes the directory with it");
    assert!(SocketDir::look(&at).unwrap().is_none());

    fs::create_dir(&at).unwrap();
    fs::set_permissions(&at, fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(&socket, "mine").unwrap();
    let file = said(Bound::new(&at, &session, true), &at);
    assert_eq!(file, "DIR/0197-session is not a socket; move it away");
    assert_eq!(fs::read(&socket).unwrap(), b"mine");
    let other = SessionId::new("another");
    drop(Bound::new(&at, &other, true).unwrap());
    assert!(at.exists(), "it holds something else");
}

// --- what killed programs left

/// What stands in a directory of sockets.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Standing {
    Live,
    Dead,
    DeadOfAStranger,
    LinkToDead,
    Datagrams,
    File,
    Directory,
}

fn standing() -> impl Strategy<Value = (Vec<(Standing, bool)>, bool)> {
    use Standing as S;
    let mut all =
        vec![S::Live, S::Dead, S::Dead, S::Dead, S::LinkToDead, S::Datagrams, S::File, S::Directory];
    if geteuid().is_root() {
        all.push(S::DeadOfAStranger);
    }
    let one = (prop::sample::select(all), prop::bool::weighted(0.3));
    (prop::collection::vec(one, 0..8), prop::bool::weighted(0.1))
}

/// Nobody listens there from now on. A process that another test is just starting has the listener too for a moment.
fn die(listener: UnixListener) {
    shutdown(listener.as_raw_fd(), Shutdown::Both).unwrap();
}

/// Puts it there; what must live on for it.
fn stand(thing: Standing, at: &Path) -> Option<OwnedFd> {
    match thing {
        Standing::Live => return Some(UnixListener::bind(at).unwrap().into()),
        Standing::Dead => die(UnixListener::bind(at).unwrap()),
        Standing::DeadOfAStranger => {
            die(UnixListener::bind(at).unwrap());
            lchown(at, Some(STRANGER), None).unwrap();
        }
        Standing::LinkToDead => {
            let dead =
                at.parent().unwrap().with_file_name(format!("dead.{}", at.display()).replace('/', "_"));
            die(UnixListener::bind(&dead).unwrap());
            symlink(dead, at).unwrap();
        }
        Standing::Datagrams => return Some(UnixDatagram::bind(at).unwrap().into()),
        Standing::File => fs::write(at, "mine").unwrap(),
        Standing::Directory => fs::create_dir(at).unwrap(),
    }
    None
}

fn swept_by_rule(things: &[(Standing, bool)], locked: bool) -> String {
    let stays = |(n, (thing, held)): (usize, &(Standing, bool))| {
        let socket = !matches!(thing, Standing::LinkToDead | Standing::File | Standing::Directory);
        let refused = matches!(thing, Standing::Dead | Standing::DeadOfAStranger);
        let owner = if *thing == Standing::DeadOfAStranger { STRANGER } else { us() };
        let found = Found { socket, owner, refused, held: *held };
        (locked || !dead(found, us())).then(|| format!("s{n} "))
    };
    let left: String = things.iter().enumerate().filter_map(stays).collect();
    let gone = things.len() - left.split_whitespace().count();
    let there = !left.is_empty() || gone == 0;
    format!("{gone} gone, the directory is there: {there}, with {left}")
}

fn swept(things: &[(Standing, bool)], locked: bool) -> String {
    // a short path, for `bind` is told the whole of it
    let temp = tempfile::Builder::new().prefix("w").tempdir_in("/tmp").unwrap();
    let at = temp.path().join("sockets");
    fs::create_dir(&at).unwrap();
    fs::set_permissions(&at, fs::Permissions::from_mode(0o700)).unwrap();
    let name = |n: usize| format!("s{n}");
    let _live: Vec<_> =
        things.iter().enumerate().map(|(n, (thing, _))| stand(*thing, &at.join(name(n)))).collect();
    // another program is just putting its socket there
    let other = locked.then(|| fs::File::open(&at).unwrap());
    other.iter().for_each(|dir| dir.try_lock().unwrap());
    let held = |session: &SessionId| {
        things.iter().enumerate().any(|(n, (_, held))| *held && session.as_str() == name(n))
    };
    let gone = sweep(&at, &held);
    let left = fs::read_dir(&at).into_iter().flatten().map(|entry| entry.unwrap().file_name());
    let mut left: Vec<String> = left.map(|name| format!("{} ", name.to_str().unwrap())).collect();
    left.sort();
    format!("{gone} gone, the directory is there: {}, with {}", at.exists(), left.concat())
}

#[test]
fn what_killed_programs_left_is_swept_as_the_rule_says() {
    let ran = runner().run(&standing(), |(things, locked)| {
        prop_assert_eq!(swept_by_rule(&things, locked), swept(&things, locked));
        Ok(())
    });
    assert!(ran.is_ok(), "{}", ran.unwrap_err());
}

/// Says that a thread is done, also when it failed.
struct Done<'a>(&'a AtomicUsize);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Programs put their sockets there, leave them dead and replace them, while others sweep without a pause.
#[test]
fn a_socket_that_was_just_put_there_is_never_swept() {
    const ROUNDS: usize = 300;
    const NAMES: [&str; 2] = ["one", "other"];
    let temp = TempDir::new().unwrap();
    let at = temp.path().join("sockets");
    let done = AtomicUsize::new(0);
    let puts = |name: &str| {
        let _done = Done(&done);
        let session = SessionId::new(name);
        for round in 0..ROUNDS {
            let (bound, listener) = Bound::new(&at, &session, true).unwrap();
            assert!(at.join(name).exists(), "the live socket {name} was swept in round {round}");
            die(listener);
            if round % 2 == 0 {
                std::mem::forget(bound);
            }
        }
    };
    std::thread::scope(|scope| {
        for name in NAMES {
            scope.spawn(|| puts(name));
        }
        scope.spawn(|| {
            while done.load(Ordering::Relaxed) < NAMES.len() {
                sweep(&at, &|_| false);
            }
        });
    });
}

// --- peer_same_uid

/// What a peer of some user finds: an answer, or that nothing was said.
fn visits(path: &str, uid: u32) -> String {
    let own = geteuid();
    seteuid(Uid::from_raw(uid)).unwrap();
    let stream = UnixStream::connect(path);
    seteuid(own).unwrap();
    let mut stream = match stream {
        Ok(stream) => stream,
        Err(error) => return format!("kept out: {:?}", error.kind()),
    };
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    // it may be gone before that
    let _ = stream.write_all(b"{\"id\":1,\"type\":\"hello\"}\n");
    let mut byte = [0];
    match stream.read(&mut byte) {
        Ok(1) => "answered".to_owned(),
        Ok(_) => "sent away".to_owned(),
        Err(error) if error.kind() == ErrorKind::ConnectionReset => "sent away".to_owned(),
        Err(error) => format!("{error}"),
    }
}

/// A program that visits as whom it is told.
fn visitor() {
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let (uid, path) = line.split_once(' ').unwrap();
        if !again::say(&visits(path, uid.parse().unwrap())) {
            return;
        }
    }
}

#[test]
fn peer_same_uid() {
    if again::role().is_some() {
        return visitor();
    }
    let root = geteuid().is_root();
    if !root {
        eprintln!("not root: peers of other users are left out");
    }
    let served = Served::new();
    drop(served.connect());
    let socket = served.socket();
    let ask = |visitor: &mut Player, uid: u32| {
        visitor.tell(&format!("{uid} {}", socket.display()));
        visitor.hear().unwrap()
    };
    let mut visitor = Player::start(again::command("socket::peer_same_uid", "visitor"));
    assert_eq!(ask(&mut visitor, us()), "answered");
    if root {
        assert_eq!(ask(&mut visitor, STRANGER), "kept out: PermissionDenied", "the directory and the mode");
        // opened by hand: who comes through is another user all the same
        for dir in served.place.ancestors().take_while(|dir| *dir != Path::new("/tmp")).skip(1) {
            let mode = fs::metadata(dir).unwrap().mode();
            fs::set_permissions(dir, fs::Permissions::from_mode(mode | 0o055)).unwrap();
        }
        fs::set_permissions(&served.place, fs::Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(&socket, fs::Permissions::from_mode(0o666)).unwrap();
    }
    let uid = if root { prop_oneof![Just(0), 1u32..70_000].boxed() } else { Just(us()).boxed() };
    let visitor = std::cell::RefCell::new(visitor);
    let ran = runner().run(&uid, |uid| {
        let rule = if heard(Some(uid), us()) { "answered" } else { "sent away" };
        prop_assert_eq!(rule, ask(&mut visitor.borrow_mut(), uid));
        Ok(())
    });
    assert!(ran.is_ok(), "{}", ran.unwrap_err());
}
