//! Decodes the messages of 1,000 gateway connections that take turns, beside zlib-rs.

use std::path::PathBuf;

use linerate_bench::messages::row::Row;
use linerate_bench::messages::{BenchOptions, Input, measure};
use linerate_gateway::Transport;

const SAMPLE: &str = "testdata/gateway/sample.msgs";
const PEER: &str = "zlib-rs";

pub(super) fn run() -> Result<String, String> {
    let input = Input::read(&[PathBuf::from(SAMPLE)])?;
    let options =
        BenchOptions { transports: vec![Transport::Zlib], rounds: 5, connections: 1000, encode: false };
    let rows = measure(&input, &options, |_| {})?;
    let row = |name: &str| {
        let found = rows.iter().find(|row| row.measure == "many" && row.contender.starts_with(name));
        found.ok_or_else(|| format!("{name} was not measured"))
    };
    let (ours, peer) = (row("linerate")?, row(PEER)?);
    let speed = |row: &Row| row.median_mbs.ok_or_else(|| format!("{} has no speed", row.contender));
    Ok(format!(
        "1,000 connections that take turns: linerate decodes {:.0} MB/s{}, {PEER} {:.0} MB/s{}: {:.1} times as fast.",
        speed(ours)?,
        memory(ours),
        speed(peer)?,
        memory(peer),
        speed(ours)? / speed(peer)?
    ))
}

/// ` in 40 KiB each`, where it is known.
fn memory(row: &Row) -> String {
    let bytes = row.heap_bytes.or(row.reported_bytes);
    bytes.map_or_else(String::new, |bytes| format!(" in {:.0} KiB each", bytes as f64 / 1024.0))
}
