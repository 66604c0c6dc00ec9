//! Folders by path, for systems other than Unix. A subfolder is checked not to be a link when it is
//! opened. A process that can replace it by a link afterwards has the right to write to its parent
//! anyway.

#[cfg(not(windows))]
use std::fs::rename as rename_over;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::FileAttributes;
use crate::leftovers::sweep_once;
use crate::ownership::Ownership;
#[cfg(windows)]
use crate::sys::windows::{full_path, rename_new, rename_over};

/// The path of a folder that existed when it was opened.
///
/// # Errors
///
/// The methods return the errors of the system, and the kinds that they name.
#[derive(Clone, Debug)]
pub struct Folder(Arc<PathBuf>);

impl Folder {
    /// Opens the folder `path`, and creates it and its parents if they do not exist. `path` itself
    /// may be a link, because the caller chose it.
    pub fn create_all(path: impl AsRef<Path>) -> io::Result<Folder> {
        fs::create_dir_all(&path)?;
        Ok(Folder(Arc::new(full_path(path.as_ref())?)))
    }

    /// Opens the existing folder `path`, which may be a link, because the caller chose it.
    pub(crate) fn existing(path: impl AsRef<Path>) -> io::Result<Folder> {
        let path = full_path(path.as_ref())?;
        match path.is_dir() {
            true => Ok(Folder(Arc::new(path))),
            false => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    /// Opens the folder `name` in this one, and creates it if it does not exist. A file or link of
    /// that name is the error [`io::ErrorKind::NotADirectory`]. [Sweeps](Self::sweep) an existing
    /// folder.
    pub fn create_subfolder(&self, name: &str) -> io::Result<Folder> {
        match fs::create_dir(self.0.join(name)) {
            Ok(()) => self.subfolder(name),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                let inner = self.subfolder(name)?;
                inner.sweep();
                Ok(inner)
            }
            Err(e) => Err(e),
        }
    }

    /// Removes stale temporary files of this folder, unless this process did so before under the
    /// same path (it remembers up to 16,384 paths). Ignores errors, looks at a limited number of
    /// entries, and keeps folders.
    pub fn sweep(&self) {
        sweep_once(&self.0);
    }

    /// Returns the permissions of `name`, or `None` if it does not exist or is no regular file.
    pub fn ownership(&self, name: &str) -> io::Result<Option<Ownership>> {
        match fs::symlink_metadata(self.0.join(name)) {
            Ok(found) => Ok(found.is_file().then(|| Ownership::of(&found))),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Creates a file for writing. An existing name is the error
    /// [`io::ErrorKind::AlreadyExists`].
    pub fn create(&self, name: &str) -> io::Result<File> {
        OpenOptions::new().write(true).create_new(true).open(self.0.join(name))
    }

    /// The same as [`create`](Self::create) on these systems.
    pub fn create_private(&self, name: &str) -> io::Result<File> {
        self.create(name)
    }

    /// Returns `None`: these systems have no files without a name.
    pub fn create_unnamed(&self) -> Option<File> {
        None
    }

    /// Returns `None`, like [`create_unnamed`](Self::create_unnamed).
    pub(crate) fn create_unnamed_private(&self) -> Option<File> {
        None
    }

    /// Fails with [`io::ErrorKind::Unsupported`].
    pub fn link(&self, _file: &File, _name: impl AsRef<Path>) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Does nothing: when a folder is synced is left to the system.
    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    /// Returns `None`: these systems have no syncfs.
    pub(crate) fn sync_file_system(&self) -> Option<io::Result<()>> {
        None
    }

    /// Opens an existing file for writing, such as one that this process created.
    pub fn reopen(&self, name: &str) -> io::Result<File> {
        OpenOptions::new().write(true).open(self.0.join(name))
    }

    /// Renames `temp` to `name` atomically. Unless `replace`, an existing name is the error
    /// [`io::ErrorKind::AlreadyExists`]; but except on Windows, a file that appears just before the
    /// rename is replaced.
    pub fn commit(&self, temp: &str, name: impl AsRef<Path>, replace: bool) -> io::Result<()> {
        let (from, to) = (self.0.join(temp), self.0.join(name));
        if replace { rename_over(&from, &to) } else { rename_new(&from, &to) }
    }

    /// Removes a file.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    /// Returns whether `name` exists, even as a dangling link.
    pub fn exists(&self, name: impl AsRef<Path>) -> io::Result<bool> {
        let name = name.as_ref();
        match fs::symlink_metadata(self.0.join(name)) {
            Ok(_) => Ok(true),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// Opens the existing folder `name` in this one. A file or link of that name is the error
    /// [`io::ErrorKind::NotADirectory`].
    pub fn subfolder(&self, name: &str) -> io::Result<Folder> {
        let path = self.0.join(name);
        // For a link, this is the kind of the link itself. Junctions count as links too.
        match fs::symlink_metadata(&path)?.is_dir() {
            true => Ok(Folder(Arc::new(path))),
            false => Err(io::Error::new(io::ErrorKind::NotADirectory, "not a folder, or a link to one")),
        }
    }

    /// Opens the regular file `name` for reading. Anything else, such as a link, is the error
    /// [`io::ErrorKind::InvalidInput`].
    pub fn open(&self, name: &str) -> io::Result<File> {
        let path = self.0.join(name);
        match fs::symlink_metadata(&path)?.is_file() {
            true => File::open(path),
            false => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")),
        }
    }

    /// Returns how many [`Folder`]s a caller may hold at once. Here a folder is a path without a
    /// descriptor and needs no limit, so this is the largest number that Unix returns.
    pub fn max_open_folders() -> usize {
        8192
    }

    /// Sets the modification time of the file `name`, which must be writable.
    pub fn set_file_attributes(&self, name: &str, attributes: &FileAttributes) -> io::Result<()> {
        // Not every system can set the time of a file that is open for reading only.
        super::set_attributes(&self.reopen(name)?, attributes)
    }

    /// Sets the modification time of this folder.
    #[cfg(windows)]
    pub fn set_attributes(&self, attributes: &FileAttributes) -> io::Result<()> {
        use std::os::windows::fs::OpenOptionsExt;
        const FILE_WRITE_ATTRIBUTES: u32 = 0x100;
        // Without this flag, only files are opened.
        const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;
        let mut options = OpenOptions::new();
        options.access_mode(FILE_WRITE_ATTRIBUTES).custom_flags(FILE_FLAG_BACKUP_SEMANTICS);
        super::set_attributes(&options.open(&*self.0)?, attributes)
    }

    /// Does nothing on these systems.
    #[cfg(not(windows))]
    pub fn set_attributes(&self, _attributes: &FileAttributes) -> io::Result<()> {
        Ok(())
    }

    /// Fails with [`io::ErrorKind::Unsupported`]. On Windows, making a link usually needs a special
    /// privilege, and the caller would have to say whether the target is a file or a folder.
    pub fn symlink(&self, _target: &str, _name: &str) -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "links are not made on this system"))
    }

    /// Does nothing, because [`symlink`](Self::symlink) makes no links.
    pub fn set_link_modified(&self, _name: &str, _modified: SystemTime) -> io::Result<()> {
        Ok(())
    }

    /// Does nothing on these systems.
    pub fn reserve_descriptors(&self, _count: usize) {}

    /// Returns the free space for this user in bytes, if the system reports it.
    pub fn free_space(&self) -> Option<u64> {
        #[cfg(windows)]
        return crate::sys::windows::free_space(&self.0);
        #[cfg(not(windows))]
        None
    }
}

#[cfg(not(windows))]
fn full_path(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize()
}

/// Renames to a name that must not exist. It checks this before the rename, and replaces a file
/// that appears in between.
#[cfg(not(windows))]
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match fs::symlink_metadata(to) {
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => fs::rename(from, to),
        Err(e) => Err(e),
    }
}
