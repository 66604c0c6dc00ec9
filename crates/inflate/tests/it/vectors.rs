//! Decodes small streams written by hand from RFC 1950 to 1952, from slices, in pieces, and without
//! a heap.

use linerate_inflate::{
    BlockDecoder, BufferDecoder, Error, Format, Kind, Options, Scratch, Sizes, Status, StreamDecoder, Window,
    decode_to_vec,
};

use crate::common::{Noise, compressed, content};

const ABC: [u8; 5] = [0x4b, 0x4c, 0x4a, 6, 0];
const ZLIB: [u8; 11] = [0x78, 1, 0x4b, 0x4c, 0x4a, 6, 0, 2, 0x4d, 1, 0x27];
const GZIP: [u8; 23] =
    [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 3, 0x4b, 0x4c, 0x4a, 6, 0, 0xc2, 0x41, 0x24, 0x35, 3, 0, 0, 0];

fn whole(format: Format, src: &[u8], out: &mut [u8]) -> Result<Sizes, Error> {
    BufferDecoder::new(Options::new(format)).decode(&mut Scratch::new(), None, src, out)
}

#[test]
fn literals_matches_and_stored_bytes_decode() {
    let expected: [(&[u8], Vec<u8>); 8] = [
        (&[3, 0], vec![]),
        (&ABC, b"abc".to_vec()),
        (&[0xeb, 7, 0], vec![0x8f]),
        (&[0x9b, 0, 0], vec![0x90]),
        (&[0x4b, 2, 2, 0], b"bbbb".to_vec()),
        (&[0x4b, 0x1a, 0xf1, 0, 0], vec![b'b'; 258]),
        (&[1, 3, 0, 0xfc, 0xff, b'a', b'b', b'c'], b"abc".to_vec()),
        (&[5, 0xc1, 0x81, 0, 0, 0, 0, 0, 0x90, 0x56, 0xff, 0x13, 0x40], b"aaa".to_vec()),
    ];
    for (src, content) in expected {
        let mut out = vec![0; content.len()];
        assert_eq!(whole(Format::Deflate, src, &mut out), Ok(Sizes { read: src.len(), written: out.len() }));
        assert_eq!(out, content);
        assert_eq!(decode_to_vec(Format::Deflate, src, 300), Ok(content));
    }
}

#[test]
fn buffer_or_limit_one_byte_short_is_an_error() {
    for (format, src) in [(Format::Deflate, &ABC[..]), (Format::Zlib, &ZLIB), (Format::Gzip, &GZIP)] {
        let kind = |len: usize, limit| {
            let mut out = [0; 4];
            let options = Options::new(format).output_limit(limit);
            let whole = BufferDecoder::new(options).decode(&mut Scratch::new(), None, src, &mut out[..len]);
            whole.map(|sizes| sizes.written).map_err(|e| e.kind)
        };
        assert_eq!((kind(3, 3), kind(4, 9)), (Ok(3), Ok(3)));
        assert_eq!((kind(2, 3), kind(3, 2)), (Err(Kind::OutputTooSmall), Err(Kind::Limit)));
        assert_eq!(decode_to_vec(format, src, 2).map_err(|e| e.kind), Err(Kind::Limit));
        for len in 0..src.len() {
            assert_eq!(
                whole(format, &src[..len], &mut [0; 3]).map_err(|e| e.kind),
                Err(Kind::Truncated),
                "{len}"
            );
        }
    }
}

#[test]
fn wrong_checksums_are_errors_if_verified() {
    for (format, src, checks) in [(Format::Zlib, &ZLIB[..], 4), (Format::Gzip, &GZIP, 8)] {
        for at in src.len() - checks..src.len() {
            let mut src = src.to_vec();
            src[at] ^= 1;
            let mut out = [0; 3];
            assert_eq!(whole(format, &src, &mut out).map_err(|e| e.kind), Err(Kind::Corrupt), "{at}");
            let options = Options::new(format).verify_checksum(false);
            let sizes = BufferDecoder::new(options).decode(&mut Scratch::new(), None, &src, &mut out);
            assert_eq!((sizes, &out), (Ok(Sizes { read: src.len(), written: 3 }), b"abc"));
        }
    }
}

#[test]
fn bytes_after_a_stream_are_not_read() {
    let two = [GZIP, GZIP].concat();
    let mut out = [0; 3];
    assert_eq!(whole(Format::Gzip, &two, &mut out), Ok(Sizes { read: GZIP.len(), written: 3 }));
    assert_eq!(decode_to_vec(Format::ZlibOrGzip, &two, 6), Ok(b"abcabc".to_vec()));
    let after = [&ZLIB[..], b"x"].concat();
    assert_eq!(
        decode_to_vec(Format::Zlib, &after, 9).map_err(|e| (e.kind, e.offset)),
        Err((Kind::Corrupt, 11))
    );
}

