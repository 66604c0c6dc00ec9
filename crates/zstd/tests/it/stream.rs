//! Streaming decoding equals whole-frame decoding for every split.

use linerate_zstd::{Dictionary, FrameDecoder, Kind, Options, Scratch, Status, StreamDecoder};
use zstd_safe::{CCtx, CParameter, InBuffer, OutBuffer, zstd_sys::ZSTD_EndDirective};

fn text(len: usize, seed: u32) -> Vec<u8> {
    let words = ["time ", "of ", "the ", "wave", "form", "s, ", "dictionary ", "block\n", "0123", "é"];
    let (mut state, mut out) = (seed | 1, Vec::new());
    while out.len() < len {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        if state % 11 == 0 {
            out.extend_from_slice(&state.to_le_bytes());
        } else {
            out.extend_from_slice(words[state as usize % words.len()].as_bytes());
        }
    }
    out.truncate(len);
    out
}

/// Makes one frame with a window of `1 << window_log`, flushed after each part, and returns the
/// bytes of each part.
fn flushed(parts: &[&[u8]], window_log: u32, dictionary: &[u8]) -> Vec<Vec<u8>> {
    let mut context = CCtx::create();
    context.set_parameter(CParameter::CompressionLevel(5)).unwrap();
    context.set_parameter(CParameter::WindowLog(window_log)).unwrap();
    context.set_parameter(CParameter::ChecksumFlag(true)).unwrap();
    context.load_dictionary(dictionary).unwrap();
    let mut frames = Vec::new();
    for (i, part) in parts.iter().enumerate() {
        let mut out = vec![0; zstd_safe::compress_bound(part.len()) + 64];
        let mut input = InBuffer::around(part);
        let mut output = OutBuffer::around(&mut out[..]);
        let end = if i + 1 == parts.len() {
            ZSTD_EndDirective::ZSTD_e_end
        } else {
            ZSTD_EndDirective::ZSTD_e_flush
        };
        while context.compress_stream2(&mut output, &mut input, end).unwrap() > 0 {}
        let n = output.pos();
        out.truncate(n);
        frames.push(out);
    }
    frames
}

/// Decodes with at most `step` input bytes and `capacity` output bytes per call. Returns the
/// content, and the largest number of bytes of memory after a call.
fn decode(dictionary: Option<&Dictionary<'_>>, src: &[u8], step: usize, capacity: usize) -> (Vec<u8>, usize) {
    let (mut decoder, mut scratch) = (StreamDecoder::new(Options::default()), Scratch::new());
    let (mut out, mut read, mut frames, mut most) = (Vec::new(), 0, 0, 0);
    loop {
        let piece = &src[read..src.len().min(read + step)];
        let mut buf = vec![0; capacity];
        let progress = decoder.decode(&mut scratch, dictionary, piece, &mut buf).expect("a sound frame");
        read += progress.read;
        out.extend_from_slice(&buf[..progress.written]);
        most = most.max(decoder.memory());
        frames += usize::from(progress.status == Status::FrameEnd);
        if read == src.len() && progress.status != Status::NeedOutput {
            assert!(decoder.is_between_frames());
            assert!(frames > 0);
            return (out, most);
        }
    }
}

#[test]
fn every_input_split_gives_the_same_output() {
    let (data, dictionary) = (text(30_000, 7), text(5_000, 8));
    let parts: Vec<&[u8]> = data.chunks(4_000).collect();
    for (window_log, dictionary) in [(10, &[][..]), (12, &dictionary), (16, &[]), (20, &dictionary)] {
        let frame = flushed(&parts, window_log, dictionary).concat();
        let dictionary = Dictionary::new(dictionary).unwrap();
        let two = [&frame[..], b"\x50\x2a\x4d\x18\x03\0\0\0abc", &frame].concat();
        let expected = [&data[..], &data].concat();
        for step in [1, 2, 3, 100, 5000, two.len()] {
            for capacity in [1, 7, 1000, 20_000, 1 << 20] {
                if step.saturating_mul(capacity) < 16 {
                    continue;
                }
                let (out, memory) = decode(Some(&dictionary), &two, step, capacity);
                assert!(out == expected, "window {window_log}, steps of {step}, capacity of {capacity}");
                assert!(memory <= (1 << window_log) + (24 << 10), "{memory} bytes");
            }
        }
        let mut out = vec![0; expected.len()];
        let n = FrameDecoder::default().decode(&mut Scratch::new(), Some(&dictionary), &two, &mut out);
        assert_eq!(n, Ok(expected.len()));
        assert!(out == expected);
    }
}

