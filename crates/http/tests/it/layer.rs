//! Tests what the layer does with a response, depending on the request and the response.

use std::convert::Infallible;

use bytes::Bytes;
use futures_util::FutureExt;
use http::header::{
    ACCEPT_ENCODING, ACCEPT_RANGES, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG, HeaderName, VARY,
};
use http::{Method, Request, Response, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt, Empty, Full};
use linerate_http::{Coding, Compression, CompressionBody, Level, NoCompression, Options};
use tower::{ServiceExt, service_fn};

use crate::common::Decoder;

/// The response of the inner service.
fn page() -> Response<Full<Bytes>> {
    Response::builder()
        .header(CONTENT_TYPE, "text/html")
        .header(CONTENT_LENGTH, "14000")
        .header(ACCEPT_RANGES, "bytes")
        .header(ETAG, "\"1\"")
        .body(Full::new(Bytes::from("<p>a page</p>\n".repeat(1000))))
        .expect("a response")
}

fn request(method: Method, accept: &str) -> Request<()> {
    Request::builder().method(method).header(ACCEPT_ENCODING, accept).body(()).expect("a request")
}

fn answer<B>(request: Request<()>, response: Response<B>, options: Options) -> Response<CompressionBody<B>>
where
    B: Body + Clone,
{
    let inner = service_fn(|_| async { Ok::<_, Infallible>(response.clone()) });
    let answer = Compression::new(inner, options).oneshot(request).now_or_never();
    answer.expect("ready").expect("infallible")
}

fn get<B: Body + Clone>(accept: &str, response: Response<B>) -> Response<CompressionBody<B>> {
    answer(request(Method::GET, accept), response, Options::new())
}

fn field<B>(response: &Response<B>, name: HeaderName) -> Option<&str> {
    response.headers().get(name).map(|value| value.to_str().expect("ASCII"))
}

fn content<B>(response: Response<B>) -> Bytes
where
    B: Body<Data = Bytes, Error = Infallible>,
{
    response.into_body().collect().now_or_never().expect("ready").expect("infallible").to_bytes()
}

#[test]
fn page_is_compressed_and_its_fields_say_so() {
    for (accept, coding, name) in
        [("gzip, br", Coding::Gzip, "gzip"), ("deflate", Coding::Deflate, "deflate")]
    {
        let response = get(accept, page());
        assert_eq!(field(&response, CONTENT_ENCODING), Some(name));
        assert_eq!(field(&response, VARY), Some("accept-encoding"));
        assert_eq!(field(&response, ETAG), Some("W/\"1\""));
        assert_eq!(field(&response, CONTENT_LENGTH), None);
        assert_eq!(field(&response, ACCEPT_RANGES), None);
        let mut decoder = Decoder::new(coding);
        decoder.push(&content(response));
        assert!(decoder.finish() == content(page()));
    }
}

#[test]
fn client_without_a_coding_gets_the_page_as_it_is_and_is_told_that_it_varies() {
    for accept in ["", "br", "identity", "gzip;q=0", "*;q=0"] {
        let response = get(accept, page());
        assert_eq!(field(&response, VARY), Some("accept-encoding"), "{accept}");
        assert_eq!(field(&response, CONTENT_ENCODING), None);
        assert_eq!(field(&response, ETAG), Some("\"1\""));
        assert_eq!(field(&response, CONTENT_LENGTH), Some("14000"));
        assert_eq!(field(&response, ACCEPT_RANGES), Some("bytes"));
        assert_eq!(response.body().size_hint().exact(), Some(14_000));
        assert!(content(response) == content(page()));
    }
}

#[test]
fn vary_is_extended_only_if_it_lacks_accept_encoding() {
    for (before, after) in [
        (&[][..], &["accept-encoding"][..]),
        (&["Origin"], &["Origin", "accept-encoding"]),
        (&["Origin, Accept-Encoding"], &["Origin, Accept-Encoding"]),
        (&["Origin", "ACCEPT-ENCODING"], &["Origin", "ACCEPT-ENCODING"]),
        (&["X-Accept-Encoding"], &["X-Accept-Encoding", "accept-encoding"]),
        (&["*"], &["*"]),
    ] {
        let mut response = page();
        before
            .iter()
            .for_each(|value| _ = response.headers_mut().append(VARY, value.parse().expect("valid")));
        let response = get("gzip", response);
        let values: Vec<_> =
            response.headers().get_all(VARY).iter().map(|v| v.to_str().expect("ASCII")).collect();
        assert_eq!(values, after);
    }
}

#[test]
fn weak_etag_stays_and_a_missing_one_is_not_added() {
    let mut response = page();
    response.headers_mut().insert(ETAG, "W/\"2\"".parse().expect("valid"));
    assert_eq!(field(&get("gzip", response), ETAG), Some("W/\"2\""));
    let mut response = page();
    response.headers_mut().remove(ETAG);
    assert_eq!(field(&get("gzip", response), ETAG), None);
}

#[test]
fn ineligible_response_is_passed_on_unchanged() {
    let short =
        Response::builder().header(CONTENT_TYPE, "text/html").body(Full::new(Bytes::from_static(b"short")));
    let mut png = page();
    png.headers_mut().insert(CONTENT_TYPE, "image/png".parse().expect("valid"));
    let mut part = page();
    *part.status_mut() = StatusCode::PARTIAL_CONTENT;
    let mut secret = page();
    secret.extensions_mut().insert(NoCompression);
    for response in [short.expect("a response"), png, part, secret] {
        let compressed = get("gzip", response.clone());
        assert_eq!(compressed.headers(), response.headers());
        assert!(content(compressed) == content(response));
    }
}

