//! [`Editor`]: creates and changes packs.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

use linerate_core::{Error, Kind, Result};
use linerate_io::{AtomicFile, Existing, Lock, LockError, Wait};
use linerate_zstd::Dictionary;
use twox_hash::XxHash3_128;

use super::compressor::{Base, Compressor};
use super::index::{Entry, Index, MAX_LEN, MIN_LEN, Storage};
use super::layout::{ALIGN, Header, SegmentHeader, SegmentTrailer};
use super::open::{Pack, UNKNOWN};
use crate::files::fields::hash;
use crate::files::input::Input;
use crate::files::output::{BUFFER, commit, create, write_error};

/// Options of a new pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PackOptions {
    /// Whether all dictionaries are stored uncompressed, so that they can be used directly from the
    /// mapped file. Default: false.
    pub uncompressed: bool,
    /// zstd compression level. Default: 3. At level 19 dictionaries are a tenth smaller, and adding
    /// them takes a hundred times as long.
    pub level: i32,
}

impl PackOptions {
    /// Returns the default options.
    pub const fn new() -> Self {
        PackOptions { uncompressed: false, level: 3 }
    }

    /// Sets whether dictionaries are stored uncompressed.
    #[must_use]
    pub const fn uncompressed(self, uncompressed: bool) -> Self {
        PackOptions { uncompressed, ..self }
    }

    /// Sets the zstd compression level, -7 to 22.
    #[must_use]
    pub const fn level(self, level: i32) -> Self {
        PackOptions { level, ..self }
    }
}

impl Default for PackOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// Computes the user ID of a name: XXH3, 64 bits, seed 0.
pub fn user_id(name: &str) -> u64 {
    hash(name.as_bytes())
}

/// Changes a pack. Changes are visible after [`commit`](Self::commit), and discarded without it.
///
/// Committed bytes are never rewritten: new dictionaries and a new index are appended. A pack has
/// one editor at a time; readers see the changes when they open it again.
///
/// ```
/// use linerate_dict::pack::{Editor, PackOptions, Pack, user_id};
/// use linerate_dict::Input;
///
/// let mut editor = Editor::in_memory(PackOptions::new())?;
/// let id = editor.add(b"a dictionary of a few words", 0)?;
/// editor.retain(id, user_id("000123.sst"))?;
/// let pack = Pack::open_input(Input::memory(editor.into_bytes()?))?;
/// assert_eq!(&pack.read(id)?[..], b"a dictionary of a few words");
/// assert_eq!(pack.users(id)?, [user_id("000123.sst")]);
/// # Ok::<(), linerate_dict::Error>(())
/// ```
pub struct Editor {
    out: Out,
    header: Header,
    /// All rows by ascending ID, with their users in ascending order.
    rows: Vec<(Entry, Vec<u64>)>,
    by_hash: HashMap<u64, u64>,
    /// 128-bit hashes of the dictionaries added by this editor, by ID.
    added: HashMap<u64, u128>,
    next_id: u64,
    /// Generation of the segment being written.
    generation: u64,
    /// Offset of the segment being written.
    segment: u64,
    /// Offset of the next byte.
    at: u64,
    changed: bool,
    failed: bool,
    /// The existing pack, if the editor appends to one.
    pack: Option<Pack>,
    compressor: Compressor,
    /// Base of each cluster that was added to. `None` if this editor has removed the base.
    bases: HashMap<u32, Option<Base>>,
    #[cfg(test)]
    pub(super) failpoint: Option<super::tests::Failpoint>,
}

enum Out {
    New(Box<BufWriter<AtomicFile>>),
    Append(Appending),
    Memory(Vec<u8>),
}

/// An existing file that is appended to.
struct Appending {
    file: BufWriter<File>,
    /// Length of the file before the change.
    before: u64,
    /// Whether the written segment may be complete.
    may_be_complete: bool,
    /// The lock, which is held until the file is closed.
    _lock: Lock,
}

