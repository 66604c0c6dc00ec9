//! Tests hazards of archives that no other file tests.

use std::sync::Arc;
use std::{fs, iter};

#[cfg(unix)]
use linerate_nx::Existing;
use linerate_nx::metadata::{Attributes, Metadata, Time};
use linerate_nx::pack::{Builder, Clash, FileOptions, PackOptions};
use linerate_nx::{Archive, Extractor, FileError, Kind, Limits, PathError, Verifier};

use crate::common::make::{COPY, Frame, Make, ZSTD, frame, noise, of};

#[cfg(unix)]
#[test]
fn links_at_any_depth_are_not_followed() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().unwrap();
    fs::create_dir(outside.path().join("deep")).unwrap();
    let archive = of(&["a/b/c/file", "a/up/file", "a/gone/file", "loop/x/file", "good/file"]);
    for existing in [Existing::Fail, Existing::Skip, Existing::Replace] {
        let place = tempfile::tempdir().unwrap();
        let at = |path: &str| place.path().join(path);
        fs::create_dir_all(at("a/b")).unwrap();
        symlink(outside.path().join("deep"), at("a/b/c")).unwrap();
        symlink("../..", at("a/up")).unwrap();
        symlink(outside.path().join("not there"), at("a/gone")).unwrap();
        symlink("loop", at("loop")).unwrap();
        let done = Extractor::new(&archive).existing(existing).threads(2).to_folder(place.path()).unwrap();
        let failed: Vec<&str> = done.failures.iter().map(|f| f.path.as_str()).collect();
        assert_eq!(failed, ["a/b/c/file", "a/gone/file", "a/up/file", "loop/x/file"], "{existing:?}");
        assert!(at("good/file").is_file());
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
        assert_eq!(fs::read_dir(outside.path().join("deep")).unwrap().count(), 0);
        let names = fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = names.collect();
        names.sort();
        assert_eq!(names, ["a", "good", "loop"]);
    }
}

/// If a link has the path of a file, extraction never writes through it, whatever the policy for
/// existing files.
#[cfg(unix)]
#[test]
fn link_at_the_path_of_a_file_is_not_written_through() {
    let outside = tempfile::tempdir().unwrap();
    let archive = of(&["file"]);
    for existing in [Existing::Fail, Existing::Skip, Existing::Replace] {
        let place = tempfile::tempdir().unwrap();
        let link = place.path().join("file");
        std::os::unix::fs::symlink(outside.path().join("not there"), &link).unwrap();
        let done = Extractor::new(&archive).existing(existing).to_folder(place.path()).unwrap();
        assert_eq!(link.is_symlink(), existing != Existing::Replace);
        assert_eq!(done.files, u64::from(existing == Existing::Replace), "{existing:?}");
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    }
}

#[test]
fn names_that_differ_in_normalization_never_overwrite_each_other() {
    let paths =
        ["\u{e9}.txt", "e\u{301}.txt", "Case", "case", "D/x", "d/x", "\u{212b}", "\u{c5}", "a\u{30a}"];
    let archive = of(&paths);
    for threads in [1, 3] {
        let place = tempfile::tempdir().unwrap();
        let done = Extractor::new(&archive).threads(threads).to_folder(place.path()).unwrap();
        assert_eq!(done.files + done.failures.len() as u64, paths.len() as u64);
        assert!(
            done.failures.iter().all(|f| matches!(f.source, FileError::Collision)),
            "{:?}",
            done.failures
        );
        let failed: Vec<&str> = done.failures.iter().map(|f| f.path.as_str()).collect();
        for (i, path) in paths.iter().enumerate().filter(|(_, path)| !failed.contains(path)) {
            let there = fs::read(place.path().join(path)).unwrap();
            assert_eq!(there, [b'A' + i as u8], "{path:?}");
        }
    }
    // On every file system, the verifier reports all of them.
    let verified = Verifier::new(&archive).run().unwrap();
    assert_eq!(verified.notes.len(), 4, "{:?}", verified.notes);
}

#[test]
fn name_that_is_too_long_is_an_error_of_its_file_only() {
    let name = |len: usize| "n".repeat(len);
    let (longest, longer) = (name(255), name(256));
    let folder = format!("{}/{}/x", name(100), name(300));
    let archive = of(&["before", &longest, &longer, &folder, "behind"]);
    let place = tempfile::tempdir().unwrap();
    let done = Extractor::new(&archive).threads(2).to_folder(place.path()).unwrap();
    let mut failed: Vec<&str> = done.failures.iter().map(|f| f.path.as_str()).collect();
    failed.sort_unstable();
    assert_eq!((done.files, failed), (3, vec![&*folder, &*longer]));
    for failure in &done.failures {
        assert!(failure.to_string().ends_with("255 bytes, which most file systems refuse"), "{failure}");
    }
    assert_eq!(fs::read(place.path().join(longest)).unwrap(), b"B");
    assert!(!place.path().join(name(100)).exists());
}

