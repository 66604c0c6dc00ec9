//! The C interface, which `linerate_cuda.h` declares and documents. Panics and errors become codes.
//! Each thread keeps the text of its last error.

#![allow(unsafe_code)]

use std::cell::RefCell;
use std::ffi::{CString, c_char, c_int, c_void};
use std::num::NonZeroU32;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;

use linerate_core::Kind;
use linerate_rice::v2::{ElementType, StreamOptions};
use linerate_rice::{Filter, Params};

use crate::{Codec, Context, DecodeJob, EncodeJob, Error, Input, Stream, Workspace, stream_bound};

thread_local! {
    static LAST_ERROR: RefCell<CString> = RefCell::default();
}

/// `linerate_cuda_params` of the header: the parameters of all version 1 chunks of a call.
#[repr(C)]
pub struct CParams {
    m: u32,
    segment: u32,
    tap_count: u32,
    taps: [i32; 32],
}

/// `linerate_cuda_job` of the header: a chunk or stream and its samples, in device memory.
#[repr(C)]
pub struct CJob {
    chunk: u64,
    chunk_bytes: u64,
    samples: u64,
    sample_count: u64,
}

/// `linerate_cuda_outcome` of the header: the size of a chunk or stream, or its error.
#[repr(C)]
pub struct COutcome {
    kind: i32,
    offset: u64,
    size: u64,
    message: *const c_char,
}

const PANIC: c_int = 6;
const NULL: Error = Error::BadArgument("a pointer is null");

fn code(error: &Error) -> c_int {
    match error {
        Error::NoDriver { .. } => 1,
        Error::NoDevice { .. } => 2,
        Error::OutOfMemory { .. } => 3,
        Error::Driver { .. } => 4,
        Error::BadArgument(_) => 5,
        Error::NoKernel(_) => 7,
    }
}

fn kind_code(kind: Kind) -> i32 {
    match kind {
        Kind::Truncated => 1,
        Kind::Unsupported => 3,
        Kind::OutputTooSmall => 4,
        Kind::BadArgument => 5,
        Kind::Limit => 6,
        _ => 2,
    }
}

/// Runs `work` and returns 0. An error or a panic becomes a code, which is returned, and the text
/// of this thread's last error.
fn guarded(work: impl FnOnce() -> crate::Result<()>) -> c_int {
    let (status, text) = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => return 0,
        Ok(Err(error)) => (code(&error), error.to_string()),
        Err(_) => (PANIC, "a defect of linerate-cuda: please report it".to_owned()),
    };
    let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
    // While the thread ends, its thread-local variables are gone, and the text is not kept.
    let _ = LAST_ERROR.try_with(|last| *last.borrow_mut() = text);
    status
}

/// Returns the value at `pointer`, or an error if `pointer` is null.
///
/// # Safety
/// `pointer` is null, or points to a valid value that lives for `'a`.
unsafe fn at<'a, T>(pointer: *const T) -> crate::Result<&'a T> {
    // SAFETY: by the caller.
    unsafe { pointer.as_ref() }.ok_or(NULL)
}

/// Returns the value at `pointer` for writing, or an error if `pointer` is null.
///
/// # Safety
/// `pointer` is null, or points to a valid value that lives for `'a` and that nobody else uses
/// meanwhile.
unsafe fn at_mut<'a, T>(pointer: *mut T) -> crate::Result<&'a mut T> {
    // SAFETY: by the caller.
    unsafe { pointer.as_mut() }.ok_or(NULL)
}

/// Returns the `count` values at `start`, or an error if `start` is null and `count` is not 0.
///
/// # Safety
/// `start` is null, or points to `count` valid values that live for `'a`.
unsafe fn list<'a, T>(start: *const T, count: usize) -> crate::Result<&'a [T]> {
    match (start.is_null(), count) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(NULL),
        // SAFETY: by the caller.
        (false, _) => Ok(unsafe { slice::from_raw_parts(start, count) }),
    }
}

/// Writes the result of `make` to `out` and returns 0. An error or a panic becomes a code, and
/// `out` keeps its value. If `out` is null, `make` does not run.
///
/// # Safety
/// `out` is null or can be written.
unsafe fn give<T>(out: *mut T, make: impl FnOnce() -> crate::Result<T>) -> c_int {
    guarded(|| match out.is_null() {
        true => Err(NULL),
        // SAFETY: by the caller.
        false => make().map(|value| unsafe { out.write(value) }),
    })
}

/// Moves a value to the heap. C owns it, until [`free`] drops it.
fn boxed<T>(value: T) -> *mut T {
    Box::into_raw(Box::new(value))
}

/// Drops a value that C owns. Does nothing if `pointer` is null.
///
/// # Safety
/// `pointer` is null, or from [`boxed`] and used by nobody else.
unsafe fn free<T>(pointer: *mut T) {
    guarded(|| {
        if !pointer.is_null() {
            // SAFETY: by the caller.
            drop(unsafe { Box::from_raw(pointer) });
        }
        Ok(())
    });
}

fn size(n: u64) -> crate::Result<usize> {
    usize::try_from(n).map_err(|_| Error::BadArgument("a size above the address space"))
}

