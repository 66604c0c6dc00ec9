//! A dry run of `make bench-gpu` with tiny chunks.

mod common;

#[path = "../examples/gpu/bench.rs"]
mod bench;

use std::fs;

#[test]
fn tiny_chunks_give_every_row_of_the_tables_and_a_record() {
    let Some(context) = common::context() else { return };
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("gpu.csv");
    let mut settings = bench::Settings::new("--rows 2,3".into());
    (settings.rows, settings.rounds, settings.csv) = (vec![2, 3], 1, Some(csv.clone()));
    let text = bench::run(&context, &settings).unwrap();
    let count = |path: &str, contender: &str| {
        text.lines().filter(|line| line.contains(path) && line.contains(contender)).count()
    };
    for contender in ["none", "v1 m=8", "v2"] {
        for path in ["gpu-kernel", "gpu-file-vram", "gpu-file-ram", "gpu-ram-vram"] {
            assert!(count(path, contender) >= 2, "{path} {contender}:\n{text}");
        }
    }
    for contender in ["none", "v1 m=8"] {
        assert_eq!(count("gpu-vram-file", contender), 2, "{contender}:\n{text}");
    }
    let record = fs::read_to_string(&csv).unwrap();
    let columns = record.lines().next().unwrap().split(',').count();
    assert!(record.lines().count() > 60 && columns == 21, "{record}");
}
