//! Measures a `Reader` on one archive: sequential ranges beside whole files, and small files in
//! table order beside block order. CPU time of the thread, best of several turns.
//!
//!     cargo run --release -p linerate-nx --example reading -- ARCHIVE [TURNS]

mod common;

use std::error::Error;
use std::hint::black_box;
use std::time::Duration;

use common::thread_time;
use linerate_nx::{Archive, File, FileSource};

type Outcome<T> = Result<T, Box<dyn Error>>;

const STEPS: [usize; 5] = [4 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20];

/// Small files: what solid blocks are made of.
const SMALL: u64 = 64 << 10;

fn main() -> Outcome<()> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("usage: reading ARCHIVE [TURNS]")?;
    let turns: usize = args.next().map_or(Ok(5), |turns| turns.parse())?;
    let archive = Archive::open(FileSource::open(&path)?)?;
    sequential(&archive, turns)?;
    orders(&archive, turns)
}

/// Files of at least a chunk, whole and in steps.
fn sequential(archive: &Archive<FileSource>, turns: usize) -> Outcome<()> {
    let large: Vec<File<'_>> =
        archive.files().filter(|file| file.size() >= archive.header().chunk.bytes() / 2).collect();
    let bytes: u64 = large.iter().map(File::size).sum();
    let most = large.iter().map(File::size).max().unwrap_or(0) as usize;
    println!("{} files of half a chunk and more, {bytes} bytes", large.len());
    let mut whole = vec![0; most];
    // Whole and steps take turns, so that both see the same machine.
    let mut best = vec![Duration::MAX; STEPS.len() + 1];
    for _ in 0..turns {
        let mut reader = archive.reader()?;
        let begun = thread_time();
        for file in &large {
            black_box(reader.read_into(*file, &mut whole)?);
        }
        best[0] = best[0].min(thread_time() - begun);
        for (step, best) in STEPS.iter().zip(&mut best[1..]) {
            let mut reader = archive.reader()?;
            let mut out = vec![0; *step];
            let begun = thread_time();
            for file in &large {
                let mut at = 0;
                while at < file.size() {
                    let len = (*step as u64).min(file.size() - at) as usize;
                    reader.read_range(*file, at, &mut out[..len])?;
                    black_box(&out);
                    at += len as u64;
                }
            }
            *best = (*best).min(thread_time() - begun);
        }
    }
    let speed = |time: Duration| bytes as f64 / time.as_secs_f64() / 1e6;
    println!("whole files    {:8.0} MB/s", speed(best[0]));
    for (step, time) in STEPS.iter().zip(&best[1..]) {
        let share = speed(*time) / speed(best[0]);
        println!("{:>8} bytes {:8.0} MB/s, {share:.3} of whole", step, speed(*time));
    }
    Ok(())
}

/// Small files one by one, in the order of the table and in that of blocks.
fn orders(archive: &Archive<FileSource>, turns: usize) -> Outcome<()> {
    let small: Vec<File<'_>> = archive.files().filter(|file| (1..=SMALL).contains(&file.size())).collect();
    let mut by_block = small.clone();
    by_block.sort_by_key(|file| (file.entry().first_block, file.entry().block_offset));
    let blocks: std::collections::BTreeSet<u32> = small.iter().map(|file| file.entry().first_block).collect();
    println!("{} files of at most {SMALL} bytes in {} blocks", small.len(), blocks.len());
    let mut best = [Duration::MAX; 2];
    for _ in 0..turns {
        for (order, best) in [&by_block, &small].into_iter().zip(&mut best) {
            let mut reader = archive.reader()?;
            let begun = thread_time();
            for file in order {
                black_box(reader.read(*file)?);
            }
            *best = (*best).min(thread_time() - begun);
        }
    }
    let each = |time: Duration| time.as_secs_f64() * 1e6 / small.len().max(1) as f64;
    println!("block order    {:8.2} us each", each(best[0]));
    println!("table order    {:8.2} us each, {:.2} times", each(best[1]), each(best[1]) / each(best[0]));
    Ok(())
}
