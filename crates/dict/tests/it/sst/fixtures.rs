//! Small files written by RocksDB, stored in `testdata/sst`, for machines without RocksDB.
//!
//! `LINERATE_UPDATE=1` rewrites them. Those of versions 6 and 7 need a library in
//! `LINERATE_ROCKSDB`, and those with separate values or uniform keys need RocksDB 11.

use std::env;
use std::fs;
use std::path::PathBuf;

use linerate_dict::sst::{Compression, DictionaryKind, EntryKind, IndexKind, Reader, SstOptions};
use linerate_dict::{Kind, Store};

use super::model::{Record, check};
use super::writer::{latest_version, write, writer, writer_11};

/// Options of `writer.c`.
type Choices = &'static [(&'static str, usize)];

/// Files of `records`, by name. Compressions and checksums are given by their numbers in the
/// format.
pub(crate) const TABLES: &[(&str, Choices)] = &[
    ("2-crc32c-snappy", &[("version", 2), ("checksum", 1), ("compression", 1)]),
    ("3-xxhash-lz4-samples", &[("version", 3), ("checksum", 2), ("compression", 4), ("dict", 512)]),
    ("4-crc32c-stored", &[("version", 4), ("checksum", 1), ("compression", 0), ("hash", 1), ("restart", 4)]),
    (
        "4-xxhash64-zlib-samples-parts",
        &[("version", 4), ("checksum", 3), ("compression", 2), ("dict", 512), ("index", 2), ("part", 100)],
    ),
    ("5-none-lz4hc-first-keys", &[("version", 5), ("checksum", 0), ("compression", 5), ("index", 3)]),
    ("5-xxh3-zstd", &[("version", 5), ("checksum", 4), ("compression", 7), ("delta", 0)]),
    ("5-xxh3-zstd-samples", &[("version", 5), ("checksum", 4), ("compression", 7), ("dict", 512)]),
    (
        "5-crc32c-zstd-trained",
        &[("version", 5), ("checksum", 1), ("compression", 7), ("dict", 1024), ("train", 65_536)],
    ),
    (
        "5-xxh3-zstd-finalized",
        &[
            ("version", 5),
            ("checksum", 4),
            ("compression", 7),
            ("dict", 1024),
            ("train", 65_536),
            ("trainer", 0),
            ("index_restart", 4),
        ],
    ),
    (
        "6-xxh3-zstd-trained",
        &[("version", 6), ("checksum", 4), ("compression", 7), ("dict", 1024), ("train", 65_536)],
    ),
    (
        "6-crc32c-lz4-parts",
        &[("version", 6), ("checksum", 1), ("compression", 4), ("index", 2), ("part", 100)],
    ),
    ("6-xxhash-stored", &[("version", 6), ("checksum", 2), ("compression", 0), ("index_restart", 4)]),
    (
        "7-xxh3-zstd-trained",
        &[("version", 7), ("checksum", 4), ("compression", 7), ("dict", 1024), ("train", 65_536)],
    ),
    ("7-xxhash64-snappy", &[("version", 7), ("checksum", 3), ("compression", 1), ("hash", 1)]),
    ("7-none-zlib-samples", &[("version", 7), ("checksum", 0), ("compression", 2), ("dict", 512)]),
    ("7-crc32c-zstd-samples", &[("version", 7), ("checksum", 1), ("compression", 7), ("dict", 512)]),
    (
        "7-crc32c-zstd-separate-trained",
        &[
            ("version", 7),
            ("checksum", 1),
            ("compression", 7),
            ("dict", 1024),
            ("train", 65_536),
            ("separate", 1),
            ("hash", 1),
        ],
    ),
    (
        "7-xxh3-lz4-separate-uniform-parts",
        &[
            ("version", 7),
            ("checksum", 4),
            ("compression", 4),
            ("index", 2),
            ("part", 100),
            ("separate", 1),
            ("uniform", 1),
            ("restart", 4),
        ],
    ),
    ("7-xxhash64-stored-uniform", &[("version", 7), ("checksum", 3), ("compression", 0), ("uniform", 1)]),
    (
        "5-xxh3-stored-separate",
        &[("version", 5), ("checksum", 4), ("compression", 0), ("separate", 1), ("restart", 3)],
    ),
];

/// Returns whether only RocksDB 11 writes this file.
fn is_of_11(choices: Choices) -> bool {
    choices.iter().any(|(name, _)| ["separate", "uniform"].contains(name))
}

/// Options of all files.
const ALL: Choices = &[("block", 256)];

pub(crate) fn path(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../../testdata/sst", &format!("{name}.sst")].iter().collect()
}

