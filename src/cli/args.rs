//! The command line as written (`contracts`, "Command line"). What it means is decided by who runs it.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{ArgGroup, Args, CommandFactory, Parser, Subcommand, ValueEnum, ValueHint};

use crate::api::access::Mode;

/// The closing words of `--help`: a line for each paragraph, for they are wrapped where the terminal ends.
const AFTER_HELP: &str = "\
Without a key or a network: `windlass --rehearsal` drives the whole program with a scripted model in a scratch copy of a \
small project.

Keys come from ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, a variable that settings.json names, or keys.json \
(mode 0600). Settings: `windlass config show`. Something does not work: `windlass doctor`.

Exit codes: 0 done; 1 the turn or the command failed; 2 usage (a bad flag, an unknown model, provider or session); 3 the \
turn is done, and what an agent changed did not come back; 4 an approval was needed that nobody could give; 130 \
interrupted.";

/// A full-screen terminal program for coding with a language model.
///
/// See each running thing, stop any of it at once, decide by hand what comes back.
#[derive(Debug, Parser)]
#[command(
    name = "windlass",
    version,
    about,
    long_about = None,
    after_help = AFTER_HELP,
    args_conflicts_with_subcommands = true,
    max_term_width = 100
)]
pub struct Arguments {
    /// What to open, and how.
    #[command(flatten)]
    pub start: Start,
    /// Drive the program with a scripted model in a scratch copy of a sample project.
    #[arg(long, conflicts_with_all = ["model", "resume_newest", "session", "cwd", "prompt"])]
    pub rehearsal: bool,
    /// Plain lines for a screen reader, added at the end, in the place of the full screen.
    #[arg(long)]
    pub screen_reader: bool,
    /// A message that is sent at once.
    #[arg(value_name = "PROMPT")]
    pub prompt: Option<String>,
    /// What to do instead of opening the screen.
    #[command(subcommand)]
    pub verb: Option<Verb>,
}

/// What to open, and how.
#[derive(Clone, Debug, Default, Args)]
pub struct Start {
    /// The directory to work in [default: the current one].
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub cwd: Option<PathBuf>,
    /// The model: provider/name, or scripted:FILE.
    #[arg(long, short, value_name = "MODEL")]
    pub model: Option<String>,
    /// What is asked: ask (writes, commands), edits (commands), auto (little), plan (only reads).
    #[arg(long, value_name = "MODE", value_parser = mode_parser(), hide_possible_values = true)]
    pub approve: Option<Mode>,
    /// Go on with the newest session of the directory.
    #[arg(short = 'c', long = "continue", conflicts_with = "session")]
    pub resume_newest: bool,
    /// Go on with this session.
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Plain lines for a screen reader (said by those who open a screen).
    #[arg(skip)]
    pub screen_reader: bool,
}

fn mode_parser() -> impl clap::builder::TypedValueParser<Value = Mode> {
    use clap::builder::TypedValueParser;
    PossibleValuesParser::new(["ask", "edits", "auto", "plan"])
        .map(|word| Mode::parse(&word).unwrap_or_default())
}

/// What to do instead of opening the screen.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Run one prompt without the screen.
    Exec {
        /// What to open, and how.
        #[command(flatten)]
        start: Start,
        /// Print one JSON object a line.
        #[arg(long)]
        json: bool,
        /// The prompt; `-` reads it from standard input.
        #[arg(value_name = "PROMPT")]
        prompt: String,
    },
    /// Open an earlier session; without ID the newest of the directory.
    Resume {
        /// The session's id, or the beginning of it.
        #[arg(value_name = "ID")]
        id: Option<String>,
        /// The directory whose newest session is meant [default: the current one].
        #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "id")]
        cwd: Option<PathBuf>,
        /// The model: provider/name, or scripted:FILE.
        #[arg(long, short, value_name = "MODEL")]
        model: Option<String>,
        /// What is asked: ask (writes, commands), edits (commands), auto (little), plan (only reads).
        #[arg(long, value_name = "MODE", value_parser = mode_parser(), hide_possible_values = true)]
        approve: Option<Mode>,
        /// Plain lines for a screen reader, added at the end, in the place of the full screen.
        #[arg(long)]
        screen_reader: bool,
    },
    /// List the sessions, newest first.
    Sessions {
        /// Print one JSON object a line.
        #[arg(long)]
        json: bool,
        /// Only those of this directory.
        #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
        cwd: Option<PathBuf>,
    },
    /// Print a session.
    Export {
        /// The session's id, or the beginning of it.
        #[arg(value_name = "ID")]
        id: String,
        /// As Markdown (this is the default).
        #[arg(long, conflicts_with = "jsonl")]
        markdown: bool,
        /// As JSON, one record a line.
        #[arg(long)]
        jsonl: bool,
    },
    /// See, follow, attach to and end the jobs of a session, from any terminal.
    Jobs {
        /// What to do.
        #[command(subcommand)]
        action: JobsAction,
    },
    /// See what came back from a session's agents, and resolve its conflicts without the screen.
    Handback {
        /// What to do.
        #[command(subcommand)]
        action: HandbackAction,
    },
    /// Merge one file in the conflict viewer, as the merge tool of git or jj; exits 0 when MERGED was written, else 1.
    Merge(Merge),
    /// Check terminal, directories, keys and tools, and say what to do.
    Doctor,
    /// Show, check or describe the settings.
    Config {
        /// What to do.
        #[command(subcommand)]
        action: ConfigAction,
    },
    /// Print completions for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

