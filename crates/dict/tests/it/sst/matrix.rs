//! Files of all kinds that the available RocksDB writes are read back.

use std::fs;
use std::path::{Path, PathBuf};

use linerate_dict::Store;
use linerate_dict::sst::{
    Checksum, Compression, DictionaryKind, EntryKind, IndexKind, KeyOrder, Reader, SstOptions,
};

use super::forged::seal;
use super::model::{Record, Row, check, records, scan};
use super::writer::{has_sst_dump, latest_version, sst_dump_accepts, write, writer, writer_11};
use crate::common::Noise;

/// Numbers of the compressions in the format.
const COMPRESSIONS: [usize; 6] = [0, 1, 2, 4, 5, 7];

/// Returns compression and level. Above level 0, RocksDB 11 compresses by LZ4HC instead of LZ4.
fn coding(compression: usize) -> [(&'static str, usize); 2] {
    [("compression", compression), ("level", if compression == 4 { 0 } else { 3 })]
}

/// Dictionaries: none, samples, trained, and samples with tables.
const DICTIONARIES: [&[(&str, usize)]; 4] = [
    &[],
    &[("dict", 2048)],
    &[("dict", 2048), ("train", 65_536)],
    &[("dict", 2048), ("train", 65_536), ("trainer", 0)],
];

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Layout options; each file gets some of them.
fn layout(noise: &mut Noise) -> Vec<(&'static str, usize)> {
    let mut choices = vec![
        ("block", [512, 1024, 2048][noise.below(3)]),
        ("restart", [1, 2, 16, 40][noise.below(4)]),
        ("index_restart", [1, 1, 4][noise.below(3)]),
        ("index", [0, 0, 2, 3][noise.below(4)]),
        ("part", [100, 600][noise.below(2)]),
        ("delta", noise.below(2)),
        ("hash", noise.below(2)),
        ("filter", noise.below(2)),
    ];
    if noise.below(8) == 0 {
        choices.extend([("index", 1), ("prefix", 2)]);
    }
    choices
}

#[test]
fn all_versions_checksums_compressions_and_dictionaries_are_read() {
    let Some(program) = writer() else { return };
    let dump = has_sst_dump();
    let folder = folder("sst-matrix");
    let store = Store::new();
    let mut reader = Reader::new(&store);
    let mut noise = Noise::new(1);
    let mut seen = Vec::new();
    let records: Vec<_> = (0..4).map(|seed| records(seed, 300)).collect();
    for version in 2..=latest_version() {
        for checksum in 0..5 {
            for compression in COMPRESSIONS {
                for (i, dictionary) in DICTIONARIES.iter().enumerate() {
                    let path = folder.join("file.sst");
                    let mut choices = vec![("version", version), ("checksum", checksum)];
                    choices.extend(coding(compression));
                    choices.extend_from_slice(dictionary);
                    choices.extend(layout(&mut noise));
                    let records = &records[noise.below(4)];
                    write(program, "table", &path, &choices, records);
                    let options = SstOptions::new().map(noise.below(2) == 0);
                    let sst = reader.open(&path, options).unwrap_or_else(|e| panic!("{choices:?}: {e}"));
                    assert_eq!(sst.format_version() as usize, version);
                    check(&mut reader, &sst, records);
                    let stats = reader.stats(&sst).unwrap();
                    seen.extend(stats.blocks.keys().copied());
                    // Only older versions write the dictionary if the compression does not use it.
                    if compression > 1 || i == 0 {
                        assert_eq!(stats.dictionary.is_some(), i > 0, "{choices:?}");
                    }
                    // RocksDB 10 trains for zstd only.
                    let trained = i > 1 && (compression == 7 || latest_version() < 7);
                    if compression > 1
                        && let Some(found) = stats.dictionary
                    {
                        assert_eq!(found.kind != DictionaryKind::Raw, trained, "{choices:?}");
                    }
                    drop(sst);
                    assert_eq!(store.stats().dictionaries, 0);
                    // Running `sst_dump` takes as long as everything else.
                    if dump && version <= 5 && noise.below(6) == 0 {
                        assert!(sst_dump_accepts(&path), "{choices:?}");
                    }
                }
            }
        }
    }
    seen.sort_unstable();
    seen.dedup();
    use Compression::{Lz4, Lz4Hc, None, Snappy, Zlib, Zstd};
    assert_eq!(seen, [None, Snappy, Zlib, Lz4, Lz4Hc, Zstd]);
}

/// RocksDB 11 writes separate values, indexes with the uniform-keys flag, and both, into files of
/// all versions.
#[test]
fn separate_values_and_uniform_keys_of_rocksdb_11_are_read() {
    let Some(program) = writer_11() else { return };
    let folder = folder("sst-matrix-11");
    let store = Store::new();
    let mut reader = Reader::new(&store);
    let mut noise = Noise::new(2);
    let records: Vec<_> = (10..13).map(|seed| records(seed, 300)).collect();
    for version in 2..=7 {
        for compression in [0, 1, 2, 4, 7] {
            for (separate, uniform) in [(0, 1), (1, 0), (1, 1)] {
                let path = folder.join("file.sst");
                let mut choices = vec![("version", version)];
                choices.extend(coding(compression));
                choices.extend_from_slice(DICTIONARIES[noise.below(4)]);
                choices.extend(layout(&mut noise));
                choices.extend([("separate", separate), ("uniform", uniform)]);
                let records = &records[noise.below(3)];
                write(program, "table", &path, &choices, records);
                let options = SstOptions::new().map(noise.below(2) == 0);
                let sst = reader.open(&path, options).unwrap_or_else(|e| panic!("{choices:?}: {e}"));
                assert_eq!(sst.format_version() as usize, version);
                check(&mut reader, &sst, records);
            }
        }
    }
}

/// The options ask for a dictionary, but there is too little to train one with: one block, and a
/// few.
#[test]
fn files_whose_dictionary_was_not_trained_are_sound() {
    let folder = folder("sst-no-dictionary");
    let store = Store::new();
    let mut reader = Reader::new(&store);
    for program in [writer(), writer_11()].into_iter().flatten() {
        for count in [3, 40] {
            for compression in COMPRESSIONS {
                for dictionary in &DICTIONARIES[1..] {
                    let path = folder.join("file.sst");
                    let choices = [&[("version", 5)][..], &coding(compression), dictionary].concat();
                    let records = records(7, count);
                    write(program, "table", &path, &choices, &records);
                    let sst = reader.open(&path, SstOptions::new()).unwrap();
                    check(&mut reader, &sst, &records);
                }
            }
        }
    }
}

/// One bit of one block or trailer is flipped, under each checksum. RocksDB's result is the same.
#[test]
fn each_checksum_detects_damage() {
    let Some(program) = writer() else { return };
    let dump = has_sst_dump();
    let folder = folder("sst-checksums");
    let store = Store::new();
    let mut reader = Reader::new(&store);
    let records = records(5, 200);
    for (number, kind) in
        [(1, Checksum::Crc32c), (2, Checksum::Xxh32), (3, Checksum::Xxh64), (4, Checksum::Xxh3)]
    {
        for compression in [0, 7] {
            let path = folder.join("file.sst");
            let version = ("version", latest_version());
            let choices = [version, ("checksum", number), ("compression", compression)];
            write(program, "table", &path, &choices, &records);
            let bytes = fs::read(&path).unwrap();
            let sst = reader.open_bytes(bytes.clone(), SstOptions::new()).unwrap();
            assert_eq!(sst.checksum(), kind);
            let blocks = reader.blocks(&sst).unwrap();
            let block = blocks[blocks.len() / 2];
            let end = (block.offset + block.size) as usize;
            for at in [block.offset as usize, end - 1, end, end + 1, end + 4] {
                let mut bad = bytes.clone();
                bad[at] ^= 4;
                let sst = reader.open_bytes(bad.clone(), SstOptions::new()).unwrap();
                let e = reader.decode_block(&sst, block).unwrap_err();
                assert_eq!((e.kind, e.offset), (linerate_dict::Kind::Corrupt, block.offset));
                let report = reader.verify(&sst).unwrap();
                assert_eq!((report.failed, report.failures[0]), (1, e));
                assert_eq!(report.data_blocks, blocks.len() as u64);
                if dump && sst.format_version() <= 5 {
                    let bad_path = folder.join("bad.sst");
                    fs::write(&bad_path, bad).unwrap();
                    assert!(!sst_dump_accepts(&bad_path) && sst_dump_accepts(&path));
                }
            }
        }
    }
}

/// A key has several entries, deletions of all kinds, and snapshots.
#[test]
fn database_with_versions_and_deletions_is_read() {
    let Some(program) = writer() else { return };
    let folder = folder("sst-db");
    for (turn, choices) in [
        &[("block", 256)][..],
        &[("block", 256), ("index", 2), ("part", 100)],
        &[("block", 256), ("version", 2)],
    ]
    .into_iter()
    .enumerate()
    {
        check_database(program, &folder.join(format!("db-{turn}")), choices);
    }
}

#[test]
fn database_with_separate_values_is_read() {
    let Some(program) = writer_11() else { return };
    let folder = folder("sst-db-11");
    for (turn, restart) in [1, 2, 16].into_iter().enumerate() {
        let choices = [("block", 256), ("separate", 1), ("uniform", 1), ("restart", restart)];
        check_database(program, &folder.join(format!("db-{turn}")), &choices);
    }
}

#[track_caller]
fn check_database(program: &Path, db: &Path, choices: &[(&str, usize)]) {
    let _ = fs::remove_dir_all(db);
    // Sequence numbers count from 1, one for each record except snapshots.
    let mut written = Vec::new();
    for round in 0..30 {
        for key in ["a", "b", "c", "d"] {
            written.push(Record::new(b'p', key, format!("{key} {round} {}", "x".repeat(30))));
        }
        written.push(Record::new(b'x', "", ""));
    }
    written.push(Record::new(b'd', "a", ""));
    written.push(Record::new(b'x', "", ""));
    written.push(Record::new(b'p', "e", "once"));
    written.push(Record::new(b'x', "", ""));
    written.push(Record::new(b's', "e", ""));
    written.push(Record::new(b'x', "", ""));
    written.push(Record::new(b'r', "c", "dd"));
    written.push(Record::new(b'x', "", ""));
    written.push(Record::new(b'p', "d", "again"));
    write(program, "db", db, choices, &written);
    let path = fs::read_dir(db).unwrap().map(|e| e.unwrap().path());
    let path: Vec<_> = path.filter(|p| p.extension().is_some_and(|e| e == "sst")).collect();
    let store = Store::new();
    let mut reader = Reader::new(&store);
    let sst = reader.open(&path[0], SstOptions::new()).unwrap();

    let mut expected: Vec<Row> = Vec::new();
    let mut sequence = 0;
    for record in written.iter().filter(|r| r.letter != b'x') {
        sequence += 1;
        if record.letter != b'r' {
            expected.push((record.key.clone(), sequence, record.kind(), record.value.clone()));
        }
    }
    expected.sort_by(|a, b| (&a.0, b.1).cmp(&(&b.0, a.1)));
    assert_eq!(scan(&mut reader, &sst), expected);
    assert_eq!(sst.range_deletions().len(), 1);
    let range = &sst.range_deletions()[0];
    assert_eq!((&range.start[..], &range.end[..], range.sequence), (&b"c"[..], &b"dd"[..], 124));

    let mut kind = |key: &[u8]| reader.get(&sst, key).unwrap().map(|e| (e.kind, e.sequence));
    assert_eq!(kind(b"a"), Some((EntryKind::Deletion, 121)));
    assert_eq!(kind(b"b"), Some((EntryKind::Value, 118)));
    assert_eq!(kind(b"c"), Some((EntryKind::RangeDeletion, 124)));
    assert_eq!(kind(b"cc"), Some((EntryKind::RangeDeletion, 124)));
    assert_eq!(kind(b"d"), Some((EntryKind::Value, 125)));
    assert_eq!(kind(b"e"), Some((EntryKind::SingleDeletion, 123)));
    assert_eq!(kind(b"f"), None);
    // Read at a snapshot, across blocks.
    for round in 0..30usize {
        for (i, key) in ["a", "b", "c", "d"].into_iter().enumerate() {
            let at = (4 * round + 4) as u64;
            let entry = reader.get_at(&sst, key.as_bytes(), at).unwrap().unwrap();
            assert_eq!(entry.sequence, (4 * round + i + 1) as u64);
            assert!(entry.value.starts_with(format!("{key} {round} ").as_bytes()));
        }
    }
    assert_eq!(reader.get_at(&sst, b"e", 121).unwrap(), None);
    let keys = [&b"a"[..], b"b", b"c", b"d", b"e"];
    let found = reader.multi_get(&keys.map(|key| (&sst, key)));
    let sequences: Vec<u64> = found.into_iter().map(|e| e.unwrap().unwrap().sequence).collect();
    assert_eq!(sequences, [121, 118, 124, 125, 123]);
    let report = reader.verify(&sst).unwrap();
    assert!(report.is_sound(), "{report:?}");
    let stats = reader.stats(&sst).unwrap();
    let properties = &stats.properties;
    assert_eq!((properties.entries(), properties.deletions(), properties.range_deletions()), (124, 2, 1));
}

#[test]
fn reverse_order_is_searched_and_custom_order_scanned() {
    let Some(program) = writer() else { return };
    let path = folder("sst-reverse").join("file.sst");
    let mut falling = records(6, 150);
    falling.reverse();
    write(program, "table", &path, &[("reverse", 1), ("block", 512)], &falling);
    let store = Store::new();
    let mut reader = Reader::new(&store);
    let sst = reader.open(&path, SstOptions::new()).unwrap();
    assert_eq!((sst.key_order(), sst.index_kind()), (KeyOrder::Reverse, IndexKind::BinarySearch));
    for record in &falling {
        let entry = reader.get(&sst, &record.key).unwrap().unwrap();
        assert!(entry.value == record.value);
    }
    assert!(reader.verify(&sst).unwrap().is_sound());

    // This is the same file with another comparator name.
    let mut bytes = fs::read(&path).unwrap();
    let name = b"rocksdb.ReverseBytewiseComparator";
    let at = bytes.windows(name.len()).position(|w| w == name).unwrap();
    bytes[at] = b'R';
    let others = reader.meta_blocks(&sst).unwrap();
    let (_, block) = others.iter().find(|(name, _)| name == b"rocksdb.properties").unwrap();
    seal(&mut bytes, *block);
    let sst = reader.open_bytes(bytes, SstOptions::new()).unwrap();
    assert_eq!(sst.key_order(), KeyOrder::Unknown);
    assert_eq!(scan(&mut reader, &sst).len(), falling.len());
    assert_eq!(reader.get(&sst, b"1").unwrap_err().kind, linerate_dict::Kind::Unsupported);
    assert!(reader.scan_from(&sst, b"1").is_err());
    assert!(reader.verify(&sst).unwrap().is_sound());
}

#[test]
fn empty_and_tiny_files_are_read() {
    let Some(program) = writer() else { return };
    let path = folder("sst-tiny").join("file.sst");
    let store = Store::new();
    let mut reader = Reader::new(&store);
    for records in [
        vec![Record::new(b'p', "", "")],
        vec![Record::new(b'p', "k", "v")],
        vec![Record::new(b'r', "a", "b")],
        vec![Record::new(b'd', "x", "")],
    ] {
        write(program, "table", &path, &[("dict", 4096)], &records);
        let sst = reader.open(&path, SstOptions::new()).unwrap();
        let points: Vec<Record> = records.into_iter().filter(|r| r.letter != b'r').collect();
        assert_eq!(scan(&mut reader, &sst).len(), points.len());
        assert_eq!(sst.range_deletions().len(), 1 - points.len());
        let report = reader.verify(&sst).unwrap();
        assert!(report.is_sound(), "{report:?}");
    }
}

/// Some dictionaries are too short for zstd, and some exceed the windows of LZ4 and zlib.
#[test]
fn short_and_long_dictionaries_are_used() {
    let Some(program) = writer() else { return };
    let path = folder("sst-sizes").join("file.sst");
    let store = Store::new();
    let mut reader = Reader::new(&store);
    let records = records(9, 1500);
    for compression in [2, 4, 5, 7] {
        for (dictionary, train) in [(4, 0), (8, 0), (150_000, 0), (110_000, 1 << 20)] {
            let sizes = [("dict", dictionary), ("train", train)];
            write(program, "table", &path, &[&[("compression", compression)], &sizes[..]].concat(), &records);
            let sst = reader.open(&path, SstOptions::new()).unwrap();
            check(&mut reader, &sst, &records);
            let stats = reader.stats(&sst).unwrap();
            let found = stats.dictionary.unwrap().bytes as usize;
            assert!(found <= dictionary && found * 2 > dictionary, "{found} for {dictionary}");
            assert_eq!(sst.dictionary().is_some(), found >= 8);
        }
    }
    assert_eq!(store.stats().dictionaries, 0);
}
