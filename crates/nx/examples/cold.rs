//! Reading an archive that no cache holds: wall time beside that of reading alone and of decoding alone. CSV, a row for each
//! number of threads, medians of TURNS. Linux.
//!
//!     cargo run --release -p linerate-nx --example cold -- TURNS THREADS,... ARCHIVE...
//!
//! Reading is that of the file from its start to its end in steps of 4 MiB, decoding that of every block with hashes checked and
//! the file in the system's cache; `hinted` and `plain` do both, with `ReadAt::will_read` passed to the system and without. The file
//! leaves the system's cache before each.

mod common;

use std::error::Error;
use std::fs::File;
use std::io;
use std::time::Instant;

use common::median;
use linerate_nx::{Archive, FileSource, ReadAt, Verifier};
use rustix::fs::{Advice, fadvise};

type Outcome<T> = Result<T, Box<dyn Error>>;

const STEP: usize = 4 << 20;

/// A file whose system is told nothing.
struct Unhinted(FileSource);

impl ReadAt for Unhinted {
    fn len(&self) -> u64 {
        self.0.len()
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read_at(offset, out)
    }
}

fn main() -> Outcome<()> {
    let mut args = std::env::args().skip(1);
    let usage = "usage: cold TURNS THREADS,... ARCHIVE...";
    let turns: usize = args.next().ok_or(usage)?.parse()?;
    let threads = args.next().ok_or(usage)?;
    println!(
        "archive,bytes,content_bytes,threads,read_s,decode_s,plain_s,hinted_s,plain_by_ideal,hinted_by_ideal"
    );
    for path in args {
        for threads in threads.split(',') {
            measure(&path, threads.parse()?, turns.max(1))?;
        }
    }
    Ok(())
}

fn measure(path: &str, threads: usize, turns: usize) -> Outcome<()> {
    let archive = Archive::open(FileSource::open(path)?)?;
    let plain = Archive::open(Unhinted(FileSource::open(path)?))?;
    let [mut reads, mut decodes, mut plains, mut hinted] = [const { Vec::new() }; 4];
    for _ in 0..turns {
        forget(path)?;
        plains.push(time(|| verify(&plain, threads))?);
        forget(path)?;
        hinted.push(time(|| verify(&archive, threads))?);
        forget(path)?;
        reads.push(time(|| read(&archive))?);
        decodes.push(time(|| verify(&archive, threads))?);
    }
    let content: u64 = archive.files().map(|file| file.size()).sum();
    let [read, decode, plain, hinted] = [reads, decodes, plains, hinted].map(median);
    let ideal = read.max(decode);
    let name = std::path::Path::new(path).file_name().unwrap_or_default().to_string_lossy();
    println!(
        "{name},{},{content},{threads},{read:.2},{decode:.2},{plain:.2},{hinted:.2},{:.3},{:.3}",
        archive.source().len(),
        plain / ideal,
        hinted / ideal
    );
    Ok(())
}

/// Drops the file's pages from the system's cache.
fn forget(path: &str) -> io::Result<()> {
    let file = File::open(path)?;
    file.sync_all()?;
    Ok(fadvise(&file, 0, None, Advice::DontNeed)?)
}

fn time(work: impl FnOnce() -> Outcome<()>) -> Outcome<f64> {
    let begun = Instant::now();
    work()?;
    Ok(begun.elapsed().as_secs_f64())
}

fn read(archive: &Archive<FileSource>) -> Outcome<()> {
    let (source, mut buffer) = (archive.source(), vec![0; STEP]);
    for offset in (0..source.len()).step_by(STEP) {
        let len = (source.len() - offset).min(STEP as u64) as usize;
        source.read_at(offset, &mut buffer[..len])?;
    }
    Ok(())
}

fn verify<S: ReadAt>(archive: &Archive<S>, threads: usize) -> Outcome<()> {
    match Verifier::new(archive).threads(threads).run()?.failures.is_empty() {
        true => Ok(()),
        false => Err("a file of the archive is damaged".into()),
    }
}