/// Decodes a byte at a time with a window and a scratch of the caller.
#[test]
fn streams_need_no_heap() {
    let (mut memory, mut scratch) = ([0; 256], Scratch::new());
    let mut decoder = StreamDecoder::in_memory(&mut memory, Options::new(Format::ZlibOrGzip)).unwrap();
    for src in [&GZIP[..], &GZIP] {
        let (mut out, mut len) = ([0; 3], 0);
        for (i, &byte) in src.iter().enumerate() {
            loop {
                let progress = decoder.decode(&mut scratch, &[byte], &mut out[len..]).unwrap();
                len += progress.written;
                if progress.status != Status::NeedOutput {
                    assert_eq!(progress.status == Status::End, i + 1 == src.len());
                    break;
                }
            }
        }
        assert_eq!(&out, b"abc");
        decoder.reset();
    }
    assert_eq!(decoder.memory(), size_of::<StreamDecoder<'_>>());
}

/// Websocket messages that end with a final block do this.
#[test]
fn data_continues_after_a_final_block_with_its_window() {
    let mut scratch = Scratch::new();
    let mut decoder = StreamDecoder::new(Options::new(Format::Deflate)).unwrap();
    let mut out = [0; 9];
    assert_eq!(
        decoder.decode(&mut scratch, &ABC, &mut out).map(|p| (p.written, p.status)),
        Ok((3, Status::End))
    );
    // A match of length 3 and distance 3, with the fixed codes 0000001 and 00010, then the end.
    let mut bits = 0b011u32;
    bits |= 0b1000000 << 3 | 0b01000 << 10;
    let again = bits.to_le_bytes();
    assert_eq!(
        decoder.decode(&mut scratch, &again, &mut out).map(|p| (p.read, p.status)),
        Ok((0, Status::End))
    );
    decoder.continue_data();
    let progress = decoder.decode(&mut scratch, &again, &mut out).unwrap();
    assert_eq!((progress.written, progress.status, &out[..3]), (3, Status::End, &b"abc"[..]));
    decoder.next_member();
    let error = decoder.decode(&mut scratch, &again, &mut out).unwrap_err();
    assert_eq!(
        (error.kind, error.message),
        (Kind::Corrupt, "a match begins before the beginning of the stream")
    );
}

#[test]
fn flushes_are_detected_and_matches_reach_output_in_the_buffer() {
    let mut scratch = Scratch::new();
    let (mut decoder, window) = (BlockDecoder::new(), Window::default());
    let mut out = [0; 6];
    let flushed = [0x4a, 0x4c, 0x4a, 6, 0, 0, 0, 0xff, 0xff];
    for (i, &byte) in flushed.iter().enumerate() {
        let at = [0, 0, 1, 2, 3, 3, 3, 3, 3][i];
        decoder.decode(&mut scratch, &window, &[byte], &mut out, at).unwrap();
        assert_eq!(decoder.is_flushed(), i + 1 == flushed.len(), "{i}");
    }
    let again = (0b011u32 | 0b1000000 << 3 | 0b01000 << 10).to_le_bytes();
    let progress = decoder.decode(&mut scratch, &window, &again, &mut out, 3).unwrap();
    assert_eq!((progress.status, &out), (Status::End, b"abcabc"));
    assert!(decoder.is_final());
}

#[test]
fn dictionaries_are_checked() {
    // FDICT, the Adler-32 of "abc", a match of all of it, and the Adler-32 of that.
    let mut stream = vec![0x78, 0, 0x02, 0x4d, 0x01, 0x27];
    stream[1] = (0..=255u8)
        .find(|flags| flags & 0x20 != 0 && (0x7800 + u16::from(*flags)).is_multiple_of(31))
        .expect("flags with a check");
    stream.extend_from_slice(&(0b011u32 | 0b1000000 << 3 | 0b01000 << 10).to_le_bytes()[..3]);
    stream.extend_from_slice(&[2, 0x4d, 1, 0x27]);
    let (mut scratch, mut out) = (Scratch::new(), [0; 3]);
    let mut with = |dictionary: Option<&[u8]>| {
        let decoder = BufferDecoder::new(Options::new(Format::Zlib));
        decoder
            .decode(&mut scratch, dictionary, &stream, &mut out)
            .map(|sizes| sizes.written)
            .map_err(|e| e.kind)
    };
    assert_eq!(
        (with(Some(b"abc")), with(Some(b"abd")), with(None)),
        (Ok(3), Err(Kind::BadArgument), Err(Kind::BadArgument))
    );
    let mut decoder = StreamDecoder::new(Options::new(Format::Zlib)).unwrap();
    assert_eq!(decoder.set_dictionary(b"abc").map_err(|e| e.kind), Err(Kind::BadArgument));
    let progress = decoder.decode(&mut Scratch::new(), &stream, &mut out).unwrap();
    assert_eq!(
        (progress.read, progress.status, decoder.dictionary_id()),
        (6, Status::NeedDictionary, Some(0x024d_0127))
    );
    decoder.set_dictionary(b"abc").unwrap();
    assert_eq!(
        decoder.decode(&mut Scratch::new(), &stream[6..], &mut out).map(|p| p.status),
        Ok(Status::End)
    );
}

/// There is more input and output than the slack of the fast loop, but little enough for Miri.
#[test]
fn several_kilobytes_decode_whole_and_after_a_window() {
    for seed in 0..if cfg!(miri) { 3 } else { 100 } {
        let data = content(&mut Noise(seed), 2000);
        let src = compressed(Format::Deflate, 6, 15, &data);
        let (mut out, mut scratch) = (vec![0; data.len()], Scratch::new());
        assert_eq!(whole(Format::Deflate, &src, &mut out).map(|sizes| sizes.written), Ok(data.len()));
        assert!(out == data, "{seed}");
        let mut decoder = StreamDecoder::new(Options::new(Format::Deflate)).unwrap();
        let (mut read, mut written) = (0, 0);
        while written < data.len() {
            let piece = &mut [0; 700];
            let progress = decoder.decode(&mut scratch, &src[read..], piece).unwrap();
            assert!(progress.written > 0 && piece[..progress.written] == data[written..][..progress.written]);
            (read, written) = (read + progress.read, written + progress.written);
        }
    }
}
