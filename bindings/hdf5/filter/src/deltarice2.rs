//! Filter 325: version 2 streams, one per chunk.
#![allow(unsafe_code)]

use core::ffi::{c_int, c_uint, c_void};
use core::num::NonZeroU32;

use linerate_rice::v2::{
    Element, ElementType, Info, MAX_SEGMENT, Settings, bound, decode_into, encode_into, info,
};

use crate::border::{Codec, Output};
use crate::class::{Class, Hid};
use crate::creation::Creation;
use crate::failure::{Failure, Result};
use crate::memory::{Block, Word, words};
use crate::threads;

/// The number of version 2 streams, from the range that HDF5 sets aside for testing until one is
/// registered.
pub const DELTARICE2_ID: i32 = 325;

/// Filter 325 as HDF5 sees it.
///
/// `cd_values` are \[segment, type, row, samples\]: samples per segment, or 0 to choose; the code
/// of the sample type, 0 to 3 for i16, u16, i32 and u32; samples per row; samples per chunk. Users
/// give at most the first. The others are set when a dataset is created, from its type, which must
/// be an integer of 2 or 4 bytes in little-endian order, and from the shape of its chunks. No filter
/// may come before that leaves no samples.
pub static DELTARICE2: Class = Class::new(DELTARICE2_ID, CODEC.name, set_local, filter);

const CODEC: Codec = Codec { name: c"Delta-Rice 2", encode, decode, create };

/// Most bytes that a chunk is believed to have where `cd_values` do not tell: as much as HDF5
/// could have before 2.0.
const MAX_UNTOLD: u64 = u32::MAX as u64;

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

/// What `cd_values` say once they are complete.
struct Values {
    settings: Settings,
    element: ElementType,
    samples: u64,
}

impl Values {
    /// `None` if they are not complete.
    fn of(values: &[u32]) -> Result<Option<Values>> {
        let &[segment, element, row, samples, ..] = values else { return Ok(None) };
        let element = u8::try_from(element).ok().and_then(ElementType::from_code);
        let element = element.ok_or(Failure::Filter("the filter's values name no sample type"))?;
        let settings = settings(segment)?.with_row(NonZeroU32::new(row));
        Ok(Some(Values { settings, element, samples: u64::from(samples) }))
    }

    /// Refuses anything but `samples` samples of type `element`.
    fn check(&self, element: ElementType, samples: u64) -> Result<()> {
        let refuse = |what| Err(Failure::Filter(what));
        match (element == self.element, samples == self.samples) {
            (false, _) => refuse("the samples are of another type than the dataset"),
            (true, false) => refuse("there are more or fewer samples than a chunk has"),
            (true, true) => Ok(()),
        }
    }
}

fn settings(segment: u32) -> Result<Settings> {
    match segment {
        0..=MAX_SEGMENT => Ok(Settings::new(NonZeroU32::new(segment))),
        _ => Err(Failure::Filter("a segment of more than 65536 samples")),
    }
}

fn encode(values: &[u32], bytes: &[u8]) -> Result<Output> {
    let values = Values::of(values)?;
    let values = values.ok_or(Failure::Filter("the filter's values are not those of a dataset"))?;
    match values.element {
        ElementType::I16 => encode_as::<i16>(&values, bytes),
        ElementType::U16 => encode_as::<u16>(&values, bytes),
        ElementType::I32 => encode_as::<i32>(&values, bytes),
        ElementType::U32 => encode_as::<u32>(&values, bytes),
    }
}

fn encode_as<T: Element + Word>(values: &Values, bytes: &[u8]) -> Result<Output> {
    let samples = words::<T>(bytes)?;
    values.check(T::TYPE, samples.len() as u64)?;
    let mut block = Block::new(bound::<T>(&values.settings, samples.len()))?;
    let segments = samples.len().div_ceil(values.settings.segment() as usize);
    let exec = threads::exec(samples.len(), segments);
    let bytes = encode_into(&values.settings, samples, block.words(), exec)?;
    Ok(Output { block, bytes })
}

fn decode(values: &[u32], stream: &[u8]) -> Result<Output> {
    let told = info(stream)?;
    match Values::of(values)? {
        Some(values) => values.check(told.element, told.samples)?,
        None if told.samples.saturating_mul(told.element.bytes() as u64) > MAX_UNTOLD => {
            return Err(Failure::Filter("the stream holds more samples than a chunk can"));
        }
        None => {}
    }
    // What is allocated is as large as the dataset's own chunks, or as MAX_UNTOLD.
    match told.element {
        ElementType::I16 => decode_as::<i16>(&told, stream),
        ElementType::U16 => decode_as::<u16>(&told, stream),
        ElementType::I32 => decode_as::<i32>(&told, stream),
        ElementType::U32 => decode_as::<u32>(&told, stream),
    }
}

fn decode_as<T: Element + Word>(told: &Info, stream: &[u8]) -> Result<Output> {
    let samples = usize::try_from(told.samples).unwrap_or(usize::MAX);
    let exec = threads::exec(samples, usize::try_from(told.segments).unwrap_or(usize::MAX));
    let mut block = Block::new(samples.saturating_mul(size_of::<T>()))?;
    let bytes = size_of::<T>() * decode_into::<T>(stream, block.words(), exec)?;
    Ok(Output { block, bytes })
}

fn create(creation: &Creation) -> Result<()> {
    let datatype = creation.integer(&[2, 4], "only integers of 2 or 4 bytes can be encoded")?;
    let element = match (datatype.size, datatype.signed) {
        (2, true) => ElementType::I16,
        (2, false) => ElementType::U16,
        (_, true) => ElementType::I32,
        (_, false) => ElementType::U32,
    };
    creation.comes_first(DELTARICE2_ID)?;
    let message = creation.filter(DELTARICE2_ID)?;
    let segment = message.values().first().copied().unwrap_or(0);
    settings(segment)?;
    let fits = |n| u32::try_from(n).map_err(|_| Failure::Filter("a chunk of more than 2^32 - 1 samples"));
    let (samples, row) = (fits(creation.samples())?, fits(creation.row())?);
    creation.set_filter(DELTARICE2_ID, &message, &[segment, u32::from(element.code()), row, samples])
}