#[test]
fn head_has_the_fields_of_get_and_no_content() {
    let full = answer(request(Method::HEAD, "gzip"), page(), Options::new());
    assert_eq!(full.headers(), get("gzip", page()).headers());
    assert!(full.body().is_end_stream() && full.body().size_hint().exact().is_none());
    assert_eq!(content(full), b""[..]);
    let mut head = page().map(|_| Empty::<Bytes>::new());
    let response = answer(request(Method::HEAD, "gzip"), head.clone(), Options::new());
    assert_eq!(response.headers(), get("gzip", page()).headers());
    // A page of this length is also too short to be compressed in a response to GET.
    head.headers_mut().insert(CONTENT_LENGTH, "1000".parse().expect("valid"));
    let response = answer(request(Method::HEAD, "gzip"), head.clone(), Options::new());
    assert_eq!(response.headers(), head.headers());
}

#[test]
fn head_of_an_empty_resource_has_the_fields_of_get() {
    for fields in [&[(CONTENT_LENGTH, "0")][..], &[]] {
        let mut empty = Response::new(Full::new(Bytes::new()));
        empty.headers_mut().insert(CONTENT_TYPE, "text/html".parse().expect("valid"));
        empty.headers_mut().insert(ETAG, "\"1\"".parse().expect("valid"));
        fields
            .iter()
            .for_each(|(name, value)| _ = empty.headers_mut().insert(name, value.parse().expect("valid")));
        let head = answer(request(Method::HEAD, "gzip"), empty.clone(), Options::new().min_size(0));
        let get = answer(request(Method::GET, "gzip"), empty.clone(), Options::new().min_size(0));
        assert_eq!(head.headers(), get.headers());
        assert_eq!(head.headers(), empty.headers());
    }
}

#[test]
fn etag_of_304_is_weak_as_that_of_the_compressed_page() {
    let mut response = Response::new(Empty::<Bytes>::new());
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    response.headers_mut().insert(ETAG, "\"1\"".parse().expect("valid"));
    let gzip = get("gzip", response.clone());
    assert_eq!((field(&gzip, ETAG), field(&gzip, VARY)), (Some("W/\"1\""), Some("accept-encoding")));
    assert_eq!(field(&gzip, CONTENT_ENCODING), None);
    assert!(gzip.body().is_end_stream());
    let identity = get("br", response);
    assert_eq!((field(&identity, ETAG), field(&identity, VARY)), (Some("\"1\""), Some("accept-encoding")));
}

#[test]
fn level_and_minimum_size_come_from_the_options() {
    let sizes = Level::ALL.map(|level| {
        let response = answer(request(Method::GET, "gzip"), page(), Options::new().level(level));
        content(response).len()
    });
    assert_eq!(sizes[0], 14_000, "stored is not compressed");
    assert!(sizes[1..].iter().all(|size| *size < 1_000), "{sizes:?}");
    let long = answer(request(Method::GET, "gzip"), page(), Options::new().min_size(14_001));
    assert_eq!(field(&long, CONTENT_ENCODING), None);
}

#[test]
fn above_the_limit_new_responses_are_not_compressed_and_running_ones_continue_stored() {
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    use std::time::Duration;
    // Each reading of this clock advances it by an hour of CPU time, while elapsed time runs as
    // usual.
    static HOURS: AtomicU64 = AtomicU64::new(0);
    let clock = || Duration::from_secs(3600 * HOURS.fetch_add(1, Relaxed));
    let options = Options::new().level(Level::Fast).max_cpu(100).cpu_clock(clock);
    let inner = service_fn(|_: Request<()>| async { Ok::<_, Infallible>(page()) });
    let service = Compression::new(inner, options);
    let ask = || {
        service.clone().oneshot(request(Method::GET, "gzip")).now_or_never().expect("ready").expect("page")
    };
    let first = ask();
    assert_eq!(field(&first, CONTENT_ENCODING), Some("gzip"));
    // However long this loop takes, an hour of CPU time is more.
    while field(&ask(), CONTENT_ENCODING).is_some() {
        std::thread::yield_now();
    }
    let stored = content(first);
    assert!(stored.len() > 14_000, "{}", stored.len());
    let mut decoder = Decoder::new(Coding::Gzip);
    decoder.push(&stored);
    assert!(decoder.finish() == content(page()));
    let now = ask();
    assert_eq!((field(&now, VARY), field(&now, ETAG)), (Some("accept-encoding"), Some("\"1\"")));
}

#[test]
fn window_of_events_comes_from_the_options() {
    let events: String =
        (0..200).map(|i| format!("data: {{\"symbol\":\"BTC-USD\",\"price\":{i}}}\n\n")).collect();
    let first_byte = |content_type: &str, options: Options| {
        let response = Response::builder()
            .header(CONTENT_TYPE, content_type)
            .body(Full::new(Bytes::from(events.clone())))
            .expect("a response");
        content(answer(request(Method::GET, "deflate"), response, options))[0]
    };
    // The header of zlib states the size of the window (RFC 1950, section 2.2).
    assert_eq!(first_byte("text/event-stream", Options::new()) >> 4, 11 - 8);
    assert_eq!(first_byte("text/event-stream", Options::new().event_window_bits(3)) >> 4, 0);
    assert_eq!(first_byte("text/event-stream", Options::new().event_window_bits(0)) >> 4, 7);
    assert_eq!(first_byte("text/plain", Options::new()) >> 4, 7);
}

#[test]
fn error_of_the_service_is_passed_on() {
    let inner = service_fn(|_: Request<()>| async { Err::<Response<Full<Bytes>>, _>("down") });
    let answer = Compression::new(inner, Options::new()).oneshot(request(Method::GET, "gzip")).now_or_never();
    assert_eq!(answer.expect("ready").expect_err("an error"), "down");
}
