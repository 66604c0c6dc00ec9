//! The version 2 streams in `testdata/rice-v2` must stay readable. The encoder may improve, so its
//! output is not compared with them.
//!
//! `LINERATE_UPDATE=1 cargo test -p linerate-rice --test it v2_golden` writes missing streams.

use std::fs;
use std::path::{Path, PathBuf};

use linerate_rice::Options;
use linerate_rice::v2::{Element, ElementType, StreamOptions, decode, encode, info};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/rice-v2")
}

/// A pseudo-random number of 24 bits for each index.
fn noise(i: i64) -> i64 {
    let x = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((x ^ x >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as i64
}

fn wave(i: i64) -> i64 {
    let x = (i * 37) % 4096;
    if x < 2048 { x * (2048 - x) / 300 } else { -(x - 2048) * (4096 - x) / 300 }
}

/// Sample `i` of three interleaved channels. The third channel is the mean of the other two.
fn lead(i: i64) -> i64 {
    let own = |frame: i64, channel: i64| wave(frame * 3 + channel * 500) / 4 + noise(frame * 2 + channel) % 9;
    match i % 3 {
        2 => (own(i / 3, 0) + own(i / 3, 1)) / 2,
        channel => own(i / 3, channel),
    }
}

/// Sample `i` of a stereo signal.
fn stereo(i: i64) -> i64 {
    30_000 + wave(i / 2 * 5) / 3 + noise(i / 2) % 40 + i % 2 * (noise(i) % 3)
}

/// Sample `i` of resonances far above the noise that drives them.
fn sound(i: i64) -> i64 {
    let next = |h: [i64; 4], i: i64| {
        let sum = 250_996 * h[0] - 364_846 * h[1] + 238_564 * h[2] - 59_218 * h[3];
        [(sum >> 16) + noise(i) % 16 - 8, h[0], h[1], h[2]]
    };
    (0..=i).fold([0; 4], next)[0]
}

/// How a golden is made: name, type, number of samples, segment, row, and signal. If the name
/// begins with `channels`, rows hold channels.
type Recipe = (&'static str, ElementType, i64, u32, u32, fn(i64) -> i64);

const RECIPES: &[Recipe] = &[
    ("empty-u16", ElementType::U16, 0, 0, 0, |_| 0),
    ("one-i16", ElementType::I16, 1, 0, 0, |_| -32_768),
    ("constant-u32", ElementType::U32, 300, 100, 0, |_| 4_000_000_000),
    ("centre-i16", ElementType::I16, 500, 200, 100, |i| 1000 + noise(i) % 23),
    ("difference-u16", ElementType::U16, 500, 250, 0, |i| {
        (0..=i).fold(30_000, |sum, i| sum + noise(i) % 41 - 20)
    }),
    ("slope-i32", ElementType::I32, 300, 0, 300, |i| i * i * 3 - 20_000_000),
    ("linear-i16", ElementType::I16, 700, 350, 0, |i| wave(i) + noise(i) % 16),
    ("linear-i32", ElementType::I32, 400, 0, 0, |i| wave(i) * 70_000 + noise(i) % 999),
    ("sound-i16", ElementType::I16, 600, 500, 0, sound),
    ("sound-i32", ElementType::I32, 600, 600, 0, |i| sound(i) * 5000 + noise(i) % 3000),
    ("step-u16", ElementType::U16, 200, 128, 0, |i| (wave(i) / 8 + 500) * 12 + 5),
    ("spikes-u16", ElementType::U16, 400, 0, 40, |i| if i % 97 == 5 { 65_000 - i } else { noise(i) & 3 }),
    ("raw-u32", ElementType::U32, 70, 33, 0, |i| noise(i) << 9 ^ noise(i + 1000)),
    ("bursts-i16", ElementType::I16, 999, 999, 0, |i| if i % 300 < 40 { noise(i) % 9000 - 4500 } else { 0 }),
    ("channels-i16", ElementType::I16, 900, 600, 3, lead),
    ("channels-u16", ElementType::U16, 402, 0, 2, stereo),
    ("channels-i32", ElementType::I32, 600, 0, 3, |i| lead(i) * 9000 + noise(i) % 5),
    ("channels-raw-u32", ElementType::U32, 64, 0, 4, |i| noise(i) << 9 ^ noise(i + 1000)),
    ("file-record-i16", ElementType::I16, 0, 0, 0, |_| 0),
];

/// A stream of 45 bytes of a WAV file, and no samples.
fn file_record() -> Vec<u8> {
    let sum = |bytes: &[u8]| (twox_hash::XxHash3_64::oneshot(bytes) as u32).to_le_bytes();
    let mut record = vec![1, 2, 3, 0]; // WAV, 2 bytes per sample, 3 zeros at the end
    record.extend((0..45).map(|i| noise(i) as u8));
    record.extend([0; 3]);
    let mut stream = vec![0x89, b'L', b'R', b'2', 2, 0, 4, 2];
    stream.extend([0u32, 0, 1, 0].map(u32::to_le_bytes).as_flattened());
    stream.extend(sum(&stream));
    stream.extend((1 + record.len() as u32 / 4).to_le_bytes());
    stream.extend(sum(&record));
    stream.extend(record);
    stream
}

trait Sample: Element {
    fn of(value: i64) -> Self;
    fn put(self, to: &mut Vec<u8>);
}

macro_rules! sample {
    ($($type:ty),*) => {$(
        impl Sample for $type {
            fn of(value: i64) -> Self {
                value as $type
            }
            fn put(self, to: &mut Vec<u8>) {
                to.extend(self.to_le_bytes());
            }
        }
    )*};
}

sample!(i16, u16, i32, u32);

fn check<T: Sample>(&(name, _, n, segment, row, signal): &Recipe) {
    let path = folder().join(format!("{name}.rice"));
    let samples: Vec<T> = (0..n).map(|i| T::of(signal(i))).collect();
    if !path.exists() && std::env::var_os("LINERATE_UPDATE").is_some() {
        let channels = if name.starts_with("channels") { row } else { 1 };
        let settings = StreamOptions::new()
            .segment(segment.try_into().ok())
            .row(row.try_into().ok())
            .channels(channels.try_into().ok());
        let stream = match name.starts_with("file") {
            true => file_record(),
            false => encode(&settings, &samples, Options::new()).unwrap(),
        };
        fs::write(&path, stream).unwrap();
        let mut raw = Vec::new();
        samples.iter().for_each(|x| x.put(&mut raw));
        fs::write(path.with_extension("raw"), raw).unwrap();
    }
    let stream = fs::read(&path).unwrap();
    let mut raw = Vec::new();
    for tier in linerate_testkit::tiers() {
        let decoded = decode::<T>(&stream, Options::new().tier(tier)).unwrap();
        assert!(decoded == samples, "{name} on {tier:?}");
        raw.clear();
        decoded.into_iter().for_each(|x| x.put(&mut raw));
    }
    assert!(fs::read(path.with_extension("raw")).unwrap() == raw, "{name}");
    let info = info(&stream).unwrap();
    assert_eq!(info.row.map_or(0, |row| row.get()), row);
    assert_eq!(info.channels, if name.starts_with("channels") { row } else { 1 });
}

#[test]
fn golden_streams_decode() {
    for recipe in RECIPES {
        match recipe.1 {
            ElementType::I16 => check::<i16>(recipe),
            ElementType::U16 => check::<u16>(recipe),
            ElementType::I32 => check::<i32>(recipe),
            ElementType::U32 => check::<u32>(recipe),
        }
    }
    let files = fs::read_dir(folder())
        .unwrap()
        .filter(|f| f.as_ref().unwrap().path().extension().is_some_and(|extension| extension == "rice"));
    assert_eq!(files.count(), RECIPES.len(), "a file without a recipe");
}
