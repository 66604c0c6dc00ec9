//! Tests a server on axum with a client of hyper, over loopback.

use std::convert::Infallible;

use axum::body::Body;
use axum::extract::State;
use axum::response::sse::{Event, Sse};
use axum::response::{Html, Response};
use axum::routing::{any, get};
use axum::{Extension, Router};
use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, HOST, RANGE, TRANSFER_ENCODING, VARY};
use http::{HeaderMap, HeaderValue, Method, Request};
use http_body::Frame;
use http_body_util::{BodyExt, Empty, StreamBody};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use linerate_http::{Coding, CompressionLayer, NoCompression};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::broadcast::{Sender, channel};

use crate::common::Decoder;

type Client = SendRequest<Empty<Bytes>>;

fn page() -> String {
    "<p>a page</p>\n".repeat(1000)
}

/// Sends an event for each text that arrives in the channel.
async fn events(State(sender): State<Sender<String>>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let texts =
        stream::unfold(
            sender.subscribe(),
            |mut texts| async move { Some((texts.recv().await.ok()?, texts)) },
        );
    Sse::new(texts.map(|text| Ok(Event::default().data(text))))
}

/// Answers with a body that sends its beginning, and fails once a text arrives in the channel.
async fn broken(State(sender): State<Sender<String>>) -> Response {
    let mut texts = sender.subscribe();
    let beginning = stream::iter([Ok("<p>the beginning</p>\n".repeat(100))]);
    let end = stream::once(async move { Err(texts.recv().await.unwrap_or_default()) });
    Response::builder()
        .header("content-type", "text/html")
        .body(Body::from_stream(beginning.chain(end)))
        .expect("a response")
}

async fn with_trailers() -> Response {
    let mut trailers = HeaderMap::new();
    trailers.insert("x-checked", HeaderValue::from_static("yes"));
    let frames = [Frame::data(Bytes::from(page())), Frame::trailers(trailers)];
    Response::builder()
        .header("content-type", "text/html")
        .header("trailer", "x-checked")
        .body(Body::new(StreamBody::new(stream::iter(frames.map(Ok::<_, Infallible>)))))
        .expect("a response")
}

fn router(sender: Sender<String>) -> Router {
    Router::new()
        .route("/", get(|| async { Html(page()) }))
        .route("/secret", any(|| async { (Extension(NoCompression), Html(page())) }))
        .route("/short", get(|| async { Html("short") }))
        .route("/broken", get(broken))
        .route("/trailers", get(with_trailers))
        .route("/events", get(events))
        .layer(CompressionLayer::default())
        .with_state(sender)
}

/// Starts a server and connects to it.
async fn connect(sender: Sender<String>) -> Client {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move { axum::serve(listener, router(sender)).await });
    let socket = TcpStream::connect(address).await.expect("a server");
    let (client, connection) = handshake(TokioIo::new(socket)).await.expect("a connection");
    tokio::spawn(connection);
    client
}

async fn ask(client: &mut Client, method: Method, path: &str, accept: &str) -> http::Response<Incoming> {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(HOST, "localhost")
        .header(ACCEPT_ENCODING, accept)
        .header(RANGE, "bytes=0-9")
        .header("te", "trailers")
        .body(Empty::new());
    client.ready().await.expect("a connection");
    client.send_request(request.expect("a request")).await.expect("a response")
}

fn decode(coding: Coding, bytes: &[u8]) -> Vec<u8> {
    let mut decoder = Decoder::new(coding);
    decoder.push(bytes);
    decoder.finish()
}

#[tokio::test]
async fn pages_arrive_in_the_coding_that_the_client_accepts() {
    let mut client = connect(channel(1).0).await;
    for (accept, coding) in [("gzip", Some(Coding::Gzip)), ("deflate", Some(Coding::Deflate)), ("br", None)] {
        let response = ask(&mut client, Method::GET, "/", accept).await;
        let headers = response.headers().clone();
        assert_eq!(headers[VARY], "accept-encoding");
        assert_eq!(headers.get(CONTENT_ENCODING), coding.map(|coding| coding.header_value()).as_ref());
        assert_eq!(headers.contains_key(CONTENT_LENGTH), coding.is_none());
        let bytes = response.collect().await.expect("a body").to_bytes();
        let content = coding.map_or(bytes.to_vec(), |coding| decode(coding, &bytes));
        assert!(content == page().as_bytes());
    }
}

#[tokio::test]
async fn head_has_the_fields_of_get() {
    let mut client = connect(channel(1).0).await;
    for path in ["/", "/short", "/secret"] {
        let [get, head] = [Method::GET, Method::HEAD].map(|method| (method, path));
        let mut fields = Vec::new();
        for (method, path) in [get, head] {
            let mut response = ask(&mut client, method, path, "gzip").await;
            response.headers_mut().remove("date");
            // This field describes the message, not the content.
            response.headers_mut().remove(TRANSFER_ENCODING);
            fields.push(response.headers().clone());
            response.collect().await.expect("a body");
        }
        assert_eq!(fields[0], fields[1], "{path}");
    }
}

#[tokio::test]
async fn short_and_secret_pages_are_not_compressed() {
    let mut client = connect(channel(1).0).await;
    for (path, content) in [("/short", "short".to_owned()), ("/secret", page())] {
        let response = ask(&mut client, Method::GET, path, "gzip").await;
        assert!(!response.headers().contains_key(CONTENT_ENCODING) && !response.headers().contains_key(VARY));
        assert!(response.collect().await.expect("a body").to_bytes() == content);
    }
}

#[tokio::test]
async fn events_arrive_before_the_next_one_is_sent() {
    let sender = channel(1).0;
    let mut client = connect(sender.clone()).await;
    let mut response = ask(&mut client, Method::GET, "/events", "gzip").await;
    assert_eq!(response.headers()[CONTENT_ENCODING], "gzip");
    let mut decoder = Decoder::new(Coding::Gzip);
    let mut expected = String::new();
    for event in 0..50 {
        sender.send(format!("event {event}")).expect("a receiver");
        expected += &format!("data: event {event}\n\n");
        while decoder.push(&[]).len() < expected.len() {
            let frame = response.frame().await.expect("an event").expect("a connection");
            decoder.push(&frame.into_data().expect("data"));
        }
        assert!(decoder.push(&[]) == expected.as_bytes());
    }
    drop(response);
    // The server drops the body once it cannot send to the client.
    while sender.receiver_count() > 0 {
        let _ = sender.send("to nobody".to_owned());
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn trailers_arrive_after_the_content() {
    let mut client = connect(channel(1).0).await;
    let response = ask(&mut client, Method::GET, "/trailers", "gzip").await;
    let body = response.collect().await.expect("a body");
    assert_eq!(body.trailers().expect("trailers")["x-checked"], "yes");
    assert!(decode(Coding::Gzip, &body.to_bytes()) == page().as_bytes());
}

#[tokio::test]
async fn failing_body_is_an_error_at_the_client() {
    let sender = channel(1).0;
    let mut client = connect(sender.clone()).await;
    let response = ask(&mut client, Method::GET, "/broken", "gzip").await;
    sender.send("lost".to_owned()).expect("a receiver");
    assert!(response.collect().await.is_err());
}
