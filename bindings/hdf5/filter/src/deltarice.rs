//! Filter 32025: Delta-Rice, in the format of the original filter.
#![allow(unsafe_code)]

use core::ffi::{c_int, c_uint, c_void};
use core::num::NonZeroU32;

use linerate_rice::{Options, Params, Segments, decode_into, encode_into, expands};

use crate::creation::Creation;
use crate::error::{FilterError, Result};
use crate::sys::class::{Class, Hid};
use crate::sys::ffi::{Codec, Output};
use crate::sys::memory::{Block, words};
use crate::threads;

/// The number of Delta-Rice in the registry of HDF5 filters.
pub const DELTARICE_ID: i32 = 32025;

/// The filter table of filter 32025.
///
/// The `cd_values` are those of [`Params::from_cd_values`]. When a dataset is created, its type
/// must be an integer of 2 bytes in little-endian order, none of HDF5's own filters may come before
/// this one, and the values must be lossless. If fewer than two values are given, the filter
/// chooses the segment by [`Params::segment_for`] for the shape of the chunks, and rejects chunks
/// that would [expand](expands). It reads existing datasets of any type.
pub static DELTARICE: Class = Class::new(DELTARICE_ID, CODEC.name, set_local, filter);

const CODEC: Codec = Codec { name: c"Delta-Rice", encode, decode, create };

/// Marks that the user gave no segment: the filter adds this as the last of the `cd_values`, after
/// the coefficients, where readers do not look. It then chooses the segment by the shape of the
/// chunks, and rejects chunks that expand.
const AUTO_SEGMENT: u32 = u32::from_le_bytes(*b"auto");

/// Returns whether the filter chooses the segment. It does so if the user gave none, or reuses a
/// property list in which the filter chose it.
fn is_auto(values: &[u32]) -> bool {
    matches!(values, [] | [_] | [_, _, 2, 1, u32::MAX, AUTO_SEGMENT])
}

unsafe extern "C" fn filter(
    flags: c_uint,
    cd_nelmts: usize,
    cd_values: *const c_uint,
    nbytes: usize,
    buf_size: *mut usize,
    buf: *mut *mut c_void,
) -> usize {
    // SAFETY: the arguments are those of HDF5.
    unsafe { CODEC.filter(flags, cd_nelmts, cd_values, nbytes, buf_size, buf) }
}

unsafe extern "C" fn set_local(dcpl: Hid, datatype: Hid, _space: Hid) -> c_int {
    CODEC.set_local(dcpl, datatype)
}

fn encode(values: &[u32], bytes: &[u8]) -> Result<Output> {
    let params = encodable(values)?;
    let samples = words::<i16>(bytes)?;
    let segment = params.segment().map_or(samples.len(), |n| n.get() as usize).max(1);
    let options = threads::options(samples.len(), samples.len().div_ceil(segment));
    let mut block = Block::new(params.bound(samples.len()))?;
    let bytes = encode_into(&params, samples, block.words(), options)?;
    if values.last() == Some(&AUTO_SEGMENT) && is_auto(values) && expands(samples.len(), bytes as u64) {
        return Err(FilterError::Filter(
            "the encoded chunk is larger than its samples; give the m that `linerate rice tune` finds, \
             or a segment to store it anyway",
        ));
    }
    Ok(Output { block, bytes })
}

fn decode(values: &[u32], chunk: &[u8]) -> Result<Output> {
    let params = Params::from_cd_values(values)?;
    // The sample count is checked against the length of the chunk before it is used.
    let segments = Segments::of(&params, chunk)?;
    let options = threads::options(segments.samples(), segments.segment_count());
    let mut block = Block::new(segments.samples().saturating_mul(2))?;
    let bytes = 2 * decode_into::<i16>(&params, chunk, block.words(), options)?;
    Ok(Output { block, bytes })
}

/// Parses parameters that can encode every chunk.
fn encodable(values: &[u32]) -> Result<Params> {
    let params = Params::from_cd_values(values)?;
    // Encoding an empty chunk makes the codec check that no data is lost.
    encode_into::<i16>(&params, &[], &mut [0; 4], Options::new())?;
    Ok(params)
}

fn create(creation: &Creation) -> Result<()> {
    creation.integer(&[2], "only integers of 2 bytes can be encoded")?;
    if creation.samples() > u64::from(u32::MAX) {
        return Err(FilterError::Filter("a chunk of more than 2^32 - 1 samples"));
    }
    creation.comes_first(DELTARICE_ID)?;
    let message = creation.filter(DELTARICE_ID)?;
    let params = encodable(message.values())?;
    if !is_auto(message.values()) {
        return Ok(());
    }
    // A segment length beyond i32 cannot be stored: the whole chunk is one segment.
    let whole = i32::try_from(creation.samples()).map_or(u32::MAX, |n| n as u32);
    let segment = Params::segment_for(creation.chunk()).map_or(whole, NonZeroU32::get);
    creation.set_filter(DELTARICE_ID, &message, &[params.m(), segment, 2, 1, u32::MAX, AUTO_SEGMENT])
}
