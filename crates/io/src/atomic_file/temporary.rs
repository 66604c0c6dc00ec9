//! Temporary names that files of this process have before their commit, and their removal when a
//! signal ends it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::{fs, io};

use linerate_core::lock;

use crate::folder::Folder;
use crate::leftovers::temporary_name;

/// The function that [`before_temporaries`] has set.
static PREPARE: OnceLock<fn()> = OnceLock::new();

/// Sets `prepare`, which is then called each time before an [`AtomicFile`](crate::AtomicFile) gets a
/// temporary name. It may start a thread that waits for signals and calls [`remove_temporaries`].
/// On Linux, where unnamed files are supported, a file has a temporary name only for a moment,
/// while its commit replaces another. Only the first call in a process sets a function; later calls
/// have no effect.
pub fn before_temporaries(prepare: fn()) {
    let _ = PREPARE.set(prepare);
}

/// Paths of the temporary files of this process's [`AtomicFile`]s that may exist. Locked while a
/// file is created, so that [`remove_temporaries`] does not miss it.
static TEMPORARIES: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

pub(super) fn temporaries() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    lock(&TEMPORARIES)
}

/// A temporary name beside the target. Dropping it removes the file if it still has this name.
#[derive(Debug)]
pub(super) struct Temporary {
    folder: Folder,
    pub(super) name: String,
    path: PathBuf,
}

impl Temporary {
    /// Makes a name in `folder`, which `folder_path` leads to, and calls `create` with it.
    pub(super) fn create<T>(
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

/// Removes the temporary files of all [`AtomicFile`](crate::AtomicFile)s of this process, and
/// ignores errors. Call this before a signal ends the program. While the returned guard lives,
/// threads that create or drop a temporary file wait. On Linux, files without a name can still be
/// created, and committed to new targets. A relative path is looked up in the current folder of this
/// moment.
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

    #[test]
    fn temporary_files_are_not_removed_while_one_is_created() {
        let folder = tempfile::tempdir().unwrap();
        let opened = Folder::existing(folder.path()).unwrap();
        let create = |_: &str| Ok(TEMPORARIES.try_lock().is_err());
        let (is_locked, _temporary) = Temporary::create(&opened, folder.path(), create).unwrap();
        assert!(is_locked);
    }
}
