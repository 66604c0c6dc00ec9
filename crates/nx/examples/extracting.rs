//! Extracts an archive to a new folder: a line of CSV with the time it took, and the bytes that the system allocated. For pairs
//! of runs of two builds.
//!
//!     cargo run --release -p linerate-nx --example extracting -- THREADS ARCHIVE FOLDER

mod common;

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Instant;

use common::process_time;
use linerate_nx::{Archive, Extractor, FileSource};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [threads, path, folder] = args.as_slice() else {
        return Err("usage: extracting THREADS ARCHIVE FOLDER".into());
    };
    let archive = Archive::open(FileSource::open(path)?)?;
    let (begun, begun_cpu) = (Instant::now(), process_time());
    let done = Extractor::new(&archive).threads(threads.parse()?).to_folder(folder)?;
    let (wall, cpu) = (begun.elapsed(), process_time() - begun_cpu);
    if let Some(failure) = done.failures.first() {
        return Err(failure.to_string().into());
    }
    let (wall, cpu) = (wall.as_secs_f64() * 1e3, cpu.as_secs_f64() * 1e3);
    let allocated = allocated(Path::new(folder))?;
    println!("{threads},{},{},{wall:.2},{cpu:.2},{allocated}", done.files, done.bytes);
    Ok(())
}

/// Bytes that the system has allocated for the files below a folder.
fn allocated(folder: &Path) -> std::io::Result<u64> {
    let mut sum = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        sum += match entry.file_type()?.is_dir() {
            true => allocated(&entry.path())?,
            false => std::os::unix::fs::MetadataExt::blocks(&entry.metadata()?) * 512,
        };
    }
    Ok(sum)
}
