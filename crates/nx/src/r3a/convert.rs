//! Converts R3A to Nx. First, every file is read and checked against its hash, if there are hashes.
//! Then blocks are copied. zstd frames get their magic number; those with a dictionary are decoded.

use std::io::{self, Write};

use linerate_core::{Error, Kind, Result};
use linerate_io::{ReadAt, read_error};

use super::archive::Archive;
use super::as_nx::AsNx;
use crate::format::hash::HashKind;
use crate::format::header::MAX_CHUNK_WRITTEN;
use crate::format::toc::Entry;
use crate::read::archive::{self as nx, File};
use crate::read::order;

/// Bytes copied at a time.
const PIECE: usize = 1 << 20;

/// Result of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Conversion {
    /// Number of files.
    pub files: u64,
    /// Number of blocks.
    pub blocks: u64,
    /// Number of blocks that were decoded and stored, because Nx has no dictionaries. Also counts
    /// blocks of unsupported codecs, which become empty since no file is in them.
    pub decoded_blocks: u64,
    /// Number of bytes written.
    pub bytes: u64,
}

/// Converts an R3A archive to Nx. Entries are written in the order that other programs rely on.
/// Bytes of copied blocks that belong to no file stay until the archive is packed again.
///
/// # Errors
///
/// Returns [`Kind::Limit`] for chunks above 256 MiB, and the errors of [`AsNx::new`], of the first
/// file that cannot be read or does not match its hash, of the source, and of `out`. After an error
/// the output is incomplete.
pub fn to_nx<S: ReadAt>(archive: Archive<S>, out: &mut impl Write) -> io::Result<Conversion> {
    if archive.head().header.chunk > MAX_CHUNK_WRITTEN {
        return Err(Error::new(Kind::Limit, 6, "chunks larger than are written to Nx: 256 MiB").into());
    }
    let archive = AsNx::new(archive)?.open()?;
    let entries = ordered_entries(&archive)?;
    let shown = archive.source();
    let head = shown.head_with(archive.header().form, entries);
    out.write_all(&head)?;
    copy(shown, head.len() as u64, shown.len(), out)?;
    out.flush()?;
    Ok(Conversion {
        files: archive.len() as u64,
        blocks: archive.layout().len() as u64,
        decoded_blocks: shown.decoded_blocks() as u64,
        bytes: shown.len(),
    })
}

pub(super) fn copy(source: &impl ReadAt, mut at: u64, end: u64, out: &mut impl Write) -> io::Result<()> {
    let mut piece = vec![0; (end - at).min(PIECE as u64) as usize];
    while at < end {
        let len = (end - at).min(PIECE as u64) as usize;
        source.read_at(at, &mut piece[..len]).map_err(|e| read_error(at, &e))?;
        out.write_all(&piece[..len])?;
        at += len as u64;
    }
    Ok(())
}

/// Returns the entries in the order that other programs rely on, with the XXH3-64 of every file.
/// Checks the files against the stored hashes, if there are any. Reads files in the order of
/// blocks, so that each block is decoded once.
pub(super) fn ordered_entries<S: ReadAt>(archive: &nx::Archive<S>) -> io::Result<Vec<Entry>> {
    let mut files: Vec<File<'_>> = archive.files().collect();
    files.sort_by_key(|file| file.entry().first_block);
    let mut reader = archive.reader()?;
    let entry = |file: File<'_>| Ok(Entry { hash: reader.hash(file, HashKind::Xxh3)?, ..*file.entry() });
    let mut entries: Vec<Entry> = files.into_iter().map(entry).collect::<Result<_>>()?;
    order::sort(&mut entries);
    Ok(entries)
}
