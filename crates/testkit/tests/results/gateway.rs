//! The tables of message streams.

use crate::records::{Record, Row};
use crate::tables::{Table, table};

pub(crate) fn tables() -> Vec<Table> {
    vec![
        ("gateway", gateway()),
        ("gateway-java", java()),
        ("gateway-start-up", start_up()),
        ("gateway-guild", guild()),
        ("gateway-day", day()),
    ]
}

/// Native decoders: nanoseconds a message, by the base of the transport.
fn gateway() -> String {
    let record = Record::read("2026-11-21-gateway-native.csv");
    let contenders = [
        ("zlib-stream", "linerate"),
        ("zlib-stream", "zlib-rs"),
        ("zlib-stream", "zlib-ng"),
        ("zlib-stream", "zlib"),
        ("zstd-stream", "linerate"),
        ("zstd-stream", "libzstd"),
        ("zstd-stream", "libzstd 8K"),
    ];
    let data = "generated: seed 1, shards 3, guilds 120, events 2500";
    let rows = contenders.map(|(transport, contender)| {
        let measured = ["whole", "live", "many"].map(|measure| {
            let wanted =
                [("measure", measure), ("data", data), ("transport", transport), ("contender", contender)];
            let row = record.one(&wanted);
            format!("{:.0} · {:.2}", row.number("median_ns"), row.number("speed_vs_base"))
        });
        let first = [format!("{transport}: {contender}")];
        first.into_iter().chain(measured).collect()
    });
    let any = record.all(&[("data", data)])[0];
    let head = ["", "start-up: whole connections", "live traffic", "2,500 connections in turn"];
    table(&head, rows.into(), &record.source(any))
}

/// A connection with one guild.
fn guild() -> String {
    let record = Record::read("2026-11-23-gateway-guild.csv");
    let contenders = [
        ("zlib-stream", "linerate"),
        ("zlib-stream", "zlib-rs"),
        ("zstd-stream", "linerate"),
        ("zstd-stream", "libzstd"),
    ];
    let rows = contenders.map(|(transport, contender)| {
        let measured = ["whole", "live", "many"].map(|measure| {
            let row = record.one(&[("measure", measure), ("transport", transport), ("contender", contender)]);
            format!("{:.0} · {:.2}", row.number("median_ns"), row.number("speed_vs_base"))
        });
        let first = [format!("{transport}: {contender}")];
        first.into_iter().chain(measured).collect()
    });
    let head = ["", "whole connection", "live traffic", "2,500 connections in turn"];
    table(&head, rows.into(), &record.source(record.all(&[])[0]))
}

/// A day of 2,500 connections in three sets; times in nanoseconds become microseconds.
fn day() -> String {
    let record = Record::read("2026-11-23-gateway-day.csv");
    let sets = ["A: zlib-stream 8 KiB", "B: zstd-stream 8 KiB", "C: zstd-stream 128 KiB"];
    let rows = sets.map(|set| {
        let row = record.one(&[("set", set), ("hour", "")]);
        let time = |column: &str| format!("{:.1}", row.number(column) / 1e3);
        let (payload, compressed) = (row.number("payload"), row.number("compressed"));
        vec![
            set.to_owned(),
            format!("{:.2}", payload / compressed),
            format!("{:.0}", payload / row.number("decode_ns") * 1e3),
            format!("{} · {} · {} · {}", time("median_ns"), time("p90_ns"), time("p99_ns"), time("p999_ns")),
        ]
    });
    let head = ["", "ratio", "MB/s", "median · 90 % · 99 % · 99.9 %, microseconds"];
    table(&head, rows.into(), &record.source(record.all(&[])[0]))
}

/// Ten connections in Java, with and without parsing.
fn java() -> String {
    let record = Record::read("2026-11-21-gateway-java.csv");
    let contenders = [
        ("zlib-stream", "JDK bulk, as JDA"),
        ("zlib-stream", "JDK stream"),
        ("zlib-stream", "linerate bulk"),
        ("zlib-stream", "linerate reusable"),
        ("zlib-stream", "linerate stream"),
        ("zstd-stream", "zstd-jni stream"),
        ("zstd-stream", "zstd-jni direct"),
        ("zstd-stream", "linerate bulk"),
        ("zstd-stream", "linerate reusable"),
        ("zstd-stream", "linerate stream"),
    ];
    let rows = contenders.map(|(transport, contender)| {
        let run = |work: &str| {
            let wanted = [
                ("scenario", "10 shards"),
                ("transport", transport),
                ("contender", contender),
                ("work", work),
                ("jdk", "Debian 17.0.15+6-Debian-1deb12u1"),
            ];
            let row = record.one(&wanted);
            format!(
                "{:.1} · {:.2} · {:.1}",
                row.number("median_us_per_message"),
                row.number("vs_jdk_bulk"),
                row.number("allocated_bytes_per_message") / 1000.0
            )
        };
        vec![format!("{transport}: {contender}"), run("bytes"), run("Jackson tree")]
    });
    let any = record.all(&[("scenario", "10 shards"), ("jdk", "Debian 17.0.15+6-Debian-1deb12u1")])[0];
    table(&["", "bytes", "parsed by Jackson"], rows.into(), &record.source(any))
}

/// Ten connections' start-up into JDA's `DataObject`: time and allocation, and both relative to JDA's own, beside what
/// discord-zstd-java publishes of its forms.
fn start_up() -> String {
    let record = Record::read("2026-11-23-gateway-start-up.csv");
    let jda = record.one(&[("contender", "JDK bulk, as JDA")]);
    let total = |row: &Row, column: &str| row.number(column) * row.number("messages");
    let less = |row: &Row, column: &str| {
        let percent = 100.0 * (total(row, column) / total(jda, column) - 1.0);
        format!("{percent:+.0} %").replace('-', "\u{2212}")
    };
    let contenders = [
        ("", "parsing alone", ["", ""]),
        ("zlib-stream", "JDK bulk, as JDA", ["0 %", "0 %"]),
        ("zlib-stream", "JDK stream", ["\u{2212}10 %", "\u{2212}48 %"]),
        ("zlib-stream", "linerate bulk", ["", ""]),
        ("zlib-stream", "linerate reusable", ["", ""]),
        ("zlib-stream", "linerate stream", ["", ""]),
        ("zstd-stream", "zstd-jni bulk", ["\u{2212}30 %", "\u{2212}35 %"]),
        ("zstd-stream", "zstd-jni stream", ["\u{2212}31 %", "\u{2212}48 %"]),
        ("zstd-stream", "linerate bulk", ["", ""]),
        ("zstd-stream", "linerate reusable", ["", ""]),
        ("zstd-stream", "linerate stream", ["", ""]),
    ];
    let rows = contenders.map(|(transport, contender, published)| {
        let row = record.one(&[("transport", transport), ("contender", contender)]);
        let name =
            if transport.is_empty() { contender.to_owned() } else { format!("{transport}: {contender}") };
        let seconds = total(row, "median_us_per_message") / 1e6;
        let megabytes = total(row, "allocated_bytes_per_message") / 1e6;
        let measured = [format!("{seconds:.2}"), less(row, "median_us_per_message")];
        let garbage = [format!("{megabytes:.0}"), less(row, "allocated_bytes_per_message")];
        let [time, allocated] = published.map(String::from);
        let cells = [name].into_iter().chain(measured).chain([time]).chain(garbage).chain([allocated]);
        cells.collect()
    });
    let head = ["", "s", "by JDA's", "published", "MB allocated", "by JDA's", "published"];
    table(&head, rows.into(), &record.source(jda))
}
