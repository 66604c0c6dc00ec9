//! Delta-Rice, versions 1 and 2: encodes samples in memory of the caller as chunks or streams, and
//! decodes them.

use std::ffi::c_void;
use std::num::NonZeroU32;

use linerate_rice::v2::{self, Element, ElementType, StreamOptions};
use linerate_rice::{Filter, Options, Params};

use crate::border::{buffers, input, place, run, value_or};
use crate::error::{Call, linerate_error};

/// Parameters of version 1. Chunks do not contain them. linerate_rice_defaults fills them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linerate_rice_params {
    /// The divisor of the Rice code, a power of two from 1 to 32,768. Chunks with 1 can only be
    /// decoded. Default: 8.
    pub m: u32,
    /// Samples per segment. 0 makes one segment of all samples. Default: 0.
    pub segment: u32,
    /// Number of coefficients in taps, at most 32. 0 selects the difference of neighbouring samples
    /// (coefficients 1 and -1). Default: 0.
    pub tap_count: u32,
    /// The coefficients of the filter. The first must not be 0 and, for encoding, must be 1 or -1.
    pub taps: [i32; 32],
}

/// Sample types of version 2.
#[repr(i32)]
pub enum linerate_element {
    /// int16_t.
    LINERATE_I16 = 0,
    /// uint16_t.
    LINERATE_U16 = 1,
    /// int32_t.
    LINERATE_I32 = 2,
    /// uint32_t.
    LINERATE_U32 = 3,
}

/// Options of version 2 streams. A structure of zeros has the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linerate_rice2_options {
    /// Samples per segment, at most 65,536. 0 selects one row if a row has 1024 to 16,384 samples,
    /// and about 4096 samples otherwise; with channels, 4096 samples of each channel. With
    /// channels, any other number counts samples of all channels, and is rounded up to whole rows.
    pub segment: u32,
    /// Samples per row, which the stream stores. 0 means no rows or, with more than one channel, as
    /// many samples as there are channels.
    pub row: u32,
    /// Number of channels, at most 1024, if each row has one sample of each channel. 1 means no
    /// channels. 0 lets the encoder detect them, if segment is 0 and the samples are at least 64
    /// whole rows of 2 to 512 samples.
    pub channels: u32,
}

/// The header of a version 2 stream.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linerate_rice2_info {
    /// The sample type, a linerate_element.
    pub element: i32,
    /// Samples per row, or 0 if there are no rows.
    pub row: u32,
    /// Number of samples.
    pub samples: u64,
    /// Number of segments.
    pub segments: u64,
    /// Size of the stream in bytes.
    pub bytes: u64,
}

impl linerate_rice_params {
    fn params(&self) -> Call<Params> {
        let params = Params::new(self.m, NonZeroU32::new(self.segment))?;
        let count = self.tap_count as usize;
        if count == 0 {
            return Ok(params);
        }
        let taps =
            self.taps.get(..count).ok_or(linerate_error::bad_argument(c"more than 32 coefficients"))?;
        Ok(params.with_filter(Filter::new(taps)?))
    }
}

impl linerate_rice2_options {
    const DEFAULT: linerate_rice2_options = linerate_rice2_options { segment: 0, row: 0, channels: 0 };

    fn options(&self) -> StreamOptions {
        StreamOptions::new()
            .segment(NonZeroU32::new(self.segment))
            .row(NonZeroU32::new(self.row))
            .channels(NonZeroU32::new(self.channels))
    }
}

fn threads(count: u32) -> Options {
    Options::new().threads(count as usize)
}

/// Returns the default parameters.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_rice_defaults() -> linerate_rice_params {
    linerate_rice_params { m: 8, segment: 0, tap_count: 0, taps: [0; 32] }
}

/// Stores the largest size of a version 1 chunk of count samples, in bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_rice_bound(
    params: *const linerate_rice_params,
    count: usize,
    bytes: *mut usize,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises.
        let (params, bytes) = unsafe { (value_or!(params, linerate_rice_defaults())?, place!(bytes)?) };
        bytes.write(params.params()?.bound(count));
        Ok(())
    })
}

