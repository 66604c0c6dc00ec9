//! `linerate gateway bench`: connections beside other decoders. The work is that of `linerate-bench`.

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
        Err(what) => {
            to_stderr(format_args!("linerate: {what}"));
            ExitCode::FAILURE
        }
    }
}
