//! What is known of models: windows, output limits, prices, how they think.
//!
//! The known ones stand in `assets/models.json`; the settings lie over it. What is not known stays unknown:
//! nothing here guesses a window.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use crate::api::message::Usage;
use crate::api::provider::{ModelCard, Price};

/// A line of the list.
#[derive(Clone, Debug, serde::Deserialize)]
struct Known {
    /// `provider/name`.
    id: String,
    #[serde(flatten)]
    card: ModelCard,
}

fn known() -> &'static [Known] {
    static KNOWN: OnceLock<Vec<Known>> = OnceLock::new();
    // A test parses the list, which is part of the program.
    KNOWN.get_or_init(|| serde_json::from_str(include_str!("../../assets/models.json")).unwrap_or_default())
}

/// The names of the known models of a provider, newest first.
pub fn names(provider: &str) -> impl Iterator<Item = &'static str> {
    known().iter().filter_map(move |known| known.id.strip_prefix(provider)?.strip_prefix('/'))
}

/// What is known of `provider/name`. A dated name (`…-20250929`, `…-2025-08-07`) or one with `-latest` is
/// known by its undated one.
pub fn card(model: &str, overrides: &BTreeMap<String, ModelCard>) -> ModelCard {
    let mut card = listed(model).cloned().unwrap_or_default();
    if let Some(over) = overrides.get(model) {
        card = ModelCard {
            window: over.window.or(card.window),
            max_output: over.max_output.or(card.max_output),
            price: over.price.or(card.price),
            images: over.images.or(card.images),
            thinking: over.thinking.or(card.thinking),
        };
    }
    card
}

fn listed(model: &str) -> Option<&'static ModelCard> {
    let of = |id: &str| known().iter().find(|known| known.id == id).map(|known| &known.card);
    of(model).or_else(|| of(undated(model)))
}

fn undated(model: &str) -> &str {
    let model = model.strip_suffix("-latest").unwrap_or(model);
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    match model.rsplit_once('-') {
        Some((head, date)) if date.len() == 8 && digits(date) => head,
        Some((head, day)) if day.len() == 2 && digits(day) => match head.rsplit_once('-') {
            Some((head, month)) if month.len() == 2 && digits(month) => match head.rsplit_once('-') {
                Some((head, year)) if year.len() == 4 && digits(year) => head,
                _ => model,
            },
            _ => model,
        },
        _ => model,
    }
}

/// What an answer cost, in US dollars.
pub fn cost(price: &Price, usage: &Usage) -> f64 {
    let of = |tokens: u64, price: f64| tokens as f64 * price / 1e6;
    of(usage.input, price.input)
        + of(usage.output, price.output)
        + of(usage.cache_read, price.cache_read)
        + of(usage.cache_write, price.cache_write)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::provider::ThinkingStyle;

    #[test]
    fn the_list_parses_and_is_plausible() {
        let all: Vec<Known> = serde_json::from_str(include_str!("../../assets/models.json")).unwrap();
        assert!(all.len() > 20);
        for known in all {
            assert!(known.id.contains('/'), "{}", known.id);
            let (window, output) = (known.card.window.unwrap(), known.card.max_output.unwrap());
            assert!(window >= 8000 && output <= window, "{}", known.id);
            let price = known.card.price.unwrap();
            assert!(price.cache_read <= price.input && price.input <= price.output, "{}", known.id);
        }
    }

    #[test]
    fn dated_names_and_overrides() {
        let none = BTreeMap::new();
        assert_eq!(card("anthropic/claude-sonnet-4-5-20250929", &none).window, Some(200_000));
        assert_eq!(card("openai/gpt-5-2025-08-07", &none).window, Some(400_000));
        assert_eq!(card("local/qwen", &none), ModelCard::default(), "unknown stays unknown");
        let over = ModelCard { window: Some(32_000), ..ModelCard::default() };
        let overrides = BTreeMap::from([("openai/gpt-5".to_string(), over)]);
        let card = card("openai/gpt-5", &overrides);
        assert_eq!((card.window, card.max_output), (Some(32_000), Some(128_000)));
        assert_eq!(card.thinking, Some(ThinkingStyle::Always));
    }

    #[test]
    fn a_cost() {
        let price = Price { input: 3.0, output: 15.0, cache_read: 0.3, cache_write: 3.75 };
        let usage =
            Usage { input: 1000, output: 2000, cache_read: 10_000, cache_write: 400, reasoning: 1500 };
        assert!((cost(&price, &usage) - 0.0375).abs() < 1e-9);
    }
}
