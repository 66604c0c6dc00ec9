use super::temporary::temporaries;
use super::*;

fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

pub(super) fn written(target: &Path, existing: Existing, bytes: &[u8]) -> io::Result<AtomicFile> {
    let mut file = AtomicFile::create(target, existing)?;
    file.write_all(bytes)?;
    Ok(file)
}

/// Replaces an unnamed file by one with a temporary name, so that both kinds are tested.
fn with_name(file: AtomicFile, bytes: &[u8]) -> AtomicFile {
    let mut pending = file.pending.unwrap();
    let create = |name: &str| pending.folder.create_private(name);
    let (mut named, temporary) = Temporary::create(&pending.folder, folder_of(&file.target), create).unwrap();
    named.write_all(bytes).unwrap();
    pending.temporary = Some(temporary);
    AtomicFile { file: named, target: file.target, pending: Some(pending) }
}

#[test]
fn a_function_is_called_before_there_is_a_temporary_name() {
    static NAMES: AtomicU64 = AtomicU64::new(0);
    let folder = tempfile::tempdir().unwrap();
    before_temporaries(|| _ = NAMES.fetch_add(1, Ordering::Relaxed));
    let file = written(&folder.path().join("a"), Existing::Refuse, b"").unwrap();
    let before = NAMES.load(Ordering::Relaxed);
    drop(with_name(file, b""));
    // Other tests may have made temporary names meanwhile.
    assert!(NAMES.load(Ordering::Relaxed) > before);
}

#[test]
fn name_is_absent_until_commit_and_old_content_stays_on_drop() {
    for named in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a");
        fs::write(&target, b"old").unwrap();
        let new = || {
            let file = written(&target, Existing::Replace, b"new").unwrap();
            if named { with_name(file, b"new") } else { file }
        };
        drop(new());
        assert_eq!((fs::read(&target).unwrap(), files(folder.path())), (b"old".to_vec(), vec!["a".into()]));
        new().commit().unwrap();
        assert_eq!((fs::read(&target).unwrap(), files(folder.path())), (b"new".to_vec(), vec!["a".into()]));
        assert!(!temporaries().iter().any(|path| path.starts_with(folder.path())));
    }
}

#[test]
fn file_that_appears_before_the_commit_is_not_replaced() {
    for named in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a");
        let file = written(&target, Existing::Refuse, b"new").unwrap();
        let file = if named { with_name(file, b"new") } else { file };
        fs::write(&target, b"other").unwrap();
        assert_eq!(file.commit().unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        let refused = AtomicFile::create(&target, Existing::Refuse).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!((fs::read(&target).unwrap(), files(folder.path()).len()), (b"other".to_vec(), 1));
    }
}

#[test]
fn file_that_appears_during_the_commit_is_replaced_by_a_synced_one() {
    for named in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a");
        let file = written(&target, Existing::Replace, b"new").unwrap();
        let mut file = if named { with_name(file, b"new") } else { file };
        file.sync_if_it_replaces();
        assert!(!file.pending.as_ref().unwrap().durable);
        fs::write(&target, b"other").unwrap();
        file.publish().unwrap();
        assert!(file.pending.as_ref().unwrap().durable, "synced, named: {named}");
        drop(file);
        assert_eq!((fs::read(&target).unwrap(), files(folder.path()).len()), (b"new".to_vec(), 1));
    }
}

#[test]
fn bytes_go_to_offsets_and_holes_are_zeros() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("a");
    let mut file = AtomicFile::create(&target, Existing::Refuse).unwrap();
    file.write_all_at(b"cd", 2).unwrap();
    file.set_len(6).unwrap();
    file.seek(SeekFrom::End(0)).unwrap();
    file.write_all(b"!").unwrap();
    file.commit().unwrap();
    assert_eq!(fs::read(&target).unwrap(), b"\0\0cd\0\0!");
}

#[test]
fn batch_commits_each_and_reports_each() {
    let folder = tempfile::tempdir().unwrap();
    let target = |i: usize| folder.path().join(i.to_string());
    let batch: Vec<_> = (0..20).map(|i| written(&target(i), Existing::Refuse, &[i as u8]).unwrap()).collect();
    fs::write(target(7), b"other").unwrap();
    let results = AtomicFile::commit_all(batch);
    let failed: Vec<_> = (0..20).filter(|&i| results[i].is_err()).collect();
    assert_eq!(failed, [7]);
    assert!((0..20).filter(|&i| i != 7).all(|i| fs::read(target(i)).unwrap() == [i as u8]));
    assert_eq!(files(folder.path()).len(), 20);
}

#[test]
fn folder_or_missing_folder_is_an_error_with_the_systems_reason() {
    let folder = tempfile::tempdir().unwrap();
    let error = AtomicFile::create(folder.path(), Existing::Replace).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
    let error = AtomicFile::create(folder.path().join("absent/a"), Existing::Replace).unwrap_err();
    assert!(error.raw_os_error().is_some());
    assert!(AtomicFile::create("/", Existing::Replace).is_err());
}

