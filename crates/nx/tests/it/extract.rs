//! Tests extraction to folders, verification, and comparison with folders.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use linerate_nx::{
    Archive, CountingSource, Existing, Extractor, FileError, HashKind, Kind, Limits, Note, Progress, Verifier,
};

use crate::common::{Golden, goldens};

fn golden(name: &str) -> Golden {
    goldens().into_iter().find(|g| g.name == name).unwrap()
}

/// Returns the paths of all files below a folder, relative to it.
fn tree(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => open.push(path),
                false => {
                    let below = path.strip_prefix(folder).unwrap().to_str().unwrap();
                    found.insert(below.replace(std::path::MAIN_SEPARATOR, "/"));
                }
            }
        }
    }
    found
}

#[test]
fn goldens_are_extracted_by_any_number_of_threads() {
    // Windows refuses two names of one golden, which windows.rs tests.
    let taken_here = |golden: &Golden| golden.is_small() && !(cfg!(windows) && golden.name == "names");
    for golden in goldens().into_iter().filter(taken_here) {
        for threads in [1, 2, 7] {
            let place = tempfile::tempdir().unwrap();
            let archive = golden.open_mapped();
            let done = Extractor::new(&archive).threads(threads).to_folder(place.path()).unwrap();
            let failed: BTreeSet<String> = done.failures.iter().map(|f| f.path.clone()).collect();
            assert_eq!(failed, golden.damaged, "{} {:?}", golden.name, done.failures);
            let right: Vec<_> = golden.files.iter().filter(|f| !golden.damaged.contains(&f.path)).collect();
            assert_eq!(tree(place.path()), right.iter().map(|f| f.path.clone()).collect(), "{}", golden.name);
            for file in &right {
                let bytes = fs::read(place.path().join(&file.path)).unwrap();
                assert_eq!((bytes.len() as u64, HashKind::Xxh3.hash_bytes(&bytes)), (file.size, file.xxh3));
            }
            assert_eq!(done.files, right.len() as u64);
            assert_eq!(done.bytes, right.iter().map(|f| f.size).sum::<u64>());
            assert!(!done.stopped && done.skipped.is_empty());
        }
    }
}

#[test]
fn verifier_reports_exactly_the_damaged_entries() {
    for golden in goldens() {
        // Verifies the large golden only once, with two threads.
        for threads in if golden.is_small() { 1..=3 } else { 2..=2 } {
            let archive = golden.open();
            let verified = Verifier::new(&archive).threads(threads).run().unwrap();
            let failed: BTreeSet<String> = verified.failures.iter().map(|f| f.path.clone()).collect();
            assert_eq!(failed, golden.damaged, "{}", golden.name);
            assert!(verified.failures.iter().all(|f| f.kind() == Kind::Corrupt));
            assert_eq!(verified.files, (golden.files.len() - failed.len()) as u64);
            let noted = verified.notes.iter().any(|note| matches!(note, Note::Unterminated(n) if *n > 0));
            assert_eq!(noted, golden.unterminated > 0, "{}: {:?}", golden.name, verified.notes);
        }
    }
}

#[test]
fn colliding_names_are_reported_and_extracted_where_the_file_system_allows() {
    let archive = golden("names").open();
    let verified = Verifier::new(&archive).run().unwrap();
    let pair = vec!["UPPER/File.TXT".to_owned(), "upper/file.txt".to_owned()];
    assert!(verified.notes.contains(&Note::Collision(pair)), "{:?}", verified.notes);
}

#[test]
fn a_folder_is_compared_by_content() {
    let golden = golden("defaults");
    let archive = golden.open();
    let place = tempfile::tempdir().unwrap();
    Extractor::new(&archive).threads(2).to_folder(place.path()).unwrap();
    let verifier = Verifier::new(&archive).threads(2);
    let same = verifier.compare(place.path()).unwrap();
    assert!(same.is_same() && same.same == golden.files.len() as u64, "{same:?}");
    let last = std::sync::Mutex::new(Progress::default());
    let counted = Verifier::new(&archive).on_progress(|progress| {
        *last.lock().unwrap() = *progress;
        true
    });
    assert!(counted.compare(place.path()).unwrap().is_same());
    drop(counted);
    let last = last.into_inner().unwrap();
    assert_eq!((last.files, last.bytes), (last.total_files, last.total_bytes));
    assert_eq!(last.files, golden.files.len() as u64);
    let stopped = Verifier::new(&archive).threads(2).on_progress(|_| false).compare(place.path()).unwrap();
    assert!(stopped.stopped && !stopped.is_same());

    let paths: Vec<&String> = golden.files.iter().filter(|f| f.size > 0).map(|f| &f.path).collect();
    fs::remove_file(place.path().join(paths[0])).unwrap();
    let mut bytes = fs::read(place.path().join(paths[1])).unwrap();
    bytes[0] ^= 1;
    fs::write(place.path().join(paths[1]), &bytes).unwrap();
    fs::write(place.path().join(paths[2]), b"shorter or longer").unwrap();
    fs::write(place.path().join("new"), b"").unwrap();
    let other = verifier.compare(place.path()).unwrap();
    assert_eq!(other.missing, [paths[0].clone()]);
    let mut different = vec![paths[1].clone(), paths[2].clone()];
    different.sort();
    assert_eq!(other.different, different);
    assert_eq!(other.unexpected, ["new"]);
    assert!(!other.is_same());
}

