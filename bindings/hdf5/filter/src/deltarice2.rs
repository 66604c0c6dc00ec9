//! Filter 325: version 2 streams, one per chunk.
#![allow(unsafe_code)]

use core::ffi::{c_int, c_uint, c_void};
use core::num::NonZeroU32;

use linerate_rice::v2::{
    Element, ElementType, Info, MAX_CHANNELS, MAX_SEGMENT, StreamOptions, bound, decode_into, encode_into,
    info,
};

use crate::creation::Creation;
use crate::error::{FilterError, Result};
use crate::sys::class::{Class, Hid};
use crate::sys::ffi::{Codec, Output};
use crate::sys::memory::{Block, Word, words};
use crate::threads;

/// The number of the filter, from the range that HDF5 reserves for testing. It is not registered
/// yet.
pub const DELTARICE2_ID: i32 = 325;

/// The filter table of filter 325.
///
/// The `cd_values` are \[segment, type, row, samples, channels\]: samples per segment, or 0 to
/// choose; the code of the sample type, 0 to 3 for i16, u16, i32 and u32; samples per row; samples
/// per chunk; and the number of channels, which equals the samples per row, or 1 for none, or 0 or
/// absent to detect them. Users give at most the segment, or the segment and the channels. When a
/// dataset is created, the filter sets the other values from its type, which must be an integer of
/// 2 or 4 bytes in little-endian order, and from the shape of its chunks. None of HDF5's own
/// filters may come before this one.
pub static DELTARICE2: Class = Class::new(DELTARICE2_ID, CODEC.name, set_local, filter);

const CODEC: Codec = Codec { name: c"Delta-Rice 2", encode, decode, create };

/// Maximum size of a decoded chunk in bytes if the `cd_values` do not give it: the limit of HDF5
/// before 2.0.
const MAX_DEFAULT: u64 = u32::MAX as u64;

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

/// The `cd_values` of a dataset, as the filter completed them when the dataset was created.
struct Values {
    segment: u32,
    row: u32,
    channels: u32,
    element: ElementType,
    samples: u64,
}

impl Values {
    /// Parses the `cd_values`. Returns `None` if there are fewer than four, and an error if they
    /// name no sample type.
    fn of(values: &[u32]) -> Result<Option<Values>> {
        let &[segment, element, row, samples, ..] = values else { return Ok(None) };
        let element = u8::try_from(element).ok().and_then(ElementType::from_code);
        let element = element.ok_or(FilterError::Filter("the filter's values name no sample type"))?;
        let channels = values.get(4).copied().unwrap_or(0);
        Ok(Some(Values { segment, row, channels, element, samples: u64::from(samples) }))
    }

    /// Checks that a chunk has `samples` samples of type `element`.
    fn check(&self, element: ElementType, samples: u64) -> Result<()> {
        let refuse = |what| Err(FilterError::Filter(what));
        match (element == self.element, samples == self.samples) {
            (false, _) => refuse("the samples are of another type than the dataset"),
            (true, false) => refuse("there are more or fewer samples than a chunk has"),
            (true, true) => Ok(()),
        }
    }
}

fn settings(segment: u32, channels: u32, row: u32) -> Result<StreamOptions> {
    if segment > MAX_SEGMENT {
        return Err(FilterError::Filter("a segment of more than 65536 samples"));
    }
    if channels > 1 && (channels > MAX_CHANNELS || channels != row) {
        return Err(FilterError::Filter(
            "the last dimension of chunks is not that of the channels, at most 1024",
        ));
    }
    let [segment, row, channels] = [segment, row, channels].map(NonZeroU32::new);
    Ok(StreamOptions::new().segment(segment).row(row).channels(channels))
}

fn encode(values: &[u32], bytes: &[u8]) -> Result<Output> {
    let values = Values::of(values)?;
    let values = values.ok_or(FilterError::Filter("the filter's values are not those of a dataset"))?;
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
    let settings = settings(values.segment, values.channels, values.row)?;
    let mut block = Block::new(bound::<T>(&settings, samples.len()))?;
    let segments = samples.len().div_ceil(settings.segment_len() as usize);
    let options = threads::options(samples.len(), segments);
    let bytes = encode_into(&settings, samples, block.words(), options)?;
    Ok(Output { block, bytes })
}

fn decode(values: &[u32], stream: &[u8]) -> Result<Output> {
    let header = info(stream)?;
    match Values::of(values)? {
        Some(values) => values.check(header.element, header.samples)?,
        None if header.samples.saturating_mul(header.element.bytes() as u64) > MAX_DEFAULT => {
            return Err(FilterError::Filter("the stream holds more samples than a chunk can"));
        }
        None => {}
    }
    // So what is allocated is as large as a chunk of the dataset or, if the values are incomplete,
    // has at most MAX_DEFAULT bytes.
    match header.element {
        ElementType::I16 => decode_as::<i16>(&header, stream),
        ElementType::U16 => decode_as::<u16>(&header, stream),
        ElementType::I32 => decode_as::<i32>(&header, stream),
        ElementType::U32 => decode_as::<u32>(&header, stream),
    }
}

fn decode_as<T: Element + Word>(header: &Info, stream: &[u8]) -> Result<Output> {
    let samples = usize::try_from(header.samples).unwrap_or(usize::MAX);
    let options = threads::options(samples, usize::try_from(header.segments).unwrap_or(usize::MAX));
    let mut block = Block::new(samples.saturating_mul(size_of::<T>()))?;
    let bytes = size_of::<T>() * decode_into::<T>(stream, block.words(), options)?;
    Ok(Output { block, bytes })
}

/// Returns the segment and the number of channels, each 0 if it is not given. One or two values come
/// from a user, four or five from a dataset that is copied.
fn segment_and_channels(values: &[u32]) -> Result<(u32, u32)> {
    match *values {
        [] => Ok((0, 0)),
        [segment] | [segment, _, _, _] => Ok((segment, 0)),
        [segment, channels] | [segment, _, _, _, channels] => Ok((segment, channels)),
        _ => Err(FilterError::Filter("give no value, the segment, or the segment and the channels")),
    }
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
    let (segment, channels) = segment_and_channels(message.values())?;
    let fits = |n| u32::try_from(n).map_err(|_| FilterError::Filter("a chunk of more than 2^32 - 1 samples"));
    let (samples, row) = (fits(creation.samples())?, fits(creation.row())?);
    settings(segment, channels, row)?;
    let values = [segment, u32::from(element.code()), row, samples, channels];
    creation.set_filter(DELTARICE2_ID, &message, if channels > 0 { &values } else { &values[..4] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_values_and_more_than_five_are_refused() {
        for (values, found) in [
            (&[][..], (0, 0)),
            (&[7000], (7000, 0)),
            (&[7000, 8], (7000, 8)),
            (&[7000, 0, 8, 56_000], (7000, 0)),
            (&[7000, 0, 8, 56_000, 8], (7000, 8)),
        ] {
            assert_eq!(segment_and_channels(values), Ok(found), "{values:?}");
        }
        for values in [&[7000, 0, 8][..], &[7000, 0, 8, 56_000, 8, 1]] {
            assert!(segment_and_channels(values).is_err(), "{values:?}");
        }
    }
}
