//! Texture filters before zstd, beside zstd alone: CSV, one row per filter and set of files, for the textures below FOLDERs
//! that have a header. Blocks of 1 MiB. `best` is what a trial by size picks, block by block. Decoding is CPU time, with the
//! inverse filter, median of TURNS; the inverse alone is timed on 128 KiB.
//!
//! Filters were tuned on the files of set `tuning` alone: those for which the bytes of the last folder's and the file's name
//! add up to 0 or 1 modulo 4. The others are `unseen`.
//!
//!     cargo run --release -p linerate-nx --example filters -- LEVEL TURNS FOLDER...

mod common;

use std::error::Error;
use std::hint::black_box;
use std::path::{Path, PathBuf};

use common::{files_below, median, thread_time};
use linerate_nx::filter::{Filter, TextureFormat, detect};
use zstd_safe::{CCtx, DCtx};

type Outcome<T> = Result<T, Box<dyn Error>>;

const BLOCK: usize = 1 << 20;
const IN_CACHE: usize = 128 << 10;

fn main() -> Outcome<()> {
    let mut args = std::env::args().skip(1);
    let usage = "usage: filters LEVEL TURNS FOLDER...";
    let level: i32 = args.next().ok_or(usage)?.parse()?;
    let turns: usize = args.next().ok_or(usage)?.parse()?;
    let files = files_below(args)?;
    println!(
        "format,set,files,bytes,filter,size_by_content,size_by_plain,mb_s,filtered_mb_s,cpu_speed_ratio,inverse_gb_s"
    );
    for &format in TextureFormat::ALL {
        for (set, bit) in [("tuning", 0), ("unseen", 1)] {
            let textures = load(&files, format, bit)?;
            if !textures.is_empty() {
                measure(format, set, &textures, level, turns.max(1))?;
            }
        }
    }
    Ok(())
}

/// The texels of the files with this format and this bit 1 of the sum of their name's bytes.
fn load(files: &[PathBuf], format: TextureFormat, bit: u32) -> Outcome<Vec<Vec<u8>>> {
    let mut found = Vec::new();
    for path in files {
        let names = path.parent().and_then(Path::file_name).into_iter().chain(path.file_name());
        let sum: u32 = names.flat_map(|name| name.as_encoded_bytes()).map(|&byte| u32::from(byte)).sum();
        if (sum >> 1) & 1 == bit {
            let mut content = std::fs::read(path)?;
            if let Some(texture) = detect(&content).filter(|texture| texture.format == format) {
                found.push(content.split_off(texture.start.min(content.len())));
            }
        }
    }
    Ok(found)
}

/// A block as stored: compressed, and the filter to undo.
struct Stored {
    compressed: Vec<u8>,
    filter: Option<Filter>,
}

fn measure(format: TextureFormat, set: &str, textures: &[Vec<u8>], level: i32, turns: usize) -> Outcome<()> {
    let blocks: Vec<&[u8]> = textures.iter().flat_map(|texels| texels.chunks(BLOCK)).collect();
    let bytes: usize = blocks.iter().map(|block| block.len()).sum();
    let plain = store(&blocks, None, level)?;
    let mut variants = Vec::new();
    for &filter in format.filters() {
        variants.push((filter.name(), store(&blocks, Some(filter), level)?));
    }
    let best = (0..blocks.len()).map(|i| {
        let all = variants.iter().map(|(_, stored)| &stored[i]).chain([&plain[i]]);
        let least = all.min_by_key(|stored| stored.compressed.len()).expect("plain at least");
        Stored { compressed: least.compressed.clone(), filter: least.filter }
    });
    let best = best.collect();
    variants.push(("best", best));
    for (name, stored) in &variants {
        let (mut plain_speeds, mut speeds, mut ratios) = (vec![], vec![], vec![]);
        for _ in 0..turns {
            let (plain_time, time) = (decode(&plain)?, decode(stored)?);
            plain_speeds.push(bytes as f64 / plain_time / 1e6);
            speeds.push(bytes as f64 / time / 1e6);
            ratios.push(plain_time / time);
        }
        let (size, plain_size) = (total(stored), total(&plain));
        println!(
            "{},{set},{},{bytes},{name},{:.4},{:.4},{:.0},{:.0},{:.3},{}",
            format.name(),
            textures.len(),
            size as f64 / bytes as f64,
            size as f64 / plain_size as f64,
            median(plain_speeds),
            median(speeds),
            median(ratios),
            Filter::from_name(name)
                .map_or(String::new(), |filter| format!("{:.1}", inverse(filter, &blocks)))
        );
    }
    Ok(())
}

fn total(stored: &[Stored]) -> usize {
    stored.iter().map(|stored| stored.compressed.len()).sum()
}

fn store(blocks: &[&[u8]], filter: Option<Filter>, level: i32) -> Outcome<Vec<Stored>> {
    let mut context = CCtx::create();
    let mut filtered = vec![0; BLOCK];
    let mut stored = Vec::new();
    for block in blocks {
        let filtered = &mut filtered[..block.len()];
        match filter {
            Some(filter) => filter.apply(block, filtered),
            None => filtered.copy_from_slice(block),
        }
        let mut compressed = Vec::with_capacity(zstd_safe::compress_bound(block.len()));
        context.compress(&mut compressed, filtered, level).map_err(zstd_safe::get_error_name)?;
        stored.push(Stored { compressed, filter });
    }
    Ok(stored)
}

/// Decodes every block into the same buffer. Returns seconds of CPU time.
fn decode(stored: &[Stored]) -> Outcome<f64> {
    let mut context = DCtx::create();
    let (mut filtered, mut content) = (vec![1; BLOCK], vec![1; BLOCK]);
    let begun = thread_time();
    for Stored { compressed, filter } in stored {
        let target = if filter.is_some() { &mut filtered } else { &mut content };
        let len = context.decompress(&mut target[..], compressed).map_err(zstd_safe::get_error_name)?;
        if let Some(filter) = filter {
            filter.invert(&filtered[..len], &mut content[..len]);
        }
        black_box(&content);
    }
    Ok((thread_time() - begun).as_secs_f64())
}

/// GB/s of the inverse alone, on the beginning of the first block that is long enough.
fn inverse(filter: Filter, blocks: &[&[u8]]) -> f64 {
    let Some(block) = blocks.iter().find(|block| block.len() >= IN_CACHE) else { return 0.0 };
    let (mut filtered, mut content) = (vec![0; IN_CACHE], vec![0; IN_CACHE]);
    filter.apply(&block[..IN_CACHE], &mut filtered);
    let speeds = (0..9).map(|_| {
        let begun = thread_time();
        for _ in 0..500 {
            filter.invert(black_box(&filtered), &mut content);
            black_box(&content);
        }
        (500 * IN_CACHE) as f64 / (thread_time() - begun).as_secs_f64() / 1e9
    });
    median(speeds.collect())
}
