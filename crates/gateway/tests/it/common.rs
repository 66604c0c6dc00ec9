//! Synthetic gateway traffic.

use linerate_gateway::{Encoder, Transport};

/// A deterministic pseudorandom generator (xorshift64*).
pub(crate) struct Noise(u64);

impl Noise {
    pub(crate) fn new(seed: u64) -> Self {
        Noise(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        ((self.next() >> 16) % end as u64) as usize
    }
}

/// Messages of a connection: HELLO, READY, `groups` large GUILD_CREATE, then `events` small events.
pub(crate) fn traffic(seed: u64, groups: usize, events: usize) -> Vec<Vec<u8>> {
    let mut noise = Noise::new(seed);
    let mut sequence = 0;
    let mut dispatch = |event: &str, data: String| {
        sequence += 1;
        format!("{{\"t\":\"{event}\",\"s\":{sequence},\"op\":0,\"d\":{data}}}").into_bytes()
    };
    let members: Vec<(u64, String)> = (0..300)
        .map(|_| (noise.next() >> 2, ["ada", "ben", "cleo", "dov", "eva"][noise.below(5)].to_owned()))
        .collect();
    let member = |noise: &mut Noise| {
        let (id, name) = &members[noise.below(members.len())];
        format!("{{\"id\":\"{id}\",\"username\":\"{name}{}\",\"bot\":false}}", id % 1000)
    };
    let mut messages = vec![br#"{"t":null,"s":null,"op":10,"d":{"heartbeat_interval":41250}}"#.to_vec()];
    messages.push(dispatch("READY", format!("{{\"v\":10,\"user\":{}}}", member(&mut noise))));
    for _ in 0..groups {
        let count = 1 << (3 + noise.below(8));
        let all: Vec<String> = (0..count).map(|_| member(&mut noise)).collect();
        messages.push(dispatch("GUILD_CREATE", format!("{{\"members\":[{}]}}", all.join(","))));
    }
    for _ in 0..events {
        let who = member(&mut noise);
        messages.push(match noise.below(10) {
            0..4 => {
                let text: Vec<String> =
                    (0..noise.below(30)).map(|_| format!("{:x}", noise.below(5000))).collect();
                dispatch("MESSAGE_CREATE", format!("{{\"author\":{who},\"content\":\"{}\"}}", text.join(" ")))
            }
            4..9 => dispatch("PRESENCE_UPDATE", format!("{{\"user\":{who},\"status\":\"idle\"}}")),
            _ => br#"{"t":null,"s":null,"op":11,"d":null}"#.to_vec(),
        });
    }
    messages
}

/// Compresses each message and returns the compressed bytes.
pub(crate) fn wire(transport: Transport, messages: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut encoder = Encoder::new(transport).expect("an encoder");
    let one = |message: &Vec<u8>| {
        let mut wire = Vec::new();
        encoder.message(message, &mut wire).expect("a compressed message");
        wire
    };
    messages.iter().map(one).collect()
}

pub(crate) fn hex(digits: &str) -> Vec<u8> {
    let digits: Vec<u8> = digits.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}
