//! Gateway sessions: decompress the messages of one connection into memory of the caller.

use std::sync::Arc;

use ::linerate_gateway::{Checks, Dictionaries, Encoding, Limits, Session, Transport};

use crate::border::{buffers, input, output, place, run, value};
use crate::error::{Call, linerate_error};
use crate::handles::Table;
use crate::scratch::linerate_scratch;

/// Compression of the messages of a connection.
#[repr(i32)]
pub enum linerate_transport {
    /// One zlib stream, flushed after each message. A message may arrive in fragments.
    LINERATE_TRANSPORT_ZLIB_STREAM = 0,
    /// One zstd frame, flushed after each message.
    LINERATE_TRANSPORT_ZSTD_STREAM = 1,
    /// Each message is one or more zstd frames, which may name a dictionary.
    LINERATE_TRANSPORT_ZSTD_FRAME = 2,
    /// Each message is a zlib stream.
    LINERATE_TRANSPORT_ZLIB = 3,
    /// Each message is a gzip file of one or more members.
    LINERATE_TRANSPORT_GZIP = 4,
    /// Each message is deflate data up to a final block.
    LINERATE_TRANSPORT_RAW_DEFLATE = 5,
}

/// Encodings of payloads. If one is chosen, the session checks that each payload is complete, and
/// reads its opcode and sequence number.
#[repr(i32)]
pub enum linerate_encoding {
    /// Any encoding: payloads are not checked.
    LINERATE_ENCODING_ANY = 0,
    /// One JSON object.
    LINERATE_ENCODING_JSON = 1,
    /// One map in Erlang's external term format.
    LINERATE_ENCODING_ETF = 2,
}

/// The session of one connection: the decoder of its messages. One thread at a time may use it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linerate_gateway {
    /// The handle.
    pub id: u64,
}

/// Dictionaries of zstd frames, found by the Dictionary_ID that a frame names. Many threads may use
/// them. Sessions keep their content alive, so they may be freed before the sessions.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linerate_gateway_dictionaries {
    /// The handle; 0 means no dictionaries.
    pub id: u64,
}

/// A buffer of the caller.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linerate_bytes {
    /// The first byte.
    pub at: *const u8,
    /// Size in bytes.
    pub len: usize,
}

/// Options of a session. linerate_gateway_defaults fills them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linerate_gateway_options {
    /// The compression, a linerate_transport.
    pub transport: i32,
    /// The encoding of payloads, a linerate_encoding. Default: LINERATE_ENCODING_ANY.
    pub encoding: i32,
    /// If not 0, each sequence number must be the last one plus one; messages without one are
    /// allowed. This needs an encoding, without which no session is made. Default: 0.
    pub check_sequence: u8,
    /// Base-2 logarithm of the largest window of a zstd stream, in bytes. Values above 27 count as
    /// 27. Other transports ignore it. Default: 16.
    pub window_log: u8,
    /// Reserved: 0.
    pub reserved: [u8; 6],
    /// Largest payload in bytes; a larger one is an error. Default: 64 MiB.
    pub max_message: u64,
    /// Dictionaries for LINERATE_TRANSPORT_ZSTD_FRAME; other transports ignore them. An id of 0
    /// means none.
    pub dictionaries: linerate_gateway_dictionaries,
}

/// A decoded message.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct linerate_message {
    /// Size of the payload in bytes.
    pub len: usize,
    /// Compressed size of the message in bytes, including its earlier fragments.
    pub compressed: usize,
    /// Number of the message on this connection, from 0. Whole messages count, and damaged messages
    /// too if they are independent of each other.
    pub index: u64,
    /// The opcode, if has_op is not 0.
    pub op: u64,
    /// The sequence number, if has_sequence is not 0.
    pub sequence: u64,
    /// Not 0 if the message is complete. If 0, the call decoded a fragment, and all other fields
    /// are 0.
    pub is_complete: u8,
    /// Not 0 if the options have an encoding and the payload has an opcode.
    pub has_op: u8,
    /// Not 0 if the options have an encoding and the payload has a sequence number.
    pub has_sequence: u8,
    /// Reserved: 0.
    pub reserved: [u8; 5],
}

