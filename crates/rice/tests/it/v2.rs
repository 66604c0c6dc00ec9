//! Version 2 streams: round trips of many kinds of signals, on every tier and with several threads;
//! bounds, random access, and damage.

use std::fmt::Debug;
use std::num::NonZeroU32;

use linerate_rice::v2::{
    Element, ElementType, Shape, StreamOptions, bound, decode, decode_into, decode_segments, encode,
    encode_into, info,
};
use linerate_rice::{Kind, Options, Tier};
use proptest::prelude::*;

use crate::common::tiers;

fn settings(segment: u32) -> StreamOptions {
    StreamOptions::new().segment(NonZeroU32::new(segment))
}

/// Encodes and decodes on every tier and with three threads. All results must agree. Returns the
/// stream.
fn round_trip<T: Element + Debug>(settings: &StreamOptions, samples: &[T]) -> Vec<u8> {
    let stream = encode(settings, samples, Options::new().tier(Tier::Scalar)).unwrap();
    assert!(stream.len() <= bound::<T>(settings, samples.len()));
    for options in tiers().chain([Options::new().threads(3)]) {
        assert!(encode(settings, samples, options).unwrap() == stream, "{options:?} writes other bytes");
        let decoded = decode::<T>(&stream, options).unwrap();
        let differing = decoded.iter().zip(samples).position(|(a, b)| a != b);
        assert_eq!((decoded.len(), differing), (samples.len(), None), "{options:?}");
    }
    let info = info(&stream).unwrap();
    assert_eq!(
        (info.element, info.samples, info.bytes),
        (T::TYPE, samples.len() as u64, stream.len() as u64)
    );
    stream
}

/// Pseudo-random numbers of 48 bits.
fn noise(seed: u64) -> impl Iterator<Item = u64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    })
}

/// Signals of different kinds, which take different paths through the encoder.
fn signals(n: usize) -> Vec<(&'static str, Vec<i64>)> {
    let make = |f: &dyn Fn(i64, i64) -> i64| -> Vec<i64> {
        (0..n as i64).zip(noise(n as u64 + 7)).map(|(i, r)| f(i, r as i64)).collect()
    };
    let wave = |i: i64| {
        let x = (i * 37) % 4096;
        if x < 2048 { x * (2048 - x) / 300 } else { -(x - 2048) * (4096 - x) / 300 }
    };
    vec![
        ("zeros", make(&|_, _| 0)),
        ("constant", make(&|_, _| -12_345)),
        ("ramp", make(&|i, _| i)),
        ("noise of 3 bits", make(&|_, r| r & 7)),
        ("noise of 16 bits", make(&|_, r| r & 0xffff)),
        ("noise of 32 bits", make(&|_, r| r)),
        ("extremes", make(&|i, _| if i % 2 == 0 { i64::from(i32::MIN) } else { i64::from(i32::MAX) })),
        ("wave", make(&|i, _| wave(i))),
        ("noisy wave", make(&|i, r| wave(i) + (r & 15))),
        ("left-justified", make(&|i, r| (wave(i) + (r & 3)) << 4)),
        ("multiples of 12 and 5", make(&|_, r| (r % 100) * 12 + 5)),
        ("quiet with bursts", make(&|i, r| if i % 1000 < 40 { r % 5000 } else { 100 + (r & 1) })),
        ("spikes", make(&|_, r| if r % 97 == 0 { r % 60_000 } else { r & 3 })),
        ("steps", make(&|i, r| (i / 700) * 1000 + (r & 1))),
    ]
}

fn all_types(settings: &StreamOptions, name: &str, signal: &[i64]) {
    eprintln!("{name}, {} samples", signal.len());
    round_trip(settings, &signal.iter().map(|&x| x as i16).collect::<Vec<_>>());
    round_trip(settings, &signal.iter().map(|&x| x as u16).collect::<Vec<_>>());
    round_trip(settings, &signal.iter().map(|&x| x as i32).collect::<Vec<_>>());
    round_trip(settings, &signal.iter().map(|&x| x as u32).collect::<Vec<_>>());
}

#[test]
fn signals_of_all_kinds_round_trip() {
    for (name, signal) in signals(9000) {
        all_types(&settings(1000), name, &signal);
        all_types(&StreamOptions::new(), name, &signal);
    }
}

