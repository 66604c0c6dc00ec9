//! `pipeline` has the content, the content before errors, and the errors of the serial decoder.

use std::io::{self, ErrorKind, Read};

use linerate_testkit::data::{Noise, json_rows, kinds, mixed};
use linerate_testkit::zstd::encoder::{compress, compress_flushed, level};
use linerate_testkit::zstd::frame::skippable;
use linerate_testkit::zstd::random::random_frame;
use linerate_testkit::zstd::vectors::{bad, good};
use linerate_zstd::{Error, Kind, Options, Scratch, Status, StreamDecoder, pipeline, read};
use zstd_safe::CParameter;

use crate::common::{inner, many_frames, ours};

/// The content, and the error after it.
type Outcome = (Vec<u8>, Option<(ErrorKind, Error)>);

fn outcome(content: Vec<u8>, result: io::Result<()>) -> Outcome {
    (content, result.err().map(|e| (e.kind(), inner(&e))))
}

fn serial(src: &[u8], options: Options) -> Outcome {
    let (mut content, mut buffer) = (Vec::new(), vec![0; 1 << 20]);
    let mut decoder = read::Decoder::with_buffer(src).unwrap();
    decoder.set_options(options).unwrap();
    loop {
        match decoder.read(&mut buffer) {
            Ok(0) => return outcome(content, Ok(())),
            Ok(n) => content.extend_from_slice(&buffer[..n]),
            Err(error) => return outcome(content, Err(error)),
        }
    }
}

fn parallel(src: &[u8], options: Options, threads: usize) -> Outcome {
    let mut content = Vec::new();
    let options = pipeline::Options::new().stream(options).threads(threads);
    let result = pipeline::decode(src, &mut content, &options).map(|totals| {
        assert_eq!((totals.bytes_in, totals.bytes_out), (src.len() as u64, content.len() as u64));
    });
    outcome(content, result)
}

#[track_caller]
fn check(name: &str, src: &[u8], options: Options, threads: usize) {
    let (ours, wanted) = (parallel(src, options, threads), serial(src, options));
    assert_eq!(ours.1, wanted.1, "{name}, {threads} threads");
    assert!(ours.0 == wanted.0, "{name}, {threads} threads: {} bytes", ours.0.len());
}

/// Makes a frame with a block for every `block` bytes of `content`.
fn many_blocks(content: &[u8], block: usize) -> Vec<u8> {
    let parts: Vec<&[u8]> = content.chunks(block).collect();
    compress_flushed(&parts, &[], &[level(3), CParameter::ChecksumFlag(true)])
}

#[test]
fn vectors_have_the_outcome_of_the_serial_decoder() {
    for vector in good().into_iter().chain(bad()) {
        let options = if vector.magicless { ours::magicless() } else { Options::new() };
        for options in [options, options.window_limit(1 << 17), options.verify_checksum(false)] {
            check(&vector.name, &vector.bytes, options, 2);
        }
    }
}

#[test]
fn frames_of_random_parts_decode() {
    for seed in 0..100 {
        let frame = random_frame(seed, 40);
        check(&format!("seed {seed}"), &frame.bytes, Options::new(), 2 + seed as usize % 3);
    }
}

#[test]
fn frames_of_libzstd_decode_with_any_number_of_threads() {
    let content =
        [json_rows(1, 3000), mixed(700_000), vec![7; 300_000], Noise::new(1).bytes(300_000)].concat();
    for number in [1, 3, 12] {
        let frame = compress(&content, &[], &[level(number), CParameter::ChecksumFlag(true)]);
        let src = [&frame[..], &skippable(1, b"between"), &many_blocks(&content[..200_000], 5000)].concat();
        for threads in [0, 1, 2, 5] {
            let (got, error) = parallel(&src, Options::new(), threads);
            assert_eq!(error, None);
            assert!(got == [&content[..], &content[..200_000]].concat(), "level {number}, {threads} threads");
        }
    }
}

#[test]
fn repeat_offsets_cross_block_boundaries() {
    // All rows have one length, so nearly every match repeats an offset, including the first of a
    // block.
    let content: Vec<u8> = (0..4000_u32)
        .flat_map(|i| [&i.wrapping_mul(2_654_435_761).to_le_bytes()[..2], b"the same in all rows "].concat())
        .collect();
    for block in [97, 1000, 10_000] {
        let frame = many_blocks(&content, block);
        let (got, error) = parallel(&frame, Options::new(), 3);
        assert!(error.is_none() && got == content, "blocks of {block}: {error:?}");
    }
}

