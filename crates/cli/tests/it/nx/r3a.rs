//! R3A, the draft format: written with `--format r3a`, and read by every command that reads
//! archives.

use std::collections::BTreeMap;
use std::process::Command;

use linerate_testkit::tools::has_program;

use super::data::{DAMAGED, FAILED, LIMIT, WARNED, golden};
use super::tree::{files_below, plant};
use linerate_testkit::program::Folder;
use linerate_testkit::r3a::{MAGIC_SWAPPED, Shape, Vector, example, example_files, is_hashed, shapes};

const FAST: [&str; 2] = ["--solidlevel=2", "--chunkedlevel=2"];

fn pack(folder: &Folder, args: &[&str]) {
    folder.nx(&[&["pack"], args, &FAST[..]].concat()).ok();
}

/// The magic number, the version and the form of the tables, from the header of an archive.
fn front(archive: &[u8]) -> (&[u8], u8, u8) {
    (&archive[..4], archive[7] >> 1, archive[15] >> 5)
}

#[test]
fn r3a_round_trips() {
    let folder = Folder::new();
    let files = plant(&folder, "in");
    pack(&folder, &["--format", "r3a", "in", "-o", "a.r3a"]);
    pack(&folder, &["--format=nx", "in", "-o", "a.nx"]);
    assert_eq!(front(&folder.read("a.r3a")), (&b"R3A\0"[..], 1, 0));
    assert_eq!(folder.read("a.nx")[..4], *b"NXUS");
    assert_eq!(folder.nx(&["list", "a.r3a"]).ok().lines(), folder.nx(&["list", "a.nx"]).ok().lines());
    folder.nx(&["verify", "a.r3a"]).ok();
    folder.nx(&["verify", "--against", "in", "a.r3a"]).ok();
    folder.nx(&["diff", "--exit-code", "a.r3a", "a.nx"]).ok();
    folder.nx(&["bench", "--attempts=1", "-p1", "a.r3a"]).ok();
    folder.nx(&["extract", "-p3", "a.r3a", "-o", "out"]).ok();
    assert!(files_below(&folder.path("out")) == files);
    let one = folder.nx(&["extract", "-c", "a.r3a", "/copy/1.txt"]).ok().stdout;
    assert!(one == files["copy/1.txt"]);
    let names = folder.names();
    assert_eq!(names, ["a.nx", "a.r3a", "in", "out"], "nothing else is left");
}

#[test]
fn a_reader_written_from_the_draft_alone_finds_every_file() {
    if !has_program("python3") || !has_program("zstd") {
        return;
    }
    let folder = Folder::new();
    let files = plant(&folder, "in");
    let reader = linerate_testkit::tools::reader("r3a_reader.py");
    let cases: &[&[&str]] = &[
        &[],
        &["--blocksize=0", "--chunksize=64K"],
        &["--chunksize=32K", "--solid-algorithm=lz4", "--chunked-algorithm=copy"],
        &["--metadata"],
    ];
    for (i, options) in cases.iter().enumerate() {
        let archive = format!("{i}.r3a");
        pack(&folder, &[&["--format=r3a", "in", "-o", &archive], *options].concat());
        let mut python = Command::new("python3");
        // Python writes no compiled form of the reader beside the sources.
        let python = python.env("PYTHONDONTWRITEBYTECODE", "1").arg(&reader);
        let output =
            python.arg(folder.path(&archive)).arg(folder.path("in")).output().expect("python3 starts");
        assert!(output.status.success(), "{options:?}: {}", String::from_utf8_lossy(&output.stderr));
        let counts = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(counts.starts_with(&format!("{} files ", files.len())), "{counts}");
    }
}

#[test]
fn r3a_bytes_are_the_same_for_any_threads() {
    let folder = Folder::new();
    plant(&folder, "in");
    for threads in ["1", "3"] {
        pack(&folder, &["--format=r3a", "-p", threads, "in", "-o", threads]);
    }
    assert!(folder.read("1") == folder.read("3"));
}

#[test]
fn archives_without_solid_blocks_have_the_compact_form() {
    let folder = Folder::new();
    plant(&folder, "in");
    pack(&folder, &["--format=r3a", "--blocksize=0", "in", "-o", "a.r3a"]);
    assert_eq!(front(&folder.read("a.r3a")), (&b"R3A\0"[..], 1, 3));
    folder.nx(&["verify", "-q", "a.r3a"]).ok();
}

