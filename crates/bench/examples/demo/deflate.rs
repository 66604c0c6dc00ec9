//! Compresses web content in calls of 16 KiB that share no memory, beside zlib-rs.

use std::path::Path;

use linerate_bench::corpus::Corpus;
use linerate_bench::table::{Loaded, table};
use linerate_bench::{measure, stats, verify};

/// Rows of the bench's table: ours, and the peer's fastest level.
const ROWS: [&str; 2] = ["linerate 1 deflate", "zlib-rs 1 deflate"];
const CALL: usize = 16 << 10;
const ROUNDS: usize = 5;

pub(super) fn run() -> Result<String, String> {
    let corpus = Corpus::read(Path::new("crates/bench/corpus"), None)?;
    let mut rows = ROWS.iter().map(|name| load(name)).collect::<Result<Vec<_>, _>>()?;
    let mut ratios = Vec::new();
    for (row, name) in rows.iter_mut().zip(ROWS) {
        // Another library decodes it.
        let size = verify::encode_and_check(&mut **row, &corpus.files, CALL)
            .map_err(|what| format!("{name}: {what}"))?;
        ratios.push(corpus.bytes() as f64 / size as f64);
    }
    let times = measure::run(&mut rows, &corpus.files, CALL, ROUNDS, |_| {})
        .map_err(|(i, what)| format!("{}: {what}", ROWS[i]))?;
    let best = |i: usize| stats::best(&times[i]).ok_or("no round was measured");
    let (ours, peer, times) = super::speeds(corpus.bytes(), best(0)?, best(1)?);
    Ok(format!(
        "{} files in calls of 16 KiB: linerate deflates {ours:.0} MB/s at a ratio of {:.2}, zlib-rs {peer:.0} MB/s at \
         {:.2}: {times:.1} times as fast.",
        corpus.files.len(),
        ratios[0],
        ratios[1]
    ))
}

fn load(name: &str) -> Result<Loaded, String> {
    let rows = table();
    let row = rows.iter().find(|row| row.label() == name);
    (row.ok_or_else(|| format!("the bench has no row `{name}`"))?.make)()
}
