//! Makes rows of JSON and lines of text.

use linerate_testkit::data::Noise;
pub(crate) use linerate_testkit::data::lines_of_kind as kind;
pub(crate) use linerate_testkit::program::{DAMAGED, FAILED, USAGE, WARNED};
use serde_json::{Value, json};

/// `count` JSON rows. Their keys, in the field `id`, are `user-000000` and so on, in steps of
/// `step`.
pub(crate) fn rows(seed: u64, count: usize, step: usize) -> Vec<Value> {
    const WORDS: [&str; 8] = ["timeout", "accepted", "session", "retry", "queue", "index", "flush", "commit"];
    let mut noise = Noise::new(seed);
    (0..count)
        .map(|i| {
            let words: Vec<&str> = (0..4).map(|_| WORDS[noise.below(8)]).collect();
            json!({
                "id": format!("user-{:06}", i * step),
                "host": format!("node-{:03}", noise.below(40)),
                "ms": noise.below(90_000),
                "text": words.join(" "),
            })
        })
        .collect()
}

/// One JSON object on each line.
pub(crate) fn lines_of(rows: &[Value]) -> Vec<u8> {
    rows.iter().map(|row| format!("{row}\n")).collect::<String>().into_bytes()
}
