//! Fixed-size parts of a pack: its header, and the headers and trailers of its segments.

use linerate_core::{Error, Kind, Result};

use crate::files::fields::{has_valid_checksum, put, put_checksum, u16_at, u32_at, u64_at};

const MAGIC: &[u8; 8] = b"\x89LRPACK\n";
const SEGMENT_MAGIC: &[u8; 8] = b"LRPKSEG\n";
const END_MAGIC: &[u8; 8] = b"LRPKEND\n";
const VERSION: u16 = 1;
/// Flag of a pack whose dictionaries are all uncompressed.
const UNCOMPRESSED: u16 = 1;
/// Alignment of all structures and dictionaries: a cache line.
pub(super) const ALIGN: u64 = 64;

pub(super) const fn corrupt(at: u64, what: &'static str) -> Error {
    Error::new(Kind::Corrupt, at, what)
}

/// Header of a pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) uncompressed: bool,
    /// zstd compression level.
    pub(super) level: i32,
}

impl Header {
    pub(super) const LEN: usize = 64;

    pub(super) fn write(&self) -> [u8; Header::LEN] {
        let mut out = [0; Header::LEN];
        put(&mut out, 0, MAGIC);
        put(&mut out, 8, &VERSION.to_le_bytes());
        put(&mut out, 10, &if self.uncompressed { UNCOMPRESSED } else { 0 }.to_le_bytes());
        put(&mut out, 12, &self.level.to_le_bytes());
        put_checksum(&mut out);
        out
    }

    pub(super) fn parse(bytes: &[u8; Header::LEN]) -> Result<Header> {
        if !bytes.starts_with(MAGIC) {
            return Err(corrupt(0, "not a pack of dictionaries: the magic number is missing"));
        }
        if !has_valid_checksum(bytes) {
            return Err(corrupt(0, "the header of the pack is damaged"));
        }
        let uncompressed = u16_at(bytes, 10) & UNCOMPRESSED != 0;
        let header = Header { uncompressed, level: u32_at(bytes, 12) as i32 };
        // Unused bytes are zero, so that later versions can use them.
        if header.write() != *bytes {
            return Err(Error::new(Kind::Unsupported, 8, "the version of the pack is not supported"));
        }
        Ok(header)
    }
}

/// Header of a segment: the bytes of one commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SegmentHeader {
    pub(super) at: u64,
    /// Length of the segment, header and trailers included.
    pub(super) len: u64,
    pub(super) generation: u64,
}

impl SegmentHeader {
    pub(super) const LEN: usize = 64;

    pub(super) fn write(&self) -> [u8; SegmentHeader::LEN] {
        let mut out = [0; SegmentHeader::LEN];
        put(&mut out, 0, SEGMENT_MAGIC);
        put(&mut out, 8, &self.at.to_le_bytes());
        put(&mut out, 16, &self.len.to_le_bytes());
        put(&mut out, 24, &self.generation.to_le_bytes());
        put_checksum(&mut out);
        out
    }

    /// Parses the header at `at`, if there is a valid one.
    pub(super) fn parse(bytes: &[u8; SegmentHeader::LEN], at: u64) -> Option<SegmentHeader> {
        let head =
            SegmentHeader { at: u64_at(bytes, 8), len: u64_at(bytes, 16), generation: u64_at(bytes, 24) };
        (head.write() == *bytes
            && head.at == at
            && head.len >= SegmentHeader::LEN as u64 + SegmentTrailer::PAIR_LEN)
            .then_some(head)
    }
}

/// Trailer of a segment. It is written twice, so that damage to one copy does no harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SegmentTrailer {
    /// Offset of the index.
    pub(super) index: u64,
    pub(super) index_len: u64,
    pub(super) index_hash: u64,
    /// Offset of the segment.
    pub(super) segment: u64,
    /// Offset of the segment's end. This is the length of the file, unless bytes were appended.
    pub(super) end: u64,
    pub(super) generation: u64,
}

impl SegmentTrailer {
    pub(super) const LEN: usize = 64;
    /// Size of both copies in bytes.
    pub(super) const PAIR_LEN: u64 = 2 * SegmentTrailer::LEN as u64;

    pub(super) fn write(&self) -> [u8; SegmentTrailer::LEN] {
        let mut out = [0; SegmentTrailer::LEN];
        put(&mut out, 0, END_MAGIC);
        let fields = [self.index, self.index_len, self.index_hash, self.segment, self.end, self.generation];
        for (i, field) in fields.iter().enumerate() {
            put(&mut out, 8 + 8 * i, &field.to_le_bytes());
        }
        put_checksum(&mut out);
        out
    }

    /// Parses the trailer of a segment that ends at `end`. Returns the first valid copy in its last
    /// 128 bytes.
    pub(super) fn parse(bytes: &[u8; 2 * SegmentTrailer::LEN], end: u64) -> Option<SegmentTrailer> {
        bytes.as_chunks::<{ SegmentTrailer::LEN }>().0.iter().find_map(|bytes| {
            let field = |i: usize| u64_at(bytes, 8 + 8 * i);
            let found = SegmentTrailer {
                index: field(0),
                index_len: field(1),
                index_hash: field(2),
                segment: field(3),
                end: field(4),
                generation: field(5),
            };
            let after = found.index.checked_add(found.index_len)?.checked_add(SegmentTrailer::PAIR_LEN)?;
            let inside = found.segment >= Header::LEN as u64
                && found.index >= found.segment.checked_add(SegmentHeader::LEN as u64)?
                && after <= end;
            (found.write() == *bytes && found.end == end && inside).then_some(found)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flipped_bit_is_an_error_and_one_trailer_suffices() {
        let header = Header { uncompressed: true, level: -5 };
        let head = SegmentHeader { at: 64, len: 4096, generation: 3 };
        let end = SegmentTrailer {
            index: 1024,
            index_len: 500,
            index_hash: 9,
            segment: 64,
            end: 4160,
            generation: 3,
        };
        let ends: [u8; 128] = [end.write(), end.write()].concat().try_into().unwrap();
        assert_eq!(Header::parse(&header.write()), Ok(header));
        assert_eq!(
            (SegmentHeader::parse(&head.write(), 64), SegmentHeader::parse(&head.write(), 128)),
            (Some(head), None)
        );
        assert_eq!(
            (SegmentTrailer::parse(&ends, 4160), SegmentTrailer::parse(&ends, 4161)),
            (Some(end), None)
        );
        for bit in 0..8 * 64 {
            let flipped = |mut bytes: [u8; 64]| {
                bytes[bit / 8] ^= 1 << (bit % 8);
                bytes
            };
            assert!(Header::parse(&flipped(header.write())).is_err());
            assert!(SegmentHeader::parse(&flipped(head.write()), 64).is_none());
            let both = [flipped(end.write()), flipped(end.write())].concat().try_into().unwrap();
            assert!(SegmentTrailer::parse(&both, 4160).is_none());
            for one in [[flipped(end.write()), end.write()], [end.write(), flipped(end.write())]] {
                assert_eq!(SegmentTrailer::parse(&one.concat().try_into().unwrap(), 4160), Some(end));
            }
        }
    }
}
