//! Measures Linerate against its peers.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use linerate_bench::corpus::Corpus;
use linerate_bench::filter::{Chunk, Filter, parse_bytes};
use linerate_bench::{measure, pin, table, verify};

#[derive(Parser)]
struct Args {
    shape: String,
    #[arg(long)]
    corpus: PathBuf,
    #[arg(long, value_delimiter = ',', default_value = "16K")]
    chunk: Vec<Chunk>,
    #[arg(long, default_value = "")]
    only: Filter,
    #[arg(long, default_value = "libslz deflate")]
    base: String,
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    #[arg(long, value_parser = parse_bytes)]
    max_bytes_per_file: Option<u64>,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("{e}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let args = Args::parse();
    pin(None);
    let corpus = Corpus::read(&args.corpus, args.max_bytes_per_file)?;
    let bytes = corpus.bytes();
    for chunk in args.chunk {
        let mut names = vec![];
        let mut loaded = vec![];
        let mut sizes = vec![];
        for e in table::table().into_iter().filter(|e| args.only.admits(&e.label()) || e.label() == args.base)
        {
            match (e.make)() {
                Ok(mut c) => {
                    sizes.push(
                        verify::encode_and_check(&mut *c, &corpus.files, chunk.size())
                            .map_err(|m| format!("{}: {m}", e.label()))?,
                    );
                    names.push(e.label());
                    loaded.push(c);
                }
                Err(why) => println!("{}: not available: {why}", e.label()),
            }
        }
        let times = measure::run(&mut loaded, &corpus.files, chunk.size(), args.rounds, |_| {})
            .map_err(|(i, e)| format!("{}: {e}", names[i]))?;
        let best: Vec<f64> = times
            .iter()
            .map(|t| bytes as f64 / 1e6 / t.iter().min().map_or(1.0, |d| d.as_secs_f64()))
            .collect();
        let base = names.iter().position(|n| *n == args.base).unwrap_or(0);
        println!("{} {} bytes, chunk {chunk}, base {}", corpus.name, bytes, names[base]);
        for i in 0..names.len() {
            println!(
                "{:24} {:7.3} {:9.1} MB/s  {:6.3}x speed {:6.3}x ratio  {:?} {:?}",
                names[i],
                bytes as f64 / sizes[i] as f64,
                best[i],
                best[i] / best[base],
                sizes[base] as f64 / sizes[i] as f64,
                loaded[i].state_bytes(),
                loaded[i].scratch_bytes()
            );
        }
    }
    Ok(())
}
