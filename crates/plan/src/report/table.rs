//! Writes the table of all candidates.

use std::fmt::Write as _;

use super::markup::escape;
use super::{is_tie, is_winner};
use crate::budget::Goal;
use crate::measurement::Speed;
use crate::plan::{Plan, Row};
use crate::units;

/// A column: its name, and for each row the text in large type, and the text in small type below.
/// Missing values are empty.
type Column = (&'static str, fn(&Row) -> String, fn(&Row) -> String);

const COLUMNS: &[Column] = &[
    ("Ratio", |row| units::ratio(row.ratio), nothing),
    (
        "Delivers",
        |row| if row.delivered.median > 0.0 { units::rate(row.delivered.median) } else { String::new() },
        bound,
    ),
    (
        "Speed",
        |row| row.speed.map_or_else(String::new, |speed| units::rate(speed.median)),
        |row| row.speed.map_or_else(String::new, spread),
    ),
    ("Required", |row| units::rate(row.required), nothing),
    ("Cores to saturate", saturation, nothing),
    (
        "Saved per core-second",
        |row| if row.speed.is_some() { units::rate(row.saved_per_core_second) } else { String::new() },
        nothing,
    ),
    (
        "Memory per stream",
        |row| if row.plain { String::new() } else { units::size(row.measurement.memory.per_stream) },
        |row| match row.plain {
            true => String::new(),
            false => format!("per thread {}", units::size(row.measurement.memory.per_thread)),
        },
    ),
];

const PRODUCT_COLUMNS: &[Column] = &[("Delivers times ratio", product, nothing)];

const READ_COLUMNS: &[Column] = &[(
    "Random read",
    |row| row.measurement.read.map_or_else(String::new, |read| units::time(read.seconds)),
    |row| match (row.measurement.read, row.reads) {
        (Some(read), Some(reads)) => {
            format!("fetches {}, {:.0} per second", units::size(read.fetched as u64), reads.per_second)
        }
        _ => String::new(),
    },
)];

fn nothing(_: &Row) -> String {
    String::new()
}

fn product(row: &Row) -> String {
    if row.delivered.median > 0.0 { units::rate(row.product()) } else { String::new() }
}

fn bound(row: &Row) -> String {
    if row.speed.is_some() || row.plain { format!("bound by {}", row.bound.name()) } else { String::new() }
}

/// Returns the table. It has a column with what the goal compares if that is the product of two
/// other columns, and one for random reads if any were measured.
pub(super) fn html(plan: &Plan) -> String {
    let with_reads = plan.rows.iter().any(|row| row.reads.is_some());
    let with_product = plan.budget.goal == Goal::Balance;
    let columns = || {
        let first = if with_product { PRODUCT_COLUMNS } else { &[] };
        first.iter().chain(COLUMNS).chain(if with_reads { READ_COLUMNS } else { &[] })
    };
    let mut html = format!(
        "<table class=\"all\">\n<caption class=\"hidden\">All candidates; speeds on {}</caption>\n<thead><tr><th scope=\"col\">Candidate</th>",
        units::cores(plan.budget.cores)
    );
    for (name, ..) in columns() {
        let _ = write!(html, "<th scope=\"col\">{name}</th>");
    }
    html.push_str("<th scope=\"col\">Remark</th></tr></thead>\n<tbody>\n");
    for (i, row) in plan.rows.iter().enumerate() {
        let class = if is_winner(plan, i) { " class=\"winner\"" } else { "" };
        for row in row.by_direction() {
            let _ = write!(html, "<tr{class}><th scope=\"row\">{}</th>", escape(&name(&row)));
            for (_, text, below) in columns() {
                let small = below(&row);
                let small =
                    if small.is_empty() { small } else { format!("<small>{}</small>", escape(&small)) };
                let _ = write!(html, "<td>{}{small}</td>", escape(&text(&row)));
            }
            let _ = writeln!(html, "<td class=\"remark\">{}</td></tr>", escape(&remark(plan, i)));
        }
    }
    html.push_str("</tbody></table>\n");
    html
}

fn name(row: &Row) -> String {
    match row.measurement.engine.as_str() {
        "" => row.measurement.settings.clone(),
        engine if row.measurement.settings.starts_with(engine) => row.measurement.settings.clone(),
        engine => format!("{engine}: {}", row.measurement.settings),
    }
}

fn spread(speed: Speed) -> String {
    format!("{} to {}", units::rate(speed.low), units::rate(speed.high))
}

fn saturation(row: &Row) -> String {
    match row.saturation {
        Some(found) => found.text(),
        None if row.plain => "0".into(),
        None if row.speed.is_some() => "not reachable".into(),
        None => String::new(),
    }
}

fn remark(plan: &Plan, i: usize) -> String {
    let row = &plan.rows[i];
    let chosen = is_winner(plan, i).then(|| "chosen".to_owned());
    let tie = is_tie(plan, i).then(|| "tie with the chosen one".to_owned());
    let front = (row.pareto && row.speed.is_some()).then(|| "on the Pareto front".to_owned());
    let estimate = row.extrapolated.then(|| "more cores than threads measured: an estimate".to_owned());
    let excluded = row.excluded.map(|why| why.to_string());
    [chosen, tie, front, estimate, excluded].into_iter().flatten().collect::<Vec<_>>().join("; ")
}
