//! Verifies that every file of an archive decodes and matches its hash, and compares an archive
//! with a folder.

use std::fmt;
use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use linerate_core::{lock, parallel_map};
use linerate_io::{Folder, ReadAt};

use crate::block::decode::Ending;
use crate::error::{FileError, PathError};
use crate::format::header::PAGE;
use crate::format::paths::{check_path, portable_clashes};
use crate::metadata::{Attributes, Change, Link, Metadata};
use crate::read::archive::{Archive, File};
use crate::read::destination::{Destination, Progress};
use crate::read::parallel::{ReadOptions, read_files};
use crate::read::reader::Reader;

/// An oddity of an archive that does not prevent reading its files.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// Number of blocks whose zstd frame lacks its last block or its checksum.
    Unterminated(usize),
    /// Number of blocks with more content than files refer to.
    Longer(usize),
    /// Number of blocks with bytes after their compressed data.
    SpareInBlocks(usize),
    /// Header flags that are not 0. They have no agreed meaning.
    Flags(u8),
    /// Non-zero bytes between the tables and the first block.
    SpareInHeader,
    /// Number of bytes after the last block and its padding.
    SpareAtEnd(u64),
    /// A path that cannot be extracted, and the reason.
    Path(String, &'static str),
    /// Paths that some file systems cannot hold together.
    Collision(Vec<String>),
    /// Number of files without a hash. They can be decoded, but their content cannot be verified.
    Unhashed(u64),
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::Unterminated(n) => {
                write!(f, "{n} zstd frames without a last block (all of their content is there)")
            }
            Note::Longer(n) => write!(f, "{n} blocks with content that no file needs"),
            Note::SpareInBlocks(n) => write!(f, "{n} blocks with bytes after their compressed data"),
            Note::Flags(flags) => write!(f, "flags {flags:04b} in the header"),
            Note::SpareInHeader => f.write_str("bytes between the tables and the first block"),
            Note::SpareAtEnd(n) => write!(f, "{n} bytes after the last block"),
            Note::Path(path, what) => write!(f, "{}: {what}", path.escape_debug()),
            Note::Collision(paths) => {
                f.write_str("names that some file systems cannot keep apart:")?;
                paths.iter().try_for_each(|path| write!(f, " {:?}", path))
            }
            Note::Unhashed(n) => {
                write!(f, "{n} files without hashes: they decode, and nothing else can be checked")
            }
        }
    }
}

/// Result of verifying an archive.
#[derive(Debug, Default)]
pub struct Verified {
    /// Number of files whose content matches their hash. If the archive [has no
    /// hashes](Archive::has_hashes), or [`Verifier::hashes`] is off, of files that can be decoded.
    pub files: u64,
    /// Bytes of content that were read.
    pub bytes: u64,
    /// Errors of files that cannot be read or do not match, sorted by path.
    pub failures: Vec<PathError>,
    /// Oddities that are not errors.
    pub notes: Vec<Note>,
    /// Whether the progress callback stopped the work.
    pub stopped: bool,
}

/// Differences between a folder and an archive.
#[derive(Debug, Default)]
pub struct Compared {
    /// Number of files that are equal in the archive and the folder.
    pub same: u64,
    /// Paths in the archive that are missing in the folder.
    pub missing: Vec<String>,
    /// Paths with another size or content, or without a file that can be opened, such as links.
    pub different: Vec<String>,
    /// Files of the folder that are not in the archive. Includes links, unless there is
    /// [metadata](Verifier::metadata) to compare them with.
    pub unexpected: Vec<String>,
    /// Differences of times, modes, links and empty folders from the
    /// [metadata](Verifier::metadata).
    pub changes: Vec<Change>,
    /// Files that could not be compared.
    pub failures: Vec<PathError>,
    /// Whether the progress callback stopped the work, so that not all files were compared.
    pub stopped: bool,
}

impl Compared {
    /// Whether there is no difference.
    pub fn is_same(&self) -> bool {
        [&self.missing, &self.different, &self.unexpected].iter().all(|list| list.is_empty())
            && self.changes.is_empty()
            && self.failures.is_empty()
            && !self.stopped
    }
}

/// Verifies an archive, or compares it with a folder.
///
#[cfg_attr(feature = "pack", doc = "```")]
#[cfg_attr(not(feature = "pack"), doc = "```ignore")]
/// use linerate_nx::pack::{Builder, PackOptions};
/// use linerate_nx::{Archive, Verifier};
///
/// # let mut builder = Builder::new(PackOptions::new())?;
/// # builder.add_bytes("a.txt", vec![7; 100_000])?;
/// # let (bytes, _) = builder.to_bytes()?;
/// let archive = Archive::open(bytes)?;
/// let verified = Verifier::new(&archive).threads(2).run()?;
/// assert!(verified.failures.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Verifier<'a, S> {
    archive: &'a Archive<S>,
    metadata: Option<&'a Metadata>,
    options: ReadOptions<'a>,
}

/// A destination that discards everything.
struct NullDestination;

