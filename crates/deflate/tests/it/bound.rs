//! No call writes more than its input and 5 bytes for each started 65,535, from any state and for
//! any input. Flush, finish and one-shot calls keep their bounds too.

use linerate_deflate::{
    Format, Level, Scratch, Stream, bound, compress, compress_bound, finish_bound, flush_bound,
};
use proptest::prelude::*;

use crate::common::data::{self, Noise};
use crate::common::{FORMATS, at_level, call, finish, pending, promised, states};

/// Encodes at every level from `start` into a buffer of exactly the bound, and then ends the
/// stream.
#[track_caller]
fn check_from(scratch: &mut Scratch, start: Stream, plain: &[u8]) {
    for level in Level::ALL {
        for more in [true, false] {
            let mut stream = at_level(start, level);
            let mut out = vec![0; promised(plain.len())];
            let result = stream.encode(&mut *scratch, plain, &mut out, more);
            assert!(result.is_ok(), "{level:?}, more {more}, {} held back, {result:?}", pending(&start));
            if stream.is_last() {
                assert!(finish(&mut stream).len() <= 1);
            } else {
                assert!(pending(&stream) <= 5, "{} bits held back", pending(&stream));
                assert_eq!(finish(&mut stream).len(), 2);
            }
        }
    }
}

fn check(plain: &[u8]) {
    let mut scratch = Scratch::boxed();
    states().into_iter().for_each(|start| check_from(&mut scratch, start, plain));
}

#[test]
fn short_inputs_stay_within_the_bound() {
    let noise = &mut Noise::new(1);
    for len in 0..150 {
        check(&data::high(noise, len));
        check(&noise.bytes(len));
        check(&data::text(noise, len));
    }
}

/// The matches cost more than they save: each would end a stored block and begin another.
#[test]
fn runs_of_high_bytes_around_short_repeats_stay_within_the_bound() {
    let noise = &mut Noise::new(2);
    for run in [20, 30, 38, 39, 40, 41, 48, 50, 51, 52, 53, 60, 100] {
        for repeat in [3, 4, 5, 6, 8] {
            let mut plain = data::high(noise, 60);
            for _ in 0..100 {
                plain.extend(data::high(noise, run));
                data::copy(&mut plain, run + repeat, repeat);
            }
            check(&plain);
        }
    }
}

#[test]
fn runs_of_high_bytes_around_low_ones_stay_within_the_bound() {
    let noise = &mut Noise::new(3);
    for (high, low) in [(51, 52), (52, 51), (39, 1), (51, 1), (52, 4), (300, 8), (600, 20)] {
        let plain: Vec<u8> =
            (0..60).flat_map(|_| [data::high(noise, high), data::text(noise, low)].concat()).collect();
        check(&plain);
    }
}

/// Each repeat in noise saves a few bytes, but less than the header of the stored block that must
/// follow.
#[test]
fn repeats_that_hardly_pay_stay_within_the_bound() {
    let noise = &mut Noise::new(8);
    let mut scratch = Scratch::boxed();
    let starts = states();
    for (i, len) in (16..140).step_by(2).enumerate() {
        for around in [700, 1_100, 2_000] {
            let mut plain = noise.bytes(around);
            for _ in 0..4 {
                data::copy(&mut plain, 600, len);
                plain.extend(noise.bytes(around));
            }
            check_from(&mut scratch, starts[i % starts.len()], &plain);
        }
    }
}

#[test]
fn lengths_around_stored_block_limits_stay_within_the_bound() {
    let noise = &mut Noise::new(4);
    for len in [65_534, 65_535, 65_536, 65_537, 131_069, 131_070, 131_071] {
        check(&noise.bytes(len));
        check(&data::high(noise, len));
    }
}

#[test]
fn coded_blocks_at_stored_block_limits_stay_within_the_bound() {
    let noise = &mut Noise::new(5);
    for before in [0, 10, 500, 2_000] {
        for len in [65_520, 65_535, 65_540] {
            let plain =
                [&data::text(noise, before)[..], &noise.bytes(len), &[0; 9], &noise.bytes(70)].concat();
            check(&plain);
        }
    }
}

#[test]
fn calls_with_changing_levels_stay_within_the_bound() {
    let noise = &mut Noise::new(6);
    let mut scratch = Scratch::boxed();
    for seed in 0..40 {
        let mut stream = Stream::new(Format::Deflate, Level::Default);
        for _ in 0..50 {
            let len = noise.below(400);
            let kind = seed + noise.below(2) * 3;
            let plain = data::piece(noise, kind, len);
            stream.set_level(noise.pick(&Level::ALL));
            let n = call(&mut scratch, &mut stream, &plain, true).len();
            assert!(n <= promised(len), "{n} bytes for {len}");
            assert!(pending(&stream) <= 5);
        }
    }
}

/// The public bounds include a pending header. The bounds of flush and finish are reached.
#[test]
fn public_bounds_suffice_with_a_header() {
    let mut scratch = Scratch::boxed();
    let noise = &mut Noise::new(7);
    for format in FORMATS {
        for level in Level::ALL {
            for len in (0..80).chain([1_000, 65_535, 65_536]) {
                let plain = data::high(noise, len);
                let mut stream = Stream::new(format, level);
                let n = call(&mut scratch, &mut stream, &plain, true).len();
                assert!(n <= promised(len) + format.header().len());
                let mut out = vec![0; compress_bound(len)];
                assert!(compress(format, level, &mut scratch, &plain, &mut out).is_ok());
            }
            let mut stream = Stream::new(format, level);
            let mut out = [0; flush_bound()];
            assert_eq!(stream.flush(&mut out), Ok(format.header().len() + 5));
            let mut stream = Stream::new(format, level);
            assert_eq!(finish(&mut stream).len(), format.header().len() + 2 + format.trailer_len());
        }
    }
    assert_eq!((flush_bound(), finish_bound()), (15, 20));
}

#[test]
fn flush_and_finish_stay_within_their_bounds() {
    for start in states() {
        let mut flushed = start;
        assert_eq!(flushed.flush(&mut [0; 5]), Ok(5));
        assert_eq!(pending(&flushed), 0);
        assert_eq!(start.clone().finish(&mut [0; 2]), Ok(2));
    }
}

#[test]
fn bounds_saturate() {
    assert_eq!(bound(0), 10);
    assert_eq!(bound(65_535), 65_535 + 5 + 10);
    assert_eq!(bound(65_536), 65_536 + 10 + 10);
    assert_eq!(bound(usize::MAX), usize::MAX);
    assert_eq!(compress_bound(usize::MAX - 20), usize::MAX);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_mixture_keeps_the_bound(
        pieces in prop::collection::vec((0usize..6, 1usize..1_500, any::<u64>()), 0..12),
        repeats in prop::collection::vec((1usize..400, 3usize..9), 12),
        start in 0usize..12,
    ) {
        let mut plain = Vec::new();
        for ((kind, len, seed), (distance, repeat)) in pieces.into_iter().zip(repeats) {
            plain.extend(data::piece(&mut Noise::new(seed), kind, len));
            let distance = distance.min(plain.len());
            data::copy(&mut plain, distance, repeat);
        }
        check_from(&mut Scratch::boxed(), states()[start], &plain);
    }
}
