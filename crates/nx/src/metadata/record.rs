//! Reads and writes the bytes of the metadata record, as specified in `docs/nx/metadata.md`.
//!
//! Numbers are little-endian. In an Nx archive the record starts at the first multiple of 8 after
//! the pool, within the header's pages; in R3A it is the data of the user-data extension
//! [`EXTENSION`].
//!
//! | offset | bytes | content |
//! |---|---|---|
//! | 0 | 8 | `LNX-META` |
//! | 8 | 4 | version, 1 |
//! | 12 | 4 | size of the frame |
//! | 16 | 4 | size of its content |
//! | 20 | 4 | 0 |
//! | 24 | 8 | XXH3-64 of bytes 0 to 23 and the frame |
//! | 32 | | one zstd frame |

use linerate_core::{Error, Kind, Result};
use linerate_zstd::{FrameDecoder, Options, Scratch};
#[cfg(feature = "pack")]
use zstd_safe::{CCtx, CParameter};

use super::{Attributes, Link, MODE, Metadata, Time};
use crate::block::memory::{grow, lengthen};
use crate::format::hash::HashKind;
use crate::format::header::{Header, MAX_PAGES, PAGE};
use crate::format::limits::Limits;

/// The id of the R3A user-data extension that holds the record: `LNMD`.
pub const EXTENSION: u32 = u32::from_le_bytes(*b"LNMD");

/// The first bytes of the record.
pub const MAGIC: [u8; 8] = *b"LNX-META";

/// The version of the record.
pub const VERSION: u32 = 1;

/// Length of the record before the frame, in bytes.
pub(crate) const HEAD: usize = 32;

/// The alignment of the record in bytes.
pub(crate) const ALIGN: u64 = 8;

/// The zstd level at which the content is compressed.
#[cfg(feature = "pack")]
const LEVEL: i32 = 16;

/// Value of the nanoseconds for a file without metadata.
const UNKNOWN: u32 = u32::MAX;

/// Value of the mode for an entry without mode.
const NO_MODE: u16 = u16::MAX;

/// Length of a folder's or link's fields before its path and target, in bytes.
const FOLDER_OR_LINK: usize = 24;

/// Maximum length in bytes of the path of a folder or link, and of the target of a link.
pub(super) const MAX_PATH: usize = 4095;

const FOLDER: u8 = 1;
const LINK: u8 = 2;

/// The paths of an archive's files in byte order. The record has the files in this order.
pub(crate) struct Paths<'a>(Vec<&'a str>);

impl<'a> Paths<'a> {
    /// Sorts the paths. `None` if two paths are equal, since an index would be ambiguous.
    pub(crate) fn new(paths: impl Iterator<Item = &'a str>) -> Option<Paths<'a>> {
        let mut paths: Vec<&str> = paths.collect();
        paths.sort_unstable();
        paths.is_sorted_by(|a, b| a < b).then_some(Paths(paths))
    }

    fn contains(&self, path: &str) -> bool {
        self.0.binary_search(&path).is_ok()
    }

    /// Returns the hash that ties a record to the archive for which it was written.
    fn hash(&self) -> u64 {
        let mut hasher = HashKind::Xxh3.hasher();
        for path in &self.0 {
            hasher.update(path.as_bytes());
            hasher.update(&[0]);
        }
        hasher.finish()
    }
}

impl Metadata {
    /// Parses a record of an archive with these paths.
    ///
    /// # Errors
    ///
    /// Returns [`Kind::Corrupt`] if the record is damaged or belongs to other paths,
    /// [`Kind::Unsupported`] for another version, and [`Kind::Limit`] if it decompresses to more
    /// than [`Limits::header`] or memory runs out. The offset is 0.
    pub(crate) fn parse(record: &[u8], paths: &Paths<'_>, limits: &Limits) -> Result<Metadata> {
        let content = decompress(record, limits)?;
        let mut fields = Fields(&content);
        if fields.u64()? != paths.hash() {
            return Err(Error::corrupt("metadata of another archive, or of other files"));
        }
        let (files, others) = (fields.u32()? as usize, fields.u32()? as usize);
        if files != paths.0.len() {
            return Err(Error::corrupt("metadata of another number of files"));
        }
        let mut found = Metadata::default();
        // Files are stored as columns: the seconds of all, their nanoseconds, then their modes.
        let seconds = fields.take(8 * files)?;
        let nanoseconds = fields.take(4 * files)?;
        let modes = fields.take(2 * files)?;
        for (i, path) in paths.0.iter().enumerate() {
            let nanoseconds = Fields(&nanoseconds[4 * i..]).u32()?;
            if nanoseconds != UNKNOWN {
                let seconds = Fields(&seconds[8 * i..]).u64()? as i64;
                let mode = Fields(&modes[2 * i..]).u16()?;
                let attributes = Attributes { modified: time(seconds, nanoseconds)?, mode: mode_of(mode) };
                found.files.insert((*path).to_owned(), attributes);
            }
        }
        let mut last = "";
        for _ in 0..others {
            last = fields.folder_or_link(last, &mut found)?;
            if paths.contains(last) {
                return Err(Error::corrupt("metadata of a folder or link that is a file"));
            }
        }
        match fields.0.is_empty() {
            true => Ok(found),
            false => Err(Error::corrupt("bytes after the metadata")),
        }
    }

