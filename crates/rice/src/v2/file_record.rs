//! The file record of a stream: bytes of the file that the samples come from, such as the header of
//! a WAV file.
//!
//! | bytes | what |
//! |---|---|
//! | 4 | checksum of the rest |
//! | 1 | form of the file: 1 is WAV |
//! | 1 | bytes per sample in the file, 1 to 4 |
//! | 1 | zeros at the end of the record, 0 to 3 |
//! | 1 | 0 |
//! | ... | bytes of the file, then the zeros |

use alloc::vec::Vec;

use linerate_core::{Error, Kind, Result};

use super::checksum::checksum;

const WAV: u8 = 1;
const HEAD: usize = 8;

/// Maximum number of bytes of the file in one record.
pub(crate) const MAX_RECORD: usize = 1 << 20;

/// Maximum number of 32-bit words of a record.
pub(crate) const MAX_WORDS: u32 = (HEAD + MAX_RECORD) as u32 / 4;

/// Bytes of a file that are not samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileRecord<'a> {
    /// Bytes per sample in the file.
    pub(crate) sample_bytes: u8,
    pub(crate) bytes: &'a [u8],
}

impl<'a> FileRecord<'a> {
    /// Appends the record to a stream.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let start = out.len();
        let zeros = self.bytes.len().next_multiple_of(4) - self.bytes.len();
        out.extend([0, 0, 0, 0, WAV, self.sample_bytes, zeros as u8, 0]);
        out.extend_from_slice(self.bytes);
        out.resize(out.len() + zeros, 0);
        let sum = checksum(&out[start + 4..]).to_le_bytes();
        out[start..start + 4].copy_from_slice(&sum);
    }

    /// Reads a record.
    pub(crate) fn parse(record: &'a [u8]) -> Result<FileRecord<'a>> {
        let damaged = Error::new(Kind::Corrupt, 0, "a record of the file is damaged");
        let (sum, rest) = record.split_first_chunk().ok_or(damaged)?;
        if u32::from_le_bytes(*sum) != checksum(rest) || record.len() / 4 > MAX_WORDS as usize {
            return Err(damaged);
        }
        match *rest {
            [WAV, sample_bytes @ 1..=4, zeros @ 0..=3, 0, ref bytes @ ..] => {
                let len = bytes.len().checked_sub(zeros.into()).ok_or(damaged)?;
                Ok(FileRecord { sample_bytes, bytes: &bytes[..len] })
            }
            _ => Err(Error::new(Kind::Unsupported, 4, "a record of a file of an unknown form")),
        }
    }
}
