//! Parses the header of a WAV file: RIFF, RF64 (EBU Tech 3306) or BW64 (ITU-R BS.2088).

use core::num::NonZeroU32;

use linerate_core::{Error, Kind, Result};

use super::Input;
use crate::v2::ElementType;

/// Largest header that is read, in bytes. It is kept in memory.
const MAX_HEAD: usize = 16 << 20;

/// Value of a chunk's size field if the size is in the `ds64` chunk or unknown.
const UNKNOWN: u32 = u32::MAX;

/// Format tag of integer samples.
const PCM: u16 = 1;
/// Format tag of an extensible format, whose GUID begins with the actual tag.
const EXTENSIBLE: u16 = 0xfffe;

/// The bytes after the format tag in the GUID of an extensible format.
const GUID_END: [u8; 14] = [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71];

const CUT: &str = "the WAV file ends before its samples begin";

/// Header of a WAV file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WavHeader {
    /// All bytes before the samples.
    pub(super) head: Vec<u8>,
    pub(super) format: WavFormat,
    /// Bytes of samples. `None` if they go on to the end of the file.
    pub(super) data: Option<u64>,
}

/// How samples are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WavFormat {
    pub(super) channels: NonZeroU32,
    /// Bytes of a sample, 1 to 4.
    pub(super) sample_bytes: u8,
}

impl WavFormat {
    /// Bytes of a frame, which has a sample of each channel.
    pub(super) fn frame(&self) -> u64 {
        u64::from(self.channels.get()) * u64::from(self.sample_bytes)
    }

    pub(super) fn element(&self) -> ElementType {
        stored_as(self.sample_bytes)
    }
}

/// Returns the type that samples of `sample_bytes` bytes are encoded as. In a WAV file, samples of
/// one byte are unsigned, and wider samples are signed.
pub(super) fn stored_as(sample_bytes: u8) -> ElementType {
    match sample_bytes {
        1 => ElementType::U16,
        2 => ElementType::I16,
        _ => ElementType::I32,
    }
}

/// Whether `start`, the first 12 bytes of a file, are those of a WAV file.
pub(super) fn is_wav(start: &[u8]) -> bool {
    matches!(start, [form @ .., b'W', b'A', b'V', b'E'] if form.len() == 8 && matches!(&form[..4], b"RIFF" | b"RF64" | b"BW64"))
}

