//! Archives on a server of our own, which counts what is asked of it.

#![cfg(feature = "remote")]

mod common;

use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use common::goldens;
use common::make::{COPY, Make, noise};
use linerate_nx::{Archive, Extractor, HttpSource, Kind, Source, Verifier};

/// What a server does besides sending ranges.
#[derive(Default)]
struct Server {
    content: Vec<u8>,
    requests: AtomicU64,
    bytes: AtomicU64,
    /// Sends everything, whatever is asked for.
    ignores_ranges: bool,
    /// Breaks off so many answers after their first byte.
    breaks: AtomicU64,
    version: Mutex<String>,
    stop: AtomicBool,
}

struct Running {
    server: Arc<Server>,
    port: u16,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    fn start(server: Server) -> Running {
        let server = Arc::new(server);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::clone(&server);
        let thread = std::thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                if shared.stop.load(Ordering::Relaxed) {
                    break;
                }
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || shared.serve(stream));
            }
        });
        Running { server, port, thread: Some(thread) }
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/archive.nx", self.port)
    }

    fn counts(&self) -> (u64, u64) {
        (self.server.requests.load(Ordering::Relaxed), self.server.bytes.load(Ordering::Relaxed))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.server.stop.store(true, Ordering::Relaxed);
        // Wakes the listener.
        drop(TcpStream::connect(("127.0.0.1", self.port)));
        self.thread.take().map(JoinHandle::join);
    }
}

impl Server {
    fn of(content: Vec<u8>) -> Server {
        Server { content, version: Mutex::new("\"1\"".to_owned()), ..Server::default() }
    }

    /// Answers the requests of one connection until it is closed or silent.
    fn serve(&self, stream: TcpStream) {
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
        let mut stream = stream;
        loop {
            let head: Vec<String> =
                lines.by_ref().map_while(Result::ok).take_while(|l| !l.is_empty()).collect();
            if head.is_empty() || !self.answer(&head, &mut stream) {
                return;
            }
        }
    }

    /// Whether the connection can go on.
    fn answer(&self, head: &[String], stream: &mut TcpStream) -> bool {
        self.requests.fetch_add(1, Ordering::Relaxed);
        if !head[0].starts_with("GET /archive.nx ") {
            return stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n").is_ok();
        }
        let range = head.iter().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            let bytes = value.strip_prefix("bytes=").filter(|_| name.eq_ignore_ascii_case("range"))?;
            let (first, last) = bytes.split_once('-')?;
            Some((first.parse::<usize>().unwrap(), last.parse::<usize>().unwrap()))
        });
        let total = self.content.len();
        let version = self.version.lock().unwrap().clone();
        let (status, body) = match range {
            Some((first, last)) if !self.ignores_ranges => {
                let end = total.min(last + 1);
                let range =
                    format!("206 Partial Content\r\nContent-Range: bytes {first}-{}/{total}", end - 1);
                (range, &self.content[first..end])
            }
            _ => ("200 OK".to_owned(), &self.content[..]),
        };
        let head = format!("HTTP/1.1 {status}\r\nETag: {version}\r\nContent-Length: {}\r\n\r\n", body.len());
        if stream.write_all(head.as_bytes()).is_err() {
            return false;
        }
        let broken =
            self.breaks.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).is_ok();
        let sent = if broken { &body[..1] } else { body };
        self.bytes.fetch_add(sent.len() as u64, Ordering::Relaxed);
        stream.write_all(sent).is_ok() && !broken
    }
}

fn golden(name: &str) -> common::Golden {
    goldens().into_iter().find(|g| g.name == name).unwrap()
}

#[test]
fn listing_fetches_the_header_and_a_file_its_block() {
    let golden = golden("many");
    let running = Running::start(Server::of(std::fs::read(&golden.path).unwrap()));
    let archive = Archive::open(HttpSource::open(running.url()).unwrap()).unwrap();
    assert_eq!(archive.files().count(), golden.files.len());
    let header = archive.header().bytes();
    assert!(header > 4096);
    assert_eq!(running.counts(), (2, header), "the first page, and the others");
    let expected = &golden.files[700];
    let file = archive.find(&expected.path).unwrap();
    let content = archive.read(file).unwrap();
    assert_eq!((content.len() as u64, archive.hash_kind().of(&content)), (expected.size, expected.xxh3));
    let block = archive.toc().blocks[file.blocks().start];
    assert_eq!(running.counts(), (3, header + u64::from(block.compressed)));
}

#[test]
fn blocks_of_one_file_come_together() {
    let content = noise(10_240, 1);
    let make = Make::new(0).file("a", &content, 0, 0);
    let make = content.chunks(512).fold(make, |make, chunk| make.block(COPY, chunk.to_vec()));
    let running = Running::start(Server::of(make.bytes()));
    let archive = Archive::open(HttpSource::open(running.url()).unwrap()).unwrap();
    assert!(archive.read(archive.get(0).unwrap()).unwrap() == content);
    assert_eq!(running.counts(), (2, 4096 + 19 * 4096 + 512));
}

#[test]
fn goldens_come_out_through_the_network() {
    for name in ["defaults", "dups-chunked", "single-empty"] {
        let golden = golden(name);
        let running = Running::start(Server::of(std::fs::read(&golden.path).unwrap()));
        let archive = Archive::open(HttpSource::open(running.url()).unwrap()).unwrap();
        let place = tempfile::tempdir().unwrap();
        let done = Extractor::new(&archive).threads(3).to_folder(place.path()).unwrap();
        assert!(done.failures.is_empty(), "{:?}", done.failures);
        assert!(Verifier::new(&archive).compare(place.path()).unwrap().is_same());
    }
}

#[test]
fn answers_that_break_off_are_asked_for_again() {
    let golden = golden("single-1-byte");
    let running = Running::start(Server::of(std::fs::read(&golden.path).unwrap()));
    running.server.breaks.store(2, Ordering::Relaxed);
    let source = HttpSource::open(running.url()).unwrap();
    assert_eq!(source.len(), 8192);
    assert_eq!(running.counts().0, 3);
    let archive = Archive::open(source).unwrap();
    running.server.breaks.store(2, Ordering::Relaxed);
    assert_eq!(archive.read(archive.get(0).unwrap()).map(|bytes| bytes.len()), Ok(1));
    running.server.breaks.store(100, Ordering::Relaxed);
    assert!(archive.source().read_at(5000, &mut [0; 10]).is_err(), "not for ever");
}

#[test]
fn servers_that_do_not_fit_are_told() {
    let content = std::fs::read(golden("single-1-byte").path).unwrap();
    let plain = Running::start(Server { ignores_ranges: true, ..Server::of(content.clone()) });
    assert_eq!(HttpSource::open(plain.url()).unwrap_err().kind(), ErrorKind::Unsupported);
    let running = Running::start(Server::of(content));
    let other = running.url().replace("archive", "another");
    assert_eq!(HttpSource::open(other).unwrap_err().kind(), ErrorKind::NotFound);
    let archive = Archive::open(HttpSource::open(running.url()).unwrap()).unwrap();
    *running.server.version.lock().unwrap() = "\"2\"".to_owned();
    assert_eq!(archive.read(archive.get(0).unwrap()).unwrap_err().kind, Kind::Io, "another archive by now");
    assert!(HttpSource::open("http://127.0.0.1:1/archive.nx").is_err());
}
