//! Folders by descriptor: every name is resolved from an open folder, and never through a link.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Timespec, Timestamps};

use super::FileAttributes;
use crate::atomic_file::Ownership;
use crate::leftovers::{SWEPT_ENTRIES, is_abandoned};

/// An open folder.
#[derive(Clone, Debug)]
pub struct Folder(Arc<OwnedFd>);

const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC).union(OFlags::RDONLY);
const WRITE: OFlags = OFlags::WRONLY.union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW);

/// What the caller's mask leaves of these.
const FOLDER_MODE: Mode = Mode::RWXU.union(Mode::RWXG).union(Mode::RWXO);
const FILE_MODE: Mode = FOLDER_MODE.difference(Mode::XUSR).difference(Mode::XGRP).difference(Mode::XOTH);

/// The owner alone.
const PRIVATE: Mode = Mode::RUSR.union(Mode::WUSR);

/// Folders kept open, however many the system allows.
const MOST_KEPT: usize = 8192;

impl Folder {
    /// The folder of that path, made if it is not there. This one may be a link: it is the caller's.
    pub fn create_all(path: &Path) -> io::Result<Folder> {
        std::fs::create_dir_all(path)?;
        Folder::existing(path)
    }

    /// The folder of that path, which is there. This one may be a link: it is the caller's.
    pub fn existing(path: &Path) -> io::Result<Folder> {
        Ok(Folder(Arc::new(rustix::fs::open(path, FOLDER, Mode::empty())?)))
    }

    /// A folder in this one, made if it is not there. A link is refused. What killed runs left in one
    /// that is there goes.
    pub fn create_subfolder(&self, name: &str) -> io::Result<Folder> {
        let is_new = match rustix::fs::mkdirat(&*self.0, name, FOLDER_MODE) {
            Ok(()) => true,
            Err(rustix::io::Errno::EXIST) => false,
            Err(e) => return Err(e.into()),
        };
        let inner = rustix::fs::openat(&*self.0, name, FOLDER | OFlags::NOFOLLOW, Mode::empty())?;
        let inner = Folder(Arc::new(inner));
        if !is_new {
            inner.sweep();
        }
        Ok(inner)
    }

    /// Removes what killed runs left in this folder, as [`sweep_once`](crate::sweep_once) does.
    pub fn sweep(&self) {
        let Ok(entries) = rustix::fs::Dir::read_from(&*self.0) else { return };
        for entry in entries.take(SWEPT_ENTRIES).flatten() {
            let Ok(name) = entry.file_name().to_str() else { continue };
            let modified = || {
                let found = rustix::fs::statat(&*self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
                let seconds = u64::try_from(found.st_mtime).unwrap_or(0);
                Ok(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
            };
            // A folder is somebody's, and stays.
            if is_abandoned(name, modified).unwrap_or(false) {
                let _ = self.remove(name);
            }
        }
    }

    /// Owner and permissions of a regular file in this folder, if there is one of that name.
    pub fn ownership(&self, name: &str) -> io::Result<Option<Ownership>> {
        match rustix::fs::statat(&*self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) if FileType::from_raw_mode(found.st_mode) == FileType::RegularFile => {
                // `mode_t` has 16 bits on some systems.
                #[allow(clippy::useless_conversion)]
                Ok(Some(Ownership::new(found.st_uid, found.st_gid, u32::from(found.st_mode))))
            }
            Ok(_) | Err(rustix::io::Errno::NOENT) => Ok(None),
            Err(e) => Err(e.into()),
        }
    }

    /// A new file, to be written.
    pub fn create(&self, name: &str) -> io::Result<File> {
        let flags = WRITE | OFlags::CREATE | OFlags::EXCL;
        Ok(rustix::fs::openat(&*self.0, name, flags, FILE_MODE)?.into())
    }

    /// A new file that only its owner may open.
    pub fn create_private(&self, name: &str) -> io::Result<File> {
        let flags = WRITE | OFlags::CREATE | OFlags::EXCL;
        Ok(rustix::fs::openat(&*self.0, name, flags, PRIVATE)?.into())
    }

    /// A new file without a name, which is gone with the process unless it is [linked](Self::link):
    /// `None` where the system or the file system has no such files (`O_TMPFILE`).
    pub(crate) fn create_unnamed(&self) -> Option<File> {
        #[cfg(target_os = "linux")]
        {
            let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
            let file = File::from(rustix::fs::openat(&*self.0, ".", flags, PRIVATE).ok()?);
            // Without /proc it could not be given a name later.
            std::fs::symlink_metadata(descriptor_path(&file)).is_ok().then_some(file)
        }
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// Gives an unnamed file a name that nothing has yet.
    pub(crate) fn link(&self, file: &File, name: &Path) -> io::Result<()> {
        let path = descriptor_path(file);
        Ok(rustix::fs::linkat(rustix::fs::CWD, path, &*self.0, name, AtFlags::SYMLINK_FOLLOW)?)
    }

    /// Puts the names of this folder on the disk. Not every file system can.
    pub(crate) fn sync(&self) -> io::Result<()> {
        match rustix::fs::fsync(&*self.0) {
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOTSUP) => Ok(()),
            done => Ok(done?),
        }
    }

    /// A file that was created here, to be written further.
    pub fn reopen(&self, name: &str) -> io::Result<File> {
        Ok(rustix::fs::openat(&*self.0, name, WRITE, Mode::empty())?.into())
    }

    /// Gives `temp` its final name, in one step. Over a file that is there only if `replace`.
    pub fn commit(&self, temp: &str, name: impl AsRef<Path>, replace: bool) -> io::Result<()> {
        let name = name.as_ref();
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
        match rustix::fs::linkat(&*self.0, temp, &*self.0, name, AtFlags::empty()) {
            Ok(()) => Ok(rustix::fs::unlinkat(&*self.0, temp, AtFlags::empty())?),
            Err(rustix::io::Errno::EXIST) => Err(io::ErrorKind::AlreadyExists.into()),
            // Some file systems have no second links. There, what appears in between is replaced.
            Err(_) if self.exists(name)? => Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) => Ok(rustix::fs::renameat(&*self.0, temp, &*self.0, name)?),
        }
    }

