//! Packs folders into Nx archives. Also has what all functions that write archives share: their
//! options, their report, and `Work`, which is one call. The other functions are in `pack_update`.

use std::borrow::Cow;
use std::cell::Cell;
use std::ffi::{c_char, c_void};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use linerate_core::{Error, Kind};
use linerate_io::{Lock, LockError, Wait};
use linerate_nx::metadata::Metadata;
use linerate_nx::pack::{
    Builder, CancelToken, Changes, Coding, FileOptions, Filters, MAX_CHUNK, PRESETS, PackError, PackOptions,
    Preset, Skipped, Walk, Zstd,
};
use linerate_nx::{Archive, FileSource};

use crate::archive::linerate_failure_fn;
use crate::border::{Name, checked_input, name, path_of, place, run, value_or};
use crate::error::{Call, linerate_error};
use crate::reporter::{Reporter, Reporting};

/// Named settings for packing. The page docs/nx/pack.md compares their sizes and decoding speeds.
#[repr(i32)]
pub enum linerate_preset {
    /// The settings of the original Nx packer: blocks of 1 MiB, zstd 16 for files below 1 MiB,
    /// which share blocks, and zstd 9 for larger ones.
    LINERATE_PRESET_DEFAULT = 0,
    /// For archives that are kept and should be small: blocks of 16 MiB, zstd 16.
    LINERATE_PRESET_ARCHIVE = 1,
    /// For archives that must load fast, which decode fastest for their size: blocks of 1 MiB, zstd
    /// 12.
    LINERATE_PRESET_FAST_LOAD = 2,
    /// For random access to many small files: blocks of 128 KiB, zstd 12.
    LINERATE_PRESET_VFS = 3,
    /// For archives that are fetched over a network, whole or in part: blocks of 4 MiB, zstd 19.
    LINERATE_PRESET_WEB = 4,
}

/// The file that a merge takes if archives have different files under the same path.
#[repr(i32)]
pub enum linerate_clash {
    /// No file: the merge fails. It also fails if a path is a file in one archive and a folder in
    /// another. Files with the same size and hash do not clash.
    LINERATE_CLASH_REFUSE = 0,
    /// The file of the first archive.
    LINERATE_CLASH_FIRST = 1,
    /// The file of the last archive.
    LINERATE_CLASH_LAST = 2,
}

/// Progress of packing.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linerate_pack_progress {
    /// Number of blocks written so far.
    pub blocks: u64,
    /// Total number of blocks. It is 0 until blocks are encoded, because files are compared first.
    pub total_blocks: u64,
    /// Bytes of content encoded so far: those of written blocks, and of the encoded part of the
    /// blocks in work. Blocks that are copied from an archive count with their compressed bytes.
    pub bytes: u64,
    /// The value that bytes has at the end. It is 0 until blocks are encoded.
    pub total_bytes: u64,
    /// Compressed size of the blocks written so far, in bytes. The archive becomes larger than the
    /// sum of its blocks by its header, its tables and padding.
    pub written: u64,
}

/// A callback for the progress of packing. It is called every 100 milliseconds, after each block,
/// and once before the first block, even if the archive has no blocks. That call comes after all
/// calls of choose and, unless the function fails, of on_failure, so a program can cancel because of
/// what happened in these. The callback is called by the thread that called the library and by
/// threads of the library, but never by two at once. It is not called while the archive gets its
/// name, nor afterwards. No field is smaller than in an earlier call. Returning 0 cancels the work;
/// then the callback is not called again.
pub type linerate_pack_progress_fn =
    Option<unsafe extern "C" fn(context: *mut c_void, progress: *const linerate_pack_progress) -> i32>;

/// A callback that chooses what is packed. It is called once for each file, link, folder and device
/// that is found in a folder, by the thread that called the library. Returning 0 leaves that path
/// out; a folder is then left out with everything in it, and is not read. The path is relative to
/// the folder that is packed. It is UTF-8, in which bytes of a name that are not UTF-8 are
/// replaced. It has path_len bytes and no terminating zero. The path of a folder ends with a slash.
pub type linerate_choose_fn =
    Option<unsafe extern "C" fn(context: *mut c_void, path: *const c_char, path_len: usize) -> i32>;