#[test]
fn path_without_a_file_name_is_an_error_and_makes_no_file() {
    let folder = tempfile::tempdir().unwrap();
    for existing in [Existing::Replace, Existing::Refuse] {
        let kind = |path: &Path| AtomicFile::create(path, existing).unwrap_err().kind();
        assert_eq!(kind(Path::new("")), io::ErrorKind::InvalidFilename);
        for path in ["o/", "o//", "o/."] {
            assert_eq!(kind(&folder.path().join(path)), io::ErrorKind::IsADirectory, "{path}");
        }
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o7777
    }

    #[test]
    fn new_file_is_private_until_the_commit_sets_its_mode() {
        for named in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let any = folder.path().join("any");
            fs::write(&any, b"").unwrap();
            let file = written(&folder.path().join("a"), Existing::Refuse, b"x").unwrap();
            let file = if named { with_name(file, b"x") } else { file };
            assert_eq!(file.file.metadata().unwrap().mode() & 0o777, 0o600);
            file.commit().unwrap();
            assert_eq!(mode(&folder.path().join("a")), mode(&any));
        }
    }

    #[test]
    fn replaced_files_mode_stays() {
        for (mode_before, named) in [(0o600, false), (0o600, true), (0o640, false), (0o444, true)] {
            let folder = tempfile::tempdir().unwrap();
            let target = folder.path().join("a");
            fs::write(&target, b"old").unwrap();
            fs::set_permissions(&target, fs::Permissions::from_mode(mode_before)).unwrap();
            let file = written(&target, Existing::Replace, b"new").unwrap();
            let file = if named { with_name(file, b"new") } else { file };
            file.commit().unwrap();
            assert_eq!((mode(&target), fs::read(&target).unwrap()), (mode_before, b"new".to_vec()));
        }
    }

    #[test]
    fn replaced_files_owner_stays_if_the_process_may_set_it() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a");
        fs::write(&target, b"old").unwrap();
        if std::os::unix::fs::chown(&target, Some(12), Some(34)).is_err() {
            return;
        }
        written(&target, Existing::Replace, b"new").unwrap().commit().unwrap();
        let found = fs::metadata(&target).unwrap();
        assert_eq!((found.uid(), found.gid()), (12, 34));
    }

    #[test]
    fn ownership_that_was_set_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        let (source, target) = (folder.path().join("source"), folder.path().join("a"));
        fs::write(&source, b"").unwrap();
        fs::write(&target, b"").unwrap();
        fs::set_permissions(&source, fs::Permissions::from_mode(0o4750)).unwrap();
        let mut file = written(&target, Existing::Replace, b"new").unwrap();
        file.set_ownership(Ownership::of(&fs::metadata(&source).unwrap()));
        file.commit().unwrap();
        assert_eq!(mode(&target), 0o750);
    }

    #[test]
    fn link_is_followed_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("inner")).unwrap();
        fs::write(path("inner/file"), b"old").unwrap();
        symlink("inner/file", path("link")).unwrap();
        symlink("inner/new", path("dangling")).unwrap();
        symlink("link", path("chain")).unwrap();
        symlink("circle", path("circle")).unwrap();
        for (link, target) in [("link", "inner/file"), ("dangling", "inner/new"), ("chain", "inner/file")] {
            let refused = AtomicFile::create(path(link), Existing::Refuse).unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists, "{link}");
            written(&path(link), Existing::Replace, link.as_bytes()).unwrap().commit().unwrap();
            assert!(fs::symlink_metadata(path(link)).unwrap().is_symlink());
            assert_eq!(fs::read(path(target)).unwrap(), link.as_bytes());
            // The dangling link leads to a file now; remove the file.
            if link == "dangling" {
                fs::remove_file(path(target)).unwrap();
            }
        }
        assert!(AtomicFile::create(path("circle"), Existing::Replace).is_err());
    }

    #[test]
    fn device_and_fifo_are_written_to_and_stay() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        let reader = std::thread::spawn({
            let fifo = fifo.clone();
            move || fs::read(fifo).unwrap()
        });
        let file = written(&fifo, Existing::Replace, b"through").unwrap();
        assert!(file.is_special());
        file.commit().unwrap();
        assert_eq!(reader.join().unwrap(), b"through");
        use std::os::unix::fs::FileTypeExt;
        assert!(fs::metadata(&fifo).unwrap().file_type().is_fifo());

        let mut null = AtomicFile::create("/dev/null", Existing::Refuse).unwrap();
        null.write_all(b"x").unwrap();
        null.set_len(5).unwrap();
        null.commit().unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    }

    #[test]
    fn next_write_removes_the_leftover_of_a_killed_run() {
        let folder = tempfile::tempdir().unwrap();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let own = crate::leftovers::temporary_name();
        let process = format!("-{:x}-", std::process::id());
        let dead = own.replace(&process, &format!("-{:x}-", child.id()));
        for name in [&own, &dead] {
            fs::write(folder.path().join(name), b"").unwrap();
        }
        written(&folder.path().join("a"), Existing::Refuse, b"x").unwrap().commit().unwrap();
        assert_eq!(files(folder.path()), [own, "a".into()]);
    }
}

