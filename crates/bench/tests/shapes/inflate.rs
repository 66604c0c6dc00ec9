//! The shape "inflate" on small data.

use linerate_bench::corpus::Corpus;
use linerate_bench::filter::Chunk;
use linerate_bench::inflate::{BenchOptions, measure};

#[test]
fn each_contender_has_a_record_for_each_size_of_calls() {
    let files = vec!["some text, ".repeat(20_000).into_bytes(), Corpus::random(50_000).files.remove(0)];
    let corpus = Corpus { name: "small".into(), files };
    let options = BenchOptions { chunks: &[Chunk::Whole, Chunk::Bytes(4 << 10)], level: 6, rounds: 2 };
    let mut records = vec![];
    let each = |_, some: &[_]| {
        records.extend_from_slice(some);
        Ok(())
    };
    measure(&corpus, &options, |_| {}, each).unwrap();

    for chunk in ["whole", "4K"] {
        let of = |name| records.iter().find(|r| r.chunk == chunk && r.contender == name);
        assert_eq!(of("zlib-rs").unwrap().speed_vs_base, 1.0);
        assert!(of("linerate").is_some());
        assert_eq!(of("libdeflate").is_some(), cfg!(feature = "libdeflate") && chunk == "whole");
        assert_eq!(of("zlib").is_some(), cfg!(feature = "zlib"));
        assert_eq!(of("zlib-ng").is_some(), cfg!(feature = "zlib-ng"));
    }
    let all = |is: fn(&linerate_bench::record::Record) -> bool| records.iter().all(is);
    assert!(all(|r| r.shape == "inflate" && r.format == "deflate, zlib-rs 6" && r.base == "zlib-rs"));
    assert!(all(|r| r.bytes == 270_000 && r.files == 2 && r.ratio > 5.0 && r.best_mbs > 0.0));
    assert!(all(|r| (r.state_bytes == Some(0)) == (r.chunk == "whole")));
}

#[test]
fn an_error_of_the_caller_ends_the_measurement() {
    let corpus = Corpus::random(1000);
    let options = BenchOptions { chunks: &[Chunk::Whole, Chunk::Whole], level: 1, rounds: 1 };
    let mut calls = 0;
    let each = |_, _: &[_]| {
        calls += 1;
        Err("full".to_owned())
    };
    assert_eq!(measure(&corpus, &options, |_| {}, each), Err("full".into()));
    assert_eq!(calls, 1);
}
