//! The tables of `docs/dict/rocksdb-batch.md`.

use crate::records::Record;
use crate::tables::{Table, table};

pub(crate) fn tables() -> Vec<Table> {
    vec![("rocksdb-lookahead", lookahead()), ("sst-batches", batches())]
}

/// What the plugin gains by prefetching, and by remembering the last dictionaries of a thread.
fn lookahead() -> String {
    const VARIANTS: [&str; 3] = ["as it is", "always cold", "never prefetched"];
    let record = Record::read("2026-11-23-rocksdb-lookahead.csv");
    let all = record.all(&[]);
    let row = |operation: &str, pattern: &str| {
        let (name, keys) = match operation {
            "get" => ("`Get`", 1.0),
            "multiget" => ("`MultiGet` of 64, per key", 64.0),
            _ => ("iterator of 100 rows", 1.0),
        };
        let time = |variant: &&str| {
            let row = record.one(&[("operation", operation), ("pattern", pattern), ("variant", variant)]);
            format!("{:.1}", row.number("median_us") / keys)
        };
        [format!("{name}, {pattern}")].into_iter().chain(VARIANTS.iter().map(time)).collect()
    };
    let cases = all.iter().filter(|row| row.text("variant") == VARIANTS[0]);
    let rows = cases.map(|case| row(case.text("operation"), case.text("pattern"))).collect();
    table(&["operation", VARIANTS[0], VARIANTS[1], VARIANTS[2]], rows, &record.source(all[0]))
}

/// Rows of SST files one by one, and in batches of 64.
fn batches() -> String {
    let record = Record::read("2026-11-21-dict-sst.csv");
    let row = |name: &str, version: &str, [single, batch]: [&str; 2], reads: &str, files: &str| {
        let time = |way: &str| {
            let wanted = [
                ("version", version),
                ("way", way),
                ("reads", reads),
                ("files", files),
                ("checksums", "yes"),
            ];
            // The first is of the measurement beside RocksDB 7.8.3.
            record.all(&wanted)[0].number("median_us")
        };
        let (single, batch) = (time(single), time(batch));
        let change = (batch / single - 1.0) * 100.0;
        vec![name.to_owned(), format!("{single:.1}"), format!("{batch:.1}"), format!("{change:+.0} %")]
    };
    let (gets, blocks) = (["get", "multi_get"], ["decode_block", "decode_blocks"]);
    let rows = vec![
        row("RocksDB 7.8.3, `Get` and `MultiGet`, mapped", "7.8.3", gets, "mapped", "2048"),
        row("RocksDB 10.10.1, the same", "10.10.1", gets, "mapped", "2048"),
        row("linerate, `get` and `multi_get`, mapped", "0.1.0", gets, "mapped", "2048"),
        row("linerate, read at offsets", "0.1.0", gets, "pread", "2048"),
        row("linerate, blocks alone, mapped", "0.1.0", blocks, "mapped", "2048"),
        row("linerate, blocks alone, all of one file", "0.1.0", blocks, "mapped", "1"),
    ];
    let source = record.source(record.all(&[])[0]);
    table(&["", "one by one", "batches of 64", "change"], rows, &source)
}
