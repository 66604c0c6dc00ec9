//! Deflate sessions: each message is compressed with a window of earlier messages, and flushed.

use std::sync::Arc;

use linerate_deflate::session::{Dictionary, Session, SessionOptions, message_bound};

use crate::border::{buffers, input, output, place, run, value};
use crate::deflate::{format_of, level_of};
use crate::error::{Call, linerate_error};
use crate::handles::Table;
use crate::scratch::linerate_scratch;

/// The encoder of a connection. It compresses each message with a window of earlier messages. One
/// thread at a time may use it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linerate_session {
    /// The handle.
    pub id: u64,
}

/// A preset dictionary. Many threads may use it. Sessions keep its content alive, so it may be
/// freed before them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linerate_deflate_dictionary {
    /// The handle; 0 means no dictionary.
    pub id: u64,
}

/// Options of a session. linerate_session_defaults fills them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linerate_session_options {
    /// The container, a linerate_format.
    pub format: i32,
    /// The level, 0 to 9. Default: 2. In a session, levels 8 and 9 are the same as level 7.
    pub level: i32,
    /// Base-2 logarithm of the window in bytes, 8 to 15. 0 makes each message independent of the
    /// others. Default: 15.
    pub window_bits: u32,
    /// If not 0, matches may refer to earlier messages. If 0, each message can be decoded alone.
    /// Default: 1.
    pub takeover: u8,
    /// If not 0, each message ends with the four bytes of its flush, 00 00 ff ff. Default: 1.
    /// permessage-deflate (RFC 7692) leaves them out.
    pub keep_tail: u8,
    /// If not 0, the session keeps the index of its window between messages, which costs memory and
    /// saves time. Default: 1.
    pub keep_index: u8,
    /// Reserved: 0.
    pub reserved: [u8; 5],
    /// The preset dictionary. A handle of 0 means none. gzip cannot have one, and zlib only with
    /// takeover.
    pub dictionary: linerate_deflate_dictionary,
}

static SESSIONS: Table<Session> = Table::new(2);
static DICTIONARIES: Table<Arc<Dictionary>> = Table::new(3);

impl linerate_session_options {
    fn options(&self) -> Call<SessionOptions> {
        let window_bits = u8::try_from(self.window_bits).unwrap_or(u8::MAX);
        let options = SessionOptions::new(format_of(self.format)?)
            .level(level_of(self.level)?)
            .window_bits(window_bits)
            .takeover(self.takeover != 0)
            .keep_tail(self.keep_tail != 0)
            .keep_index(self.keep_index != 0);
        match self.dictionary.id {
            0 => Ok(options),
            id => Ok(options.dictionary(Arc::clone(&*DICTIONARIES.share(id)?))),
        }
    }
}

/// Returns the default options for a linerate_format.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_session_defaults(format: i32) -> linerate_session_options {
    linerate_session_options {
        format,
        level: 2,
        window_bits: 15,
        takeover: 1,
        keep_tail: 1,
        keep_index: 1,
        reserved: [0; 5],
        dictionary: linerate_deflate_dictionary { id: 0 },
    }
}

/// Allocates a session.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_session_new(
    options: *const linerate_session_options,
    session: *mut linerate_session,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises.
        let (options, session) = unsafe {
            (value!(options, "linerate_session_defaults fills those of a format")?, place!(session)?)
        };
        let id = SESSIONS.insert(Session::new(options.options()?)?)?;
        session.write(linerate_session { id });
        Ok(())
    })
}

/// Frees a session. Ignores one whose id is 0.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_session_free(session: linerate_session) -> linerate_error {
    run(|| SESSIONS.free_unless_zero(session.id))
}

/// Returns the largest output of linerate_session_message, in bytes, for len bytes of input.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_session_bound(len: usize) -> usize {
    message_bound(len)
}

/// Compresses a message and flushes it, so that the receiver can decode all of it. Fails with
/// LINERATE_BAD_ARGUMENT after linerate_session_finish. After LINERATE_OUTPUT_TOO_SMALL the message
/// can be compressed again, but the output of later calls may differ from what it would have been.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_session_message(
    session: linerate_session,
    scratch: linerate_scratch,
    from: *const u8,
    len: usize,
    out: *mut u8,
    capacity: usize,
    written: *mut usize,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises.
        let ((input, out), written) = unsafe { (buffers!(from, len, out, capacity)?, place!(written)?) };
        let (mut session, mut scratch) = (SESSIONS.lock(session.id)?, scratch.lock()?);
        written.write(session.message(scratch.deflate()?, input, out)?);
        Ok(())
    })
}

/// Appends text to the window of a session, so that later messages may refer to it. The receiver
/// must decode this text between the last message of the session and the next one, from messages
/// that refer to nothing before them: for example a message that a session without takeover
/// compressed once for many receivers. Does nothing in a session without takeover. The checksum of
/// a zlib or gzip stream does not cover the text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_session_remember(
    session: linerate_session,
    text: *const u8,
    len: usize,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promise.
        let text = unsafe { input!(text, len) }?;
        SESSIONS.lock(session.id)?.remember(text);
        Ok(())
    })
}

/// Empties the window of a session, so that later messages refer neither to earlier ones nor to the
/// preset dictionary. Between this call and the next message the receiver may decode any message
/// that refers to nothing before it. Does nothing in a session without takeover.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_session_forget(session: linerate_session) -> linerate_error {
    run(|| {
        SESSIONS.lock(session.id)?.forget();
        Ok(())
    })
}

/// Ends the stream of a session: writes the last block and the trailer of the container, at most
/// linerate_deflater_finish_bound() bytes. The session then takes no more messages.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_session_finish(
    session: linerate_session,
    out: *mut u8,
    capacity: usize,
    written: *mut usize,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises.
        let (out, written) = unsafe { (output!(out, capacity)?, place!(written)?) };
        written.write(SESSIONS.lock(session.id)?.finish(out)?);
        Ok(())
    })
}

/// Sets the level, 0 to 9, of the following messages. The memory of the session stays the same.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_session_set_level(session: linerate_session, level: i32) -> linerate_error {
    run(|| {
        SESSIONS.lock(session.id)?.set_level(level_of(level)?);
        Ok(())
    })
}

/// Stores the number of bytes that a session has allocated, without its preset dictionary.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_session_memory(
    session: linerate_session,
    bytes: *mut usize,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promise.
        let bytes = unsafe { place!(bytes) }?;
        bytes.write(SESSIONS.lock(session.id)?.memory());
        Ok(())
    })
}

/// Allocates a preset dictionary: a copy of the last 32,768 bytes of text, and an index of them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_deflate_dictionary_new(
    text: *const u8,
    len: usize,
    dictionary: *mut linerate_deflate_dictionary,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises.
        let (text, dictionary) = unsafe { (input!(text, len)?, place!(dictionary)?) };
        let id = DICTIONARIES.insert(Arc::new(Dictionary::new(text)))?;
        dictionary.write(linerate_deflate_dictionary { id });
        Ok(())
    })
}

/// Frees a dictionary. Ignores one whose id is 0.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_deflate_dictionary_free(
    dictionary: linerate_deflate_dictionary,
) -> linerate_error {
    run(|| DICTIONARIES.free_unless_zero(dictionary.id))
}
