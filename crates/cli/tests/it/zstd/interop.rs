//! Exchanges files with the system's zstd, in both directions.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use linerate_testkit::data::{json_rows, mixed as sample};
use linerate_testkit::program::{Folder, Run};
use linerate_testkit::testdata::corpus_folder;
use linerate_testkit::tools::has_program;

/// Levels as arguments of `zstd`.
const LEVELS: [&[&str]; 6] =
    [&["-1"], &["--fast=5"], &["-3"], &["-9"], &["-19"], &["--ultra", "-22", "--long=27"]];

fn compress(args: &[&str], path: &Path) -> Vec<u8> {
    let run = Run::of(Command::new("zstd").args(args).args(["-q", "-c"]).arg(path), b"");
    run.ok().stdout
}

fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() { files_below(&path, found) } else { found.push(path) }
    }
}

/// Tests the corpus of the bench, and the folder that `LINERATE_CORPORA` names. The two slow levels
/// compress only the first 4 MiB of larger files.
#[test]
fn files_of_every_level_of_zstd_are_decompressed() {
    if !has_program("zstd") {
        return;
    }
    const SLOW: u64 = 4 << 20;
    let mut paths = Vec::new();
    files_below(&corpus_folder(), &mut paths);
    let corpora = env::var_os("LINERATE_CORPORA").map(PathBuf::from);
    match &corpora {
        // The other sets have tens of thousands of files.
        Some(folder) => files_below(&folder.join("silesia"), &mut paths),
        // The test runner would capture `println`.
        None => _ = writeln!(io::stderr(), "SKIP: LINERATE_CORPORA names no folder of larger files"),
    }
    paths.sort();
    let folder = Folder::new();
    for path in paths {
        for (i, args) in LEVELS.into_iter().enumerate() {
            let mut source = path.clone();
            if i >= 4 && fs::metadata(&path).unwrap().len() > SLOW {
                let start = fs::read(&path).unwrap();
                source = folder.write("start", &start[..SLOW as usize]);
            }
            let packed = folder.write("packed.zst", &compress(args, &source));
            folder.zstd_with(&["-df", "packed.zst"], b"").ok();
            let same = folder.read("packed") == fs::read(&source).unwrap();
            assert!(same, "{} at {args:?}", path.display());
            fs::remove_file(packed).unwrap();
        }
    }
}

#[test]
fn several_frames_of_a_pipe_are_decompressed_with_and_without_checksums() {
    if !has_program("zstd") {
        return;
    }
    let folder = Folder::new();
    let path = corpus_folder().join("zic.c");
    let content = fs::read(&path).unwrap();
    let frames = [compress(&["-5", "--no-check"], &path), compress(&["-2", "-C"], &path)].concat();
    assert!(folder.zstd_with(&["-d"], &frames).ok().stdout == content.repeat(2));
    let run = folder.zstd_with(&["-l", "--json"], &frames).ok();
    let record: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(record["bytes_out"].as_u64(), Some(2 * content.len() as u64));
    // Data from a pipe has no size in its header.
    let piped = Run::of(Command::new("zstd").args(["-q", "-c"]), &content).ok().stdout;
    assert!(folder.zstd_with(&["-d"], &piped).ok().stdout == content);
    let run = folder.zstd_with(&["-l", "--json"], &piped).ok();
    let record: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!((record["bytes_out"].as_u64(), record["checksum"].as_bool()), (None, Some(true)));
}

