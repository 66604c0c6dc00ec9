//! Memory of calls: descriptors, staged input, results and scratch, reused by each call.
//!
//! In a call's device memory, descriptors and input from the host come first; they are copied there
//! while more is staged in pinned host memory. Results and scratch follow. At the end of the call
//! the results are copied back to pinned memory.

use std::ops::Range;

use crate::layout::{Plain, ResultWords};
use crate::outcome::{Outcome, outcome};
use crate::sys::{Context, DeviceBuffer, Event, PinnedBuffer, Stream, bytes_of};
use crate::{Error, Result};

/// Alignment in bytes of the parts of device memory, equal to that of allocations of the driver.
const ALIGN: usize = 256;
/// Number of staged bytes from which on a copy to the device begins, so that it runs while the next
/// bytes are staged.
const PIECE: usize = 2 << 20;

/// Descriptors, scratch and results of one call at a time. A workspace grows to the largest call;
/// after that, calls allocate no device memory and no pinned memory.
///
/// A call on a stream returns when its work is queued; [`Workspace::outcomes`] waits for the
/// results. The workspace may be used again right away: the next call first waits until the last
/// one is done.
#[derive(Debug)]
pub struct Workspace {
    context: Context,
    /// Device memory, laid out as described at the top of this file.
    memory: DeviceBuffer,
    /// Data to copy to the device; after the call, the results.
    staging: PinnedBuffer,
    /// Device memory for the output of calls that return it in host memory.
    output: DeviceBuffer,
    done: Event,
    /// Whether the last call may still be running: until waiting for it succeeds.
    is_running: bool,
    /// Number of chunks of the last call, or 0 if it failed.
    count: usize,
    /// Offset of the results in `memory`.
    results_at: usize,
}

impl Workspace {
    /// Creates an empty workspace, which grows with the calls.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn new(context: &Context) -> Result<Workspace> {
        Ok(Workspace {
            context: context.clone(),
            memory: DeviceBuffer::new(context, 0)?,
            staging: PinnedBuffer::new(context, 0)?,
            output: DeviceBuffer::new(context, 0)?,
            done: Event::new(context)?,
            is_running: false,
            count: 0,
            results_at: 0,
        })
    }

    /// Size in bytes of the device memory that the workspace holds.
    pub fn device_bytes(&self) -> usize {
        self.memory.len() + self.output.len()
    }

    /// Waits for the last call and returns the outcome of each chunk. A call that failed has none.
    ///
    /// # Errors
    /// As for [`Workspace::wait`].
    pub fn outcomes(&mut self) -> Result<Vec<Outcome>> {
        self.wait()?;
        let results = &self.staging.as_slice()[..self.count * size_of::<ResultWords>()];
        let words = results.chunks_exact(16).map(|pair| {
            let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| pair[at + i]));
            ResultWords { status: word(0), size: word(8) }
        });
        Ok(words.map(outcome).collect())
    }

    /// Device address of the results of the last call, for later work on the same stream. Each
    /// chunk has 16 bytes, a `rice_result` of `kernels.h`: a status, all ones on success, and a
    /// size.
    pub fn device_results(&self) -> u64 {
        self.memory.pointer() + self.results_at as u64
    }

    /// Waits until the last call is done.
    ///
    /// # Errors
    /// Errors of the driver, such as those of kernels that failed. The next use of the workspace
    /// waits again, and returns the error as long as the driver reports it.
    pub fn wait(&mut self) -> Result<()> {
        if self.is_running {
            self.done.synchronize()?;
            self.is_running = false;
        }
        Ok(())
    }

    /// Waits until the last call is done, and returns the address of `len` bytes of device memory
    /// for output. Their content is unspecified.
    pub(crate) fn output(&mut self, len: usize) -> Result<u64> {
        self.wait()?;
        grow(&self.context, &mut self.output, len)?;
        Ok(self.output.pointer())
    }

    /// Drops the outcomes of the last call. Each call does this first, so that there are none if it
    /// fails.
    pub(crate) fn drop_outcomes(&mut self) {
        self.count = 0;
    }

    /// Begins a call on `stream`: waits until the last call is done, and allocates the memory that
    /// `plan` adds up, where the workspace has less.
    pub(crate) fn begin<'w>(&'w mut self, plan: &Plan, stream: &'w Stream) -> Result<Call<'w>> {
        if stream.context().ordinal() != self.context.ordinal() {
            return Err(Error::BadArgument("the stream and the workspace are of different devices"));
        }
        self.wait()?;
        grow(&self.context, &mut self.memory, plan.bytes)?;
        let staged = plan.staged.max(plan.count * size_of::<ResultWords>());
        if self.staging.as_slice().len() < staged {
            self.staging = PinnedBuffer::new(&self.context, 0)?; // frees the old one first
            self.staging = PinnedBuffer::new(&self.context, staged.next_power_of_two())?;
        }
        self.count = plan.count;
        self.results_at = plan.results_at;
        Ok(Call { base: self.memory.pointer(), pending: 0..0, uploaded: Ok(()), stream, workspace: self })
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        // Kernels may still use the device memory, and copies may still use the pinned memory. If
        // waiting fails, there is nothing left to do.
        let _ = self.wait();
    }
}

