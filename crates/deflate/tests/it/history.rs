//! Matches into the history before a call reach the whole window and no further.

use linerate_deflate::{Format, Kind, Level, Scratch, Stream, bound};
use linerate_testkit::deflate::{HAS_C, Receiver};
use linerate_testkit::tools::require;

use crate::common::data::{self, Noise};
use crate::common::decoders::assert_decodes;
use crate::common::{CODING, at_level, call, finish, promised, scratches, states};

fn call_with(scratch: &mut Scratch, stream: &mut Stream, buffer: &[u8], history: usize) -> Vec<u8> {
    let mut out = vec![0; bound(buffer.len() - history)];
    let n = stream.encode_with_history(scratch, buffer, history, &mut out, true).expect("capacity of bound");
    out.truncate(n);
    out
}

/// Returns a stream made by calls of `chunk` bytes, each with `history` bytes before it.
fn encode(scratch: &mut Scratch, level: Level, plain: &[u8], chunk: usize, history: usize) -> Vec<u8> {
    let mut stream = Stream::new(Format::Zlib, level);
    let mut all = Vec::new();
    for start in (0..plain.len()).step_by(chunk) {
        let end = plain.len().min(start + chunk);
        let seen = history.min(start);
        all.extend(call_with(&mut *scratch, &mut stream, &plain[start - seen..end], seen));
    }
    all.extend(finish(&mut stream));
    all
}

#[test]
fn history_shrinks_files_and_they_decode() {
    for (name, plain) in linerate_testkit::testdata::corpus() {
        let plain = &plain[..plain.len().min(150_000)];
        for level in CODING {
            // The slowest levels insert the history again for each chunk.
            let chunks: &[usize] = if level < Level::Optimal { &[1_000, 16_384] } else { &[16_384] };
            for &chunk in chunks {
                let sizes = [0, 8_192, 32_768, 100_000].map(|history| {
                    let mut encoded = scratches()
                        .into_iter()
                        .map(|mut scratch| encode(&mut scratch, level, plain, chunk, history));
                    let first = encoded.next().expect("the scalar tier");
                    assert!(encoded.all(|other| other == first), "tiers differ");
                    assert_decodes(Format::Zlib, &first, plain);
                    first.len()
                });
                assert!(sizes[0] > sizes[1], "{name}, {level:?}, calls of {chunk}: {sizes:?}");
                assert_eq!(sizes[2], sizes[3], "history beyond the window makes a difference");
            }
        }
    }
}

#[test]
fn empty_history_equals_an_ordinary_call() {
    let plain = data::text(&mut Noise::new(1), 5_000);
    let mut scratch = Scratch::boxed();
    for level in Level::ALL {
        for start in states() {
            let (mut first, mut second) = (at_level(start, level), at_level(start, level));
            let with = call_with(&mut scratch, &mut first, &plain, 0);
            assert!(with == call(&mut scratch, &mut second, &plain, true));
            assert_eq!(first, second);
        }
    }
}

#[test]
fn history_beyond_the_window_is_ignored() {
    let noise = &mut Noise::new(2);
    let recent = data::text(noise, 32_768);
    let input = data::text(noise, 10_000);
    for level in CODING {
        let start = Stream::new(Format::Deflate, level);
        let mut scratch = Scratch::boxed();
        let buffer = [&recent[..], &input].concat();
        let expected = call_with(&mut scratch, &mut start.clone(), &buffer, 32_768);
        for older in [1, 500, 100_000] {
            let buffer = [&data::text(noise, older)[..], &recent, &input].concat();
            let written = call_with(&mut scratch, &mut start.clone(), &buffer, 32_768 + older);
            assert!(written == expected, "{level:?}, {older} older bytes");
        }
    }
}

#[test]
fn smaller_windows_are_enough_for_their_decoders() {
    // Only zlib notices a match beyond its window.
    if !require(HAS_C, "zlib is not compiled in") {
        return;
    }
    let plain = data::mixture(&mut Noise::new(8), 60_000);
    for level in CODING {
        for window_bits in 8..=15u8 {
            let mut scratch = Scratch::boxed();
            let mut stream = Stream::new(Format::Deflate, level);
            let mut decoder = Receiver::new(-i32::from(window_bits), &[]);
            let (mut decoded, chunk) = (Vec::new(), 100 << (window_bits - 8));
            for start in (0..plain.len()).step_by(chunk) {
                let (seen, end) = (start.min(40_000), plain.len().min(start + chunk));
                let mut out = vec![0; bound(end - start)];
                let buffer = &plain[start - seen..end];
                let n = stream.encode_in_window(&mut scratch, buffer, seen, window_bits, &mut out, true);
                decoded
                    .extend(decoder.take(&out[..n.expect("capacity of bound")]).expect("within the window"));
            }
            decoded.extend(decoder.take(&finish(&mut stream)).expect("the end"));
            assert!(decoded == plain, "{level:?}, window of {window_bits} bits");
        }
    }
}

