//! Filter 32025: Delta-Rice, the format that others read and write too.
#![allow(unsafe_code)]

use core::ffi::{c_int, c_uint, c_void};

use linerate_rice::{Params, Segments, decode_into, encode_into};

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
/// an integer of 2 bytes in little-endian order, the values must be able to encode without loss,
/// and where fewer than two values are given, segments become rows: as long as the last dimension
/// of the chunk. Datasets that exist are read whatever their type is.
pub static DELTARICE: Class = Class::new(DELTARICE_ID, CODEC.name, set_local, filter);

const CODEC: Codec = Codec { name: c"Delta-Rice", encode, decode, create };

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
    let mut block = Block::new(params.bound(samples.len()))?;
    let bytes = encode_into(&params, samples, block.words(), threads::exec())?;
    Ok(Output { block, bytes })
}

fn decode(values: &[u32], chunk: &[u8]) -> Result<Output> {
    let params = Params::from_cd_values(values)?;
    // What the chunk says is bounded by its own length before it is believed.
    let samples = Segments::of(&params, chunk)?.samples();
    let mut block = Block::new(samples.saturating_mul(2))?;
    let bytes = 2 * decode_into::<i16>(&params, chunk, block.words(), threads::exec())?;
    Ok(Output { block, bytes })
}

/// Parameters that every chunk can be encoded with.
fn encodable(values: &[u32]) -> Result<Params> {
    let params = Params::from_cd_values(values)?;
    // An empty chunk is enough for the codec to refuse what loses data.
    encode_into::<i16>(&params, &[], &mut [0; 4], threads::exec())?;
    Ok(params)
}

fn create(creation: &Creation) -> Result<()> {
    creation.integer(&[2], "only integers of 2 bytes can be encoded")?;
    if creation.samples() > u64::from(u32::MAX) {
        return Err(Failure::Filter("a chunk of more than 2^32 - 1 samples"));
    }
    let message = creation.filter(DELTARICE_ID)?;
    let params = encodable(message.values())?;
    if message.values().len() >= 2 {
        return Ok(());
    }
    let row = creation.row();
    // A longer row cannot be written, and then the chunk is one segment.
    let segment = if row > i32::MAX as u64 { u32::MAX } else { row as u32 };
    creation.set_filter(DELTARICE_ID, &message, &[params.m(), segment])
}
