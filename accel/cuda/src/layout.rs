//! The structures and numbers of `kernels/kernels.h`, which the kernels read and write.

/// Plain data without padding, whose bytes may be copied to the device.
pub(crate) trait Plain: Copy {}

/// `rice_result` of `kernels.h`: the status of a chunk, and its size in samples or bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ResultWords {
    pub(crate) status: u64,
    pub(crate) size: u64,
}

/// `rice1_params` of `kernels.h`: the parameters of all version 1 chunks of a call.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Params1 {
    pub(crate) k: u32,
    pub(crate) segment: u32,
    pub(crate) tap_count: u32,
    pub(crate) taps: [i32; 32],
}

/// `rice1_chunk` of `kernels.h`: where a version 1 chunk and its samples are, and its slots.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Chunk1 {
    pub(crate) data: u64,
    pub(crate) bytes: u64,
    pub(crate) samples: u64,
    pub(crate) sample_count: u32,
    pub(crate) first_segment: u32,
    pub(crate) segments: u32,
    pub(crate) first_tile: u32,
    pub(crate) tiles: u32,
    pub(crate) reserved: u32,
}

/// `rice2_stream` of `kernels.h`: where a version 2 stream and its samples are, and its slots.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stream2 {
    pub(crate) data: u64,
    pub(crate) bytes: u64,
    pub(crate) samples: u64,
    pub(crate) sample_count: u64,
    pub(crate) axes: u64,
    pub(crate) parts: u64,
    pub(crate) axis_count: u32,
    pub(crate) row: u32,
    pub(crate) segment: u32,
    pub(crate) first_segment: u32,
    pub(crate) segments: u32,
    pub(crate) reserved: u32,
}

impl Plain for u64 {}
impl Plain for ResultWords {}
impl Plain for Chunk1 {}
impl Plain for Stream2 {}

/// Size of a `rice1_segment` of `kernels.h` in bytes.
pub(crate) const SEGMENT1: usize = 16;
/// Size of a `rice1_tile` in bytes.
pub(crate) const TILE1: usize = 16;
/// Size of a `rice2_segment` in bytes.
pub(crate) const SEGMENT2: usize = 48;
/// Size of a `rice2_plan` in bytes.
pub(crate) const PLAN2: usize = 72;

/// `RICE_OK`: the status of a chunk without an error.
pub(crate) const OK: u64 = u64::MAX;
/// `RICE2_NO_SHAPE`: the number of axes of a stream that stores no shape.
pub(crate) const NO_SHAPE: u32 = u32::MAX;
/// `RICE1_SUBSEQUENCES`: subsequences in a tile for decoding, one for each thread.
pub(crate) const SUBSEQUENCES: usize = 256;
/// `RICE1_TILE_WORDS`: 32-bit words in a tile for decoding.
const TILE_WORDS: usize = 2048;
/// `RICE1_TILE_SAMPLES`: samples in a tile for encoding.
const TILE_SAMPLES: usize = 1024;

/// `RICE1_DECODE_TILES`: the largest number of tiles that a chunk of `chunk_bytes` bytes and
/// `segments` segments has when it is decoded.
pub(crate) fn decode_tiles(chunk_bytes: usize, segments: usize) -> usize {
    chunk_bytes / 4 / TILE_WORDS + segments
}

/// `RICE1_ENCODE_TILES`: the number of tiles of `samples` samples that are encoded in segments of
/// `segment` samples, at least 1.
pub(crate) fn encode_tiles(samples: usize, segment: usize) -> usize {
    match samples {
        0 => 0,
        _ => samples / segment * segment.div_ceil(TILE_SAMPLES) + (samples % segment).div_ceil(TILE_SAMPLES),
    }
}

const _: () = assert!(size_of::<ResultWords>() == 16 && size_of::<Params1>() == 140);
const _: () = assert!(size_of::<Chunk1>() == 48 && size_of::<Stream2>() == 72);

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn numbers_are_those_of_kernels_h() {
        let header = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/kernels.h")).unwrap();
        let defined = |name: &str| {
            let line = header.lines().find(|line| line.split_whitespace().nth(1) == Some(name)).unwrap();
            line.split_whitespace().nth(2).unwrap().to_owned()
        };
        assert_eq!(defined("RICE_OK"), format!("{OK:#x}ull"));
        assert_eq!(defined("RICE2_NO_SHAPE"), format!("{NO_SHAPE:#x}u"));
        assert_eq!(defined("RICE1_SUBSEQUENCES"), SUBSEQUENCES.to_string());
        assert_eq!(defined("RICE1_TILE_WORDS"), TILE_WORDS.to_string());
        assert_eq!(defined("RICE1_TILE_SAMPLES"), TILE_SAMPLES.to_string());
        for (name, bytes) in [
            ("rice_result", size_of::<ResultWords>()),
            ("rice1_params", size_of::<Params1>()),
            ("rice1_chunk", size_of::<Chunk1>()),
            ("rice1_segment", SEGMENT1),
            ("rice1_tile", TILE1),
            ("rice2_stream", size_of::<Stream2>()),
            ("rice2_segment", SEGMENT2),
            ("rice2_plan", PLAN2),
        ] {
            let line = header.lines().find(|line| line.starts_with(&format!("}} {name};"))).unwrap();
            let stated = line.split("/*").nth(1).map(|text| text.trim().split(' ').next().unwrap());
            // kernels.h states no size for rice_result, which has two 64-bit numbers.
            assert_eq!(stated.unwrap_or("16"), bytes.to_string(), "{name}");
        }
    }

    #[test]
    fn tiles_cover_partial_segments() {
        assert_eq!(encode_tiles(0, 1), 0);
        assert_eq!(encode_tiles(7000, 7000), 7);
        assert_eq!(encode_tiles(14_001, 7000), 15);
        assert_eq!(decode_tiles(2048 * 4 * 3 + 5, 2), 5);
    }
}
