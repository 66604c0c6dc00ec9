//! The native methods of the class `dev.linerate.gateway.Native` that create, use and free
//! connections.
//!
//! Contract of the caller for all native methods: Java passes the environment of the call, arrays
//! and buffers of the declared types that are not null unless a method allows it, and valid ranges.
//! A connection is a result of `create` that is not freed, and is used by one thread at a time. The
//! class is not public, and its callers ensure this by the state word of `Handle`.

use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{ptr, slice};

use jni_sys::{JNIEnv, jboolean, jbyteArray, jclass, jint, jlong, jlongArray, jobject, jstring};
use linerate_gateway::Kind;

use crate::Connection;
use crate::frame::Frame;
use crate::options::Options;
use crate::pool;
use crate::sys::env::Env;

/// Version of the interface to the Java classes; equal to `Native.VERSION`.
const VERSION: jint = 10;

/// Result: no payload, because the message is incomplete or `drop_events` names its event. Encoders
/// return it for a message that is to be sent uncompressed.
pub(super) const INCOMPLETE: jlong = -1;
/// Result: the message or the stream has an error, which the native method `error` or
/// `decoderError` returns. Other methods return it if memory runs out.
pub(super) const ERROR: jlong = -2;
/// Result: a Java exception is pending, which Java throws when the native method returns.
pub(super) const EXCEPTION: jlong = -3;
/// Result: a panic, in this call or an earlier one for the same connection, encoder or decoder; or
/// a direct buffer that is too small for a payload.
pub(super) const DEFECT: jlong = -4;

/// Runs `body` with a connection. After a panic it returns `defect`, and the connection is broken.
pub(super) fn with<T>(connection: jlong, defect: T, body: impl FnOnce(&mut Connection) -> T) -> T {
    let connection = ptr::with_exposed_provenance_mut::<Connection>(connection as usize);
    // SAFETY: by the contract it was returned by `create`, is not freed, and is not used by another
    // thread.
    let connection = unsafe { &mut *connection };
    catch_unwind(AssertUnwindSafe(|| body(connection))).unwrap_or_else(|_| {
        connection.set_broken();
        defect
    })
}

/// Returns a function that fills a slice with bytes of a part of a websocket message, from `offset`
/// on. The function returns false with a pending exception if the bytes are not within an array,
/// and false without one if a direct buffer has no memory.
///
/// # Safety
/// `part` is an argument of the call of `env`: a direct `ByteBuffer` if `direct`, which has the
/// bytes, otherwise a `byte[]`.
pub(super) unsafe fn copy(
    env: Env<'_>,
    part: jobject,
    direct: jboolean,
    offset: jint,
) -> impl FnOnce(&mut [MaybeUninit<u8>]) -> bool {
    move |into| {
        if !direct {
            // SAFETY: the caller passes a `byte[]`.
            return unsafe { env.read(part, offset, into) };
        }
        // An empty buffer may have no address.
        // SAFETY: the caller passes a buffer with these bytes.
        into.is_empty() || unsafe { env.read_direct(part, offset as usize, into) }
    }
}

/// Takes a part of a websocket message, of `len` bytes. `fill` writes all of them or returns false.
/// After the last part the message is decoded, and `deliver` is called with the payload, if there
/// is one. The payload is at the beginning of `out` if it fits there. Returns the result of
/// `deliver`, or a negative result.
pub(super) fn decode<'o>(
    connection: &mut Connection,
    len: jint,
    last: jboolean,
    fill: impl FnOnce(&mut [MaybeUninit<u8>]) -> bool,
    out: impl FnOnce() -> &'o mut [u8],
    deliver: impl FnOnce(&mut Connection, &[u8]) -> jlong,
) -> jlong {
    if connection.is_broken() {
        return DEFECT;
    }
    let len = usize::try_from(len).unwrap_or(0);
    if connection.begin_part(len, last).is_err() {
        return ERROR;
    }
    if last && connection.parts().is_empty() {
        let mut frame = Frame::new();
        let Ok(buffer) = frame.buffer(len) else {
            connection.no_memory(len, last);
            return ERROR;
        };
        if !fill(buffer) {
            return EXCEPTION;
        }
        // SAFETY: `fill` has written all of the buffer, and it is not written again.
        let frame = unsafe { slice::from_raw_parts(buffer.as_ptr().cast::<u8>(), buffer.len()) };
        return decode_frame(connection, frame, out(), deliver);
    }
    if connection.reserve_part(len, last).is_err() {
        return ERROR;
    }
    let parts = connection.parts();
    if !fill(&mut parts.spare_capacity_mut()[..len]) {
        return EXCEPTION;
    }
    // SAFETY: `len` bytes were reserved, and `fill` has written them.
    unsafe { parts.set_len(parts.len() + len) };
    if !last {
        return INCOMPLETE;
    }
    let frame = std::mem::take(parts);
    decode_frame(connection, &frame, out(), deliver)
}

