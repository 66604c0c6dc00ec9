//! Blocks of 4 KiB through 2,500 dictionaries: JSON rows that are generated and text that the project
//! carries, with libzstd and with ours. Part of `make demo`.

use std::process::ExitCode;

use linerate_bench::cold::{BenchOptions, Case, Data, measure, sentence, summary};
use linerate_bench::pin;

const CASE: Case = Case { block: 4 << 10, dictionary: 8 << 10, count: 2500 };

fn main() -> ExitCode {
    match demo() {
        Ok(()) => ExitCode::SUCCESS,
        Err(what) => {
            eprintln!("demo: {what}");
            ExitCode::FAILURE
        }
    }
}

fn demo() -> Result<(), String> {
    pin(None);
    println!("\nBlocks that each need another dictionary, as storage engines read them\n");
    let options = BenchOptions { rounds: 5, trained: 2, opening: false, ..BenchOptions::default() };
    let mut all = Vec::new();
    for data in [Data::json(), Data::carried()] {
        all.extend(measure(&data, &CASE, &options, |_| {})?);
    }
    println!("{}", summary(&all));
    let cases = all.chunk_by(|a, b| a.kind == b.kind);
    for said in cases.filter_map(sentence) {
        println!("{said}");
    }
    println!("\nEvery block was decoded in each way and compared with its content first.");
    Ok(())
}
