//! Native methods for envelopes, and for dropping events. The contract is that of `exports`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{ptr, slice};

use jni_sys::{JNIEnv, jboolean, jbyteArray, jclass, jint, jlong, jlongArray, jstring};
use linerate_gateway::{Encoding, Envelope};

use super::env::Env;
use super::exports::{DEFECT, ERROR, EXCEPTION, with};
use crate::frame::Frame;

/// `static native int dropEvents(long connection, byte[] names, int length)`: sets the names of the
/// events that are not delivered, each followed by a line feed. Returns 0. If there is no memory
/// for a copy of the names, nothing changes and it returns `ERROR`; after a panic `DEFECT`.
#[unsafe(no_mangle)]
pub(super) extern "system" fn Java_dev_linerate_gateway_Native_dropEvents(
    env: *mut JNIEnv,
    _: jclass,
    connection: jlong,
    names: jbyteArray,
    len: jint,
) -> jint {
    // SAFETY: the environment of this call.
    let env = unsafe { Env::new(env) };
    let result = with(connection, DEFECT, |connection| {
        let drop = |names: &[u8]| connection.drop_events(String::from_utf8_lossy(names).lines());
        // SAFETY: a `byte[]` of this call.
        unsafe { read(env, names, 0, len, drop) }.map_or_else(|result| result, |()| 0)
    });
    result as jint
}

/// `static native String peek(byte[] payload, int offset, int length, boolean etf, long[]
/// members)`: the event of a payload, null if there is none. Writes to `members` the opcode and the
/// sequence number (-1 if there is none), then 1. Leaves them unchanged if the bytes are not a
/// payload. Writes `ERROR` as the third if there is no memory for a copy of the payload, and
/// `DEFECT` after a panic.
#[unsafe(no_mangle)]
extern "system" fn Java_dev_linerate_gateway_Native_peek(
    env: *mut JNIEnv,
    _: jclass,
    payload: jbyteArray,
    offset: jint,
    len: jint,
    etf: jboolean,
    members: jlongArray,
) -> jstring {
    // SAFETY: the environment of this call.
    let env = unsafe { Env::new(env) };
    let number = |number: Option<u64>| number.and_then(|n| n.try_into().ok()).unwrap_or(-1);
    let peek = |payload: &[u8]| {
        let encoding = if etf { Encoding::Etf } else { Encoding::Json };
        let Ok(Envelope { op, sequence, event }) = Envelope::peek(payload, encoding) else {
            return ptr::null_mut();
        };
        // SAFETY: a `long[]` of this call.
        let written = unsafe { env.write_longs(members, &[number(op), number(sequence), 1]) };
        event.filter(|_| written).map_or(ptr::null_mut(), |event| env.string(event))
    };
    // SAFETY: a `byte[]` of this call.
    let event = catch_unwind(AssertUnwindSafe(|| unsafe { read(env, payload, offset, len, peek) }));
    event.unwrap_or(Err(DEFECT)).unwrap_or_else(|result| {
        if result != EXCEPTION {
            // SAFETY: a `long[]` of this call.
            unsafe { env.write_longs(members, &[-1, -1, result]) };
        }
        ptr::null_mut()
    })
}

/// Calls `job` with a copy of `len` bytes of an array, from `offset` on. Fails with `EXCEPTION` and
/// a pending exception if they are not within the array, and with `ERROR` if memory runs out.
///
/// # Safety
/// `array` is a `byte[]` that Java passed to the call of `env`.
unsafe fn read<T>(
    env: Env<'_>,
    array: jbyteArray,
    offset: jint,
    len: jint,
    job: impl FnOnce(&[u8]) -> T,
) -> Result<T, jlong> {
    let mut copy = Frame::new();
    let buffer = copy.buffer(usize::try_from(len).unwrap_or(0)).map_err(|_| ERROR)?;
    // SAFETY: the caller passes a `byte[]`.
    if !unsafe { env.read(array, offset, buffer) } {
        return Err(EXCEPTION);
    }
    // SAFETY: all of the buffer was written.
    Ok(job(unsafe { slice::from_raw_parts(buffer.as_ptr().cast::<u8>(), buffer.len()) }))
}
