//! Files on servers, read by range requests over HTTP or HTTPS.

mod http;
mod remote_file;
mod request_error;
mod response;
mod retry;
#[cfg(feature = "s3")]
mod s3;

use std::io;
use std::time::Duration;

use linerate_core::{Error, Kind, Result};

use self::http::HttpRequester;
use self::remote_file::RemoteFile;
use self::retry::RetryClient;
#[cfg(feature = "s3")]
pub use self::s3::S3Source;
use crate::read_at::ReadAt;
use crate::url::{is_s3_url, is_url};

/// Timeouts, retries, request sizes and proxies of an [`HttpSource`] or an `S3Source`.
///
/// ```
/// use std::time::Duration;
///
/// use linerate_io::HttpOptions;
///
/// let options = HttpOptions::new().timeout(Duration::from_secs(5)).max_attempts(2);
/// assert_eq!(options.max_attempts, 2);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpOptions {
    /// Maximum time to connect, maximum time to receive the head of a response, and maximum time
    /// without a byte from the server; more than 24 hours count as 24 hours. A request as a whole,
    /// with its redirects, may take twice this time, plus the time that its bytes take at 16 KiB
    /// per second. Default: 30 seconds.
    pub timeout: Duration,
    /// Maximum number of attempts per range; 0 counts as 1. An error that another attempt would not
    /// mend, such as status 404, fails the read at once. Bytes received by one attempt are kept for
    /// the next. Default: 4.
    pub max_attempts: u32,
    /// Delay before the second attempt. It doubles with each further attempt. If the server sends a
    /// longer `Retry-After` in seconds with a status after which the range is tried again, that is
    /// used. No delay is longer than ten seconds. Default: 200 milliseconds.
    pub retry_delay: Duration,
    /// Time for which no attempt begins and reads that need the server fail, after all attempts of
    /// one read have failed for a reason that may pass. It ends early if a request that was under
    /// way fails for another reason. Default: 10 seconds.
    pub cooldown: Duration,
    /// Maximum length in bytes of a request that joins neighbouring blocks
    /// ([`ReadAt::coalesce_limit`]). Default: 4 MiB.
    pub coalesce_limit: u64,
    /// Whether the proxies in the environment variables are used. Default: yes.
    pub use_proxies: bool,
}

impl HttpOptions {
    /// Returns the defaults.
    pub const fn new() -> Self {
        HttpOptions {
            timeout: Duration::from_secs(30),
            max_attempts: 4,
            retry_delay: Duration::from_millis(200),
            cooldown: Duration::from_secs(10),
            coalesce_limit: 4 << 20,
            use_proxies: true,
        }
    }

    /// Sets [`timeout`](#structfield.timeout).
    #[must_use]
    pub const fn timeout(self, timeout: Duration) -> Self {
        HttpOptions { timeout, ..self }
    }

    /// Sets [`max_attempts`](#structfield.max_attempts).
    #[must_use]
    pub const fn max_attempts(self, max_attempts: u32) -> Self {
        HttpOptions { max_attempts, ..self }
    }

    /// Sets [`retry_delay`](#structfield.retry_delay).
    #[must_use]
    pub const fn retry_delay(self, retry_delay: Duration) -> Self {
        HttpOptions { retry_delay, ..self }
    }

    /// Sets [`cooldown`](#structfield.cooldown).
    #[must_use]
    pub const fn cooldown(self, cooldown: Duration) -> Self {
        HttpOptions { cooldown, ..self }
    }

    /// Sets [`coalesce_limit`](#structfield.coalesce_limit), in bytes; 0 reads each block by
    /// itself.
    #[must_use]
    pub const fn coalesce_limit(self, coalesce_limit: u64) -> Self {
        HttpOptions { coalesce_limit, ..self }
    }

    /// Sets [`use_proxies`](#structfield.use_proxies).
    #[must_use]
    pub const fn use_proxies(self, use_proxies: bool) -> Self {
        HttpOptions { use_proxies, ..self }
    }
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// A file on a server that supports range requests.
///
/// The source checks that every response is the requested range of the file that was opened, by its
/// length and its `ETag` or, without one, its `Last-Modified`. If the server sends neither, only
/// another length is noticed. Requests after the first response ask for that version only
/// (`If-Match`, or `If-Unmodified-Since` without an `ETag`; with a weak `ETag` only the responses
/// are compared). The first response of another version [ends](ReadAt::end) the file: no new
/// request begins, and only the bytes cached by opening can still be read.
///
/// User and password in the URL (`http://user:p%40ss@host/`) are percent-decoded and sent to that
/// host (Basic authentication, RFC 7617).
///
/// Opening requests the first 4 KiB, which the source caches. Connections are kept between reads if
/// the server keeps them. The source holds these 4 KiB and the buffers of the connections.
#[derive(Debug)]
pub struct HttpSource(RemoteFile);

impl HttpSource {
    /// Opens the file at `url` with the default [`HttpOptions`].
    ///
    /// # Errors
    ///
    /// Returns [`Kind::BadArgument`] for an invalid URL; [`Kind::Read`] if the server or a proxy is
    /// unreachable, or the server is untrusted, too slow, refuses, does not support ranges, does
    /// not say how long the file is, disconnects, or redirects too often or from HTTPS to HTTP;
    /// [`Kind::Corrupt`] for another response than the requested one, or if the file changes while
    /// it is opened; and [`Kind::Truncated`] if the file is empty. Reads have the same errors, as
    /// [`io::Error`]s that wrap an [`Error`], and a plain [`io::ErrorKind::UnexpectedEof`] past the
    /// end.
    pub fn open(url: &str) -> Result<HttpSource> {
        HttpSource::open_with(url, HttpOptions::default())
    }

    /// Opens the file at `url` with other options.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`HttpSource::open`].
    pub fn open_with(url: &str, options: HttpOptions) -> Result<HttpSource> {
        if !is_url(url) || is_s3_url(url) {
            return Err(Error::new(Kind::BadArgument, 0, "a URL begins with http:// or https://"));
        }
        let page = HttpRequester::new(url, &options);
        RemoteFile::open(RetryClient::new(page, options)).map(HttpSource)
    }
}

impl ReadAt for HttpSource {
    fn len(&self) -> u64 {
        self.0.len()
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read_at(offset, out)
    }

    fn end(&self) -> Option<Error> {
        self.0.end()
    }

    fn coalesce_limit(&self) -> u64 {
        self.0.coalesce_limit()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_url_is_a_bad_argument() {
        for url in ["a.nx", "http://", "http:// /a", "https://a b/c"] {
            assert_eq!(HttpSource::open(url).unwrap_err().kind, Kind::BadArgument, "{url}");
        }
    }
}
