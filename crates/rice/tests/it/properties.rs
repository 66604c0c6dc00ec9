//! Properties that hold for all samples and parameters.

use linerate_rice::{
    Filter, Kind, Options, Params, Segments, Tier, decode, encode, encode_into, encoded_len,
};
use proptest::prelude::*;

use crate::common::{Noise, tiers};

/// A slow encoder that follows the description of the format, with bits as characters.
fn reference_encode(params: &Params, samples: &[i16]) -> Vec<u8> {
    let mut words = vec![samples.len() as u32];
    let k = params.m().trailing_zeros() as usize;
    let segment = params.segment().map_or(samples.len().max(1), |n| n.get() as usize);
    for samples in samples.chunks(segment) {
        let mut bits = String::new();
        for i in 0..samples.len() {
            let taps = params.filter().taps().iter().enumerate();
            let y: i64 =
                taps.filter(|&(j, _)| j <= i).map(|(j, &c)| i64::from(c) * i64::from(samples[i - j])).sum();
            let y = i64::from(y as i16);
            let z = if y >= 0 { 2 * y } else { -2 * y - 1 };
            let q = (z >> k) as usize;
            bits += &if q < 8 {
                let low = format!("{:016b}", z & ((1 << k) - 1));
                "0".repeat(q) + "1" + &low[16 - k..]
            } else {
                format!("000000001{z:016b}")
            };
        }
        bits += &"0".repeat(bits.len().next_multiple_of(32) - bits.len());
        words.push(bits.len() as u32 / 32);
        words.extend((0..bits.len()).step_by(32).map(|i| u32::from_str_radix(&bits[i..i + 32], 2).unwrap()));
    }
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// Encodes and decodes on every tier and with several threads, and compares with
/// [`reference_encode`].
fn check(params: &Params, samples: &[i16]) {
    let chunk = reference_encode(params, samples);
    assert!(chunk.len() <= params.bound(samples.len()));
    assert_eq!(encoded_len(params, samples, Options::new()), Ok(chunk.len() as u64));
    for options in tiers().chain([2, 5].map(|n| Options::new().threads(n))) {
        assert!(
            encode(params, samples, options).unwrap() == chunk,
            "{params:?} {options:?} n={}",
            samples.len()
        );
        assert!(decode::<i16>(params, &chunk, options).unwrap() == samples, "{params:?} {options:?}");
    }
}

#[test]
fn every_value_round_trips_for_every_m() {
    let ramp: Vec<i16> = (i16::MIN..=i16::MAX).collect();
    for k in 1..16 {
        // Segments of 257 samples put each value at another place in a block.
        for filter in [Filter::IDENTITY, Filter::DELTA] {
            let params = Params::new(1 << k, 257.try_into().ok()).unwrap().with_filter(filter);
            let chunk = encode(&params, &ramp, Options::new()).unwrap();
            for options in tiers() {
                assert!(encode(&params, &ramp, options).unwrap() == chunk, "{params:?} {options:?}");
                assert!(decode::<i16>(&params, &chunk, options).unwrap() == ramp, "{params:?} {options:?}");
            }
        }
    }
}

#[test]
fn filters_round_trip_over_the_full_range() {
    let mut noise = Noise(1);
    for taps in
        [&[1, -2, 1][..], &[1, -1, 1, -1], &[1, -3, 3, -1], &[-1, 1], &[-1, 2, -1], &[1, 40_000, i32::MIN]]
    {
        for m in [2, 8, 4096] {
            let params =
                Params::new(m, 1000.try_into().ok()).unwrap().with_filter(Filter::new(taps).unwrap());
            check(&params, &noise.walk(5001, 16));
        }
    }
}

#[test]
fn every_count_of_samples_and_segments_round_trips() {
    let mut noise = Noise(2);
    for n in (0..140).chain([255, 256, 257, 511, 700]) {
        for segment in [0, 1, 16, 33] {
            let params = Params::new(8, u32::try_into(segment).ok()).unwrap();
            check(&params, &noise.walk(n, 4));
        }
    }
}

#[test]
fn segments_are_coded_independently() {
    let samples = Noise(4).walk(1000, 5);
    let params = Params::new(16, 300.try_into().ok()).unwrap();
    let chunk = encode(&params, &samples, Options::new()).unwrap();
    for segment in Segments::of(&params, &chunk).unwrap() {
        let segment = segment.unwrap();
        let alone = encode(&params, &samples[segment.samples], Options::new()).unwrap();
        assert_eq!(alone[8..], *segment.payload);
    }
}

#[test]
fn payload_ending_at_a_word_boundary_round_trips() {
    // Eight codes of 4 bits fill a word.
    let params = Params::default();
    for n in [8, 16, 800] {
        let chunk = encode(&params, &vec![0i16; n], Options::new()).unwrap();
        assert_eq!(chunk.len(), 8 + n / 2);
        check(&params, &vec![0; n]);
    }
}

#[test]
fn long_segments_round_trip_at_every_rate_of_escapes() {
    let mut noise = Noise(6);
    for bits in 0..=16 {
        for segments in [1, 4, 16, 35] {
            let samples = noise.walk(segments * 600 - 7, bits);
            for m in [2, 8, 64, 1024] {
                let params = Params::new(m, 600.try_into().ok()).unwrap();
                let chunk = encode(&params, &samples, Options::new()).unwrap();
                for options in tiers().chain([Options::new().threads(3)]) {
                    assert!(encode(&params, &samples, options).unwrap() == chunk, "{options:?}");
                    assert!(
                        decode::<i16>(&params, &chunk, options).unwrap() == samples,
                        "{bits} {segments} {m} {options:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn segments_of_different_bit_rates_round_trip() {
    // Noisy segments beside quiet ones end at different times. The last segment may be shorter.
    let mut noise = Noise(7);
    for segments in 1..=35 {
        for (missing, m) in [(0, 8), (30, 64), (250, 4), (590, 2)] {
            let mut samples: Vec<i16> =
                (0..segments).flat_map(|s| noise.walk(600, [0, 3, 5, 14][s % 4])).collect();
            samples.truncate(600 * segments - missing);
            let params = Params::new(m, 600.try_into().ok()).unwrap();
            for params in [params, params.with_filter(Filter::IDENTITY)] {
                let chunk = encode(&params, &samples, Options::new()).unwrap();
                for options in tiers() {
                    assert!(encode(&params, &samples, options).unwrap() == chunk, "{options:?}");
                    assert!(
                        decode::<i16>(&params, &chunk, options).unwrap() == samples,
                        "{segments} {options:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn too_small_output_is_the_same_error_for_any_number_of_threads() {
    let samples = Noise(9).walk(510, 5);
    let params = Params::new(8, 60.try_into().ok()).unwrap();
    let chunk = encode(&params, &samples, Options::new()).unwrap();
    for capacity in 0..chunk.len() {
        let mut out = vec![0; capacity];
        let first = encode_into(&params, &samples, &mut out, Options::new());
        let e = first.unwrap_err();
        assert!(e.kind == Kind::OutputTooSmall && e.offset <= capacity as u64, "{capacity}: {e}");
        for threads in [2, 3, 8] {
            assert_eq!(
                encode_into(&params, &samples, &mut out, Options::new().threads(threads)),
                first,
                "{capacity}"
            );
        }
    }
    let mut out = vec![0; chunk.len()];
    for threads in 1..12 {
        assert_eq!(
            encode_into(&params, &samples, &mut out, Options::new().threads(threads)),
            Ok(chunk.len())
        );
        assert_eq!(out, chunk);
    }
}

#[test]
fn damage_in_any_segment_is_an_error_at_that_segment() {
    let mut noise = Noise(8);
    for (segments, m) in [(6, 8), (11, 64), (16, 2), (17, 8)] {
        let params = Params::new(m, 300.try_into().ok()).unwrap();
        let chunk = encode(&params, &noise.walk(300 * segments, 4), Options::new()).unwrap();
        for segment in Segments::of(&params, &chunk).unwrap() {
            let segment = segment.unwrap();
            let mut damaged = chunk.clone();
            let middle = segment.bytes.start + segment.payload.len() / 8 * 4;
            damaged[middle..middle + 4].fill(0);
            let first = decode::<i16>(&params, &damaged, Options::new().tier(Tier::Scalar)).unwrap_err();
            assert!((middle as u64 - 4..=middle as u64 + 4).contains(&first.offset), "{first}");
            for options in tiers() {
                assert_eq!(decode::<i16>(&params, &damaged, options), Err(first), "{options:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn all_kernels_equal_the_reference_codec(
        samples in prop::collection::vec(prop_oneof![4 => -20i16..20, 1 => any::<i16>()], 0..400),
        k in 1u32..16,
        segment in 0u32..200,
        taps in prop::collection::vec(-3i32..4, 0..5),
        sign in prop::bool::ANY,
    ) {
        let mut filter = vec![if sign { 1 } else { -1 }];
        filter.extend(taps);
        let params = Params::new(1 << k, segment.try_into().ok()).unwrap();
        check(&params, &samples);
        check(&params.with_filter(Filter::new(&filter).unwrap()), &samples);
    }

    #[test]
    fn bound_suffices_for_the_worst_samples(n in 0usize..600, segment in 0u32..300, k in 1u32..10) {
        // Differences of 24,000, and the first samples, are escapes for every m up to 512: 25 bits
        // each.
        let worst: Vec<i16> = (0..n).map(|i| if i % 2 == 0 { 16_000 } else { -8_000 }).collect();
        let params = Params::new(1 << k, segment.try_into().ok()).unwrap();
        let mut out = vec![0; params.bound(n)];
        prop_assert_eq!(encode_into(&params, &worst, &mut out, Options::new()), Ok(params.bound(n)));
    }
}
