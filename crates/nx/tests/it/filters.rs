//! Tests texture filters on goldens and random bytes, and headers of textures: valid, truncated and
//! hostile.
//!
//! The goldens in `testdata/nx/filters` were made by another program that follows
//! `docs/nx/filters-reference.md`.

use std::fs;

use linerate_nx::filter::{Filter, MAX_HEAD, Texture, TextureFormat, detect, guess};
use linerate_testkit::testdata::testdata;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::cases::cases;

fn golden(name: &str) -> Vec<u8> {
    fs::read(testdata().join("nx/filters").join(format!("{name}.bin"))).expect("a golden of this name")
}

#[test]
fn goldens_of_every_filter() {
    let content = golden("content");
    for filter in Filter::ALL {
        let expected = golden(filter.name());
        let mut filtered = vec![0; content.len()];
        filter.apply(&content, &mut filtered);
        assert!(filtered == expected, "{}: other bytes", filter.name());
        let mut restored = vec![0; content.len()];
        filter.invert(&expected, &mut restored);
        assert!(restored == content, "{}: not restored", filter.name());
    }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn filters_are_bijections(content in vec(any::<u8>(), 0..700)) {
        let (mut there, mut back) = (vec![0; content.len()], vec![0; content.len()]);
        for filter in Filter::ALL {
            filter.apply(&content, &mut there);
            filter.invert(&there, &mut back);
            prop_assert_eq!(&back, &content, "{}", filter.name());
            filter.invert(&content, &mut there);
            filter.apply(&there, &mut back);
            prop_assert_eq!(&back, &content, "{}, inverse first", filter.name());
        }
    }

    #[test]
    fn headers_of_random_fields_are_survived(fields in vec(prop_oneof![any::<u32>(), 0..200u32], 220)) {
        let bytes: Vec<u8> = fields.iter().flat_map(|field| field.to_le_bytes()).collect();
        let mut head = dds(*b"DX10", 1, 1, 1, 0);
        head.truncate(8);
        for magic in [&head[..], KTX2_IDENTIFIER] {
            let file = [magic, &bytes].concat();
            let texture = detect(&file);
            prop_assert_eq!(texture, detect(&file[..MAX_HEAD]));
            prop_assert!(texture.is_none_or(|texture| texture.start >= 80));
        }
    }
}

#[test]
fn runs_and_reserved_modes_round_trip() {
    for byte in [0, 1, 0x40, 0x80, 0xff] {
        for len in [0, 1, 15, 16, 17, 4096, 4099] {
            let content = vec![byte; len];
            for filter in Filter::ALL {
                let (mut filtered, mut restored) = (vec![0; len], vec![1; len]);
                filter.apply(&content, &mut filtered);
                filter.invert(&filtered, &mut restored);
                assert_eq!(restored, content, "{}: {len} bytes {byte}", filter.name());
            }
        }
    }
}

#[test]
#[should_panic(expected = "a filter keeps the length")]
fn buffers_of_different_lengths_are_refused() {
    Filter::Bc1Split.invert(&[0; 8], &mut [0; 9]);
}

/// Returns the DDS header of a texture with a fourCC.
fn dds(four_cc: [u8; 4], width: u32, height: u32, levels: u32, caps2: u32) -> Vec<u8> {
    let mut head = vec![0; 128];
    let mut put = |offset: usize, value: u32| head[offset..][..4].copy_from_slice(&value.to_le_bytes());
    for (offset, value) in [(4, 124), (8, 0x1007), (12, height), (16, width), (28, levels), (76, 32), (80, 4)]
    {
        put(offset, value);
    }
    put(112, caps2);
    head[..4].copy_from_slice(b"DDS ");
    head[84..88].copy_from_slice(&four_cc);
    head
}

fn dx10(format: u32, misc: u32, array: u32, levels: u32) -> Vec<u8> {
    let mut head = dds(*b"DX10", 64, 32, levels, 0);
    head.extend([format, 3, misc, array, 0].iter().flat_map(|field| field.to_le_bytes()));
    head
}

const KTX2_IDENTIFIER: &[u8] = b"\xabKTX 20\xbb\r\n\x1a\n";

/// Returns a KTX 2.0 header. Levels are given by offset and length.
fn ktx2(format: u32, supercompression: u32, levels: &[(u64, u64)]) -> Vec<u8> {
    let mut head = KTX2_IDENTIFIER.to_vec();
    let fields = [format, 1, 64, 64, 0, 0, 1, levels.len() as u32, supercompression];
    head.extend(fields.iter().flat_map(|field| field.to_le_bytes()));
    head.resize(80, 0);
    head.extend(levels.iter().flat_map(|&(offset, len)| [offset, len, len]).flat_map(u64::to_le_bytes));
    head
}

fn texture(format: TextureFormat, start: usize, len: u64) -> Option<Texture> {
    Some(Texture { format, start, len: Some(len) })
}

