//! `read::Decoder`, `write::Decoder` and their functions decode like the `zstd` crate, at every
//! split, truncation and bit flip.

use std::cell::{Cell, RefCell};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use linerate_testkit::data::{Noise, json_rows, kinds, mixed};
use linerate_testkit::zstd::encoder::{compress, compress_flushed, level, train};
use linerate_testkit::zstd::frame::skippable;
use linerate_zstd::dict::DecoderDictionary;
use linerate_zstd::{
    FrameDecoder, Kind, Options, PrefixDecoder, Scratch, bulk, decode_all, decode_into_vec,
    decompressed_size, read, write,
};
use zstd_safe::CParameter;

use crate::common::{inner, many_frames};

/// A small frame with a checksum, of compressed blocks.
fn small_frame() -> (Vec<u8>, Vec<u8>) {
    let content = [json_rows(1, 2), mixed(300)].concat();
    let parts: Vec<&[u8]> = content.chunks(400).collect();
    (compress_flushed(&parts, &[], &[level(3), CParameter::ChecksumFlag(true)]), content)
}

fn read_by(reader: impl Read, size: usize) -> io::Result<Vec<u8>> {
    let (mut reader, mut out, mut buffer) = (reader, Vec::new(), vec![0; size]);
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(out),
            Ok(n) => out.extend_from_slice(&buffer[..n]),
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}

#[test]
fn every_size_of_reads_and_buffers_gives_the_content() {
    let (frames, content) = many_frames();
    for size in (1..=64).chain([1000, 4096, 70_000, 1 << 20]) {
        let decoder = read::Decoder::new(&frames[..]).unwrap();
        assert!(read_by(decoder, size).unwrap() == content, "reads of {size} bytes");
        let buffered = BufReader::with_capacity(size, &frames[..]);
        let decoder = read::Decoder::with_buffer(buffered).unwrap();
        assert!(read_by(decoder, 1 << 17).unwrap() == content, "a buffer of {size} bytes");
    }
    assert!(decode_all(&frames[..]).unwrap() == content);
    let mut copied = Vec::new();
    linerate_zstd::copy_decode(&frames[..], &mut copied).unwrap();
    assert!(copied == content);
}

#[test]
fn every_truncation_is_an_unexpected_end_with_its_offset() {
    let (frame, content) = small_frame();
    for len in 0..frame.len() {
        let mut out = Vec::new();
        let error = read::Decoder::new(&frame[..len]).unwrap().read_to_end(&mut out).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnexpectedEof, "{len} bytes: {error}");
        assert_eq!((inner(&error).kind, inner(&error).offset), (Kind::Truncated, len as u64));
        assert!(content.starts_with(&out));
        let mut writer = write::Decoder::new(Vec::new()).unwrap();
        writer.write_all(&frame[..len]).unwrap();
        assert_eq!(writer.finish().unwrap_err().kind(), ErrorKind::UnexpectedEof);
    }
}

#[test]
fn truncated_and_extended_inputs_have_the_verdict_of_the_zstd_crate() {
    let (frame, _) = small_frame();
    let two = [&frame[..], &skippable(1, b"abc"), &frame].concat();
    let mut inputs: Vec<Vec<u8>> = (0..=two.len()).map(|len| two[..len].to_vec()).collect();
    inputs.extend([[&frame[..], b"x"].concat(), [&frame[..], &[0; 20]].concat(), skippable(0, b"")]);
    for input in inputs {
        let (ours, theirs) = (decode_all(&input[..]), zstd::stream::decode_all(&input[..]));
        assert_eq!(ours.as_ref().ok(), theirs.as_ref().ok(), "{} bytes: {ours:?}, {theirs:?}", input.len());
    }
}

#[test]
fn flipped_bits_are_errors_or_do_not_change_the_content() {
    let (frame, content) = small_frame();
    let mut errors = 0;
    for bit in 0..8 * frame.len() {
        let mut damaged = frame.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let ours = decode_all(&damaged[..]);
        let theirs = zstd::stream::decode_all(&damaged[..]);
        match &ours {
            Ok(found) => assert!(*found == content && theirs.is_ok(), "bit {bit}"),
            Err(e) => {
                errors += 1;
                assert!(theirs.is_err() && inner(e).offset <= frame.len() as u64, "bit {bit}: {e}");
            }
        }
    }
    assert!(errors > 7 * frame.len(), "{errors} of {} bits", 8 * frame.len());
}

