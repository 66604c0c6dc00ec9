//! CPU time and bytes of responses through a layer: `speed ROUNDS [PAGE]...`. Pages are sent whole; events of three feeds, which it makes
//! up, one by one with a pause after each. Rounds alternate; prints a CSV row for each contender, with the median.

use std::convert::Infallible;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use common::{Decoder, Random, Script, Step, poll};
use futures_util::FutureExt;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE};
use http::{Request, Response};
use http_body::Body;
use linerate_http::{Coding, CompressionLayer, Level, Options};
use rustix::time::{ClockId, clock_gettime};
use tower::{Layer, Service};
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer as Peer;
use tower_http::compression::predicate::SizeAbove;

#[path = "../tests/common/mod.rs"]
mod common;

fn now() -> Duration {
    let t = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(t.tv_sec as u64, t.tv_nsec as u32)
}

/// What is sent: a page, or events.
struct Traffic {
    name: String,
    content_type: &'static str,
    parts: Vec<Bytes>,
    /// Responses of a round.
    repeats: usize,
}

impl Traffic {
    fn response(&self) -> Response<Script> {
        let steps = self.parts.iter().flat_map(|part| [Step::Data(part.clone()), Step::Pending]);
        let pauses = usize::from(self.parts.len() > 1);
        let steps: Vec<Step> = steps.take(self.parts.len() * (1 + pauses)).collect();
        let response = Response::builder().header(CONTENT_TYPE, self.content_type);
        response.body(Script::new(steps)).expect("a response")
    }
}

/// A layer around a service that gives each response away.
trait Contender {
    /// The frames of a compressed response, and the time that they took.
    fn run(&self, response: Response<Script>) -> (Vec<Bytes>, Duration);
}

struct By<L>(L);

impl<L, B> Contender for By<L>
where
    L: Layer<Answer>,
    L::Service: Service<Request<()>, Response = Response<B>, Error = Infallible>,
    B: Body<Data = Bytes> + Unpin,
    B::Error: std::fmt::Debug,
{
    fn run(&self, response: Response<Script>) -> (Vec<Bytes>, Duration) {
        let mut service = self.0.layer(Answer(Some(response)));
        let request = Request::builder().header(ACCEPT_ENCODING, "gzip").body(()).expect("a request");
        let mut frames = Vec::new();
        let start = now();
        let response = service.call(request).now_or_never().expect("ready").expect("infallible");
        assert_eq!(response.headers()[CONTENT_ENCODING], "gzip");
        let mut body = response.into_body();
        loop {
            match poll(&mut body) {
                Poll::Pending => {}
                Poll::Ready(Some(frame)) => frames.push(frame.expect("no error").into_data().expect("data")),
                Poll::Ready(None) => break,
            }
        }
        (frames, now() - start)
    }
}

/// A service with one response.
struct Answer(Option<Response<Script>>);

impl Service<Request<()>> for Answer {
    type Response = Response<Script>;
    type Error = Infallible;
    type Future = std::future::Ready<Result<Response<Script>, Infallible>>;

    fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<()>) -> Self::Future {
        std::future::ready(Ok(self.0.take().expect("one request")))
    }
}

fn ours(level: Level, bits: u8) -> Box<dyn Contender> {
    Box::new(By(CompressionLayer::new(Options::new().level(level).event_window_bits(bits))))
}

fn peer(level: CompressionLevel) -> Box<dyn Contender> {
    Box::new(By(Peer::new().quality(level).compress_when(SizeAbove::new(0))))
}

