//! Decodes zstd blocks of 4 KiB through 2,500 dictionaries of 8 KiB, beside libzstd.

use linerate_bench::cold::{Case, ColdOptions, Data, measure, sentence};

const CASE: Case = Case { block: 4 << 10, dictionary: 8 << 10, count: 2500 };

pub(super) fn run() -> Result<String, String> {
    let options = ColdOptions { trained: 2, opening: false, ..ColdOptions::default() };
    sentence(&measure(&Data::json(), &CASE, &options, 3)?)
        .ok_or_else(|| "a contender was not measured".into())
}