impl Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Out::New(file) => file.write_all(bytes),
            Out::Append(Appending { file, .. }) => file.write_all(bytes),
            Out::Memory(memory) => {
                memory.extend_from_slice(bytes);
                Ok(())
            }
        }
    }

    /// Overwrites bytes at `at`. The next write continues at the same place as without this call.
    fn overwrite(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        match self {
            Out::New(file) => overwrite(&mut **file, at, bytes),
            Out::Append(Appending { file, .. }) => overwrite(file, at, bytes),
            Out::Memory(memory) => {
                memory[at as usize..][..bytes.len()].copy_from_slice(bytes);
                Ok(())
            }
        }
    }

    /// Syncs an existing file to the disk. A new file is only flushed: it has no name until its
    /// commit, which syncs it if it replaces another.
    fn sync(&mut self) -> io::Result<()> {
        match self {
            Out::New(file) => file.flush(),
            Out::Append(Appending { file, .. }) => {
                file.flush()?;
                file.get_ref().sync_all()
            }
            Out::Memory(_) => Ok(()),
        }
    }
}

fn overwrite(file: &mut (impl Write + Seek), at: u64, bytes: &[u8]) -> io::Result<()> {
    let next = file.stream_position()?;
    file.seek(SeekFrom::Start(at))?;
    file.write_all(bytes)?;
    file.seek(SeekFrom::Start(next)).map(|_| ())
}

impl Drop for Appending {
    fn drop(&mut self) {
        // Uncommitted bytes are truncated if the system allows it. Readers ignore them otherwise.
        if !self.may_be_complete {
            let _ = self.file.flush();
            let _ = self.file.get_ref().set_len(self.before);
        }
    }
}

impl Editor {
    /// Creates an editor of a new pack, whose file appears on commit.
    ///
    /// # Errors
    /// Returns [`Kind::Write`] if the file exists or cannot be created, and [`Kind::BadArgument`]
    /// for an invalid level.
    pub fn create(path: impl AsRef<Path>, options: PackOptions) -> Result<Editor> {
        let path = path.as_ref();
        if std::fs::symlink_metadata(path).is_ok() {
            return Err(write_error(&io::ErrorKind::AlreadyExists.into()));
        }
        Self::new(Out::New(Box::new(create(path, Existing::Refuse)?)), options, 1)
    }

    /// Creates an editor of a new pack in memory.
    ///
    /// # Errors
    /// Returns [`Kind::BadArgument`] for an invalid level.
    pub fn in_memory(options: PackOptions) -> Result<Editor> {
        Self::new(Out::Memory(Vec::new()), options, 1)
    }

    fn new(out: Out, options: PackOptions, generation: u64) -> Result<Editor> {
        if !(-7..=zstd_safe::max_c_level()).contains(&options.level) {
            return Err(Error::new(Kind::BadArgument, 0, "the compression level is not between -7 and 22"));
        }
        let header = Header { uncompressed: options.uncompressed, level: options.level };
        let mut editor = Editor {
            out,
            header,
            rows: Vec::new(),
            by_hash: HashMap::new(),
            added: HashMap::new(),
            next_id: 1,
            generation,
            segment: Header::LEN as u64,
            at: 0,
            changed: true,
            failed: false,
            pack: None,
            compressor: Compressor::new(options.level),
            bases: HashMap::new(),
            #[cfg(test)]
            failpoint: None,
        };
        editor.put(&header.write())?;
        editor.put(&[0; SegmentHeader::LEN])?;
        Ok(editor)
    }

    /// Creates an editor that replaces a pack on commit.
    pub(super) fn replacing(path: &Path, options: PackOptions, pack: &Pack) -> Result<Editor> {
        let generation = next_generation(pack)?;
        let out = Out::New(Box::new(create(path, Existing::Replace)?));
        let mut editor = Self::new(out, options, generation)?;
        editor.next_id = pack.open.index.next_id();
        Ok(editor)
    }

