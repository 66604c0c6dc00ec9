//! Folders by descriptor (openat(2)). A name, which has no `/`, is looked up in the open folder. If
//! it is a symbolic link, the link is not followed.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Timespec, Timestamps};

use super::FileAttributes;
use crate::leftovers::{SWEPT_ENTRIES, is_abandoned};
use crate::ownership::Ownership;

/// An open folder. Names are those of its entries, without a `/`.
///
/// # Errors
///
/// The methods return the errors of the system, and the kinds that they name.
#[derive(Clone, Debug)]
pub struct Folder(Arc<OwnedFd>);

const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC).union(OFlags::RDONLY);
const WRITE: OFlags = OFlags::WRONLY.union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW);

/// Mode of a new folder before the umask is applied.
const FOLDER_MODE: Mode = Mode::RWXU.union(Mode::RWXG).union(Mode::RWXO);
/// Mode of a new file before the umask is applied.
const FILE_MODE: Mode = FOLDER_MODE.difference(Mode::XUSR).difference(Mode::XGRP).difference(Mode::XOTH);

/// Mode of a file that only its owner may read and write.
const PRIVATE: Mode = Mode::RUSR.union(Mode::WUSR);

/// Upper bound of [`Folder::max_open_folders`].
const MOST_KEPT: usize = 8192;

impl Folder {
    /// Opens the folder `path`, and creates it and its parents if they do not exist. `path` itself
    /// may be a link, because the caller chose it.
    pub fn create_all(path: impl AsRef<Path>) -> io::Result<Folder> {
        std::fs::create_dir_all(&path)?;
        Folder::existing(path)
    }

    /// Opens the existing folder `path`, which may be a link, because the caller chose it.
    pub(crate) fn existing(path: impl AsRef<Path>) -> io::Result<Folder> {
        Ok(Folder(Arc::new(rustix::fs::open(path.as_ref(), FOLDER, Mode::empty())?)))
    }

    /// Opens the folder `name` in this one, and creates it if it does not exist. A file or link of
    /// that name is an error. [Sweeps](Self::sweep) an existing folder.
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

