//! The table of packages: what `make dist` made, and where `make dist-check` ran it.

use crate::records::{Record, Row};
use crate::tables::{Table, table};

pub(crate) fn tables() -> Vec<Table> {
    vec![("packages", packages())]
}

/// Each package with its size, and where it was installed and the example of its page run.
fn packages() -> String {
    let record = Record::read("2026-11-24-packages.csv");
    let row = |row: &Row| {
        let target = row.text("target");
        vec![
            format!("`{}`", row.text("package")),
            if target.is_empty() { String::new() } else { format!("`{target}`") },
            format!("{:.3} MB", row.number("bytes") / 1e6),
            row.text("installed").to_owned(),
        ]
    };
    let mut rows = record.all(&[]);
    rows.sort_by_key(|row| (row.text("kind"), row.text("package")));
    let head = ["package", "target", "size", "installed, its example run"];
    table(&head, rows.into_iter().map(row).collect(), &record.source(record.latest(&[])))
}