#[test]
fn dds_of_every_four_cc() {
    for (four_cc, format, len) in [
        (*b"DXT1", TextureFormat::Bc1, 16 * 8 * 8),
        (*b"DXT3", TextureFormat::Bc2, 16 * 8 * 16),
        (*b"DXT5", TextureFormat::Bc3, 16 * 8 * 16),
        (*b"ATI1", TextureFormat::Bc4, 16 * 8 * 8),
        (*b"BC5U", TextureFormat::Bc5, 16 * 8 * 16),
    ] {
        assert_eq!(detect(&dds(four_cc, 64, 32, 1, 0)), texture(format, 128, len));
    }
    assert_eq!(detect(&dds(*b"UYVY", 64, 32, 1, 0)), None);
}

#[test]
fn dds_with_mips_and_cube_faces_counts_all() {
    // The mip levels have 16 + 4 + 1 + 1 + 1 blocks.
    assert_eq!(detect(&dds(*b"DXT1", 16, 16, 5, 0)), texture(TextureFormat::Bc1, 128, 23 * 8));
    assert_eq!(detect(&dds(*b"DXT1", 16, 16, 5, 0xfe00)), texture(TextureFormat::Bc1, 128, 6 * 23 * 8));
}

#[test]
fn dds_with_dx10_header_counts_arrays_and_cubes() {
    for (dxgi, format) in [
        (71, TextureFormat::Bc1),
        (74, TextureFormat::Bc2),
        (77, TextureFormat::Bc3),
        (80, TextureFormat::Bc4),
        (83, TextureFormat::Bc5),
        (95, TextureFormat::Bc6h),
        (98, TextureFormat::Bc7),
    ] {
        let len = 16 * 8 * format.block_bytes() as u64;
        assert_eq!(detect(&dx10(dxgi, 0, 1, 1)), texture(format, 148, len));
        assert_eq!(detect(&dx10(dxgi, 4, 3, 1)), texture(format, 148, 18 * len));
    }
    for other in [2, 28, 85] {
        assert_eq!(detect(&dx10(other, 0, 1, 1)), None, "not compressed");
    }
}

#[test]
fn dds_of_pixels_by_masks_is_no_block_compressed_texture() {
    let mut head = dds([0; 4], 8, 8, 1, 0);
    for (i, value) in [0x40, 0, 32, 0xff_0000, 0xff00, 0xff].into_iter().enumerate() {
        head[80 + 4 * i..][..4].copy_from_slice(&u32::to_le_bytes(value));
    }
    assert_eq!(detect(&head), None);
}

#[test]
fn ktx2_without_supercompression() {
    let levels = [(256 + 16, 1024), (256, 16)];
    assert_eq!(detect(&ktx2(145, 0, &levels)), texture(TextureFormat::Bc7, 256, 16 + 1024));
    assert_eq!(detect(&ktx2(145, 2, &levels)), None);
    assert_eq!(detect(&ktx2(9, 0, &levels)), None);
}

#[test]
fn hostile_headers() {
    assert_eq!(detect(&ktx2(145, 0, &[(u64::MAX, 16)])), None);
    assert_eq!(detect(&ktx2(145, 0, &[(0, 16)])), None);
    let mut many = ktx2(145, 0, &[(200, 16)]);
    many[40..44].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(detect(&many), None);
    let huge = detect(&dds(*b"DXT1", u32::MAX, u32::MAX, 32, 0xfe00)).expect("a fourCC that is known");
    assert_eq!((huge.format, huge.start), (TextureFormat::Bc1, 128));
    let sizeless = detect(&dds(*b"DXT1", 0, 4, 1, 0)).expect("a fourCC that is known");
    assert_eq!(sizeless.len, None);
    let levels = detect(&dds(*b"DXT1", 4, 4, u32::MAX, 0)).expect("a fourCC that is known");
    assert_eq!(levels.len, None);
}

#[test]
fn truncated_headers_are_no_textures() {
    for head in [dds(*b"DXT1", 64, 64, 1, 0), dx10(98, 0, 1, 1), ktx2(145, 0, &[(256, 16)])] {
        assert!(detect(&head).is_some());
        for len in 0..head.len() {
            assert_eq!(detect(&head[..len]), None, "{len} bytes");
        }
    }
}

#[test]
fn random_text_and_constant_bytes_are_not_guessed() {
    let mut noise = linerate_testkit::data::Noise::new(5);
    assert_eq!(guess(&noise.bytes(100_000)), None);
    assert_eq!(guess(&[0; 100_000]), None);
    assert_eq!(guess(&linerate_testkit::data::json_rows(1, 1000)), None);
    assert_eq!(guess(b"short"), None);
}

#[test]
fn colors_with_the_greater_endpoint_first_are_guessed() {
    let mut noise = linerate_testkit::data::Noise::new(6);
    let blocks = (0..4096).flat_map(|_| {
        // The second colour has red, green and blue in the lower half of their ranges. The first
        // has a greater red.
        let second = 0x0800 | (noise.number() as u16 & 0x73ef);
        let first = second + 0x0800 + ((noise.below(8) as u16) << 5);
        [first, second, noise.number() as u16, noise.number() as u16]
    });
    let bytes: Vec<u8> = blocks.flat_map(u16::to_le_bytes).collect();
    assert_eq!(guess(&bytes), Some(TextureFormat::Bc1));
}
