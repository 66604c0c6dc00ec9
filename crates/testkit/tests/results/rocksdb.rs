//! The table of the plugin for RocksDB.

use crate::records::{Record, Row};
use crate::tables::{Table, table};

pub(crate) fn tables() -> Vec<Table> {
    vec![("rocksdb", operations())]
}

/// The database and the reads of a row.
fn case(row: &Row) -> String {
    let number = |column: &str| row.number(column);
    let compression = match row.text("compression") {
        "kNoCompression" => "uncompressed",
        name => name.trim_start_matches('k').trim_end_matches("Compression"),
    };
    let dictionary = match number("dictionary") {
        0.0 => "no dictionary".to_owned(),
        bytes => format!("dictionary of {:.0} KiB", bytes / 1024.0),
    };
    let cache = match row.text("cache") {
        "0" => String::new(),
        share => format!(", cache for {share} %"),
    };
    format!(
        "{}, {} files, {compression}, {dictionary}, blocks of {:.0} KiB, {}{cache}",
        row.text("kind"),
        row.text("files"),
        number("block") / 1024.0,
        row.text("reads"),
    )
}

/// Reads through the plugin, beside RocksDB's own decompressor and libzstd with digested dictionaries.
fn operations() -> String {
    let record = Record::read("2026-11-23-rocksdb.csv");
    let rows = record.all(&[("contender", "linerate")]).into_iter().map(|ours| {
        let command = ours.text("command");
        let median = |contender: &str| {
            record.latest(&[("command", command), ("contender", contender)]).number("median_us")
        };
        let [builtin, digested, linerate] = ["builtin", "digested", "linerate"].map(median);
        let operation = match ours.text("operation") {
            "get" => "`Get`",
            "multiget" => "`MultiGet` of 64",
            _ => "iterator, 100 rows",
        };
        vec![
            operation.to_owned(),
            case(ours),
            format!("{builtin:.1}"),
            format!("{digested:.1}"),
            format!("{linerate:.1}"),
            format!("{:.2}", builtin / linerate),
            format!("{:.2}", digested / linerate),
        ]
    });
    let head = [
        "operation",
        "data",
        "built-in, µs",
        "digested libzstd, µs",
        "Linerate, µs",
        "times built-in",
        "times digested",
    ];
    let any = record.all(&[])[0];
    let source = format!("{}; RocksDB {}", record.source(any), any.text("rocksdb"));
    table(&head, rows.collect(), &source)
}
