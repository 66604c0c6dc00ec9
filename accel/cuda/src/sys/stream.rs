//! Streams, copies on them, and events.

use std::ffi::c_void;
use std::ops::Range;
use std::ptr;

use super::context::Context;
use super::driver::{Copy2D, DEVICE_MEMORY, DevicePtr, RawEvent, RawStream};
use super::memory::{DeviceBuffer, PinnedBuffer};
use crate::Result;

/// `CU_STREAM_NON_BLOCKING`: flag for a stream that has no implicit order with the default stream.
const NON_BLOCKING: u32 = 1;

/// A queue of work for a device, which does the work in the order in which it was queued.
#[derive(Debug)]
pub struct Stream {
    context: Context,
    raw: RawStream,
    is_owned: bool,
}

// SAFETY: a handle, which may be used from any thread.
unsafe impl Send for Stream {}
// SAFETY: a handle, which several threads may use at once.
unsafe impl Sync for Stream {}

impl Stream {
    /// Creates a stream, which has no implicit order with the default stream.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn new(context: &Context) -> Result<Stream> {
        let _current = context.enter()?;
        let mut raw = ptr::null_mut();
        // SAFETY: the pointer is to a stream handle; the context is current.
        let status = unsafe { (context.driver().call.create_stream)(&raw mut raw, NON_BLOCKING) };
        context.driver().check("cuStreamCreate", status)?;
        Ok(Stream { context: context.clone(), raw, is_owned: true })
    }

    /// Wraps the caller's stream: a `CUstream` or `cudaStream_t`, or the number 0 or 1 for the
    /// default stream, or 2 for the default stream of the calling thread. Dropping the result does
    /// not destroy the stream.
    ///
    /// # Safety
    /// The stream belongs to `context` and outlives the result.
    pub unsafe fn from_raw(context: &Context, raw: *mut c_void) -> Stream {
        Stream { context: context.clone(), raw, is_owned: false }
    }

    /// Returns the default stream of the context. It and other streams wait for each other, except
    /// those that were created without this order, as by [`Stream::new`].
    pub fn default_of(context: &Context) -> Stream {
        Stream { context: context.clone(), raw: ptr::null_mut(), is_owned: false }
    }

    /// The handle of the stream, a `CUstream`.
    pub fn raw(&self) -> *mut c_void {
        self.raw
    }

    /// The context that the stream belongs to.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Waits until all work that is queued on the stream is done.
    ///
    /// # Errors
    /// Errors of the driver, those of the work included.
    pub fn synchronize(&self) -> Result<()> {
        let _current = self.context.enter()?;
        // SAFETY: the stream is valid as long as `self`.
        let status = unsafe { (self.context.driver().call.wait_stream)(self.raw) };
        self.context.driver().check("cuStreamSynchronize", status)
    }

    /// Makes work that is queued on the stream from now on wait for `event`. Returns at once.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn wait(&self, event: &Event) -> Result<()> {
        let _current = self.context.enter()?;
        // SAFETY: stream and event are valid.
        let status = unsafe { (self.context.driver().call.stream_waits)(self.raw, event.raw, 0) };
        self.context.driver().check("cuStreamWaitEvent", status)
    }

    /// Queues a copy of `from` to device memory at `to`.
    ///
    /// # Safety
    /// The same number of bytes at `to` is valid device memory. Nobody touches these bytes, or
    /// changes or frees `from`, until the stream has finished.
    ///
    /// # Errors
    /// Errors of the driver.
    pub unsafe fn copy_to_device(&self, to: u64, from: &[u8]) -> Result<()> {
        if from.is_empty() {
            return Ok(());
        }
        let _current = self.context.enter()?;
        let driver = self.context.driver();
        // SAFETY: by the caller.
        let status = unsafe { (driver.call.to_device)(to, from.as_ptr().cast(), from.len(), self.raw) };
        driver.check("cuMemcpyHtoDAsync", status)
    }

    /// Queues a copy of `to.len()` bytes of device memory at `from` to `to`.
    ///
    /// # Safety
    /// The same number of bytes at `from` is valid device memory. Nobody changes or frees these
    /// bytes, or touches `to`, until the stream has finished.
    ///
    /// # Errors
    /// Errors of the driver.
    pub unsafe fn copy_to_host(&self, to: &mut [u8], from: u64) -> Result<()> {
        if to.is_empty() {
            return Ok(());
        }
        let _current = self.context.enter()?;
        let driver = self.context.driver();
        // SAFETY: by the caller.
        let status = unsafe { (driver.call.to_host)(to.as_mut_ptr().cast(), from, to.len(), self.raw) };
        driver.check("cuMemcpyDtoHAsync", status)
    }

    /// Queues a copy of a byte range of `from` to the same range of `to`. The owner of both buffers
    /// records an event after the copy, and waits for the event before it uses this range again or
    /// frees one of the buffers.
    ///
    /// # Errors
    /// Errors of the driver.
    ///
    /// # Panics
    /// If the range exceeds one of the buffers.
    pub(crate) fn upload(&self, to: &DeviceBuffer, from: &PinnedBuffer, range: Range<usize>) -> Result<()> {
        assert!(range.end <= to.len(), "the device memory is that long");
        // SAFETY: both buffers are that long, and their owner keeps them until the copy is done.
        unsafe { self.copy_to_device(to.pointer() + range.start as u64, &from.as_slice()[range]) }
    }

    /// Queues a copy of the `len` bytes of `from` that begin at `offset` to the beginning of `to`.
    /// The owner keeps both buffers, as for [`Stream::upload`].
    ///
    /// # Errors
    /// Errors of the driver.
    ///
    /// # Panics
    /// If one of the buffers is too short.
    pub(crate) fn download(
        &self,
        to: &mut PinnedBuffer,
        from: &DeviceBuffer,
        offset: usize,
        len: usize,
    ) -> Result<()> {
        assert!(offset + len <= from.len(), "the device memory is that long");
        // SAFETY: both buffers are that long, and their owner keeps them until the copy is done.
        unsafe { self.copy_to_host(&mut to.as_mut_slice()[..len], from.pointer() + offset as u64) }
    }

    /// Queues a copy of `len` bytes within device memory.
    ///
    /// # Safety
    /// Both ranges are valid device memory and do not overlap. Nobody touches them until the stream
    /// has finished.
    ///
    /// # Errors
    /// Errors of the driver.
    pub unsafe fn copy_on_device(&self, to: u64, from: u64, len: usize) -> Result<()> {
        if len == 0 {
            return Ok(());
        }
        let _current = self.context.enter()?;
        let driver = self.context.driver();
        // SAFETY: by the caller.
        driver.check("cuMemcpyDtoDAsync", unsafe { (driver.call.on_device)(to, from, len, self.raw) })
    }

    /// Queues a copy of `rows` rows of `width` bytes within device memory. The beginnings of rows
    /// are `to_pitch` and `from_pitch` bytes apart.
    ///
    /// # Safety
    /// As for [`Stream::copy_on_device`], for all rows.
    ///
    /// # Errors
    /// Errors of the driver.
    pub unsafe fn copy_rows(
        &self,
        (to, to_pitch): (u64, usize),
        (from, from_pitch): (u64, usize),
        width: usize,
        rows: usize,
    ) -> Result<()> {
        if width == 0 || rows == 0 {
            return Ok(());
        }
        if width == to_pitch && width == from_pitch || rows == 1 {
            // SAFETY: by the caller, since the rows follow each other without gaps.
            return unsafe { self.copy_on_device(to, from, width * rows) };
        }
        let copy = Copy2D {
            src_x_bytes: 0,
            src_y: 0,
            src_kind: DEVICE_MEMORY,
            src_host: ptr::null(),
            src_device: from,
            src_array: ptr::null_mut(),
            src_pitch: from_pitch,
            dst_x_bytes: 0,
            dst_y: 0,
            dst_kind: DEVICE_MEMORY,
            dst_host: ptr::null_mut(),
            dst_device: to,
            dst_array: ptr::null_mut(),
            dst_pitch: to_pitch,
            width_bytes: width,
            height: rows,
        };
        let _current = self.context.enter()?;
        let driver = self.context.driver();
        // SAFETY: by the caller; the driver copies the description before it returns.
        driver.check("cuMemcpy2DAsync", unsafe { (driver.call.copy_2d)(&raw const copy, self.raw) })
    }

    /// Queues setting `len` bytes of device memory at `to` to `value`.
    ///
    /// # Safety
    /// The bytes are valid device memory. Nobody touches them until the stream has finished.
    ///
    /// # Errors
    /// Errors of the driver.
    pub unsafe fn fill(&self, to: u64, value: u8, len: usize) -> Result<()> {
        if len == 0 {
            return Ok(());
        }
        let _current = self.context.enter()?;
        let driver = self.context.driver();
        // SAFETY: by the caller.
        driver.check("cuMemsetD8Async", unsafe { (driver.call.fill)(to as DevicePtr, value, len, self.raw) })
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.is_owned
            && let Ok(_current) = self.context.enter()
        {
            // SAFETY: `new` created the stream. The driver still finishes the work that is queued.
            unsafe { (self.context.driver().call.destroy_stream)(self.raw) };
        }
    }
}

