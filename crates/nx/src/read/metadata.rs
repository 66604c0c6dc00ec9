//! Finds and parses the metadata of an archive.

use linerate_core::{Error, Result};
use linerate_io::{ReadAt, read_error};

use crate::block::memory::zeroed;
use crate::metadata::{ALIGN, HEAD, MAGIC, Metadata, Paths};
use crate::read::archive::Archive;

impl Metadata {
    /// Reads the metadata record of an archive, or returns `None` if it has none. Other bytes in
    /// the header are ignored. An R3A archive must be shown [as Nx](crate::r3a::AsNx) first.
    ///
    /// # Errors
    ///
    /// Returns [`Kind::Corrupt`](crate::Kind::Corrupt) if the record is damaged or belongs to
    /// another archive, or if two files have the same path;
    /// [`Kind::Unsupported`](crate::Kind::Unsupported) if it has another version;
    /// [`Kind::Limit`](crate::Kind::Limit) if it decompresses to more than
    /// [`Limits::header`](crate::Limits::header) or memory runs out;
    /// [`Kind::Read`](crate::Kind::Read) if the source cannot be read. The offset is that of the
    /// record, or 0 for an R3A archive that is shown as Nx. Files can be read in spite of such
    /// errors.
    pub fn from_archive<S: ReadAt>(archive: &Archive<S>) -> Result<Option<Metadata>> {
        let Some((at, record)) = find(archive)? else { return Ok(None) };
        let paths = Paths::new(archive.files().map(|file| file.path()))
            .ok_or(Error::corrupt("metadata in an archive with a path that is there twice"));
        paths
            .and_then(|paths| Metadata::parse(&record, &paths, archive.limits()))
            .map(Some)
            .map_err(|e| e.with_offset(if archive.is_generated() { 0 } else { at }))
    }
}

/// Finds the record of an archive. Returns its offset, and the unchecked bytes from there up to the
/// first block; `None` if there is no record.
pub(crate) fn find<S: ReadAt>(archive: &Archive<S>) -> Result<Option<(u64, Vec<u8>)>> {
    let header = archive.header();
    let (at, end) = (header.pool_end().next_multiple_of(ALIGN), header.bytes());
    if !archive.has_spare_bytes() || end.saturating_sub(at) < HEAD as u64 {
        return Ok(None);
    }
    // The length is at most that of the header, which is within the limits.
    let mut bytes = zeroed(0, (end - at) as usize, at)?;
    archive.source().read_at(at, &mut bytes).map_err(|e| read_error(at, &e))?;
    Ok(bytes.starts_with(&MAGIC).then_some((at, bytes)))
}
