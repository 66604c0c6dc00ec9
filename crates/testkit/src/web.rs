//! A web server on the loopback interface that answers range requests, correctly or wrongly, and
//! records them.

use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// A request: its number from 0, its path, the lines of its headers, and the range of bytes that it
/// asks for (`0..u64::MAX` if it names none). A range needs both ends, as in `bytes=0-99`.
#[derive(Clone, Debug)]
pub struct Request {
    pub number: usize,
    pub path: String,
    pub lines: Vec<String>,
    pub range: Range<u64>,
}

impl Request {
    /// The value of the first header of this name, in upper or lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let values = self.lines.iter().filter_map(|line| line.split_once(':'));
        values.into_iter().find(|value| value.0.eq_ignore_ascii_case(name)).map(|value| value.1.trim())
    }
}

/// A response. The server sends it as it is, even if its headers are wrong.
pub struct Reply {
    pub status: &'static str,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
    pub then: Then,
}

/// What the server does after it has sent a response.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// Waits for the next request on this connection.
    Keep,
    /// Closes the connection.
    Close,
    /// Keeps the connection open, but answers no further request on it, until the server stops.
    Hang,
}

impl Reply {
    /// A response without a body.
    pub fn status(status: &'static str) -> Reply {
        let headers = vec![("Content-Length", "0".to_owned())];
        Reply { status, headers, body: Vec::new(), then: Then::Keep }
    }

    /// The correct response to a range request for a file with the content `bytes`: 206 with the
    /// bytes, or 416 if the range has none of them.
    pub fn range(bytes: &[u8], request: &Request) -> Reply {
        let len = bytes.len() as u64;
        let range = request.range.start..request.range.end.min(len);
        if range.is_empty() {
            return Reply::status("416 Range Not Satisfiable");
        }
        let body = bytes[range.start as usize..range.end as usize].to_vec();
        let headers = vec![
            ("Content-Range", format!("bytes {}-{}/{len}", range.start, range.end - 1)),
            ("Content-Length", body.len().to_string()),
            ("ETag", "\"1\"".to_owned()),
        ];
        Reply { status: "206 Partial Content", headers, body, then: Then::Keep }
    }

    /// Gives the header `name` this value, or removes it if the value is `None`.
    pub fn with(mut self, name: &'static str, value: Option<&str>) -> Reply {
        self.headers.retain(|header| header.0 != name);
        self.headers.extend(value.map(|value| (name, value.to_owned())));
        self
    }

    pub fn then(self, then: Then) -> Reply {
        Reply { then, ..self }
    }

    /// Truncates the body to `len` bytes, leaves `Content-Length` as it is, and closes the
    /// connection after the body.
    pub fn cut(mut self, len: usize) -> Reply {
        self.body.truncate(len);
        self.then(Then::Close)
    }
}

type Answer = dyn Fn(&Request) -> Reply + Send + Sync;

#[derive(Default)]
struct Count {
    seen: Vec<Request>,
    bytes: u64,
}

