//! Compares verdict and output with zlib-rs, for valid, truncated and damaged streams in any
//! pieces.

use linerate_inflate::{Format, Kind, Options, Scratch, Status, StreamDecoder};
use zlib_rs::{Deflate, Inflate, InflateFlush};

use crate::common::{
    Case, Noise, Verdict, assert_as_zlib, compress, compressed, content, forms, ours, theirs, with_all_fields,
};

const FORMATS: [Format; 4] = [Format::Deflate, Format::Zlib, Format::Gzip, Format::ZlibOrGzip];

/// Returns small streams with all block types: hand-made ones, and some by zlib-rs.
fn goldens() -> Vec<(Format, Vec<u8>)> {
    let hex = [
        (Format::Deflate, "0300"),
        (Format::Deflate, "4b4c4a0600"),
        (Format::Deflate, "4b4c4a06000000"),
        (Format::Deflate, "fb0f00"),
        (Format::Deflate, "4b020200"),
        (Format::Deflate, "4b1af10000"),
        (Format::Deflate, "4b1a0500"),
        (Format::Deflate, "4a4c4a06000000ffff0300"),
        (Format::Deflate, "010300fcff616263"),
        (Format::Deflate, "05c18100000000009056ff1340"),
        (Format::Zlib, "7801030000000001"),
        (Format::Gzip, "1f8b080000000000040303000000000000000000"),
        (Format::Gzip, "1f8b08000000000004034b4c4a0600c241243503000000"),
        // Extra field, name, comment.
        (Format::Gzip, "1f8b081c0000000000030300616263" /* extra */),
    ];
    let bytes = |text: &str| -> Vec<u8> {
        (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).expect("hex")).collect()
    };
    let mut all: Vec<_> = hex.iter().map(|(format, text)| (*format, bytes(text))).collect();
    all.push((
        Format::Gzip,
        with_all_fields(&compressed(Format::Deflate, 6, 15, b"abcabcabcabc"), b"abcabcabcabc"),
    ));
    let mut noise = Noise(7);
    for round in 0..10 {
        let len = 1 + noise.below(300);
        let data = content(&mut noise, len);
        for format in [Format::Deflate, Format::Zlib, Format::Gzip] {
            all.push((format, compressed(format, round, 15, &data)));
        }
    }
    // Two blocks with codes of their own, and a flush between them.
    let mut deflate = Deflate::new(6, true, 15);
    let text = b"Of shoes and ships and sealing-wax, of cabbages and kings".repeat(3);
    let two = [compress(&mut deflate, &text, false), compress(&mut deflate, &content(&mut noise, 500), true)]
        .concat();
    all.push((Format::Zlib, two));
    all
}

#[test]
fn goldens_truncated_at_every_byte_match_zlib_rs() {
    let (mut scratches, mut noise) = (forms(), Noise(1));
    let mut ends = 0;
    for (format, golden) in goldens() {
        for len in 0..=golden.len() {
            let verdict = assert_as_zlib(Case::new(format, &golden[..len]), &mut scratches, &mut noise);
            ends += usize::from(verdict == Verdict::End(golden.len()));
        }
    }
    assert!(ends >= 40, "{ends}");
}

#[test]
fn goldens_with_any_bit_flipped_match_zlib_rs() {
    let (mut scratches, mut noise) = (forms(), Noise(2));
    let mut damaged = 0;
    for (format, golden) in goldens() {
        for bit in 0..8 * golden.len() {
            let mut src = golden.clone();
            src[bit / 8] ^= 1 << (bit % 8);
            let verdict = assert_as_zlib(Case::new(format, &src), &mut scratches, &mut noise);
            damaged += usize::from(verdict == Verdict::Damaged);
        }
    }
    assert!(damaged > 1000, "{damaged}");
}

#[test]
fn goldens_in_other_formats_match_zlib_rs() {
    let (mut scratches, mut noise) = (forms(), Noise(3));
    for (_, golden) in goldens() {
        for format in FORMATS {
            assert_as_zlib(Case::new(format, &golden), &mut scratches, &mut noise);
        }
    }
}

#[test]
fn every_split_of_input_and_output_gives_the_same() {
    let mut noise = Noise(4);
    let data = content(&mut noise, 3000);
    for level in [0, 1, 6] {
        let src = compressed(Format::Gzip, level, 15, &data);
        let case = Case::new(Format::Gzip, &src);
        let expected = (Verdict::End(src.len()), data.clone());
        for mut scratch in forms() {
            for split in 0..src.len() {
                let mut pieces = [split, 1 << 20, 1 << 20, 1 << 20].into_iter();
                let (verdict, out, _) = ours(case, &mut scratch, || pieces.next().unwrap_or(1 << 20));
                assert!((verdict, out) == expected, "{split}");
            }
            for split in 0..data.len() {
                let mut pieces = [1 << 20, split].into_iter();
                let (verdict, out, _) = ours(case, &mut scratch, || pieces.next().unwrap_or(1 << 20));
                assert!((verdict, out) == expected, "{split}");
            }
        }
    }
}