/// The files of one merge.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct Merge {
    /// What both sides began with.
    #[arg(value_name = "BASE", value_hint = ValueHint::FilePath)]
    pub base: PathBuf,
    /// Our side: the parent's column.
    #[arg(value_name = "LOCAL", value_hint = ValueHint::FilePath)]
    pub local: PathBuf,
    /// Their side: the child's column.
    #[arg(value_name = "REMOTE", value_hint = ValueHint::FilePath)]
    pub remote: PathBuf,
    /// Where the result goes, in place of what is there.
    #[arg(short = 'o', long = "output", value_name = "MERGED", value_hint = ValueHint::FilePath)]
    pub merged: PathBuf,
    /// The path that is merged, where MERGED is only a place for the result: it is shown, and tells the language.
    #[arg(long, value_name = "PATH")]
    pub path: Option<PathBuf>,
    /// Plain lines for a screen reader, in the place of the full screen.
    #[arg(long)]
    pub screen_reader: bool,
}

/// Whose jobs are meant.
#[derive(Clone, Debug, Default, Args)]
pub struct Whose {
    /// The session's id, or the beginning of it [default: the newest of the directory].
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// The directory whose newest session is meant [default: the current one].
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "session")]
    pub cwd: Option<PathBuf>,
}

/// What to do with jobs.
#[derive(Clone, Debug, Subcommand)]
pub enum JobsAction {
    /// List them: what runs, and what ended and how.
    List {
        /// Whose.
        #[command(flatten)]
        whose: Whose,
        /// Print one JSON object a line.
        #[arg(long)]
        json: bool,
        /// Those of all sessions.
        #[arg(long, conflicts_with_all = ["session", "cwd"])]
        all: bool,
    },
    /// Print the last lines of a job; with --follow what comes until it ends, too.
    Tail {
        /// The job: j1, j2, …
        #[arg(value_name = "JOB")]
        job: String,
        /// Whose.
        #[command(flatten)]
        whose: Whose,
        /// How many of the last lines.
        #[arg(short = 'n', long, value_name = "LINES", default_value_t = 10)]
        lines: usize,
        /// Go on with what it prints until it ends.
        #[arg(short, long)]
        follow: bool,
        /// Its bytes as they are, also into a terminal; else control characters are made visible there.
        #[arg(long)]
        raw: bool,
    },
    /// Type into a job's terminal from this one; ^] or F12 leaves it.
    Attach {
        /// The job: j1, j2, …
        #[arg(value_name = "JOB")]
        job: String,
        /// Whose.
        #[command(flatten)]
        whose: Whose,
    },
    /// End a job with its whole tree, and see it gone.
    Kill {
        /// The job: j1, j2, …
        #[arg(value_name = "JOB")]
        job: String,
        /// Whose.
        #[command(flatten)]
        whose: Whose,
    },
}