    /// Encodes the record for an archive with these files. Returns no bytes if there is no
    /// metadata. Leaves out metadata of other files, and of folders and links at or below the path
    /// of a file.
    ///
    /// # Errors
    ///
    /// Returns [`Kind::BadArgument`] for a folder or link whose path or target is empty or longer
    /// than 4095 bytes, or a path that is both a folder and a link, and [`Kind::Limit`] if the
    /// content has 4 GiB or more or cannot be compressed.
    #[cfg(feature = "pack")]
    pub(crate) fn encode(&self, paths: &Paths<'_>) -> Result<Vec<u8>> {
        if self.is_empty() {
            return Ok(Vec::new());
        }
        let limit = |_| Error::new(Kind::Limit, 0, "metadata of more than 4 GiB");
        let mut content = paths.hash().to_le_bytes().to_vec();
        let is_free = |path: &str| {
            let mut folders = path.match_indices('/').map(|(at, _)| &path[..at]);
            !paths.contains(path) && !folders.any(|folder| paths.contains(folder))
        };
        let folders = self.folders.iter().filter(|(path, _)| is_free(path));
        let links = self.links.iter().filter(|(path, _)| is_free(path));
        let mut others: Vec<FolderOrLink<'_>> =
            folders.map(FolderOrLink::folder).chain(links.map(FolderOrLink::link)).collect();
        others.sort_unstable_by_key(|other| other.path);
        let paths_are_unique = others.is_sorted_by(|a, b| a.path < b.path);
        if !paths_are_unique {
            return Err(Error::new(Kind::BadArgument, 0, "metadata of a path that is folder and link"));
        }
        content.extend(u32::try_from(paths.0.len()).map_err(limit)?.to_le_bytes());
        content.extend(u32::try_from(others.len()).map_err(limit)?.to_le_bytes());
        let rows: Vec<Option<&Attributes>> = paths.0.iter().map(|path| self.files.get(*path)).collect();
        let times = || rows.iter().map(|row| row.map(|of| of.modified));
        content.extend(times().flat_map(|time| time.map_or(0, |time| time.seconds).to_le_bytes()));
        content.extend(times().flat_map(|time| time.map_or(UNKNOWN, |time| time.nanoseconds).to_le_bytes()));
        content.extend(rows.iter().flat_map(|row| mode_word(row.and_then(|of| of.mode)).to_le_bytes()));
        others.iter().try_for_each(|other| other.write(&mut content))?;
        u32::try_from(content.len()).map_err(limit)?;
        compress(&content)
    }
}

/// Returns the record at the start of `record`, without the bytes after it, or all bytes if they
/// are fewer than the record states.
#[cfg(any(feature = "pack", test))]
pub(crate) fn trimmed(record: &[u8]) -> &[u8] {
    let frame = Fields(record.get(12..).unwrap_or_default()).u32().map_or(0, |len| len as usize);
    HEAD.checked_add(frame).and_then(|end| record.get(..end)).unwrap_or(record)
}

/// Appends a record after the pool, and enlarges the header by the pages that the record needs. An
/// empty record changes nothing.
///
/// # Errors
///
/// Returns [`Kind::Limit`] if the header exceeds the format's limit or memory runs out.
pub(crate) fn append(record: &[u8], header: &mut Header, pool: &mut Vec<u8>) -> Result<()> {
    if record.is_empty() {
        return Ok(());
    }
    let at = header.pool_end().next_multiple_of(ALIGN);
    let pages = (at + record.len() as u64).div_ceil(PAGE);
    let pages = u32::try_from(pages).ok().filter(|pages| *pages <= MAX_PAGES);
    header.pages = pages.ok_or(Error::new(Kind::Limit, 0, "the format holds 256 MiB of header"))?;
    let start = pool.len() + (at - header.pool_end()) as usize;
    lengthen(pool, start + record.len(), 0)?;
    pool[start..].copy_from_slice(record);
    Ok(())
}

fn checksum(head: &[u8], frame: &[u8]) -> u64 {
    let mut hasher = HashKind::Xxh3.hasher();
    hasher.update(&head[..24]);
    hasher.update(frame);
    hasher.finish()
}

/// Checks and decompresses a record. Bytes after it are ignored.
fn decompress(record: &[u8], limits: &Limits) -> Result<Vec<u8>> {
    let mut fields = Fields(record.get(..HEAD).ok_or(Error::corrupt("metadata that is cut short"))?);
    if fields.take(8)? != MAGIC {
        return Err(Error::corrupt("no metadata"));
    }
    if fields.u32()? != VERSION {
        return Err(Error::new(Kind::Unsupported, 0, "metadata of an unknown version"));
    }
    let (packed, len, _, hash) = (fields.u32()? as usize, fields.u32()?, fields.u32()?, fields.u64()?);
    let frame =
        record[HEAD..].get(..packed).ok_or(Error::corrupt("metadata that is larger than the header"))?;
    if checksum(record, frame) != hash {
        return Err(Error::corrupt("metadata that does not match its checksum"));
    }
    if u64::from(len) > limits.header {
        return Err(Error::new(Kind::Limit, 0, "metadata larger than the limit of the header"));
    }
    let mut content = Vec::new();
    grow(&mut content, len as usize, 0)?;
    let damaged = Error::corrupt("metadata that cannot be decompressed");
    let decoder = FrameDecoder::new(Options::new());
    match decoder.decode(&mut Scratch::new(), None, frame, &mut content) {
        Ok(n) if n == content.len() => Ok(content),
        _ => Err(damaged),
    }
}

#[cfg(feature = "pack")]
fn compress(content: &[u8]) -> Result<Vec<u8>> {
    let limit = Error::new(Kind::Limit, 0, "not enough memory to compress the metadata");
    let mut frame = Vec::with_capacity(zstd_safe::compress_bound(content.len()));
    let mut context = CCtx::try_create().ok_or(limit)?;
    context
        .set_parameter(CParameter::CompressionLevel(LEVEL))
        .and_then(|_| context.compress2(&mut frame, content))
        .map_err(|_| limit)?;
    let mut record = MAGIC.to_vec();
    record.extend(VERSION.to_le_bytes());
    // The caller has checked that the content is below 4 GiB. A frame above 4 GiB would be larger
    // than any header.
    record.extend(u32::try_from(frame.len()).map_err(|_| limit)?.to_le_bytes());
    record.extend((content.len() as u32).to_le_bytes());
    record.extend([0; 4]);
    let hash = checksum(&record, &frame);
    record.extend(hash.to_le_bytes());
    record.extend(frame);
    Ok(record)
}

fn time(seconds: i64, nanoseconds: u32) -> Result<Time> {
    match nanoseconds < 1_000_000_000 {
        true => Ok(Time { seconds, nanoseconds }),
        false => Err(Error::corrupt("metadata with a second of too many nanoseconds")),
    }
}

/// Returns the permission bits of a stored mode. Other bits are dropped.
fn mode_of(word: u16) -> Option<u16> {
    (word != NO_MODE).then_some(word & MODE)
}

#[cfg(feature = "pack")]
fn mode_word(mode: Option<u16>) -> u16 {
    mode.map_or(NO_MODE, |mode| mode & MODE)
}

/// A folder or a link to write.
#[cfg(feature = "pack")]
struct FolderOrLink<'a> {
    kind: u8,
    path: &'a str,
    target: &'a str,
    modified: Time,
    mode: Option<u16>,
}

