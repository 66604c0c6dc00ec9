//! `linerate dict sst`, on files that RocksDB wrote.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::data::{DAMAGED, FAILED, USAGE};
use linerate_testkit::program::Folder;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/sst")
}

fn fixture(name: &str) -> String {
    fixtures().join(name).to_str().expect("UTF-8").to_owned()
}

/// The paths of all files of `testdata/sst` except those with an unsupported compression.
fn readable() -> Vec<String> {
    let entries = std::fs::read_dir(fixtures()).expect("testdata/sst");
    let names = entries.map(|entry| entry.expect("an entry").path().to_str().expect("UTF-8").to_owned());
    let mut names: Vec<String> =
        names.filter(|name| name.ends_with(".sst") && !name.contains("bzip2")).collect();
    names.sort();
    assert!(names.len() > 10, "{names:?}");
    names
}

#[test]
fn listed_keys_are_found() {
    let folder = Folder::new();
    for name in readable().iter().filter(|name| !name.contains("history")) {
        let entries = folder.dict(&["sst", "ls", "--json", "--values", "--hex", name]).ok().objects();
        assert_eq!(entries.len(), 64, "{name}");
        let text = |entry: &Value, key: &str| entry[key].as_str().expect("text").to_owned();
        let keys: Vec<String> = entries.iter().map(|entry| text(entry, "key_hex")).collect();
        assert!(keys.is_sorted(), "{name}");
        for entry in entries.iter().step_by(7) {
            let key = text(entry, "key_hex");
            let get = folder.dict(&["sst", "get", "--json", "--hex", name, &key]).ok().objects();
            assert_eq!((get.len(), &get[0]), (1, entry), "{name}");
            let plain = folder.dict(&["sst", "get", "--hex", name, &key]);
            if entry["kind"] == "value" {
                assert_eq!(plain.ok().stdout.len() as u64, entry["bytes"].as_u64().unwrap() + 1);
            } else {
                assert_eq!((plain.status, plain.stdout.len()), (Some(FAILED), 0), "{}", plain.stderr);
            }
        }
        assert_eq!(folder.dict(&["sst", "ls", name]).ok().lines().len(), 64);
        let run = folder.dict(&["sst", "get", name, "no such key"]);
        run.fails(FAILED, &format!("linerate: {name}: no such key: there is no such key"));
    }
}

#[test]
fn ranges_and_prefixes_choose_records() {
    let folder = Folder::new();
    let name = fixture("5-xxh3-zstd-finalized.sst");
    let keys = |args: &[&str]| folder.dict(&[&["sst", "ls", "--hex", &name][..], args].concat()).ok().lines();
    let all = keys(&[]);
    assert_eq!(keys(&["--from", &all[10], "--to", &all[20]]), all[10..20]);
    assert_eq!(keys(&["--from", &all[60]]), all[60..]);
    assert_eq!(keys(&["--to", &all[3]]), all[..3]);
    assert_eq!(keys(&["--limit", "5"]), all[..5]);
    assert_eq!(keys(&["--prefix", &all[7]]), all[7..8]);
    let prefix = &all[40][..all[40].len() - 2];
    let expected: Vec<&String> = all.iter().filter(|key| key.starts_with(prefix)).collect();
    assert!(expected.len() > 1);
    assert!(keys(&["--prefix", prefix]).iter().eq(expected));
    assert!(keys(&["--prefix", "ff"]).is_empty());
    let long = folder.dict(&["sst", "ls", "--long", "--limit=1", &name]).ok().lines();
    assert_eq!(long[0].split_whitespace().count(), 4, "{long:?}");
}

