//! Creates and replaces files atomically: writes beside the target, syncs if a file is replaced or
//! the caller asks for it, and gives the new file its name.
//!
//! Readers see the old content or the new one, even if the process is killed. On Linux with
//! `/proc`, if the file system supports it, the new file has no name until the commit (`O_TMPFILE`,
//! open(2)), so a process killed before leaves no file. Otherwise it has a
//! [temporary name](crate::temporary_name).

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock};

use linerate_core::lock;

use crate::folder::{Folder, write_all_at};
use crate::leftovers::{sweep_once, temporary_name};
use crate::ownership::Ownership;

/// Action if the target exists and is neither a folder nor a special file (device, FIFO, ...).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Keep the target, and fail. Where the file system cannot refuse to replace a file, one that
    /// appears just before the rename is replaced all the same.
    Refuse,
    /// Replace the target atomically. The new file gets the [`Ownership`] of the replaced one, as
    /// far as the process may set it, unless you set another.
    Replace,
}

/// The next value of [`Pending::opened`].
static OPENED: AtomicU64 = AtomicU64::new(0);

/// A chain of this many symbolic links from a target, or more, is an error. Linux follows this
/// many.
const MAX_LINKS: usize = 40;

/// If this many files or more are to be synced, each file system is synced as a whole (syncfs),
/// since syncing each file would take a device flush per file. Several threads sync the files of
/// file systems without syncfs, or for which it may not report write errors.
const MANY: usize = 8;

/// A file that appears under its name when it is [committed](Self::commit). If it is dropped
/// before, it is discarded.
///
/// * If the target is a special file (device, FIFO, ...) when the [`AtomicFile`] is created, it is
///   written to directly, even with [`Existing::Refuse`], and not replaced.
/// * If the target is a symbolic link, [`Existing::Replace`] follows and keeps it.
///   [`Existing::Refuse`] fails, unless the link leads to a special file.
/// * On Unix the file has mode 0600 (less the umask) until the commit. Before the file gets its
///   name, the commit applies the [`Ownership`] that you set, or that of the replaced file. Without
///   either, a new file gets mode 0666 without the umask on Unix, and keeps its permissions
///   elsewhere.
/// * If the commit replaces a file, it syncs the content before the rename, and on Unix the folder
///   before it returns, so that a system crash leaves the old content or the new one. A new file is
///   synced if you [ask for it](Self::set_durable).
/// * When a process creates its first file in a folder, it removes stale temporary files there. It
///   ignores errors, and looks at a limited number of entries and not at folders;
///   [`remove_leftovers`](crate::remove_leftovers) finds all.
///
/// ```
/// use std::io::Write;
///
/// use linerate_io::{AtomicFile, Existing};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("data");
/// let mut file = AtomicFile::create(&path, Existing::Refuse)?;
/// file.write_all(b"whole")?;
/// assert!(!path.exists());
/// file.commit()?;
/// assert_eq!(std::fs::read(&path)?, b"whole");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct AtomicFile {
    file: File,
    target: PathBuf,
    /// `None` for a special file.
    pending: Option<Pending>,
}

/// The data that the later commit needs.
#[derive(Debug)]
struct Pending {
    folder: Folder,
    name: OsString,
    /// The temporary name, unless the file is unnamed.
    temporary: Option<Temporary>,
    existing: Existing,
    ownership: Option<Ownership>,
    /// Whether the commit syncs the file.
    durable: bool,
    /// Creation order. Of two files, the `folder` of the one with the lower number was opened
    /// before anything was written to either file.
    opened: u64,
}