type Named = (&'static str, Box<dyn Contender>);

fn peers() -> Vec<Named> {
    vec![
        ("tower-http, fastest", peer(CompressionLevel::Fastest)),
        ("tower-http, default", peer(CompressionLevel::Default)),
    ]
}

fn of_pages() -> Vec<Named> {
    let mut all = peers();
    all.extend([
        ("linerate 1", ours(Level::Fast, 0)),
        ("linerate 2", ours(Level::Default, 0)),
        ("linerate 3", ours(Level::High, 0)),
        ("linerate 6", ours(Level::Best, 0)),
    ]);
    all
}

fn of_events() -> Vec<Named> {
    let mut all = peers();
    all.extend([
        ("linerate 2, no window", ours(Level::Default, 0)),
        ("linerate 2, 512 bytes", ours(Level::Default, 9)),
        ("linerate 1, 2 KiB", ours(Level::Fast, 11)),
        ("linerate 2, 1 KiB", ours(Level::Default, 10)),
        ("linerate 2, 2 KiB", ours(Level::Default, 11)),
        ("linerate 2, 4 KiB", ours(Level::Default, 12)),
        ("linerate 2, 8 KiB", ours(Level::Default, 13)),
        ("linerate 2, 32 KiB", ours(Level::Default, 15)),
        ("linerate 6, 2 KiB", ours(Level::Best, 11)),
    ]);
    all
}

const WORDS: &str = "the of and to a in is it you that he was for on are with as his they be at one have this from or had by not \
    but some what there we can out other were all your when up use how said an each she which do their time if will way about";

fn words(random: &mut Random, count: usize) -> String {
    let all: Vec<&str> = WORDS.split_whitespace().collect();
    let words: Vec<&str> =
        (0..count).map(|_| all[random.below(all.len()).min(random.below(all.len()))]).collect();
    words.join(" ")
}

fn price(random: &mut Random, i: usize) -> String {
    let symbol = ["BTC-USD", "ETH-USD", "SOL-USD", "ADA-USD"][random.below(4)];
    let price = 9_700_000 + random.below(5_000);
    format!(
        "event: price\nid: {i}\ndata: {{\"symbol\":\"{symbol}\",\"price\":\"{}.{:02}\",\"size\":\"0.{:05}\",\"time\":{}}}\n\n",
        price / 100,
        price % 100,
        random.below(100_000),
        1_790_000_000 + i
    )
}

/// A language model's answer, word by word.
fn token(random: &mut Random, _: usize) -> String {
    format!(
        "data: {{\"id\":\"answer-7f3a91\",\"object\":\"chunk\",\"created\":1790000000,\"model\":\"large\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\" {}\"}},\"finish_reason\":null}}]}}\n\n",
        words(random, 1)
    )
}

fn post(random: &mut Random, i: usize) -> String {
    let (user, count) = (random.below(400), 5 + random.below(60));
    format!(
        "event: update\ndata: {{\"id\":\"{}\",\"account\":{{\"id\":{user},\"name\":\"user{user}\",\"bot\":false}},\"content\":\"{}\",\"replies\":{},\"language\":\"en\"}}\n\n",
        113_000_000 + 17 * i,
        words(random, count),
        random.below(30)
    )
}

fn feed(name: &str, event: fn(&mut Random, usize) -> String) -> Traffic {
    let mut random = Random(1);
    let parts = (0..2_000).map(|i| Bytes::from(event(&mut random, i))).collect();
    Traffic { name: name.to_owned(), content_type: "text/event-stream", parts, repeats: 1 }
}

fn decode(frames: &[Bytes]) -> Vec<u8> {
    let mut decoder = Decoder::new(Coding::Gzip);
    decoder.push(&frames.concat());
    decoder.finish()
}

/// One round: bytes and time of each part of a response.
fn round(contender: &dyn Contender, traffic: &Traffic) -> (usize, Duration) {
    let (mut bytes, mut time) = (0, Duration::ZERO);
    for _ in 0..traffic.repeats {
        let (frames, one) = contender.run(traffic.response());
        bytes = frames.iter().map(Bytes::len).sum();
        time += one;
    }
    (bytes, time)
}

fn compare(traffic: &Traffic, contenders: &[Named], rounds: usize) {
    let plain = traffic.parts.concat();
    let mut times = vec![Vec::new(); contenders.len()];
    let mut bytes = vec![0; contenders.len()];
    for (name, contender) in contenders {
        assert!(decode(&contender.run(traffic.response()).0) == plain, "{name}: another content");
    }
    for _ in 0..rounds {
        for (i, (_, contender)) in contenders.iter().enumerate() {
            let (size, time) = round(&**contender, traffic);
            bytes[i] = size;
            times[i].push(time);
        }
    }
    let units = traffic.parts.len();
    let mut base = None;
    for (i, (name, _)) in contenders.iter().enumerate() {
        times[i].sort_unstable();
        let us = times[i][rounds / 2].as_nanos() as f64 / 1e3 / (units * traffic.repeats) as f64;
        let base = *base.get_or_insert(us);
        println!(
            "{},{units},{},\"{name}\",{:.1},{:.3},{us:.2},{:.3},{rounds}",
            traffic.name,
            plain.len(),
            bytes[i] as f64 / units as f64,
            plain.len() as f64 / bytes[i] as f64,
            us / base
        );
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rounds = arguments.first().map_or(7, |n| n.parse().expect("a number of rounds"));
    println!("traffic,parts,bytes,contender,bytes_each,ratio,cpu_us_each,cpu_vs_base,rounds");
    for path in arguments.iter().skip(1) {
        let page = Bytes::from(std::fs::read(path).expect("a file"));
        let name = path.rsplit('/').next().unwrap_or(path).to_owned();
        let traffic = Traffic { name, content_type: "text/html", parts: vec![page], repeats: 50 };
        compare(&traffic, &of_pages(), rounds);
    }
    for (name, event) in
        [("prices", price as fn(&mut Random, usize) -> String), ("tokens", token), ("posts", post)]
    {
        compare(&feed(name, event), &of_events(), rounds);
    }
}
