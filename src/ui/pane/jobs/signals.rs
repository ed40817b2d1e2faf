//! The signals that a person can send to a job.

use crate::base::JobId;
use crate::ui::overlay::list::{Kind, Pick, Row, State};
use crate::ui::widget::text::tame;

/// Number, name, and what it is for.
pub const SIGNALS: [(i32, &str, &str); 9] = [
    (2, "INT", "as ^C does"),
    (1, "HUP", "the terminal is gone; many servers read their settings again"),
    (15, "TERM", "asks it to end"),
    (3, "QUIT", "as ^\\ does; may leave a core file"),
    (10, "USR1", "whatever the program makes of it"),
    (12, "USR2", "whatever the program makes of it"),
    (19, "STOP", "holds it until CONT"),
    (18, "CONT", "lets it go on"),
    (9, "KILL", "ends it at once; `x` ends its whole tree and says what is gone"),
];

/// The list of signals for a job.
pub fn signals(job: JobId, command: &str) -> State {
    let row = |(number, name, says): &(i32, &str, &str)| Row::new(*name, *says, Pick::Signal(job, *number));
    let mut state = State::new(Kind::Signals, &format!("Signal to {job}"), SIGNALS.iter().map(row).collect());
    state.intro = vec![tame(command.lines().next().unwrap_or_default()).into_owned()];
    state.hint = "Enter sends it to the processes in front · Esc closes".to_owned();
    state
}
