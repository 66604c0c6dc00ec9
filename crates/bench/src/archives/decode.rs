//! All blocks decoded in memory, into buffers that are used again: ours, and libzstd alone.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use linerate_nx::{Archive, Codec, Verifier};
use zstd_safe::DCtx;

use super::input::{message, open, pack_options};
use super::rounds::{self, Contender, cpu};
use super::row::{Row, Target};
use super::{BenchOptions, CHUNK};

type InMemory<'b> = Archive<&'b [u8]>;

pub(super) fn measure(options: &BenchOptions<'_>, progress: fn(&str)) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for &level in options.levels {
        progress(&format!("packing {} at level {level}", options.input.name));
        let (bytes, summary) = options.input.pack(pack_options(level, CHUNK, 2))?;
        let archive = open(&bytes)?;
        let measured = rounds::measure(one_thread(options, &archive, level), options.rounds, progress)?;
        rows.extend(measured);
        rows.extend(rounds::measure(two_threads(options, &archive, level), options.rounds, progress)?);
        for row in rows.iter_mut().filter(|row| row.archive_bytes.is_none()) {
            row.archive_bytes = Some(summary.archive_bytes);
            row.ratio = Some(summary.archive_bytes as f64 / row.bytes as f64);
        }
    }
    Ok(rows)
}

/// By CPU time: what other work there is on the machine shows less in it.
fn one_thread<'a>(options: &BenchOptions<'_>, archive: &'a InMemory<'a>, level: i32) -> Vec<Contender<'a>> {
    let row = |name: &str| options.row("decode", format!("{name} zstd {level}"), 1, "cpu");
    let mut raw = Raw::new(archive);
    vec![
        Contender {
            row: Row { version: libzstd(), ..row("libzstd") },
            turn: Box::new(move || cpu(|| raw.decode()).map(|(_, time)| time)),
            bases: vec![],
        },
        Contender {
            row: row("linerate --no-verify"),
            turn: Box::new(|| ours(archive, 1, false, crate::cpu_time)),
            bases: vec![(0, Some(Target::AtLeast(0.95)))],
        },
        Contender {
            row: row("linerate"),
            turn: Box::new(|| ours(archive, 1, true, crate::cpu_time)),
            // 8 % more time than without.
            bases: vec![(1, Some(Target::AtLeast(round3(1.0 / 1.08)))), (0, None)],
        },
    ]
}

fn two_threads<'a>(options: &BenchOptions<'_>, archive: &'a InMemory<'a>, level: i32) -> Vec<Contender<'a>> {
    let begun = Instant::now();
    let now = move || begun.elapsed();
    let mut contenders = Vec::new();
    for (verifies, name) in [(false, "linerate --no-verify"), (true, "linerate")] {
        for threads in [1, 2] {
            contenders.push(Contender {
                row: options.row("decode", format!("{name} zstd {level} x{threads}"), threads, "wall"),
                turn: Box::new(move || ours(archive, threads, verifies, now)),
                bases: match threads {
                    2 => vec![(contenders.len() - 1, Some(Target::AtLeast(1.85)))],
                    _ => vec![],
                },
            });
        }
    }
    contenders
}

fn round3(x: f64) -> f64 {
    (x * 1e3).round() / 1e3
}

/// Decodes all blocks as `linerate nx verify` does. The clock stops at the last block: what else
/// verifying looks at is not decoding.
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

/// libzstd alone: one context, one buffer, every block of the archive. Stored blocks are copied.
pub(super) struct Raw<'a> {
    context: DCtx<'static>,
    blocks: Vec<(Codec, &'a [u8], usize)>,
    out: Vec<u8>,
}

impl<'a> Raw<'a> {
    /// The blocks must not be filtered, as in every archive that the bench packs.
    pub(super) fn new(archive: &'a InMemory<'a>) -> Raw<'a> {
        debug_assert!(!archive.header().filtered);
        let (layout, bytes): (_, &'a [u8]) = (archive.layout(), archive.source());
        let of = |(i, block): (usize, &linerate_nx::Block)| {
            let start = layout.offset(i) as usize;
            (block.codec, &bytes[start..start + block.compressed as usize], layout.content(i) as usize)
        };
        let blocks: Vec<_> = archive.toc().blocks.iter().enumerate().map(of).collect();
        let longest = blocks.iter().map(|block| block.2).max().unwrap_or(0);
        Raw { context: DCtx::create(), blocks, out: vec![0; longest] }
    }

    fn decode(&mut self) -> Result<(), String> {
        self.each(|_| ())
    }

    /// Decodes each block and hands its content on.
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

/// The version of libzstd that this program and the engine use.
pub(super) fn libzstd() -> String {
    let number = zstd_safe::version_number();
    format!("{}.{}.{}", number / 10_000, number / 100 % 100, number % 100)
}
