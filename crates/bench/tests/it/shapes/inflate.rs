//! The shape "inflate" on small data.

use linerate_bench::harness::corpus::Corpus;
use linerate_bench::harness::filter::Chunk;
use linerate_bench::inflate::measure;
use linerate_bench::records::Measurement;

#[test]
fn each_contender_is_measured_with_each_size_of_calls() {
    let files = vec!["some text, ".repeat(20_000).into_bytes(), Corpus::random(50_000).files.remove(0)];
    let corpus = Corpus { name: "small".into(), files };
    let found = measure(&corpus, &[Chunk::Whole, Chunk::Bytes(4 << 10)], 6, 2).unwrap().concat();
    for chunk in ["whole", "4K"] {
        let of = |name| found.iter().find(|m| m.params["chunk"] == chunk && m.contender == name);
        assert_eq!(of("zlib-rs").unwrap().metrics["speed_by_base"].median, 1.0);
        assert!(of("linerate").is_some());
        assert_eq!(of("libdeflate").is_some(), cfg!(feature = "libdeflate") && chunk == "whole");
        assert_eq!(of("zlib").is_some(), cfg!(feature = "zlib"));
        assert_eq!(of("zlib-ng").is_some(), cfg!(feature = "zlib-ng"));
    }
    let all = |is: fn(&Measurement) -> bool| found.iter().all(is);
    assert!(all(|m| m.shape == "inflate"
        && m.params["source"] == "deflate, zlib-rs 6"
        && m.params["base"] == "zlib-rs"));
    assert!(all(|m| m.metrics["ratio"].median > 5.0 && m.metrics["speed"].median > 0.0));
    assert!(all(|m| (m.metrics["state"].median == 0.0) == (m.params["chunk"] == "whole")));
}
