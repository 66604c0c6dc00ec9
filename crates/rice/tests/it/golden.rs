//! Encodes and decodes the chunks of the original filter, on every tier and with several numbers of
//! threads.

use linerate_rice::{
    Options, Params, Segments, decode, decode_into, decode_segments, encode, encode_into, encoded_len,
};

use crate::common::{goldens, tiers};

#[test]
fn all_27_goldens_are_found() {
    assert_eq!(goldens().len(), 27);
}

#[test]
fn encoding_equals_the_original_filter() {
    for g in goldens() {
        for options in tiers().chain([2, 3, 16].map(|n| Options::new().threads(n))) {
            assert!(encode(&g.params, &g.samples, options).unwrap() == g.chunk, "{} {options:?}", g.name);
        }
        assert_eq!(encoded_len(&g.params, &g.samples, Options::new()), Ok(g.chunk.len() as u64));
    }
}

#[test]
fn decoding_gives_the_original_samples() {
    for g in goldens() {
        for options in tiers().chain([2, 3, 16].map(|n| Options::new().threads(n))) {
            assert!(
                decode::<i16>(&g.params, &g.chunk, options).unwrap() == g.samples,
                "{} {options:?}",
                g.name
            );
        }
    }
}

#[test]
fn unsigned_samples_are_the_same_words() {
    for g in goldens() {
        let unsigned: Vec<u16> = g.samples.iter().map(|&x| x as u16).collect();
        assert!(encode(&g.params, &unsigned, Options::new()).unwrap() == g.chunk, "{}", g.name);
        assert!(decode::<u16>(&g.params, &g.chunk, Options::new()).unwrap() == unsigned, "{}", g.name);
    }
}

#[test]
fn each_segment_can_be_decoded_alone() {
    for g in goldens() {
        let segments = Segments::of(&g.params, &g.chunk).unwrap();
        for (i, segment) in segments.enumerate() {
            let segment = segment.unwrap();
            let mut out = vec![0i16; segment.samples.len()];
            let n = decode_segments(&g.params, &g.chunk, i..i + 1, &mut out, Options::new());
            assert_eq!(n, Ok(out.len()));
            assert!(out == g.samples[segment.samples], "{} segment {i}", g.name);
        }
    }
}

#[test]
fn output_of_the_exact_size_suffices_and_less_does_not() {
    for g in goldens() {
        for options in tiers().chain([Options::new().threads(2)]) {
            let mut out = vec![0; g.chunk.len()];
            assert_eq!(encode_into(&g.params, &g.samples, &mut out, options), Ok(g.chunk.len()));
            assert!(out == g.chunk, "{}", g.name);
            for short in [out.len() - 1, out.len() - 4, out.len() / 2, 3, 0] {
                let e = encode_into(&g.params, &g.samples, &mut out[..short], options).unwrap_err();
                assert_eq!(e.kind, linerate_rice::Kind::OutputTooSmall, "{} {short}", g.name);
                assert!(e.offset <= short as u64);
            }
            let mut back = vec![0i16; g.samples.len()];
            let e = decode_into(&g.params, &g.chunk, &mut back[1..], options).unwrap_err();
            assert_eq!(e.kind, linerate_rice::Kind::OutputTooSmall, "{}", g.name);
        }
    }
}

#[test]
fn hand_made_chunks_encode_and_decode() {
    let rows: [(&[i16], &[u32], &[u32]); 11] = [
        (&[5, -5], &[8, 2], &[2, 1, 0x5160_0000]),
        (&[0; 7], &[8], &[7, 1, 0x8888_8880]),
        (&[-32768], &[8], &[1, 1, 0x00ff_ff80]),
        (&[-32768], &[32768], &[1, 1, 0x7fff_8000]),
        (&[31], &[8], &[1, 1, 0x01c0_0000]),
        (&[-32], &[8], &[1, 1, 0x01e0_0000]),
        (&[32], &[8], &[1, 1, 0x0080_2000]),
        (&[100], &[8], &[1, 1, 0x0080_6400]),
        (&[63], &[2], &[1, 1, 0x0080_3f00]),
        (&[0, 1, -1, 2], &[8], &[4, 1, 0x8abe_0000]),
        (&[1, 2, 3, 4, 5, 6, 7, 8], &[8, 3], &[8, 1, 0xaaa0_0000, 1, 0x4550_0000, 1, 0x7500_0000]),
    ];
    for (samples, values, words) in rows {
        let params = Params::from_cd_values(values).unwrap();
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        assert_eq!(encode(&params, samples, Options::new()).unwrap(), bytes, "{samples:?}");
        assert_eq!(decode::<i16>(&params, &bytes, Options::new()).unwrap(), samples);
    }
    let alternating = [-32768i16, 32767].repeat(64);
    let params = Params::from_cd_values(&[8, 64]).unwrap();
    let segment = [9, 0x00ff_ffcd, 0x4d4d_4d4d, 0x4d4d_4d4d, 0x4d4d_4d4d, 0x4d4d_4d4d].into_iter().chain([
        0x4d4d_4d4d,
        0x4d4d_4d4d,
        0x4d4d_4d4d,
        0x4d4d_4800,
    ]);
    let words = [0x80].into_iter().chain(segment.clone()).chain(segment);
    let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
    assert_eq!(encode(&params, &alternating, Options::new()).unwrap(), bytes);
}
