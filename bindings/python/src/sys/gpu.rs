//! Calls of `linerate_cuda` with device addresses that Python passes, which are from
//! `__cuda_array_interface__` and DLPack.
//!
//! As with any library that takes such addresses, the Python caller guarantees that they are valid,
//! and that arrays live until the stream is done; `pylinerate.gpu` holds the arrays until then.
//! This is what the `SAFETY` lines of this file mean by "see above".

use std::ffi::c_void;

use linerate_cuda::{Codec, Context, DecodeJob, EncodeJob, Result, Stream, Workspace, sys};
use linerate_rice::Params;
use linerate_rice::v2::{ElementType, StreamOptions};

use crate::gpu::Rows;

/// The CUDA stream with the handle (`CUstream`) `raw`.
pub(crate) fn stream_of(context: &Context, raw: usize) -> Stream {
    // SAFETY: the handle is a stream of the primary context, see above.
    unsafe { Stream::from_raw(context, raw as *mut c_void) }
}

/// Copies `content` from host memory to the device address `to`, after the work queued on the
/// stream, and waits for the copy.
pub(crate) fn upload(stream: &Stream, to: u64, content: &[u8]) -> Result<()> {
    // SAFETY: see above; the content is borrowed until the stream is done.
    let queued = unsafe { stream.copy_to_device(to, content) };
    stream.synchronize()?;
    queued
}

/// Waits for the work queued on the stream, and copies `bytes` bytes at the device address `at` to
/// host memory.
pub(crate) fn copy_out(stream: &Stream, at: u64, bytes: usize) -> Result<Vec<u8>> {
    // SAFETY: see above.
    unsafe { sys::copy_to_vec(at, bytes, stream) }
}

/// Queues on the stream that `bytes` bytes at the device address `to` are set to zero.
pub(crate) fn fill(stream: &Stream, to: u64, bytes: usize) -> Result<()> {
    // SAFETY: see above.
    unsafe { stream.fill(to, 0, bytes) }
}

/// Queues on the stream a copy of rows from the array at the device address `from` to the array at
/// `to`.
pub(crate) fn copy_rows(stream: &Stream, to: u64, from: u64, rows: &Rows) -> Result<()> {
    let (to, from) = (to + rows.to as u64, from + rows.from as u64);
    // SAFETY: see above; the rows are within the arrays.
    unsafe { stream.copy_rows((to, rows.to_pitch), (from, rows.from_pitch), rows.width, rows.count) }
}

/// Calls [`Codec::decode`].
pub(crate) fn decode(
    codec: &Codec,
    params: &Params,
    jobs: &[DecodeJob<'_>],
    stream: &Stream,
    workspace: &mut Workspace,
) -> Result<()> {
    // SAFETY: see above.
    unsafe { codec.decode(params, jobs, stream, workspace) }
}

/// Calls [`Codec::decode_streams`].
pub(crate) fn decode_streams(
    codec: &Codec,
    element: ElementType,
    min_segment: usize,
    jobs: &[DecodeJob<'_>],
    stream: &Stream,
    workspace: &mut Workspace,
) -> Result<()> {
    // SAFETY: see above.
    unsafe { codec.decode_streams(element, min_segment, jobs, stream, workspace) }
}

/// Calls [`Codec::encode`].
pub(crate) fn encode(
    codec: &Codec,
    params: &Params,
    jobs: &[EncodeJob<'_>],
    stream: &Stream,
    workspace: &mut Workspace,
) -> Result<()> {
    // SAFETY: see above.
    unsafe { codec.encode(params, jobs, stream, workspace) }
}

/// Calls [`Codec::encode_streams`].
pub(crate) fn encode_streams(
    codec: &Codec,
    element: ElementType,
    options: &StreamOptions,
    jobs: &[EncodeJob<'_>],
    stream: &Stream,
    workspace: &mut Workspace,
) -> Result<()> {
    // SAFETY: see above.
    unsafe { codec.encode_streams(element, options, jobs, stream, workspace) }
}
