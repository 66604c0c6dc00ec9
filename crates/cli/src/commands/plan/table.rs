//! Formats the plan for the terminal: a sentence, the commands, the table of candidates, notes.

use linerate_plan::units::{rate, ratio, size};
use linerate_plan::{Direction, Goal, Plan, Row, Saturation};

use crate::ui::columns::aligned;

/// A column after that of the settings: its title, and the text of a row.
type Column = (&'static str, fn(&Row) -> String);

const RATIO: Column = ("ratio", |row| ratio(row.ratio));
const DELIVERS: Column = ("delivers", |row| rate(row.delivered.median));
const PRODUCT: Column = ("product", |row| rate(row.product()));
const PER_CORE: Column =
    ("per core", |row| row.curve.as_ref().map_or_else(|| "-".into(), |curve| rate(curve.on(1).median)));
const CORES: Column = ("cores", |row| row.saturation.map_or_else(|| "-".into(), Saturation::text));
/// Speed of encoding on all cores that were measured.
const ENCODES: Column = ("encodes", |row| {
    let measured = row.measurement.encode_scaling.last().map(|point| point.speed);
    measured.or(row.measurement.encode).map_or_else(|| "-".into(), |speed| rate(speed.median))
});
const MEMORY: Column = ("memory", |row| size(row.memory));

/// Returns the columns. Names of settings have up to 60 characters, so only those that matter for
/// this plan are listed: the product of `delivers` and `ratio` if the goal compares it, the speed of
/// encoding if the plan is for reading, and memory if that is limited or `all` is set.
fn columns(plan: &Plan, all: bool) -> Vec<Column> {
    let product = (plan.budget.goal == Goal::Balance).then_some(PRODUCT);
    let memory = (all || plan.budget.memory_per_stream.is_some()).then_some(MEMORY);
    let encodes = (plan.pipe.direction == Direction::Read).then_some(ENCODES);
    let first = [RATIO, DELIVERS].into_iter().chain(product).chain([PER_CORE, CORES]);
    first.chain(encodes).chain(memory).collect()
}

/// Returns the lines to print: the sentence, the commands that encode and decode, the table and the
/// notes. `all` means to list all candidates and columns.
pub(super) fn lines(plan: &Plan, notes: &[String], all: bool) -> Vec<String> {
    let mut lines = vec![plan.sentence()];
    if let Some(command) = plan.command() {
        lines.extend([String::new(), format!("  {command}")]);
        // Not below the first command: whoever copies both lines would decode at once, and be told that
        // all files exist.
        let decoding = |command| [String::new(), format!("To decode, where the files are not: {command}")];
        lines.extend(plan.decode_command().into_iter().flat_map(decoding));
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
    let columns = columns(plan, all);
    let titles = columns.iter().map(|column| column.0.to_owned());
    let mut cells = vec![[String::new()].into_iter().chain(titles).collect::<Vec<_>>()];
    for i in shown {
        for row in plan.rows[i].by_direction() {
            let settings = format!("{} {}", mark(plan, i), row.measurement.settings);
            cells.push([settings].into_iter().chain(columns.iter().map(|column| column.1(&row))).collect());
        }
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
