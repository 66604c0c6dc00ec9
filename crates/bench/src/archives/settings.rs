//! Ratio and decoding speed by setting: presets, and the grid of block sizes, levels and codecs that they were chosen
//! from.

use linerate_nx::pack::{Coding, MAX_CHUNK, Options, PRESETS, Zstd};
use linerate_nx::{Archive, Limits};

use super::BenchOptions;
use super::decode::ours;
use super::input::{message, pack_options};
use super::rounds::{self, Contender};
use super::row::Row;

/// Threads that pack.
const PACKING: usize = 2;
/// Blocks of the grid; those of whole files hold one file each.
const BLOCKS: [(&str, u64); 3] =
    [("whole files", MAX_CHUNK), ("blocks of 128 KiB", 128 << 10), ("blocks of 1 MiB", MIB)];
const MIB: u64 = 1 << 20;
/// Minimum lengths of matches beside the level's own.
const MIN_MATCHES: [u32; 3] = [4, 5, 6];

/// What is packed, and how it is decoded.
struct Setting {
    name: String,
    options: Options,
    hashes: bool,
}

impl Setting {
    fn new(name: String, options: Options) -> Setting {
        Setting { name, options, hashes: false }
    }

    /// Packs the folder, then decodes its blocks by one thread, by CPU time.
    fn measure(self, part: &str, options: &BenchOptions<'_>, progress: fn(&str)) -> Result<Vec<Row>, String> {
        progress(&format!("packing {}: {}", options.input.name, self.name));
        let (bytes, summary) = options.input.pack(self.options)?;
        let archive = Archive::open_with(&bytes[..], Limits::none()).map_err(message)?;
        let row = options.row(part, format!("linerate {}", self.name), 1, "cpu");
        let turn = Box::new(|| ours(&archive, 1, self.hashes, crate::cpu_time));
        let mut rows =
            rounds::measure(vec![Contender { row, turn, bases: vec![] }], options.rounds, progress)?;
        for row in &mut rows {
            row.archive_bytes = Some(summary.archive_bytes);
            row.ratio = Some(summary.archive_bytes as f64 / row.bytes as f64);
        }
        Ok(rows)
    }
}

/// Every preset, without hashing: codec and options only.
pub(super) fn presets(options: &BenchOptions<'_>, progress: fn(&str)) -> Result<Vec<Row>, String> {
    let all = PRESETS.iter().map(|preset| {
        let packing = Options { threads: PACKING, ..preset.options() };
        Setting::new(preset.name.to_owned(), packing)
    });
    measure("presets", all, options, progress)
}

/// Block sizes by level, then the other options one by one at the first level, in blocks of 1 MiB.
pub(super) fn grid(options: &BenchOptions<'_>, progress: fn(&str)) -> Result<Vec<Row>, String> {
    measure("settings", settings(options.levels).into_iter(), options, progress)
}

fn measure(
    part: &str,
    settings: impl Iterator<Item = Setting>,
    options: &BenchOptions<'_>,
    progress: fn(&str),
) -> Result<Vec<Row>, String> {
    let rows = settings.map(|setting| setting.measure(part, options, progress));
    Ok(rows.collect::<Result<Vec<_>, _>>()?.concat())
}

fn settings(levels: &[i32]) -> Vec<Setting> {
    let mut all = Vec::new();
    for (blocks, chunk) in BLOCKS {
        for &level in levels {
            all.push(Setting::new(format!("zstd {level}, {blocks}"), plain(Coding::zstd(level), chunk)));
        }
    }
    let Some(&level) = levels.first() else { return all };
    let zstd = Zstd { level, min_match: 0, literals: true, long: false };
    let usual = plain(Coding::Zstd(zstd), MIB);
    all.push(Setting {
        hashes: true,
        ..Setting::new(format!("zstd {level}, hashes checked"), usual.clone())
    });
    all.push(Setting::new(format!("zstd {level}, search fitted to the content"), usual.fit_search(true)));
    let raw = Coding::Zstd(Zstd { literals: false, ..zstd });
    all.push(Setting::new(format!("zstd {level}, raw literals"), plain(raw, MIB)));
    all.extend(MIN_MATCHES.map(|min_match| {
        let coding = Coding::Zstd(Zstd { min_match, ..zstd });
        Setting::new(format!("zstd {level}, minMatch {min_match}"), plain(coding, MIB))
    }));
    all.extend([1, 12].map(|level| Setting::new(format!("LZ4 {level}"), plain(Coding::lz4(level), MIB))));
    all
}

/// The same coding for all blocks, of that many bytes, without a search fitted to the content.
fn plain(coding: Coding, chunk: u64) -> Options {
    let options = pack_options(0, chunk, PACKING).solid(coding).chunked(coding).fit_search(false);
    if chunk == MAX_CHUNK { options.solid_limit(0) } else { options }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_setting_is_valid_and_has_a_name_of_its_own() {
        let all = settings(&[12, 19]);
        let names: BTreeSet<&str> = all.iter().map(|setting| setting.name.as_str()).collect();
        assert_eq!((names.len(), all.len()), (14, 14));
        for setting in &all {
            setting.options.check().unwrap_or_else(|e| panic!("{}: {e}", setting.name));
        }
    }
}
