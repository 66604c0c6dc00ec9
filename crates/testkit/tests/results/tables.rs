//! The tables of pages: figures of our records, in `docs/results.md` beside those published by others.

use std::collections::BTreeMap;

use crate::{
    damage, deflate, dict, gateway, http, nx, packages, platforms, rocksdb, servers, waveforms, websocket,
    zstd,
};

/// The name in its mark, and the text.
pub(crate) type Table = (&'static str, String);

/// Every table, by its name.
pub(crate) fn tables() -> BTreeMap<&'static str, String> {
    let groups = [
        damage::tables(),
        deflate::tables(),
        waveforms::tables(),
        dict::tables(),
        gateway::tables(),
        http::tables(),
        nx::tables(),
        packages::tables(),
        platforms::tables(),
        rocksdb::tables(),
        servers::tables(),
        websocket::tables(),
        zstd::tables(),
    ];
    groups.into_iter().flatten().collect()
}

/// A Markdown table with a line about its source below it.
pub(crate) fn table(head: &[&str], rows: Vec<Vec<String>>, source: &str) -> String {
    let line = |cells: &[String]| {
        format!("| {} |\n", cells.join(" | ")).replace("|  |", "| |").replace("|  |", "| |")
    };
    let head: Vec<String> = head.iter().map(ToString::to_string).collect();
    let rule = format!("|{}\n", "---|".repeat(head.len()));
    let body: String = rows.iter().map(|row| line(row)).collect();
    format!("{}{rule}{body}\n{source}\n", line(&head))
}