#[test]
fn valid_and_damaged_streams_match_zlib_rs() {
    let (mut scratches, mut noise) = (forms(), Noise(5));
    for round in 0..60 {
        let format = FORMATS[round % 4];
        let len = 1 + noise.below(if round % 3 == 0 { 100_000 } else { 3000 });
        let data = content(&mut noise, len);
        let written = if format == Format::ZlibOrGzip { FORMATS[1 + round / 4 % 2] } else { format };
        let src = compressed(written, (round % 10) as i32, 15, &data);
        let verdict = assert_as_zlib(Case::new(format, &src), &mut scratches, &mut noise);
        assert_eq!(verdict, Verdict::End(src.len()));
        for _ in 0..15 {
            let mut damaged = src.clone();
            let near = damaged.len().min(if noise.below(2) == 0 { 200 } else { usize::MAX });
            let at = noise.below(near);
            damaged[at] ^= 1 << noise.below(8);
            damaged.truncate(damaged.len().min(1 + noise.below(2 * src.len())));
            assert_as_zlib(Case::new(format, &damaged), &mut scratches, &mut noise);
        }
    }
}

#[test]
fn random_bytes_match_zlib_rs() {
    let (mut scratches, mut noise) = (forms(), Noise(6));
    for _ in 0..20_000 {
        let mut src: Vec<u8> = (0..1 + noise.below(300)).map(|_| noise.below(256) as u8).collect();
        // Each type of block is equally frequent.
        src[0] = src[0] & 0xf9 | (noise.below(3) as u8) << 1;
        assert_as_zlib(Case::new(Format::Deflate, &src), &mut scratches, &mut noise);
    }
}

/// Most of these headers have incomplete or oversubscribed codes.
#[test]
fn random_dynamic_headers_match_zlib_rs() {
    let (mut scratches, mut noise) = (forms(), Noise(8));
    for _ in 0..20_000 {
        // HLIT is 257 to 259 and HDIST 1 to 4, with short codes for code lengths.
        let mut bits = vec![1, 0, 1];
        let mut put = |value: usize, count: usize| bits.extend((0..count).map(|i| (value >> i & 1) as u8));
        put(noise.below(3), 5);
        put(noise.below(4), 5);
        let count = noise.below(16);
        put(count, 4);
        for _ in 0..count + 4 {
            let len = [0, 0, 1, 2, 3, 3, 4, noise.below(8)][noise.below(8)];
            put(len, 3);
        }
        for _ in 0..noise.below(200) {
            put(noise.below(2), 1);
        }
        let src: Vec<u8> =
            bits.chunks(8).map(|byte| byte.iter().rev().fold(0, |b, bit| b << 1 | bit)).collect();
        assert_as_zlib(Case::new(Format::Deflate, &src), &mut scratches, &mut noise);
    }
}

/// Long blocks have entries of two symbols. An invalid match is then undone together with the
/// literal before it.
#[test]
fn match_beyond_the_window_is_an_error_in_blocks_with_pairs_too() {
    let (mut scratches, mut noise) = (forms(), Noise(12));
    for round in 0..400 {
        let mut data = Vec::new();
        while data.len() < 16 << 10 {
            // Distances up to the window are frequent, and others rare, so that their codes are
            // long.
            let far = noise.below(200) == 0 && data.len() > 300 + noise.below(2000);
            let distance = if far { 1 + noise.below(data.len()) } else { 1 + noise.below(256) };
            if noise.below(4) == 0 && distance <= data.len() {
                let len = if noise.below(30) == 0 { 3 + noise.below(256) } else { 3 + noise.below(4) };
                (0..len).for_each(|_| data.push(data[data.len() - distance]));
            } else {
                let most = 1 + noise.below(60);
                (0..1 + noise.below(6)).for_each(|_| data.push(b'a' + noise.below(most) as u8));
            }
        }
        let src = compressed(Format::Deflate, 6, 15, &data);
        assert!(src.len() > 4096, "too short for pairs");
        let case = Case { bits: 8, ..Case::new(Format::Deflate, &src) };
        let results: Vec<_> = scratches.iter_mut().map(|scratch| ours(case, scratch, || 1 << 15)).collect();
        assert_eq!(results[0].0, Verdict::Damaged, "{round}");
        assert!(results.iter().all(|result| *result == results[0]), "{round}");
    }
}

