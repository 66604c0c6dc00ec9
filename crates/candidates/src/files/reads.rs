//! Measures memory and random reads of archives.

use std::time::Instant;

use linerate_nx::Archive;
use linerate_plan::{Memory, Read};

use super::samples::open;
use crate::Options;
use crate::nx_settings::Setting;
use crate::sys::clock::footprint;

/// Share of the measurement's time for random reads.
pub(super) const SHARE: f64 = 0.04;
/// Nanoseconds that decoding a byte is assumed to take. This determines the number of random reads,
/// each of which is assumed to decode a whole block.
const READ_COST: f64 = 1.0;
/// Smallest and largest number of random reads from each candidate's archive.
const READS: (f64, f64) = (4.0, 64.0);
/// Bytes of a random read, unless the file is shorter.
const READ_BYTES: u64 = 4096;

/// Returns the number of random reads from each candidate's archive.
pub(super) fn reads(settings: &[Setting], options: &Options) -> usize {
    let block_bytes: f64 = settings.iter().map(|setting| setting.options.chunk as f64).sum();
    let reads = options.seconds * SHARE * 1e9 / (block_bytes * READ_COST);
    reads.clamp(READS.0, READS.1) as usize
}

/// Measures the memory of an open archive, scaled to this many files, and of a reader without a
/// cache of blocks. Each thread has a reader. Where the size of the heap is unknown, estimates the
/// memory from the sizes of the archive's header and of its largest blocks.
pub(super) fn memory(bytes: &[u8], files: u64) -> Result<Memory, String> {
    let (archive, tables) = footprint(|| open(bytes));
    let archive = archive?;
    let largest = archive.files().max_by_key(|file| file.size());
    let (reader, held) = footprint(|| -> Result<_, String> {
        let mut reader = archive.reader().map_err(|e| e.to_string())?;
        reader.cache(0);
        if let Some(file) = largest {
            let mut start = vec![0; file.size().min(READ_BYTES) as usize];
            reader.read_range(file, 0, &mut start).map_err(|e| e.to_string())?;
        }
        Ok(reader)
    });
    drop(reader?);
    // The read above may not have decoded the largest block. A reader that does needs memory for
    // it, decoded and compressed.
    let blocks = archive.layout().largest_content()
        + archive.toc().blocks.iter().map(|block| u64::from(block.compressed)).max().unwrap_or(0);
    let tables = tables.map_or(archive.header().bytes(), |bytes| bytes as u64);
    Ok(Memory {
        per_stream: tables * files / (archive.len() as u64).max(1),
        per_thread: held.map_or(blocks, |bytes| (bytes as u64).max(blocks)),
    })
}

/// Times this many reads of at most `READ_BYTES` bytes from files all over the archive. Before each
/// read it empties the cache of decoded blocks: in a large archive a read rarely finds its block
/// there, but a sample may have so few blocks that it would.
pub(super) fn random_reads(archive: &Archive<&[u8]>, reads: usize) -> Result<Read, String> {
    let mut reader = archive.reader().map_err(|e| e.to_string())?;
    let (mut seconds, mut fetched, mut out) = (Vec::new(), 0, vec![0; READ_BYTES as usize]);
    for i in 0..reads {
        // Multiples of the golden ratio have fractional parts that cover 0 to 1 evenly and jump, so
        // that a read rarely follows the one before it in the archive.
        let at = |n: u64, k: usize| ((k as f64 * 0.618_033_988_749_895).fract() * n as f64) as u64;
        let Some(file) = archive.get(at(archive.len() as u64, i + 1) as usize) else { continue };
        let len = file.size().min(READ_BYTES);
        let offset = at(file.size() - len + 1, i + 7);
        reader.cache(0);
        let begun = Instant::now();
        reader.read_range(file, offset, &mut out[..len as usize]).map_err(|e| e.to_string())?;
        seconds.push(begun.elapsed().as_secs_f64());
        let chunk = if file.is_chunked() { offset / archive.header().chunk.bytes() } else { 0 };
        let block = archive.toc().blocks.get(file.blocks().start + chunk as usize);
        fetched += block.map_or(0, |block| u64::from(block.compressed));
    }
    let mean = fetched as f64 / seconds.len().max(1) as f64;
    Ok(Read { seconds: crate::stats::middle(seconds), fetched: mean })
}