impl AtomicFile {
    /// Creates a file that will be named `target`.
    ///
    /// # Errors
    ///
    /// Returns the errors of the system; [`io::ErrorKind::AlreadyExists`] if `target` is a regular
    /// file, a link to one or a dangling link, and `existing` is [`Existing::Refuse`] (the commit
    /// checks this again); [`io::ErrorKind::IsADirectory`] for a folder, or for a path that only a
    /// folder can have, such as `a/`, if nothing has it; [`io::ErrorKind::InvalidFilename`] for an
    /// empty path; and an error for a chain of 40 or more links.
    pub fn create(target: impl AsRef<Path>, existing: Existing) -> io::Result<AtomicFile> {
        let target = target.as_ref();
        match fs::metadata(target) {
            Ok(found) if found.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Ok(found) if !found.is_file() => return AtomicFile::special(target),
            Ok(_) if existing == Existing::Refuse => return Err(io::ErrorKind::AlreadyExists.into()),
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
        let target = match existing {
            Existing::Replace => follow_links(target)?,
            Existing::Refuse if fs::symlink_metadata(target).is_ok() => {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            Existing::Refuse => target.to_owned(),
        };
        let name = file_name(&target)?.to_owned();
        let folder_path = folder_of(&target);
        let folder = Folder::existing(folder_path)?;
        let opened = OPENED.fetch_add(1, Ordering::Relaxed);
        sweep_once(folder_path);
        let (file, temporary) = match folder.create_unnamed_private() {
            Some(file) => (file, None),
            None => {
                let create = |name: &str| folder.create_private(name);
                let (file, temporary) = Temporary::create(&folder, folder_path, create)?;
                (file, Some(temporary))
            }
        };
        let pending = Pending { folder, name, temporary, existing, ownership: None, durable: false, opened };
        Ok(AtomicFile { file, target, pending: Some(pending) })
    }

    fn special(target: &Path) -> io::Result<AtomicFile> {
        let file = File::options().write(true).open(target)?;
        Ok(AtomicFile { file, target: target.to_owned(), pending: None })
    }

    /// Returns the path of the target. If a link was followed, this is the path that it leads to.
    /// Links to a special file are not followed.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Returns the open file, so that you can set attributes such as the modification time. The
    /// commit sets its [`Ownership`].
    pub fn get_ref(&self) -> &File {
        &self.file
    }

    /// Returns whether the target is a special file, which is written to directly.
    pub fn is_special(&self) -> bool {
        self.pending.is_none()
    }

    /// Sets whether [`commit`](Self::commit) syncs a new file and, on Unix, its folder. Do this if
    /// the source of the file is removed afterwards. Default: no; a system crash may then leave an
    /// incomplete file, as with `cp`. A file that replaces another is synced in any case. Does
    /// nothing for special files.
    pub fn set_durable(&mut self, durable: bool) {
        if let Some(pending) = &mut self.pending {
            pending.durable = durable;
        }
    }

    /// Sets the owner, group and permissions that the commit [applies](Ownership::apply), instead
    /// of the default. Does nothing for special files.
    pub fn set_ownership(&mut self, ownership: Ownership) {
        if let Some(pending) = &mut self.pending {
            pending.ownership = Some(ownership);
        }
    }

    /// Writes all of `bytes` at `offset`. Any thread may call this. Gaps in a regular file read as
    /// zeros.
    ///
    /// # Errors
    ///
    /// Returns the errors of the system. On Unix, writing to a pipe fails, because a pipe has no
    /// offsets.
    pub fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        write_all_at(&self.file, bytes, offset)
    }

    /// Sets the length in bytes. Does nothing for special files.
    ///
    /// # Errors
    ///
    /// Returns the errors of the system.
    pub fn set_len(&self, len: u64) -> io::Result<()> {
        if self.is_special() { Ok(()) } else { self.file.set_len(len) }
    }

    /// Gives the file the name of its target. Does nothing for special files.
    ///
    /// # Errors
    ///
    /// Returns the errors of the system, and [`io::ErrorKind::AlreadyExists`] if the target exists
    /// and must not be replaced. After an error the target is as it was, unless the last step,
    /// syncing the folder, failed.
    pub fn commit(self) -> io::Result<()> {
        AtomicFile::commit_all(vec![self]).pop().unwrap_or(Ok(()))
    }

    /// Commits files together: first syncs the content of those that are durable or replace others,
    /// then gives each file without an error its name. If many files are to be synced, it syncs
    /// whole file systems, where these are known to report write errors; this takes fewer device
    /// flushes. The content of a durable file that is committed without an error is on the disk,
    /// and on Unix so is its name, if the file system can sync folders.
    ///
    /// # Errors
    ///
    /// Returns the result of each file, in order, with the errors of [`commit`](Self::commit). The
    /// error of a sync of several files is returned for each of them.
    pub fn commit_all(mut files: Vec<AtomicFile>) -> Vec<io::Result<()>> {
        for file in &mut files {
            file.sync_if_it_replaces();
        }
        let mut results: Vec<_> = files.iter().map(AtomicFile::take_ownership).collect();
        sync_files(&files, &mut results);
        for (file, result) in files.iter_mut().zip(&mut results) {
            if result.is_ok() {
                *result = file.publish();
            }
        }
        // The result of syncing each folder.
        let mut folders: BTreeMap<&Path, io::Result<()>> = BTreeMap::new();
        for (file, result) in files.iter().zip(&mut results) {
            let Some(pending) = file.pending.as_ref().filter(|pending| pending.durable) else { continue };
            if result.is_ok() {
                let path = folder_of(&file.target);
                *result = copy_of(folders.entry(path).or_insert_with(|| pending.folder.sync()));
            }
        }
        results
    }

    /// Marks the file for syncing if it is to replace a regular file.
    fn sync_if_it_replaces(&mut self) {
        if let Some(pending) = &mut self.pending {
            pending.durable |= pending.existing == Existing::Replace && self.target.is_file();
        }
    }

    /// Sets owner and permissions before the rename.
    fn take_ownership(&self) -> io::Result<()> {
        let Some(pending) = &self.pending else { return Ok(()) };
        if let Some(ownership) = &pending.ownership {
            return ownership.apply(&self.file);
        }
        match fs::symlink_metadata(&self.target) {
            Ok(replaced) if replaced.is_file() => Ownership::of(&replaced).apply(&self.file),
            _ => Ownership::apply_new(&self.file),
        }
    }

    /// Gives the file its name. Where the file system can refuse to replace a file, this file
    /// replaces another only after its own content was synced.
    fn publish(&mut self) -> io::Result<()> {
        let Some(pending) = &mut self.pending else { return Ok(()) };
        let (folder, name) = (&pending.folder, Path::new(&pending.name));
        let replace = pending.existing == Existing::Replace;
        let published = match &pending.temporary {
            Some(temporary) => folder.commit(&temporary.name, name, replace && pending.durable),
            None => folder.link(&self.file, name),
        };
        match published {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists && replace => {}
            done => return done,
        }
        if !pending.durable {
            // There was no regular file to be replaced when the commit began.
            self.file.sync_all()?;
            pending.durable = true;
        }
        let temporary = match &pending.temporary {
            Some(temporary) => temporary,
            None => {
                // Linking cannot replace a file, so link under a temporary name first, then rename.
                let link = |name: &str| folder.link(&self.file, name);
                let ((), temporary) = Temporary::create(folder, folder_of(&self.target), link)?;
                pending.temporary.insert(temporary)
            }
        };
        folder.commit(&temporary.name, name, true)
    }
}

/// Syncs the content of durable files that have not failed.
fn sync_files(files: &[AtomicFile], results: &mut [io::Result<()>]) {
    let mut all: Vec<(&AtomicFile, &Pending, &mut io::Result<()>)> = files
        .iter()
        .zip(results)
        .filter_map(|(file, result)| Some((file, file.pending.as_ref()?, result)))
        .filter(|(_, pending, result)| pending.durable && result.is_ok())
        .collect();
    if all.len() < MANY {
        all.into_iter().for_each(|(file, _, result)| *result = file.file.sync_all());
        return;
    }
    // syncfs reports an error if a write failed since its descriptor was opened. On each device,
    // the folder of the first file was opened before anything was written to these files, so syncfs
    // reports an error if a write to any of them failed.
    all.sort_by_key(|(_, pending, _)| pending.opened);
    let mut systems: BTreeMap<u64, Option<io::Result<()>>> = BTreeMap::new();
    all.retain_mut(|(file, pending, result)| {
        let Some(device) = device_of(&file.file) else { return true };
        let synced = systems.entry(device).or_insert_with(|| pending.folder.sync_file_system());
        let Some(synced) = synced else { return true };
        **result = copy_of(synced);
        false
    });
    sync_each(&mut all);
}

/// Syncs files on several threads, so that their waits for the device overlap.
fn sync_each(all: &mut [(&AtomicFile, &Pending, &mut io::Result<()>)]) {
    const THREADS: usize = 16;
    let threads = THREADS.min(all.len());
    let queue = Mutex::new(all.iter_mut());
    let next = || lock(&queue).next();
    let work = || {
        while let Some((file, _, result)) = next() {
            **result = file.file.sync_all();
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            // If a thread cannot start, the other threads take its files.
            let _ = std::thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
}

/// Returns the device number of a file's file system. Returns `None` if it cannot be read, or the
/// system has no device numbers.
fn device_of(file: &File) -> Option<u64> {
    #[cfg(unix)]
    return file.metadata().ok().map(|found| std::os::unix::fs::MetadataExt::dev(&found));
    #[cfg(not(unix))]
    {
        let _ = file;
        None
    }
}

/// Copies the result of a sync, so that each file that it synced can return it.
fn copy_of(result: &io::Result<()>) -> io::Result<()> {
    match result {
        Ok(()) => Ok(()),
        Err(error) => Err(error.raw_os_error().map_or(error.kind().into(), io::Error::from_raw_os_error)),
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for AtomicFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// Returns the name of a file, which the path must end with. A separator or `.` after it would make
/// it a folder.
fn file_name(target: &Path) -> io::Result<&OsStr> {
    let bytes = target.as_os_str().as_encoded_bytes();
    match target.file_name() {
        Some(name) if bytes.ends_with(name.as_encoded_bytes()) => Ok(name),
        None if bytes.is_empty() => Err(io::ErrorKind::InvalidFilename.into()),
        _ => Err(io::ErrorKind::IsADirectory.into()),
    }
}

/// Follows symbolic links at the end of a path to the final target, which need not exist.
fn follow_links(target: &Path) -> io::Result<PathBuf> {
    let mut path = target.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_symlink() => path = folder_of(&path).join(fs::read_link(&path)?),
            _ => return Ok(path),
        }
    }
    Err(io::Error::other("too many levels of symbolic links"))
}

fn folder_of(target: &Path) -> &Path {
    target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The function that [`before_temporaries`] has set.
static PREPARE: OnceLock<fn()> = OnceLock::new();

/// Sets `prepare`, which is then called each time before an [`AtomicFile`] gets a temporary name.
/// It may start a thread that waits for signals and calls [`remove_temporaries`]. On Linux, where
/// unnamed files are supported, a file has a temporary name only for a moment, while its commit
/// replaces another. Only the first call in a process sets a function; later calls have no effect.
pub fn before_temporaries(prepare: fn()) {
    let _ = PREPARE.set(prepare);
}

/// Paths of the temporary files of this process's [`AtomicFile`]s that may exist. Locked while a
/// file is created, so that [`remove_temporaries`] does not miss it.
static TEMPORARIES: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn temporaries() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    lock(&TEMPORARIES)
}

/// A temporary name beside the target. Dropping it removes the file if it still has this name.
#[derive(Debug)]
struct Temporary {
    folder: Folder,
    name: String,
    path: PathBuf,
}

impl Temporary {
    /// Makes a name in `folder`, which `folder_path` leads to, and calls `create` with it.
    fn create<T>(
        folder: &Folder,
        folder_path: &Path,
        create: impl FnOnce(&str) -> io::Result<T>,
    ) -> io::Result<(T, Temporary)> {
        if let Some(prepare) = PREPARE.get() {
            prepare();
        }
        let name = temporary_name();
        let path = folder_path.join(&name);
        let mut temporaries = temporaries();
        let created = create(&name)?;
        temporaries.insert(path.clone());
        Ok((created, Temporary { folder: folder.clone(), name, path }))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = self.folder.remove(&self.name);
        temporaries().remove(&self.path);
    }
}

/// Removes the temporary files of all [`AtomicFile`]s of this process, and ignores errors. Call
/// this before a signal ends the program. While the returned guard lives, threads that create or
/// drop a temporary file wait. On Linux, files without a name can still be created, and committed
/// to new targets. A relative path is looked up in the current folder of this moment.
pub fn remove_temporaries() -> impl Drop {
    let names = temporaries();
    for path in &*names {
        let _ = fs::remove_file(path);
    }
    Ended { _names: names }
}

struct Ended {
    _names: MutexGuard<'static, BTreeSet<PathBuf>>,
}

impl Drop for Ended {
    fn drop(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn written(target: &Path, existing: Existing, bytes: &[u8]) -> io::Result<AtomicFile> {
        let mut file = AtomicFile::create(target, existing)?;
        file.write_all(bytes)?;
        Ok(file)
    }

    /// Replaces an unnamed file by one with a temporary name, so that both kinds are tested.
    fn with_name(file: AtomicFile, bytes: &[u8]) -> AtomicFile {
        let mut pending = file.pending.unwrap();
        let create = |name: &str| pending.folder.create_private(name);
        let (mut named, temporary) =
            Temporary::create(&pending.folder, folder_of(&file.target), create).unwrap();
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
    fn temporary_files_are_not_removed_while_one_is_created() {
        let folder = tempfile::tempdir().unwrap();
        let opened = Folder::existing(folder.path()).unwrap();
        let create = |_: &str| Ok(TEMPORARIES.try_lock().is_err());
        let (is_locked, _temporary) = Temporary::create(&opened, folder.path(), create).unwrap();
        assert!(is_locked);
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
            assert_eq!(
                (fs::read(&target).unwrap(), files(folder.path())),
                (b"old".to_vec(), vec!["a".into()])
            );
            new().commit().unwrap();
            assert_eq!(
                (fs::read(&target).unwrap(), files(folder.path())),
                (b"new".to_vec(), vec!["a".into()])
            );
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
        let batch: Vec<_> =
            (0..20).map(|i| written(&target(i), Existing::Refuse, &[i as u8]).unwrap()).collect();
        fs::write(target(7), b"other").unwrap();
        let results = AtomicFile::commit_all(batch);
        let failed: Vec<_> = (0..20).filter(|&i| results[i].is_err()).collect();
        assert_eq!(failed, [7]);
        assert!((0..20).filter(|&i| i != 7).all(|i| fs::read(target(i)).unwrap() == [i as u8]));
        assert_eq!(files(folder.path()).len(), 20);
    }

    /// Many files are synced on threads, without syncfs. Each has its own result.
    #[test]
    fn each_file_of_a_batch_is_synced_without_syncfs_too() {
        let folder = tempfile::tempdir().unwrap();
        let batch: Vec<_> = (0..40)
            .map(|i| written(&folder.path().join(i.to_string()), Existing::Refuse, b"x").unwrap())
            .collect();
        let mut results: Vec<io::Result<()>> =
            batch.iter().map(|_| Err(io::ErrorKind::Other.into())).collect();
        let pending = batch.iter().map(|file| (file, file.pending.as_ref().unwrap()));
        let mut all: Vec<_> =
            pending.zip(&mut results).map(|((file, pending), result)| (file, pending, result)).collect();
        sync_each(&mut all);
        assert!(results.iter().all(Result::is_ok), "{results:?}");
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
            for (link, target) in [("link", "inner/file"), ("dangling", "inner/new"), ("chain", "inner/file")]
            {
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
            let own = temporary_name();
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
                verbatim.as_os_str().len() > 400
                    && verbatim.as_os_str().as_encoded_bytes().starts_with(br"\\?\")
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
}
