//! Generated rows, dictionaries trained on them, and blocks compressed by libzstd.
#![allow(dead_code)]

use std::sync::OnceLock;

pub(crate) use linerate_testkit::data::Noise;
use linerate_zstd::Dictionary;
use zstd_safe::{CCtx, CDict, CParameter, DCtx};

/// Generates `len` bytes of log rows.
pub(crate) fn rows(seed: u64, len: usize) -> Vec<u8> {
    const WORDS: [&str; 12] = [
        "timeout", "accepted", "user", "session", "retry", "queue", "disk", "index", "flush", "commit",
        "replica", "leader",
    ];
    let mut noise = Noise::new(seed);
    let mut out = Vec::new();
    while out.len() < len {
        let words: Vec<&str> = (0..3 + noise.below(5)).map(|_| WORDS[noise.below(12)]).collect();
        let row = format!(
            "{{\"time\":{},\"host\":\"node-{:03}\",\"level\":\"{}\",\"ms\":{}.{:02},\"text\":\"{}\"}}\n",
            1_700_000_000 + noise.below(9_999_999),
            noise.below(40),
            ["info", "warning", "error"][noise.below(3)],
            noise.below(900),
            noise.below(100),
            words.join(" ")
        );
        out.extend_from_slice(row.as_bytes());
    }
    out.truncate(len);
    out
}

/// Trains a dictionary of at most `size` bytes.
pub(crate) fn train(seed: u64, size: usize) -> Vec<u8> {
    let samples = rows(seed, (size * 12).clamp(1 << 16, 1 << 19));
    let sizes = vec![1024; samples.len() / 1024];
    let mut dictionary = vec![0; size];
    let n = zstd_safe::train_from_buffer(&mut dictionary[..], &samples[..sizes.len() * 1024], &sizes)
        .expect("libzstd trains");
    dictionary.truncate(n);
    dictionary
}

/// Makes a dictionary that differs from those with other numbers. Its tables are trained, and its
/// content is `content` bytes of its own.
pub(crate) fn distinct(number: u64, content: usize) -> Vec<u8> {
    static TRAINED: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    let trained = TRAINED.get_or_init(|| (1..4).map(|seed| train(seed, 4 << 10)).collect());
    let base = &trained[number as usize % trained.len()];
    let digest = Dictionary::measure(base).expect("it was trained");
    let mut bytes = base[..base.len() - digest.content_len()].to_vec();
    bytes.extend(rows(1000 + number, content));
    bytes
}

pub(crate) fn compress(dictionary: &[u8], level: i32, checksum: bool, block: &[u8]) -> Vec<u8> {
    let prepared = CDict::create(dictionary, level);
    let mut context = CCtx::create();
    context.set_parameter(CParameter::CompressionLevel(level)).unwrap();
    context.set_parameter(CParameter::ChecksumFlag(checksum)).unwrap();
    if !dictionary.is_empty() {
        context.ref_cdict(&prepared).unwrap();
    }
    let mut out = vec![0; zstd_safe::compress_bound(block.len())];
    let n = context.compress2(&mut out[..], block).unwrap();
    out.truncate(n);
    out
}

/// Decodes a block with libzstd. Returns its content, or `None` if it is invalid.
pub(crate) fn libzstd(dictionary: &[u8], block: &[u8], most: usize) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(most);
    DCtx::create().decompress_using_dict(&mut out, block, dictionary).ok()?;
    Some(out)
}
