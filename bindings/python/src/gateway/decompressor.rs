//! The decompressor of a connection.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use linerate_core::{Error, Kind};
use linerate_gateway::{Checks, Limits, ScratchPool, Session, Transport};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use super::connection::{Connection, Last, Refusal};
use super::envelope::{Members, encoding_of};
use super::frame::Frame;
use crate::error::{output_too_small, raise, raise_fault};
use crate::kernel::buffers::Output;
use crate::kernel::bytes::copied;

/// Working memory for all connections of the process. One thread with an event loop uses one of it.
static SCRATCH: ScratchPool = ScratchPool::new(16);
/// Compressed bytes from which on other Python threads run meanwhile. Letting them costs more than
/// decoding fewer does: who takes over may keep the interpreter for 5 ms.
const LARGE: usize = 16 << 10;
/// Windows that a zstd frame can have.
const WINDOW_LOGS: std::ops::RangeInclusive<u8> = 10..=27;

/// The part of `pylinerate.gateway.Decompressor` that is called for each message.
#[pyclass(frozen, subclass, weakref, module = "pylinerate._pylinerate")]
pub(crate) struct GatewayDecompressor {
    /// Whether a call that changes the connection is under way.
    busy: AtomicBool,
    /// Locked for as long as one decodes or looks, never while waiting for the interpreter.
    connection: Mutex<Connection>,
}

#[pymethods]
impl GatewayDecompressor {
    #[new]
    #[pyo3(signature = (
        kind, *, max_message=67_108_864, window_log=16, checks=None, sequence=false, recent=None
    ))]
    fn new(
        kind: &str,
        max_message: usize,
        window_log: u8,
        checks: Option<&str>,
        sequence: bool,
        recent: Option<(usize, usize)>,
    ) -> PyResult<Self> {
        let limits = limits_of(max_message, window_log)?;
        let mut session = Session::new(transport_of(kind)?, limits).with_checks(checks_of(checks, sequence)?);
        if let Some((messages, bytes)) = recent {
            session = session.with_recent(messages, bytes);
        }
        let connection = Mutex::new(Connection::new(session));
        Ok(GatewayDecompressor { busy: AtomicBool::new(false), connection })
    }

    /// Decompresses what one websocket message brought.
    ///
    /// Parameters
    /// ----------
    /// data : buffer
    ///     The whole content of a binary websocket message.
    ///
    /// Returns
    /// -------
    /// bytes or None
    ///     The payload; None if it was only a part of a message, as zlib streams may send them.
    ///
    /// Raises
    /// ------
    /// GatewayError
    ///     If the stream is damaged, cut off or above the limits. Every further call raises it, too, until
    ///     `reset`.
    /// RuntimeError
    ///     If another thread uses the decompressor at this moment. Nothing is lost or changed by that.
    fn decompress<'py>(&self, py: Python<'py>, data: Frame<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        self.receive(py, &data, |payload| copied(py, payload))
    }

    /// The same as text: the payload as a string, without a copy as bytes in between.
    ///
    /// Raises
    /// ------
    /// GatewayError, RuntimeError
    ///     As `decompress`.
    /// UnicodeDecodeError
    ///     If the payload is not UTF-8. It is not lost: `decompress` with the same data returns it.
    fn decompress_text<'py>(
        &self,
        py: Python<'py>,
        data: Frame<'py>,
    ) -> PyResult<Option<Bound<'py, PyString>>> {
        self.receive(py, &data, |payload| PyString::from_bytes(py, payload))
    }

    /// Decompresses into the start of `out`, a writeable buffer of bytes.
    ///
    /// Returns
    /// -------
    /// int or None
    ///     Bytes of the payload; None if the message is not whole. What is behind them in `out` stays.
    ///
    /// Raises
    /// ------
    /// GatewayError, RuntimeError
    ///     As `decompress`.
    /// Error
    ///     Of the kind "output too small" if `out` is; `needed` says how many bytes it takes. Nothing is
    ///     written then, and the message is not lost: call again with the same data.
    fn decompress_into(&self, py: Python<'_>, data: Frame<'_>, mut out: Output) -> PyResult<Option<usize>> {
        let room = out.bytes_mut([data.bytes()])?;
        self.receive(py, &data, |payload| {
            let start = room.get_mut(..payload.len()).ok_or_else(|| output_too_small(py, payload.len()))?;
            start.copy_from_slice(payload);
            Ok(payload.len())
        })
    }

    /// Begins a new connection, also one that resumes an old one: history, parts of messages, counts,
    /// recent messages and the error are forgotten.
    fn reset(&self) -> PyResult<()> {
        let _busy = self.enter()?;
        self.lock().reset();
        Ok(())
    }

    /// Tells the last sequence number before this connection, when one is resumed that broke off. Call it
    /// after `reset`; it matters for the check of sequence numbers alone.
    fn resume_after(&self, sequence: u64) -> PyResult<()> {
        let _busy = self.enter()?;
        self.lock().resume_after(sequence);
        Ok(())
    }

    /// The recent messages, as they came over the wire and when, as a file that `linerate gateway replay`
    /// reads. It begins in the middle of the connection if some were forgotten; then they cannot be decoded
    /// again.
    ///
    /// Raises
    /// ------
    /// Error
    ///     If the decompressor was not told to keep any.
    fn recording<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let what = "no messages are kept: make the decompressor with recent=(messages, bytes)";
        let file = self.look(py, |connection| connection.session().recording());
        let file = file.ok_or_else(|| raise(py, Error::new(Kind::BadArgument, 0, what)))?;
        copied(py, &file)
    }

    /// "zlib-stream" or "zstd-stream": the name in the `compress` parameter of the gateway's address.
    #[getter]
    fn kind(&self, py: Python<'_>) -> &'static str {
        self.look(py, |connection| connection.session().transport().name())
    }

    /// Whole messages of this connection.
    #[getter]
    fn messages(&self, py: Python<'_>) -> u64 {
        self.look(py, Connection::messages)
    }

    /// Compressed bytes of this connection.
    #[getter]
    fn compressed_bytes(&self, py: Python<'_>) -> u64 {
        self.look(py, Connection::consumed)
    }

    /// Bytes held for this connection: history, tables, parts of a message, recent messages. Working memory
    /// that all connections share is not in it.
    #[getter]
    fn memory(&self, py: Python<'_>) -> usize {
        self.look(py, Connection::memory) + size_of::<Self>() - size_of::<Connection>()
    }

    /// What went wrong on this connection, if anything did: the error that every call raises.
    #[getter]
    fn fault(&self, py: Python<'_>) -> Option<PyErr> {
        self.look(py, Connection::fault).map(|fault| raise_fault(py, fault))
    }

    /// Opcode, sequence number and event of the last message.
    fn _envelope(&self, py: Python<'_>) -> Option<Members> {
        let last = self.look(py, |connection| connection.last().cloned());
        last.map(|Last { op, sequence, event }| (op, sequence, event))
    }
}