fn decode_frame(
    connection: &mut Connection,
    frame: &[u8],
    out: &mut [u8],
    deliver: impl FnOnce(&mut Connection, &[u8]) -> jlong,
) -> jlong {
    match connection.message(frame, &mut pool::scratch(), out) {
        Ok(Some(payload)) => deliver(connection, payload),
        Ok(None) => INCOMPLETE,
        Err(_) => ERROR,
    }
}

/// Keeps a payload that did not fit until it is fetched, and returns its length; `ERROR` if memory
/// runs out.
pub(super) fn keep(connection: &mut Connection, payload: &[u8]) -> jlong {
    match connection.keep(payload) {
        Ok(()) => payload.len() as jlong,
        Err(_) => ERROR,
    }
}

/// `static native int version()`
#[unsafe(no_mangle)]
extern "system" fn Java_dev_linerate_gateway_Native_version(_: *mut JNIEnv, _: jclass) -> jint {
    VERSION
}

/// `static native long create(int transport, int maxMessage, int windowLog, int checks, int
/// keepMessages, int keepBytes)`: a connection, 0 after a panic.
#[unsafe(no_mangle)]
pub(super) extern "system" fn Java_dev_linerate_gateway_Native_create(
    _: *mut JNIEnv,
    _: jclass,
    transport: jint,
    max_message: jint,
    window_log: jint,
    checks: jint,
    keep_messages: jint,
    keep_bytes: jint,
) -> jlong {
    let (dictionaries, recorder) = (None, None);
    let options = Options {
        transport,
        max_message,
        window_log,
        checks,
        keep_messages,
        keep_bytes,
        dictionaries,
        recorder,
    };
    let created = catch_unwind(|| Box::into_raw(Box::new(Connection::new(options))));
    created.map_or(0, |connection| connection.expose_provenance() as jlong)
}

/// `static native void free(long connection)`
#[unsafe(no_mangle)]
pub(super) extern "system" fn Java_dev_linerate_gateway_Native_free(
    _: *mut JNIEnv,
    _: jclass,
    connection: jlong,
) {
    let connection = ptr::with_exposed_provenance_mut::<Connection>(connection as usize);
    // SAFETY: by the contract it was returned by `create`, and it is freed only once.
    let connection = unsafe { Box::from_raw(connection) };
    // A panic in here leaks memory, nothing else.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(connection)));
}

/// `static native byte[] decode(long connection, Object part, boolean direct, int offset, int
/// length, boolean last)`: the payload. Null if the message is incomplete or dropped, on an error
/// and after a panic; `outcome` then returns the reason.
#[unsafe(no_mangle)]
extern "system" fn Java_dev_linerate_gateway_Native_decode(
    env: *mut JNIEnv,
    _: jclass,
    connection: jlong,
    part: jobject,
    direct: jboolean,
    offset: jint,
    len: jint,
    last: jboolean,
) -> jbyteArray {
    // SAFETY: the environment of this call.
    let env = unsafe { Env::new(env) };
    with(connection, ptr::null_mut(), |connection| {
        let mut array = ptr::null_mut();
        decode(
            connection,
            len,
            last,
            // SAFETY: what Java passed to this call.
            unsafe { copy(env, part, direct, offset) },
            Default::default,
            |_, payload| {
                array = env.array(payload);
                0
            },
        );
        array
    })
}

/// `static native int outcome(long connection)`: `INCOMPLETE`, `ERROR` or `DEFECT`, the reason why
/// `decode` has just returned no payload.
#[unsafe(no_mangle)]
extern "system" fn Java_dev_linerate_gateway_Native_outcome(
    _: *mut JNIEnv,
    _: jclass,
    connection: jlong,
) -> jint {
    let outcome = with(connection, DEFECT, |connection| match connection.last_error() {
        _ if connection.is_broken() => DEFECT,
        Some(_) => ERROR,
        None => INCOMPLETE,
    });
    outcome as jint
}

/// The ordinal of the Java enum `Kind`. `None` for kinds of errors that no stream causes, such as
/// those of files. Sessions never return them, and reporting them as corrupt would blame the
/// gateway.
pub(super) fn ordinal(kind: Kind) -> Option<jlong> {
    match kind {
        Kind::Corrupt => Some(0),
        Kind::Truncated => Some(1),
        Kind::Limit => Some(2),
        Kind::Unsupported => Some(3),
        _ => None,
    }
}