impl Destination for NullDestination {
    fn write_file(&self, _file: usize, _bytes: &[u8]) -> Result<(), FileError> {
        Ok(())
    }
    fn write_range(&self, _file: usize, _offset: u64, _bytes: &[u8]) -> Result<(), FileError> {
        Ok(())
    }
}

impl<'a, S: ReadAt> Verifier<'a, S> {
    /// Creates a verifier that uses one thread, checks hashes, and compares no metadata.
    pub fn new(archive: &'a Archive<S>) -> Self {
        Verifier { archive, metadata: None, options: ReadOptions::default() }
    }

    /// Sets the number of threads, as [`crate::Extractor::threads`]. Default: 1.
    pub fn threads(mut self, threads: usize) -> Self {
        self.options.threads = threads;
        self
    }

    /// Sets whether contents are hashed. If not, blocks are only decoded, which is useful as a
    /// benchmark. Default: true.
    pub fn hashes(mut self, hashes: bool) -> Self {
        self.options.verify = hashes;
        self
    }

    /// Makes [`Verifier::compare`] also compare times, modes, links and empty folders with
    /// `metadata`, which usually comes from [`Metadata::from_archive`].
    pub fn metadata(mut self, metadata: &'a Metadata) -> Self {
        self.metadata = Some(metadata);
        self
    }

    /// Sets the progress callback; if it returns `false`, the work stops. [`run`](Self::run) calls
    /// it after each block, from the thread that decoded it, and [`compare`](Self::compare) while
    /// it reads the files of the folder.
    pub fn on_progress(mut self, on_progress: impl Fn(&Progress) -> bool + Sync + 'a) -> Self {
        self.options.on_progress = Some(Box::new(on_progress));
        self
    }

    /// Decodes in memory all blocks that files refer to, and checks every file.
    ///
    /// # Errors
    ///
    /// Returns [`crate::Kind::Limit`] if the files exceed the limits of the archive, and
    /// [`crate::Kind::BadArgument`] if zstd does not support [`crate::Limits::window_log`]. Errors
    /// of single files are in [`Verified::failures`].
    pub fn run(&self) -> linerate_core::Result<Verified> {
        let files: Vec<File<'_>> = self.archive.files().collect();
        let mut outcome = read_files(self.archive, &files, &NullDestination, &self.options)?;
        let failures = outcome.take_failures(&files);
        Ok(Verified {
            files: outcome.done.files - failures.len() as u64,
            bytes: outcome.done.bytes,
            notes: self.notes(&outcome.endings),
            failures,
            stopped: outcome.stopped,
        })
    }

    fn notes(&self, endings: &[(usize, Ending)]) -> Vec<Note> {
        let count = |wanted| endings.iter().filter(|(_, ending)| *ending == wanted).count();
        let blocks = [
            Note::Unterminated(count(Ending::Unterminated)),
            Note::Longer(count(Ending::Longer)),
            Note::SpareInBlocks(count(Ending::Spare)),
        ];
        let found =
            |note: &Note| !matches!(note, Note::Unterminated(0) | Note::Longer(0) | Note::SpareInBlocks(0));
        let mut notes: Vec<Note> = blocks.into_iter().filter(found).collect();
        if self.archive.header().flags != 0 {
            notes.push(Note::Flags(self.archive.header().flags));
        }
        if self.archive.has_spare_bytes() {
            notes.push(Note::SpareInHeader);
        }
        let end = self.archive.layout().end().next_multiple_of(PAGE);
        if let Some(spare @ 1..) = self.archive.source().len().checked_sub(end) {
            notes.push(Note::SpareAtEnd(spare));
        }
        let paths: Vec<&str> = self.archive.files().map(|file| file.path()).collect();
        let bad_paths = paths.iter().filter_map(|path| Some((*path, check_path(path).err()?)));
        notes.extend(bad_paths.map(|(path, what)| Note::Path(path.to_owned(), what)));
        for group in portable_clashes(paths.iter().copied()) {
            let mut names: Vec<String> = group.into_iter().map(|i| paths[i].to_owned()).collect();
            names.sort_unstable();
            notes.push(Note::Collision(names));
        }
        if !self.archive.has_hashes() && !self.archive.is_empty() {
            notes.push(Note::Unhashed(self.archive.len() as u64));
        }
        notes
    }

