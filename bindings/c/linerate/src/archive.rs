//! Nx archives: lists their files, reads them whole and in ranges, and extracts and verifies them
//! on several threads.

use std::ffi::{c_char, c_void};

use linerate_core::{Error, Kind};
use linerate_nx::shared::{SharedArchive, SharedCache, SharedOptions};
use linerate_nx::{
    Archive, Existing, Extractor, File, FileError, FileSource, PathError, Progress, ReadAt, Verifier,
};

use crate::border::{input, name, output, path_of, place, run, value_or};
use crate::error::{Call, linerate_error};
use crate::handles::Table;

/// An open archive with a cache of decoded blocks. Many threads may use it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linerate_archive {
    /// The handle.
    pub id: u64,
}

/// Options of an archive. linerate_archive_defaults fills them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linerate_archive_options {
    /// Size of the cache of decoded blocks, in bytes. Blocks that calls are using may exceed it.
    /// Default: 64 MiB.
    pub cache: u64,
    /// If not 0, linerate_archive_read verifies files against their hashes, and
    /// linerate_archive_read_range those of which it decodes all blocks. Default: 1.
    pub verify: u8,
    /// Reserved: 0.
    pub reserved: [u8; 7],
}

/// A file in an archive.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linerate_archive_file {
    /// Size of the content in bytes.
    pub size: u64,
    /// Hash of the content: XXH3-64, or XXH64 in archives whose header has version 0. 0 if has_hash
    /// is 0.
    pub hash: u64,
    /// Size of the path in bytes, without a terminating zero.
    pub path_len: usize,
    /// Not 0 if the archive stores a hash of this file, as every Nx archive does. If 0, reading the
    /// file does not verify its content.
    pub has_hash: u8,
    /// Reserved: 0.
    pub reserved: [u8; 7],
}

/// Progress of an extraction or verification.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linerate_archive_progress {
    /// Number of files done, including failed and skipped ones.
    pub files: u64,
    /// Bytes of content decoded so far.
    pub bytes: u64,
    /// Total number of files.
    pub total_files: u64,
    /// Total bytes of content.
    pub total_bytes: u64,
}

/// A callback for the progress of an extraction or verification. It is called after each block by
/// the thread that decoded the block, so several threads may call it at once. Returning 0 cancels
/// the work.
pub type linerate_progress_fn =
    Option<unsafe extern "C" fn(context: *mut c_void, progress: *const linerate_archive_progress) -> i32>;

/// A callback for each file that failed, and for what a packing function leaves out. It is called
/// by the thread that called the library. The path has path_len bytes and no terminating zero. It
/// is UTF-8 or, on Unix, any bytes for a path on the disk.
pub type linerate_failure_fn = Option<
    unsafe extern "C" fn(context: *mut c_void, path: *const c_char, path_len: usize, error: linerate_error),
>;

/// Treatment of a file of the archive if the folder already has a file of its path.
#[repr(i32)]
pub enum linerate_existing {
    /// The file of the archive is not extracted, and counts as a failure.
    LINERATE_EXISTING_FAIL = 0,
    /// The existing file is kept, and the file of the archive counts as skipped.
    LINERATE_EXISTING_SKIP = 1,
    /// The file of the archive replaces the existing one when it is completely written.
    LINERATE_EXISTING_REPLACE = 2,
}

/// Options of an extraction or verification. linerate_run_defaults fills them. Callbacks may call
/// functions of this library. They must neither throw nor jump out.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linerate_run_options {
    /// Number of threads, including the calling one. 0 counts as 1. Fewer are used for few blocks,
    /// and if the buffers of all would exceed 2 GiB. Default: 1.
    pub threads: u32,
    /// Treatment of files that already exist, a linerate_existing. Verification ignores it.
    /// Default: LINERATE_EXISTING_FAIL.
    pub existing: i32,
    /// If not 0, contents are verified against their hashes. If 0, they are only decoded. Default:
    /// 1.
    pub verify: u8,
    /// If not 0, each extracted file is flushed to the disk before it gets its name. Default: 0.
    pub sync: u8,
    /// Reserved: 0.
    pub reserved: [u8; 6],
    /// Called with the progress. May be null.
    pub on_progress: linerate_progress_fn,
    /// Called with each failure, at the end of the work. May be null.
    pub on_failure: linerate_failure_fn,
    /// The first argument of on_progress and on_failure.
    pub context: *mut c_void,
}

