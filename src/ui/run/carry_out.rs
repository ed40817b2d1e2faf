//! What the model wants done outside of itself: commands for the session, other programs, the clipboard, files.
//!
//! Not here: when (`run`).

use super::Screen;
use crate::api::command::Command;
use crate::link::{Host, Leave};
use crate::ui::clipboard::copy;
use crate::ui::msg::{Effect, Exit, Msg};
use crate::ui::pane::{composer, conflict};
use crate::ui::signals::Signal;

impl Screen<'_> {
    /// Leaves the terminal, lets another program have it, and comes back.
    /// Told to end meanwhile, it does not come back: the other program is asked to end as well.
    pub(super) fn outside<T>(&mut self, what: impl FnOnce(&mut dyn Host, Leave<'_>) -> T) -> T {
        self.terminal.pause();
        let leaving = &mut self.leaving;
        let signals = &self.signals;
        let mut look = |came: Vec<Signal>| {
            // an interrupt or a quit by key was meant for the other program
            for signal in came {
                match signal {
                    Signal::Terminate => *leaving = Some(Exit::Ended(15)),
                    Signal::HangUp => *leaving = Some(Exit::Ended(1)),
                    Signal::Resize | Signal::Continue | Signal::Stop => {}
                    Signal::Interrupt | Signal::Quit => {}
                }
            }
            leaving.is_some()
        };
        let host = &mut *self.host;
        let out = signals.with_children(|| what(host, &mut |ms| look(signals.wait(ms))));
        if !look(signals.take()) {
            self.reenter();
        }
        out
    }

    pub(super) fn carry_out(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            self.pacer.input();
            match effect {
                Effect::Send(command) => self.send(command),
                Effect::Copy(text) => {
                    let said = copy(&text, self.between).map(|(bytes, said)| {
                        self.terminal.write(&bytes);
                        said
                    });
                    self.tell(Msg::Say(said.unwrap_or_else(|why| why)));
                }
                Effect::Edit(text) => match self.outside(|host, leave| host.edit_text(&text, leave)) {
                    Ok(text) => self.tell(Msg::Composer(composer::Msg::Edited(text))),
                    Err(why) => self.tell(Msg::Say(why)),
                },
                Effect::EditMerge(name, bytes) => {
                    match self.outside(|host, leave| host.edit_bytes(&name, &bytes, leave)) {
                        Ok(bytes) => self.tell(Msg::Conflict(conflict::Msg::Edited(bytes))),
                        Err(why) => self.tell(Msg::Say(why)),
                    }
                }
                Effect::Page(text) => {
                    if let Err(why) = self.outside(|host, leave| host.page_text(&text, leave)) {
                        self.tell(Msg::Say(why));
                    }
                }
                Effect::ReadImage(path) => match self.host.read_image(path.as_deref()) {
                    Ok(image) => self.tell(Msg::Composer(composer::Msg::Image(image))),
                    Err(why) => {
                        if let Some(path) = path {
                            self.tell(Msg::Composer(composer::Msg::NoImage(path)));
                        }
                        self.tell(Msg::Say(why));
                    }
                },
                Effect::KeepTheme(name) => {
                    let said = match self.host.keep_theme(&name) {
                        Ok(file) => format!("theme {name}, kept in {file}"),
                        Err(why) => format!("theme {name}, for now: {why}"),
                    };
                    self.tell(Msg::Say(said));
                }
                Effect::Suspend => self.outside(|host, _| host.suspend()),
                Effect::Dump => {
                    let text = self.model.ring.dump();
                    let said = match self.host.keep_dump(&text) {
                        Ok(file) => format!("the last messages are in {file}"),
                        Err(why) => why,
                    };
                    self.tell(Msg::Say(said));
                }
                Effect::Redraw => {
                    self.writer.forget();
                    self.model.raw.as_mut().into_iter().for_each(|raw| raw.forget());
                }
                Effect::Leave(exit) => (self.leaving, self.leave_jobs) = (Some(exit), false),
                Effect::LeaveJobs(exit) => (self.leaving, self.leave_jobs) = (Some(exit), true),
            }
        }
    }

    pub(super) fn send(&mut self, command: Command) {
        self.stopping |= matches!(command, Command::Interrupt);
        if let Err(command) = self.front.send(command) {
            self.tell(Msg::NotSent(command));
        }
    }
}
