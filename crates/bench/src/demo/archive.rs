//! Packs the project's sources, documents and test data into an Nx archive, and reads single files,
//! beside one zstd frame over all of the data, which is what `tar --zstd` makes.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use linerate_bench::harness::corpus::files_below;
use linerate_candidates::stats;
use linerate_nx::pack::{Builder, PackOptions};
use linerate_nx::{Archive, Verifier};

const FOLDERS: [&str; 3] = ["crates", "docs", "testdata"];
/// zstd level of the one frame. It lies between the default levels of `nx pack`, which are 16 for
/// small files and 9 for larger ones.
const ZSTD_LEVEL: i32 = 12;
/// Maximum number of files that are read alone, spread over the archive.
const READS: usize = 50;

pub(super) fn run() -> Result<String, String> {
    let files =
        FOLDERS.iter().map(|folder| files_below(Path::new(folder))).collect::<Result<Vec<_>, _>>()?.concat();
    let (nx, content) = pack(&files)?;
    let archive = Archive::open(&nx[..]).map_err(|e| e.to_string())?;
    let verified = Verifier::new(&archive).run().map_err(|e| e.to_string())?;
    if let Some(failure) = verified.failures.first() {
        return Err(failure.to_string());
    }
    let all: Vec<u8> = files.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>()?.concat();
    let mut frame = Vec::with_capacity(zstd_safe::compress_bound(all.len()));
    zstd_safe::compress(&mut frame, &all, ZSTD_LEVEL).map_err(zstd_error)?;
    let ratio = |size: usize| content as f64 / size as f64;
    Ok(format!(
        "{} files: an Nx archive is {:.1} times smaller and reads one file in {:.2} ms; one frame of \
         libzstd {ZSTD_LEVEL} is {:.1} times smaller, and takes {:.2} ms to reach the middle file.",
        files.len(),
        ratio(nx.len()),
        1e3 * read_single_files(&archive)?,
        ratio(frame.len()),
        1e3 * half_of(&frame, &all)?
    ))
}

/// Packs files into memory. Returns the archive, and the number of bytes of its content.
fn pack(files: &[PathBuf]) -> Result<(Vec<u8>, u64), String> {
    let mut builder = Builder::new(PackOptions::new()).map_err(|e| e.to_string())?;
    for (i, path) in files.iter().enumerate() {
        builder.add_path(format!("{i}"), path).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    let (bytes, summary) = builder.to_bytes().map_err(|e| e.to_string())?;
    Ok((bytes, summary.bytes))
}

/// Median time to read a single file, in seconds.
fn read_single_files(archive: &Archive<&[u8]>) -> Result<f64, String> {
    let mut times = Vec::new();
    for i in 0..READS.min(archive.len()) {
        let Some(file) = archive.get(i * archive.len() / READS) else { continue };
        let begun = Instant::now();
        archive.read(file).map_err(|e| e.to_string())?;
        times.push(begun.elapsed().as_secs_f64());
    }
    Ok(stats::middle(times))
}

/// Half of the time to decode the whole frame, in seconds. It stands for reading a file in the
/// middle, which cannot be reached without decoding everything before it.
fn half_of(frame: &[u8], all: &[u8]) -> Result<f64, String> {
    let mut out = vec![0; all.len()];
    let begun = Instant::now();
    zstd_safe::decompress(&mut out[..], frame).map_err(zstd_error)?;
    let seconds = begun.elapsed().as_secs_f64() / 2.0;
    if out == all { Ok(seconds) } else { Err("libzstd decodes to different bytes".into()) }
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|e| format!("{}: {e}", path.display()))
}

fn zstd_error(code: usize) -> String {
    zstd_safe::get_error_name(code).into()
}
