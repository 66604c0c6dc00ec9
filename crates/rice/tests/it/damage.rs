//! Damaged chunks decode to a typed error or to samples, without a panic, and alike on every
//! kernel.

use linerate_rice::{
    Error, Filter, Kind, Options, Params, decode, decode_into, decode_segments, decoded_len, encode, expands,
    segment_count,
};

use crate::common::{Noise, goldens, tiers};

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

fn params(m: u32, segment: u32) -> Params {
    Params::new(m, segment.try_into().ok()).unwrap()
}

/// Decodes on every tier and with two threads, asserts that all results agree, and returns the
/// result.
fn verdict(params: &Params, chunk: &[u8]) -> Result<Vec<i16>, Error> {
    let first = verdict_of_tiers(params, chunk);
    assert_eq!(decode(params, chunk, Options::new().threads(2)), first);
    first
}

/// Decodes on every tier, asserts that all results agree, and returns the result.
fn verdict_of_tiers(params: &Params, chunk: &[u8]) -> Result<Vec<i16>, Error> {
    let first = decode(params, chunk, Options::new());
    for options in tiers() {
        assert_eq!(decode(params, chunk, options), first, "{options:?}");
    }
    first
}

#[track_caller]
fn refused(params: Params, words: &[u32], kind: Kind, at: u64) {
    let e = verdict(&params, &bytes(words)).unwrap_err();
    assert_eq!((e.kind, e.offset), (kind, at), "{e}");
}

#[test]
fn empty_chunk_has_no_samples() {
    for segment in [0, 1, 7] {
        assert_eq!(verdict(&params(8, segment), &bytes(&[0])), Ok(vec![]));
        refused(params(8, segment), &[0, 0], Kind::Corrupt, 4);
    }
}

#[test]
fn short_chunks_are_refused() {
    for n in 0..4 {
        let e = verdict(&params(8, 0), &[0; 4][..n]).unwrap_err();
        assert_eq!((e.kind, e.offset), (Kind::Truncated, n as u64));
        assert!(decoded_len(&[0; 4][..n]).is_err());
    }
    refused(params(8, 0), &[1], Kind::Corrupt, 0);
    refused(params(8, 1), &[2, 1, 0x8000_0000], Kind::Truncated, 12);
}

#[test]
fn too_large_sample_counts_are_refused_before_allocation() {
    refused(params(8, 0), &[u32::MAX, 1, 0x8888_8880], Kind::Corrupt, 0);
    refused(params(8, 0), &[u32::MAX], Kind::Corrupt, 0);
    refused(params(2, 1), &[u32::MAX, 1, 0], Kind::Corrupt, 0);
    refused(params(8, 0), &[8, 1, 0x8888_8880], Kind::Corrupt, 8);
    refused(params(8, 0), &[9, 1, 0x8888_8880], Kind::Corrupt, 4);
    refused(params(8, 0), &[17, 1, 0x8888_8880], Kind::Corrupt, 0);
}

#[test]
fn wrong_segment_lengths_are_refused() {
    for length in [2, 3, 0x4000_0000, 0x8000_0000, u32::MAX] {
        refused(params(8, 0), &[7, length, 0x8888_8880], Kind::Corrupt, 4);
    }
    refused(params(8, 0), &[7, 0, 0x8888_8880], Kind::Corrupt, 4);
    refused(params(8, 0), &[7, 1, 0x8888_8880, 0], Kind::Corrupt, 12);
    refused(params(8, 0), &[7, 2, 0x8888_8880, 0], Kind::Corrupt, 12);
}

#[test]
fn endless_zeros_are_refused() {
    refused(params(8, 0), &[1, 1, 0], Kind::Corrupt, 8);
    let mut zeros = vec![1000, 1000];
    zeros.resize(1002, 0);
    refused(params(8, 0), &zeros, Kind::Corrupt, 8);
    refused(params(8, 0), &[1, 1, 0x0040_0000], Kind::Corrupt, 8);
}

#[test]
fn nonzero_padding_bits_are_refused() {
    for bit in 0..4 {
        refused(params(8, 0), &[7, 1, 0x8888_8880 | 1 << bit], Kind::Corrupt, 8);
    }
}

#[test]
fn codes_that_run_past_their_segment_are_refused() {
    // Seven codes of 4 bits, then an escape that reaches into the next segment's length.
    refused(params(8, 8), &[16, 1, 0x8888_8880, 1, 0x8888_8888], Kind::Corrupt, 8);
    // A similar chunk, in which the 1 bit of the escape is still within the segment.
    refused(params(2, 0), &[12, 1, 0xaaaa_a004], Kind::Corrupt, 8);
}

#[test]
fn m_of_one_can_be_decoded_but_not_encoded() {
    let one = params(1, 0);
    // z = 0, 1, 7, 8 (an escape), 65535 (another): 1, 01, 00000001, 00000000 1 z, 00000000 1 z.
    let bits = "1".to_owned()
        + "01"
        + "00000001"
        + "000000001"
        + &format!("{:016b}", 8)
        + "000000001"
        + &"1".repeat(16);
    let padded = format!("{bits:0<64}");
    let words = [&padded[..32], &padded[32..]].map(|w| u32::from_str_radix(w, 2).unwrap());
    let y = [0, -1, -4, 4, -32768];
    let plain = one.with_filter(Filter::IDENTITY);
    assert_eq!(verdict(&plain, &bytes(&[5, 2, words[0], words[1]])), Ok(y.to_vec()));
    assert_eq!(verdict(&one, &bytes(&[5, 2, words[0], words[1]])), Ok(vec![0, -1, -5, -1, 32767]));
    assert_eq!(encode(&one, &[1i16], Options::new()).unwrap_err().kind, Kind::BadArgument);
}