/// A point in the work of a stream, and the time at which the device reaches it.
#[derive(Debug)]
pub struct Event {
    context: Context,
    raw: RawEvent,
}

// SAFETY: a handle, which may be used from any thread.
unsafe impl Send for Event {}
// SAFETY: a handle, which several threads may use at once.
unsafe impl Sync for Event {}

impl Event {
    /// Creates an event, which is not recorded yet.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn new(context: &Context) -> Result<Event> {
        let _current = context.enter()?;
        let mut raw = ptr::null_mut();
        // SAFETY: the pointer is to an event handle; the context is current.
        let status = unsafe { (context.driver().call.create_event)(&raw mut raw, 0) };
        context.driver().check("cuEventCreate", status)?;
        Ok(Event { context: context.clone(), raw })
    }

    /// Records the event: it marks the end of the work that `stream` has so far.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn record(&self, stream: &Stream) -> Result<()> {
        let _current = self.context.enter()?;
        // SAFETY: event and stream are valid.
        let status = unsafe { (self.context.driver().call.record_event)(self.raw, stream.raw) };
        self.context.driver().check("cuEventRecord", status)
    }

    /// Waits until the work before the event is done. Returns at once if the event was never
    /// recorded.
    ///
    /// # Errors
    /// Errors of the driver, those of the work included.
    pub fn synchronize(&self) -> Result<()> {
        let _current = self.context.enter()?;
        // SAFETY: the event is valid.
        let status = unsafe { (self.context.driver().call.wait_event)(self.raw) };
        self.context.driver().check("cuEventSynchronize", status)
    }

    /// Returns the milliseconds from `earlier` to this event.
    ///
    /// # Errors
    /// Errors of the driver, also if one of the events was not recorded or its work is not done.
    pub fn milliseconds_since(&self, earlier: &Event) -> Result<f32> {
        let _current = self.context.enter()?;
        let mut elapsed = 0.0;
        // SAFETY: the pointer is to a float; both events are valid.
        let status = unsafe { (self.context.driver().call.elapsed)(&raw mut elapsed, earlier.raw, self.raw) };
        self.context.driver().check("cuEventElapsedTime", status)?;
        Ok(elapsed)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if let Ok(_current) = self.context.enter() {
            // SAFETY: `new` created the event, and nothing else destroys it.
            unsafe { (self.context.driver().call.destroy_event)(self.raw) };
        }
    }
}
