//! Compares the decisions of this crate's layer with the decisions of tower-http's layer, on a
//! matrix of requests and responses.

use std::convert::Infallible;

use bytes::Bytes;
use futures_util::FutureExt;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, VARY};
use http::{HeaderValue, Method, Request, Response};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use linerate_http::{CompressionLayer, Options};
use tower::{Layer, Service, ServiceExt, service_fn};
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer as Peer;

const ACCEPTS: &[&str] = &[
    "gzip",
    "x-gzip",
    "GZIP",
    "deflate",
    "gzip, deflate",
    "deflate, gzip;q=0.9",
    "gzip;q=0.5, deflate;q=0.5",
    "gzip;q=1.0, identity;q=0.5, *;q=0",
    "gzip;q=0, deflate",
    "gzip;q=0.001",
    "gzip;q=1.001, deflate;q=0.1",
    "gzip;q=nonsense, deflate",
    "br;q=1, gzip;q=0.8, *;q=0.1",
    "br",
    "identity",
    "identity;q=0.5, gzip;q=0.4",
    "zstd, br",
    "",
    "*",
    "*;q=0",
    "gzip;q=0",
    "identity;q=0",
    "deflate;q=0, *",
    " gzip ; q=0.5 ",
];

/// Status, header fields, and length of the content in bytes.
type Row = (u16, &'static [(&'static str, &'static str)], usize);

const RESPONSES: &[Row] = &[
    (200, &[("content-type", "text/html")], 5_000),
    (200, &[("content-type", "text/html")], 1_000),
    (200, &[("content-type", "text/html")], 20),
    (404, &[("content-type", "application/json")], 5_000),
    (200, &[("content-type", "image/png")], 5_000),
    (200, &[("content-type", "image/svg+xml")], 5_000),
    (200, &[("content-type", "video/mp4")], 5_000),
    (200, &[("content-type", "application/zip")], 5_000),
    (200, &[("content-type", "application/octet-stream")], 5_000),
    (200, &[], 5_000),
    (200, &[("content-type", "application/grpc")], 5_000),
    (200, &[("content-type", "application/grpc-web+proto")], 5_000),
    (200, &[("content-type", "text/event-stream")], 5_000),
    (200, &[("content-type", "text/html"), ("content-encoding", "br")], 5_000),
    (200, &[("content-type", "text/html"), ("content-range", "bytes 0-4999/9000")], 5_000),
    (206, &[("content-type", "text/html"), ("content-range", "bytes 0-4999/9000")], 5_000),
    (200, &[("content-type", "text/html"), ("cache-control", "no-transform")], 5_000),
    (200, &[("content-type", "text/html"), ("content-digest", "sha-256=:AA==:")], 5_000),
    (200, &[("content-type", "text/html"), ("vary", "origin")], 5_000),
    (200, &[("content-type", "text/html"), ("vary", "accept-encoding")], 5_000),
    (200, &[("content-type", "text/html"), ("vary", "*")], 5_000),
    (304, &[("content-type", "text/html")], 0),
];

/// The decision of a layer: the status, the content coding and `Vary` of its response.
#[derive(Debug, PartialEq, Eq)]
struct Decision {
    status: u16,
    coding: Option<HeaderValue>,
    vary: Vec<HeaderValue>,
}

fn response((status, fields, len): &Row) -> Response<Full<Bytes>> {
    let builder = Response::builder().status(*status);
    let builder = fields.iter().fold(builder, |builder, (name, value)| builder.header(*name, *value));
    builder.body(Full::new(Bytes::from("a".repeat(*len)))).expect("a response")
}

fn decide<S, B>(mut service: S, accept: &str) -> Decision
where
    S: Service<Request<()>, Response = Response<B>, Error = Infallible>,
    B: Body,
    B::Error: std::fmt::Debug,
{
    let request = Request::builder().method(Method::GET).header(ACCEPT_ENCODING, accept).body(());
    let answer =
        service.call(request.expect("a request")).now_or_never().expect("ready").expect("infallible");
    let (parts, body) = answer.into_parts();
    body.collect().now_or_never().expect("ready").expect("a body");
    Decision {
        status: parts.status.as_u16(),
        coding: parts.headers.get(CONTENT_ENCODING).cloned(),
        vary: parts.headers.get_all(VARY).iter().cloned().collect(),
    }
}

/// Why the two layers decide differently, if they do so on purpose.
fn explanation(accept: &str, fields: &[(&str, &str)], len: usize, status: u16) -> Option<&'static str> {
    let has = |name: &str, value: &str| fields.contains(&(name, value));
    let content_type = fields.iter().find(|field| field.0 == "content-type").map(|field| field.1);
    match () {
        // RFC 9110, section 12.5.3, leaves the choice to the server. A response in a coding that
        // the client did not ask for tells it more than 406.
        () if matches!(accept, "*;q=0" | "identity;q=0") => Some("tower-http answers 406 instead"),
        () if status == 304 => Some("304 has no content, but a Vary field"),
        () if len == 1_000 => Some("the minimum is 1,024 bytes and not 32"),
        () if has("cache-control", "no-transform") => Some("RFC 9111, section 5.2.2.6"),
        () if fields.iter().any(|field| field.0 == "content-digest") => {
            Some("RFC 9530: the digest would be wrong")
        }
        () if has("vary", "*") => Some("nothing can be added to *"),
        () => match content_type {
            None | Some("video/mp4" | "application/zip" | "application/octet-stream") => {
                Some("the content is compressed already, or its type is unknown")
            }
            Some("application/grpc-web+proto") => Some("messages have a compression of their own"),
            Some("text/event-stream") => Some("events are flushed at once, and have a window"),
            Some(_) => None,
        },
    }
}

