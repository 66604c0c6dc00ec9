//! Mounts archives as read-only folders, through FUSE (Linux, feature `mount`).
//!
//! ```no_run
//! use linerate_nx::mount::{Mount, MountOptions};
//! use linerate_nx::shared::SharedArchive;
//! use linerate_nx::{Archive, FileSource};
//!
//! let archive = SharedArchive::new(Archive::open(FileSource::open("mods.nx")?)?)?;
//! let mount = Mount::new(&archive, "/mnt/mods", MountOptions::new().threads(2))?;
//! // ... any program reads /mnt/mods ...
//! mount.unmount()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The kernel's page cache keeps what was read. Other reads of compressed blocks go through the
//! [cache of decoded blocks](crate::shared::SharedCache). All files belong to the user who mounts.
//! Times, modes and links come from [`MountOptions::metadata`].
//!
//! Mounting needs `/dev/fuse`, and either root's rights or the program `fusermount3`. It does not
//! need libfuse.
//!
//! | module | content |
//! |---|---|
//! | `tree` | the folders, files and links as inodes |
//! | `filesystem` | answers the kernel's requests |

mod filesystem;
mod tree;

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::JoinHandle;
use std::time::SystemTime;

use fuser::{Config, MountOption, Session, SessionUnmounter};
use rustix::mount::UnmountFlags;
use rustix::process::{getgid, getuid};

use linerate_io::ReadAt;

use self::filesystem::ArchiveFs;
use self::tree::Tree;
use crate::metadata::Metadata;
use crate::shared::SharedArchive;

/// Options of a [`Mount`].
#[derive(Clone, Debug)]
pub struct MountOptions {
    threads: usize,
    name: String,
    modified: SystemTime,
    metadata: Option<Metadata>,
}

impl Default for MountOptions {
    fn default() -> Self {
        MountOptions {
            threads: 1,
            name: "linerate".to_owned(),
            modified: SystemTime::UNIX_EPOCH,
            metadata: None,
        }
    }
}

impl MountOptions {
    /// Creates options with one thread and no metadata.
    pub fn new() -> MountOptions {
        MountOptions::default()
    }

    /// Sets the number of threads that answer the kernel, at least one. Default: 1.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Sets the name of the source that `mount` and `df` show. Commas become `_`. Default:
    /// `linerate`.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into().replace(',', "_");
        self
    }

    /// Sets the modification time of everything without a time in the metadata. Default: 1970-01-01
    /// UTC.
    pub fn modified(mut self, modified: SystemTime) -> Self {
        self.modified = modified;
        self
    }

    /// Sets the times, modes, links and empty folders, usually from [`Metadata::from_archive`].
    /// Links that lead out of the folder are left out.
    pub fn metadata(mut self, metadata: Metadata) -> Self {
        self.metadata = Some(metadata);
        self
    }
}

/// An archive mounted on a folder. Dropping it unmounts it.
pub struct Mount {
    folder: PathBuf,
    unmounter: SessionUnmounter,
    /// `None` once the session was joined.
    session: Option<JoinHandle<io::Result<()>>>,
    left_out: u64,
}

impl Mount {
    /// Mounts an archive on an existing folder, which hides the folder's own files meanwhile.
    ///
    /// # Errors
    ///
    /// Returns [`io::ErrorKind::NotFound`] if the folder does not exist,
    /// [`io::ErrorKind::NotADirectory`] if it is a file, and another error if mounting fails, for
    /// instance without `/dev/fuse` or without the right to mount.
    pub fn new<S: ReadAt + 'static>(
        archive: &SharedArchive<S>,
        folder: impl AsRef<Path>,
        options: MountOptions,
    ) -> io::Result<Mount> {
        let tree = Tree::new(archive.archive(), options.metadata.as_ref(), options.modified);
        let left_out = tree.left_out;
        let owner = (getuid().as_raw(), getgid().as_raw());
        let filesystem = ArchiveFs::new(archive.clone(), tree, owner);
        let mut config = Config::default();
        config.mount_options = vec![
            MountOption::RO,
            MountOption::NoDev,
            MountOption::NoSuid,
            MountOption::NoAtime,
            MountOption::DefaultPermissions,
            MountOption::FSName(options.name),
            MountOption::Subtype("nx".to_owned()),
        ];
        config.n_threads = Some(options.threads);
        let folder = folder.as_ref().canonicalize()?;
        // The system would mount on a file, which no program can then list or open.
        if !folder.metadata()?.is_dir() {
            return Err(rustix::io::Errno::NOTDIR.into());
        }
        let mut session = Session::new(filesystem, &folder, &config)?;
        let unmounter = session.unmount_callable();
        let session =
            std::thread::Builder::new().name("linerate-mount".to_owned()).spawn(|| session.run())?;
        Ok(Mount { folder, unmounter, session: Some(session), left_out })
    }

    /// Number of files and links that the mount does not show: because their path is unsafe, taken,
    /// or below a file or link; because they are links that lead out of the folder; or because
    /// there are too many folders.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Whether the archive is still mounted. Other programs can unmount it, too.
    pub fn is_mounted(&self) -> bool {
        self.session.as_ref().is_some_and(|session| !session.is_finished())
    }

    /// Unmounts the archive. If programs have files open in it, it is detached: it disappears from
    /// the folder at once, and ends when they close the files or this process ends.
    ///
    /// # Errors
    ///
    /// Returns an error if unmounting fails.
    pub fn unmount(mut self) -> io::Result<()> {
        self.end()
    }

    fn end(&mut self) -> io::Result<()> {
        let Some(session) = self.session.take() else { return Ok(()) };
        if session.is_finished() || self.unmounter.unmount().is_ok() {
            return session
                .join()
                .unwrap_or_else(|_| Err(io::Error::other("a thread of the mount panicked")));
        }
        self.detach()
    }

    /// Detaches the mount from its folder, even if programs use it.
    fn detach(&self) -> io::Result<()> {
        match rustix::mount::unmount(&self.folder, UnmountFlags::DETACH) {
            Err(rustix::io::Errno::PERM) => {
                let status = Command::new("fusermount3").arg("-uz").arg("--").arg(&self.folder).status()?;
                if status.success() {
                    Ok(())
                } else {
                    Err(io::Error::other("fusermount3 could not unmount it"))
                }
            }
            result => Ok(result?),
        }
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // An error cannot be reported here. The folder can then no longer be read once this process
        // has ended.
        let _ = self.end();
    }
}
