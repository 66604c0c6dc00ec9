//! Compares with decoding on one thread, for any division of the input.

use std::collections::HashSet;
use std::io::{self, Read};
use std::sync::{Arc, OnceLock};

use linerate_core::{Error, Kind};
use linerate_testkit::data::Noise;
use zlib_rs::{Deflate, DeflateFlush};

use super::chunk::{Buffers, Piece};
use super::link::{Next, State};
use super::*;
use crate::checksum::{CRC32_START, crc32};
use crate::read::Decoder;
use crate::test_data::{compress, text};

/// Compresses with zlib-rs, with a flush after every `flush_every` bytes.
fn compressed(format: Format, level: i32, data: &[u8], flush_every: usize) -> Vec<u8> {
    compress(format, level, data, flush_every, DeflateFlush::SyncFlush)
}

/// The content, and the totals or the kind and offset of the error.
type Outcome = (Vec<u8>, Result<Totals, (Option<Kind>, u64, io::ErrorKind)>);

fn failure(error: &io::Error) -> (Option<Kind>, u64, io::ErrorKind) {
    let ours = error.get_ref().and_then(|source| source.downcast_ref::<Error>());
    (ours.map(|e| e.kind), ours.map_or(0, |e| e.offset), error.kind())
}

fn alone(stream: StreamOptions, reader: impl Read) -> Outcome {
    let mut out = Vec::new();
    let mut decoder = Decoder::with_options(io::BufReader::new(reader), stream).unwrap();
    let result = decoder.read_to_end(&mut out);
    let bytes_out = out.len() as u64;
    (out, result.map(|_| Totals { bytes_in: 0, bytes_out }).map_err(|e| failure(&e)))
}

fn in_parallel(stream: StreamOptions, reader: impl Read, threads: usize, sizes: &Sizes) -> Outcome {
    let mut out = Vec::new();
    let result = decode_in(
        reader,
        &mut out,
        &Options::new(stream.format).stream(stream).threads(threads),
        Some(sizes),
    );
    (out, result.map(|totals| Totals { bytes_in: 0, ..totals }).map_err(|e| failure(&e)))
}

fn sizes(first: usize, others: usize, share: usize) -> Sizes {
    Sizes { first, least: others, most: others, output: 1, share }
}

#[track_caller]
fn assert_same(stream: StreamOptions, src: &[u8], threads: usize, sizes: &Sizes) -> bool {
    let one = alone(stream, src);
    let many = in_parallel(stream, src, threads, sizes);
    assert_eq!(one.1, many.1, "first piece {}, others {}", sizes.first, sizes.most);
    assert!(one.0 == many.0, "first piece {}, others {}", sizes.first, sizes.most);
    one.1.is_ok()
}

/// Returns small streams of all formats, some of them with other bytes after the end.
fn small() -> Vec<(Format, Vec<u8>)> {
    static ALL: OnceLock<Vec<(Format, Vec<u8>)>> = OnceLock::new();
    ALL.get_or_init(make_small).clone()
}

fn make_small() -> Vec<(Format, Vec<u8>)> {
    let mut noise = Noise::new(1);
    let text = text(&mut noise, 1100);
    let random = noise.bytes(300);
    let mut all = Vec::new();
    for format in [Format::Gzip, Format::Zlib, Format::Deflate] {
        for level in [0, 1, 6, 9] {
            all.push((format, compressed(format, level, &text[..700], 200)));
        }
        all.push((format, compressed(format, 6, &text, 600)));
        // Every few bytes get a block, fixed or stored.
        all.push((format, compressed(format, 6, &text[..150], 3)));
        all.push((format, compressed(format, 6, &random, 100)));
    }
    let member = |from: usize| compressed(Format::Gzip, 6, &text[from..from + 300], 150);
    let members = [member(0), member(500), compressed(Format::Gzip, 6, b"", 1), member(800)].concat();
    all.push((Format::ZlibOrGzip, members.clone()));
    all.push((Format::ZlibOrGzip, [&members[..], &compressed(Format::Zlib, 6, &text, 300)].concat()));
    all.push((Format::Gzip, [&members[..], b"garbage"].concat()));
    all.push((Format::Gzip, [&members[..], b"\x1f\x8b\x08"].concat()));
    all.push((Format::Zlib, [compressed(Format::Zlib, 6, &text, 300), text].concat()));
    all
}

