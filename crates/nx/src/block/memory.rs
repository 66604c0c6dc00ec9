//! Allocates buffers of untrusted lengths. Running out of memory is an error, not an abort.

use linerate_core::{Error, Kind, Result};

/// Resizes `buffer` to `len` bytes of unspecified content. `at` is the offset of an error.
pub(crate) fn grow(buffer: &mut Vec<u8>, len: usize, at: u64) -> Result<()> {
    if buffer.capacity() < len {
        // Frees the old buffer first, so that both are never held at once.
        *buffer = Vec::new();
        *buffer = zeroed(0, len, at)?;
    }
    buffer.resize(len, 0);
    Ok(())
}

/// Lengthens `buffer` to `len` bytes, and keeps its content. `at` is the offset of an error.
pub(crate) fn lengthen(buffer: &mut Vec<u8>, len: usize, at: u64) -> Result<()> {
    buffer.try_reserve(len.saturating_sub(buffer.len())).map_err(|_| no_memory(at))?;
    buffer.resize(len, 0);
    Ok(())
}

/// Copies bytes. `at` is the offset of an error.
pub(crate) fn copied(bytes: &[u8], at: u64) -> Result<Vec<u8>> {
    let mut copy = Vec::new();
    copy.try_reserve_exact(bytes.len()).map_err(|_| no_memory(at))?;
    copy.extend_from_slice(bytes);
    Ok(copy)
}

/// Allocates a zeroed buffer of `capacity` bytes, but at least `len`; of `len` bytes if `capacity`
/// does not fit a `usize`. The system gives zeroed memory, which costs nothing until it is touched.
pub(crate) fn zeroed(capacity: u64, len: usize, at: u64) -> Result<Vec<u8>> {
    let capacity = usize::try_from(capacity).map_or(len, |capacity| capacity.max(len));
    let mut buffer = bytemuck::allocation::try_zeroed_vec(capacity).map_err(|()| no_memory(at))?;
    linerate_io::prefer_huge_pages(&mut buffer);
    Ok(buffer)
}

/// Creates the error of a failed allocation, with offset `at`.
pub(crate) const fn no_memory(at: u64) -> Error {
    Error::new(Kind::Limit, at, "not enough memory")
}
