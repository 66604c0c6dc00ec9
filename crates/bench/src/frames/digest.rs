//! Dictionaries digested: how long it takes, and what is held beside the content.

use std::time::Duration;

use linerate_zstd::Dictionary;
use zstd_safe::DDict;

use super::{BenchOptions, Case};
use crate::corpus::Corpus;
use crate::record::Record;
use crate::session::blank;
use crate::stats;
use linerate_candidates::cpu_time;

/// Digests per turn.
const DIGESTS: u32 = 2000;

/// Times both, in turns; speeds are in bytes of dictionary. Neither copies the content.
pub(crate) fn measure(
    corpus: &Corpus,
    case: &Case,
    dictionary: &[u8],
    options: &BenchOptions<'_>,
) -> Result<Vec<Record>, String> {
    let digest = Dictionary::measure(dictionary).map_err(|e| e.to_string())?;
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..options.rounds {
        for i in 0..2 {
            let index = (i + round) % 2;
            let start = cpu_time();
            for _ in 0..DIGESTS {
                match index {
                    0 => drop(std::hint::black_box(Dictionary::by_reference(dictionary))),
                    _ => drop(std::hint::black_box(DDict::create_by_reference(dictionary))),
                }
            }
            times[index].push((cpu_time() - start) / DIGESTS);
        }
    }
    let theirs = DDict::create_by_reference(dictionary).sizeof();
    let held = [digest.tables_len() + size_of_val(&digest), theirs];
    let ratios: Vec<f64> =
        times[1].iter().zip(&times[0]).map(|(b, a)| b.as_secs_f64() / a.as_secs_f64()).collect();
    let speed = |time: Option<Duration>| time.map_or(0.0, |t| stats::speed(dictionary.len(), t));
    let versions = [env!("CARGO_PKG_VERSION"), zstd_safe::version_string()];
    let one = |i: usize| Record {
        bytes: dictionary.len(),
        files: 1,
        chunk: case.chunk.to_string(),
        contender: ["linerate digest", "libzstd digest"][i].into(),
        version: versions[i].into(),
        format: case.format(options.level),
        ratio: 1.0,
        best_mbs: speed(stats::best(&times[i])),
        median_mbs: speed(stats::median(&times[i])),
        base: "libzstd digest".into(),
        speed_vs_base: if i == 0 { stats::middle(ratios.clone()) } else { 1.0 },
        ratio_vs_base: 1.0,
        state_bytes: Some(held[i]),
        scratch_bytes: Some(0),
        rounds: options.rounds,
        ..blank("digests", corpus)
    };
    Ok(vec![one(0), one(1)])
}
