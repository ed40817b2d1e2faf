//! What uses several modules, real processes or the binary.
#![allow(clippy::unwrap_used)] // also in what tests share, which clippy does not take for a test

mod access;
mod adopt;
mod again;
mod agent_turns;
mod agents;
mod agents_bridge;
mod agents_copy;
mod agents_crash;
mod agents_ends;
mod attach;
mod bash;
mod call_bridge;
mod cgroup;
mod cli;
mod commands;
mod config;
mod control;
mod crash_bridge;
mod exec_cli;
mod fork;
mod fork_bomb;
mod frame_bridge;
mod fuzz;
mod hand_back;
mod handback_cli;
mod hold;
mod job_bridge;
mod job_ends;
mod job_lines;
mod job_terminal;
mod jobs_tool;
mod journal;
mod keeper;
mod keeper_cost;
mod kill_storm;
mod killed_exec;
mod lease;
mod many_jobs;
mod markdown;
mod merge_files;
mod merge_git;
mod merge_killed;
mod merge_program;
mod merge_tool;
mod mux;
mod nested_agents;
mod opening;
mod output_bridge;
mod outside;
mod private;
mod restore_bridge;
mod restore_crash;
mod rewind_bridge;
mod rewind_files;
mod scenarios;
mod screen;
mod server;
mod session;
mod six_agents;
mod socket;
mod swapped;
mod taken_up;
mod terminal;
mod tidy;
mod tools_files;
mod tools_patch;
mod tools_place;
mod tools_search;
mod turns;
mod wait_bridge;
mod widgets;
mod wire_contract;
mod wire_outside;
mod workspace_copy;

/// Writes an executable file. A process of its own writes it: while we held it open for writing, a command that
/// another test starts at that moment would inherit it, and running it would say "text file busy".
pub fn executable(path: &std::path::Path, content: &[u8]) {
    use std::io::Write as _;
    let mut writer = std::process::Command::new("sh")
        .args(["-c", "cat >\"$1\" && chmod 755 \"$1\"", "sh"])
        .arg(path)
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    writer.stdin.take().unwrap().write_all(content).unwrap();
    assert!(writer.wait().unwrap().success(), "{} was not written", path.display());
}

/// How many cases of a search: twenty times as many in the long run (`tests/run --long`).
pub fn cases(quick: u32) -> u32 {
    if std::env::var_os("WINDLASS_LONG").is_some() { quick * 20 } else { quick }
}
