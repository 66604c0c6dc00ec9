//! A web server on loopback, for files that are read from one.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// A server of ranges of one content, which counts what it sends.
pub(crate) struct Server {
    pub(crate) url: String,
    sent: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub(crate) fn of(content: Vec<u8>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let (sent, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (count, ends) = (Arc::clone(&sent), Arc::clone(&stop));
        let thread = thread::spawn(move || {
            let content = Arc::new(content);
            for stream in listener.incoming().map_while(Result::ok) {
                if ends.load(Ordering::Relaxed) {
                    break;
                }
                let (content, count) = (Arc::clone(&content), Arc::clone(&count));
                thread::spawn(move || serve(&content, &stream, &count));
            }
        });
        Server { url: format!("http://{address}/a.nx"), sent, stop, thread: Some(thread) }
    }

    /// Bytes sent since the last call.
    pub(crate) fn sent(&self) -> u64 {
        self.sent.swap(0, Ordering::Relaxed)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Wakes the listener.
        let address = self.url.trim_start_matches("http://").trim_end_matches("/a.nx");
        drop(TcpStream::connect(address));
        self.thread.take().map(JoinHandle::join);
    }
}

/// Answers the requests of one connection until it is closed or silent.
fn serve(content: &[u8], mut stream: &TcpStream, count: &AtomicU64) {
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
    let mut lines = BufReader::new(stream).lines();
    loop {
        let head: Vec<String> =
            lines.by_ref().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
        if head.is_empty() {
            return;
        }
        let asks = ["GET /a.nx ", "GET /bucket/a.nx "].iter().any(|start| head[0].starts_with(start));
        let answer = match asks.then(|| range(&head, content.len())).flatten() {
            Some((first, last)) => {
                let part = &content[first..=last];
                count.fetch_add(part.len() as u64, Ordering::Relaxed);
                let (len, all) = (part.len(), content.len());
                let head = format!(
                    "HTTP/1.1 206 Partial Content\r\nETag: \"1\"\r\nContent-Length: {len}\r\nContent-Range: bytes {first}-{last}/{all}\r\n\r\n"
                );
                [head.as_bytes(), part].concat()
            }
            None => b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec(),
        };
        if stream.write_all(&answer).is_err() {
            return;
        }
    }
}

/// The first and the last byte asked for.
fn range(head: &[String], len: usize) -> Option<(usize, usize)> {
    let line = head.iter().map(|line| line.to_ascii_lowercase()).find(|line| line.starts_with("range:"))?;
    let (first, last) = line.split_once("bytes=")?.1.split_once('-')?;
    let (first, last): (usize, usize) = (first.parse().ok()?, last.trim().parse().ok()?);
    (first <= last && first < len).then(|| (first, last.min(len - 1)))
}
