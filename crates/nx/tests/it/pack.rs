//! Tests packing: all readers get the packed files back, and archives have the same bytes however
//! they were made.

use std::cell::RefCell;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use linerate_nx::pack::{
    Builder, CancelToken, Coding, FileOptions, Format, PRESETS, PackOptions, Stage, Walk, Zstd,
};
use linerate_nx::{Archive, Header, Kind, Toc};
use linerate_testkit::tools::{has_program, reader};
use proptest::prelude::*;

use crate::cases::cases;
use crate::pack_tree::{assert_holds, content, open, pack, tree, write_tree};

fn options(chunk: u64, solid_limit: u64, solid: Coding, chunked: Coding) -> PackOptions {
    let mut options = PackOptions::default();
    (options.chunk, options.solid_limit) = (chunk, solid_limit);
    (options.solid, options.chunked) = (solid, chunked);
    options
}

/// Runs the Python reader, which compares an archive with a folder.
fn python_reads(archive: &Path, folder: &Path) -> String {
    let reader = reader("pack_reader.py");
    let output = Command::new("python3").arg(reader).arg(archive).arg(folder).output().expect("python3");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn independent_reader_finds_every_file() {
    if !has_program("python3") || !has_program("zstd") {
        return;
    }
    let slow = Coding::Zstd(Zstd { level: 12, min_match: 4, literals: false, long: true });
    let cases = [
        options(32 << 10, (16 << 10) - 1, Coding::zstd(3), Coding::zstd(9)),
        options(32 << 10, (32 << 10) - 1, Coding::lz4(1), Coding::lz4(9)),
        options(4 << 10, 0, Coding::Copy, slow),
        options(64 << 10, (4 << 10) - 1, Coding::lz4(12), Coding::Copy),
    ];
    for (i, options) in cases.iter().enumerate() {
        let folder = tempfile::tempdir().expect("a folder");
        let files = tree(i as u64 + 1, 60, options);
        let from = folder.path().join("tree");
        write_tree(&from, &files);
        let mut builder = Builder::new(options.clone()).expect("options");
        let others = builder.add_folder(&from, |_| Some(FileOptions::default())).expect("readable");
        assert!(others.is_empty());
        let target = folder.path().join("a.nx");
        let summary = builder.write(&target).expect("packable");
        assert!(summary.shared_files > 0, "{summary:?}");
        assert_eq!(summary.archive_bytes, fs::metadata(&target).expect("there").len());
        let counts = python_reads(&target, &from);
        assert!(counts.starts_with(&format!("60 files {} blocks", summary.blocks)), "{counts}");
    }
}

#[test]
fn cancelled_packing_leaves_the_target_unchanged() {
    for (threads, blocks) in [(1, 20), (3, 20), (1, 200), (3, 200)] {
        let folder = tempfile::tempdir().expect("a folder");
        let target = folder.path().join("a.nx");
        fs::write(&target, b"before").expect("writable");
        let options =
            PackOptions { threads, dedup_chunked: false, ..options(512, 0, Coding::Copy, Coding::Copy) };
        let mut builder = Builder::new(options.clone()).expect("options");
        for i in 0..200 {
            builder.add_bytes(format!("{i}"), vec![i as u8; 500]).expect("a path");
        }
        builder.on_progress(move |progress| {
            if progress.blocks == blocks {
                options.cancel.cancel()
            }
        });
        let error = builder.write(&target).expect_err("it is stopped");
        assert!(error.is_cancelled(), "{error}");
        assert_eq!(fs::read(&target).expect("there"), b"before");
        assert_eq!(fs::read_dir(folder.path()).expect("readable").count(), 1, "nothing is left over");
    }
}

#[test]
fn cancelled_walk_adds_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("a"), b"some text").expect("writable");
    let options = PackOptions::default();
    let mut builder = Builder::new(options.clone()).expect("options");
    builder.add_folder(folder.path(), |_| Some(FileOptions::default())).expect("not cancelled yet");
    options.cancel.cancel();
    let archive = Builder::new(PackOptions::default()).and_then(Builder::to_bytes).expect("packable").0;
    let archive = std::sync::Arc::new(Archive::open(archive).expect("an archive"));
    let mut builder = Builder::new(options.clone()).expect("options");
    let walk = Walk::new(folder.path()).metadata(true);
    let added = builder.add_folder(walk, |_| panic!("nothing is walked"));
    assert!(added.expect_err("cancelled").is_cancelled() && builder.is_empty());
    let updated = Builder::update(options, &archive, folder.path(), |_| panic!("nothing is walked"), false);
    assert!(updated.err().expect("cancelled").is_cancelled());
}

