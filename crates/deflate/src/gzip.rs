//! Reads and writes the header of a gzip member (RFC 1952, section 2.3) with its optional fields.
//!
//! ```
//! use linerate_deflate::gzip::Header;
//! use linerate_deflate::{Format, Level, Scratch, Stream, bound, finish_bound};
//!
//! let name = Some(b"notes.txt".to_vec());
//! let header = Header { name, mtime: 1_234_567_890, ..Header::default() };
//! let mut file = header.to_bytes()?;
//! assert_eq!(Header::parse(&file)?, (header, file.len()));
//!
//! let mut stream = Stream::new_after_header(Format::Gzip, Level::Default);
//! let mut out = vec![0; bound(5) + finish_bound()];
//! let mut n = stream.encode(&mut Scratch::boxed(), b"hello", &mut out, true)?;
//! n += stream.finish(&mut out[n..])?;
//! file.extend(&out[..n]);
//! # Ok::<(), linerate_deflate::Error>(())
//! ```
//!
//! A gzip file is one or more members, each with its own header. Usually only the first header has
//! optional fields.

use alloc::vec::Vec;

use linerate_core::{Error, Kind, Result};

use crate::Format;
use crate::checksum::{CRC32_START, crc32};

// Flags (FLG). FTEXT, bit 0, is a hint that this module neither keeps nor writes.
const HEADER_CRC: u8 = 2;
const EXTRA: u8 = 4;
const NAME: u8 = 8;
const COMMENT: u8 = 16;
const RESERVED: u8 = 0xe0;

/// The compression method deflate (CM).
const DEFLATE: u8 = 8;

/// Maximum length of a name or comment, in bytes. A longer text is read and dropped; common file
/// systems do not accept it as a name.
const MAX_TEXT: usize = 1024;

/// The fields of a header. An absent field is `None`, 0 or empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The name of the file (FNAME), usually in Latin-1 or UTF-8. It may contain folders, which a
    /// reader must not trust.
    pub name: Option<Vec<u8>>,
    /// Modification time (MTIME) in seconds since 1970; 0 if unknown.
    pub mtime: u32,
    /// A comment for people (FCOMMENT).
    pub comment: Option<Vec<u8>>,
    /// The extra field (FEXTRA): subfields of an identifier of 2 bytes, a length of 2 bytes, and
    /// data.
    pub extra: Vec<u8>,
    /// Whether the low 16 bits of the header's CRC-32 follow the header (FHCRC).
    pub has_checksum: bool,
}

impl Header {
    /// Reads a header at the start of `input`. Returns the header and its size in bytes.
    ///
    /// # Errors
    /// Returns the errors of [`read`](Self::read).
    pub fn parse(input: &[u8]) -> Result<(Header, usize)> {
        let mut bytes = input.iter();
        let header = Header::read(|| Ok(bytes.next().copied()))?;
        Ok((header, input.len() - bytes.len()))
    }

    /// Reads a header byte by byte: `next` returns the next byte, or `None` at the end of the
    /// input.
    ///
    /// # Errors
    /// Returns one of these errors. Offsets are in bytes from the first one of the header.
    /// * [`Kind::Truncated`] if the input ends within the header.
    /// * [`Kind::Corrupt`] if it is not a gzip header, names a method other than deflate, has
    ///   reserved flags set, or has a wrong checksum.
    /// * Errors of `next` are returned unchanged.
    pub fn read(next: impl FnMut() -> Result<Option<u8>>) -> Result<Header> {
        let mut fields = Fields { next, position: 0, crc: CRC32_START };
        let [magic1, magic2, method, flags, t0, t1, t2, t3, _xfl, _os] = fields.array()?;
        let corrupt = |offset, message| Err(Error::new(Kind::Corrupt, offset, message));
        if [magic1, magic2] != [0x1f, 0x8b] {
            return corrupt(0, "the input is not in gzip format");
        }
        if method != DEFLATE {
            return corrupt(2, "the gzip header names a method other than deflate");
        }
        if flags & RESERVED != 0 {
            return corrupt(3, "the gzip header has reserved flags set");
        }
        let mut header = Header { mtime: u32::from_le_bytes([t0, t1, t2, t3]), ..Header::default() };
        if flags & EXTRA != 0 {
            let len = u16::from_le_bytes(fields.array()?);
            for _ in 0..len {
                header.extra.push(fields.byte()?);
            }
        }
        if flags & NAME != 0 {
            header.name = fields.text()?;
        }
        if flags & COMMENT != 0 {
            header.comment = fields.text()?;
        }
        if flags & HEADER_CRC != 0 {
            let (computed, offset) = (fields.crc as u16, fields.position);
            if u16::from_le_bytes(fields.array()?) != computed {
                return corrupt(offset, "the checksum of the gzip header is wrong");
            }
            header.has_checksum = true;
        }
        Ok(header)
    }

