//! The encoder of one response: stateless calls, or a session with a window.

use bytes::Bytes;
use linerate_deflate::session::{Session, SessionOptions, message_bound};
use linerate_deflate::{Error, Level, Stream, finish_bound, with_thread_scratch};

use crate::negotiation::Coding;

/// What follows the input of a call in the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// More input follows at once.
    More,
    /// A pause follows, so everything so far must be decodable.
    Pause,
    /// The stream ends.
    End,
}

/// Compresses a response, call by call.
pub(crate) enum Encoder {
    /// Compresses the input of each call without matches into earlier calls. The stream has 16
    /// bytes; `is_pending` tells that calls since the last flush had input.
    Calls { stream: Stream, is_pending: bool },
    /// Compresses with matches into the window that earlier calls filled. Every call that has input
    /// ends with a flush.
    Windowed(Box<Session>),
}

impl Encoder {
    pub(crate) fn new(coding: Coding, level: Level) -> Self {
        Encoder::Calls { stream: Stream::new(coding.format(), level), is_pending: false }
    }

    /// Creates an encoder with a window of 2^`window_bits` bytes; `window_bits` must be 8 to 15.
    pub(crate) fn with_window(coding: Coding, level: Level, window_bits: u8) -> Self {
        let options = SessionOptions::new(coding.format()).level(level).window_bits(window_bits);
        Encoder::Windowed(Box::new(Session::new(options).expect("window bits of 8 to 15, no dictionary")))
    }

    /// Changes the level, beginning with the next call.
    pub(crate) fn set_level(&mut self, level: Level) {
        match self {
            Encoder::Calls { stream, .. } => stream.set_level(level),
            Encoder::Windowed(session) => session.set_level(level),
        }
    }

    /// Compresses `input`, which may be empty, and returns the bytes to send. Panics after
    /// [`Then::End`].
    pub(crate) fn encode(&mut self, input: &[u8], then: Then) -> Bytes {
        // `message_bound` covers the bound of a stream and the 5 bytes of a flush.
        let len = message_bound(input.len()) + finish_bound();
        with_thread_scratch(len, |scratch, out| {
            let written = match self {
                Encoder::Calls { stream, is_pending } => {
                    let more = then != Then::End;
                    let n = if input.is_empty() { Ok(0) } else { stream.encode(scratch, input, out, more) };
                    *is_pending |= !input.is_empty();
                    n.and_then(|n| Ok(n + end_call(stream, is_pending, &mut out[n..], then)?))
                }
                Encoder::Windowed(session) => {
                    let n = if input.is_empty() { Ok(0) } else { session.message(scratch, input, out) };
                    let is_end = then == Then::End;
                    n.and_then(|n| Ok(n + if is_end { session.finish(&mut out[n..])? } else { 0 }))
                }
            };
            Bytes::copy_from_slice(&out[..written.expect("room for the bounds, before the end")])
        })
    }
}

/// Ends the stream if it ends, flushes it if a pause follows and `is_pending`, or does nothing.
fn end_call(stream: &mut Stream, is_pending: &mut bool, out: &mut [u8], then: Then) -> Result<usize, Error> {
    match then {
        Then::Pause if *is_pending => {
            *is_pending = false;
            stream.flush(out)
        }
        Then::More | Then::Pause => Ok(0),
        Then::End => stream.finish(out),
    }
}
