//! Generated frames decode in every way. Some have random parts, built field by field; others are
//! made by zstd's own generator, if `scripts/zstd-corpus.sh` has run it.

use std::path::{Path, PathBuf};
use std::{env, fs};

use linerate_testkit::zstd::oracle::Oracle;
use linerate_testkit::zstd::random::random_frame;
use linerate_zstd::{Format, FrameHeader};

use crate::common::check::Checker;

/// Seeds of random frames: the same ones every time, or others, ten for each of `PROPTEST_CASES`.
fn seeds() -> std::ops::Range<u64> {
    match env::var("PROPTEST_CASES").ok().and_then(|count| count.parse::<u64>().ok()) {
        Some(count) => 1_000_000..1_000_000 + 10 * count,
        None if cfg!(miri) => 0..25,
        None => 0..1500,
    }
}

/// Largest number of blocks of a frame. Miri takes thousands of times as long.
const BLOCKS: usize = if cfg!(miri) { 2 } else { 7 };

#[test]
fn frames_of_random_parts_decode() {
    let mut checker = Checker::default();
    let mut bytes = 0;
    for seed in seeds() {
        let frame = random_frame(seed, BLOCKS);
        if cfg!(miri) && frame.content.len() > 2000 {
            continue;
        }
        checker.check(&format!("seed {seed}"), &frame.bytes, &frame.dictionary, &frame.content);
        bytes += frame.content.len();
    }
    assert!((cfg!(miri) || checker.frames == seeds().count()) && bytes > 100 * checker.frames);
}

#[test]
#[cfg_attr(miri, ignore = "libzstd is C")]
fn libzstd_decodes_frames_of_random_parts() {
    let mut oracle = Oracle::default();
    for seed in seeds() {
        let frame = random_frame(seed, BLOCKS);
        for got in oracle.both(&frame.bytes, &frame.dictionary, 27, frame.content.len()) {
            assert!(got.as_ref() == Ok(&frame.content), "seed {seed}: {:?}", got.err());
        }
    }
}

/// Decodes frames of zstd's generator. `LINERATE_FRAMES` names a folder with `compressed/NAME.zst`,
/// `content/NAME` and optionally a `dictionary`.
#[test]
#[ignore = "scripts/zstd-corpus.sh makes the frames"]
fn frames_of_the_generator_decode() {
    let folder = PathBuf::from(env::var_os("LINERATE_FRAMES").expect("LINERATE_FRAMES names a folder"));
    let read = |path: &Path| fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let dictionary = fs::read(folder.join("dictionary")).unwrap_or_default();
    let mut checker = Checker::default();
    for entry in fs::read_dir(folder.join("compressed")).expect("a folder of frames") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "zst") {
            let content = read(&folder.join("content").join(path.file_stem().expect("a name")));
            let frame = read(&path);
            let header = FrameHeader::parse(&frame, Format::Standard).expect("a header");
            // The generator copies from the dictionary even after more content than the window. A
            // stream refuses this (RFC 8878, section 3.1.1.4), and a decoder of whole frames need
            // not.
            if dictionary.is_empty() || content.len() as u64 <= header.window {
                checker.check(&path.display().to_string(), &frame, &dictionary, &content);
            } else {
                checker.check_whole(&path.display().to_string(), &frame, &dictionary, &content);
            }
        }
    }
    assert!(checker.frames > 0, "there are no frames in {}", folder.display());
    println!("{} frames", checker.frames);
}
