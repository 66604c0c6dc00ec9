//! Decodes many chunks on several threads into one output.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use linerate_core::{Error, Kind};
use linerate_rice::Options;

use crate::grid::{Grid, Part};
use crate::pipeline::{Pipeline, aligned_buffer};
use crate::sys::shared::SharedOutput;

/// A chunk to decode.
pub(crate) struct Job<'a> {
    /// Index of the chunk's first element along each axis of the dataset.
    pub(crate) offset: &'a [usize],
    /// Bit i is set if filter i was not applied to this chunk.
    pub(crate) mask: u32,
    /// The chunk as stored in the file.
    pub(crate) bytes: &'a [u8],
}

/// An error, and the index of the job that failed: `None` if the error concerns the whole call.
pub(crate) struct ChunkError {
    pub(crate) job: Option<usize>,
    pub(crate) error: Error,
}

impl From<Error> for ChunkError {
    fn from(error: Error) -> ChunkError {
        ChunkError { job: None, error }
    }
}

/// Decodes all chunks on up to `threads` threads, and writes their selected elements to `out`.
///
/// # Errors
/// Before any chunk is decoded, [`Kind::BadArgument`] if `out` does not have the size of the
/// selection, or if a chunk is given twice or is not on the grid. Later, the error of the first
/// job, in the order of `jobs`, that failed; an error does not stop the other jobs.
pub(crate) fn decode_all(
    pipeline: &Pipeline,
    grid: &Grid,
    jobs: &[Job<'_>],
    out: &mut [u8],
    threads: usize,
) -> Result<(), ChunkError> {
    let bad = |what| Err(Error::new(Kind::BadArgument, 0, what).into());
    if out.len() != grid.out_bytes() {
        return bad("the output does not have the size of the selection");
    }
    // Different chunks fill disjoint parts of the output, so threads write without locks.
    let mut seen = HashSet::new();
    if !jobs.iter().all(|job| seen.insert(job.offset)) {
        return bad("a chunk is given twice");
    }
    let parts = jobs.iter().map(|job| grid.part(job.offset)).collect::<Result<Vec<_>, _>>()?;
    let out = SharedOutput::new(out);
    let within = Options::new().threads(threads / jobs.len().max(1));
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(None::<(usize, Error)>);
    let work = || {
        let mut scratch = Vec::new();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let (Some(job), Some(part)) = (jobs.get(i), parts.get(i)) else { return };
            if let Err(e) = decode_one(pipeline, grid, job, part, &out, &mut scratch, within) {
                let mut failed = failed.lock().unwrap_or_else(|e| e.into_inner());
                if failed.is_none_or(|(first, _)| i < first) {
                    *failed = Some((i, e));
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(jobs.len()) {
            // If a thread cannot be started, fewer share the work.
            if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
    failed
        .into_inner()
        .unwrap_or_else(|e| e.into_inner())
        .map_or(Ok(()), |(i, error)| Err(ChunkError { job: Some(i), error }))
}

#[allow(unsafe_code)]
fn decode_one(
    pipeline: &Pipeline,
    grid: &Grid,
    job: &Job<'_>,
    part: &Part,
    out: &SharedOutput<'_>,
    scratch: &mut Vec<u32>,
    options: Options,
) -> Result<(), Error> {
    if part.is_empty() {
        return Ok(());
    }
    let chunk = pipeline.open(job.bytes, job.mask, options)?;
    let width = grid.itemsize().clamp(2, 4); // alignment that decoded samples need, in bytes
    if let Some(range) = part.whole().filter(|range| out.is_aligned(range, width)) {
        // SAFETY: the parts of different chunks are disjoint, and no chunk is decoded twice.
        return unsafe { out.with(range, |out| chunk.decode(0..grid.chunk_bytes(), out, options)) };
    }
    let span = part.span();
    let range = chunk.covering(span.start * grid.itemsize()..span.end * grid.itemsize());
    let before = range.start;
    let bytes = aligned_buffer(scratch, range.len())?;
    chunk.decode(range, bytes, options)?;
    part.runs(|from, to| {
        let run = &bytes[from.start - before..from.end - before];
        // SAFETY: the parts of different chunks are disjoint, and this thread writes the runs of
        // its part one after the other.
        unsafe { out.with(to, |out| out.copy_from_slice(run)) }
    });
    Ok(())
}