    /// Opens an existing pack. Bytes of an interrupted write at its end are truncated. On Windows,
    /// while a reader has the file mapped, they are overwritten instead.
    ///
    /// # Errors
    /// Returns [`Kind::Write`] if the file cannot be opened for writing or another editor has it
    /// open, and the errors of [`Pack::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Editor> {
        let lock = lock(path.as_ref())?;
        Self::open_locked(path, lock)
    }

    /// Opens a pack like [`open`](Self::open), with a lock of the pack that the caller already
    /// holds.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open).
    pub fn open_locked(path: impl AsRef<Path>, lock: Lock) -> Result<Editor> {
        let mut file = File::options().read(true).write(true).open(&path).map_err(|e| write_error(&e))?;
        // The file is not mapped here, because Windows does not truncate a mapped file.
        let pack = Pack::open_input(Input::file(path)?)?;
        let before = pack.open.end;
        let begin = |file: &mut File| {
            match file.set_len(before) {
                // Readers ignore the bytes of the interrupted write after the new segment, as
                // before.
                Err(error) if is_mapped(&error) => {}
                cut => cut?,
            }
            file.seek(SeekFrom::Start(before))
        };
        begin(&mut file).map_err(|e| write_error(&e))?;
        let file = BufWriter::with_capacity(BUFFER, file);
        Self::appending(Out::Append(Appending { file, before, may_be_complete: false, _lock: lock }), pack)
    }

    /// Opens a pack in memory.
    ///
    /// # Errors
    /// Returns the errors of [`Pack::open`].
    pub fn open_memory(mut bytes: Vec<u8>) -> Result<Editor> {
        let pack = Pack::open_input(Input::memory(bytes.clone()))?;
        bytes.truncate(pack.open.end as usize);
        Self::appending(Out::Memory(bytes), pack)
    }

    /// Creates an editor that appends to `pack`.
    fn appending(out: Out, pack: Pack) -> Result<Editor> {
        let index = &pack.open.index;
        let rows: Vec<_> = (0..index.len()).map(|i| (index.entry(i), index.users_of(i).collect())).collect();
        let by_hash = pack.entries().map(|entry| (entry.hash, entry.id)).collect();
        let generation = next_generation(&pack)?;
        let mut editor = Editor {
            out,
            header: pack.open.header,
            rows,
            by_hash,
            added: HashMap::new(),
            next_id: index.next_id(),
            generation,
            segment: pack.open.end,
            at: pack.open.end,
            changed: false,
            failed: false,
            compressor: Compressor::new(pack.open.header.level),
            bases: HashMap::new(),
            pack: Some(pack),
            #[cfg(test)]
            failpoint: None,
        };
        editor.put(&[0; SegmentHeader::LEN])?;
        Ok(editor)
    }

    /// Adds a dictionary and returns its ID. Unless all of the pack is uncompressed, the dictionary
    /// is stored in the smallest form: compressed with the first dictionary of its `cluster`,
    /// compressed alone, or uncompressed. A dictionary that the pack already has is not added
    /// again, and keeps its ID and cluster.
    ///
    /// # Errors
    /// Returns [`Kind::Truncated`] or [`Kind::Corrupt`] for a damaged trained dictionary,
    /// [`Kind::BadArgument`] for fewer than 8 bytes, [`Kind::Limit`] for more than 64 MiB,
    /// [`Kind::Unsupported`] if another dictionary has the same hash, [`Kind::Write`] if the file
    /// cannot be written, and the errors of [`Pack::read`] for a damaged base.
    pub fn add(&mut self, bytes: &[u8], cluster: u32) -> Result<u64> {
        if bytes.len() < MIN_LEN as usize {
            return Err(Error::new(Kind::BadArgument, 0, "a dictionary has fewer than 8 bytes"));
        }
        if bytes.len() > MAX_LEN as usize {
            return Err(Error::new(Kind::Limit, 0, "a dictionary has more than 64 MiB"));
        }
        let sum = hash(bytes);
        if let Some(&id) = self.by_hash.get(&sum) {
            return if self.has(id, bytes)? { Ok(id) } else { Err(SAME_HASH) };
        }
        let id = self.next_id;
        self.next_id = id.checked_add(1).ok_or(Error::new(Kind::Limit, 0, "the pack has no more numbers"))?;
        self.append(id, bytes, cluster, Vec::new())?;
        Ok(id)
    }

    /// Returns whether dictionary `id`, which has the hash of `bytes`, equals `bytes`.
    fn has(&self, id: u64, bytes: &[u8]) -> Result<bool> {
        match (self.added.get(&id), &self.pack) {
            // Bytes written by this editor may not be readable yet, so their 128-bit hash is
            // compared.
            (Some(&sum), _) => Ok(sum == XxHash3_128::oneshot(bytes)),
            (None, Some(pack)) => Ok(*pack.read(id)? == *bytes),
            (None, None) => Ok(false),
        }
    }

    /// Writes a dictionary. Its ID must be greater than all IDs before.
    pub(super) fn append(&mut self, id: u64, bytes: &[u8], cluster: u32, users: Vec<u64>) -> Result<()> {
        let digest = Dictionary::measure(bytes)?;
        let mut form = Storage::Uncompressed;
        let mut packed = None;
        if !self.header.uncompressed {
            if !self.bases.contains_key(&cluster) {
                let base = self.first_in_cluster(cluster)?;
                self.bases.insert(cluster, base);
            }
            let base = self.bases.get(&cluster).and_then(Option::as_ref);
            let (best, stored) = self.compressor.compress(bytes, base);
            form = best;
            packed = Some(stored.to_vec());
            if base.is_none() {
                self.bases.insert(cluster, Some(Base::new(id, bytes.to_vec(), self.header.level)));
            }
        }
        let stored = packed.as_deref().unwrap_or(bytes);
        let entry = Entry {
            id,
            len: bytes.len() as u32,
            hash: hash(bytes),
            zstd_id: digest.id(),
            table_logs: digest.logs(),
            cluster,
            storage: form,
            offset: self.at,
            stored_len: stored.len() as u32,
            users: users.len() as u32,
            removed: false,
        };
        self.put(stored)?;
        self.align()?;
        self.by_hash.insert(entry.hash, id);
        self.added.insert(id, XxHash3_128::oneshot(bytes));
        self.rows.push((entry, users));
        self.changed = true;
        Ok(())
    }

    /// Returns the first dictionary of a cluster in the existing pack that is neither removed nor
    /// compressed with another one.
    fn first_in_cluster(&self, cluster: u32) -> Result<Option<Base>> {
        let Some(pack) = &self.pack else { return Ok(None) };
        // The rows of the existing pack come first, in its order.
        let mut rows = self.rows[..pack.open.index.len()].iter().enumerate();
        // A dictionary that is compressed with another one cannot be a base itself.
        let first = rows.find(|(_, (entry, _))| {
            entry.cluster == cluster && !entry.removed && !matches!(entry.storage, Storage::CompressedWith(_))
        });
        let Some((i, (entry, _))) = first else { return Ok(None) };
        Ok(Some(Base::new(entry.id, pack.open.read(i)?.into_owned(), self.header.level)))
    }

    /// Adds a user to a dictionary. Returns whether it was new.
    ///
    /// # Errors
    /// Returns [`Kind::BadArgument`] for an unknown ID.
    pub fn retain(&mut self, id: u64, user: u64) -> Result<bool> {
        let (entry, users) = self.row(id)?;
        let Err(at) = users.binary_search(&user) else { return Ok(false) };
        users.insert(at, user);
        entry.users = users.len() as u32;
        self.changed = true;
        Ok(true)
    }

    /// Removes a user from a dictionary. Returns whether it was a user. A dictionary without users
    /// stays until it is removed.
    ///
    /// # Errors
    /// Returns [`Kind::BadArgument`] for an unknown ID.
    pub fn release(&mut self, id: u64, user: u64) -> Result<bool> {
        let (entry, users) = self.row(id)?;
        let Ok(at) = users.binary_search(&user) else { return Ok(false) };
        users.remove(at);
        entry.users = users.len() as u32;
        self.changed = true;
        Ok(true)
    }

    /// Removes a dictionary. The next [`compact`](super::compact) drops its bytes.
    ///
    /// # Errors
    /// Returns [`Kind::BadArgument`] for an unknown ID, or a dictionary that has users.
    pub fn remove(&mut self, id: u64) -> Result<()> {
        let (entry, users) = self.row(id)?;
        if !users.is_empty() {
            return Err(IN_USE);
        }
        entry.removed = true;
        let (sum, cluster) = (entry.hash, entry.cluster);
        self.by_hash.remove(&sum);
        // The row stays until the commit, and longer if others are compressed with the dictionary.
        // If this editor has used the dictionary as a base, new dictionaries get another base.
        let is_base = |base: &Base| base.id == id;
        if self.bases.get(&cluster).is_some_and(|base| base.as_ref().is_some_and(is_base)) {
            self.bases.insert(cluster, None);
        }
        self.changed = true;
        Ok(())
    }

    fn row(&mut self, id: u64) -> Result<(&mut Entry, &mut Vec<u64>)> {
        let at = self.rows.binary_search_by_key(&id, |(entry, _)| entry.id).map_err(|_| UNKNOWN)?;
        let (entry, users) = &mut self.rows[at];
        if entry.removed { Err(UNKNOWN) } else { Ok((entry, users)) }
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        if self.failed {
            return Err(Error::new(Kind::Write, self.at, "an earlier write to the pack failed"));
        }
        // After a failure it is unknown how many bytes were written.
        self.failed = true;
        self.out.write(bytes).map_err(|e| write_error(&e))?;
        self.failed = false;
        self.at += bytes.len() as u64;
        Ok(())
    }

    fn align(&mut self) -> Result<()> {
        let gap = self.at.next_multiple_of(ALIGN) - self.at;
        self.put(&[0; ALIGN as usize][..gap as usize])
    }

    fn sync(&mut self) -> Result<()> {
        self.out.sync().map_err(|e| write_error(&e))
    }

    /// Failpoint. A test observes the step, and may make it fail.
    fn failpoint(&mut self, _step: &'static str) -> Result<()> {
        #[cfg(test)]
        if let Some(failpoint) = &mut self.failpoint {
            return failpoint(_step);
        }
        Ok(())
    }

    /// Writes the index, and then the trailers of the segment. In an existing pack, the trailers
    /// are written after everything before them is on the disk.
    fn write_index(&mut self) -> Result<()> {
        self.failpoint("dictionaries")?;
        let shown = self.rows.iter().filter(|(entry, _)| !entry.removed);
        let used: HashSet<u64> = shown
            .filter_map(
                |(entry, _)| {
                    if let Storage::CompressedWith(base) = entry.storage { Some(base) } else { None }
                },
            )
            .collect();
        self.rows.retain(|(entry, _)| !entry.removed || used.contains(&entry.id));
        let index = Index::write(self.generation, self.next_id, &self.rows);
        let index_at = self.at;
        self.put(&index)?;
        self.align()?;
        let end = self.at + SegmentTrailer::PAIR_LEN;
        let head = SegmentHeader { at: self.segment, len: end - self.segment, generation: self.generation };
        self.out.overwrite(self.segment, &head.write()).map_err(|e| write_error(&e))?;
        self.failpoint("index")?;
        self.sync()?;
        self.failpoint("index on the disk")?;
        let end = SegmentTrailer {
            index: index_at,
            index_len: index.len() as u64,
            index_hash: hash(&index),
            segment: self.segment,
            end,
            generation: self.generation,
        };
        if let Out::Append(appending) = &mut self.out {
            appending.may_be_complete = true;
        }
        self.put(&end.write())?;
        self.put(&end.write())?;
        self.failpoint("ends")?;
        self.sync()?;
        self.failpoint("ends on the disk")
    }

    /// Commits the changes, atomically. Returns the new generation, or the old one if nothing has
    /// changed.
    ///
    /// # Errors
    /// Returns [`Kind::Write`] if the file cannot be written.
    pub fn commit(mut self) -> Result<u64> {
        if !self.changed {
            return Ok(self.generation - 1);
        }
        self.write_index()?;
        let generation = self.generation;
        self.finish()?;
        Ok(generation)
    }

    /// Gives a new file its name.
    fn finish(&mut self) -> Result<()> {
        let Out::New(file) = std::mem::replace(&mut self.out, Out::Memory(Vec::new())) else { return Ok(()) };
        self.failpoint("before the name")?;
        commit(*file)?;
        self.failpoint("after the name")
    }

    /// Commits like [`commit`](Self::commit), and replaces the existing pack. Returns the length of
    /// the new file in bytes.
    pub(super) fn replace(mut self) -> Result<u64> {
        self.write_index()?;
        self.finish()?;
        Ok(self.at)
    }

    /// Commits the changes, and returns the bytes of an in-memory editor.
    ///
    /// # Errors
    /// Returns [`Kind::BadArgument`] for an editor of a file, which is then not changed.
    pub fn into_bytes(mut self) -> Result<Vec<u8>> {
        if !matches!(self.out, Out::Memory(_)) {
            return Err(Error::new(Kind::BadArgument, 0, "the editor writes a file, not memory"));
        }
        if self.changed {
            self.write_index()?;
        } else if let Out::Memory(bytes) = &mut self.out {
            bytes.truncate(self.segment as usize);
        }
        match &mut self.out {
            Out::Memory(bytes) => Ok(std::mem::take(bytes)),
            _ => Ok(Vec::new()),
        }
    }
}

