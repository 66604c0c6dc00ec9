//! The shape "threads" on small data.

use linerate_bench::corpus::Corpus;
use linerate_bench::filter::Chunk;
use linerate_bench::threads::{BenchOptions, measure};

#[test]
fn each_level_and_number_of_threads_has_a_record() {
    let files = vec!["some text, ".repeat(40_000).into_bytes(), Corpus::random(50_000).files.remove(0)];
    let corpus = Corpus { name: "small".into(), files };
    let options =
        BenchOptions { levels: &[1, 2], threads: &[1, 2], block: Chunk::Bytes(64 << 10), rounds: 2 };
    let outcome = measure(&corpus, &options, |_| {}).unwrap();
    let records = outcome.records;
    let names: Vec<_> = records.iter().map(|r| (&*r.contender, &*r.base)).collect();
    let one = ("linerate 1 x1", "linerate 2 x1");
    assert_eq!(names, [(one.0, one.0), ("linerate 1 x2", one.0), (one.1, one.1), ("linerate 2 x2", one.1)]);
    assert!(records.iter().all(|r| r.shape == "threads" && r.chunk == "64K" && r.best_mbs > 0.0));
    assert!(outcome.cores_had > 0.0 && outcome.cores_had.is_finite());
    assert_eq!(records[0].speed_vs_base, 1.0);
    assert_eq!(records[0].ratio, records[1].ratio);
}

#[test]
fn bad_level_and_no_threads_are_errors() {
    let corpus = Corpus::random(1000);
    let options = BenchOptions { levels: &[7], threads: &[1], block: Chunk::Whole, rounds: 1 };
    assert!(measure(&corpus, &options, |_| {}).err().unwrap().contains("level"));
    let options = BenchOptions { levels: &[1], threads: &[], ..options };
    assert!(measure(&corpus, &options, |_| {}).err().unwrap().contains("threads"));
}