#[test]
fn token_returns_the_stage_and_its_count() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("d")).expect("writable");
    for (i, name) in ["a", "b", "d/c"].iter().enumerate() {
        fs::write(folder.path().join(name), [i as u8; 3000]).expect("writable");
    }
    let options = options(8192, 4095, Coding::zstd(3), Coding::zstd(3));
    let (token, seen) = (options.cancel.clone(), RefCell::new(Vec::new()));
    let see = || seen.borrow_mut().push(token.stage());
    let prune = |_: &str| {
        see();
        false
    };
    let choose = |_: &str| {
        see();
        Some(FileOptions::default())
    };
    let added = |options: PackOptions| {
        let mut builder = Builder::new(options).expect("options");
        builder.add_folder(Walk::new(folder.path()).prune(&prune), choose).expect("readable");
        builder
    };
    let builder = added(options.clone());
    let (stage, entries) = seen.borrow()[0];
    assert!(stage == Stage::Listing && (1..=3).contains(&entries), "{entries} of the root when d is reached");
    assert_eq!(seen.borrow()[1..], [(Stage::Measuring, 0); 3], "files are chosen before sizes are read");
    assert_eq!(token.stage(), (Stage::Measuring, 3), "three files, without their folder");
    builder.dry_run().expect("readable");
    assert_eq!(token.stage(), (Stage::Grouping, 3), "files");
    added(PackOptions { group_similar: false, ..options.clone() }).dry_run().expect("readable");
    assert_eq!(token.stage(), (Stage::Comparing, 3), "first pages of files of one size");
    let bytes = added(options.clone()).to_bytes().expect("packable").0;
    assert_eq!(token.stage(), (Stage::Packing, 3), "a block for each file");
    let archive = open(bytes);
    let all = |_: &str| Some(FileOptions::default());
    Builder::update(options.clone(), &archive, folder.path(), all, true).expect("readable");
    assert_eq!(token.stage(), (Stage::Comparing, 3), "files of the folder");
    let plain = options.clone().dedup_solid(false).dedup_chunked(false).group_similar(false);
    Builder::from_archive(plain, &archive, |_| true).expect("options").dry_run().expect("readable");
    assert_eq!(token.stage(), (Stage::Comparing, 3), "verified entries");
    let mut builder = Builder::new(options).expect("options");
    builder.add_folder(Walk::new(folder.path()).metadata(true), all).expect("readable");
    assert_eq!(token.stage(), (Stage::Measuring, 4), "three files and their folder");
}

#[test]
fn progress_ends_before_the_last_check_of_the_token() {
    struct CancelsAtTheEnd(CancelToken);
    impl Drop for CancelsAtTheEnd {
        fn drop(&mut self) {
            self.0.cancel();
        }
    }
    for format in [Format::Nx, Format::R3a] {
        let folder = tempfile::tempdir().expect("a folder");
        let options = PackOptions::default();
        let mut builder = Builder::new(options.clone()).expect("options");
        builder.add_bytes("a", "some text").expect("a path");
        let last = CancelsAtTheEnd(options.cancel);
        builder.on_progress(move |_| assert!(!last.0.is_cancelled()));
        let error = builder.write_as(folder.path().join("a.nx"), format).expect_err("cancelled");
        assert!(error.is_cancelled(), "{error}");
        assert_eq!(fs::read_dir(folder.path()).expect("readable").count(), 0);
    }
}

#[test]
fn target_that_exists_is_refused_before_files_are_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let (target, file) = (folder.path().join("a.nx"), folder.path().join("file"));
    fs::write(&target, b"before").expect("writable");
    let mut builder = Builder::new(PackOptions::default()).expect("options");
    for name in ["a", "b"] {
        fs::write(&file, b"some text").expect("writable");
        builder.add_path(name, &file).expect("a file");
    }
    fs::remove_file(&file).expect("there");
    builder.replace(false);
    let error = builder.write(&target).expect_err("it is there");
    assert_eq!((error.kind(), error.reason().message), (Kind::Write, "the target exists already"));
}

