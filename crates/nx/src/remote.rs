//! Archives on web servers, read by ranges: opening fetches the header, a file its blocks.

use std::io::{self, Read};
use std::time::Duration;

use ureq::http::{Response, StatusCode, header};
use ureq::{Agent, Body};

use crate::header::PAGE;
use crate::source::Source;

/// How often a request is tried that fails on its way.
const TRIES: u32 = 3;

/// The most that one request spans: neighbouring blocks of a file are fetched together.
const REACH: u64 = 8 << 20;

/// A silent server is given up after this long.
const PATIENCE: Duration = Duration::from_secs(30);

/// An archive on a web server that answers requests for ranges.
///
/// Connections are kept between requests, one per thread that reads. What an answer says of the
/// archive's length and version (its `ETag`) must stay as it was when the source was opened.
#[derive(Debug)]
pub struct HttpSource {
    agent: Agent,
    url: String,
    len: u64,
    version: Option<Vec<u8>>,
    /// The first bytes, which came with the answer that told the length.
    start: Vec<u8>,
}

/// An answer to a request for a range.
struct Answer {
    /// Bytes of the whole.
    total: u64,
    version: Option<Vec<u8>>,
    body: Body,
}

impl Answer {
    /// Reads a body of exactly that many bytes.
    fn read(&mut self, out: &mut [u8]) -> io::Result<()> {
        let mut reader = self.body.as_reader();
        reader.read_exact(out)?;
        // Only what has been read to its end leaves the connection to the next request.
        match reader.read(&mut [0])? {
            0 => Ok(()),
            _ => Err(unsupported("more in its answer than was asked for")),
        }
    }
}

impl HttpSource {
    /// Asks the server for the first page of an archive, and by that for its length.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::Unsupported`] if the server does not answer requests for ranges,
    /// [`io::ErrorKind::NotFound`] and [`io::ErrorKind::PermissionDenied`] as it says, and those of
    /// the network.
    pub fn open(url: impl Into<String>) -> io::Result<HttpSource> {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .user_agent(concat!("linerate-nx/", env!("CARGO_PKG_VERSION")))
            .timeout_connect(Some(PATIENCE))
            .timeout_recv_response(Some(PATIENCE))
            .timeout_per_read(Some(PATIENCE))
            .build();
        let mut source =
            HttpSource { agent: config.new_agent(), url: url.into(), len: 0, version: None, start: vec![] };
        retried(|| source.fetch_start())?;
        Ok(source)
    }

    fn fetch_start(&mut self) -> io::Result<()> {
        let mut answer = self.ask(0, PAGE)?;
        let mut start = vec![0; answer.total.min(PAGE) as usize];
        answer.read(&mut start)?;
        (self.len, self.version, self.start) = (answer.total, answer.version, start);
        Ok(())
    }

    /// Asks for `len` bytes at `offset`, of which there is at least one.
    fn ask(&self, offset: u64, len: u64) -> io::Result<Answer> {
        let last = offset.saturating_add(len) - 1;
        let request = self.agent.get(&self.url).header(header::RANGE, format!("bytes={offset}-{last}"));
        let response = request.call().map_err(network_error)?;
        check_status(response.status())?;
        let (first, total) = content_range(&response).ok_or_else(|| unsupported("no range in its answer"))?;
        if first != offset {
            return Err(unsupported("another range in its answer than was asked for"));
        }
        let version = response.headers().get(header::ETAG).map(|tag| tag.as_bytes().to_vec());
        Ok(Answer { total, version, body: response.into_body() })
    }

    fn fetch(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let mut answer = self.ask(offset, out.len() as u64)?;
        if answer.total != self.len || answer.version != self.version {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the archive on the server has changed"));
        }
        answer.read(out)
    }
}

impl Source for HttpSource {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let end = offset.checked_add(out.len() as u64).filter(|end| *end <= self.len);
        let end = end.ok_or(io::ErrorKind::UnexpectedEof)?;
        if end <= self.start.len() as u64 {
            out.copy_from_slice(&self.start[offset as usize..end as usize]);
            return Ok(());
        }
        match out.is_empty() {
            true => Ok(()),
            false => retried(|| self.fetch(offset, out)),
        }
    }

    fn reach(&self) -> u64 {
        REACH
    }
}

fn network_error(error: ureq::Error) -> io::Error {
    match error {
        ureq::Error::Timeout(_) => io::Error::new(io::ErrorKind::TimedOut, error),
        ureq::Error::HostNotFound => io::Error::new(io::ErrorKind::NotFound, error),
        _ => error.into_io(),
    }
}

fn unsupported(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, format!("the server does not offer ranges: {what}"))
}

/// Passes an answer that holds a range.
fn check_status(status: StatusCode) -> io::Result<()> {
    let kind = match status {
        StatusCode::PARTIAL_CONTENT => return Ok(()),
        StatusCode::OK => return Err(unsupported("it sends everything")),
        StatusCode::RANGE_NOT_SATISFIABLE => io::ErrorKind::UnexpectedEof,
        StatusCode::NOT_FOUND | StatusCode::GONE => io::ErrorKind::NotFound,
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => io::ErrorKind::PermissionDenied,
        // Those of a server in trouble pass, perhaps.
        _ if status.is_server_error() => io::ErrorKind::ConnectionReset,
        _ => io::ErrorKind::Other,
    };
    Err(io::Error::new(kind, format!("the server answers {status}")))
}

/// Where the range of an answer begins, and how long the whole is.
fn content_range(response: &Response<Body>) -> Option<(u64, u64)> {
    let text = response.headers().get(header::CONTENT_RANGE)?.to_str().ok()?;
    let (range, total) = text.strip_prefix("bytes ")?.split_once('/')?;
    let (first, _) = range.split_once('-')?;
    Some((first.trim().parse().ok()?, total.trim().parse().ok()?))
}

/// Tries again what failed on the way, but not what the server refused.
fn retried(mut attempt: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    let mut result = attempt();
    for _ in 1..TRIES {
        match &result {
            Err(e) if may_pass(e.kind()) => result = attempt(),
            _ => break,
        }
    }
    result
}

fn may_pass(kind: io::ErrorKind) -> bool {
    use io::ErrorKind::{
        BrokenPipe, ConnectionAborted, ConnectionReset, Interrupted, TimedOut, UnexpectedEof,
    };
    matches!(kind, BrokenPipe | ConnectionAborted | ConnectionReset | Interrupted | TimedOut | UnexpectedEof)
}