#[test]
fn every_truncation_and_flipped_bit_has_the_outcome_of_the_serial_decoder() {
    let content = [json_rows(1, 4), mixed(400)].concat();
    for (block, every) in [(100, 23), (400, 3)] {
        let frame = many_blocks(&content, block);
        for end in 0..frame.len() {
            check(&format!("cut at {end}"), &frame[..end], Options::new(), 2);
        }
        for bit in (0..8 * frame.len()).step_by(every) {
            let mut bytes = frame.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            check(&format!("bit {bit}"), &bytes, Options::new(), 2);
        }
    }
}

#[test]
fn damaged_frames_of_all_kinds_have_the_outcome_of_the_serial_decoder() {
    let mut noise = Noise::new(5);
    let all: Vec<Vec<u8>> = good().into_iter().map(|vector| vector.bytes).filter(|b| b.len() < 300).collect();
    for round in 0..1000 {
        let mut src = all[noise.below(all.len())].clone();
        for _ in 0..1 + noise.below(2) {
            let at = noise.below(src.len());
            src[at] = noise.number() as u8;
        }
        src.truncate(src.len() - if round % 4 == 0 { noise.below(src.len()) } else { 0 });
        check(&format!("round {round}"), &src, Options::new().window_limit(1 << 20), 2);
    }
}

#[test]
fn any_input_split_and_output_size_give_the_content() {
    let (frames, content) = many_frames();
    let src = [&frames[..], &many_blocks(&content, 900)].concat();
    let content = content.repeat(2);
    let mut noise = Noise::new(3);
    for round in 0..40 {
        let mut decoder = pipeline::Decoder::new(pipeline::Options::new().threads(2), None);
        let (mut got, mut at, mut out) = (Vec::new(), 0, vec![0; 1 << 17]);
        loop {
            let end = src.len().min(at + noise.below([2, 50, 5000, 1 << 20][round % 4]));
            let room = noise.below([1 << 17, 300, 2, 2000][round / 4 % 4]);
            let progress = decoder.decode(&src[at..end], &mut out[..room]).unwrap();
            assert!(decoder.position() <= (at + progress.read) as u64);
            at += progress.read;
            got.extend_from_slice(&out[..progress.written]);
            if progress.status == Status::FrameEnd {
                assert_eq!((decoder.is_between_frames(), decoder.position()), (true, at as u64));
            }
            if at == src.len() && decoder.is_between_frames() && progress.status == Status::FrameEnd {
                break;
            }
        }
        assert!(got == content, "round {round}");
    }
}

#[test]
fn empty_input_decodes_all_input_taken_and_the_frame_continues() {
    let content = json_rows(7, 60);
    let frame = many_blocks(&content, 700);
    for cut in (0..frame.len()).step_by(11) {
        let mut decoder = pipeline::Decoder::new(pipeline::Options::new().threads(2), None);
        let mut serial = linerate_zstd::StreamDecoder::new(Options::new());
        let (mut ours, mut theirs) = (vec![0; content.len()], vec![0; content.len()]);
        let first = decoder.decode(&frame[..cut], &mut ours).unwrap();
        let drained = decoder.decode(&[], &mut ours[first.written..]).unwrap();
        let written = first.written + drained.written;
        let wanted =
            serial.decode(&mut linerate_zstd::Scratch::new(), None, &frame[..cut], &mut theirs).unwrap();
        assert_eq!((first.read, written, decoder.position()), (cut, wanted.written, cut as u64));
        let rest = decoder.decode(&frame[cut..], &mut ours[written..]).unwrap();
        assert_eq!((rest.status, rest.written), (Status::FrameEnd, content.len() - written), "cut at {cut}");
        assert!(ours == content);
    }
}

