//! Ratio and decoding speed of every preset.

use linerate_nx::pack::PRESETS;

use super::BenchOptions;
use super::decode::ours;
use super::input::open;
use super::rounds::{self, Contender};
use super::row::Row;

/// CPU time of one thread without hashing: codec and options only.
pub(super) fn measure(options: &BenchOptions<'_>, progress: fn(&str)) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for preset in PRESETS {
        progress(&format!("packing {} with preset {}", options.input.name, preset.name));
        let mut packing = preset.options();
        packing.threads = 2;
        let (bytes, summary) = options.input.pack(packing)?;
        let archive = open(&bytes)?;
        let row = options.row("presets", format!("linerate {}", preset.name), 1, "cpu");
        let turn = Box::new(|| ours(&archive, 1, false, crate::cpu_time));
        for row in rounds::measure(vec![Contender { row, turn, bases: vec![] }], options.rounds, progress)? {
            let ratio = Some(summary.archive_bytes as f64 / row.bytes as f64);
            rows.push(Row { archive_bytes: Some(summary.archive_bytes), ratio, ..row });
        }
    }
    Ok(rows)
}