    /// Compares a folder with the archive by size and hash. Reads only the header of the archive,
    /// unless it has [no hashes](Archive::has_hashes). Links are not followed: a link at the path
    /// of a file in the archive counts as different.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder cannot be listed. Errors of single files are in
    /// [`Compared::failures`].
    pub fn compare(&self, folder: impl AsRef<Path>) -> io::Result<Compared> {
        let folder = folder.as_ref();
        let mut present = Metadata::default();
        list_folder(folder, &mut String::new(), &mut present)?;
        let root = Folder::create_all(folder)?;
        let done = Mutex::new(Progress {
            total_files: self.archive.len() as u64,
            total_bytes: self.archive.files().fold(0, |sum, file| file.size().saturating_add(sum)),
            ..Progress::default()
        });
        let stopped = AtomicBool::new(false);
        let add = |files: u64, bytes: u64| {
            let Some(on_progress) = &self.options.on_progress else { return true };
            let mut done = lock(&done);
            (done.files, done.bytes) = (done.files + files, done.bytes.saturating_add(bytes));
            let progress = *done;
            drop(done);
            if !on_progress(&progress) {
                stopped.store(true, Ordering::Relaxed);
            }
            !stopped.load(Ordering::Relaxed)
        };
        let files = self.archive.files().take_while(|_| !stopped.load(Ordering::Relaxed));
        let found = parallel_map(self.options.threads, files, || {
            let (mut buffer, mut reader) = (vec![0; 1 << 20], None);
            let (root, add) = (&root, &add);
            move |file: File<'_>| {
                let mut rest = file.size();
                let found = self.compare_file(root, file, &mut reader, &mut buffer, &mut |bytes| {
                    rest = rest.saturating_sub(bytes);
                    add(0, bytes)
                });
                // Boxed, since nearly all files have no error.
                add(1, rest).then_some(found.map_err(Box::new))
            }
        });
        let mut compared = Compared { stopped: stopped.into_inner(), ..Compared::default() };
        for (file, found) in self.archive.files().zip(found) {
            match found {
                Some(Ok(Some(true))) => compared.same += 1,
                Some(Ok(Some(false))) => compared.different.push(file.path().to_owned()),
                Some(Ok(None)) => compared.missing.push(file.path().to_owned()),
                Some(Err(source)) => compared.failures.push(PathError::new(file.path(), *source)),
                // The progress callback stopped the work while the file was read.
                None => {}
            }
        }
        if let Some(metadata) = self.metadata {
            let files = present.files.keys().map(String::as_str);
            compared.changes =
                metadata.changes(self.archive.files().map(|file| file.path()), &present, files);
            present.links.clear();
        }
        for file in self.archive.files() {
            present.files.remove(file.path());
            present.links.remove(file.path());
        }
        compared.unexpected = present.files.into_keys().chain(present.links.into_keys()).collect();
        for list in [&mut compared.missing, &mut compared.different, &mut compared.unexpected] {
            list.sort_unstable();
        }
        compared.failures.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(compared)
    }

    /// Returns whether a file is equal in the folder, or `None` if it is missing or the comparison
    /// was stopped. Calls `progress` with the number of bytes of each read; `false` stops.
    fn compare_file(
        &self,
        root: &Folder,
        file: File<'_>,
        reader: &mut Option<Reader<'a, S>>,
        buffer: &mut [u8],
        progress: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Option<bool>, FileError> {
        check_path(file.path()).map_err(FileError::Path)?;
        let (folders, name) = file.path().rsplit_once('/').unwrap_or(("", file.path()));
        let mut folder = root.clone();
        for part in folders.split('/').filter(|part| !part.is_empty()) {
            match folder.subfolder(part) {
                Ok(inner) => folder = inner,
                Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
                // A file or a link has the path of a folder.
                Err(_) => return Ok(Some(false)),
            }
        }
        if !folder.exists(name)? {
            return Ok(None);
        }
        let Ok(mut found) = folder.open(name) else { return Ok(Some(false)) };
        if found.metadata()?.len() != file.size() {
            return Ok(Some(false));
        }
        let mut hasher = self.archive.hash_kind().hasher();
        loop {
            match found.read(buffer) {
                Ok(0) => break,
                Ok(n) => {
                    hasher.update(&buffer[..n]);
                    if !progress(n as u64) {
                        return Ok(None);
                    }
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e.into()),
            }
        }
        let hash = match (file.hash(), reader) {
            (Some(hash), _) => hash,
            (None, Some(reader)) => reader.hash(file, self.archive.hash_kind())?,
            (None, none) => none.insert(self.archive.reader()?).hash(file, self.archive.hash_kind())?,
        };
        Ok(Some(hasher.finish() == hash))
    }
}

/// Lists everything below a folder by relative path. Names that are not UTF-8 are converted
/// lossily. Everything that is neither a folder nor a link counts as a file.
fn list_folder(folder: &Path, prefix: &mut String, found: &mut Metadata) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let before = prefix.len();
        prefix.push_str(&entry.file_name().to_string_lossy());
        // `DirEntry::metadata` does not follow links.
        let of = entry.metadata()?;
        if of.is_symlink() {
            let target = fs::read_link(entry.path())?.to_string_lossy().into_owned();
            let target = if cfg!(windows) { target.replace('\\', "/") } else { target };
            found.links.insert(prefix.clone(), Link { target, modified: of.modified()?.into() });
        } else if of.is_dir() {
            found.folders.insert(prefix.clone(), Attributes::from_fs(&of)?);
            prefix.push('/');
            list_folder(&entry.path(), prefix, found)?;
        } else {
            found.files.insert(prefix.clone(), Attributes::from_fs(&of)?);
        }
        prefix.truncate(before);
    }
    Ok(())
}