#[test]
fn an_error_comes_after_the_content_before_it_and_persists() {
    let (mut frame, content) = small_frame();
    let last = frame.len() - 1;
    frame[last] ^= 1;
    let mut decoder = read::Decoder::new(&frame[..]).unwrap();
    let mut out = vec![0; content.len()];
    decoder.read_exact(&mut out).unwrap();
    assert!(out == content);
    for _ in 0..3 {
        let error = decoder.read(&mut out).unwrap_err();
        assert_eq!((error.kind(), inner(&error).kind), (ErrorKind::InvalidData, Kind::Corrupt));
        assert_eq!(inner(&error).offset, frame.len() as u64 - 4);
    }
}

#[test]
fn bytes_after_a_single_frame_stay_in_the_reader() {
    let (frame, content) = small_frame();
    let file = [&frame[..], b"and what follows"].concat();
    for size in [1, 3, 100, content.len(), 10_000] {
        let mut decoder = read::Decoder::with_buffer(&file[..]).unwrap().single_frame();
        let mut out = vec![0; content.len()];
        for part in out.chunks_mut(size) {
            decoder.read_exact(part).unwrap();
        }
        assert!(out == content);
        decoder.finish_frame().unwrap();
        assert_eq!(decoder.read(&mut [0; 9]).unwrap(), 0);
        assert_eq!(decoder.get_ref(), b"and what follows");
        assert_eq!(decoder.finish(), b"and what follows", "reads of {size} bytes");
    }
    let file = [skippable(0, b"skipped"), file].concat();
    let mut decoder = read::Decoder::new(&file[..]).unwrap().single_frame();
    let mut found = Vec::new();
    decoder.read_to_end(&mut found).unwrap();
    assert!(found == content);
    assert_eq!(decoder.into_inner().buffer(), b"and what follows");
}

/// Gives its pieces one by one, with an interruption before each. After the last it would block.
struct Socket<'s> {
    pieces: std::slice::Iter<'s, Vec<u8>>,
    rest: &'s [u8],
    interrupts: bool,
}

impl Read for Socket<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.rest.is_empty() {
            self.interrupts = !self.interrupts;
            if self.interrupts {
                return Err(ErrorKind::Interrupted.into());
            }
            self.rest = self.pieces.next().ok_or(ErrorKind::WouldBlock)?;
        }
        self.rest.read(buf)
    }
}

#[test]
fn flushed_content_is_read_before_the_reader_is_read_again() {
    let parts = [json_rows(1, 10), json_rows(2, 10), json_rows(3, 10)];
    let slices = parts.each_ref().map(|part| &part[..]);
    let frame = compress_flushed(&slices, &[], &[level(3)]);
    // The encoder makes a block for each flush. The frame's header has 6 bytes; each block's has 3.
    let mut pieces = Vec::new();
    let mut at = 6;
    for _ in 0..3 {
        let size =
            usize::from(frame[at]) + (usize::from(frame[at + 1]) << 8) + (usize::from(frame[at + 2]) << 16);
        let end = at + 3 + (size >> 3);
        pieces.push(frame[if pieces.is_empty() { 0 } else { at }..end].to_vec());
        at = end;
    }
    pieces.truncate(2);
    let socket = Socket { pieces: pieces.iter(), rest: &[], interrupts: false };
    let mut decoder = read::Decoder::new(socket).unwrap();
    for part in &parts[..2] {
        let mut out = vec![0; part.len()];
        for byte in out.chunks_mut(7) {
            decoder.read_exact(byte).unwrap();
        }
        assert!(out == *part);
    }
    assert_eq!(decoder.read(&mut [0; 9]).unwrap_err().kind(), ErrorKind::Interrupted);
    assert_eq!(decoder.read(&mut [0; 9]).unwrap_err().kind(), ErrorKind::WouldBlock);
}

