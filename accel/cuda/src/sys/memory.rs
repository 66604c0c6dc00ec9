//! Device memory, and pinned host memory. Copies between the two run while the host goes on.

use std::ptr::NonNull;
use std::{ptr, slice};

use super::context::Context;
use super::driver::DevicePtr;
use super::stream::Stream;
use crate::Result;
use crate::layout::Plain;

/// Returns the bytes of plain values.
pub(crate) fn bytes_of<T: Plain>(values: &[T]) -> &[u8] {
    // SAFETY: `Plain` types have no padding, so all bytes are initialised.
    unsafe { slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

/// Copies `len` bytes of device memory to the host, and waits for the copy.
///
/// # Safety
/// The `len` bytes at `from` are valid device memory that nobody writes during the call.
///
/// # Errors
/// Errors of the driver.
pub unsafe fn copy_to_vec(from: u64, len: usize, stream: &Stream) -> Result<Vec<u8>> {
    let mut out = vec![0; len];
    // SAFETY: the caller guarantees the source; the stream has finished before the vector is used.
    let queued = unsafe { stream.copy_to_host(&mut out, from) };
    stream.synchronize()?;
    queued.map(|()| out)
}

/// Memory of a device, owned by this value.
#[derive(Debug)]
pub struct DeviceBuffer {
    context: Context,
    pointer: DevicePtr,
    len: usize,
}

impl DeviceBuffer {
    /// Allocates `len` bytes with unspecified content. For 0 bytes nothing is allocated.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), or the driver's error.
    pub fn new(context: &Context, len: usize) -> Result<DeviceBuffer> {
        let mut pointer = 0;
        if len > 0 {
            let _current = context.enter()?;
            // SAFETY: the pointer is to a device pointer; the context is current.
            let status = unsafe { (context.driver().call.allocate)(&raw mut pointer, len) };
            context.driver().check("cuMemAlloc", status).map_err(|e| e.of_allocation(len, false))?;
        }
        Ok(DeviceBuffer { context: context.clone(), pointer, len })
    }

    /// Allocates a copy of `content`, made on `stream`, and waits for it.
    ///
    /// # Errors
    /// As for [`DeviceBuffer::new`].
    pub fn from_slice(context: &Context, content: &[u8], stream: &Stream) -> Result<DeviceBuffer> {
        let buffer = DeviceBuffer::new(context, content.len())?;
        // SAFETY: the buffer is that long; the stream has finished before both are used otherwise.
        unsafe { stream.copy_to_device(buffer.pointer, content) }?;
        stream.synchronize()?;
        Ok(buffer)
    }

    /// Copies the first `out.len()` bytes to `out`, after the earlier work of `stream`, and waits
    /// for the copy.
    ///
    /// # Errors
    /// Errors of the driver.
    ///
    /// # Panics
    /// If `out` is longer than the buffer.
    pub fn read(&self, out: &mut [u8], stream: &Stream) -> Result<()> {
        assert!(out.len() <= self.len, "the output is no longer than the buffer");
        // SAFETY: the buffer is that long; the stream has finished before both are used otherwise.
        unsafe { stream.copy_to_host(out, self.pointer) }?;
        stream.synchronize()
    }

    /// The device address of the buffer, or 0 if the buffer is empty.
    pub fn pointer(&self) -> u64 {
        self.pointer
    }

    /// Size in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the buffer is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The context that the memory belongs to.
    pub fn context(&self) -> &Context {
        &self.context
    }
}

impl Drop for DeviceBuffer {
    fn drop(&mut self) {
        if self.pointer == 0 {
            return;
        }
        if let Ok(_current) = self.context.enter() {
            // SAFETY: `new` allocated the memory. The driver waits for the device's work that uses
            // it.
            unsafe { (self.context.driver().call.free)(self.pointer) };
        }
    }
}

/// Host memory, owned by this value, that the device reads and writes without an intermediate
/// copy: it is pinned, so that the system does not move it.
#[derive(Debug)]
pub struct PinnedBuffer {
    context: Context,
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: owned memory, which may be used and freed by any thread.
unsafe impl Send for PinnedBuffer {}
// SAFETY: through shared references the memory is only read, as with a `Vec`.
unsafe impl Sync for PinnedBuffer {}

impl PinnedBuffer {
    /// Allocates `len` zero bytes of pinned memory. For 0 bytes nothing is allocated.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), or the driver's error.
    pub fn new(context: &Context, len: usize) -> Result<PinnedBuffer> {
        let mut start = ptr::null_mut();
        if len > 0 {
            let _current = context.enter()?;
            // SAFETY: the pointer is to a pointer; the context is current.
            let status = unsafe { (context.driver().call.allocate_pinned)(&raw mut start, len) };
            context.driver().check("cuMemAllocHost", status).map_err(|e| e.of_allocation(len, true))?;
        }
        let start = NonNull::new(start.cast::<u8>());
        let len = if start.is_some() { len } else { 0 };
        let start = start.unwrap_or(NonNull::<u64>::dangling().cast());
        // SAFETY: `len` bytes were allocated at `start`, or `len` is 0.
        unsafe { start.write_bytes(0, len) };
        Ok(PinnedBuffer { context: context.clone(), start, len })
    }

    /// The bytes.
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: there are `len` initialised bytes at `start`.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    /// The bytes, for writing.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: there are `len` initialised bytes at `start`, borrowed exclusively.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Drop for PinnedBuffer {
    fn drop(&mut self) {
        if self.len == 0 {
            return;
        }
        if let Ok(_current) = self.context.enter() {
            // SAFETY: `new` allocated the memory, and nothing else frees it.
            unsafe { (self.context.driver().call.free_pinned)(self.start.as_ptr().cast()) };
        }
    }
}