struct Connection {
    session: Session,
    /// The payload for which the caller's buffer was too small, until the caller fetches it or
    /// decodes another message; else empty.
    waiting: Vec<u8>,
}

static CONNECTIONS: Table<Connection> = Table::new(10);
static DICTIONARIES: Table<Arc<Dictionaries>> = Table::new(11);

const TOO_SMALL: linerate_error = linerate_error::too_small(c"the output buffer is smaller than the payload");

impl linerate_gateway_options {
    fn session(&self) -> Call<Session> {
        let number = usize::try_from(self.transport).ok();
        let transport = number.and_then(|number| Transport::ALL.get(number)).copied();
        let transport = transport.ok_or(linerate_error::bad_argument(c"unknown transport"))?;
        let checks = match self.encoding {
            0 if self.check_sequence != 0 => {
                return Err(linerate_error::bad_argument(c"sequence numbers need an encoding"));
            }
            0 => Checks::NONE,
            1 => Checks::complete(Encoding::Json),
            2 => Checks::complete(Encoding::Etf),
            _ => return Err(linerate_error::bad_argument(c"unknown encoding")),
        };
        let max_message = usize::try_from(self.max_message).unwrap_or(usize::MAX);
        let limits = Limits::new().max_message(max_message).window_log(self.window_log);
        let session = Session::new(transport, limits).checks(checks.sequence(self.check_sequence != 0));
        match self.dictionaries.id {
            0 => Ok(session),
            id => Ok(session.dictionaries(Arc::clone(&*DICTIONARIES.share(id)?))),
        }
    }
}

/// Returns the default options for a linerate_transport.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_gateway_defaults(transport: i32) -> linerate_gateway_options {
    let limits = Limits::new();
    linerate_gateway_options {
        transport,
        encoding: 0,
        check_sequence: 0,
        window_log: limits.window_log,
        reserved: [0; 6],
        max_message: limits.max_message as u64,
        dictionaries: linerate_gateway_dictionaries { id: 0 },
    }
}

/// Allocates a session for a new connection.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_gateway_new(
    options: *const linerate_gateway_options,
    gateway: *mut linerate_gateway,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises.
        let (options, gateway) = unsafe {
            (value!(options, "linerate_gateway_defaults fills those of a transport")?, place!(gateway)?)
        };
        let connection = Connection { session: options.session()?, waiting: Vec::new() };
        gateway.write(linerate_gateway { id: CONNECTIONS.insert(connection)? });
        Ok(())
    })
}

/// Frees a session. Ignores one whose id is 0.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_gateway_free(gateway: linerate_gateway) -> linerate_error {
    run(|| CONNECTIONS.free_unless_zero(gateway.id))
}

/// Decodes the content of one WebSocket message and copies the payload to out. If out is too small,
/// the function fails with LINERATE_OUTPUT_TOO_SMALL but stores message, and the session keeps a
/// copy of the payload for linerate_gateway_payload until the next message. After an error in the
/// data of a zlib or zstd stream, every further call returns that error until
/// linerate_gateway_reset. For the other transports an error affects only its own message. The
/// window of the session and the payload buffer of the scratch grow with the messages.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_gateway_message(
    gateway: linerate_gateway,
    scratch: linerate_scratch,
    from: *const u8,
    len: usize,
    out: *mut u8,
    capacity: usize,
    message: *mut linerate_message,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises.
        let ((input, out), message) = unsafe { (buffers!(from, len, out, capacity)?, place!(message)?) };
        let (mut connection, mut scratch) = (CONNECTIONS.lock(gateway.id)?, scratch.lock()?);
        let Connection { session, waiting } = &mut *connection;
        let scratch = scratch.gateway()?;
        *waiting = Vec::new();
        let Some(done) = session.message(input, scratch).map_err(|e| e.error)? else {
            message.write(linerate_message::FRAGMENT);
            return Ok(());
        };
        let envelope = done.envelope.unwrap_or_default();
        message.write(linerate_message {
            len: done.payload.len(),
            compressed: done.compressed,
            index: done.index,
            op: envelope.op.unwrap_or(0),
            sequence: envelope.sequence.unwrap_or(0),
            is_complete: 1,
            has_op: envelope.op.is_some().into(),
            has_sequence: envelope.sequence.is_some().into(),
            reserved: [0; 5],
        });
        match out.get_mut(..done.payload.len()) {
            Some(out) => out.copy_from_slice(done.payload),
            None => {
                *waiting = done.payload.to_vec();
                return Err(TOO_SMALL);
            }
        }
        Ok(())
    })
}

