//! The HTTP request at the beginning of each connection.

use std::io::Read;
use std::str::FromStr;
use std::time::{Duration, Instant};

use crate::socket::{DeadlineStream, deadline_in, is_timeout};

/// Number of bytes after which an incomplete request is refused.
const MAX_REQUEST: usize = 16 << 10;
/// Maximum number of headers.
const MAX_HEADERS: usize = 64;

/// A parsed request. Header names are in lower case.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    query: Vec<(String, String)>,
    headers: Vec<(String, String)>,
    /// Bytes received after the request.
    pub(crate) rest: Vec<u8>,
}

/// An answer that reports an error: status code and message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HttpError {
    pub(crate) status: u16,
    pub(crate) message: &'static str,
}

impl HttpError {
    pub(crate) const fn new(status: u16, message: &'static str) -> Self {
        HttpError { status, message }
    }
}

/// Reads a request without its body. Returns `None` if the client disconnected before it was
/// complete.
///
/// # Errors
/// Returns the status 408 after `timeout` or if the server stops, 431 for a request that is too
/// long or has more than [`MAX_HEADERS`] headers, and 400 for anything but HTTP.
pub(crate) fn read(stream: &mut DeadlineStream, timeout: Duration) -> Result<Option<Request>, HttpError> {
    let until = deadline_in(timeout);
    stream.set_deadline(until);
    let mut head = Vec::new();
    let mut piece = [0; 4096];
    loop {
        match stream.read(&mut piece) {
            Ok(0) => return Ok(None),
            Ok(n) => head.extend_from_slice(&piece[..n]),
            Err(e) if is_timeout(&e) && Instant::now() < until && !stream.is_stopping() => {}
            Err(e) if is_timeout(&e) => return Err(HttpError::new(408, "the request did not come in time")),
            Err(_) => return Ok(None),
        }
        if let Some(request) = Request::parse(&head)? {
            return Ok(Some(request));
        }
        if head.len() > MAX_REQUEST {
            return Err(HttpError::new(431, "the request is too long"));
        }
        if Instant::now() >= until {
            return Err(HttpError::new(408, "the request did not come in time"));
        }
    }
}

impl Request {
    /// Parses a request. Returns `None` if it is incomplete.
    fn parse(bytes: &[u8]) -> Result<Option<Request>, HttpError> {
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut parsed = httparse::Request::new(&mut headers);
        let end = match parsed.parse(bytes) {
            Ok(httparse::Status::Complete(end)) => end,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(httparse::Error::TooManyHeaders) => {
                return Err(HttpError::new(431, "the request has too many headers"));
            }
            Err(_) => return Err(HttpError::new(400, "this is not an HTTP request")),
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

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| &**value)
    }

    /// Length of the body in bytes; 0 if `Content-Length` is malformed or missing.
    pub(crate) fn content_length(&self) -> usize {
        self.header("content-length").and_then(parse_digits).unwrap_or(0)
    }

    /// A parameter of the query string.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(n, _)| n == name).map(|(_, value)| &**value)
    }

    /// Whether a header with a comma-separated list contains this word, in any case.
    fn lists(&self, header: &str, word: &str) -> bool {
        let mut words = self.header(header).unwrap_or_default().split(',');
        words.any(|w| w.trim().eq_ignore_ascii_case(word))
    }

    /// Whether this is a websocket handshake.
    pub(crate) fn is_websocket(&self) -> bool {
        self.lists("upgrade", "websocket")
    }

    /// Checks a websocket handshake and returns the client's key (RFC 6455, section 4.2.1).
    pub(crate) fn websocket_key(&self) -> Result<&str, HttpError> {
        if self.method != "GET" || !self.lists("connection", "upgrade") {
            return Err(HttpError::new(400, "a websocket handshake must be GET with Connection: Upgrade"));
        }
        if self.header("sec-websocket-version") != Some("13") {
            return Err(HttpError::new(426, "Sec-WebSocket-Version must be 13"));
        }
        let key = self.header("sec-websocket-key").filter(|key| key.len() == 24);
        key.ok_or(HttpError::new(400, "Sec-WebSocket-Key is missing or invalid"))
    }
}

/// Parses a number that has digits only. `parse` alone would accept a sign.
pub(crate) fn parse_digits<T: FromStr>(text: &str) -> Option<T> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    const HANDSHAKE: &str = "GET /?v=10&encoding=json&compress=zlib-stream HTTP/1.1\r\nHost: a\r\nUpgrade: WebSocket\r\n\
        Connection: keep-alive, Upgrade\r\nSec-WebSocket-Version: 13\r\n\
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

    #[test]
    fn parse_finds_every_part_and_keeps_following_bytes() {
        let request = Request::parse(format!("{HANDSHAKE}more").as_bytes()).unwrap().unwrap();
        assert!(request.is_websocket());
        assert_eq!(request.websocket_key(), Ok("dGhlIHNhbXBsZSBub25jZQ=="));
        assert_eq!((&*request.method, &*request.path), ("GET", "/"));
        assert_eq!(request.parameter("compress"), Some("zlib-stream"));
        assert_eq!((request.parameter("token"), request.header("x")), (None, None));
        assert_eq!(request.rest, b"more");
    }

    #[test]
    fn content_length_has_digits_only() {
        for (text, length) in [("5", 5), ("005", 5), ("+5", 0), ("-5", 0), ("5, 5", 0), ("", 0)] {
            let request = format!("POST / HTTP/1.1\r\nContent-Length: {text}\r\n\r\n");
            let request = Request::parse(request.as_bytes()).unwrap().unwrap();
            assert_eq!(request.content_length(), length, "{text}");
        }
    }

    #[test]
    fn truncated_requests_are_incomplete_and_malformed_ones_errors() {
        for len in 0..HANDSHAKE.len() {
            assert_eq!(Request::parse(&HANDSHAKE.as_bytes()[..len]), Ok(None), "{len}");
        }
        assert_eq!(Request::parse(b"\x16\x03\x01\x02").unwrap_err().status, 400);
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(MAX_HEADERS + 1));
        assert_eq!(Request::parse(many.as_bytes()).unwrap_err().status, 431);
        let wrong = |from, to| Request::parse(HANDSHAKE.replace(from, to).as_bytes()).unwrap().unwrap();
        assert_eq!(wrong("GET", "POST").websocket_key().unwrap_err().status, 400);
        assert_eq!(wrong("13", "8").websocket_key().unwrap_err().status, 426);
        assert_eq!(wrong("Q==", "").websocket_key().unwrap_err().status, 400);
        assert_eq!(wrong(", Upgrade", "").websocket_key().unwrap_err().status, 400);
        assert!(!wrong("WebSocket\r", "h2c\r").is_websocket());
    }
}
