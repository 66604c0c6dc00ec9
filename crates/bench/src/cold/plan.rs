//! The default cases.

use super::case::Case;
use super::data::Kind;
use super::published::PUBLISHED;

/// Numbers of dictionaries for a line from hot to cold.
pub const SWEEP: [usize; 10] = [1, 2, 8, 30, 100, 300, 1000, 2500, 10_000, 30_000];

/// Cases of JSON that no published table has, to complete the row of dictionary sizes.
const MORE: [Case; 2] = [
    Case { block: 4 << 10, dictionary: 4 << 10, count: 2500 },
    Case { block: 4 << 10, dictionary: 12 << 10, count: 2500 },
];

/// The cases of the published tables for a kind of data. Data of another kind have those of text that
/// were measured in CPU time.
pub fn published_cases(kind: Kind) -> Vec<Case> {
    let named = |wanted: Kind| PUBLISHED.iter().filter(move |row| row.kind == wanted);
    match kind {
        Kind::Json => named(kind).map(|row| row.case()).chain(MORE).collect(),
        Kind::Text => named(kind).map(|row| row.case()).collect(),
        Kind::Other => named(Kind::Text).filter(|row| row.ahead.is_some()).map(|row| row.case()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_run_has_every_size() {
        for (kind, count) in [(Kind::Json, 10), (Kind::Text, 20), (Kind::Other, 8)] {
            let cases = published_cases(kind);
            assert_eq!(cases.len(), count);
            for block in [1, 4, 8] {
                for count in [2500, 30_000] {
                    let case = Case { block: block << 10, dictionary: 8 << 10, count };
                    assert!(cases.contains(&case), "{case:?}");
                }
            }
        }
        for dictionary in [4, 8, 12, 110] {
            let has = |case: &Case| (case.block, case.dictionary) == (4 << 10, dictionary << 10);
            assert!([Kind::Json, Kind::Text].iter().all(|&kind| published_cases(kind).iter().any(has)));
        }
    }
}
