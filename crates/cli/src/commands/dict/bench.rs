//! `linerate dict bench`: measures small blocks with many dictionaries, hot and cold, beside libzstd.
//! `linerate-bench` does the work.

use std::process::ExitCode;

use linerate_bench::cold::args::{ColdArgs, EXAMPLES};

use crate::ui::exit_code;
use crate::ui::printer::to_stderr;

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct BenchArgs {
    #[command(flatten)]
    cold: ColdArgs,
}

pub(crate) fn run(args: &BenchArgs) -> ExitCode {
    match linerate_bench::cold::args::run(&args.cold) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            to_stderr(format_args!("linerate: {message}"));
            ExitCode::FAILURE
        }
    }
}