#[test]
fn filters_that_lose_data_can_be_decoded_but_not_encoded() {
    let halves = params(8, 0).with_filter(Filter::new(&[2]).unwrap());
    assert_eq!(encode(&halves, &[1i16], Options::new()).unwrap_err().kind, Kind::BadArgument);
    let chunk = encode(&params(8, 0).with_filter(Filter::IDENTITY), &[-7i16, 7, 5], Options::new()).unwrap();
    assert_eq!(verdict(&halves, &chunk), Ok(vec![-3, 3, 2]));
}

#[test]
fn segments_that_do_not_exist_are_a_bad_argument() {
    let params = params(8, 3);
    let chunk = encode(&params, &[1i16, 2, 3, 4], Options::new()).unwrap();
    let mut out = [0i16; 9];
    let mut go = |which| decode_segments(&params, &chunk, which, &mut out, Options::new());
    assert_eq!(go(0..2), Ok(4));
    assert_eq!(go(2..2), Ok(0));
    for which in [0..3, 3..3, usize::MAX..usize::MAX] {
        assert_eq!(go(which).unwrap_err().kind, Kind::BadArgument);
    }
    #[allow(clippy::reversed_empty_ranges)]
    let reversed = 2..1;
    assert_eq!(go(reversed).unwrap_err().kind, Kind::BadArgument);
}

/// Chunks small enough to be damaged in every way. Some have 17 segments, more than a batch.
fn small() -> Vec<(Params, Vec<u8>)> {
    let mut noise = Noise(3);
    let mut all: Vec<_> =
        goldens().into_iter().filter(|g| g.chunk.len() < 700).map(|g| (g.params, g.chunk)).collect();
    assert!(all.len() >= 10);
    for (m, bits) in [(8, 3), (64, 9), (32768, 16)] {
        let params = params(m, 40);
        all.push((params, encode(&params, &noise.walk(17 * 40 - 5, bits), Options::new()).unwrap()));
    }
    all
}

#[test]
fn every_truncation_is_refused() {
    for (params, chunk) in small() {
        for n in 0..chunk.len() {
            let e = verdict(&params, &chunk[..n]).unwrap_err();
            assert!(matches!(e.kind, Kind::Truncated | Kind::Corrupt), "{n}: {e}");
            assert!(e.offset <= n as u64);
        }
    }
}

#[test]
fn flipped_bits_give_an_error_or_the_same_number_of_samples() {
    for (params, chunk) in small() {
        let samples = decode::<i16>(&params, &chunk, Options::new()).unwrap();
        for bit in 0..8 * chunk.len() {
            let mut damaged = chunk.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            // Starting threads takes longer than decoding, so only some damage is decoded on two.
            let verdict = if bit % 32 == 0 { verdict } else { verdict_of_tiers };
            match verdict(&params, &damaged) {
                Ok(other) => assert!(bit >= 64 && other.len() == samples.len(), "bit {bit}"),
                Err(e) => assert!(e.offset <= chunk.len() as u64, "bit {bit}: {e}"),
            }
        }
    }
}

#[test]
fn random_chunks_never_panic() {
    let mut noise = Noise(5);
    for round in 0..3000 {
        let n = noise.next() as usize % 60;
        let mut words: Vec<u32> = (0..n).map(|_| noise.next() | noise.next() << 16).collect();
        // Every other chunk has consistent lengths, so that its payload is decoded.
        if round % 2 == 0 && n > 2 {
            words[0] = noise.next() % (4 * n as u32);
            words[1] = n as u32 - 2;
        }
        let _ = verdict(&params(1 << (round % 16), (round as u32 % 3) * 20), &bytes(&words));
    }
}

#[test]
fn wrong_parameters_never_panic() {
    for g in goldens().into_iter().filter(|g| g.chunk.len() < 31_000) {
        for (m, segment) in [(1, 0), (2, 1), (4, 3), (16, 0), (32768, 7), (8, u32::MAX)] {
            let wrong = params(m, segment);
            let mut out = vec![0i16; g.samples.len()];
            let first = decode_into(&wrong, &g.chunk, &mut out, Options::new());
            for options in tiers() {
                assert_eq!(decode_into(&wrong, &g.chunk, &mut out, options), first, "{}", g.name);
            }
        }
    }
}

#[test]
fn segments_are_counted_without_parameters() {
    for g in goldens() {
        let segment = g.params.segment().map_or(g.samples.len(), |n| n.get() as usize);
        assert_eq!(segment_count(&g.chunk), Ok(g.samples.len().div_ceil(segment)), "{}", g.name);
    }
    assert_eq!(segment_count(&bytes(&[0])), Ok(0));
    for (words, kind, at) in [
        (&[7, 2, 0x8888_8880][..], Kind::Corrupt, 4),
        (&[7, u32::MAX, 0x8888_8880], Kind::Corrupt, 4),
        (&[7, 1, 0x8888_8880, 1], Kind::Corrupt, 12),
    ] {
        let e = segment_count(&bytes(words)).unwrap_err();
        assert_eq!((e.kind, e.offset), (kind, at), "{words:x?}");
    }
    assert_eq!(segment_count(&bytes(&[7, 1, 0])[..10]).unwrap_err().kind, Kind::Corrupt);
    assert_eq!(segment_count(&bytes(&[7, 1])[..6]).unwrap_err().kind, Kind::Truncated);
}

#[test]
fn expands_above_102_percent_of_the_samples() {
    assert!(!expands(10_000, 20_400) && expands(10_000, 20_401));
    // The lengths alone make a chunk of a few samples larger, so 64 bytes more are no expansion.
    assert!(!expands(1, 12) && !expands(4, 72) && expands(4, 73));
    assert!(!expands(0, 4));
}
