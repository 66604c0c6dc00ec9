//! The tables of `docs/http/index.md`.

use crate::records::{Record, Row};
use crate::tables::{Table, table};

pub(crate) fn tables() -> Vec<Table> {
    vec![("http-idle", idle()), ("http-pages", pages()), ("http-events", events())]
}

/// Rows of this crate from the measurement with the library `own`, and of tower-http from that with each; a label for each.
fn labelled<'r>(
    record: &'r Record,
    own: &str,
    column: &str,
    wanted: &[(&str, &str)],
) -> Vec<(String, &'r Row)> {
    let label = |row: &Row| {
        let name = row.text(column);
        match name.strip_prefix("tower-http, ") {
            Some(quality) => Some(format!("tower-http, {quality}, {}", row.text("flate2"))),
            None => (row.text("flate2") == own).then(|| name.to_owned()),
        }
    };
    record.all(wanted).into_iter().filter_map(|row| Some((label(row)?, row))).collect()
}

/// Resident bytes of an idle response, and what its layer takes of them.
fn idle() -> String {
    let record = Record::read("2026-11-23-http-idle.csv");
    let plain =
        |flate2: &str| record.one(&[("layer", "none"), ("flate2", flate2)]).number("bytes_per_connection");
    let kilobytes = |bytes: f64| format!("{:.1} KB", bytes / 1e3);
    let all = labelled(&record, "zlib-rs", "layer", &[]);
    let rows = all.iter().map(|(label, row)| {
        let bytes = row.number("bytes_per_connection");
        vec![label.clone(), kilobytes(bytes), kilobytes(bytes - plain(row.text("flate2")))]
    });
    let own = record.one(&[("layer", "none"), ("flate2", "zlib-rs")]);
    table(&["layer", "a connection", "for compression"], rows.collect(), &record.source(own))
}

/// Bytes and CPU time of pages that are ready.
fn pages() -> String {
    beside(&["html0187_index.html", "theory.html"], &["76 KB: bytes", "us", "67 KB: bytes", "us"], 0)
}

/// Bytes and CPU time of an event.
fn events() -> String {
    let head = ["prices: bytes", "us", "tokens: bytes", "us", "posts: bytes", "us"];
    beside(&["prices", "tokens", "posts"], &head, 1)
}

/// A row for each contender, with bytes and time for each traffic.
fn beside(traffic: &[&str], head: &[&str], decimals: usize) -> String {
    let record = Record::read("2026-11-23-http-speed.csv");
    let first = labelled(&record, "zlib", "contender", &[("traffic", traffic[0])]);
    let row = |label: &str, row: &Row| {
        let mut cells = vec![label.to_owned()];
        for traffic in traffic {
            let same =
                [("traffic", *traffic), ("flate2", row.text("flate2")), ("contender", row.text("contender"))];
            let found = record.one(&same);
            cells.push(format!("{:.decimals$}", found.number("bytes_each")));
            cells.push(format!("{:.*}", 2 * decimals, found.number("cpu_us_each")));
        }
        cells
    };
    let rows = first.iter().map(|(label, found)| row(label, found)).collect();
    let head: Vec<&str> = [""].iter().chain(head).copied().collect();
    table(&head, rows, &record.source(first[0].1))
}
