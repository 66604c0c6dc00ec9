//! The output of a call depends only on the stream's state and the input, not on earlier input,
//! earlier use of the scratch, or the input's address.

use linerate_deflate::{FastScratch, Format, Level, Scratch, Stream, bound, flush_bound};
use proptest::prelude::*;

use crate::common::data::{self, Noise};
use crate::common::decoders::decode;
use crate::common::{CODING, at_level, call, encode, finish, pending};

/// Sizes in bytes of calls at which rebased positions overflow, or nearly.
const EDGES: [usize; 9] = [512, 31_744, 32_768, 33_279, 34_511, 63_488, 65_023, 65_535, 65_536];

/// Data whose parts have much in common, so that anything left over from an earlier call would be
/// found.
fn alike(len: usize) -> Vec<u8> {
    let noise = &mut Noise::new(1);
    let common = data::text(noise, 3_000);
    let mut data = Vec::with_capacity(len);
    while data.len() < len {
        let start = noise.below(common.len() - 200);
        let n = 20 + noise.below(180);
        data.extend_from_slice(&common[start..start + n]);
        let few = noise.below(9);
        data.extend(noise.bytes(few));
    }
    data.truncate(len);
    data
}

/// Asserts that the call has the same result with the scratch `used` as with a new one.
#[track_caller]
fn check_call(used: &mut Scratch, start: Stream, plain: &[u8]) {
    let (mut first, mut second) = (start, start);
    let from_used = call(used, &mut first, plain, true);
    let from_new = call(&mut Scratch::boxed(), &mut second, plain, true);
    assert!(from_used == from_new, "{:?} depends on earlier use of its scratch", start.level());
    assert_eq!(first, second);
}

/// Level 3 switches to hash chains in the middle of a call. Here it does so at a position where an
/// empty head, with a gap that an earlier call left, could look near.
#[test]
fn chains_that_begin_65_536_bytes_into_a_call_ignore_earlier_calls() {
    let noise = &mut Noise::new(3);
    let mut plain = noise.bytes(66_000);
    while plain.len() < 90_000 {
        plain.extend((0..40).map(|_| noise.below(150) as u8));
        let from = 62_000 + noise.below(3_900);
        plain.extend_from_within(from..from + 6);
    }
    for period in [4, 100, 300] {
        let piece = noise.bytes(period);
        let before: Vec<u8> = piece.iter().copied().cycle().take(100_000).collect();
        let mut used = Scratch::boxed();
        call(&mut used, &mut Stream::new(Format::Deflate, Level::Deeper), &before, true);
        check_call(&mut used, Stream::new(Format::Deflate, Level::High), &plain);
    }
}

/// After calls of equal length, raw deflate streams differ only in their pending bits. If these are
/// equal, the next call writes the same bytes whatever the earlier input was.
#[test]
fn output_is_independent_of_the_previous_call() {
    let next = alike(5_000);
    for level in CODING {
        let mut scratch = Scratch::boxed();
        let mut seen: Vec<(Stream, Vec<u8>)> = Vec::new();
        let mut compared = 0;
        for seed in 0..60 {
            let noise = &mut Noise::new(seed);
            let from = noise.below(3_000);
            let before = [data::text(noise, 200), next[from..from + 1_800].to_vec()].concat();
            let mut stream = Stream::new(Format::Deflate, level);
            call(&mut scratch, &mut stream, &before, true);
            let start = stream;
            let written = call(&mut scratch, &mut stream, &next, true);
            match seen.iter().find(|(state, _)| *state == start) {
                None => seen.push((start, written)),
                Some((_, expected)) => {
                    assert!(written == *expected, "{level:?}");
                    compared += 1;
                }
            }
        }
        assert!(compared >= 10, "{level:?}: {compared}");
    }
}

/// Compares a later call with a first one, after earlier calls that happen to end at a byte
/// boundary.
#[test]
fn later_call_equals_a_first_call() {
    let next = alike(5_000);
    for level in CODING {
        let mut scratch = Scratch::boxed();
        let alone = call(&mut scratch, &mut Stream::new(Format::Deflate, level), &next, true);
        let mut compared = 0;
        for len in 1_000..1_200 {
            let mut stream = Stream::new(Format::Deflate, level);
            call(&mut scratch, &mut stream, &next[..len], true);
            if pending(&stream) == 0 {
                assert!(call(&mut scratch, &mut stream, &next, true) == alone, "{level:?}");
                compared += 1;
            }
        }
        assert!(compared >= 3, "{level:?}: {compared}");
    }
}

/// A call does not refer to a repeat just before it, so the bytes after a flush decode alone.
#[test]
fn data_after_a_flush_decodes_alone() {
    for level in Level::ALL {
        let mut scratch = Scratch::boxed();
        for len in [5, 100, 1_000, 20_000, 40_000, 70_000] {
            let plain = alike(len);
            let mut stream = Stream::new(Format::Deflate, level);
            call(&mut scratch, &mut stream, &plain, true);
            stream.flush(&mut [0; flush_bound()]).expect("capacity of flush_bound");
            let mut rest = call(&mut scratch, &mut stream, &plain, false);
            rest.extend(finish(&mut stream));
            assert!(decode(Format::Deflate, &rest, len).as_deref() == Ok(&plain), "{level:?}, {len}");
            let alone = encode(&mut scratch, Format::Deflate, level, &plain, len);
            assert!(rest == alone, "{level:?}, {len}");
        }
    }
}

