//! What `write`, `edit` and `apply_patch` have in common as calls: the wish with its preview, and the
//! end with its diff.

use std::path::Path;

use serde_json::Value;

use crate::api::access::{Class, Wish};
use crate::api::entry::CallStatus;
use crate::tool::blocking::{self, BlockingCall};
use crate::tool::change::{Change, carry_out};
use crate::tool::diff::Diff;
use crate::tool::{CallContext, Later, ToolEnd};

/// The wish to carry out a plan.
pub fn wish(tool: &str, cwd: &Path, changes: &[Change]) -> Wish {
    Wish {
        tool: tool.to_owned(),
        class: Class::Write,
        paths: changes.iter().map(|change| change.path.clone()).collect(),
        command: None,
        preview: Diff::of(cwd, changes).into_preview(),
    }
}

/// Runs a changing tool on a blocking thread.
pub fn run<'a>(
    context: &'a CallContext,
    input: &'a Value,
    work: fn(&BlockingCall, &Value) -> Result<ToolEnd, String>,
) -> Later<'a, ToolEnd> {
    blocking::run(context, input, work)
}

/// Carries the plan out and tells it; `words` is what the model reads.
pub fn end(
    call: &BlockingCall,
    changes: &[Change],
    words: impl Fn(&Diff) -> String,
) -> Result<ToolEnd, String> {
    for change in changes {
        call.check(&change.path)?;
    }
    let diff = Diff::of(call.site.cwd(), changes);
    let touched = match carry_out(call, changes) {
        Ok(touched) => touched,
        Err(why) if call.cancelled() => return Ok(ToolEnd::text(CallStatus::Cancelled, why)),
        Err(why) => return Err(why),
    };
    let output = words(&diff);
    Ok(ToolEnd { details: diff.into_details(), touched, ..ToolEnd::text(CallStatus::Ok, output) })
}
