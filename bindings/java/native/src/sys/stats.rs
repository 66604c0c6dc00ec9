//! Native methods of recorders.
//!
//! Contract of the caller, besides that of `exports`: an argument `recorder` is the address that
//! `createRecorder` has written, and was not passed to `freeRecorder`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use jni_sys::{JNIEnv, jboolean, jbyteArray, jclass, jint, jlong, jlongArray, jstring};
use linerate_gateway::stats::{Clock, LogOptions, StatsOptions};

use crate::recorder::Recorder;
use crate::sys::env::{Env, length};
use crate::sys::exports::with;

const PANIC: &str = "a defect of linerate-gateway; see the panic message on the standard error";

fn address(recorder: jlong) -> *const Recorder {
    ptr::with_exposed_provenance(recorder as usize)
}

/// Runs `body` with a recorder; returns `defect` after a panic.
fn with_recorder<T>(recorder: jlong, defect: T, body: impl FnOnce(&Recorder) -> T) -> T {
    // SAFETY: by the contract it is not freed.
    let recorder = unsafe { &*address(recorder) };
    catch_unwind(AssertUnwindSafe(|| body(recorder))).unwrap_or(defect)
}

/// `static native String createRecorder(byte[] folder, byte[] name, long maxBytes, long
/// maxAgeMillis, int maxFiles, boolean cpuTime, int capacity, int maxConnections, long[] created)`:
/// writes the address of the recorder to `created` and returns null; or returns the reason why
/// there is none. A null `folder` means no log.
#[unsafe(no_mangle)]
extern "system" fn Java_dev_linerate_gateway_Native_createRecorder(
    env: *mut JNIEnv,
    _: jclass,
    folder: jbyteArray,
    name: jbyteArray,
    max_bytes: jlong,
    max_age_millis: jlong,
    max_files: jint,
    cpu_time: jboolean,
    capacity: jint,
    max_connections: jint,
    created: jlongArray,
) -> jstring {
    // SAFETY: the environment of this call.
    let env = unsafe { Env::new(env) };
    let start = || {
        let clock = if cpu_time { Clock::ThreadCpu } else { Clock::Monotonic };
        let mut options = StatsOptions::new()
            .clock(clock)
            .capacity(capacity as usize)
            .max_connections(max_connections as usize);
        if !folder.is_null() {
            // SAFETY: arrays of this call.
            let (folder, name) = unsafe { (text(env, folder), text(env, name)) };
            let log = LogOptions::new(PathBuf::from(folder))
                .name(name)
                .max_bytes(max_bytes as u64)
                .max_age(Duration::from_millis(max_age_millis as u64))
                .max_files(max_files as usize);
            options = options.log(log);
        }
        Recorder::start(options).map_err(|error| error.to_string())
    };
    let recorder = catch_unwind(AssertUnwindSafe(start)).unwrap_or_else(|_| Err(PANIC.to_owned()));
    let recorder = match recorder {
        Ok(recorder) => Arc::into_raw(Arc::new(recorder)),
        Err(error) => return env.string(&error),
    };
    // SAFETY: a `long[]` of this call.
    unsafe { env.write_longs(created, &[recorder.expose_provenance() as i64]) };
    ptr::null_mut()
}

/// # Safety
/// `array` meets the contract of [`Env::bytes`].
unsafe fn text(env: Env<'_>, array: jbyteArray) -> String {
    // SAFETY: the caller's contract.
    String::from_utf8_lossy(&unsafe { env.bytes(array) }).into_owned()
}

/// `static native void freeRecorder(long recorder)`: releases Java's reference; connections that
/// use the recorder keep it.
#[unsafe(no_mangle)]
pub(super) extern "system" fn Java_dev_linerate_gateway_Native_freeRecorder(
    _: *mut JNIEnv,
    _: jclass,
    recorder: jlong,
) {
    // SAFETY: by the contract it was returned by `createRecorder`, and it is freed only once.
    let recorder = unsafe { Arc::from_raw(address(recorder)) };
    // A panic in here leaks memory, nothing else.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(recorder)));
}

/// `static native String stopRecorder(long recorder)`: counts and writes the waiting records, and
/// stops the recorder's thread. Returns null, or the first error of writing the log, or that there
/// was a panic.
#[unsafe(no_mangle)]
extern "system" fn Java_dev_linerate_gateway_Native_stopRecorder(
    env: *mut JNIEnv,
    _: jclass,
    recorder: jlong,
) -> jstring {
    // SAFETY: the environment of this call.
    let env = unsafe { Env::new(env) };
    let error = with_recorder(recorder, Some(PANIC.to_owned()), |recorder| {
        recorder.stop().err().map(|error| error.to_string())
    });
    error.map_or(ptr::null_mut(), |error| env.string(&error))
}

/// `static native int recordStats(long connection, long recorder)`: makes the recorder record the
/// messages of a new connection, and returns the connection's number in it; -1 after a panic.
#[unsafe(no_mangle)]
pub(super) extern "system" fn Java_dev_linerate_gateway_Native_recordStats(
    _: *mut JNIEnv,
    _: jclass,
    connection: jlong,
    recorder: jlong,
) -> jint {
    // SAFETY: by the contract it is not freed. The `Arc` made here owns the count that is added.
    let recorder = unsafe {
        Arc::increment_strong_count(address(recorder));
        Arc::from_raw(address(recorder))
    };
    with(connection, -1, |connection| connection.record_stats(recorder).map_or(-1, |number| number as jint))
}

/// `static native boolean stats(long recorder, int connection, int transport, long[] into)`: writes
/// the statistics of a connection if `connection` is not negative, otherwise of a transport if
/// `transport` is not negative, otherwise of all messages. Returns false if there are none.
#[unsafe(no_mangle)]
extern "system" fn Java_dev_linerate_gateway_Native_stats(
    env: *mut JNIEnv,
    _: jclass,
    recorder: jlong,
    connection: jint,
    transport: jint,
    into: jlongArray,
) -> jboolean {
    // SAFETY: the environment of this call.
    let env = unsafe { Env::new(env) };
    let found = with_recorder(recorder, None, |recorder| {
        match (u32::try_from(connection), usize::try_from(transport)) {
            (Ok(connection), _) => recorder.connection_stats(connection),
            (_, Ok(transport)) => recorder.transport(transport),
            _ => Some(recorder.all()),
        }
    });
    // SAFETY: a `long[]` of this call.
    found.is_some_and(|numbers| unsafe { env.write_longs(into, &numbers) })
}

/// `static native int recordedConnections(long recorder)`: number of open connections that have
/// statistics of their own; 0 after a panic.
#[unsafe(no_mangle)]
extern "system" fn Java_dev_linerate_gateway_Native_recordedConnections(
    _: *mut JNIEnv,
    _: jclass,
    recorder: jlong,
) -> jint {
    with_recorder(recorder, 0, |recorder| length(recorder.connections()))
}

/// `static native String prometheus(long recorder)`: statistics in Prometheus' text format; null
/// after a panic.
#[unsafe(no_mangle)]
extern "system" fn Java_dev_linerate_gateway_Native_prometheus(
    env: *mut JNIEnv,
    _: jclass,
    recorder: jlong,
) -> jstring {
    // SAFETY: the environment of this call.
    let env = unsafe { Env::new(env) };
    with_recorder(recorder, None, |recorder| Some(recorder.prometheus()))
        .map_or(ptr::null_mut(), |text| env.string(&text))
}