    /// Removes a file.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&*self.0, name, AtFlags::empty())?)
    }

    /// Whether anything has that name, a link included.
    pub fn exists(&self, name: impl AsRef<Path>) -> io::Result<bool> {
        let name = name.as_ref();
        match rustix::fs::statat(&*self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) => Ok(true),
            Err(rustix::io::Errno::NOENT) => Ok(false),
            Err(e) => Err(e.into()),
        }
    }

    /// A folder in this one, if it is there.
    pub fn subfolder(&self, name: &str) -> io::Result<Folder> {
        let inner = rustix::fs::openat(&*self.0, name, FOLDER | OFlags::NOFOLLOW, Mode::empty())?;
        Ok(Folder(Arc::new(inner)))
    }

    /// A regular file in this folder, to be read. A link is refused.
    pub fn open(&self, name: &str) -> io::Result<File> {
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
    pub fn max_open_folders() -> usize {
        let most = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        most.map_or(MOST_KEPT, |most| (most / 4).clamp(16, MOST_KEPT as u64) as usize)
    }

    /// Sets the time and the mode of a regular file in this folder.
    pub fn set_file_attributes(&self, name: &str, attributes: &FileAttributes) -> io::Result<()> {
        super::set_attributes(&self.open(name)?, attributes)
    }

    /// Sets the time and the mode of this folder.
    pub fn set_attributes(&self, attributes: &FileAttributes) -> io::Result<()> {
        super::set_attributes(&self.0.try_clone()?.into(), attributes)
    }

    /// A new link.
    pub fn symlink(&self, target: &str, name: &str) -> io::Result<()> {
        Ok(rustix::fs::symlinkat(target, &*self.0, name)?)
    }

    /// Sets the time of a link.
    pub fn set_link_modified(&self, name: &str, modified: SystemTime) -> io::Result<()> {
        let moment = match modified.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => Timespec { tv_sec: after.as_secs() as i64, tv_nsec: after.subsec_nanos().into() },
            // Nanoseconds count forward from the second before.
            Err(before) => {
                let before = before.duration();
                let (seconds, nanos) = (-(before.as_secs() as i64), i64::from(before.subsec_nanos()));
                match nanos {
                    0 => Timespec { tv_sec: seconds, tv_nsec: 0 },
                    _ => Timespec { tv_sec: seconds - 1, tv_nsec: 1_000_000_000 - nanos },
                }
            }
        };
        let times = Timestamps { last_access: moment, last_modification: moment };
        Ok(rustix::fs::utimensat(&*self.0, name, &times, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// Has the system make room for that many open files at once. It does so in any case, step by step,
    /// but each step in a process of several threads takes it a hundredth of a second.
    pub fn reserve_descriptors(&self, count: usize) {
        let most = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        let number = most.map_or(count, |most| count.min(most.saturating_sub(1) as usize));
        // Descriptors are numbered from 0, and one that is closed again leaves the room behind.
        drop(rustix::io::fcntl_dupfd_cloexec(&*self.0, number as i32));
    }

    /// Bytes that can still be written here, where the system tells.
    pub fn free_space(&self) -> Option<u64> {
        let found = rustix::fs::fstatvfs(&*self.0).ok()?;
        // Some file systems have no count of blocks.
        (found.f_blocks > 0).then(|| found.f_bavail.saturating_mul(found.f_frsize))
    }

    /// Takes room for a file of that size ahead, where that is cheap. What fails for want of room
    /// would fail later.
    pub fn reserve(file: &File, size: u64) -> io::Result<()> {
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

/// The path by which the kernel finds an open file.
fn descriptor_path(file: &File) -> String {
    use std::os::fd::AsRawFd;
    format!("/proc/self/fd/{}", file.as_raw_fd())
}
