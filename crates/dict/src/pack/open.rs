//! [`Pack`]: reads packs.

use std::borrow::Cow;
use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Mutex};

use linerate_core::{Error, Kind, Result, lock};
use linerate_io::{FileSource, MapSource, read_error};
use linerate_zstd::Dictionary;

use super::codec::Decompressor;
use super::index::{Entry, Index, Storage};
use super::layout::{Header, SegmentHeader, SegmentTrailer, corrupt};
use crate::files::fields::hash;
use crate::files::input::{Input, frame_error};

pub(super) const UNKNOWN: Error = Error::new(Kind::BadArgument, 0, "the pack has no dictionary with this ID");

/// A pack in the state in which it was opened. Clones share it.
#[derive(Clone)]
pub struct Pack {
    pub(super) open: Arc<Open>,
}

pub(super) struct Open {
    input: Input,
    pub(super) header: Header,
    pub(super) index: Index,
    /// End of the last complete segment. Nothing after it is read, because an editor may be writing
    /// there, and truncates those bytes if it gives up.
    pub(super) end: u64,
    /// Length of the file in bytes when it was opened.
    len: u64,
    decompression: Mutex<DecompressionState>,
}

/// The decompressor, and the base it used last.
struct DecompressionState {
    decompressor: Option<Decompressor>,
    base: Option<(u64, Vec<u8>)>,
}

/// Sizes and counts of a pack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Number of dictionaries.
    pub dictionaries: usize,
    /// Number of dictionaries without users.
    pub unused: usize,
    /// Total length of the dictionaries in bytes.
    pub bytes: u64,
    /// Total number of their stored bytes.
    pub stored_bytes: u64,
    /// Number of stored bytes of removed dictionaries that others are compressed with.
    pub removed_bytes: u64,
    /// Length of the file in bytes.
    pub len: u64,
    /// Number of bytes after the last complete segment, left by an interrupted write or being
    /// written by an editor.
    pub ignored: u64,
    /// Number of commits.
    pub generation: u64,
    /// Whether dictionaries are stored uncompressed.
    pub uncompressed: bool,
}

impl Pack {
    /// Opens a file: finds its last complete segment by reading, and maps the file up to the
    /// segment's end. Does not read dictionaries yet. The file may be edited meanwhile, even by an
    /// [`Editor`](super::Editor) that gives up.
    ///
    /// # Errors
    /// Returns [`Kind::Read`] if the file cannot be read, [`Kind::Truncated`] without a complete
    /// segment, [`Kind::Corrupt`] for a damaged header or index, and [`Kind::Unsupported`] for
    /// another version.
    pub fn open(path: impl AsRef<Path>) -> Result<Pack> {
        let cannot_read = |e| read_error(0, &e);
        let file = File::open(path).map_err(cannot_read)?;
        let read = FileSource::new(file.try_clone().map_err(cannot_read)?).map_err(cannot_read)?;
        let open = Open::last_commit(Input::source(read))?;
        let map = MapSource::first(&file, open.end).map_err(cannot_read)?;
        Ok(Pack { open: Arc::new(Open { input: Input::source(map), ..open }) })
    }

    /// Opens a pack from any input. An input from [`Input::map`] must not be edited meanwhile.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open).
    pub fn open_input(input: Input) -> Result<Pack> {
        Ok(Pack { open: Arc::new(Open::last_commit(input)?) })
    }

    /// Returns the number of dictionaries.
    pub fn len(&self) -> usize {
        self.entries().count()
    }

    /// Returns whether there are no dictionaries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of commits. In one pack the same number means the same content.
    pub fn generation(&self) -> u64 {
        self.open.index.generation()
    }

