//! Filters formats whose blocks have their fields at fixed offsets. Each field becomes a stream.
//!
//! A block of BC1 to BC4 consists of one or two halves of 8 bytes. Each half becomes two streams,
//! the alpha values of BC2 one. The two halves of BC5 have the same fields, so they share streams.
//!
//! Sources: Microsoft, "Texture Block Compression in Direct3D 11"; Khronos, "Data Format
//! Specification", S3TC and RGTC.

use linerate_core::Tier;

use super::color::to_ycocg;
use crate::kernel::join::{Alpha, Color, Pair, Plain, join_alpha_color, join_half, join_halves, join_pair};

/// The content of 8 bytes of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    /// Two colours of 16 bits, and sixteen indices of 2 bits.
    Color,
    /// The same fields as `Color`, but the streams store the colours as YCoCg.
    Ycocg,
    /// Two endpoints of 8 bits, and sixteen indices of 3 bits.
    Alpha,
    /// Sixteen alpha values of 4 bits, without endpoints.
    Values,
}

/// Bytes of a half.
const HALF: usize = 8;

impl Half {
    /// Returns the number of bytes in the endpoints, which come first. The remaining bytes are
    /// indices.
    fn endpoints(self) -> usize {
        match self {
            Half::Color | Half::Ycocg => 4,
            Half::Alpha => 2,
            Half::Values => 0,
        }
    }
}

/// Splits blocks into streams: for each half, the endpoints of all blocks, then their indices.
pub(crate) fn apply(halves: &[Half], blocks: &[u8], streams: &mut [u8]) {
    let block = halves.len() * HALF;
    let count = blocks.len() / block;
    for (k, (half, streams)) in halves.iter().zip(streams.chunks_exact_mut(count.max(1) * HALF)).enumerate() {
        let (endpoints, indices) = streams.split_at_mut(count * half.endpoints());
        for (i, bytes) in blocks.chunks_exact(block).enumerate() {
            let (first, second) = bytes[k * HALF..][..HALF].split_at(half.endpoints());
            let target = &mut endpoints[i * first.len()..][..first.len()];
            target.copy_from_slice(first);
            if *half == Half::Ycocg {
                convert_colors(target);
            }
            indices[i * second.len()..][..second.len()].copy_from_slice(second);
        }
    }
}

/// Returns the end offsets of the streams of `count` blocks.
#[cfg(feature = "pack")]
pub(super) fn stream_ends(halves: &[Half], count: usize) -> Vec<usize> {
    let starts = halves.iter().enumerate().map(|(k, half)| (k * HALF * count, half.endpoints() * count));
    starts.flat_map(|(start, endpoints)| [start + endpoints, start + HALF * count]).collect()
}

fn convert_colors(field: &mut [u8]) {
    for color in field.as_chunks_mut().0 {
        *color = to_ycocg(u16::from_le_bytes(*color)).to_le_bytes();
    }
}

/// Joins the streams to blocks again.
pub(crate) fn invert(tier: Tier, halves: &[Half], streams: &[u8], blocks: &mut [u8]) {
    let (first, second) = streams.split_at(streams.len() / halves.len());
    match *halves {
        [Half::Color] => join_half(tier, color::<false>(first), blocks.as_chunks_mut().0),
        [Half::Ycocg] => join_half(tier, color::<true>(first), blocks.as_chunks_mut().0),
        [Half::Alpha] => join_half(tier, alpha(first), blocks.as_chunks_mut().0),
        [Half::Values, Half::Color] => {
            join_halves(tier, values(first), color::<false>(second), blocks.as_chunks_mut().0)
        }
        [Half::Values, Half::Ycocg] => {
            join_halves(tier, values(first), color::<true>(second), blocks.as_chunks_mut().0)
        }
        [Half::Alpha, Half::Color] => {
            join_alpha_color(tier, alpha(first), color::<false>(second), blocks.as_chunks_mut().0)
        }
        [Half::Alpha, Half::Ycocg] => {
            join_alpha_color(tier, alpha(first), color::<true>(second), blocks.as_chunks_mut().0)
        }
        _ => unreachable!("no format has these halves"),
    }
}

fn color<const YCOCG: bool>(streams: &[u8]) -> Color<'_, YCOCG> {
    let (endpoints, indices) = streams.split_at(streams.len() / 2);
    Color { endpoints: endpoints.as_chunks().0, indices: indices.as_chunks().0 }
}

fn alpha(streams: &[u8]) -> Alpha<'_> {
    let endpoints = streams.len() / 4;
    Alpha { endpoints: streams[..endpoints].as_chunks().0, indices: &streams[endpoints.saturating_sub(2)..] }
}

fn values(streams: &[u8]) -> Plain<'_> {
    Plain(streams.as_chunks().0)
}

/// Bytes of a BC5 block, and of its indices. The other fields are the first endpoints of both
/// halves and the second endpoints of both halves, 2 bytes each.
const BC5: usize = 2 * HALF;
const BC5_INDICES: usize = 12;

/// Splits BC5 blocks into three streams: first endpoints of both halves, second endpoints of both,
/// indices of both.
pub(crate) fn apply_bc5(blocks: &[u8], streams: &mut [u8]) {
    let (blocks, _) = blocks.as_chunks::<BC5>();
    let (first, rest) = streams.split_at_mut(2 * blocks.len());
    let (second, indices) = rest.split_at_mut(2 * blocks.len());
    let fields = first.as_chunks_mut::<2>().0.iter_mut().zip(second.as_chunks_mut::<2>().0);
    for ((block, fields), indices) in blocks.iter().zip(fields).zip(indices.as_chunks_mut::<BC5_INDICES>().0)
    {
        *fields.0 = [block[0], block[HALF]];
        *fields.1 = [block[1], block[HALF + 1]];
        indices[..6].copy_from_slice(&block[2..HALF]);
        indices[6..].copy_from_slice(&block[HALF + 2..]);
    }
}

/// Joins the streams to BC5 blocks again.
pub(crate) fn invert_bc5(tier: Tier, streams: &[u8], blocks: &mut [u8]) {
    let (blocks, _) = blocks.as_chunks_mut::<BC5>();
    let (first, rest) = streams.split_at(2 * blocks.len());
    let (second, indices) = rest.split_at(2 * blocks.len());
    let pair =
        Pair { first: first.as_chunks().0, second: second.as_chunks().0, indices: indices.as_chunks().0 };
    join_pair(tier, pair, blocks);
}
