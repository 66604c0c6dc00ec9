//! Damaged frames and dictionaries have the result and the bytes of libzstd.
//!
//! Where libzstd's one-shot and streaming decoders disagree, either result is accepted. They
//! disagree about blocks larger than their frame allows (not checked by one-shot), empty compressed
//! blocks (not checked by streaming), windows above the limit, and matches into the tables of a
//! digested dictionary. Linerate may also refuse what [`agrees`] and [`agrees_in_pieces`] list.

use linerate_testkit::data::{Noise, json_rows, kinds};
use linerate_testkit::zstd::encoder::{compress, level, train};
use linerate_testkit::zstd::oracle::{Oracle, agrees, agrees_in_pieces};
use linerate_testkit::zstd::vectors::{bad, dictionary, good};
use linerate_zstd::{Dictionary, Options, Scratch};
use zstd_safe::CParameter;

use crate::common::ours::{self, Pieces};

const WINDOW_LOG: u32 = 24;

/// Both decoders, and the number of inputs with equal results.
struct Comparison {
    oracle: Oracle,
    scratches: Vec<(String, Scratch)>,
    accepted: usize,
    refused: usize,
}

impl Comparison {
    fn new() -> Comparison {
        Comparison { oracle: Oracle::default(), scratches: ours::scratches(), accepted: 0, refused: 0 }
    }

    /// Asserts that each of our kernels has the result of libzstd.
    fn try_input(
        &mut self,
        name: &dyn Fn() -> String,
        dictionary: Option<&Dictionary<'_>>,
        bytes: &[u8],
        src: &[u8],
        most: usize,
    ) {
        let theirs = self.oracle.both(src, bytes, WINDOW_LOG, most);
        let options = Options::new().window_limit(1 << WINDOW_LOG);
        for (kernels, scratch) in &mut self.scratches {
            let whole = ours::whole(options, scratch, dictionary, src, most);
            let pieces =
                ours::stream(options, scratch, dictionary, src, most, &mut Pieces::Each(1000, 1 << 17));
            for (how, ours) in [("whole", whole), ("pieces", pieces)] {
                let judge = if how == "whole" { agrees } else { agrees_in_pieces };
                let agrees = judge(&ours, &theirs);
                let lens = theirs.each_ref().map(|theirs| theirs.as_ref().map(Vec::len));
                let ours = ours.map(|bytes| bytes.len());
                assert!(
                    agrees,
                    "{}, {kernels}, {how}: {ours:?} where libzstd says {lens:?}\n{src:02x?}",
                    name()
                );
                if let Err(e) = ours {
                    assert!(e.offset <= src.len() as u64, "{}: {e}", name());
                }
            }
        }
        if theirs[0].is_ok() { self.accepted += 1 } else { self.refused += 1 }
    }
}

/// Small frames of every kind, each with its dictionary and content length.
fn small() -> Vec<(String, Vec<u8>, Vec<u8>, usize)> {
    let mut all = Vec::new();
    let mut row = |name: String, frame: Vec<u8>, dictionary: Vec<u8>, len: usize| {
        all.push((name, frame, dictionary, len));
    };
    for vector in good().into_iter().filter(|vector| vector.bytes.len() <= 260 && !vector.magicless) {
        let len = vector.content.map_or(0, |content| content.len());
        // Skip long contents, and most of the many frames of one offset code or length code.
        let stem = vector.name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-');
        if len > 20_000 || matches!(stem, "offset" | "length-code") && !vector.name.ends_with('7') {
            continue;
        }
        row(
            vector.name,
            vector.bytes,
            vector.dictionary.map(|d| dictionary(d).bytes()).unwrap_or_default(),
            len,
        );
    }
    let rows = json_rows(1, 400);
    let trained = train(&rows, 370, 1024);
    for size in [370, 900] {
        let content = &json_rows(2, 3)[..size];
        let frame = compress(content, &trained, &[level(3), CParameter::ChecksumFlag(size == 370)]);
        row(format!("{size} bytes of rows"), frame, trained.clone(), size);
    }
    for (kind, content) in kinds(700).into_iter().filter(|(kind, _)| *kind != "noise") {
        for number in [1, 19] {
            let frame = compress(&content, &[], &[level(number), CParameter::ContentSizeFlag(number == 1)]);
            row(format!("{kind} at level {number}"), frame, vec![], 700);
        }
    }
    all
}

