//! Tests that other programs can merge and repack the archives of this crate without damage:
//! entries are in the order of their blocks and offsets, and every byte of a solid block belongs to
//! a file.

use linerate_nx::pack::{Builder, Clash, Coding, FileOptions, Filters, PRESETS, PackOptions, Reuse};
use linerate_nx::r3a::{self, Tables};
use linerate_nx::{Archive, Codec, Entry, HEADER, TocForm};
use linerate_testkit::nx::disorder;

use crate::common::goldens;
use crate::pack_tree::{Bytes, TreeFile, assert_holds, content, contents, open, pack, tree, write_tree};

fn small() -> PackOptions {
    let mut options = PackOptions::default();
    (options.chunk, options.solid_limit) = (4096, 4095);
    (options.solid, options.chunked) = (Coding::zstd(3), Coding::zstd(3));
    options
}

/// Returns the archive with its entries in the order of paths, as the first versions of this crate
/// wrote them.
fn in_path_order(bytes: &[u8]) -> Vec<u8> {
    let archive = Archive::open(bytes).expect("an archive");
    let mut toc = archive.toc().clone();
    toc.entries.sort_by_key(|entry| entry.path);
    let mut table = Vec::new();
    toc.write(archive.header().form, &mut table);
    let mut older = bytes.to_vec();
    older[HEADER..HEADER + table.len()].copy_from_slice(&table);
    older
}

/// Returns the archive with the entry of the file `gone` replaced by that of `instead`. This leaves
/// a hole, like the removal of an entry.
fn with_a_hole(bytes: &[u8], gone: &str, instead: &str) -> Vec<u8> {
    let archive = Archive::open(bytes).expect("an archive");
    assert_eq!(archive.header().form, TocForm::Short);
    let mut toc = archive.toc().clone();
    let (gone, instead) = (archive.find(gone).expect("there"), archive.find(instead).expect("there"));
    let entry = Entry { path: gone.entry().path, ..*instead.entry() };
    toc.entries[gone.index()] = entry;
    let mut table = Vec::new();
    toc.write(TocForm::Short, &mut table);
    let mut holed = bytes.to_vec();
    holed[HEADER..HEADER + table.len()].copy_from_slice(&table);
    holed
}

/// Edits `old` in every way that keeps its files, and returns the archives.
fn edits(old: &Bytes) -> Vec<(&'static str, Vec<u8>)> {
    let bytes = |builder: Builder| builder.to_bytes().expect("packable").0;
    let folder = tempfile::tempdir().expect("a folder");
    write_tree(folder.path(), &contents(old));
    let choose = |_: &str| Some(FileOptions::default());
    let other = open(pack(&[("another".into(), b"file".to_vec())], &small()).0);
    let mut carried = Builder::new(small()).expect("options");
    carried.add_archive(old, Reuse::Blocks, |_| true).expect("new paths");
    vec![
        ("delete", bytes(Builder::from_archive(small(), old, |_| true).expect("options"))),
        ("merge", bytes(Builder::merge(small(), &[old.clone(), other], Clash::Refuse).expect("options"))),
        ("update", bytes(Builder::update(small(), old, folder.path(), choose, true).expect("readable").0)),
        ("repack", bytes(Builder::repack(small(), old).expect("options"))),
        ("add_archive", bytes(carried)),
    ]
}

#[test]
fn archives_of_the_production_library_have_the_order() {
    for golden in goldens().iter().filter(|golden| golden.is_small()) {
        let archive = golden.open();
        assert!(archive.disorder().is_none(), "{}: {:?}", golden.name, archive.disorder());
    }
}

#[test]
fn every_preset_and_option_writes_the_order() {
    let text = |coding| PackOptions { solid: coding, chunked: coding, ..small() };
    let mut all: Vec<(String, PackOptions)> =
        PRESETS.iter().map(|preset| (preset.name.to_owned(), preset.options())).collect();
    for (name, options) in [
        ("stored", text(Coding::Copy)),
        ("lz4", text(Coding::lz4(9))),
        ("no deduplication", PackOptions { dedup_solid: false, dedup_chunked: false, ..small() }),
        ("not grouped", PackOptions { group_similar: false, ..small() }),
        ("filters", PackOptions { filters: Filters::all(), ..small() }),
        ("threads", PackOptions { threads: 3, ..small() }),
        ("no solid blocks", PackOptions { solid_limit: 0, ..small() }),
    ] {
        all.push((name.to_owned(), options));
    }
    for (seed, (name, mut options)) in all.into_iter().enumerate() {
        (options.chunk, options.solid_limit) = (4096, options.solid_limit.min(4095));
        let files = tree(seed as u64, 80, &options);
        let (bytes, _) = pack(&files, &options);
        assert_eq!(disorder(&bytes), [""; 0], "{name}");
        assert!(Archive::open(&bytes[..]).expect("an archive").disorder().is_none(), "{name}");
        assert_holds(bytes, &files);
    }
}

