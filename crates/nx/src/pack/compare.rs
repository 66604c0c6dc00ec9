//! Compares entries of an archive with files on disk, and verifies them, in the order of blocks: each block is decoded once,
//! but those of a chunked file again for every [`MAX_OPEN`] of its copies, or fewer where the system lets few files be open.

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
    /// The file on disk to compare with, which has the same size. Without, the entry is only verified.
    pub(super) path: Option<&'a Path>,
}

/// Bytes of entries that one thread takes at a time.
const BATCH: u64 = 4 << 20;

/// Most files on disk that one thread opens at a time.
const MAX_OPEN: usize = 64;

/// Bytes of a file on disk that are compared at a time.
const PIECE: usize = 64 << 10;

/// The XXH3-64 of each entry. `None` if the entry is damaged, cannot be decoded, or differs from its file on disk.
///
/// # Errors
/// Those of decoding an entry without a file on disk, such as `Corrupt`; those of reading the archive or a file.
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
                let same: Vec<Wanted<'_>> = same.iter().map(|&i| wanted[i]).collect();
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

/// What tells where the content of a file is, and what it should be. Ordered by block.
fn content_of(file: File<'_>) -> (u32, u32, u64, Option<u64>) {
    let entry = file.entry();
    match entry.size {
        0 => (0, 0, 0, file.hash()),
        size => (entry.first_block, entry.block_offset, size, file.hash()),
    }
}

/// Divides entries into batches, between blocks.
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
    // An archive that others wrote may lack XXH3-64.
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

/// A writer that compares the bytes with files.
struct Comparing {
    disks: Vec<Option<Disk>>,
    hasher: Option<ContentHasher>,
}

impl Comparing {
    /// Whether the rest of the content may matter.
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

/// A file on disk while it equals an entry.
struct Disk {
    /// `None` once it differs, or cannot be read: whoever packs it will tell why.
    file: Option<fs::File>,
    buffer: Vec<u8>,
}

impl Disk {
    fn open(path: &Path) -> PackResult<Disk> {
        let at = |error| PackError::reading(error).at(path.display().to_string());
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

    /// Whether it equals the entry, and is no longer.
    fn ends(self) -> bool {
        self.file.is_some_and(|mut file| matches!(file.read(&mut [0]), Ok(0)))
    }
}
