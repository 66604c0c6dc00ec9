//! Headers of frames and blocks, and the extent of a frame (RFC 8878, section 3.1.1).

use linerate_core::{Error, Kind, Result};

/// First four bytes of a frame, little-endian.
pub(crate) const MAGIC: u32 = 0xfd2f_b528;
/// First four bytes of a skippable frame, little-endian. The low four bits are free.
const SKIPPABLE_MAGIC: u32 = 0x184d_2a50;
/// Largest number of bytes that a block holds or regenerates (Block_Maximum_Size).
pub const BLOCK_MAX: usize = 128 << 10;
/// Logarithm of the largest supported window, rounded down. Windows of 4 GiB or more are
/// unsupported.
const WINDOW_LOG_MAX: u32 = 31;
/// Size of a skippable frame's header in bytes, magic number included.
pub(crate) const SKIPPABLE_HEADER: usize = 8;
/// Size of the longest frame header in bytes, magic number included.
pub(crate) const HEADER_MAX: usize = 18;

/// Whether frames begin with the magic number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// Frames begin with the magic number, as in files.
    #[default]
    Standard,
    /// Frames begin without the magic number, and there are no skippable frames.
    Magicless,
}

/// The header of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header {
    /// A data frame.
    Frame(FrameHeader),
    /// A skippable frame.
    Skippable {
        /// Low four bits of the magic number.
        variant: u8,
        /// Number of bytes after the header of 8 bytes.
        len: u32,
    },
}

impl Header {
    /// Parses the header at the beginning of `src`.
    ///
    /// # Errors
    /// Returns [`Kind::Truncated`] if `src` ends within the header, [`Kind::Corrupt`] for an
    /// invalid header, and [`Kind::Unsupported`] for a window of 4 GiB or more, unless the frame is
    /// a single segment.
    pub fn parse(src: &[u8], format: Format) -> Result<Header> {
        match parse_partial(src, format)? {
            PartialHeader::Complete(header) => Ok(header),
            PartialHeader::Needs(_) => {
                Err(Error::new(Kind::Truncated, src.len() as u64, "a frame ends in its header"))
            }
        }
    }
}

/// The header of a data frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHeader {
    /// Size of the header in bytes, magic number included.
    pub len: usize,
    /// Window size in bytes. For a single segment, it is the content size.
    pub window: u64,
    /// Frame_Content_Size, if present.
    pub content_size: Option<u64>,
    /// Dictionary_ID; 0 if absent.
    pub dictionary_id: u32,
    /// Whether a content checksum follows the last block.
    pub checksum: bool,
    /// Single_Segment_flag: the content is meant for one contiguous buffer.
    pub single_segment: bool,
}

impl FrameHeader {
    /// Parses the header of the data frame at the beginning of `src`.
    ///
    /// # Errors
    /// Returns the errors of [`Header::parse`], and [`Kind::BadArgument`] for a skippable frame.
    pub fn parse(src: &[u8], format: Format) -> Result<FrameHeader> {
        match Header::parse(src, format)? {
            Header::Frame(header) => Ok(header),
            Header::Skippable { .. } => Err(Error::new(Kind::BadArgument, 0, "the frame is a skippable one")),
        }
    }

    /// Largest number of bytes that a block of the frame may hold or regenerate.
    pub(crate) fn block_max(&self) -> usize {
        self.window.min(BLOCK_MAX as u64) as usize
    }
}

/// Returns the size of a skippable frame in bytes, header included, if that many are `available`.
/// It is computed in 64 bits, because nearly 4 GiB plus a header overflow 32 bits.
pub(crate) fn skippable_extent(len: u32, available: usize) -> Option<usize> {
    let extent = u64::from(len) + SKIPPABLE_HEADER as u64;
    usize::try_from(extent).ok().filter(|&extent| extent <= available)
}

/// A complete header, or the number of bytes needed to parse further.
pub(crate) enum PartialHeader {
    Complete(Header),
    Needs(usize),
}

/// Parses as much of a header as `src` has.
pub(crate) fn parse_partial(src: &[u8], format: Format) -> Result<PartialHeader> {
    let mut at = 0;
    if format == Format::Standard {
        let Some(magic) = src.first_chunk::<4>() else {
            return if could_be_magic(src) { Ok(PartialHeader::Needs(4)) } else { Err(not_a_frame()) };
        };
        let magic = u32::from_le_bytes(*magic);
        if magic & !15 == SKIPPABLE_MAGIC {
            let Some(len) = src.get(4..SKIPPABLE_HEADER) else {
                return Ok(PartialHeader::Needs(SKIPPABLE_HEADER));
            };
            let len = u32::from_le_bytes(len.try_into().expect("four bytes"));
            return Ok(PartialHeader::Complete(Header::Skippable { variant: (magic & 15) as u8, len }));
        }
        if magic != MAGIC {
            return Err(not_a_frame());
        }
        at = 4;
    }
    let Some(&descriptor) = src.get(at) else { return Ok(PartialHeader::Needs(at + 1)) };
    let single_segment = descriptor >> 5 & 1 == 1;
    let id_len = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let size_len = match descriptor >> 6 {
        0 => usize::from(single_segment),
        flag => 1 << flag,
    };
    let len = at + 1 + usize::from(!single_segment) + id_len + size_len;
    if descriptor >> 3 & 1 == 1 {
        return Err(Error::new(Kind::Corrupt, at as u64, "a reserved bit of the frame's descriptor is set"));
    }
    if src.len() < len {
        return Ok(PartialHeader::Needs(len));
    }
    at += 1;
    let mut window = 0;
    if !single_segment {
        let (exponent, mantissa) = (u32::from(src[at] >> 3), u64::from(src[at] & 7));
        if exponent + 10 > WINDOW_LOG_MAX {
            return Err(Error::new(Kind::Unsupported, at as u64, "the frame's window is 4 GiB or more"));
        }
        window = (8 + mantissa) << (exponent + 7);
        at += 1;
    }
    let dictionary_id = little_endian(&src[at..at + id_len]) as u32;
    at += id_len;
    let size = little_endian(&src[at..len]) + if size_len == 2 { 256 } else { 0 };
    let content_size = (size_len > 0).then_some(size);
    if single_segment {
        window = size;
    }
    let checksum = descriptor >> 2 & 1 == 1;
    let header = FrameHeader { len, window, content_size, dictionary_id, checksum, single_segment };
    Ok(PartialHeader::Complete(Header::Frame(header)))
}

