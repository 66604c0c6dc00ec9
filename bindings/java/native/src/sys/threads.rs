//! Threads of Java at the native methods: connections that go from thread to thread, and what they share. ThreadSanitizer
//! watches this test, too (`scripts/test.sh tsan`), which sees nothing of Java itself.

use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use jni_sys::{JNIEnv, jclass, jint, jlong};
use linerate_gateway::stats::{StatsOptions, Verdict};
use linerate_gateway::{Dictionaries, Encoder, Transport};

use crate::recorder::Recorder;
use crate::sys::exports::with;
use crate::{Connection, pool};

/// Messages of a connection, each on another thread.
const MESSAGES: usize = 50;

// By the names that Java looks for.
unsafe extern "system" {
    fn Java_dev_linerate_gateway_Native_create(
        _: *mut JNIEnv,
        _: jclass,
        transport: jint,
        max_message: jint,
        window_log: jint,
        checks: jint,
        keep_messages: jint,
        keep_bytes: jint,
    ) -> jlong;
    fn Java_dev_linerate_gateway_Native_setDictionaries(
        _: *mut JNIEnv,
        _: jclass,
        connection: jlong,
        dictionaries: jlong,
    );
    fn Java_dev_linerate_gateway_Native_recordStats(
        _: *mut JNIEnv,
        _: jclass,
        connection: jlong,
        recorder: jlong,
    ) -> jint;
    fn Java_dev_linerate_gateway_Native_reset(_: *mut JNIEnv, _: jclass, connection: jlong);
    fn Java_dev_linerate_gateway_Native_free(_: *mut JNIEnv, _: jclass, connection: jlong);
    fn Java_dev_linerate_gateway_Native_freeDictionaries(_: *mut JNIEnv, _: jclass, dictionaries: jlong);
    fn Java_dev_linerate_gateway_Native_freeRecorder(_: *mut JNIEnv, _: jclass, recorder: jlong);
    fn Java_dev_linerate_gateway_Native_trim(_: *mut JNIEnv, _: jclass);
    fn Java_dev_linerate_gateway_Native_sharedMemory(_: *mut JNIEnv, _: jclass) -> jlong;
}

/// What Java holds for an object: its address, once in memory that is counted.
fn held<T>(object: T) -> jlong {
    Arc::into_raw(Arc::new(object)).expose_provenance() as jlong
}

/// Connections in the state that `Handle` has in Java: one thread at a time takes one, the next where it left off.
struct Handles(Vec<(AtomicBool, jlong)>);

impl Handles {
    fn enter<T>(&self, number: usize, body: impl FnOnce(jlong) -> T) -> Option<T> {
        let (busy, connection) = &self.0[number];
        // The orders of Java's compareAndSet, no more than they need to be.
        busy.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).ok()?;
        let result = body(*connection);
        busy.store(false, Ordering::Release);
        Some(result)
    }
}

fn new_connection(dictionaries: jlong, recorder: jlong) -> jlong {
    let (env, class) = (ptr::null_mut(), ptr::null_mut());
    let transport = Transport::ALL.iter().position(|transport| *transport == Transport::ZstdFrame);
    // SAFETY: numbers that Java passes, and objects that are not freed.
    unsafe {
        let transport = transport.expect("one of all") as jint;
        let connection =
            Java_dev_linerate_gateway_Native_create(env, class, transport, 1 << 20, 20, 0, 2, 1000);
        Java_dev_linerate_gateway_Native_setDictionaries(env, class, connection, dictionaries);
        assert!(Java_dev_linerate_gateway_Native_recordStats(env, class, connection, recorder) >= 0);
        connection
    }
}

#[test]
fn connections_go_from_thread_to_thread_while_what_they_share_is_freed() {
    let (env, class) = (ptr::null_mut(), ptr::null_mut());
    let content = b"{\"t\":\"PRESENCE_UPDATE\",\"s\":".repeat(30);
    let mut wire = Vec::new();
    let mut encoder = Encoder::new(Transport::ZstdFrame).unwrap().with_dictionary(&content).unwrap();
    encoder.message(&content, &mut wire).unwrap();

    let before = Connection::live();
    let dictionaries = held(Dictionaries::new([&content[..]]).unwrap());
    let recorder = Arc::new(Recorder::start(StatsOptions::new()).unwrap());
    let java_recorder = Arc::into_raw(Arc::clone(&recorder)).expose_provenance() as jlong;
    let handles = Handles(
        (0..4).map(|_| (AtomicBool::new(false), new_connection(dictionaries, java_recorder))).collect(),
    );
    let decoded: Vec<AtomicUsize> = handles.0.iter().map(|_| AtomicUsize::new(0)).collect();

    thread::scope(|scope| {
        for first in 0..4 {
            let (handles, decoded, wire, content) = (&handles, &decoded, &wire, &content);
            scope.spawn(move || {
                for turn in first..first + handles.0.len() * MESSAGES {
                    let number = turn % handles.0.len();
                    handles.enter(number, |connection| {
                        let payload = with(connection, None, |connection| {
                            let mut scratch = pool::scratch();
                            connection.message(wire, &mut scratch).unwrap().map(<[u8]>::to_vec)
                        });
                        assert_eq!(payload.as_ref(), Some(content));
                        decoded[number].fetch_add(1, Ordering::Relaxed);
                        if turn % 7 == 0 {
                            // SAFETY: a connection of this thread until it is left.
                            unsafe {
                                Java_dev_linerate_gateway_Native_reset(
                                    ptr::null_mut(),
                                    ptr::null_mut(),
                                    connection,
                                )
                            };
                        }
                    });
                }
            });
        }
        // Java has closed them, connections have not.
        // SAFETY: each once, and this thread does not use them again.
        unsafe {
            Java_dev_linerate_gateway_Native_freeDictionaries(env, class, dictionaries);
            Java_dev_linerate_gateway_Native_freeRecorder(env, class, java_recorder);
        }
        for _ in 0..MESSAGES {
            // SAFETY: they take nothing.
            let shared = unsafe {
                Java_dev_linerate_gateway_Native_trim(env, class);
                Java_dev_linerate_gateway_Native_sharedMemory(env, class)
            };
            assert!(shared >= 0 && recorder.all()[0] >= 0);
            thread::yield_now();
        }
    });

    recorder.stop().unwrap();
    let all: usize = decoded.iter().map(|decoded| decoded.load(Ordering::Relaxed)).sum();
    assert!(decoded.iter().all(|decoded| decoded.load(Ordering::Relaxed) > 0));
    let counted: i64 = recorder.all()[..Verdict::ALL.len()].iter().sum();
    assert_eq!(counted, all as i64);
    for (_, connection) in &handles.0 {
        // SAFETY: no thread is left that uses them.
        unsafe { Java_dev_linerate_gateway_Native_free(env, class, *connection) };
    }
    assert!(Connection::live() <= before + 4, "other tests have some of their own");
}