/// Makes `buffer` at least `len` bytes long. If it was shorter, its content is lost.
fn grow(context: &Context, buffer: &mut DeviceBuffer, len: usize) -> Result<()> {
    if buffer.len() < len {
        *buffer = DeviceBuffer::new(context, 0)?; // frees the old one first
        *buffer = DeviceBuffer::new(context, len.checked_next_power_of_two().unwrap_or(len))?;
    }
    Ok(())
}

/// Lays out a call's device memory: adds parts one by one, and returns their offsets in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Plan {
    bytes: usize,
    /// Number of bytes at the front that the host stages.
    staged: usize,
    results_at: usize,
    count: usize,
}

impl Plan {
    /// Adds a part of `bytes` bytes that is copied from the host, and returns its offset. Add these
    /// parts before all others.
    ///
    /// # Errors
    /// As for [`Plan::reserve`].
    pub(crate) fn stage(&mut self, bytes: usize) -> Result<usize> {
        let at = self.reserve(bytes)?;
        self.staged = at + bytes;
        Ok(at)
    }

    /// Adds a part of `bytes` bytes that only the device uses, and returns its offset.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] if all parts together exceed the address space.
    pub(crate) fn reserve(&mut self, bytes: usize) -> Result<usize> {
        let too_large = Error::OutOfMemory { bytes: usize::MAX, is_pinned: false };
        let at = self.bytes.checked_next_multiple_of(ALIGN).ok_or_else(|| too_large.clone())?;
        self.bytes = at.checked_add(bytes).filter(|&end| end <= isize::MAX as usize).ok_or(too_large)?;
        Ok(at)
    }

    /// Adds a part for the results of `count` chunks, and returns its offset.
    ///
    /// # Errors
    /// As for [`Plan::reserve`].
    pub(crate) fn results(&mut self, count: usize) -> Result<usize> {
        self.count = count;
        self.results_at = self.reserve(count * size_of::<ResultWords>())?;
        Ok(self.results_at)
    }
}

/// A call in preparation. It fills parts in host memory, and uses their device addresses.
pub(crate) struct Call<'w> {
    workspace: &'w mut Workspace,
    stream: &'w Stream,
    base: u64,
    /// Byte range that is staged but whose copy to the device is not queued yet.
    pending: Range<usize>,
    /// The first error of queuing copies to the device, if any.
    uploaded: Result<()>,
}

impl Call<'_> {
    /// The device address of the part at `offset`.
    pub(crate) fn address(&self, offset: usize) -> u64 {
        self.base + offset as u64
    }

    /// Fills the staged part at `offset` with `values`.
    pub(crate) fn put<T: Plain>(&mut self, offset: usize, values: &[T]) {
        self.put_bytes(offset, bytes_of(values));
    }

    /// Fills the staged part at `offset` with `bytes`. Queues copies to the device on the way.
    pub(crate) fn put_bytes(&mut self, offset: usize, bytes: &[u8]) {
        let gap = offset.wrapping_sub(self.pending.end);
        if self.pending.is_empty() || gap >= ALIGN {
            self.upload();
            self.pending = offset..offset;
        }
        let mut at = offset;
        for piece in bytes.chunks(PIECE) {
            self.workspace.staging.as_mut_slice()[at..at + piece.len()].copy_from_slice(piece);
            at += piece.len();
            self.pending.end = at;
            if self.pending.len() >= PIECE {
                self.upload();
            }
        }
    }

    /// Queues the copy of the pending range to the device, unless an earlier copy has failed.
    fn upload(&mut self) {
        let range = self.pending.clone();
        self.pending.start = range.end;
        if range.is_empty() || self.uploaded.is_err() {
            return;
        }
        let workspace = &mut *self.workspace;
        // From here on the stream may use the memory, whatever fails later.
        workspace.is_running = true;
        self.uploaded = self.stream.upload(&workspace.memory, &workspace.staging, range);
    }

    /// Queues the copy of the staged parts, the work of `launch`, and the copy of the results.
    pub(crate) fn run(mut self, launch: impl FnOnce(&Stream) -> Result<()>) -> Result<()> {
        self.upload();
        let Call { workspace, stream, uploaded, .. } = self;
        workspace.is_running = true;
        let queued = uploaded.and_then(|()| workspace.queue(stream, launch));
        // Records the event even after an error, so that `wait` waits for the work that was queued
        // before the error.
        let recorded = workspace.done.record(stream);
        let result = queued.and(recorded);
        if result.is_err() {
            workspace.count = 0; // there are no results, or nobody can tell when they are complete
        }
        result
    }
}

impl Workspace {
    fn queue(&mut self, stream: &Stream, launch: impl FnOnce(&Stream) -> Result<()>) -> Result<()> {
        launch(stream)?;
        let results = self.count * size_of::<ResultWords>();
        stream.download(&mut self.staging, &self.memory, self.results_at, results)
    }
}

/// The workspace reads its results as bytes: `ResultWords` has two little-endian words.
const _: () = assert!(size_of::<ResultWords>() == 16 && cfg!(target_endian = "little"));