#[test]
fn smallest_archives_are_read() {
    if !has_program("python3") || !has_program("zstd") {
        return;
    }
    let trees: [&[(&str, &[u8])]; 4] =
        [&[], &[("empty", b"")], &[("a", b"A")], &[("a", b""), ("b/c", b"xx"), ("b/d", b"")]];
    for files in trees {
        let folder = tempfile::tempdir().expect("a folder");
        let from = folder.path().join("tree");
        fs::create_dir(&from).expect("writable");
        let files: Vec<_> = files.iter().map(|(name, bytes)| (name.to_string(), bytes.to_vec())).collect();
        write_tree(&from, &files);
        let target = folder.path().join("a.nx");
        fs::write(&target, pack(&files, &PackOptions::default()).0).expect("writable");
        python_reads(&target, &from);
    }
}

#[test]
fn zstd_program_decodes_blocks_by_offset() {
    if !has_program("zstd") {
        return;
    }
    for preset in PRESETS {
        let text = content(1, 5, 300_000);
        let (archive, _) = pack(&[("a.dds".into(), text.clone())], &preset.options());
        let header = Header::parse(&archive).expect("ours");
        let toc = Toc::parse(&header, &archive).expect("ours");
        let (mut plain, mut at) = (Vec::new(), header.bytes() as usize);
        for block in &toc.blocks {
            let folder = tempfile::tempdir().expect("a folder");
            let cut = folder.path().join("block.zst");
            let len = block.compressed as usize;
            fs::write(&cut, &archive[at..at + len]).expect("writable");
            let output = Command::new("zstd").arg("-dcq").arg(&cut).output().expect("zstd");
            assert!(output.status.success(), "{}: {output:?}", preset.name);
            plain.extend(output.stdout);
            at += len.next_multiple_of(4096);
        }
        assert!(plain == text, "{}", preset.name);
    }
}

fn coding() -> impl Strategy<Value = Coding> {
    prop_oneof![
        Just(Coding::Copy),
        (-5..13i32).prop_map(Coding::zstd),
        (1..10i32, 3..7u32, any::<bool>(), any::<bool>()).prop_map(|(level, min_match, literals, long)| {
            Coding::Zstd(Zstd { level, min_match, literals, long })
        }),
        (1..=12i32).prop_map(Coding::lz4),
    ]
}

fn any_options() -> impl Strategy<Value = PackOptions> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    (9..16u32, 0..7u32, coding(), coding(), flags).prop_map(
        |(chunk, less, solid, chunked, (dedup_solid, dedup_chunked, group_similar))| {
            let chunk = 1u64 << chunk;
            let mut options = options(chunk, (chunk >> less) - 1, solid, chunked);
            (options.dedup_solid, options.dedup_chunked) = (dedup_solid, dedup_chunked);
            options.group_similar = group_similar;
            options
        },
    )
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn output_does_not_depend_on_threads_and_order(mut options in any_options(), seed in any::<u64>(), threads in 2..6usize) {
        let mut files = tree(seed, 40, &options);
        let (alone, summary) = pack(&files, &options);
        let len = files.len();
        files.reverse();
        files.swap(0, len / 2);
        options.threads = threads;
        let (together, same) = pack(&files, &options);
        prop_assert!(alone == together);
        prop_assert_eq!(summary, same);
        assert_holds(alone, &files);
    }
}

#[test]
fn output_does_not_depend_on_the_kind_of_source() {
    let options = options(4096, 2047, Coding::zstd(3), Coding::zstd(3));
    let files = tree(7, 50, &options);
    let folder = tempfile::tempdir().expect("a folder");
    write_tree(folder.path(), &files);
    let mut paths = Builder::new(options.clone()).expect("options");
    let mut readers = Builder::new(options.clone()).expect("options");
    for (name, bytes) in &files {
        paths.add_path(name.as_str(), folder.path().join(name)).expect("there");
        readers.add_reader(name.as_str(), &bytes[..]).expect("readable");
    }
    let expected = pack(&files, &options).0;
    assert!(paths.to_bytes().expect("packable").0 == expected);
    assert!(readers.to_bytes().expect("packable").0 == expected);
}

