//! Folders by path, for systems without descriptors of folders. Each is checked not to be a link
//! when it is entered; whoever can replace it meanwhile could also write there himself.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::metadata::{Attributes, Time};

/// A folder that was there, and no link, when it was entered.
#[derive(Clone, Debug)]
pub(crate) struct Folder(Arc<PathBuf>);

#[cfg_attr(all(test, unix), allow(dead_code, reason = "only tests use this kind here"))]
impl Folder {
    /// The folder of that path, made if it is not there. This one may be a link: it is the caller's.
    pub(crate) fn root(path: &Path) -> io::Result<Folder> {
        fs::create_dir_all(path)?;
        Ok(Folder(Arc::new(path.canonicalize()?)))
    }

    /// A folder in this one, made if it is not there. A link is refused.
    pub(crate) fn enter(&self, name: &str) -> io::Result<Folder> {
        match fs::create_dir(self.0.join(name)) {
            Err(e) if e.kind() != io::ErrorKind::AlreadyExists => Err(e),
            _ => self.find(name),
        }
    }

    /// A new file, to be written.
    pub(crate) fn create(&self, name: &str) -> io::Result<File> {
        OpenOptions::new().write(true).create_new(true).open(self.0.join(name))
    }

    /// A file that was created here, to be written further.
    pub(crate) fn reopen(&self, name: &str) -> io::Result<File> {
        OpenOptions::new().write(true).open(self.0.join(name))
    }

    /// Gives `temp` its final name, in one step. Over a file that is there only if `replace`.
    pub(crate) fn publish(&self, temp: &str, name: &str, replace: bool) -> io::Result<()> {
        if !replace && self.exists(name)? {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        fs::rename(self.0.join(temp), self.0.join(name))
    }

    /// Removes a file.
    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    /// Whether anything has that name, a link included.
    pub(crate) fn exists(&self, name: &str) -> io::Result<bool> {
        match fs::symlink_metadata(self.0.join(name)) {
            Ok(_) => Ok(true),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// A folder in this one, if it is there.
    pub(crate) fn find(&self, name: &str) -> io::Result<Folder> {
        let path = self.0.join(name);
        // Of a link, this is the link's own kind. Junctions count as links too.
        match fs::symlink_metadata(&path)?.is_dir() {
            true => Ok(Folder(Arc::new(path))),
            false => Err(io::Error::new(io::ErrorKind::NotADirectory, "not a folder, or a link to one")),
        }
    }

    /// A regular file in this folder, to be read. A link is refused.
    pub(crate) fn open(&self, name: &str) -> io::Result<File> {
        let path = self.0.join(name);
        match fs::symlink_metadata(&path)?.is_file() {
            true => File::open(path),
            false => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")),
        }
    }

    /// How many folders may be kept at once. They are names, and open nothing.
    pub(crate) fn kept_open() -> usize {
        8192
    }

    /// Sets the time of a regular file in this folder.
    pub(crate) fn stamp_file(&self, name: &str, attributes: &Attributes) -> io::Result<()> {
        // Not every system lets a file be stamped that is open for reading only.
        super::stamp(&self.reopen(name)?, attributes)
    }

    /// Sets the time of this folder: not here, where folders cannot be opened as files.
    pub(crate) fn stamp(&self, _attributes: &Attributes) -> io::Result<()> {
        Ok(())
    }

    /// A new link: not here, where making one needs rights of its own and the kind of what it leads to.
    pub(crate) fn symlink(&self, _target: &str, _name: &str) -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "links are not made on this system"))
    }

    /// Sets the time of a link: there is none.
    pub(crate) fn stamp_link(&self, _name: &str, _time: Time) -> io::Result<()> {
        Ok(())
    }

    /// Has the system make room for open files: not here.
    pub(crate) fn expect_open(&self, _count: usize) {}

    /// Bytes that can still be written here: not told.
    pub(crate) fn free(&self) -> Option<u64> {
        None
    }

    /// Takes room for a file ahead: not here.
    pub(crate) fn reserve(_file: &File, _size: u64) -> io::Result<()> {
        Ok(())
    }
}
