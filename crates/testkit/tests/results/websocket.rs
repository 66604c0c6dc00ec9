//! The tables of `docs/websocket/`.

use std::collections::BTreeSet;

use crate::records::{Record, Row};
use crate::tables::{Table, table};

pub(crate) fn tables() -> Vec<Table> {
    vec![
        ("websocket-idle", idle()),
        ("websocket-netty", netty()),
        ("websocket-peers", peers()),
        ("websocket-speed", speed()),
    ]
}

/// Libraries of others, both ways: what was agreed on for each window that our side asks for.
fn peers() -> String {
    let record = Record::read("2026-11-23-websocket-peers.csv");
    let all = record.all(&[]);
    let mut rows = Vec::new();
    let names: BTreeSet<&str> = all.iter().map(|row| row.text("peer")).collect();
    for (name, role) in names.into_iter().flat_map(|name| [(name, "server"), (name, "client")]) {
        let mut cells = vec![name.to_owned(), role.to_owned()];
        for bits in 8..=15 {
            let row = record.one(&[("peer", name), ("role", role), ("bits", &bits.to_string())]);
            let side = |side: &str| {
                let kept = row.text(&format!("{side}_window")) == "kept";
                format!("{}{}", row.text(&format!("{side}_bits")), if kept { "" } else { "\\*" })
            };
            cells.push(format!("{}, {}", side("server"), side("client")));
        }
        rows.push(cells);
    }
    let head = ["peer", "as", "8", "9", "10", "11", "12", "13", "14", "15"];
    table(&head, rows, &record.source(all[0]))
}

/// Resident bytes of an idle connection, and what compression takes of them.
fn idle() -> String {
    let record = Record::read("2026-11-23-websocket-idle.csv");
    let all = record.all(&[]);
    let plain = record.one(&[("window_bits", "0")]).number("bytes_per_connection");
    let kilobytes = |bytes: f64| format!("{:.1} KB", bytes / 1e3);
    let row = |row: &Row| {
        let bytes = row.number("bytes_per_connection");
        vec![format!("{} bits", row.text("window_bits")), kilobytes(bytes), kilobytes(bytes - plain)]
    };
    let compressed = all.iter().filter(|row| row.text("window_bits") != "0");
    let rows = compressed.map(|found| row(found)).collect();
    table(&["windows", "a connection", "for compression"], rows, &record.source(all[0]))
}

/// Messages encoded and decoded: ratio, CPU time and state, by those of zlib.
fn speed() -> String {
    let record = Record::read("2026-11-23-websocket-speed.csv");
    let traffic = ["chat", "json-rpc", "gateway"];
    // Of the latest measurement; the record has earlier ones too.
    let revision = ("linerate", record.latest(&[]).text("linerate"));
    let contenders = record.all(&[revision, ("traffic", traffic[0])]);
    let row = |contender: &str| {
        let mut cells = vec![contender.to_owned()];
        for traffic in traffic {
            let row = record.one(&[revision, ("traffic", traffic), ("contender", contender)]);
            cells.push(format!("{:.2}", row.number("ratio_vs_base")));
            cells.push(format!("{:.2}", row.number("cpu_vs_base")));
        }
        let state = record.one(&[revision, ("traffic", traffic[0]), ("contender", contender)]);
        cells.push(format!("{:.1}", state.number("state_bytes") / 1024.0));
        cells
    };
    let head = ["", "chat: ratio", "CPU", "JSON-RPC: ratio", "CPU", "gateway: ratio", "CPU", "KiB"];
    let rows = contenders.iter().map(|contender| row(contender.text("contender"))).collect();
    table(&head, rows, &record.source(contenders[0]))
}

/// Handlers of Netty: ratio, time and garbage of a message, and what an idle connection takes beside one without compression.
fn netty() -> String {
    let record = Record::read("2026-11-23-websocket-netty.csv");
    let all = record.all(&[]);
    let plain = record.one(&[("contender", "no compression")]);
    let row = |row: &Row| {
        let more = |column: &str| (row.number(column) - plain.number(column)) / 1e3;
        let micros = |column: &str| format!("{:.1}", row.number(column) / 1e3);
        vec![
            format!("{}, {} bits", row.text("contender"), row.text("window_bits")),
            row.text("ratio_vs_base").to_owned(),
            micros("encode_ns"),
            micros("decode_ns"),
            row.text("cpu_vs_base").to_owned(),
            row.text("garbage_bytes").to_owned(),
            format!("{:.1} KB", more("native_bytes_each")),
            format!("{:.1} KB", more("heap_bytes_each")),
        ]
    };
    let rows = all.iter().filter(|row| row.text("contender") != "no compression");
    let rows = rows.map(|found| row(found)).collect();
    let head = [
        "",
        "ratio",
        "µs to encode",
        "to decode",
        "CPU",
        "garbage, bytes",
        "outside the heap",
        "in the heap",
    ];
    table(&head, rows, &record.source(all[0]))
}
