//! Formats the plan for the terminal: a sentence, the command, the table of candidates, notes.

use linerate_plan::units::{rate, ratio, size};
use linerate_plan::{Plan, Row};

use crate::ui::columns::aligned;

/// Titles of the columns. The first has the settings.
const TITLES: [&str; 6] = ["", "ratio", "delivers", "per core", "cores", "memory"];

/// Returns the lines to print: the sentence, the command, the table and the notes. `all` means to
/// list all candidates.
pub(super) fn lines(plan: &Plan, notes: &[String], all: bool) -> Vec<String> {
    let mut lines = vec![plan.sentence()];
    if let Some(command) = plan.command() {
        lines.extend([String::new(), format!("  {command}")]);
    }
    lines.push(String::new());
    lines.extend(table(plan, all));
    if !notes.is_empty() {
        lines.push(String::new());
        lines.extend(notes.iter().cloned());
    }
    lines
}

fn table(plan: &Plan, all: bool) -> Vec<String> {
    let mut shown: Vec<usize> = (0..plan.rows.len()).filter(|&i| all || is_of_interest(plan, i)).collect();
    // The candidate with the largest ratio is last, as it is rightmost in the chart of ratio and
    // speed.
    shown.sort_by(|&a, &b| plan.rows[a].ratio.total_cmp(&plan.rows[b].ratio));
    let mut cells = vec![TITLES.map(str::to_owned)];
    for i in shown {
        cells.extend(plan.rows[i].by_direction().iter().map(|row| cells_of(row, mark(plan, i))));
    }
    aligned(&cells)
}

/// Whether a candidate is listed without `-v`: it wins, is tied with the winner, or is on the
/// Pareto front (no other one beats it in size or speed without being worse in the other).
fn is_of_interest(plan: &Plan, i: usize) -> bool {
    plan.rows[i].pareto || plan.winner == Some(i) || plan.ties.contains(&i)
}

fn mark(plan: &Plan, i: usize) -> char {
    match plan.winner == Some(i) {
        true => '>',
        false if plan.ties.contains(&i) => '=',
        false => ' ',
    }
}

fn cells_of(row: &Row, mark: char) -> [String; 6] {
    let per_core = row.curve.as_ref().map(|curve| rate(curve.on(1).median));
    [
        format!("{mark} {}", row.measurement.settings),
        ratio(row.ratio),
        rate(row.delivered.median),
        per_core.unwrap_or_else(|| "-".into()),
        match row.saturation {
            Some(needed) if needed.extrapolated => format!("about {}", needed.cores),
            Some(needed) => needed.cores.to_string(),
            None => "-".into(),
        },
        size(row.memory),
    ]
}
