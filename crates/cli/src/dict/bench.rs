//! `linerate dict bench`: small blocks through very many dictionaries, hot and cold, beside libzstd. The
//! work is that of `linerate-bench`.

use std::process::ExitCode;

pub(crate) use linerate_bench::cold::args::ColdArgs as BenchArgs;

use crate::report::to_stderr;

pub(crate) fn run(args: &BenchArgs) -> ExitCode {
    match linerate_bench::cold::args::run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(what) => {
            to_stderr(format_args!("linerate: {what}"));
            ExitCode::FAILURE
        }
    }
}