/// Encodes samples as one version 1 chunk on at most thread_count threads, including the calling
/// one; 0 counts as 1. Samples of type uint16_t have the same 16 bits and may be passed too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_rice_encode(
    params: *const linerate_rice_params,
    samples: *const i16,
    count: usize,
    out: *mut u8,
    capacity: usize,
    thread_count: u32,
    written: *mut usize,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises.
        let (params, (samples, out), written) = unsafe {
            (
                value_or!(params, linerate_rice_defaults())?,
                buffers!(samples, count, out, capacity)?,
                place!(written)?,
            )
        };
        written.write(linerate_rice::encode_into(&params.params()?, samples, out, threads(thread_count))?);
        Ok(())
    })
}

/// Stores the number of samples that the header of a version 1 chunk states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_rice_samples(
    chunk: *const u8,
    len: usize,
    count: *mut usize,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises.
        let (chunk, count) = unsafe { (input!(chunk, len)?, place!(count)?) };
        count.write(linerate_rice::decoded_len(chunk)?);
        Ok(())
    })
}

/// Decodes a version 1 chunk into samples on at most thread_count threads, including the calling
/// one, and stores the number of samples. room is the size of the buffer samples, in samples.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_rice_decode(
    params: *const linerate_rice_params,
    chunk: *const u8,
    len: usize,
    samples: *mut i16,
    room: usize,
    thread_count: u32,
    count: *mut usize,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises.
        let (params, (chunk, samples), count) = unsafe {
            (
                value_or!(params, linerate_rice_defaults())?,
                buffers!(chunk, len, samples, room)?,
                place!(count)?,
            )
        };
        count.write(linerate_rice::decode_into(&params.params()?, chunk, samples, threads(thread_count))?);
        Ok(())
    })
}

/// Decodes the segments first to end - 1, counted from 0, of a version 1 chunk, and stores the
/// number of their samples. room is the size of the buffer samples, in samples. Fails with
/// LINERATE_BAD_ARGUMENT if the chunk has no such segments.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_rice_decode_segments(
    params: *const linerate_rice_params,
    chunk: *const u8,
    len: usize,
    first: usize,
    end: usize,
    samples: *mut i16,
    room: usize,
    count: *mut usize,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises.
        let (params, (chunk, samples), count) = unsafe {
            (
                value_or!(params, linerate_rice_defaults())?,
                buffers!(chunk, len, samples, room)?,
                place!(count)?,
            )
        };
        let decoded =
            linerate_rice::decode_segments(&params.params()?, chunk, first..end, samples, threads(1))?;
        count.write(decoded);
        Ok(())
    })
}

/// An operation on samples of a type that the caller chooses at run time.
trait Work {
    type Result;
    /// # Safety
    /// The pointer to samples points to samples of this type.
    unsafe fn with<T: Element>(self) -> Call<Self::Result>;
}

/// Runs an operation with the sample type that a linerate_element names.
///
/// # Safety
/// The requirements of [`Work::with`].
unsafe fn with_element<W: Work>(element: i32, work: W) -> Call<W::Result> {
    let element = u8::try_from(element).ok().and_then(ElementType::from_code);
    // SAFETY: the caller's promise.
    unsafe {
        match element.ok_or(linerate_error::bad_argument(c"unknown type of samples"))? {
            ElementType::I16 => work.with::<i16>(),
            ElementType::U16 => work.with::<u16>(),
            ElementType::I32 => work.with::<i32>(),
            ElementType::U32 => work.with::<u32>(),
        }
    }
}

struct Bound {
    options: StreamOptions,
    count: usize,
}

impl Work for Bound {
    type Result = usize;
    unsafe fn with<T: Element>(self) -> Call<usize> {
        Ok(v2::bound::<T>(&self.options, self.count))
    }
}

struct Encode {
    options: StreamOptions,
    samples: *const c_void,
    count: usize,
    out: *mut u8,
    capacity: usize,
    threads: Options,
}

impl Work for Encode {
    type Result = usize;
    unsafe fn with<T: Element>(self) -> Call<usize> {
        // SAFETY: the caller's promises.
        let (samples, out) =
            unsafe { buffers!(samples: self.samples.cast::<T>(), self.count, out: self.out, self.capacity) }?;
        Ok(v2::encode_into(&self.options, samples, out, self.threads)?)
    }
}

