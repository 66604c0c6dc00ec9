//! `linerate dict bench`, which is `linerate bench cold`.

use std::process::ExitCode;

use linerate_bench::cold::args::{ColdArgs, EXAMPLES};
use linerate_bench::command::Command;

use crate::commands::bench;
use crate::ui::exit_code;

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct BenchArgs {
    #[command(flatten)]
    cold: ColdArgs,
}

pub(crate) fn run(args: &BenchArgs) -> ExitCode {
    bench::measure(&Command::Cold(Box::new(args.cold.clone())))
}
