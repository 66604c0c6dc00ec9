//! Loads 100 files of an archive into memory, in parallel, with progress.
//!
//!     cargo run --release -p linerate-nx --example load -- ARCHIVE

use std::error::Error;

use linerate_nx::shared::{Executor, SharedArchive, SharedOptions};
use linerate_nx::{Archive, FileSource};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: load ARCHIVE")?;
    let archive = Archive::open(FileSource::open(path)?)?;
    let options = SharedOptions::new().executor(Executor::threads(4));
    let assets = SharedArchive::with_options(archive, options)?;

    // Files are in the order of their blocks, so the first 100 files share the decoded blocks.
    let paths: Vec<String> = assets.archive().files().take(100).map(|file| file.path().to_owned()).collect();
    let batch = assets.batch(&paths)?.on_progress(|progress| {
        eprint!("\r{} of {} bytes", progress.bytes, progress.total_bytes);
        true // false would stop the loading
    });
    let loading = batch.read_many()?; // on the four threads, while this one may draw a loading screen
    let loaded = loading.wait();
    eprintln!();
    for failure in &loaded.failures {
        eprintln!("{failure}");
    }
    let bytes: usize = loaded.contents.iter().flatten().map(Vec::len).sum();
    println!("{} of {} files, {bytes} bytes", loaded.contents.iter().flatten().count(), paths.len());
    Ok(())
}