#[test]
fn dry_run_predicts_the_summary() {
    let options = options(8192, 4095, Coding::zstd(3), Coding::zstd(3));
    let files = tree(9, 80, &options);
    let mut builder = Builder::new(options.clone()).expect("options");
    for (name, bytes) in &files {
        builder.add_bytes(name.as_str(), bytes.as_slice()).expect("new");
    }
    let mut expected = pack(&files, &options).1;
    assert!(expected.stored_blocks > 0 && expected.archive_bytes > 0);
    (expected.stored_blocks, expected.archive_bytes) = (0, 0);
    assert_eq!(builder.dry_run().expect("plannable"), expected);
}

#[test]
fn equal_files_and_runs_of_chunks_are_stored_once() {
    let options = options(4096, 2047, Coding::zstd(1), Coding::zstd(1));
    let long = content(0, 1, 5 * 4096 + 100);
    let small = content(0, 2, 1500);
    let mut changed = long.clone();
    changed[4096 * 3] ^= 1;
    let files: Vec<_> = [
        ("a", long.clone()),
        ("b", long.clone()),
        ("c", long[2 * 4096..4 * 4096].to_vec()),
        ("d", long[4096..].to_vec()),
        ("e", long[4 * 4096..5 * 4096].to_vec()),
        ("f", long[5 * 4096..].to_vec()),
        ("g", changed),
        ("h", small.clone()),
        ("i", small),
    ]
    .map(|(name, bytes)| (name.to_string(), bytes))
    .to_vec();
    let summary = pack(&files, &options).1;
    // "a" and "g" have 6 blocks each; "f" is below the solid limit and shares one with "h".
    assert_eq!((summary.blocks, summary.shared_files), (13, 5), "{summary:?}");

    let mut without = options;
    (without.dedup_solid, without.dedup_chunked) = (false, false);
    let summary = pack(&files, &without).1;
    assert_eq!((summary.blocks, summary.shared_files), (6 + 6 + 2 + 5 + 1 + 6 + 2, 0), "{summary:?}");
}

#[test]
fn file_options_override_options() {
    let options = options(8192, 4095, Coding::zstd(3), Coding::zstd(3));
    let text = content(1, 1, 1000);
    let mut builder = Builder::new(options).expect("options");
    builder.add_bytes("a", text.as_slice()).expect("new");
    builder.add_bytes("b", content(1, 2, 1000)).expect("new");
    builder.add_bytes_with("c", text.as_slice(), FileOptions::default().alone(true)).expect("new");
    builder.add_bytes_with("d", content(1, 3, 1000), FileOptions::new().coding(Coding::lz4(9))).expect("new");
    let (archive, summary) = builder.to_bytes().expect("packable");
    // "a" and "b" share a block; "c" has its own though it equals "a".
    assert_eq!((summary.blocks, summary.shared_files), (3, 0));
    let archive = Archive::open(archive).expect("ours");
    let block = |path: &str| archive.find(path).expect("there").blocks().start;
    let codec = |path: &str| archive.toc().blocks[block(path)].codec.name();
    assert_eq!(["a", "b", "c", "d"].map(codec), ["zstd", "zstd", "zstd", "lz4"]);
    assert_eq!(block("a"), block("b"));
    assert_ne!(block("a"), block("c"));
}

#[test]
fn error_names_the_file_and_leaves_the_target_unchanged() {
    let folder = tempfile::tempdir().expect("a folder");
    let (source, target) = (folder.path().join("source"), folder.path().join("a.nx"));
    fs::write(&target, b"what was there").expect("writable");
    for threads in [1, 4] {
        fs::write(&source, vec![1; 5000]).expect("writable");
        let mut options = options(512, 255, Coding::zstd(1), Coding::zstd(1));
        options.threads = threads;
        let mut builder = Builder::new(options).expect("options");
        for i in 0..50 {
            builder.add_bytes(format!("x{i}"), content(0, i, 1000)).expect("new");
        }
        builder.add_path("some/file", &source).expect("there");
        fs::write(&source, vec![1; 5001]).expect("writable");
        let error = builder.write(&target).expect_err("it changed");
        assert_eq!(error.to_string(), "some/file: the file changed while it was packed");
        assert_eq!(fs::read(&target).expect("there"), b"what was there");
        assert_eq!(fs::read_dir(folder.path()).expect("readable").count(), 2, "nothing is left behind");
    }
}