#[test]
fn every_truncation_matches_libzstd() {
    let mut comparison = Comparison::new();
    for (name, frame, bytes, len) in small() {
        let digested = (!bytes.is_empty()).then(|| Dictionary::new(&bytes).unwrap());
        for end in 0..frame.len() {
            comparison.try_input(
                &|| format!("{name} cut at {end}"),
                digested.as_ref(),
                &bytes,
                &frame[..end],
                len + 100,
            );
        }
    }
    assert!(comparison.refused > 10_000, "{}", comparison.refused);
}

#[test]
fn every_flipped_bit_matches_libzstd() {
    let mut comparison = Comparison::new();
    for (name, mut frame, bytes, len) in small() {
        let digested = (!bytes.is_empty()).then(|| Dictionary::new(&bytes).unwrap());
        for bit in 0..8 * frame.len() {
            frame[bit / 8] ^= 1 << (bit % 8);
            comparison.try_input(
                &|| format!("{name}, bit {bit}"),
                digested.as_ref(),
                &bytes,
                &frame,
                len + 1000,
            );
            frame[bit / 8] ^= 1 << (bit % 8);
        }
    }
    assert!(
        comparison.accepted > 1000 && comparison.refused > 10_000,
        "{} {}",
        comparison.accepted,
        comparison.refused
    );
}

#[test]
fn mutated_invalid_frames_match_libzstd() {
    let mut comparison = Comparison::new();
    let mut noise = Noise::new(17);
    let all: Vec<Vec<u8>> =
        bad().into_iter().map(|vector| vector.bytes).filter(|bytes| bytes.len() < 500).collect();
    for round in 0..20_000 {
        let mut frame = all[noise.below(all.len())].clone();
        for _ in 0..1 + noise.below(3) {
            let at = noise.below(frame.len());
            frame[at] = noise.number() as u8;
        }
        comparison.try_input(&|| format!("round {round}"), None, &[], &frame, 300_000);
    }
}

/// Dictionaries with any one bit of their first 400 bytes flipped, or cut off there, are accepted
/// or rejected as by libzstd, and decode frames to equal bytes.
#[test]
fn every_flipped_bit_of_a_dictionary_matches_libzstd() {
    let mut comparison = Comparison::new();
    let rows = json_rows(3, 400);
    let dictionaries = [train(&rows, 370, 512), dictionary("full").bytes(), dictionary("logs-5").bytes()];
    for (i, mut bytes) in dictionaries.into_iter().enumerate() {
        let content = &json_rows(4, 1)[..300];
        let without_id = [level(3), CParameter::DictIdFlag(false)];
        let frames = [compress(content, &bytes, &without_id), compress(&rows[..2000], &bytes, &without_id)];
        let head = bytes.len().min(400);
        for bit in 0..8 * head {
            bytes[bit / 8] ^= 1 << (bit % 8);
            compare_dictionary(&mut comparison, &|| format!("dictionary {i}, bit {bit}"), &bytes, &frames);
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        for end in 0..head {
            compare_dictionary(
                &mut comparison,
                &|| format!("dictionary {i} cut at {end}"),
                &bytes[..end],
                &frames,
            );
        }
    }
    assert!(
        comparison.accepted > 500 && comparison.refused > 500,
        "{} {}",
        comparison.accepted,
        comparison.refused
    );
}

fn compare_dictionary(
    comparison: &mut Comparison,
    name: &dyn Fn() -> String,
    bytes: &[u8],
    frames: &[Vec<u8>],
) {
    match Dictionary::new(bytes) {
        Ok(digested) => {
            for frame in frames {
                comparison.try_input(name, Some(&digested), bytes, frame, 4000);
            }
        }
        // libzstd must refuse it too, whatever the frame.
        Err(e) => {
            assert!(e.offset <= bytes.len() as u64, "{}: {e}", name());
            let frame = linerate_testkit::zstd::frame::Frame::new(linerate_testkit::zstd::frame::SINGLE)
                .raw(b"x")
                .bytes();
            let theirs = comparison.oracle.both(&frame, bytes, WINDOW_LOG, 10);
            assert!(theirs.iter().any(Result::is_err), "{}: {e}, but libzstd takes it", name());
            comparison.refused += 1;
        }
    }
}
