//! Archives mounted as read-only folders, by FUSE (Linux, feature `mount`).
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
//! The kernel keeps what was read in its page cache; beyond that, reads go through the
//! [cache of decoded blocks](crate::shared::SharedCache). Everything belongs to the user who mounts. Times, modes and links
//! are those of the archive's [metadata](crate::metadata), if it has any.
//!
//! Mounting takes `/dev/fuse`, and root's rights or the program `fusermount3`. No libfuse is needed.
//!
//! | module | content |
//! |---|---|
//! | `tree` | folders, files and links as inodes |
//! | `filesystem` | the requests of the kernel |

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
    /// One thread, and no metadata.
    pub fn new() -> MountOptions {
        MountOptions::default()
    }

    /// Sets the number of threads that answer the kernel, at least one. Default: 1.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Sets the name of the source that `mount` and `df` show, without commas. Default: `linerate`.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into().replace(',', "_");
        self
    }

    /// Sets the modification time of what has none in the metadata. Default: 1970.
    pub fn modified(mut self, modified: SystemTime) -> Self {
        self.modified = modified;
        self
    }

    /// Sets times, modes, links and empty folders, as from [`Metadata::from_archive`]. Links that lead out of the folder are
    /// left out.
    pub fn metadata(mut self, metadata: Metadata) -> Self {
        self.metadata = Some(metadata);
        self
    }
}

/// An archive mounted on a folder. Dropping it unmounts it.
pub struct Mount {
    folder: PathBuf,
    unmounter: SessionUnmounter,
    /// `None` once it was joined.
    session: Option<JoinHandle<io::Result<()>>>,
    left_out: u64,
}

impl Mount {
    /// Mounts an archive on an existing folder.
    ///
    /// # Errors
    ///
    /// Those of mounting: no `/dev/fuse`, no right, no such folder.
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
        let mut session = Session::new(filesystem, &folder, &config)?;
        let unmounter = session.unmount_callable();
        let session =
            std::thread::Builder::new().name("linerate-mount".to_owned()).spawn(|| session.run())?;
        Ok(Mount { folder, unmounter, session: Some(session), left_out })
    }

    /// Files and links that the mount does not show: of unsafe or equal paths, and links that lead out.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Whether it is mounted still: others may unmount it, too.
    pub fn is_mounted(&self) -> bool {
        self.session.as_ref().is_some_and(|session| !session.is_finished())
    }

    /// Unmounts. While programs have files open in it, it is detached: it is no longer seen, and ends when they close them or
    /// this process ends.
    ///
    /// # Errors
    ///
    /// Those of unmounting.
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

    /// Takes the mount out of the tree of files, whoever uses it.
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
        // Nobody can be told; the system ends the mount with the process.
        let _ = self.end();
    }
}
