//! Responses to measure: pages, and generated feeds that are the same on every machine.

use std::path::Path;

use bytes::Bytes;
use linerate_gateway_sim::traffic::Random;

/// A response to send: a page in one part, or a feed with an event in each part.
pub(super) struct Traffic {
    pub(super) name: String,
    pub(super) content_type: &'static str,
    pub(super) parts: Vec<Bytes>,
}

impl Traffic {
    pub(super) fn page(path: &Path) -> Result<Self, String> {
        let page = std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Traffic { name, content_type: "text/html", parts: vec![page.into()] })
    }

    /// A page that the program carries.
    pub(super) fn carried_page() -> Self {
        let page = Bytes::from_static(include_bytes!("../../corpus/theory.html"));
        Traffic { name: "theory.html".into(), content_type: "text/html", parts: vec![page] }
    }
}

/// Three generated feeds of 2,000 events: prices, the words of a language model, and posts.
pub(super) fn feeds() -> Vec<Traffic> {
    let feed = |name: &str, event: fn(&mut Random, usize) -> String| {
        let mut random = Random::stream(1, 0);
        let parts = (0..2_000).map(|i| Bytes::from(event(&mut random, i))).collect();
        Traffic { name: name.to_owned(), content_type: "text/event-stream", parts }
    };
    vec![feed("prices", price), feed("tokens", token), feed("posts", post)]
}

const WORDS: &str = "the of and to a in is it you that he was for on are with as his they be at one have this from or had by not \
    but some what there we can out other were all your when up use how said an each she which do their time if will way about";

/// Returns `count` random English words, separated by blanks. The first ones in the list are the
/// most frequent.
pub(crate) fn words(random: &mut Random, count: usize) -> String {
    let all: Vec<&str> = WORDS.split_whitespace().collect();
    let one = |_| all[random.below(all.len()).min(random.below(all.len()))];
    (0..count).map(one).collect::<Vec<_>>().join(" ")
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

/// An event with one word of a language model's answer.
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
