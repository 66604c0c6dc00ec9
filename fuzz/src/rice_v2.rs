//! Delta-Rice, version 2: arbitrary bytes as a stream whose header has a correct checksum, and as
//! samples.

use linerate_core::Tier;
use linerate_rice::Options;
use linerate_rice::v2::{
    Element, StreamOptions, bound, decode, decode_into, decode_segments, encode, encode_into, info,
};
use twox_hash::XxHash3_64;

use linerate_testkit::sys::guarded::Guarded;

/// Takes 4 bytes as settings and the rest first as a stream, then as samples.
///
/// # Panics
/// If CPU tiers or numbers of threads disagree on a stream, if segments decode otherwise than the
/// stream that they are in, or if samples do not come back or take more than the bound.
pub fn rice_v2(data: &[u8]) {
    let Some((&[kind, segment, row, threads], rest)) = data.split_first_chunk() else { return };
    // If bit 2 of `kind` is set, a row has one sample of each channel; otherwise the encoder
    // decides whether there are channels.
    let channels = if kind & 4 != 0 { u32::from(row).max(1).try_into().ok() } else { None };
    let settings = StreamOptions::new()
        .segment(u32::from(segment).try_into().ok())
        .row(u32::from(row).try_into().ok())
        .channels(channels);
    let threads = Options::new().threads(1 + usize::from(threads % 3));
    let mut stream = rest.to_vec();
    mend(&mut stream);
    let words = || rest.as_chunks().0.iter().map(|b| u16::from_le_bytes(*b));
    // The upper bits of `kind` shift signed samples of 32 bits, so that few of their bits are
    // noise.
    let longs = || rest.as_chunks().0.iter().map(|b| u32::from_le_bytes(*b));
    match kind % 4 {
        0 => both(&settings, &stream, &words().map(|x| x as i16).collect::<Vec<_>>(), threads),
        1 => both(&settings, &stream, &words().collect::<Vec<_>>(), threads),
        2 => {
            both(&settings, &stream, &longs().map(|x| (x as i32) >> (kind >> 3)).collect::<Vec<_>>(), threads)
        }
        _ => both(&settings, &stream, &longs().collect::<Vec<_>>(), threads),
    }
}

/// Corrects the checksum of the header, so that the decoder reads its other fields, and limits the
/// number of samples to less than 2^24, and with it what a decoder allocates.
fn mend(stream: &mut [u8]) {
    if let Some(head) = stream.first_chunk_mut::<28>() {
        head[11..16].fill(0);
        let sum = XxHash3_64::oneshot(&head[..24]) as u32;
        head[24..].copy_from_slice(&sum.to_le_bytes());
    }
}

fn both<T: Element + std::fmt::Debug>(
    settings: &StreamOptions,
    stream: &[u8],
    samples: &[T],
    threads: Options,
) {
    let mut guarded = Guarded::new(stream.len());
    let last = guarded.last(stream.len());
    last.copy_from_slice(stream);
    decodes_alike::<T>(last, threads);
    let first = guarded.first(stream.len());
    first.copy_from_slice(stream);
    decodes_alike::<T>(first, threads);
    round_trip(settings, samples, threads);
}

fn tiers() -> impl Iterator<Item = Options> {
    linerate_testkit::tiers().map(|t| Options::new().tier(t))
}

fn decodes_alike<T: Element + std::fmt::Debug>(stream: &[u8], threads: Options) {
    let whole = decode::<T>(stream, Options::new().tier(Tier::Scalar));
    for options in tiers().chain([threads]) {
        assert_eq!(decode(stream, options), whole, "{options:?}");
    }
    let Ok(whole) = whole else { return };
    let info = info(stream).expect("the stream was decoded");
    for (i, samples) in whole.chunks(info.segment as usize).enumerate().take(4) {
        let mut out = vec![T::default(); samples.len()];
        assert_eq!(decode_segments(stream, i..i + 1, &mut out, Options::new()), Ok(out.len()));
        assert_eq!(out, samples);
    }
}

fn round_trip<T: Element + std::fmt::Debug>(settings: &StreamOptions, samples: &[T], threads: Options) {
    let row = settings.row_len().map_or(1, |row| row.get() as usize);
    let samples = &samples[..samples.len() / row * row];
    let first = encode(settings, samples, Options::new().tier(Tier::Scalar)).expect("short segments");
    assert!(first.len() <= bound::<T>(settings, samples.len()));
    let mut guarded = Guarded::new(first.len());
    for options in tiers().chain([threads]) {
        let exact = guarded.last(first.len());
        assert_eq!(encode_into(settings, samples, exact, options), Ok(first.len()), "{options:?}");
        assert_eq!(exact, first, "{options:?}");
        assert!(encode_into(settings, samples, &mut exact[1..], options).is_err());
        // A decoder that reads beyond the stream ends the process: a guard page follows.
        let exact = guarded.last(first.len());
        exact.copy_from_slice(&first);
        let mut back = vec![T::default(); samples.len()];
        assert_eq!(decode_into(exact, &mut back, options), Ok(samples.len()));
        assert_eq!(back, samples, "{options:?}");
    }
    let mut roomy = vec![0; bound::<T>(settings, samples.len())];
    assert_eq!(encode_into(settings, samples, &mut roomy, threads), Ok(first.len()));
    assert_eq!(roomy[..first.len()], first);
}
