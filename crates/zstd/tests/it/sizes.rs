//! Memory in bytes per dictionary, per idle stream, and per scratch.

use linerate_testkit::data::json_rows;
use linerate_testkit::zstd::encoder::{compress_flushed, level, train};
use linerate_testkit::zstd::frame::{BLOCK, Frame, windowed};
use linerate_testkit::zstd::vectors::{dictionaries, letters};
use linerate_zstd::{Dictionary, Kind, MAX_TABLES, Options, Scratch, Status, StreamDecoder};
use zstd_safe::CParameter;

const KIB: usize = 1 << 10;

#[test]
fn dictionary_has_at_most_9_kib_beside_its_content() {
    const { assert!(MAX_TABLES <= 9 * KIB) };
    let rows = json_rows(1, 3000);
    let trained = [1024, 8192, 112_640].map(|n| train(&rows, 370, n));
    let made = dictionaries().into_iter().map(|(_, dictionary)| dictionary.bytes());
    for bytes in trained.into_iter().chain(made) {
        let dictionary = Dictionary::new(&bytes).unwrap();
        assert!(dictionary.tables().len() <= MAX_TABLES);
        assert!(dictionary.memory() <= 9 * KIB + 32, "{} bytes beside the content", dictionary.memory());
    }
    assert!(Dictionary::raw(&rows).unwrap().memory() <= 32);
}

#[test]
fn scratch_memory_is_at_most_its_bound() {
    let scratch = Scratch::new();
    assert!(scratch.memory() <= Scratch::MAX_MEMORY, "{}", scratch.memory());
    const { assert!(Scratch::MAX_MEMORY <= 320 * KIB) };
}

/// The stream keeps no part of a block between flushed messages.
#[test]
fn idle_stream_with_a_window_of_64_kib_has_at_most_80_kb() {
    let rows = json_rows(5, 1500);
    let messages: Vec<&[u8]> = rows.chunks(900).collect();
    let parameters = [level(6), CParameter::WindowLog(16)];
    let frame = compress_flushed(&messages, &[], &parameters);
    let mut scratch = Scratch::new();
    let mut stream = StreamDecoder::new(Options::new());
    let mut out = vec![0; 4096];
    let (mut at, mut total, mut most) = (0, 0, 0);
    while total < rows.len() {
        let end = frame.len().min(at + 500);
        let progress = stream.decode(&mut scratch, None, &frame[at..end], &mut out).unwrap();
        assert!(out[..progress.written] == rows[total..total + progress.written]);
        at += progress.read;
        total += progress.written;
        most = most.max(stream.memory());
    }
    assert!(total > 4 * (64 << 10), "the window was never full");
    assert!(stream.memory() <= 80_000, "{} bytes when idle", stream.memory());
    assert!(most <= 80_000, "{most} bytes at most");
}

#[test]
fn new_stream_has_no_window_and_no_tables() {
    assert!(StreamDecoder::new(Options::new()).memory() <= 512);
}

/// A header with a large window allocates only as content arrives.
#[test]
fn window_grows_with_the_content_not_the_header() {
    let frame = Frame::new(windowed(27)).raw(&letters(1000)).rle(b'x', BLOCK).bytes();
    let mut stream = StreamDecoder::new(Options::new());
    let mut out = vec![0; 1 << 20];
    let progress = stream.decode(&mut Scratch::new(), None, &frame, &mut out).unwrap();
    assert_eq!((progress.status, progress.written), (Status::FrameEnd, 1000 + BLOCK));
    assert!(stream.memory() <= 2 << 20, "{} bytes", stream.memory());
}

#[test]
fn window_above_the_limit_is_an_error() {
    for log in 10..=31 {
        let frame = Frame::new(windowed(log)).raw(b"x").bytes();
        for limit in [1 << 10, 1 << 16, (1 << 23) - 1, 1 << 23, 1 << 31] {
            let mut stream = StreamDecoder::new(Options::new().window_limit(limit));
            let got = stream.decode(&mut Scratch::new(), None, &frame, &mut [0; 10]);
            if 1 << log <= limit {
                assert_eq!(got.unwrap().written, 1, "{log} {limit}");
            } else {
                assert_eq!(got.unwrap_err().kind, Kind::Limit, "{log} {limit}");
                assert!(stream.memory() < 1000);
            }
        }
    }
}

/// The frame has less than 100 KB, and content of 2.6 GB.
#[test]
fn decompression_bombs_stop_at_the_output_limit() {
    let bomb = (0..20_000).fold(Frame::new(windowed(20)), |frame, _| frame.block(1, BLOCK, b"0")).bytes();
    assert!(bomb.len() < 100_000);
    let mut scratch = Scratch::new();
    for most in [0, 1, 1000, 131_072, 300_000] {
        let mut out = vec![0; most];
        let e =
            linerate_zstd::FrameDecoder::default().decode(&mut scratch, None, &bomb, &mut out).unwrap_err();
        assert_eq!(e.kind, Kind::OutputTooSmall);
    }
    let mut stream = StreamDecoder::new(Options::new());
    let mut out = vec![0; 100_000];
    let (mut at, mut total) = (0, 0);
    while total < 10_000_000 {
        let progress = stream.decode(&mut scratch, None, &bomb[at..], &mut out).unwrap();
        assert!(progress.written > 0);
        at += progress.read;
        total += progress.written;
        assert!(stream.memory() < 3 << 20, "{}", stream.memory());
    }
}
