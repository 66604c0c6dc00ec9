//! The user-data segment: extensions, each with an id and bytes. Readers skip extensions that they
//! do not know.
//!
//! The payload is, for each extension, its id (u32), its size (u32), its bytes, and padding to 8
//! bytes.

use linerate_core::{Error, Kind, Result};

use super::header::{bits, u32_at};
use super::segment::{self, Sizes};
use crate::block::memory::copied;
use crate::format::limits::Limits;

/// Maximum number of extensions.
pub(super) const MAX_EXTENSIONS: usize = 16;

const SIZES: Sizes = Sizes { compressed: 28, content: 30, may_be_stored: false };

/// One extension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extension {
    /// The id.
    pub id: u32,
    /// The data.
    pub data: Vec<u8>,
}

const fn corrupt(at: usize, what: &'static str) -> Error {
    Error::new(Kind::Corrupt, at as u64, what)
}

/// Parses the segment after offset `from`.
pub(super) fn parse(head: &[u8], from: usize, limits: &Limits) -> Result<Vec<Extension>> {
    let segment = segment::parse(head, from, SIZES, limits, |word| match bits(word, 62, 2) {
        0 => Ok(()),
        _ => Err(Error::new(Kind::Unsupported, 0, "user data of an unknown version")),
    })?;
    let count = bits(segment.word, 58, 4) as usize + 1;
    // The error gets the offset of the segment, since an offset in the decompressed payload means
    // nothing in the archive.
    extensions(&segment.payload, count).map_err(|e| e.with_offset(from.next_multiple_of(8) as u64))
}

fn extensions(payload: &[u8], count: usize) -> Result<Vec<Extension>> {
    let mut found = Vec::with_capacity(count);
    let mut at = 0usize;
    for _ in 0..count {
        let short = corrupt(at, "user data that ends within an extension");
        let word = payload.get(at..).and_then(|rest| rest.first_chunk::<8>()).ok_or(short)?;
        let (id, size) = (u32_at(word, 0), u32_at(word, 4) as usize);
        let data = (at + 8).checked_add(size).and_then(|end| payload.get(at + 8..end)).ok_or(short)?;
        found.push(Extension { id, data: copied(data, at as u64)? });
        at = (at + 8 + size).next_multiple_of(8);
    }
    // The padding of the last extension may be missing.
    match payload.len() <= at {
        true => Ok(found),
        false => Err(corrupt(at, "bytes after the last extension")),
    }
}

/// Appends the segment.
#[cfg(feature = "pack")]
pub(super) fn write(extensions: &[Extension], out: &mut Vec<u8>) -> Result<()> {
    if extensions.is_empty() || extensions.len() > MAX_EXTENSIONS {
        return Err(Error::new(Kind::Limit, 0, "the format holds 1 to 16 extensions"));
    }
    let mut payload = Vec::new();
    for extension in extensions {
        let size = u32::try_from(extension.data.len())
            .map_err(|_| Error::new(Kind::Limit, 0, "an extension of 4 GiB or more"))?;
        payload.extend_from_slice(&extension.id.to_le_bytes());
        payload.extend_from_slice(&size.to_le_bytes());
        payload.extend_from_slice(&extension.data);
        payload.resize(payload.len().next_multiple_of(8), 0);
    }
    segment::write(&payload, SIZES, (extensions.len() as u64 - 1) << 58, out)
}
