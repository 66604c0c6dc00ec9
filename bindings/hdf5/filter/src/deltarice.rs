//! Filter 32025: Delta-Rice, the format that others read and write too.
#![allow(unsafe_code)]

use core::ffi::{c_int, c_uint, c_void};
use core::num::NonZeroU32;

use linerate_rice::{Exec, Params, Segments, decode_into, encode_into, expands};

use crate::border::{Codec, Output};
use crate::class::{Class, Hid};
use crate::creation::Creation;
use crate::failure::{Failure, Result};
use crate::memory::{Block, words};
use crate::threads;

/// The number of Delta-Rice in the registry of HDF5 filters.
pub const DELTARICE_ID: i32 = 32025;

/// Filter 32025 as HDF5 sees it.
///
/// `cd_values` are those of [`Params::from_cd_values`]. When a dataset is created its type must be
/// an integer of 2 bytes in little-endian order, no filter may come before that leaves no samples,
/// and the values must be able to encode without loss. Where fewer than two values are given, the
/// segment is that of [`Params::segment_for`] for the shape of the chunks, and chunks that would
/// [expand](expands) are refused. Datasets that exist are read whatever their type is.
pub static DELTARICE: Class = Class::new(DELTARICE_ID, CODEC.name, set_local, filter);

const CODEC: Codec = Codec { name: c"Delta-Rice", encode, decode, create };

/// Last of the values where nobody gave a segment, behind the coefficients, where readers do not look:
/// the segment follows from the shape of the chunks, and chunks that expand are refused.
const CHOSEN: u32 = u32::from_le_bytes(*b"auto");

/// Whether the segment is the filter's choice: none was given, or a property list is used again.
fn is_chosen(values: &[u32]) -> bool {
    matches!(values, [] | [_] | [_, _, 2, 1, u32::MAX, CHOSEN])
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
    let exec = threads::exec(samples.len(), samples.len().div_ceil(segment));
    let mut block = Block::new(params.bound(samples.len()))?;
    let bytes = encode_into(&params, samples, block.words(), exec)?;
    if values.last() == Some(&CHOSEN) && is_chosen(values) && expands(samples.len(), bytes as u64) {
        return Err(Failure::Filter(
            "encoded, the chunk is larger than its samples: give the m that `linerate rice tune` finds; \
             with a segment too it is stored so all the same",
        ));
    }
    Ok(Output { block, bytes })
}

fn decode(values: &[u32], chunk: &[u8]) -> Result<Output> {
    let params = Params::from_cd_values(values)?;
    // What the chunk says is bounded by its own length before it is believed.
    let segments = Segments::of(&params, chunk)?;
    let exec = threads::exec(segments.samples(), segments.segment_count());
    let mut block = Block::new(segments.samples().saturating_mul(2))?;
    let bytes = 2 * decode_into::<i16>(&params, chunk, block.words(), exec)?;
    Ok(Output { block, bytes })
}

/// Parameters that every chunk can be encoded with.
fn encodable(values: &[u32]) -> Result<Params> {
    let params = Params::from_cd_values(values)?;
    // An empty chunk is enough for the codec to refuse what loses data.
    encode_into::<i16>(&params, &[], &mut [0; 4], Exec::default())?;
    Ok(params)
}

fn create(creation: &Creation) -> Result<()> {
    creation.integer(&[2], "only integers of 2 bytes can be encoded")?;
    if creation.samples() > u64::from(u32::MAX) {
        return Err(Failure::Filter("a chunk of more than 2^32 - 1 samples"));
    }
    creation.comes_first(DELTARICE_ID)?;
    let message = creation.filter(DELTARICE_ID)?;
    let params = encodable(message.values())?;
    if !is_chosen(message.values()) {
        return Ok(());
    }
    // A chunk longer than can be written is one segment.
    let whole = i32::try_from(creation.samples()).map_or(u32::MAX, |n| n as u32);
    let segment = Params::segment_for(creation.chunk()).map_or(whole, NonZeroU32::get);
    creation.set_filter(DELTARICE_ID, &message, &[params.m(), segment, 2, 1, u32::MAX, CHOSEN])
}