#[test]
fn copied_stream_continues_like_the_original() {
    let plain = alike(3_000);
    let mut scratch = Scratch::boxed();
    for level in Level::ALL {
        let mut original = Stream::new(Format::Gzip, level);
        call(&mut scratch, &mut original, &plain, true);
        let mut copy = original;
        let expected = call(&mut scratch, &mut original, &plain[..2_000], true);
        call(&mut scratch, &mut Stream::new(Format::Zlib, Level::Fast), &plain, true);
        assert!(call(&mut scratch, &mut copy, &plain[..2_000], true) == expected);
        assert_eq!(copy, original);
    }
}

#[test]
fn output_is_independent_of_input_alignment() {
    let plain = alike(3_000);
    let mut scratch = Scratch::boxed();
    for level in CODING {
        let start = Stream::new(Format::Deflate, level);
        let expected = call(&mut scratch, &mut start.clone(), &plain, true);
        for shift in 1..70 {
            let place = [&vec![b' '; shift], &plain[..], b"bytes after it"].concat();
            let input = &place[shift..shift + plain.len()];
            assert!(call(&mut scratch, &mut start.clone(), input, true) == expected, "{level:?}, {shift}");
        }
    }
}

#[test]
fn fast_scratch_writes_the_same_bytes_as_the_full_one() {
    let mut small = FastScratch::boxed();
    let mut large = Scratch::boxed();
    let inputs = [alike(200_000), Noise::new(2).bytes(100_000), vec![0; 100_000], alike(300)];
    for plain in inputs {
        for level in [Level::Stored, Level::Fast] {
            for chunk in [plain.len(), 16_384, 1_000] {
                let (mut first, mut second) =
                    (Stream::new(Format::Gzip, level), Stream::new(Format::Gzip, level));
                for piece in plain.chunks(chunk) {
                    let mut out = vec![0; bound(piece.len())];
                    let n = first.encode(&mut small, piece, &mut out, true).expect("capacity of bound");
                    assert!(out[..n] == call(&mut large, &mut second, piece, true));
                    assert_eq!(first, second);
                }
            }
        }
    }
}

/// One call leaves the table at any rebased position, and the next one reads it.
#[test]
fn calls_around_every_rebase_boundary_are_isolated() {
    let data = alike(80_000);
    for level in CODING {
        let start = Stream::new(Format::Deflate, level);
        for edge in EDGES {
            for first in edge - 3..edge + 4 {
                let mut scratch = Scratch::boxed();
                call(&mut scratch, &mut start.clone(), &data[..first], true);
                for second in [5, 600, 65_023 - first.min(65_000), 66_000] {
                    check_call(&mut scratch, start, &data[..second]);
                }
            }
        }
    }
}

/// With so many calls, rebases occur everywhere in a call.
#[test]
fn thousands_of_calls_on_one_scratch_are_isolated() {
    let noise = &mut Noise::new(3);
    let data = alike(20_000);
    let mut scratch = Scratch::boxed();
    for i in 0..6_000 {
        let most = if i % 50 == 0 { 19_000 } else { 1_000 };
        let (from, len) = (noise.below(1_000), noise.below(most));
        let start = Stream::new(Format::Deflate, noise.pick(&CODING));
        check_call(&mut scratch, start, &data[from..from + len]);
    }
}

#[test]
fn long_calls_with_rebases_are_isolated() {
    let data = alike(1_500_000);
    for level in CODING {
        let start = Stream::new(Format::Deflate, level);
        let mut scratch = Scratch::boxed();
        for before in [0, 1, 700, 5_000, 20_000, 33_333, 64_000] {
            call(&mut scratch, &mut start.clone(), &data[..before], true);
            check_call(&mut scratch, start, &data[before..before + 300_000]);
        }
        call(&mut scratch, &mut start.clone(), &data[..12_345], true);
        check_call(&mut scratch, start, &data);
    }
}

/// Generates a length: short, near a rebase boundary, or up to several hundred thousand.
fn length() -> impl Strategy<Value = usize> {
    prop_oneof![
        4 => 0usize..3_000,
        3 => (0..EDGES.len(), 0usize..40).prop_map(|(edge, more)| EDGES[edge] - 20 + more),
        2 => 0usize..70_000,
        1 => 70_000usize..400_000,
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn used_scratch_gives_the_same_bytes_as_a_new_one(
        calls in prop::collection::vec((length(), 0usize..4_000, 0usize..3, 0usize..4), 1..12)
    ) {
        let similar = alike(404_000);
        let noise = Noise::new(4).bytes(404_000);
        let mut scratch = Scratch::boxed();
        for (len, from, level, kind) in calls {
            let data = if kind == 0 { &noise } else { &similar };
            let start = at_level(Stream::new(Format::Deflate, Level::Default), CODING[level]);
            check_call(&mut scratch, start, &data[from..from + len]);
        }
    }
}
