//! The tables of platforms: what `scripts/foreign.sh` ran where.

use std::collections::BTreeMap;

use crate::records::{Record, Row};
use crate::tables::{Table, table};

const RECORD: &str = "2026-11-24-platforms.csv";

/// Targets and their names.
const TARGETS: &[(&str, &str)] = &[
    ("aarch64-unknown-linux-gnu", "Linux, ARM64"),
    ("i686-unknown-linux-gnu", "Linux, x86 of 32 bits"),
    ("x86_64-unknown-linux-musl", "Linux, static with musl"),
    ("x86_64-pc-windows-gnu", "Windows, x86-64"),
    ("wasm32-wasip1", "WebAssembly, WASI 0.1"),
];

pub(crate) fn tables() -> Vec<Table> {
    let record = Record::read(RECORD);
    vec![("platforms", platforms(&record)), ("platforms-packages", packages(&record))]
}

/// The latest row of each package.
fn latest<'r>(record: &'r Record, target: &str) -> BTreeMap<&'r str, &'r Row> {
    record.all(&[("target", target)]).into_iter().map(|row| (row.text("package"), row)).collect()
}

/// The targets that were run, with the latest rows of their packages.
fn targets(record: &Record) -> impl Iterator<Item = (&'static str, &'static str, BTreeMap<&str, &Row>)> {
    let all = TARGETS.iter().map(|&(target, name)| (target, name, latest(record, target)));
    all.filter(|(.., rows)| !rows.is_empty())
}

/// Each target: what runs its programs, when, and how many tests of how many packages passed.
fn platforms(record: &Record) -> String {
    let row = |(target, name, rows): (&str, &str, BTreeMap<&str, &Row>)| {
        let sum = |column| rows.values().map(|row| row.number(column)).sum::<f64>();
        let any = rows.values().max_by_key(|row| row.text("date")).expect("a row");
        vec![
            name.to_owned(),
            format!("`{target}`"),
            any.text("runner").to_owned(),
            any.text("date").to_owned(),
            rows.len().to_string(),
            sum("passed").to_string(),
            sum("failed").to_string(),
        ]
    };
    let head = ["", "target", "run by", "on", "packages", "tests passed", "failed"];
    table(&head, targets(record).map(row).collect(), &record.source(record.latest(&[])))
}

/// Tests passed by each package on each target, and how many were skipped for want of something there.
fn packages(record: &Record) -> String {
    let found: Vec<_> = targets(record).collect();
    let mut names: Vec<&str> = found.iter().flat_map(|(.., rows)| rows.keys().copied()).collect();
    names.sort_unstable();
    names.dedup();
    let cell = |row: &&Row| {
        let without = row.number("ignored") + row.number("skipped");
        let passed = row.text("passed");
        let mut cell = passed.to_owned();
        for (count, what) in [(row.number("failed"), "failed"), (without, "skipped")] {
            if count > 0.0 {
                cell.push_str(&format!(", {count} {what}"));
            }
        }
        cell
    };
    let row = |name: &&str| {
        let cells = found.iter().map(|(.., rows)| rows.get(name).map_or_else(String::new, cell));
        [format!("`{name}`")].into_iter().chain(cells).collect()
    };
    let head: Vec<&str> = [""].into_iter().chain(found.iter().map(|(_, name, _)| *name)).collect();
    table(&head, names.iter().map(row).collect(), &record.source(record.latest(&[])))
}
