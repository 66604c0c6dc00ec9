//! Extracts files of an archive to a folder in parallel.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use linerate_core::lock;
use linerate_io::{Folder, Ownership, ReadAt, temporary_name, write_sparse_at};

use crate::error::{FileError, PathError};
use crate::format::paths::{check_name_here, folded_clashes, folder_clashes};
use crate::format::tree::{Existing, Location, Tree};
use crate::read::archive::{Archive, File};
use crate::read::destination::{Destination, Progress};
use crate::read::memory::check_limits;
use crate::read::parallel::{ReadOptions, read_files};

/// Result of an extraction.
#[derive(Debug, Default)]
pub struct Extracted {
    /// Number of files written.
    pub files: u64,
    /// Bytes written.
    pub bytes: u64,
    /// Paths in the archive that were skipped because a file exists at their output path.
    pub skipped: Vec<String>,
    /// Errors of files that were not written, sorted by path.
    pub failures: Vec<PathError>,
    /// Whether the progress callback or a full disk stopped the work, so that some files may not
    /// have been tried.
    pub stopped: bool,
}

/// Extracts files of an archive to a folder.
///
/// A file appears under its name when it is complete. Until then it has no name (`O_TMPFILE`), or a
/// [temporary name](linerate_io::temporary_name) in the same folder if the system does not support
/// that, the file is larger than a chunk, or it replaces another. Besides folders and complete
/// files, a killed run leaves only such temporary files, which the next extraction to the same
/// folders removes.
///
/// Runs of at least 16 KiB of zeros, in whole pages, become holes. If a file is replaced, the new
/// file gets its owner and permissions, as far as the process may set them. Symbolic links below
/// the folder are never followed. Paths that [`check_path`](crate::check_path) rejects are never
/// written; on Windows, neither are paths that are [not portable](crate::not_portable). Each thread
/// needs memory for one decoded and one compressed block, and for the content of a filtered block a
/// second time.
///
#[cfg_attr(feature = "pack", doc = "```")]
#[cfg_attr(not(feature = "pack"), doc = "```ignore")]
/// use linerate_nx::pack::{Builder, PackOptions};
/// use linerate_nx::{Archive, Existing, Extractor};
///
/// # let folder = tempfile::tempdir()?;
/// # let target = folder.path();
/// let mut builder = Builder::new(PackOptions::new())?;
/// builder.add_bytes("a.txt", "first")?;
/// builder.add_bytes("sub/b.txt", "second")?;
/// let archive = Archive::open(builder.to_bytes()?.0)?;
/// let done = Extractor::new(&archive).threads(2).existing(Existing::Replace).to_folder(target)?;
/// assert_eq!((done.files, done.failures.len()), (2, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Extractor<'a, S> {
    archive: &'a Archive<S>,
    options: ReadOptions<'a>,
    existing: Existing,
    sync: bool,
    naming: Option<Naming<'a>>,
}

type Naming<'a> = Box<dyn Fn(File<'_>) -> Option<String> + 'a>;

impl<'a, S: ReadAt> Extractor<'a, S> {
    /// Creates an extractor of all files that uses one thread, checks hashes, and replaces nothing.
    pub fn new(archive: &'a Archive<S>) -> Self {
        Extractor {
            archive,
            options: ReadOptions::default(),
            existing: Existing::Fail,
            sync: false,
            naming: None,
        }
    }

    /// Sets the number of threads, including the calling thread. Fewer are used if there are few
    /// blocks, or if the buffers of all threads would exceed [`crate::Limits::memory`]. Default: 1.
    pub fn threads(mut self, threads: usize) -> Self {
        self.options.threads = threads;
        self
    }

    /// Sets whether contents are checked against their hashes. Default: true.
    pub fn verify(mut self, verify: bool) -> Self {
        self.options.verify = verify;
        self
    }

    /// Sets what to do if a file exists. Default: [`Existing::Fail`].
    pub fn existing(mut self, existing: Existing) -> Self {
        self.existing = existing;
        self
    }

