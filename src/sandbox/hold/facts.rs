//! What a hold is made of on this machine, now. Blocking.
//!
//! What a command could ask to do things outside of its hold is taken away as far as it is known: the person's session
//! bus and service manager, containers' daemons, terminal multiplexers. A program that listens on the network, or
//! reads a file of the person's later, is not.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Component, Path, PathBuf};

use super::Recipe;
use super::mounts::other_names;
use super::plan::Facts;
use crate::store::socket;

/// Where a copy's records name the parts of the parent's repository that the agent's git reads.
pub const GIT: &str = "git";

/// Sockets in the directory of the person's own services, whose owners do what they are asked.
const RUNTIME_SOCKETS: &[&str] =
    &["bus", "systemd/private", "podman/podman.sock", "docker.sock", "snapd-session-agent.socket"];

/// The same for the whole machine.
const SOCKETS: &[&str] = &[
    "/run/docker.sock",
    "/run/podman/podman.sock",
    "/run/containerd/containerd.sock",
    "/run/dbus/system_bus_socket",
    "/run/systemd/private",
    "/run/snapd.socket",
    "/run/libvirt/libvirt-sock",
];

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
        fixed: fixed(recipe),
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

fn hidden(recipe: &Recipe) -> Vec<PathBuf> {
    let mux = std::env::var_os("TMUX_TMPDIR").map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
    let mux = [mux.join(format!("tmux-{}", socket::us())), PathBuf::from("/run/screen")];
    let own = [recipe.dirs.state().to_owned(), recipe.room.clone()];
    let mut hidden = real(own.into_iter().chain(socket::places()).chain(mux));
    hidden.retain(|path| path.is_dir());
    hidden
}

fn blanks(recipe: &Recipe) -> Vec<PathBuf> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let runtime = runtime.into_iter().chain([PathBuf::from(format!("/run/user/{}", socket::us()))]);
    let sockets = runtime.flat_map(|dir| RUNTIME_SOCKETS.iter().map(move |name| dir.join(name)));
    let devices =
        ["/dev", "/dev/mapper"].into_iter().flat_map(|dir| fs::read_dir(dir).into_iter().flatten().flatten());
    let devices = devices.map(|entry| entry.path()).filter(|path| is_open_disk(path));
    let mut blank =
        real([recipe.dirs.keys()].into_iter().chain(sockets).chain(SOCKETS.iter().map(PathBuf::from)));
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

fn fixed(recipe: &Recipe) -> Vec<PathBuf> {
    // what is not there could be made: settings that allow everything, for the next session
    let _ = fs::create_dir_all(recipe.dirs.config());
    let kernel = KERNEL.iter().map(PathBuf::from).filter(|_| socket::us() == 0);
    real([recipe.dirs.config().to_owned()].into_iter().chain(kernel))
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
    session.into_iter().map(|dir| (dir.clone(), dir)).collect()
}
