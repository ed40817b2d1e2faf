//! What a hold is made of on this machine, now. Blocking.
//!
//! What a command could ask to do things outside of its hold is taken away as far as it is known: the person's session
//! bus and service manager, containers' daemons, terminal multiplexers. A program that listens on the network, or
//! reads a file of the person's later, is not.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt};
use std::path::{Component, Path, PathBuf};

use super::Recipe;
use super::mounts::other_names;
use super::plan::Facts;
use crate::store::socket;

/// Where a copy's records name the parts of the parent's repository that the agent's git reads.
pub const GIT: &str = "git";

/// What of the directory of the person's own services stays: displays and sound, and agents that sign. The rest, and
/// what comes later, does what it is asked outside of the hold.
const RUNTIME_LENT: &[&str] = &[
    "wayland-0",
    "wayland-1",
    "pipewire-0",
    "pulse/native",
    "keyring/ssh",
    "gcr/ssh",
    "gnupg/S.gpg-agent",
    "gnupg/S.gpg-agent.ssh",
    "gnupg/S.keyboxd",
    "ssh-agent.socket",
    "openssh_agent",
];

/// Its sockets whose owners do what they are asked, where it cannot be covered as a whole.
const RUNTIME_SOCKETS: &[&str] =
    &["bus", "systemd/private", "podman/podman.sock", "docker.sock", "snapd-session-agent.socket"];

/// Directories of such sockets for the whole machine, and beneath the person's home.
const SOCKET_DIRS: &[&str] = &["/run/podman", "/run/containerd", "/run/dbus", "/run/libvirt", "/run/screen"];
const HOME_SOCKET_DIRS: &[&str] = &[".docker/desktop", ".docker/run", ".screen", ".abduco", ".dtach"];

/// Such sockets in directories that have more in them. One that its owner makes anew is not covered any more.
const SOCKETS: &[&str] = &["/run/docker.sock", "/run/systemd/private", "/run/snapd.socket"];
const HOME_SOCKETS: &[&str] = &[".rd/docker.sock", ".colima/docker.sock", ".colima/default/docker.sock"];

/// What root may write without any right of root's.
const KERNEL: &[&str] = &["/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/sys"];

/// Looks. An `Err` says why no hold can be made.
pub fn gather(recipe: &Recipe) -> Result<Facts, String> {
    let seen = &recipe.seen;
    let real = seen.canonicalize().map_err(|error| format!("{}: {error}", seen.display()))?;
    if real != *seen || !real.is_dir() {
        return Err(format!("{} is not the directory any more that it was", seen.display()));
    }
    let table = fs::read("/proc/self/mountinfo").map_err(|error| format!("/proc/self/mountinfo: {error}"))?;
    let (mut others, mut blank) = (Vec::new(), Vec::new());
    for other in other_names(&table, seen) {
        let place = if other.of.as_os_str().is_empty() { seen.clone() } else { seen.join(&other.of) };
        if !is_same(&other.at, &place) {
            continue;
        }
        let of = recipe.copy.join(&other.of);
        let there = of.symlink_metadata().ok();
        match (other.at.is_dir(), there) {
            (true, there) => others.push((other.at, there.filter(fs::Metadata::is_dir).map(|_| of))),
            (false, Some(there)) if there.is_file() => others.push((other.at, Some(of))),
            (false, _) => blank.push(other.at),
        }
    }
    blank.extend(blanks(recipe));
    let mut facts = Facts {
        seen: seen.clone(),
        copy: recipe.copy.clone(),
        others,
        hidden: hidden(recipe),
        blank,
        fresh: fresh(recipe),
        fixed: fixed(),
        lent: lent(recipe),
    };
    repositories(recipe, &mut facts);
    Ok(facts)
}

fn is_same(one: &Path, other: &Path) -> bool {
    let id = |path: &Path| fs::metadata(path).map(|meta| (meta.dev(), meta.ino())).ok();
    id(one).is_some_and(|one| Some(one) == id(other))
}

fn real(paths: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    paths.into_iter().filter_map(|path| path.canonicalize().ok()).collect()
}

fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute())
}

fn hidden(recipe: &Recipe) -> Vec<PathBuf> {
    // what is not there could be made: settings that allow everything, for the next session
    let _ = fs::create_dir_all(recipe.dirs.config());
    let own = [recipe.dirs.state(), recipe.dirs.config(), &recipe.room].map(Path::to_owned);
    let machine = SOCKET_DIRS.iter().map(PathBuf::from);
    let home = home().into_iter().flat_map(|home| HOME_SOCKET_DIRS.iter().map(move |name| home.join(name)));
    // in which a directory for each person comes and goes
    let people = [PathBuf::from("/run/user")];
    let mut hidden = real(own.into_iter().chain(socket::places()).chain(machine).chain(home).chain(people));
    hidden.retain(|path| path.is_dir());
    hidden
}

/// Directories of sockets of which the agent gets its own: the person's own services, terminal multiplexers, editors.
fn fresh(recipe: &Recipe) -> Vec<PathBuf> {
    let us = socket::us();
    let temporary = std::env::temp_dir();
    let mux = std::env::var_os("TMUX_TMPDIR").map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
    let user = std::env::var("USER").unwrap_or_default();
    let programs = [
        ("tmux", mux.join(format!("tmux-{us}"))),
        ("zellij", temporary.join(format!("zellij-{us}"))),
        ("emacs", temporary.join(format!("emacs{us}"))),
        ("nvim", temporary.join(format!("nvim.{user}"))),
    ];
    for (program, dir) in &programs {
        // one that is not there yet could not be covered, and its program would make it at any time
        if is_installed(program) {
            let _ = fs::DirBuilder::new().mode(0o700).create(dir);
        }
    }
    let mut fresh = real(programs.into_iter().map(|(_, dir)| dir).chain(runtimes(recipe)));
    fresh.retain(|path| path.is_dir());
    fresh
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(program).is_file())
}

/// The directories of the person's own services that can be covered as a whole: private ones with nothing else in them.
fn runtimes(recipe: &Recipe) -> Vec<PathBuf> {
    let named = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let usual = PathBuf::from(format!("/run/user/{}", socket::us()));
    let mut all = real(named.into_iter().chain([usual]));
    all.retain(|dir| {
        let private = dir.metadata().is_ok_and(|meta| meta.uid() == socket::us() && meta.mode() & 0o077 == 0);
        let holds = |path: &Path| path.starts_with(dir);
        private && !holds(&recipe.seen) && !holds(&recipe.copy) && !home().is_some_and(|home| holds(&home))
    });
    all
}

fn blanks(recipe: &Recipe) -> Vec<PathBuf> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let runtime = runtime.into_iter().chain([PathBuf::from(format!("/run/user/{}", socket::us()))]);
    let sockets = runtime.flat_map(|dir| RUNTIME_SOCKETS.iter().map(move |name| dir.join(name)));
    let home = home().into_iter().flat_map(|home| HOME_SOCKETS.iter().map(move |name| home.join(name)));
    // the socket of the multiplexer or editor that this program runs in, wherever it is
    let around = ["TMUX", "NVIM"].into_iter().filter_map(std::env::var_os);
    let around = around.filter_map(|named| {
        named.as_bytes().split(|byte| *byte == b',').next().map(|path| PathBuf::from(OsStr::from_bytes(path)))
    });
    let devices =
        ["/dev", "/dev/mapper"].into_iter().flat_map(|dir| fs::read_dir(dir).into_iter().flatten().flatten());
    let devices = devices.map(|entry| entry.path()).filter(|path| is_open_disk(path));
    let machine = SOCKETS.iter().map(PathBuf::from);
    let mut blank =
        real([recipe.dirs.keys()].into_iter().chain(sockets).chain(machine).chain(home).chain(around));
    blank.extend(devices);
    blank.sort();
    blank.dedup();
    blank.retain(|path| !path.is_dir());
    blank
}

/// Whether a file is a disk that this person may write as a whole.
fn is_open_disk(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.file_type().is_block_device())
        && nix::unistd::access(path, nix::unistd::AccessFlags::W_OK).is_ok()
}

