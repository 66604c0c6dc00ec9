//! Packing of folders with one thread and with two in turn: CSV, with medians of the CPU time of the process and of the
//! elapsed time, the median of the ratios of turns, and the hash of the archive.
//!
//!     cargo run --release -p linerate-nx --example packing -- TURNS SETTINGS FOLDER...
//!
//! SETTINGS is `all`, or names of settings separated by commas. Archives are written to the system's folder for temporary
//! files.

mod common;

use std::error::Error;
use std::path::Path;
use std::time::Instant;
use std::{env, fs};

use common::{median, process_time};
use linerate_nx::HashKind;
use linerate_nx::pack::{Builder, Coding, FileOptions, Options, PRESETS};

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let usage = "usage: packing TURNS SETTINGS FOLDER...";
    let mut args = env::args().skip(1);
    let turns: usize = args.next().ok_or(usage)?.parse()?;
    let wanted = args.next().ok_or(usage)?;
    let is_wanted = |name: &str| wanted == "all" || wanted.split(',').any(|one| one == name);
    println!(
        "folder,setting,blocks,bytes,hash,CPU s x1,CPU s x2,elapsed s x1,elapsed s x2,two threads elapsed speed ratio"
    );
    for folder in args {
        for (name, options) in settings().into_iter().filter(|(name, _)| is_wanted(name)) {
            measure(Path::new(&folder), name, &options, turns.max(1))?;
        }
    }
    Ok(())
}

fn settings() -> Vec<(&'static str, Options)> {
    let level_9 = || Options::new().solid(Coding::zstd(9)).chunked(Coding::zstd(9));
    let lz4 = || Options::new().solid(Coding::lz4(1)).chunked(Coding::lz4(1));
    let mut all = vec![
        ("zstd-9", level_9()),
        ("zstd-9-plain", level_9().fit_search(false).group_similar(false)),
        ("lz4-1", lz4()),
        ("default", Options::new()),
    ];
    all.extend(PRESETS.iter().map(|preset| (preset.name, preset.options())));
    all
}

/// One run.
struct Run {
    blocks: u64,
    bytes: u64,
    hash: u64,
    cpu: f64,
    elapsed: f64,
}

fn measure(folder: &Path, setting: &str, options: &Options, turns: usize) -> Outcome<()> {
    let first = pack(folder, options.clone().threads(1))?;
    let (mut cpu, mut elapsed, mut ratios) = ([vec![], vec![]], [vec![], vec![]], vec![]);
    for _ in 0..turns {
        for threads in [1, 2] {
            let run = pack(folder, options.clone().threads(threads))?;
            if run.hash != first.hash {
                return Err("two runs wrote different archives".into());
            }
            cpu[threads - 1].push(run.cpu);
            elapsed[threads - 1].push(run.elapsed);
        }
        ratios.extend(elapsed[0].last().zip(elapsed[1].last()).map(|(one, two)| one / two));
    }
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let ([cpu_1, cpu_2], [one, two]) = (cpu.map(median), elapsed.map(median));
    let Run { blocks, bytes, hash, .. } = first;
    let ratio = median(ratios);
    println!(
        "{name},{setting},{blocks},{bytes},{hash:016x},{cpu_1:.3},{cpu_2:.3},{one:.3},{two:.3},{ratio:.2}"
    );
    Ok(())
}

fn pack(folder: &Path, options: Options) -> Outcome<Run> {
    let target = tempfile::tempdir()?;
    let archive = target.path().join("archive.nx");
    let (begun, begun_cpu) = (Instant::now(), process_time());
    let mut builder = Builder::new(options)?;
    builder.add_folder(folder, |_| Some(FileOptions::default()))?;
    let summary = builder.write(&archive)?;
    let (elapsed, cpu) = (begun.elapsed().as_secs_f64(), (process_time() - begun_cpu).as_secs_f64());
    let hash = HashKind::Xxh3.hash_bytes(&fs::read(&archive)?);
    Ok(Run { blocks: summary.blocks, bytes: summary.archive_bytes, hash, cpu, elapsed })
}
