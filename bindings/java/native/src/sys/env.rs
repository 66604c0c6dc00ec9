//! JNI functions for the duration of one call from Java.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::{ptr, slice};

use jni_sys::{JNIEnv, JNINativeInterface__1_4, jbyteArray, jint, jlongArray, jobject, jstring};

/// Converts a length to Java's type. Only that of a recording can be too large, and becomes the
/// largest number, a length for which Java creates no array.
pub(crate) fn length(len: usize) -> jint {
    jint::try_from(len).unwrap_or(jint::MAX)
}

/// The JNI environment of a call.
#[derive(Clone, Copy)]
pub(crate) struct Env<'c> {
    raw: *mut JNIEnv,
    call: PhantomData<&'c JNIEnv>,
}

/// The memory of a direct buffer. The call keeps the buffer alive.
#[derive(Clone, Copy)]
pub(crate) struct Direct<'c> {
    address: *mut u8,
    capacity: usize,
    call: PhantomData<&'c JNIEnv>,
}

impl<'c> Env<'c> {
    /// # Safety
    /// `raw` is the environment that Java passed to a native method, which runs for `'c`.
    pub(crate) unsafe fn new(raw: *mut JNIEnv) -> Self {
        Env { raw, call: PhantomData }
    }

    fn functions(self) -> &'c JNINativeInterface__1_4 {
        // SAFETY: `new` was given the environment of a running call. All virtual machines that run
        // Java 8 have the functions of 1.4.
        unsafe { &(**self.raw).v1_4 }
    }

    /// Fills `into` with bytes of an array, from `offset` on. Returns false with a pending
    /// exception if they are not within the array.
    ///
    /// # Safety
    /// `array` is a `byte[]` that Java passed to this call.
    pub(crate) unsafe fn read(self, array: jbyteArray, offset: i32, into: &mut [MaybeUninit<u8>]) -> bool {
        let (to, len) = (into.as_mut_ptr().cast(), length(into.len()));
        // SAFETY: `into` has `len` bytes; the virtual machine checks the range in the array.
        unsafe { (self.functions().GetByteArrayRegion)(self.raw, array, offset, len, to) };
        !self.has_exception()
    }

    /// A copy of an array's bytes.
    ///
    /// # Safety
    /// `array` is a `byte[]` that Java passed to this call.
    pub(crate) unsafe fn bytes(self, array: jbyteArray) -> Vec<u8> {
        // SAFETY: the caller passes a `byte[]`.
        let len = unsafe { (self.functions().GetArrayLength)(self.raw, array) };
        let mut bytes = vec![0; usize::try_from(len).unwrap_or(0)];
        // SAFETY: `bytes` has the array's length.
        unsafe { (self.functions().GetByteArrayRegion)(self.raw, array, 0, len, bytes.as_mut_ptr().cast()) };
        bytes
    }

    /// Fills `into` with bytes of a direct buffer, from `offset` on. Returns false if the buffer
    /// has no memory. If Java writes to the bytes at the same time, wrong bytes are copied, which
    /// is harmless, because only the copy is decoded.
    ///
    /// # Safety
    /// `buffer` is a direct buffer that Java passed to this call, with this many bytes from
    /// `offset` on.
    pub(crate) unsafe fn read_direct(
        self,
        buffer: jobject,
        offset: usize,
        into: &mut [MaybeUninit<u8>],
    ) -> bool {
        // SAFETY: the caller passes a buffer.
        let Some(address) = (unsafe { self.address(buffer) }) else { return false };
        // SAFETY: the caller passes a range within it, and `into` is memory of ours.
        unsafe {
            ptr::copy_nonoverlapping(address.as_ptr().add(offset), into.as_mut_ptr().cast(), into.len());
        }
        true
    }

    /// Copies bytes to an array, from `offset` on. Returns false with a pending exception if the
    /// array is too short.
    ///
    /// # Safety
    /// `array` is a `byte[]` of this call.
    pub(crate) unsafe fn write(self, array: jbyteArray, offset: i32, from: &[u8]) -> bool {
        let len = length(from.len());
        // SAFETY: `from` has `len` bytes; the virtual machine checks the range in the array.
        unsafe { (self.functions().SetByteArrayRegion)(self.raw, array, offset, len, from.as_ptr().cast()) };
        !self.has_exception()
    }

    /// Copies numbers to the beginning of an array. Returns false with a pending exception if the
    /// array is too short.
    ///
    /// # Safety
    /// `array` is a `long[]` that Java passed to this call.
    pub(crate) unsafe fn write_longs(self, array: jlongArray, from: &[i64]) -> bool {
        // SAFETY: as in `write`.
        unsafe {
            (self.functions().SetLongArrayRegion)(self.raw, array, 0, from.len() as i32, from.as_ptr())
        };
        !self.has_exception()
    }

    /// Creates an array with these bytes. Returns null with a pending `OutOfMemoryError` if the
    /// heap is full.
    pub(crate) fn array(self, bytes: &[u8]) -> jbyteArray {
        // SAFETY: the environment is that of a running call.
        let array = unsafe { (self.functions().NewByteArray)(self.raw, length(bytes.len())) };
        if array.is_null() {
            return array;
        }
        // SAFETY: the array was created by this call with the length of the bytes.
        unsafe { self.write(array, 0, bytes) };
        array
    }

    /// Creates a string. Returns null with a pending `OutOfMemoryError` if the heap is full.
    pub(crate) fn string(self, text: &str) -> jstring {
        let units: Vec<u16> = text.encode_utf16().collect();
        let len = i32::try_from(units.len()).unwrap_or(0);
        // SAFETY: there are at least `len` units.
        unsafe { (self.functions().NewString)(self.raw, units.as_ptr(), len) }
    }

    /// The address of a direct buffer, `None` if it has none.
    ///
    /// # Safety
    /// `buffer` is a `java.nio.Buffer` that Java passed to this call.
    pub(crate) unsafe fn address(self, buffer: jobject) -> Option<NonNull<u8>> {
        // SAFETY: the caller passes a buffer.
        NonNull::new(unsafe { (self.functions().GetDirectBufferAddress)(self.raw, buffer) }.cast())
    }

    /// The memory of a direct buffer, `None` if it has none.
    ///
    /// # Safety
    /// As [`address`](Self::address).
    pub(crate) unsafe fn direct(self, buffer: jobject) -> Option<Direct<'c>> {
        // SAFETY: the caller passes a buffer.
        let (address, capacity) =
            unsafe { (self.address(buffer)?, (self.functions().GetDirectBufferCapacity)(self.raw, buffer)) };
        let capacity = usize::try_from(capacity).ok()?;
        Some(Direct { address: address.as_ptr(), capacity, call: PhantomData })
    }

    /// The `room` bytes of a direct buffer from `offset` on, for output. Panics if they are not
    /// within the buffer.
    ///
    /// # Safety
    /// `into` is a direct buffer that Java passed to this call, and nobody else uses these bytes
    /// meanwhile.
    pub(crate) unsafe fn output(self, into: jobject, offset: jint, room: jint) -> &'c mut [u8] {
        if room == 0 {
            return &mut []; // an empty buffer may have no address
        }
        // SAFETY: the caller's contract.
        let out =
            unsafe { self.direct(into).and_then(|into| into.slice_mut(offset as usize, room as usize)) };
        out.expect("Java passes ranges within its buffers")
    }

    /// Whether an exception is pending. While there is one, only few JNI functions may be called.
    fn has_exception(self) -> bool {
        // SAFETY: the environment is that of a running call, and this may be called at any time.
        unsafe { (self.functions().ExceptionCheck)(self.raw) }
    }
}

