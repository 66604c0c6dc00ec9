//! The shape "http": responses through tower layers. `http-speed` measures CPU time and bytes of
//! pages, which are sent whole, and of feeds, whose events come one by one with a pause after each.
//! `http-idle` measures the memory of responses that wait for their next event.

mod idle;
mod traffic;

use std::convert::Infallible;
use std::path::PathBuf;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use ::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE};
use ::http::{Request, Response};
use bytes::Bytes;
use clap::Args;
use futures_util::FutureExt;
use http_body::{Body, Frame};
use linerate_candidates::thread_time;
use linerate_deflate::Format;
use linerate_http::{CompressionLayer, Level, Options};
use tower::{Layer, Service};
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer as Peer;
use tower_http::compression::predicate::SizeAbove;

pub use self::idle::child;
use self::traffic::Traffic;
pub(crate) use self::traffic::words;
use crate::harness::{Common, Contender, Rounds, measure as harness, message, row};
use crate::records::Measurement;

/// Options of `linerate-bench http`.
#[derive(Args, Clone, Debug)]
pub struct HttpArgs {
    /// Number of idle responses; 0 leaves them out [default: 10000, with --quick 200]
    #[arg(long, value_name = "N")]
    connections: Option<usize>,
    #[command(flatten)]
    pub(crate) common: Common,
    /// Pages to measure beside three generated feeds [default: a page that the program carries]
    #[arg(value_name = "FILE")]
    pages: Vec<PathBuf>,
}

/// Measures pages, feeds and idle responses.
///
/// # Errors
/// A sentence for the user.
pub fn run(args: &HttpArgs) -> Result<(), String> {
    let mut output = args.common.open(&[])?;
    let mut all = args.pages.iter().map(|path| Traffic::page(path)).collect::<Result<Vec<_>, _>>()?;
    if all.is_empty() {
        all.push(Traffic::carried_page());
    }
    all.extend(traffic::feeds());
    for traffic in &all {
        output.add(
            "Responses through a layer, CPU time of the thread",
            speed(traffic, args.common.rounds(7))?,
        )?;
    }
    let connections = args.connections.unwrap_or(if args.common.quick { 200 } else { 10_000 });
    if connections > 0 {
        output.add("Memory of idle responses", idle::measure(connections)?)?;
    }
    output.finish()
}

/// The body of a response, in one or more parts. If there are several, each is followed by a pause:
/// one poll that returns `Pending`.
struct Script {
    parts: std::vec::IntoIter<Bytes>,
    pauses: bool,
    paused: bool,
}

impl Body for Script {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.pauses && std::mem::replace(&mut self.paused, false) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.paused = true;
        Poll::Ready(self.parts.next().map(|part| Ok(Frame::data(part))))
    }
}

/// A service that returns one response, to the first request, and panics at another.
struct Answer(Option<Response<Script>>);

impl Service<Request<()>> for Answer {
    type Response = Response<Script>;
    type Error = Infallible;
    type Future = std::future::Ready<Result<Response<Script>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<()>) -> Self::Future {
        std::future::ready(Ok(self.0.take().expect("one request")))
    }
}

/// Sends a response through a layer. Returns its compressed body, and the thread's CPU time.
type Respond = Box<dyn Fn(&Traffic) -> Result<(Vec<u8>, Duration), String>>;

