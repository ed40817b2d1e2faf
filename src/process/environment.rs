//! What of the program's environment crosses to a command: everything that a project may need, never a
//! key of ours, nothing that reaches our terminal. The reasons stand in
//! `docs/decisions/command-environment.md`.

use std::ffi::{OsStr, OsString};

/// Variables that hold keys of models. Configured `key_env` names come beside these.
const KEY_NAMES: &[&str] = &[
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "OPENAI_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "OPENROUTER_API_KEY",
    "DEEPSEEK_API_KEY",
    "DASHSCOPE_API_KEY",
    "AZURE_OPENAI_API_KEY",
    "GOOGLE_GENERATIVE_AI_API_KEY",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "MISTRAL_API_KEY",
    "CODESTRAL_API_KEY",
    "GROQ_API_KEY",
    "XAI_API_KEY",
    "TOGETHER_API_KEY",
    "FIREWORKS_API_KEY",
    "COHERE_API_KEY",
    "CO_API_KEY",
    "PERPLEXITY_API_KEY",
    "CEREBRAS_API_KEY",
    "MOONSHOT_API_KEY",
    "ZAI_API_KEY",
    "ZHIPUAI_API_KEY",
    "MINIMAX_API_KEY",
    "NVIDIA_API_KEY",
    "SAMBANOVA_API_KEY",
    "REPLICATE_API_TOKEN",
    "AWS_BEARER_TOKEN_BEDROCK",
];

/// Files that a shell runs before the command that was approved.
const START_FILES: &[&str] = &["BASH_ENV", "ENV"];

/// Endings of a name of ours (`WINDLASS_…`) that hold a secret.
const SECRET_ENDINGS: &[&str] = &["_KEY", "_TOKEN", "_SECRET"];

/// Variables that lead to our terminal, or tell its size.
const TERMINAL_NAMES: &[&str] =
    &["TMUX", "TMUX_PANE", "STY", "WINDOW", "WINDOWID", "GPG_TTY", "SSH_TTY", "COLUMNS", "LINES"];

/// What every command gets: no pager, no prompt, no editor that waits, a terminal that can do nothing.
const QUIET: &[(&str, &str)] = &[
    ("TERM", "dumb"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("GH_PAGER", "cat"),
    ("AWS_PAGER", ""),
    ("GIT_EDITOR", "true"),
    ("GIT_TERMINAL_PROMPT", "0"),
];

/// Secrets shorter than this are not looked for in the values of other variables.
const SECRET_LENGTH_MIN: usize = 8;

/// The environment of commands, from the program's own: without the variables of `secret_names` and of
/// the known model keys, without any other variable that holds the value of one of them, without ways
/// to our terminal, with what keeps commands from asking. Sorted by name.
pub fn child_environment(
    parent: impl IntoIterator<Item = (OsString, OsString)>,
    secret_names: &[String],
) -> Vec<(OsString, OsString)> {
    let parent: Vec<(OsString, OsString)> = parent.into_iter().collect();
    let secrets: Vec<&OsStr> = parent
        .iter()
        .filter(|(name, _)| is_secret(name, secret_names))
        .map(|(_, value)| value.as_os_str())
        .filter(|value| value.len() >= SECRET_LENGTH_MIN)
        .collect();
    let mut out: Vec<(OsString, OsString)> = parent
        .iter()
        .filter(|(name, value)| {
            !is_secret(name, secret_names)
                && !START_FILES.iter().any(|known| name == known)
                && !TERMINAL_NAMES.iter().any(|known| name == known)
                && !QUIET.iter().any(|(known, _)| name == known)
                && !secrets.iter().any(|secret| holds(value, secret))
        })
        .cloned()
        .collect();
    out.extend(QUIET.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))));
    out.sort();
    out.dedup_by(|later, first| later.0 == first.0);
    out
}

/// The environment of a command that has a terminal of its own: what kept it from asking is taken away.
pub fn with_terminal(environment: Vec<(OsString, OsString)>) -> Vec<(OsString, OsString)> {
    let ours = |name: &OsString, value: &OsString| QUIET.iter().any(|(n, v)| name == n && value == v);
    let mut out: Vec<_> = environment.into_iter().filter(|(name, value)| !ours(name, value)).collect();
    out.push(("TERM".into(), "xterm-256color".into()));
    out
}