#[test]
fn window_above_the_limit_is_an_error_before_it_is_allocated() {
    let content = mixed(3000);
    let frame = compress_flushed(&[&content, &content], &[], &[level(3), CParameter::WindowLog(21)]);
    for (log, fits) in [(20, false), (21, true)] {
        let mut decoder = read::Decoder::new(&frame[..]).unwrap();
        decoder.window_log_max(log).unwrap();
        let mut theirs = zstd::stream::read::Decoder::new(&frame[..]).unwrap();
        theirs.window_log_max(log).unwrap();
        let result = decoder.read_to_end(&mut Vec::new());
        assert_eq!((result.is_ok(), theirs.read_to_end(&mut Vec::new()).is_ok()), (fits, fits));
        let error = result.err().map(|e| inner(&e).kind);
        assert_eq!(error, (!fits).then_some(Kind::Limit));
    }
    let mut decoder = read::Decoder::new(&frame[..]).unwrap();
    assert_eq!(decoder.window_log_max(9).unwrap_err().kind(), ErrorKind::InvalidInput);
    decoder.read_exact(&mut [0; 10]).unwrap();
    assert_eq!(decoder.window_log_max(27).unwrap_err().kind(), ErrorKind::InvalidInput);
}

#[test]
fn dictionaries_are_used_by_every_form() {
    let rows = json_rows(1, 500);
    let (trained, content) = (train(&rows, 370, 4096), json_rows(2, 3));
    for dictionary in [&trained[..], &rows[..3000]] {
        let frame = compress(&content, dictionary, &[level(3)]);
        let prepared = DecoderDictionary::copy(dictionary);
        let readers = [
            read::Decoder::with_dictionary(&frame[..], dictionary).unwrap(),
            read::Decoder::with_prepared_dictionary(&frame[..], &prepared).unwrap(),
        ];
        for mut reader in readers {
            let mut out = Vec::new();
            reader.read_to_end(&mut out).unwrap();
            assert!(out == content);
        }
        let writers = [
            write::Decoder::with_dictionary(Vec::new(), dictionary).unwrap(),
            write::Decoder::with_prepared_dictionary(Vec::new(), &prepared).unwrap(),
        ];
        for mut writer in writers {
            writer.write_all(&frame).unwrap();
            assert!(writer.finish().unwrap() == content);
        }
        let mut decompressor = bulk::Decompressor::with_prepared_dictionary(&prepared).unwrap();
        assert!(decompressor.decompress(&frame, 10_000).unwrap() == content);
        let mut decompressor = bulk::Decompressor::new().unwrap();
        decompressor.set_dictionary(dictionary).unwrap();
        assert!(decompressor.decompress(&frame, 10_000).unwrap() == content);
    }
    let frame = compress(&content, &trained, &[level(3)]);
    assert_eq!(decode_all(&frame[..]).unwrap_err().kind(), ErrorKind::InvalidInput);
    assert!(DecoderDictionary::try_copy(&trained[..100]).is_err());
    let refused = read::Decoder::try_with_dictionary(&frame[..], &trained[..100]).err();
    assert!(refused.is_some_and(|(reader, _)| reader == frame));
}

#[test]
fn skippable_frames_are_handed_over_in_parts() {
    let (frame, content) = small_frame();
    let file = [&skippable(2, b"before"), &frame[..], &skippable(15, b""), &skippable(0, &content)].concat();
    for capacity in [1, 2, 5, 64, 10_000] {
        let mut found: Vec<(u8, Vec<u8>)> = Vec::new();
        let mut is_new = true;
        let reader = BufReader::with_capacity(capacity, &file[..]);
        let decoder = read::Decoder::with_buffer(reader).unwrap().on_skippable(|part| {
            if std::mem::replace(&mut is_new, part.left == 0) {
                found.push((part.variant, Vec::new()));
            }
            let last = found.last_mut().expect("a frame has begun");
            assert_eq!(last.0, part.variant);
            last.1.extend_from_slice(part.bytes);
            Ok(())
        });
        assert!(read_by(decoder, 1000).unwrap() == content);
        let expected = vec![(2, b"before".to_vec()), (15, Vec::new()), (0, content.clone())];
        assert!(found == expected, "a buffer of {capacity} bytes: {found:?}");
    }
    let mut decoder =
        read::Decoder::new(&file[..]).unwrap().on_skippable(|_| Err(ErrorKind::PermissionDenied.into()));
    assert_eq!(decoder.read(&mut [0; 9]).unwrap_err().kind(), ErrorKind::PermissionDenied);
}

