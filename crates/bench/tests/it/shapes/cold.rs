//! The shape "cold" with few dictionaries.

use linerate_bench::cold::{Case, ColdOptions, Data, Kind, measure};

#[test]
fn small_tables_take_less_memory_and_both_say_so() {
    let data = Data::json();
    assert_eq!(data.kind, Kind::Json);
    let case = Case { block: 2048, dictionary: 4096, count: 30 };
    let beside = |small_tables| {
        let options = ColdOptions { small_tables, least: 0, trained: 1, ..ColdOptions::default() };
        let rows = measure(&data, &case, &options, 1).unwrap();
        assert_eq!(rows.len(), 24);
        let of =
            |library: &str| rows.iter().find(|row| row.contender == library && row.params["mode"] == "cold");
        ["linerate", "libzstd"].map(|library| of(library).unwrap().metrics["beside"].median)
    };
    let ([full, theirs], [small, same]) = (beside(false), beside(true));
    assert!(full > small + 2000.0 && theirs == same && theirs > 20_000.0, "{full} {small} {theirs} {same}");
}