/// zlib lets a match reach beyond a small window if its output buffer still has the bytes, so its
/// verdict depends on the buffer. Our verdict is always that of zlib with a buffer of one byte.
#[test]
fn matches_reach_the_whole_small_window_and_no_further() {
    let mut noise = Noise(9);
    let mut scratches = forms();
    for bits in 8..15 {
        let size = 1 << bits;
        for distance in [size - 1, size, size + 1] {
            let unique: Vec<u8> = (0..distance).map(|_| noise.below(200) as u8).collect();
            let data = [&unique[..], &unique[..200]].concat();
            let src = compressed(Format::Deflate, 9, 15, &data);
            let case = Case { bits, ..Case::new(Format::Deflate, &src) };
            let scratch = &mut scratches[distance % 2];
            for most in [1, 300, 1 << 20] {
                let (verdict, out, error) = ours(case, scratch, || most);
                if distance <= size {
                    assert!(
                        (verdict, out) == (Verdict::End(src.len()), data.clone()),
                        "{bits} {distance} {most}"
                    );
                } else {
                    // zlib never matches the first byte of its data.
                    assert_eq!(
                        (verdict, out.len()),
                        (Verdict::Damaged, distance + 1),
                        "{bits} {distance} {most}"
                    );
                    assert!(data.starts_with(&out));
                    let message = "a match begins before the beginning of the window";
                    assert_eq!(error.map(|e| e.message), Some(message));
                }
            }
        }
    }
}

#[test]
fn streams_for_small_windows_match_zlib_rs() {
    let (mut scratches, mut noise) = (forms(), Noise(11));
    for round in 0..100 {
        let len = 1 + noise.below(20_000);
        let (data, bits) = (content(&mut noise, len), 9 + (round % 7) as u8);
        for format in FORMATS {
            let src =
                compressed(if format == Format::ZlibOrGzip { Format::Zlib } else { format }, 6, bits, &data);
            let case = Case { bits, ..Case::new(format, &src) };
            assert_eq!(assert_as_zlib(case, &mut scratches, &mut noise), Verdict::End(src.len()));
            if format == Format::Zlib && bits > 9 {
                assert_as_zlib(Case { bits: bits - 1, ..case }, &mut scratches, &mut noise);
            }
        }
    }
}

#[test]
fn preset_dictionaries_match_zlib_rs() {
    let (mut scratches, mut noise) = (forms(), Noise(10));
    for round in 0..100 {
        let len = 1 + noise.below(if round % 5 == 0 { 50_000 } else { 600 });
        let dictionary = content(&mut noise, len);
        let mut data = dictionary[noise.below(len)..].to_vec();
        data.extend(content(&mut noise, 200));
        for (format, header) in [(Format::Deflate, false), (Format::Zlib, true)] {
            let mut deflate = Deflate::new(6, header, 15);
            deflate.set_dictionary(&dictionary).expect("a dictionary");
            let src = compress(&mut deflate, &data, true);
            let case = Case { dictionary: Some(&dictionary), ..Case::new(format, &src) };
            assert_eq!(assert_as_zlib(case, &mut scratches, &mut noise), Verdict::End(src.len()));
            assert_eq!(ours(case, &mut Scratch::new(), || 100).1, data);
            let other = &dictionary[..len - 1];
            assert_as_zlib(Case { dictionary: Some(other), ..case }, &mut scratches, &mut noise);
            assert_as_zlib(Case { dictionary: None, ..case }, &mut scratches, &mut noise);
        }
    }
    assert!(matches!(theirs(Case::new(Format::Deflate, &[3, 0]), 9).0, Verdict::End(2)));
}

/// The stream is a stored block with `abc` and a fixed block with two matches of three bytes, at
/// distances 3 and 9.
#[test]
fn dictionary_between_raw_blocks_gives_zlib_rs_output_and_within_a_block_is_refused() {
    let fixed = 0b011u64 | 0b1000000 << 3 | 0b01000 << 10 | 0b1000000 << 15 | 0b01100 << 22;
    let stream = [&[0, 3, 0, 0xfc, 0xff, b'a', b'b', b'c'][..], &fixed.to_le_bytes()[..5]].concat();
    let mut scratch = Scratch::new();
    for at in 0..stream.len() {
        let mut decoder = StreamDecoder::new(Options::new(Format::Deflate)).unwrap();
        decoder.set_dictionary(b"xyz").unwrap();
        let mut out = [0; 100];
        let first = decoder.decode(&mut scratch, &stream[..at], &mut out).unwrap();
        let set = decoder.set_dictionary(b"123");
        let rest = decoder.decode(&mut scratch, &stream[at..], &mut out[first.written..]).unwrap();
        assert_eq!(rest.status, Status::End);
        let out = &out[..first.written + rest.written];
        if at == 0 || at == 8 {
            set.expect("before a block");
            let (mut inflate, mut expected) = (Inflate::new(false, 15), [0; 9]);
            inflate.set_dictionary(b"xyz").unwrap();
            inflate.decompress(&stream[..at], &mut expected, InflateFlush::SyncFlush).ok();
            inflate.set_dictionary(b"123").unwrap();
            let written = inflate.total_out() as usize;
            inflate.decompress(&stream[at..], &mut expected[written..], InflateFlush::Finish).unwrap();
            assert_eq!(out, expected, "at {at}");
        } else {
            assert_eq!(set.map_err(|error| error.kind), Err(Kind::BadArgument), "at {at}");
            assert_eq!(out, b"abcabcxyz", "at {at}");
        }
    }
}