#[test]
fn matches_reach_the_oldest_byte_of_the_window() {
    let oldest = data::base64(&mut Noise::new(3), 4_000);
    for level in CODING {
        let [within, beyond] = [32_768, 32_769 + 4_000].map(|distance| {
            // A run of zeros takes few slots of a hash table, so it overwrites no older position at
            // any level.
            let between = vec![0; distance - oldest.len()];
            let buffer = [&oldest[..], &between, &oldest].concat();
            let mut stream = Stream::new(Format::Deflate, level);
            call_with(&mut Scratch::boxed(), &mut stream, &buffer, distance).len()
        });
        assert!(within * 2 < beyond, "{level:?}: {within} bytes, {beyond} without the window");
    }
}

#[test]
fn repeated_message_becomes_a_match() {
    let message = data::text(&mut Noise::new(4), 200);
    for level in CODING {
        for before in [0, 1, 3, 100, 3_000] {
            let between = data::base64(&mut Noise::new(5), before);
            let buffer = [&message[..], &between, &message].concat();
            let mut stream = Stream::new(Format::Deflate, level);
            let history = buffer.len() - message.len();
            let n = call_with(&mut Scratch::boxed(), &mut stream, &buffer, history).len();
            assert!(n < 20, "{level:?}: {n} bytes, {before} between");
        }
    }
}

#[test]
fn short_histories_and_inputs_decode() {
    let text = data::repeat(&mut Noise::new(6), 9, 40);
    for level in CODING {
        for mut scratch in scratches() {
            for end in 0..text.len() {
                for history in 0..=end {
                    let mut stream = Stream::new(Format::Deflate, Level::Stored);
                    let mut all = call(&mut scratch, &mut stream, &text[..history], true);
                    stream.set_level(level);
                    all.extend(call_with(&mut scratch, &mut stream, &text[..end], history));
                    all.extend(finish(&mut stream));
                    assert_decodes(Format::Deflate, &all, &text[..end]);
                }
            }
        }
    }
}

#[test]
fn calls_with_history_keep_the_bound_and_isolation() {
    let noise = &mut Noise::new(7);
    let mut used = Scratch::boxed();
    for (i, start) in states().into_iter().cycle().take(150).enumerate() {
        let level = CODING[i % CODING.len()];
        let (len, history) = (noise.below(70_000), noise.below(40_000));
        let buffer = data::mixture(noise, history + len);
        let (mut first, mut second) = (at_level(start, level), at_level(start, level));
        let written = call_with(&mut used, &mut first, &buffer, history);
        assert!(written.len() <= promised(len));
        assert!(written == call_with(&mut Scratch::boxed(), &mut second, &buffer, history), "{level:?}");
        assert_eq!(first, second);
    }
}

#[test]
fn errors_leave_the_stream_unchanged() {
    let mut scratch = Scratch::boxed();
    let mut out = [0; 100];
    let mut stream = Stream::new(Format::Gzip, Level::Default);
    let before = stream;
    let error = stream.encode_with_history(&mut scratch, b"abc", 4, &mut out, true).expect_err("4 of 3");
    assert_eq!((error.kind, stream), (Kind::BadArgument, before));
    assert_eq!(stream.encode_with_history(&mut scratch, b"abc", 3, &mut out, false), Ok(10));
    assert!(!stream.is_last());
    for window_bits in [0, 7, 16] {
        let result = stream.encode_in_window(&mut scratch, b"abc", 0, window_bits, &mut out, true);
        assert_eq!(result.expect_err("no such window").kind, Kind::BadArgument);
    }
    stream.encode_with_history(&mut scratch, b"abc", 2, &mut out, false).expect("capacity");
    let last = stream;
    let error = stream.encode_with_history(&mut scratch, b"abc", 2, &mut out, true).expect_err("the end");
    assert_eq!((error.kind, stream), (Kind::BadArgument, last));
}
