//! The tables of dictionaries.

use crate::records::Record;
use crate::tables::{Table, table};

pub(crate) fn tables() -> Vec<Table> {
    vec![("cold", cold()), ("cold-stock", stock())]
}

/// Block, dictionary, number of dictionaries, and the published cold speed by hot speed before and after the patches.
const GRID: &[(&str, &str, &str, &str)] = &[
    ("1K", "4K", "9954", "36 → 58"),
    ("1K", "8K", "9954", "35 → 58"),
    ("1K", "12K", "9954", "35 → 56"),
    ("1K", "110K", "9954", "33 → 40"),
    ("4K", "4K", "2489", "68 → 81"),
    ("4K", "8K", "2489", "64 → 81"),
    ("4K", "12K", "2489", "61 → 80"),
    ("4K", "110K", "2489", "37 → 53"),
    ("8K", "4K", "1245", "91 → 93"),
    ("8K", "8K", "1245", "87 → 91"),
    ("8K", "12K", "1245", "83 → 90"),
    ("8K", "110K", "1245", "47 → 68"),
    ("4K", "8K", "30000", ""),
    ("4K", "110K", "30000", ""),
];

/// Text through very many dictionaries: cold speed in % of the contender's own hot speed, and in MB/s.
fn cold() -> String {
    let record = Record::read("2026-11-21-dict-cold.csv");
    let rows = GRID.iter().map(|&(block, dictionary, count, published)| {
        let run = [
            ("measure", "cold"),
            ("kind", "text"),
            ("block", block),
            ("dictionary", dictionary),
            ("dictionaries", count),
            ("tables", "full"),
            ("command", "linerate-bench cold --rounds 5"),
        ];
        let of = |contender: &str, mode: &str, calls: &str| {
            record.one(&[&run[..], &[("contender", contender), ("mode", mode), ("calls", calls)]].concat())
        };
        let share = |contender: &str, calls: &str| {
            let row = of(contender, "cold", calls);
            format!("{:.0} % · {:.0}", 100.0 * row.number("share"), row.number("best_mb_s"))
        };
        let memory = |contender: &str| of(contender, "cold", "single").number("beside_bytes") / 1024.0;
        vec![
            format!("{block}, {dictionary}, {count}"),
            published.to_owned(),
            format!("{:.0}", of("libzstd", "hot", "single").number("best_mb_s")),
            format!("{:.0}", of("libzstd", "none", "single").number("best_mb_s")),
            share("libzstd", "single"),
            share("libzstd", "burst"),
            share("linerate", "single"),
            share("linerate", "batch 64"),
            format!("{:.1}, {:.1}", memory("linerate"), memory("libzstd")),
        ]
    });
    let rows = rows.collect();
    let head = [
        "block, dictionary, dictionaries",
        "published 2018, %",
        "libzstd hot",
        "no dictionary",
        "libzstd cold",
        "libzstd cold, prefetched",
        "**linerate** cold, one by one",
        "**linerate** cold, batches of 64",
        "KiB for each beside its content: linerate, libzstd",
    ];
    let any = record.all(&[("command", "linerate-bench cold --rounds 5")])[0];
    table(&head, rows, &record.source(any))
}

/// Data, block, dictionary and number of dictionaries of a cold run.
const COLD_RUNS: [[&str; 4]; 10] = [
    ["JSON", "1K", "8K", "30000"],
    ["JSON", "4K", "8K", "2500"],
    ["JSON", "4K", "8K", "30000"],
    ["JSON", "8K", "8K", "30000"],
    ["JSON", "4K", "110K", "30000"],
    ["text", "1K", "8K", "30000"],
    ["text", "4K", "8K", "2500"],
    ["text", "4K", "8K", "30000"],
    ["text", "8K", "8K", "30000"],
    ["text", "4K", "110K", "30000"],
];

/// Cold blocks beside the fastest way to use stock libzstd, one by one and with the next blocks known.
fn stock() -> String {
    let record = Record::read("2026-11-23-dict-cold.csv");
    let command = ("command", "linerate bench cold --data json,text --rounds 3");
    let rows = COLD_RUNS.map(|[kind, block, dictionary, count]| {
        let run = [
            ("kind", kind),
            ("block", block),
            ("dictionary", dictionary),
            ("dictionaries", count),
            ("tables", "full"),
            ("mode", "cold"),
            command,
        ];
        let speed = |contender, calls| {
            record
                .one(&[&run[..], &[("contender", contender), ("calls", calls)]].concat())
                .number("best_mb_s")
        };
        let best = |ways: &[&'static str]| {
            let speeds = ways.iter().map(|&calls| (speed("libzstd", calls), calls));
            speeds.max_by(|a, b| a.0.total_cmp(&b.0)).expect("a way")
        };
        let (one, one_way) = best(&["single", "copy", "raw", "raw copy"]);
        let (ahead, ahead_way) = best(&["burst", "copy burst", "raw copy burst"]);
        let (ours, batch) = (speed("linerate", "single"), speed("linerate", "batch 64"));
        vec![
            format!("{kind} {block}, {count} of {dictionary}"),
            format!("{one:.0} ({one_way})"),
            format!("{ours:.0} · {:.2}", ours / one),
            format!("{ahead:.0} ({ahead_way})"),
            format!("{batch:.0} · {:.2}", batch / ahead.max(one)),
        ]
    });
    let head = [
        "blocks, dictionaries",
        "libzstd, one by one",
        "**linerate**, one by one",
        "libzstd, prefetched",
        "**linerate**, batches of 64",
    ];
    table(&head, rows.into(), &record.source(record.all(&[command])[0]))
}
