//! Native methods for payloads in buffers of the caller, at any offset. The contract is that of
//! `exports`. In addition, nobody else uses the bytes of a direct buffer for a payload during the
//! call.

use std::{ptr, slice};

use jni_sys::{JNIEnv, jboolean, jclass, jint, jlong, jobject};

use super::env::Env;
use super::exports::{DEFECT, EXCEPTION, INCOMPLETE, copy, decode, keep, with};

/// Memory of a buffer that Java passed: a `byte[]`, or a direct `ByteBuffer` if `direct`.
#[derive(Clone, Copy)]
struct Target<'c> {
    env: Env<'c>,
    into: jobject,
    direct: jboolean,
    offset: jint,
}

impl Target<'_> {
    /// Copies a payload, for which there should be room, to the buffer and returns its length. If a
    /// direct buffer is too small, returns `DEFECT`, and for an array that is too short `EXCEPTION`
    /// with a pending exception.
    fn write(self, payload: &[u8]) -> jlong {
        if payload.is_empty() {
            return 0; // an empty buffer may have no address
        }
        if self.direct {
            // SAFETY: a direct buffer of this call, as Java declares by `direct`.
            let into = unsafe { self.env.direct(self.into) };
            if !into.is_some_and(|into| into.write(self.offset as usize, payload)) {
                return DEFECT;
            }
        // SAFETY: a `byte[]` of this call, as Java declares by `direct`.
        } else if !unsafe { self.env.write(self.into, self.offset, payload) } {
            return EXCEPTION;
        }
        payload.len() as jlong
    }
}

/// `static native long decodeTo(long connection, Object part, boolean direct, int offset, int
/// length, boolean last, Object into, boolean intoDirect, long intoAddress, int intoOffset, int
/// room)`: the length of the payload, or a negative result. If the length exceeds `room`, the
/// payload is kept for `fetchTo`.
#[unsafe(no_mangle)]
extern "system" fn Java_dev_linerate_gateway_Native_decodeTo(
    env: *mut JNIEnv,
    _: jclass,
    connection: jlong,
    part: jobject,
    direct: jboolean,
    offset: jint,
    len: jint,
    last: jboolean,
    into: jobject,
    into_direct: jboolean,
    into_address: jlong,
    into_offset: jint,
    room: jint,
) -> jlong {
    // SAFETY: the environment of this call.
    let env = unsafe { Env::new(env) };
    let target = Target { env, into, direct: into_direct, offset: into_offset };
    // The garbage collector may move an array while a payload is decoded, so only direct buffers
    // are decoded into.
    let out = || match into_address {
        // SAFETY: a direct buffer of this call, as Java declares by `into_direct`, whose bytes
        // nobody else uses.
        0 if into_direct => unsafe { env.output(into, into_offset, room) },
        0 => &mut [],
        address => {
            let out = ptr::with_exposed_provenance_mut::<u8>(address as usize);
            // SAFETY: the address of `into`, which this call keeps alive. It has `room` bytes from
            // `into_offset` on, and nobody else uses them.
            unsafe { slice::from_raw_parts_mut(out.add(into_offset as usize), room as usize) }
        }
    };
    with(connection, DEFECT, |connection| {
        // SAFETY: what Java passed to this call.
        let fill = unsafe { copy(env, part, direct, offset) };
        decode(connection, len, last, fill, out, |connection, payload| {
            if payload.len() > room as usize {
                keep(connection, payload)
            } else if into_direct {
                payload.len() as jlong
            } else {
                target.write(payload)
            }
        })
    })
}

/// `static native long address(ByteBuffer buffer)`: the address of a direct buffer, 0 if it has
/// none.
#[unsafe(no_mangle)]
extern "system" fn Java_dev_linerate_gateway_Native_address(
    env: *mut JNIEnv,
    _: jclass,
    buffer: jobject,
) -> jlong {
    // SAFETY: the environment of this call, and a buffer of it.
    unsafe { Env::new(env).address(buffer) }
        .map_or(0, |address| address.as_ptr().expose_provenance() as jlong)
}

/// `static native long pending(long connection)`: the length of the kept payload, -1 if there is
/// none.
#[unsafe(no_mangle)]
extern "system" fn Java_dev_linerate_gateway_Native_pending(
    _: *mut JNIEnv,
    _: jclass,
    connection: jlong,
) -> jlong {
    with(connection, INCOMPLETE, |connection| connection.pending().map_or(INCOMPLETE, |len| len as jlong))
}

/// `static native long fetchTo(long connection, Object into, boolean intoDirect, int intoOffset)`:
/// writes the kept payload, for which there must be room, and returns its length. It is kept no
/// longer. After a negative result it is still kept.
#[unsafe(no_mangle)]
extern "system" fn Java_dev_linerate_gateway_Native_fetchTo(
    env: *mut JNIEnv,
    _: jclass,
    connection: jlong,
    into: jobject,
    direct: jboolean,
    offset: jint,
) -> jlong {
    // SAFETY: the environment of this call.
    let target = Target { env: unsafe { Env::new(env) }, into, direct, offset };
    with(connection, DEFECT, |connection| connection.fetch(|payload| target.write(payload)))
}
