//! Folders by descriptor: every name is resolved from an open folder, and never through a link.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Timespec, Timestamps};

use crate::metadata::{Attributes, Time};

/// An open folder.
#[derive(Clone, Debug)]
pub(crate) struct Folder(Arc<OwnedFd>);

const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC).union(OFlags::RDONLY);
const WRITE: OFlags = OFlags::WRONLY.union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW);

/// What the caller's mask leaves of these.
const FOLDER_MODE: Mode = Mode::RWXU.union(Mode::RWXG).union(Mode::RWXO);
const FILE_MODE: Mode = FOLDER_MODE.difference(Mode::XUSR).difference(Mode::XGRP).difference(Mode::XOTH);

/// Folders kept open, however many the system allows.
const MOST_KEPT: usize = 8192;

impl Folder {
    /// The folder of that path, made if it is not there. This one may be a link: it is the caller's.
    pub(crate) fn root(path: &Path) -> io::Result<Folder> {
        std::fs::create_dir_all(path)?;
        Ok(Folder(Arc::new(rustix::fs::open(path, FOLDER, Mode::empty())?)))
    }

    /// A folder in this one, made if it is not there. A link is refused.
    pub(crate) fn enter(&self, name: &str) -> io::Result<Folder> {
        match rustix::fs::mkdirat(&*self.0, name, FOLDER_MODE) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(e) => return Err(e.into()),
        }
        let inner = rustix::fs::openat(&*self.0, name, FOLDER | OFlags::NOFOLLOW, Mode::empty())?;
        Ok(Folder(Arc::new(inner)))
    }

    /// A new file, to be written.
    pub(crate) fn create(&self, name: &str) -> io::Result<File> {
        let flags = WRITE | OFlags::CREATE | OFlags::EXCL;
        Ok(rustix::fs::openat(&*self.0, name, flags, FILE_MODE)?.into())
    }

    /// A file that was created here, to be written further.
    pub(crate) fn reopen(&self, name: &str) -> io::Result<File> {
        Ok(rustix::fs::openat(&*self.0, name, WRITE, Mode::empty())?.into())
    }

    /// Gives `temp` its final name, in one step. Over a file that is there only if `replace`.
    pub(crate) fn publish(&self, temp: &str, name: &str, replace: bool) -> io::Result<()> {
        if replace {
            return Ok(rustix::fs::renameat(&*self.0, temp, &*self.0, name)?);
        }
        #[cfg(target_os = "linux")]
        {
            use rustix::io::Errno;
            let flags = rustix::fs::RenameFlags::NOREPLACE;
            match rustix::fs::renameat_with(&*self.0, temp, &*self.0, name, flags) {
                // Not every file system offers it.
                Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
                result => return Ok(result?),
            }
        }
        rustix::fs::linkat(&*self.0, temp, &*self.0, name, AtFlags::empty())?;
        Ok(rustix::fs::unlinkat(&*self.0, temp, AtFlags::empty())?)
    }

    /// Removes a file.
    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&*self.0, name, AtFlags::empty())?)
    }

    /// Whether anything has that name, a link included.
    pub(crate) fn exists(&self, name: &str) -> io::Result<bool> {
        match rustix::fs::statat(&*self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) => Ok(true),
            Err(rustix::io::Errno::NOENT) => Ok(false),
            Err(e) => Err(e.into()),
        }
    }

    /// A folder in this one, if it is there.
    pub(crate) fn find(&self, name: &str) -> io::Result<Folder> {
        let inner = rustix::fs::openat(&*self.0, name, FOLDER | OFlags::NOFOLLOW, Mode::empty())?;
        Ok(Folder(Arc::new(inner)))
    }

    /// A regular file in this folder, to be read. A link is refused.
    pub(crate) fn open(&self, name: &str) -> io::Result<File> {
        // A pipe must not make us wait for its writer.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let file = rustix::fs::openat(&*self.0, name, flags, Mode::empty())?;
        let kind = FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode);
        match kind {
            FileType::RegularFile => Ok(file.into()),
            _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")),
        }
    }

    /// How many folders may be kept open at once: a part of the files that the process may open.
    pub(crate) fn kept_open() -> usize {
        let most = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        most.map_or(MOST_KEPT, |most| (most / 4).clamp(16, MOST_KEPT as u64) as usize)
    }

    /// Sets the time and the mode of a regular file in this folder.
    pub(crate) fn stamp_file(&self, name: &str, attributes: &Attributes) -> io::Result<()> {
        super::stamp(&self.open(name)?, attributes)
    }

    /// Sets the time and the mode of this folder.
    pub(crate) fn stamp(&self, attributes: &Attributes) -> io::Result<()> {
        super::stamp(&self.0.try_clone()?.into(), attributes)
    }

    /// A new link.
    pub(crate) fn symlink(&self, target: &str, name: &str) -> io::Result<()> {
        Ok(rustix::fs::symlinkat(target, &*self.0, name)?)
    }

    /// Sets the time of a link.
    pub(crate) fn stamp_link(&self, name: &str, time: Time) -> io::Result<()> {
        let moment = Timespec { tv_sec: time.seconds, tv_nsec: time.nanoseconds.into() };
        let times = Timestamps { last_access: moment, last_modification: moment };
        Ok(rustix::fs::utimensat(&*self.0, name, &times, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// Has the system make room for that many open files at once. It does so in any case, step by step,
    /// but each step in a process of several threads takes it a hundredth of a second.
    pub(crate) fn expect_open(&self, count: usize) {
        let most = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        let number = most.map_or(count, |most| count.min(most.saturating_sub(1) as usize));
        // Descriptors are numbered from 0, and one that is closed again leaves the room behind.
        drop(rustix::io::fcntl_dupfd_cloexec(&*self.0, number as i32));
    }

    /// Bytes that can still be written here, where the system tells.
    pub(crate) fn free(&self) -> Option<u64> {
        let found = rustix::fs::fstatvfs(&*self.0).ok()?;
        // Some file systems have no count of blocks.
        (found.f_blocks > 0).then(|| found.f_bavail.saturating_mul(found.f_frsize))
    }

    /// Takes room for a file of that size ahead, where that is cheap. What fails for want of room
    /// would fail later.
    pub(crate) fn reserve(file: &File, size: u64) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        {
            use rustix::io::Errno;
            let taken = rustix::fs::fallocate(file, rustix::fs::FallocateFlags::KEEP_SIZE, 0, size);
            // Those that cannot reserve need not.
            if let Err(e @ (Errno::NOSPC | Errno::DQUOT)) = taken {
                return Err(e.into());
            }
        }
        let _ = (file, size);
        Ok(())
    }
}
