//! Measures textures: archives with and without filters, and each filter alone.

use std::hint::black_box;

use linerate_candidates::thread_time;
use linerate_nx::Verifier;
use linerate_nx::filter::{Filter, TextureFormat, detect};
use linerate_nx::pack::{Coding, Filters, PRESETS, PackOptions, Zstd};
use zstd_safe::{CCtx, DCtx};

use super::{Bench, files_below, message, open_bytes};
use crate::harness::{Clock, Contender, Rounds, measure as harness, progress, row, same};
use crate::records::Measurement;

/// Bytes of a block where filters are measured alone. The last block of a texture may be shorter.
const BLOCK: usize = 1 << 20;
/// Number of bytes on which the inverse of a filter is timed without zstd. They fit a CPU cache.
const IN_CACHE: usize = 128 << 10;
/// zstd level where filters are measured alone.
const LEVEL: i32 = 12;

/// A BC1 texture of `side` by `side` texels in a DDS file: noise over a gradient, so that filters
/// make it smaller.
pub(super) fn generated(side: usize) -> Vec<u8> {
    let mut head = b"DDS \x7c\0\0\0\x07\x10\x0a\0".to_vec();
    for value in [side as u32, side as u32, (side * side / 2) as u32, 0, 1] {
        head.extend(value.to_le_bytes());
    }
    head.resize(76, 0);
    head.extend([32, 0, 0, 0, 4, 0, 0, 0]);
    head.extend(b"DXT1");
    head.resize(128, 0);
    let mut state = side as u32 | 1;
    let blocks = side * side / 16;
    for i in 0..blocks {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let light = (i * 63 / blocks) as u16;
        let color = light >> 1 << 11 | light << 5 | light >> 1;
        head.extend(color.to_le_bytes());
        head.extend(color.saturating_sub(0x0821).to_le_bytes());
        head.extend((state >> 3 & 0x1111_1111 | 0x0404_0404).to_le_bytes());
    }
    head
}

/// Measures archives of the folder with and without filters: at level 12 with all filters and with
/// the fast ones, and with each preset. Without `quick`, also at level 12 with blocks of 16 MiB,
/// and at level 22 in long mode with blocks of 1 and 16 MiB. Each archive is decoded with one
/// thread and with two, without checking hashes.
pub(super) fn filters(bench: &Bench<'_>) -> Result<Vec<Vec<Measurement>>, String> {
    let slowest = Coding::Zstd(Zstd { level: 22, min_match: 0, literals: true, long: true });
    let at = |chunk: u64, coding| {
        let options =
            PackOptions { solid: coding, chunked: coding, fit_search: false, ..PackOptions::default() };
        PackOptions { chunk, solid_limit: chunk - 1, ..options }
    };
    let mut settings = vec![("12", at(1 << 20, Coding::zstd(12)), Filters::all())];
    settings.extend(Filters::parse("fast").map(|fast| ("12/fast", at(1 << 20, Coding::zstd(12)), fast)));
    if !bench.quick {
        settings.push(("12-16M", at(16 << 20, Coding::zstd(12)), Filters::all()));
        settings.push(("1M", at(1 << 20, slowest), Filters::all()));
        settings.push(("16M", at(16 << 20, slowest), Filters::all()));
    }
    settings.extend(PRESETS.iter().map(|preset| (preset.name, preset.options(), preset.filters())));
    let one =
        |(name, options, filters): (&str, PackOptions, Filters)| filtered(bench, name, &options, filters);
    settings.into_iter().map(one).collect()
}

