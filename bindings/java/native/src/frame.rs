//! What a websocket message brought, copied from Java.

use std::mem::MaybeUninit;

/// Bytes that need no memory of their own: most frames are shorter.
const SHORT: usize = 2048;

/// A frame, where Java cannot write to it while it is looked at.
pub(crate) struct Frame {
    short: [MaybeUninit<u8>; SHORT],
    long: Vec<u8>,
}

/// No memory for a frame.
#[derive(Debug)]
pub(crate) struct NoMemory;

impl Frame {
    /// A frame without room.
    pub(crate) fn new() -> Self {
        Frame { short: [const { MaybeUninit::uninit() }; SHORT], long: Vec::new() }
    }

    /// Room for `len` bytes, not cleared: all of it is written next.
    pub(crate) fn room(&mut self, len: usize) -> Result<&mut [MaybeUninit<u8>], NoMemory> {
        if len <= SHORT {
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
    fn room_is_as_long_as_asked_for() {
        for len in [0, 1, SHORT - 1, SHORT, SHORT + 1, 100_000] {
            assert_eq!(Frame::new().room(len).unwrap().len(), len);
        }
        assert!(Frame::new().room(usize::MAX).is_err());
    }
}