#[test]
fn reading_goes_on_after_an_error_of_the_handler() {
    let (frame, content) = small_frame();
    let file = [&skippable(2, b"before"), &frame[..], &skippable(3, b"after")].concat();
    for capacity in [1, 10, 64, 10_000] {
        let (mut found, mut out, mut errors) = (Vec::new(), Vec::new(), 0);
        let reader = BufReader::with_capacity(capacity, &file[..]);
        let mut decoder = read::Decoder::with_buffer(reader).unwrap().on_skippable(|part| {
            found.extend_from_slice(part.bytes);
            Err(ErrorKind::PermissionDenied.into())
        });
        let mut buffer = [0; 1000];
        loop {
            match decoder.read(&mut buffer) {
                Ok(0) => break,
                Ok(n) => out.extend_from_slice(&buffer[..n]),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
                    errors += 1;
                    assert!(errors < 30, "a buffer of {capacity} bytes");
                }
            }
        }
        drop(decoder);
        assert!(out == content && found == b"beforeafter", "a buffer of {capacity} bytes: {found:?}");
    }
}

#[test]
fn frame_is_finished_after_errors_of_the_handler() {
    let (frame, _) = small_frame();
    let file = [&skippable(2, b"skipped content"), &frame[..]].concat();
    let reader = BufReader::with_capacity(10, &file[..]);
    let refuse = |_: read::SkippablePart<'_>| Err(ErrorKind::PermissionDenied.into());
    let mut decoder = read::Decoder::with_buffer(reader).unwrap().single_frame().on_skippable(refuse);
    assert_eq!(decoder.read(&mut [0; 9]).unwrap_err().kind(), ErrorKind::PermissionDenied);
    let errors = std::iter::from_fn(|| decoder.finish_frame().err()).count();
    assert_eq!(errors, 2, "23 bytes in parts of 10");
    let mut rest = Vec::new();
    decoder.into_inner().read_to_end(&mut rest).unwrap();
    assert!(rest == frame);
}

/// Takes at most 1000 bytes in one of three calls, and fails in the other two.
#[derive(Default)]
struct Pipe {
    bytes: Vec<u8>,
    calls: usize,
}