#[test]
fn dictionaries_shrink_small_files_of_one_kind_and_need_r3a() {
    let folder = Folder::new();
    // Files consist of 300 common lines, which rarely repeat within a block of 16 KiB.
    let mix = |n: u32| (n ^ n >> 15).wrapping_mul(2_246_822_519) ^ n.wrapping_mul(2_654_435_761);
    let line = |n: u32| (0..12).map(|k| format!("{:08x}", mix(n + k * 1000))).collect::<String>() + "\n";
    for i in 0..400 {
        let text: String = (0..12).map(|k| line(mix(i * 31 + k) % 300)).collect();
        folder.write(&format!("in/{i}.ini"), text.as_bytes());
    }
    let coding = ["--chunksize=16K", "--solidlevel=9", "--chunkedlevel=9"];
    let pack = |args: &[&str]| folder.nx(&[&["pack", "in", "-o"], args, &coding].concat());
    pack(&["plain.r3a", "--format=r3a"]).ok();
    pack(&["a.r3a", "--format=r3a", "--dictionaries"]).ok();
    assert!(folder.read("a.r3a").len() < folder.read("plain.r3a").len());
    folder.nx(&["verify", "--against", "in", "a.r3a"]).ok();
    let info = folder.nx(&["info", "--json", "a.r3a"]).ok().object();
    assert_eq!(bytes_to_fetch(&folder, "a.r3a"), info["compressed_bytes"].as_u64());
    folder.nx(&["extract", "-p3", "a.r3a", "-o", "out"]).ok();
    let files = files_below(&folder.path("in"));
    assert!(files_below(&folder.path("out")) == files);
    // `bench` reads the archive into memory without decoding it: a memory limit that leaves room for
    // the archive, but not for the contents of its files, is enough.
    let (archive, contents) = (folder.read("a.r3a").len(), files.values().map(Vec::len).sum::<usize>());
    assert!(archive + 1000 < contents, "{archive}, {contents}");
    let bench = |limit: usize| {
        folder.nx(&["bench", "--attempts=1", "-p1", "--max-memory", &limit.to_string(), "a.r3a"])
    };
    bench(archive + 1000).ok();
    assert_eq!(bench(archive - 1).status, Some(LIMIT));
    let run = pack(&["a.nx", "--dictionaries"]);
    assert!(run.status != Some(0) && run.stderr.contains("--format r3a"), "{}", run.stderr);
    assert!(!folder.has("a.nx"));
}

#[test]
fn search_and_grouping_options_change_sizes_not_contents() {
    let folder = Folder::new();
    plant(&folder, "in");
    for (name, args) in [
        ("a", ["--fit-search=true", "--group-similar=true"]),
        ("b", ["--fit-search=false", "--group-similar=false"]),
    ] {
        let coding = ["--chunksize=512K", "--solidlevel=9", "--chunkedlevel=9"];
        folder.nx(&[&["pack", "in", "-o", name][..], &args, &coding].concat()).ok();
        folder.nx(&["verify", "--against", "in", name]).ok();
    }
    folder.nx(&["diff", "--exit-code", "a", "b"]).ok();
    assert!(folder.read("a") != folder.read("b"));
}

#[test]
fn the_solid_limit_is_that_of_the_format() {
    let folder = Folder::new();
    // These files would share a block of 32 MiB - 1.
    for i in 0..3 {
        folder.write(&format!("in/{i}.txt"), &vec![i; 7 << 20]);
    }
    pack(&folder, &["--format=r3a", "--chunksize=32M", "--blocksize=32M", "in", "-o", "a.r3a"]);
    folder.nx(&["verify", "--against", "in", "a.r3a"]).ok();
    folder.write("in/3.txt", b"a file beyond an offset of 16 MiB");
    pack(&folder, &["--chunksize=32M", "--blocksize=32M", "in", "-o", "a.nx"]);
    let run = folder.nx(&["repack", "--format=r3a", "a.nx", "-o", "b.r3a"]);
    assert_eq!(run.status, Some(LIMIT), "{}", run.stderr);
    assert!(run.stderr.contains("16 MiB"), "{}", run.stderr);
    assert!(!folder.has("b.r3a"));
}

#[test]
fn conversion_copies_blocks() {
    let folder = Folder::new();
    for name in ["many", "edges-32k", "dups-chunked", "single-empty"] {
        let golden = golden(name);
        folder.nx(&["repack", "-f", "--format=r3a", golden.file(), "-o", "a.r3a"]).ok();
        folder.nx(&["repack", "-f", "--format=nx", "a.r3a", "-o", "a.nx"]).ok();
        folder.nx(&["verify", "-q", "a.r3a"]).ok();
        for archive in ["a.r3a", "a.nx"] {
            folder.nx(&["diff", "--exit-code", golden.file(), archive]).ok();
        }
        let info = |archive: &str| folder.nx(&["info", "--json", archive]).ok().objects().remove(0);
        let (r3a, nx) = (info("a.r3a"), info("a.nx"));
        assert_eq!((r3a["format"].as_str(), nx["format"].as_str()), (Some("r3a"), Some("nx")));
        // Each zstd block is four bytes shorter without its magic number.
        let bytes =
            |found: &serde_json::Value, codec: &str| found["codecs"][codec]["bytes"].as_u64().unwrap();
        let frames = nx["codecs"]["zstd"]["blocks"].as_u64().unwrap();
        assert_eq!(bytes(&r3a, "zstd") + 4 * frames, bytes(&nx, "zstd"), "{name}");
    }
}

