//! Requests over HTTP and HTTPS.

use core::ops::Range;
use std::time::Duration;

use ureq::config::RedirectAuthHeaders;
use ureq::http::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CONTENT_LENGTH, IF_MATCH, IF_UNMODIFIED_SINCE, RANGE, RETRY_AFTER,
};
use ureq::http::{HeaderMap, Request, Response, StatusCode};
use ureq::{Agent, AsSendBody, Body};

use super::HttpOptions;
use super::request_error::RequestError;
use super::response::{self, FileVersion};
use super::retry::{RangeRequester, RangeResponse};

/// Number of redirects that one request follows at most.
const MAX_REDIRECTS: u32 = 5;

/// Longest timeout; longer ones are lowered to it. A timeout without a limit could overflow when it
/// is added to the current time.
const MAX_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);
/// Slowest acceptable rate of a response. A request fails if it takes longer than twice the timeout
/// plus the time that its bytes take at this rate.
const MIN_BYTES_PER_SECOND: u64 = 16 << 10;

/// An HTTP client that keeps connections between requests.
#[derive(Clone, Debug)]
pub(super) struct HttpTransport {
    agent: Agent,
    timeout: Duration,
}

impl HttpTransport {
    /// Makes a client. With `secure` only HTTPS is allowed; with `follows` up to [`MAX_REDIRECTS`]
    /// redirects are followed.
    pub(super) fn new(options: &HttpOptions, secure: bool, follows: bool) -> HttpTransport {
        let timeout = options.timeout.min(MAX_TIMEOUT);
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .user_agent(concat!("linerate/", env!("CARGO_PKG_VERSION")))
            .https_only(secure)
            .max_redirects(if follows { MAX_REDIRECTS } else { 0 })
            .redirect_auth_headers(RedirectAuthHeaders::SameHost)
            .timeout_connect(Some(timeout))
            .timeout_recv_response(Some(timeout))
            .timeout_per_read(Some(timeout))
            .timeout_per_write(Some(timeout));
        if !options.use_proxies {
            config = config.proxy(None);
        }
        HttpTransport { agent: config.build().new_agent(), timeout }
    }

    /// Sends a request whose response has about `len` bytes.
    pub(super) fn send(
        &self,
        request: Request<impl AsSendBody>,
        len: u64,
    ) -> Result<Response<Body>, RequestError> {
        let time_limit =
            Duration::from_secs(len / MIN_BYTES_PER_SECOND).saturating_add(self.timeout.saturating_mul(2));
        let request = self.agent.configure_request(request).timeout_global(Some(time_limit)).build();
        self.agent.run(request).map_err(|e| RequestError::from_transport(&e))
    }
}

/// Parses a response to a range request. Any status but 206 is an error.
pub(super) fn range_response(response: Response<Body>) -> Result<RangeResponse, RequestError> {
    let (parts, body) = response.into_parts();
    if parts.status == 200 && parts.headers.get(CONTENT_LENGTH).is_some_and(|len| len == "0") {
        return Err(RequestError::empty());
    }
    if parts.status != 206 {
        return Err(status_error(parts.status, &parts.headers));
    }
    let (range, version) = response::read(&parts.headers)?;
    if body.content_length().is_some_and(|header| header != range.end - range.start) {
        return Err(RequestError::corrupt("the server's Content-Length is not that of its range"));
    }
    Ok(RangeResponse { range, version, body: Box::new(body.into_reader()) })
}

/// Makes the error of a response whose status is not the expected one.
pub(super) fn status_error(status: StatusCode, headers: &HeaderMap) -> RequestError {
    let after = headers.get(RETRY_AFTER).and_then(|after| response::number(after.to_str().ok()?));
    RequestError::from_status(status.as_u16(), Duration::from_secs(after.unwrap_or(0)))
}

/// Requests ranges of the file at a URL.
#[derive(Debug)]
pub(super) struct HttpRequester {
    transport: HttpTransport,
    /// The URL without user and password.
    url: String,
    authorization: Option<String>,
}

impl HttpRequester {
    pub(super) fn new(url: &str, options: &HttpOptions) -> HttpRequester {
        let secure = url.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"));
        let (url, authorization) = split_credentials(url);
        HttpRequester { transport: HttpTransport::new(options, secure, true), url, authorization }
    }
}