const SAME_HASH: Error = Error::new(Kind::Unsupported, 0, "the pack has another dictionary with this hash");
pub(super) const IN_USE: Error = Error::new(Kind::BadArgument, 0, "a dictionary is still in use");

fn next_generation(pack: &Pack) -> Result<u64> {
    pack.generation().checked_add(1).ok_or(Error::new(Kind::Limit, 0, "the pack was changed too often"))
}

/// Returns whether Windows did not truncate a file because a reader has mapped it.
fn is_mapped(error: &io::Error) -> bool {
    const ERROR_USER_MAPPED_FILE: i32 = 1224;
    cfg!(windows) && error.raw_os_error() == Some(ERROR_USER_MAPPED_FILE)
}

/// Locks a pack for one editor.
pub(super) fn lock(path: &Path) -> Result<Lock> {
    Lock::exclusive(path, Wait::No).map_err(|e| match e {
        LockError::Io(error) => write_error(&error),
        _ => write_error(&io::ErrorKind::WouldBlock.into()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pack_of_the_last_generation_cannot_be_changed() {
        let mut editor = Editor::in_memory(PackOptions::new()).unwrap();
        editor.generation = u64::MAX;
        let bytes = editor.into_bytes().unwrap();
        let pack = Pack::open_input(Input::memory(bytes.clone())).unwrap();
        let path = tempfile::tempdir().unwrap().path().join("pack");
        let editors = [Editor::open_memory(bytes), Editor::replacing(&path, PackOptions::new(), &pack)];
        assert!(editors.into_iter().all(|editor| editor.is_err_and(|e| e.kind == Kind::Limit)));
    }

    #[test]
    fn a_hash_collision_is_an_error() {
        let (one, other) = (b"a dictionary of a few words", b"another one, of other words");
        let mut editor = Editor::in_memory(PackOptions::new()).unwrap();
        let id = editor.add(one, 0).unwrap();
        // Simulates a hash collision.
        editor.by_hash.insert(hash(other), id);
        assert_eq!(editor.add(other, 0), Err(SAME_HASH));
        assert_eq!(editor.add(one, 0), Ok(id));
        let mut again = Editor::open_memory(editor.into_bytes().unwrap()).unwrap();
        again.by_hash.insert(hash(other), id);
        assert_eq!(again.add(other, 0), Err(SAME_HASH));
        assert_eq!(again.add(one, 0), Ok(id));
    }
}
