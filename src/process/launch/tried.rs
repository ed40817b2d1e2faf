//! What holds the processes of a command together on this machine, found out by running one.

use std::path::Path;

use super::{Launch, News, launch};
use crate::law::job::JobLimits;
use crate::law::output::Truncation;
use crate::process::record::{KEEPER_FILE, KeeperRecord, read};

/// Most bytes that may be printed by it.
const OUTPUT_MAX: u64 = 1 << 16;

/// Runs `true` under a keeper, with its record in this directory, which must be private: in words, the kind of cgroup that
/// commands have. An `Err` says why they have none.
pub async fn try_out(dir: &Path) -> Result<String, String> {
    let wanted = Launch {
        argv: vec!["true".into()],
        environment: std::env::vars_os().filter(|(name, _)| name == "PATH").collect(),
        cwd: dir.to_owned(),
        dir: dir.join("command"),
        limits: JobLimits::new(OUTPUT_MAX, None),
        truncation: Truncation::Off,
        kept: false,
        terminal: None,
        inside: None,
    };
    let record = wanted.dir.clone();
    let mut running = launch(wanted).await.map_err(|error| error.to_string())?;
    while !matches!(running.next().await, Some(News::Ended { .. }) | None) {}
    let keeper = read::<KeeperRecord>(&record, KEEPER_FILE).map_err(|error| error.to_string())?;
    match keeper {
        Some(KeeperRecord { group: Some(group), .. }) => Ok(group.kind.words().to_owned()),
        Some(KeeperRecord { no_group: Some(why), .. }) => Err(why),
        Some(_) | None => Err("its keeper left no record".to_owned()),
    }
}
