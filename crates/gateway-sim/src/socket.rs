//! TCP streams and websockets whose calls end at a deadline, or soon after.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tungstenite::{Error, Message, WebSocket};

use crate::state::{ServerState, TICK};

/// Longest wait of a write before it checks whether the server stops. It may be longer than
/// [`TICK`], because writes wait only for clients that do not read.
const WRITE_TICK: Duration = Duration::from_millis(100);
/// How long after the deadline a call still tries to read, without waiting, or to write.
const GRACE: Duration = Duration::from_millis(5);
const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);
/// Longest time for a closing handshake, and for draining a connection before it is closed.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);
/// [`CLOSE_TIMEOUT`] while the server stops.
const CLOSE_TIMEOUT_AT_STOP: Duration = Duration::from_millis(200);
/// Most bytes of answers to pings that wait while the client does not read.
const MAX_PONGS: usize = 64 << 10;
/// Largest header of a websocket frame that a server sends, in bytes.
const MAX_FRAME_HEADER: usize = 10;
/// Largest number of bytes that are read and ignored at the end of a connection.
const MAX_DRAINED: usize = 1 << 20;

/// Returns the time that is `time` from now, or a year if that is less, since scripts may set
/// `Duration::MAX`.
pub(crate) fn deadline_in(time: Duration) -> Instant {
    Instant::now() + time.min(YEAR)
}

/// A stream with a deadline. Reads return within a tick of the server, and writes within
/// [`WRITE_TICK`], with [`ErrorKind::WouldBlock`] if there is nothing to read or the send buffer is
/// full. Writers check [`must_abort`](Self::must_abort) between calls.
pub(crate) struct DeadlineStream {
    stream: TcpStream,
    state: Arc<ServerState>,
    deadline: Instant,
    /// Whether the connection is being closed, for which there is a deadline of its own.
    closing: bool,
}

impl DeadlineStream {
    pub(crate) fn new(stream: TcpStream, state: Arc<ServerState>) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(WRITE_TICK))?;
        Ok(DeadlineStream { stream, state, deadline: Instant::now(), closing: false })
    }

    pub(crate) fn set_deadline(&mut self, deadline: Instant) {
        self.deadline = deadline;
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.state.is_stopping()
    }

    pub(crate) fn is_past_deadline(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// Whether to give up writing, because the deadline has passed or the server stops.
    pub(crate) fn must_abort(&self) -> bool {
        self.is_past_deadline() || self.is_stopping() && !self.closing
    }

    /// Begins to close the connection and returns the deadline, which applies even while the server
    /// stops.
    fn begin_close(&mut self) -> Instant {
        self.closing = true;
        let timeout = if self.is_stopping() { CLOSE_TIMEOUT_AT_STOP } else { CLOSE_TIMEOUT };
        let deadline = deadline_in(self.state.script.limits.timeout.min(timeout));
        self.set_deadline(deadline);
        deadline
    }

    /// Closes the connection in order (lingering close): shuts down writing, then drains what the
    /// client still sends. Otherwise a TCP reset could discard bytes that the client has not read.
    pub(crate) fn linger(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Write);
        self.begin_close();
        let (mut piece, mut drained) = ([0; 4096], 0);
        while drained < MAX_DRAINED && !self.is_past_deadline() {
            match self.read(&mut piece) {
                Ok(n @ 1..) => drained += n,
                Err(e) if is_timeout(&e) => {}
                _ => return,
            }
        }
    }
}

/// Whether a call failed only because it had nothing to read, or could not write, in time.
pub(crate) fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

impl Read for DeadlineStream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let now = Instant::now();
        let wait = self.deadline.saturating_duration_since(now).min(self.state.tick());
        if now > self.deadline + GRACE {
            return Err(ErrorKind::WouldBlock.into());
        }
        if wait.is_zero() {
            self.stream.set_nonblocking(true)?;
            let read = self.stream.read(into);
            self.stream.set_nonblocking(false)?;
            return read;
        }
        self.stream.set_read_timeout(Some(wait))?;
        self.stream.read(into).map_err(|e| match e.kind() {
            ErrorKind::TimedOut => ErrorKind::WouldBlock.into(),
            _ => e,
        })
    }
}

