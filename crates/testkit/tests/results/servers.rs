//! The tables of `docs/servers.md`.

use crate::records::{Record, Row};
use crate::tables::{Table, table};

const LIBRARIES: [&str; 3] = ["zlib 1.2.13", "linerate", "zlib-ng 2.3.3"];

pub(crate) fn tables() -> Vec<Table> {
    vec![
        ("servers-nginx", pages("2026-11-23-servers-nginx.csv")),
        ("servers-nginx-memory", memory("2026-11-23-servers-nginx.csv")),
        ("servers-apache", pages("2026-11-23-servers-apache.csv")),
        ("servers-haproxy", haproxy("2026-11-23-servers-haproxy.csv")),
    ]
}

/// CPU time and size of each page with each library, and our CPU time by zlib's.
fn pages(name: &'static str) -> String {
    let record = Record::read(name);
    let all = record.all(&[("library", LIBRARIES[0])]);
    let row = |base: &Row| {
        let (level, page) = (base.text("level"), base.text("page_bytes"));
        let mut cells = vec![page.to_owned(), level.to_owned()];
        let of = |library| record.one(&[("library", library), ("level", level), ("page_bytes", page)]);
        for library in LIBRARIES {
            cells.push(format!("{:.0}", of(library).number("cpu_us")));
            cells.push(of(library).text("body_bytes").to_owned());
        }
        cells.push(format!("{:.2}", of(LIBRARIES[1]).number("cpu_us") / base.number("cpu_us")));
        cells
    };
    let head = [
        "page",
        "level",
        "zlib: µs",
        "bytes",
        "linerate: µs",
        "bytes",
        "zlib-ng: µs",
        "bytes",
        "linerate by zlib",
    ];
    table(&head, all.iter().map(|base| row(base)).collect(), &record.source(all[0]))
}

/// Resident memory of a slow client, and the alerts of the log.
fn memory(name: &'static str) -> String {
    let record = Record::read(name);
    let page = record.all(&[])[0].text("page_bytes");
    let all = record.all(&[("page_bytes", page)]);
    let cells = |row: &&Row| {
        ["library", "level", "slow_client_kb", "alerts"].map(|column| row.text(column).to_owned())
    };
    let rows = all.iter().map(|row| cells(row).to_vec()).collect();
    table(&["", "level", "kB of a slow client", "alerts"], rows, &record.source(all[0]))
}

fn haproxy(name: &'static str) -> String {
    let record = Record::read(name);
    // Of several runs the last.
    let command = record.latest(&[]).text("command");
    let all = record.all(&[("date", record.latest(&[]).text("date")), ("command", command)]);
    let row = |row: &&Row| {
        let megabytes = |column| format!("{:.0}", row.number(column) / 1e6);
        vec![
            format!("{}, level {}", row.text("library"), row.text("level")),
            row.text("limit").to_owned(),
            megabytes("bytes_in"),
            megabytes("bytes_out"),
            format!("{} %", row.text("saved_percent")),
            format!("{:.2}", row.number("bytes_in") / row.number("bytes_out")),
            row.text("cpu_us").to_owned(),
            row.text("pages_per_cpu_s").to_owned(),
            format!("{:.0}", row.number("resident_kb") / 1e3),
        ]
    };
    let head = ["", "limit", "MB in", "MB out", "saved", "ratio", "CPU, µs", "hits per CPU s", "MB resident"];
    table(&head, all.iter().map(row).collect(), &record.source(all[0]))
}
