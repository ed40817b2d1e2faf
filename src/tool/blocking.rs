//! The way of a tool's work to a blocking thread: an owned copy of what the call may use, and a
//! result even if the work fails inside.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::api::entry::CallStatus;
use crate::law::access::sight::Sight;
use crate::law::output::Truncation;
use crate::tool::site::Site;
use crate::tool::{Blobs, CallContext, Later, Report, ToolEnd};

/// What a call may use, owned, for a blocking thread.
pub struct BlockingCall {
    /// The session's directory.
    pub site: Site,
    /// The paths of the wish that was allowed.
    pub allowed: Vec<PathBuf>,
    /// The call's private directory.
    pub call_dir: PathBuf,
    /// Keeps earlier bytes.
    pub blobs: Arc<dyn Blobs>,
    /// Asked often; the work ends soon after it is set.
    pub cancel: CancellationToken,
    /// The board.
    pub report: Arc<dyn Report>,
    /// The bound of the output.
    pub truncation: Truncation,
    /// Most bytes of an artifact.
    pub spool_max: u64,
    /// What closes files to a search.
    pub sight: Sight,
}

impl BlockingCall {
    /// Whether the call was cancelled.
    pub fn cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Whether a path is one that was allowed; else a link was changed since, and it is another file.
    pub fn check(&self, file: &Path) -> Result<(), String> {
        if self.allowed.iter().any(|allowed| allowed == file) {
            return Ok(());
        }
        Err(format!(
            "the path leads to {} now, which is not what was allowed: a link on the way was changed meanwhile. \
             Nothing was done; call again if that file is meant",
            self.site.show(file)
        ))
    }
}

/// Runs `work` on a blocking thread. An `Err` becomes an error result.
pub fn run<'a>(
    context: &'a CallContext,
    input: &'a Value,
    work: fn(&BlockingCall, &Value) -> Result<ToolEnd, String>,
) -> Later<'a, ToolEnd> {
    let call = BlockingCall {
        site: Site::of(&context.cwd, context.held.as_ref()),
        allowed: context.allowed.clone(),
        call_dir: context.call_dir.clone(),
        blobs: Arc::clone(&context.blobs),
        cancel: context.cancel.clone(),
        report: Arc::clone(&context.report),
        truncation: context.truncation,
        spool_max: context.spool_max,
        sight: context.sight.clone(),
    };
    let input = input.clone();
    Box::pin(async move {
        if call.cancelled() {
            return ToolEnd::text(CallStatus::Cancelled, "cancelled before it began");
        }
        match tokio::task::spawn_blocking(move || work(&call, &input)).await {
            Ok(Ok(end)) => end,
            Ok(Err(message)) => ToolEnd::text(CallStatus::Error, message),
            Err(_) => ToolEnd::text(
                CallStatus::Error,
                "the tool broke off inside; this is a fault of Windlass, please report it with the call's input",
            ),
        }
    })
}