fn filtered(
    bench: &Bench<'_>,
    name: &str,
    options: &PackOptions,
    filters: Filters,
) -> Result<Vec<Measurement>, String> {
    progress(&format!("packing {} with {name}", bench.input.name));
    let mut packed = Vec::new();
    for filters in [Filters::NONE, filters] {
        let builder = bench.input.builder(options.clone().filters(filters))?;
        packed.push(Clock::Cpu.time(|| builder.to_bytes().map_err(message))?);
    }
    let archives: Vec<_> =
        packed.iter().map(|((bytes, _), _)| open_bytes(bytes)).collect::<Result<_, _>>()?;
    let mut found = Vec::new();
    for threads in [1, 2] {
        let contenders = (0..2).map(|i| {
            let (bytes, time) = (packed[i].0.0.len() as f64, packed[i].1.as_secs_f64());
            let with = ["no", "yes"][i];
            let row = row("nx-filters", &bench.input.name, "linerate");
            let mut row = row.param("setting", name).param("filters", with).param("threads", threads);
            if threads == 1 {
                let blocks = &archives[i].toc().blocks;
                row = bench.sized(row, bytes as u64).exact("pack", time).size("blocks", blocks.len());
                row = row.size("filtered_blocks", blocks.iter().filter(|block| block.filtered).count());
            }
            if threads == 1 && i == 1 {
                row = row.exact("size_by_base", bytes / packed[0].0.0.len() as f64);
                row = row.exact("pack_by_base", time / packed[0].1.as_secs_f64());
            }
            let (archive, clock) = (&archives[i], if threads == 1 { Clock::Thread } else { Clock::Elapsed });
            let work = move |_| {
                let verified =
                    Verifier::new(archive).threads(threads).hashes(false).run().map_err(message)?;
                verified.failures.first().map_or(Ok(()), |failure| Err(message(failure)))
            };
            let contender = Contender::timed(row, clock, work).bytes(bench.input.bytes as usize);
            if i == 1 { contender.base(0, "no filters") } else { contender }
        });
        found.extend(harness(contenders.collect(), Rounds::warm(bench.rounds))?);
    }
    Ok(found)
}

/// The texels of the files that have this texture format and whose path `wanted` accepts, ordered
/// by path.
fn load(
    bench: &Bench<'_>,
    format: TextureFormat,
    wanted: impl Fn(&std::path::Path) -> bool,
) -> Result<Vec<Vec<u8>>, String> {
    let mut found = Vec::new();
    for path in files_below(&bench.input.root)?.iter().filter(|path| wanted(path)) {
        let mut content = std::fs::read(path).map_err(message)?;
        if let Some(texture) = detect(&content).filter(|texture| texture.format == format) {
            found.push(content.split_off(texture.start.min(content.len())));
        }
    }
    Ok(found)
}

/// A compressed block, and the filter to undo after decompression, if there is one.
#[derive(Clone)]
struct Stored {
    compressed: Vec<u8>,
    filter: Option<Filter>,
}

/// Measures size and decoding of blocks of 1 MiB that each filter changed before zstd, beside zstd
/// alone. `best` takes for each block whichever filter, or none, makes it smallest. Filters were
/// tuned only on the files of the set `tuning`: those for which the bytes of the folder's name and
/// the file's name add up to 0 or 1 modulo 4. The others are the set `unseen`.
pub(super) fn inverses(bench: &Bench<'_>) -> Result<Vec<Vec<Measurement>>, String> {
    let mut found = Vec::new();
    for &format in TextureFormat::ALL {
        for (set, bit) in [("tuning", 0), ("unseen", 1)] {
            let is_of_set = |path: &std::path::Path| {
                let names =
                    path.parent().and_then(std::path::Path::file_name).into_iter().chain(path.file_name());
                let sum: u32 =
                    names.flat_map(|name| name.as_encoded_bytes()).map(|&byte| u32::from(byte)).sum();
                (sum >> 1) & 1 == bit
            };
            let textures = load(bench, format, is_of_set)?;
            if !textures.is_empty() {
                found.push(inverses_of(bench, format, set, &textures)?);
            }
        }
    }
    Ok(found)
}