    /// Sets whether each file is flushed to the disk (fsync) before it gets its name, so that no
    /// file is incomplete after a power loss. This is slow for small files. Folders are not
    /// flushed. Default: false.
    pub fn sync(mut self, sync: bool) -> Self {
        self.sync = sync;
        self
    }

    /// Selects and renames files: `naming` returns the path of a file below the folder, or `None`
    /// to leave it out. The path is checked like a path of the archive.
    pub fn names(mut self, naming: impl Fn(File<'_>) -> Option<String> + 'a) -> Self {
        self.naming = Some(Box::new(naming));
        self
    }

    /// Calls `on_progress` after each block, from the thread that decoded or skipped it; `false`
    /// stops the work.
    pub fn on_progress(mut self, on_progress: impl Fn(&Progress) -> bool + Sync + 'a) -> Self {
        self.options.on_progress = Some(Box::new(on_progress));
        self
    }

    /// Extracts to `folder`, which is created if missing.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder cannot be created or examined, the disk has too little space
    /// (not checked with [`Existing::Replace`]), the files exceed the limits of the archive, or
    /// zstd does not support [`Limits::window_log`](crate::Limits::window_log). Errors of single
    /// files are in [`Extracted::failures`]; the other files are extracted.
    pub fn to_folder(&self, folder: impl AsRef<Path>) -> Result<Extracted, PathError> {
        let folder = folder.as_ref();
        let target = |error: FileError| PathError::new(&folder.to_string_lossy(), error);
        let root = Folder::create_all(folder).map_err(|e| target(e.into()))?;
        root.sweep();
        let chosen = self.choose(&root).map_err(|e| target(e.into()))?;
        let needed = check_limits(self.archive, &chosen.files).map_err(|e| target(e.into()))?;
        self.require_space(&root, needed).map_err(|e| target(e.into()))?;
        let disk = Disk::new(root, &chosen, self.existing, self.sync);
        let mut outcome =
            read_files(self.archive, &chosen.files, &disk, &self.options).map_err(|e| target(e.into()))?;
        let path_of = |number: usize| chosen.files[number].path().to_owned();
        let mut done = Extracted {
            skipped: outcome.skipped.iter().map(|&number| path_of(number)).collect(),
            failures: chosen.failures,
            stopped: outcome.stopped,
            files: disk.files.load(Ordering::Relaxed) as u64,
            bytes: disk.bytes(&chosen.files),
        };
        done.failures.extend(outcome.take_failures(&chosen.files));
        done.failures.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(done)
    }

    /// Selects files, and divides them into those that may be written and those that may not.
    fn choose(&self, root: &Folder) -> io::Result<Chosen<'a>> {
        let mut chosen = Chosen::default();
        for file in self.archive.files() {
            let path = match &self.naming {
                None => file.path().to_owned(),
                Some(naming) => match naming(file) {
                    Some(path) => path,
                    None => continue,
                },
            };
            match check_name_here(&path) {
                Ok(()) => {
                    chosen.files.push(file);
                    chosen.paths.push(path);
                }
                Err(message) => chosen.failures.push(PathError::new(file.path(), FileError::Path(message))),
            }
        }
        let paths: Vec<&str> = chosen.paths.iter().map(String::as_str).collect();
        let (groups, folded) = folded_clashes(paths.iter().copied());
        let folds = if groups.is_empty() && folded.is_empty() { false } else { folds_names(root)? };
        let in_the_way = if folds { folded } else { folder_clashes(paths.iter().copied()) };
        let in_the_way: HashSet<usize> = in_the_way.into_iter().map(|(file, _)| file).collect();
        let mut colliding = colliding(&groups, folds, &chosen.paths);
        colliding.retain(|number| !in_the_way.contains(number));
        chosen.refuse(&colliding, &in_the_way);
        Ok(chosen)
    }

