//! The server: its listener and its threads.

use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use linerate_gateway::{Encoding, Transport};

use crate::connection::Connection;
use crate::report::Report;
use crate::request::{HttpError, Request, parse_digits};
use crate::script::Script;
use crate::socket::{DeadlineStream, Socket, deadline_in};
use crate::state::ServerState;
use crate::wire_format::WireFormat;
use crate::{request, rest};

/// Interval between polls of the listener while no clients connect, and of the number of clients at
/// the end.
const ACCEPT_POLL: Duration = Duration::from_millis(5);
/// Interval between polls of the listener for [`BUSY_PERIOD`] after a client has connected, since
/// thousands may connect in a row.
const BUSY_ACCEPT_POLL: Duration = Duration::from_micros(100);
const BUSY_PERIOD: Duration = Duration::from_millis(50);
/// Stack size of a connection's thread, in bytes. The deepest recursion parses a client's message:
/// at most 128 levels in [`term`](crate::term) or serde_json, which take less than half of the
/// stack.
const STACK_SIZE: usize = 256 << 10;

/// A gateway that listens on 127.0.0.1 only. It runs until it is stopped or dropped, or until its
/// script ends it.
pub struct Server {
    /// Address of the listener.
    pub addr: SocketAddr,
    state: Arc<ServerState>,
    listening: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts a server. Clients can connect once this returns.
    ///
    /// # Errors
    /// Returns errors of the operating system, for example if the port is in use.
    pub fn start(script: Script) -> io::Result<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, script.port))?;
        listener.set_nonblocking(true)?;
        let addr = listener.local_addr()?;
        let salt = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_nanos() as u64);
        let state = Arc::new(ServerState::new(script, format!("ws://{addr}"), salt));
        let thread = Arc::clone(&state);
        let listening =
            std::thread::Builder::new().name("gateway".into()).spawn(move || listen(&listener, &thread))?;
        Ok(Server { addr, state, listening: Some(listening) })
    }

    /// Address for clients: `ws://127.0.0.1:PORT`.
    pub fn url(&self) -> &str {
        &self.state.url
    }

    /// Counts so far.
    pub fn report(&self) -> Report {
        self.state.report()
    }

    /// Whether the script has ended the server.
    pub fn is_finished(&self) -> bool {
        self.state.is_stopping()
    }

    /// Closes all connections, waits for them, and returns the final counts.
    pub fn stop(mut self) -> Report {
        self.end();
        self.state.report()
    }

    /// Waits until the script ends the server, and returns the final counts.
    pub fn wait(mut self) -> Report {
        self.join();
        self.state.report()
    }

    fn end(&mut self) {
        self.state.stop();
        self.join();
    }

    fn join(&mut self) {
        if let Some(listening) = self.listening.take() {
            listening.thread().unpark();
            let _ = listening.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

/// Counts as a client from accept until its thread ends.
struct Client(Arc<ServerState>);

impl Client {
    fn new(state: &Arc<ServerState>) -> Client {
        state.clients.fetch_add(1, Ordering::Relaxed);
        Client(Arc::clone(state))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.0.clients.fetch_sub(1, Ordering::Release);
    }
}

/// Accepts clients until the server stops, then waits for their threads.
fn listen(listener: &TcpListener, state: &Arc<ServerState>) {
    let begun = Instant::now();
    let mut last = None::<Instant>;
    while !state.is_stopping() {
        match listener.accept() {
            Ok((stream, _)) => {
                spawn_client(stream, state);
                last = Some(Instant::now());
            }
            Err(_) if last.is_some_and(|last| last.elapsed() < BUSY_PERIOD) => {
                std::thread::park_timeout(BUSY_ACCEPT_POLL);
            }
            Err(_) => std::thread::park_timeout(ACCEPT_POLL),
        }
        let done = state.script.once && state.sessions.all_ended();
        if done || begun.elapsed() >= state.script.max_duration {
            state.stop();
        }
    }
    while state.clients.load(Ordering::Acquire) > 0 {
        std::thread::sleep(ACCEPT_POLL);
    }
}

/// Starts a client's thread. Closes the connection without an answer if there are too many clients,
/// or if no thread can be started.
fn spawn_client(stream: TcpStream, state: &Arc<ServerState>) {
    let client = Client::new(state);
    let reject = || state.count(|report| report.refused += 1);
    if state.clients.load(Ordering::Relaxed) > state.script.limits.connections {
        return reject();
    }
    let thread = std::thread::Builder::new().name("client".into()).stack_size(STACK_SIZE);
    if thread.spawn(move || serve(stream, &client.0)).is_err() {
        reject();
    }
}

/// Serves one connection.
fn serve(stream: TcpStream, state: &Arc<ServerState>) {
    // On some systems an accepted socket inherits the non-blocking mode of its listener.
    if stream.set_nonblocking(false).is_err() {
        return;
    }
    let Ok(mut stream) = DeadlineStream::new(stream, Arc::clone(state)) else { return };
    match request::read(&mut stream, state.script.limits.timeout) {
        Ok(None) => state.count(|report| report.refused += 1),
        Ok(Some(request)) if request.is_websocket() => websocket(stream, request, state),
        Ok(Some(request)) => {
            state.count(|report| report.requests += 1);
            rest::serve(&mut stream, &request, state);
        }
        Err(error) => reject(&mut stream, error, state),
    }
}

fn reject(stream: &mut DeadlineStream, error: HttpError, state: &ServerState) {
    state.count(|report| report.refused += 1);
    rest::reject(stream, error, state);
}

fn websocket(mut stream: DeadlineStream, request: Request, state: &Arc<ServerState>) {
    let format = match accept(&mut stream, &request, state) {
        Ok(format) => format,
        Err(error) => return reject(&mut stream, error, state),
    };
    state.count(|report| report.connections += 1);
    let number = state.connections.fetch_add(1, Ordering::Relaxed);
    let version = request.parameter("v").map(|version| parse_digits(version).unwrap_or(0));
    let socket = Socket::new(stream, request.rest);
    Connection::new(Arc::clone(state), number, socket, format).run(version);
}

/// Answers the websocket handshake, if the server supports the requested encoding and compression;
/// otherwise returns the error to answer.
fn accept(
    stream: &mut DeadlineStream,
    request: &Request,
    state: &ServerState,
) -> Result<WireFormat, HttpError> {
    let key = request.websocket_key()?;
    let encoding = match request.parameter("encoding") {
        None | Some("json") => Encoding::Json,
        Some("etf") => Encoding::Etf,
        Some(_) => return Err(HttpError::new(400, "encoding must be json, etf or absent")),
    };
    let compress = request.parameter("compress").filter(|name| !name.is_empty());
    let transport = compress.map(str::parse::<Transport>).transpose();
    let transport = transport.map_err(|_| {
        HttpError::new(400, "compress must be absent or name a transport, such as zstd-stream")
    })?;
    let format = WireFormat::new(encoding, transport, state.script.fragment);
    let format = format.map_err(|_| HttpError::new(503, "out of memory"))?;
    let accept = tungstenite::handshake::derive_accept_key(key.as_bytes());
    let answer = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {accept}\r\n\r\n"
    );
    stream.set_deadline(deadline_in(state.script.limits.timeout));
    stream.write_all(answer.as_bytes()).map_err(|_| HttpError::new(408, "the client does not read"))?;
    Ok(format)
}
