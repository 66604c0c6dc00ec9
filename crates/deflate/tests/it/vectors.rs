//! Known bytes: if the format leaves no choice, the output equals them; otherwise it decodes to the
//! same.

use linerate_deflate::checksum::{adler32, adler32_combine, crc32, crc32_combine};
use linerate_deflate::{Format, Level, Scratch, Stream, compress_to_vec};

use crate::common::decoders::{assert_decodes, decode};
use crate::common::{CODING, FORMATS, call, encode, finish, flush};

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u32> = hex.chars().filter_map(|c| c.to_digit(16)).collect();
    digits.chunks(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect()
}

const GZIP_HEADER: &str = "1f8b0800 00000000 0403";

#[test]
fn empty_streams_have_known_bytes() {
    for level in Level::ALL {
        assert_eq!(compress_to_vec(Format::Deflate, level, b""), bytes("0300"));
        assert_eq!(compress_to_vec(Format::Zlib, level, b""), bytes("7801 0300 00000001"));
        let gzip = format!("{GZIP_HEADER} 0300 00000000 00000000");
        assert_eq!(compress_to_vec(Format::Gzip, level, b""), bytes(&gzip));
    }
}

#[test]
fn stored_abc_has_known_bytes() {
    let stored = |format| compress_to_vec(format, Level::Stored, b"abc");
    assert_eq!(stored(Format::Deflate), bytes("010300fcff 616263"));
    assert_eq!(stored(Format::Zlib), bytes("7801 010300fcff 616263 024d0127"));
    let gzip = format!("{GZIP_HEADER} 010300fcff 616263 c2412435 03000000");
    assert_eq!(stored(Format::Gzip), bytes(&gzip));
}

#[test]
fn stored_blocks_are_cut_at_65535() {
    let plain = vec![7; 65_537];
    let encoded = compress_to_vec(Format::Deflate, Level::Stored, &plain);
    let mut expected = bytes("00 ffff 0000");
    expected.extend(&plain[..65_535]);
    expected.extend(bytes("01 0200 fdff 0707"));
    assert!(encoded == expected);
}

/// Checks the reference decoders with streams of other encoders.
#[test]
fn reference_decoders_accept_valid_and_reject_invalid_streams() {
    for (hex, plain) in [
        ("4b0400", &b"a"[..]),
        ("4b4c4a0600", b"abc"),
        ("eb0700", b"\x8f"),
        ("9b0000", b"\x90"),
        ("fb0f00", b"\xff"),
        ("4b020200", b"bbbb"),
        ("4b020100", b"bbbbb"),
        ("4b420000", &[b'b'; 11]),
        ("4b420200", &[b'b'; 12]),
        ("4b1af10000", &[b'b'; 258]),
        ("4b1a0500", &[b'b'; 259]),
        ("4a4c4a06000000ffff0300", b"abc"),
        ("05c18100000000009056ff1340", b"aaa"),
    ] {
        assert_decodes(Format::Deflate, &bytes(hex), plain);
    }
    let gzip = format!("{GZIP_HEADER} 4b4c4a0600 c2412435 03000000");
    assert_decodes(Format::Gzip, &bytes(&gzip), b"abc");
    for wrong in ["7801 4b0400 00620063", "7801 4b0400 00620062 00", "7802 4b0400 00620062"] {
        assert!(decode(Format::Zlib, &bytes(wrong), 1).is_err(), "{wrong}");
    }
}

#[test]
fn single_byte_uses_the_fixed_tree() {
    for (plain, most) in [(&b"a"[..], 3), (b"abc", 5), (b"\x8f", 3), (b"\x90", 3), (b"\xff", 3)] {
        for level in CODING {
            let encoded = compress_to_vec(Format::Deflate, level, plain);
            assert!(encoded.len() <= most, "{level:?}: {plain:?} became {encoded:02x?}");
            assert_decodes(Format::Deflate, &encoded, plain);
        }
    }
}

#[test]
fn flush_is_an_empty_stored_block() {
    for format in FORMATS {
        for level in Level::ALL {
            let mut stream = Stream::new(format, level);
            let first = flush(&mut stream);
            assert_eq!(first, [format.header(), &bytes("00 0000ffff")].concat());
            let mut all = first;
            all.extend(call(&mut Scratch::boxed(), &mut stream, b"abc", true));
            let second = flush(&mut stream);
            assert!(second.len() == 5 && second.ends_with(&bytes("0000ffff")), "{second:02x?}");
            all.extend(second);
            let end = finish(&mut stream);
            assert!(end.starts_with(&bytes("0300")) && end.len() == 2 + format.trailer_len());
            all.extend(end);
            assert_decodes(format, &all, b"abc");
        }
    }
}

#[test]
fn headers_and_trailers_have_known_bytes() {
    assert_eq!(Format::Deflate.header(), b"");
    assert_eq!(Format::Zlib.header(), bytes("7801"));
    assert_eq!(Format::Gzip.header(), bytes(GZIP_HEADER));
    let plain = b"Wikipedia";
    for level in Level::ALL {
        let whole = |format| encode(&mut Scratch::boxed(), format, level, plain, 4);
        let [raw, zlib, gzip] = FORMATS.map(whole);
        let adler = &bytes("11e60398")[..];
        assert_eq!(zlib, [Format::Zlib.header(), &raw, adler].concat());
        let crc = &crc32(0, plain).to_le_bytes()[..];
        assert_eq!(gzip, [Format::Gzip.header(), &raw, crc, &bytes("09000000")].concat());
    }
}

#[test]
fn stream_after_a_header_writes_no_header() {
    for format in FORMATS {
        let mut with = Stream::new(format, Level::Default);
        let mut without = Stream::new_after_header(format, Level::Default);
        let mut scratch = Scratch::boxed();
        let expected = call(&mut scratch, &mut with, b"hello hello hello", false);
        let body = call(&mut scratch, &mut without, b"hello hello hello", false);
        assert_eq!(expected, [format.header(), &body].concat());
        assert_eq!(finish(&mut with), finish(&mut without));
    }
}

#[test]
fn checksums_have_known_values() {
    assert_eq!(crc32(0, b""), 0);
    assert_eq!(crc32(0, b"123456789"), 0xCBF4_3926);
    assert_eq!(crc32(0, b"abc"), 0x3524_41C2);
    assert_eq!(adler32(1, b""), 1);
    assert_eq!(adler32(1, b"Wikipedia"), 0x11E6_0398);
    assert_eq!(adler32(1, b"abc"), 0x024D_0127);
    assert_eq!(crc32_combine(crc32(0, b"12345"), crc32(0, b"6789"), 4), 0xCBF4_3926);
    assert_eq!(adler32_combine(adler32(1, b"Wiki"), adler32(1, b"pedia"), 5), 0x11E6_0398);
}

#[test]
fn stream_reports_its_checksum_and_length() {
    for (format, empty, abc) in
        [(Format::Deflate, 0, 0), (Format::Zlib, 1, 0x024D_0127), (Format::Gzip, 0, 0x3524_41C2)]
    {
        let mut stream = Stream::new(format, Level::Stored);
        assert_eq!((stream.checksum(), stream.total_in()), (empty, 0));
        call(&mut Scratch::boxed(), &mut stream, b"ab", true);
        call(&mut Scratch::boxed(), &mut stream, b"c", true);
        assert_eq!((stream.checksum(), stream.total_in()), (abc, 3));
    }
}
