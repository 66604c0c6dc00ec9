//! Tests archives with filtered blocks: they return the packed files however they are read; editing
//! keeps their blocks; repacking removes and adds filters; damaged ones give errors or files that
//! match their hashes.

use std::fs;
use std::sync::Arc;

use linerate_nx::filter::TextureFormat;
use linerate_nx::pack::{Builder, Clash, Coding, FileOptions, Filters, Format, PackOptions};
use linerate_nx::{Archive, Codec, Extractor, Kind, Limits, Verifier, r3a};
use linerate_testkit::data::{Noise, dds};
use proptest::prelude::*;

use crate::cases::cases;
use crate::common::ranges;
use crate::pack_tree::{TreeFile, assert_holds, content, open, pack, tree, write_tree};

fn options(coding: Coding) -> PackOptions {
    let mut options = PackOptions { filters: Filters::all(), ..PackOptions::default() };
    (options.chunk, options.solid_limit) = (64 << 10, (64 << 10) - 1);
    (options.solid, options.chunked) = (coding, coding);
    options
}

fn plain(coding: Coding) -> PackOptions {
    PackOptions { filters: Filters::NONE, ..options(coding) }
}

const CODINGS: [Coding; 2] = [Coding::zstd(6), Coding::lz4(9)];

/// Returns textures of one chunk and of several chunks, one of them with a tail, and other files.
fn files() -> Vec<TreeFile> {
    let tail = [dds(b"DXT1", 150, 3), b"a tail".to_vec()].concat();
    [
        ("a/large.dds", dds(b"DXT1", 400, 1)),
        ("a/small.dds", dds(b"DXT1", 40, 2)),
        ("a/tail.dds", tail),
        ("b/alpha.dds", dds(b"DXT5", 150, 4)),
        ("b/small alpha.dds", dds(b"DXT5", 30, 5)),
        ("b/text.txt", content(1, 1, 90_000)),
        ("c/noise.bin", content(0, 2, 70_000)),
        ("empty", Vec::new()),
    ]
    .map(|(name, bytes)| (name.to_owned(), bytes))
    .to_vec()
}

/// Returns the compressed bytes of the filtered blocks.
fn filtered_blocks(archive: &Archive<Vec<u8>>) -> Vec<Vec<u8>> {
    let bytes = |i: usize| {
        let at = archive.layout().offset(i) as usize;
        archive.source()[at..at + archive.toc().blocks[i].compressed as usize].to_vec()
    };
    (0..archive.layout().len()).filter(|&i| archive.toc().blocks[i].filtered).map(bytes).collect()
}

#[test]
fn filtered_archives_hold_what_went_in_however_they_are_read() {
    let files = files();
    for coding in CODINGS {
        let (bytes, summary) = pack(&files, &options(coding));
        let (without, _) = pack(&files, &plain(coding));
        assert!(bytes.len() < without.len(), "{coding:?}: {} of {}", bytes.len(), without.len());
        assert!(summary.filtered_blocks >= 4, "{coding:?}: {summary:?}");
        let archive = open(bytes.clone());
        assert!(archive.header().filtered);
        assert_eq!(filtered_blocks(&archive).len() as u64, summary.filtered_blocks);
        for (i, block) in archive.toc().blocks.iter().enumerate() {
            let regions = archive.regions(i).expect("ours");
            assert_eq!(regions.is_empty(), !block.filtered);
            let is_texture = |format| [TextureFormat::Bc1, TextureFormat::Bc3].contains(&format);
            assert!(regions.iter().all(|region| is_texture(region.filter.format())), "{regions:?}");
            assert!(!block.filtered || block.codec != Codec::Copy);
        }
        assert_holds(bytes, &files);
        let folder = tempfile::tempdir().expect("a folder");
        let done = Extractor::new(&archive).threads(3).to_folder(folder.path()).expect("writable");
        assert!(done.failures.is_empty(), "{:?}", done.failures);
        for (name, bytes) in &files {
            assert!(fs::read(folder.path().join(name)).expect("there") == *bytes, "{name}");
            let file = archive.find(name).expect("every path");
            for budget in [0, 1 << 20] {
                let mut reader = archive.reader().expect("a reader");
                reader.cache(budget);
                for range in ranges(bytes.len()) {
                    let mut part = vec![0; range.len()];
                    reader.read_range(file, range.start as u64, &mut part).expect("readable");
                    assert!(part == bytes[range.clone()], "{name} {range:?}");
                }
            }
        }
        let verified = Verifier::new(&archive).threads(2).run().expect("within the limits");
        assert!(verified.failures.is_empty() && verified.notes.is_empty(), "{verified:?}");
        assert!(Verifier::new(&archive).compare(folder.path()).expect("readable").is_same());
    }
}

