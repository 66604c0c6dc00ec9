//! Every contender of this build, on small data: its output decodes to its input.

use linerate_bench::bytes::{Coding, Encoder, Field, encode_and_check, pieces, table};
use linerate_bench::harness::corpus::Corpus;
use linerate_bench::harness::filter::{Chunk, Filter};
use linerate_deflate::Format;

/// Files of text, zeros and noise. One is as long as a chunk size of the test below, and another
/// one byte longer.
fn files() -> Vec<Vec<u8>> {
    let text = "the quick brown fox jumps over the lazy dog, and again the quick brown fox. ";
    let noise = Corpus::random(5000).files.remove(0);
    let mixed = [text.repeat(40).as_bytes(), &noise[..700], &[0; 900]].concat();
    vec![b"x".to_vec(), text.repeat(30).into_bytes(), vec![0; 4096], vec![0; 4097], noise, mixed]
}

#[test]
fn every_available_contender_round_trips() {
    let (files, mut checked) = (files(), Vec::new());
    for entry in table() {
        let Ok(mut contender) = (entry.make)() else { continue };
        for chunk in [1000, 4096, usize::MAX] {
            let size = encode_and_check(&mut *contender, &files, chunk)
                .unwrap_or_else(|e| panic!("{} at {chunk}: {e}", entry.label()));
            assert!(size > 0);
        }
        checked.push(entry.label());
    }
    let mut expected = vec!["linerate 2 gzip", "zlib-rs 1 deflate", "memcpy none"];
    if cfg!(feature = "libdeflate") {
        expected.push("libdeflate 1 deflate");
    }
    for label in expected {
        assert!(checked.iter().any(|found| found == label), "{label} is missing from {checked:?}");
    }
}

#[test]
fn labels_are_unique() {
    let mut labels: Vec<_> = table().iter().map(|e| e.label()).collect();
    labels.sort();
    let all = labels.len();
    labels.dedup();
    assert_eq!(labels.len(), all);
}

#[test]
fn peers_left_out_of_the_build_name_their_feature() {
    for (name, built) in [
        ("ISA-L 1", cfg!(feature = "isal")),
        ("libdeflate 1", cfg!(feature = "libdeflate")),
        ("lz4", cfg!(feature = "lz4")),
        ("zlib 1", cfg!(feature = "zlib")),
        ("zlib-ng 1", cfg!(feature = "zlib-ng")),
    ] {
        let entry = table().into_iter().find(|e| e.name == name).expect(name);
        match (entry.make)() {
            Ok(_) => assert!(built, "{name}"),
            Err(why) => assert!(!built && why.contains("feature"), "{name}: {why}"),
        }
    }
}

/// An encoder that writes fixed bytes, whatever its input.
struct FixedOutput(Coding, &'static [u8]);

impl Encoder for FixedOutput {
    fn coding(&self) -> Coding {
        self.0
    }

    fn chunk(&mut self, _: &[u8], _: bool, out: &mut [u8]) -> Result<usize, String> {
        out[..self.1.len()].copy_from_slice(self.1);
        Ok(self.1.len())
    }

    fn state_bytes(&self) -> Option<usize> {
        None
    }

    fn scratch_bytes(&self) -> Option<usize> {
        None
    }
}

#[test]
fn output_that_does_not_decode_to_its_input_is_found() {
    // A deflate stream that holds "a", in one block with fixed codes.
    let a = b"\x4b\x04\x00";
    for coding in [Coding::Stream(Format::Deflate), Coding::DeflatePieces] {
        assert_eq!(encode_and_check(&mut FixedOutput(coding, a), &[b"a".to_vec()], 16), Ok(3));
        for input in ["b", "ab", "aaaa"] {
            let input = [input.as_bytes().to_vec()];
            assert!(
                encode_and_check(&mut FixedOutput(coding, a), &input, 16).is_err(),
                "{coding:?} {input:?}"
            );
        }
        for wrong in [&a[..1], b"\x4b\x04\x00+"] {
            assert!(encode_and_check(&mut FixedOutput(coding, wrong), &[b"a".to_vec()], 16).is_err());
        }
    }
    assert!(encode_and_check(&mut FixedOutput(Coding::Copy, b"a"), &[b"b".to_vec()], 16).is_err());
    assert!(
        encode_and_check(&mut FixedOutput(Coding::Stream(Format::Gzip), a), &[b"a".to_vec()], 16).is_err(),
        "bare deflate is not gzip"
    );
}

#[test]
fn the_last_piece_is_marked_and_nothing_is_lost() {
    let file: Vec<u8> = (0..10).collect();
    let flags = |chunk| pieces(&file, chunk).map(|(p, last)| (p.len(), last)).collect::<Vec<_>>();
    assert_eq!(flags(4), [(4, false), (4, false), (2, true)]);
    assert_eq!(flags(5), [(5, false), (5, true)]);
    assert_eq!(flags(usize::MAX), [(10, true)]);
}

#[test]
fn base_is_measured_even_if_the_filter_excludes_it() {
    let corpus = Corpus { name: "small".into(), files: files() };
    let only: Filter = "linerate 1 gzip,memcpy".parse().unwrap();
    let found =
        Field::new(&only, Some("ZLIB-RS 1")).unwrap().measure(&corpus, Chunk::Bytes(1024), 2).unwrap();
    let names: Vec<_> = found.iter().map(|m| (&*m.contender, m.params["format"].as_str().unwrap())).collect();
    assert_eq!(names, [("linerate 1", "gzip"), ("zlib-rs 1", "deflate"), ("memcpy", "none")]);
    let metric = |i: usize, name: &str| found[i].metrics[name].median;
    assert_eq!((metric(1, "speed_by_base"), metric(1, "ratio_by_base")), (1.0, 1.0));
    assert_eq!(metric(0, "state") as usize, size_of::<linerate_deflate::Stream>());
    for m in &found {
        assert_eq!(
            (&*m.data, &m.params["chunk"], &m.params["base"]),
            ("small", &"1K".into(), &"zlib-rs 1 deflate".into())
        );
        assert!(m.metrics["speed"].median > 0.0, "{m:?}");
    }
}

#[test]
fn unknown_base_is_an_error() {
    let error = Field::new(&Filter::default(), Some("zlib-rs")).err().unwrap();
    assert!(error.contains("`zlib-rs`"), "{error}");
}