/// What to do with what came back from agents.
#[derive(Clone, Debug, Subcommand)]
pub enum HandbackAction {
    /// List the agents that have a copy of their own, what came back, and which conflicts are open.
    List {
        /// Whose.
        #[command(flatten)]
        whose: Whose,
        /// Print one JSON object a line.
        #[arg(long)]
        json: bool,
    },
    /// Print what an agent changed; with PATH the lines of its three versions.
    Show {
        /// The agent's name; that of an agent's own agent is lexer/x.
        #[arg(value_name = "CHILD")]
        child: String,
        /// A path that it changed.
        #[arg(value_name = "PATH")]
        path: Option<PathBuf>,
        /// Whose.
        #[command(flatten)]
        whose: Whose,
    },
    /// Write a resolution of a path into the session's directory.
    #[command(group = ArgGroup::new("from").required(true).args(["take", "file", "tool"]))]
    Resolve {
        /// The agent's name; that of an agent's own agent is lexer/x.
        #[arg(value_name = "CHILD")]
        child: String,
        /// The path.
        #[arg(value_name = "PATH")]
        path: PathBuf,
        /// Whose.
        #[command(flatten)]
        whose: Whose,
        /// Whose version is taken.
        #[arg(long, value_name = "VERSION")]
        take: Option<Take>,
        /// A file that holds the whole result.
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        file: Option<PathBuf>,
        /// A merge program, run by the shell: it reads $BASE, $LOCAL and $REMOTE and writes $MERGED.
        #[arg(long, value_name = "CMD", value_hint = ValueHint::CommandString)]
        tool: Option<String>,
    },
    /// Try a hand-back again that was cut or failed.
    Retry {
        /// The agent's name.
        #[arg(value_name = "CHILD")]
        child: String,
        /// Whose.
        #[command(flatten)]
        whose: Whose,
    },
    /// Take back the newest resolution of a path; of one that was taken without a question, put back what was there.
    Revert {
        /// The agent's name; that of an agent's own agent is lexer/x.
        #[arg(value_name = "CHILD")]
        child: String,
        /// The path.
        #[arg(value_name = "PATH")]
        path: PathBuf,
        /// Whose.
        #[command(flatten)]
        whose: Whose,
    },
    /// Drop an agent's copy and all versions that are kept, those of its own agents too, for good.
    Drop {
        /// The agent's name; that of an agent's own agent is lexer/x.
        #[arg(value_name = "CHILD")]
        child: String,
        /// Whose.
        #[command(flatten)]
        whose: Whose,
        /// Without being asked, and also with conflicts that are open or work that did not come back.
        #[arg(long)]
        force: bool,
    },
}

/// A version of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Take {
    /// As the session's directory has it.
    Parent,
    /// As the agent left it.
    Child,
    /// As the agent found it.
    Base,
    /// The parent's lines, then the agent's, where both changed them; not where one removed the file.
    Both,
    /// As these three versions, the one here as it is now, were resolved before.
    Earlier,
}

/// What to do with the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Subcommand)]
pub enum ConfigAction {
    /// Print the effective values and where each came from.
    Show,
    /// Name what is wrong in the settings, the keymap and the themes; exit 2 if anything is.
    Check,
    /// Print the JSON schema of settings.json.
    Schema,
}

impl Arguments {
    /// The completions of a shell.
    pub fn completions(shell: clap_complete::Shell) -> Vec<u8> {
        let mut out = Vec::new();
        clap_complete::generate(shell, &mut Arguments::command(), "windlass", &mut out);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &[&str]) -> Result<Arguments, clap::Error> {
        Arguments::try_parse_from([&["windlass"], line].concat())
    }

    #[test]
    fn the_definition_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn a_prompt_opens_the_screen_and_verbs_are_verbs() {
        let arguments = parse(&["--model", "a/b", "--approve", "edits", "mend the lexer"]).unwrap();
        assert_eq!(arguments.prompt.as_deref(), Some("mend the lexer"));
        assert_eq!(arguments.start.approve, Some(Mode::Edits));
        assert!(arguments.verb.is_none());
        assert!(matches!(parse(&["doctor"]).unwrap().verb, Some(Verb::Doctor)));
        assert_eq!(parse(&["--", "doctor"]).unwrap().prompt.as_deref(), Some("doctor"));
        let exec = parse(&["exec", "--json", "-c", "-"]).unwrap();
        assert!(matches!(exec.verb, Some(Verb::Exec { json: true, ref prompt, .. }) if prompt == "-"));
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        for line in [
            &["--approve", "always"][..],
            &["-c", "--session", "x"],
            &["exec"],
            &["export"],
            &["export", "x", "--markdown", "--jsonl"],
            &["merge", "base", "local", "remote"],
            &["merge", "base", "local", "-o", "merged"],
            &["config"],
            &["completions", "cmd.exe"],
            &["handback", "resolve", "tests", "a"],
            &["handback", "resolve", "tests", "a", "--take", "mine"],
            &["handback", "resolve", "tests", "a", "--take", "both", "--file", "b"],
            &["--rehearsal", "--model", "x"],
            &["--nonsense"],
        ] {
            assert_eq!(parse(line).unwrap_err().exit_code(), 2, "{line:?}");
        }
    }
}