impl linerate_message {
    const FRAGMENT: linerate_message = linerate_message {
        len: 0,
        compressed: 0,
        index: 0,
        op: 0,
        sequence: 0,
        is_complete: 0,
        has_op: 0,
        has_sequence: 0,
        reserved: [0; 5],
    };
}

/// Copies the payload for which the buffer passed to linerate_gateway_message was too small, and
/// stores its size in written. The session then frees its own copy, and a further call stores 0. If
/// out is too small again, the session keeps its copy.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_gateway_payload(
    gateway: linerate_gateway,
    out: *mut u8,
    capacity: usize,
    written: *mut usize,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises.
        let (out, written) = unsafe { (output!(out, capacity)?, place!(written)?) };
        let mut connection = CONNECTIONS.lock(gateway.id)?;
        let waiting = &connection.waiting;
        out.get_mut(..waiting.len()).ok_or(TOO_SMALL)?.copy_from_slice(waiting);
        written.write(waiting.len());
        connection.waiting = Vec::new();
        Ok(())
    })
}

/// Begins a new connection with the same options, and frees the memory of the last one.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_gateway_reset(gateway: linerate_gateway) -> linerate_error {
    run(|| {
        let mut connection = CONNECTIONS.lock(gateway.id)?;
        connection.waiting = Vec::new();
        connection.session.reset();
        Ok(())
    })
}

/// Sets the last sequence number that was received before this connection, for check_sequence. Call
/// it after linerate_gateway_reset or linerate_gateway_new, before the first message.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_gateway_resume_after(gateway: linerate_gateway, sequence: u64) -> linerate_error {
    run(|| {
        CONNECTIONS.lock(gateway.id)?.session.resume_after(sequence);
        Ok(())
    })
}

/// Stores the number of bytes that a session has allocated, without its dictionaries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_gateway_memory(
    gateway: linerate_gateway,
    bytes: *mut usize,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promise.
        let bytes = unsafe { place!(bytes) }?;
        let connection = CONNECTIONS.lock(gateway.id)?;
        bytes.write(connection.session.memory() + connection.waiting.capacity());
        Ok(())
    })
}

/// Allocates count dictionaries, copies of the buffers in list, and digests them. Their
/// Dictionary_IDs must differ. That of raw content is 0, so only one of them may be raw content; it
/// is for frames that name no dictionary.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linerate_gateway_dictionaries_new(
    list: *const linerate_bytes,
    count: usize,
    dictionaries: *mut linerate_gateway_dictionaries,
) -> linerate_error {
    run(|| {
        // SAFETY: the caller's promises.
        let (list, dictionaries) = unsafe { (input!(list, count)?, place!(dictionaries)?) };
        // SAFETY: the caller's promise.
        let contents: Call<Vec<&[u8]>> =
            list.iter().map(|one| unsafe { input!(list: one.at, one.len) }).collect();
        let id = DICTIONARIES.insert(Arc::new(Dictionaries::new(contents?)?))?;
        dictionaries.write(linerate_gateway_dictionaries { id });
        Ok(())
    })
}

/// Frees dictionaries. Ignores those whose id is 0.
#[unsafe(no_mangle)]
pub extern "C" fn linerate_gateway_dictionaries_free(
    dictionaries: linerate_gateway_dictionaries,
) -> linerate_error {
    run(|| DICTIONARIES.free_unless_zero(dictionaries.id))
}