#[test]
fn edits_keep_the_format() {
    let folder = Folder::new();
    let mut files = plant(&folder, "in");
    pack(&folder, &["--format=r3a", "in", "-o", "a.r3a"]);
    folder.write("in/added", b"added");
    files.insert("added".into(), b"added".to_vec());
    folder.nx(&[&["update", "a.r3a", "in"][..], &FAST].concat()).ok();
    folder.nx(&["delete", "a.r3a", "text/1"]).ok();
    files.retain(|path, _| !path.starts_with("text/1/"));
    folder.nx(&[&["repack", "a.r3a"][..], &FAST].concat()).ok();
    assert_eq!(front(&folder.read("a.r3a")), (&b"R3A\0"[..], 1, 0));
    folder.nx(&["extract", "a.r3a", "-o", "out"]).ok();
    assert!(files_below(&folder.path("out")) == files);
    folder.write("more/x", b"x");
    pack(&folder, &["more", "-o", "b.nx"]);
    folder.nx(&["merge", "a.r3a", "b.nx", "-o", "all.r3a"]).ok();
    folder.nx(&["merge", "--format=nx", "a.r3a", "b.nx", "-o", "all.nx"]).ok();
    folder.nx(&["diff", "--exit-code", "all.r3a", "all.nx"]).ok();
    assert_eq!((&folder.read("all.r3a")[..4], &folder.read("all.nx")[..4]), (&b"R3A\0"[..], &b"NXUS"[..]));
}

#[test]
fn handmade_archives_are_read() {
    let folder = Folder::new();
    let files: BTreeMap<String, Vec<u8>> =
        example_files().into_iter().map(|(name, content)| (name.to_owned(), content)).collect();
    for (i, shape) in shapes(1).into_iter().enumerate() {
        folder.write("a.r3a", &Vector { magic: MAGIC_SWAPPED, ..example(shape) }.bytes());
        assert!(folder.nx(&["list", "a.r3a"]).ok().lines().iter().eq(files.keys()), "{shape:?}");
        let run = folder.nx(&["verify", "-q", "a.r3a"]);
        let warned = if is_hashed(shape) { 0 } else { WARNED };
        assert_eq!(run.status, Some(warned), "{shape:?}: {}", run.stderr);
        let out = format!("out{i}");
        folder.nx(&["extract", "a.r3a", "-o", &out]).ok();
        assert!(files_below(&folder.path(&out)) == files, "{shape:?}");
    }
}

#[test]
fn archive_without_hashes_is_read_and_verified_with_a_warning() {
    let folder = Folder::new();
    folder.write("a.r3a", &example(Shape::Small(false)).bytes());
    let count = example_files().len();
    let run = folder.nx(&["verify", "a.r3a"]);
    let note = format!("{count} files without hashes: they decode, and nothing else can be checked");
    run.fails(WARNED, &format!("linerate: a.r3a: {note}"));
    let object = folder.nx(&["verify", "--json", "a.r3a"]).objects().remove(0);
    assert_eq!((object["status"].as_str(), object["unchecked"].as_u64()), (Some("ok"), Some(count as u64)));
    let objects = folder.nx(&["list", "--json", "a.r3a"]).ok().objects();
    assert!(objects.len() == count && objects.iter().all(|file| file["hash"].is_null()));
    assert!(folder.nx(&["info", "a.r3a"]).ok().lines()[1].contains("without hashes"));
    folder.nx(&["extract", "a.r3a", "-o", "out"]).ok();
    folder.nx(&["verify", "--against", "out", "a.r3a"]).ok();
    // Archives written from it have hashes, and the same contents.
    folder.nx(&["repack", "--format=nx", "a.r3a", "-o", "a.nx"]).ok();
    folder.nx(&["verify", "a.nx"]).ok();
    folder.nx(&["repack", "a.r3a", "-o", "b.r3a"]).ok();
    folder.nx(&["verify", "b.r3a"]).ok();
    for (old, new) in [("a.r3a", "a.nx"), ("a.nx", "a.r3a"), ("a.r3a", "b.r3a")] {
        folder.nx(&["diff", "--exit-code", old, new]).ok();
    }
    folder.write("none", b"");
    folder.nx(&["delete", "--keep-hashes", "none", "a.r3a", "-o", "c.r3a"]).ok();
    assert_eq!(folder.nx(&["list", "c.r3a"]).ok().lines().len(), count, "nothing tells that they may go");
}

