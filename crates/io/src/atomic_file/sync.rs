//! Syncs the content of files that are committed together: with one syncfs for each file system, or
//! each file on its own.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::sync::Mutex;

use linerate_core::lock;

use super::{AtomicFile, Pending};

/// If this many files or more are to be synced, each file system is synced as a whole (syncfs),
/// since syncing each file would take a device flush per file. Several threads sync the files of
/// file systems without syncfs, or for which it may not report write errors.
const MANY: usize = 8;

/// Syncs the content of durable files that have not failed.
pub(super) fn sync_files(files: &[AtomicFile], results: &mut [io::Result<()>]) {
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
pub(super) fn copy_of(result: &io::Result<()>) -> io::Result<()> {
    match result {
        Ok(()) => Ok(()),
        Err(error) => Err(error.raw_os_error().map_or(error.kind().into(), io::Error::from_raw_os_error)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Existing, tests::written};
    use super::*;

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
}