#[test]
fn versions_of_a_key_are_chosen_by_sequence_number() {
    let folder = Folder::new();
    let name = fixture("5-history.sst");
    let entries = folder.dict(&["sst", "ls", "--json", "--values", &name]).ok().objects();
    let of_a: Vec<&Value> = entries.iter().filter(|entry| entry["key"] == "a").collect();
    let kinds: Vec<&Value> = of_a.iter().map(|entry| &entry["kind"]).collect();
    assert_eq!(kinds, ["deletion", "value", "value", "value"]);
    let deleted = format!("linerate: {name}: a: the key was deleted");
    folder.dict(&["sst", "get", &name, "a"]).fails(FAILED, &deleted);
    let before = (of_a[0]["sequence"].as_u64().unwrap() - 1).to_string();
    let found = folder.dict(&["sst", "get", "--sequence", &before, &name, "a"]).ok().lines();
    assert_eq!(json!(found[0]), of_a[1]["value"]);
}

#[test]
fn stats_match_the_file() {
    let folder = Folder::new();
    for name in readable() {
        let stats = folder.dict(&["sst", "stats", "--json", &name]).ok().objects().remove(0);
        let info = folder.dict(&["info", "--json", &name]).ok().objects().remove(0);
        assert_eq!(stats["bytes"], std::fs::metadata(&name).unwrap().len());
        assert_eq!(stats["blocks"], info["blocks"]);
        let version = Path::new(&name).file_name().unwrap().to_str().unwrap()[..1].parse::<u64>().unwrap();
        assert_eq!(stats["format_version"], version, "{name}");
        let has = |word: &str| name.contains(word);
        let kind = stats["dictionary"]["kind"].as_str();
        let expected = match () {
            () if has("trained") || has("finalized") => Some("trained"),
            () if has("samples") => Some("raw"),
            () => None,
        };
        assert_eq!(kind, expected, "{name}");
        let savings = &stats["savings"];
        assert_eq!(savings.is_object(), expected.is_some() && has("zstd"), "{name}: {savings}");
        if savings.is_object() {
            let number = |name: &str| savings[name].as_f64().expect("a number");
            let zstd = &stats["blocks"]["zstd"];
            assert_eq!((&savings["sampled_content"], &savings["level"]), (&zstd["content"], &json!(3)));
            assert_eq!(number("blocks"), number("sampled_without") - number("sampled_with"));
            assert_eq!(number("net"), number("blocks") - number("dictionary"));
            assert_eq!(savings["dictionary"], stats["dictionary"]["bytes"]);
            // RocksDB compressed the blocks at the same level. Before each it stores the length of
            // the content, in two bytes.
            let stored = zstd["stored"].as_f64().unwrap() - 2.0 * zstd["blocks"].as_f64().unwrap();
            assert!((number("sampled_with") / stored - 1.0).abs() < 0.1, "{name}: {savings}, {stored}");
            assert!(number("blocks") > 0.0, "{name}: {savings}");
        }
    }
    let name = fixture("5-xxh3-zstd-finalized.sst");
    let text = folder.dict(&["sst", "stats", "--properties", &name]).ok().lines();
    assert!(text.iter().any(|line| line == "  rocksdb.comparator = leveldb.BytewiseComparator"), "{text:?}");
    assert!(text.iter().any(|line| line.starts_with("dictionary  1024 bytes, trained, number ")), "{text:?}");
}

/// A number from 32 to 126 is stored as a byte that is ASCII text, too.
#[test]
fn numeric_properties_are_printed_as_numbers() {
    let folder = Folder::new();
    for name in readable() {
        let stats = folder.dict(&["sst", "stats", "--json", "--properties", &name]).ok().objects().remove(0);
        let properties = &stats["properties"];
        let range_deletions = stats["range_deletions"].as_u64().unwrap();
        let entries = stats["entries"].as_u64().unwrap() + range_deletions;
        assert_eq!(properties["rocksdb.num.entries"], entries, "{name}");
        assert_eq!(properties["rocksdb.raw.key.size"], stats["key_bytes"], "{name}");
        for property in ["data.size", "index.size", "format.version", "column.family.id", "creation.time"] {
            let value = &properties[format!("rocksdb.{property}")];
            assert!(value.is_u64(), "{name}: {property} = {value}");
        }
        for property in ["comparator", "compression", "block.based.table.whole.key.filtering"] {
            let value = &properties[format!("rocksdb.{property}")];
            assert!(value.is_string(), "{name}: {property} = {value}");
        }
    }
    let text = folder.dict(&["sst", "stats", "--properties", &fixture("5-xxh3-zstd.sst")]).ok().lines();
    assert!(text.iter().any(|line| line == "  rocksdb.num.entries = 64"), "{text:?}");
}