/// The result of an extraction or verification.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linerate_run_report {
    /// Number of files that were extracted or verified without an error.
    pub files: u64,
    /// Total size of the extracted or verified files in bytes.
    pub bytes: u64,
    /// Number of files that failed.
    pub failures: u64,
    /// Number of files that already existed and were kept. 0 for a verification.
    pub skipped: u64,
    /// Not 0 if on_progress or a full disk stopped the work before all files were done.
    pub stopped: u8,
    /// Reserved: 0.
    pub reserved: [u8; 7],
}

type Source = Box<dyn ReadAt>;

static ARCHIVES: Table<SharedArchive<Source>> = Table::new(12);

/// The `context` of a callback. Several threads pass it to the callback at the same time.
struct Context(*mut c_void);

// SAFETY: `linerate.h` tells the caller that several threads call back at once.
unsafe impl Sync for Context {}

impl Context {
    fn get(&self) -> *mut c_void {
        self.0
    }
}

impl From<&FileError> for linerate_error {
    fn from(error: &FileError) -> linerate_error {
        let plain = |kind, message| Error::new(kind, 0, message).into();
        match error {
            FileError::Archive(error) => (*error).into(),
            FileError::Output(error) => Error::from_io(Kind::Write, 0, "cannot write the file", error).into(),
            FileError::Path(message) | FileError::Link(message) => plain(Kind::Corrupt, message),
            FileError::Collision => plain(Kind::Corrupt, "another file of the archive has this name"),
            FileError::Folder => {
                plain(Kind::Corrupt, "other files of the archive are in a folder of this name")
            }
            FileError::Exists => plain(Kind::Write, "the file exists"),
            _ => linerate_error::internal(c"the file failed for a reason that has no name here"),
        }
    }
}

fn file_of(archive: &SharedArchive<Source>, index: usize) -> Call<File<'_>> {
    let missing = linerate_error::bad_argument(c"the archive has no file of this index");
    archive.archive().get(index).ok_or(missing)
}

fn open(source: Source, options: linerate_archive_options) -> Call<linerate_archive> {
    let shared = SharedOptions::new().cache(&SharedCache::new(options.cache)).verify(options.verify != 0);
    let archive = SharedArchive::with_options(Archive::open(source)?, shared)?;
    Ok(linerate_archive { id: ARCHIVES.insert(archive)? })
}

/// Returns the default options.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_archive_defaults() -> linerate_archive_options {
    linerate_archive_options { cache: SharedArchive::<Source>::CACHE, verify: 1, reserved: [0; 7] }
}

/// Opens an archive file, and reads its header and tables. On Windows the path is UTF-8. Allocates
/// tables of all files; the functions that read content allocate blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_archive_open(
    path: *const c_char,
    options: *const linerate_archive_options,
    archive: *mut linerate_archive,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises.
        let (path, options, archive) = unsafe {
            (path_of(name!(path), path)?, value_or!(options, linerate_archive_defaults())?, place!(archive)?)
        };
        let source = FileSource::open(path)
            .map_err(|error| Error::from_io(Kind::Read, 0, "cannot open the archive", &error))?;
        archive.write(open(Box::new(source), options)?);
        Ok(())
    })
}

/// Opens an archive that is in memory of the caller, which must not change until
/// linerate_archive_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_archive_open_memory(
    from: *const u8,
    len: usize,
    options: *const linerate_archive_options,
    archive: *mut linerate_archive,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises: the memory outlives the handle.
        let (bytes, options, archive) = unsafe {
            (input!(from, len)?, value_or!(options, linerate_archive_defaults())?, place!(archive)?)
        };
        archive.write(open(Box::new(bytes), options)?);
        Ok(())
    })
}

/// Frees an archive. Fails with LINERATE_BAD_ARGUMENT while another call is using it. Ignores one
/// whose id is 0.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_archive_free(archive: linerate_archive) -> linerate_error {
    run(|| ARCHIVES.free_unless_zero(archive.id))
}

/// Stores the number of files. The files have the indices from 0 to this number, exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_archive_count(
    archive: linerate_archive,
    count: *mut usize,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promise.
        let count = unsafe { place!(count) }?;
        count.write(ARCHIVES.share(archive.id)?.archive().len());
        Ok(())
    })
}