#[test]
fn every_length_round_trips() {
    for n in (0..140).chain([255, 256, 257, 1023, 1025]) {
        for (name, signal) in signals(n) {
            all_types(&settings(64), name, &signal);
            all_types(&StreamOptions::new(), name, &signal);
        }
    }
}

#[test]
fn every_segment_length_round_trips() {
    let (_, signal) = signals(400).swap_remove(8);
    for segment in (1..70).chain([127, 399, 400, 401, 65_536]) {
        all_types(&settings(segment), "noisy wave", &signal);
    }
}

#[test]
fn different_linear_predictions_in_each_lane_round_trip() {
    // More segments than any kernel takes at a time, with different predictions. The last segment
    // is shorter.
    let row = |i: i64| {
        let at = move |j: i64| ((j * (i + 1) * 21) % 628 - 314) * 100;
        (0..300).map(move |j| at(j) * (314 - at(j).abs() / 100) / 157)
    };
    let signal: Vec<i64> = (0..70).flat_map(row).take(70 * 300 - 111).collect();
    all_types(&settings(300), "rows", &signal);
}

#[test]
fn samples_that_outgrow_16_bits_within_a_segment_round_trip() {
    // Waves of 40 samples, which exceed 16 bits at another place in each segment, or never.
    let row = |i: i64| {
        let at = |j: i64| (j % 40 - 20) * (20 - (j % 40 - 20).abs()) * if j / 20 % 2 == 0 { 1 } else { -1 };
        (0..500).map(move |j| at(j) * (20 + j * i / 3))
    };
    let signal: Vec<i64> = (0..36).flat_map(row).collect();
    assert!(signal.iter().any(|x| x.abs() > 70_000));
    all_types(&settings(500), "growing waves", &signal);
}

#[test]
fn resonances_far_above_the_noise_that_drives_them_take_the_bits_of_the_noise() {
    // Sound is like this: all but about a thousandth of the amplitude can be predicted.
    let noise = noise(7).map(|x| (x % 16) as i64 - 8);
    let samples: Vec<i16> = noise
        .scan([0i64; 4], |h, noise| {
            let sum = 250_996 * h[0] - 364_846 * h[1] + 238_564 * h[2] - 59_218 * h[3];
            *h = [(sum >> 16) + noise, h[0], h[1], h[2]];
            Some(h[0] as i16)
        })
        .take(40_000)
        .collect();
    assert!(samples.iter().any(|x| x.abs() > 5000));
    let stream = round_trip(&StreamOptions::new(), &samples);
    // A Rice code takes 4.5 bits for one of 16 equally likely values. A segment of 4096 samples has
    // about 70 bytes besides its codes.
    let bits = 8.0 * stream.len() as f64 / samples.len() as f64;
    assert!(bits < 4.75, "{bits}");
}

#[test]
fn compressible_signals_reach_expected_sizes() {
    let of = |n: usize, name: &str| signals(n).into_iter().find(|s| s.0 == name).unwrap().1;
    let size = |name: &str| {
        let samples: Vec<i16> = of(8192, name).iter().map(|&x| x as i16).collect();
        round_trip(&settings(8192), &samples).len()
    };
    // The header and table take 32 bytes, the head of a segment about 10.
    assert!(size("zeros") <= 44);
    assert!(size("constant") <= 44);
    // One residual is not zero, so there are two modes, and each block takes a bit to state its
    // mode.
    assert!(size("ramp") <= 60 + 8192 / 32 / 8);
    assert!(size("noise of 16 bits") <= 16_384 + 42);
    // A Rice code takes 3.5 bits for one of eight equally likely values.
    assert!(size("noise of 3 bits") < 8192 * 7 / 16 * 105 / 100);
    // The logarithm of 100 values is 6.64 bits.
    assert!(size("multiples of 12 and 5") < 8192 * 8 / 8);
    // Low bits that are always zero cost the two bytes of the step.
    let samples: Vec<i16> = of(8192, "left-justified").iter().map(|&x| x as i16).collect();
    let shifted: Vec<i16> = samples.iter().map(|x| x >> 4).collect();
    assert!(size("left-justified") <= round_trip(&settings(8192), &shifted).len() + 4);
}