/// Options of packing. linerate_pack_defaults fills them. Callbacks may call functions of this
/// library. They must neither throw nor jump out. No two of these callbacks run at the same time.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linerate_pack_options {
    /// The preset, a linerate_preset. Default: LINERATE_PRESET_DEFAULT.
    pub preset: i32,
    /// zstd level of all blocks, -5 to 22, or 0 for the levels of the preset. Default: 0.
    pub level: i32,
    /// Number of threads, including the calling one. 0 counts as 1. The archive does not depend on
    /// this number. Default: 1.
    pub threads: u32,
    /// If not 0, an existing target is replaced; otherwise it is an error. An update without a
    /// target replaces the archive in any case. Default: 0.
    pub replace: u8,
    /// If not 0, blocks with textures are filtered if that makes them smaller; with
    /// LINERATE_PRESET_FAST_LOAD and LINERATE_PRESET_VFS, decoding time counts too. Only Linerate
    /// reads archives with filtered blocks. Default: 0.
    pub filters: u8,
    /// If not 0, times, modes, links and empty folders are stored too; other programs ignore them.
    /// An update stores them in any case if the archive has them, and a merge keeps those of its
    /// archives, whatever this option says. Default: 0.
    pub metadata: u8,
    /// If not 0, files, folders and links are left out if no archive can hold their name, or the
    /// target of the link; otherwise they are an error. Default: 0.
    pub skip_bad_names: u8,
    /// Chooses what is packed from folders. If null, everything is. A merge does not call it.
    pub choose: linerate_choose_fn,
    /// Called with the progress. May be null.
    pub on_progress: linerate_pack_progress_fn,
    /// Called for everything that cannot be packed and is left out: devices, bad names, damaged
    /// metadata of an archive and, unless metadata is stored, links. Also called for the file or
    /// folder that an error concerns, before the function returns that error, and for both files if
    /// an archive can hold only one of them. The path is that on the disk or, for a file of an
    /// archive, that in the archive. May be null.
    pub on_failure: linerate_failure_fn,
    /// The first argument of choose, on_progress and on_failure.
    pub context: *mut c_void,
}

/// Result of packing, updating or merging. All fields except left_out and removed describe the new
/// archive. The last four are 0 unless the call was an update.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linerate_pack_report {
    /// Number of files.
    pub files: u64,
    /// Bytes of content of all files.
    pub bytes: u64,
    /// Size of the archive in bytes.
    pub archive_bytes: u64,
    /// Number of files that take no space, because another file, or a part of one, has the same
    /// content.
    pub shared_files: u64,
    /// Number of files, folders, links, devices and damaged metadata that could not be packed and
    /// were left out. on_failure was called for each of them. Paths that choose left out do not
    /// count.
    pub left_out: u64,
    /// For an update, the number of files in the folders that the old archive did not have.
    pub added: u64,
    /// For an update, the number of files in the folders that the old archive had with other
    /// content.
    pub replaced: u64,
    /// For an update, the number of files in the folders that the old archive had with the same
    /// content.
    pub unchanged: u64,
    /// For an update, the number of files of the old archive that the new one does not have.
    pub removed: u64,
}

/// Returns the default options.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_pack_defaults() -> linerate_pack_options {
    linerate_pack_options {
        preset: linerate_preset::LINERATE_PRESET_DEFAULT as i32,
        level: 0,
        threads: 1,
        replace: 0,
        filters: 0,
        metadata: 0,
        skip_bad_names: 0,
        choose: None,
        on_progress: None,
        on_failure: None,
        context: std::ptr::null_mut(),
    }
}

