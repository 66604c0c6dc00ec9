//! The server: its listener, its threads, its end.

use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use super::connection::Connection;
use super::line::Line;
use super::report::Report;
use super::request::{Refused, Request};
use super::script::Script;
use super::sessions::Sessions;
use super::socket::{Patient, Socket, TICK, after};
use super::{request, rest};
use crate::checks::Encoding;
use crate::transport::Transport;

/// How often the server looks for new clients.
const GLANCE: Duration = Duration::from_millis(5);
/// The same for a while behind one, since thousands come one behind the other; and that while.
const QUICK_GLANCE: Duration = Duration::from_micros(100);
const WHILE: Duration = Duration::from_millis(50);
/// Connections that may wake up once in a [`TICK`]. With more of them each does so less often, so that
/// thousands that rest cost next to nothing.
const WAKEFUL: usize = 100;
/// Stack of a connection's thread. What is deep are a client's messages: [`term`](super::term) and
/// serde_json follow 128 levels, which take less than half of it.
const STACK: usize = 256 << 10;
/// Room for READY beside what its messages say.
const READY_MORE: usize = 4 << 10;

/// What the threads of a server share.
pub(super) struct Shared {
    pub(super) script: Script,
    /// Where clients connect.
    pub(super) url: String,
    pub(super) sessions: Sessions,
    /// Bytes of the largest payload, in JSON.
    largest: usize,
    report: Mutex<Report>,
    over: AtomicBool,
    /// Connections so far.
    connections: AtomicU64,
    /// Clients at the moment.
    clients: AtomicUsize,
}

impl Shared {
    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// The longest that a connection waits before it looks whether the server is to stop, or another one
    /// has resumed its session.
    pub(super) fn tick(&self) -> Duration {
        let clients = self.clients.load(Ordering::Relaxed);
        TICK * u32::try_from(clients.div_ceil(WAKEFUL)).unwrap_or(u32::MAX).max(1)
    }

    pub(super) fn count(&self, count: impl FnOnce(&mut Report)) {
        count(&mut self.report.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn report(&self) -> Report {
        self.report.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Bytes of the largest payload, in JSON.
fn largest(script: &Script) -> usize {
    let ready = serde_json::to_string(script.events.ready()).map_or(0, |ready| ready.len());
    script.events.largest().max(ready + READY_MORE)
}

/// A gateway on 127.0.0.1, and nowhere else. It runs until it is stopped or dropped, or its script says so.
pub struct Server {
    /// Where it listens.
    pub addr: SocketAddr,
    shared: Arc<Shared>,
    listening: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts a server. When this returns, clients can connect.
    ///
    /// # Errors
    /// Those of the operating system, such as for a port that is taken.
    pub fn start(script: Script) -> io::Result<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, script.port))?;
        listener.set_nonblocking(true)?;
        let addr = listener.local_addr()?;
        let salt = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_nanos() as u64);
        let shared = Arc::new(Shared {
            url: format!("ws://{addr}"),
            sessions: Sessions::new(&script, salt),
            largest: largest(&script),
            report: Mutex::default(),
            over: AtomicBool::new(false),
            connections: AtomicU64::new(0),
            clients: AtomicUsize::new(0),
            script,
        });
        let thread = Arc::clone(&shared);
        let listening =
            std::thread::Builder::new().name("gateway".into()).spawn(move || listen(&listener, &thread))?;
        Ok(Server { addr, shared, listening: Some(listening) })
    }

    /// Where clients connect: `ws://127.0.0.1:PORT`.
    pub fn url(&self) -> &str {
        &self.shared.url
    }

    /// What happened so far.
    pub fn report(&self) -> Report {
        self.shared.report()
    }

    /// Whether it came to its end by itself.
    pub fn is_over(&self) -> bool {
        self.shared.is_over()
    }

    /// Ends all connections and waits for them; says what happened.
    pub fn stop(mut self) -> Report {
        self.end();
        self.shared.report()
    }

    /// Waits until it comes to its end by itself; says what happened.
    pub fn wait(mut self) -> Report {
        self.join();
        self.shared.report()
    }

