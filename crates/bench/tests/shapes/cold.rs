//! The shape "cold" with few dictionaries.

use linerate_bench::cold::{BenchOptions, Case, Data, Kind, measure};

#[test]
fn small_tables_take_less_memory_and_both_say_so() {
    let data = Data::json();
    assert_eq!(data.kind, Kind::Json);
    let case = Case { block: 2048, dictionary: 4096, count: 30 };
    let beside = |small_tables| {
        let options = BenchOptions {
            small_tables,
            rounds: 1,
            least: 0,
            trained: 1,
            opening: false,
            ..BenchOptions::default()
        };
        let rows = measure(&data, &case, &options, |_| {}).unwrap();
        assert!(rows.iter().all(|row| row.blocks == 30));
        ["linerate", "libzstd"].map(|library| {
            rows.iter()
                .find(|row| row.contender == library && row.mode == "cold")
                .unwrap()
                .beside_bytes
                .unwrap()
        })
    };
    let ([full, theirs], [small, same]) = (beside(false), beside(true));
    assert!(full > small + 2000 && theirs == same && theirs > 20_000, "{full} {small} {theirs} {same}");
}
