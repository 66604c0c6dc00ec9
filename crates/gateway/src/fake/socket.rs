//! Connections none of whose calls wait for long.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tungstenite::{Error, Message, WebSocket};

use super::server::Shared;

/// The longest that a call waits before it looks whether the server is to stop, with few connections.
pub(super) const TICK: Duration = Duration::from_millis(25);
/// The same for writing, which waits only for clients that do not read.
const WRITE_TICK: Duration = Duration::from_millis(100);
/// How much longer than asked what is under way goes on: one reading without waiting, say.
const AFTER: Duration = Duration::from_millis(5);
const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);
/// Time for the end of a connection, and when the server is to stop.
const LAST_WORDS: Duration = Duration::from_millis(500);
const LAST_WORDS_AT_STOP: Duration = Duration::from_millis(200);
/// Bytes that are read and ignored at the end of a connection.
const MOST_IGNORED: usize = 1 << 20;

/// The time from now, within reason: scripts may say never.
pub(super) fn after(time: Duration) -> Instant {
    Instant::now() + time.min(YEAR)
}

/// A stream whose calls return soon, with [`ErrorKind::WouldBlock`] if there is nothing to read or no room to
/// write. Whoever writes looks between calls whether to go on.
pub(super) struct Patient {
    stream: TcpStream,
    shared: Arc<Shared>,
    until: Instant,
    /// Whether this is its end, which has a short time of its own.
    ending: bool,
}

impl Patient {
    pub(super) fn new(stream: TcpStream, shared: Arc<Shared>) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(WRITE_TICK))?;
        Ok(Patient { stream, shared, until: Instant::now(), ending: false })
    }

    /// Sets until when to wait.
    pub(super) fn wait_until(&mut self, until: Instant) {
        self.until = until;
    }

    pub(super) fn is_over(&self) -> bool {
        self.shared.is_over()
    }

    pub(super) fn is_late(&self) -> bool {
        Instant::now() >= self.until
    }

    /// Whether writing is to be given up, because it takes too long or the server is to stop.
    pub(super) fn gives_up(&self) -> bool {
        self.is_late() || self.is_over() && !self.ending
    }

    /// Begins its end; returns when that must be over, also if the server is to stop.
    fn begin_end(&mut self) -> Instant {
        self.ending = true;
        let most = if self.is_over() { LAST_WORDS_AT_STOP } else { LAST_WORDS };
        let until = after(self.shared.script.bounds.patience.min(most));
        self.wait_until(until);
        until
    }

    /// Ends the connection in good order: a client that is still sending gets to read what was sent.
    pub(super) fn linger(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Write);
        self.begin_end();
        let (mut piece, mut ignored) = ([0; 4096], 0);
        while ignored < MOST_IGNORED && !self.is_late() {
            match self.read(&mut piece) {
                Ok(n @ 1..) => ignored += n,
                Err(e) if is_timeout(&e) => {}
                _ => return,
            }
        }
    }

    /// Ends the connection at once.
    fn cut(&self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

/// Whether a call had nothing to read, or no room to write, in its time.
pub(super) fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

impl Read for Patient {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let now = Instant::now();
        let wait = self.until.saturating_duration_since(now).min(self.shared.tick());
        if now > self.until + AFTER {
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

impl Write for Patient {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        // tungstenite writes on as long as something goes out, however slowly.
        if Instant::now() > self.until + AFTER || self.is_over() && !self.ending {
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
pub(super) enum End {
    /// The client closed with a code, or 1005 without one, or is gone.
    Client(Option<u16>),
    /// The server closes.
    Server(u16, &'static str),
    /// The server cuts the connection.
    Cut,
}

/// A websocket.
pub(super) struct Socket {
    socket: WebSocket<Patient>,
    patience: Duration,
}

impl Socket {
    /// Takes over behind the handshake. `rest` came with it; `largest` is the largest payload to be sent.
    pub(super) fn new(stream: Patient, rest: Vec<u8>, largest: usize) -> Self {
        let bounds = stream.shared.script.bounds;
        // Pings that cannot be answered must not pile up. Deflate and zstd add little to what does not
        // compress.
        let config = WebSocketConfig::default()
            .read_buffer_size(4 << 10)
            .write_buffer_size(0)
            .max_write_buffer_size(largest + largest / 8 + (64 << 10))
            .max_message_size(Some(bounds.message))
            .max_frame_size(Some(bounds.message));
        let socket = WebSocket::from_partially_read(stream, rest, Role::Server, Some(config));
        Socket { socket, patience: bounds.patience }
    }

    /// What the client sent, if something comes in this time.
    pub(super) fn receive(&mut self, wait: Duration) -> Result<Option<Vec<u8>>, End> {
        self.socket.get_mut().wait_until(after(wait));
        match self.socket.read() {
            Ok(Message::Text(text)) => Ok(Some(text.as_bytes().to_vec())),
            Ok(Message::Binary(bytes)) => Ok(Some(bytes.to_vec())),
            Ok(Message::Close(frame)) => {
                self.socket.get_mut().wait_until(after(self.patience));
                let _ = self.socket.flush();
                Err(End::Client(Some(frame.map_or(1005, |frame| frame.code.into()))))
            }
            Ok(_) => Ok(None),
            Err(Error::Io(e)) if is_timeout(&e) => Ok(None),
            Err(Error::Capacity(_)) => Err(End::Server(1009, "the message is too long")),
            Err(Error::Protocol(_) | Error::Utf8(_) | Error::AttackAttempt) => {
                Err(End::Server(1002, "this is no websocket message"))
            }
            Err(_) => Err(End::Client(None)),
        }
    }

    /// Sends, as fast as the client reads.
    pub(super) fn send(&mut self, message: Message) -> Result<(), End> {
        self.socket.get_mut().wait_until(after(self.patience));
        let mut done = self.socket.write(message);
        loop {
            match done {
                Ok(()) => break,
                Err(Error::Io(e)) if is_timeout(&e) && !self.socket.get_ref().gives_up() => {
                    done = self.socket.flush();
                }
                Err(_) => return Err(End::Client(None)),
            }
        }
        Ok(())
    }

    /// Ends the connection.
    pub(super) fn end(mut self, end: End) {
        match end {
            End::Cut => self.socket.get_ref().cut(),
            End::Client(_) => self.socket.get_mut().linger(),
            End::Server(code, reason) => self.close(code, reason),
        }
    }

    /// Says why, and waits a little for the client to say the same.
    fn close(&mut self, code: u16, reason: &'static str) {
        let until = self.socket.get_mut().begin_end();
        let frame = CloseFrame { code: CloseCode::from(code), reason: reason.into() };
        let mut done = self.socket.close(Some(frame));
        while let Err(Error::Io(e)) = &done
            && is_timeout(e)
            && !self.socket.get_ref().gives_up()
        {
            done = self.socket.flush();
        }
        while done.is_ok() && Instant::now() < until {
            self.socket.get_mut().wait_until(Instant::now() + TICK);
            match self.socket.read() {
                Ok(_) => {}
                Err(Error::Io(e)) if is_timeout(&e) => {}
                Err(_) => break,
            }
        }
        self.socket.get_mut().linger();
    }
}