fn is_secret(name: &OsStr, secret_names: &[String]) -> bool {
    KEY_NAMES.iter().any(|known| name == *known)
        || secret_names.iter().any(|known| name == known.as_str())
        || name.to_str().is_some_and(|name| {
            name.starts_with("WINDLASS_") && SECRET_ENDINGS.iter().any(|ending| name.ends_with(ending))
        })
}

fn holds(value: &OsStr, secret: &OsStr) -> bool {
    memchr::memmem::find(value.as_encoded_bytes(), secret.as_encoded_bytes()).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(parent: &[(&str, &str)], secret_names: &[&str]) -> Vec<(String, String)> {
        let parent = parent.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let names: Vec<String> = secret_names.iter().map(|name| name.to_string()).collect();
        child_environment(parent, &names)
            .into_iter()
            .map(|(name, value)| (name.into_string().unwrap(), value.into_string().unwrap()))
            .collect()
    }

    #[test]
    fn a_terminal_of_its_own_may_ask() {
        let quiet = child_environment([("PATH".into(), "/bin".into()), ("PAGER".into(), "less".into())], &[]);
        let names: Vec<String> = with_terminal(quiet)
            .into_iter()
            .map(|(name, value)| format!("{}={}", name.display(), value.display()))
            .collect();
        assert_eq!(names, ["PATH=/bin", "TERM=xterm-256color"]);
    }

    #[test]
    fn what_a_project_needs_crosses() {
        let needed = [
            ("PATH", "/bin"),
            ("HOME", "/home/x"),
            ("CARGO_HOME", "/c"),
            ("VIRTUAL_ENV", "/v"),
            ("GITHUB_TOKEN", "a-token-of-the-person"),
            ("STRIPE_API_KEY", "a-key-of-the-project"),
            ("AWS_SECRET_ACCESS_KEY", "a-secret-of-the-person"),
            ("LD_LIBRARY_PATH", "/l"),
            ("EMPTY", ""),
        ];
        let out = environment(&needed, &[]);
        for (name, value) in needed {
            assert!(out.contains(&(name.into(), value.into())), "{name} is missing");
        }
    }

    #[test]
    fn no_key_of_a_model_crosses() {
        let parent = [
            ("ANTHROPIC_API_KEY", "sk-ant-123456789"),
            ("OPENAI_API_KEY", "sk-oai-123456789"),
            ("GEMINI_API_KEY", "short"),
            ("LOCAL_KEY", "local-key-123"),
            ("WINDLASS_CONTROL_TOKEN", "t-123456789"),
            ("COPY", "sk-ant-123456789"),
            ("HEADER", "Bearer local-key-123;"),
            ("MODEL_WORD", "short"),
        ];
        let out = environment(&parent, &["LOCAL_KEY"]);
        let names: Vec<&str> = out.iter().map(|(name, _)| name.as_str()).collect();
        for (name, _) in &parent[..7] {
            assert!(!names.contains(name), "{name} crossed");
        }
        assert!(names.contains(&"MODEL_WORD"), "a short value is no proof of a copy");
    }

    #[test]
    fn no_key_of_a_provider_that_is_not_used_here_crosses_and_no_file_runs_before_a_command() {
        let names = ["MISTRAL_API_KEY", "GROQ_API_KEY", "DASHSCOPE_API_KEY", "BASH_ENV", "ENV"];
        let parent: Vec<(&str, &str)> = names.iter().map(|name| (*name, "some-value")).collect();
        let out = environment(&parent, &[]);
        for name in names {
            assert!(!out.iter().any(|(crossed, _)| crossed == name), "{name} crossed");
        }
    }

    #[test]
    fn nothing_leads_to_our_terminal_and_nothing_waits_for_a_person() {
        let out = environment(
            &[("TERM", "xterm"), ("PAGER", "less"), ("TMUX", "/tmp/x"), ("GPG_TTY", "/dev/pts/1")],
            &[],
        );
        let value = |name: &str| out.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str());
        assert_eq!(value("TERM"), Some("dumb"));
        assert_eq!(value("PAGER"), Some("cat"));
        assert_eq!(value("GIT_PAGER"), Some("cat"));
        assert_eq!(value("GIT_TERMINAL_PROMPT"), Some("0"));
        assert_eq!(value("TMUX"), None);
        assert_eq!(value("GPG_TTY"), None);
    }
}