/// Returns the number of bytes of samples that follow `head`, the last part of a WAV file's header.
/// `None` if `head` does not end with the id and size of the `data` chunk, or if that size is
/// unknown or in the `ds64` chunk.
pub(super) fn data_after(head: &[u8]) -> Option<u64> {
    let size = head.last_chunk().map(|size| u32::from_le_bytes(*size)).filter(|size| *size != UNKNOWN)?;
    head[..head.len() - 4].ends_with(b"data").then_some(size.into())
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

impl WavHeader {
    /// Reads up to the first sample.
    ///
    /// # Errors
    /// * [`Kind::Unsupported`] for samples that are not integers of at most 32 bits.
    /// * [`Kind::Corrupt`] if it is not a WAV file or its header contradicts itself,
    ///   [`Kind::Truncated`] if the file ends before its samples, [`Kind::Limit`] for more than
    ///   16 MiB before them, [`Kind::Read`] if reading fails.
    pub(super) fn read(input: &mut Input) -> Result<WavHeader> {
        let mut head = Vec::new();
        input.append(&mut head, 12, CUT)?;
        if !is_wav(&head) {
            return Err(Error::new(Kind::Corrupt, 0, "this is not a WAV file"));
        }
        let (mut format, mut long_size) = (None, None);
        loop {
            let at = head.len();
            input.append(&mut head, 8, CUT)?;
            let size = u32::from_le_bytes([head[at + 4], head[at + 5], head[at + 6], head[at + 7]]);
            let id = [head[at], head[at + 1], head[at + 2], head[at + 3]];
            if &id == b"data" {
                let format = format.ok_or(Error::new(
                    Kind::Corrupt,
                    at as u64,
                    "a WAV file whose samples come before their format",
                ))?;
                let data = if size == UNKNOWN { long_size } else { Some(size.into()) };
                return Ok(WavHeader { head, format, data });
            }
            // A chunk of an odd size is followed by a byte of padding.
            let padded = u64::from(size) + u64::from(size & 1);
            if padded > MAX_HEAD.saturating_sub(head.len()) as u64 {
                return Err(Error::new(
                    Kind::Limit,
                    at as u64,
                    "more than 16 MiB before the samples of a WAV file",
                ));
            }
            let start = head.len();
            input.append(&mut head, padded, CUT)?;
            let chunk = &head[start..start + size as usize];
            match &id {
                b"fmt " => format = Some(parse_format(chunk).map_err(|e| e.shifted(start as u64))?),
                b"ds64" => {
                    long_size = chunk.get(8..16).and_then(|b| Some(u64::from_le_bytes(b.try_into().ok()?)))
                }
                _ => {}
            }
        }
    }
}

/// Parses the content of a `fmt ` chunk.
fn parse_format(chunk: &[u8]) -> Result<WavFormat> {
    let refuse = |what| Err(Error::new(Kind::Unsupported, 0, what));
    if chunk.len() < 16 {
        return Err(Error::new(Kind::Corrupt, 0, "the format of a WAV file has fewer than 16 bytes"));
    }
    let coding = match u16_at(chunk, 0) {
        EXTENSIBLE if chunk.len() < 40 => {
            return Err(Error::new(Kind::Corrupt, 0, "an extensible WAV format has fewer than 40 bytes"));
        }
        EXTENSIBLE if chunk[26..40] != GUID_END => {
            return refuse(
                "a WAV file of a coding that is not registered: only integers of 8 to 32 bits are encoded",
            );
        }
        EXTENSIBLE => u16_at(chunk, 24),
        coding => coding,
    };
    match coding {
        PCM => {}
        3 => {
            return refuse("a WAV file of floating-point samples: only integers of 8 to 32 bits are encoded");
        }
        6 => return refuse("a WAV file of A-law samples: only integers of 8 to 32 bits are encoded"),
        7 => return refuse("a WAV file of µ-law samples: only integers of 8 to 32 bits are encoded"),
        _ => return refuse("a WAV file of compressed samples: only integers of 8 to 32 bits are encoded"),
    }
    let (channels, frame, bits) = (u16_at(chunk, 2), u16_at(chunk, 12), u16_at(chunk, 14));
    let corrupt = Error::new(Kind::Corrupt, 0, "a WAV format whose sizes contradict each other");
    let channels = NonZeroU32::new(channels.into()).ok_or(corrupt)?;
    let sample_bytes = match u32::from(frame) / channels {
        n if n * channels.get() != u32::from(frame) => return Err(corrupt),
        n @ 1..=4 => n as u8,
        0 => return Err(corrupt),
        _ => {
            return refuse(
                "a WAV file of samples of more than 32 bits: only integers of 8 to 32 bits are encoded",
            );
        }
    };
    match bits {
        0 => Err(corrupt),
        bits if bits > u16::from(sample_bytes) * 8 => Err(corrupt),
        _ => Ok(WavFormat { channels, sample_bytes }),
    }
}

/// Converts samples of `sample_bytes` bytes each to the type of [`stored_as`], in little-endian
/// order. They fill `into`.
pub(super) fn widen(stored: &[u8], sample_bytes: u8, into: &mut [u8]) {
    match sample_bytes {
        1 => into.chunks_exact_mut(2).zip(stored).for_each(|(to, &from)| to.copy_from_slice(&[from, 0])),
        3 => into.chunks_exact_mut(4).zip(stored.chunks_exact(3)).for_each(|(to, from)| {
            to[..3].copy_from_slice(from);
            to[3] = if from[2] >> 7 == 1 { 0xff } else { 0 };
        }),
        _ => into.copy_from_slice(stored),
    }
}

/// Undoes [`widen`] in place. Returns the number of bytes, or `None` if a sample does not fit in
/// `sample_bytes` bytes.
pub(super) fn narrow(samples: &mut [u8], sample_bytes: u8) -> Option<usize> {
    let (size, kept) = match sample_bytes {
        1 => (2, 1),
        3 => (4, 3),
        _ => return Some(samples.len()),
    };
    let count = samples.len() / size;
    for i in 0..count {
        let last = samples[i * size + kept];
        let sign = if kept == 3 && samples[i * size + 2] >> 7 == 1 { 0xff } else { 0 };
        if last != sign {
            return None;
        }
        samples.copy_within(i * size..i * size + kept, i * kept);
    }
    Some(count * kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_of_every_size_are_widened_and_narrowed() {
        for (size, wide) in [(1u8, 2usize), (2, 2), (3, 4), (4, 4)] {
            let stored: Vec<u8> = (0..=255u8).cycle().take(12 * 255).collect();
            let mut samples = vec![0; stored.len() / usize::from(size) * wide];
            widen(&stored, size, &mut samples);
            let n = narrow(&mut samples, size).unwrap();
            assert_eq!(samples[..n], stored, "{size}");
        }
        assert_eq!(narrow(&mut [7, 1], 1), None);
        assert_eq!(narrow(&mut [0, 0, 0x80, 0], 3), None);
        assert_eq!(narrow(&mut [0, 0, 0x7f, 0xff], 3), None);
        assert_eq!(narrow(&mut [1, 2, 0x83, 0xff], 3), Some(3));
    }

    #[test]
    fn forms_are_told_by_their_first_twelve_bytes() {
        for form in [b"RIFF", b"RF64", b"BW64"] {
            assert!(is_wav(&[&form[..], b"\xff\xff\xff\xffWAVE"].concat()));
        }
        for other in [&b"RIFX\0\0\0\0WAVE"[..], b"RIFF\0\0\0\0AVI ", b"RIFF\0\0\0WAVE", b"", b"WAVE"] {
            assert!(!is_wav(other), "{other:?}");
        }
    }
}
