//! Tests in which memory for a message runs out.

use std::mem::MaybeUninit;
use std::ptr;

use jni_sys::{jint, jlong};
use linerate_testkit::sys::counting::{Counting, refuse};

use super::envelopes::Java_dev_linerate_gateway_Native_dropEvents as drop_events;
use super::exports::{
    ERROR, INCOMPLETE, Java_dev_linerate_gateway_Native_create as create,
    Java_dev_linerate_gateway_Native_free as free, decode, keep, with,
};
use crate::Connection;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Length in bytes of messages that are too long to be kept on the stack.
const LONG: jint = 5000;

/// Runs `test` with a connection for raw deflate messages, each compressed on its own.
fn with_feed(test: impl FnOnce(jlong)) {
    let (env, class) = (ptr::null_mut(), ptr::null_mut());
    let connection = create(env, class, 5, 10_000, 16, 0, 0, 0);
    test(connection);
    free(env, class, connection);
}

/// Takes a part, whose bytes are all `?`, which is no deflate data.
fn take(connection: jlong, len: jint, last: bool) -> jlong {
    let fill = |into: &mut [MaybeUninit<u8>]| {
        into.iter_mut().for_each(|byte| _ = byte.write(b'?'));
        true
    };
    with(connection, 0, |connection| decode(connection, len, last, fill, Default::default, |_, _| 0))
}

/// Message of the last error, and the number of messages.
fn state(connection: jlong) -> (String, u64) {
    let text = |connection: &Connection| connection.last_error().map_or_else(String::new, |e| e.to_string());
    with(connection, Default::default(), |connection| (text(connection), connection.messages()))
}

#[test]
fn no_memory_for_a_feed_message_is_an_error_of_that_message_only() {
    with_feed(|connection| {
        assert_eq!(refuse(2000, || take(connection, LONG, true)), ERROR);
        let (error, messages) = state(connection);
        assert!(error.contains("out of memory"), "{error}");
        assert_eq!(messages, 1);
        assert_eq!(take(connection, 1, true), ERROR);
        let (error, messages) = state(connection);
        assert!(!error.contains("out of memory"), "{error}");
        assert_eq!(messages, 2);
    });
}

#[test]
fn no_memory_for_a_part_of_a_feed_message_is_an_error_until_the_last_part() {
    with_feed(|connection| {
        assert_eq!(refuse(2000, || take(connection, LONG, false)), ERROR);
        for last in [false, true] {
            assert_eq!(take(connection, LONG, last), ERROR);
            assert!(state(connection).0.contains("out of memory"));
        }
        assert_eq!(state(connection).1, 1);
        assert_eq!(take(connection, LONG, false), INCOMPLETE);
    });
}

#[test]
fn no_memory_to_keep_a_feed_payload_is_an_error_of_that_message_only() {
    with_feed(|connection| {
        let message = [1, 1, 0, 254, 255, b'x'];
        with(connection, (), |connection| {
            let mut scratch = crate::pool::scratch();
            for index in 0..2 {
                assert!(connection.message(&message, &mut scratch, &mut []).is_ok());
                assert_eq!(refuse(2000, || keep(connection, &[0; 5000])), ERROR);
                let error = connection.last_error().expect("an error");
                assert_eq!((error.message_index, connection.error()), (index, None));
            }
        });
    });
}

#[test]
fn no_memory_for_the_names_of_dropped_events_is_an_error() {
    with_feed(|connection| {
        let (env, names) = (ptr::null_mut(), ptr::null_mut());
        let result = refuse(2000, || drop_events(env, ptr::null_mut(), connection, names, LONG));
        assert_eq!(jlong::from(result), ERROR);
    });
}
