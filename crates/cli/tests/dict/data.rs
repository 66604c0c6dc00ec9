//! Rows, and the program running on them.

use serde_json::{Value, json};

use crate::support::{Folder, Run};

/// Exit statuses.
pub(crate) const FAILED: i32 = 1;
pub(crate) const USAGE: i32 = 2;
pub(crate) const DAMAGED: i32 = 3;
pub(crate) const WARNED: i32 = 5;

impl Folder {
    /// Runs `linerate dict` with nothing on standard input.
    pub(crate) fn dict(&self, args: &[&str]) -> Run {
        self.dict_with(args, b"")
    }

    /// Runs `linerate dict` with `input` on standard input.
    pub(crate) fn dict_with(&self, args: &[&str], input: &[u8]) -> Run {
        let mut command = self.command(&["dict"]);
        Run::of(command.args(args), input)
    }
}

impl Run {
    /// Standard output, a line each.
    pub(crate) fn lines(&self) -> Vec<String> {
        String::from_utf8(self.stdout.clone()).expect("UTF-8").lines().map(str::to_owned).collect()
    }

    /// Standard output, a JSON object each.
    pub(crate) fn objects(&self) -> Vec<Value> {
        self.lines().iter().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }
}

/// A pseudorandom sequence (xorshift), the same for the same seed.
pub(crate) struct Noise(u64);

impl Noise {
    pub(crate) fn new(seed: u64) -> Noise {
        let mut noise = Noise(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        (0..8).for_each(|_| _ = noise.below(2));
        noise
    }

    /// A number below `n`, which is not 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 8) % n as u64) as usize
    }
}

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
