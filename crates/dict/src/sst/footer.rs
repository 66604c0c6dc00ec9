//! The footer of a file: version, checksum kind and handles.

use linerate_core::{Error, Kind, Result};

use super::bytes::Bytes;
use super::checksum::{Checksum, context};
use super::handle::{Handle, TRAILER};

/// Size of a footer in bytes.
pub(super) const FOOTER: usize = 53;
/// The last bytes of every file: the magic number of block-based tables.
pub const MAGIC: [u8; 8] = 0x88e2_41b7_85f4_cff7_u64.to_le_bytes();
/// Bytes that versions 6 and 7 have where older versions have the metaindex handle.
const EXTENDED: [u8; 4] = [0x3e, 0, 0x7a, 0];
/// Position of the footer's checksum in versions 6 and 7.
const SUM: std::ops::Range<usize> = 5..9;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Footer {
    pub(super) version: u32,
    pub(super) checksum: Checksum,
    /// Input of block checksums; 0 below version 6.
    pub(super) base: u32,
    pub(super) metaindex: Handle,
    /// `None` in versions 6 and 7, which have it in the metaindex.
    pub(super) index: Option<Handle>,
}

impl Footer {
    /// Parses the footer at `offset`.
    pub(super) fn parse(bytes: &[u8; FOOTER], offset: u64) -> Result<Footer> {
        let corrupt = |what| Error::new(Kind::Corrupt, offset, what);
        let [kind, .., v0, v1, v2, v3, _, _, _, _, _, _, _, _] = *bytes;
        if bytes[FOOTER - MAGIC.len()..] != MAGIC {
            return Err(corrupt("not a block-based table of RocksDB: the magic number is missing"));
        }
        let version = u32::from_le_bytes([v0, v1, v2, v3]);
        if !(2..=7).contains(&version) {
            let newer = "the file has a format version newer than 7, the newest that is known";
            let older = "the file has a format version older than 2, the oldest that is read";
            let what = if version > 7 { newer } else { older };
            return Err(Error::new(Kind::Unsupported, offset, what));
        }
        let checksum = Checksum::from_number(kind).ok_or(Error::new(
            Kind::Unsupported,
            offset,
            "the checksum kind of the file is not known",
        ))?;
        let mut rest = Bytes(&bytes[1..41]);
        if version < 6 {
            let metaindex = Handle::read(&mut rest).map_err(|e| e.shifted(offset))?;
            let index = Handle::read(&mut rest).map_err(|e| e.shifted(offset))?;
            return Ok(Footer { version, checksum, base: 0, metaindex, index: Some(index) });
        }
        if rest.take(4)? != EXTENDED {
            return Err(corrupt("the footer lacks the magic bytes of its version"));
        }
        let (sum, base, size) = (rest.u32()?, rest.u32()?, rest.u32()?);
        if rest.0.iter().any(|&byte| byte != 0) {
            return Err(corrupt("reserved bytes of the footer are not zero"));
        }
        let mut blank = *bytes;
        blank[SUM].fill(0);
        if checksum != Checksum::None && checksum.of(&blank).wrapping_add(context(base, offset)) != sum {
            return Err(corrupt("the checksum of the footer is wrong"));
        }
        let start = offset.checked_sub(u64::from(size) + TRAILER as u64);
        let start = start.ok_or(corrupt("the footer has a block before the start of the file"))?;
        Ok(Footer { version, checksum, base, metaindex: Handle::new(start, size.into()), index: None })
    }
}