#[cfg(feature = "pack")]
impl<'a> FolderOrLink<'a> {
    fn folder((path, folder): (&'a String, &'a Attributes)) -> FolderOrLink<'a> {
        FolderOrLink { kind: FOLDER, path, target: "", modified: folder.modified, mode: folder.mode }
    }

    fn link((path, link): (&'a String, &'a Link)) -> FolderOrLink<'a> {
        FolderOrLink { kind: LINK, path, target: &link.target, modified: link.modified, mode: None }
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        let is_empty = self.path.is_empty() || self.kind == LINK && self.target.is_empty();
        if is_empty || self.path.len() > MAX_PATH || self.target.len() > MAX_PATH {
            return Err(Error::new(Kind::BadArgument, 0, "metadata of a path that is empty or too long"));
        }
        out.extend([self.kind, 0]);
        out.extend(mode_word(self.mode).to_le_bytes());
        out.extend(self.modified.nanoseconds.to_le_bytes());
        out.extend(self.modified.seconds.to_le_bytes());
        out.extend((self.path.len() as u32).to_le_bytes());
        out.extend((self.target.len() as u32).to_le_bytes());
        out.extend_from_slice(self.path.as_bytes());
        out.extend_from_slice(self.target.as_bytes());
        Ok(())
    }
}