    /// Removes stale temporary files of this folder, as the first [`AtomicFile`](crate::AtomicFile)
    /// of a process there does. Ignores errors, looks at a limited number of entries, and keeps
    /// folders.
    pub fn sweep(&self) {
        let Ok(entries) = rustix::fs::Dir::read_from(&*self.0) else { return };
        for entry in entries.take(SWEPT_ENTRIES).flatten() {
            let Ok(name) = entry.file_name().to_str() else { continue };
            let modified = || {
                let found = rustix::fs::statat(&*self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
                let seconds = u64::try_from(found.st_mtime).unwrap_or(0);
                Ok(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
            };
            // Folders stay, since they may take long to remove.
            let is_folder = entry.file_type() == FileType::Directory;
            if !is_folder && is_abandoned(name, modified).unwrap_or(false) {
                let _ = self.remove(name);
            }
        }
    }

    /// Returns owner, group and permissions of `name`, or `None` if it does not exist or is no
    /// regular file.
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

    /// Creates a file for writing. An existing name is the error
    /// [`io::ErrorKind::AlreadyExists`].
    pub fn create(&self, name: &str) -> io::Result<File> {
        let flags = WRITE | OFlags::CREATE | OFlags::EXCL;
        Ok(rustix::fs::openat(&*self.0, name, flags, FILE_MODE)?.into())
    }

    /// Creates a file for writing, like [`create`](Self::create), with mode 0600 less the umask.
    pub fn create_private(&self, name: &str) -> io::Result<File> {
        let flags = WRITE | OFlags::CREATE | OFlags::EXCL;
        Ok(rustix::fs::openat(&*self.0, name, flags, PRIVATE)?.into())
    }

    /// Creates a file without a name (`O_TMPFILE`) for writing, which disappears when it is closed
    /// unless it was [linked](Self::link). Returns `None` if this fails, for example because the
    /// system or the file system does not support it.
    pub fn create_unnamed(&self) -> Option<File> {
        self.create_unnamed_with(FILE_MODE)
    }

    /// Creates a file without a name and with mode 0600 less the umask, like
    /// [`create_unnamed`](Self::create_unnamed). Returns `None` without `/proc`, too.
    pub(crate) fn create_unnamed_private(&self) -> Option<File> {
        // Without /proc, Linux before 6.10 could not link the file later.
        let file = self.create_unnamed_with(PRIVATE)?;
        std::fs::symlink_metadata(descriptor_path(&file)).is_ok().then_some(file)
    }

    fn create_unnamed_with(&self, mode: Mode) -> Option<File> {
        #[cfg(target_os = "linux")]
        {
            let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
            rustix::fs::openat(&*self.0, ".", flags, mode).ok().map(File::from)
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = mode;
            None
        }
    }

    /// Links an unnamed file under a name that does not exist yet.
    ///
    /// # Errors
    ///
    /// Returns [`io::ErrorKind::AlreadyExists`] if the name exists, and other errors of the system,
    /// for example if the system or the file system does not support this.
    pub fn link(&self, file: &File, name: impl AsRef<Path>) -> io::Result<()> {
        let name = name.as_ref();
        #[cfg(target_os = "linux")]
        match rustix::fs::linkat(file, "", &*self.0, name, AtFlags::EMPTY_PATH) {
            // Linux before 6.10 allows this only with `CAP_DAC_READ_SEARCH`, as root has.
            Err(rustix::io::Errno::NOENT) => {}
            result => return Ok(result?),
        }
        let path = descriptor_path(file);
        Ok(rustix::fs::linkat(rustix::fs::CWD, path, &*self.0, name, AtFlags::SYMLINK_FOLLOW)?)
    }

    /// Syncs the directory entries (fsync), if the file system supports it.
    pub(crate) fn sync(&self) -> io::Result<()> {
        match rustix::fs::fsync(&*self.0) {
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOTSUP) => Ok(()),
            done => Ok(done?),
        }
    }

    /// Syncs the whole file system (syncfs). Returns an error if that fails, or if a write failed
    /// since this folder was opened. Returns `None` if the call is missing, or is not known to
    /// report failed writes.
    pub(crate) fn sync_file_system(&self) -> Option<io::Result<()>> {
        #[cfg(target_os = "linux")]
        if self.reports_write_errors() {
            return Some(rustix::fs::syncfs(&*self.0).map_err(io::Error::from));
        }
        None
    }

    /// Returns whether syncfs is known to report write errors, as Linux does since 5.8. File
    /// systems that store their content in others (overlayfs, FUSE, network) do not all pass the
    /// errors on.
    #[cfg(target_os = "linux")]
    fn reports_write_errors(&self) -> bool {
        /// `f_type` of ext2 to ext4, XFS, Btrfs, F2FS and tmpfs (statfs(2)).
        const REPORTING: [u64; 5] = [0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010, 0x0102_1994];
        let system = rustix::system::uname();
        let mut release = system.release().to_str().unwrap_or_default().split(['.', '-']);
        let mut number = || release.next().and_then(|part| part.parse::<u32>().ok()).unwrap_or(0);
        // On some processors the numbers are signed, with 32 bits.
        #[allow(clippy::unnecessary_cast, reason = "the type differs between processors")]
        let kind = rustix::fs::fstatfs(&*self.0).map(|found| u64::from(found.f_type as u32));
        (number(), number()) >= (5, 8) && kind.is_ok_and(|kind| REPORTING.contains(&kind))
    }

    /// Opens an existing file for writing, such as one that this process created. A link is an
    /// error.
    pub fn reopen(&self, name: &str) -> io::Result<File> {
        Ok(rustix::fs::openat(&*self.0, name, WRITE, Mode::empty())?.into())
    }

    /// Renames `temp` to `name`. With `replace`, this replaces an existing file atomically.
    /// Without, an existing name is the error [`io::ErrorKind::AlreadyExists`]; but where the file
    /// system cannot refuse to replace a file, one that appears just before the rename is replaced.
    /// Without `replace`, the file may also have both names for a moment, and keep both if `temp`
    /// cannot be removed.
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
                // The kernel or the file system lacks `NOREPLACE`: try a hard link, below.
                Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
                result => return Ok(result?),
            }
        }
        match rustix::fs::linkat(&*self.0, temp, &*self.0, name, AtFlags::empty()) {
            Ok(()) => {
                // The file has its name. A temporary name that cannot be removed is a leftover.
                let _ = self.remove(temp);
                Ok(())
            }
            Err(rustix::io::Errno::EXIST) => Err(io::ErrorKind::AlreadyExists.into()),
            // File systems without hard links get here, for example. A file that appears between
            // this check and the rename is replaced.
            Err(_) if self.exists(name)? => Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) => Ok(rustix::fs::renameat(&*self.0, temp, &*self.0, name)?),
        }
    }

    /// Removes a file.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&*self.0, name, AtFlags::empty())?)
    }

    /// Returns whether `name` exists, even as a dangling link.
    pub fn exists(&self, name: impl AsRef<Path>) -> io::Result<bool> {
        let name = name.as_ref();
        match rustix::fs::statat(&*self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) => Ok(true),
            Err(rustix::io::Errno::NOENT) => Ok(false),
            Err(e) => Err(e.into()),
        }
    }

    /// Opens the existing folder `name` in this one. A file or link of that name is an error.
    pub fn subfolder(&self, name: &str) -> io::Result<Folder> {
        let inner = rustix::fs::openat(&*self.0, name, FOLDER | OFlags::NOFOLLOW, Mode::empty())?;
        Ok(Folder(Arc::new(inner)))
    }

    /// Opens the regular file `name` for reading. A link is an error, and anything else that can be
    /// opened is the error [`io::ErrorKind::InvalidInput`].
    pub fn open(&self, name: &str) -> io::Result<File> {
        // Without `NONBLOCK`, opening a FIFO would wait for a writer.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let file = rustix::fs::openat(&*self.0, name, flags, Mode::empty())?;
        let kind = FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode);
        match kind {
            FileType::RegularFile => Ok(file.into()),
            _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")),
        }
    }

    /// Returns how many [`Folder`]s a caller should hold open at most: a quarter of the process's
    /// limit of open files, but at least 16 and at most 8192.
    pub fn max_open_folders() -> usize {
        let most = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        most.map_or(MOST_KEPT, |most| (most / 4).clamp(16, MOST_KEPT as u64) as usize)
    }

    /// Sets modification time and, if given, mode of the regular file `name`, which must be
    /// readable.
    pub fn set_file_attributes(&self, name: &str, attributes: &FileAttributes) -> io::Result<()> {
        super::set_attributes(&self.open(name)?, attributes)
    }

    /// Sets modification time and, if given, mode of this folder.
    pub fn set_attributes(&self, attributes: &FileAttributes) -> io::Result<()> {
        super::set_attributes(&self.0.try_clone()?.into(), attributes)
    }

    /// Creates the symbolic link `name`, which leads to `target`.
    pub fn symlink(&self, target: &str, name: &str) -> io::Result<()> {
        Ok(rustix::fs::symlinkat(target, &*self.0, name)?)
    }

    /// Sets the modification time of the symbolic link `name`, and its access time to the same.
    pub fn set_link_modified(&self, name: &str, modified: SystemTime) -> io::Result<()> {
        let moment = match modified.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => Timespec { tv_sec: after.as_secs() as i64, tv_nsec: after.subsec_nanos().into() },
            // Nanoseconds count forward from the preceding second.
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

    /// Grows the descriptor table in one step, for `count` open files or for the process's limit if
    /// that is lower. Linux would grow it in several steps, each of which may take 10 ms in a
    /// process with several threads. Ignores errors.
    pub fn reserve_descriptors(&self, count: usize) {
        let most = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        let number = most.map_or(count, |most| count.min(most.saturating_sub(1) as usize));
        // Closing the highest descriptor does not shrink the table.
        drop(rustix::io::fcntl_dupfd_cloexec(&*self.0, number as i32));
    }

    /// Returns the free space for unprivileged users in bytes, if the file system reports it.
    pub fn free_space(&self) -> Option<u64> {
        let found = rustix::fs::fstatvfs(&*self.0).ok()?;
        // Some file systems report no blocks.
        (found.f_blocks > 0).then(|| found.f_bavail.saturating_mul(found.f_frsize))
    }
}

/// Returns the path of an open descriptor in /proc.
fn descriptor_path(file: &File) -> String {
    use std::os::fd::AsRawFd;
    format!("/proc/self/fd/{}", file.as_raw_fd())
}