    /// Returns the dictionaries, by ascending ID.
    pub fn entries(&self) -> impl Iterator<Item = Entry> + '_ {
        self.open.rows().map(|(_, entry)| entry)
    }

    /// Returns the dictionary with this ID.
    pub fn entry(&self, id: u64) -> Option<Entry> {
        self.open.find(id).map(|i| self.open.index.entry(i))
    }

    /// Returns the first dictionary with this [`content_hash`](crate::content_hash), by linear
    /// search.
    pub fn find(&self, hash: u64) -> Option<Entry> {
        self.entries().find(|entry| entry.hash == hash)
    }

    /// Returns the user IDs of a dictionary.
    ///
    /// # Errors
    /// Returns [`Kind::BadArgument`] for an unknown ID.
    pub fn users(&self, id: u64) -> Result<Vec<u64>> {
        let i = self.open.find(id).ok_or(UNKNOWN)?;
        Ok(self.open.index.users_of(i).collect())
    }

    /// Returns the bytes of a dictionary, after checking their hash. They are borrowed if they are
    /// stored uncompressed and the pack is mapped or in memory.
    ///
    /// # Errors
    /// Returns [`Kind::BadArgument`] for an unknown ID, [`Kind::Truncated`] or [`Kind::Corrupt`]
    /// for damage, and [`Kind::Read`] if the file cannot be read.
    pub fn read(&self, id: u64) -> Result<Cow<'_, [u8]>> {
        self.open.read(self.open.find(id).ok_or(UNKNOWN)?)
    }

    /// Returns sizes and counts.
    pub fn stats(&self) -> Stats {
        let open = &self.open;
        let mut stats = Stats {
            len: open.len,
            ignored: open.len - open.end,
            generation: self.generation(),
            uncompressed: open.header.uncompressed,
            ..Stats::default()
        };
        for entry in (0..open.index.len()).map(|i| open.index.entry(i)) {
            if entry.removed {
                stats.removed_bytes += u64::from(entry.stored_len);
                continue;
            }
            stats.dictionaries += 1;
            stats.unused += usize::from(entry.users == 0);
            stats.bytes += u64::from(entry.len);
            stats.stored_bytes += u64::from(entry.stored_len);
        }
        stats
    }

    /// Reads every dictionary and compares it with its row, and reads the header and trailer of
    /// each segment.
    ///
    /// # Errors
    /// Returns the errors of [`read`](Self::read).
    pub fn verify(&self) -> Result<Stats> {
        self.verify_with_progress(&|_| {})
    }

    /// Verifies like [`verify`](Self::verify). `progress` receives the number of stored bytes of
    /// each dictionary after it was checked, including removed ones.
    ///
    /// # Errors
    /// Returns the errors of [`verify`](Self::verify).
    pub fn verify_with_progress(&self, progress: &dyn Fn(usize)) -> Result<Stats> {
        let open = &self.open;
        if whole_segments(&open.input, open.end)?.is_none_or(|end| end.end != open.end) {
            return Err(corrupt(0, "the segments of the pack are not contiguous"));
        }
        for i in 0..open.index.len() {
            let entry = open.index.entry(i);
            let digest = Dictionary::measure(&open.read(i)?)?;
            if (digest.id(), digest.logs()) != (entry.zstd_id, entry.table_logs) {
                return Err(corrupt(entry.offset, "a dictionary differs from its row in the index"));
            }
            progress(entry.stored_len as usize);
        }
        Ok(self.stats())
    }
}

impl std::fmt::Debug for Pack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Pack").field(&self.stats()).finish()
    }
}

/// Returns the trailer that ends with the file, if there is a valid one.
fn last_end(input: &Input) -> Result<Option<SegmentTrailer>> {
    let Some(at) = input.len().checked_sub(SegmentTrailer::PAIR_LEN).filter(|&at| at >= Header::LEN as u64)
    else {
        return Ok(None);
    };
    Ok(unless_cut(input.array(at))?.and_then(|bytes| SegmentTrailer::parse(&bytes, input.len())))
}

/// Returns the trailer of the last complete segment that ends at or before `limit`. Follows the
/// segments from the start of the file. This is used after an interrupted write, during one, and to
/// verify.
fn whole_segments(input: &Input, limit: u64) -> Result<Option<SegmentTrailer>> {
    let mut last: Option<SegmentTrailer> = None;
    let mut at = Header::LEN as u64;
    while at + SegmentHeader::LEN as u64 + SegmentTrailer::PAIR_LEN <= limit {
        let Some(head) = unless_cut(input.array(at))? else { break };
        let Some(head) = SegmentHeader::parse(&head, at) else { break };
        let Some(end) = at.checked_add(head.len).filter(|&end| end <= limit) else { break };
        let Some(found) = unless_cut(input.array(end - SegmentTrailer::PAIR_LEN))? else { break };
        let Some(found) = SegmentTrailer::parse(&found, end) else { break };
        let follows = last.is_none_or(|last| last.generation.checked_add(1) == Some(head.generation));
        if found.segment != at || found.generation != head.generation || !follows {
            break;
        }
        last = Some(found);
        at = end;
    }
    Ok(last)
}

