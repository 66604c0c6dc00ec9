//! Compares both loops with zlib-rs: the same verdict and the same bytes, for valid and damaged streams.

use linerate_core::{Error, Kind};
use zlib_rs::{Deflate, DeflateFlush, Inflate, InflateFlush, Status};

use super::{Bits, Blocks, History, MessageEnd, Tables};
use crate::payload::Payload;

struct Noise(u64);

impl Noise {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

/// Random content: noise, few symbols, matches at short and long distances.
fn content(noise: &mut Noise, len: usize) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::with_capacity(len + 300);
    let symbols = 1 + noise.below(256);
    let (repeat, reach) = (noise.below(20), 1 + noise.below(40_000));
    while out.len() < len {
        if noise.below(20) < repeat && !out.is_empty() {
            let distance = 1 + noise.below(reach.min(out.len()));
            for _ in 0..3 + noise.below(290) {
                out.push(out[out.len() - distance]);
            }
        } else {
            out.push(noise.below(symbols) as u8);
        }
    }
    out.truncate(len);
    out
}

/// Compresses a message of a raw deflate stream.
fn compress(deflate: &mut Deflate, mut payload: &[u8]) -> Vec<u8> {
    let mut wire = Vec::new();
    loop {
        let (at, read, written) = (wire.len(), deflate.total_in(), deflate.total_out());
        wire.resize(at + 5000, 0);
        deflate.compress(payload, &mut wire[at..], DeflateFlush::SyncFlush).unwrap();
        let n = (deflate.total_out() - written) as usize;
        payload = &payload[(deflate.total_in() - read) as usize..];
        wire.truncate(at + n);
        if n < 5000 {
            return wire;
        }
    }
}

/// Our result: end or error, payload, and bytes consumed.
fn ours(history: &History, src: &[u8], fast: bool) -> (Result<MessageEnd, &'static str>, Vec<u8>, usize) {
    let (mut tables, mut payload) = (Tables::new(), Payload::default());
    let mut blocks = Blocks {
        tables: &mut tables,
        history,
        payload: &mut payload,
        limit: usize::MAX,
        fast,
        bits: Bits::default(),
    };
    let end = blocks.decode(src).map_err(|Error { kind, message, .. }| {
        assert_eq!(kind, Kind::Corrupt);
        message
    });
    let used = blocks.bits.at;
    // The amount discarded depends on the loop.
    let end =
        end.map(|end| if end == MessageEnd::Flushed { end } else { MessageEnd::Incomplete { discarded: 0 } });
    if end.is_ok() { (end, payload.bytes().to_vec(), used) } else { (end, Vec::new(), 0) }
}

/// Result of zlib-rs: whether the input is valid as far as it goes, and the output.
fn theirs(history: &[u8], src: &[u8]) -> (bool, Vec<u8>) {
    let mut inflate = Inflate::new(false, 15);
    inflate.set_dictionary(history).unwrap();
    let mut out = vec![0; 1 << 19];
    let done = inflate.decompress(src, &mut out, InflateFlush::NoFlush);
    assert!(inflate.total_out() < out.len() as u64);
    out.truncate(inflate.total_out() as usize);
    (matches!(done, Ok(Status::Ok | Status::BufError)), out)
}

fn compare(history: &History, before: &[u8], src: &[u8]) {
    let (expected, bytes) = theirs(before, src);
    let checked = ours(history, src, false);
    assert_eq!(ours(history, src, true), checked);
    let (end, output, used) = checked;
    match end {
        // Ours rejects final blocks: gateways never end their streams.
        Err("the zlib stream ends") => return,
        _ => assert_eq!(end.is_ok(), expected, "{end:?}, {used} of {}", src.len()),
    }
    match end {
        Ok(MessageEnd::Flushed) => assert_eq!((output, used), (bytes, src.len())),
        Ok(MessageEnd::Incomplete { .. }) => assert!(bytes.starts_with(&output)),
        Err(_) => {}
    }
}

#[test]
fn valid_and_damaged_streams_match_zlib_rs() {
    let mut noise = Noise(1);
    for round in 0..60 {
        let mut deflate = Deflate::new(round % 10, false, 15);
        let mut history = History::default();
        let mut before = Vec::new();
        for message in 0..6 {
            let len = 1 + noise.below(if message % 3 == 0 { 50_000 } else { 700 });
            let payload = content(&mut noise, len);
            let wire = compress(&mut deflate, &payload);
            compare(&history, &before, &wire);
            let (end, output, _) = ours(&history, &wire, true);
            assert_eq!((end, &output), (Ok(MessageEnd::Flushed), &payload));
            for _ in 0..20 {
                let mut damaged = wire.clone();
                let at = noise.below(damaged.len().min(200));
                damaged[at] ^= 1 << noise.below(8);
                damaged.truncate(damaged.len().min(1 + noise.below(2 * wire.len())));
                compare(&history, &before, &damaged);
            }
            history.push(&payload).unwrap();
            before.extend(&payload);
            before.drain(..before.len().saturating_sub(32 << 10));
        }
    }
}

#[test]
fn random_bytes_match_zlib_rs() {
    let mut noise = Noise(2);
    let history = History::default();
    for _ in 0..20_000 {
        let mut src: Vec<u8> = (0..1 + noise.below(300)).map(|_| noise.below(256) as u8).collect();
        // Not a final block; each type equally often.
        src[0] = src[0] & 0xf8 | (noise.below(3) as u8) << 1;
        compare(&history, &[], &src);
    }
}