#[test]
fn flushed_input_is_decoded_at_once() {
    let data = text(200_000, 9);
    let parts: Vec<&[u8]> = data.chunks(1777).collect();
    let (mut decoder, mut scratch) = (StreamDecoder::new(Options::default()), Scratch::new());
    for (part, bytes) in parts.iter().zip(flushed(&parts, 16, &[])) {
        let mut out = vec![0; part.len() + 10];
        let progress = decoder.decode(&mut scratch, None, &bytes, &mut out).unwrap();
        assert_eq!((progress.read, progress.written), (bytes.len(), part.len()));
        assert!(out[..part.len()] == **part);
    }
    assert!(decoder.is_between_frames());
}

#[test]
fn idle_stream_of_64_kib_has_at_most_80_kb() {
    let data = text(1 << 20, 10);
    let parts: Vec<&[u8]> = data.chunks(3000).collect();
    let (mut decoder, mut scratch) = (StreamDecoder::new(Options::default()), Scratch::new());
    let mut out = vec![0; 1 << 20];
    for bytes in flushed(&parts, 16, &[]) {
        decoder.decode(&mut scratch, None, &bytes, &mut out).unwrap();
        assert!(decoder.memory() <= 80_000, "{}", decoder.memory());
    }
}

#[test]
fn window_limit_is_enforced() {
    let frame = flushed(&[&text(100, 1), &text(100, 2)], 20, &[]).concat();
    let mut out = [0; 200];
    for (limit, fits) in [(1 << 20, true), ((1 << 20) - 1, false)] {
        let mut decoder = StreamDecoder::new(Options::default().window_limit(limit));
        let result = decoder.decode(&mut Scratch::new(), None, &frame, &mut out);
        assert_eq!(
            result.map_err(|e| e.kind),
            if fits { result.map_err(|e| e.kind) } else { Err(Kind::Limit) }
        );
        assert!(decoder.memory() < 20_000, "a large window is not allocated for little content");
    }
}

#[test]
fn output_before_an_error_is_returned() {
    let parts = [text(3000, 1), text(3000, 2)];
    let mut pieces = flushed(&[&parts[0], &parts[1]], 16, &[]);
    let last = pieces[1].len() - 1;
    pieces[1][last] ^= 1;
    let (mut decoder, mut scratch) = (StreamDecoder::new(Options::default()), Scratch::new());
    let mut out = vec![0; 10_000];
    let all = pieces.concat();
    let progress = decoder.decode(&mut scratch, None, &all, &mut out).unwrap();
    assert_eq!(progress.written, 6000);
    let error = decoder.decode(&mut scratch, None, &all[progress.read..], &mut out).unwrap_err();
    assert_eq!((error.kind, error.offset), (Kind::Corrupt, all.len() as u64 - 4));
    assert_eq!(decoder.decode(&mut scratch, None, &[], &mut out), Err(error));
    decoder.reset();
    let whole = flushed(&[&parts[0]], 16, &[]).concat();
    assert_eq!(decoder.decode(&mut scratch, None, &whole, &mut out).unwrap().status, Status::FrameEnd);
    assert!(out[..3000] == parts[0]);
}

#[test]
fn changed_dictionary_within_a_frame_is_an_error() {
    let (data, dictionary) = (text(3000, 1), text(500, 2));
    let pieces = flushed(&[&data, &data], 16, &dictionary);
    let (mut decoder, mut scratch) = (StreamDecoder::new(Options::default()), Scratch::new());
    let dictionary = Dictionary::new(&dictionary).unwrap();
    let mut out = vec![0; 10_000];
    decoder.decode(&mut scratch, Some(&dictionary), &pieces[0], &mut out).unwrap();
    let error = decoder.decode(&mut scratch, None, &pieces[1], &mut out).unwrap_err();
    assert_eq!(error.kind, Kind::BadArgument);
    decoder.decode(&mut scratch, Some(&dictionary), &pieces[1], &mut out).unwrap();
    assert!(out[..3000] == data);
}
