//! Runs fuzz targets over the seeds and mutations of them, for a bounded time, without libFuzzer.
//!
//! `smoke [SECONDS [FIRST [TARGET...]]]` runs the named targets (default: all), each over all
//! seeds, then over mutations until SECONDS (default: 10) have passed since its start. Mutations
//! are numbered from FIRST (default: 0). With the same seeds, a number gives the same input on
//! every machine. The current input is in the file `artifacts/TARGET-smoke`, where it remains if
//! the target panics or the process is killed.

use std::fs::{self, File};
use std::io::{Result, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use linerate_fuzz::program::Noise;
use linerate_fuzz::{TARGETS, Target};

/// Largest mutated input, in bytes.
const MAX_INPUT: usize = 4096;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default| match arguments.next() {
        None => Ok(default),
        Some(text) => text.parse::<u64>(),
    };
    let (Ok(seconds), Ok(first)) = (number(10), number(0)) else {
        eprintln!("usage: smoke [SECONDS [FIRST [TARGET...]]]");
        return ExitCode::from(2);
    };
    let wanted: Vec<String> = arguments.collect();
    if let Some(unknown) = wanted.iter().find(|name| TARGETS.iter().all(|row| row.0 != **name)) {
        eprintln!("smoke: unknown target {unknown}");
        return ExitCode::from(2);
    }
    let seeds = seeds();
    for &(name, target) in
        TARGETS.iter().filter(|row| wanted.is_empty() || wanted.iter().any(|name| name == row.0))
    {
        let path = folder("artifacts").join(format!("{name}-smoke"));
        match run(target, &seeds, Duration::from_secs(seconds), first, &path) {
            Ok(runs) => println!("{name}: {runs} inputs, no invariant violated"),
            Err(e) => {
                eprintln!("{}: {e}", path.display());
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The contents of the files in `fuzz/seeds`, sorted by name.
fn seeds() -> Vec<Vec<u8>> {
    let entries = fs::read_dir(folder("seeds")).expect("fuzz/seeds can be read");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "fuzz/seeds is empty");
    paths.iter().map(|path| fs::read(path).expect("a seed that can be read")).collect()
}

/// Runs all seeds, then mutations until `time` has passed since the start. The file `kept` has the
/// current input, and is removed at the end. Returns the number of inputs.
fn run(target: Target, seeds: &[Vec<u8>], time: Duration, first: u64, kept: &Path) -> Result<u64> {
    fs::create_dir_all(folder("artifacts"))?;
    let mut file = File::create(kept)?;
    let start = Instant::now();
    let mutations = (first..).map(|number| mutated(seeds, number));
    let mut runs = 0;
    for (i, input) in seeds.iter().cloned().chain(mutations).enumerate() {
        if i >= seeds.len() && start.elapsed() >= time {
            break;
        }
        file.rewind()?;
        file.set_len(0)?;
        file.write_all(&input)?;
        target(&input);
        runs += 1;
    }
    fs::remove_file(kept)?;
    Ok(runs)
}

/// Mutation `number`: a seed with one to eight random changes, cut to [`MAX_INPUT`] bytes.
fn mutated(seeds: &[Vec<u8>], number: u64) -> Vec<u8> {
    let mut noise = Noise::new(number);
    // The first numbers of a fresh xorshift resemble its seed.
    for _ in 0..8 {
        noise.number();
    }
    let mut input = seeds[noise.below(seeds.len())].clone();
    for _ in 0..=noise.below(8) {
        change(&mut input, seeds, &mut noise);
    }
    input.truncate(MAX_INPUT);
    input
}

fn change(input: &mut Vec<u8>, seeds: &[Vec<u8>], noise: &mut Noise) {
    let at = noise.below(input.len() + 1);
    let end = (at + noise.below(32)).min(input.len());
    match noise.below(6) {
        0 if at < input.len() => input[at] ^= 1 << noise.below(8),
        1 if at < input.len() => input[at] = noise.number() as u8,
        2 => input.insert(at, noise.number() as u8),
        3 => drop(input.drain(at..end)),
        4 => {
            let piece = input[at..end].to_vec();
            input.splice(at..at, piece);
        }
        _ => {
            let other = &seeds[noise.below(seeds.len())];
            let from = noise.below(other.len() + 1);
            input.truncate(at);
            input.extend_from_slice(&other[from..]);
        }
    }
}
