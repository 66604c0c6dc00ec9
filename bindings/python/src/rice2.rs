//! Encodes and decodes version 2 streams of Delta-Rice, of any of the four sample types.

use std::num::NonZeroU32;

use linerate_core::{Error, Kind};
use linerate_rice::Options;
use linerate_rice::v2::{self, ElementType, Shape, StreamOptions};
use numpy::{PyReadonlyArray1, PyReadwriteArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::raise;
use crate::sys::bytes::filled;

/// Samples to encode.
#[derive(FromPyObject)]
pub(crate) enum Samples<'py> {
    I16(PyReadonlyArray1<'py, i16>),
    U16(PyReadonlyArray1<'py, u16>),
    I32(PyReadonlyArray1<'py, i32>),
    U32(PyReadonlyArray1<'py, u32>),
}

/// Output of decoding.
#[derive(FromPyObject)]
pub(crate) enum OutputArray<'py> {
    I16(PyReadwriteArray1<'py, i16>),
    U16(PyReadwriteArray1<'py, u16>),
    I32(PyReadwriteArray1<'py, i32>),
    U32(PyReadwriteArray1<'py, u32>),
}

/// Evaluates the expression `$work` with `$name` bound to the typed array in `$array`, an enum
/// `$kind` with one variant per sample type.
macro_rules! for_each_type {
    ($kind:ident, $array:expr, $name:ident => $work:expr) => {
        match $array {
            $kind::I16($name) => $work,
            $kind::U16($name) => $work,
            $kind::I32($name) => $work,
            $kind::U32($name) => $work,
        }
    };
}

/// Converts the options of an encoder: samples per segment, samples per row, shape of the array,
/// number of channels. `None` leaves an option at its default.
///
/// # Errors
/// Returns [`Kind::BadArgument`] for a number that is 0 or does not fit 32 bits, and the errors of
/// [`Shape::new`]. The largest segment and number of channels are checked when samples are encoded.
pub(crate) fn settings(
    segment: Option<u64>,
    row: Option<u64>,
    shape: Option<Vec<u64>>,
    channels: Option<u64>,
) -> Result<StreamOptions, Error> {
    let number = |n: Option<u64>, what| {
        let checked = |n| u32::try_from(n).ok().and_then(NonZeroU32::new);
        n.map(|n| checked(n).ok_or(Error::new(Kind::BadArgument, 0, what))).transpose()
    };
    let segment = number(segment, "a segment is not of 1 to 65536 samples")?;
    let row = number(row, "a row is not of 1 to 2^32 - 1 samples")?;
    let channels = number(channels, "channels are not 1 to 1024")?;
    let shape = shape.map(|axes| Shape::new(&axes)).transpose()?;
    Ok(StreamOptions::new().segment(segment).row(row).shape(shape).channels(channels))
}

pub(crate) fn numpy_name(element: ElementType) -> &'static str {
    match element {
        ElementType::I16 => "int16",
        ElementType::U16 => "uint16",
        ElementType::I32 => "int32",
        ElementType::U32 => "uint32",
    }
}

/// Encodes samples as a stream in a new `bytes` object.
#[pyfunction]
pub(crate) fn rice2_encode<'py>(
    py: Python<'py>,
    segment: Option<u64>,
    row: Option<u64>,
    shape: Option<Vec<u64>>,
    channels: Option<u64>,
    samples: Samples<'py>,
    threads: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    fn encoded<'py, T: v2::Element>(
        py: Python<'py>,
        settings: &StreamOptions,
        samples: &[T],
        threads: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        filled(py, v2::bound::<T>(settings, samples.len()), |out| {
            v2::encode_into(settings, samples, out, Options::new().threads(threads))
        })
    }
    let settings = settings(segment, row, shape, channels).map_err(|e| raise(py, e))?;
    for_each_type!(Samples, samples, samples => encoded(py, &settings, samples.as_slice()?, threads))
}

/// Encodes samples as a stream into the start of `out`. Returns the number of bytes written.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub(crate) fn rice2_encode_into(
    py: Python<'_>,
    segment: Option<u64>,
    row: Option<u64>,
    shape: Option<Vec<u64>>,
    channels: Option<u64>,
    samples: Samples<'_>,
    mut out: PyReadwriteArray1<'_, u8>,
    threads: usize,
) -> PyResult<usize> {
    let out = out.as_slice_mut()?;
    let n = for_each_type!(Samples, samples, samples => {
        let samples = samples.as_slice()?;
        py.detach(|| {
            let settings = settings(segment, row, shape, channels)?;
            v2::encode_into(&settings, samples, out, Options::new().threads(threads))
        })
    });
    n.map_err(|e| raise(py, e))
}

/// The header of a stream: NumPy's name of the sample type, number of samples, samples per row (0
/// if there are no rows), samples per segment, number of segments, bytes of the stream, shape of
/// the array if the stream has it, number of channels.
type Header = (&'static str, u64, u32, u32, u64, u64, Option<Vec<u64>>, u32);

/// The header of the stream that begins at byte `at` of the array `stream`.
#[pyfunction]
pub(crate) fn rice2_info(py: Python<'_>, stream: PyReadonlyArray1<'_, u8>, at: usize) -> PyResult<Header> {
    let info =
        v2::info(stream.as_slice()?.get(at..).unwrap_or(&[])).map_err(|e| raise(py, e.shifted(at as u64)))?;
    let row = info.row.map_or(0, NonZeroU32::get);
    let shape = info.shape.map(|shape| shape.axes().to_vec());
    let (segment, channels) = (info.segment, info.channels);
    Ok((numpy_name(info.element), info.samples, row, segment, info.segments, info.bytes, shape, channels))
}

/// Decodes the stream in the bytes `at..end` of the array `stream` into the start of `out`. Returns
/// the number of samples written.
#[pyfunction]
pub(crate) fn rice2_decode(
    py: Python<'_>,
    stream: PyReadonlyArray1<'_, u8>,
    at: usize,
    end: usize,
    out: OutputArray<'_>,
    threads: usize,
) -> PyResult<usize> {
    let stream = stream.as_slice()?.get(at..end).unwrap_or(&[]);
    let n = for_each_type!(OutputArray, out, out => {
        let mut out = out;
        let out = out.as_slice_mut()?;
        py.detach(|| v2::decode_into(stream, out, Options::new().threads(threads)))
    });
    n.map_err(|e| raise(py, e.shifted(at as u64)))
}

/// Decodes the segments with the numbers `start..stop` of a stream into the start of `out`. Returns
/// the number of samples written.
#[pyfunction]
pub(crate) fn rice2_decode_segments(
    py: Python<'_>,
    stream: PyReadonlyArray1<'_, u8>,
    start: usize,
    stop: usize,
    out: OutputArray<'_>,
    threads: usize,
) -> PyResult<usize> {
    let stream = stream.as_slice()?;
    let n = for_each_type!(OutputArray, out, out => {
        let mut out = out;
        let out = out.as_slice_mut()?;
        py.detach(|| v2::decode_segments(stream, start..stop, out, Options::new().threads(threads)))
    });
    n.map_err(|e| raise(py, e))
}
