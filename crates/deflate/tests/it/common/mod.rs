//! Shared by the tests: data, decoders of other projects, and streams in every state.

pub(crate) mod data;
pub(crate) mod decoders;

use linerate_deflate::{Format, Level, Scratch, Stream, Tier, bound, finish_bound, flush_bound};

pub(crate) const FORMATS: [Format; 3] = [Format::Deflate, Format::Zlib, Format::Gzip];

/// The levels that compress.
pub(crate) const CODING: [Level; 9] = {
    let [_, levels @ ..] = Level::ALL;
    levels
};

/// Returns the most bytes that a call may write for `n` bytes of input after the header: `bound`
/// without its room for a header.
pub(crate) fn promised(n: usize) -> usize {
    n + 5 * n.div_ceil(65_535)
}

/// Returns a scratch that runs the kernels of `tier`.
pub(crate) fn scratch_of(tier: Tier) -> Box<Scratch> {
    let mut scratch = Scratch::boxed();
    scratch.set_tier(tier);
    scratch
}

/// Returns a scratch for each supported tier, the scalar one first.
pub(crate) fn scratches() -> Vec<Box<Scratch>> {
    linerate_testkit::tiers().map(scratch_of).collect()
}

/// Makes one call with a buffer of `bound` bytes.
#[track_caller]
pub(crate) fn call(scratch: &mut Scratch, stream: &mut Stream, input: &[u8], more: bool) -> Vec<u8> {
    let mut out = vec![0; bound(input.len())];
    let n = stream.encode(scratch, input, &mut out, more).expect("capacity of bound");
    out.truncate(n);
    out
}

/// Flushes into a buffer of `flush_bound` bytes.
#[track_caller]
pub(crate) fn flush(stream: &mut Stream) -> Vec<u8> {
    let mut out = vec![0; flush_bound()];
    let n = stream.flush(&mut out).expect("capacity of flush_bound");
    out.truncate(n);
    out
}

/// Ends the stream in a buffer of `finish_bound` bytes.
#[track_caller]
pub(crate) fn finish(stream: &mut Stream) -> Vec<u8> {
    let mut out = vec![0; finish_bound()];
    let n = stream.finish(&mut out).expect("capacity of finish_bound");
    out.truncate(n);
    out
}

/// Encodes a whole stream in calls of `chunk` bytes. The last call passes `more = false`.
pub(crate) fn encode(
    scratch: &mut Scratch,
    format: Format,
    level: Level,
    plain: &[u8],
    chunk: usize,
) -> Vec<u8> {
    let mut stream = Stream::new(format, level);
    let mut out = vec![0; bound(chunk.min(plain.len())).max(finish_bound())];
    let mut all = Vec::new();
    let mut left = plain;
    while !left.is_empty() {
        let (piece, rest) = left.split_at(chunk.min(left.len()));
        let n = stream.encode(&mut *scratch, piece, &mut out, !rest.is_empty()).expect("capacity of bound");
        all.extend_from_slice(&out[..n]);
        left = rest;
    }
    all.extend_from_slice(&finish(&mut stream));
    all
}

/// Returns the number of pending bits of a raw deflate stream.
///
/// Ending the stream appends the bits 110 and seven zeros. With up to 6 pending bits, the second 1
/// is the highest bit set in the first byte.
pub(crate) fn pending(stream: &Stream) -> u32 {
    assert!(stream.format() == Format::Deflate && !stream.is_last());
    finish(&mut stream.clone())[0].ilog2() - 1
}

/// Returns raw deflate streams between calls: two for each number of pending bits, 0 to 5.
pub(crate) fn states() -> Vec<Stream> {
    let mut scratch = Scratch::boxed();
    let mut found: [Vec<Stream>; 6] = Default::default();
    let text = data::text(&mut data::Noise::new(1), 3000);
    for n in 1..text.len() {
        let mut stream = Stream::new(Format::Deflate, Level::Fast);
        call(&mut scratch, &mut stream, &text[..n], true);
        let of_its_kind = &mut found[pending(&stream) as usize];
        if of_its_kind.len() < 2 {
            of_its_kind.push(stream);
        }
        if found.iter().all(|streams| streams.len() == 2) {
            return found.concat();
        }
    }
    panic!("no call ends with some number of bits held back");
}

/// Returns `stream` at another level.
pub(crate) fn at_level(mut stream: Stream, level: Level) -> Stream {
    stream.set_level(level);
    stream
}
