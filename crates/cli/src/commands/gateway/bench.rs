//! `linerate gateway bench`: measures connections beside other decoders. `linerate-bench` does the work.

use std::process::ExitCode;

use linerate_bench::messages::args::{EXAMPLES, MessagesArgs};

use crate::ui::exit_code;
use crate::ui::printer::to_stderr;

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct BenchArgs {
    #[command(flatten)]
    messages: MessagesArgs,
}

pub(crate) fn run(args: &BenchArgs) -> ExitCode {
    match linerate_bench::messages::args::run(&args.messages) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            to_stderr(format_args!("linerate: {message}"));
            ExitCode::FAILURE
        }
    }
}