fn inverses_of(
    bench: &Bench<'_>,
    format: TextureFormat,
    set: &str,
    textures: &[Vec<u8>],
) -> Result<Vec<Measurement>, String> {
    let blocks: Vec<&[u8]> = textures.iter().flat_map(|texels| texels.chunks(BLOCK)).collect();
    let bytes: usize = blocks.iter().map(|block| block.len()).sum();
    let plain = store(&blocks, None)?;
    let mut variants = vec![("no filter", plain.clone())];
    for &filter in format.filters() {
        variants.push((filter.name(), store(&blocks, Some(filter))?));
    }
    let least = |i: usize| {
        variants.iter().map(|(_, all)| &all[i]).min_by_key(|stored| stored.compressed.len()).cloned()
    };
    let best = (0..blocks.len()).filter_map(least).collect();
    variants.push(("best", best));
    let total = |stored: &[Stored]| stored.iter().map(|stored| stored.compressed.len()).sum::<usize>() as f64;
    let contenders = variants.iter().map(|(name, stored)| {
        let row = row("nx-inverses", &format.name().to_uppercase(), "linerate")
            .param("filter", *name)
            .param("set", set)
            .param("files", textures.len())
            .exact("size", total(stored) / bytes as f64)
            .exact("size_by_base", total(stored) / total(&plain))
            .exact("inverse", Filter::from_name(name).map(|filter| inverse(filter, &blocks)));
        let blocks = &blocks;
        let mut context = DCtx::create();
        let (mut filtered, mut content) = (vec![1; BLOCK], vec![1; BLOCK]);
        let mut checked = false;
        let work = move |_| {
            for (Stored { compressed, filter }, block) in stored.iter().zip(blocks) {
                let target = if filter.is_some() { &mut filtered } else { &mut content };
                let len =
                    context.decompress(&mut target[..], compressed).map_err(zstd_safe::get_error_name)?;
                if let Some(filter) = filter {
                    filter.invert(&filtered[..len], &mut content[..len]);
                }
                // The output is checked once, in the warm-up turn, which does not count.
                if !checked {
                    same(&content[..len], block)?;
                }
                black_box(&content);
            }
            checked = true;
            Ok(())
        };
        Contender::timed(row, Clock::Thread, work).bytes(bytes).base(0, "no filter")
    });
    harness(contenders.collect(), Rounds::warm(bench.rounds))
}

fn store(blocks: &[&[u8]], filter: Option<Filter>) -> Result<Vec<Stored>, String> {
    let mut context = CCtx::create();
    let mut filtered = vec![0; BLOCK];
    let one = |block: &&[u8]| {
        let filtered = &mut filtered[..block.len()];
        match filter {
            Some(filter) => filter.apply(block, filtered),
            None => filtered.copy_from_slice(block),
        }
        let mut compressed = Vec::with_capacity(zstd_safe::compress_bound(block.len()));
        context.compress(&mut compressed, filtered, LEVEL).map_err(zstd_safe::get_error_name)?;
        Ok(Stored { compressed, filter })
    };
    blocks.iter().map(one).collect()
}

/// Speed of undoing a filter, without zstd, in GB/s: the median of nine measurements on the first
/// 128 KiB of the first block that is long enough. 0 if no block is.
fn inverse(filter: Filter, blocks: &[&[u8]]) -> f64 {
    let Some(block) = blocks.iter().find(|block| block.len() >= IN_CACHE) else { return 0.0 };
    let (mut filtered, mut content) = (vec![0; IN_CACHE], vec![0; IN_CACHE]);
    filter.apply(&block[..IN_CACHE], &mut filtered);
    let speeds = (0..9).map(|_| {
        let begun = thread_time();
        for _ in 0..500 {
            filter.invert(black_box(&filtered), &mut content);
            black_box(&content);
        }
        (500 * IN_CACHE) as f64 / (thread_time() - begun).as_secs_f64() / 1e9
    });
    linerate_candidates::stats::middle(speeds.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_texture_is_recognised() {
        let texture = generated(512);
        let found = detect(&texture).expect("a texture");
        assert_eq!((found.format, found.start), (TextureFormat::Bc1, 128));
    }
}
