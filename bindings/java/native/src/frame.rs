//! What a websocket message brought, copied from Java.

/// Bytes that need no memory of their own: most frames are shorter.
const SHORT: usize = 2048;

/// A frame, where Java cannot write to it while it is looked at.
pub(crate) struct Frame {
    short: [u8; SHORT],
    long: Vec<u8>,
}

/// No memory for a frame.
#[derive(Debug)]
pub(crate) struct NoMemory;

impl Frame {
    /// A frame without room.
    pub(crate) fn new() -> Self {
        Frame { short: [0; SHORT], long: Vec::new() }
    }

    /// Room for `len` bytes.
    pub(crate) fn room(&mut self, len: usize) -> Result<&mut [u8], NoMemory> {
        if len <= SHORT {
            return Ok(&mut self.short[..len]);
        }
        self.long.try_reserve_exact(len).map_err(|_| NoMemory)?;
        self.long.resize(len, 0);
        Ok(&mut self.long)
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