    fn require_space(&self, root: &Folder, needed: u64) -> io::Result<()> {
        if self.existing == Existing::Replace {
            return Ok(());
        }
        match root.free_space() {
            Some(free) if free < needed => Err(io::Error::new(
                io::ErrorKind::StorageFull,
                format!("{needed} bytes are needed, {free} are free"),
            )),
            _ => Ok(()),
        }
    }
}

/// Returns the files whose name an earlier file has. `folds` says whether the file system ignores
/// case or Unicode normalization.
fn colliding(groups: &[Vec<usize>], folds: bool, paths: &[String]) -> HashSet<usize> {
    let mut colliding = HashSet::new();
    for group in groups {
        let mut taken = HashSet::new();
        for &number in group {
            if !taken.insert(&paths[number]) || folds && taken.len() > 1 {
                colliding.insert(number);
            }
        }
    }
    colliding
}

/// Whether the file system of a folder ignores case or Unicode normalization in names.
fn folds_names(root: &Folder) -> io::Result<bool> {
    let temp = temporary_name().replace(".tmp", "\u{e9}.tmp");
    if root.create(&temp).is_err() {
        // The file system rejects some names, so the test is inconclusive. Assume that it ignores
        // case.
        return Ok(true);
    }
    let folded = [temp.to_uppercase(), temp.replace('\u{e9}', "e\u{301}")];
    let found = folded.iter().try_fold(false, |found, name| Ok(found || root.exists(name)?));
    root.remove(&temp)?;
    found
}

#[derive(Default)]
struct Chosen<'a> {
    files: Vec<File<'a>>,
    /// The output path of each file.
    paths: Vec<String>,
    failures: Vec<PathError>,
}

impl Chosen<'_> {
    /// Moves files to the failures if another file, or a folder of other files, has the same name.
    fn refuse(&mut self, colliding: &HashSet<usize>, in_the_way: &HashSet<usize>) {
        for (i, file) in self.files.iter().enumerate() {
            let of = |refused: &HashSet<usize>, error| refused.contains(&i).then_some(error);
            let error = of(colliding, FileError::Collision).or(of(in_the_way, FileError::Folder));
            self.failures.extend(error.map(|error| PathError::new(file.path(), error)));
        }
        let is_refused = |i: usize| colliding.contains(&i) || in_the_way.contains(&i);
        let mut i = 0..;
        self.files.retain(|_| i.next().is_some_and(|i| !is_refused(i)));
        let mut i = 0..;
        self.paths.retain(|_| i.next().is_some_and(|i| !is_refused(i)));
    }
}

/// Number of open chunked files above which a file is closed after each write. At most this many,
/// and one for each thread, are open at once.
const MAX_OPEN: usize = 64;

/// A folder as a destination.
struct Disk {
    tree: Tree,
    locations: Vec<Location>,
    existing: Existing,
    sync: bool,
    sizes: Vec<u64>,
    /// The files that have several chunks.
    chunked: HashMap<usize, Mutex<ChunkedFile>>,
    open: AtomicUsize,
    files: AtomicUsize,
    written: Vec<AtomicBool>,
    /// Whether files without names have worked so far.
    unnamed: AtomicBool,
}

#[derive(Default)]
struct ChunkedFile {
    state: ChunkedState,
    /// The temporary name of the file.
    temp: String,
    /// The ownership of the file that it replaces.
    ownership: Option<Ownership>,
    file: Option<Arc<fs::File>>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum ChunkedState {
    #[default]
    New,
    Created,
    Closed,
}

impl Disk {
    fn new(root: Folder, chosen: &Chosen<'_>, existing: Existing, sync: bool) -> Disk {
        let (tree, locations) = Tree::new(root, chosen.paths.iter().map(String::as_str));
        let chunked = chosen.files.iter().enumerate().filter(|(_, file)| file.is_chunked());
        Disk {
            tree,
            locations,
            existing,
            sync,
            sizes: chosen.files.iter().map(File::size).collect(),
            chunked: chunked.map(|(i, _)| (i, Mutex::default())).collect(),
            open: AtomicUsize::new(0),
            files: AtomicUsize::new(0),
            written: chosen.files.iter().map(|_| false.into()).collect(),
            unnamed: AtomicBool::new(true),
        }
    }

