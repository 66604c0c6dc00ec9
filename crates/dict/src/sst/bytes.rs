//! Reads integers at the front of a byte slice.

use linerate_core::{Error, Kind, Result};

/// The input is too short. The caller adds the offset.
pub(super) const TOO_SHORT: Error = Error::new(Kind::Corrupt, 0, "a block ends within a field");
const LONG: Error = Error::new(Kind::Corrupt, 0, "an integer is too large for its field");

/// Remaining bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

impl<'a> Bytes<'a> {
    #[inline]
    pub(super) fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        let (front, rest) = self.0.split_at_checked(n).ok_or(TOO_SHORT)?;
        self.0 = rest;
        Ok(front)
    }

    pub(super) fn u32(&mut self) -> Result<u32> {
        let (front, rest) = self.0.split_first_chunk().ok_or(TOO_SHORT)?;
        self.0 = rest;
        Ok(u32::from_le_bytes(*front))
    }

    /// Reads LEB128: seven bits per byte, the lowest first. All bytes but the last have the top bit
    /// set.
    #[inline]
    pub(super) fn varint64(&mut self) -> Result<u64> {
        if let Some((&byte, rest)) = self.0.split_first()
            && byte < 128
        {
            self.0 = rest;
            return Ok(byte.into());
        }
        let mut value = 0u64;
        for (i, &byte) in self.0.iter().enumerate() {
            let bits = u64::from(byte & 127);
            let shift = 7 * i as u32;
            if shift > 63 || bits << shift >> shift != bits {
                return Err(LONG);
            }
            value |= bits << shift;
            if byte < 128 {
                self.0 = &self.0[i + 1..];
                return Ok(value);
            }
        }
        Err(TOO_SHORT)
    }

    #[inline]
    pub(super) fn varint32(&mut self) -> Result<u32> {
        u32::try_from(self.varint64()?).map_err(|_| LONG)
    }

    /// Reads a zigzag integer, whose lowest bit is the sign.
    pub(super) fn zigzag64(&mut self) -> Result<i64> {
        let value = self.varint64()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// Reads length-prefixed bytes.
    pub(super) fn prefixed(&mut self) -> Result<&'a [u8]> {
        let len = self.varint32()?;
        self.take(len as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_of_every_length_are_read() {
        let mut bytes = Bytes(&[5, 0x80, 1, 0xff, 0xff, 0xff, 0xff, 0x0f, 3, 2]);
        assert_eq!(bytes.varint64(), Ok(5));
        assert_eq!(bytes.varint64(), Ok(128));
        assert_eq!(bytes.varint32(), Ok(u32::MAX));
        assert_eq!((bytes.zigzag64(), bytes.zigzag64()), (Ok(-2), Ok(1)));
        assert_eq!(bytes.varint64(), Err(TOO_SHORT));
        let most = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
        assert_eq!(Bytes(&most).varint64(), Ok(u64::MAX));
        assert_eq!(Bytes(&most).zigzag64(), Ok(i64::MIN));
    }

    #[test]
    fn too_long_and_truncated_integers_are_errors() {
        assert_eq!(Bytes(&[0x80; 9]).varint64(), Err(TOO_SHORT));
        assert_eq!(Bytes(&[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2]).varint64(), Err(LONG));
        assert_eq!(Bytes(&[0xff; 40]).varint64(), Err(LONG));
        assert_eq!(Bytes(&[0x80, 0x80, 0x80, 0x80, 0x10]).varint32(), Err(LONG));
        assert_eq!(Bytes(&[4, 1, 2, 3]).prefixed(), Err(TOO_SHORT));
        assert_eq!(Bytes(&[3, 1, 2, 3]).prefixed(), Ok(&[1, 2, 3][..]));
        assert_eq!(Bytes(&[1, 2, 3]).u32(), Err(TOO_SHORT));
    }
}
