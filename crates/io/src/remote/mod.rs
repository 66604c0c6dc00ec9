//! Files on a server: each read is a range request over HTTP or HTTPS.

mod answer;
#[cfg(feature = "s3")]
mod bucket;
mod fault;
mod link;
mod ranges;
mod web;

use std::io;
use std::time::Duration;

use linerate_core::{Error, Kind, Result};

#[cfg(feature = "s3")]
pub use self::bucket::S3Source;
use self::link::Link;
use self::ranges::Ranges;
use self::web::Page;
use crate::read_at::ReadAt;
use crate::url::{is_s3_url, is_url};

/// How patient an [`HttpSource`] is, and how it asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpOptions {
    /// How long the server may be silent, while connecting and afterwards. 30 seconds.
    pub silence: Duration,
    /// Bytes per second below which a request, all in all, takes too long; twice the silence comes
    /// on top. 16 KiB.
    pub slowest: u64,
    /// How often one range is asked for before its read fails, at least once. What has come of it
    /// is kept from one try to the next. 4.
    pub tries: u32,
    /// The pause before the second try; each further one is twice as long. A server that names a
    /// longer one gets it, up to ten seconds. 200 milliseconds.
    pub pause: Duration,
    /// How long a server that was given up is left alone: every read fails at once meanwhile. 10
    /// seconds.
    pub rest: Duration,
    /// The most bytes that one request spans when neighbouring blocks are wanted. 4 MiB.
    pub reach: u64,
    /// Whether the proxies that the environment names are used. They are.
    pub proxies: bool,
}

impl Default for HttpOptions {
    fn default() -> Self {
        HttpOptions {
            silence: Duration::from_secs(30),
            slowest: 16 << 10,
            tries: 4,
            pause: Duration::from_millis(200),
            rest: Duration::from_secs(10),
            reach: 4 << 20,
            proxies: true,
        }
    }
}

/// A file on a server that serves ranges. Every answer is checked: that it is of the range
/// asked for, and of the file that was opened, by its length and by its `ETag` or, without one,
/// its `Last-Modified`.
///
/// Opening asks for the first 4 KiB only, which the source keeps. Connections are kept between
/// reads. Memory beside the buffers of the caller is those and a connection's buffers.
#[derive(Debug)]
pub struct HttpSource(Ranges);

impl HttpSource {
    /// Opens the file at that URL with the default [`HttpOptions`].
    ///
    /// # Errors
    ///
    /// [`Kind::BadArgument`] if it is no URL; [`Kind::Read`] if the server cannot be reached, is too
    /// slow, refuses, serves no ranges, breaks off, or redirects too often or from HTTPS to HTTP;
    /// [`Kind::Corrupt`] if it answers with what was not asked for; [`Kind::Truncated`] if
    /// the file is empty. Reads fail in the same ways, as [`io::Error`]s that wrap an [`Error`].
    pub fn open(url: &str) -> Result<HttpSource> {
        HttpSource::open_with(url, HttpOptions::default())
    }

    /// As [`HttpSource::open`], with other options.
    ///
    /// # Errors
    ///
    /// As [`HttpSource::open`].
    pub fn open_with(url: &str, options: HttpOptions) -> Result<HttpSource> {
        if !is_url(url) || is_s3_url(url) {
            return Err(Error::new(Kind::BadArgument, 0, "a URL begins with http:// or https://"));
        }
        let page = Page::new(url, &options);
        Ranges::open(Link::new(page, options)).map(HttpSource)
    }
}

impl ReadAt for HttpSource {
    fn len(&self) -> u64 {
        self.0.len()
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read_at(offset, out)
    }

    fn reach(&self) -> u64 {
        self.0.reach()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_url_is_an_argument_of_the_caller() {
        for url in ["a.nx", "http://", "http:// /a", "https://a b/c"] {
            assert_eq!(HttpSource::open(url).unwrap_err().kind, Kind::BadArgument, "{url}");
        }
    }
}