/// Interleaved channels. Every third channel is the difference of the two before it; each other
/// channel is the sum of two waves and of a little noise of its own.
fn leads(channels: usize, frames: usize) -> Vec<i64> {
    let mut noise = noise(channels as u64);
    let mut lead = |i: usize, c: usize| {
        let (i, c) = (i as i64, c as i64);
        let at = |period: i64| (i * 200 / period) % 400 - 200;
        let wave = |x: i64| x * (200 - x.abs()) / 10;
        wave(at(90)) + wave(at(37 + c % 2)) * (c % 5) / 5 + noise.next().unwrap() as i64 % 7
    };
    let mut all = Vec::new();
    for i in 0..frames {
        for c in 0..channels {
            let own = lead(i, c);
            all.push(if c % 3 == 2 { all[all.len() - 2] - all[all.len() - 1] } else { own });
        }
    }
    all
}

fn channels(channels: usize) -> StreamOptions {
    StreamOptions::new().channels(NonZeroU32::new(channels as u32))
}

#[test]
fn channels_round_trip() {
    let shapes = [(2, 1), (2, 66), (2, 9000), (3, 500), (15, 1), (15, 33), (15, 4200), (17, 40), (300, 65)];
    for (n, frames) in shapes {
        all_types(&channels(n), "leads", &leads(n, frames));
        let segments = channels(n).segment(NonZeroU32::new(100));
        all_types(&segments, "leads in short segments", &leads(n, frames.min(500)));
    }
    for (name, signal) in signals(1200) {
        for n in [2, 3, 5] {
            all_types(&channels(n), name, &signal);
        }
    }
}

#[test]
fn channels_of_no_samples_round_trip() {
    let stream = round_trip::<i16>(&channels(3), &[]);
    assert_eq!((info(&stream).unwrap().channels, info(&stream).unwrap().segments), (3, 0));
}

#[test]
fn rows_of_channels_are_found_and_smaller() {
    let samples: Vec<i16> = leads(15, 3000).iter().map(|&x| x as i16).collect();
    let found = round_trip(&StreamOptions::new().row(NonZeroU32::new(15)), &samples);
    assert_eq!(info(&found).unwrap().channels, 15);
    assert!(found == round_trip(&channels(15), &samples));
    let without = round_trip(&channels(1).row(NonZeroU32::new(15)), &samples);
    assert_eq!(info(&without).unwrap().channels, 1);
    assert!(found.len() < without.len() / 2, "{} and {}", found.len(), without.len());
    // The same samples with each channel as a row.
    let apart: Vec<i16> = (0..15).flat_map(|c| samples.iter().skip(c).step_by(15).copied()).collect();
    let rows = round_trip(&StreamOptions::new().row(NonZeroU32::new(3000)), &apart);
    assert!(found.len() < rows.len() * 4 / 5, "{} and {}", found.len(), rows.len());
}

#[test]
fn short_waveforms_as_rows_are_not_taken_for_channels() {
    let walk = |row: u64| {
        let steps = noise(row + 1).take(200);
        steps.scan(row as i64 * 7919 % 30_000 + 9000, |at, r| {
            *at += r as i64 % 41 - 20;
            Some(*at as u16)
        })
    };
    let samples: Vec<u16> = (0..300).flat_map(walk).collect();
    let stream = round_trip(&StreamOptions::new().row(NonZeroU32::new(200)), &samples);
    assert_eq!(info(&stream).unwrap().channels, 1);
}

#[test]
fn impossible_channels_are_bad_arguments() {
    let refused = |settings: StreamOptions, samples: usize| match encode(
        &settings,
        &vec![0i16; samples],
        Options::new(),
    ) {
        Ok(_) => false,
        Err(e) => e.kind == Kind::BadArgument,
    };
    assert!(refused(channels(1025), 1025));
    assert!(refused(channels(3), 10));
    assert!(refused(channels(3).row(NonZeroU32::new(6)), 12));
    assert!(!refused(channels(3).row(NonZeroU32::new(3)), 12));
    assert!(!refused(channels(1024), 2048));
}

#[test]
fn single_segments_of_channels_decode() {
    let samples: Vec<u16> = leads(3, 1000).iter().map(|&x| x as u16).collect();
    let stream = encode(&channels(3).segment(NonZeroU32::new(700)), &samples, Options::new()).unwrap();
    let info = info(&stream).unwrap();
    assert_eq!((info.segment, info.segments), (702, 5));
    for first in 0..=5 {
        for last in first..=5 {
            let want = &samples[(first * 702).min(3000)..(last * 702).min(3000)];
            let mut out = vec![0u16; want.len()];
            assert_eq!(decode_segments(&stream, first..last, &mut out, Options::new()).unwrap(), want.len());
            assert_eq!(out, want);
        }
    }
}

