//! Updates Nx archives from folders, and merges archives.

use std::collections::HashSet;
use std::ffi::{CStr, c_char};
use std::fs;
use std::path::{Path, PathBuf};

use linerate_nx::metadata::Metadata;
use linerate_nx::pack::{Builder, Changes, Clash, Walk};

use crate::border::{Name, checked_input, name, path_of, place, run, value_or};
use crate::error::{Call, linerate_error};
use crate::pack::{Work, linerate_pack_defaults, linerate_pack_options, linerate_pack_report, paths_of};

/// Changes the archive at path: deletes files, then adds the content of folders. Added files
/// replace files with the same path. If a path is a file in the archive and a folder in one of the
/// folders, or the other way round, that of the folders wins. deleted has paths in the archive: of
/// files, or of folders, which are deleted with everything in them. If the archive lacks one of
/// them, the function fails with LINERATE_BAD_ARGUMENT.
///
/// Blocks without a changed file are copied as they are, and the chunk size stays that of the old
/// archive, but at most 256 MiB; if that is less, all blocks are encoded again. The new archive is
/// written to target as by linerate_archive_pack, or replaces the old one if target is null. The
/// file that is replaced is locked during the call. If another process or another call is changing
/// it, the function fails with LINERATE_WRITE. On Windows, no linerate_archive may have it open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_archive_update(
    path: *const c_char,
    folders: *const *const c_char,
    folder_count: usize,
    deleted: *const *const c_char,
    deleted_count: usize,
    target: *const c_char,
    options: *const linerate_pack_options,
    report: *mut linerate_pack_report,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises.
        let (path, folders, deleted, mut options, report) = unsafe {
            (
                path_of(name!(path), path)?,
                paths_of(name!(folders), folders, folder_count)?,
                names_of(name!(deleted), deleted, deleted_count)?,
                value_or!(options, linerate_pack_defaults())?,
                place!(report)?,
            )
        };
        let target = match target.is_null() {
            true => {
                options.replace = 1;
                path.clone()
            }
            // SAFETY: the caller's promise.
            false => unsafe { path_of(name!(target), target) }?,
        };
        let update = Update { path, folders, deleted, target };
        report.write(Work::new(options).ticking(|work| work.update(&update))?);
        Ok(())
    })
}

/// Merges archives into a new one. clash is a linerate_clash. The new archive has the chunk size of
/// the preset or, with the default preset, that of the first archive, but at most 256 MiB. Archives
/// that have this chunk size keep their blocks, except for blocks with a file that the new archive
/// does not take from them. All other files are encoded again. The new archive is written to target
/// as by linerate_archive_pack; target must not be one of the archives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_archive_merge(
    archives: *const *const c_char,
    archive_count: usize,
    clash: i32,
    target: *const c_char,
    options: *const linerate_pack_options,
    report: *mut linerate_pack_report,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises.
        let (archives, target, options, report) = unsafe {
            (
                paths_of(name!(archives), archives, archive_count)?,
                path_of(name!(target), target)?,
                value_or!(options, linerate_pack_defaults())?,
                place!(report)?,
            )
        };
        if archives.is_empty() {
            return Err(linerate_error::bad_argument(c"no archive to merge"));
        }
        let clash = match clash {
            0 => Clash::Refuse,
            1 => Clash::First,
            2 => Clash::Last,
            _ => return Err(linerate_error::bad_argument(c"unknown choice for paths that clash")),
        };
        report.write(Work::new(options).ticking(|work| work.merge(&archives, clash, &target))?);
        Ok(())
    })
}

/// Converts the caller's array of C strings to paths in an archive, without slashes at their end.
///
/// # Safety
/// The requirements of [`paths_of`].
unsafe fn names_of(name: Name, at: *const *const c_char, count: usize) -> Call<HashSet<String>> {
    let not_utf8 = linerate_error::bad_argument(c"a path that is not UTF-8");
    // SAFETY: the caller's promise.
    let names = unsafe { checked_input(name, at, count) }?;
    let names = names.iter().map(|text| {
        if text.is_null() {
            return Err(linerate_error::bad_argument(name.null));
        }
        // SAFETY: the caller's promise.
        let text = unsafe { CStr::from_ptr(*text) }.to_str().map_err(|_| not_utf8)?;
        Ok(text.trim_end_matches('/').to_owned())
    });
    names.collect()
}

/// Arguments of an update.
struct Update {
    path: PathBuf,
    folders: Vec<PathBuf>,
    /// Paths of files and folders to delete, without slashes at their end.
    deleted: HashSet<String>,
    target: PathBuf,
}

