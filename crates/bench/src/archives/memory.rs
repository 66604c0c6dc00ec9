//! Measures the peak memory of packing and of extracting, beside the memory that they should need;
//! and the size of the archive beside that of a tar.zst.

use std::ffi::OsString;
use std::path::Path;

use linerate_nx::{Archive, FileSource};
use zstd_safe::{CCtx, CParameter};

use super::programs::{Program, TAR_ZSTD};
use super::{Bench, message, pack_options};
use crate::harness::process::peak;
use crate::harness::progress;
use crate::records::Measurement;

/// Measures peaks of resident memory. The metric `counted_by_base` divides a peak by the memory
/// allowed. That is what the program takes to list the archive, and for each thread a chunk and the
/// largest compressed block to extract, or five chunks and libzstd's context to pack: three chunks
/// for the thread, and two for blocks that wait to be written.
pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Vec<Measurement>>, String> {
    static TAR: Program = TAR_ZSTD;
    let mut found = Vec::new();
    for &level in bench.levels {
        for chunk in [1 << 20, 16 << 20] {
            let folder = bench.folder()?;
            let archive = folder.path().join("packed.nx");
            let builder = bench.input.builder(pack_options(level, chunk, 2))?;
            let bytes = builder.write(&archive).map_err(message)?.archive_bytes;
            let block = format!("{}M", chunk >> 20);
            let size =
                bench.row("size", "linerate", 2, "").param("block", block.as_str()).param("level", level);
            let tar = TAR.packed(&bench.input.root, folder.path(), level).ok();
            let by_tar = tar.map(|tar| bytes as f64 / tar.bytes as f64);
            found.push(bench.sized(size.param("base", "tar --zstd"), bytes).exact("output_by_base", by_tar));
            let packed = largest(&archive)?;
            let own = peak(&bench.linerate, &["nx".into(), "list".into(), (&archive).into()])? as u64;
            for threads in [1, 2] {
                progress(&format!("memory of {}: {} MiB blocks, x{threads}", bench.input.name, chunk >> 20));
                let row = |what: &str, each: u64, args: Vec<OsString>| {
                    let (peak, allowed) = (peak(&bench.linerate, &args)?, own + threads as u64 * each);
                    let row = bench.row("memory", "linerate", threads, "").size("counted", peak);
                    let row = row.param("operation", what).param("block", block.as_str());
                    let row = row.param("level", level);
                    let row = row.exact("counted_by_base", peak as f64 / allowed as f64);
                    Ok::<_, String>(row.param("base", "allowed"))
                };
                let (out, again) = (folder.path().join("out"), folder.path().join("again.nx"));
                found.push(row("extract", chunk + packed, extract(&archive, &out, threads))?);
                std::fs::remove_dir_all(&out).map_err(message)?;
                let each = 5 * chunk + codec(level, chunk)?;
                found.push(row("pack", each, pack(&bench.input.root, &again, level, chunk, threads))?);
                std::fs::remove_file(&again).map_err(message)?;
            }
        }
    }
    progress("");
    Ok(vec![found])
}

/// Compressed size of the largest block of an archive, in bytes.
fn largest(archive: &Path) -> Result<u64, String> {
    let archive = Archive::open(FileSource::open(archive).map_err(message)?).map_err(message)?;
    let largest = archive.toc().blocks.iter().map(|block| u64::from(block.compressed)).max();
    Ok(largest.unwrap_or(0))
}

/// Size of libzstd's context once it has compressed a block of `chunk` bytes at this level, in
/// bytes.
fn codec(level: i32, chunk: u64) -> Result<u64, String> {
    let name = zstd_safe::get_error_name;
    let mut context = CCtx::create();
    context.set_parameter(CParameter::CompressionLevel(level)).map_err(name)?;
    let block: Vec<u8> = (0..chunk as u32).map(|i| (i.wrapping_mul(i) >> 9) as u8).collect();
    let mut out = vec![0; zstd_safe::compress_bound(block.len())];
    context.compress2(&mut out[..], &block).map_err(name)?;
    Ok(context.sizeof() as u64)
}

fn extract(archive: &Path, out: &Path, threads: usize) -> Vec<OsString> {
    let threads = threads.to_string();
    let words = ["nx", "extract", "-q", "-p", &threads].map(OsString::from);
    words.into_iter().chain([archive.into(), "-o".into(), out.into()]).collect()
}

fn pack(root: &Path, target: &Path, level: i32, chunk: u64, threads: usize) -> Vec<OsString> {
    let (level, threads) = (level.to_string(), threads.to_string());
    let (chunk, solid) = (chunk.to_string(), (chunk - 1).to_string());
    let words = ["nx", "pack", "-q", "-p", &threads, "--solidlevel", &level, "--chunkedlevel", &level];
    let sizes = ["--chunksize", &chunk, "--blocksize", &solid];
    let words = words.iter().chain(&sizes).map(OsString::from);
    words.chain([root.into(), "-o".into(), target.into()]).collect()
}