#[test]
fn sequential_ranges_decode_each_filtered_block_once_however_small_the_cache_is() {
    let files = [("a.dds".to_owned(), dds(b"DXT1", 400, 1))];
    let (bytes, _) = pack(&files, &options(Coding::zstd(3)));
    let archive = Archive::open(linerate_nx::CountingSource::new(bytes)).expect("an archive");
    let file = archive.find("a.dds").expect("there");
    let before = archive.source().reads();
    let mut reader = archive.reader().expect("a reader");
    reader.cache(0);
    for at in (0..files[0].1.len()).step_by(1000) {
        let mut part = vec![0; 1000.min(files[0].1.len() - at)];
        reader.read_range(file, at as u64, &mut part).expect("readable");
        assert!(part == files[0].1[at..at + part.len()]);
    }
    assert_eq!(archive.source().reads() - before, file.blocks().len() as u64);
}

#[test]
fn archive_without_textures_is_the_same_with_filters() {
    let files = tree(3, 60, &plain(Coding::zstd(3)));
    let (bytes, summary) = pack(&files, &options(Coding::zstd(3)));
    assert!(bytes == pack(&files, &plain(Coding::zstd(3))).0);
    assert_eq!((summary.filtered_blocks, bytes[7] >> 1), (0, 1));
}

#[test]
fn only_filters_of_the_options_are_used_and_stored_files_stay_stored() {
    let files = files();
    let mut options = options(Coding::zstd(6));
    options.filters = Filters::parse("bc3").expect("a format");
    let archive = open(pack(&files, &options).0);
    let mut used = 0;
    for i in 0..archive.layout().len() {
        for region in archive.regions(i).expect("ours") {
            assert_eq!(region.filter.format(), TextureFormat::Bc3);
            used += 1;
        }
    }
    assert!(used > 0);
    let mut builder = Builder::new(options).expect("options");
    for (name, bytes) in &files {
        let stored = FileOptions::new().coding(Coding::Copy);
        builder.add_bytes_with(name.as_str(), bytes.as_slice(), stored).expect("a path");
    }
    let (bytes, summary) = builder.to_bytes().expect("packable");
    assert_eq!((summary.filtered_blocks, bytes[7] >> 1), (0, 1));
}

#[test]
fn texture_without_a_header_is_filtered_as_its_options_say() {
    let texels = |kind: &[u8; 4], size| dds(kind, size, 7).split_off(128);
    // Two textures without a header, of one chunk and of several, and a DDS file, whose header takes
    // precedence over the format in its options. No two share a block.
    let files =
        [("a.tex", texels(b"DXT5", 30)), ("b.tex", texels(b"DXT5", 400)), ("c.tex", dds(b"DXT1", 300, 8))];
    let mut options = options(Coding::zstd(6));
    options.guess_textures = false;
    let formats = |file_options: FileOptions| {
        let mut builder = Builder::new(options.clone()).expect("options");
        for (name, bytes) in &files {
            builder.add_bytes_with(*name, bytes.as_slice(), file_options.alone(true)).expect("a new path");
        }
        let archive = open(builder.to_bytes().expect("packable").0);
        assert!(files.iter().all(|(name, bytes)| {
            archive.read(archive.find(name).expect("packed")).expect("readable") == *bytes
        }));
        files.clone().map(|(name, _)| {
            let blocks = archive.find(name).expect("packed").blocks();
            let regions = blocks.map(|block| archive.regions(block).expect("ours"));
            regions
                .map(|regions| regions.first().map(|region| (region.filter.format(), region.start)))
                .collect::<Vec<_>>()
        })
    };
    let header = Some((TextureFormat::Bc1, 128));
    let [small, large, dds] = formats(FileOptions::new());
    assert!(
        small.iter().chain(&large).all(Option::is_none) && dds.contains(&header),
        "{small:?} {large:?} {dds:?}"
    );
    let told = Some((TextureFormat::Bc3, 0));
    let [small, large, dds] = formats(FileOptions::new().texture(TextureFormat::Bc3));
    assert!(small == [told] && large.len() > 1 && large.iter().filter(|found| **found == told).count() > 1);
    assert!(dds.contains(&header), "{dds:?}");
}

#[test]
fn repack_makes_archives_plain_and_filtered_again() {
    let files = files();
    for coding in CODINGS {
        let (filtered, _) = pack(&files, &options(coding));
        let (without, _) = pack(&files, &plain(coding));
        let repack = |options: PackOptions, bytes: Vec<u8>| {
            Builder::repack(options, &open(bytes)).expect("options").to_bytes().expect("packable").0
        };
        assert!(repack(plain(coding), filtered.clone()) == without, "{coding:?}");
        assert!(repack(options(coding), without) == filtered, "{coding:?}");
    }
}

