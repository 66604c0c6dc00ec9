//! Decodes the output of libzstd at every level, with every strategy, many parameters and both
//! kinds of dictionary: whole frames, streamed, and small ones byte by byte.

use linerate_testkit::data::{Noise, json_rows, kinds};
use linerate_testkit::testdata::{corpora, corpus, files_below};
use linerate_testkit::zstd::encoder::{compress, compress_flushed, level, train};
use linerate_testkit::zstd::frame::skippable;
use zstd_safe::{CParameter, FrameFormat, ParamSwitch, Strategy};

use crate::common::check::Checker;
use crate::common::ours::magicless;

const STRATEGIES: [Strategy; 9] = [
    Strategy::ZSTD_fast,
    Strategy::ZSTD_dfast,
    Strategy::ZSTD_greedy,
    Strategy::ZSTD_lazy,
    Strategy::ZSTD_lazy2,
    Strategy::ZSTD_btlazy2,
    Strategy::ZSTD_btopt,
    Strategy::ZSTD_btultra,
    Strategy::ZSTD_btultra2,
];

#[test]
fn real_files_at_every_level_decode() {
    let mut checker = Checker::default();
    let levels = [-100, -30, -7, -5, -3, -2, -1].into_iter().chain(1..=22);
    for number in levels {
        for (name, content) in corpus() {
            // The levels above 12 are slow, so they compress only the beginning of the file.
            let content = if number > 12 { &content[..content.len().min(60_000)] } else { &content[..] };
            let frame = compress(content, &[], &[level(number), CParameter::ChecksumFlag(true)]);
            checker.check(&format!("{name} at level {number}"), &frame, &[], content);
        }
    }
}

#[test]
fn frames_of_every_strategy_and_literal_mode_decode() {
    let mut checker = Checker::default();
    let contents =
        [json_rows(1, 90), kinds(20_000).swap_remove(7).1, corpus().swap_remove(5).1[..40_000].to_vec()];
    for (strategy, content) in STRATEGIES.into_iter().flat_map(|s| contents.iter().map(move |c| (s, c))) {
        for length in 3..=7 {
            for literals in [ParamSwitch::Auto, ParamSwitch::Enable, ParamSwitch::Disable] {
                let parameters = [
                    CParameter::Strategy(strategy),
                    CParameter::MinMatch(length),
                    CParameter::LiteralCompressionMode(literals),
                ];
                let frame = compress(content, &[], &parameters);
                checker.check(&format!("{parameters:?}"), &frame, &[], content);
            }
        }
    }
    assert_eq!(checker.frames, 9 * 3 * 5 * 3);
}

#[test]
fn every_kind_and_size_of_data_decodes() {
    let mut checker = Checker::default();
    let sizes =
        (0..40).chain([63, 64, 65, 127, 128, 255, 256, 257, 300, 511, 512, 1000, 1023, 1024, 1025, 4096]);
    for size in sizes.chain([9_999, 65_535, 65_536, 131_071, 131_072, 131_073, 262_144, 400_000]) {
        for (kind, content) in kinds(size) {
            let numbers: &[i32] = if size < 5000 { &[-5, 1, 3, 9, 19] } else { &[-1, 1, 6] };
            for &number in numbers {
                let odd = (size + number.unsigned_abs() as usize) % 2 == 1;
                let flags = [CParameter::ContentSizeFlag(odd), CParameter::ChecksumFlag(!odd)];
                let frame = compress(&content, &[], &[level(number), flags[0], flags[1]]);
                checker.check(&format!("{size} bytes of {kind} at level {number}"), &frame, &[], &content);
            }
        }
    }
}

#[test]
fn frames_with_every_window_and_long_distances_decode() {
    let mut checker = Checker::default();
    let content = [kinds(400_000).swap_remove(7).1, json_rows(3, 700)].concat();
    for log in 10..=24 {
        for long in [false, true] {
            let parameters = [
                CParameter::WindowLog(log),
                CParameter::EnableLongDistanceMatching(long),
                CParameter::ContentSizeFlag(false),
                CParameter::ChecksumFlag(log % 2 == 0),
            ];
            let frame = compress(&content, &[], &parameters);
            checker.check(&format!("{parameters:?}"), &frame, &[], &content);
        }
    }
    // Copies reach back 3 MB.
    let far = Noise::new(4).bytes(3_000_000);
    let twice = [&far[..], &far[..2_000_000]].concat();
    for parameters in [
        vec![level(3), CParameter::WindowLog(22), CParameter::EnableLongDistanceMatching(true)],
        vec![level(1), CParameter::WindowLog(27), CParameter::EnableLongDistanceMatching(true)],
    ] {
        let frame = compress(&twice, &[], &parameters);
        assert!(frame.len() < 3_100_000, "the copy was not found");
        checker.check("far copies", &frame, &[], &twice);
    }
}

#[test]
fn frames_with_every_block_split_decode() {
    let mut checker = Checker::default();
    let content =
        [json_rows(5, 500), Noise::new(5).bytes(30_000), vec![0; 40_000], json_rows(6, 100)].concat();
    let mut add = |parameters: &[CParameter]| {
        let frame = compress(&content, &[], parameters);
        checker.check(&format!("{parameters:?}"), &frame, &[], &content);
    };
    for size in [1340, 2000, 10_000, 131_072] {
        for number in [1, 5, 16] {
            add(&[level(number), CParameter::TargetCBlockSize(size)]);
        }
    }
    for switch in [ParamSwitch::Enable, ParamSwitch::Disable] {
        for number in [1, 3, 7, 13, 18] {
            add(&[level(number), CParameter::UseBlockSplitter(switch)]);
        }
    }
    for size in [1024, 1025, 5000, 65_536] {
        add(&[level(3), CParameter::MaxBlockSize(size)]);
    }
}