/// Returns `None` for bytes of an unfinished segment that its editor has truncated since the file
/// was opened.
fn unless_cut<T>(bytes: Result<T>) -> Result<Option<T>> {
    match bytes {
        Err(e) if e.kind == Kind::Truncated => Ok(None),
        bytes => bytes.map(Some),
    }
}

impl Open {
    /// Finds the last complete segment, and reads its index.
    fn last_commit(input: Input) -> Result<Open> {
        let len = input.len();
        let header = Header::parse(&input.array(0)?)?;
        let end = match last_end(&input)? {
            Some(end) => end,
            None => whole_segments(&input, len)?.ok_or(Error::new(
                Kind::Truncated,
                len,
                "the pack ends within its first segment",
            ))?,
        };
        let index_len =
            usize::try_from(end.index_len).map_err(|_| corrupt(end.index, "the index is too large"))?;
        let mut bytes = Vec::new();
        input.append(end.index, index_len, &mut bytes)?;
        if hash(&bytes) != end.index_hash {
            return Err(corrupt(end.index, "the index of a pack is damaged"));
        }
        let index = Index::parse(bytes, end.index).map_err(|e| e.shifted(end.index))?;
        if index.generation() != end.generation {
            return Err(corrupt(end.index, "the index of the pack belongs to another segment"));
        }
        let decompression = Mutex::new(DecompressionState { decompressor: None, base: None });
        Ok(Open { input, header, index, end: end.end, len, decompression })
    }

    /// Iterates over the rows of dictionaries that were not removed, with their indexes.
    pub(super) fn rows(&self) -> impl Iterator<Item = (usize, Entry)> + '_ {
        (0..self.index.len()).map(|i| (i, self.index.entry(i))).filter(|(_, entry)| !entry.removed)
    }

    pub(super) fn find(&self, id: u64) -> Option<usize> {
        self.index.position(id).filter(|&i| !self.index.entry(i).removed)
    }

    /// Returns the bytes of the dictionary of the `i`th row.
    pub(super) fn read(&self, i: usize) -> Result<Cow<'_, [u8]>> {
        let entry = self.index.entry(i);
        let bytes = self.decompress(&entry)?;
        if hash(&bytes) != entry.hash {
            return Err(corrupt(entry.offset, "a dictionary of a pack is damaged"));
        }
        Ok(bytes)
    }

    fn decompress(&self, entry: &Entry) -> Result<Cow<'_, [u8]>> {
        let mut buffer = Vec::new();
        let stored = match self.input.view(entry.offset, entry.stored_len as usize) {
            Some(stored) if entry.storage == Storage::Uncompressed => return Ok(Cow::Borrowed(stored)),
            Some(stored) => stored,
            None => {
                self.input.append(entry.offset, entry.stored_len as usize, &mut buffer)?;
                &buffer
            }
        };
        let base = match entry.storage {
            Storage::Uncompressed => return Ok(Cow::Owned(buffer)),
            Storage::Compressed => None,
            Storage::CompressedWith(base) => Some(base),
        };
        let mut decompression = lock(&self.decompression);
        let DecompressionState { decompressor, base: known } = &mut *decompression;
        let decompressor = decompressor.get_or_insert_with(Decompressor::new);
        let base = match base {
            None => None,
            Some(id) => match known {
                Some((known, bytes)) if *known == id => Some(&bytes[..]),
                _ => Some(&known.insert((id, self.read_base(id, decompressor)?)).1[..]),
            },
        };
        let bytes = decompressor.decompress(stored, base, entry.len as usize);
        bytes.map(Cow::Owned).map_err(|e| frame_error(e, entry.offset))
    }

    /// Returns the bytes of a dictionary that others are compressed with.
    fn read_base(&self, id: u64, decompressor: &mut Decompressor) -> Result<Vec<u8>> {
        let entry = self.index.entry(self.index.position(id).ok_or(UNKNOWN)?);
        let mut bytes = Vec::new();
        self.input.append(entry.offset, entry.stored_len as usize, &mut bytes)?;
        if entry.storage != Storage::Uncompressed {
            bytes = decompressor
                .decompress(&bytes, None, entry.len as usize)
                .map_err(|e| frame_error(e, entry.offset))?;
        }
        if hash(&bytes) != entry.hash {
            return Err(corrupt(entry.offset, "the dictionary that others are compressed with is damaged"));
        }
        Ok(bytes)
    }
}