/// Stores the size, hash and path length of the file at an index.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_archive_get(
    archive: linerate_archive,
    index: usize,
    file: *mut linerate_archive_file,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promise.
        let place = unsafe { place!(file) }?;
        let archive = ARCHIVES.share(archive.id)?;
        let file = file_of(&archive, index)?;
        place.write(linerate_archive_file {
            size: file.size(),
            hash: file.hash().unwrap_or(0),
            path_len: file.path().len(),
            has_hash: file.hash().is_some().into(),
            reserved: [0; 7],
        });
        Ok(())
    })
}

/// Copies the path of the file at an index to out, in UTF-8 and with a terminating zero. That takes
/// one byte more than path_len of linerate_archive_get.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_archive_path(
    archive: linerate_archive,
    index: usize,
    out: *mut c_char,
    capacity: usize,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promise.
        let out: &mut [u8] = unsafe { output!(out: out.cast(), capacity) }?;
        let archive = ARCHIVES.share(archive.id)?;
        let path = file_of(&archive, index)?.path().as_bytes();
        let too_small = linerate_error::too_small(c"the output buffer is smaller than the path and a zero");
        let (out, zero) = out.get_mut(..=path.len()).ok_or(too_small)?.split_at_mut(path.len());
        out.copy_from_slice(path);
        zero[0] = 0;
        Ok(())
    })
}

/// Stores the index of the file with exactly this path, which is path_len bytes of UTF-8. Fails
/// with LINERATE_BAD_ARGUMENT if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_archive_find(
    archive: linerate_archive,
    path: *const c_char,
    path_len: usize,
    index: *mut usize,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises.
        let (path, index) = unsafe { (input!(path: path.cast::<u8>(), path_len)?, place!(index)?) };
        let archive = ARCHIVES.share(archive.id)?;
        let file = std::str::from_utf8(path).ok().and_then(|path| archive.archive().find(path));
        let missing = linerate_error::bad_argument(c"the archive has no file of this path");
        index.write(file.ok_or(missing)?.index());
        Ok(())
    })
}

/// Reads the whole file at an index into out, verifies it against its hash if the options of the
/// archive say so, and stores its size. Fails with LINERATE_OUTPUT_TOO_SMALL if capacity is smaller
/// than the file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_archive_read(
    archive: linerate_archive,
    index: usize,
    out: *mut u8,
    capacity: usize,
    written: *mut usize,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises.
        let (out, written) = unsafe { (output!(out, capacity)?, place!(written)?) };
        let archive = ARCHIVES.share(archive.id)?;
        written.write(archive.read_into(file_of(&archive, index)?, out)?);
        Ok(())
    })
}

/// Reads up to capacity bytes of the file at an index, from offset on, and stores the number read,
/// which is smaller than capacity only at the end of the file, and 0 beyond it. If the options of
/// the archive say so, verifies the hash of a file of which this call decodes all blocks, such as a
/// file of one block. No hash is verified otherwise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_archive_read_range(
    archive: linerate_archive,
    index: usize,
    offset: u64,
    out: *mut u8,
    capacity: usize,
    written: *mut usize,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises.
        let (out, written) = unsafe { (output!(out, capacity)?, place!(written)?) };
        let archive = ARCHIVES.share(archive.id)?;
        let mut file = archive.open_file(file_of(&archive, index)?)?;
        let mut done = 0;
        while done < out.len() {
            let n = file
                .read_at(offset.saturating_add(done as u64), &mut out[done..])
                .map_err(|error| Error::from_io(Kind::Read, 0, "cannot read the file", &error))?;
            if n == 0 {
                break;
            }
            done += n;
        }
        written.write(done);
        Ok(())
    })
}

/// Returns the default options.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_run_defaults() -> linerate_run_options {
    linerate_run_options {
        threads: 1,
        existing: linerate_existing::LINERATE_EXISTING_FAIL as i32,
        verify: 1,
        sync: 0,
        reserved: [0; 6],
        on_progress: None,
        on_failure: None,
        context: std::ptr::null_mut(),
    }
}

impl linerate_run_options {
    /// Returns the progress callback as a closure, or `None` if it is null.
    ///
    /// # Safety
    /// The callback is null, or a function of its type that accepts the context.
    unsafe fn progress(self) -> Option<impl Fn(&Progress) -> bool + Sync> {
        let (call, context) = (self.on_progress?, Context(self.context));
        Some(move |done: &Progress| {
            let Progress { files, bytes, total_files, total_bytes } = *done;
            let progress = linerate_archive_progress { files, bytes, total_files, total_bytes };
            // SAFETY: the caller's promise.
            (unsafe { call(context.get(), &progress) }) != 0
        })
    }