#[test]
fn flushed_streams_decode() {
    let mut checker = Checker::default();
    let mut noise = Noise::new(9);
    for round in 0..40 {
        let rows = json_rows(round, 1 + noise.below(400));
        let mut pieces = Vec::new();
        let mut rest = &rows[..];
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.len().min(noise.below(8000)));
            pieces.push(piece);
            rest = after;
        }
        pieces.push(&[]);
        let parameters = [level(1 + round as i32 % 9), CParameter::WindowLog(10 + round as u32 % 8)];
        let frame = compress_flushed(&pieces, &[], &parameters);
        checker.check(&format!("flushed {round}"), &frame, &[], &rows);
    }
}

#[test]
fn frames_with_dictionaries_of_every_size_decode() {
    let mut checker = Checker::default();
    let samples = [json_rows(11, 4000), corpus().into_iter().flat_map(|row| row.1).collect()].concat();
    let raws = [8, 9, 31, 32, 33, 100, 1000, 4096, 65_536, 131_072, 524_288];
    let raw = raws.map(|n| (format!("raw of {n}"), samples[samples.len() - n..].to_vec()));
    let trained = [256, 512, 1024, 4096, 8192, 16_384, 112_640, 524_288];
    let trained = trained.map(|n| (format!("trained of {n}"), train(&samples, 370, n)));
    for (name, dictionary) in raw.into_iter().chain(trained) {
        for size in [0, 1, 10, 370, 1000, 4096, 8192, 70_000, 300_000] {
            let from = size % 5000;
            let content = &json_rows(12, 1000)[from..from + size];
            for number in [-1, 1, 3, 9, 17] {
                if number == 17 && size > 10_000 {
                    continue;
                }
                let parameters = [level(number), CParameter::ContentSizeFlag(number != 1)];
                let frame = compress(content, &dictionary, &parameters);
                checker.check(
                    &format!("{name}, {size} bytes at level {number}"),
                    &frame,
                    &dictionary,
                    content,
                );
            }
        }
    }
}

/// Most frames are longer than their window, so that the dictionary leaves the window.
#[test]
fn frames_whose_window_leaves_the_dictionary_decode() {
    let mut checker = Checker::default();
    let samples = json_rows(21, 2000);
    for size in [100, 4000, 40_000] {
        let dictionary = &samples[..size];
        let content = [&samples[..size], &json_rows(22, 300), &samples[size / 2..size]].concat();
        for log in 10..=18 {
            let parameters = [level(6), CParameter::WindowLog(log), CParameter::ContentSizeFlag(false)];
            let frame = compress_flushed(&[&content[..size], &content[size..]], dictionary, &parameters);
            checker.check(&format!("raw of {size}, window of 2^{log}"), &frame, dictionary, &content);
        }
    }
}

#[test]
fn magicless_skippable_and_concatenated_frames_decode() {
    let mut checker = Checker::default();
    let contents = [json_rows(1, 30), vec![], Noise::new(3).bytes(5000), json_rows(2, 400)];
    let mut joined = skippable(4, b"first");
    for content in &contents {
        joined.extend(compress(content, &[], &[level(4), CParameter::ChecksumFlag(true)]));
        joined.extend(skippable(9, &content[..content.len().min(300)]));
    }
    checker.check("joined", &joined, &[], &contents.concat());
    let parameters = [level(4), CParameter::Format(FrameFormat::Magicless)];
    for content in &contents {
        let frame = compress(content, &[], &parameters);
        checker.check_with("magicless", magicless(), &frame, &[], content);
    }
    let both = [compress(&contents[0], &[], &parameters), compress(&contents[2], &[], &parameters)].concat();
    checker.check_with(
        "magicless twice",
        magicless(),
        &both,
        &[],
        &[&contents[0][..], &contents[2]].concat(),
    );
}

#[test]
#[ignore = "takes half a minute: cargo test --release -- --ignored"]
fn frames_of_100_mb_decode() {
    let mut checker = Checker::default();
    let content = [json_rows(1, 150_000), Noise::new(2).bytes(10_000_000), vec![7; 40_000_000]].concat();
    for parameters in [
        vec![level(1)],
        vec![level(3), CParameter::WindowLog(27), CParameter::EnableLongDistanceMatching(true)],
        vec![level(6), CParameter::WindowLog(10), CParameter::ChecksumFlag(true)],
    ] {
        let frame = compress(&content, &[], &parameters);
        checker.check(&format!("{parameters:?}"), &frame, &[], &content);
    }
}

/// `LINERATE_CORPORA` names a folder of files that are too large for the repository.
#[test]
fn every_file_of_the_corpora_decodes() {
    let Some(folder) = corpora() else { return };
    let mut checker = Checker::default();
    for path in files_below(&folder) {
        let content = std::fs::read(&path).expect("a file of the corpora");
        // The slower a level is, the fewer bytes of the file it compresses.
        for (number, most) in [(1, usize::MAX), (3, usize::MAX), (9, 4 << 20), (19, 1 << 20)] {
            let content = &content[..content.len().min(most)];
            let frame = compress(content, &[], &[level(number), CParameter::ChecksumFlag(true)]);
            checker.check(&format!("{} at level {number}", path.display()), &frame, &[], content);
        }
    }
    assert!(checker.frames > 0, "LINERATE_CORPORA is empty");
}