#[test]
fn edits_keep_filtered_blocks_as_they_are() {
    let files = files();
    let old = open(pack(&files, &options(Coding::zstd(6))).0);
    let blocks = filtered_blocks(&old);
    let check = |bytes: Vec<u8>, files: &[TreeFile]| {
        let new = open(bytes.clone());
        let found = filtered_blocks(&new);
        let copied = found.iter().filter(|block| blocks.contains(block)).count();
        assert!(!found.is_empty() && copied + 1 >= found.len(), "but one that loses a file");
        assert!(new.header().filtered);
        assert_holds(bytes, files);
        new
    };
    // Deletes the first texture of a solid block. The rest of the block is filtered again.
    let (rest, gone): (Vec<_>, Vec<_>) = files.iter().cloned().partition(|(name, _)| name != "a/small.dds");
    assert_eq!(gone.len(), 1);
    let builder = Builder::from_archive(plain(Coding::zstd(1)), &old, |file| file.path() != "a/small.dds");
    let new = check(builder.expect("options").to_bytes().expect("packable").0, &rest);
    assert!(filtered_blocks(&new).len() + 1 >= blocks.len());
    // For each small texture, which shares a solid block, deletes all other files of the archive.
    for (name, bytes) in files.iter().filter(|(name, bytes)| name.ends_with(".dds") && bytes.len() < 64 << 10)
    {
        let builder = Builder::from_archive(plain(Coding::zstd(1)), &old, |file| file.path() == name);
        assert_holds(
            builder.expect("options").to_bytes().expect("packable").0,
            &[(name.clone(), bytes.clone())],
        );
    }
    let other = open(pack(&[("other".to_owned(), content(1, 9, 5000))], &plain(Coding::zstd(3))).0);
    let merged = Builder::merge(plain(Coding::zstd(3)), &[other, Arc::clone(&old)], Clash::Refuse);
    let all = [&files[..], &[("other".to_owned(), content(1, 9, 5000))]].concat();
    check(merged.expect("options").to_bytes().expect("packable").0, &all);
    let folder = tempfile::tempdir().expect("a folder");
    let mut changed = files.clone();
    changed[5].1 = content(1, 8, 3000);
    write_tree(folder.path(), &changed);
    let update =
        Builder::update(plain(Coding::zstd(3)), &old, folder.path(), |_| Some(FileOptions::default()), true);
    let (builder, changes, _) = update.expect("readable");
    assert_eq!((changes.replaced.len(), changes.unchanged), (1, files.len() as u64 - 1));
    check(builder.to_bytes().expect("packable").0, &changed);
    // Without its textures, the archive has header version 1.
    let builder = Builder::from_archive(options(Coding::zstd(6)), &old, |file| file.path() == "c/noise.bin");
    assert_eq!(builder.expect("options").to_bytes().expect("packable").0[7] >> 1, 1);
}

#[test]
fn r3a_has_no_filters_and_gets_files_of_filtered_blocks_encoded_again() {
    let files = files();
    let old = open(pack(&files, &options(Coding::zstd(6))).0);
    let refused = r3a::from_nx(&old, r3a::Tables::Presets, &[], &mut Vec::new()).expect_err("filtered");
    assert!(refused.to_string().contains("repack the archive without filters"), "{refused}");
    let folder = tempfile::tempdir().expect("a folder");
    let target = folder.path().join("a.r3a");
    for builder in [
        Builder::from_archive(options(Coding::zstd(6)), &old, |_| true),
        Builder::repack(options(Coding::zstd(6)), &old),
    ] {
        let summary = builder.expect("options").write_as(&target, Format::R3a).expect("packable");
        assert_eq!(summary.filtered_blocks, 0);
        let shown = r3a::Archive::open(fs::read(&target).expect("there")).expect("R3A");
        let archive = r3a::AsNx::new(shown).expect("as Nx").open().expect("as Nx");
        for (name, bytes) in &files {
            assert!(archive.read(archive.find(name).expect("there")).expect("readable") == *bytes, "{name}");
        }
    }
}

#[test]
fn content_beyond_the_limit_of_a_block_is_an_error() {
    let files = files();
    let bytes = pack(&files, &options(Coding::zstd(6))).0;
    let limits = Limits { block: (64 << 10) - 1, ..Limits::default() };
    let archive = Archive::open_with(bytes, limits).expect("an archive");
    let large = archive.find("a/large.dds").expect("there");
    assert!(archive.toc().blocks[large.blocks().start].filtered);
    assert_eq!(archive.read(large).expect_err("too large").kind, Kind::Limit);
    let part = archive.reader().expect("a reader").read_range(large, 0, &mut [0; 9]);
    assert_eq!(part.expect_err("the whole block is needed").kind, Kind::Limit);
}

