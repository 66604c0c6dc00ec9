//! Content and streams for tests.

use linerate_testkit::data::Noise;
use zlib_rs::{Deflate, DeflateFlush};

use crate::Format;

/// Returns words of a few letters, some of which repeat text from far back.
pub(crate) fn text(noise: &mut Noise, len: usize) -> Vec<u8> {
    let mut out = Vec::new();
    while out.len() < len {
        if out.len() > 100 && noise.below(3) == 0 {
            let from = out.len() - 1 - noise.below(out.len().min(32_000) - 1);
            let to = (from + 3 + noise.below(40)).min(out.len());
            out.extend_from_within(from..to);
        } else {
            out.extend((0..1 + noise.below(6)).map(|_| b"etaoin shrdlu\n"[noise.below(14)]));
        }
    }
    out.truncate(len);
    out
}

/// Compresses with zlib-rs, with a flush after every `every` bytes.
pub(crate) fn compress(
    format: Format,
    level: i32,
    data: &[u8],
    every: usize,
    flush: DeflateFlush,
) -> Vec<u8> {
    let (header, bits) = match format {
        Format::Deflate => (false, 15),
        Format::Zlib => (true, 15),
        _ => (true, 31),
    };
    let mut deflate = Deflate::new(level, header, bits);
    let mut out = vec![0; 2 * data.len() + 1000 + 20 * data.len().div_ceil(every)];
    for piece in data.chunks(every).chain([&[][..]]) {
        let flush = if piece.is_empty() { DeflateFlush::Finish } else { flush };
        let written = deflate.total_out() as usize;
        deflate.compress(piece, &mut out[written..], flush).unwrap();
    }
    out.truncate(deflate.total_out() as usize);
    out
}
