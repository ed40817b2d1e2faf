//! Whether commands can be held here, found out by holding one. That they can is asked once for the process.

use std::path::Path;
use std::sync::Arc;

use tokio::sync::OnceCell;

use super::builder::build;
use super::plan::Facts;
use crate::law::job::{End, JobLimits};
use crate::law::output::Truncation;
use crate::process::{Launch, News, launch};

/// Most bytes that may be printed by it.
const OUTPUT_MAX: u64 = 1 << 16;
/// It ends well only where the copy lies over what is seen, and what is outside cannot be written through it.
const SCRIPT: &str = "test -e of_the_copy && test ! -e of_the_parent && : >written";

static AVAILABLE: OnceCell<()> = OnceCell::const_new();

/// Whether commands can be held; else why not. That they cannot may pass, so it is looked again then.
pub async fn available() -> Result<(), String> {
    AVAILABLE.get_or_try_init(hold_one).await.copied()
}

async fn hold_one() -> Result<(), String> {
    let dir = tempfile::Builder::new().prefix("windlass-hold-").tempdir();
    let dir = dir.map_err(|error| format!("no directory for trying a hold can be made: {error}"))?;
    let top = dir.path().canonicalize().map_err(|error| error.to_string())?;
    let (seen, copy) = (top.join("seen"), top.join("copy"));
    place(&seen, "of_the_parent")
        .and_then(|()| place(&copy, "of_the_copy"))
        .map_err(|error| error.to_string())?;
    let facts = Facts { seen: seen.clone(), copy: copy.clone(), ..Facts::default() };
    let inside = tokio::task::spawn_blocking(move || build(&facts)).await;
    let inside = inside.unwrap_or_else(|_| Err("the hold could not be made".to_owned()))?;
    let wanted = Launch {
        argv: ["/bin/sh", "-c", SCRIPT].map(Into::into).into(),
        environment: std::env::vars_os().filter(|(name, _)| name == "PATH").collect(),
        cwd: seen.clone(),
        dir: top.join("command"),
        limits: JobLimits::new(OUTPUT_MAX, None),
        truncation: Truncation::Off,
        kept: false,
        terminal: None,
        inside: Some(Arc::new(inside)),
    };
    let mut running = launch(wanted).await.map_err(|error| error.to_string())?;
    loop {
        match running.next().await {
            Some(News::Ended { record, .. }) if record.end == (End::Exited { code: 0 }) => break,
            Some(News::Ended { record, kept }) => {
                let said = crate::base::plain(&kept.head);
                let said = String::from_utf8_lossy(&said);
                return Err(format!(
                    "a held command does not find its copy: {} {}",
                    record.end.words(),
                    said.trim()
                ));
            }
            Some(_) => {}
            None => return Err("the keeper of a held command ended".to_owned()),
        }
    }
    if copy.join("written").exists() && !seen.join("written").exists() {
        Ok(())
    } else {
        Err("what a held command writes does not come to its copy".to_owned())
    }
}

fn place(dir: &Path, name: &str) -> std::io::Result<()> {
    std::fs::create_dir(dir)?;
    std::fs::write(dir.join(name), "")
}
