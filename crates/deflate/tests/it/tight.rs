//! Output capacity: too little is an error that changes nothing, enough gives the same bytes for
//! any capacity, and no call touches a byte outside the buffer.

use linerate_deflate::{
    Error, Format, Kind, Level, Result, Scratch, Stream, bound, compress, compress_bound, finish_bound,
    flush_bound,
};

use crate::common::data::{self, Noise};
use crate::common::{CODING, FORMATS, at_level, promised, scratches, states};

const GUARD: u8 = 0xA5;

/// A call on a stream, with its output buffer.
type Call<'a> = &'a mut dyn FnMut(&mut Stream, &mut [u8]) -> Result<usize>;

/// Makes the call with a capacity of `most` bytes, and again from the same state with other
/// capacities: with all that are too small if these are few, else with some of them, and with some
/// that are large enough.
#[track_caller]
fn check(before: Stream, most: usize, call: Call<'_>) -> Stream {
    let mut wanted = vec![0; most];
    let mut after = before;
    let n = call(&mut after, &mut wanted).expect("capacity of the bound");
    wanted.truncate(n);
    for capacity in capacities(n) {
        let mut place = vec![GUARD; 16 + capacity + 16];
        let mut stream = before;
        let result = call(&mut stream, &mut place[16..16 + capacity]);
        let (front, rest) = place.split_at(16);
        let (out, back) = rest.split_at(capacity);
        assert!([front, back].concat().iter().all(|&byte| byte == GUARD), "touched outside {capacity}");
        if capacity < n {
            assert_eq!(result.map_err(|e| e.kind), Err(Kind::OutputTooSmall), "{capacity} of {n}");
            assert_eq!(stream, before, "an error changed the stream");
        } else {
            assert_eq!(result, Ok(n), "capacity of {capacity}");
            assert!(out[..n] == wanted, "the bytes depend on the capacity of {capacity}");
            assert_eq!(stream, after, "the state depends on the capacity");
        }
    }
    after
}

fn capacities(n: usize) -> Vec<usize> {
    let large = n..n + 70;
    if n <= 300 {
        return (0..n).chain(large).collect();
    }
    let noise = &mut Noise::new(n as u64);
    let mut capacities: Vec<usize> =
        (n - 80..n).chain([0, 1, 2, 9, 10, 11]).chain(large.step_by(7)).collect();
    capacities.extend((0..10).map(|_| noise.below(n)));
    capacities
}

/// Encodes at all levels and on all tiers from `start`, and then flushes and ends the stream.
/// Leaves out the slowest levels for long input.
fn check_encode(scratches: &mut [Box<Scratch>], start: Stream, plain: &[u8]) {
    let is_fast = |level: &Level| *level < Level::Optimal || plain.len() < 10_000;
    for level in Level::ALL.into_iter().filter(is_fast) {
        for scratch in &mut *scratches {
            for more in [true, false] {
                let most = promised(plain.len()) + start.format().header().len();
                let after = check(at_level(start, level), most, &mut |stream, out| {
                    stream.encode(&mut *scratch, plain, out, more)
                });
                let flushed = check(after, flush_bound(), &mut Stream::flush);
                check(flushed, finish_bound(), &mut Stream::finish);
                check(after, finish_bound(), &mut Stream::finish);
            }
        }
    }
}

#[test]
fn short_inputs_at_every_capacity() {
    let noise = &mut Noise::new(1);
    for kind in 0..6 {
        for len in [0, 1, 2, 3, 7, 19, 64, 130] {
            let plain = data::piece(noise, kind, len);
            for format in FORMATS {
                check_encode(&mut scratches(), Stream::new(format, Level::Default), &plain);
            }
        }
    }
}

#[test]
fn every_state_at_every_capacity() {
    let noise = &mut Noise::new(2);
    let plain = data::mixture(noise, 400);
    for start in states() {
        check_encode(&mut scratches(), start, &plain);
        check_encode(&mut scratches(), start, &plain[..50]);
    }
}

#[test]
fn every_kind_of_data_at_every_capacity() {
    let noise = &mut Noise::new(3);
    let mut scratches = scratches();
    for kind in 0..6 {
        let plain = [data::piece(noise, kind, 3_000), data::piece(noise, kind + 1, 700)].concat();
        check_encode(&mut scratches, Stream::new(Format::Gzip, Level::Default), &plain);
    }
}

#[test]
fn long_inputs_at_selected_capacities() {
    let noise = &mut Noise::new(4);
    let mut scratches = scratches();
    for plain in [data::text(noise, 100_000), data::mixture(noise, 140_000), noise.bytes(66_000)] {
        check_encode(&mut scratches, Stream::new(Format::Zlib, Level::Default), &plain);
    }
}

#[test]
fn calls_with_history_at_every_capacity() {
    let noise = &mut Noise::new(5);
    let text = data::text(noise, 6_000);
    for (history, len) in [(5_000, 6_000), (5_900, 6_000), (6_000, 6_000)] {
        for level in CODING {
            for scratch in &mut scratches() {
                let start = Stream::new(Format::Deflate, level);
                check(start, bound(len - history), &mut |stream, out| {
                    stream.encode_with_history(&mut *scratch, &text[..len], history, out, true)
                });
            }
        }
    }
}

#[test]
fn one_shot_calls_at_every_capacity() {
    let plain = data::text(&mut Noise::new(6), 500);
    let mut scratch = Scratch::boxed();
    for format in FORMATS {
        for level in Level::ALL {
            let mut wanted = vec![0; compress_bound(plain.len())];
            let n =
                compress(format, level, &mut scratch, &plain, &mut wanted).expect("capacity of the bound");
            for capacity in 0..n {
                let result = compress(format, level, &mut scratch, &plain, &mut vec![0; capacity]);
                assert_eq!(result.map_err(|e| e.kind), Err(Kind::OutputTooSmall), "{capacity} of {n}");
            }
            let mut out = vec![0; n];
            assert_eq!(compress(format, level, &mut scratch, &plain, &mut out), Ok(n));
            assert!(out == wanted[..n]);
        }
    }
}

/// A failed call also leaves nothing in the scratch that affects a later one.
#[test]
fn stream_continues_after_output_too_small() {
    let noise = &mut Noise::new(7);
    for level in Level::ALL {
        let mut patient = (Scratch::boxed(), Stream::new(Format::Gzip, level));
        let mut hasty = (Scratch::boxed(), Stream::new(Format::Gzip, level));
        for _ in 0..40 {
            let len = noise.below(5_000);
            let plain = data::mixture(noise, len);
            let mut wanted = vec![0; bound(len)];
            let n = patient.1.encode(&mut patient.0, &plain, &mut wanted, true).expect("capacity");
            let mut out = vec![0; noise.below(n + 1)];
            let early: Option<Error> = hasty.1.encode(&mut hasty.0, &plain, &mut out, true).err();
            if early.is_some() {
                out.resize(n, 0);
                assert_eq!(hasty.1.encode(&mut hasty.0, &plain, &mut out, true), Ok(n));
            }
            assert!(out == wanted[..n]);
            assert_eq!(patient.1, hasty.1);
        }
    }
}