#[test]
fn streamed_files_and_files_of_a_folder_are_in_order() {
    let files = tree(3, 60, &small());
    let folder = tempfile::tempdir().expect("a folder");
    write_tree(folder.path(), &files);
    let mut of_folder = Builder::new(small()).expect("options");
    of_folder.add_folder(folder.path(), |_| Some(FileOptions::default())).expect("readable");
    let mut streamed = Builder::new(small()).expect("options");
    for (name, bytes) in files.iter().rev() {
        streamed.add_reader(name.as_str(), &bytes[..]).expect("a new path");
    }
    for builder in [of_folder, streamed] {
        assert_holds(builder.to_bytes().expect("packable").0, &files);
    }
}

#[test]
fn any_edit_mends_an_archive_in_path_order() {
    let files = tree(7, 80, &small());
    let older = in_path_order(&pack(&files, &small()).0);
    assert!(!disorder(&older).is_empty());
    let older = open(older);
    assert!(older.disorder().misplaced > 0 && older.disorder().early_empty > 0, "{:?}", older.disorder());
    for (name, bytes) in edits(&older) {
        assert_eq!(disorder(&bytes), [""; 0], "{name}");
        let new = open(bytes);
        assert!(new.disorder().is_none(), "{name}");
        for (path, bytes) in &files {
            assert!(new.read(new.find(path).expect("there")).expect("readable") == *bytes, "{name}: {path}");
        }
    }
}

/// Returns the files of one solid block in the order of their offsets, and their archive.
fn of_one_block(options: &PackOptions) -> (Vec<TreeFile>, Vec<u8>) {
    let files: Vec<TreeFile> =
        (0..6).map(|i| (format!("{i}.txt"), content(1, i, 600 - i as usize))).collect();
    let bytes = pack(&files, options).0;
    let archive = Archive::open(&bytes[..]).expect("an archive");
    assert_eq!(archive.toc().blocks.len(), 1);
    (files, bytes)
}

#[test]
fn block_that_loses_a_file_is_encoded_again() {
    for (coding, codec) in
        [(Coding::zstd(3), Codec::Zstd), (Coding::lz4(9), Codec::Lz4), (Coding::Copy, Codec::Copy)]
    {
        let (files, bytes) = of_one_block(&PackOptions { solid: coding, ..small() });
        for gone in 0..6 {
            let mut kept = files.clone();
            kept.remove(gone);
            let builder = Builder::from_archive(small(), &open(bytes.clone()), |file| {
                file.path() != format!("{gone}.txt")
            });
            let bytes = builder.expect("options").to_bytes().expect("packable").0;
            assert_holds(bytes.clone(), &kept);
            let new = open(bytes);
            assert_eq!((new.toc().blocks.len(), new.toc().blocks[0].codec), (1, codec), "without {gone}");
        }
    }
}

#[test]
fn update_leaves_no_bytes_of_replaced_files() {
    let (mut files, bytes) = of_one_block(&small());
    files[2].1 = content(1, 99, 700);
    let folder = tempfile::tempdir().expect("a folder");
    write_tree(folder.path(), &files);
    let choose = |_: &str| Some(FileOptions::default());
    let updated = Builder::update(small(), &open(bytes), folder.path(), choose, false);
    assert_holds(updated.expect("readable").0.to_bytes().expect("packable").0, &files);
}

#[test]
fn merge_and_other_edits_fill_holes_that_came_with_an_archive() {
    let (_, bytes) = of_one_block(&small());
    for gone in ["0.txt", "3.txt", "5.txt"] {
        let holed = open(with_a_hole(&bytes, gone, "1.txt"));
        assert!(!disorder(holed.source()).is_empty());
        // Bytes after the last file do no harm, and only the block itself shows them.
        assert_eq!(holed.disorder().holes, usize::from(gone != "5.txt"));
        for (name, bytes) in edits(&holed) {
            assert_eq!(disorder(&bytes), [""; 0], "{name} without {gone}");
        }
    }
}

#[test]
fn merge_leaves_no_bytes_of_files_that_another_archive_has() {
    let (files, bytes) = of_one_block(&small());
    let mut others: Vec<TreeFile> =
        files[1..4].iter().map(|(name, b)| (format!("o/{name}"), b.clone())).collect();
    others.push(("o/own.txt".into(), content(1, 77, 500)));
    let other = pack(&others, &small()).0;
    for clash in [Clash::Refuse, Clash::First, Clash::Last] {
        let both = [open(bytes.clone()), open(other.clone())];
        let merged = Builder::merge(small(), &both, clash).expect("options").to_bytes().expect("packable").0;
        assert_eq!(open(merged.clone()).toc().blocks.len(), 2, "both are copied");
        assert_holds(merged, &[files.clone(), others.clone()].concat());
    }
}

#[test]
fn r3a_and_nx_converted_from_it_have_the_order() {
    let files = tree(9, 60, &small());
    let nx = pack(&files, &small()).0;
    let older = in_path_order(&nx);
    let mut converted = Vec::new();
    r3a::from_nx(&Archive::open(&older[..]).expect("ours"), Tables::Presets, &[], &mut converted)
        .expect("whole");
    let shown = r3a::AsNx::new(r3a::Archive::open(&converted[..]).expect("R3A")).expect("as Nx");
    assert!(shown.open().expect("as Nx").disorder().is_none());
    let mut back = Vec::new();
    r3a::to_nx(r3a::Archive::open(&converted[..]).expect("R3A"), &mut back).expect("whole");
    assert_holds(back, &files);
}
