//! Rows of JSON and lines of text.

use linerate_testkit::data::Noise;
pub(crate) use linerate_testkit::program::{DAMAGED, FAILED, USAGE, WARNED};
use serde_json::{Value, json};

/// JSON rows with keys from `user-000000` on, in steps of `step`.
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

/// Lines of a kind: all of one kind have the same words, no two kinds have any in common.
pub(crate) fn kind(kind: u64, seed: u64, len: usize) -> Vec<u8> {
    let mut words = Noise::new(1000 + kind);
    let words: Vec<String> = (0..300)
        .map(|_| (0..4 + words.below(12)).map(|_| char::from(b'a' + words.below(26) as u8)).collect())
        .collect();
    let mut noise = Noise::new(seed);
    let mut out = Vec::new();
    while out.len() < len {
        let line: Vec<&str> = (0..8).map(|_| words[noise.below(words.len())].as_str()).collect();
        out.extend_from_slice(line.join(" ").as_bytes());
        out.push(b'\n');
    }
    out
}
