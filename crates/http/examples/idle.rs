//! Resident memory of idle responses with server-sent events, on loopback: `idle [CONNECTIONS]`. Each has sent 20 events of
//! some 100 bytes, and waits for the next. The server is axum on one thread; another process is the clients. Prints a CSV row for
//! each layer; without one it takes what hyper, tokio and axum hold.

use std::convert::Infallible;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::response::sse::{Event, Sse};
use axum::routing::get;
use futures_util::{Stream, StreamExt, stream};
use linerate_http::{CompressionLayer, Options};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::TcpListener;
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer as Peer;
use tower_http::compression::predicate::SizeAbove;

type Failure = Box<dyn std::error::Error>;

const EVENTS: usize = 20;

/// Responses that have sent all their events.
static IDLE: AtomicUsize = AtomicUsize::new(0);

const LAYERS: [&str; 9] = [
    "none",
    "linerate, no window",
    "linerate, 512 bytes",
    "linerate, 2 KiB",
    "linerate, 8 KiB",
    "linerate, 32 KiB",
    "tower-http, fastest",
    "tower-http, default",
    "tower-http, best",
];

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

fn router(layer: &str) -> Result<Router, Failure> {
    let router = Router::new().route("/", get(events));
    let ours = |bits| CompressionLayer::new(Options::new().event_window_bits(bits));
    let peer = |level| Peer::new().quality(level).compress_when(SizeAbove::new(0));
    Ok(match layer {
        "none" => router,
        "linerate, no window" => router.layer(ours(0)),
        "linerate, 512 bytes" => router.layer(ours(9)),
        "linerate, 2 KiB" => router.layer(ours(11)),
        "linerate, 8 KiB" => router.layer(ours(13)),
        "linerate, 32 KiB" => router.layer(ours(15)),
        "tower-http, fastest" => router.layer(peer(CompressionLevel::Fastest)),
        "tower-http, default" => router.layer(peer(CompressionLevel::Default)),
        "tower-http, best" => router.layer(peer(CompressionLevel::Best)),
        _ => return Err("no such layer".into()),
    })
}

/// The other process: asks, and waits for the end of standard input. What it does not read is the system's.
fn clients(address: SocketAddr, count: usize) -> Result<(), Failure> {
    let mut streams = Vec::new();
    for _ in 0..count {
        let mut stream = TcpStream::connect(address)?;
        stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n")?;
        streams.push(stream);
    }
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// Resident bytes of this process.
fn resident() -> Result<usize, Failure> {
    let status = std::fs::read_to_string("/proc/self/statm")?;
    let pages: usize = status.split(' ').nth(1).ok_or("statm has no second field")?.parse()?;
    Ok(pages * rustix::param::page_size())
}

fn spawn_clients(address: SocketAddr, count: usize) -> Result<Child, Failure> {
    let program = std::env::current_exe()?;
    let args = [address.to_string(), count.to_string()];
    Ok(Command::new(program).arg("clients").args(args).stdin(Stdio::piped()).spawn()?)
}

/// Serves connections and returns the growth of resident memory, in bytes.
#[tokio::main(flavor = "current_thread")]
async fn serve(layer: &str, count: usize) -> Result<usize, Failure> {
    let router = router(layer)?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let before = resident()?;
    tokio::spawn(async move { axum::serve(listener, router).await });
    let mut child = spawn_clients(address, count)?;
    while IDLE.load(Ordering::Relaxed) < count {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    // The last events are on their way.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let grown = resident()?.saturating_sub(before);
    drop(child.stdin.take());
    child.wait()?;
    Ok(grown)
}

/// Each layer in a process of its own, so that none finds memory that another has freed.
fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit })?;
    match &args[..] {
        [role, address, count] if role == "clients" => clients(address.parse()?, count.parse()?),
        [role, layer, count] if role == "serve" => {
            println!("{}", serve(layer, count.parse()?)?);
            Ok(())
        }
        _ => {
            let count: usize = args.first().map_or(Ok(10_000), |count| count.parse())?;
            println!("connections,layer,resident_bytes,bytes_per_connection");
            for layer in LAYERS {
                let program = std::env::current_exe()?;
                let output = Command::new(program)
                    .args(["serve", layer, &count.to_string()])
                    .stderr(Stdio::inherit())
                    .output()?;
                let bytes: usize = String::from_utf8(output.stdout)?.trim().parse()?;
                println!("{count},\"{layer}\",{bytes},{}", bytes / count);
            }
            Ok(())
        }
    }
}
