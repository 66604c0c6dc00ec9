//! Requests over HTTP and HTTPS.

use core::ops::Range;
use std::time::Duration;

use ureq::http::header::{ACCEPT_ENCODING, RANGE, RETRY_AFTER};
use ureq::http::{Request, Response};
use ureq::{Agent, AsSendBody, Body};

use super::HttpOptions;
use super::request_error::RequestError;
use super::response::{self, FileVersion};
use super::retry::{RangeRequester, RangeResponse};

/// Redirects that one request follows.
const MAX_REDIRECTS: u32 = 5;

/// Larger timeouts would overflow the addition to the current time.
const MAX_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// An HTTP client that keeps connections between requests.
#[derive(Clone, Debug)]
pub(super) struct HttpTransport {
    agent: Agent,
    timeout: Duration,
    min_bytes_per_second: u64,
}

impl HttpTransport {
    /// With `secure` only HTTPS is allowed; with `follows` redirects are followed.
    pub(super) fn new(options: &HttpOptions, secure: bool, follows: bool) -> HttpTransport {
        let timeout = options.timeout.min(MAX_TIMEOUT);
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .user_agent(concat!("linerate/", env!("CARGO_PKG_VERSION")))
            .https_only(secure)
            .max_redirects(if follows { MAX_REDIRECTS } else { 0 })
            .timeout_connect(Some(timeout))
            .timeout_recv_response(Some(timeout))
            .timeout_per_read(Some(timeout))
            .timeout_per_write(Some(timeout));
        if !options.use_proxies {
            config = config.proxy(None);
        }
        HttpTransport {
            agent: config.build().new_agent(),
            timeout,
            min_bytes_per_second: options.min_bytes_per_second.max(1),
        }
    }

    /// Sends a request with a response of about `len` bytes.
    pub(super) fn send(
        &self,
        request: Request<impl AsSendBody>,
        len: u64,
    ) -> Result<Response<Body>, RequestError> {
        let time_limit = Duration::from_secs(len / self.min_bytes_per_second)
            .saturating_add(self.timeout.saturating_mul(2));
        let request = self.agent.configure_request(request).timeout_global(Some(time_limit)).build();
        self.agent.run(request).map_err(|e| RequestError::from_transport(&e))
    }
}

/// Checks that a response has a range.
pub(super) fn range_response(response: Response<Body>) -> Result<RangeResponse, RequestError> {
    let (parts, body) = response.into_parts();
    if parts.status != 206 {
        let after = parts.headers.get(RETRY_AFTER).and_then(|after| after.to_str().ok()?.parse().ok());
        return Err(RequestError::from_status(
            parts.status.as_u16(),
            Duration::from_secs(after.unwrap_or(0)),
        ));
    }
    let (range, version) = response::read(&parts.headers)?;
    if body.content_length().is_some_and(|header| header != range.end - range.start) {
        return Err(RequestError::corrupt("the server's Content-Length is not that of its range"));
    }
    Ok(RangeResponse { range, version, body: Box::new(body.into_reader()) })
}

/// Requests ranges of a file at a URL.
#[derive(Debug)]
pub(super) struct HttpRequester {
    transport: HttpTransport,
    url: String,
}

impl HttpRequester {
    pub(super) fn new(url: &str, options: &HttpOptions) -> HttpRequester {
        let secure = url.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"));
        HttpRequester { transport: HttpTransport::new(options, secure, true), url: url.to_owned() }
    }
}

impl RangeRequester for HttpRequester {
    fn request(
        &self,
        wanted: Range<u64>,
        _version: Option<&FileVersion>,
    ) -> Result<RangeResponse, RequestError> {
        let request = Request::get(&self.url)
            .header(RANGE, format!("bytes={}-{}", wanted.start, wanted.end - 1))
            // Compressed responses would have other ranges.
            .header(ACCEPT_ENCODING, "identity")
            .body(())
            .map_err(|e| RequestError::from_transport(&e.into()))?;
        range_response(self.transport.send(request, wanted.end - wanted.start)?)
    }
}
