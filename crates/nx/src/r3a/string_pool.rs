//! The string pool. It is that of Nx, but with the content size (u32) instead of the frame's magic
//! number.

use linerate_core::{Error, Kind, Result};

use super::frame::with_magic;
use super::header::u32_at;
use crate::format::limits::Limits;
use crate::format::string_pool::StringPool;

/// Decompresses and parses a pool of `files` paths. Offsets are in `bytes`.
pub(super) fn parse(bytes: &[u8], files: u32, limits: &Limits) -> Result<StringPool> {
    if files == 0 && bytes.is_empty() {
        return Ok(StringPool::default());
    }
    if bytes.len() < 4 {
        return Err(Error::new(Kind::Corrupt, 0, "a pool smaller than its size field"));
    }
    let stated = u64::from(u32_at(bytes, 0));
    if stated < u64::from(files) {
        return Err(Error::new(Kind::Corrupt, 0, "a pool smaller than its paths"));
    }
    if stated > limits.pool {
        return Err(Error::new(Kind::Limit, 0, "the paths are larger than the limit"));
    }
    let pool = StringPool::parse(&with_magic(&bytes[4..]), files, limits)?;
    match pool.iter().map(|path| path.len() as u64 + 1).sum::<u64>() == stated {
        true => Ok(pool),
        false => Err(Error::new(Kind::Corrupt, 0, "a pool of another size than stated")),
    }
}

/// Compresses paths in the given order.
#[cfg(feature = "pack")]
pub(super) fn encode(paths: &[&str]) -> Result<Vec<u8>> {
    let frame = StringPool::encode(paths.iter().copied())?;
    let size: u64 = paths.iter().map(|path| path.len() as u64 + 1).sum();
    let size =
        u32::try_from(size).map_err(|_| Error::new(Kind::Limit, 0, "the format holds 4 GiB of paths"))?;
    Ok([&size.to_le_bytes(), &frame[4..]].concat())
}