pub(crate) fn read(name: &str) -> Vec<u8> {
    fs::read(path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Returns the records of the files.
pub(crate) fn records() -> Vec<Record> {
    const NAMES: [&str; 8] = ["ann", "berta", "carl", "dora", "emil", "frieda", "gustav", "hanna"];
    const TOWNS: [&str; 5] = ["Aalen", "Bremen", "Celle", "Dessau", "Essen"];
    (0..64usize)
        .map(|i| {
            let (name, town) = (NAMES[i * 5 % 8], TOWNS[i * i % 5]);
            let value = format!(
                "{{\"name\":\"{name}\",\"town\":\"{town}\",\"score\":{},\"active\":true}}",
                i * 7919 % 1000
            );
            match i % 16 {
                9 => Record::new(b'd', format!("user/{i:03}"), ""),
                11 => Record::new(b'm', format!("user/{i:03}"), "+1"),
                _ => Record::new(b'p', format!("user/{i:03}"), value),
            }
        })
        .collect()
}

/// Returns the records of the database file: three rounds of keys, deletions, and a range deletion.
fn history() -> Vec<Record> {
    let mut all = Vec::new();
    for round in 0..3 {
        all.extend(["a", "b", "c", "d"].map(|key| Record::new(b'p', key, format!("{key}{round}"))));
        all.push(Record::new(b'x', "", ""));
    }
    all.extend([Record::new(b'd', "a", ""), Record::new(b'x', "", ""), Record::new(b'r', "b", "cc")]);
    all
}

fn update() -> bool {
    env::var("LINERATE_UPDATE").is_ok_and(|update| update == "1")
}

#[test]
fn all_fixtures_are_read() {
    let store = Store::new();
    let mut reader = Reader::new(&store);
    for &(name, choices) in TABLES {
        let version = choices[0].1;
        let own = match is_of_11(choices) {
            true => writer_11(),
            false => writer().filter(|_| (version > 5) == (latest_version() > 5)),
        };
        if update()
            && let Some(program) = own
        {
            write(program, "table", &path(name), &[ALL, choices].concat(), &records());
        }
        for map in [true, false] {
            let sst = reader.open(path(name), SstOptions::new().map(map)).unwrap();
            assert_eq!(sst.format_version() as usize, version, "{name}");
            check(&mut reader, &sst, &records());
            let stats = reader.stats(&sst).unwrap();
            let kind = stats.dictionary.map(|dictionary| dictionary.kind);
            match name.rsplit('-').find(|part| ["samples", "trained", "finalized"].contains(part)) {
                None => assert_eq!(kind, None, "{name}"),
                Some("samples") => assert_eq!(kind, Some(DictionaryKind::Raw), "{name}"),
                Some(_) => assert!(matches!(kind, Some(DictionaryKind::Trained { .. })), "{name}"),
            }
            if name.ends_with("parts") {
                assert_eq!(sst.index_kind(), IndexKind::Partitioned);
            }
        }
    }
}

#[test]
fn history_fixture_is_read() {
    let path = path("5-history");
    if update() && latest_version() == 5 {
        let folder = tempfile::tempdir().unwrap();
        let db = folder.path().join("db");
        write(writer().expect("RocksDB"), "db", &db, &[("block", 64)], &history());
        let files = fs::read_dir(&db).unwrap().map(|entry| entry.unwrap().path());
        let table = files.into_iter().find(|p| p.extension().is_some_and(|e| e == "sst")).unwrap();
        fs::copy(table, &path).unwrap();
    }
    let store = Store::new();
    let mut reader = Reader::new(&store);
    let sst = reader.open(&path, SstOptions::new()).unwrap();
    let found: Vec<_> = super::model::scan(&mut reader, &sst).into_iter().map(|row| (row.0, row.1)).collect();
    let mut expected = vec![(b"a".to_vec(), 13)];
    for (i, key) in [b"a", b"b", b"c", b"d"].into_iter().enumerate() {
        expected.extend([8, 4, 0].map(|round| (key.to_vec(), round + i as u64 + 1)));
    }
    assert_eq!(found, expected);
    let mut newest = |key: &[u8]| reader.get(&sst, key).unwrap().map(|e| (e.kind, e.sequence));
    assert_eq!(newest(b"a"), Some((EntryKind::Deletion, 13)));
    assert_eq!(newest(b"b"), Some((EntryKind::RangeDeletion, 14)));
    assert_eq!(newest(b"bb"), Some((EntryKind::RangeDeletion, 14)));
    assert_eq!(newest(b"d"), Some((EntryKind::Value, 12)));
    assert_eq!(reader.get_at(&sst, b"b", 7).unwrap().unwrap().value, b"b1");
    assert!(reader.verify(&sst).unwrap().is_sound());
}

#[test]
fn bzip2_blocks_are_unsupported() {
    let name = "5-xxh3-bzip2";
    if update() && latest_version() == 5 {
        let program = writer().expect("RocksDB");
        write(program, "table", &path(name), &[("compression", 3), ("block", 2048)], &records());
    }
    let store = Store::new();
    let mut reader = Reader::new(&store);
    let sst = reader.open(path(name), SstOptions::new()).unwrap();
    let refused = |e: linerate_dict::Error| {
        assert_eq!(
            (e.kind, e.message),
            (Kind::Unsupported, "blocks compressed with bzip2 are not supported")
        );
    };
    refused(reader.get(&sst, b"user/001").unwrap_err());
    refused(reader.multi_get(&[(&sst, &b"user/001"[..])])[0].unwrap_err());
    refused(reader.scan(&sst).next_entry().unwrap_err());
    refused(reader.verify(&sst).unwrap().failures[0]);
    let stats = reader.stats(&sst).unwrap();
    assert!(stats.blocks.keys().eq([&Compression::Bzip2]));
}

/// RocksDB 11 held its only block back to train a dictionary, had too few samples, and did not
/// count the block.
#[test]
fn file_whose_dictionary_was_not_trained_is_sound() {
    let mut reader = Reader::new(&Store::new());
    let sst = reader.open_bytes(read("../dict/7-xxh3-zstd-no-dictionary-came"), SstOptions::new()).unwrap();
    let stats = reader.stats(&sst).unwrap();
    assert_eq!((stats.dictionary, stats.properties.data_blocks(), stats.all_blocks().blocks), (None, 0, 1));
    assert_eq!(super::model::scan(&mut reader, &sst).len(), 3);
    let verified = reader.verify(&sst).unwrap();
    assert!(verified.is_sound(), "{:?}", verified.failures);
}