#[test]
fn an_error_is_repeated_and_content_before_it_is_returned_first() {
    let content = mixed(60_000);
    let mut frame = many_blocks(&content, 2000);
    let last = frame.len() - 1;
    frame[last] ^= 1;
    let mut decoder = pipeline::Decoder::new(pipeline::Options::new().threads(2), None);
    let (mut got, mut at, mut out) = (Vec::new(), 0, vec![0; 7000]);
    let error = loop {
        match decoder.decode(&frame[at..], &mut out) {
            Ok(progress) => {
                at += progress.read;
                got.extend_from_slice(&out[..progress.written]);
            }
            Err(error) => break error,
        }
    };
    assert!(got == content);
    assert_eq!((error.kind, error.offset), (Kind::Corrupt, last as u64 - 3));
    assert_eq!(decoder.decode(&frame, &mut out), Err(error));
    assert!(!decoder.is_between_frames());
}

#[test]
fn content_before_an_error_of_the_reader_is_written() {
    struct Failing<'a>(&'a [u8]);
    impl Read for Failing<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let n = self.0.read(&mut into[..1000])?;
            if n == 0 { Err(io::Error::other("unplugged")) } else { Ok(n) }
        }
    }
    let content = kinds(50_000).into_iter().flat_map(|(_, bytes)| bytes).collect::<Vec<u8>>();
    let frame = many_blocks(&content, 3000);
    let half = &frame[..frame.len() / 2];
    let mut got = Vec::new();
    let error = pipeline::decode(Failing(half), &mut got, &pipeline::Options::new().threads(2)).unwrap_err();
    assert_eq!(error.to_string(), "unplugged");
    assert!(got == serial(half, Options::new()).0 && !got.is_empty());
}

#[test]
fn frames_with_dictionaries_and_without_are_decoded() {
    let rows = json_rows(1, 400);
    let bytes = linerate_testkit::zstd::encoder::train(&rows, 370, 1024);
    let dictionary = linerate_zstd::Dictionary::new(&bytes).unwrap();
    let parts: Vec<&[u8]> = rows.chunks(1000).collect();
    let with = compress_flushed(&parts, &bytes, &[level(3)]);
    let without = many_blocks(&rows, 1000);
    let options = pipeline::Options::new().threads(3);
    for (frames, dictionary) in [([&with, &without], Some(&dictionary)), ([&without, &without], None)] {
        let mut decoder = pipeline::Decoder::new(options, dictionary);
        for frame in frames {
            let mut out = vec![0; rows.len()];
            let progress = decoder.decode(frame, &mut out).unwrap();
            assert_eq!((progress.read, progress.status), (frame.len(), Status::FrameEnd));
            assert!(out == rows && decoder.is_between_frames());
        }
    }
    let mut decoder = pipeline::Decoder::new(options, None);
    let error = decoder.decode(&with, &mut vec![0; rows.len()]).unwrap_err();
    assert_eq!(error.kind, Kind::BadArgument);
}

#[test]
fn after_an_error_no_input_is_taken() {
    let frame = many_blocks(&mixed(60_000), 2000);
    let mut found = 0;
    for damaged in (100..frame.len() / 2).step_by(300) {
        let mut frame = frame.clone();
        frame[damaged..damaged + 20].fill(0xff);
        let mut decoder = pipeline::Decoder::new(pipeline::Options::new().threads(2), None);
        let mut out = vec![0; 70_000];
        let mut rest = frame.iter();
        let error = rest.find_map(|&byte| decoder.decode(&[byte], &mut out).err());
        let Some(error) = error.filter(|_| rest.len() > 10) else { continue };
        found += 1;
        for &byte in rest.take(10) {
            assert_eq!(decoder.decode(&[byte], &mut out), Err(error));
        }
    }
    assert!(found > 5, "{found}");
}

#[test]
fn content_before_a_wrong_size_does_not_depend_on_the_output_size() {
    let content = mixed(300_000);
    let mut frame = compress(&content, &[], &[level(3), CParameter::ChecksumFlag(false)]);
    frame[5] ^= 1; // of the content's size, after magic number and descriptor
    let contents = [1000, 100_000, 1 << 20].map(|room| {
        let (mut decoder, mut scratch) = (StreamDecoder::new(Options::new()), Scratch::new());
        let (mut out, mut len, mut read) = (vec![0; room], 0, 0);
        loop {
            match decoder.decode(&mut scratch, None, &frame[read..], &mut out) {
                Ok(progress) => (len, read) = (len + progress.written, read + progress.read),
                Err(error) => break (len, error),
            }
        }
    });
    assert_eq!(contents, [contents[0]; 3]);
}