impl Update {
    /// Returns the entries of `deleted` that delete a path: folders above it, and the path itself.
    fn deleting<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a str> {
        let folders = path.match_indices('/').map(|(at, _)| &path[..at]);
        folders.chain([path]).filter_map(move |path| self.deleted.get(path).map(String::as_str))
    }

    fn deletes(&self, path: &str) -> bool {
        self.deleting(path).next().is_some()
    }

    /// Returns an entry of `deleted` that deletes none of these paths, if there is one.
    fn missing<'a>(&'a self, paths: impl Iterator<Item = &'a str>) -> Option<&'a str> {
        let found: HashSet<&str> = paths.flat_map(|path| self.deleting(path)).collect();
        self.deleted.iter().map(String::as_str).find(|path| !found.contains(path))
    }
}

impl Work {
    fn update(&self, update: &Update) -> Call<linerate_pack_report> {
        let _lock = self.lock(&update.target)?;
        let archive = self.open(&update.path)?;
        let carried = self.carried(&archive, &update.path);
        let keeps = self.options.metadata != 0 || carried.is_some();
        let mut metadata = carried.unwrap_or_default();
        if let Some(path) = update.missing(archive.files().map(|file| file.path()).chain(metadata.others())) {
            let missing = linerate_error::bad_argument(c"the archive has no file of this path");
            return Err(self.tell(path, missing));
        }
        metadata.retain(|path| !update.deletes(path));
        let (own, prune) = ([&*update.path, &*update.target], |path: &str| self.prunes(path));
        let walk = |folder| self.walk(folder, &own, &prune).metadata(keeps);
        let walks: Vec<Walk<'_>> = update.folders.iter().map(|folder| walk(folder)).collect();
        let options = self.pack_options(None)?;
        let choose = |path: &str| self.options_of(path);
        let updated =
            Builder::update_all(options, &archive, &walks, choose, |file| !update.deletes(file.path()));
        let (mut builder, changes, skipped) = updated.map_err(|error| self.failed(&error))?;
        builder.metadata(metadata);
        self.leave_out(&skipped);
        // Windows cannot replace open files.
        drop(archive);
        self.write(builder, &update.target, &changes)
    }

    fn merge(&self, paths: &[PathBuf], clash: Clash, target: &Path) -> Call<linerate_pack_report> {
        let place = fs::canonicalize(target).ok();
        if paths.iter().any(|path| place.is_some() && fs::canonicalize(path).ok() == place) {
            let error = linerate_error::bad_argument(c"the target is one of the archives");
            return Err(self.tell(target, error));
        }
        let _lock = self.lock(target)?;
        let archives = paths.iter().map(|path| self.open(path)).collect::<Call<Vec<_>>>()?;
        let found = archives.iter().zip(paths);
        let found = found.map(|(archive, path)| self.carried(archive, path).unwrap_or_default()).collect();
        let chunk = archives.first().map(|archive| archive.header().chunk.bytes());
        let merged = Builder::merge(self.pack_options(chunk)?, &archives, clash);
        let mut builder = merged.map_err(|error| self.failed(&error))?;
        builder.metadata(Metadata::merged(&archives, found, clash));
        drop(archives);
        self.write(builder, target, &Changes::default())
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;

    use linerate_nx::Archive;
    use linerate_nx::pack::PackOptions;

    use super::*;

    #[test]
    fn deleting_a_folder_and_a_file_in_it_deletes_the_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.nx");
        let mut builder = Builder::new(PackOptions::default()).expect("defaults");
        for name in ["a/b", "a/c", "d"] {
            builder.add_bytes(name, name).expect("a new path");
        }
        builder.write(&path).expect("writable");
        let at = CString::new(path.to_str().expect("UTF-8")).expect("no zero");
        let (none, null) = (std::ptr::null(), std::ptr::null());
        let update = |deleted: &[&CStr]| {
            let deleted: Vec<*const c_char> = deleted.iter().map(|path| path.as_ptr()).collect();
            let mut report = std::mem::MaybeUninit::uninit();
            let (from, count, options) = (deleted.as_ptr(), deleted.len(), linerate_pack_defaults());
            // SAFETY: all pointers are valid during the call, or null where that is allowed.
            unsafe {
                let report = report.as_mut_ptr();
                linerate_archive_update(at.as_ptr(), none, 0, from, count, null, &options, report)
            }
        };
        let missing = update(&[c"a", c"a/e"]);
        assert_eq!(missing.kind, crate::error::linerate_kind::LINERATE_BAD_ARGUMENT as i32);
        assert_eq!(update(&[c"a/b", c"a", c"a/c/"]).kind, 0);
        let archive = Archive::open(fs::read(&path).expect("readable")).expect("an archive");
        assert_eq!(archive.files().map(|file| file.path()).collect::<Vec<_>>(), ["d"]);
    }
}