#[test]
fn enormous_path_is_an_error() {
    let enormous = "a/".repeat(8 << 20) + "a";
    let make = Make::new(11).block(COPY, b"A".to_vec());
    // The compressed pool has less than 2 KB for 16 MiB.
    let pool = linerate_nx::StringPool::encode([&*enormous]).unwrap();
    let bytes = make.file(&enormous, b"A", 0, 0).with(|make| make.pool = Some(pool)).bytes();
    assert!(bytes.len() <= 8192);
    assert_eq!(Archive::open(&bytes[..]).unwrap_err().kind, Kind::Limit);
    // Without the limit, the file can be read. Extraction is an error of this file alone.
    let archive = Archive::open_with(&bytes[..], Limits::none()).unwrap();
    assert_eq!(archive.read(archive.get(0).unwrap()).unwrap(), b"A");
    let place = tempfile::tempdir().unwrap();
    let done = Extractor::new(&archive).to_folder(place.path()).unwrap();
    assert!(matches!(done.failures[..], [PathError { source: FileError::Path(_), .. }]));
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    let long = Limits { path: enormous.len() as u64, ..Limits::default() };
    assert!(Archive::open_with(&bytes[..], long).is_ok());
}

/// The paths of all folders that contain the file would take 256 GiB together.
#[test]
fn path_of_a_mebibyte_is_not_packed_into_another_archive() {
    let options = PackOptions::default;
    let of = |path: &str| {
        let make = Make::new(11).block(COPY, b"A".to_vec()).file(path, b"A", 0, 0);
        let pool = linerate_nx::StringPool::encode([path]).unwrap();
        Arc::new(Archive::open(make.with(|make| make.pool = Some(pool)).bytes()).unwrap())
    };
    let (limit, long) = (of(&("a/".repeat(2047) + "a")), of(&("a/".repeat(512 << 10) + "a")));
    let folder = tempfile::tempdir().unwrap();
    let choose = |_: &str| Some(FileOptions::default());
    let edits = |of: &Arc<Archive<Vec<u8>>>| {
        let both = [Arc::clone(of), Arc::clone(of)];
        [
            Builder::merge(options(), &both, Clash::First).map(drop),
            Builder::update(options(), of, folder.path(), choose, false).map(drop),
            Builder::from_archive(options(), of, |_| true).map(drop),
        ]
    };
    for edited in edits(&limit) {
        edited.expect("a path of 4095 bytes");
    }
    for edited in edits(&long) {
        assert_eq!(edited.unwrap_err().kind(), Kind::BadArgument);
    }
    Builder::from_archive(options(), &long, |_| false).expect("the file is deleted");
}

/// Folders are hashed only up to the longest path that metadata can have.
#[test]
fn path_of_a_mebibyte_is_compared_with_metadata() {
    let long = "a/".repeat(512 << 10) + "a";
    let (mut old, new) = (Metadata::default(), Metadata::default());
    let at = |path: &str| (path.to_owned(), Attributes { modified: Time::default(), mode: None });
    old.folders.extend([at("a"), at(&long[..4095]), at("b")]);
    let changes = old.changes(iter::once(&*long), &new, iter::once(&*long));
    assert_eq!(changes.iter().map(|change| &*change.path).collect::<Vec<_>>(), ["b"]);
}

/// The frame has a window that is larger than zstd's programs accept by default.
#[test]
fn window_limit_decides_which_windows_are_decoded() {
    let content = noise(5000, 1);
    let mut block = frame(&content, Frame::Open);
    // The window is 2^(10 + 18) bytes.
    block[5] = 18 << 3;
    let bytes = Make::new(11).file("a", &content, 0, 0).block(ZSTD, block).bytes();
    let read = |window_log| {
        let archive = Archive::open_with(&bytes[..], Limits { window_log, ..Limits::default() })?;
        archive.read(archive.get(0).unwrap())
    };
    assert_eq!(read(27).unwrap_err().kind, Kind::Limit);
    assert!(read(28).unwrap() == content);
    assert_eq!(read(99).unwrap_err().kind, Kind::BadArgument);
}

#[test]
fn folders_of_empty_files_are_created() {
    let mut builder = Builder::new(PackOptions::default()).unwrap();
    let paths: Vec<String> = (0..300).map(|i| format!("f{}/g{}/h{i}/empty", i % 3, i % 50)).collect();
    for path in &paths {
        builder.add_bytes(path.as_str(), &b""[..]).unwrap();
    }
    let archive = Archive::open(builder.to_bytes().unwrap().0).unwrap();
    for threads in [2, 4] {
        let place = tempfile::tempdir().unwrap();
        let done = Extractor::new(&archive).threads(threads).to_folder(place.path()).unwrap();
        assert_eq!((done.files, done.failures.len()), (300, 0), "{:?}", done.failures);
        assert!(paths.iter().all(|path| place.path().join(path).is_file()));
    }
}
