//! `linerate dict bench`: small blocks through very many dictionaries, hot and cold, beside libzstd. The
//! work is that of `linerate-bench`.

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
        Err(what) => {
            to_stderr(format_args!("linerate: {what}"));
            ExitCode::FAILURE
        }
    }
}