#[cfg(windows)]
mod windows {
    use std::os::windows::fs::OpenOptionsExt;

    use super::*;
    use crate::{MapSource, ReadAt};

    /// Wine shows the files of Unix as disk Z.
    fn is_wine() -> bool {
        Path::new(r"Z:\proc\self\stat").exists()
    }

    #[test]
    fn read_only_file_is_replaced_and_the_new_one_is_read_only() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a");
        fs::write(&target, b"old").unwrap();
        let mut permissions = fs::metadata(&target).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&target, permissions.clone()).unwrap();
        let committed = written(&target, Existing::Replace, b"new").unwrap().commit();
        let expected = if is_wine() && committed.is_err() {
            let _ = writeln!(io::stderr(), "SKIP: wine does not rename read-only files, nor over them");
            &b"old"[..]
        } else {
            committed.unwrap();
            b"new"
        };
        assert_eq!((&*fs::read(&target).unwrap(), files(folder.path()).len()), (expected, 1));
        assert!(fs::metadata(&target).unwrap().permissions().readonly());
        #[expect(
            clippy::permissions_set_readonly_false,
            reason = "on Windows it is an attribute of one file"
        )]
        permissions.set_readonly(false);
        fs::set_permissions(&target, permissions).unwrap();
    }

    /// Rust's `File::open`, like Java's `java.nio`, lets other programs delete the open file.
    /// The reader still reads the old content.
    #[test]
    fn open_file_that_may_be_deleted_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a");
        fs::write(&target, b"old").unwrap();
        let mut reader = File::open(&target).unwrap();
        let committed = written(&target, Existing::Replace, b"new").unwrap().commit();
        if is_wine() && committed.is_err() {
            let _ = writeln!(
                io::stderr(),
                "SKIP: wine does not replace open files (FILE_RENAME_POSIX_SEMANTICS)"
            );
            assert_eq!((fs::read(&target).unwrap(), files(folder.path()).len()), (b"old".to_vec(), 1));
            return;
        }
        committed.unwrap();
        let mut found = String::new();
        io::Read::read_to_string(&mut reader, &mut found).unwrap();
        assert_eq!((found.as_str(), fs::read(&target).unwrap()), ("old", b"new".to_vec()));
    }

    /// Games open their archives so that no other program may replace them.
    #[test]
    fn file_that_others_hold_is_not_replaced() {
        const FILE_SHARE_READ: u32 = 1;
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a");
        fs::write(&target, b"old").unwrap();
        let held = File::options().read(true).share_mode(FILE_SHARE_READ).open(&target).unwrap();
        let error = written(&target, Existing::Replace, b"new").unwrap().commit().unwrap_err();
        assert_eq!(error.raw_os_error(), Some(32), "a sharing violation: {error}");
        assert_eq!((fs::read(&target).unwrap(), files(folder.path()).len()), (b"old".to_vec(), 1));
        drop(held);
        written(&target, Existing::Replace, b"new").unwrap().commit().unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"new");
    }

    #[test]
    fn mapped_file_is_replaced_whole_or_stays() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a");
        fs::write(&target, b"old").unwrap();
        let map = MapSource::open(&target).unwrap();
        let result = written(&target, Existing::Replace, b"new").unwrap().commit();
        assert_eq!(map.view(0, 3).unwrap(), b"old");
        let expected = if result.is_ok() { b"new" } else { b"old" };
        assert_eq!((&*fs::read(&target).unwrap(), files(folder.path()).len()), (&expected[..], 1));
    }

    #[test]
    fn paths_beyond_260_characters_and_verbatim_ones_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let deep = (0..4).fold(folder.path().to_owned(), |path, _| path.join("n".repeat(100)));
        fs::create_dir_all(&deep).unwrap();
        let verbatim = crate::sys::windows::full_path(&deep).unwrap();
        assert!(
            verbatim.as_os_str().len() > 400 && verbatim.as_os_str().as_encoded_bytes().starts_with(br"\\?\")
        );
        for target in [deep.join("a"), verbatim.join("b")] {
            written(&target, Existing::Refuse, b"x").unwrap().commit().unwrap();
            let error = AtomicFile::create(&target, Existing::Refuse).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
            written(&target, Existing::Replace, b"new").unwrap().commit().unwrap();
            assert_eq!(fs::read(&target).unwrap(), b"new");
        }
        assert_eq!(files(&deep), ["a", "b"]);
    }
}