#[test]
fn impossible_channels_in_a_header_are_errors() {
    let samples: Vec<i16> = leads(4, 100).iter().map(|&x| x as i16).collect();
    let stream = encode(&channels(4), &samples, Options::new()).unwrap();
    assert_eq!(stream[4..8], [2, 0, 2, 1]);
    let with = |at: usize, bytes: &[u8]| {
        let mut changed = stream.clone();
        changed[at..at + bytes.len()].copy_from_slice(bytes);
        let sum = twox_hash::XxHash3_64::oneshot(&changed[..24]) as u32;
        changed[24..28].copy_from_slice(&sum.to_le_bytes());
        decode::<i16>(&changed, Options::new()).map_err(|e| (e.kind, e.offset))
    };
    assert_eq!(with(0, &[]), Ok(samples));
    for count in [0u32, 1, 3, 1025, 4096, u32::MAX] {
        assert_eq!(with(20, &count.to_le_bytes()), Err((Kind::Corrupt, 20)), "{count} channels");
    }
    // 401 samples in 4 channels, then segments of 1024 channels with 65,536 samples each.
    assert_eq!(with(8, &[0x91, 1]), Err((Kind::Corrupt, 20)));
    assert_eq!(with(8, &[0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 4]), Err((Kind::Corrupt, 20)));
    // Minor version 0 has no channels, minor version 2 only a file record, and flag 4 belongs to
    // minor version 2.
    for bytes in [[2, 0], [2, 2], [6, 1], [4, 0]] {
        assert_eq!(with(6, &bytes), Err((Kind::Unsupported, 6)), "{bytes:?}");
    }
}

#[test]
fn row_length_is_kept() {
    let settings = StreamOptions::new().row(NonZeroU32::new(50));
    let stream = encode(&settings, &[1u16; 200], Options::new()).unwrap();
    assert_eq!(info(&stream).unwrap().row, NonZeroU32::new(50));
    for row in [1, 2, 3, 1000, 1023, 1024, 1025, 7000, 16_384, 16_385, 81_920, 500_000, u32::MAX] {
        let settings = StreamOptions::new().row(NonZeroU32::new(row));
        assert!((1..=65_536).contains(&settings.segment_len()), "row {row}");
    }
}

#[test]
fn shapes_of_any_number_of_axes_are_kept() {
    let samples: Vec<u16> = noise(5).take(6000).map(|x| x as u16 & 0xff).collect();
    let most = [&[1; 62][..], &[60, 100]].concat();
    for axes in [&[6000][..], &[60, 100], &[10, 6, 100], &[2, 3, 10, 100, 1], &most, &[0, 5], &[5, 0, 3], &[]]
    {
        let shape = Shape::new(axes).unwrap();
        let samples = &samples[..shape.samples().unwrap() as usize];
        let settings = settings(700).row(NonZeroU32::new(100)).shape(Some(shape));
        let stream = round_trip(&settings, samples);
        assert_eq!(info(&stream).unwrap().shape.unwrap().axes(), axes);
        // The segments are the same as in a stream without a shape.
        let plain = encode(&settings.shape(None), samples, Options::new()).unwrap();
        assert_eq!((info(&plain).unwrap().shape, stream.len()), (None, plain.len() + 8 + 8 * axes.len()));
        let segments = samples.len().div_ceil(700);
        assert_eq!(stream[28 + 4 * segments + 8 + 8 * axes.len()..], plain[28 + 4 * segments..]);
    }
    let settings = settings(700);
    let wrong = settings.shape(Some(Shape::new(&[10, 601]).unwrap()));
    assert_eq!(encode(&wrong, &samples, Options::new()).unwrap_err().kind, Kind::BadArgument);
    assert_eq!(Shape::new(&[1; 65]).unwrap_err().kind, Kind::Unsupported);
    assert_eq!(Shape::new(&[1 << 32, 1 << 32]).unwrap().samples(), None);
}

#[test]
fn damaged_shape_is_an_error() {
    let shape = Shape::new(&[2, 3, 10]).unwrap();
    let settings = settings(60).shape(Some(shape));
    let stream = encode(&settings, &[7i16; 60], Options::new()).unwrap();
    let record = 28 + 8..28 + 8 + 28;
    for bit in 8 * 28..8 * record.end {
        let mut damaged = stream.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(decode::<i16>(&damaged, Options::new()).is_err(), "bit {bit}");
        if record.contains(&(bit / 8)) {
            let error = info(&damaged).unwrap_err();
            assert_eq!((error.kind, error.offset), (Kind::Corrupt, record.start as u64));
        }
    }
}