impl Write for DeadlineStream {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        // tungstenite repeats writes as long as any byte is accepted, however slowly.
        if Instant::now() > self.deadline + GRACE || self.is_stopping() && !self.closing {
            return Err(ErrorKind::WouldBlock.into());
        }
        self.stream.write(from).map_err(|e| match e.kind() {
            ErrorKind::TimedOut => ErrorKind::WouldBlock.into(),
            _ => e,
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// Why a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CloseReason {
    /// The client sent a close frame with this code, or with none, which counts as 1005. `None`: it
    /// disconnected, or the server gave up sending to it.
    ByClient(Option<u16>),
    /// The server closes with this code and reason.
    ByServer(u16, &'static str),
    /// The server ends the connection without a close frame. Messages sent before still arrive.
    Abort,
}

/// The server's side of a websocket.
pub(crate) struct Socket {
    socket: WebSocket<DeadlineStream>,
    timeout: Duration,
}

impl Socket {
    /// Takes the connection over after the handshake. `rest` has the bytes received after it.
    pub(crate) fn new(stream: DeadlineStream, rest: Vec<u8>) -> Self {
        let limits = stream.state.script.limits;
        let config = WebSocketConfig::default()
            .read_buffer_size(4 << 10)
            .write_buffer_size(0)
            .max_write_buffer_size(MAX_PONGS)
            .max_message_size(Some(limits.message))
            .max_frame_size(Some(limits.message));
        let socket = WebSocket::from_partially_read(stream, rest, Role::Server, Some(config));
        Socket { socket, timeout: limits.timeout }
    }

    /// Returns the next message of the client, if one arrives within `wait`.
    pub(crate) fn receive(&mut self, wait: Duration) -> Result<Option<Vec<u8>>, CloseReason> {
        self.socket.get_mut().set_deadline(deadline_in(wait));
        match self.socket.read() {
            Ok(Message::Text(text)) => Ok(Some(text.as_bytes().to_vec())),
            Ok(Message::Binary(bytes)) => Ok(Some(bytes.to_vec())),
            Ok(Message::Close(frame)) => {
                self.socket.get_mut().set_deadline(deadline_in(self.timeout));
                let _ = self.socket.flush();
                Err(CloseReason::ByClient(Some(frame.map_or(1005, |frame| frame.code.into()))))
            }
            Ok(_) => Ok(None),
            Err(Error::Io(e)) if is_timeout(&e) => Ok(None),
            Err(Error::Capacity(_)) => Err(CloseReason::ByServer(1009, "the message is too long")),
            Err(Error::Protocol(_) | Error::Utf8(_) | Error::AttackAttempt) => {
                Err(CloseReason::ByServer(1002, "invalid websocket message"))
            }
            Err(_) => Err(CloseReason::ByClient(None)),
        }
    }

    /// Sends a message. Waits for a slow client until the timeout.
    pub(crate) fn send(&mut self, message: Message) -> Result<(), CloseReason> {
        self.socket.get_mut().set_deadline(deadline_in(self.timeout));
        // The write buffer is bounded so that answers to pings do not accumulate. It has room for
        // this message beside them.
        let room = MAX_PONGS + MAX_FRAME_HEADER + message.len();
        self.socket.set_config(|config| config.max_write_buffer_size = room);
        let mut done = self.socket.write(message);
        loop {
            match done {
                Ok(()) => break,
                Err(Error::Io(e)) if is_timeout(&e) && !self.socket.get_ref().must_abort() => {
                    done = self.socket.flush();
                }
                Err(_) => return Err(CloseReason::ByClient(None)),
            }
        }
        self.socket.set_config(|config| config.max_write_buffer_size = MAX_PONGS);
        Ok(())
    }

    /// Ends the connection.
    pub(crate) fn end(mut self, reason: CloseReason) {
        match reason {
            CloseReason::Abort | CloseReason::ByClient(_) => self.socket.get_mut().linger(),
            CloseReason::ByServer(code, reason) => self.close(code, reason),
        }
    }

    /// Sends a close frame and waits a short time for the client's close frame.
    fn close(&mut self, code: u16, reason: &'static str) {
        let deadline = self.socket.get_mut().begin_close();
        let frame = CloseFrame { code: CloseCode::from(code), reason: reason.into() };
        let mut done = self.socket.close(Some(frame));
        while let Err(Error::Io(e)) = &done
            && is_timeout(e)
            && !self.socket.get_ref().must_abort()
        {
            done = self.socket.flush();
        }
        while done.is_ok() && Instant::now() < deadline {
            self.socket.get_mut().set_deadline(Instant::now() + TICK);
            match self.socket.read() {
                Ok(_) => {}
                Err(Error::Io(e)) if is_timeout(&e) => {}
                Err(_) => break,
            }
        }
        self.socket.get_mut().linger();
    }
}