impl RangeRequester for HttpRequester {
    fn request(
        &self,
        wanted: Range<u64>,
        version: Option<&FileVersion>,
    ) -> Result<RangeResponse, RequestError> {
        let unchanged = version.and_then(|version| {
            let tag = version.strong_etag().map(|tag| (IF_MATCH, tag));
            tag.or_else(|| version.last_modified().map(|time| (IF_UNMODIFIED_SINCE, time)))
        });
        let mut request = Request::get(&self.url)
            .header(RANGE, format!("bytes={}-{}", wanted.start, wanted.end - 1))
            // Ranges of a compressed response would count compressed bytes.
            .header(ACCEPT_ENCODING, "identity");
        let authorization = self.authorization.as_deref().map(|value| (AUTHORIZATION, value));
        for (name, value) in authorization.into_iter().chain(unchanged) {
            request = request.header(name, value);
        }
        let request = request.body(()).map_err(|e| RequestError::from_transport(&e.into()))?;
        range_response(self.transport.send(request, wanted.end - wanted.start)?)
    }
}

/// Splits user and password off a URL. Returns the URL without them, and the value of the
/// `Authorization` header for them, if there are any.
fn split_credentials(url: &str) -> (String, Option<String>) {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
    let Some((credentials, _)) = authority.rsplit_once('@') else { return (url.to_owned(), None) };
    let url = format!("{scheme}://{}", &rest[credentials.len() + 1..]);
    let (user, password) = credentials.split_once(':').unwrap_or((credentials, ""));
    let pair = [percent_decoded(user), percent_decoded(password)].join(&b':');
    (url, Some(format!("Basic {}", base64(&pair))))
}

/// Replaces `%XX` by its byte. Other percent signs stay.
fn percent_decoded(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let (mut decoded, mut at) = (Vec::new(), 0);
    while let Some(&byte) = bytes.get(at) {
        let hex =
            bytes.get(at + 1..at + 3).filter(|hex| byte == b'%' && hex.iter().all(u8::is_ascii_hexdigit));
        let value = hex.and_then(|hex| u8::from_str_radix(core::str::from_utf8(hex).ok()?, 16).ok());
        decoded.push(value.unwrap_or(byte));
        at += if value.is_some() { 3 } else { 1 };
    }
    decoded
}

/// Encodes in Base64 with padding (RFC 4648, section 4).
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let bits = (0..3).fold(0u32, |bits, i| bits << 8 | u32::from(three.get(i).copied().unwrap_or(0)));
        for digit in 0..4 {
            match digit <= three.len() {
                true => text.push(DIGITS[(bits >> (18 - 6 * digit)) as usize & 63].into()),
                false => text.push('='),
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_and_password_are_decoded_once_and_leave_the_url() {
        for (url, rest, pair) in [
            ("http://a/b@c", "http://a/b@c", None),
            ("http://user:p%40ss@a:80/b?c", "http://a:80/b?c", Some("user:p@ss")),
            ("https://u%3Aser@a", "https://a", Some("u:ser:")),
            ("http://a@b:c@d@host/", "http://host/", Some("a@b:c@d")),
            ("http://u:100%@host/", "http://host/", Some("u:100%")),
            ("http://u:%2540+%zz@host/", "http://host/", Some("u:%40+%zz")),
            ("http://u:%C3%A9@host/", "http://host/", Some("u:\u{e9}")),
        ] {
            let expected = pair.map(|pair| format!("Basic {}", base64(pair.as_bytes())));
            assert_eq!(split_credentials(url), (rest.to_owned(), expected), "{url}");
        }
    }

    #[test]
    fn pause_is_a_number_of_seconds_without_a_sign() {
        for (value, seconds) in [("5", 5), ("+5", 0), ("-5", 0), ("Sat, 28 Nov 2026 20:49:01 GMT", 0)] {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, value.parse().expect("a header"))]);
            let error = status_error(StatusCode::TOO_MANY_REQUESTS, &headers);
            assert_eq!(error.retry_after, Some(Duration::from_secs(seconds)), "{value}");
        }
    }

    /// The vectors of RFC 4648, section 10.
    #[test]
    fn base64_is_padded() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }
}