/// Returns whether `start` is a prefix of a valid magic number.
fn could_be_magic(start: &[u8]) -> bool {
    let skippable = SKIPPABLE_MAGIC.to_le_bytes();
    let free_bits = |(i, byte): (usize, &u8)| if i == 0 { byte & !15 } else { *byte };
    MAGIC.to_le_bytes().starts_with(start)
        || start.iter().enumerate().map(free_bits).zip(skippable).all(|(a, b)| a == b)
}

fn not_a_frame() -> Error {
    Error::new(Kind::Corrupt, 0, "no zstd frame begins here")
}

fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// The type of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockType {
    Raw,
    Rle,
    Compressed,
}

/// The 3-byte header of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockHeader {
    pub(crate) last: bool,
    pub(crate) kind: BlockType,
    /// Number of bytes stored. For [`BlockType::Rle`], the number of bytes regenerated from the one
    /// stored.
    pub(crate) size: usize,
}

impl BlockHeader {
    pub(crate) const LEN: usize = 3;

    /// Parses a header. Errors have the offset 0.
    #[inline]
    pub(crate) fn parse(bytes: [u8; 3], block_max: usize) -> Result<BlockHeader> {
        let word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]);
        let size = (word >> 3) as usize;
        let kind = match word >> 1 & 3 {
            0 => BlockType::Raw,
            1 => BlockType::Rle,
            2 => BlockType::Compressed,
            _ => return Err(Error::new(Kind::Corrupt, 0, "a block has the reserved type")),
        };
        // The maximum of a single segment frame without content is 0, but it may have a compressed
        // block of 2 bytes.
        let max = if kind == BlockType::Compressed { block_max.max(2) } else { block_max };
        if size > max {
            return Err(Error::new(Kind::Corrupt, 0, "a block is larger than its frame allows"));
        }
        Ok(BlockHeader { last: word & 1 == 1, kind, size })
    }

    /// Number of bytes after the header.
    pub(crate) fn stored(&self) -> usize {
        if self.kind == BlockType::Rle { 1 } else { self.size }
    }
}

/// The extent of a frame, known without decoding it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameExtent {
    /// Size of the frame in bytes, from its magic number to its checksum.
    pub compressed: usize,
    /// Upper bound of the decoded size. It is exact if [`content_size`](Self::content_size) is
    /// known.
    pub bound: u64,
    /// Decoded size, if the header states it; 0 for a skippable frame.
    pub content_size: Option<u64>,
    /// Number of blocks.
    pub blocks: usize,
}

/// Finds the end of the frame at the beginning of `src` from its block headers.
///
/// # Errors
/// Returns the errors of [`Header::parse`], [`Kind::Truncated`] if `src` ends before the frame
/// does, and [`Kind::Corrupt`] for an invalid block header.
pub fn frame_extent(src: &[u8], format: Format) -> Result<FrameExtent> {
    let truncated = Error::new(Kind::Truncated, src.len() as u64, "the input ends before the frame does");
    let header = match Header::parse(src, format)? {
        Header::Frame(header) => header,
        Header::Skippable { len, .. } => {
            let compressed = skippable_extent(len, src.len()).ok_or(truncated)?;
            return Ok(FrameExtent { compressed, bound: 0, content_size: Some(0), blocks: 0 });
        }
    };
    let (mut at, mut blocks, mut bound) = (header.len, 0, 0);
    loop {
        let bytes = src.get(at..at + BlockHeader::LEN).ok_or(truncated)?;
        let block = BlockHeader::parse(bytes.try_into().expect("three bytes"), header.block_max())
            .map_err(|e| e.shifted(at as u64))?;
        at += BlockHeader::LEN + block.stored();
        if at > src.len() {
            return Err(truncated);
        }
        blocks += 1;
        bound += match block.kind {
            BlockType::Compressed => header.block_max() as u64,
            BlockType::Raw | BlockType::Rle => block.size as u64,
        };
        if block.last {
            break;
        }
    }
    at += if header.checksum { 4 } else { 0 };
    if at > src.len() {
        return Err(truncated);
    }
    let bound = header.content_size.unwrap_or(bound);
    Ok(FrameExtent { compressed: at, bound, content_size: header.content_size, blocks })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncated_skippable_frame_of_4_gib_is_an_error() {
        for len in [u32::MAX - 8, u32::MAX - 7, u32::MAX] {
            let frame = [&SKIPPABLE_MAGIC.to_le_bytes()[..], &len.to_le_bytes(), &[0; 100]].concat();
            let found = frame_extent(&frame, Format::Standard);
            assert_eq!(found.map_err(|e| (e.kind, e.offset)), Err((Kind::Truncated, 108)), "{len}");
        }
        // With enough bytes available, only `usize` limits the extent.
        let all = usize::try_from(8 + u64::from(u32::MAX)).ok();
        assert_eq!(skippable_extent(u32::MAX, usize::MAX), all);
        assert_eq!(skippable_extent(u32::MAX - 8, usize::MAX), Some(u32::MAX as usize));
    }
}
