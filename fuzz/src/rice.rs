//! Delta-Rice, version 1: arbitrary bytes as a chunk, and as samples.

use linerate_core::Tier;
use linerate_rice::{
    Filter, Options, Params, Segments, decode, decode_segments, encode, encode_into, encoded_len,
};

/// Takes 4 bytes as parameters and the rest first as a chunk, then as samples.
///
/// # Panics
/// If CPU tiers or numbers of threads disagree on a chunk, if segments decode otherwise than the
/// chunk that they are in, or if samples do not come back or take more than the bound.
pub fn rice(data: &[u8]) {
    let Some((&[k, segment, taps, threads], rest)) = data.split_first_chunk() else { return };
    let segment = u32::from(segment).try_into().ok();
    let filter = match taps % 5 {
        0 => Filter::IDENTITY,
        1 => Filter::new(&[1, -2, 1]).expect("three coefficients"),
        2 => Filter::new(&[-1, i32::from(taps), 3, -70_000]).expect("four coefficients"),
        _ => Filter::DELTA,
    };
    let params = |k: u8| Params::new(1 << k, segment).expect("a power of two").with_filter(filter);
    let threads = Options::new().threads(1 + usize::from(threads % 3));
    chunk(&params(k % 16), rest, threads);
    let samples: Vec<i16> = rest.as_chunks().0.iter().map(|b| i16::from_le_bytes(*b)).collect();
    round_trip(&params(1 + k % 15), &samples, threads);
}

fn tiers() -> impl Iterator<Item = Options> {
    linerate_testkit::tiers().map(|t| Options::new().tier(t))
}

fn chunk(params: &Params, chunk: &[u8], threads: Options) {
    let whole = decode::<i16>(params, chunk, Options::new().tier(Tier::Scalar));
    for options in tiers().chain([threads]) {
        assert_eq!(decode(params, chunk, options), whole, "{options:?}");
    }
    let (Ok(whole), Ok(segments)) = (whole, Segments::of(params, chunk)) else { return };
    for (i, segment) in segments.enumerate().take(4) {
        let range = segment.expect("the chunk was decoded").samples;
        let mut out = vec![0i16; range.len()];
        assert_eq!(decode_segments(params, chunk, i..i + 1, &mut out, Options::new()), Ok(out.len()));
        assert_eq!(out, whole[range]);
    }
}

fn round_trip(params: &Params, samples: &[i16], threads: Options) {
    let first = encode(params, samples, Options::new().tier(Tier::Scalar)).expect("lossless parameters");
    assert!(first.len() <= params.bound(samples.len()));
    assert_eq!(encoded_len(params, samples, Options::new()), Ok(first.len() as u64));
    for options in tiers().chain([threads]) {
        let mut exact = vec![0; first.len()];
        assert_eq!(encode_into(params, samples, &mut exact, options), Ok(first.len()), "{options:?}");
        assert_eq!(exact, first, "{options:?}");
        assert!(encode_into(params, samples, &mut exact[1..], options).is_err());
    }
    assert_eq!(decode::<i16>(params, &first, threads).as_deref(), Ok(samples));
}
