//! The classes behind `pylinerate.websockets`: permessage-deflate (RFC 7692) for Python's
//! `websockets`.

use std::sync::Mutex;

use linerate_core::{Error, Kind, lock};
use linerate_websocket::{
    Agreement, Decoder, Direction, Encoder, Level, Options, Prepared, Role, Scratch, agree, answer, offer,
};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::raise;
use crate::frame::Frame;
use crate::sys::bytes::copied;

/// Smallest input for which the interpreter's lock is released, in bytes: a message to compress, or
/// compressed data to decode. For shorter input, releasing the lock takes longer than the work,
/// because another thread may then keep it for 5 ms.
const RELEASE_LOCK_FROM: usize = 16 << 10;
/// Largest buffer for decoded output that is kept for the next message, in bytes.
const KEPT_BUFFER: usize = 1 << 20;
/// Maximum number of working memories that are kept. Up to this number of threads can work at the
/// same time without allocating working memory.
const KEPT: usize = 16;

/// Working memory of one thread while it encodes or decodes.
#[derive(Default)]
struct Work {
    scratch: Scratch,
    out: Vec<u8>,
}

static WORK: Mutex<Vec<Work>> = Mutex::new(Vec::new());

/// Runs `job` with working memory from the process's pool, or with new memory if the pool is empty
/// or locked. Never waits for the pool's lock: in a process that was forked while another thread
/// held this lock, nobody would ever release it.
fn with_work<T>(job: impl FnOnce(&mut Work) -> T) -> T {
    let mut work = WORK.try_lock().ok().and_then(|mut kept| kept.pop()).unwrap_or_default();
    let result = job(&mut work);
    if work.out.capacity() > KEPT_BUFFER {
        work.out = Vec::new();
    }
    if let Ok(mut kept) = WORK.try_lock()
        && kept.len() < KEPT
    {
        kept.push(work);
    }
    result
}

/// The options of one side of a connection. Its methods do this side's part of the handshake. In
/// `encoder` and `decoder`, Python passes the window bits and whether the window is kept between
/// messages.
#[pyclass(frozen, module = "pylinerate._pylinerate")]
pub(crate) struct WebsocketOptions {
    options: Options,
}

#[pymethods]
impl WebsocketOptions {
    #[new]
    #[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        py: Python<'_>,
        encoder: (u8, bool),
        decoder: (u8, bool),
        level: u8,
        smallest: usize,
        remember_prepared: bool,
        message_limit: u64,
        ratio_limit: u32,
    ) -> PyResult<Self> {
        let direction = |(window_bits, takeover)| match window_bits {
            8..=15 => Ok(Direction { window_bits, takeover }),
            _ => Err(raise(py, Error::new(Kind::BadArgument, 0, "window bits must be 8 to 15"))),
        };
        let level = Level::from_number(level).map_err(|e| raise(py, e))?;
        let (encoder, decoder) = (direction(encoder)?, direction(decoder)?);
        let options =
            Options { encoder, decoder, level, smallest, remember_prepared, message_limit, ratio_limit };
        Ok(WebsocketOptions { options })
    }

    /// The offers of a client with these options, as the value of the header
    /// `Sec-WebSocket-Extensions`.
    fn offer(&self) -> String {
        offer(&self.options)
    }

    /// The answer of a server to the header `offer`, and the codec of the server's side. None if
    /// no offer in the header can be accepted.
    fn answer(&self, py: Python<'_>, offer: &str) -> PyResult<Option<(String, WebsocketCodec)>> {
        let Some((agreement, header)) = answer(&self.options, offer) else { return Ok(None) };
        Ok(Some((header, self.codec(py, agreement, Role::Server)?)))
    }

    /// The codec of the client's side, from the server's `answer`. None if the server has declined.
    ///
    /// Raises
    /// ------
    /// Error
    ///     If the answer fits no offer, or accepts two.
    fn agree(&self, py: Python<'_>, answer: &str) -> PyResult<Option<WebsocketCodec>> {
        let agreement = agree(&self.options, answer).map_err(|e| raise(py, e))?;
        agreement.map(|agreement| self.codec(py, agreement, Role::Client)).transpose()
    }
}

impl WebsocketOptions {
    fn codec(&self, py: Python<'_>, agreement: Agreement, role: Role) -> PyResult<WebsocketCodec> {
        let Options { level, smallest, remember_prepared, .. } = self.options;
        let encoder = Encoder::new(agreement.encoder(role), level).map_err(|e| raise(py, e))?;
        let encoder = encoder.remember_prepared(remember_prepared);
        let decoder = Decoder::new(agreement.decoder(role), &self.options).map_err(|e| raise(py, e))?;
        let (encoder, decoder) = (Mutex::new(encoder), Mutex::new(decoder));
        Ok(WebsocketCodec { agreement, smallest, encoder, decoder })
    }
}

