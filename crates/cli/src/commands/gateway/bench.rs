//! `linerate gateway bench`, which is `linerate bench messages`.

use std::process::ExitCode;

use linerate_bench::command::Command;
use linerate_bench::messages::args::{EXAMPLES, MessagesArgs};

use crate::commands::bench;
use crate::ui::exit_code;

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", exit_code::HELP))]
pub(crate) struct BenchArgs {
    #[command(flatten)]
    messages: MessagesArgs,
}

pub(crate) fn run(args: &BenchArgs) -> ExitCode {
    bench::measure(&Command::Messages(Box::new(args.messages.clone())))
}