fn of_core(error: linerate_core::Error) -> Error {
    Error::BadArgument(error.message)
}

impl CParams {
    fn params(&self) -> crate::Result<Params> {
        let params = Params::new(self.m, NonZeroU32::new(self.segment)).map_err(of_core)?;
        if self.tap_count == 0 {
            return Ok(params);
        }
        let taps = self.taps.get(..self.tap_count as usize);
        let taps = taps.ok_or(Error::BadArgument("a filter of more than 32 coefficients"))?;
        Ok(params.with_filter(Filter::new(taps).map_err(of_core)?))
    }
}

fn element_of(number: c_int) -> crate::Result<ElementType> {
    let element = u8::try_from(number).ok().and_then(ElementType::from_code);
    element.ok_or(Error::BadArgument("element is not 0 (i16), 1 (u16), 2 (i32) or 3 (u32)"))
}

fn options_of(segment: u32, row: u32) -> StreamOptions {
    StreamOptions::new().segment(NonZeroU32::new(segment)).row(NonZeroU32::new(row))
}

fn decode_jobs(jobs: &[CJob]) -> crate::Result<Vec<DecodeJob<'static>>> {
    let job = |job: &CJob| {
        Ok(DecodeJob {
            chunk: Input::Device { address: job.chunk, bytes: size(job.chunk_bytes)? },
            samples: job.samples,
            capacity: size(job.sample_count)?,
        })
    };
    jobs.iter().map(job).collect()
}

fn encode_jobs(jobs: &[CJob], width: usize) -> crate::Result<Vec<EncodeJob<'static>>> {
    let job = |job: &CJob| {
        let bytes = size(job.sample_count)?.checked_mul(width);
        let bytes = bytes.ok_or(Error::BadArgument("a size above the address space"))?;
        Ok(EncodeJob {
            samples: Input::Device { address: job.samples, bytes },
            chunk: job.chunk,
            capacity: size(job.chunk_bytes)?,
        })
    };
    jobs.iter().map(job).collect()
}

/// Returns the text of the last error on this thread, or an empty string.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_cuda_last_error() -> *const c_char {
    LAST_ERROR.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

/// Creates the codec of device number `device`.
///
/// # Safety
/// `out` is null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_cuda_codec_new(device: c_int, out: *mut *mut Codec) -> c_int {
    let make = || {
        let device = usize::try_from(device).map_err(|_| Error::BadArgument("a negative device number"))?;
        Ok(boxed(Codec::new(&Context::new(device)?)))
    };
    // SAFETY: by the caller.
    unsafe { give(out, make) }
}

/// Frees a codec.
///
/// # Safety
/// `codec` is null or from `linerate_cuda_codec_new`, and used by nobody else.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_cuda_codec_free(codec: *mut Codec) {
    // SAFETY: by the caller.
    unsafe { free(codec) }
}

/// Creates a workspace on the device of `codec`.
///
/// # Safety
/// `codec` is null or valid; `out` is null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_cuda_workspace_new(codec: *mut Codec, out: *mut *mut Workspace) -> c_int {
    // SAFETY: by the caller.
    unsafe { give(out, || Ok(boxed(Workspace::new(at(codec)?.context())?))) }
}

/// Waits for the last call on a workspace, and frees it.
///
/// # Safety
/// `workspace` is null or from `linerate_cuda_workspace_new`, and used by nobody else.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_cuda_workspace_free(workspace: *mut Workspace) {
    // SAFETY: by the caller.
    unsafe { free(workspace) }
}

/// The arguments that the functions which decode and encode have in common.
struct Call {
    codec: *mut Codec,
    workspace: *mut Workspace,
    jobs: *const CJob,
    count: usize,
    stream: *mut c_void,
}

impl Call {
    /// Checks the pointers, runs `work` and returns 0. An error or a panic becomes a code.
    ///
    /// # Safety
    /// Pointers are null or valid. `count` jobs are at `jobs`. Nobody else uses the workspace. The
    /// stream belongs to the codec's context.
    unsafe fn run(
        self,
        work: impl FnOnce(&Codec, &[CJob], &Stream, &mut Workspace) -> crate::Result<()>,
    ) -> c_int {
        // SAFETY: by the caller.
        guarded(|| unsafe {
            let workspace = at_mut(self.workspace)?;
            workspace.drop_outcomes(); // also if the arguments are refused here
            let codec = at(self.codec)?;
            let stream = Stream::from_raw(codec.context(), self.stream);
            work(codec, list(self.jobs, self.count)?, &stream, workspace)
        })
    }
}

/// Queues the decoding of version 1 chunks: [`Codec::decode`].
///
/// # Safety
/// Pointers are null or valid, and `count` jobs are at `jobs`. Nobody else uses the workspace. The
/// stream belongs to the codec's context. Addresses in the jobs are as for [`Codec::decode`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_cuda_decode(
    codec: *mut Codec,
    workspace: *mut Workspace,
    params: *const CParams,
    jobs: *const CJob,
    count: usize,
    stream: *mut c_void,
) -> c_int {
    // SAFETY: by the caller.
    unsafe {
        Call { codec, workspace, jobs, count, stream }.run(|codec, jobs, stream, workspace| {
            codec.decode(&at(params)?.params()?, &decode_jobs(jobs)?, stream, workspace)
        })
    }
}