#[test]
fn existing_files_are_errors_skipped_or_replaced() {
    let golden = golden("edges-32k");
    let archive = golden.open();
    let place = tempfile::tempdir().unwrap();
    // One file has a single block, the other several.
    let small = golden.files.iter().find(|f| (1..32_768).contains(&f.size)).unwrap();
    let large = golden.files.iter().find(|f| f.size > 65_536).unwrap();
    for file in [small, large] {
        let path = place.path().join(&file.path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "mine").unwrap();
    }
    let read = |path: &str| fs::read(place.path().join(path)).unwrap();
    let with =
        |existing| Extractor::new(&archive).threads(2).existing(existing).to_folder(place.path()).unwrap();
    let failing = with(Existing::Fail);
    assert_eq!(failing.failures.len(), 2);
    assert!(failing.failures.iter().all(|f| matches!(f.source, FileError::Exists)));
    assert_eq!(failing.files, golden.files.len() as u64 - 2);
    assert_eq!((read(&small.path), read(&large.path)), (b"mine".to_vec(), b"mine".to_vec()));

    let skipping = with(Existing::Skip);
    assert_eq!((skipping.files, skipping.skipped.len()), (0, golden.files.len()));
    assert_eq!((read(&small.path), read(&large.path)), (b"mine".to_vec(), b"mine".to_vec()));

    let replacing = with(Existing::Replace);
    assert_eq!((replacing.files, replacing.failures.len()), (golden.files.len() as u64, 0));
    for file in [small, large] {
        assert_eq!(HashKind::Xxh3.hash_bytes(&read(&file.path)), file.xxh3);
    }
    assert!(tree(place.path()).iter().all(|path| !path.contains(".linerate-")));
}

#[test]
fn blocks_with_only_skipped_files_are_not_read() {
    let golden = golden("edges-32k");
    let archive = golden.open().map_source(CountingSource::new);
    let place = tempfile::tempdir().unwrap();
    let extract = || {
        let before = archive.source().reads();
        let extractor = Extractor::new(&archive).threads(2).existing(Existing::Skip);
        (extractor.to_folder(place.path()).unwrap(), archive.source().reads() - before)
    };
    let (first, reads) = extract();
    assert_eq!(first.files, golden.files.len() as u64);
    assert!(reads >= archive.toc().blocks.len() as u64, "{reads}");
    let (again, reads) = extract();
    assert_eq!((again.skipped.len(), reads), (golden.files.len(), 0));
    let lost = golden.files.iter().find(|f| (1..32_768).contains(&f.size)).unwrap();
    fs::remove_file(place.path().join(&lost.path)).unwrap();
    let (one, reads) = extract();
    assert_eq!((one.files, one.skipped.len(), reads), (1, golden.files.len() - 1, 1));
}

#[cfg(unix)]
#[test]
fn replaced_file_passes_on_its_mode_and_owner() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    let golden = golden("edges-32k");
    let archive = golden.open();
    let place = tempfile::tempdir().unwrap();
    let small = golden.files.iter().find(|f| (1..32_768).contains(&f.size)).unwrap();
    let large = golden.files.iter().find(|f| f.size > 65_536).unwrap();
    let metadata = |path: &str| fs::symlink_metadata(place.path().join(path)).unwrap();
    for (file, mode) in [(small, 0o600), (large, 0o440)] {
        let path = place.path().join(&file.path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "mine").unwrap();
        // Only root can change the owner of a file.
        let _ = chown(&path, Some(1), Some(1));
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }
    let owners = [small, large].map(|file| (metadata(&file.path).uid(), metadata(&file.path).gid()));
    let done =
        Extractor::new(&archive).threads(2).existing(Existing::Replace).to_folder(place.path()).unwrap();
    assert!(done.failures.is_empty(), "{:?}", done.failures);
    for (i, (file, mode)) in [(small, 0o600), (large, 0o440)].into_iter().enumerate() {
        let found = metadata(&file.path);
        assert_eq!((found.mode() & 0o777, (found.uid(), found.gid())), (mode, owners[i]), "{}", file.path);
        assert_eq!(found.len(), file.size);
    }
}