const SHARE: usize = 1 << 20;

#[test]
fn small_streams_cut_at_every_byte_decode_as_on_one_thread() {
    for (format, src) in small() {
        let one = alone(StreamOptions::new(format), &src[..]);
        for first in 1..src.len() {
            let others = if first % 2 == 0 { 160 } else { 10_000 };
            let many = in_parallel(StreamOptions::new(format), &src[..], 1, &sizes(first, others, SHARE));
            assert!(one == many, "first piece {first}: {:?}, {:?}", one.1, many.1);
        }
    }
}

#[test]
fn small_streams_truncated_at_every_byte_fail_as_on_one_thread() {
    for (format, src) in small() {
        for len in 0..src.len() {
            assert_same(StreamOptions::new(format), &src[..len], 1, &sizes(1 + len / 3, 170, SHARE));
        }
    }
}

#[test]
fn small_streams_with_a_bit_of_any_byte_flipped_end_as_on_one_thread() {
    for (format, src) in small().into_iter().step_by(7) {
        let mut src = src;
        // Two or three bits of every byte.
        for bit in (0..8 * src.len()).step_by(3) {
            src[bit / 8] ^= 1 << (bit % 8);
            let pieces = sizes(1 + bit % 97, 150 + bit % 50, SHARE);
            assert_same(StreamOptions::new(format), &src, 1, &pieces);
            src[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

#[test]
fn output_limits_stop_as_on_one_thread() {
    for (format, src) in small() {
        for limit in (0..1200).step_by(29) {
            let stream = StreamOptions::new(format).output_limit(limit);
            assert_same(stream, &src, 1, &sizes(90, 200, SHARE));
        }
    }
}

type Named = (&'static str, Format, Vec<u8>);

/// Returns streams with 150,000 bytes to 12 MB of content.
fn large() -> Vec<Named> {
    static ALL: OnceLock<Vec<Named>> = OnceLock::new();
    ALL.get_or_init(make_large).clone()
}

fn make_large() -> Vec<Named> {
    let mut noise = Noise::new(2);
    let text = text(&mut noise, 500_000);
    let random = noise.bytes(150_000);
    let whole = usize::MAX;
    // A window that is copied again and again.
    let copies: Vec<u8> = (0..500_000).map(|i| random[i % 32_000] ^ u8::from(i % 5000 == 0)).collect();
    let members: Vec<u8> =
        text.chunks(7000).flat_map(|part| compressed(Format::Gzip, 6, part, whole)).collect();
    vec![
        ("text", Format::Gzip, compressed(Format::Gzip, 6, &text, whole)),
        ("text, zlib", Format::Zlib, compressed(Format::Zlib, 9, &text, whole)),
        ("flushes", Format::Deflate, compressed(Format::Deflate, 6, &text, 100)),
        ("small flushes", Format::Zlib, compressed(Format::Zlib, 1, &text, 400)),
        ("stored", Format::Gzip, compressed(Format::Gzip, 0, &random, whole)),
        ("noise", Format::Gzip, compressed(Format::Gzip, 6, &random, whole)),
        ("copies", Format::Gzip, compressed(Format::Gzip, 9, &copies, whole)),
        // Chunks have more content than fits the memory for units.
        ("copies, flushes", Format::Gzip, compressed(Format::Gzip, 9, &copies, 3000)),
        ("zeros", Format::Gzip, compressed(Format::Gzip, 9, &vec![0; 12_000_000], whole)),
        ("members", Format::Gzip, members),
        ("one block", Format::Gzip, member_of_one_block(&text)),
        ("one block of matches", Format::Gzip, member_of_matches(20_000)),
    ]
}

#[test]
fn large_streams_decode_as_on_one_thread_in_pieces_of_any_size() {
    for (name, format, src) in large() {
        for (threads, piece, share) in
            [(2, 20_000, 8 << 20), (3, 3000, 100_000), (1, 50_000, 200_000), (4, 700, 8 << 20)]
        {
            let is_valid =
                assert_same(StreamOptions::new(format), &src, threads, &sizes(piece, piece, share));
            assert!(is_valid, "{name}");
        }
    }
}

#[test]
fn large_streams_with_changed_bytes_end_as_on_one_thread() {
    let mut noise = Noise::new(3);
    for (_, format, mut src) in large() {
        for share in [1 << 20, 1 << 20, 90_000] {
            let at = noise.below(src.len());
            let before = src[at];
            src[at] = noise.below(256) as u8;
            assert_same(StreamOptions::new(format), &src, 2, &sizes(9000, 9000, share));
            src[at] = before;
        }
    }
}

struct Fails<'a>(&'a [u8]);

impl Read for Fails<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() {
            return Err(io::Error::other("no more"));
        }
        self.0.read(into)
    }
}

#[test]
fn content_before_a_read_error_is_written_first() {
    let (_, format, src) = large().swap_remove(0);
    let stream = StreamOptions::new(format);
    for len in [0, 5, 100, src.len() / 2, src.len()] {
        let one = alone(stream, Fails(&src[..len]));
        let many = in_parallel(stream, Fails(&src[..len]), 2, &sizes(20_000, 20_000, SHARE));
        assert!(one == many && one.1.is_err(), "{len}");
    }
}

/// The content, and the end of the data with checksum and length, or the kind and offset of the
/// error.
type DataOutcome = (Vec<u8>, Result<(Totals, u32, u32), (Option<Kind>, u64)>);

/// Returns the end of the last data that only valid trailers and headers precede, or the error of
/// that data.
fn data_alone(stream: StreamOptions, src: &[u8]) -> DataOutcome {
    let (mut members, mut out, mut buffer) = (Members::after_header(stream).unwrap(), Vec::new(), [0; 1000]);
    let (mut at, mut end) = (0, None);
    loop {
        let progress = members.decode_until(&src[at..], &mut buffer, i64::MAX);
        let progress = match progress {
            Ok(progress) => progress,
            Err(error) => {
                let error = failure(&error.into());
                let end = end.filter(|_| !members.decoder.is_in_data());
                return (out, end.ok_or((error.0, error.1)));
            }
        };
        at += progress.read;
        out.extend_from_slice(&buffer[..progress.written]);
        if let Some(found) = members.decoder.data_end() {
            let totals = Totals { bytes_in: found.at, bytes_out: out.len() as u64 };
            end = Some((totals, found.check, found.len));
        }
        if (progress.read, progress.written) == (0, 0) {
            let end = end.filter(|_| !members.decoder.is_in_data());
            return (out, end.ok_or((Some(Kind::Truncated), at as u64)));
        }
    }
}

#[track_caller]
fn assert_same_data(stream: StreamOptions, src: &[u8], threads: usize, sizes: &Sizes) {
    let one = data_alone(stream, src);
    let mut out = Vec::new();
    let end = decode_data_in(
        src,
        &mut out,
        &Options::new(stream.format).stream(stream).threads(threads),
        Some(sizes),
    );
    let many = end.map(|end| {
        // Bytes that are in no piece have not been read.
        let at = end.totals.bytes_in as usize;
        assert!(src[at..].starts_with(&end.rest));
        (end.totals, end.check, end.len)
    });
    assert_eq!(one.1, many.map_err(|e| (failure(&e).0, failure(&e).1)), "first piece {}", sizes.first);
    assert!(one.0 == out);
}

#[test]
fn data_without_its_header_ends_where_it_does_on_one_thread() {
    for (format, src) in small() {
        let format = if format == Format::ZlibOrGzip { Format::Gzip } else { format };
        let header = match format {
            Format::Deflate => 0,
            Format::Zlib => 2,
            _ => 10,
        };
        let mut data = src[header..].to_vec();
        let stream = StreamOptions::new(format);
        for first in (1..data.len()).step_by(11) {
            let pieces = sizes(first, 150 + first % 70, SHARE);
            assert_same_data(stream, &data, 1, &pieces);
            assert_same_data(stream, &data[..first], 1, &sizes(1 + first / 3, 170, SHARE));
            assert_same_data(stream.output_limit(first as u64), &data, 1, &pieces);
            data[first] ^= 1 << (first % 8);
            assert_same_data(stream, &data, 1, &pieces);
            data[first] ^= 1 << (first % 8);
        }
    }
}

#[test]
fn bytes_after_the_data_are_returned() {
    let text = text(&mut Noise::new(5), 300_000);
    let member = compressed(Format::Gzip, 6, &text, usize::MAX);
    let end = member.len() - 18;
    for tail in [&b"garbage"[..], b"\x1f\x8b\x08", b"\x1f\x8b\x08\x08name", &[0; 70_000], &[]] {
        let src = [&member[10..], tail].concat();
        for threads in [1, 3] {
            let mut reader = &src[..];
            let options = Options::new(Format::Gzip).threads(threads);
            let found = decode_data_in(&mut reader, Vec::new(), &options, Some(&sizes(9000, 9000, SHARE)));
            let found = found.unwrap();
            assert_eq!([found.rest, reader.to_vec()].concat(), src[end..]);
            assert_eq!((found.totals.bytes_in, found.len), (end as u64, 300_000));
        }
    }
}

#[test]
fn long_header_ends_the_data_before_it() {
    let member = compressed(Format::Gzip, 6, b"content", usize::MAX);
    let header = [&b"\x1f\x8b\x08\x08\0\0\0\0\0\0"[..], &[b'n'; 2 << 20], b"\0"].concat();
    let src = [&member[10..], &header, &member[10..]].concat();
    let mut out = Vec::new();
    let end = decode_data_in(&src[..], &mut out, &Options::new(Format::Gzip), None).unwrap();
    assert_eq!((end.totals.bytes_in, out.len()), (member.len() as u64 - 18, 7));
    assert!(end.rest.len() < 2 << 20);
}

/// The header of the second member has an extra field of 64 KiB, a name or comment of 2 MiB, or all
/// three. All but the extra field alone exceed every piece.
#[test]
fn later_member_with_a_long_header_decodes_as_on_one_thread() {
    let text = text(&mut Noise::new(6), 100_000);
    let member = compressed(Format::Gzip, 6, &text, 5000);
    let long = [&[b'n'; 2 << 20][..], b"\0"].concat();
    let extra = [&[0xff, 0xff][..], &[1; 0xffff]].concat();
    for (flags, fields) in
        [(8, long.clone()), (16, long.clone()), (4, extra.clone()), (28, [&extra[..], &long, &long].concat())]
    {
        let header = [&[0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 0][..], &fields].concat();
        let src = [&member, &header[..], &member[10..], &member].concat();
        let stream = StreamOptions::new(Format::Gzip);
        for (threads, piece) in [(1, 40_000), (2, 40_000), (3, 700_000)] {
            assert!(assert_same(stream, &src, threads, &sizes(piece, piece, SHARE)));
        }
        assert_same(stream, &src[..member.len() + header.len() - 1], 2, &sizes(40_000, 40_000, SHARE));
        let found = alone(stream, &src[..]).0;
        assert!(found == text.repeat(3));
    }
}

#[test]
fn totals_count_the_stream_and_not_what_follows() {
    let src = [compressed(Format::Zlib, 6, &text(&mut Noise::new(4), 200_000), usize::MAX), vec![0; 100_000]]
        .concat();
    let mut out = Vec::new();
    let options = Options::new(Format::Zlib).threads(2);
    let totals = decode_in(&src[..], &mut out, &options, Some(&sizes(9000, 9000, SHARE))).unwrap();
    assert_eq!((totals.bytes_in, totals.bytes_out), (src.len() as u64 - 100_000, 200_000));
}

#[test]
fn buffers_of_a_chunk_never_exceed_its_share_whatever_the_ratio() {
    let (_, _, zeros) = large().into_iter().find(|(name, ..)| *name == "zeros").unwrap();
    let share = 200_000;
    let mut memory = Memory::default();
    for start in [Start::Known(80, None), Start::Search] {
        let (before, after) = (link(), link());
        let window = vec![0; 1 << 15];
        before.0.send(State { next: Next::Block(80, true), is_gzip: true, window }).unwrap();
        let task = Task {
            piece: Arc::new(Piece { at: 0, bytes: zeros.clone() }),
            next: None,
            start,
            end: None,
            is_gzip: true,
            check: |_| 0,
            share,
            buffers: Buffers::default(),
            before: before.1,
            after: after.0,
        };
        let chunk = decode_chunk(&mut memory, task);
        let Buffers { marked, plain, resolved } = &chunk.buffers;
        assert!(chunk.start.is_some() && marked.len() + plain.len() > share / 2);
        assert!(
            marked.capacity() <= share / 2 && plain.capacity() <= share && resolved.capacity() <= share / 2
        );
    }
}

/// Makes a gzip member of one block with fixed codes, in which a search finds no beginning.
fn member_of_one_block(content: &[u8]) -> Vec<u8> {
    const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
    let (mut out, mut bits, mut count) = (HEADER.to_vec(), 0b011u32, 3);
    for &byte in content {
        bits |= u32::from((0x30 + byte).reverse_bits()) << count;
        out.push(bits as u8);
        bits >>= 8;
        count = 3;
    }
    out.extend(&(bits as u16).to_le_bytes()); // The end of the block is seven zero bits.
    out.extend(crc32(CRC32_START, content).to_le_bytes());
    out.extend((content.len() as u32).to_le_bytes());
    out
}

/// Makes a gzip member of a letter and matches of 258 bytes at distance 1, in one block with fixed
/// codes.
fn member_of_matches(matches: usize) -> Vec<u8> {
    let content = vec![b'a'; 1 + 258 * matches];
    let mut out = member_of_one_block(b"");
    out.truncate(10);
    let (mut bits, mut count) = (0b011 | u64::from((0x30 + b'a').reverse_bits()) << 3, 11);
    // The code for 258 bytes, then five zero bits for distance 1.
    let symbols = [(u64::from(0b1100_0101u8.reverse_bits()), 13)].repeat(matches);
    // The end of the block is seven zero bits, and up to seven more fill the byte.
    for (value, len) in symbols.into_iter().chain([(0, 14)]) {
        bits |= value << count;
        count += len;
        while count >= 8 {
            out.push(bits as u8);
            (bits, count) = (bits >> 8, count - 8);
        }
    }
    out.extend(crc32(CRC32_START, &content).to_le_bytes());
    out.extend((content.len() as u32).to_le_bytes());
    out
}

/// A reader that records the buffers passed to it.
struct Noted<'a>(&'a [u8], HashSet<*const u8>);

impl Read for Noted<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.1.insert(into.as_ptr());
        self.0.read(into)
    }
}

