//! Frame headers and masks (RFC 6455, section 5.2).

use std::hash::{BuildHasher, RandomState};

/// Largest size of a header in bytes: two, eight of length, four of mask.
pub(crate) const MAX_HEADER: usize = 14;

/// A frame's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) fin: bool,
    /// The three reserved bits; RSV1 is the highest.
    pub(crate) rsv: u8,
    pub(crate) opcode: u8,
    pub(crate) mask: Option<[u8; 4]>,
    pub(crate) len: u64,
}

/// RSV1 in [`Header::rsv`]: the message is compressed.
pub(crate) const RSV1: u8 = 4;

/// Opcode of a fragment that continues a message.
pub(crate) const CONTINUATION: u8 = 0;

impl Header {
    /// Whether this is a control frame, which may come between the fragments of a message.
    pub(crate) fn is_control(&self) -> bool {
        self.opcode & 8 != 0
    }

    /// Size in bytes of a header that begins with `first`.
    pub(crate) fn size(first: [u8; 2]) -> usize {
        let extended = match first[1] & 0x7f {
            126 => 2,
            127 => 8,
            _ => 0,
        };
        2 + extended + if first[1] & 0x80 != 0 { 4 } else { 0 }
    }

    /// Reads the header at the beginning of `bytes`, which has all its [`size`](Self::size) bytes.
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let has_mask = bytes[1] & 0x80 != 0;
        let rest = &bytes[2..];
        let (len, rest) = match bytes[1] & 0x7f {
            126 => (u64::from(u16::from_be_bytes([rest[0], rest[1]])), &rest[2..]),
            127 => (rest[..8].iter().fold(0, |len, &byte| len << 8 | u64::from(byte)), &rest[8..]),
            len => (u64::from(len), rest),
        };
        let mask = has_mask.then(|| [rest[0], rest[1], rest[2], rest[3]]);
        Header { fin: bytes[0] & 0x80 != 0, rsv: bytes[0] >> 4 & 7, opcode: bytes[0] & 15, mask, len }
    }

    /// Appends the header. The length takes as few bytes as possible.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let masked = if self.mask.is_some() { 0x80 } else { 0 };
        out.push(u8::from(self.fin) << 7 | self.rsv << 4 | self.opcode);
        match self.len {
            len @ ..126 => out.push(masked | len as u8),
            len @ ..=0xffff => {
                out.push(masked | 126);
                out.extend_from_slice(&(len as u16).to_be_bytes());
            }
            len => {
                out.push(masked | 127);
                out.extend_from_slice(&len.to_be_bytes());
            }
        }
        out.extend_from_slice(self.mask.as_ref().map_or(&[], |mask| &mask[..]));
    }

    /// Appends a frame: the header, with the length of the payload, and the payload, which is
    /// masked if the header has a mask.
    pub(crate) fn write_frame(self, payload: &[u8], out: &mut Vec<u8>) {
        out.reserve(MAX_HEADER + payload.len());
        Header { len: payload.len() as u64, ..self }.write(out);
        let start = out.len();
        out.extend_from_slice(payload);
        if let Some(mask) = self.mask {
            apply_mask(&mut out[start..], mask, 0);
        }
    }
}

/// A mask that cannot be predicted (RFC 6455, section 5.3).
pub(crate) fn fresh_mask() -> [u8; 4] {
    (RandomState::new().hash_one(()) as u32).to_ne_bytes()
}

/// Masks or unmasks bytes that begin at `position` of a payload.
pub(crate) fn apply_mask(bytes: &mut [u8], mask: [u8; 4], position: u64) {
    let mut mask = mask;
    mask.rotate_left((position & 3) as usize);
    if mask == [0; 4] {
        return;
    }
    let wide = u64::from_ne_bytes([mask[0], mask[1], mask[2], mask[3], mask[0], mask[1], mask[2], mask[3]]);
    let (words, rest) = bytes.as_chunks_mut::<8>();
    for word in words {
        *word = (u64::from_ne_bytes(*word) ^ wide).to_ne_bytes();
    }
    for (byte, key) in rest.iter_mut().zip(mask.iter().cycle()) {
        *byte ^= key;
    }
}

/// Reads headers that arrive in pieces of any size.
#[derive(Default)]
pub(crate) struct HeaderReader {
    bytes: [u8; MAX_HEADER],
    len: u8,
}

impl HeaderReader {
    /// Takes bytes of `input` until the header is whole. Returns how many it took, and the header
    /// if it is whole.
    pub(crate) fn read(&mut self, input: &[u8]) -> (usize, Option<Header>) {
        for (i, &byte) in input.iter().enumerate() {
            self.bytes[usize::from(self.len)] = byte;
            self.len += 1;
            let len = usize::from(self.len);
            if len >= 2 && len == Header::size([self.bytes[0], self.bytes[1]]) {
                self.len = 0;
                return (i + 1, Some(Header::read(&self.bytes[..len])));
            }
        }
        (input.len(), None)
    }

    /// Whether the reader is between headers.
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bytes of the header that was read last, until the next one begins.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..Header::size([self.bytes[0], self.bytes[1]])]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_in_pieces_are_read_as_written() {
        for len in [0, 1, 125, 126, 65_535, 65_536, 1 << 40] {
            for mask in [None, Some([1, 2, 3, 4])] {
                let header = Header { fin: len & 1 == 0, rsv: RSV1, opcode: 2, mask, len };
                let mut bytes = Vec::new();
                header.write(&mut bytes);
                assert_eq!(bytes.len(), Header::size([bytes[0], bytes[1]]));
                let mut reader = HeaderReader::default();
                for &byte in &bytes[..bytes.len() - 1] {
                    assert_eq!(reader.read(&[byte]), (1, None));
                }
                assert_eq!(reader.read(&[bytes[bytes.len() - 1], 99]), (1, Some(header)));
                assert_eq!(reader.bytes(), bytes);
            }
        }
    }

    #[test]
    fn masking_in_two_parts_equals_masking_at_once() {
        let plain: Vec<u8> = (0..50).collect();
        let mut whole = plain.clone();
        apply_mask(&mut whole, [9, 8, 7, 6], 0);
        assert_eq!((whole[0], whole[5], whole[49]), (9, 5 ^ 8, 49 ^ 8));
        for cut in 0..50 {
            let mut parts = plain.clone();
            let (first, second) = parts.split_at_mut(cut);
            apply_mask(first, [9, 8, 7, 6], 0);
            apply_mask(second, [9, 8, 7, 6], cut as u64);
            assert_eq!(parts, whole);
        }
    }
}