/// Packs the content of folders into an archive. The path of a file in the archive is its path in
/// the folder. The function fails with LINERATE_BAD_ARGUMENT if two folders have a file of the same
/// path, or if one has a file where another has a folder, or if there is no folder. A target that
/// lies in one of the folders is not packed.
///
/// The archive gets its name, and the owner and permissions of the file that it replaces, when it
/// is complete. The file that is replaced is locked during the call. If another process or another
/// call is changing it, or if on_progress cancels the work, the function fails with LINERATE_WRITE.
/// After an error no temporary file is left, and an existing target is unchanged, unless the error
/// is that of the last step, which flushes the new archive's name to the disk.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_archive_pack(
    folders: *const *const c_char,
    folder_count: usize,
    target: *const c_char,
    options: *const linerate_pack_options,
    report: *mut linerate_pack_report,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises.
        let (folders, target, options, report) = unsafe {
            (
                paths_of(name!(folders), folders, folder_count)?,
                path_of(name!(target), target)?,
                value_or!(options, linerate_pack_defaults())?,
                place!(report)?,
            )
        };
        // Without this check, an empty archive would replace the target.
        if folders.is_empty() {
            return Err(linerate_error::bad_argument(c"no folder to pack"));
        }
        report.write(Work::new(options).ticking(|work| work.pack(&folders, &target))?);
        Ok(())
    })
}

/// Converts the caller's array of C strings to paths.
///
/// # Safety
/// `at` is null or points to `count` pointers, each of which is null or points to a C string.
pub(crate) unsafe fn paths_of(name: Name, at: *const *const c_char, count: usize) -> Call<Vec<PathBuf>> {
    // SAFETY: the caller's promise.
    unsafe { checked_input(name, at, count)?.iter().map(|path| path_of(name, *path)).collect() }
}

/// Interval at which progress is reported, in addition to the reports after blocks.
const TICK: Duration = Duration::from_millis(100);

/// One call of a function that writes an archive: its options, and what its callbacks need.
pub(crate) struct Work {
    pub(crate) options: linerate_pack_options,
    cancel: CancelToken,
    reporter: Option<Arc<Reporter>>,
    /// The number of paths left out so far, for [`linerate_pack_report::left_out`].
    left_out: Cell<u64>,
}

impl Work {
    pub(crate) fn new(options: linerate_pack_options) -> Work {
        let cancel = CancelToken::default();
        let reporter = |call| Arc::new(Reporter::new(call, options.context, cancel.clone()));
        Work { reporter: options.on_progress.map(reporter), options, cancel, left_out: Cell::new(0) }
    }

