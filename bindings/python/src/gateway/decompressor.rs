//! The Python class of a connection's decompressor.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use linerate_core::{Error, Kind, lock};
use linerate_gateway::{Checks, Limits, ScratchPool, Session, Transport};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use super::connection::{Connection, LastEnvelope, ReceiveError};
use super::dictionaries::GatewayDictionaries;
use super::envelope::{Members, encoding_of};
use super::stats::{GatewayStats, GatewayStatsRecorder};
use super::trim::closed;
use crate::error::{output_too_small, raise, raise_session_error};
use crate::frame::Frame;
use crate::sys::buffers::Output;
use crate::sys::bytes::copied;

/// Working memory that all connections of the process share. Each thread uses one item of the pool
/// while it decodes a message, so a single event loop needs only one.
pub(super) static SCRATCH: ScratchPool = ScratchPool::new(16);
/// Smallest websocket message for which the interpreter's lock is released, in compressed bytes.
/// For smaller ones, releasing the lock takes longer than decoding, because another thread may then
/// keep it for 5 ms.
const RELEASE_LOCK_FROM: usize = 16 << 10;
/// Values that the option `window_log` may have: base-2 logarithms of zstd windows in bytes.
const WINDOW_LOGS: std::ops::RangeInclusive<u8> = 10..=27;

/// The base class of `pylinerate.gateway.Decompressor`, which has its native methods.
#[pyclass(frozen, subclass, weakref, module = "pylinerate._pylinerate")]
pub(crate) struct GatewayDecompressor {
    /// Whether a call that changes the connection is in progress.
    busy: AtomicBool,
    /// The connection. A thread that has it locked never waits for the interpreter's lock.
    connection: Mutex<Connection>,
    /// The recorder of statistics, and the number that it gave this connection.
    recorder: Option<(Py<GatewayStatsRecorder>, u32)>,
}

