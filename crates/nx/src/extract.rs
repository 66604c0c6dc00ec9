//! Files of an archive into a folder, in parallel.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::ReadAt;
use crate::archive::{Archive, File};
use crate::error::{FileError, PathError};
use crate::parallel::{Destination, Progress, RunOptions, run};
use crate::paths::{check_path, collisions};
use crate::tree::{Place, Tree};
use linerate_io::{Folder, Ownership, temporary_name, write_all_at};

/// What to do where a file is already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Existing {
    /// Leave it; the file of the archive fails.
    #[default]
    Fail,
    /// Leave it; the file of the archive is passed over.
    Skip,
    /// Replace it, in one step, once the new content is there and right. A link is replaced, and
    /// what it leads to stays.
    Replace,
}

/// What was extracted.
#[derive(Debug, Default)]
pub struct Extracted {
    /// Files written.
    pub files: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Paths in the archive that were passed over because a file was there.
    pub skipped: Vec<String>,
    /// Files that were not written, by path.
    pub failures: Vec<PathError>,
    /// Whether the on_progress, or a full disk, stopped the work before all files were tried.
    pub stopped: bool,
}

/// Extracts files of an archive to a folder.
///
/// Files appear under their names when they are whole: a file is written under a
/// [temporary name](linerate_io::temporary_name) in the same folder, and renamed. What kills the process
/// leaves at most such names, which the next extraction to that folder removes. A file that is replaced
/// passes its owner and permissions to the new one. Links below the folder are never followed, and paths that [`check_path`] refuses are
/// never written. Memory is one block and its compressed form per thread.
///
/// ```
/// use linerate_nx::{Archive, Existing, Extractor, FileSource};
///
/// # let folder = tempfile::tempdir()?;
/// # let target = folder.path();
/// let archive = Archive::open(FileSource::open("../../testdata/nx/many.nx")?)?;
/// let done = Extractor::new(&archive).threads(2).existing(Existing::Replace).to_folder(target)?;
/// assert_eq!((done.files, done.failures.len()), (1500, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Extractor<'a, S> {
    archive: &'a Archive<S>,
    threads: usize,
    verifies: bool,
    existing: Existing,
    checks_room: bool,
    syncs: bool,
    naming: Option<Naming<'a>>,
    on_progress: Option<OnProgress<'a>>,
}

/// Told of progress; says whether to go on.
pub(crate) type OnProgress<'a> = Box<dyn Fn(&Progress) -> bool + Sync + 'a>;

type Naming<'a> = Box<dyn Fn(File<'_>) -> Option<String> + 'a>;

impl<'a, S: ReadAt> Extractor<'a, S> {
    /// Extracts all files with one thread, checks hashes, and fails where a file is already.
    pub fn new(archive: &'a Archive<S>) -> Self {
        Extractor {
            archive,
            threads: 1,
            verifies: true,
            existing: Existing::Fail,
            checks_room: true,
            syncs: false,
            naming: None,
            on_progress: None,
        }
    }

    /// How many threads work, the caller's among them. Fewer do where blocks are few, or larger
    /// than [`crate::Limits::memory`] holds at once.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Whether the hashes of contents are checked.
    pub fn verify(mut self, verifies: bool) -> Self {
        self.verifies = verifies;
        self
    }

    /// What to do where a file is already.
    pub fn existing(mut self, existing: Existing) -> Self {
        self.existing = existing;
        self
    }

    /// Whether to ask the system for free space first, and not begin without. It is not asked when
    /// files are replaced.
    pub fn check_free_space(mut self, checks: bool) -> Self {
        self.checks_room = checks;
        self
    }

    /// Whether each file reaches the device before it gets its name, so that a loss of power is
    /// like a kill. It is slow for small files; the folders themselves are left to the system.
    pub fn sync(mut self, syncs: bool) -> Self {
        self.syncs = syncs;
        self
    }