impl Write for Pipe {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.calls += 1;
        match self.calls % 3 {
            0 => Err(ErrorKind::WouldBlock.into()),
            1 => Err(ErrorKind::Interrupted.into()),
            _ => self.bytes.write(&buf[..buf.len().min(1000)]),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn writes_of_every_size_give_the_content() {
    let (frames, content) = many_frames();
    for size in (1..=20).chain([1000, 1 << 20]) {
        let mut writer = write::Decoder::new(Vec::new()).unwrap();
        for part in frames.chunks(size) {
            writer.write_all(part).unwrap();
        }
        assert!(writer.finish().unwrap() == content, "writes of {size} bytes");
    }
}

#[test]
fn a_writer_that_fails_for_a_moment_loses_nothing() {
    let (frames, content) = many_frames();
    let mut writer = write::Decoder::new(Pipe::default()).unwrap();
    let mut at = 0;
    while at < frames.len() {
        match writer.write(&frames[at..frames.len().min(at + 3000)]) {
            Ok(n) => at += n,
            Err(e) => assert_eq!(e.kind(), ErrorKind::WouldBlock),
        }
    }
    while let Err(e) = writer.flush() {
        assert_eq!(e.kind(), ErrorKind::WouldBlock);
    }
    assert!(writer.finish().unwrap().bytes == content);
}

#[test]
fn damage_in_written_bytes_is_an_error_of_the_next_write_or_of_flush() {
    let (mut frame, content) = small_frame();
    let last = frame.len() - 1;
    frame[last] ^= 1;
    let mut writer = write::Decoder::new(Vec::new()).unwrap();
    let result = writer.write_all(&frame).and_then(|()| writer.flush());
    assert_eq!(inner(&result.unwrap_err()).kind, Kind::Corrupt);
    assert!(writer.into_inner() == content);
}

/// Blocks until it is ready, panics if it is poisoned, and counts its calls.
#[derive(Default)]
struct Valve {
    is_ready: Cell<bool>,
    is_poisoned: Cell<bool>,
    calls: Cell<usize>,
    bytes: RefCell<Vec<u8>>,
}

impl Write for &Valve {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.calls.set(self.calls.get() + 1);
        assert!(!self.is_poisoned.get());
        if !self.is_ready.get() {
            return Err(ErrorKind::WouldBlock.into());
        }
        self.bytes.borrow_mut().write(buf)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
#[cfg_attr(panic = "abort", ignore = "a panic ends the program")]
fn a_dropped_writer_is_flushed_unless_it_panicked() {
    let (frame, content) = small_frame();
    for is_poisoned in [false, true] {
        let (valve, flushed) = (Valve::default(), Cell::new(false));
        let run = || {
            let writer = write::Decoder::new(&valve).unwrap();
            let mut writer = writer.on_flush(|result| flushed.set(result.is_ok()));
            writer.write_all(&frame).unwrap();
            valve.is_ready.set(true);
            valve.is_poisoned.set(is_poisoned);
            if is_poisoned {
                writer.flush().unwrap();
            }
        };
        let before_drop = catch_unwind(AssertUnwindSafe(run));
        assert_eq!((before_drop.is_err(), flushed.get()), (is_poisoned, !is_poisoned));
        assert!(*valve.bytes.borrow() == if is_poisoned { Vec::new() } else { content.clone() });
    }
    let valve = Valve { is_ready: Cell::new(true), ..Valve::default() };
    drop(write::Decoder::new(&valve).unwrap().auto_flush());
    assert_eq!(valve.calls.get(), 0);
}

#[test]
fn only_the_first_frame_uses_a_prefix() {
    let rows = json_rows(1, 60);
    // A prefix that begins with the magic number of a dictionary is still raw content.
    let prefix = [&0xec30_a437_u32.to_le_bytes(), &rows[..]].concat();
    let mut encoder = zstd::stream::write::Encoder::with_ref_prefix(Vec::new(), 3, &prefix).unwrap();
    encoder.write_all(&rows).unwrap();
    let frame = encoder.finish().unwrap();
    assert!(frame.len() < 100, "{} bytes", frame.len());
    let (other, content) = small_frame();
    for (file, expected) in [
        ([&frame[..], &other].concat(), Some([&rows[..], &content].concat())),
        ([&frame[..], &frame].concat(), None),
    ] {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        let result = read::Decoder::with_ref_prefix(&file[..], &prefix).unwrap().read_to_end(&mut ours);
        let mut decoder = zstd::stream::read::Decoder::with_ref_prefix(&file[..], &prefix).unwrap();
        assert_eq!(result.is_ok(), decoder.read_to_end(&mut theirs).is_ok());
        assert_eq!(result.is_ok(), expected.is_some());
        assert!(ours == theirs && expected.is_none_or(|expected| ours == expected));
    }
}

#[test]
fn stated_sizes_are_those_of_the_zstd_crate() {
    let content = json_rows(1, 10);
    let (sized, unsized_) = (
        compress(&content, &[], &[level(3)]),
        compress_flushed(&[&content[..9], &content[9..]], &[], &[level(3)]),
    );
    for (data, size) in [
        (&sized[..], Some(content.len() as u64)),
        (&sized[..9], Some(content.len() as u64)),
        (&unsized_, None),
        (&skippable(0, b"skipped"), Some(0)),
        (&sized[..3], None),
        (&content, None),
    ] {
        assert_eq!((decompressed_size(data), zstd::stream::decompressed_size(data)), (size, size));
    }
}

#[test]
fn bulk_decompression_is_that_of_the_zstd_crate() {
    let (frames, content) = many_frames();
    assert!(bulk::decompress(&frames, content.len()).unwrap() == content);
    assert!(bulk::decompress(&frames, content.len() - 1).is_err());
    assert_eq!(zstd::bulk::decompress(&frames, content.len()).unwrap(), content);
    assert!(bulk::Decompressor::upper_bound(&frames).is_some_and(|bound| bound >= content.len()));
    assert_eq!(bulk::Decompressor::upper_bound(&frames[..frames.len() - 1]), None);
    let mut vector = Vec::with_capacity(content.len());
    assert_eq!(bulk::decompress_to_buffer(&frames, &mut vector).unwrap(), content.len());
    assert!(vector == content);
    let mut slice = vec![0; content.len() + 9];
    assert_eq!(bulk::decompress_to_buffer(&frames, &mut slice[..]).unwrap(), content.len());
    assert!(bulk::decompress_to_buffer(&frames, &mut [0; 100]).is_err());
}

#[test]
fn memory_of_a_vector_is_bounded_by_the_limit_and_by_the_blocks() {
    let bomb = compress(&vec![0; 50 << 20], &[], &[level(1), CParameter::ContentSizeFlag(false)]);
    let error = decode_into_vec(&bomb, 1 << 20).unwrap_err();
    assert_eq!((error.kind, error.message), (Kind::Limit, "the content is above the limit"));
    assert_eq!(decode_into_vec(&bomb, 50 << 20).map(|content| content.len()), Ok(50 << 20));
    // The header states 2^60 bytes, and the only block has one byte.
    let lie = [&b"\x28\xb5\x2f\xfd\xe0"[..], &(1_u64 << 60).to_le_bytes(), b"\x09\0\0x"].concat();
    assert_eq!(decode_into_vec(&lie, usize::MAX).unwrap_err().kind, Kind::Corrupt);
}

/// The header states 5 bytes, and two blocks have 3 bytes each.
#[test]
fn content_larger_than_stated_is_corrupt_in_an_output_of_any_size() {
    let frame = b"\x28\xb5\x2f\xfd\x20\x05\x18\0\0abc\x19\0\0def";
    assert_eq!(decode_into_vec(frame, 100).unwrap_err().kind, Kind::Corrupt);
    assert_eq!(decode_into_vec(frame, 5).unwrap_err().kind, Kind::Corrupt);
    assert_eq!(decode_into_vec(frame, 4).unwrap_err().kind, Kind::Limit);
    let decode = |len| FrameDecoder::default().decode(&mut Scratch::new(), None, frame, &mut vec![0; len]);
    for (len, kind) in [(100, Kind::Corrupt), (5, Kind::Corrupt), (4, Kind::OutputTooSmall)] {
        assert_eq!(decode(len).unwrap_err().kind, kind, "{len} bytes");
    }
}

/// The end of the input cuts off a frame, never a block: a block has the size in its header.
#[test]
fn complete_block_that_ends_too_early_is_corrupt() {
    // One compressed block after a header of 6 bytes, or 7 with two bytes of content size.
    let frame = compress(&json_rows(1, 4), &[], &[level(19)]);
    let begin = if frame[4] >> 6 == 0 { 6 } else { 7 };
    let block = frame[begin..].split_at(3).1;
    assert_eq!(frame[begin] & 7, 5, "the last block, compressed");
    let cuts = (0..block.len()).map(|len| &block[..len]);
    // The header of the literals, the number of sequences, their modes, and the code of a table are
    // cut off. So are a table and a Huffman tree.
    let heads: [&[u8]; 4] = [b"\x0c", b"\0\xff", b"\0\x80\x01", b"\0\x01\x54"];
    let tables: [&[u8]; 4] = [b"\0\x01\xa8", b"\x12\x40\0\x20", b"\x12\x40\0\x90", b"\x12\x80\0\x01\0"];
    for part in cuts.chain(heads).chain(tables) {
        let size = (part.len() as u32) << 3 | 5;
        let frame = [&frame[..begin], &size.to_le_bytes()[..3], part].concat();
        let error = read::Decoder::new(&frame[..]).unwrap().read_to_end(&mut Vec::new()).unwrap_err();
        assert_eq!((error.kind(), inner(&error).kind), (ErrorKind::InvalidData, Kind::Corrupt), "{part:?}");
        let mut out = vec![0; 4000];
        let whole = FrameDecoder::default().decode(&mut Scratch::new(), None, &frame, &mut out);
        assert_eq!(whole.unwrap_err().kind, Kind::Corrupt, "{part:?}");
        let mut prefix = PrefixDecoder::new(Options::new());
        let prefix = prefix.decode(&mut Scratch::new(), None, &frame, &mut out);
        assert_eq!(prefix.unwrap_err().kind, Kind::Corrupt, "{part:?}");
    }
}

#[test]
fn random_damage_has_the_verdict_of_the_zstd_crate() {
    let mut noise = Noise::new(11);
    let frames: Vec<Vec<u8>> = kinds(2000)
        .into_iter()
        .map(|(_, data)| compress(&data, &[], &[level(3), CParameter::ChecksumFlag(true)]))
        .collect();
    let (mut sound, mut damaged) = (0, 0);
    for round in 0..3000 {
        let mut input = frames[round % frames.len()].clone();
        for _ in 0..noise.below(3) {
            let at = noise.below(input.len());
            match noise.below(3) {
                0 => input[at] = noise.below(256) as u8,
                1 => input.truncate(at.max(1)),
                _ => input.insert(at, noise.below(256) as u8),
            }
        }
        let (ours, theirs) = (decode_all(&input[..]), zstd::stream::decode_all(&input[..]));
        assert_eq!(
            ours.as_ref().ok(),
            theirs.as_ref().ok(),
            "round {round}: {ours:?}, {theirs:?}\n{input:02x?}"
        );
        *(if ours.is_ok() { &mut sound } else { &mut damaged }) += 1;
    }
    assert!(sound > 500 && damaged > 500, "{sound} and {damaged}");
}

/// Defines the same program with either crate.
macro_rules! program {
    ($name:ident, $zstd:ident) => {
        fn $name(file: &[u8], dictionary: &[u8], with_dictionary: &[u8]) -> io::Result<[Vec<u8>; 5]> {
            use $zstd::Decoder;
            use $zstd::dict::DecoderDictionary;
            let mut one = Vec::new();
            let mut decoder = Decoder::new(file)?;
            decoder.window_log_max(27)?;
            decoder.read_to_end(&mut one)?;
            let two = $zstd::decode_all(file)?;
            let mut three = Vec::new();
            $zstd::stream::copy_decode(file, &mut three)?;
            let prepared = DecoderDictionary::copy(dictionary);
            let mut four = Vec::new();
            let mut decoder = Decoder::with_prepared_dictionary(with_dictionary, &prepared)?.single_frame();
            decoder
                .by_ref()
                .take($zstd::decompressed_size(with_dictionary).unwrap())
                .read_to_end(&mut four)?;
            let mut rest = decoder.finish();
            assert!(rest.fill_buf()?.is_empty());
            let mut bulk = $zstd::bulk::Decompressor::with_dictionary(dictionary)?;
            let five = bulk.decompress(with_dictionary, 10_000)?;
            let mut writer = $zstd::stream::write::Decoder::new(Vec::new())?;
            writer.write_all(file)?;
            writer.do_finish()?;
            assert!(writer.into_inner() == one);
            Ok([one, two, three, four, five])
        }
    };
}

program!(ours, linerate_zstd);
program!(theirs, zstd);

#[test]
fn a_program_for_the_zstd_crate_has_the_same_result() {
    let (frames, content) = many_frames();
    let (dictionary, rows) = (json_rows(1, 10), json_rows(2, 3));
    let frame = compress(&rows, &dictionary, &[level(3)]);
    let found = ours(&frames, &dictionary, &frame).unwrap();
    assert!(found == theirs(&frames, &dictionary, &frame).unwrap());
    assert!(found == [content.clone(), content.clone(), content, rows.clone(), rows]);
}
