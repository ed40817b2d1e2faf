//! What was spent, and what fills the window: pages made from a session's accounts. Every bar has its numbers beside it,
//! so that nothing is told by colour alone.

use super::page::{self, Line};
use crate::api::account::{AgentSpent, ContextPart, Share, Spent, UsageReport};
use crate::ui::pane::conversation::count;
use crate::ui::widget::text::ellipsis;

/// Turns that are shown, the newest.
const TURNS_MAX: usize = 200;
/// Columns of what a turn is about.
const TITLE_MAX: usize = 60;

/// The page of what was spent.
pub fn usage(report: &UsageReport) -> page::State {
    let total = &report.total;
    let mut lines = vec![Line::Text(format!("{} tokens · {}", count(total.usage.total()), costs(total)))];
    if total.cost.is_none() && total.usage.total() > 0 {
        lines.push(Line::Text(
            "unknown: the price of a model is not known; `models` in settings.json can tell it".to_owned(),
        ));
    }
    if report.models.is_empty() {
        lines.push(Line::Text("Nothing was sent yet: what an answer uses stands here then.".to_owned()));
        return page::State::new("What was spent", lines);
    }
    let head = |title: &str| Line::Cells {
        name: title.to_owned(),
        cells: ["input", "cached", "written", "output", "cost"].map(str::to_owned).to_vec(),
        head: true,
    };
    let row = |name: &str, spent: &Spent| Line::Cells {
        name: ellipsis(name, TITLE_MAX).into_owned(),
        cells: vec![
            count(spent.usage.input),
            count(spent.usage.cache_read),
            count(spent.usage.cache_write),
            count(spent.usage.output),
            spent.cost.map_or("unknown".to_owned(), dollars),
        ],
        head: false,
    };
    let gap = || Line::Text(String::new());
    lines.extend([gap(), head("By model")]);
    lines.extend(report.models.iter().map(|(name, spent)| row(name, spent)));
    if report.models.len() > 1 {
        lines.push(row("in all", total));
    }
    if !report.agents.is_empty() {
        lines.extend([gap(), head("By agent")]);
        lines.extend(report.agents.iter().map(|agent| row(&named(agent), &agent.spent)));
    }
    lines.extend([gap(), head("By turn, the newest first")]);
    for (at, (title, spent)) in report.turns.iter().enumerate().rev().take(TURNS_MAX) {
        lines.push(row(&format!("{} {title}", at + 1), spent));
    }
    let more = report.turns.len().saturating_sub(TURNS_MAX);
    if more > 0 {
        lines.push(Line::Text(format!("and {more} turns before")));
    }
    lines.extend([gap(), Line::Text(WORDS.to_owned())]);
    page::State::new("What was spent", lines)
}

/// What the columns mean.
const WORDS: &str = "cached: input read from the provider's prompt cache. written: input written to it. All branches \
                     count, those you went back from too.";

fn named(agent: &AgentSpent) -> String {
    if agent.runs { format!("{} (runs: not in the sum yet)", agent.path) } else { agent.path.clone() }
}

fn costs(spent: &Spent) -> String {
    spent.cost.map_or("cost unknown".to_owned(), dollars)
}

/// Dollars; what is more than nothing shows.
fn dollars(cost: f64) -> String {
    if cost > 0.0 && cost < 0.01 { "<$0.01".to_owned() } else { format!("${cost:.2}") }
}

/// What fills the window: a bar for each part, of the window where it is known.
pub fn context(parts: &[ContextPart], window: Option<u64>, draft: &str) -> page::State {
    let total: u64 = parts.iter().map(|p| p.tokens).sum();
    let whole = window.unwrap_or(total).max(total);
    let of = match window {
        Some(window) => format!("of {window} ({}%)", total * 100 / window.max(1)),
        None => "(the window's size is unknown)".to_owned(),
    };
    let bar = |share, name: &str, part, note: &str| Line::Bar {
        name: name.to_owned(),
        part,
        of: whole,
        note: note.to_owned(),
        share,
    };
    let mut lines = vec![Line::Text(format!("about {total} tokens {of}"))];
    if !draft.is_empty() {
        lines.push(Line::Text(format!("what you are writing comes to it: {draft}")));
    }
    lines.push(Line::Text(String::new()));
    lines.extend(parts.iter().map(|p| bar(p.share, &p.name, p.tokens, &p.note)));
    if let Some(window) = window {
        lines.push(bar(Share::Rest, "free", window.saturating_sub(total), ""));
    }
    page::State::new("What fills the model's window", lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_costs_are_not_nothing() {
        assert_eq!([0.0, 0.004, 0.01, 12.345].map(dollars), ["$0.00", "<$0.01", "$0.01", "$12.35"]);
        assert_eq!(costs(&Spent { cost: None, ..Spent::default() }), "cost unknown");
    }
}