    /// Returns the bytes of the files that were written.
    fn bytes(&self, files: &[File<'_>]) -> u64 {
        let written = files.iter().zip(&self.written).filter(|(_, written)| written.load(Ordering::Relaxed));
        written.map(|(file, _)| file.size()).sum()
    }

    fn folder(&self, file: usize) -> io::Result<Folder> {
        self.tree.folder(self.locations[file].folder)
    }

    /// Returns the ownership of the file that will be replaced, if there is one.
    fn replaced(&self, folder: &Folder, file: usize) -> io::Result<Option<Ownership>> {
        match self.existing {
            Existing::Replace => folder.ownership(&self.locations[file].name),
            Existing::Fail | Existing::Skip => Ok(None),
        }
    }

    /// Creates a file with a temporary name. If it will replace another file, only its owner can
    /// access it until it is complete.
    fn create(&self, folder: &Folder, temp: &str, replaces: bool) -> io::Result<fs::File> {
        if replaces { folder.create_private(temp) } else { folder.create(temp) }
    }

    /// Sets the ownership, if one is given, and flushes, if `sync` is set, before the file gets its
    /// name.
    fn complete(&self, open: &fs::File, ownership: Option<&Ownership>) -> io::Result<()> {
        if let Some(ownership) = ownership {
            ownership.apply(open)?;
        }
        if self.sync { open.sync_all() } else { Ok(()) }
    }

    fn rename(&self, folder: &Folder, file: usize, temp: &str) -> Result<(), FileError> {
        let replace = self.existing == Existing::Replace;
        match folder.commit(temp, &self.locations[file].name, replace) {
            Ok(()) => {
                self.count(file);
                Ok(())
            }
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists && !replace => Err(FileError::Exists),
            Err(e) => Err(e.into()),
        }
    }

    fn count(&self, file: usize) {
        self.files.fetch_add(1, Ordering::Relaxed);
        self.written[file].store(true, Ordering::Relaxed);
    }

    /// Writes a file that has no name until it is complete. This changes the folder once instead of
    /// twice, and a killed run leaves nothing. Returns whether the file got its name; if not, a
    /// file of this name exists and is to be replaced, or files without names do not work here, and
    /// are not tried again.
    fn write_unnamed(&self, folder: &Folder, file: usize, bytes: &[u8]) -> Result<bool, FileError> {
        let unnamed = || self.unnamed.load(Ordering::Relaxed).then(|| folder.create_unnamed()).flatten();
        let Some(out) = unnamed() else {
            self.unnamed.store(false, Ordering::Relaxed);
            return Ok(false);
        };
        self.write_content(&out, bytes)?;
        self.complete(&out, None)?;
        match folder.link(&out, &self.locations[file].name) {
            Ok(()) => {
                self.count(file);
                Ok(true)
            }
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => match self.existing {
                Existing::Replace => Ok(false),
                Existing::Fail | Existing::Skip => Err(FileError::Exists),
            },
            Err(_) => {
                self.unnamed.store(false, Ordering::Relaxed);
                Ok(false)
            }
        }
    }

    /// Writes a file under a temporary name, and renames it.
    fn write_named(
        &self,
        folder: &Folder,
        file: usize,
        bytes: &[u8],
        replaced: Option<Ownership>,
    ) -> Result<(), FileError> {
        let temp = temporary_name();
        let out = self.create(folder, &temp, replaced.is_some())?;
        let result = self.write_content(&out, bytes).and_then(|()| self.complete(&out, replaced.as_ref()));
        drop(out);
        let result = result.map_err(FileError::from).and_then(|()| self.rename(folder, file, &temp));
        if result.is_err() {
            // The first error matters more than an error of the cleanup.
            let _ = folder.remove(&temp);
        }
        result
    }

    fn write_content(&self, out: &fs::File, bytes: &[u8]) -> io::Result<()> {
        match write_sparse_at(out, bytes, 0)? {
            true => out.set_len(bytes.len() as u64),
            false => Ok(()),
        }
    }

    fn chunked_file(&self, file: usize) -> MutexGuard<'_, ChunkedFile> {
        // Every chunked file has an entry.
        lock(&self.chunked[&file])
    }

