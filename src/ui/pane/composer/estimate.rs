//! What a draft weighs before it is sent: its tokens, and what sending costs where the price is known.
//!
//! Nothing is said of a short line. Deliberately not here: what was spent, which the session counts.

use std::collections::BTreeMap;

use super::State;
use crate::api::event::ModelInfo;
use crate::law::window;
use crate::ui::pane::conversation::count;

/// Tokens from which a draft is worth a word.
const TOKENS: u64 = 250;
/// Lines from which it is.
const LINES: usize = 6;

/// What models cost.
#[derive(Clone, Debug, Default)]
pub struct Prices {
    /// Dollars for a million tokens that are sent, by model.
    sent: BTreeMap<String, f64>,
    /// Whether it was asked for.
    asked: bool,
}

impl Prices {
    /// What is known of models.
    pub fn told(&mut self, models: Vec<ModelInfo>) {
        self.sent = models.into_iter().filter_map(|model| Some((model.id, model.price?.0))).collect();
    }
    /// Whether they are to be asked for, the first time.
    pub fn ask(&mut self, state: &State) -> bool {
        let wants = !self.asked && worth(state);
        self.asked |= wants;
        wants
    }
    /// What so many tokens cost when they are sent to a model, in dollars, where it is known.
    fn of(&self, model: &str, tokens: u64) -> Option<f64> {
        let price = self.sent.get(model).filter(|price| **price > 0.0)?;
        Some(price * tokens as f64 / 1e6)
    }
}

/// Whether the draft is worth a word.
fn worth(state: &State) -> bool {
    let weight = state.draft.weight();
    weight.held || weight.lines >= LINES || window::estimate(weight.bytes as u64) >= TOKENS
}

/// Its tokens, in words; empty where nothing is written.
pub fn tokens(state: &State) -> String {
    if state.draft.is_empty() {
        return String::new();
    }
    let weight = state.draft.weight();
    let images = match weight.images {
        0 => String::new(),
        1 => " and an image".to_owned(),
        images => format!(" and {images} images"),
    };
    format!("≈ {} tokens{images}", count(window::estimate(weight.bytes as u64)))
}

/// What is about to be sent, for a model with so much in its window; empty: it is not worth a word. An image has no
/// count before it was sent, nor has what is still in the model's cache another price here: the sum is of all as input.
pub fn words(state: &State, prices: &Prices, model: &str, used: Option<u64>) -> String {
    if !worth(state) {
        return String::new();
    }
    let draft = window::estimate(state.draft.weight().bytes as u64);
    let said = tokens(state);
    let with = if used.unwrap_or(0) > 0 { " with the conversation" } else { "" };
    match prices.of(model, draft + used.unwrap_or(0)) {
        None => said,
        Some(cost) if cost < 0.001 => format!("{said} · under $0.001{with}"),
        Some(cost) if cost < 0.1 => format!("{said} · ≈ ${cost:.3}{with}"),
        Some(cost) => format!("{said} · ≈ ${cost:.2}{with}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::pane::composer::{Msg, update};

    fn prices(input: f64) -> Prices {
        let mut prices = Prices::default();
        let price = Some((input, 5.0 * input));
        let model = ModelInfo { id: "m".into(), window: None, price, usable: true, missing: None };
        prices.told(vec![model]);
        prices
    }

    #[test]
    fn a_long_draft_says_its_tokens_and_its_cost_and_a_short_one_nothing() {
        let mut state = State::default();
        update(&mut state, Msg::Paste("short".into()), false);
        let mut asked = Prices::default();
        assert!(!asked.ask(&state));
        assert_eq!(words(&state, &prices(3.0), "m", None), "");
        assert_eq!(tokens(&state), "≈ 2 tokens");
        // folded, it counts as what is sent
        update(&mut state, Msg::Paste("word ".repeat(4000)), false);
        assert!(state.draft.shown().len() < 60);
        assert!(asked.ask(&state) && !asked.ask(&state), "once");
        let said = |price, model, used| words(&state, &prices(price), model, used);
        assert_eq!(said(3.0, "other", None), "≈ 5K tokens");
        assert_eq!(said(3.0, "m", None), "≈ 5K tokens · ≈ $0.015");
        assert_eq!(said(3.0, "m", Some(95_000)), "≈ 5K tokens · ≈ $0.30 with the conversation");
        assert_eq!(said(0.1, "m", None), "≈ 5K tokens · under $0.001");
        assert_eq!(said(0.0, "m", None), "≈ 5K tokens", "no price is none that is known");
    }
}
