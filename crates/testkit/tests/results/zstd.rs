//! The tables of zstd frames.

use crate::records::Record;
use crate::tables::{Table, table};

pub(crate) fn tables() -> Vec<Table> {
    vec![("zstd-size", size()), ("zstd-command", command())]
}

/// Small programs around zstd decoders: code in KB, and decoding speed in MB/s.
fn size() -> String {
    let record = Record::read("2026-11-23-zstd-size.csv");
    let files = ["dickens", "nci"];
    let rows = record.all(&[("file", files[0])]).into_iter().map(|row| {
        let [decoder, features, level] = ["decoder", "features", "opt_level"].map(|column| row.text(column));
        let same = |file: &str| {
            let wanted = [("decoder", decoder), ("features", features), ("opt_level", level), ("file", file)];
            format!("{:.0}", record.one(&wanted).number("mb_s"))
        };
        let name = match decoder {
            "linerate-zstd" => "**linerate-zstd**".to_owned(),
            other => format!("{other} {}", row.text("version")),
        };
        vec![
            name,
            if features.is_empty() { String::new() } else { format!("`{features}`") },
            level.to_owned(),
            format!("{:.1}", row.number("code_bytes") / 1000.0),
            same(files[0]),
            same(files[1]),
        ]
    });
    let head = ["decoder", "feature", "`opt-level`", "code, KB", "dickens, MB/s", "nci, MB/s"];
    table(&head, rows.collect(), &record.source(record.all(&[])[0]))
}

/// The command beside Debian's `zstd`: CPU time and elapsed time, ours by theirs, the median of pairs.
fn command() -> String {
    let record = Record::read("2026-11-23-zstd-command.csv");
    let rows = record.all(&[]).into_iter().map(|row| {
        let pair = |ours: &str, theirs: &str, by: &str| {
            let [ours, theirs, by] = [ours, theirs, by].map(|column| row.number(column));
            format!("{ours:.2} · {theirs:.2} · {by:.2}")
        };
        let bytes = row.number("linerate_bytes") / row.number("zstd_bytes");
        vec![
            format!("`{}` {}", row.text("options"), row.text("file")),
            pair("linerate_cpu_s", "zstd_cpu_s", "cpu_by_zstd"),
            pair("linerate_wall_s", "zstd_wall_s", "wall_by_zstd"),
            format!("{bytes:.4}"),
        ]
    });
    let any = record.all(&[])[0];
    let head = ["", "CPU time: ours, `zstd`, by `zstd`", "elapsed", "output by that of `zstd`"];
    let source =
        format!("{}; zstd {}; libzstd here {}", record.source(any), any.text("zstd"), any.text("libzstd"));
    table(&head, rows.collect(), &source)
}
