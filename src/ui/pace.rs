//! When to draw. Pure: time comes in as plain numbers (milliseconds).
//!
//! Input and resizes are drawn at once, what streams at most 30 times a second, spinners 8 times,
//! elapsed times once. With nothing changed there is no draw and no deadline, so no wake-up.

/// Least time between two draws of what streams.
pub const STREAM_MS: u64 = 33;
/// Time between two pictures of a spinner.
pub const SPIN_MS: u64 = 125;
/// Time between two draws of an elapsed time.
pub const CLOCK_MS: u64 = 1000;

/// What moves on the screen by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Motion {
    /// Nothing.
    Still,
    /// Elapsed times.
    Clock,
    /// A spinner.
    Spin,
}

/// The pacer's memory.
#[derive(Clone, Copy, Debug)]
pub struct Pacer {
    urgent: bool,
    stream: bool,
    drawn_at: Option<u64>,
    motion: Motion,
}

impl Default for Pacer {
    fn default() -> Self {
        Self { urgent: true, stream: false, drawn_at: None, motion: Motion::Still }
    }
}

impl Pacer {
    /// The person did something, or the window changed.
    pub fn input(&mut self) {
        self.urgent = true;
    }
    /// The record changed.
    pub fn stream(&mut self) {
        self.stream = true;
    }
    /// Whether a frame for what streams is owed: what else comes waits for it.
    pub fn owes_stream(&self) -> bool {
        self.stream
    }
    /// A frame was drawn; so much moves in it.
    pub fn drawn(&mut self, now: u64, motion: Motion) {
        *self = Self { urgent: false, stream: false, drawn_at: Some(now), motion };
    }
    /// When the next frame is due; none: not before something changes.
    pub fn due(&self, now: u64) -> Option<u64> {
        if self.urgent {
            return Some(now);
        }
        let Some(last) = self.drawn_at else { return Some(now) };
        let after = |ms: u64| last.saturating_add(ms).max(now);
        let moved = match self.motion {
            Motion::Still => None,
            Motion::Clock => Some(after(CLOCK_MS)),
            Motion::Spin => Some(after(SPIN_MS)),
        };
        let streamed = self.stream.then(|| after(STREAM_MS));
        [moved, streamed].into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn_at(events: &[(u64, &str)], until: u64, motion: Motion) -> Vec<u64> {
        let mut pacer = Pacer::default();
        let mut out = Vec::new();
        for now in 0..until {
            for (_, what) in events.iter().filter(|(at, _)| *at == now) {
                if *what == "key" { pacer.input() } else { pacer.stream() }
            }
            if pacer.due(now) == Some(now) {
                out.push(now);
                pacer.drawn(now, motion);
            }
        }
        out
    }

    #[test]
    fn a_key_is_drawn_at_once_also_amid_a_stream() {
        let events: Vec<(u64, &str)> = (0..100).map(|n| (n, "stream")).chain([(50, "key")]).collect();
        assert!(drawn_at(&events, 100, Motion::Still).contains(&50));
    }

    #[test]
    fn a_stream_is_drawn_at_most_thirty_times_a_second() {
        let events: Vec<(u64, &str)> = (0..1000).map(|n| (n, "stream")).collect();
        assert!(drawn_at(&events, 1000, Motion::Still).len() <= 31);
    }

    #[test]
    fn a_lone_change_after_a_rest_is_drawn_at_once() {
        assert_eq!(drawn_at(&[(500, "stream")], 1000, Motion::Still), [0, 500]);
    }

    #[test]
    fn spinners_and_clocks_have_their_rates_and_rest_has_none() {
        assert_eq!(drawn_at(&[], 1000, Motion::Spin).len(), 8);
        assert_eq!(drawn_at(&[], 3000, Motion::Clock).len(), 3);
        assert_eq!(drawn_at(&[], 3000, Motion::Still), [0]);
        let mut pacer = Pacer::default();
        pacer.drawn(5, Motion::Still);
        assert_eq!(pacer.due(10), None);
    }
}