#[test]
fn frames_with_a_dictionary_of_zstd_are_decompressed() {
    if !has_program("zstd") {
        return;
    }
    let folder = Folder::new();
    let text = fs::read(corpus_folder().join("earthquakes.json")).unwrap();
    let mut train = Command::new("zstd");
    let trained = folder.path("trained");
    train.args(["-q", "--train", "--maxdict=8192", "-o"]).arg(&trained);
    for (i, sample) in text.chunks(700).enumerate() {
        train.arg(folder.write(&format!("samples/{i}"), sample));
    }
    Run::of(&mut train, b"").ok();
    let raw = folder.write("raw", &text[..30_000]);
    for dictionary in [trained, raw] {
        let dictionary = dictionary.to_str().unwrap();
        for i in [0, 7, 100] {
            let sample = folder.path(&format!("samples/{i}"));
            let frame = compress(&["-6", "-D", dictionary], &sample);
            let run = folder.zstd_with(&["-d", "-D", dictionary], &frame).ok();
            assert!(run.stdout == fs::read(&sample).unwrap());
        }
    }
}

fn decompress(args: &[&str], frames: &[u8]) -> Vec<u8> {
    Run::of(Command::new("zstd").args(["-q", "-dc"]).args(args), frames).ok().stdout
}

#[test]
fn zstd_decompresses_our_output_of_every_level() {
    if !has_program("zstd") {
        return;
    }
    let folder = Folder::new();
    let data = sample(1_500_000);
    folder.write("a", &data);
    let levels = (1..=22).map(|level| format!("-{level}"));
    for level in levels.chain(["--fast".into(), "--fast=30".into()]) {
        let frame = folder.zstd_with(&["--ultra", &level, "-c", "a"], b"").ok().stdout;
        assert!(decompress(&[], &frame) == data, "{level}");
    }
    for args in [&["--long=27"][..], &["--no-check", "-T2"], &["--no-content-size"], &["--rsyncable", "-1"]] {
        let frame = folder.zstd_with(&[args, &["-c", "a"]].concat(), b"").ok().stdout;
        assert!(decompress(&[], &frame) == data, "{args:?}");
    }
    let larger = folder.zstd_with(&["--long=29"], &data).ok().stdout;
    assert!(decompress(&["--long=31"], &larger) == data);
    let frames = [folder.zstd_with(&[], b"").ok().stdout, larger].concat();
    assert!(decompress(&["--long=29"], &frames) == data);
}

#[test]
fn zstd_decompresses_our_output_with_its_dictionary() {
    if !has_program("zstd") {
        return;
    }
    let folder = Folder::new();
    let dictionary = folder.write("raw", &json_rows(1, 100)).display().to_string();
    let rows = json_rows(2, 9000);
    for content in [&rows[..2000], &rows] {
        folder.write("rows", content);
        let frame = folder.zstd_with(&["-c", "-9", "-T2", "-D", &dictionary, "rows"], b"").ok().stdout;
        assert!(decompress(&["-D", &dictionary], &frame) == content);
    }
}

#[test]
fn file_is_as_large_as_that_of_zstd() {
    if !has_program("zstd") {
        return;
    }
    let folder = Folder::new();
    let path = folder.write("rows", &json_rows(2, 9000));
    for level in ["-1", "-3", "-9", "-19"] {
        let theirs = compress(&[level, "-T1"], &path).len() as f64;
        let ours = folder.zstd_with(&[level, "-c", "rows"], b"").ok().stdout.len() as f64;
        // Sizes differ slightly between versions of libzstd.
        assert!((ours / theirs - 1.0).abs() < 0.03, "{level}: {ours} and {theirs}");
    }
}

#[test]
fn files_of_pzstd_are_decompressed_by_any_number_of_threads() {
    if !has_program("pzstd") {
        return;
    }
    let folder = Folder::new();
    let content = json_rows(3, 60_000);
    let path = folder.write("rows", &content);
    Run::of(Command::new("pzstd").args(["-q", "-1", "-p", "3"]).arg(&path), b"").ok();
    let run = folder.zstd_with(&["-l", "--json", "rows.zst"], b"").ok();
    assert!(run.object()["frames"].as_u64() > Some(4));
    for threads in ["-T1", "-T2", "-T5"] {
        assert!(folder.zstd_with(&["-dc", threads, "rows.zst"], b"").ok().stdout == content, "{threads}");
    }
}
