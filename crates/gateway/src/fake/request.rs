//! The request that each connection begins with.

use std::io::Read;
use std::time::{Duration, Instant};

use super::socket::{Patient, after, is_timeout};

/// Bytes of the longest request, without its body.
const LONGEST: usize = 16 << 10;
/// Headers of one request.
const HEADERS: usize = 64;

/// A request, as far as the server looks at it. Names of headers are in lower case.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    query: Vec<(String, String)>,
    headers: Vec<(String, String)>,
    /// What came behind it.
    pub(super) rest: Vec<u8>,
}

/// Why a request is not answered as it wishes: a status of HTTP, and a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Refused(pub(super) u16, pub(super) &'static str);

/// Reads a request. `None` if none came.
pub(super) fn read(stream: &mut Patient, patience: Duration) -> Result<Option<Request>, Refused> {
    let until = after(patience);
    stream.wait_until(until);
    let mut head = Vec::new();
    let mut piece = [0; 4096];
    loop {
        match stream.read(&mut piece) {
            Ok(0) => return Ok(None),
            Ok(n) => head.extend_from_slice(&piece[..n]),
            Err(e) if is_timeout(&e) && Instant::now() < until && !stream.is_over() => {}
            Err(e) if is_timeout(&e) => return Err(Refused(408, "the request did not come in time")),
            Err(_) => return Ok(None),
        }
        if let Some(request) = Request::parse(&head)? {
            return Ok(Some(request));
        }
        if head.len() > LONGEST {
            return Err(Refused(431, "the request is too long"));
        }
        if Instant::now() >= until {
            return Err(Refused(408, "the request did not come in time"));
        }
    }
}

impl Request {
    /// `None` if it goes on.
    fn parse(bytes: &[u8]) -> Result<Option<Request>, Refused> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS];
        let mut parsed = httparse::Request::new(&mut headers);
        let end = match parsed.parse(bytes) {
            Ok(httparse::Status::Complete(end)) => end,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(httparse::Error::TooManyHeaders) => {
                return Err(Refused(431, "the request has too many headers"));
            }
            Err(_) => return Err(Refused(400, "this is no request")),
        };
        let target = parsed.path.unwrap_or_default();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let pair = |part: &str| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            (name.to_owned(), value.to_owned())
        };
        let header = |h: &httparse::Header<'_>| {
            (h.name.to_ascii_lowercase(), String::from_utf8_lossy(h.value).trim().to_owned())
        };
        Ok(Some(Request {
            method: parsed.method.unwrap_or_default().to_owned(),
            path: path.to_owned(),
            query: query.split('&').map(pair).collect(),
            headers: parsed.headers.iter().map(header).collect(),
            rest: bytes[end..].to_vec(),
        }))
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| &**value)
    }

    /// A parameter behind the question mark.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(n, _)| n == name).map(|(_, value)| &**value)
    }

    /// Whether a header, which is a list, has this word.
    fn lists(&self, header: &str, word: &str) -> bool {
        let mut words = self.header(header).unwrap_or_default().split(',');
        words.any(|w| w.trim().eq_ignore_ascii_case(word))
    }

    /// Whether a websocket is asked for.
    pub(super) fn is_websocket(&self) -> bool {
        self.lists("upgrade", "websocket")
    }

    /// The client's key, if this is how websockets are asked for.
    pub(super) fn websocket_key(&self) -> Result<&str, Refused> {
        if self.method != "GET" || !self.lists("connection", "upgrade") {
            return Err(Refused(400, "this is not how a websocket is asked for"));
        }
        if self.header("sec-websocket-version") != Some("13") {
            return Err(Refused(426, "the websocket must be of version 13"));
        }
        let key = self.header("sec-websocket-key").filter(|key| key.len() == 24);
        key.ok_or(Refused(400, "the key of the websocket is missing or wrong"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKED: &str = "GET /?v=10&encoding=json&compress=zlib-stream HTTP/1.1\r\nHost: a\r\nUpgrade: WebSocket\r\n\
        Connection: keep-alive, Upgrade\r\nSec-WebSocket-Version: 13\r\n\
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

    #[test]
    fn every_part_is_found_and_what_follows_is_kept() {
        let request = Request::parse(format!("{ASKED}more").as_bytes()).unwrap().unwrap();
        assert!(request.is_websocket());
        assert_eq!(request.websocket_key(), Ok("dGhlIHNhbXBsZSBub25jZQ=="));
        assert_eq!((&*request.method, &*request.path), ("GET", "/"));
        assert_eq!(request.parameter("compress"), Some("zlib-stream"));
        assert_eq!((request.parameter("token"), request.header("x")), (None, None));
        assert_eq!(request.rest, b"more");
    }

    #[test]
    fn requests_that_are_cut_go_on_and_others_are_refused() {
        for len in 0..ASKED.len() {
            assert_eq!(Request::parse(&ASKED.as_bytes()[..len]), Ok(None), "{len}");
        }
        assert_eq!(Request::parse(b"\x16\x03\x01\x02").unwrap_err().0, 400);
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(HEADERS + 1));
        assert_eq!(Request::parse(many.as_bytes()).unwrap_err().0, 431);
        let wrong = |from, to| Request::parse(ASKED.replace(from, to).as_bytes()).unwrap().unwrap();
        assert_eq!(wrong("GET", "POST").websocket_key().unwrap_err().0, 400);
        assert_eq!(wrong("13", "8").websocket_key().unwrap_err().0, 426);
        assert_eq!(wrong("Q==", "").websocket_key().unwrap_err().0, 400);
        assert_eq!(wrong(", Upgrade", "").websocket_key().unwrap_err().0, 400);
        assert!(!wrong("WebSocket\r", "h2c\r").is_websocket());
    }
}