struct Decode {
    stream: *const u8,
    len: usize,
    segments: Option<std::ops::Range<usize>>,
    samples: *mut c_void,
    room: usize,
    threads: Options,
}

impl Work for Decode {
    type Result = usize;
    unsafe fn with<T: Element>(self) -> Call<usize> {
        // SAFETY: the caller's promises.
        let (stream, samples) =
            unsafe { buffers!(stream: self.stream, self.len, samples: self.samples.cast::<T>(), self.room) }?;
        Ok(match self.segments {
            None => v2::decode_into(stream, samples, self.threads)?,
            Some(segments) => v2::decode_segments(stream, segments, samples, self.threads)?,
        })
    }
}

/// Stores the largest size of a version 2 stream of count samples, in bytes. element, a
/// linerate_element, is their type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_rice2_bound(
    options: *const linerate_rice2_options,
    element: i32,
    count: usize,
    bytes: *mut usize,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises.
        let (options, bytes) =
            unsafe { (value_or!(options, linerate_rice2_options::DEFAULT)?.options(), place!(bytes)?) };
        // SAFETY: no samples are touched.
        bytes.write(unsafe { with_element(element, Bound { options, count }) }?);
        Ok(())
    })
}

/// Encodes samples of type element, a linerate_element, as one version 2 stream on at most
/// thread_count threads, including the calling one; 0 counts as 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_rice2_encode(
    options: *const linerate_rice2_options,
    element: i32,
    samples: *const c_void,
    count: usize,
    out: *mut u8,
    capacity: usize,
    thread_count: u32,
    written: *mut usize,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises.
        let (options, written) =
            unsafe { (value_or!(options, linerate_rice2_options::DEFAULT)?.options(), place!(written)?) };
        let work = Encode { options, samples, count, out, capacity, threads: threads(thread_count) };
        // SAFETY: the caller's promise.
        written.write(unsafe { with_element(element, work) }?);
        Ok(())
    })
}

/// Reads the header of a version 2 stream. Other bytes may follow the stream; bytes in info is its
/// size. Fails with LINERATE_TRUNCATED if len is smaller than that.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_rice2_get_info(
    stream: *const u8,
    len: usize,
    info: *mut linerate_rice2_info,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises.
        let (stream, info) = unsafe { (input!(stream, len)?, place!(info)?) };
        let read = v2::info(stream)?;
        info.write(linerate_rice2_info {
            element: read.element.code().into(),
            row: read.row.map_or(0, NonZeroU32::get),
            samples: read.samples,
            segments: read.segments,
            bytes: read.bytes,
        });
        Ok(())
    })
}

/// Decodes a version 2 stream into samples on at most thread_count threads, including the calling
/// one, and stores the number of samples. element must be the sample type of the stream, and room
/// is the size of the buffer samples, in samples.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_rice2_decode(
    stream: *const u8,
    len: usize,
    element: i32,
    samples: *mut c_void,
    room: usize,
    thread_count: u32,
    count: *mut usize,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promise.
        let count = unsafe { place!(count) }?;
        let work = Decode { stream, len, segments: None, samples, room, threads: threads(thread_count) };
        // SAFETY: the caller's promise.
        count.write(unsafe { with_element(element, work) }?);
        Ok(())
    })
}

/// Decodes the segments first to end - 1, counted from 0, of a version 2 stream, and stores the
/// number of their samples. element and room are as for linerate_rice2_decode. Other bytes may
/// follow the stream. Fails with LINERATE_BAD_ARGUMENT if the stream has no such segments.
/// Allocates memory while it runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_rice2_decode_segments(
    stream: *const u8,
    len: usize,
    first: usize,
    end: usize,
    element: i32,
    samples: *mut c_void,
    room: usize,
    count: *mut usize,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promise.
        let count = unsafe { place!(count) }?;
        let work = Decode { stream, len, segments: Some(first..end), samples, room, threads: threads(1) };
        // SAFETY: the caller's promise.
        count.write(unsafe { with_element(element, work) }?);
        Ok(())
    })
}
