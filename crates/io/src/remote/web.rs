//! Requests over HTTP and HTTPS.

use core::ops::Range;
use std::time::Duration;

use ureq::http::header::{ACCEPT_ENCODING, RANGE, RETRY_AFTER};
use ureq::http::{Request, Response};
use ureq::{Agent, AsSendBody, Body};

use super::HttpOptions;
use super::answer::{self, Known};
use super::fault::Fault;
use super::link::{Answer, Ask};

/// Redirects that one request follows.
const REDIRECTS: u32 = 5;

/// What is added to the time of day has to stay one.
const LONGEST_SILENCE: Duration = Duration::from_secs(24 * 60 * 60);

/// Connections that are kept from one request to the next.
#[derive(Clone, Debug)]
pub(super) struct Web {
    agent: Agent,
    silence: Duration,
    slowest: u64,
}

impl Web {
    /// `secure` admits HTTPS only.
    pub(super) fn new(options: &HttpOptions, secure: bool, follows: bool) -> Web {
        let silence = options.timeout.min(LONGEST_SILENCE);
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .user_agent(concat!("linerate/", env!("CARGO_PKG_VERSION")))
            .https_only(secure)
            .max_redirects(if follows { REDIRECTS } else { 0 })
            .timeout_connect(Some(silence))
            .timeout_recv_response(Some(silence))
            .timeout_per_read(Some(silence))
            .timeout_per_write(Some(silence));
        if !options.use_proxies {
            config = config.proxy(None);
        }
        Web { agent: config.build().new_agent(), silence, slowest: options.min_bytes_per_second.max(1) }
    }

    /// Sends a request whose answer has about `len` bytes.
    pub(super) fn send(&self, request: Request<impl AsSendBody>, len: u64) -> Result<Response<Body>, Fault> {
        let patience = Duration::from_secs(len / self.slowest).saturating_add(self.silence.saturating_mul(2));
        let request = self.agent.configure_request(request).timeout_global(Some(patience)).build();
        self.agent.run(request).map_err(|e| Fault::of_request(&e))
    }
}

/// The range that an answer holds, or what it says instead.
pub(super) fn judge(response: Response<Body>) -> Result<Answer, Fault> {
    let (parts, body) = response.into_parts();
    if parts.status != 206 {
        let after = parts.headers.get(RETRY_AFTER).and_then(|after| after.to_str().ok()?.parse().ok());
        return Err(Fault::of_status(parts.status.as_u16(), Duration::from_secs(after.unwrap_or(0))));
    }
    let (range, known) = answer::read(&parts.headers)?;
    if body.content_length().is_some_and(|said| said != range.end - range.start) {
        return Err(Fault::corrupt("the server's Content-Length is not that of its range"));
    }
    Ok(Answer { range, known, body: Box::new(body.into_reader()) })
}

/// A file at a URL.
#[derive(Debug)]
pub(super) struct Page {
    web: Web,
    url: String,
}

impl Page {
    pub(super) fn new(url: &str, options: &HttpOptions) -> Page {
        let secure = url.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"));
        Page { web: Web::new(options, secure, true), url: url.to_owned() }
    }
}

impl Ask for Page {
    fn ask(&self, wanted: Range<u64>, _known: Option<&Known>) -> Result<Answer, Fault> {
        let request = Request::get(&self.url)
            .header(RANGE, format!("bytes={}-{}", wanted.start, wanted.end - 1))
            // A compressed answer would have other ranges.
            .header(ACCEPT_ENCODING, "identity")
            .body(())
            .map_err(|e| Fault::of_request(&e.into()))?;
        judge(self.web.send(request, wanted.end - wanted.start)?)
    }
}
