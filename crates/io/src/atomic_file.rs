//! Creates and replaces files atomically: writes beside the target, syncs if a file is replaced or
//! the caller asks for it, and gives the new file its name.
//!
//! Readers see the old content or the new one, even if the process is killed. On Linux with
//! `/proc`, if the file system supports it, the new file has no name until the commit (`O_TMPFILE`,
//! open(2)), so a process killed before leaves no file. Otherwise it has a
//! [temporary name](crate::temporary_name).

mod sync;
mod target;
mod temporary;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use sync::{copy_of, sync_files};
use target::{file_name, folder_of, follow_links};
use temporary::Temporary;
pub use temporary::{before_temporaries, remove_temporaries};

use crate::folder::{Folder, write_all_at};
use crate::leftovers::sweep_once;
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