#[test]
fn single_segments_decode() {
    let samples: Vec<u16> = noise(3).take(1050).map(|x| x as u16 & 0xff).collect();
    let stream = encode(&settings(100), &samples, Options::new()).unwrap();
    for first in 0..=11 {
        for last in first..=11 {
            let want = &samples[(first * 100).min(1050)..(last * 100).min(1050)];
            let mut out = vec![0u16; want.len()];
            for threads in [1, 2] {
                let n =
                    decode_segments(&stream, first..last, &mut out, Options::new().threads(threads)).unwrap();
                assert_eq!((n, &out[..]), (want.len(), want));
            }
        }
    }
    let bad = decode_segments(&stream, 3..12, &mut [0u16; 1050], Options::new()).unwrap_err();
    assert_eq!(bad.kind, Kind::BadArgument);
}

#[test]
fn too_small_output_is_an_error() {
    let samples: Vec<i16> = noise(4).take(500).map(|x| x as i16 & 0x3f).collect();
    let stream = encode(&settings(100), &samples, Options::new()).unwrap();
    for threads in [1, 2] {
        let options = Options::new().threads(threads);
        for capacity in 0..stream.len() {
            let error = encode_into(&settings(100), &samples, &mut vec![0; capacity], options).unwrap_err();
            assert_eq!(error.kind, Kind::OutputTooSmall);
        }
        let mut out = vec![0xaa; stream.len()];
        assert_eq!(encode_into(&settings(100), &samples, &mut out, options).unwrap(), stream.len());
        assert_eq!(out, stream);
    }
    let error = decode_into(&stream, &mut [0i16; 499], Options::new()).unwrap_err();
    assert_eq!(error.kind, Kind::OutputTooSmall);
}

#[test]
fn wrong_arguments_are_errors() {
    assert_eq!(encode(&settings(65_537), &[0u16], Options::new()).unwrap_err().kind, Kind::BadArgument);
    let mut stream = encode(&settings(100), &[7i16; 300], Options::new()).unwrap();
    assert_eq!(decode::<u16>(&stream, Options::new()).unwrap_err().kind, Kind::BadArgument);
    stream.push(0);
    assert_eq!(decode::<i16>(&stream, Options::new()).unwrap_err().kind, Kind::BadArgument);
    assert_eq!(info(&stream).unwrap().bytes as usize, stream.len() - 1);
    assert_eq!(ElementType::ALL.map(|t| ElementType::from_code(t.code())), ElementType::ALL.map(Some));
}

/// Small streams that together have every part that a stream with samples can have.
fn small_streams() -> Vec<(ElementType, Vec<u8>)> {
    let mut all = Vec::new();
    for (_, signal) in signals(200) {
        let short: Vec<i16> = signal.iter().map(|&x| x as i16).collect();
        let long: Vec<u32> = signal.iter().map(|&x| x as u32).collect();
        all.push((ElementType::I16, encode(&settings(150), &short, Options::new()).unwrap()));
        all.push((ElementType::U32, encode(&settings(150), &long, Options::new()).unwrap()));
    }
    for n in [2, 3] {
        let samples = leads(n, 120);
        let short: Vec<i16> = samples.iter().map(|&x| x as i16).collect();
        let long: Vec<u32> = samples.iter().map(|&x| x as u32).collect();
        let settings = channels(n).segment(NonZeroU32::new(150));
        all.push((ElementType::I16, encode(&settings, &short, Options::new()).unwrap()));
        all.push((ElementType::U32, encode(&settings, &long, Options::new()).unwrap()));
    }
    let shape = Shape::new(&[5, 4, 10]).ok();
    all.push((ElementType::I16, encode(&settings(150).shape(shape), &[3i16; 200], Options::new()).unwrap()));
    all
}

/// Decodes as samples of type `element`, on every tier and with two threads, and asserts that all
/// results agree.
fn verdict(element: ElementType, stream: &[u8]) -> Result<Vec<i64>, linerate_rice::Error> {
    let of = |options| match element {
        ElementType::I16 => decode::<i16>(stream, options).map(|x| x.into_iter().map(i64::from).collect()),
        _ => decode::<u32>(stream, options).map(|x| x.into_iter().map(i64::from).collect::<Vec<_>>()),
    };
    let mut all = tiers().chain([Options::new().threads(2)]).map(of);
    let first = all.next().unwrap();
    all.for_each(|other| assert_eq!(other, first));
    first
}

