//! A test in which several threads call the native methods as threads of Java do: connections move
//! from thread to thread, and share memory. ThreadSanitizer also runs it (`scripts/test.sh tsan`),
//! since it could not see Java itself.

use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use jni_sys::{jint, jlong};
use linerate_gateway::stats::{StatsOptions, Verdict};
use linerate_gateway::{Dictionaries, Encoder, Transport};

use super::dictionaries::{
    Java_dev_linerate_gateway_Native_freeDictionaries as free_dictionaries,
    Java_dev_linerate_gateway_Native_setDictionaries as set_dictionaries,
};
use super::exports::{
    Java_dev_linerate_gateway_Native_create as create, Java_dev_linerate_gateway_Native_free as free,
    Java_dev_linerate_gateway_Native_reset as reset,
    Java_dev_linerate_gateway_Native_sharedMemory as shared_memory,
    Java_dev_linerate_gateway_Native_trim as trim, with,
};
use super::stats::{
    Java_dev_linerate_gateway_Native_freeRecorder as free_recorder,
    Java_dev_linerate_gateway_Native_recordStats as record_stats,
};
use crate::pool;
use crate::recorder::Recorder;

/// Number of messages that each thread tries to decode on each connection; and number of times that
/// the main thread frees the shared memory meanwhile.
const MESSAGES: usize = 50;

/// Connections with the state that `Handle` has in Java: one thread at a time takes a connection
/// and continues where the last one stopped.
struct Handles(Vec<(AtomicBool, jlong)>);

impl Handles {
    fn enter<T>(&self, number: usize, body: impl FnOnce(jlong) -> T) -> Option<T> {
        let (busy, connection) = &self.0[number];
        // Acquire and release order memory more weakly than Java's compareAndSet, and are enough.
        busy.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).ok()?;
        let result = body(*connection);
        busy.store(false, Ordering::Release);
        Some(result)
    }
}

fn new_connection(dictionaries: jlong, recorder: jlong) -> jlong {
    let (env, class) = (ptr::null_mut(), ptr::null_mut());
    let transport = Transport::ALL.iter().position(|transport| *transport == Transport::ZstdFrame);
    let connection = create(env, class, transport.expect("one of all") as jint, 1 << 20, 20, 0, 2, 1000);
    set_dictionaries(env, class, connection, dictionaries);
    assert!(record_stats(env, class, connection, recorder) >= 0);
    connection
}

#[test]
fn connections_go_from_thread_to_thread_while_what_they_share_is_freed() {
    let content = b"{\"t\":\"PRESENCE_UPDATE\",\"s\":".repeat(30);
    let mut wire = Vec::new();
    let mut encoder = Encoder::new(Transport::ZstdFrame).unwrap().with_dictionary(&content).unwrap();
    encoder.message(&content, &mut wire).unwrap();

    let (env, class) = (ptr::null_mut(), ptr::null_mut());
    let dictionaries = Arc::new(Dictionaries::new([&content[..]]).unwrap());
    let dictionaries_left = Arc::downgrade(&dictionaries);
    let dictionaries = Arc::into_raw(dictionaries).expose_provenance() as jlong;
    let recorder = Arc::new(Recorder::start(StatsOptions::new()).unwrap());
    let java_recorder = Arc::into_raw(Arc::clone(&recorder)).expose_provenance() as jlong;
    let connection = || (AtomicBool::new(false), new_connection(dictionaries, java_recorder));
    let handles = Handles((0..4).map(|_| connection()).collect());
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
                            connection.message(wire, &mut scratch, &mut []).unwrap().map(<[u8]>::to_vec)
                        });
                        assert_eq!(payload.as_ref(), Some(content));
                        decoded[number].fetch_add(1, Ordering::Relaxed);
                        if turn % 7 == 0 {
                            reset(ptr::null_mut(), ptr::null_mut(), connection);
                        }
                    });
                }
            });
        }
        // From here on Java holds neither the dictionaries nor the recorder; connections still use
        // them.
        free_dictionaries(env, class, dictionaries);
        free_recorder(env, class, java_recorder);
        for _ in 0..MESSAGES {
            trim(env, class);
            assert!(shared_memory(env, class) >= 0 && recorder.all()[0] >= 0);
            thread::yield_now();
        }
    });

    recorder.stop().unwrap();
    let decoded: Vec<usize> = decoded.into_iter().map(AtomicUsize::into_inner).collect();
    assert!(decoded.iter().all(|decoded| *decoded > 0), "{decoded:?}");
    let counted: i64 = recorder.all()[..Verdict::ALL.len()].iter().sum();
    assert_eq!(counted, decoded.iter().sum::<usize>() as i64);
    assert!(
        dictionaries_left.upgrade().is_some() && Arc::strong_count(&recorder) > 1,
        "connections still hold them"
    );
    handles.0.iter().for_each(|(_, connection)| free(env, class, *connection));
    assert!(dictionaries_left.upgrade().is_none() && Arc::strong_count(&recorder) == 1, "nothing holds them");
}