    /// Opens a chunked file, or returns `None` if it has failed in the meantime.
    fn open_chunked(&self, file: usize) -> io::Result<Option<Arc<fs::File>>> {
        let mut chunked = self.chunked_file(file);
        if let Some(open) = &chunked.file {
            return Ok(Some(Arc::clone(open)));
        }
        let folder = match chunked.state {
            ChunkedState::Closed => return Ok(None),
            _ => self.folder(file)?,
        };
        let open = if chunked.state == ChunkedState::New {
            chunked.temp = temporary_name();
            chunked.ownership = self.replaced(&folder, file)?;
            let created = self.create(&folder, &chunked.temp, chunked.ownership.is_some())?;
            chunked.state = ChunkedState::Created;
            // The ranges of the file are written in any order, and the last may be a hole.
            created.set_len(self.sizes[file])?;
            created
        } else {
            folder.reopen(&chunked.temp)?
        };
        let open = Arc::new(open);
        self.open.fetch_add(1, Ordering::Relaxed);
        chunked.file = Some(Arc::clone(&open));
        Ok(Some(open))
    }

    fn close(&self, chunked: &mut ChunkedFile) {
        if chunked.file.take().is_some() {
            self.open.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Destination for Disk {
    fn write_file(&self, file: usize, bytes: &[u8]) -> Result<(), FileError> {
        let folder = self.folder(file)?;
        let replaced = self.replaced(&folder, file)?;
        match replaced.is_none() && self.write_unnamed(&folder, file, bytes)? {
            true => Ok(()),
            false => self.write_named(&folder, file, bytes, replaced),
        }
    }

    fn write_range(&self, file: usize, offset: u64, bytes: &[u8]) -> Result<(), FileError> {
        let Some(open) = self.open_chunked(file)? else { return Ok(()) };
        write_sparse_at(&open, bytes, offset)?;
        if self.open.load(Ordering::Relaxed) > MAX_OPEN {
            self.close(&mut self.chunked_file(file));
        }
        Ok(())
    }

    fn commit(&self, file: usize) -> Result<(), FileError> {
        let ownership = self.chunked_file(file).ownership.clone();
        if (self.sync || ownership.is_some())
            && let Some(open) = self.open_chunked(file)?
        {
            self.complete(&open, ownership.as_ref())?;
        }
        let mut chunked = self.chunked_file(file);
        self.close(&mut chunked);
        self.rename(&self.folder(file)?, file, &chunked.temp)?;
        chunked.state = ChunkedState::Closed;
        Ok(())
    }

    fn discard(&self, file: usize) {
        let mut chunked = self.chunked_file(file);
        self.close(&mut chunked);
        if core::mem::replace(&mut chunked.state, ChunkedState::Closed) == ChunkedState::Created {
            // A file that cannot be removed keeps its temporary name.
            let _ = self.folder(file).and_then(|folder| folder.remove(&chunked.temp));
        }
    }

    fn skips(&self, file: usize) -> Result<bool, FileError> {
        let checks = match self.existing {
            Existing::Replace => false,
            Existing::Skip => true,
            // For other files, giving them their name fails if it exists.
            Existing::Fail => self.chunked.contains_key(&file),
        };
        if !checks || !self.folder(file)?.exists(&self.locations[file].name)? {
            return Ok(false);
        }
        match self.existing {
            Existing::Skip => Ok(true),
            _ => Err(FileError::Exists),
        }
    }
}
