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

/// Smallest message for which the interpreter's lock is released, in bytes. For shorter messages,
/// releasing takes longer than the work: another thread may keep the lock for 5 ms.
const RELEASE_LOCK_FROM: usize = 16 << 10;
/// Largest output buffer that is kept for the next message, in bytes.
const KEPT_BUFFER: usize = 1 << 20;
/// Number of working memories that are kept, and so of threads that can work at the same time
/// without allocating.
const KEPT: usize = 16;

/// Working memory of one thread while it encodes or decodes.
#[derive(Default)]
struct Work {
    scratch: Scratch,
    out: Vec<u8>,
}

static WORK: Mutex<Vec<Work>> = Mutex::new(Vec::new());

/// Runs `job` with working memory from the process's pool, or with new memory if the pool is empty
/// or locked. Never waits for the lock: a process that was forked while another thread held it
/// would wait for ever.
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

/// The options of one side of a connection, and its part of the handshake.
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

    /// A client's offers, as the value of `Sec-WebSocket-Extensions`.
    fn offer(&self) -> String {
        offer(&self.options)
    }

    /// A server's answer to `offer`, and its codec; None if no offer can be accepted.
    fn answer(&self, py: Python<'_>, offer: &str) -> PyResult<Option<(String, WebsocketCodec)>> {
        let Some((agreement, header)) = answer(&self.options, offer) else { return Ok(None) };
        Ok(Some((header, self.codec(py, agreement, Role::Server)?)))
    }

    /// The client's codec after the server's answer; None if the server has declined.
    ///
    /// Raises
    /// ------
    /// Error
    ///     If the answer fits no offer.
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

/// A message for many connections, compressed once for each window size among them.
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

/// The encoder and decoder of one connection. Their locks are never held while waiting for the
/// interpreter's.
#[pyclass(frozen, module = "pylinerate._pylinerate")]
pub(crate) struct WebsocketCodec {
    agreement: Agreement,
    smallest: usize,
    encoder: Mutex<Encoder>,
    decoder: Mutex<Decoder>,
}

#[pymethods]
impl WebsocketCodec {
    /// Encodes a whole message. None if the message should be sent uncompressed.
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

    /// Encodes a prepared message. None if the message should be sent uncompressed.
    ///
    /// Keeps the interpreter's lock, even when it compresses the message for the first time: if it
    /// released the lock for each of many connections, another thread could take it for 5 ms each
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

    /// Encodes a fragment of a message.
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

    /// Decodes a fragment of a message, or a whole one, to `max_size` bytes at most.
    ///
    /// Raises
    /// ------
    /// Error
    ///     The kind is "corrupt" or "limit exceeded". The connection cannot be used any more.
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

    /// Bytes of memory that this connection holds.
    #[getter]
    fn memory(&self, py: Python<'_>) -> usize {
        py.detach(|| lock(&self.encoder).memory() + lock(&self.decoder).memory()) + size_of::<Self>()
    }
}

/// Runs `job`, which works on `bytes` bytes, without the interpreter's lock if these are many.
fn released<T: Send>(py: Python<'_>, bytes: usize, job: impl FnOnce() -> T + Send) -> T {
    if bytes < RELEASE_LOCK_FROM { job() } else { py.detach(job) }
}