fn fixed() -> Vec<PathBuf> {
    real(KERNEL.iter().map(PathBuf::from).filter(|_| socket::us() == 0))
}

/// What the room names of repositories: places of objects are lent, one that is not the agent's own to write is fixed, and
/// one in whose place another lies gets that.
fn repositories(recipe: &Recipe, facts: &mut Facts) {
    let room = recipe.room.join(GIT);
    for entry in fs::read_dir(&room).into_iter().flatten().flatten() {
        let (at, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let Some(real) = at.canonicalize().ok().filter(|real| real.is_dir() && may_be_shown(recipe, real))
        else {
            continue;
        };
        match name.split('-').next() {
            Some("objects") => {
                facts.lent.extend(borrowed(recipe, &real));
                facts.lent.push((real, at));
            }
            Some("fixed") => facts.fixed.push(real),
            Some("over") => facts.others.push((real, Some(room.join("own")))),
            Some(_) | None => {}
        }
    }
}

/// Where a place of objects names others that are hidden: an agent's repository names those that its room has.
fn borrowed(recipe: &Recipe, objects: &Path) -> Vec<(PathBuf, PathBuf)> {
    let named = fs::read(objects.join("info/alternates")).unwrap_or_default();
    let state = recipe.dirs.state().canonicalize().unwrap_or_default();
    let lines = named.split(|byte| *byte == b'\n').map(|line| PathBuf::from(OsStr::from_bytes(line)));
    let plain = |path: &PathBuf| {
        path.starts_with(&state) && path.components().all(|part| !matches!(part, Component::ParentDir))
    };
    let real = |at: PathBuf| Some((at.canonicalize().ok()?, at));
    let shown = |(real, _): &(PathBuf, PathBuf)| real.is_dir() && may_be_shown(recipe, real);
    lines.filter(plain).filter_map(real).filter(shown).collect()
}

/// Whether a directory holds nothing of Windlass but an agent's work: what a repository borrows from is named in it, and
/// an agent may have written that.
fn may_be_shown(recipe: &Recipe, real: &Path) -> bool {
    let own = [recipe.dirs.state(), recipe.dirs.config()].map(Path::canonicalize);
    let below = own.iter().flatten().find_map(|own| real.strip_prefix(own).ok());
    // workspaces/SESSION/CHILD/copy/…
    below.is_none_or(|below| below.iter().nth(3).is_some_and(|part| part == "copy"))
}

fn lent(recipe: &Recipe) -> Vec<(PathBuf, PathBuf)> {
    let session = real(recipe.session.clone()).pop();
    let mut lent: Vec<(PathBuf, PathBuf)> = session.into_iter().map(|dir| (dir.clone(), dir)).collect();
    lent.extend(settings(recipe));
    let signs = std::env::var_os("SSH_AUTH_SOCK").map(PathBuf::from);
    for runtime in runtimes(recipe) {
        let known = RUNTIME_LENT.iter().map(|name| runtime.join(name));
        let own = signs
            .iter()
            .filter_map(|path| path.canonicalize().ok())
            .filter(|path| path.starts_with(&runtime));
        lent.extend(known.chain(own).filter_map(|at| Some((at.canonicalize().ok()?, at))));
    }
    lent
}

/// The settings, but for the keys and for what is being written.
fn settings(recipe: &Recipe) -> Vec<(PathBuf, PathBuf)> {
    let Ok(config) = recipe.dirs.config().canonicalize() else { return Vec::new() };
    let entries = fs::read_dir(&config).into_iter().flatten().flatten();
    let keys = recipe.dirs.keys().canonicalize().ok();
    let shown = entries.filter_map(|entry| {
        let name = entry.file_name();
        let hush = name.as_bytes().starts_with(b".") || name.as_bytes().starts_with(b"keys");
        let real = entry.path().canonicalize().ok().filter(|real| Some(real) != keys.as_ref() && !hush)?;
        Some((real, entry.path()))
    });
    shown.collect()
}