/// `static native String error(long connection, long[] where)`: the error message; writes to
/// `where` the ordinal of the Java enum `Kind`, the compressed offset on the connection, and the
/// message index. Null without an error, and after a panic.
#[unsafe(no_mangle)]
extern "system" fn Java_dev_linerate_gateway_Native_error(
    env: *mut JNIEnv,
    _: jclass,
    connection: jlong,
    position: jlongArray,
) -> jstring {
    // SAFETY: the environment of this call.
    let env = unsafe { Env::new(env) };
    with(connection, ptr::null_mut(), |connection| {
        let Some(error) = connection.last_error() else { return ptr::null_mut() };
        let kind = ordinal(error.kind()).unwrap_or_else(|| panic!("no stream is the cause of this: {error}"));
        let text = error.to_string();
        // SAFETY: a `long[]` of this call.
        let written =
            unsafe { env.write_longs(position, &[kind, error.offset() as i64, error.message_index as i64]) };
        if written { env.string(&text) } else { ptr::null_mut() }
    })
}

/// `static native void reset(long connection)`
#[unsafe(no_mangle)]
pub(super) extern "system" fn Java_dev_linerate_gateway_Native_reset(
    _: *mut JNIEnv,
    _: jclass,
    connection: jlong,
) {
    with(connection, (), Connection::reset);
}

/// `static native void resumeAfter(long connection, long sequence)`
#[unsafe(no_mangle)]
extern "system" fn Java_dev_linerate_gateway_Native_resumeAfter(
    _: *mut JNIEnv,
    _: jclass,
    connection: jlong,
    sequence: jlong,
) {
    with(connection, (), |connection| connection.session().resume_after(sequence as u64));
}

/// `static native long messages(long connection)`
#[unsafe(no_mangle)]
extern "system" fn Java_dev_linerate_gateway_Native_messages(
    _: *mut JNIEnv,
    _: jclass,
    connection: jlong,
) -> jlong {
    with(connection, 0, |connection| connection.messages() as jlong)
}

/// `static native long compressedBytes(long connection)`
#[unsafe(no_mangle)]
extern "system" fn Java_dev_linerate_gateway_Native_compressedBytes(
    _: *mut JNIEnv,
    _: jclass,
    connection: jlong,
) -> jlong {
    with(connection, 0, |connection| connection.consumed() as jlong)
}

/// `static native long memory(long connection)`: bytes that the connection holds outside the heap.
#[unsafe(no_mangle)]
extern "system" fn Java_dev_linerate_gateway_Native_memory(
    _: *mut JNIEnv,
    _: jclass,
    connection: jlong,
) -> jlong {
    with(connection, 0, |connection| connection.memory() as jlong)
}

/// `static native int lastOpcode(long connection)`: the opcode of the last message, -1 if there is
/// none or payloads are not read.
#[unsafe(no_mangle)]
extern "system" fn Java_dev_linerate_gateway_Native_lastOpcode(
    _: *mut JNIEnv,
    _: jclass,
    connection: jlong,
) -> jint {
    with(connection, -1, |connection| connection.last().op.and_then(|op| op.try_into().ok()).unwrap_or(-1))
}

/// `static native long lastSequence(long connection)`: the sequence number of the last message, -1
/// if there is none or payloads are not read.
#[unsafe(no_mangle)]
extern "system" fn Java_dev_linerate_gateway_Native_lastSequence(
    _: *mut JNIEnv,
    _: jclass,
    connection: jlong,
) -> jlong {
    with(connection, -1, |connection| {
        connection.last().sequence.and_then(|s| s.try_into().ok()).unwrap_or(-1)
    })
}

/// `static native String lastEvent(long connection)`: the event of the last message, null if there
/// is none or payloads are not read.
#[unsafe(no_mangle)]
extern "system" fn Java_dev_linerate_gateway_Native_lastEvent(
    env: *mut JNIEnv,
    _: jclass,
    connection: jlong,
) -> jstring {
    // SAFETY: the environment of this call.
    let env = unsafe { Env::new(env) };
    with(connection, ptr::null_mut(), |connection| {
        connection.last().event().map_or(ptr::null_mut(), |event| env.string(event))
    })
}

/// `static native byte[] recording(long connection)`: the recent messages as a file. Null if they
/// are not kept, if one has more than 1 GiB, and after a panic.
#[unsafe(no_mangle)]
extern "system" fn Java_dev_linerate_gateway_Native_recording(
    env: *mut JNIEnv,
    _: jclass,
    connection: jlong,
) -> jbyteArray {
    // SAFETY: the environment of this call.
    let env = unsafe { Env::new(env) };
    with(connection, ptr::null_mut(), |connection| {
        connection.session().recording().map_or(ptr::null_mut(), |file| env.array(&file))
    })
}

/// `static native long live()`: number of connections that are not freed.
#[unsafe(no_mangle)]
extern "system" fn Java_dev_linerate_gateway_Native_live(_: *mut JNIEnv, _: jclass) -> jlong {
    Connection::live()
}

