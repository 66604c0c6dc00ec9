//! Measures decoding archives in memory into reused buffers: our decoder beside libzstd alone, and
//! blocks of LZ4 by two libraries.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use linerate_candidates::cpu_time;
use linerate_nx::{Archive, Codec, Verifier};
use zstd_safe::DCtx;

use super::{Bench, CHUNK, message, open_bytes, pack_options};
use crate::harness::{Clock, Contender, Rounds, measure as harness, progress};
use crate::records::Measurement;

type InMemory<'b> = Archive<&'b [u8]>;

pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Vec<Measurement>>, String> {
    let mut found = Vec::new();
    for &level in bench.levels {
        progress(&format!("packing {} at level {level}", bench.input.name));
        let (bytes, summary) = bench.input.pack(pack_options(level, CHUNK, 2))?;
        let archive = open_bytes(&bytes)?;
        let (content, begun) = (bench.input.bytes as usize, Instant::now());
        let row = |name: &str, threads: usize, clock: &str| {
            let row = bench.row("decode", name, threads, clock).param("level", level);
            bench.sized(row, summary.archive_bytes)
        };
        let linerate = |verifies: bool, threads: usize, clock: &'static str| {
            let row = row("linerate", threads, clock).param("verify", if verifies { "yes" } else { "no" });
            let archive = &archive;
            let turn = move |_| match clock {
                "cpu" => ours(archive, threads, verifies, cpu_time),
                _ => ours(archive, threads, verifies, || begun.elapsed()),
            };
            Contender::new(row, turn).bytes(content).seconds(if clock == "cpu" { "cpu" } else { "elapsed" })
        };
        // One thread is measured in CPU time, which other work on the machine affects less, and
        // then again by the wall clock, beside two threads.
        let mut raw = Raw::new(&archive);
        let libzstd = Contender::timed(row("libzstd", 1, "cpu"), Clock::Cpu, |_| raw.each(|_| ()));
        let by_cpu = vec![
            libzstd.bytes(content).seconds("cpu"),
            linerate(false, 1, "cpu").base(0, "libzstd"),
            linerate(true, 1, "cpu").base(1, "linerate --no-verify").base(0, "libzstd"),
        ];
        let by_wall = vec![
            linerate(false, 1, "wall"),
            linerate(false, 2, "wall").base(0, "linerate --no-verify x1"),
            linerate(true, 1, "wall"),
            linerate(true, 2, "wall").base(2, "linerate x1"),
        ];
        for contenders in [by_cpu, by_wall] {
            found.push(harness(contenders, Rounds::warm(bench.rounds))?);
        }
    }
    Ok(found)
}

/// Decodes all blocks as `linerate nx verify` does, with or without checking hashes, and returns
/// the time by the clock `now`. The clock stops at the last block, because the other checks of
/// verifying are not decoding.
pub(super) fn ours(
    archive: &InMemory<'_>,
    threads: usize,
    verifies: bool,
    now: impl Fn() -> Duration + Sync,
) -> Result<Duration, String> {
    let begun = now();
    let last = AtomicU64::new(0);
    let watch = |_: &_| {
        last.fetch_max((now() - begun).as_nanos() as u64, Ordering::Relaxed);
        true
    };
    let verified =
        Verifier::new(archive).threads(threads).hashes(verifies).on_progress(watch).run().map_err(message)?;
    match verified.failures.into_iter().next() {
        Some(failure) => Err(message(failure)),
        None => Ok(Duration::from_nanos(last.into_inner())),
    }
}

/// Decodes an archive with libzstd alone, with one context and one buffer for all blocks. Stored
/// blocks are copied.
pub(super) struct Raw<'a> {
    context: DCtx<'static>,
    blocks: Vec<(Codec, &'a [u8], usize)>,
    out: Vec<u8>,
}

