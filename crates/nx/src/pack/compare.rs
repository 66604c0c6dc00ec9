//! Compares entries of an archive with files on disk, and verifies entries, in the order of blocks.
//! Each block is decoded once, except in chunked files with many copies: at most [`MAX_OPEN`]
//! copies are compared at a time, fewer if the system allows few open files, and the blocks are
//! decoded again for the next copies.

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;

use linerate_core::Kind;
use linerate_io::{Folder, ReadAt};

use super::error::{PackError, PackResult};
use super::existing::engine_error;
use super::workers::Workers;
use crate::format::hash::{ContentHasher, HashKind};
use crate::read::archive::{Archive, File};
use crate::read::reader::Reader;

/// An entry to decode.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'a> {
    pub(super) file: File<'a>,
    /// The file on disk to compare with, which has the same size. If `None`, the entry is only
    /// verified.
    pub(super) path: Option<&'a Path>,
}

/// Minimum number of bytes of entries that a thread takes at a time, if there are so many.
const BATCH: u64 = 4 << 20;

/// Maximum number of files on disk that a thread opens at a time.
const MAX_OPEN: usize = 64;

/// Bytes of a file on disk that are compared at a time.
const PIECE: usize = 64 << 10;

/// Returns the XXH3-64 of each entry. It is `None` if the entry differs from its file on disk, or
/// has such a file and cannot be decoded.
///
/// # Errors
/// Returns errors of decoding an entry that has no file on disk, such as `Corrupt`, and errors of
/// reading the archive or of opening a file.
pub(super) fn compare<S: ReadAt>(
    archive: &Archive<S>,
    wanted: &[Wanted<'_>],
    workers: &Workers,
) -> PackResult<Vec<Option<u64>>> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by_key(|&i| content_of(wanted[i].file));
    let batches = batches(&order, wanted);
    let threads = workers.threads.clamp(1, batches.len().max(1));
    let open = (Folder::max_open_folders() / threads).clamp(1, MAX_OPEN);
    let found = workers.map(
        batches.len(),
        || None,
        |reader, i| {
            let reader = match reader {
                Some(reader) => reader,
                None => reader.insert(archive.reader()?),
            };
            let mut found = Vec::with_capacity(batches[i].len());
            let is_same = |&a: &usize, &b: &usize| content_of(wanted[a].file) == content_of(wanted[b].file);
            for same in batches[i].chunk_by(is_same).flat_map(|same| same.chunks(open)) {
                let step = |&i: &usize| workers.cancel.step().map(|()| wanted[i]);
                let same = same.iter().map(step).collect::<PackResult<Vec<Wanted<'_>>>>()?;
                found.extend(compare_equal(archive, reader, &same)?);
            }
            Ok(found)
        },
    )?;
    let mut hashes = vec![None; wanted.len()];
    for (i, hash) in order.into_iter().zip(found.into_iter().flatten()) {
        hashes[i] = hash;
    }
    Ok(hashes)
}

/// Returns the position, size and hash of a file's content, as a sort key: first block, offset in
/// the block, size, hash. Entries with equal keys have the same content.
fn content_of(file: File<'_>) -> (u32, u32, u64, Option<u64>) {
    let entry = file.entry();
    match entry.size {
        0 => (0, 0, 0, file.hash()),
        size => (entry.first_block, entry.block_offset, size, file.hash()),
    }
}

/// Divides entries into batches. A batch ends only where the next entry is in another block.
fn batches<'o>(order: &'o [usize], wanted: &[Wanted<'_>]) -> Vec<&'o [usize]> {
    let (mut batches, mut start, mut bytes) = (Vec::new(), 0, 0u64);
    for (at, pair) in order.windows(2).enumerate() {
        let (this, next) = (wanted[pair[0]].file, wanted[pair[1]].file);
        bytes = bytes.saturating_add(this.size());
        if bytes >= BATCH && content_of(this).0 != content_of(next).0 {
            batches.push(&order[start..=at]);
            (start, bytes) = (at + 1, 0);
        }
    }
    batches.extend((start < order.len()).then_some(&order[start..]));
    batches
}

/// Compares entries with the same content, which is decoded once.
fn compare_equal<S: ReadAt>(
    archive: &Archive<S>,
    reader: &mut Reader<'_, S>,
    same: &[Wanted<'_>],
) -> PackResult<Vec<Option<u64>>> {
    let file = same[0].file;
    // Archives of header version 0, and R3A archives without hashes, have no XXH3-64.
    let stored = file.hash().filter(|_| archive.hash_kind() == HashKind::Xxh3);
    let mut comparing = Comparing {
        disks: same
            .iter()
            .map(|wanted| wanted.path.map(Disk::open).transpose())
            .collect::<PackResult<_>>()?,
        hasher: stored.is_none().then(|| HashKind::Xxh3.hasher()),
    };
    if let Err(error) = reader.write_to(file, &mut comparing) {
        let error = engine_error(error);
        let is_of_entry = matches!(error.kind(), Kind::Corrupt | Kind::Limit | Kind::Unsupported);
        let is_replaced = is_of_entry && same.iter().all(|wanted| wanted.path.is_some());
        if comparing.is_wanted() && !is_replaced {
            return Err(error.at(file.path()));
        }
        return Ok(vec![None; same.len()]);
    }
    let hash = comparing.hasher.map_or(stored, |hasher| Some(hasher.finish()));
    let equal = comparing.disks.into_iter().map(|disk| disk.is_none_or(Disk::ends));
    Ok(equal.map(|equal| hash.filter(|_| equal)).collect())
}

/// A writer that compares the bytes with files on disk.
struct Comparing {
    disks: Vec<Option<Disk>>,
    hasher: Option<ContentHasher>,
}

impl Comparing {
    /// Whether the rest of the content is needed: an entry has to be verified, or a file on disk is
    /// equal so far.
    fn is_wanted(&self) -> bool {
        self.disks.iter().any(|disk| disk.as_ref().is_none_or(|disk| disk.file.is_some()))
    }
}

impl Write for Comparing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(hasher) = &mut self.hasher {
            hasher.update(bytes);
        }
        self.disks.iter_mut().flatten().for_each(|disk| disk.compare(bytes));
        match self.is_wanted() {
            true => Ok(bytes.len()),
            false => Err(io::Error::other("the bytes differ")),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A file on disk that is compared with an entry.
struct Disk {
    /// `None` once the file differs or cannot be read. Packing the file reports the error.
    file: Option<fs::File>,
    buffer: Vec<u8>,
}

impl Disk {
    fn open(path: &Path) -> PackResult<Disk> {
        let at = |error| PackError::reading(error).at(path);
        Ok(Disk { file: Some(fs::File::open(path).map_err(at)?), buffer: Vec::new() })
    }

    fn compare(&mut self, bytes: &[u8]) {
        for piece in bytes.chunks(PIECE) {
            let Some(file) = &mut self.file else { return };
            self.buffer.resize(piece.len(), 0);
            if file.read_exact(&mut self.buffer).is_err() || self.buffer != piece {
                self.file = None;
            }
        }
    }

    /// Whether the file equals the entry and ends where the entry does.
    fn ends(self) -> bool {
        self.file.is_some_and(|mut file| matches!(file.read(&mut [0]), Ok(0)))
    }
}