impl GatewayDecompressor {
    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at the connection, once the message that another thread decodes is done.
    fn look<T: Send>(&self, py: Python<'_>, at: impl FnOnce(&Connection) -> T + Send) -> T {
        if let Ok(connection) = self.connection.try_lock() {
            return at(&connection);
        }
        py.detach(|| at(&self.lock()))
    }

    /// Keeps other threads out, rather than letting messages come in the wrong order.
    fn enter(&self) -> PyResult<Busy<'_>> {
        if self.busy.swap(true, Ordering::Acquire) {
            return Err(PyRuntimeError::new_err("another thread uses the decompressor at this moment"));
        }
        Ok(Busy(&self.busy))
    }

    /// Decodes, and hands over the payload. If that fails the payload is kept for the next call.
    fn receive<T>(
        &self,
        py: Python<'_>,
        frame: &Frame<'_>,
        give: impl FnOnce(&[u8]) -> PyResult<T>,
    ) -> PyResult<Option<T>> {
        let _busy = self.enter()?;
        let frame = frame.bytes();
        let mut loan = SCRATCH.lend();
        let scratch = &mut *loan;
        let payload = if frame.len() < LARGE {
            self.lock().receive(frame, scratch)
        } else {
            py.detach(|| self.lock().receive(frame, scratch))
        };
        let Some(payload) = payload.map_err(|refusal| refused(py, refusal))? else { return Ok(None) };
        match give(&payload) {
            Ok(given) => Ok(Some(given)),
            Err(e) => {
                self.keep(frame, payload);
                Err(e)
            }
        }
    }

    #[cold]
    fn keep(&self, frame: &[u8], payload: Cow<'_, [u8]>) {
        self.lock().keep(frame, payload);
    }
}

/// A call that changes the connection is under way.
struct Busy<'a>(&'a AtomicBool);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

#[cold]
fn refused(py: Python<'_>, refusal: Refusal) -> PyErr {
    let what = "the message before was not handed over: call again with its data, or reset";
    match refusal {
        Refusal::Fault(fault) => raise_fault(py, fault),
        Refusal::NotTheSame => raise(py, Error::new(Kind::BadArgument, 0, what)),
    }
}

fn transport_of(name: &str) -> PyResult<Transport> {
    name.parse().map_err(|_| {
        PyValueError::new_err(format!("kind is {name:?}, but must be \"zlib-stream\" or \"zstd-stream\""))
    })
}

fn limits_of(max_message: usize, window_log: u8) -> PyResult<Limits> {
    if !WINDOW_LOGS.contains(&window_log) {
        return Err(PyValueError::new_err(format!("window_log is {window_log}, but must be 10 to 27")));
    }
    Ok(Limits::new().with_max_message(max_message).with_window_log(window_log))
}

fn checks_of(name: Option<&str>, sequence: bool) -> PyResult<Checks> {
    match name {
        Some(name) => {
            let checks = Checks::complete(encoding_of(name)?);
            Ok(if sequence { checks.with_sequence() } else { checks })
        }
        None if sequence => Err(PyValueError::new_err("sequence numbers are found by checks, which is None")),
        None => Ok(Checks::NONE),
    }
}
