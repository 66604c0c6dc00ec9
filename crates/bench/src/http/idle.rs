//! Resident memory of idle responses with server-sent events, on the loopback interface. Each
//! response has sent 20 events of about 75 bytes and waits for the next. The server is axum on one
//! thread; another process holds the clients. Without a layer the memory is that of hyper, tokio
//! and axum.

use std::convert::Infallible;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::response::sse::{Event, Sse};
use axum::routing::get;
use futures_util::{Stream, StreamExt, stream};
use linerate_http::{CompressionLayer, Options};
use tokio::net::TcpListener;
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer as Peer;
use tower_http::compression::predicate::SizeAbove;

use crate::harness::{message, process, row};
use crate::kernel::os::{resident, unlimited_files};
use crate::records::Measurement;

const EVENTS: usize = 20;
/// Names of the layers, and for those of Linerate the base-2 logarithm of the window in bytes, or 0
/// for no window. The number has no meaning for other layers.
const LAYERS: [(&str, u8); 9] = [
    ("none", 0),
    ("linerate, no window", 0),
    ("linerate, 512 bytes", 9),
    ("linerate, 2 KiB", 11),
    ("linerate, 8 KiB", 13),
    ("linerate, 32 KiB", 15),
    ("tower-http, fastest, zlib", 0),
    ("tower-http, default, zlib", 0),
    ("tower-http, best, zlib", 0),
];

/// Number of responses that have sent all their events.
static IDLE: AtomicUsize = AtomicUsize::new(0);

/// Measures the memory of `count` idle responses through each layer.
pub(super) fn measure(count: usize) -> Result<Vec<Measurement>, String> {
    let one = |(name, _)| {
        let words = ["http", name, &count.to_string()].map(str::to_owned);
        (row("http-idle", "idle responses", name), words.into())
    };
    process::idle(count, LAYERS.map(one).into())
}

/// Runs one of the child processes: a server, which returns the growth of its resident memory in
/// bytes, or the clients, which return 0.
///
/// # Errors
/// A sentence for the user.
pub fn child(words: &[String]) -> Result<usize, String> {
    unlimited_files();
    match words {
        [role, address, count] if role == "clients" => clients(address, count).map_err(message).map(|()| 0),
        [layer, count] => serve(layer, count.parse().map_err(|_| "the number is invalid")?).map_err(message),
        _ => Err("a layer and a number are needed".into()),
    }
}

async fn events() -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let events = stream::iter(0..EVENTS).then(|number| async move {
        tokio::task::yield_now().await;
        let data = format!(r#"{{"symbol":"BTC-USD","price":"{}","volume":{number}}}"#, number * 7919 % 1000);
        Ok(Event::default().event("price").id(number.to_string()).data(data))
    });
    let wait = stream::once(async {
        IDLE.fetch_add(1, Ordering::Relaxed);
        std::future::pending().await
    });
    Sse::new(events.chain(wait))
}

fn router(layer: &str) -> Option<Router> {
    let router = Router::new().route("/", get(events));
    let peer = |level| Peer::new().quality(level).compress_when(SizeAbove::new(0));
    let (name, bits) = LAYERS.iter().find(|(name, _)| *name == layer)?;
    Some(match *name {
        "none" => router,
        "tower-http, fastest, zlib" => router.layer(peer(CompressionLevel::Fastest)),
        "tower-http, default, zlib" => router.layer(peer(CompressionLevel::Default)),
        "tower-http, best, zlib" => router.layer(peer(CompressionLevel::Best)),
        _ => router.layer(CompressionLayer::new(Options::new().event_window_bits(*bits))),
    })
}

/// Connects, sends the requests, and waits for the end of standard input. The responses are not
/// read and stay in the system's buffers.
fn clients(address: &str, count: &str) -> std::io::Result<()> {
    let mut streams = Vec::new();
    for _ in 0..count.parse::<usize>().map_err(std::io::Error::other)? {
        let mut stream = TcpStream::connect(address)?;
        stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n")?;
        streams.push(stream);
    }
    std::io::stdin().read_to_end(&mut Vec::new()).map(drop)
}

#[tokio::main(flavor = "current_thread")]
async fn serve(layer: &str, count: usize) -> std::io::Result<usize> {
    let memory = || resident().ok_or_else(|| std::io::Error::other("the system does not tell"));
    let router = router(layer).ok_or_else(|| std::io::Error::other("no such layer"))?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?.to_string();
    let before = memory()?;
    tokio::spawn(async move { axum::serve(listener, router).await });
    let mut command = process::this(&["child", "http", "clients", &address, &count.to_string()])
        .map_err(std::io::Error::other)?;
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
    while IDLE.load(Ordering::Relaxed) < count {
        if let Some(status) = child.try_wait()? {
            return Err(std::io::Error::other(format!("the clients ended early: {status}")));
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    // Waits until the server has sent the last events.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let grown = memory()?.saturating_sub(before);
    drop(child.stdin.take());
    child.wait()?;
    Ok(grown)
}