impl<'a> Raw<'a> {
    /// The archive must have no filtered blocks, because libzstd would decode them to filtered
    /// content.
    pub(super) fn new(archive: &'a InMemory<'a>) -> Raw<'a> {
        debug_assert!(!archive.header().filtered);
        let blocks = blocks(archive);
        let longest = blocks.iter().map(|block| block.2).max().unwrap_or(0);
        Raw { context: DCtx::create(), blocks, out: vec![0; longest] }
    }

    /// Decodes each block and passes its content to `take`. A block of LZ4 is an error.
    pub(super) fn each(&mut self, mut take: impl FnMut(&[u8])) -> Result<(), String> {
        for &(codec, block, len) in &self.blocks {
            let out = &mut self.out[..len];
            match codec {
                Codec::Copy => out.copy_from_slice(&block[..len]),
                Codec::Zstd => {
                    let found = self.context.decompress(out, block).map_err(zstd_safe::get_error_name)?;
                    if found != len {
                        return Err(format!("libzstd decodes {found} bytes of a block of {len}"));
                    }
                }
                Codec::Lz4 => return Err("a block of LZ4 among those of zstd".into()),
            }
            take(out);
        }
        Ok(())
    }
}

/// Codec, compressed bytes and content length of each block.
fn blocks<'a>(archive: &'a InMemory<'a>) -> Vec<(Codec, &'a [u8], usize)> {
    let (layout, bytes): (_, &'a [u8]) = (archive.layout(), archive.source());
    let of = |(i, block): (usize, &linerate_nx::Block)| {
        let start = layout.offset(i) as usize;
        (block.codec, &bytes[start..start + block.compressed as usize], layout.content(i) as usize)
    };
    archive.toc().blocks.iter().enumerate().map(of).collect()
}

/// Measures decoding the LZ4 blocks of archives, packed at levels 1 and 12, with `lz4_flex` and
/// with liblz4.
#[cfg(feature = "lz4")]
pub(super) fn lz4(bench: &Bench<'_>) -> Result<Vec<Vec<Measurement>>, String> {
    let mut found = Vec::new();
    for level in [1, 12] {
        let coding = linerate_nx::pack::Coding::lz4(level);
        let (bytes, _) = bench.input.pack(pack_options(1, CHUNK, 2).solid(coding).chunked(coding))?;
        let archive = open_bytes(&bytes)?;
        let blocks: Vec<_> = blocks(&archive).into_iter().filter(|block| block.0 == Codec::Lz4).collect();
        let content: usize = blocks.iter().map(|block| block.2).sum();
        type Decode = fn(&[u8], &mut [u8]) -> Option<usize>;
        let flex: Decode = |block, out| lz4_flex::block::decompress_into(block, out).ok();
        let mut out = vec![0; blocks.iter().map(|block| block.2).max().unwrap_or(0)];
        let out = std::cell::RefCell::new(&mut out);
        let contender = |name: &str, decode: Decode| {
            let (blocks, out) = (&blocks, &out);
            let row = bench.row("lz4", name, 1, "cpu").param("level", level);
            let work = move |_| {
                let out = &mut *out.borrow_mut();
                let one = |&(_, block, len): &(_, &[u8], usize)| {
                    decode(std::hint::black_box(block), &mut out[..len]) == Some(len)
                };
                if blocks.iter().all(one) { Ok(()) } else { Err("a damaged block".to_owned()) }
            };
            Contender::timed(row, Clock::Thread, work).bytes(content)
        };
        let contenders = vec![
            contender("liblz4", crate::kernel::lz4::decompress),
            contender("lz4_flex", flex).base(0, "liblz4").by_cost(),
        ];
        if content > 0 {
            found.push(harness(contenders, Rounds::warm(bench.rounds))?);
        }
    }
    Ok(found)
}

/// Returns nothing: without the feature `lz4` there is no liblz4 to compare with.
#[cfg(not(feature = "lz4"))]
pub(super) fn lz4(_: &Bench<'_>) -> Result<Vec<Vec<Measurement>>, String> {
    eprintln!("lz4: built without the feature `lz4`");
    Ok(Vec::new())
}