    /// Returns the header as bytes.
    ///
    /// # Errors
    /// Returns [`Kind::BadArgument`] if the name or the comment contains a zero byte, or the extra
    /// field has more than 65,535 bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let bad = |message| Error::new(Kind::BadArgument, 0, message);
        let mut bytes = Format::Gzip.header().to_vec();
        bytes[4..8].copy_from_slice(&self.mtime.to_le_bytes());
        if !self.extra.is_empty() {
            bytes[3] |= EXTRA;
            let len = u16::try_from(self.extra.len());
            let len = len.map_err(|_| bad("the extra field of the gzip header has more than 65535 bytes"))?;
            bytes.extend(len.to_le_bytes());
            bytes.extend(&self.extra);
        }
        for (flag, text) in [(NAME, &self.name), (COMMENT, &self.comment)] {
            let Some(text) = text else { continue };
            if text.contains(&0) {
                return Err(bad("the name or comment of the gzip header contains a zero byte"));
            }
            bytes[3] |= flag;
            bytes.extend(text);
            bytes.push(0);
        }
        if self.has_checksum {
            bytes[3] |= HEADER_CRC;
            let crc = crc32(CRC32_START, &bytes) as u16;
            bytes.extend(crc.to_le_bytes());
        }
        Ok(bytes)
    }

    /// Returns the size in bytes of the BGZF block that this header begins: see [`bgzf_block_len`].
    pub fn bgzf_block_len(&self) -> Option<usize> {
        bgzf_block_len(&self.extra)
    }
}

/// Iterates over the subfields of an extra field, as identifier and data (RFC 1952, section
/// 2.3.1.1). Ends at a damaged subfield.
fn subfields(extra: &[u8]) -> impl Iterator<Item = ([u8; 2], &[u8])> {
    let mut rest = extra;
    core::iter::from_fn(move || {
        let [id1, id2, len1, len2, tail @ ..] = rest else { return None };
        let (data, after) = tail.split_at_checked(usize::from(u16::from_le_bytes([*len1, *len2])))?;
        rest = after;
        Some(([*id1, *id2], data))
    })
}

/// Returns the size in bytes of a BGZF block (a gzip member with header and trailer) from the extra
/// field of its header, if it has one: subfield "BC" holds the size minus one in 2 bytes (SAM
/// specification, section 4.1).
pub fn bgzf_block_len(extra: &[u8]) -> Option<usize> {
    subfields(extra).find_map(|(id, data)| match (&id, data) {
        (b"BC", [low, high]) => Some(usize::from(u16::from_le_bytes([*low, *high])) + 1),
        _ => None,
    })
}

/// Reads fields and updates the checksum over them.
struct Fields<F> {
    next: F,
    /// Number of bytes read.
    position: u64,
    crc: u32,
}

impl<F: FnMut() -> Result<Option<u8>>> Fields<F> {
    fn byte(&mut self) -> Result<u8> {
        let cut = Error::new(Kind::Truncated, self.position, "the input ends inside the gzip header");
        let byte = (self.next)()?.ok_or(cut)?;
        self.position += 1;
        self.crc = crc32(self.crc, &[byte]);
        Ok(byte)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        for byte in &mut bytes {
            *byte = self.byte()?;
        }
        Ok(bytes)
    }