#[test]
fn compression_managers_and_newer_versions_are_named() {
    let folder = Folder::new();
    let compressor = |name: &str| {
        let lines = folder.dict(&["sst", "stats", name]).ok().lines();
        lines.into_iter().find(|line| line.starts_with("compressor ")).expect("a line")
    };
    assert_eq!(compressor(&fixture("5-xxh3-zstd.sst")), "compressor  RocksDB");
    let own = fixture("7-none-zlib-samples.sst");
    assert_eq!(compressor(&own), "compressor  BuiltinV2, RocksDB's own");
    // This file has no checksums, so that bytes of it can be changed.
    let mut bytes = std::fs::read(&own).unwrap();
    let at = bytes.windows(9).position(|window| window == b"BuiltinV2").expect("a name");
    bytes[at..at + 9].copy_from_slice(b"AcmeZip01");
    folder.write("custom.sst", &bytes);
    assert!(compressor("custom.sst").starts_with("compressor  AcmeZip01, a custom compression manager"));
    let stats = folder.dict(&["sst", "stats", "--json", "custom.sst"]).ok().objects().remove(0);
    assert_eq!(stats["compression_manager"], "AcmeZip01");
    let version = bytes.len() - 12;
    bytes[version] = 8;
    folder.write("newer.sst", &bytes);
    let run = folder.dict(&["sst", "stats", "newer.sst"]);
    assert!(run.stderr.contains("a format version newer than 7"), "{}", run.stderr);
}

#[test]
fn damaged_sst_files_are_errors() {
    let folder = Folder::new();
    let all = readable();
    let args: Vec<&str> = all.iter().map(String::as_str).collect();
    folder.dict(&[&["sst", "verify"][..], &args].concat()).ok();
    folder.dict(&[&["verify"][..], &args].concat()).ok();
    let bytes = std::fs::read(fixture("7-xxh3-zstd-trained.sst")).unwrap();
    for len in [0, 7, 52, 53, bytes.len() - 1] {
        folder.write("cut.sst", &bytes[..len]);
        let run = folder.dict(&["sst", "verify", "cut.sst"]);
        assert_eq!((run.status, run.stderr.lines().count()), (Some(DAMAGED), 1), "{len}: {}", run.stderr);
    }
    let mut bad = bytes.clone();
    bad[10] ^= 1;
    folder.write("bad.sst", &bad);
    let run = folder.dict(&["sst", "verify", "bad.sst"]);
    run.fails(DAMAGED, "linerate: bad.sst: the checksum of a block does not match");
    assert_eq!(folder.dict(&["sst", "ls", "bad.sst"]).status, Some(DAMAGED));
    let objects = folder.dict(&["sst", "verify", "--json", "bad.sst"]).objects();
    assert_eq!((&objects[0]["kind"], &objects[1]["status"]), (&json!("corrupt"), &json!("failed")));
    let bzip2 = folder.dict(&["sst", "ls", &fixture("5-xxh3-bzip2.sst")]);
    assert!(bzip2.stderr.contains("bzip2"), "{}", bzip2.stderr);
    folder
        .dict(&["sst", "ls", "absent"])
        .fails(FAILED, "linerate: absent: cannot open: No such file or directory");
    let limited = folder.dict(&["sst", "ls", "--max-block", "16", &all[0]]);
    assert_eq!(limited.status, Some(4), "{}", limited.stderr);
    for wrong in [
        &["sst"][..],
        &["sst", "ls"],
        &["sst", "get", "x"],
        &["sst", "ls", "--hex", "--from=x", "y"],
        &["sst", "ls", "--long", "--json", "y"],
    ] {
        assert_eq!(folder.dict(wrong).status, Some(USAGE), "{wrong:?}");
    }
}
