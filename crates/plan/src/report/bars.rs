//! Draws the bar charts: the cores that saturate the pipe, and the memory, of at most `MAX_BARS`
//! candidates.

use std::fmt::Write as _;

use super::markup::escape;
use super::{is_tie, is_winner, short_name};
use crate::plan::{Plan, Row};
use crate::units;

/// Longest bar in the chart of cores, as a multiple of the cores in the budget. Longer bars are cut
/// off; the text beside each bar has its number.
const MAX_BUDGETS: f64 = 4.0;
/// Largest number of bars of a chart. The table has all candidates.
const MAX_BARS: usize = 12;

/// Returns a table with a bar for each of the `shown` candidates: the cores that saturate the pipe.
pub(super) fn cores(plan: &Plan) -> String {
    let rows = shown(plan);
    let needed = |i: usize| plan.rows[i].saturation.map(|saturation| saturation.cores);
    let budget = plan.budget.cores as f64;
    let most = rows.iter().filter_map(|i| needed(*i)).max().unwrap_or(1) as f64;
    let end = most.min(budget * MAX_BUDGETS).max(budget * 1.25);
    let mark = budget / end * 100.0;

    let mut html = String::from(
        "<table class=\"bars\">\n<caption class=\"hidden\">Cores that saturate the pipe</caption>\n",
    );
    for i in rows {
        let row = &plan.rows[i];
        let (width, text) = match row.saturation {
            Some(found) => (found.cores as f64 / end * 100.0, found.text()),
            None => (100.0, "not reachable".to_owned()),
        };
        let enough = needed(i).is_some_and(|cores| cores <= plan.budget.cores);
        let class = if enough { "bar" } else { "bar short" };
        let cut = if width > 100.0 || row.saturation.is_none() { " cut" } else { "" };
        let bar = format!(r#"<span class="{class}{cut}" style="width:{:.1}%"></span>"#, width.min(100.0));
        bar_row(
            &mut html,
            plan,
            i,
            &format!(r#"<span class="track">{bar}<span class="mark" style="left:{mark:.1}%"></span></span>"#),
            &text,
        );
    }
    html.push_str("</table>\n");
    html
}

/// Returns a table with a bar for each of the `shown` candidates: its memory. Empty if all memory
/// is zero.
pub(super) fn memory(plan: &Plan) -> String {
    let rows = shown(plan);
    let limit = plan.budget.memory_per_stream.unwrap_or(0);
    let most = rows.iter().map(|i| plan.rows[*i].memory).max().unwrap_or(0).max(limit);
    if rows.iter().all(|i| plan.rows[*i].memory == 0) {
        return String::new();
    }
    let percent = |bytes: u64| bytes as f64 / most as f64 * 100.0;
    let mut html = String::from("<table class=\"bars\">\n<caption class=\"hidden\">Memory</caption>\n");
    for i in rows {
        let row = &plan.rows[i];
        let memory = row.measurement.memory;
        let mut track = format!(
            r#"<span class="track"><span class="bar stream" style="width:{:.1}%"></span><span class="bar thread" style="width:{:.1}%"></span>"#,
            percent(memory.per_stream),
            percent(row.memory.saturating_sub(memory.per_stream))
        );
        if limit > 0 {
            let _ = write!(track, r#"<span class="mark" style="left:{:.1}%"></span>"#, percent(limit));
        }
        track.push_str("</span>");
        bar_row(&mut html, plan, i, &track, &memory_text(row));
    }
    html.push_str("</table>\n");
    html
}

fn memory_text(row: &Row) -> String {
    let memory = row.measurement.memory;
    format!("{} + {} \u{d7} {}", units::size(memory.per_stream), row.cores, units::size(memory.per_thread))
}

fn bar_row(html: &mut String, plan: &Plan, i: usize, track: &str, text: &str) {
    let class = if is_winner(plan, i) { " class=\"winner\"" } else { "" };
    let name = escape(short_name(&plan.rows[i]));
    let _ = writeln!(
        html,
        "<tr{class}><th scope=\"row\">{name}</th><td>{track}</td><td class=\"value\">{text}</td></tr>"
    );
}

/// Returns the indexes of the rows that get bars, in ascending order: candidates that have a speed
/// and can be chosen, and those that only memory excludes. If there are more than `MAX_BARS`, the
/// winner, ties and the Pareto front are preferred, in this order.
fn shown(plan: &Plan) -> Vec<usize> {
    let is_shown = |i: &usize| {
        let row = &plan.rows[*i];
        row.speed.is_some() && (row.excluded.is_none() || row.bound == crate::plan::Bound::Memory)
    };
    let mut rows: Vec<usize> = (0..plan.rows.len()).filter(is_shown).collect();
    rows.sort_by_key(|i| (!is_winner(plan, *i), !is_tie(plan, *i), !plan.rows[*i].pareto));
    rows.truncate(MAX_BARS);
    rows.sort_unstable();
    rows
}
