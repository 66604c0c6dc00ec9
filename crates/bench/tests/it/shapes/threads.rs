//! The shape "threads" on small data.

use linerate_bench::harness::corpus::Corpus;
use linerate_bench::harness::filter::Chunk;
use linerate_bench::threads::measure;

#[test]
fn each_number_of_threads_is_measured() {
    let files = vec!["some text, ".repeat(40_000).into_bytes(), Corpus::random(50_000).files.remove(0)];
    let corpus = Corpus { name: "small".into(), files };
    let (found, cores) = measure(&corpus, Chunk::Bytes(64 << 10), 2, &[1, 2], 2).unwrap();
    assert_eq!(found.len(), 2);
    for (m, threads) in found.iter().zip([1, 2]) {
        assert_eq!(
            (&*m.contender, &m.params["threads"], &m.params["base"]),
            ("linerate 2", &threads.into(), &"1 thread".into())
        );
        assert!(m.shape == "threads" && m.params["block"] == "64K" && m.metrics["speed"].median > 0.0);
    }
    assert!(cores > 0.0 && cores.is_finite());
    assert_eq!(found[0].metrics["speed_by_base"].median, 1.0);
    assert_eq!(found[0].metrics["ratio"], found[1].metrics["ratio"]);
}

#[test]
fn bad_level_and_no_threads_are_errors() {
    let corpus = Corpus::random(1000);
    let error = |level, threads: &[usize]| measure(&corpus, Chunk::Whole, level, threads, 1).err().unwrap();
    assert!(error(10, &[1]).contains("level"));
    assert!(error(1, &[]).contains("threads"));
}