#[test]
fn decisions_are_those_of_tower_http_or_explained() {
    let (mut same, mut explained) = (0, 0);
    for row in RESPONSES {
        let inner = || service_fn(move |_: Request<()>| async move { Ok::<_, Infallible>(response(row)) });
        for accept in ACCEPTS {
            let ours = decide(CompressionLayer::new(Options::new()).layer(inner()), accept);
            let peers = decide(Peer::new().quality(CompressionLevel::Fastest).layer(inner()), accept);
            match explanation(accept, row.1, row.2, row.0) {
                None => {
                    assert_eq!(ours, peers, "{accept:?} {row:?}");
                    same += 1;
                }
                Some(_) => explained += usize::from(ours != peers),
            }
        }
    }
    assert!(same >= 200, "{same} decisions are compared");
    assert!(explained >= 100, "{explained} differences: is each explanation still needed?");
}

/// An explanation without a difference is out of date.
#[test]
fn every_explanation_is_needed() {
    for row in RESPONSES {
        let inner = || service_fn(move |_: Request<()>| async move { Ok::<_, Infallible>(response(row)) });
        let differs = |accept: &&str| {
            decide(CompressionLayer::default().layer(inner()), accept)
                != decide(Peer::new().layer(inner()), accept)
        };
        let accepts: Vec<&str> = ACCEPTS.iter().copied().filter(|a| !a.ends_with("q=0")).collect();
        if explanation("gzip", row.1, row.2, row.0).is_some() {
            assert!(accepts.iter().any(differs), "{row:?}");
        }
    }
    let html = &RESPONSES[0];
    let inner = || service_fn(move |_: Request<()>| async move { Ok::<_, Infallible>(response(html)) });
    for accept in ACCEPTS.iter().filter(|accept| explanation(accept, html.1, html.2, html.0).is_some()) {
        let ours = decide(CompressionLayer::default().layer(inner()), accept);
        assert_ne!(ours, decide(Peer::new().layer(inner()), accept), "{accept:?}");
    }
    let answer = CompressionLayer::default().layer(inner()).oneshot(Request::new(()));
    assert_eq!(answer.now_or_never().expect("ready").expect("infallible").status(), 200);
}