/// Queues the encoding of version 1 chunks: [`Codec::encode`].
///
/// # Safety
/// As for [`linerate_cuda_decode`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_cuda_encode(
    codec: *mut Codec,
    workspace: *mut Workspace,
    params: *const CParams,
    jobs: *const CJob,
    count: usize,
    stream: *mut c_void,
) -> c_int {
    // SAFETY: by the caller.
    unsafe {
        Call { codec, workspace, jobs, count, stream }.run(|codec, jobs, stream, workspace| {
            codec.encode(&at(params)?.params()?, &encode_jobs(jobs, 2)?, stream, workspace)
        })
    }
}

/// Queues the decoding of version 2 streams: [`Codec::decode_streams`].
///
/// # Safety
/// As for [`linerate_cuda_decode`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_cuda_decode_streams(
    codec: *mut Codec,
    workspace: *mut Workspace,
    element: c_int,
    min_segment: u32,
    jobs: *const CJob,
    count: usize,
    stream: *mut c_void,
) -> c_int {
    // SAFETY: by the caller.
    unsafe {
        Call { codec, workspace, jobs, count, stream }.run(|codec, jobs, stream, workspace| {
            let min_segment = min_segment as usize;
            codec.decode_streams(element_of(element)?, min_segment, &decode_jobs(jobs)?, stream, workspace)
        })
    }
}

/// Queues the encoding of version 2 streams without a shape: [`Codec::encode_streams`].
///
/// # Safety
/// As for [`linerate_cuda_decode`].
#[allow(clippy::too_many_arguments, reason = "as the header has them")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_cuda_encode_streams(
    codec: *mut Codec,
    workspace: *mut Workspace,
    element: c_int,
    segment: u32,
    row: u32,
    jobs: *const CJob,
    count: usize,
    stream: *mut c_void,
) -> c_int {
    // SAFETY: by the caller.
    unsafe {
        Call { codec, workspace, jobs, count, stream }.run(|codec, jobs, stream, workspace| {
            let element = element_of(element)?;
            let jobs = encode_jobs(jobs, element.bytes())?;
            codec.encode_streams(element, &options_of(segment, row), &jobs, stream, workspace)
        })
    }
}

/// Waits for the last call on a workspace, and writes the outcomes of its first `count` jobs to
/// `out`.
///
/// # Safety
/// `workspace` is null, or valid and used by nobody else. `out` is null, or `count` outcomes can be
/// written there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_cuda_outcomes(
    workspace: *mut Workspace,
    out: *mut COutcome,
    count: usize,
) -> c_int {
    guarded(|| {
        // SAFETY: by the caller.
        let outcomes = unsafe { at_mut(workspace) }?.outcomes()?;
        if count > outcomes.len() || out.is_null() && count > 0 {
            return Err(Error::BadArgument("more outcomes than the last call had jobs, or a null pointer"));
        }
        for (i, outcome) in outcomes.into_iter().take(count).enumerate() {
            // SAFETY: `i` is below `count`, and the caller guarantees room for `count` outcomes.
            unsafe { out.add(i).write(COutcome::new(outcome)) };
        }
        Ok(())
    })
}

impl COutcome {
    fn new(outcome: crate::Outcome) -> COutcome {
        match outcome {
            Ok(size) => COutcome { kind: 0, offset: 0, size: size as u64, message: std::ptr::null() },
            Err(error) => COutcome {
                kind: kind_code(error.kind),
                offset: error.offset,
                size: 0,
                message: crate::outcome::c_message(error.message),
            },
        }
    }
}

/// Stores the device address of the results of the last call on a workspace.
///
/// # Safety
/// Pointers are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_cuda_device_results(workspace: *mut Workspace, out: *mut u64) -> c_int {
    // SAFETY: by the caller.
    unsafe { give(out, || Ok(at(workspace)?.device_results())) }
}

/// Stores the largest size in bytes of a version 1 chunk of `sample_count` samples.
///
/// # Safety
/// Pointers are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_cuda_bound(
    params: *const CParams,
    sample_count: u64,
    out: *mut u64,
) -> c_int {
    // SAFETY: by the caller.
    unsafe { give(out, || Ok(at(params)?.params()?.bound(size(sample_count)?) as u64)) }
}

/// Stores the largest size in bytes of a version 2 stream of `sample_count` samples.
///
/// # Safety
/// `out` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_cuda_stream_bound(
    element: c_int,
    segment: u32,
    row: u32,
    sample_count: u64,
    out: *mut u64,
) -> c_int {
    let bound = || {
        let element = element_of(element)?;
        let bytes = size(sample_count)?.saturating_mul(element.bytes());
        Ok(stream_bound(element, &options_of(segment, row), bytes) as u64)
    };
    // SAFETY: by the caller.
    unsafe { give(out, bound) }
}
