//! Archives decoded in memory, into buffers that are used again: ours, and libzstd alone; by preset and setting; blocks of
//! LZ4 by two libraries.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use linerate_candidates::cpu_time;
use linerate_nx::pack::{Coding, MAX_CHUNK, PRESETS, PackOptions, Zstd};
use linerate_nx::{Archive, Codec, Limits, Verifier};
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
        // By CPU time: what other work there is on the machine shows less in it.
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

/// Decodes all blocks as `linerate nx verify` does. The clock stops at the last block: what else verifying looks at is not
/// decoding.
fn ours(
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
        let blocks = blocks(archive);
        let longest = blocks.iter().map(|block| block.2).max().unwrap_or(0);
        Raw { context: DCtx::create(), blocks, out: vec![0; longest] }
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

/// Codec, bytes and length of the content of each block.
fn blocks<'a>(archive: &'a InMemory<'a>) -> Vec<(Codec, &'a [u8], usize)> {
    let (layout, bytes): (_, &'a [u8]) = (archive.layout(), archive.source());
    let of = |(i, block): (usize, &linerate_nx::Block)| {
        let start = layout.offset(i) as usize;
        (block.codec, &bytes[start..start + block.compressed as usize], layout.content(i) as usize)
    };
    archive.toc().blocks.iter().enumerate().map(of).collect()
}

/// Decodes the LZ4 blocks of an archive by `lz4_flex` and, with the feature `lz4`, by liblz4.
#[cfg(feature = "lz4")]
pub(super) fn lz4(bench: &Bench<'_>) -> Result<Vec<Vec<Measurement>>, String> {
    let mut found = Vec::new();
    for level in [1, 12] {
        let coding = Coding::lz4(level);
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

/// Without the feature `lz4` there is nothing to compare.
#[cfg(not(feature = "lz4"))]
pub(super) fn lz4(_: &Bench<'_>) -> Result<Vec<Vec<Measurement>>, String> {
    eprintln!("lz4: built without the feature `lz4`");
    Ok(Vec::new())
}

/// Threads that pack.
const PACKING: usize = 2;
const MIB: u64 = 1 << 20;
/// Blocks of the grid; those of whole files hold one file each.
const BLOCKS: [(&str, u64); 3] =
    [("whole files", MAX_CHUNK), ("blocks of 128 KiB", 128 << 10), ("blocks of 1 MiB", MIB)];
/// Minimum lengths of matches beside the level's own.
const MIN_MATCHES: [u32; 3] = [4, 5, 6];

/// What is packed, and whether hashes are checked.
struct Setting {
    name: String,
    options: PackOptions,
    hashes: bool,
}

impl Setting {
    fn new(name: String, options: PackOptions) -> Setting {
        Setting { name, options, hashes: false }
    }

    /// Packs the folder, then decodes its blocks by one thread, by CPU time.
    fn measure(self, param: (&str, &str), bench: &Bench<'_>) -> Result<Vec<Measurement>, String> {
        progress(&format!("packing {}: {}", bench.input.name, self.name));
        let (bytes, summary) = bench.input.pack(self.options)?;
        let archive = Archive::open_with(&bytes[..], Limits::none()).map_err(message)?;
        let row = bench.row(param.0, "linerate", 1, "cpu").param(param.1, self.name);
        let turn = |_| ours(&archive, 1, self.hashes, cpu_time);
        let contender = Contender::new(bench.sized(row, summary.archive_bytes), turn);
        harness(vec![contender.bytes(bench.input.bytes as usize).seconds("cpu")], Rounds::warm(bench.rounds))
    }
}

/// Every preset, without hashing: codec and options only.
pub(super) fn presets(bench: &Bench<'_>) -> Result<Vec<Vec<Measurement>>, String> {
    let one = |preset: &linerate_nx::pack::Preset| {
        let packing = PackOptions { threads: PACKING, ..preset.options() };
        Setting::new(preset.name.to_owned(), packing).measure(("presets", "preset"), bench)
    };
    Ok(vec![PRESETS.iter().map(one).collect::<Result<Vec<_>, _>>()?.concat()])
}

/// Block sizes by level, then the other options one by one at the first level, in blocks of 1 MiB.
pub(super) fn settings(bench: &Bench<'_>) -> Result<Vec<Vec<Measurement>>, String> {
    let one = |setting: Setting| setting.measure(("settings", "setting"), bench);
    Ok(vec![grid(bench.levels).into_iter().map(one).collect::<Result<Vec<_>, _>>()?.concat()])
}

fn grid(levels: &[i32]) -> Vec<Setting> {
    let mut all = Vec::new();
    for (blocks, chunk) in BLOCKS {
        let setting =
            |&level: &i32| Setting::new(format!("zstd {level}, {blocks}"), plain(Coding::zstd(level), chunk));
        all.extend(levels.iter().map(setting));
    }
    let Some(&level) = levels.first() else { return all };
    let zstd = Zstd { level, min_match: 0, literals: true, long: false };
    let usual = plain(Coding::Zstd(zstd), MIB);
    all.push(Setting {
        hashes: true,
        ..Setting::new(format!("zstd {level}, hashes checked"), usual.clone())
    });
    all.push(Setting::new(format!("zstd {level}, search fitted to the content"), usual.fit_search(true)));
    let raw = Coding::Zstd(Zstd { literals: false, ..zstd });
    all.push(Setting::new(format!("zstd {level}, raw literals"), plain(raw, MIB)));
    all.extend(MIN_MATCHES.map(|min_match| {
        let coding = Coding::Zstd(Zstd { min_match, ..zstd });
        Setting::new(format!("zstd {level}, minMatch {min_match}"), plain(coding, MIB))
    }));
    all.extend([1, 12].map(|level| Setting::new(format!("LZ4 {level}"), plain(Coding::lz4(level), MIB))));
    all
}

/// The same coding for all blocks, of that many bytes, without a search fitted to the content.
fn plain(coding: Coding, chunk: u64) -> PackOptions {
    let options = pack_options(0, chunk, PACKING).solid(coding).chunked(coding).fit_search(false);
    if chunk == MAX_CHUNK { options.solid_limit(0) } else { options }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_setting_is_valid_and_has_a_name_of_its_own() {
        let all = grid(&[12, 19]);
        let names: BTreeSet<&str> = all.iter().map(|setting| setting.name.as_str()).collect();
        assert_eq!((names.len(), all.len()), (14, 14));
        for setting in &all {
            setting.options.check().unwrap_or_else(|e| panic!("{}: {e}", setting.name));
        }
    }
}