/// A message for many connections. It is compressed once for each window size among them, when it
/// is encoded for the first connection with that size.
#[pyclass(frozen, module = "pylinerate._pylinerate")]
pub(crate) struct WebsocketPrepared(Prepared);

#[pymethods]
impl WebsocketPrepared {
    #[new]
    fn new(py: Python<'_>, payload: Frame<'_>, level: u8) -> PyResult<Self> {
        let level = Level::from_number(level).map_err(|e| raise(py, e))?;
        Ok(WebsocketPrepared(Prepared::binary(payload.bytes()).level(level)))
    }
}

/// The encoder and decoder of one connection, each with a lock of its own. A thread that holds one
/// of these locks never waits for the interpreter's lock.
#[pyclass(frozen, module = "pylinerate._pylinerate")]
pub(crate) struct WebsocketCodec {
    agreement: Agreement,
    smallest: usize,
    encoder: Mutex<Encoder>,
    decoder: Mutex<Decoder>,
}

#[pymethods]
impl WebsocketCodec {
    /// Encodes a whole message. Returns None if it has fewer bytes than the option `smallest` or
    /// would not become smaller, and so must be sent uncompressed.
    fn encode<'py>(&self, py: Python<'py>, data: Frame<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let data = data.bytes();
        if data.len() < self.smallest {
            return Ok(None);
        }
        with_work(|Work { scratch, .. }| {
            let encoded = released(py, data.len(), || lock(&self.encoder).message(scratch, data));
            encoded.map_err(|e| raise(py, e))?.map(|encoded| copied(py, encoded)).transpose()
        })
    }

    /// Encodes a prepared message. Returns None if it must be sent uncompressed, as `encode` does.
    ///
    /// Keeps the interpreter's lock, even if it has to compress the message. If a broadcast to many
    /// connections released the lock for each of them, another thread could take it for 5 ms each
    /// time.
    fn encode_prepared<'py>(
        &self,
        py: Python<'py>,
        message: &WebsocketPrepared,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let message = &message.0;
        if message.payload().len() < self.smallest {
            return Ok(None);
        }
        with_work(|Work { scratch, .. }| {
            let encoded = lock(&self.encoder).prepared(scratch, message);
            encoded.map(|encoded| copied(py, encoded)).transpose()
        })
    }

    /// Encodes a fragment of a message. `is_last` tells that the fragment ends its message.
    fn encode_part<'py>(
        &self,
        py: Python<'py>,
        data: Frame<'py>,
        is_last: bool,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let data = data.bytes();
        with_work(|Work { scratch, .. }| {
            let encoded = released(py, data.len(), || lock(&self.encoder).part(scratch, data, is_last));
            copied(py, encoded.map_err(|e| raise(py, e))?)
        })
    }

    /// Decodes a fragment of a message, or a whole message if that is one frame. `is_last` tells
    /// that the fragment ends its message.
    ///
    /// Raises
    /// ------
    /// Error
    ///     The kind is "corrupt" for damaged data. It is "limit exceeded" if the fragment decodes
    ///     to more than `max_size` bytes, the message exceeds a limit of the options, or memory
    ///     runs out. The connection cannot be used any more.
    fn decode<'py>(
        &self,
        py: Python<'py>,
        data: Frame<'py>,
        is_last: bool,
        max_size: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let data = data.bytes();
        with_work(|Work { scratch, out }| {
            let decoded = released(py, data.len(), || {
                lock(&self.decoder).part_to_buffer(scratch, data, is_last, out, max_size)
            });
            let len = decoded.map_err(|e| raise(py, e))?;
            copied(py, &out[..len])
        })
    }

    /// Window bits of the server's messages and whether the window is kept between them, then the
    /// same for the client's messages.
    #[getter]
    fn agreement(&self) -> (u8, bool, u8, bool) {
        let Agreement { server, client } = self.agreement;
        (server.window_bits, server.takeover, client.window_bits, client.takeover)
    }

    /// Bytes of memory that this connection holds, without the working memory and the prepared
    /// messages that connections share.
    #[getter]
    fn memory(&self, py: Python<'_>) -> usize {
        let own = size_of::<Self>() - size_of::<Encoder>() - size_of::<Decoder>();
        own + py.detach(|| lock(&self.encoder).memory() + lock(&self.decoder).memory())
    }
}

/// Runs `job`, which works on `bytes` bytes. Releases the interpreter's lock meanwhile if these are
/// at least [`RELEASE_LOCK_FROM`].
fn released<T: Send>(py: Python<'_>, bytes: usize, job: impl FnOnce() -> T + Send) -> T {
    if bytes < RELEASE_LOCK_FROM { job() } else { py.detach(job) }
}