    /// Which files are wanted, and the path of each below the folder. The result is checked as
    /// paths of the archive are.
    pub fn names(mut self, naming: impl Fn(File<'_>) -> Option<String> + 'a) -> Self {
        self.naming = Some(Box::new(naming));
        self
    }

    /// Told of progress after each block, by the thread that did it; `false` stops the work.
    pub fn on_progress(mut self, on_progress: impl Fn(&Progress) -> bool + Sync + 'a) -> Self {
        self.on_progress = Some(Box::new(on_progress));
        self
    }

    /// Extracts to a folder, which is made if it is not there.
    ///
    /// # Errors
    ///
    /// What concerns no file by itself: the folder cannot be made, there is no room, or the files
    /// exceed the limits of the archive. What concerns files is in [`Extracted::failures`], and the
    /// other files come out.
    pub fn to_folder(&self, folder: impl AsRef<Path>) -> Result<Extracted, PathError> {
        let folder = folder.as_ref();
        let target = |error: FileError| PathError::new(&folder.to_string_lossy(), error);
        let root = Folder::create_all(folder).map_err(|e| target(e.into()))?;
        root.sweep();
        let chosen = self.choose(&root).map_err(|e| target(e.into()))?;
        let needed = crate::parallel::admit(self.archive, &chosen.files).map_err(|e| target(e.into()))?;
        self.room(&root, needed).map_err(|e| target(e.into()))?;
        let disk = Disk::new(root, &chosen, self.existing, self.syncs);
        let on_progress = self.on_progress.as_deref().map(|w| w as _);
        let terms = RunOptions { threads: self.threads, verifies: self.verifies, on_progress };
        let outcome = run(self.archive, &chosen.files, &disk, terms).map_err(|e| target(e.into()))?;
        let path_of = |number: usize| chosen.files[number].path().to_owned();
        let mut done = Extracted {
            skipped: outcome.declined.iter().map(|&number| path_of(number)).collect(),
            failures: chosen.failures,
            stopped: outcome.stopped,
            files: disk.files.load(Ordering::Relaxed) as u64,
            bytes: disk.bytes(&chosen.files),
        };
        let failed = outcome.failed.into_iter();
        done.failures.extend(failed.map(|(number, source)| PathError { path: path_of(number), source }));
        done.failures.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(done)
    }

    /// The files that are wanted and may be written, and those that may not.
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
            match check_path(&path) {
                Ok(()) => {
                    chosen.files.push(file);
                    chosen.paths.push(path);
                }
                Err(what) => chosen.failures.push(PathError::new(file.path(), FileError::Path(what))),
            }
        }
        let falling = self.falling_together(root, &chosen.paths)?;
        chosen.refuse(&falling);
        Ok(chosen)
    }

    /// Files whose name another file before them has, on the file system at hand.
    fn falling_together(&self, root: &Folder, paths: &[String]) -> io::Result<HashSet<usize>> {
        let groups = collisions(paths.iter().map(String::as_str));
        let mut falling = HashSet::new();
        let folds = if groups.is_empty() { false } else { folds_names(root)? };
        for group in groups {
            let mut taken = HashSet::new();
            for number in group {
                if !taken.insert(&paths[number]) || folds && taken.len() > 1 {
                    falling.insert(number);
                }
            }
        }
        Ok(falling)
    }

    fn room(&self, root: &Folder, needed: u64) -> io::Result<()> {
        if !self.checks_room || self.existing == Existing::Replace {
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

/// Whether names that differ in case or in Unicode form are one to the file system of a folder.
fn folds_names(root: &Folder) -> io::Result<bool> {
    let temp = temporary_name().replace(".tmp", "\u{e9}.tmp");
    if root.create(&temp).is_err() {
        // It does not take every name: nothing is known, so nothing is risked.
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
    /// Where each goes.
    paths: Vec<String>,
    failures: Vec<PathError>,
}

impl Chosen<'_> {
    /// Moves files to the failures.
    fn refuse(&mut self, refused: &HashSet<usize>) {
        let failed = self.files.iter().enumerate().filter(|(i, _)| refused.contains(i));
        self.failures.extend(failed.map(|(_, file)| PathError::new(file.path(), FileError::Collision)));
        let mut i = 0..;
        self.files.retain(|_| i.next().is_some_and(|i| !refused.contains(&i)));
        let mut i = 0..;
        self.paths.retain(|_| i.next().is_some_and(|i| !refused.contains(&i)));
    }
}

/// Larger files that are kept open at once.
const KEPT_OPEN: usize = 64;

/// A folder as a destination.
struct Disk {
    tree: Tree,
    places: Vec<Place>,
    existing: Existing,
    syncs: bool,
    sizes: Vec<u64>,
    /// Files that come in parts.
    parts: HashMap<usize, Mutex<Part>>,
    open: AtomicUsize,
    files: AtomicUsize,
    written: Vec<std::sync::atomic::AtomicBool>,
}

#[derive(Default)]
struct Part {
    state: State,
    /// Its name until it is whole.
    temp: String,
    /// That of the file that it replaces.
    ownership: Option<Ownership>,
    file: Option<Arc<fs::File>>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    New,
    Created,
    Closed,
}

impl Disk {
    fn new(root: Folder, chosen: &Chosen<'_>, existing: Existing, syncs: bool) -> Disk {
        let (tree, places) = Tree::of(root, chosen.paths.iter().map(String::as_str));
        let parts = chosen.files.iter().enumerate().filter(|(_, file)| file.is_chunked());
        Disk {
            tree,
            places,
            existing,
            syncs,
            sizes: chosen.files.iter().map(File::size).collect(),
            parts: parts.map(|(i, _)| (i, Mutex::default())).collect(),
            open: AtomicUsize::new(0),
            files: AtomicUsize::new(0),
            written: chosen.files.iter().map(|_| false.into()).collect(),
        }
    }

    /// Bytes of the files that were written.
    fn bytes(&self, files: &[File<'_>]) -> u64 {
        let written = files.iter().zip(&self.written).filter(|(_, written)| written.load(Ordering::Relaxed));
        written.map(|(file, _)| file.size()).sum()
    }

    fn folder(&self, file: usize) -> io::Result<Folder> {
        self.tree.folder(self.places[file].folder)
    }

    /// A new file of that name; and the ownership it is to have once it is whole, if it will replace
    /// another file: until then only its owner may open it.
    fn create(&self, folder: &Folder, file: usize, temp: &str) -> io::Result<(fs::File, Option<Ownership>)> {
        let replaced = match self.existing {
            Existing::Replace => folder.ownership(&self.places[file].name)?,
            Existing::Fail | Existing::Skip => None,
        };
        match replaced {
            None => Ok((folder.create(temp)?, None)),
            replaced => Ok((folder.create_private(temp)?, replaced)),
        }
    }

    /// The last of a file that is whole before it gets its name.
    fn complete(&self, open: &fs::File, ownership: Option<&Ownership>) -> io::Result<()> {
        if let Some(ownership) = ownership {
            ownership.apply(open)?;
        }
        if self.syncs { open.sync_all() } else { Ok(()) }
    }

    fn publish(&self, folder: &Folder, file: usize, temp: &str) -> Result<(), FileError> {
        let replace = self.existing == Existing::Replace;
        match folder.commit(temp, &self.places[file].name, replace) {
            Ok(()) => {
                self.files.fetch_add(1, Ordering::Relaxed);
                self.written[file].store(true, Ordering::Relaxed);
                Ok(())
            }
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists && !replace => Err(FileError::Exists),
            Err(e) => Err(e.into()),
        }
    }

    fn part_of(&self, file: usize) -> MutexGuard<'_, Part> {
        // Every file of several blocks has one.
        self.parts[&file].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The open file behind a part, or `None` if the file has failed meanwhile.
    fn open_part(&self, file: usize) -> io::Result<Option<Arc<fs::File>>> {
        let mut part = self.part_of(file);
        if let Some(open) = &part.file {
            return Ok(Some(Arc::clone(open)));
        }
        let folder = match part.state {
            State::Closed => return Ok(None),
            _ => self.folder(file)?,
        };
        let open = if part.state == State::New {
            part.temp = temporary_name();
            let (created, ownership) = self.create(&folder, file, &part.temp)?;
            (part.state, part.ownership) = (State::Created, ownership);
            Folder::reserve(&created, self.sizes[file])?;
            created
        } else {
            folder.reopen(&part.temp)?
        };
        let open = Arc::new(open);
        self.open.fetch_add(1, Ordering::Relaxed);
        part.file = Some(Arc::clone(&open));
        Ok(Some(open))
    }

    fn close(&self, part: &mut Part) {
        if part.file.take().is_some() {
            self.open.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Destination for Disk {
    fn whole(&self, file: usize, bytes: &[u8]) -> Result<(), FileError> {
        let (folder, temp) = (self.folder(file)?, temporary_name());
        let (mut out, ownership) = self.create(&folder, file, &temp)?;
        let result = out.write_all(bytes).and_then(|()| self.complete(&out, ownership.as_ref()));
        drop(out);
        let result = result.map_err(FileError::from).and_then(|()| self.publish(&folder, file, &temp));
        if result.is_err() {
            // The error at hand says more than one of cleaning up.
            let _ = folder.remove(&temp);
        }
        result
    }

    fn part(&self, file: usize, offset: u64, bytes: &[u8]) -> Result<(), FileError> {
        let Some(open) = self.open_part(file)? else { return Ok(()) };
        write_all_at(&open, bytes, offset)?;
        if self.open.load(Ordering::Relaxed) > KEPT_OPEN {
            self.close(&mut self.part_of(file));
        }
        Ok(())
    }

    fn finish(&self, file: usize) -> Result<(), FileError> {
        let ownership = self.part_of(file).ownership.clone();
        if (self.syncs || ownership.is_some())
            && let Some(open) = self.open_part(file)?
        {
            self.complete(&open, ownership.as_ref())?;
        }
        let mut part = self.part_of(file);
        self.close(&mut part);
        self.publish(&self.folder(file)?, file, &part.temp)?;
        part.state = State::Closed;
        Ok(())
    }

    fn abandon(&self, file: usize) {
        let mut part = self.part_of(file);
        self.close(&mut part);
        if core::mem::replace(&mut part.state, State::Closed) == State::Created {
            // What cannot be removed keeps its temporary name.
            let _ = self.folder(file).and_then(|folder| folder.remove(&part.temp));
        }
    }

    fn declines(&self, file: usize) -> Result<bool, FileError> {
        let asks = match self.existing {
            Existing::Replace => false,
            Existing::Skip => true,
            // Naming a small file tells soon enough.
            Existing::Fail => self.parts.contains_key(&file),
        };
        if !asks || !self.folder(file)?.exists(&self.places[file].name)? {
            return Ok(false);
        }
        match self.existing {
            Existing::Skip => Ok(true),
            _ => Err(FileError::Exists),
        }
    }
}