impl<'c> Direct<'c> {
    /// The `len` bytes from `offset` on; `None` if they are not within the buffer.
    ///
    /// # Safety
    /// Nobody writes to them during the call from Java.
    pub(crate) unsafe fn slice(&self, offset: usize, len: usize) -> Option<&'c [u8]> {
        if offset > self.capacity || len > self.capacity - offset {
            return None;
        }
        // SAFETY: the range is within the buffer, which the call keeps alive; the caller excludes
        // writers.
        Some(unsafe { slice::from_raw_parts(self.address.add(offset), len) })
    }

    /// The `len` bytes from `offset` on, for writing; `None` if they are not within the buffer.
    ///
    /// # Safety
    /// Nobody else reads or writes them during the call from Java.
    pub(crate) unsafe fn slice_mut(&self, offset: usize, len: usize) -> Option<&'c mut [u8]> {
        if offset > self.capacity || len > self.capacity - offset {
            return None;
        }
        // SAFETY: as in `slice`; the caller excludes readers, too.
        Some(unsafe { slice::from_raw_parts_mut(self.address.add(offset), len) })
    }

    /// Copies bytes to the buffer, from `offset` on. Returns false if the buffer is too small.
    pub(crate) fn write(&self, offset: usize, from: &[u8]) -> bool {
        if offset > self.capacity || from.len() > self.capacity - offset {
            return false;
        }
        // SAFETY: the range is within the buffer, as just checked, and `from` is memory of ours.
        unsafe { ptr::copy_nonoverlapping(from.as_ptr(), self.address.add(offset), from.len()) };
        true
    }
}