    /// Passes each failure to `on_failure`, unless that is null.
    ///
    /// # Safety
    /// `on_failure` is null, or a function of its type that accepts the context.
    unsafe fn report(self, failures: &[PathError]) {
        let Some(call) = self.on_failure else { return };
        for failure in failures {
            let error = linerate_error::from(&failure.source);
            // SAFETY: the caller's promise.
            unsafe { call(self.context, failure.path.as_ptr().cast(), failure.path.len(), error) };
        }
    }
}

/// Extracts all files to a folder, which is created if it is missing. Each file appears under its
/// name when it is complete. Files that fail are counted in the report and passed to on_failure;
/// all others are still extracted. The function itself fails, and extracts nothing, if the folder
/// cannot be created, if the disk has too little space (not checked for LINERATE_EXISTING_REPLACE),
/// if a file is larger than 1 TiB, or if the content is larger than 16 TiB or, above 16 GiB, than
/// 1000 times the archive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_archive_extract(
    archive: linerate_archive,
    folder: *const c_char,
    options: *const linerate_run_options,
    report: *mut linerate_run_report,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises.
        let (folder, options, report) = unsafe {
            (path_of(name!(folder), folder)?, value_or!(options, linerate_run_defaults())?, place!(report)?)
        };
        let existing = match options.existing {
            0 => Existing::Fail,
            1 => Existing::Skip,
            2 => Existing::Replace,
            _ => return Err(linerate_error::bad_argument(c"unknown choice for files that exist")),
        };
        let archive = ARCHIVES.share(archive.id)?;
        let mut extractor = Extractor::new(archive.archive())
            .threads(options.threads as usize)
            .verify(options.verify != 0)
            .sync(options.sync != 0)
            .existing(existing);
        // SAFETY: the caller's promise.
        if let Some(progress) = unsafe { options.progress() } {
            extractor = extractor.on_progress(progress);
        }
        let done = extractor.to_folder(folder).map_err(|error| linerate_error::from(&error.source))?;
        // SAFETY: the caller's promise.
        unsafe { options.report(&done.failures) };
        report.write(linerate_run_report {
            files: done.files,
            bytes: done.bytes,
            failures: done.failures.len() as u64,
            skipped: done.skipped.len() as u64,
            stopped: done.stopped.into(),
            reserved: [0; 7],
        });
        Ok(())
    })
}

/// Reads all files and, if the options say so, verifies them against their hashes. Files that fail
/// are counted in the report and passed to on_failure. The function itself fails if the content
/// exceeds the limits of linerate_archive_extract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_archive_verify(
    archive: linerate_archive,
    options: *const linerate_run_options,
    report: *mut linerate_run_report,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises.
        let (options, report) = unsafe { (value_or!(options, linerate_run_defaults())?, place!(report)?) };
        let archive = ARCHIVES.share(archive.id)?;
        let mut verifier =
            Verifier::new(archive.archive()).threads(options.threads as usize).hashes(options.verify != 0);
        // SAFETY: the caller's promise.
        if let Some(progress) = unsafe { options.progress() } {
            verifier = verifier.on_progress(progress);
        }
        let done = verifier.run()?;
        // SAFETY: the caller's promise.
        unsafe { options.report(&done.failures) };
        report.write(linerate_run_report {
            files: done.files,
            bytes: done.bytes,
            failures: done.failures.len() as u64,
            skipped: 0,
            stopped: done.stopped.into(),
            reserved: [0; 7],
        });
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_file_has_the_kind_of_its_reason_and_none_is_internal() {
        let reasons = [
            FileError::Archive(Error::new(Kind::Truncated, 7, "the block ends early")),
            FileError::Output(std::io::ErrorKind::StorageFull.into()),
            FileError::Path("the path is absolute"),
            FileError::Collision,
            FileError::Folder,
            FileError::Exists,
            FileError::Link("the target leads out of the folder"),
        ];
        for source in reasons {
            let kind = linerate_error::from(&source).kind;
            let failure = PathError { path: "a".into(), source };
            let expected = linerate_error::from(Error::new(failure.kind(), 0, "any")).kind;
            assert_eq!(kind, expected, "{failure}");
        }
    }
}