#[pymethods]
impl GatewayDecompressor {
    #[new]
    #[pyo3(signature = (
        kind, *, max_message=67_108_864, window_log=16, checks=None, sequence=false, recent=None,
        dictionaries=None, stats=None
    ))]
    #[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        py: Python<'_>,
        kind: &str,
        max_message: usize,
        window_log: u8,
        checks: Option<&str>,
        sequence: bool,
        recent: Option<(usize, usize)>,
        dictionaries: Option<PyRef<'_, GatewayDictionaries>>,
        stats: Option<Py<GatewayStatsRecorder>>,
    ) -> PyResult<Self> {
        let limits = limits_of(max_message, window_log)?;
        let mut session = Session::new(transport_of(kind)?, limits).checks(checks_of(checks, sequence)?);
        if let Some((messages, bytes)) = recent {
            session = session.keep_recent(messages, bytes);
        }
        if let Some(dictionaries) = dictionaries {
            if session.transport() != Transport::ZstdFrame {
                return Err(PyValueError::new_err("dictionaries are for the kind \"zstd-frame\" alone"));
            }
            session = session.dictionaries(Arc::clone(&dictionaries.0));
        }
        let mut recorder = None;
        if let Some(stats) = stats {
            let connection = stats.get().connection(py);
            recorder = Some((stats, connection.number()));
            session = session.record_stats(connection);
        }
        let connection = Mutex::new(Connection::new(session));
        Ok(GatewayDecompressor { busy: AtomicBool::new(false), connection, recorder })
    }

    /// Decompresses the content of one websocket message.
    ///
    /// Parameters
    /// ----------
    /// data : buffer
    ///     The whole content of a binary websocket message.
    ///
    /// Returns
    /// -------
    /// bytes or None
    ///     The payload. None if the message is incomplete, since zlib streams may split a message
    ///     into several websocket messages.
    ///
    /// Raises
    /// ------
    /// GatewayError
    ///     If the data is damaged, truncated or above the limits, or needs a dictionary that is not
    ///     there. With a stream, every further call raises the error too, until `reset`. If each
    ///     message is compressed on its own, the next message decodes again.
    /// Error
    ///     If an earlier payload of a stream could not be delivered, and `data` is not that message
    ///     again. The kind is "bad argument". Nothing changes.
    /// RuntimeError
    ///     If another thread is using the decompressor at this moment. Nothing changes.
    fn decompress<'py>(&self, py: Python<'py>, data: Frame<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        self.receive(py, &data, |payload| copied(py, payload))
    }

    /// Decompresses the content of one websocket message to a string, without making a `bytes`
    /// object first. Returns None if the message is incomplete.
    ///
    /// Raises
    /// ------
    /// GatewayError, Error, RuntimeError
    ///     The errors of `decompress`.
    /// UnicodeDecodeError
    ///     If the payload is not UTF-8. The payload is not lost: `decompress` with the same data
    ///     returns it.
    fn decompress_text<'py>(
        &self,
        py: Python<'py>,
        data: Frame<'py>,
    ) -> PyResult<Option<Bound<'py, PyString>>> {
        self.receive(py, &data, |payload| PyString::from_bytes(py, payload))
    }

    /// Decompresses the content of one websocket message into the start of `out`, a writeable
    /// buffer of bytes.
    ///
    /// Returns
    /// -------
    /// int or None
    ///     Length of the payload in bytes; None if the message is incomplete. The rest of `out` is
    ///     unchanged.
    ///
    /// Raises
    /// ------
    /// GatewayError, Error, RuntimeError
    ///     The errors of `decompress`. There is also an Error if `out` is too small: its kind is
    ///     "output too small", and its attribute `needed` is the number of bytes required. Nothing
    ///     is written then, and the message is not lost: call again with the same data.
    /// ValueError, TypeError
    ///     If `out` is not writeable or not C-contiguous; if it has other elements than bytes.
    fn decompress_into(&self, py: Python<'_>, data: Frame<'_>, mut out: Output) -> PyResult<Option<usize>> {
        let output = out.bytes_mut([data.bytes()])?;
        self.receive(py, &data, |payload| {
            let start = output.get_mut(..payload.len()).ok_or_else(|| output_too_small(py, payload.len()))?;
            start.copy_from_slice(payload);
            Ok(payload.len())
        })
    }

    /// Prepares for a new connection, including one that resumes an old session: clears the
    /// history, fragments, an undelivered message, the envelope, counters, the last sequence
    /// number, recent messages and the error. The statistics of a recorder go on.
    ///
    /// Raises
    /// ------
    /// RuntimeError
    ///     If another thread is using the decompressor at this moment. Nothing changes.
    fn reset(&self) -> PyResult<()> {
        let _busy = self.enter()?;
        self.lock().reset();
        Ok(())
    }

    /// Sets the last sequence number that was received before this connection, when a session is
    /// resumed. Call this method after `reset`, which clears the number. Only the check `sequence`
    /// uses the number.
    ///
    /// Raises
    /// ------
    /// RuntimeError
    ///     If another thread is using the decompressor at this moment. Nothing changes.
    fn resume_after(&self, sequence: u64) -> PyResult<()> {
        let _busy = self.enter()?;
        self.lock().resume_after(sequence);
        Ok(())
    }

    /// The recent compressed messages with their times of receipt, as a file for `linerate gateway
    /// replay`. If older messages were dropped, the file begins in the middle of the connection. A
    /// stream cannot be decoded again from there; messages that are compressed on their own can.
    ///
    /// Raises
    /// ------
    /// Error
    ///     If the decompressor was created without `recent`, or a kept message has more than 1 GiB.
    fn recording<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let none = "no messages are kept: create the decompressor with recent=(messages, bytes)";
        let too_long = "a kept message has more than 1 GiB, which a recording cannot have";
        let file = self.read(py, |connection| {
            let session = connection.session();
            session.recent().ok_or(Error::new(Kind::BadArgument, 0, none))?;
            session.recording().ok_or(Error::new(Kind::Limit, 0, too_long))
        });
        copied(py, &file.map_err(|error| raise(py, error))?)
    }

    /// The name of the transport, as passed to the constructor. For a stream it is the value of
    /// `compress` in the gateway's URL.
    #[getter]
    fn kind(&self, py: Python<'_>) -> &'static str {
        self.read(py, |connection| connection.session().transport().name())
    }

    /// Number of whole messages since the creation or the last `reset`, without one that was not
    /// delivered. Messages that are compressed on their own count even if they were damaged.
    #[getter]
    fn messages(&self, py: Python<'_>) -> u64 {
        self.read(py, Connection::messages)
    }

    /// Number of compressed bytes received since the creation or the last `reset`, including
    /// fragments, without a message that was not delivered.
    #[getter]
    fn compressed_bytes(&self, py: Python<'_>) -> u64 {
        self.read(py, Connection::consumed)
    }

    /// Bytes of memory held for this connection: history, tables, fragments, recent messages, an
    /// undelivered message. Dictionaries and the working memory, which connections share, are not
    /// counted.
    #[getter]
    fn memory(&self, py: Python<'_>) -> usize {
        self.read(py, Connection::memory) + size_of::<Self>() - size_of::<Connection>()
    }

    /// Statistics of this decompressor's messages. None if it has no recorder, or if the recorder
    /// already had ``max_connections`` connections when this one was created.
    #[getter]
    fn stats(&self, py: Python<'_>) -> Option<GatewayStats> {
        let (recorder, number) = self.recorder.as_ref()?;
        recorder.get().of_connection(py, *number)
    }

    /// The error that ended this connection, which every further call that decompresses raises.
    /// None if there is none. A damaged message that is compressed on its own does not end its
    /// connection.
    #[getter]
    fn error(&self, py: Python<'_>) -> Option<PyErr> {
        self.read(py, Connection::error).map(|error| raise_session_error(py, error))
    }

    /// Opcode, sequence number and event of the last decoded message. None before the first one,
    /// and if payloads are not checked.
    fn _envelope(&self, py: Python<'_>) -> Option<Members> {
        let last = self.read(py, |connection| connection.last().cloned());
        last.map(|LastEnvelope { op, sequence, event }| (op, sequence, event))
    }
}

