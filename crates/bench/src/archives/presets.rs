//! Ratio and decoding speed of every preset.

use linerate_nx::pack::PRESETS;

use super::Setup;
use super::decode::ours;
use super::input::open;
use super::rounds::{self, Contender};
use super::row::Row;

/// By CPU time of one thread, hashes left out: what the codec and its settings do.
pub(super) fn measure(setup: &Setup<'_>, progress: fn(&str)) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for preset in PRESETS {
        progress(&format!("packing {} with preset {}", setup.input.name, preset.name));
        let mut options = preset.options();
        options.threads = 2;
        let (bytes, summary) = setup.input.pack(options)?;
        let archive = open(&bytes)?;
        let row = setup.row("presets", format!("linerate {}", preset.name), 1, "cpu");
        let turn = Box::new(|| ours(&archive, 1, false, crate::cpu_time));
        for row in rounds::measure(vec![Contender { row, turn, bases: vec![] }], setup.rounds, progress)? {
            let ratio = Some(summary.archive_bytes as f64 / row.bytes as f64);
            rows.push(Row { archive_bytes: Some(summary.archive_bytes), ratio, ..row });
        }
    }
    Ok(rows)
}