    /// Reads a text up to its zero byte. Returns `None` if it is longer than [`MAX_TEXT`].
    fn text(&mut self) -> Result<Option<Vec<u8>>> {
        let (mut text, mut is_too_long) = (Vec::new(), false);
        loop {
            match self.byte()? {
                0 => return Ok((!is_too_long).then_some(text)),
                byte if text.len() < MAX_TEXT => text.push(byte),
                _ => is_too_long = true,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    fn full() -> Header {
        Header {
            name: Some(b"name".to_vec()),
            mtime: 1,
            comment: Some(b"comment".to_vec()),
            extra: vec![b'X', b'Y', 0, 0, b'B', b'C', 2, 0, 1, 0],
            has_checksum: true,
        }
    }

    #[test]
    fn written_headers_parse_to_themselves() {
        for header in [Header::default(), full(), Header { has_checksum: false, ..full() }] {
            let bytes = header.to_bytes().unwrap();
            assert_eq!(Header::parse(&[&bytes[..], b"data"].concat()), Ok((header, bytes.len())));
        }
        assert_eq!(Header::default().to_bytes().unwrap(), Format::Gzip.header());
    }

    #[test]
    fn fields_are_written_in_the_order_of_the_rfc() {
        let mut expected = vec![0x1f, 0x8b, 8, 0x1e, 1, 0, 0, 0, 4, 3];
        expected.extend_from_slice(&[10, 0, b'X', b'Y', 0, 0, b'B', b'C', 2, 0, 1, 0]);
        expected.extend_from_slice(b"name\0comment\0");
        let crc = crc32(CRC32_START, &expected) as u16;
        expected.extend_from_slice(&crc.to_le_bytes());
        assert_eq!(full().to_bytes().unwrap(), expected);
    }

    #[test]
    fn truncated_header_is_an_error_at_its_end() {
        let bytes = full().to_bytes().unwrap();
        for len in 0..bytes.len() {
            let error = Header::parse(&bytes[..len]).unwrap_err();
            assert_eq!((error.kind, error.offset), (Kind::Truncated, len as u64));
        }
    }

    #[test]
    fn wrong_magic_method_flags_and_checksum_are_corrupt() {
        let bytes = full().to_bytes().unwrap();
        for (at, value, offset) in [
            (0, 0, 0),
            (1, 0, 0),
            (2, 7, 2),
            (3, 0x20, 3),
            (bytes.len() - 1, !bytes[bytes.len() - 1], bytes.len() as u64 - 2),
        ] {
            let mut damaged = bytes.clone();
            damaged[at] = value;
            let error = Header::parse(&damaged).unwrap_err();
            assert_eq!((error.kind, error.offset), (Kind::Corrupt, offset), "byte {at}");
        }
    }

    #[test]
    fn text_longer_than_the_maximum_is_dropped() {
        for (len, kept) in [(MAX_TEXT, true), (MAX_TEXT + 1, false), (100_000, false)] {
            let header = Header { name: Some(vec![b'x'; len]), ..Header::default() };
            let bytes = header.to_bytes().unwrap();
            let (read, n) = Header::parse(&bytes).unwrap();
            assert_eq!((read.name.is_some(), n), (kept, bytes.len()));
        }
    }

    #[test]
    fn zero_bytes_in_text_and_long_extra_fields_are_a_bad_argument() {
        for header in [
            Header { name: Some(vec![b'a', 0]), ..Header::default() },
            Header { comment: Some(vec![0]), ..Header::default() },
            Header { extra: vec![0; 65_536], ..Header::default() },
        ] {
            assert_eq!(header.to_bytes().unwrap_err().kind, Kind::BadArgument);
        }
    }

    #[test]
    fn bgzf_size_is_read_from_the_subfield_bc() {
        assert_eq!(full().bgzf_block_len(), Some(2));
        assert_eq!(bgzf_block_len(b"BC\x02\x00\xff\xff"), Some(65_536));
        for none in [&b""[..], b"BC\x02\x00\x01", b"BC\x01\x00\x01", b"BD\x02\x00\x01\x00", b"AB\xff\xffBC"] {
            assert_eq!(bgzf_block_len(none), None, "{none:?}");
        }
    }
}
