//! The table of tools: their fixed order (a request's stable prefix holds it), and the one place
//! that says how much of a tool's output is kept.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::law::output::{DEFAULT_LIMITS, Keep, OutputLimits, Truncation};
use crate::tool::Tool;
use crate::tool::agents::Agents;
use crate::tool::apply_patch::ApplyPatchTool;
use crate::tool::bash::Bash;
use crate::tool::edit::EditTool;
use crate::tool::glob::GlobTool;
use crate::tool::grep::GrepTool;
use crate::tool::jobs::Jobs;
use crate::tool::read::ReadTool;
use crate::tool::spawn::Spawn;
use crate::tool::todo::TodoTool;
use crate::tool::write::WriteTool;

/// All tools, in a fixed order.
pub fn all() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(ReadTool),
        Arc::new(WriteTool),
        Arc::new(EditTool),
        Arc::new(ApplyPatchTool),
        Arc::new(GrepTool),
        Arc::new(GlobTool),
        Arc::new(Bash::default()),
        Arc::new(Jobs),
        Arc::new(Spawn),
        Arc::new(Agents),
        Arc::new(TodoTool),
    ]
}

/// The tool of a name.
pub fn find(tools: &[Arc<dyn Tool>], name: &str) -> Option<Arc<dyn Tool>> {
    tools.iter().find(|tool| tool.spec().name == name).cloned()
}

/// What the settings say on outputs; what is not set is as the tool registers it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputSettings {
    /// Nothing is bounded.
    pub off: bool,
    /// Most bytes of every tool's output.
    pub bytes: Option<u64>,
    /// Most lines of every tool's output.
    pub lines: Option<u64>,
    /// Which part of every tool's output.
    pub keep: Option<Keep>,
    /// For one tool by name: the last word.
    pub tools: BTreeMap<String, Truncation>,
}

/// What a tool registers: the default bound, and which part of its output matters.
fn registered(tool: &str) -> OutputLimits {
    let keep = match tool {
        "bash" => Keep::Ends,
        "jobs" => Keep::Tail,
        _ => DEFAULT_LIMITS.keep,
    };
    OutputLimits { keep, ..DEFAULT_LIMITS }
}

/// The bound of one call of a tool: its own setting, else the settings for all over what it registers.
pub fn truncation_for(tool: &str, settings: &OutputSettings) -> Truncation {
    if let Some(own) = settings.tools.get(tool) {
        return *own;
    }
    if settings.off {
        return Truncation::Off;
    }
    let limits = registered(tool);
    Truncation::On(OutputLimits {
        bytes: settings.bytes.unwrap_or(limits.bytes),
        lines: settings.lines.unwrap_or(limits.lines),
        keep: settings.keep.unwrap_or(limits.keep),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_schemas_are_strict() {
        fn strict(schema: &serde_json::Value, at: &str) {
            if schema["type"] == "object" {
                assert_eq!(schema["additionalProperties"], false, "{at}");
                for (name, field) in schema["properties"].as_object().unwrap() {
                    strict(field, &format!("{at}.{name}"));
                }
                for name in schema["required"].as_array().unwrap() {
                    assert!(schema["properties"].get(name.as_str().unwrap()).is_some(), "{at}: {name}");
                }
            }
            if let Some(items) = schema.get("items") {
                strict(items, at);
            }
        }
        let specs: Vec<_> = all().iter().map(|tool| tool.spec()).collect();
        for spec in &specs {
            strict(&spec.schema, spec.name);
            assert_eq!(specs.iter().filter(|other| other.name == spec.name).count(), 1);
            assert!(find(&all(), spec.name).is_some());
        }
    }

    #[test]
    fn the_bound_of_a_call_is_resolved_in_one_place() {
        let mut settings = OutputSettings::default();
        let on = |bytes, keep| Truncation::On(OutputLimits { bytes, lines: 2000, keep });
        assert_eq!(truncation_for("read", &settings), on(51_200, Keep::Head));
        assert_eq!(truncation_for("bash", &settings), on(51_200, Keep::Ends));
        settings.bytes = Some(10);
        assert_eq!(truncation_for("bash", &settings), on(10, Keep::Ends));
        settings.tools.insert("read".into(), on(7, Keep::Tail));
        assert_eq!(truncation_for("read", &settings), on(7, Keep::Tail));
        settings.off = true;
        assert_eq!(truncation_for("bash", &settings), Truncation::Off);
        assert_eq!(truncation_for("read", &settings), on(7, Keep::Tail));
    }
}