impl GatewayDecompressor {
    fn lock(&self) -> MutexGuard<'_, Connection> {
        lock(&self.connection)
    }

    /// Calls `read` with the connection. If another thread is decoding a message, first waits for
    /// it, without the interpreter's lock.
    fn read<T: Send>(&self, py: Python<'_>, read: impl FnOnce(&Connection) -> T + Send) -> T {
        if let Ok(connection) = self.connection.try_lock() {
            return read(&connection);
        }
        py.detach(|| read(&self.lock()))
    }

    /// Begins a call that changes the connection, which ends when the result is dropped. If another
    /// thread is in such a call, raises `RuntimeError`. If it waited instead, messages would be
    /// decoded in an arbitrary order.
    fn enter(&self) -> PyResult<Busy<'_>> {
        if self.busy.swap(true, Ordering::Acquire) {
            return Err(PyRuntimeError::new_err("another thread uses the decompressor at this moment"));
        }
        Ok(Busy(&self.busy))
    }

    /// Decodes `frame`, the content of a websocket message, and passes the payload to `deliver`. If
    /// that fails, keeps the payload for the next call. Returns `None` if the message is
    /// incomplete.
    fn receive<T>(
        &self,
        py: Python<'_>,
        frame: &Frame<'_>,
        deliver: impl FnOnce(&[u8]) -> PyResult<T>,
    ) -> PyResult<Option<T>> {
        let _busy = self.enter()?;
        let frame = frame.bytes();
        let mut pooled = SCRATCH.acquire();
        let scratch = &mut *pooled;
        let payload = if frame.len() < RELEASE_LOCK_FROM {
            self.lock().receive(frame, scratch)
        } else {
            py.detach(|| self.lock().receive(frame, scratch))
        };
        let Some(payload) = payload.map_err(|error| raise_receive_error(py, error))? else { return Ok(None) };
        match deliver(&payload) {
            Ok(delivered) => Ok(Some(delivered)),
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

impl Drop for GatewayDecompressor {
    fn drop(&mut self) {
        // The fields are freed just after this method returns, long before the thread that `closed`
        // may start gives free memory back to the system.
        closed();
    }
}

/// Marks, until it is dropped, that a call is changing the connection.
struct Busy<'a>(&'a AtomicBool);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

#[cold]
fn raise_receive_error(py: Python<'_>, error: ReceiveError) -> PyErr {
    let what = "the previous message was not delivered: call again with its data, or reset";
    match error {
        ReceiveError::Session(error) => raise_session_error(py, error),
        ReceiveError::OtherFrame => raise(py, Error::new(Kind::BadArgument, 0, what)),
    }
}

fn transport_of(name: &str) -> PyResult<Transport> {
    name.parse().map_err(|_| {
        let names = Transport::ALL.map(|transport| format!("{:?}", transport.name())).join(", ");
        PyValueError::new_err(format!("kind is {name:?}, but must be one of {names}"))
    })
}

fn limits_of(max_message: usize, window_log: u8) -> PyResult<Limits> {
    if !WINDOW_LOGS.contains(&window_log) {
        return Err(PyValueError::new_err(format!("window_log is {window_log}, but must be 10 to 27")));
    }
    Ok(Limits::new().max_message(max_message).window_log(window_log))
}

fn checks_of(name: Option<&str>, sequence: bool) -> PyResult<Checks> {
    match name {
        Some(name) => {
            let checks = Checks::complete(encoding_of(name)?);
            Ok(checks.sequence(sequence))
        }
        None if sequence => Err(PyValueError::new_err("sequence requires checks, which is None")),
        None => Ok(Checks::NONE),
    }
}