/// The unread rest of the bytes.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or(Error::corrupt("metadata that ends early"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(Error::corrupt("metadata that ends early"))?;
        self.0 = rest;
        Ok(*taken)
    }

    fn u16(&mut self) -> Result<u16> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn text(&mut self, len: usize) -> Result<&'a str> {
        if len > MAX_PATH {
            return Err(Error::corrupt("metadata of a path that is too long"));
        }
        core::str::from_utf8(self.take(len)?)
            .map_err(|_| Error::corrupt("metadata of a path that is not UTF-8"))
    }

    /// Reads the next folder or link into `found` and returns its path, which must be greater than
    /// `last`.
    fn folder_or_link(&mut self, last: &str, found: &mut Metadata) -> Result<&'a str> {
        let mut head = Fields(self.take(FOLDER_OR_LINK)?);
        let (kind, mode) = (head.u16()?, head.u16()?);
        let nanoseconds = head.u32()?;
        let modified = time(head.u64()? as i64, nanoseconds)?;
        let (path, target) = (head.u32()? as usize, head.u32()? as usize);
        let (path, target) = (self.text(path)?, self.text(target)?);
        if path <= last {
            return Err(Error::corrupt("metadata whose paths are not in order"));
        }
        match (u8::try_from(kind), target.is_empty()) {
            (Ok(FOLDER), true) => {
                found.folders.insert(path.to_owned(), Attributes { modified, mode: mode_of(mode) });
            }
            (Ok(LINK), false) => {
                found.links.insert(path.to_owned(), Link { target: target.to_owned(), modified });
            }
            _ => return Err(Error::corrupt("metadata of something unknown")),
        }
        Ok(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trimmed_ignores_a_frame_size_beyond_the_bytes() {
        let mut record = vec![0; HEAD + 10];
        record[12] = 8;
        assert_eq!(trimmed(&record).len(), HEAD + 8);
        // On 32-bit targets the end overflows.
        record[12..16].fill(0xFF);
        assert_eq!(trimmed(&record).len(), HEAD + 10);
    }
}