#[test]
fn truncation_is_an_error() {
    for (element, stream) in small_streams() {
        for n in 0..stream.len() {
            verdict(element, &stream[..n]).unwrap_err();
        }
    }
}

#[test]
fn flipped_bit_is_an_error_or_harmless() {
    for (element, stream) in small_streams() {
        let samples = verdict(element, &stream).unwrap();
        let mut damaged = stream.clone();
        for bit in 0..8 * stream.len() {
            damaged[bit / 8] ^= 1 << (bit % 8);
            if let Ok(decoded) = verdict(element, &damaged) {
                assert_eq!(decoded, samples, "bit {bit}");
            }
            damaged[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

#[test]
fn nonzero_padding_of_modes_is_an_error() {
    let (_, signal) = signals(96).into_iter().find(|s| s.0 == "quiet with bursts").unwrap();
    let samples: Vec<i16> = signal.iter().map(|&x| x as i16).collect();
    let mut stream = encode(&settings(96), &samples, Options::new()).unwrap();
    // The kind is after the header, the table and the checksum of the segment. The width of modes,
    // the centre, and the fields that the kind announces come before the modes.
    let kind = stream[36];
    let width = usize::from(stream[38] & 7);
    let step = if kind & 0x10 != 0 { 2 } else { 0 };
    let escapes = if kind & 0x20 != 0 { 2 } else { 0 };
    assert!(kind & 0xf < 3, "a fixed predictor");
    let used = 3 * width; // bits of the modes of three blocks
    assert!(!used.is_multiple_of(8), "{used} bits of modes: none is spare");
    let last = 39 + 2 + step + escapes + used / 8;
    assert_eq!(verdict(ElementType::I16, &stream).unwrap().len(), 96);
    for bit in used % 8..8 {
        assert_eq!(stream[last] >> bit & 1, 0, "the encoder leaves it zero");
        stream[last] ^= 1 << bit;
        let error = verdict(ElementType::I16, &stream).unwrap_err();
        assert_eq!(error.kind, Kind::Corrupt, "bit {bit}");
        stream[last] ^= 1 << bit;
    }
}

proptest! {
    #[test]
    fn any_samples_round_trip(
        samples in proptest::collection::vec(any::<u32>(), 0..400),
        mask in 0u32..=32,
        segment in 1u32..200,
    ) {
        let kept = if mask == 32 { u32::MAX } else { (1 << mask) - 1 };
        let long: Vec<u32> = samples.iter().map(|x| x & kept).collect();
        let short: Vec<u16> = long.iter().map(|&x| x as u16).collect();
        round_trip(&settings(segment), &long);
        round_trip(&settings(segment), &short);
    }

    #[test]
    fn any_channels_round_trip(
        samples in proptest::collection::vec(any::<u32>(), 0..400),
        mask in 0u32..=32,
        n in 2usize..9,
        segment in 1u32..200,
        sums in any::<bool>(),
    ) {
        let kept = if mask == 32 { u32::MAX } else { (1 << mask) - 1 };
        let mut long: Vec<u32> = samples.iter().map(|x| x & kept).collect();
        long.truncate(long.len() / n * n);
        if sums {
            // Makes each channel but the first depend on the channel before it.
            let sum = |frame: &mut [u32]| (1..n).for_each(|c| frame[c] = frame[c].wrapping_add(frame[c - 1] / 3));
            long.chunks_exact_mut(n).for_each(sum);
        }
        let short: Vec<u16> = long.iter().map(|&x| x as u16).collect();
        let settings = channels(n).segment(NonZeroU32::new(segment));
        round_trip(&settings, &long);
        round_trip(&settings, &short);
        let signed: Vec<i16> = short.iter().map(|&x| x as i16).collect();
        round_trip(&channels(n), &signed);
    }

    #[test]
    fn any_bytes_decode_without_panic(
        mut bytes in proptest::collection::vec(any::<u8>(), 0..300),
        from in 0usize..33,
        at in 0usize..300,
    ) {
        // Replaces the rest of a valid stream, so that damage can follow an intact header.
        let (element, stream) = small_streams().swap_remove(from);
        let at = at.min(stream.len());
        let mut damaged = stream[..at].to_vec();
        damaged.append(&mut bytes);
        let _ = verdict(element, &damaged);
    }
}