    /// Runs `work` while another thread reports the progress every [`TICK`], so that the caller can
    /// cancel while files are compared or a large block is encoded.
    pub(crate) fn ticking<T>(self, work: impl FnOnce(&Work) -> T) -> T {
        let Some(reporter) = self.reporter.clone() else { return work(&self) };
        let (end, ended) = channel::<()>();
        thread::scope(|scope| {
            let tick = move || {
                while ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                    reporter.tell(None);
                }
            };
            // If the system cannot start the thread, progress is reported only after blocks.
            let _ = thread::Builder::new().spawn_scoped(scope, tick);
            let result = work(&self);
            drop(end);
            result
        })
    }

    fn pack(&self, folders: &[PathBuf], target: &Path) -> Call<linerate_pack_report> {
        let _lock = self.lock(target)?;
        let mut builder = Builder::new(self.pack_options(None)?).map_err(|error| self.failed(&error))?;
        let (own, prune) = ([target], |path: &str| self.prunes(path));
        for folder in folders {
            let walk = self.walk(folder, &own, &prune).metadata(self.options.metadata != 0);
            let added = builder.add_folder(walk, |path| self.options_of(path));
            self.leave_out(&added.map_err(|error| self.failed(&error))?);
        }
        self.write(builder, target, &Changes::default())
    }

    /// Writes the archive of `builder` to `target` and returns the report.
    pub(crate) fn write(
        &self,
        mut builder: Builder,
        target: &Path,
        changes: &Changes,
    ) -> Call<linerate_pack_report> {
        builder.replace(self.options.replace != 0);
        if let Some(reporting) = self.reporter.clone().map(Reporting) {
            // A caller whose other callbacks failed cancels here, even if there is no block.
            reporting.0.tell(None);
            builder.on_progress(move |progress| reporting.0.tell(Some(progress)));
        }
        let summary = builder.write(target).map_err(|error| self.failed(&error))?;
        Ok(linerate_pack_report {
            files: summary.files,
            bytes: summary.bytes,
            archive_bytes: summary.archive_bytes,
            shared_files: summary.shared_files,
            left_out: self.left_out.get(),
            added: changes.added.len() as u64,
            replaced: changes.replaced.len() as u64,
            unchanged: changes.unchanged,
            removed: changes.removed.len() as u64,
        })
    }

    /// Converts the caller's options to those of the engine. If the caller chose no preset, `chunk`
    /// replaces the default chunk size; it is in bytes.
    pub(crate) fn pack_options(&self, chunk: Option<u64>) -> Call<PackOptions> {
        let unknown = linerate_error::bad_argument(c"unknown preset");
        let number = usize::try_from(self.options.preset).map_err(|_| unknown)?;
        let preset = number.checked_sub(1).map(|number| PRESETS.get(number).ok_or(unknown)).transpose()?;
        let mut options = preset.map_or_else(PackOptions::default, Preset::options);
        if let Some(chunk) = chunk.filter(|_| preset.is_none()) {
            options = options.chunk(chunk.min(MAX_CHUNK));
        }
        if self.options.level != 0 {
            for coding in [&mut options.solid, &mut options.chunked] {
                if let Coding::Zstd(zstd) = coding {
                    *coding = Coding::Zstd(Zstd { level: self.options.level, ..*zstd });
                }
            }
            options.textures = None;
        }
        if self.options.filters != 0 {
            options.filters = preset.map_or_else(Filters::all, Preset::filters);
        }
        options.threads = self.options.threads as usize;
        options.cancel = self.cancel.clone();
        Ok(options)
    }

    /// Locks the target if it may be replaced. Fails at once if another process or another call has
    /// locked it. Returns `None` without locking if the target may not be replaced.
    pub(crate) fn lock(&self, target: &Path) -> Call<Option<Lock>> {
        if self.options.replace == 0 {
            return Ok(None);
        }
        Lock::of_target(target, Wait::No).map_err(|error| {
            let error = match error {
                LockError::Io(error) => Error::from_io(Kind::Write, 0, "cannot lock the archive", &error),
                _ => Error::new(Kind::Write, 0, "another process is changing the archive"),
            };
            self.tell(target, error.into())
        })
    }

    /// Opens an existing archive. An error is also passed to the caller's `on_failure`.
    pub(crate) fn open(&self, path: &Path) -> Call<Arc<Archive<FileSource>>> {
        let source = FileSource::open(path)
            .map_err(|error| Error::from_io(Kind::Read, 0, "cannot open the archive", &error));
        let archive = source.and_then(Archive::open);
        archive.map(Arc::new).map_err(|error| self.tell(path, error.into()))
    }

    /// Returns the metadata of an archive, if it has any. Damaged metadata is left out, which is
    /// counted and reported.
    pub(crate) fn carried(&self, archive: &Archive<FileSource>, path: &Path) -> Option<Metadata> {
        Metadata::from_archive(archive).unwrap_or_else(|error| {
            self.tell(path, error.into());
            self.left_out.set(self.left_out.get() + 1);
            None
        })
    }

    /// Returns the walk through a folder. It leaves out the paths `own`, and the folders that
    /// `prune` selects.
    pub(crate) fn walk<'a>(
        &self,
        folder: &'a Path,
        own: &'a [&'a Path],
        prune: &'a dyn Fn(&str) -> bool,
    ) -> Walk<'a> {
        Walk::new(folder).leave_out(own).prune(prune).skip_bad_names(self.options.skip_bad_names != 0)
    }

    /// Whether the caller's `choose` leaves out a folder, whose path has no slash at its end here.
    pub(crate) fn prunes(&self, folder: &str) -> bool {
        !self.chooses(&format!("{folder}/"))
    }

    /// Returns the options of a file, or `None` if the caller leaves it out. Folders always have
    /// options, since [`prunes`](Self::prunes) has asked about them.
    pub(crate) fn options_of(&self, path: &str) -> Option<FileOptions> {
        (path.ends_with('/') || self.chooses(path)).then(FileOptions::default)
    }

    /// Asks the caller whether to pack a path.
    fn chooses(&self, path: &str) -> bool {
        let Some(choose) = self.options.choose else { return true };
        let _turn = self.reporter.as_deref().map(Reporter::turn);
        // SAFETY: the caller's promise: a function of its type, which accepts the context.
        unsafe { choose(self.options.context, path.as_ptr().cast(), path.len()) != 0 }
    }

    /// Reports and counts the paths that a walk through a folder has left out.
    pub(crate) fn leave_out(&self, skipped: &Skipped) {
        for (path, why) in skipped.iter() {
            self.tell(path, why.into());
            self.left_out.set(self.left_out.get() + 1);
        }
    }

    /// Passes the files that an error of packing concerns to the caller's `on_failure`, unless the
    /// work was cancelled. Returns the error for the caller.
    pub(crate) fn failed(&self, error: &PackError) -> linerate_error {
        let reason = error.reason().into();
        let files = error.other_file().into_iter().chain(error.file());
        for file in files.filter(|_| !error.is_cancelled()) {
            self.tell(file, reason);
        }
        reason
    }

    /// Passes an error of a path to the caller's `on_failure`, and returns it.
    pub(crate) fn tell(&self, path: impl AsRef<Path>, error: linerate_error) -> linerate_error {
        if let Some(call) = self.options.on_failure {
            let path = path.as_ref().as_os_str();
            // On Unix any bytes are a path. Elsewhere the callback gets UTF-8.
            let path = match cfg!(unix) {
                true => Cow::Borrowed(path.as_encoded_bytes()),
                false => Cow::Owned(path.to_string_lossy().into_owned().into_bytes()),
            };
            let _turn = self.reporter.as_deref().map(Reporter::turn);
            // SAFETY: the caller's promise: a function of its type, which accepts the context.
            unsafe { call(self.options.context, path.as_ptr().cast(), path.len(), error) };
        }
        error
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::ffi::{CStr, CString};
    use std::fs;
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

    use super::*;
    use crate::error::linerate_kind;
    use crate::pack_update::{linerate_archive_merge, linerate_archive_update};

    /// Context of callbacks that must not overlap.
    #[derive(Default)]
    struct Calls {
        /// Whether a callback is running.
        runs: AtomicBool,
        /// Whether two callbacks ran at once.
        overlap: AtomicBool,
        /// Number of calls of `on_progress`.
        progress: AtomicU32,
    }

    impl Calls {
        fn call(&self, work: impl FnOnce()) -> i32 {
            self.overlap.fetch_or(self.runs.swap(true, Ordering::SeqCst), Ordering::SeqCst);
            work();
            self.runs.store(false, Ordering::SeqCst);
            1
        }

        fn options(&self) -> linerate_pack_options {
            linerate_pack_options {
                choose: Some(choose),
                on_progress: Some(on_progress),
                context: std::ptr::from_ref(self).cast_mut().cast(),
                ..linerate_pack_defaults()
            }
        }
    }

    unsafe extern "C" fn choose(context: *mut c_void, _: *const c_char, _: usize) -> i32 {
        // SAFETY: `Calls::options` passes this context.
        unsafe { &*context.cast::<Calls>() }.call(|| thread::sleep(2 * TICK))
    }

    unsafe extern "C" fn on_progress(context: *mut c_void, _: *const linerate_pack_progress) -> i32 {
        // SAFETY: as in `choose`.
        let calls = unsafe { &*context.cast::<Calls>() };
        calls.call(|| {
            calls.progress.fetch_add(1, Ordering::SeqCst);
        })
    }

    #[test]
    fn slow_callbacks_never_overlap() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("in")).expect("writable");
        fs::write(folder.path().join("in/a"), b"some text").expect("writable");
        let path = |name| CString::new(folder.path().join(name).to_str().expect("UTF-8")).expect("no zero");
        let (from, target, calls) = (path("in"), path("a.nx"), Calls::default());
        let (options, mut report) = (calls.options(), std::mem::MaybeUninit::uninit());
        // SAFETY: all pointers are valid during the call.
        let error = unsafe {
            linerate_archive_pack(&from.as_ptr(), 1, target.as_ptr(), &options, report.as_mut_ptr())
        };
        assert_eq!(error.kind, 0);
        assert!(calls.progress.into_inner() > 0 && !calls.overlap.into_inner());
    }

    /// Context of callbacks that record their arguments.
    #[derive(Default)]
    struct Told {
        /// Paths that `choose` was called with.
        asked: RefCell<Vec<String>>,
        /// Paths and messages that `on_failure` was called with.
        failures: RefCell<Vec<(String, String)>>,
        /// A file or empty folder that `choose` deletes from the disk when it is called with its
        /// path.
        removes: PathBuf,
    }

    unsafe extern "C" fn removes(context: *mut c_void, path: *const c_char, len: usize) -> i32 {
        // SAFETY: `packed` passes this context, and the library a valid path.
        let (told, path) =
            unsafe { (&*context.cast::<Told>(), std::slice::from_raw_parts(path.cast(), len)) };
        let path = std::str::from_utf8(path).expect("UTF-8");
        if told.removes.ends_with(path) {
            let _ = fs::remove_file(&told.removes).or_else(|_| fs::remove_dir(&told.removes));
        }
        told.asked.borrow_mut().push(path.to_owned());
        1
    }

    unsafe extern "C" fn fails(context: *mut c_void, path: *const c_char, len: usize, error: linerate_error) {
        // SAFETY: as in `removes`; messages are C strings that live for ever.
        let (told, path, message) = unsafe {
            let path = std::slice::from_raw_parts(path.cast(), len);
            (&*context.cast::<Told>(), path, CStr::from_ptr(error.message))
        };
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
        told.failures.borrow_mut().push((text(path), text(message.to_bytes())));
    }

    /// Packs `folders` to `target`, both relative to the folder `below`. Returns the message of the
    /// error, which is "no error" on success.
    fn packed(told: &Told, below: &Path, folders: &[&str], target: &str, metadata: bool) -> String {
        let path = |name: &str| {
            let path = if name.is_empty() { PathBuf::new() } else { below.join(name) };
            CString::new(path.to_str().expect("UTF-8")).expect("no zero")
        };
        let (folders, target): (Vec<CString>, _) =
            (folders.iter().map(|name| path(name)).collect(), path(target));
        let folders: Vec<*const c_char> = folders.iter().map(|path| path.as_ptr()).collect();
        let options = linerate_pack_options {
            metadata: metadata.into(),
            choose: Some(removes),
            on_failure: Some(fails),
            context: std::ptr::from_ref(told).cast_mut().cast(),
            ..linerate_pack_defaults()
        };
        let mut report = std::mem::MaybeUninit::uninit();
        // SAFETY: all pointers are valid during the call; messages are C strings that live for
        // ever.
        let message = unsafe {
            let (at, count) = (folders.as_ptr(), folders.len());
            let error = linerate_archive_pack(at, count, target.as_ptr(), &options, report.as_mut_ptr());
            CStr::from_ptr(error.message)
        };
        message.to_str().expect("UTF-8").to_owned()
    }

    /// Creates a folder with empty files of these paths.
    fn folder_with(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().expect("a parent")).expect("writable");
            fs::write(path, b"").expect("writable");
        }
        folder
    }

    #[test]
    fn clashing_files_are_both_reported_by_their_paths_on_the_disk() {
        let folder = folder_with(&["one/a/b", "two/a"]);
        for (folders, message) in [
            (["one", "two"], "the path is a folder of other files"),
            (["two", "one"], "a folder of the path is a file"),
        ] {
            let told = Told::default();
            assert_eq!(packed(&told, folder.path(), &folders, "a.nx", false), message);
            let mut failures = told.failures.into_inner();
            failures.sort();
            let file =
                |name| (folder.path().join(name).to_str().expect("UTF-8").to_owned(), message.to_owned());
            assert_eq!(failures, [file("one/a/b"), file("two/a")]);
        }
    }

    #[test]
    fn target_that_is_empty_or_a_folder_is_an_error_with_its_reason() {
        let folder = folder_with(&["in/a"]);
        for (target, message) in [("", "the target has no name"), ("o/", "the target is a folder")] {
            assert_eq!(packed(&Told::default(), folder.path(), &["in"], target, false), message);
        }
        assert_eq!(fs::read_dir(&folder).expect("readable").count(), 1);
    }

    #[test]
    fn file_or_folder_deleted_during_the_call_is_reported_and_nothing_is_written() {
        for (gone, told_of) in [("in/b", "in/b"), ("in/c/", "in/c")] {
            let folder = folder_with(&["in/a", "in/b"]);
            fs::create_dir(folder.path().join("in/c")).expect("writable");
            let told = Told { removes: folder.path().join(gone), ..Told::default() };
            assert_eq!(packed(&told, folder.path(), &["in"], "a.nx", false), "cannot read the file");
            let path = folder.path().join(told_of).to_str().expect("UTF-8").to_owned();
            assert_eq!(told.failures.into_inner(), [(path, "cannot read the file".to_owned())]);
            assert!(!folder.path().join("a.nx").exists());
        }
    }

    /// The paths that `on_failure` was called with, as bytes.
    #[cfg(target_os = "linux")]
    type Paths = RefCell<Vec<Vec<u8>>>;

    #[cfg(target_os = "linux")]
    unsafe extern "C" fn keeps_path(
        context: *mut c_void,
        path: *const c_char,
        len: usize,
        _: linerate_error,
    ) {
        // SAFETY: the test passes this context, and the library a valid path.
        let (paths, path) =
            unsafe { (&*context.cast::<Paths>(), std::slice::from_raw_parts(path.cast::<u8>(), len)) };
        paths.borrow_mut().push(path.to_vec());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn name_that_is_not_utf8_is_reported_with_its_bytes_as_an_error_and_when_left_out() {
        use std::os::unix::ffi::OsStrExt;
        let folder = folder_with(&["a"]);
        let bad = folder.path().join(std::ffi::OsStr::from_bytes(b"b\xff"));
        fs::write(&bad, b"").expect("writable");
        let bytes = |path: &Path| CString::new(path.as_os_str().as_bytes()).expect("no zero");
        let (from, target) = (bytes(folder.path()), bytes(&folder.path().join("a.nx")));
        for (skip_bad_names, kind) in [(0, linerate_kind::LINERATE_BAD_ARGUMENT as i32), (1, 0)] {
            let paths = Paths::default();
            let options = linerate_pack_options {
                skip_bad_names,
                on_failure: Some(keeps_path),
                context: std::ptr::from_ref(&paths).cast_mut().cast(),
                ..linerate_pack_defaults()
            };
            let mut report = std::mem::MaybeUninit::uninit();
            // SAFETY: all pointers are valid during the call.
            let error = unsafe {
                linerate_archive_pack(&from.as_ptr(), 1, target.as_ptr(), &options, report.as_mut_ptr())
            };
            assert_eq!((error.kind, paths.into_inner()), (kind, vec![bytes(&bad).into_bytes()]));
        }
    }

    unsafe extern "C" fn cancels(_: *mut c_void, _: *const linerate_pack_progress) -> i32 {
        0
    }

    #[test]
    fn on_progress_cancels_even_if_the_new_archive_has_no_files() {
        let folder = folder_with(&[]);
        let path =
            |name: &str| CString::new(folder.path().join(name).to_str().expect("UTF-8")).expect("no zero");
        fs::create_dir(folder.path().join("in")).expect("writable");
        for name in ["from.nx", "to.nx"] {
            let mut builder = Builder::new(PackOptions::default()).expect("defaults");
            if name == "to.nx" {
                builder.add_bytes("a", *b"some text").expect("a new path");
            }
            builder.write(folder.path().join(name)).expect("writable");
        }
        let before = fs::read(folder.path().join("to.nx")).expect("written");
        let (empty, from, to, gone) = (path("in"), path("from.nx"), path("to.nx"), c"a".as_ptr());
        let options =
            linerate_pack_options { replace: 1, on_progress: Some(cancels), ..linerate_pack_defaults() };
        let (mut report, none) = (std::mem::MaybeUninit::uninit(), std::ptr::null());
        let (archive, target, report) = (from.as_ptr(), to.as_ptr(), report.as_mut_ptr());
        // SAFETY: all pointers are valid during the calls; a null pointer comes with a count of 0.
        let errors = unsafe {
            [
                linerate_archive_pack(&empty.as_ptr(), 1, target, &options, report),
                linerate_archive_update(target, none, 0, &gone, 1, std::ptr::null(), &options, report),
                linerate_archive_merge(&archive, 1, 0, target, &options, report),
            ]
        };
        // SAFETY: messages are C strings that live for ever.
        let messages = errors.map(|error| unsafe { CStr::from_ptr(error.message) }.to_str().expect("UTF-8"));
        assert_eq!(messages, ["cancelled before the archive was complete"; 3]);
        assert_eq!(fs::read(folder.path().join("to.nx")).expect("still there"), before);
    }

    #[test]
    fn choose_is_called_once_for_each_path() {
        let folder = folder_with(&["in/a", "in/b/c"]);
        for metadata in [false, true] {
            let told = Told::default();
            assert_eq!(
                packed(&told, folder.path(), &["in"], &format!("{metadata}.nx"), metadata),
                "no error"
            );
            let mut asked = told.asked.into_inner();
            asked.sort();
            assert_eq!(asked, ["a", "b/", "b/c"]);
        }
    }

    #[test]
    fn no_input_or_a_target_that_is_an_input_is_an_error_and_keeps_the_target() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = folder.path().join("a.nx");
        Builder::new(PackOptions::default()).expect("defaults").write(&target).expect("writable");
        let before = fs::read(&target).expect("written");
        let path = CString::new(target.to_str().expect("UTF-8")).expect("no zero");
        let options = linerate_pack_options { replace: 1, ..linerate_pack_defaults() };
        let (mut report, none) = (std::mem::MaybeUninit::uninit(), std::ptr::null());
        let (paths, report) = ([path.as_ptr()], report.as_mut_ptr());
        // SAFETY: all pointers are valid during the calls; a null pointer comes with a count of 0.
        let errors = unsafe {
            [
                linerate_archive_pack(none, 0, path.as_ptr(), &options, report),
                linerate_archive_merge(none, 0, 0, path.as_ptr(), &options, report),
                linerate_archive_merge(paths.as_ptr(), 1, 0, path.as_ptr(), &options, report),
            ]
        };
        // SAFETY: messages are C strings that live for ever.
        let messages = errors.map(|error| unsafe { CStr::from_ptr(error.message) }.to_str().expect("UTF-8"));
        assert_eq!(
            messages,
            ["no folder to pack", "no archive to merge", "the target is one of the archives"]
        );
        assert_eq!(fs::read(&target).expect("still there"), before);
    }

    #[test]
    fn progress_is_not_reported_once_it_can_no_longer_cancel() {
        let calls = Calls::default();
        let reporter = Work::new(calls.options()).reporter.expect("a callback");
        let reporting = Reporting(Arc::clone(&reporter));
        reporting.0.tell(None);
        drop(reporting);
        reporter.tell(None);
        assert_eq!(calls.progress.into_inner(), 1);
    }

    #[test]
    fn every_preset_of_the_engine_has_a_number() {
        let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
        // In `linerate_preset` these presets follow the default, 0, in this order.
        assert_eq!(names, ["archive", "fast-load", "vfs", "web"]);
    }
}
