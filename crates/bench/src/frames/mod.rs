//! The shape "frames": decoding zstd frames and digesting dictionaries, in CPU time.

mod cases;
mod decoders;
mod digest;

use std::time::Duration;

pub use self::cases::Case;
use self::cases::Jobs;
use self::decoders::{Decode, contenders};
use crate::corpus::Corpus;
use crate::kernel::os::cpu_time;
use crate::record::Record;
use crate::session::blank;
use crate::stats;

/// Content per turn, in bytes; contenders alternate after each turn.
const TURN: usize = 4 << 20;

/// Options of a measurement.
pub struct BenchOptions<'a> {
    /// Sizes of blocks, and of their dictionaries.
    pub cases: &'a [Case],
    /// The level at which libzstd compresses them.
    pub level: i32,
    /// The most bytes of content that are compressed for one case.
    pub most: usize,
    /// Passes of each contender over everything.
    pub rounds: usize,
}

/// Decodes the corpus, case by case: a record for each contender, and two for the dictionary of a
/// case that has one. `each` gets them as soon as the case is done.
///
/// What every contender decodes is compared with the content first. `speed_vs_base` is the median
/// over the rounds, within each of which the contenders take turns.
///
/// # Errors
/// A sentence: what a contender says, other content than was compressed, or what `each` returns.
pub fn measure(
    corpus: &Corpus,
    options: &BenchOptions<'_>,
    mut progress: impl FnMut(&str),
    mut each: impl FnMut(&Case, &[Record]) -> Result<(), String>,
) -> Result<(), String> {
    for case in options.cases {
        progress(&format!("{case}: compressing"));
        let jobs = Jobs::new(corpus, case, options)?;
        if jobs.frames.is_empty() {
            continue;
        }
        let mut records = frames(corpus, case, &jobs, options, &mut progress)?;
        if let Some(dictionary) = &jobs.dictionary {
            records.extend(digest::measure(corpus, case, dictionary, options)?);
        }
        progress("");
        each(case, &records)?;
    }
    Ok(())
}

fn frames(
    corpus: &Corpus,
    case: &Case,
    jobs: &Jobs,
    options: &BenchOptions<'_>,
    progress: &mut impl FnMut(&str),
) -> Result<Vec<Record>, String> {
    let mut all = contenders(jobs.dictionary.as_deref())?;
    let mut out = vec![0; jobs.longest()];
    for contender in &mut all {
        progress(&format!("{case}: checking {}", contender.name()));
        check(&mut **contender, jobs, &mut out).map_err(|e| format!("{}: {e}", contender.name()))?;
    }
    let mut times = vec![Vec::with_capacity(options.rounds); all.len()];
    for round in 0..options.rounds {
        progress(&format!("{case}: round {} of {}", round + 1, options.rounds));
        for (sum, times) in pass(&mut all, jobs, round, &mut out)?.into_iter().zip(&mut times) {
            times.push(sum);
        }
    }
    let base = all.iter().position(|c| c.name() == "libzstd").ok_or("libzstd is missing")?;
    let one = |i: usize| {
        let contender = &all[i];
        let ratios =
            times[base].iter().zip(&times[i]).map(|(base, own)| base.as_secs_f64() / own.as_secs_f64());
        let speed = |time: Option<Duration>| time.map_or(0.0, |t| stats::speed(jobs.bytes, t));
        Record {
            bytes: jobs.bytes,
            files: jobs.frames.len(),
            chunk: case.chunk.to_string(),
            contender: contender.name().into(),
            version: contender.version(),
            format: case.format(options.level),
            ratio: jobs.ratio(),
            best_mbs: speed(stats::best(&times[i])),
            median_mbs: speed(stats::median(&times[i])),
            base: "libzstd".into(),
            speed_vs_base: stats::middle(ratios.collect()),
            ratio_vs_base: 1.0,
            state_bytes: contender.state_bytes(),
            scratch_bytes: contender.scratch_bytes(),
            rounds: options.rounds,
            ..blank("frames", corpus)
        }
    };
    Ok((0..all.len()).map(one).collect())
}

/// Decodes every frame once, and compares.
fn check(contender: &mut dyn Decode, jobs: &Jobs, out: &mut [u8]) -> Result<(), String> {
    for (frame, content) in jobs.frames.iter().zip(&jobs.contents) {
        let n = contender.decode(frame, &mut out[..content.len()])?;
        if out[..n] != **content {
            return Err("what was decoded is not what was compressed".into());
        }
    }
    Ok(())
}

/// Times every contender over all frames once. They alternate every 4 MiB in rotating order; shorter
/// input is repeated.
fn pass(
    all: &mut [Box<dyn Decode>],
    jobs: &Jobs,
    round: usize,
    out: &mut [u8],
) -> Result<Vec<Duration>, String> {
    let mut sums = vec![Duration::ZERO; all.len()];
    let repeats = (TURN / jobs.bytes.max(1)).clamp(1, 1000) as u32;
    for (turn, part) in jobs.turns(TURN).enumerate() {
        for i in 0..all.len() {
            let index = (i + turn + round) % all.len();
            let start = cpu_time();
            for _ in 0..repeats {
                for frame in &jobs.frames[part.clone()] {
                    all[index].decode(frame, out)?;
                }
            }
            sums[index] += (cpu_time() - start) / repeats;
        }
    }
    std::hint::black_box(out);
    Ok(sums)
}
