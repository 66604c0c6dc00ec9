//! The functions of the virtual machine, for the length of one call from Java.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr;

use jni_sys::{JNIEnv, JNINativeInterface__1_4, jbyteArray, jlongArray, jobject, jstring};

use crate::kernel::exports::length;

/// The environment of a call.
#[derive(Clone, Copy)]
pub(crate) struct Env<'c> {
    raw: *mut JNIEnv,
    call: PhantomData<&'c JNIEnv>,
}

/// The memory of a direct buffer, as long as the call lasts, for the call keeps the buffer alive.
#[derive(Clone, Copy)]
pub(crate) struct Direct<'c> {
    address: *mut u8,
    capacity: usize,
    call: PhantomData<&'c JNIEnv>,
}

impl<'c> Env<'c> {
    /// # Safety
    /// `raw` is what Java passed to a native method, which runs as long as `'c`.
    pub(crate) unsafe fn new(raw: *mut JNIEnv) -> Self {
        Env { raw, call: PhantomData }
    }

    fn functions(self) -> &'c JNINativeInterface__1_4 {
        // SAFETY: `new` was given the environment of a running call. All virtual machines that run
        // Java 8 have the functions of 1.4.
        unsafe { &(**self.raw).v1_4 }
    }

    /// Copies bytes from an array. False, and an exception waits, if they are not all within it.
    ///
    /// # Safety
    /// `array` is a `byte[]` that Java passed to this call.
    pub(crate) unsafe fn read(self, array: jbyteArray, offset: i32, into: &mut [MaybeUninit<u8>]) -> bool {
        let (to, len) = (into.as_mut_ptr().cast(), length(into.len()));
        // SAFETY: the room is as long as said; the virtual machine checks the range in the array.
        unsafe { (self.functions().GetByteArrayRegion)(self.raw, array, offset, len, to) };
        !self.threw()
    }

    /// Copies bytes to the beginning of an array. An exception waits if it is shorter; whatever is returned
    /// to Java then, the exception comes in its place.
    ///
    /// # Safety
    /// `array` is a `byte[]` of this call.
    pub(crate) unsafe fn write(self, array: jbyteArray, from: &[u8]) {
        let len = length(from.len());
        // SAFETY: the bytes are as many as said; the virtual machine checks the range in the array.
        unsafe { (self.functions().SetByteArrayRegion)(self.raw, array, 0, len, from.as_ptr().cast()) };
    }

    /// Copies numbers to the beginning of an array. False, and an exception waits, if it is shorter.
    ///
    /// # Safety
    /// `array` is a `long[]` that Java passed to this call.
    pub(crate) unsafe fn write_longs(self, array: jlongArray, from: &[i64]) -> bool {
        // SAFETY: as in `write`.
        unsafe {
            (self.functions().SetLongArrayRegion)(self.raw, array, 0, from.len() as i32, from.as_ptr())
        };
        !self.threw()
    }

    /// A new array with these bytes. Null, and an `OutOfMemoryError` waits, if there is no room.
    pub(crate) fn array(self, bytes: &[u8]) -> jbyteArray {
        // SAFETY: the environment is that of a running call.
        let array = unsafe { (self.functions().NewByteArray)(self.raw, length(bytes.len())) };
        if array.is_null() {
            return array;
        }
        // SAFETY: the array was made by this call, as long as the bytes.
        unsafe { self.write(array, bytes) };
        array
    }

    /// A new string. Null, and an `OutOfMemoryError` waits, if there is no room.
    pub(crate) fn string(self, text: &str) -> jstring {
        let units: Vec<u16> = text.encode_utf16().collect();
        let len = i32::try_from(units.len()).unwrap_or(0);
        // SAFETY: there are at least `len` units.
        unsafe { (self.functions().NewString)(self.raw, units.as_ptr(), len) }
    }

    /// The memory of a direct buffer, `None` if it has none.
    ///
    /// # Safety
    /// `buffer` is a `java.nio.Buffer` that Java passed to this call.
    pub(crate) unsafe fn direct(self, buffer: jobject) -> Option<Direct<'c>> {
        let functions = self.functions();
        // SAFETY: the caller passes a buffer.
        let (address, capacity): (*mut c_void, i64) = unsafe {
            (
                (functions.GetDirectBufferAddress)(self.raw, buffer),
                (functions.GetDirectBufferCapacity)(self.raw, buffer),
            )
        };
        let capacity = usize::try_from(capacity).ok()?;
        (!address.is_null()).then_some(Direct { address: address.cast(), capacity, call: PhantomData })
    }

    /// Whether an exception waits. With one, hardly a function may be called any more.
    fn threw(self) -> bool {
        // SAFETY: the environment is that of a running call, and this may be called at any time.
        unsafe { (self.functions().ExceptionCheck)(self.raw) }
    }
}

impl Direct<'_> {
    /// Bytes of the buffer.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Copies bytes out. False if they are not all within the buffer. A program that writes to them
    /// meanwhile gets wrong bytes, and nothing worse: they are looked at only once they are copied.
    pub(crate) fn read(&self, offset: usize, into: &mut [MaybeUninit<u8>]) -> bool {
        if offset > self.capacity || into.len() > self.capacity - offset {
            return false;
        }
        // SAFETY: the range is within the buffer, as just checked, and `into` is memory of ours.
        unsafe { ptr::copy_nonoverlapping(self.address.add(offset), into.as_mut_ptr().cast(), into.len()) };
        true
    }

    /// Copies bytes to the beginning. False if there is no room.
    pub(crate) fn write(&self, from: &[u8]) -> bool {
        if from.len() > self.capacity {
            return false;
        }
        // SAFETY: the buffer has that room, and `from` is memory of ours.
        unsafe { ptr::copy_nonoverlapping(from.as_ptr(), self.address, from.len()) };
        true
    }
}