/// Three goldens with filtered blocks are truncated at every third length, and have every bit of
/// their tables and of every eleventh byte of their data flipped.
#[test]
fn damaged_filtered_archive_is_an_error_or_gives_its_files() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/nx/vectors");
    for name in ["filters-zstd", "filters-lz4", "filters-chunks"] {
        let whole = fs::read(format!("{folder}/{name}.nx")).expect("a golden");
        let expected: Vec<(u64, Vec<u8>)> = {
            let archive = Archive::open(whole.clone()).expect("an archive");
            archive
                .files()
                .map(|file| (file.hash().expect("hashes"), archive.read(file).expect("whole")))
                .collect()
        };
        let end = whole.iter().rposition(|byte| *byte != 0).expect("content") + 1;
        for len in (0..end).rev().step_by(3) {
            assert!(!reads(&whole[..len], &expected), "{name}: {len} bytes");
        }
        assert!(reads(&whole[..end], &expected));
        let header_end = whole[..4096].iter().rposition(|byte| *byte != 0).expect("tables") + 1;
        let starts = (4096..whole.len()).step_by(4096);
        let tables = starts.flat_map(|start| start..start + 130);
        let data = (4096..end).step_by(11);
        for at in (0..header_end).chain(tables).chain(data).filter(|at| *at < end) {
            for bit in 0..8 {
                let mut bytes = whole.clone();
                bytes[at] ^= 1 << bit;
                reads(&bytes, &expected);
            }
        }
    }
}

/// Opens, reads and verifies an archive. A file with a known hash must have its content. Returns
/// whether everything could be read.
fn reads(bytes: &[u8], expected: &[(u64, Vec<u8>)]) -> bool {
    let limits =
        Limits { block: 1 << 20, file: 1 << 20, total: 1 << 22, memory: 1 << 22, ..Limits::default() };
    let Ok(archive) = Archive::open_with(bytes, limits) else { return false };
    let mut reader = archive.reader().expect("a reader");
    let mut all = archive.len() == expected.len();
    for file in archive.files() {
        let read = reader.read(file);
        all &= read.is_ok();
        let known = expected.iter().find(|(hash, _)| file.hash() == Some(*hash));
        if let (Ok(read), Some((_, content))) = (&read, known) {
            assert!(read == content);
        }
        // Gives an error or bytes that no hash checks.
        let _ = reader.read_range(file, file.size() / 2, &mut [0; 7]);
    }
    (0..archive.layout().len()).for_each(|block| drop(archive.regions(block)));
    if let Ok(verified) = Verifier::new(&archive).run() {
        assert_eq!(verified.files + verified.failures.len() as u64, archive.len() as u64);
    }
    all
}

#[test]
fn files_before_the_damage_of_a_filtered_block_are_extracted() {
    let mut options = options(Coding::zstd(1));
    (options.chunk, options.solid_limit) = (1 << 20, (1 << 20) - 1);
    options.group_similar = false;
    let files = [("a.dds".to_owned(), dds(b"DXT1", 900, 1)), ("b.dds".to_owned(), dds(b"DXT1", 800, 2))];
    let archive = open(pack(&files, &options).0);
    assert_eq!(archive.layout().len(), 1);
    let mut bytes = archive.source().clone();
    let end = archive.layout().end() as usize;
    // Damages the last zstd block.
    bytes[end - 5000..end].fill(0xFF);
    let damaged = Archive::open(bytes).expect("an archive");
    let verified = Verifier::new(&damaged).run().expect("within the limits");
    let failed: Vec<&str> = verified.failures.iter().map(|failure| failure.path.as_str()).collect();
    assert_eq!(failed, ["b.dds"]);
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn filtered_output_does_not_depend_on_threads(seed in any::<u64>(), threads in 2..6usize, chunk in 12..17u32, lz4 in any::<bool>()) {
        let coding = if lz4 { Coding::lz4(3) } else { Coding::zstd(3) };
        let mut options = options(coding);
        options.chunk = 1 << chunk;
        options.solid_limit = (options.chunk >> 1) - 1;
        let mut files = tree(seed, 20, &options);
        let mut noise = Noise::new(seed);
        for i in 0..6 {
            let four_cc = [b"DXT1", b"DXT5"][noise.below(2)];
            let mut texture = dds(four_cc, 1 + noise.below(120), noise.number());
            texture.truncate(texture.len() - noise.below(texture.len()));
            files.push((format!("t{i}.dds"), texture));
        }
        let (alone, summary) = pack(&files, &options);
        options.threads = threads;
        let (together, same) = pack(&files, &options);
        prop_assert!(alone == together);
        prop_assert_eq!(summary, same);
        assert_holds(alone, &files);
    }
}
