//! The shape "threads": one gzip stream from several threads, by the wall clock.

use std::time::Duration;

use clap::Args;
use linerate_candidates::cpu_time;
use linerate_deflate::parallel::{Options, compress};
use linerate_deflate::{Format, Level};

use crate::bytes::check_stream;
use crate::harness::args::CorpusArgs;
use crate::harness::corpus::Corpus;
use crate::harness::filter::Chunk;
use crate::harness::{Clock, Common, Contender, Rounds, measure as harness, message, progress, row};
use crate::records::Measurement;

/// Options of `linerate-bench threads`.
#[derive(Args, Clone, Debug)]
pub struct ThreadsArgs {
    #[command(flatten)]
    corpus: CorpusArgs,
    #[command(flatten)]
    pub(crate) common: Common,
    /// Bytes of a block, which is compressed without references to other blocks; --quick takes only
    /// the first
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "128K,512K,1M")]
    block: Vec<Chunk>,
    /// Numbers of threads; the first is what the others are compared with
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1,2")]
    count: Vec<usize>,
    /// Levels of deflate
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1,2,3",
          value_parser = clap::value_parser!(u8).range(0..=9))]
    level: Vec<u8>,
}

/// Measures each block size, with `--quick` only the first, at each level.
///
/// # Errors
/// A sentence for the user.
pub fn run(args: &ThreadsArgs) -> Result<(), String> {
    let mut output = args.common.open(&[])?;
    let corpus = args.corpus.read()?;
    for &block in if args.common.quick { &args.block[..1] } else { &args.block } {
        for &level in &args.level {
            let (found, cores) = measure(&corpus, block, level, &args.count, args.common.rounds(5))?;
            output.add("One gzip stream from several threads, wall time", found)?;
            let fewest = args.count.iter().copied().min().unwrap_or(1);
            if cores < 0.9 * fewest as f64 {
                eprintln!("Other work disturbs this run: {fewest} threads had {cores:.2} cores.");
            }
        }
    }
    output.finish()
}

/// Compresses the corpus, its files joined, from memory to memory with each number of threads. Also
/// returns the mean number of cores that the process used in the turns with the fewest threads: CPU
/// time divided by elapsed time.
///
/// # Errors
/// A sentence, if there is no such level, `threads` is empty, the output does not decode to the
/// input, or the output depends on the number of threads.
pub fn measure(
    corpus: &Corpus,
    block: Chunk,
    level: u8,
    threads: &[usize],
    rounds: usize,
) -> Result<(Vec<Measurement>, f64), String> {
    let input = corpus.files.concat();
    let encode = |threads: usize, out: &mut Vec<u8>| {
        let level = Level::from_number(level).map_err(message)?;
        let options =
            Options::new(Format::Gzip, level).threads(threads).block_size(block.size().min(input.len()));
        compress(&input[..], &mut *out, &options).map_err(message)?;
        Ok::<_, String>(())
    };
    progress(&format!("{block} blocks, level {level}: checking"));
    let mut first = Vec::new();
    let (&base, fewest) = threads.first().zip(threads.iter().min()).ok_or("no number of threads is given")?;
    encode(base, &mut first)?;
    check_stream(Format::Gzip, &input, &first, &mut Vec::new())?;
    for &threads in threads {
        let mut out = Vec::new();
        encode(threads, &mut out)?;
        if out != first {
            return Err(format!("{threads} threads write different bytes than {base}"));
        }
    }
    let spent = std::cell::Cell::new((Duration::ZERO, Duration::ZERO));
    let contenders = threads.iter().map(|&threads| {
        let measurement = row("threads", &corpus.name, format!("linerate {level}"))
            .param("block", block.to_string())
            .param("threads", threads)
            .exact("ratio", input.len() as f64 / first.len() as f64);
        let (encode, spent) = (&encode, &spent);
        let mut out = Vec::with_capacity(first.len() + 4096);
        let turn = move |_| {
            out.clear();
            let before = cpu_time();
            let ((), time) = Clock::Elapsed.time(|| encode(threads, &mut out))?;
            if threads == *fewest {
                let (wall, cpu) = spent.get();
                spent.set((wall + time, cpu + (cpu_time() - before)));
            }
            Ok(time)
        };
        let name = if base == 1 { "1 thread".to_owned() } else { format!("{base} threads") };
        Contender::new(measurement, turn).bytes(input.len()).base(0, name)
    });
    let found = harness(contenders.collect(), Rounds::parts(rounds, 1))?;
    let (wall, cpu) = spent.get();
    Ok((found, cpu.as_secs_f64() / wall.as_secs_f64()))
}
