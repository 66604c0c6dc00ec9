//! Calls in any order, of any size and at any level. Everything decodes, and after a flush
//! everything encoded so far decodes at once.

use linerate_deflate::{FastScratch, Format, Kind, Level, Scratch, Stream, bound};

use crate::common::FORMATS;
use crate::common::data::{self, Noise};
use crate::common::decoders::{Incremental, assert_decodes};
use crate::common::{call, finish, flush, promised};

/// Encodes `plain` as one stream of random calls, and decodes it.
fn check_stream(scratch: &mut Scratch, noise: &mut Noise, format: Format, plain: &[u8], most: usize) {
    let mut stream = Stream::new(format, noise.pick(&Level::ALL));
    let mut decoder = Incremental::new(format, plain.len());
    let (mut all, mut at) = (Vec::new(), 0);
    let mut header_due = format.header().len();
    let announces_end = noise.below(2) == 0;
    while at < plain.len() {
        let end = plain.len().min(at + noise.below(most + 1));
        let history = if noise.below(4) == 0 { noise.below(at + 1) } else { 0 };
        let mut out = vec![0; bound(end - at)];
        let more = end < plain.len() || !announces_end;
        let n = stream
            .encode_with_history(&mut *scratch, &plain[at - history..end], history, &mut out, more)
            .expect("capacity of bound");
        assert!(n <= promised(end - at) + header_due, "{n} bytes for {}", end - at);
        all.extend_from_slice(&out[..n]);
        decoder.take(&out[..n]);
        (at, header_due) = (end, 0);
        if noise.below(3) == 0 {
            let sent = flush(&mut stream);
            all.extend_from_slice(&sent);
            decoder.take(&sent);
            assert!(decoder.plain() == &plain[..at], "what was flushed is not decodable");
        }
        if noise.below(3) == 0 {
            stream.set_level(noise.pick(&Level::ALL));
        }
    }
    all.extend(finish(&mut stream));
    assert_eq!(stream.total_in() as usize, plain.len());
    assert_decodes(format, &all, plain);
}

fn check_streams(seed: u64, count: usize, most: usize, len: usize) {
    let noise = &mut Noise::new(seed);
    let mut scratch = Scratch::boxed();
    for i in 0..count {
        let len = noise.below(len + 1);
        let plain = data::mixture(noise, len);
        check_stream(&mut scratch, noise, FORMATS[i % 3], &plain, most);
    }
}

#[test]
fn random_calls_of_up_to_70000_bytes_decode() {
    check_streams(1, 150, 70_000, 400_000);
}

#[test]
fn random_calls_of_a_few_thousand_bytes_decode() {
    check_streams(2, 400, 5_000, 50_000);
}

#[test]
fn random_calls_of_a_few_bytes_decode() {
    check_streams(3, 3_000, 40, 600);
}

#[test]
fn second_finish_writes_nothing() {
    let mut scratch = Scratch::boxed();
    for format in FORMATS {
        for level in Level::ALL {
            for plain in [&b""[..], b"a", b"hello hello hello hello"] {
                for more in [true, false] {
                    let mut stream = Stream::new(format, level);
                    let mut all = call(&mut scratch, &mut stream, plain, more);
                    assert_eq!(stream.is_last(), !more && !plain.is_empty());
                    all.extend(finish(&mut stream));
                    assert_decodes(format, &all, plain);
                    assert!(stream.is_last());
                    let ended = stream;
                    assert_eq!((finish(&mut stream), flush(&mut stream)), (vec![], vec![]));
                    assert_eq!(stream, ended);
                    let result = stream.encode(&mut scratch, b"more", &mut [0; 100], true);
                    assert_eq!(result.map_err(|e| e.kind), Err(Kind::BadArgument));
                    assert_eq!(stream, ended);
                }
            }
        }
    }
}

#[test]
fn flush_after_the_final_block_only_pads() {
    let text = data::text(&mut Noise::new(4), 400);
    let mut scratch = Scratch::boxed();
    for format in FORMATS {
        for level in Level::ALL {
            for len in 1..text.len() {
                let mut stream = Stream::new(format, level);
                let mut all = call(&mut scratch, &mut stream, &text[..len], false);
                let sent = flush(&mut stream);
                assert!(sent.len() <= 1);
                all.extend(sent);
                assert_eq!(flush(&mut stream), [0u8; 0]);
                let result = stream.encode(&mut scratch, b"more", &mut [0; 100], true);
                assert_eq!(result.map_err(|e| e.kind), Err(Kind::BadArgument));
                let end = finish(&mut stream);
                assert_eq!(end.len(), format.trailer_len());
                all.extend(end);
                assert_decodes(format, &all, &text[..len]);
            }
        }
    }
}

#[test]
fn empty_call_writes_only_a_pending_header() {
    let mut scratch = Scratch::boxed();
    for format in FORMATS {
        for level in Level::ALL {
            let mut stream = Stream::new(format, level);
            let mut all = call(&mut scratch, &mut stream, b"", true);
            assert_eq!(all, format.header());
            assert_eq!(call(&mut scratch, &mut stream, b"", false), [0u8; 0]);
            all.extend(call(&mut scratch, &mut stream, b"abcabcabc", true));
            assert_eq!(call(&mut scratch, &mut stream, b"", false), [0u8; 0]);
            all.extend(finish(&mut stream));
            assert_decodes(format, &all, b"abcabcabc");
        }
    }
}

#[test]
fn flushes_without_input_decode() {
    for format in FORMATS {
        let mut stream = Stream::new(format, Level::Default);
        let mut all: Vec<u8> = (0..5).flat_map(|_| flush(&mut stream)).collect();
        all.extend(finish(&mut stream));
        assert_decodes(format, &all, b"");
    }
}

#[test]
fn fast_scratch_above_level_1_is_an_error() {
    let mut scratch = FastScratch::boxed();
    for level in Level::ALL.into_iter().skip(2) {
        let mut stream = Stream::new(Format::Gzip, level);
        let before = stream;
        let result = stream.encode(&mut scratch, b"abc", &mut [0; 100], true);
        assert_eq!(result.map_err(|e| e.kind), Err(Kind::BadArgument));
        assert_eq!(stream, before);
        stream.set_level(Level::Fast);
        assert!(stream.encode(&mut scratch, b"abc", &mut [0; 100], true).is_ok());
    }
}
