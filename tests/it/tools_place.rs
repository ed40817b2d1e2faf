//! A project directory on disk and calls of tools in it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio_util::sync::CancellationToken;
use windlass::api::entry::CallStatus;
use windlass::api::job::Starter;
use windlass::api::message::Usage;
use windlass::base::{CallId, Millis};
use windlass::law::access::sight::Sight;
use windlass::law::output::{DEFAULT_LIMITS, Truncation};
use windlass::sandbox::hold::Held;
use windlass::tool::site::Site;
use windlass::tool::{Blobs, CallContext, Report, ToolEnd, table};

use crate::jobs_tool::SmallDesk;

/// Blobs in memory.
#[derive(Default)]
pub struct Memory(Mutex<std::collections::BTreeMap<String, Vec<u8>>>);

impl Blobs for Memory {
    fn keep(&self, bytes: &[u8]) -> Result<String, String> {
        let mut kept = self.0.lock().unwrap();
        let name = format!("blob{}", kept.len());
        kept.insert(name.clone(), bytes.to_vec());
        Ok(name)
    }
    fn load(&self, hash: &str) -> Result<Vec<u8>, String> {
        self.0.lock().unwrap().get(hash).cloned().ok_or_else(|| "no such blob".to_owned())
    }
}

struct Silent;

impl Report for Silent {
    fn output(&self, _: &str, _: u64, _: u64) {}
    fn warn(&self, _: String) {}
    fn usage(&self, _: Usage) {}
}

/// A project directory and what calls in it may use.
pub struct Place {
    _dir: Option<tempfile::TempDir>,
    pub cwd: PathBuf,
    pub blobs: Arc<Memory>,
    pub truncation: Truncation,
    pub sight: Sight,
    pub held: Option<Arc<Held>>,
    pub cancel: CancellationToken,
}

impl Place {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let cwd = dir.path().canonicalize().unwrap().join("project");
        std::fs::create_dir(&cwd).unwrap();
        Self { _dir: Some(dir), ..Self::at(cwd) }
    }
    /// A directory that is there and stays.
    pub fn at(cwd: PathBuf) -> Self {
        Self {
            _dir: None,
            cwd,
            blobs: Arc::default(),
            truncation: Truncation::On(DEFAULT_LIMITS),
            sight: Sight::default(),
            held: None,
            cancel: CancellationToken::new(),
        }
    }
    pub fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.cwd.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }
    pub fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.cwd.join(name)).unwrap()
    }
    pub fn context(&self, allowed: Vec<PathBuf>) -> CallContext {
        CallContext {
            call: CallId::new("c1"),
            cwd: self.cwd.clone(),
            held: self.held.clone(),
            allowed,
            call_dir: self.cwd.parent().unwrap().join("session/calls/c1"),
            blobs: Arc::clone(&self.blobs) as Arc<dyn Blobs>,
            cancel: self.cancel.clone(),
            report: Arc::new(Silent),
            truncation: self.truncation,
            spool_max: 1 << 30,
            processes_max: 0,
            environment: Vec::new(),
            sight: self.sight.clone(),
            began: Millis(0),
            budget: Millis(30_000),
            detach: CancellationToken::new(),
            desk: SmallDesk::new(0),
            crew: Arc::new(windlass::tool::crew::Nobody),
            kept: false,
            by: Starter::Model,
            hidden: false,
            after: None,
        }
    }
    pub fn run(&self, tool: &str, input: Value) -> ToolEnd {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let tool = table::find(&table::all(), tool).unwrap();
        let site = Site::of(&self.cwd, self.held.as_ref());
        let allowed = tool.wish_in(&site, &input).map(|wish| wish.paths).unwrap_or_default();
        runtime.block_on(tool.run(&self.context(allowed), &input))
    }
    pub fn ok(&self, tool: &str, input: Value) -> ToolEnd {
        let end = self.run(tool, input);
        assert_eq!(end.status, CallStatus::Ok, "{}", end.output);
        end
    }
    pub fn error(&self, tool: &str, input: Value) -> String {
        let end = self.run(tool, input);
        assert_eq!(end.status, CallStatus::Error, "{}", end.output);
        end.output
    }
    /// Every file below the directory, with its bytes.
    pub fn tree(&self) -> Vec<(String, Vec<u8>)> {
        fn walk(dir: &std::path::Path, out: &mut Vec<PathBuf>) {
            for entry in std::fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() && !path.is_symlink() {
                    walk(&path, out);
                }
                out.push(path);
            }
        }
        let mut paths = Vec::new();
        walk(&self.cwd, &mut paths);
        paths.sort();
        let name = |path: &PathBuf| path.strip_prefix(&self.cwd).unwrap().display().to_string();
        paths.iter().map(|p| (name(p), std::fs::read(p).unwrap_or_default())).collect()
    }
}
