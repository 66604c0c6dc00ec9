//! The content of a websocket message, copied from Java.

use std::mem::MaybeUninit;

/// Length in bytes of the longest frame that is kept on the stack. Most frames are shorter.
const INLINE: usize = 2048;

/// A frame in memory that Java cannot write to while it is decoded.
pub(crate) struct Frame {
    short: [MaybeUninit<u8>; INLINE],
    long: Vec<u8>,
}

/// Memory for a frame ran out.
#[derive(Debug)]
pub(crate) struct NoMemory;

impl Frame {
    /// Creates an empty frame.
    pub(crate) fn new() -> Self {
        Frame { short: [const { MaybeUninit::uninit() }; INLINE], long: Vec::new() }
    }

    /// Returns an uninitialized buffer of `len` bytes, all of which the caller must write.
    pub(crate) fn buffer(&mut self, len: usize) -> Result<&mut [MaybeUninit<u8>], NoMemory> {
        if len <= INLINE {
            return Ok(&mut self.short[..len]);
        }
        self.long.try_reserve_exact(len).map_err(|_| NoMemory)?;
        Ok(&mut self.long.spare_capacity_mut()[..len])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffer_has_the_requested_length() {
        for len in [0, 1, INLINE - 1, INLINE, INLINE + 1, 100_000] {
            assert_eq!(Frame::new().buffer(len).unwrap().len(), len);
        }
        assert!(Frame::new().buffer(usize::MAX).is_err());
    }
}
