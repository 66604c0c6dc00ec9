//! Skips a frame by the sizes of its blocks (RFC 8878, section 3.1.1), without decompressing it.

use std::io::Read;

use linerate_core::Kind;
use linerate_zstd::{BLOCK_MAX, FrameHeader};

use crate::ui::error::CliError;
use crate::ui::input::Source;

/// Maximum bytes of a frame header with its magic number.
pub(super) const MAX_HEADER: usize = 18;
/// Bytes of a skippable frame before its content.
pub(super) const SKIPPABLE_HEADER: u64 = 8;

/// Called with each part of a frame that is skipped, and with an upper bound, in bytes, of the
/// content of the frame up to the end of that part. If the header states the size of the whole
/// content, that is the bound from the beginning.
pub(super) type Taker<'t> = &'t mut dyn FnMut(&[u8], u64) -> Result<(), CliError>;

/// The header of a block.
pub(super) struct Block {
    /// Bytes of the block after its header.
    pub(super) stored: u64,
    /// Maximum bytes of content of the block.
    pub(super) content: u64,
    pub(super) is_last: bool,
}

impl Block {
    /// Parses the three bytes of a block header. Returns `None` for the reserved block type.
    pub(super) fn parse([a, b, c]: [u8; 3]) -> Option<Block> {
        let header = u32::from_le_bytes([a, b, c, 0]);
        let size = u64::from(header >> 3);
        let (stored, content) = match header >> 1 & 3 {
            0 => (size, size),
            1 => (1, size),
            2 => (size, BLOCK_MAX as u64),
            _ => return None,
        };
        Some(Block { stored, content, is_last: header & 1 == 1 })
    }
}

/// Skips a skippable frame with `len` bytes of content.
pub(super) fn pass_skippable<R: Read>(
    source: &mut Source<R>,
    len: u32,
    take: Taker<'_>,
) -> Result<(), CliError> {
    pass(source, SKIPPABLE_HEADER + u64::from(len), 0, take)
}

/// Skips the next frame, whose header is given. Returns an upper bound of its content in bytes; if
/// the header states a size, that size.
///
/// # Errors
/// Errors of reading and of `take`; [`CliError::Data`] if the frame is cut off, a block has the
/// reserved type, or the blocks cannot hold the size that the header states.
pub(super) fn pass_frame<R: Read>(
    source: &mut Source<R>,
    header: &FrameHeader,
    take: Taker<'_>,
) -> Result<u64, CliError> {
    let stated = header.content_size;
    // Maximum content of the blocks skipped so far, in bytes.
    let mut held = 0;
    pass(source, header.len as u64, stated.unwrap_or(held), take)?;
    loop {
        let at = source.at();
        let &[a, b, c, ..] = source.peek(3)? else { return Err(truncated(source)) };
        let Some(block) = Block::parse([a, b, c]) else {
            return Err(CliError::data(Kind::Corrupt, at, "a block has the reserved type"));
        };
        held += block.content;
        let bound = stated.unwrap_or(held);
        pass(source, 3 + block.stored, bound, take)?;
        if block.is_last {
            pass(source, if header.checksum { 4 } else { 0 }, bound, take)?;
            if bound > held {
                let what = format!("the frame states {bound} bytes, but its blocks hold at most {held}");
                return Err(CliError::data(Kind::Corrupt, at, what));
            }
            return Ok(bound);
        }
    }
}

/// Skips `n` bytes, and calls `take` with them and `bound`.
fn pass<R: Read>(source: &mut Source<R>, mut n: u64, bound: u64, take: Taker<'_>) -> Result<(), CliError> {
    while n > 0 {
        let buffered = source.peek(1)?;
        if buffered.is_empty() {
            return Err(truncated(source));
        }
        let step = n.min(buffered.len() as u64) as usize;
        let taken = take(&buffered[..step], bound);
        source.consume(step);
        taken?;
        n -= step as u64;
    }
    Ok(())
}

fn truncated<R: Read>(source: &mut Source<R>) -> CliError {
    // The bytes that are still buffered belong to the frame.
    let left = source.peek(0).map_or(0, <[u8]>::len) as u64;
    CliError::data(Kind::Truncated, source.at() + left, "the input ends before the frame does")
}