/// Makes a contender of a tower layer: it sends a request through the layer to a service that
/// returns the script's response.
fn by<L, B>(layer: L) -> Respond
where
    L: Layer<Answer> + 'static,
    L::Service: Service<Request<()>, Response = Response<B>, Error = Infallible>,
    B: Body<Data = Bytes> + Unpin,
    B::Error: std::fmt::Debug,
{
    Box::new(move |traffic| {
        let parts = traffic.parts.clone().into_iter();
        let body = Script { parts, pauses: traffic.parts.len() > 1, paused: false };
        let response = Response::builder().header(CONTENT_TYPE, traffic.content_type).body(body);
        let mut service = layer.layer(Answer(Some(response.map_err(message)?)));
        let request = Request::builder().header(ACCEPT_ENCODING, "gzip").body(()).map_err(message)?;
        // The pieces are joined after the clock has stopped.
        let mut sent: Vec<Bytes> = Vec::with_capacity(2 * traffic.parts.len() + 16);
        let begun = thread_time();
        let response = match service.call(request).now_or_never() {
            Some(Ok(response))
                if response.headers().get(CONTENT_ENCODING).is_some_and(|coding| coding == "gzip") =>
            {
                response
            }
            _ => return Err("the response is not compressed".into()),
        };
        let mut body = response.into_body();
        let mut context = Context::from_waker(futures_util::task::noop_waker_ref());
        loop {
            match Pin::new(&mut body).poll_frame(&mut context) {
                Poll::Pending => {}
                Poll::Ready(Some(Ok(frame))) => sent.extend(frame.into_data().ok()),
                Poll::Ready(Some(Err(e))) => return Err(format!("{e:?}")),
                Poll::Ready(None) => {
                    let time = thread_time() - begun;
                    return Ok((sent.concat(), time));
                }
            }
        }
    })
}

fn ours(level: Level, bits: u8) -> Respond {
    by(CompressionLayer::new(Options::new().level(level).event_window_bits(bits)))
}

fn peer(level: CompressionLevel) -> Respond {
    by(Peer::new().quality(level).compress_when(SizeAbove::new(0)))
}

/// Names of the layers for pages, then those of the layers for feeds.
pub fn names() -> Vec<String> {
    [1, 2].iter().flat_map(|&parts| contenders(parts)).map(|(name, _)| name.to_owned()).collect()
}

/// Layers for a page, which has one part, or for a feed, which has several. The fastest level of
/// tower-http comes first and is the base.
fn contenders(parts: usize) -> Vec<(&'static str, Respond)> {
    let mut all = vec![
        ("tower-http, fastest, zlib", peer(CompressionLevel::Fastest)),
        ("tower-http, default, zlib", peer(CompressionLevel::Default)),
    ];
    all.extend(match parts {
        1 => vec![
            ("linerate 1", ours(Level::Fast, 0)),
            ("linerate 2", ours(Level::Default, 0)),
            ("linerate 3", ours(Level::High, 0)),
            ("linerate 6", ours(Level::Deeper, 0)),
        ],
        _ => vec![
            ("linerate 2, no window", ours(Level::Default, 0)),
            ("linerate 2, 512 bytes", ours(Level::Default, 9)),
            ("linerate 1, 2 KiB", ours(Level::Fast, 11)),
            ("linerate 2, 1 KiB", ours(Level::Default, 10)),
            ("linerate 2, 2 KiB", ours(Level::Default, 11)),
            ("linerate 2, 4 KiB", ours(Level::Default, 12)),
            ("linerate 2, 8 KiB", ours(Level::Default, 13)),
            ("linerate 2, 32 KiB", ours(Level::Default, 15)),
            ("linerate 6, 2 KiB", ours(Level::Deeper, 11)),
        ],
    });
    all
}

fn speed(traffic: &Traffic, rounds: usize) -> Result<Vec<Measurement>, String> {
    let (plain, parts) = (traffic.parts.concat(), traffic.parts.len());
    // A single page takes too little time for the clock, so that a turn sends it 50 times.
    let repeats = if parts == 1 { 50 } else { 1 };
    let mut timed = Vec::new();
    for (name, respond) in contenders(parts) {
        let (bytes, _) = respond(traffic).map_err(|e| format!("{name}: {e}"))?;
        crate::bytes::inflate(Format::Gzip, &plain, &bytes, &mut Vec::new())
            .map_err(|e| format!("{name}: {e}"))?;
        let row = row("http-speed", &traffic.name, name)
            .param("parts", parts)
            .exact("output", bytes.len() as f64 / parts as f64)
            .exact("ratio", plain.len() as f64 / bytes.len() as f64);
        let turn = move |_| {
            let mut sum = Duration::ZERO;
            for _ in 0..repeats {
                sum += respond(traffic)?.1;
            }
            Ok(sum / repeats)
        };
        timed.push(Contender::new(row, turn).units(parts).base(0, "tower-http, fastest, zlib"));
    }
    harness(timed, Rounds::warm(rounds))
}