    fn end(&mut self) {
        self.shared.over.store(true, Ordering::Relaxed);
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

/// One of the clients at the moment, from when it is accepted until its thread is done.
struct Client(Arc<Shared>);

impl Client {
    fn new(shared: &Arc<Shared>) -> Client {
        shared.clients.fetch_add(1, Ordering::Relaxed);
        Client(Arc::clone(shared))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.0.clients.fetch_sub(1, Ordering::Release);
    }
}

/// Takes clients until the end, then waits until they are gone.
fn listen(listener: &TcpListener, shared: &Arc<Shared>) {
    let begun = Instant::now();
    let mut last = None::<Instant>;
    while !shared.is_over() {
        match listener.accept() {
            Ok((stream, _)) => {
                take(stream, shared);
                last = Some(Instant::now());
            }
            Err(_) if last.is_some_and(|last| last.elapsed() < WHILE) => {
                std::thread::park_timeout(QUICK_GLANCE);
            }
            Err(_) => std::thread::park_timeout(GLANCE),
        }
        let done = shared.script.once && shared.sessions.are_over();
        if done || begun.elapsed() >= shared.script.time {
            shared.over.store(true, Ordering::Relaxed);
        }
    }
    while shared.clients.load(Ordering::Acquire) > 0 {
        std::thread::sleep(GLANCE);
    }
}

/// Gives a client a thread. It is refused if there are too many already, or the system has no more threads.
fn take(stream: TcpStream, shared: &Arc<Shared>) {
    let client = Client::new(shared);
    let refuse = || shared.count(|report| report.refused += 1);
    if shared.clients.load(Ordering::Relaxed) > shared.script.bounds.connections {
        return refuse();
    }
    let thread = std::thread::Builder::new().name("client".into()).stack_size(STACK);
    if thread.spawn(move || serve(stream, &client.0)).is_err() {
        refuse();
    }
}

/// Serves one connection.
fn serve(stream: TcpStream, shared: &Arc<Shared>) {
    // On some systems a socket takes this from its listener.
    if stream.set_nonblocking(false).is_err() {
        return;
    }
    let Ok(mut stream) = Patient::new(stream, Arc::clone(shared)) else { return };
    match request::read(&mut stream, shared.script.bounds.patience) {
        Ok(None) => shared.count(|report| report.refused += 1),
        Ok(Some(request)) if request.is_websocket() => websocket(stream, request, shared),
        Ok(Some(request)) => {
            shared.count(|report| report.requests += 1);
            rest::serve(&mut stream, &request, shared);
        }
        Err(refused) => refuse(&mut stream, refused, shared),
    }
}

fn refuse(stream: &mut Patient, refused: Refused, shared: &Shared) {
    shared.count(|report| report.refused += 1);
    rest::refuse(stream, refused, shared);
}

fn websocket(mut stream: Patient, request: Request, shared: &Arc<Shared>) {
    let line = match accept(&mut stream, &request, shared) {
        Ok(line) => line,
        Err(refused) => return refuse(&mut stream, refused, shared),
    };
    shared.count(|report| report.connections += 1);
    let number = shared.connections.fetch_add(1, Ordering::Relaxed);
    let version = request.parameter("v").map(|version| version.parse().unwrap_or(0));
    let socket = Socket::new(stream, request.rest, line.largest(shared.largest));
    Connection::new(Arc::clone(shared), number, socket, line).run(version);
}

/// Agrees to a websocket, if the server speaks what is asked for.
fn accept(stream: &mut Patient, request: &Request, shared: &Shared) -> Result<Line, Refused> {
    let key = request.websocket_key()?;
    let encoding = match request.parameter("encoding") {
        None | Some("json") => Encoding::Json,
        Some("etf") => Encoding::Etf,
        Some(_) => return Err(Refused(400, "encoding is json, etf or absent")),
    };
    let compress = request.parameter("compress").filter(|name| !name.is_empty());
    let transport = compress.map(str::parse::<Transport>).transpose();
    let transport = transport.map_err(|_| Refused(400, "compress is zlib-stream, zstd-stream or absent"))?;
    let line = Line::new(encoding, transport, shared.script.fragment);
    let line = line.map_err(|_| Refused(503, "there is no memory"))?;
    let accept = tungstenite::handshake::derive_accept_key(key.as_bytes());
    let answer = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {accept}\r\n\r\n"
    );
    stream.wait_until(after(shared.script.bounds.patience));
    stream.write_all(answer.as_bytes()).map_err(|_| Refused(408, "the client does not read"))?;
    Ok(line)
}