/// The number of bytes that `diff` says an update from an archive of no content fetches.
fn bytes_to_fetch(folder: &Folder, new: &str) -> Option<u64> {
    let objects = folder.nx(&["diff", "--json", golden("single-empty").file(), new]).ok().objects();
    objects.last().expect("a summary")["bytes_to_fetch"].as_u64()
}

#[test]
fn diff_counts_the_bytes_of_blocks_in_the_r3a_file() {
    let folder = Folder::new();
    let vector = example(Shape::Preset(0));
    folder.write("a.r3a", &vector.bytes());
    let bytes: usize = vector.blocks.iter().map(|(_, block)| block.len()).sum();
    assert_eq!(bytes_to_fetch(&folder, "a.r3a"), Some(bytes as u64));
}

#[test]
fn diff_of_unhashed_files_keeps_the_limits() {
    let folder = Folder::new();
    folder.write("a.r3a", &example(Shape::Small(false)).bytes());
    folder.nx(&["repack", "--format=nx", "a.r3a", "-o", "a.nx"]).ok();
    folder.nx(&["diff", "--max-output=1K", "a.nx", "a.nx"]).ok();
    let run = folder.nx(&["diff", "--max-output=1K", "a.r3a", "a.nx"]);
    run.fails(LIMIT, "linerate: a.r3a: the files are larger together than the limit");
    let run = folder.nx(&["diff", "--max-output=1K", "a.nx", "a.r3a"]);
    run.fails(LIMIT, "linerate: a.nx: a.r3a: the files are larger together than the limit");
}

#[test]
fn errors_have_offsets_in_the_r3a_file() {
    let folder = Folder::new();
    let vector = example(Shape::Small(true));
    folder.write("a.r3a", &vector.bytes());
    folder.nx(&["extract", "a.r3a", "-o", "out"]).ok();
    std::fs::remove_file(folder.path("out/big.bin")).expect("a file");
    folder.write("out/new", b"new");
    let run = folder.nx(&["verify", "--against", "out", "a.r3a"]);
    // An entry of this form has 16 bytes, and that of `big.bin` is the second.
    let lines = "linerate: a.r3a: big.bin: it is not in out (at byte 32)\n\
                 linerate: a.r3a: new: it is in out, not in the archive (at byte 96)\n";
    assert_eq!((run.status, &*run.stderr), (Some(DAMAGED), lines));
    let mut wrong = vector;
    wrong.files[1].hash ^= 1;
    folder.write("a.r3a", &wrong.bytes());
    let line = "linerate: a.r3a: big.bin: the content does not match its hash (at byte 32)";
    for args in [&["verify", "a.r3a"][..], &["extract", "-c", "a.r3a"], &["extract", "a.r3a", "-o", "out2"]] {
        folder.nx(args).fails(DAMAGED, line);
    }
}

#[test]
fn info_names_the_format_and_its_profile() {
    let folder = Folder::new();
    folder.write("a.r3a", &example(Shape::Preset(2)).bytes());
    let lines = folder.nx(&["info", "a.r3a"]).ok().lines();
    assert_eq!(lines[1], "format      R3A 2.0, a draft (profile r3a-2.0-doc), XXH3-64, preset 2");
    for command in ["pack", "repack", "merge", "update", "delete"] {
        let help = String::from_utf8(folder.nx(&[command, "--help"]).stdout).unwrap();
        assert!(help.contains("--format") && help.contains("draft"), "{command}");
    }
}

#[test]
fn damaged_and_truncated_archives_are_one_line_of_error() {
    let folder = Folder::new();
    let bytes = example(Shape::Preset(0)).bytes();
    for len in [3, 4, 7, 20, 4095, bytes.len() - 1] {
        folder.write("cut.r3a", &bytes[..len]);
        let run = folder.nx(&["list", "cut.r3a"]);
        assert_eq!((run.status, run.stderr.lines().count()), (Some(DAMAGED), 1), "{len}: {}", run.stderr);
    }
    let mut flipped = bytes.clone();
    *flipped.last_mut().unwrap() ^= 1;
    folder.write("bad.r3a", &flipped);
    let run = folder.nx(&["repack", "--format=nx", "bad.r3a", "-o", "b.nx"]);
    assert_eq!((run.status, folder.has("b.nx")), (Some(DAMAGED), false), "{}", run.stderr);
    assert_eq!(folder.nx(&["list", "absent.r3a"]).status, Some(FAILED));
}