/// `static native void trim()`: frees the process's working memory that is not in use, and returns
/// freed memory to the system.
#[unsafe(no_mangle)]
pub(super) extern "system" fn Java_dev_linerate_gateway_Native_trim(_: *mut JNIEnv, _: jclass) {
    // A panic in here leaks memory, nothing else.
    let _ = catch_unwind(pool::trim);
}

/// `static native long sharedMemory()`: bytes of the process's working memory that is not in use.
#[unsafe(no_mangle)]
pub(super) extern "system" fn Java_dev_linerate_gateway_Native_sharedMemory(
    _: *mut JNIEnv,
    _: jclass,
) -> jlong {
    catch_unwind(pool::memory).map_or(0, |bytes| bytes as jlong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::env::length;

    fn call<T>(native: impl FnOnce(*mut JNIEnv, jclass) -> T) -> T {
        native(ptr::null_mut(), ptr::null_mut())
    }

    #[test]
    fn panic_breaks_only_its_own_connection() {
        let create = |env, class| Java_dev_linerate_gateway_Native_create(env, class, 1, 100, 16, 0, 0, 0);
        let (one, other) = (call(create), call(create));
        assert_eq!(with(one, DEFECT, |_| panic!("on purpose")), DEFECT);
        let outcome = |connection| call(|e, c| Java_dev_linerate_gateway_Native_outcome(e, c, connection));
        assert_eq!(jlong::from(outcome(one)), DEFECT);
        assert_eq!(jlong::from(outcome(other)), INCOMPLETE);
        let never =
            |_: &mut [MaybeUninit<u8>]| -> bool { unreachable!("a broken connection takes no frame") };
        assert_eq!(
            with(one, INCOMPLETE, |broken| decode(broken, 5, true, never, Default::default, |_, _| 0)),
            DEFECT
        );
        call(|env, class| Java_dev_linerate_gateway_Native_reset(env, class, one));
        assert_eq!(jlong::from(outcome(one)), INCOMPLETE);
        for connection in [one, other] {
            call(|env, class| Java_dev_linerate_gateway_Native_free(env, class, connection));
        }
    }

    #[test]
    fn error_of_an_independent_message_is_not_the_outcome_of_the_next_part() {
        let create = |env, class| Java_dev_linerate_gateway_Native_create(env, class, 5, 100, 16, 0, 0, 0);
        let connection = call(create);
        let outcome = || call(|e, c| Java_dev_linerate_gateway_Native_outcome(e, c, connection)).into();
        let fill = |into: &mut [MaybeUninit<u8>]| {
            into.iter_mut().for_each(|byte| _ = byte.write(b'?'));
            true
        };
        for (last, expected) in [(true, ERROR), (false, INCOMPLETE)] {
            let result = with(connection, DEFECT, |c| decode(c, 1, last, fill, Default::default, |_, _| 0));
            assert_eq!((result, outcome()), (expected, expected));
        }
        call(|env, class| Java_dev_linerate_gateway_Native_free(env, class, connection));
    }

    #[test]
    fn kinds_that_no_stream_causes_have_no_ordinal() {
        let of_streams = [Kind::Corrupt, Kind::Truncated, Kind::Limit, Kind::Unsupported];
        assert_eq!(of_streams.map(ordinal), [Some(0), Some(1), Some(2), Some(3)]);
        let others = [Kind::OutputTooSmall, Kind::BadArgument, Kind::Read, Kind::Write];
        assert_eq!(others.map(ordinal), [None; 4]);
    }

    #[test]
    fn zstd_message_in_two_parts_is_decoded_with_the_last() {
        let mut frame = Vec::new();
        let mut server = linerate_gateway::Encoder::new(linerate_gateway::Transport::Zstd).unwrap();
        server.message(b"a payload in parts", &mut frame).unwrap();
        let create = |env, class| Java_dev_linerate_gateway_Native_create(env, class, 1, 100, 16, 0, 0, 0);
        let address = call(create);
        let take = |part: &[u8], last: bool, expected: jlong| {
            let fill = |into: &mut [MaybeUninit<u8>]| {
                into.iter_mut().zip(part).for_each(|(to, &from)| _ = to.write(from));
                true
            };
            let deliver = |_: &mut Connection, payload: &[u8]| {
                assert_eq!(payload, b"a payload in parts");
                payload.len() as jlong
            };
            let len = length(part.len());
            assert_eq!(
                with(address, DEFECT, |c| decode(c, len, last, fill, Default::default, deliver)),
                expected
            );
        };
        for split in 0..=frame.len() {
            take(&frame[..split], false, INCOMPLETE);
            take(&frame[split..], true, 18);
            with(address, (), Connection::reset);
        }
        call(|env, class| Java_dev_linerate_gateway_Native_free(env, class, address));
    }
}