/// A reader that returns some bytes, then fails.
struct Broken(usize);

impl io::Read for Broken {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let len = self.0.min(out.len());
        self.0 -= len;
        match len {
            0 => Err(io::Error::other("the line went dead")),
            _ => Ok(len),
        }
    }
}

#[test]
fn failing_reader_is_an_error_of_its_file_only() {
    let mut builder = Builder::new(PackOptions::default()).expect("options");
    builder.add_reader("before", &b"12"[..]).expect("readable");
    let error = builder.add_reader("broken", Broken(100_000)).expect_err("it fails");
    assert_eq!(error.to_string(), "broken: the line went dead");
    assert_eq!(error.kind(), Kind::Read);
    builder.add_reader("after", &b"345"[..]).expect("readable");
    let expected = [("before".to_string(), b"12".to_vec()), ("after".to_string(), b"345".to_vec())];
    assert_holds(builder.to_bytes().expect("packable").0, &expected);
}

#[test]
fn adding_a_folder_or_missing_path_as_a_file_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut builder = Builder::new(PackOptions::default()).expect("options");
    let error = builder.add_path("a", folder.path()).expect_err("a folder");
    assert_eq!((error.kind(), error.file()), (Kind::BadArgument, Some(folder.path())));
    let error = builder.add_path("a", folder.path().join("b")).expect_err("nothing");
    assert_eq!(error.kind(), Kind::Read);
    let error = builder.write(folder.path().join("no/folder/a.nx")).expect_err("no such folder");
    assert_eq!(error.kind(), Kind::Write);
    assert!(error.file().is_some_and(|file| file.ends_with("a.nx")));
}

#[test]
fn duplicate_or_unsafe_path_is_an_error() {
    let mut builder = Builder::new(PackOptions::default()).expect("options");
    builder.add_bytes("a", *b"1").expect("new");
    for name in ["a", "/b", "../b", "", "c:d", "aux"] {
        let error = builder.add_bytes(name, *b"2").expect_err("refused");
        assert_eq!((error.kind(), error.file()), (Kind::BadArgument, Some(Path::new(name))));
    }
    assert!(builder.contains("a") && builder.len() == 1);
}

#[test]
fn limits_of_the_format_are_errors_that_name_them() {
    let mut builder = Builder::new(options(512, 0, Coding::Copy, Coding::Copy)).expect("options");
    // The file has 2^18 chunks, one more than the format has blocks.
    builder.add_bytes("many chunks", vec![0; 512 << 18]).expect("new");
    let error = builder.to_bytes().expect_err("too many blocks");
    assert_eq!(error.kind(), Kind::Limit);
    assert!(error.to_string().contains("262143 blocks"), "{error}");

    let mut builder = Builder::new(PackOptions::default()).expect("options");
    for i in 0..1 << 20 {
        builder.add_bytes(format!("{i:x}"), Vec::new()).expect("new");
    }
    let error = builder.to_bytes().expect_err("too many files");
    assert_eq!(error.kind(), Kind::Limit);
    assert!(error.to_string().contains("1048575 files"), "{error}");
}

#[cfg(unix)]
#[test]
fn special_file_as_target_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let fifo = folder.path().join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().expect("mkfifo").success());
    for target in [&*fifo, Path::new("/dev/null")] {
        for format in [Format::Nx, Format::R3a] {
            let mut builder = Builder::new(PackOptions::new()).expect("options");
            builder.add_bytes("a", b"text".as_slice()).expect("a path");
            let error = builder.write_as(target, format).expect_err("not a regular file");
            assert_eq!(error.kind(), Kind::BadArgument);
            assert_eq!(error.to_string(), format!("{}: the target is not a regular file", target.display()));
        }
    }
}
