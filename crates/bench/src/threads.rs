//! The shape "threads": one gzip stream from several threads, in wall time.

use std::time::{Duration, Instant};

use linerate_deflate::parallel::{Options, compress};
use linerate_deflate::{Format, Level};

use crate::corpus::Corpus;
use crate::filter::Chunk;
use crate::record::Record;
use crate::session::blank;
use crate::stats;
use crate::verify::check_stream;
use linerate_candidates::cpu_time;

/// Options of a measurement.
pub struct BenchOptions<'a> {
    /// Levels, 0 to 3.
    pub levels: &'a [u8],
    /// Numbers of threads; the first is the base of comparison.
    pub threads: &'a [usize],
    /// Bytes for each stateless call.
    pub block: Chunk,
    /// Passes of each number of threads.
    pub rounds: usize,
}

/// The records, and whether the machine was quiet.
pub struct Outcome {
    /// One for each level and number of threads.
    pub records: Vec<Record>,
    /// CPU time by wall time of the turns with the fewest threads, of the level where it was least.
    /// Much less than their number: other work was in the way, and the speeds say little.
    pub cores_had: f64,
}

/// Compresses the corpus as one stream, its files joined, from memory to memory. The numbers of
/// threads take turns, each round in the opposite order, and what is compared is two turns of one
/// round: `speed_vs_base` is the median over the rounds.
///
/// # Errors
/// A sentence: output that does not decode to the input or that depends on the number of threads,
/// or not enough memory for the stream.
pub fn measure(
    corpus: &Corpus,
    options: &BenchOptions<'_>,
    progress: impl Fn(&str),
) -> Result<Outcome, String> {
    let input = corpus.files.concat();
    let blank = blank("threads", corpus);
    let mut outcome = Outcome { records: Vec::new(), cores_had: f64::INFINITY };
    let fewest = options.threads.iter().copied().min().ok_or("no number of threads is given")?;
    for &number in options.levels {
        let level = Level::from_number(number).map_err(|e| e.to_string())?;
        progress(&format!("{} blocks: level {number}", options.block));
        let size = check(&input, level, options)?;
        let (times, cores) = time(&input, level, options, fewest)?;
        outcome.cores_had = outcome.cores_had.min(cores);
        let label = |threads| format!("linerate {number} x{threads}");
        for (i, &threads) in options.threads.iter().enumerate() {
            let pairs = times[i].iter().zip(&times[0]).map(|(t, base)| base.as_secs_f64() / t.as_secs_f64());
            let speed = |time: Option<_>| time.map_or(0.0, |t| stats::speed(input.len(), t));
            outcome.records.push(Record {
                chunk: options.block.to_string(),
                contender: label(threads),
                format: "gzip".into(),
                version: crate::ours::version(),
                ratio: input.len() as f64 / size as f64,
                best_mbs: speed(stats::best(&times[i])),
                median_mbs: speed(stats::median(&times[i])),
                base: label(options.threads[0]),
                speed_vs_base: stats::middle(pairs.collect()),
                ratio_vs_base: 1.0,
                rounds: options.rounds,
                ..blank.clone()
            });
        }
    }
    progress("");
    Ok(outcome)
}

fn encoder_options(level: Level, threads: usize, options: &BenchOptions<'_>, input: &[u8]) -> Options {
    Options::new(Format::Gzip, level).threads(threads).block_size(options.block.size().min(input.len()))
}

/// Decodes what one number of threads wrote and holds the others to the same bytes; returns their
/// number.
fn check(input: &[u8], level: Level, options: &BenchOptions<'_>) -> Result<usize, String> {
    let mut first: Option<Vec<u8>> = None;
    for &threads in options.threads {
        let mut out = Vec::new();
        compress(input, &mut out, &encoder_options(level, threads, options, input))
            .map_err(|e| e.to_string())?;
        match &first {
            None => first = Some(out),
            Some(bytes) if *bytes == out => {}
            Some(_) => {
                return Err(format!("{threads} threads write other bytes than {}", options.threads[0]));
            }
        }
    }
    let bytes = first.ok_or("no number of threads is given")?;
    check_stream(Format::Gzip, input, &bytes, &mut Vec::new())?;
    Ok(bytes.len())
}

/// Wall time of each round, for each number of threads, and how many cores the process had in the
/// turns with `fewest` threads.
fn time(
    input: &[u8],
    level: Level,
    options: &BenchOptions<'_>,
    fewest: usize,
) -> Result<(Vec<Vec<Duration>>, f64), String> {
    let mut out = Vec::with_capacity(input.len() + (input.len() >> 8) + 4096);
    let mut times = vec![Vec::new(); options.threads.len()];
    let (mut wall, mut cpu) = (Duration::ZERO, Duration::ZERO);
    for round in 0..options.rounds {
        let mut order: Vec<_> = (0..options.threads.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for i in order {
            let encoder = encoder_options(level, options.threads[i], options, input);
            out.clear();
            let (start, cpu_start) = (Instant::now(), cpu_time());
            compress(input, &mut out, &encoder).map_err(|e| e.to_string())?;
            let elapsed = start.elapsed();
            times[i].push(elapsed);
            if options.threads[i] == fewest {
                wall += elapsed;
                cpu += cpu_time() - cpu_start;
            }
        }
    }
    Ok((times, cpu.as_secs_f64() / wall.as_secs_f64()))
}