#[test]
fn buffers_of_decoded_pieces_are_reused() {
    let (_, format, src) = large().swap_remove(0);
    let mut reader = Noted(&src, HashSet::new());
    let options = Options::new(format).threads(2);
    decode_in(&mut reader, io::sink(), &options, Some(&sizes(1000, 1000, SHARE))).unwrap();
    assert!(src.len() > 100_000 && reader.1.len() < 50, "{} buffers", reader.1.len());
}

#[test]
fn match_into_the_previous_member_fails_as_on_one_thread() {
    let mut noise = Noise::new(5);
    let mut letters =
        |from: u8, len: usize| (0..len).map(|_| from + noise.below(12) as u8).collect::<Vec<u8>>();
    let before = letters(b'a', 30_000);
    let mut src = member_of_one_block(&before);
    let member = src.len();
    src.extend([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);
    let (mut deflate, mut data) = (Deflate::new(6, false, 15), vec![0; 40_000]);
    deflate.set_dictionary(&before).unwrap();
    for i in 0..40 {
        let mut piece = letters(b'A', 300);
        if i >= 25 {
            for from in (1000..20_000).step_by(1500) {
                piece.extend(&before[from + i..][..40]);
                piece.extend(letters(b'A', 30));
            }
        }
        let written = deflate.total_out() as usize;
        deflate.compress(&piece, &mut data[written..], DeflateFlush::Block).unwrap();
    }
    let written = deflate.total_out() as usize;
    deflate.compress(&[], &mut data[written..], DeflateFlush::Finish).unwrap();
    src.extend(&data[..deflate.total_out() as usize]);
    let stream = StreamOptions::new(Format::Gzip);
    for after in (100..3000).step_by(300) {
        let piece = (member + after) / 2;
        assert!(!assert_same(stream, &src, 3, &sizes(piece, piece, 1 << 20)), "its matches refer to nothing");
    }
}