#[test]
fn selected_files_are_extracted_under_other_names() {
    let archive = golden("many").open();
    let place = tempfile::tempdir().unwrap();
    let wanted = archive.files().nth(7).unwrap().path().to_owned();
    let naming = |file: linerate_nx::File<'_>| (file.path() == wanted).then(|| "x/y".to_owned());
    let done = Extractor::new(&archive).names(naming).to_folder(place.path()).unwrap();
    assert_eq!(done.files, 1);
    assert_eq!(tree(place.path()), BTreeSet::from(["x/y".to_owned()]));
    let outside =
        Extractor::new(&archive).names(|_| Some("../x".to_owned())).to_folder(place.path()).unwrap();
    assert_eq!((outside.files, outside.failures.len()), (0, archive.len()));
    assert!(matches!(outside.failures[0].source, FileError::Path(_)));
    let falling = Extractor::new(&archive).names(|_| Some("one".to_owned())).to_folder(place.path()).unwrap();
    assert_eq!((falling.files, falling.failures.len()), (1, archive.len() - 1));
    assert!(matches!(falling.failures[0].source, FileError::Collision));
}

#[test]
fn progress_callback_gets_all_files_and_can_stop() {
    let golden = golden("dups-chunked");
    let archive = golden.open();
    let place = tempfile::tempdir().unwrap();
    let last = AtomicU64::new(0);
    Extractor::new(&archive)
        .threads(3)
        .on_progress(|progress| {
            assert!(progress.bytes <= progress.total_bytes && progress.files <= progress.total_files);
            last.fetch_max(progress.bytes, Ordering::Relaxed);
            true
        })
        .to_folder(place.path())
        .unwrap();
    assert_eq!(last.into_inner(), golden.files.iter().map(|f| f.size).sum::<u64>());

    let place = tempfile::tempdir().unwrap();
    let done = Extractor::new(&archive).threads(3).on_progress(|_| false).to_folder(place.path()).unwrap();
    assert!(done.stopped && done.files < archive.len() as u64);
    assert_eq!(tree(place.path()).len() as u64, done.files, "nothing half done stays");
}

#[test]
fn extraction_beyond_the_limits_is_an_error_before_writing() {
    let golden = golden("many");
    let bytes = fs::read(&golden.path).unwrap();
    let total: u64 = golden.files.iter().map(|f| f.size).sum();
    let ratio = total / bytes.len() as u64;
    for (limits, admitted) in [
        (Limits { total, ..Limits::default() }, true),
        (Limits { total: total - 1, ..Limits::default() }, false),
        (Limits { ratio, ratio_from: 0, ..Limits::default() }, false),
        (Limits { ratio: ratio + 1, ratio_from: 0, ..Limits::default() }, true),
        (Limits { ratio: 0, ratio_from: total, ..Limits::default() }, true),
        (Limits { file: 1, ..Limits::default() }, false),
    ] {
        let archive = Archive::open_with(bytes.clone(), limits).unwrap();
        let place = tempfile::tempdir().unwrap();
        let result = Extractor::new(&archive).to_folder(place.path().join("new"));
        assert_eq!(result.as_ref().map_err(|f| f.kind()).is_ok(), admitted, "{limits:?}");
        assert_eq!(Verifier::new(&archive).run().is_ok(), admitted);
        if let Err(failure) = result {
            assert_eq!(failure.kind(), Kind::Limit);
            assert!(tree(place.path()).is_empty());
        }
    }
}

#[cfg(unix)]
#[test]
fn links_below_the_folder_are_not_followed() {
    let golden = golden("names");
    let archive = golden.open();
    let (place, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::os::unix::fs::symlink(outside.path(), place.path().join("upper")).unwrap();
    fs::write(outside.path().join("kept"), "kept").unwrap();
    std::os::unix::fs::symlink(outside.path().join("kept"), place.path().join("plain.txt")).unwrap();
    let extractor = || Extractor::new(&archive).existing(Existing::Replace).threads(2);
    let done = extractor().to_folder(place.path()).unwrap();
    let failed: Vec<&str> = done.failures.iter().map(|f| f.path.as_str()).collect();
    assert_eq!(failed, ["upper/file.txt"]);
    assert_eq!(tree(outside.path()), BTreeSet::from(["kept".to_owned()]));
    assert_eq!(fs::read_to_string(outside.path().join("kept")).unwrap(), "kept");
    assert!(!place.path().join("plain.txt").is_symlink(), "the link itself is replaced");
    let compared = Verifier::new(&archive).compare(place.path()).unwrap();
    assert_eq!(compared.different, ["upper/file.txt"]);
}
