//! Sends a message that is compressed once among the messages of sessions.

#![allow(unsafe_code)]

use std::mem::MaybeUninit;

use flate2::{Decompress, FlushDecompress};
use linerate::error::linerate_error;
use linerate::scratch::*;
use linerate::session::*;

fn made<T>(call: impl FnOnce(*mut T) -> linerate_error) -> T {
    let mut room = MaybeUninit::uninit();
    assert_eq!(call(room.as_mut_ptr()).kind, 0);
    // SAFETY: the call has succeeded, and stored it.
    unsafe { room.assume_init() }
}

fn session(takeover: u8) -> linerate_session {
    let options = linerate_session_options { takeover, window_bits: 10, ..linerate_session_defaults(0) };
    // SAFETY: options and a place, both of this function.
    made(|to| unsafe { linerate_session_new(&options, to) })
}

fn message(session: linerate_session, scratch: linerate_scratch, text: &[u8]) -> Vec<u8> {
    let mut out = vec![0; linerate_session_bound(text.len())];
    let (from, to, capacity) = (text.as_ptr(), out.as_mut_ptr(), out.len());
    // SAFETY: buffers with their lengths, and a place for a number.
    let n =
        made(|n| unsafe { linerate_session_message(session, scratch, from, text.len(), to, capacity, n) });
    out.truncate(n);
    out
}

#[test]
fn a_message_compressed_once_is_remembered_or_forgotten() {
    let first = b"the first message of this connection, 0123456789";
    let news = b"the news of today, for everybody who listens, 9876543210";
    // SAFETY: a place for a handle.
    let scratch =
        made(|to| unsafe { linerate_scratch_new(linerate_engine::LINERATE_ENGINE_DEFLATE as u32, to) });
    for remembers in [true, false] {
        let one = session(1);
        let mut wire = vec![message(one, scratch, first), message(session(0), scratch, news)];
        let error = if remembers {
            // SAFETY: a buffer with its length.
            unsafe { linerate_session_remember(one, news.as_ptr(), news.len()) }
        } else {
            linerate_session_forget(one)
        };
        assert_eq!(error.kind, 0);
        wire.extend([message(one, scratch, news), message(one, scratch, first)]);
        assert_eq!((wire[2].len() < 20, wire[3].len() < 20), (remembers, remembers));
        let (mut decoder, mut plain) = (Decompress::new(false), Vec::with_capacity(1000));
        for bytes in wire {
            decoder.decompress_vec(&bytes, &mut plain, FlushDecompress::Sync).expect("deflate");
        }
        assert_eq!(plain, [&first[..], news, news, first].concat());
        assert_eq!(linerate_session_free(one).kind, 0);
        assert_eq!(linerate_session_forget(one).kind, linerate_session_free(one).kind);
    }
}