/// A web server that stops when it is dropped. The drop passes on a panic of the server's threads.
pub struct Server {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    count: Arc<Mutex<Count>>,
    listening: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts a server on a free port, which answers each request with the result of a function.
    pub fn new(answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, count) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::default()));
        let answer: Arc<Answer> = Arc::new(answer);
        let shared = (Arc::clone(&stop), Arc::clone(&count));
        let listening = std::thread::spawn(move || {
            let (stop, count) = shared;
            let mut connections = Vec::new();
            for stream in listener.incoming() {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                let (stop, count, answer) = (Arc::clone(&stop), Arc::clone(&count), Arc::clone(&answer));
                let stream = stream.unwrap();
                connections.push(std::thread::spawn(move || serve(&stream, &stop, &count, &*answer)));
            }
            connections.into_iter().for_each(|connection| connection.join().unwrap());
        });
        Server { address, stop, count, listening: Some(listening) }
    }

    /// Starts a server that has a file with the content `bytes` under every path.
    pub fn of(bytes: Vec<u8>) -> Server {
        Server::new(move |request| Reply::range(&bytes, request))
    }

    /// The URL of the path `/archive.nx` on this server.
    pub fn url(&self) -> String {
        self.address() + "/archive.nx"
    }

    /// The URL of this server, without a path.
    pub fn address(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Number of requests so far.
    pub fn requests(&self) -> usize {
        self.count.lock().unwrap().seen.len()
    }

    /// The ranges of all requests so far, in order.
    pub fn ranges(&self) -> Vec<Range<u64>> {
        self.seen().into_iter().map(|request| request.range).collect()
    }

    /// All requests so far, in order.
    pub fn seen(&self) -> Vec<Request> {
        self.count.lock().unwrap().seen.clone()
    }

    /// Bytes of the bodies of all responses so far, even of those that a client did not wait for.
    pub fn bytes(&self) -> u64 {
        self.count.lock().unwrap().bytes
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // The listener looks at `stop` only after a connection.
        let _ = TcpStream::connect(self.address);
        let listened = self.listening.take().unwrap().join();
        if !std::thread::panicking() {
            listened.unwrap();
        }
    }
}

/// Answers the requests of one connection.
fn serve(stream: &TcpStream, stop: &AtomicBool, count: &Mutex<Count>, answer: &Answer) {
    stream.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    stream.set_write_timeout(Some(Duration::from_secs(5))).unwrap();
    let mut lines = BufReader::new(stream);
    while let Some(request) = head(&mut lines, stop) {
        let reply = {
            let mut count = count.lock().unwrap();
            let request = Request { number: count.seen.len(), ..request };
            count.seen.push(request.clone());
            let reply = answer(&request);
            count.bytes += reply.body.len() as u64;
            reply
        };
        let mut out = format!("HTTP/1.1 {}\r\n", reply.status);
        for (name, value) in &reply.headers {
            out += &format!("{name}: {value}\r\n");
        }
        out += "\r\n";
        let mut stream = stream;
        // The client may have closed the connection.
        if stream.write_all(out.as_bytes()).and_then(|()| stream.write_all(&reply.body)).is_err() {
            return;
        }
        match reply.then {
            Then::Keep => {}
            Then::Close => return,
            Then::Hang => {
                while !stop.load(Ordering::Relaxed) {
                    std::thread::sleep(Duration::from_millis(5));
                }
            }
        }
    }
}

/// Reads the head of the next request. `None` if the client has closed the connection, sends no
/// HTTP/1.1, or the server stops.
fn head(lines: &mut impl BufRead, stop: &AtomicBool) -> Option<Request> {
    // Other data is no request, such as the start of TLS, whose random bytes may contain line ends.
    let first = line(lines, stop)?;
    let path = first.strip_suffix(" HTTP/1.1")?.split_once(' ')?.1.to_owned();
    let mut request = Request { number: 0, path, lines: Vec::new(), range: 0..u64::MAX };
    loop {
        let line = line(lines, stop)?;
        if !line.is_empty() {
            request.lines.push(line);
            continue;
        }
        if let Some(range) = request.header("range").and_then(|range| range.strip_prefix("bytes=")) {
            let (from, last) = range.split_once('-').unwrap();
            request.range = from.parse().unwrap()..last.parse::<u64>().unwrap() + 1;
        }
        return Some(request);
    }
}

fn line(lines: &mut impl BufRead, stop: &AtomicBool) -> Option<String> {
    let mut line = Vec::new();
    while !stop.load(Ordering::Relaxed) && line.len() < 10_000 {
        match lines.read_until(b'\n', &mut line) {
            Ok(_) if line.ends_with(b"\n") => {
                return Some(String::from_utf8_lossy(&line).trim_end().to_owned());
            }
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            _ => return None,
        }
    }
    None
}
